"""Rows of table files, of folders of them and of queries, read by DuckDB.

A column of texts becomes one of numbers, or of truth values, only if all its known cells are written so,
from the first row of the source to the last. So a source is looked at as a whole, and then read: all its
rows, a sample of them, or some at a time, in memory that does not grow with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError, refuse_beyond_memory
from hornbook.randomness import Purpose, generator
from hornbook.tables.frames import check_names, refuse_infinity
from hornbook.tables.sources import (
    Source,
    connect,
    disable_optimizers,
    name_source,
    open_source,
    quote,
    shorten,
)
from hornbook.tables.text_format import NOTATIONS, PLAIN, Notation, TextFormat, choose_notation

T = TypeVar("T")

MISSING_MARKERS = ("?", "", "NA", "NaN")
"""Markers of a missing value, in upper or lower case."""

NUMBER_MARKERS = ("n/a", "-", "null", ".")
"""Further markers of a missing value in a column of numbers."""

VECTOR_ROWS, VECTORS_PER_PART = 2048, 8
"""Rows that DuckDB reads at once, which are a part of a wide table, and how often for a part of others."""

COLUMNS_PER_QUERY = 500
"""Number of columns that are asked about in one query: each expression takes memory of its own."""

BYTES_A_CELL = 40
"""Memory that a value takes while a whole table is read, about."""

# What a cell can be, as bits of a number; of a column, those that all its cells have.
ALL_NOTATIONS = (1 << len(NOTATIONS)) - 1
POINTS = sum(1 << place for place, notation in enumerate(NOTATIONS) if notation.decimal == ".")
TRUTH, DATE, WHOLE, COMPLETE, UNMARKED, EMPTY, TRIMMED = (1 << (len(NOTATIONS) + bit) for bit in range(7))
ANYTHING = ALL_NOTATIONS | TRUTH | DATE | WHOLE | EMPTY

SAME_SIGNS = ("\u00a0\u202f\u2009\u2019", "   '")
"""Other signs between thousands, and what they stand for."""

BLANKS = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u3000\ufeff"
"""Signs that are no part of a value at its ends."""


@dataclass(frozen=True)
class Reading:
    """What was found out about a source.

    Parameters
    ----------
    rows
        The number of its rows.
    text_format
        How it is written, if it is a text.
    notes
        What was taken for missing values in columns of numbers.

    """

    rows: int
    text_format: TextFormat | None = None
    notes: tuple[str, ...] = ()


def read_rows(
    source: str | Path,
    text_format: TextFormat | None = None,
    *,
    names: Sequence[str] | None = None,
    missing: Iterable[str] = MISSING_MARKERS,
    max_rows: int | None = None,
    seed: int = 0,
    words: Collection[str] = (),
) -> tuple[pd.DataFrame, Reading]:
    """Read all rows of a source, or at most `max_rows` of them, drawn uniformly, in its order.

    `words` are columns that may hold dates, which are words like others there; dates are refused elsewhere.
    """
    with open_source(source, text_format or TextFormat(), names) as opened:
        rows = Rows.scan(opened, missing, words)
        return rows.read(max_rows, seed), rows.reading


def number_rows(count: int, first: int = 1) -> pd.RangeIndex:
    """The numbers of rows of a file: the line after the header is row 1."""
    return pd.RangeIndex(first, first + count)


def read_new_rows(
    source: str | Path, text_format: TextFormat | None = None, max_rows: int | None = None
) -> tuple[pd.DataFrame, Reading]:
    """Read the rows of a source, whose columns may have no value at all."""
    rows, reading = read_rows(source, text_format, max_rows=max_rows)
    if rows.empty:
        raise HornbookError(
            f"{shorten(name_source(source))} has {rows.shape[1]} columns and {len(rows)} rows"
        )
    rows = rows.set_axis(number_rows(len(rows)))
    refuse_infinity(rows)
    return rows, reading


def read_new_parts(
    source: str | Path, text_format: TextFormat | None = None
) -> tuple[Iterator[pd.DataFrame], Reading]:
    """Read the rows of a source some thousand at a time, each part with the numbers of its rows, from 1."""
    stack = ExitStack()
    with stack:
        rows = Rows.scan(stack.enter_context(open_source(source, text_format or TextFormat())))
        if not rows.reading.rows:
            raise HornbookError("it has no rows")
        opened = stack.pop_all()

    def yield_parts() -> Iterator[pd.DataFrame]:
        with opened:
            first_row = 1
            for part in rows.parts():
                numbered = part.set_axis(number_rows(len(part), first_row))
                refuse_infinity(numbered)
                yield numbered
                first_row += len(part)

    return yield_parts(), rows.reading


def read_texts(
    frame: pd.DataFrame, missing: Iterable[str] = MISSING_MARKERS, words: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the texts of a frame as those of a file; returns notes about missing values, too.

    Columns of other values stay as they are, as do numbers among words.
    """
    frame = frame.set_axis(check_names(list(frame.columns)), axis=1)
    texts = {str(name): cells for name, column in frame.items() if (cells := _list_texts(column)) is not None}
    if not texts:
        return frame, ()
    with connect() as connection:
        connection.execute("SET pandas_analyze_sample = 0")
        connection.register("texts", pd.DataFrame(texts, dtype=object))
        rows = Rows.scan(Source(connection, "FROM texts", list(texts), None), missing, words)
        columns = rows.read()
    for name, values in columns.items():
        if values.dtype == object:  # of words, among which other values stay
            is_text = np.array([isinstance(cell, str) for cell in frame[name]])
            columns[name] = np.where(is_text, values, frame[name].to_numpy(object))
    rest = frame.drop(columns=list(texts))
    whole = pd.concat([rest, columns.set_axis(frame.index)], axis=1)[list(frame.columns)]
    return whole, rows.reading.notes


