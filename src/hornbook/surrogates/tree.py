"""Decision trees: questions about columns, and the class at the end of each way.

A tree is grown with the literal at each node that leaves classes purest. Of each node the search
keeps the weight that its best subtree gets right for every number of splits, so one growth gives
the best pruning of each size. Then the tree of each size is improved as a whole: at every node the
literal is exchanged for the one that sends most samples to a side where they are decided rightly.

References
----------
L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. 1984 (splits).
M. Bohanec, I. Bratko. Trading Accuracy for Simplicity in Decision Trees. Machine Learning, 1994
(the best pruning for every size).
M. Carreira-Perpiñán, P. Tavallali. Alternating Optimization of Decision Trees, with Application to
Learning Sparse Oblique Trees. NeurIPS 2018 (exchanging one question at a time).

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.surrogates.compile import CompiledExplanation, TheoryBuilder
from hornbook.surrogates.conditions import Condition, condition_object, read_condition
from hornbook.surrogates.explanation import Explanation, Line, Reason, describe_answer
from hornbook.surrogates.grid import CodedRows, Floats, Ints

Question = TypeVar("Question")

LEAST_SHARE = 1 / 1000
"""The least share of the weight that a node is split for."""

MAX_DEPTH = 40
"""The most questions one after the other."""

MAX_ROOTS = 3
"""Columns that a tree may begin with, besides which nothing else is tried."""

IMPROVEMENT_ROUNDS = 8
"""How often every question of a tree may be exchanged."""


@dataclass(frozen=True)
class Split(Generic[Question]):
    """A question: `yes` follows where it is true, `no` where it is false or unknown."""

    question: Question
    yes: Node[Question]
    no: Node[Question]


Node: TypeAlias = "Split[Question] | int"
"""A question, or the number of a class."""


@dataclass(frozen=True)
class DecisionTree(Explanation):
    """A tree of questions with a class at the end of each way.

    A missing value counts as no: a question is answered with yes only where its condition is true.

    Examples
    --------
    >>> from hornbook.surrogates.conditions import Category, Threshold
    >>> root = Split(Threshold("age", 40), Split(Category("sex", "f"), 1, 0), 0)
    >>> tree = DecisionTree(("low", "high"), root)
    >>> print(tree)
    if age > 40
      if sex = f: high
      otherwise: low
    otherwise: low
    >>> tree.decide(pd.DataFrame({"age": [50.0, 50.0, None], "sex": ["f", None, "f"]}))
    array([1, 0, 0])

    """

    classes: tuple[str, ...]
    root: Node[Condition]

    form = "tree"

    @property
    def literals(self) -> int:
        """The number of questions."""
        return count_splits(self.root)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it asks, each once."""
        return tuple(dict.fromkeys(split.question for split in walk_splits(self.root)))

    def decide(self, frame: pd.DataFrame) -> Ints:
        """The number of each row's class."""
        answers = {condition: condition.evaluate(frame)[0] for condition in self.conditions}
        return decide_rows(self.root, answers.__getitem__, len(frame))

    def lines(self) -> tuple[Line, ...]:
        """The questions: what follows a yes is indented, what follows a no is beside it."""
        return tuple(self._lines(self.root, 0))

    def _lines(self, node: Node[Condition], depth: int) -> Iterator[Line]:
        opening = "if"
        while isinstance(node, Split):
            if isinstance(node.yes, Split):
                yield Line(f"{opening} {node.question}", depth)
                yield from self._lines(node.yes, depth + 1)
            else:
                yield Line(f"{opening} {node.question}", depth, outcome=self.classes[node.yes])
            node, opening = node.no, "otherwise if"
        yield Line("always" if opening == "if" else "otherwise", depth, outcome=self.classes[node])

    def explain(self, row: pd.DataFrame) -> Reason:
        """The answers on the way of one row."""
        node, facts = self.root, []
        while isinstance(node, Split):
            facts.append(describe_answer(node.question, row))
            node = node.yes if node.question.evaluate(row)[0][0] else node.no
        return Reason(node, tuple(dict.fromkeys(facts)))

    def compile(self) -> CompiledExplanation:
        """The rules of a tree: each question leads on from the one above it."""
        builder = TheoryBuilder(self.conditions, self.classes)
        if not isinstance(self.root, Split):
            builder.add([], builder.classes[self.root])
        pending: list[tuple[Node[Condition], int | None]] = [(self.root, None)]
        count = 1

        def arrive(node: Node[Condition]) -> int:
            nonlocal count
            if not isinstance(node, Split):
                return builder.classes[node]
            count += 1
            place = builder.concept(f"question {count}")
            pending.append((node, place))
            return place

        while pending:
            node, here = pending.pop()
            if isinstance(node, Split):
                builder.add([here, builder.literal(node.question)], arrive(node.yes))
                otherwise = arrive(node.no)
                for failure in builder.failures(node.question):
                    builder.add([here, failure], otherwise)
        return builder.build()

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""

        def write(node: Node[Condition]) -> Any:
            if not isinstance(node, Split):
                return node
            return {"if": condition_object(node.question), "yes": write(node.yes), "no": write(node.no)}

        return {"form": self.form, "classes": list(self.classes), "root": write(self.root)}

    @classmethod
    def from_object(cls, content: Any) -> DecisionTree:
        """The tree that `to_object` wrote."""
        classes = tuple(content["classes"])

        def read(node: Any, depth: int = 0) -> Node[Condition]:
            if isinstance(node, int) and not isinstance(node, bool) and 0 <= node < len(classes):
                return node
            if depth > MAX_DEPTH or not isinstance(node, dict) or set(node) != {"if", "yes", "no"}:
                raise HornbookError("a node of a tree is a class's number, or has if, yes and no")
            below = read(node["yes"], depth + 1), read(node["no"], depth + 1)
            return Split(read_condition(node["if"]), *below)

        return cls(classes, read(content["root"]))


