"""What would change a model's decision about a row: the fewest columns, and the smallest change of them.

A change goes to values that occur in the table, and is checked on the model itself. That no change of
fewer columns does is proved for models that the prover supports: all other columns have the row's values,
and the model keeps its class for every value of the free ones within the table's ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import CodeBook
from hornbook.conditions import Condition
from hornbook.deadline import Deadline
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.extraction import read_given_row
from hornbook.extraction.columns import plain_value
from hornbook.models import ClassifierTeacher, Subject
from hornbook.models.answers import afford, limit_answers
from hornbook.proof import ColumnProver, Domain, make
from hornbook.reasons.change_search import ChangeSearch, Grade
from hornbook.reasons.change_space import (
    DISTANCE_WORDS,
    NO_LIMITS,
    ChangeLimits,
    ChangeSpace,
    Places,
)
from hornbook.schema import also_writes

SEARCH_SHARE = 0.8
"""The share of a budget of answers that a search for changes takes."""

MAX_ASKED_ROWS = 50_000
"""Rows that the model is asked about in the search for changes of one row."""

CHANGE_PROOF_SECONDS = 10.0
"""Time limit of the proofs that no change of fewer columns does."""

MAX_PROVED_SETS = 300
"""The most sets of columns of which it is proved one by one that no change of them does."""


@dataclass(frozen=True)
class ChangedValue(Displayed):
    """A new value of one column.

    Parameters
    ----------
    column
        The column.
    before, after
        The row's value and the new one; None where it is missing.
    distance
        How far the new value is, by `DISTANCE_WORDS`.
    text
        All that in words.

    """

    column: str
    before: Any
    after: Any
    distance: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class RowChange(Displayed):
    """New values with which the model decides otherwise, as the model itself says.

    Parameters
    ----------
    values
        The new values.
    outcome
        The class that the model then decides for.
    distance
        The sum of the distances of its values.
    nearest
        How certain it is that no change of as many columns, none of them superfluous, is smaller.

    """

    values: tuple[ChangedValue, ...]
    outcome: str
    distance: float
    nearest: Grade

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that change."""
        return tuple(value.column for value in self.values)

    def __str__(self) -> str:
        return f"with {' and '.join(value.text for value in self.values)} it would be {self.outcome}"


@also_writes(distance=lambda changes: DISTANCE_WORDS)
@dataclass(frozen=True)
class Changes(Displayed):
    """What would change a model's decision about one row.

    Parameters
    ----------
    outcome
        The class that the model decides for.
    wished
        The class that was asked for, if one was.
    changes
        Changes of different columns, the fewest and nearest first.
    fewer
        `fewer[k - 1]` is the certainty that no change of k columns suffices.
    checked
        How the model was asked, in words.
    asked
        How many rows the search asked the model about.

    """

    outcome: str
    wished: str | None
    changes: tuple[RowChange, ...]
    fewer: tuple[Grade, ...]
    checked: str
    asked: int = 0

    def __str__(self) -> str:
        wished = "the decision" if self.wished is None else f"it to {self.wished}"
        lines = [str(change) for change in self.changes] or [f"no change was found that would turn {wished}"]
        return "; ".join(["\n".join(lines), *self._describe_fewer()])

    def _describe_fewer(self) -> Iterator[str]:
        """Say how sure it is that fewer columns do not suffice."""
        for grade, own in groupby(enumerate(self.fewer, start=1), key=lambda each: each[1]):
            sizes = [size for size, _ in own]
            change = f"no change of {_count_columns(sizes)}"
            match grade:
                case "proved":
                    yield f"{change} does (proved)"
                case "exhausted":
                    yield f"{change} does (all values of the table tried)"
                case _:
                    yield f"{change} was found among {self.asked:,} rows asked"