def _list_texts(values: pd.Series[Any]) -> list[str | None] | None:
    """The cells of a column as texts, None where they are missing; None if it holds anything else."""
    if not (pd.api.types.is_object_dtype(values) or isinstance(values.dtype, pd.StringDtype)):
        return None
    cells: list[str | None] = []
    for cell in values:
        if isinstance(cell, str):
            cells.append(cell)
        elif cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
            cells.append(None)
        elif isinstance(cell, bool | int | float | np.number | np.bool_):
            cells.append(str(cell))
        else:
            return None
    return cells


def draw_rows(count: int, max_rows: int | None, seed: int) -> NDArray[np.int64] | None:
    """The numbers of the rows of a sample in order; None for all of them."""
    if max_rows is None or count <= max_rows:
        return None
    return np.sort(generator(seed, Purpose.FILE_ROWS).choice(count, max_rows, replace=False))


@dataclass(frozen=True)
class Rows:
    """The rows of a query, all of which have been looked at.

    Parameters
    ----------
    connection
        DuckDB.
    names
        The names of the columns.
    given
        The rows as they are given, in SQL, with columns c0, c1, …
    columns
        The columns.
    notation
        The notation of numbers among texts.
    reading
        What was found out about the rows.

    """

    connection: Any
    names: Sequence[str]
    given: str
    columns: Sequence[_Column]
    notation: Notation
    reading: Reading

    @classmethod
    def scan(
        cls, source: Source, missing: Iterable[str] = MISSING_MARKERS, words: Collection[str] = ()
    ) -> Rows:
        """Look at all rows of a source; `words` are columns that may hold dates."""
        connection, names, text_format = source.connection, source.names, source.text_format
        define_macros(connection, missing)
        columns = [f"c{place}" for place in range(len(names))]
        given = f"({source.query}) AS given({', '.join(columns)})"
        if len(columns) > COLUMNS_PER_QUERY:  # to go through the source once, not once for each query
            connection.execute(f"CREATE TEMP TABLE wide AS FROM {given}")
            given = "wide"
        kinds = [_simplify_type(str(each)) for each in connection.sql(f"FROM {given}").types]
        count, masks = _scan_cells(connection, given, columns, kinds)
        found = [
            _Column(connection, given, name, column, kind, masks.get(column, ANYTHING))
            for name, column, kind in zip(names, columns, kinds, strict=True)
        ]
        notation = _find_notation(found, (PLAIN,) if text_format is None else text_format.notations, words)
        notes = tuple(note for column in found if (note := column.note_markers(notation)))
        reading = Reading(count, text_format and text_format.with_notation(notation), notes)
        return cls(connection, names, given, found, notation, reading)

    def read(self, max_rows: int | None = None, seed: int = 0) -> pd.DataFrame:
        """All rows, or a sample of them in their order."""
        drawn = draw_rows(self.reading.rows, max_rows, seed)
        if drawn is None:
            refuse_beyond_memory(self.reading.rows, BYTES_A_CELL * len(self.names), "rows")
            frame = self._select(self.given)
        else:
            self.connection.register("drawn", pd.DataFrame({"row": drawn}))
            disable_optimizers(self.connection, "build_side_probe_side", "join_order")  # it keeps all rows
            numbered = f"(SELECT *, row_number() OVER () - 1 AS row FROM {self.given})"
            frame = self._select(f"{numbered} SEMI JOIN drawn USING (row) ORDER BY row")
        if len(frame) != (self.reading.rows if drawn is None else len(drawn)):
            raise HornbookError(f"it claims {self.reading.rows:,} rows and has fewer; get it again")
        return frame

    def parts(self) -> Iterator[pd.DataFrame]:
        """Yield all rows, some thousand at a time."""
        if len(self.names) > COLUMNS_PER_QUERY:
            for first in range(0, self.reading.rows, VECTOR_ROWS):
                yield self._select(f"{self.given} LIMIT {VECTOR_ROWS} OFFSET {first}")
            return
        self.connection.execute(self._query(self.columns, self.given))
        while len(part := self.connection.fetch_df_chunk(VECTORS_PER_PART)):
            yield self._finish(part)

    def _select(self, rows: str) -> pd.DataFrame:
        """The values of some rows, a few hundred columns at a time."""
        frames = [self.connection.sql(self._query(group, rows)).df() for group in _group(self.columns)]
        return self._finish(frames[0] if len(frames) == 1 else pd.concat(frames, axis=1))

    def _query(self, columns: Sequence[_Column], rows: str) -> str:
        values = ", ".join(f"{each.value(self.notation)} AS {each.column}" for each in columns)
        return f"SELECT {values} FROM (SELECT {', '.join(each.trimmed for each in columns)} FROM {rows})"

    def _finish(self, frame: pd.DataFrame) -> pd.DataFrame:
        texts = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.StringDtype)]
        return frame.astype(dict.fromkeys(texts, object)).set_axis(list(self.names), axis=1)


