"""The rows of a table that comes in parts: which are kept, and what the cells of each column are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.randomness import Purpose, generator
from hornbook.tables.notation import PLAIN, ColumnReadings, Notation, choose_notation, parse_numbers

MISSING_MARKERS = ("?", "", "NA", "NaN")
"""Markers of a missing value, in upper or lower case."""


def read_rows(
    parts: Iterable[pd.DataFrame],
    markers: Iterable[str] = MISSING_MARKERS,
    max_rows: int | None = None,
    seed: int = 0,
    notations: Sequence[Notation] = (PLAIN,),
    words: Collection[str] = (),
) -> tuple[pd.DataFrame, Notation, int]:
    """Read a table that comes in parts: all rows, or at most `max_rows` of them, drawn uniformly.

    A column of texts becomes one of numbers, or of truth values, only if all its known cells in all
    parts are written so. A column of dates is refused. Returns the table, the notation of its numbers,
    and the number of rows that the parts have.

    Parameters
    ----------
    parts
        The parts of the table in order; cells may be texts.
    markers
        The markers of missing values, in upper or lower case.
    max_rows
        The largest number of rows to return, in the order of the table; None for all.
    seed
        The seed of the sample.
    notations
        The ways in which numbers may be written.
    words
        Columns that may hold dates, which are words like others there.

    """
    reservoir = _Reservoir(max_rows, generator(seed, Purpose.FILE_ROWS))
    readings: dict[str, ColumnReadings] = {}
    for part in _clean_parts(parts, markers, readings):
        reservoir.add(part)
    notation = _find_notation(readings, notations, words)
    return _convert_texts(reservoir.rows(), readings, notation), notation, reservoir.rows_seen


@dataclass(frozen=True)
class PartReader:
    """Reads a table part by part as it would be read as a whole, which takes two passes over its parts.

    Parameters
    ----------
    readings
        How the cells of each column of texts can be read, by all parts.
    notation
        The notation of the numbers.
    rows
        The number of rows.

    """

    readings: Mapping[str, ColumnReadings]
    notation: Notation
    rows: int

    @classmethod
    def scan(cls, parts: Iterable[pd.DataFrame], notations: Sequence[Notation] = (PLAIN,)) -> PartReader:
        """Go through the parts of a table and keep none of them."""
        readings: dict[str, ColumnReadings] = {}
        rows = sum(len(part) for part in _clean_parts(parts, MISSING_MARKERS, readings))
        return cls(readings, _find_notation(readings, notations), rows)

    def read(self, parts: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Yield the parts with their cells as numbers, truth values and words; refuse a file that changed."""
        rows = 0
        readings: dict[str, ColumnReadings] = {}
        for part in _clean_parts(parts, MISSING_MARKERS, readings):
            rows += len(part)
            for name, column in self.readings.items():
                if name not in readings or not readings[name].readings >= column.readings:
                    raise HornbookError("it changed while it was read; run the command again")
            yield _convert_texts(part, self.readings, self.notation)
        if rows != self.rows:
            raise HornbookError("it changed while it was read; run the command again")


def _clean_parts(
    parts: Iterable[pd.DataFrame], markers: Iterable[str], readings: dict[str, ColumnReadings]
) -> Iterator[pd.DataFrame]:
    """Yield parts with texts stripped, missing ones NaN; note how each column of texts can be read."""
    lower_markers = frozenset(marker.strip().lower() for marker in markers)
    names: list[str] = []
    for part in parts:
        names = names or check_names(list(part.columns))
        yield _clean_texts(part.set_axis(names, axis=1), lower_markers, readings)


def _find_notation(
    readings: Mapping[str, ColumnReadings], notations: Sequence[Notation], words: Collection[str] = ()
) -> Notation:
    """The notation of a table's numbers; refuse dates, but for columns in which they are words."""
    for name, column in readings.items():
        if column.example and "dates" in column.readings and name not in words:
            raise HornbookError(
                f"column {name!r} holds dates ({column.example}); make them numbers, such as days, or drop it"
            )
    return choose_notation(readings, notations)


def check_names(names: Sequence[object]) -> list[str]:
    """Return the names with single spaces; refuse empty and repeated ones."""
    positions: dict[str, int] = {}
    for position, given in enumerate(names, 1):
        name = " ".join(str(given).split())
        if not name:
            raise HornbookError(f"column {position} has no name; name it in the header")
        if name in positions:
            raise HornbookError(
                f"columns {positions[name]} and {position} are both called {name!r}; rename one"
            )
        positions[name] = position
    return list(positions)


