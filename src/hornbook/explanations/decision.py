"""Why an explanation decides as it does about one row, and the smallest change that would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise, product
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, IsTrue, Missing, find_range, make_range
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.explanations.explanation import Explanation, Ints, ReasonCode

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


def explain_row(explanation: Explanation, row: Mapping[str, Any] | pd.Series[Any]) -> Decision:
    """Why an explanation decides as it does about values of columns, and what would change it.

    Columns without a value are missing, and the decision says which were not given.

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
    if not isinstance(row, Mapping | pd.Series):
        raise HornbookError(f"a row is a mapping or a series, as X.iloc[17]; got {row!r:.40}")
    names, book = explanation.columns, explanation.code_book
    frame = pd.DataFrame({name: pd.Series([row.get(name)]).infer_objects() for name in names}, index=[0])
    reason = explanation.explain(frame)
    change, other = find_change(explanation, frame, reason.outcome)
    absent = {
        book.describe(Missing(name)): f"{book.label(name)} is not given" for name in names if name not in row
    }
    return Decision(
        explanation.classes[reason.outcome],
        tuple(absent.get(fact, fact) for fact in reason.facts),
        tuple(book.describe(condition.round()) for condition in change),
        "" if other is None else explanation.classes[other],
        tuple(replace(code, fact=absent.get(code.fact, code.fact)) for code in reason.codes),
    )


class _Part(NamedTuple):
    """A part of a column, a value in it, and how many thresholds it is above the row's value, or below."""

    condition: Condition
    value: Any
    steps: int


def find_change(
    explanation: Explanation, row: pd.DataFrame, outcome: int
) -> tuple[tuple[Condition, ...], int | None]:
    """What the fewest columns have to become for another class, and that class.

    Of changes of as many columns it is the one that passes the fewest thresholds of the explanation;
    another value of a category, or a missing one, counts as one. The range of a single column goes on, away
    from the row's value, as long as the class stays.
    """
    parts = [_list_parts(explanation, name, row[name].iloc[0]) for name in explanation.columns]
    for count in range(1, min(MAX_CHANGED_COLUMNS, len(parts)) + 1):
        every = (choice for own in combinations(parts, count) for choice in product(*own))
        changes = sorted(islice(every, MAX_TRIED_CHANGES), key=lambda each: sum(abs(p.steps) for p in each))
        decided = _decide_changed(explanation, row, changes)
        if (decided != outcome).any():
            first = int((decided != outcome).argmax())
            change, other = changes[first], int(decided[first])
            if count > 1 or not change[0].condition.cuts:
                return tuple(part.condition for part in change), other
            (own,) = (each for each in parts if change[0] in each)
            return (_widen(explanation, row, other, change[0], own),), other
    return (), None


def _list_parts(explanation: Explanation, column: str, value: Any) -> list[_Part]:
    """The parts of a column, and how many thresholds lie between each and a value."""
    cells = list(list_cells(explanation.conditions, column, explanation.code_book))
    known = isinstance(value, int | float | np.number) and value == value
    own = next((k for k, (_, part) in enumerate(cells) if part.cuts and known and part.accepts(value)), None)
    return [
        _Part(part, new, 1 if own is None or not part.cuts else number - own)
        for number, (new, part) in enumerate(cells)
    ]


def _widen(
    explanation: Explanation, row: pd.DataFrame, other: int, chosen: _Part, parts: Iterable[_Part]
) -> Condition:
    """A part of a column with those beyond it, as long as the class stays."""
    beyond = [
        part
        for part in parts
        if part.condition.cuts and part.steps * np.sign(chosen.steps) > abs(chosen.steps)
    ]
    beyond.sort(key=lambda part: abs(part.steps))
    decided = _decide_changed(explanation, row, [(part,) for part in beyond])
    same = int(np.append(decided != other, True).argmax())
    lows, highs = zip(*(find_range([part.condition]) for part in (chosen, *beyond[:same])), strict=True)
    return make_range(chosen.condition.column, min(lows), max(highs))


def _decide_changed(
    explanation: Explanation, row: pd.DataFrame, changes: Sequence[tuple[_Part, ...]]
) -> Ints:
    """The class of a row after each change."""
    values = {name: [row[name].iloc[0]] * len(changes) for name in row.columns}
    for number, change in enumerate(changes):
        for part in change:
            values[part.condition.column][number] = part.value
    return explanation.decide(
        pd.DataFrame({name: pd.Series(own).infer_objects() for name, own in values.items()})
    )


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