@dataclass(frozen=True)
class _Column:
    """A column as it is given, and what all its cells are.

    Parameters
    ----------
    connection, given
        DuckDB, and the rows in SQL.
    name
        Its name.
    column
        The column in SQL.
    kind
        Its type in SQL.
    mask
        What all its cells are, as bits.

    """

    connection: Any
    given: str
    name: str
    column: str
    kind: str
    mask: int

    @property
    def notations(self) -> list[Notation]:
        """The notations that read all cells, if any is known."""
        if self.kind != "VARCHAR" or self.mask & EMPTY:
            return []
        return [notation for place, notation in enumerate(NOTATIONS) if self.mask >> place & 1]

    @property
    def are_dates(self) -> bool:
        """Whether all known cells are dates."""
        return self.kind == "VARCHAR" and bool(self.mask & DATE) and not self.mask & EMPTY

    def example(self) -> str:
        """A known cell, with a sign that may be decimal if there is one."""
        ((example,),) = self.connection.sql(
            f"SELECT coalesce(first({self.column}) FILTER (regexp_matches({self.column}, '[.,]')), "
            f"first({self.column})) FROM (SELECT known(trimmed({self.column})) AS {self.column} "
            f"FROM {self.given}) WHERE {self.column} IS NOT NULL"
        ).fetchall()
        return str(example)

    @property
    def trimmed(self) -> str:
        """The cells in SQL without blanks at their ends."""
        is_trimmed = self.kind != "VARCHAR" or self.mask & TRIMMED
        return self.column if is_trimmed else f"trimmed({self.column}) AS {self.column}"

    def value(self, notation: Notation) -> str:
        """The values in SQL, from trimmed cells: numbers, truth values or words."""
        complete = self.mask & COMPLETE
        if self.kind == "DECIMAL" or (self.kind == "NUMBER" and not complete):
            return f"CAST({self.column} AS DOUBLE)"
        if self.kind != "VARCHAR":
            return self.column
        cell = self.column if complete else f"known({self.column})"
        if notation in self.notations:
            number = "BIGINT" if complete and self.mask & WHOLE else "DOUBLE"
            if notation.thousands:
                cell = f"replace(plain_signs({cell}), {quote(notation.thousands)}, '')"
            if notation.decimal != ".":
                cell = f"replace({cell}, {quote(notation.decimal)}, '.')"
            return f"{'CAST' if self.mask & UNMARKED else 'TRY_CAST'}({cell} AS {number})"
        if self.mask & EMPTY:
            return "CAST(NULL AS DOUBLE)" if self.mask & UNMARKED else cell
        if self.mask & TRUTH:
            truth = f"(lower({cell}) = 'true')"
            return truth if complete else f"CAST({truth} AS DOUBLE)"
        return cell

    def note_markers(self, notation: Notation) -> str | None:
        """Say how often which further markers of missing values stand among numbers."""
        if notation not in self.notations or self.mask & UNMARKED:
            return None
        counts = self.connection.sql(
            f"SELECT trimmed({self.column}) AS marker, count(*) FROM {self.given} WHERE is_marker(marker) "
            "GROUP BY marker ORDER BY marker"
        ).fetchall()
        markers = ", ".join(f"{count:,} × {marker!r}" for marker, count in counts)
        return f"column {self.name!r} holds numbers; taken for missing values: {markers}"


