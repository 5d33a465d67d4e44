"""What a person reads: the interface that decision trees, score cards and rules share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import CodeBook
from hornbook.conditions import Category, Condition, Missing
from hornbook.display import Displayed, count_things, join_lines
from hornbook.errors import HornbookError
from hornbook.explanations.compile import CompiledExplanation
from hornbook.logic import Bools
from hornbook.schema import write_object

Ints: TypeAlias = NDArray[np.intp]
Body: TypeAlias = tuple[Condition, ...]
Region: TypeAlias = tuple[Body, tuple[Body, ...], int]
"""The rows that meet all conditions of a body, and of further bodies none as a whole; and their class."""


@dataclass(frozen=True)
class Line(Displayed):
    """One line of an explanation, as every renderer shows it.

    Parameters
    ----------
    text
        What is to be checked of a case: `if bilirubin > 2.1`, or `otherwise`.
    depth
        How far the line is indented: what lies deeper is read only where the line above holds.
    cells
        Further columns: the points of a card.
    outcome
        The class that is decided for, or empty where reading goes on.
    group
        The column that the text speaks of, whose lines stand together; empty if it has none.

    """

    text: str
    depth: int = 0
    cells: tuple[str, ...] = ()
    outcome: str = ""
    group: str = ""

    @property
    def words(self) -> str:
        """The text without its group."""
        return self.text.removeprefix(f"{self.group}: ")

    def __str__(self) -> str:
        return f"{'  '.join([*self.cells, self.text])}{': ' * bool(self.outcome)}{self.outcome}"


@dataclass(frozen=True)
class ReasonCode(Displayed):
    """What a column of a card has to do with a decision.

    Its value favours the class that is decided for by these points more than the value (or the
    missing value) of that column that favours it least. Of several classes, favour is the lead over
    the class with the next most points.

    Parameters
    ----------
    fact
        What the row says of the column, or of several columns together, in words.
    points
        How many points that gave, always above 0.
    against
        The case that favours the class least, in words.

    """

    fact: str
    points: int
    against: str

    def __str__(self) -> str:
        return f"{self.fact} ({self.points:+d} against {self.against})"


@dataclass(frozen=True)
class Reason:
    """Why an explanation decides as it does about one row.

    Parameters
    ----------
    outcome
        The number of the class.
    facts
        The facts that decide, in the order of reading, in words.
    codes
        The reason codes of a card, those with the most points first.

    """

    outcome: int
    facts: tuple[str, ...]
    codes: tuple[ReasonCode, ...] = ()


@dataclass(frozen=True)
class Box:
    """A box of a drawing: a question with two ways on, or a class.

    A yes leads to the right, to a box in the same row; a no leads down, to a box in the same column.

    Parameters
    ----------
    text
        The question, or the name of the class.
    column, row
        Its place, counted from the left and from above.
    outcome
        The number of the class; None for a question.
    yes, no
        The numbers of the boxes that follow; None for a class.

    """

    text: str
    column: int
    row: int
    outcome: int | None = None
    yes: int | None = None
    no: int | None = None


class Explanation(Displayed, ABC):
    """A tree, a card or rules about the columns of a table: it decides every row.

    `classes` are the names of the classes; decisions are their numbers. `code_book` has the words for
    columns and their values; it takes no part in decisions and comparisons.
    """

    form: ClassVar[str]
    """What it is called: `tree`, `card`, `rules` or `theory`."""

    noun: ClassVar[str] = "explanation"
    """What a reader calls it."""

    guide: ClassVar[str] = ""
    """How it is read, in a sentence or two."""

    is_ordered: ClassVar[bool] = True
    """Whether its lines are read from above, and none says anything by itself."""

    classes: tuple[str, ...]
    code_book: CodeBook

    def with_code_book(self, code_book: CodeBook) -> Self:
        """The same explanation in other words."""
        return replace(self, code_book=code_book)  # type: ignore[type-var]

    @property
    @abstractmethod
    def literals(self) -> int:
        """The number of conditions that there are to read."""

    @property
    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it speaks of, each once."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it speaks of, each once."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    @abstractmethod
    def decide(self, frame: pd.DataFrame) -> Ints:
        """The number of each row's class."""

    @abstractmethod
    def lines(self) -> tuple[Line, ...]:
        """The lines to read, in order."""

    @property
    def headings(self) -> tuple[str, ...]:
        """What the cells of its lines are called."""
        return ()

    def sum_points(self, frame: pd.DataFrame) -> NDArray[np.int64] | None:
        """The total of points of each row; of several classes, the lead of the first. None without points."""
        return None

    @property
    def threshold(self) -> int:
        """The total from which on it decides for the second of two classes."""
        return 0

    def list_boxes(self) -> tuple[Box, ...]:
        """Its drawing, the first box to read first; empty where it has none."""
        return ()

    def list_claims(self) -> Iterator[tuple[tuple[Condition, ...], str]]:
        """What each line claims by itself: conditions, and the class of all rows that meet them.

        Only the lines of an explanation whose order means nothing claim anything by themselves.
        """
        return iter(())

    def list_regions(self) -> Iterator[Region]:
        """The rows of each line that names a class; none where lines hold only together."""
        return iter(())

    @abstractmethod
    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each line the rows that it applies to, shape (lines, rows)."""

    @abstractmethod
    def explain(self, row: pd.DataFrame) -> Reason:
        """Why it decides as it does about a frame of one row."""

    def explain_rows(self, frame: pd.DataFrame) -> list[Reason]:
        """Why it decides as it does about each row; rows of which the same conditions hold share a reason."""
        answers = [part for condition in self.conditions for part in condition.evaluate(frame)]
        table = np.array([np.zeros(len(frame), np.bool_), *answers])  # (2 * conditions + 1, rows)
        _, first, same = np.unique(table, axis=1, return_index=True, return_inverse=True)
        reasons = [self.explain(frame.iloc[[number]]) for number in first]
        return [reasons[number] for number in same]

    @abstractmethod
    def compile(self) -> CompiledExplanation:
        """A Horn theory that derives the same classes."""

    def refuse_outcomes(self, outcomes: Iterable[int]) -> None:
        """Raise unless every outcome is the number of a class."""
        for outcome in outcomes:
            if not 0 <= outcome < len(self.classes):
                raise HornbookError(f"{outcome!r} is not the number of a class")

    def to_object(self) -> dict[str, Any]:
        """Everything but the code book, ready for JSON."""
        content: dict[str, Any] = write_object(self)
        return content

    def __str__(self) -> str:
        return "\n".join("  " * line.depth + str(line) for line in self.lines())

    def __repr__(self) -> str:
        return f"{self.noun} with {count_things(self.literals, 'literal')}: {join_lines(str(self))}"


def read_answer(condition: Condition, row: pd.DataFrame, code_book: CodeBook) -> Condition:
    """What is true of a row: the condition, its negation, or that the value is missing.

    A value beside those of an order or a pair is told itself.
    """
    true, false = condition.evaluate(row)
    words, value = code_book.words(condition.column), row[condition.column].iloc[0]
    known = words.order or words.pair or (value,)
    if (true[0] or false[0]) and condition.named_values and value not in known:
        return Category(condition.column, value)
    if true[0]:
        return condition
    return condition.negate() if false[0] else Missing(condition.column)


def describe_answers(
    conditions: Iterable[Condition], row: pd.DataFrame, code_book: CodeBook
) -> tuple[str, ...]:
    """What is true of a row, by conditions, in words: what is on one column together."""
    return code_book.describe_all(read_answer(condition, row, code_book) for condition in conditions)