def walk_splits(node: Node[Question]) -> Iterator[Split[Question]]:
    """The questions, each before those that follow it."""
    if isinstance(node, Split):
        yield node
        yield from walk_splits(node.yes)
        yield from walk_splits(node.no)


def count_splits(node: Node[Question]) -> int:
    """How many questions a tree has."""
    return sum(1 for _ in walk_splits(node))


def map_questions(node: Node[Question], change: Callable[[Question], Any]) -> Node[Any]:
    """The same tree with other questions."""
    if not isinstance(node, Split):
        return node
    return Split(change(node.question), map_questions(node.yes, change), map_questions(node.no, change))


def decide_rows(root: Node[Question], where_true: Callable[[Question], Bools], size: int) -> Ints:
    """The class of each row, given where a question is true."""
    decided = np.zeros(size, np.intp)
    pending = [(root, np.arange(size))]
    while pending:
        node, rows = pending.pop()
        if isinstance(node, Split):
            true = where_true(node.question)[rows]
            pending += [(node.yes, rows[true]), (node.no, rows[~true])]
        else:
            decided[rows] = node
    return decided


# ---- learning: nodes ask literals of a grid, by number


@dataclass(frozen=True)
class Growth:
    """A node, and for each number of splits below it the best subtree.

    Attributes
    ----------
    outcome
        The commonest class.
    right
        The weight that the best subtree with so many splits gets right, shape (splits + 1,).
    yes_splits
        How many further splits the yes side then has, shape (splits + 1,).

    """

    outcome: int
    right: Floats
    yes_splits: Ints
    literal: int = -1
    yes: Growth | None = None
    no: Growth | None = None

    def prune(self, splits: int) -> Node[int]:
        """The best subtree with up to so many splits, the smallest of equals."""
        size = int(self.right[: splits + 1].argmax())
        if not size or self.yes is None or self.no is None:
            return self.outcome
        share = int(self.yes_splits[size])
        return Split(self.literal, self.yes.prune(share), self.no.prune(size - 1 - share))