def _simplify_type(name: str) -> str:
    """A type of DuckDB as VARCHAR, NUMBER (truth values are numbers), DECIMAL or OTHER."""
    if name in ("VARCHAR", "JSON", "UUID") or name.startswith("ENUM"):
        return "VARCHAR"
    if name.startswith("DECIMAL") or "HUGEINT" in name:
        return "DECIMAL"
    return "NUMBER" if name == "BOOLEAN" or name.endswith("INT") or name == "INTEGER" else "OTHER"


def _scan_cells(
    connection: Any, given: str, columns: Sequence[str], kinds: Sequence[str]
) -> tuple[int, dict[str, int]]:
    """The number of rows, and for each column what all its cells are.

    The texts of all columns are looked at as one column: an expression for each takes memory for each.
    """
    texts = [column for column, kind in zip(columns, kinds, strict=True) if kind == "VARCHAR"]
    others = [column for column, kind in zip(columns, kinds, strict=True) if kind != "VARCHAR"]
    masks: dict[str, int] = {}
    ((count,),) = connection.sql(f"SELECT count(*) FROM {given}").fetchall()
    for group in _group(others):
        (known,) = connection.sql(
            f"SELECT {', '.join(f'count({each})' for each in group)} FROM {given}"
        ).fetchall()
        masks.update((column, COMPLETE * (each == count)) for column, each in zip(group, known, strict=True))
    for group in _group(texts):
        cells = connection.sql(
            f"SELECT place, bit_and(readings(known(cell)) | {TRIMMED} * is_trimmed) FROM (SELECT place, "
            "trimmed(cell) AS cell, CAST(cell IS NOT DISTINCT FROM trimmed(cell) AS INTEGER) AS is_trimmed "
            f"FROM (SELECT unnest([{', '.join(group)}]) AS cell, unnest(range({len(group)})) AS place "
            f"FROM {given})) GROUP BY place"
        ).fetchall()
        masks.update((group[place], mask) for place, mask in cells)
    return count, masks


def _group(columns: Sequence[T]) -> list[Sequence[T]]:
    """The columns, a few hundred at a time."""
    return [columns[first : first + COLUMNS_PER_QUERY] for first in range(0, len(columns), COLUMNS_PER_QUERY)]


