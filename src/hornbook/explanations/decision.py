"""Why an explanation decides as it does about one row, and the smallest change that would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, IsTrue, Missing, find_range, make_range
from hornbook.display import Displayed
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
class Decision(Displayed):
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
    change, other = find_change(explanation, row, reason.outcome)
    words = tuple(explanation.code_book.describe(condition.round()) for condition in change)
    otherwise = "" if other is None else explanation.classes[other]
    return Decision(explanation.classes[reason.outcome], reason.facts, words, otherwise, reason.codes)


def find_change(
    explanation: Explanation, row: pd.DataFrame, outcome: int
) -> tuple[tuple[Condition, ...], int | None]:
    """What the fewest columns have to become for another class, and that class.

    Of changes of as many columns it is the one that passes the fewest thresholds of the explanation;
    another value of a category, or a missing one, counts as one. A range goes on, away from the row's
    value, as long as the class stays.
    """
    cells = {name: _list_steps(explanation, name, row[name].iloc[0]) for name in explanation.columns}
    for count in range(1, min(MAX_CHANGED_COLUMNS, len(cells)) + 1):
        every = (
            dict(zip(names, choice, strict=True))
            for names in combinations(cells, count)
            for choice in product(*(cells[name] for name in names))
        )
        changes = sorted(islice(every, MAX_TRIED_CHANGES), key=_count_steps)
        decided = explanation.decide(_apply_changes(row, changes))
        if (decided != outcome).any():
            first = int((decided != outcome).argmax())
            other = int(decided[first])
            widened = {name: [cell] for name, cell in changes[first].items()}
            for name in widened:
                _widen(explanation, row, other, cells[name], widened, name)
            return tuple(_join_cells(each) for each in widened.values()), other
    return (), None


class _Cell(NamedTuple):
    """A part of a column, a value in it, and how far it is from the row's own, less than 0 below it."""

    value: Any
    part: Condition
    steps: int


def _count_steps(change: Mapping[str, _Cell]) -> int:
    return sum(abs(cell.steps) for cell in change.values())


def _list_steps(explanation: Explanation, column: str, value: Any) -> list[_Cell]:
    """The parts of a column, and how many thresholds lie between each and a value."""
    cells = list(list_cells(explanation.conditions, column, explanation.code_book))
    known = isinstance(value, int | float | np.number) and value == value
    own = next((k for k, (_, part) in enumerate(cells) if part.cuts and known and part.accepts(value)), None)
    return [
        _Cell(new, part, 1 if own is None or not part.cuts else number - own)
        for number, (new, part) in enumerate(cells)
    ]


def _widen(
    explanation: Explanation,
    row: pd.DataFrame,
    other: int,
    cells: list[_Cell],
    widened: dict[str, list[_Cell]],
    name: str,
) -> None:
    """Add the parts of a column that lie beyond that of a change, as long as the class stays."""
    (chosen,) = widened[name]
    numbers = [cell for cell in cells if cell.part.cuts and chosen.part.cuts]
    beyond = [
        cell
        for cell in numbers
        if abs(cell.steps) > abs(chosen.steps) and (cell.steps > 0) == (chosen.steps > 0)
    ]
    for cell in sorted(beyond, key=lambda cell: abs(cell.steps)):
        others = [cells if own != name else [cell] for own, cells in widened.items()]
        changes = [dict(zip(widened, choice, strict=True)) for choice in product(*others)]
        if (explanation.decide(_apply_changes(row, changes)) != other).any():
            break
        widened[name].append(cell)


def _join_cells(cells: list[_Cell]) -> Condition:
    """The condition that a value is in one of some neighbouring parts of a column."""
    conditions = [cell.part for cell in cells]
    if len(conditions) == 1:
        return conditions[0]
    lows, highs = zip(*(find_range([part]) for part in conditions), strict=True)
    return make_range(conditions[0].column, min(lows), max(highs))


def _apply_changes(row: pd.DataFrame, changes: list[dict[str, _Cell]]) -> pd.DataFrame:
    """The row once for each change, with its new values."""
    values = {
        name: [change[name].value if name in change else row[name].iloc[0] for change in changes]
        for name in row.columns
    }
    return pd.DataFrame({name: pd.Series(column).infer_objects() for name, column in values.items()})


def list_cells(
    conditions: Iterable[Condition], column: str, code_book: CodeBook = EMPTY_BOOK
) -> Iterator[tuple[Any, Condition]]:
    """A value for each part of a column that the conditions tell apart, and the part.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> for value, part in list_cells([Threshold("age", 40), Threshold("age", 60)], "age"):
    ...     print(value, part)
    40.0 age <= 40
    60.0 40 < age <= 60
    60.00000000000001 age > 60

    """
    own = [condition for condition in conditions if condition.column == column]
    cuts = sorted({cut for condition in own for cut in condition.cuts})
    if cuts:
        for low, high in pairwise([-inf, *cuts, inf]):
            value = high if high < inf else float(np.nextafter(low, inf))
            yield value, make_range(column, low, high)
    if any(isinstance(condition, IsTrue) for condition in own):
        yield from ((int(truth), IsTrue(column, truth)) for truth in (True, False))
        return
    # single values first
    named = sorted((condition.named_values for condition in own), key=lambda values: len(values) > 1)
    values = dict.fromkeys(value for values in named for value in values)
    levels = code_book.words(column).order or code_book.words(column).pair
    if values:
        values |= dict.fromkeys(levels)
    yield from ((value, Category(column, value)) for value in values)
    if values and not levels and not cuts:
        yield _other_value(list(values)), Category(column, tuple(values), inside=False)
    if any(isinstance(condition, Missing) for condition in own):
        yield None, Missing(column)


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
        raise HornbookError(
            f"a row is a mapping, a series or a frame of one row, as X.iloc[17]; got {row!r:.40}"
        )
    if columns and not set(columns) & set(row.keys()):
        raise HornbookError(f"the row has none of the columns {', '.join(columns)}")
    values = {name: pd.Series([row.get(name)]).infer_objects() for name in columns}
    return pd.DataFrame(values, index=[0])