@dataclass(frozen=True, eq=False)
class ChangeFinder:
    """Finds what would change a model's decisions about rows.

    Parameters
    ----------
    subject
        The model, bound to the rows of a table.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 30, 60, 70], "income": [10.0, 80, 20, 90]})
    >>> model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1])
    >>> finder = ChangeFinder(Subject.bind(model, rows, target="good"))
    >>> print(finder.find(rows.iloc[0]))
    with income 10 → 80 it would be good
    >>> print(finder.find(rows.iloc[0], limits=ChangeLimits(fixed=("income",))))
    no change was found that would turn the decision; no change of one column does (proved)

    """

    subject: Subject

    @property
    def teacher(self) -> ClassifierTeacher:
        """The model, bound to the rows that are not held out."""
        return self.subject.teacher

    def find(
        self,
        row: Any,
        limits: ChangeLimits = NO_LIMITS,
        wished: Any = None,
        *,
        count: int = 1,
        max_rows: int = MAX_ASKED_ROWS,
        proof_seconds: float = CHANGE_PROOF_SECONDS,
        search_seconds: float = math.inf,
    ) -> Changes:
        """Find up to `count` changes of different columns of a row; see `hornbook.Explainer.changes`.

        `search_seconds` is the time limit of the search.
        """
        if count < 1 or max_rows < 1:
            raise HornbookError(f"ask for at least one change and one row; got {count} and {max_rows}")
        frame = self.teacher.frame
        given = read_given_row(row, frame, self.subject.words)
        space = ChangeSpace.of(frame, given, self.subject.words, limits, self._list_hidden_columns())
        own = int(self.teacher.labels(space.make_rows(np.zeros((1, len(space.columns)), np.int32)))[0])
        goal = None if wished is None else read_class(self.subject, wished)
        if goal == own:
            raise HornbookError(
                f"the model decides for {self.subject.classes[own]} already; wish for another class"
            )

        def flips(rows: pd.DataFrame) -> NDArray[np.bool_]:
            labels = self.teacher.labels(rows)
            flipped: NDArray[np.bool_] = labels != own if goal is None else labels == goal
            return flipped

        def score(rows: pd.DataFrame) -> NDArray[np.float64]:
            sign, number = (-1, own) if goal is None else (1, goal)
            return sign * self.teacher.measure_support(rows, number)

        with limit_answers(seconds=search_seconds):
            budget = afford(max_rows, SEARCH_SHARE), Deadline.after(search_seconds)
            search = ChangeSearch(space, flips, score, *budget)
            nearest = search.run(self.teacher.sampler.frame, count)
        changes = tuple(self._describe(space, search, places) for places in nearest)
        below = len(changes[0].columns) - 1 if changes else search.largest
        proved = self._prove_fewer(space, given, own, below, Deadline.after(proof_seconds))
        fewer: list[Grade] = ["proved"] * proved
        fewer += [search.grade(size) for size in range(proved + 1, below + 1)]
        return Changes(
            self.subject.classes[own],
            None if goal is None else self.subject.classes[goal],
            changes,
            tuple(fewer),
            f"checked on the model: {self.teacher.describe()}",
            search.rows_asked,
        )

    def _list_hidden_columns(self) -> list[str]:
        """List the columns in which values are missing and the model takes missing values."""
        frame, donors = self.teacher.frame, self.teacher.donors
        refused = frozenset() if donors is None else donors.columns
        return [name for name in frame.columns if name not in refused and frame[name].isna().any()]

    def _describe(self, space: ChangeSpace, search: ChangeSearch, places: Places) -> RowChange:
        """Describe a change."""
        values = describe_values(space, places, self.subject.words)
        label = int(self.teacher.labels(space.make_rows(places[None]))[0])
        total = float(space.measure(places[None])[0])
        return RowChange(values, self.subject.classes[label], total, search.grade_nearest(len(values)))

    def find_prover(self, row: pd.DataFrame) -> ColumnProver:
        """The prover of the table's domain, or of one that reaches to a row beyond it.

        A model that is not supported is refused.
        """
        frame = self.teacher.frame
        wider = Domain.of(pd.concat([frame, row], ignore_index=True))
        return self._prover if wider.ranges == Domain.of(frame).ranges else self._make_prover(wider)

    @cached_property
    def _prover(self) -> ColumnProver:
        return self._make_prover(Domain.of(self.teacher.frame))

    def _make_prover(self, domain: Domain) -> ColumnProver:
        prover = make(self.subject.predictor, domain)
        if prover.classes != len(self.subject.classes):
            raise HornbookError("the prover tells another number of classes apart than the model has")
        return prover

    def _prove_fewer(
        self, space: ChangeSpace, row: pd.DataFrame, own: int, below: int, deadline: Deadline
    ) -> int:
        """Find the largest number of columns, at most `below`, for which no change is proved to suffice."""
        try:
            prover = self.find_prover(row) if below and not deadline.passed else None
        except HornbookError:
            prover = None
        if prover is None:
            return 0
        read = [name for name in space.columns if name in prover.domain.ranges]
        free = [name for name in read if space.sizes[space.columns.index(name)]]
        proved: list[list[Condition]] = []
        for size in range(1, below + 1):
            sets = list(combinations(free, min(size, len(free))))
            if len(sets) > MAX_PROVED_SETS:
                return size - 1
            for chosen in sets:
                body = [space.pin(name) for name in read if name not in chosen]
                body += [condition for name in chosen for condition in space.bound(name)]
                if deadline.passed:
                    return size - 1
                verdict = prover.try_to_prove(body, own, seconds=deadline.left)
                # the row itself meets the body, so no rows to prove anything of means another domain
                if verdict.status != "proved" or verdict.is_vacuous:
                    return size - 1
                proved.append(body)
            if not prover.confirm(proved, own):
                return size - 1
        return below


def read_class(subject: Subject, wished: Any) -> int:
    """Find the number of a class by the model's or the user's name."""
    for names in (subject.classes, subject.teacher.classes):
        if wished in names:
            return names.index(wished)
    raise HornbookError(f"the model has no class {wished!r}; its classes are {', '.join(subject.classes)}")


def describe_values(space: ChangeSpace, places: Places, book: CodeBook) -> tuple[ChangedValue, ...]:
    """Describe the new values of a change."""
    values = []
    for number in np.flatnonzero(places):
        column, pair = space.columns[number], space.values[number].iloc[[0, places[number]]]
        before, after = map(plain_cell, pair)
        old, new = ("missing" if cell is None else book.name_value(column, cell) for cell in (before, after))
        distance = float(space.distances[number][places[number]])
        values.append(ChangedValue(column, before, after, distance, f"{book.label(column)} {old} → {new}"))
    return tuple(values)


def plain_cell(value: Any) -> Any:
    """Make a cell ready for JSON; None where it is missing."""
    return None if pd.isna(value) else plain_value(value)


def _count_columns(sizes: Sequence[int]) -> str:
    """Write a range of numbers of columns in words."""
    if sizes[-1] == 1:
        return "one column"
    return f"{sizes[0]} columns" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} columns"
