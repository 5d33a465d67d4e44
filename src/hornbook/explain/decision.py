"""Why an explanation decides as it does about one row, and the smallest change that would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.surrogates import Category, Condition, Explanation, Missing, Threshold

MAX_CHANGED_COLUMNS = 3
"""The most columns that are changed together in the search for another decision."""

MAX_TRIED_CHANGES = 50_000
"""The most changed rows that are tried."""


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

    Examples
    --------
    >>> print(Decision("dead", ("bili > 2.1",), ("bili <= 2.1",), "alive"))
    dead, because
      bili > 2.1
    with bili <= 2.1 it would be alive

    """

    outcome: str
    facts: tuple[str, ...]
    change: tuple[str, ...] = ()
    otherwise: str = ""

    def __str__(self) -> str:
        lines = [f"{self.outcome}, because" if self.facts else f"{self.outcome}, whatever the row says"]
        lines += [f"  {fact}" for fact in self.facts]
        if self.change:
            lines.append(f"with {' and '.join(self.change)} it would be {self.otherwise}")
        return "\n".join(lines)

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "outcome": self.outcome,
            "facts": list(self.facts),
            "change": list(self.change),
            "otherwise": self.otherwise or None,
        }


def explain_row(explanation: Explanation, row: pd.DataFrame) -> Decision:
    """Why an explanation decides as it does about a frame of one row, and what would change it.

    Examples
    --------
    >>> from hornbook.surrogates import DecisionTree, Split
    >>> below = Split(Threshold("age", 50), 1, 0)
    >>> tree = DecisionTree(("alive", "dead"), Split(Threshold("bili", 2.1), below, 0))
    >>> print(explain_row(tree, pd.DataFrame({"bili": [3.0], "age": [60.0]})))
    dead, because
      bili > 2.1
      age > 50
    with bili <= 2.1 it would be alive

    """
    reason = explanation.explain(row)
    words, other = find_change(explanation, row, reason.outcome)
    otherwise = "" if other is None else explanation.classes[other]
    return Decision(explanation.classes[reason.outcome], reason.facts, words, otherwise)


def find_change(
    explanation: Explanation, row: pd.DataFrame, outcome: int
) -> tuple[tuple[str, ...], int | None]:
    """The fewest columns that have to change for another class, in words, and that class."""
    cells = {name: list(list_cells(explanation.conditions, name)) for name in explanation.columns}
    for count in range(1, min(MAX_CHANGED_COLUMNS, len(cells)) + 1):
        for names in combinations(cells, count):
            choices = list(product(*(cells[name] for name in names)))
            if len(choices) > MAX_TRIED_CHANGES:
                continue
            tried = pd.concat([row] * len(choices), ignore_index=True)
            for position, name in enumerate(names):
                values = [choice[position][0] for choice in choices]
                tried[name] = pd.Series(values, dtype=object if _is_text(values) else np.float64)
            decided = explanation.decide(tried)
            if (decided != outcome).any():
                first = int((decided != outcome).argmax())
                return tuple(words for _, words in choices[first]), int(decided[first])
    return (), None


def list_cells(conditions: Iterable[Condition], column: str) -> Iterator[tuple[Any, str]]:
    """A value for each part of a column that the conditions tell apart, and the part in words.

    Examples
    --------
    >>> list(list_cells([Threshold("age", 40), Threshold("age", 60)], "age"))
    [(40.0, 'age <= 40'), (60.0, '40 < age <= 60'), (61.0, 'age > 60')]

    """
    own = [condition for condition in conditions if condition.column == column]
    cuts = sorted({float(condition.cut) for condition in own if isinstance(condition, Threshold)})
    if cuts:
        yield cuts[0], f"{column} <= {cuts[0]:.15g}"
        yield from ((high, f"{low:.15g} < {column} <= {high:.15g}") for low, high in pairwise(cuts))
        yield (
            cuts[-1] + max(1.0, abs(cuts[-1])) * 2**-20 if cuts[-1] > 2**40 else cuts[-1] + 1.0,
            (f"{column} > {cuts[-1]:.15g}"),
        )
    values = dict.fromkeys(condition.value for condition in own if isinstance(condition, Category))
    yield from ((value, str(Category(column, value))) for value in values)
    if any(isinstance(condition, Missing) for condition in own):
        yield None, f"{column} missing"


def read_row(row: Any, columns: tuple[str, ...]) -> pd.DataFrame:
    """One row as a frame: from a mapping of some columns to values, a series, a list, or a frame of one."""
    if isinstance(row, pd.DataFrame):
        frame = row
    elif isinstance(row, Mapping | pd.Series):
        given = {str(name): value for name, value in row.items()}
        unknown = sorted(set(given) - set(columns))
        if unknown:
            raise HornbookError(f"there is no column {unknown[0]!r}; the columns are {', '.join(columns)}")
        frame = pd.DataFrame({name: [given.get(name)] for name in columns})
    else:
        frame = pd.DataFrame(np.asarray(row, object).reshape(1, -1)).infer_objects()
    if frame.shape != (1, len(columns)):
        raise HornbookError(
            f"one row of {len(columns)} values is explained at a time; got shape {frame.shape}"
        )
    return frame.set_axis(list(columns), axis=1)


def _is_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)
