"""Why an explanation decides as it does about one row, and the smallest change that would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, Missing, make_range
from hornbook.errors import HornbookError
from hornbook.explanations.explanation import Explanation, ReasonCode

MAX_CHANGED_COLUMNS = 3
"""The most columns that are changed together in the search for another decision."""

ANOTHER_VALUE = "… another value"
"""A category that no condition names."""

MAX_TRIED_CHANGES = 50_000
"""The most changed rows that are tried."""

MAX_SHOWN_CODES = 4
"""Reason codes that are shown of a decision, as many as notices of credit decisions name."""


@dataclass(frozen=True)
class Decision:
    """What an explanation decides about one row, why, and what would change it.

    Parameters
    ----------
    outcome
        The class.
    facts
        The facts that decide, in words.
    change
        The fewest new values, in words, with which another class is decided for; empty if none was
        found.
    otherwise
        That other class.
    codes
        The reason codes of a card, those with the most points first.

    Examples
    --------
    >>> print(Decision("dead", ("bili > 2.1",), ("bili ≤ 2.1",), "alive"))
    dead, because
      bili > 2.1
    with bili ≤ 2.1 it would be alive

    """

    outcome: str
    facts: tuple[str, ...]
    change: tuple[str, ...] = ()
    otherwise: str = ""
    codes: tuple[ReasonCode, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.outcome}, because" if self.facts else f"{self.outcome}, whatever the row says"]
        if self.codes:
            lines += [*(f"  {code}" for code in self.codes[:MAX_SHOWN_CODES]), "by these points"]
        lines += [f"  {fact}" for fact in self.facts]
        if self.change:
            lines.append(f"with {' and '.join(self.change)} it would be {self.otherwise}")
        return "\n".join(lines)


def explain_row(explanation: Explanation, row: Any) -> Decision:
    """Why an explanation decides as it does about one row, and what would change it.

    The row is a mapping of columns to values, a series, or a frame of one row.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> from hornbook.explanations.tree import DecisionTree, Split
    >>> below = Split(Threshold("age", 50), 1, 0)
    >>> tree = DecisionTree(("alive", "dead"), Split(Threshold("bili", 2.1), below, 0))
    >>> print(explain_row(tree, {"bili": 3.0, "age": 60}))
    dead, because
      bili > 2.1
      age > 50
    with bili ≤ 2.1 it would be alive

    """
    row = read_row(row, explanation.columns)
    reason = explanation.explain(row)
    words, other = find_change(explanation, row, reason.outcome)
    otherwise = "" if other is None else explanation.classes[other]
    return Decision(explanation.classes[reason.outcome], reason.facts, words, otherwise, reason.codes)


def find_change(
    explanation: Explanation, row: pd.DataFrame, outcome: int
) -> tuple[tuple[str, ...], int | None]:
    """The fewest columns that have to change for another class, in words, and that class."""
    cells = {
        name: list(list_cells(explanation.conditions, name, explanation.code_book))
        for name in explanation.columns
    }
    for count in range(1, min(MAX_CHANGED_COLUMNS, len(cells)) + 1):
        every = (
            dict(zip(names, choice, strict=True))
            for names in combinations(cells, count)
            for choice in product(*(cells[name] for name in names))
        )
        changes = list(islice(every, MAX_TRIED_CHANGES))
        decided = explanation.decide(_apply_changes(row, changes))
        if (decided != outcome).any():
            first = int((decided != outcome).argmax())
            return tuple(words for _, words in changes[first].values()), int(decided[first])
    return (), None


def _apply_changes(row: pd.DataFrame, changes: list[dict[str, tuple[Any, str]]]) -> pd.DataFrame:
    """The row once for each change, with its new values."""
    values = {
        name: [change[name][0] if name in change else row[name].iloc[0] for change in changes]
        for name in row.columns
    }
    return pd.DataFrame({name: pd.Series(column).infer_objects() for name, column in values.items()})


def list_cells(
    conditions: Iterable[Condition], column: str, code_book: CodeBook = EMPTY_BOOK
) -> Iterator[tuple[Any, str]]:
    """A value for each part of a column that the conditions tell apart, and the part in words.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> list(list_cells([Threshold("age", 40), Threshold("age", 60)], "age"))
    [(40.0, 'age ≤ 40'), (60.0, '40 < age ≤ 60'), (60.00000000000001, 'age > 60')]

    """
    own = [condition for condition in conditions if condition.column == column]
    cuts = sorted({cut for condition in own for cut in condition.cuts})
    if cuts:
        for low, high in pairwise([-inf, *cuts, inf]):
            value = high if high < inf else float(np.nextafter(low, inf))
            yield value, code_book.describe(make_range(column, low, high))
    # single values first
    named = sorted((condition.named_values for condition in own), key=lambda values: len(values) > 1)
    values = dict.fromkeys(value for values in named for value in values)
    levels = code_book.words(column).order or code_book.words(column).pair
    if values:
        values |= dict.fromkeys(levels)
    yield from ((value, code_book.describe(Category(column, value))) for value in values)
    if values and not levels and not cuts:
        yield _other_value(list(values)), code_book.describe(Category(column, tuple(values), inside=False))
    if any(isinstance(condition, Missing) for condition in own):
        yield None, code_book.describe(Missing(column))


def _other_value(values: list[Any]) -> Any:
    """A value that is none of these, of their kind."""
    if all(isinstance(value, int | float) for value in values):
        return max(values) + 1
    return ANOTHER_VALUE


def read_row(row: Any, columns: tuple[str, ...]) -> pd.DataFrame:
    """Columns of one row as a frame, from a mapping, series or frame; what is not given is missing."""
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise HornbookError(f"one row is explained at a time; got {len(row)}")
        row = row.iloc[0]
    if not isinstance(row, Mapping | pd.Series):
        raise HornbookError(f"a row is a mapping, a series or a frame of one row, not a {type(row).__name__}")
    if columns and not set(columns) & set(row.keys()):
        raise HornbookError(f"the row has none of the columns {', '.join(columns)}")
    values = {name: pd.Series([row.get(name)]).infer_objects() for name in columns}
    return pd.DataFrame(values, index=[0])
