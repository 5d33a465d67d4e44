"""Decision trees: questions about columns, and the class at the end of each way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition
from hornbook.display import Displayed
from hornbook.explanations.compile import CompiledExplanation, TheoryBuilder
from hornbook.explanations.explanation import (
    Body,
    Box,
    Explanation,
    Ints,
    Line,
    Reason,
    Region,
    describe_answers,
)
from hornbook.logic import Bools

Question = TypeVar("Question")


@dataclass(frozen=True)
class Split(Displayed, Generic[Question]):
    """A question: `yes` follows where it is true, `no` where it is false or unknown."""

    question: Question
    yes: Split[Question] | int
    no: Split[Question] | int

    def __str__(self) -> str:
        return f"if {self.question}: {self.yes}, otherwise ({self.no})"


Node: TypeAlias = "Split[Question] | int"
"""A question, or the number of a class."""


@dataclass(frozen=True)
class DecisionTree(Explanation):
    """A tree of questions with a class at the end of each way.

    A missing value counts as no: a question is answered with yes only where its condition is true.

    Examples
    --------
    >>> from hornbook.conditions import Category, Threshold
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
    root: Split[Condition] | int
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)

    form = "tree"
    noun = "decision tree"
    guide = (
        "Read from above. Where a condition is true of the case, take the class beside it, or go on with "
        "what is indented below it. Where it is false, or the value is missing, go on with the next line "
        "that is indented as much."
    )

    def __post_init__(self) -> None:
        ends = [end for split in walk_splits(self.root) for end in (split.yes, split.no)] or [self.root]
        self.refuse_outcomes(end for end in ends if not isinstance(end, Split))

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
            text = f"{opening} {self.code_book.describe(node.question)}"
            if isinstance(node.yes, Split):
                yield Line(text, depth)
                yield from self._lines(node.yes, depth + 1)
            else:
                yield Line(text, depth, outcome=self.classes[node.yes])
            node, opening = node.no, "otherwise if"
        yield Line("always" if opening == "if" else "otherwise", depth, outcome=self.classes[node])

    def list_boxes(self) -> tuple[Box, ...]:
        """A box for each question and each class: a yes leads to the right, a no down."""
        boxes: list[Box] = []

        def place(node: Node[Condition], column: int, row: int) -> int:
            """Place a node and all below it; the number of its box."""
            number = len(boxes)
            if not isinstance(node, Split):
                boxes.append(Box(self.classes[node], column, row, outcome=node))
                return number
            boxes.append(Box(self.code_book.describe(node.question), column, row))
            yes = place(node.yes, column + 1, row)
            no = place(node.no, column, max(each.row for each in boxes) + 1)
            boxes[number] = replace(boxes[number], yes=yes, no=no)
            return number

        place(self.root, 0, 0)
        return tuple(boxes)

    def list_regions(self) -> Iterator[Region]:
        """For each leaf the rows that come to it."""

        def walk(node: Node[Condition], met: Body, failed: tuple[Body, ...]) -> Iterator[Region]:
            if not isinstance(node, Split):
                yield met, failed, node
                return
            yield from walk(node.yes, (*met, node.question), failed)
            yield from walk(node.no, met, (*failed, (node.question,)))

        yield from walk(self.root, (), ())

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each question the rows that come to it with a yes, for each `otherwise` those that are left."""
        return np.array(list(self._matches(self.root, frame, np.ones(len(frame), np.bool_))))

    def _matches(self, node: Node[Condition], frame: pd.DataFrame, arrived: Bools) -> Iterator[Bools]:
        while isinstance(node, Split):
            true = node.question.evaluate(frame)[0]
            yield arrived & true
            if isinstance(node.yes, Split):
                yield from self._matches(node.yes, frame, arrived & true)
            node, arrived = node.no, arrived & ~true
        yield arrived

    def explain(self, row: pd.DataFrame) -> Reason:
        """The answers on the way of one row."""
        node, questions = self.root, []
        while isinstance(node, Split):
            questions.append(node.question)
            node = node.yes if node.question.evaluate(row)[0][0] else node.no
        return Reason(node, describe_answers(questions, row, self.code_book))

    def compile(self) -> CompiledExplanation:
        """The rules of a tree: each question leads on from the one above it."""
        builder = TheoryBuilder(self.conditions, self.classes, self.code_book)
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