def grow_tree(rows: CodedRows, weights: Floats, max_splits: int, first: int | None = None) -> Growth:
    """The greedy tree over weighted rows, with the best pruning for every size.

    Parameters
    ----------
    rows
        The samples.
    weights
        The weight of each sample in the column of its class, shape (samples, classes).
    max_splits
        The largest size of interest.
    first
        A literal that the root has to ask; else the purest.

    """
    least = LEAST_SHARE * weights.sum()

    def grow(rows: CodedRows, weights: Floats, depth: int, chosen: int | None = None) -> Growth:
        totals = weights.sum(axis=0)
        outcome, whole = int(totals.argmax()), float(totals.sum())
        leaf = Growth(outcome, totals[outcome][None], np.zeros(1, np.intp))
        if not depth or whole < least or whole - totals[outcome] <= 1e-9 * whole:
            return leaf
        if chosen is None:
            gains = purity_gains(rows.sum_true(weights), totals)
            chosen = int(gains.argmax())
            if gains[chosen] <= 1e-9 * whole:
                return leaf
        true = rows.where_true(chosen)
        sides = [np.flatnonzero(side) for side in (true, ~true)]
        yes, no = (grow(rows.take(side), weights[side], depth - 1) for side in sides)
        return _join(leaf, chosen, yes, no, max_splits)

    return grow(rows, weights, min(max_splits, MAX_DEPTH), first)


def purity_gains(true: Floats, totals: Floats) -> Floats:
    """How much purer classes are on both sides of each literal (Gini impurity times weight)."""
    gains: Floats = _squares(true) + _squares(totals - true) - _squares(totals[None])
    return gains


def _squares(weights: Floats) -> Floats:
    squares: Floats = (weights**2).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-12)
    return squares


def _join(leaf: Growth, literal: int, yes: Growth, no: Growth, max_splits: int) -> Growth:
    length = 1 + min(max_splits, len(yes.right) + len(no.right) - 1)
    right, yes_splits = np.full(length, -np.inf), np.zeros(length, np.intp)
    right[0] = leaf.right[0]
    for share, own in enumerate(yes.right[: length - 1].tolist()):
        both = own + no.right[: length - 1 - share]
        at = slice(share + 1, share + 1 + len(both))
        better = both > right[at]
        right[at][better], yes_splits[at][better] = both[better], share
    return Growth(leaf.outcome, right, yes_splits, literal, yes, no)


def improve_tree(root: Node[int], rows: CodedRows, weights: Floats) -> Node[int]:
    """The tree after exchanging questions, one at a time, as long as more weight is decided rightly."""
    for _ in range(IMPROVEMENT_ROUNDS):
        improved = _improve_node(root, rows, weights)
        if improved == root:
            break
        root = improved
    return root


def _improve_node(node: Node[int], rows: CodedRows, weights: Floats) -> Node[int]:
    if not isinstance(node, Split) or not len(rows):
        return int(weights.sum(axis=0).argmax()) if len(rows) else (0 if isinstance(node, Split) else node)
    everyone = np.arange(len(rows))
    right_yes, right_no = (
        weights[everyone, decide_rows(side, rows.where_true, len(rows))] for side in (node.yes, node.no)
    )
    gain = right_yes - right_no
    matters = np.flatnonzero(gain)
    sums = rows.take(matters).sum_true(gain[matters])
    best = int(sums.argmax())
    literal = best if sums[best] > sums[node.question] + 1e-9 else node.question
    true = rows.where_true(literal)
    sides = [np.flatnonzero(side) for side in (true, ~true)]
    yes, no = (
        _improve_node(child, rows.take(side), weights[side])
        for child, side in zip((node.yes, node.no), sides, strict=True)
    )
    if not len(sides[0]):
        return no
    if not len(sides[1]) or yes == no:
        return yes
    return Split(literal, yes, no)


def fit_trees(rows: CodedRows, weights: Floats, sizes: tuple[int, ...]) -> Iterator[Node[int]]:
    """Trees with up to so many questions over literals of the grid: the best of each size.

    Besides the greedy tree there are some that begin with another column: which of them is best
    at a size is decided after their improvement.
    """
    gains = purity_gains(rows.sum_true(weights), weights.sum(axis=0))
    order = np.argsort(-gains, kind="stable")
    _, firsts = np.unique(rows.grid.column_of[order], return_index=True)
    roots = [int(order[at]) for at in np.sort(firsts)[:MAX_ROOTS] if gains[order[at]] > 0]
    growths = [grow_tree(rows, weights, max(sizes), root) for root in roots]
    everyone, labels = np.arange(len(rows)), weights
    seen = set()
    for size in sizes:
        best, most = None, -np.inf
        for growth in growths:
            root = improve_tree(growth.prune(size), rows, weights)
            right = float(labels[everyone, decide_rows(root, rows.where_true, len(rows))].sum())
            if right > most:
                best, most = root, right
        if isinstance(best, Split) and best not in seen:
            seen.add(best)
            yield best