def _find_notation(
    columns: Sequence[_Column], allowed: Sequence[Notation], words: Collection[str]
) -> Notation:
    """The notation of a source's numbers; refuse dates, but for columns in which they are words."""
    for column in columns:
        if column.are_dates and column.name not in words:
            raise HornbookError(
                f"column {column.name!r} holds dates ({column.example()}); make them numbers, such as days, "
                "or drop it"
            )
    possible = {
        column.name: readings
        for column in columns
        if (readings := [notation for notation in allowed if notation in column.notations])
    }
    examples = {column.name: column.example for column in columns}
    return choose_notation(possible, allowed, lambda name: examples[name]())


def define_macros(connection: Any, missing: Iterable[str]) -> None:
    """Define what cells are in SQL: trimmed, known, and what they can be read as."""
    markers = {marker.strip().lower() for marker in missing}
    number_markers = NUMBER_MARKERS if {marker.lower() for marker in MISSING_MARKERS} <= markers else ()
    marker_list, number_marker_list = (
        ", ".join(map(quote, ["", *sorted(each)])) for each in (markers, number_markers)
    )
    connection.execute(
        f"CREATE TEMP MACRO plain_signs(cell) AS translate(cell, {', '.join(map(quote, SAME_SIGNS))})"
    )
    connection.execute(
        "CREATE TEMP MACRO trimmed(cell) AS CASE WHEN regexp_full_match(cell, '[!-~]([ -~]*[!-~])?') "
        f"THEN cell ELSE trim(cell, {quote(BLANKS)}) END"
    )
    connection.execute(
        f"CREATE TEMP MACRO known(cell) AS CASE WHEN lower(cell) IN ({marker_list}) THEN NULL ELSE cell END"
    )
    connection.execute(f"CREATE TEMP MACRO is_marker(cell) AS lower(cell) IN ({number_marker_list})")
    known = COMPLETE | UNMARKED
    others = [(1 << place, _number_pattern(notation)) for place, notation in enumerate(NOTATIONS)]
    others += [(TRUTH, "(?i)true|false"), (DATE, _date_pattern())]
    bits = " | ".join(
        f"(CASE WHEN regexp_full_match(plain_signs(cell), {quote(pattern)}) THEN {bit} ELSE 0 END)"
        for bit, pattern in others
    )
    connection.execute(
        "CREATE TEMP MACRO readings(cell) AS CASE "
        f"WHEN cell IS NULL THEN {ANYTHING | UNMARKED} "
        f"WHEN is_marker(cell) THEN {ALL_NOTATIONS | WHOLE | EMPTY} "
        f"WHEN regexp_full_match(cell, '[+-]?[0-9]{{1,18}}') THEN {ALL_NOTATIONS | WHOLE | known} "
        "WHEN regexp_full_match(cell, '[+-]?([0-9]{4,}\\.[0-9]*|[0-9]*\\.([0-9]{1,2}|[0-9]{4,}))') "
        f"THEN {POINTS | known} "
        "WHEN regexp_full_match(cell, '[a-zA-Z ]+') AND lower(cell) NOT IN ('true', 'false', 'inf', "
        f"'infinity') THEN {known} ELSE {known} | {bits} END"
    )


def _number_pattern(notation: Notation) -> str:
    """The pattern of a number in a notation."""
    thousands, point = re.escape(notation.thousands), re.escape(notation.decimal)
    groups = rf"[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|" if thousands else ""
    fraction = rf"(?:{point}\d{'*' if notation.decimal == '.' else '+'})?"
    number = rf"(?:(?:{groups}\d+){fraction}|{point}\d+)(?:e[+-]?\d+)?"
    return rf"(?i)[+-]?(?:{number}|inf|infinity)"


def _date_pattern() -> str:
    """The pattern of a date, perhaps with a time."""
    days = "|".join(
        rf"\d{{4}}{sign}\d\d?{sign}\d\d?|\d\d?{sign}\d\d?{sign}\d{{4}}" for sign in ("-", "/", r"\.")
    )
    return rf"(?:{days})(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