class _Reservoir:
    """A uniform sample of the rows seen so far: those with the smallest random keys."""

    def __init__(self, size: int | None, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.parts: list[pd.DataFrame] = []
        self.keys = np.zeros(0)  # (rows of all parts,)
        self.rows_seen = 0
        self.largest_key = 1.0

    def add(self, part: pd.DataFrame) -> None:
        """Add the next rows of the table; at most twice the sample stays in memory."""
        self.rows_seen += len(part)
        keys = self.rng.random(len(part))
        chosen = keys < self.largest_key
        self.parts.append(part[chosen])
        self.keys = np.append(self.keys, keys[chosen])
        if self.size is not None and len(self.keys) > 2 * self.size:
            self._prune()

    def rows(self) -> pd.DataFrame:
        """The sample, in the order of the table."""
        self._prune()
        return self.parts[0].reset_index(drop=True)

    def _prune(self) -> None:
        """Keep the rows with the smallest keys."""
        kept = np.sort(np.argsort(self.keys)[: self.size])
        self.parts = [pd.concat(self.parts, ignore_index=True).iloc[kept]]
        self.keys = self.keys[kept]
        if self.size is not None and len(kept) == self.size:
            self.largest_key = float(self.keys.max())


def _clean_texts(
    part: pd.DataFrame, markers: frozenset[str], readings: dict[str, ColumnReadings]
) -> pd.DataFrame:
    """Strip the texts of a part, make missing ones NaN, and note how each column of texts can be read."""
    names = [name for name, dtype in zip(part.columns, part.dtypes, strict=True) if _is_text(dtype)]
    texts_only = part if len(names) == part.shape[1] else part[names]
    cells = texts_only.to_numpy(object, copy=True)  # (rows, columns of texts)
    for position, name in enumerate(names):
        reading = readings.setdefault(name, ColumnReadings())
        cells[:, position] = _clean_column(cells[:, position].tolist(), markers, reading)
    return _replace_columns(part, pd.DataFrame(cells, part.index, names, dtype=object))


def _clean_column(cells: list[Any], markers: frozenset[str], reading: ColumnReadings) -> list[Any]:
    """Strip the texts of a column, make missing ones NaN, and note how the others can be read."""
    longest = max(map(len, markers), default=-1)
    others = [cell for cell in cells if not isinstance(cell, str)]
    texts = map(str.strip, (cell for cell in cells if isinstance(cell, str)) if others else cells)
    cleaned = [np.nan if len(text) <= longest and text.lower() in markers else text for text in texts]
    known = [text for text in cleaned if isinstance(text, str)]
    reading.add(known)
    reading.complete = reading.complete and len(known) == len(cells)
    if not _are_numbers(others):
        reading.readings.clear()
    if not others:
        return cleaned
    next_texts = iter(cleaned)
    return [next(next_texts) if isinstance(cell, str) else cell for cell in cells]


def _is_text(dtype: Any) -> bool:
    """Whether a column has texts, or objects of any type."""
    return pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Whether objects that are no texts are numbers or missing."""
    if set(map(type, cells)) <= {float, int, bool, type(None)}:
        return True
    try:
        pd.to_numeric(pd.Series(cells, dtype=object).dropna())
    except (ValueError, TypeError):
        return False
    return True


def _convert_texts(
    frame: pd.DataFrame, readings: Mapping[str, ColumnReadings], notation: Notation
) -> pd.DataFrame:
    """Convert columns of cleaned texts to numbers, or truth values, where all cells can be read so."""
    cells = frame[list(readings)].to_numpy(object)  # (rows, columns of texts)
    columns = {
        name: _convert_column(cells[:, position], column, notation)
        for position, (name, column) in enumerate(readings.items())
        if column.readings & {notation, "truths"}
    }
    return _replace_columns(frame, pd.DataFrame(columns, frame.index))


def _convert_column(cells: NDArray[Any], column: ColumnReadings, notation: Notation) -> NDArray[Any]:
    """Convert the cells of a column to numbers, or to truth values, as which all can be read."""
    if not column.example:  # there are no texts
        return pd.to_numeric(pd.Series(cells, dtype=object)).to_numpy()
    are_numbers = notation in column.readings
    if are_numbers and column.whole and column.complete:
        return np.array([*map(int, cells)], dtype=np.int64)
    texts = np.array([isinstance(cell, str) for cell in cells], dtype=bool)
    known = cells[texts].tolist()
    values = np.empty(len(cells))
    values[texts] = (
        parse_numbers(known, notation) if are_numbers else [cell.lower() == "true" for cell in known]
    )
    if not texts.all():
        values[~texts] = pd.to_numeric(pd.Series(cells[~texts], dtype=object)).to_numpy()
    return values if are_numbers or not column.complete else values == 1


def _replace_columns(frame: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """The frame with some of its columns replaced, in its own order."""
    if columns.shape[1] == frame.shape[1]:
        return columns
    rest = frame.drop(columns=columns.columns)
    return pd.concat([rest, columns], axis=1)[list(frame.columns)]
