"""Trees of questions: whether a literal is true, and then another question or an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Interpretation, Vocabulary, Words, bits
from hornbook.logic.chaining import ALWAYS
from hornbook.logic.syntax import quote


@dataclass(frozen=True)
class Split:
    """A question, and what comes next: `yes` where the literal is true, `no` where it is false or unknown."""

    literal: int
    yes: Node
    no: Node


Node: TypeAlias = Split | bool
"""A question, or an answer: whether the label follows."""


@dataclass(frozen=True)
class Step:
    """A line of a tree as it is read.

    Attributes
    ----------
    depth
        How many questions have been answered with yes.
    otherwise
        Whether the line is for what the one before it at this depth is not true of.
    literal
        What is asked, or None if the answer holds in any case.
    answer
        Whether the label follows, or None if lines of greater depth say so.

    """

    depth: int
    otherwise: bool
    literal: int | None
    answer: bool | None


@dataclass(frozen=True)
class Tree:
    """Questions one after the other, the next depending on the answer to the last, up to a label.

    A value that is unknown is an answer too: the same as that the literal is false. So a tree
    always decides, whereas a rule waits for what is unknown.

    Parameters
    ----------
    vocabulary
        The features.
    label
        What follows, or its negation does.
    root
        The first question.

    Examples
    --------
    >>> features = Vocabulary(["ascites", "albumin=high"])
    >>> tree = Tree(features, "dies", Split(0, Split(1, False, True), False))
    >>> print(tree)
    if ascites
      if albumin=high: not_dies
      otherwise: dies
    otherwise: not_dies
    what is unknown counts as not true
    >>> tree.decide(Batch.from_array([[1, 0], [1, np.nan], [np.nan, 0]], features))
    array([ True,  True, False])

    """

    vocabulary: Vocabulary
    label: str
    root: Split

    def __post_init__(self) -> None:
        if not isinstance(self.root, Split):
            raise HornbookError("a tree asks something; an answer without a question is a default")
        for split in self.splits():
            if not 0 <= split.literal < len(self.vocabulary):
                raise HornbookError(f"{split.literal} is no variable of the tree's vocabulary")

    def splits(self) -> Iterator[Split]:
        """The questions, each before those that follow it."""
        pending: list[Node] = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, Split):
                yield node
                pending += [node.no, node.yes]

    @property
    def literals(self) -> int:
        """How many literals a reader has to read."""
        return sum(1 for _ in self.splits())

    @property
    def lines(self) -> int:
        """How many answers there are at the ends."""
        return self.literals + 1

    @property
    def used(self) -> frozenset[int]:
        """The variables that it speaks of."""
        return frozenset(split.literal for split in self.splits())

    def decide(self, batch: Batch) -> Bools:
        """For each interpretation, whether the label follows; its negation follows otherwise."""
        if batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the tree are over different vocabularies")
        decided = np.zeros(batch.true.shape[1], np.uint64)
        pending: list[tuple[Node, Words]] = [(self.root, np.full_like(decided, ALWAYS))]
        while pending:
            node, reach = pending.pop()
            if isinstance(node, Split):
                true = batch.true[node.literal]
                pending += [(node.yes, reach & true), (node.no, reach & ~true)]
            elif node:
                decided |= reach
        return bits.flat(decided, len(batch))

    def reasons(self, facts: Interpretation) -> Iterator[str]:
        """The questions on the way of a case, and how it answers them."""
        node: Node = self.root
        while isinstance(node, Split):
            yes = node.literal in facts.true
            answer = "yes" if yes else "no" if node.literal in facts.false else "unknown, so not true"
            yield f"{quote(self.vocabulary.name(node.literal))}? {answer}"
            node = node.yes if yes else node.no

    def steps(self) -> Iterator[Step]:
        """The lines as they are read: what follows a yes below its question, what follows a no beside it."""

        def read(node: Node, depth: int, otherwise: bool) -> Iterator[Step]:
            while isinstance(node, Split):
                if isinstance(node.yes, Split):
                    yield Step(depth, otherwise, node.literal, None)
                    yield from read(node.yes, depth + 1, False)
                else:
                    yield Step(depth, otherwise, node.literal, node.yes)
                node, otherwise = node.no, True
            yield Step(depth, otherwise, None, node)

        return read(self.root, 0, False)

    def outcome(self, answer: bool) -> str:
        """The name of an answer."""
        return self.label if answer else f"not_{self.label}"

    def to_object(self) -> dict[str, Any]:
        """Everything but the vocabulary, ready for JSON."""

        def written(node: Node) -> Any:
            if not isinstance(node, Split):
                return node
            name = self.vocabulary.name(node.literal)
            return {"if": name, "yes": written(node.yes), "no": written(node.no)}

        return {"label": self.label, "root": written(self.root), "features": len(self.vocabulary)}

    @classmethod
    def from_object(cls, kept: Mapping[str, Any], features: Vocabulary) -> Tree:
        """What `to_object` made, over these features."""

        def read(node: Any) -> Node:
            if isinstance(node, bool):
                return node
            return Split(features.index(node["if"]), read(node["yes"]), read(node["no"]))

        root = read(kept["root"])
        assert isinstance(root, Split)
        return cls(features, kept["label"], root)

    def __str__(self) -> str:
        lines = []
        for step in self.steps():
            asked = "" if step.literal is None else f"if {quote(self.vocabulary.name(step.literal))}"
            words = " ".join(filter(None, ["otherwise" if step.otherwise else "", asked]))
            answer = "" if step.answer is None else f": {quote(self.outcome(step.answer))}"
            lines.append("  " * step.depth + words + answer)
        return "\n".join([*lines, "what is unknown counts as not true"])
