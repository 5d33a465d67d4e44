"""Rows of table files and of queries, read by DuckDB.

A column of texts becomes one of numbers, of truth values or of times only if all its known cells are written
so, from the first row of the source to the last. So a source is looked at as a whole, and then read: all its
rows, a sample of them, or some at a time, in memory that does not grow with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError, refuse_beyond_memory
from hornbook.randomness import Purpose, generator
from hornbook.tables.frames import check_names, refuse_infinity, replace_columns
from hornbook.tables.sources import Source, TextFormat, name_source, open_source, quote, shorten

MISSING_MARKERS = ("?", "", "NA", "NaN")
"""Markers of a missing value, in upper or lower case."""

NUMBER_MARKERS = ("n/a", "-", "null", ".")
"""Further markers of a missing value in a column of numbers."""

PLAIN_MARKERS = ("", "na", "nan")
"""Markers of which nothing needs to be said."""

MAX_NOTES = 4
"""Columns of which a note says what was taken for missing values, or looks like numbers."""

VECTORS_PER_PART = 8
"""How many of DuckDB's vectors, of 2,048 rows each, are a part of a table."""

BYTES_A_CELL = 40
"""Memory that a value takes while a whole table is read, about."""

SEPARATORS = {"": "", ",": ",", ".": "[.]", " ": "[ \u00a0\u202f\u2009]", "'": "['\u2019]"}
"""The pattern of the signs that a sign between thousands stands for."""

BLANKS = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u3000\ufeff"
"""Signs that are not part of a value at its ends."""

DATE_ORDERS = ("", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
"""How dates may be written besides ISO 8601, which is the first."""

TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f")
"""How times may be written after a date."""

LIKE_A_NUMBER = r"[+-]?\d+([.'\s\x{a0}\x{2009}\x{2019}\x{202f}]\d{3})*(,\d+)*(\.\d+)?"
"""The pattern of what may be a number with a comma, or with signs between thousands."""

A_DATE = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})"
    r"(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
)
"""The pattern of a date, perhaps with a time."""


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
        What was taken for missing values in columns of numbers, and which words may be numbers.

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

    `words` are columns whose dates and numbers with commas are words, of which nothing is said.
    """
    with open_source(source, text_format or TextFormat(), names) as opened:
        rows = SourceRows.scan(opened, missing, words)
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
        rows = SourceRows.scan(stack.enter_context(open_source(source, text_format or TextFormat())))
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


def replace_markers(frame: pd.DataFrame, missing: Iterable[str] = MISSING_MARKERS) -> pd.DataFrame:
    """The frame with missing values for their markers; what is left of a column may then be numbers."""
    frame = frame.set_axis(check_names(list(frame.columns)), axis=1)
    markers = {"", *(marker.strip().lower() for marker in missing)}
    changed = {}
    for name, values in frame.items():
        if not (pd.api.types.is_object_dtype(values) or isinstance(values.dtype, pd.StringDtype)):
            continue
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in values]
        known = pd.Series(
            [None if isinstance(cell, str) and cell.lower() in markers else cell for cell in cells],
            frame.index,
            object,
        )
        try:
            changed[name] = pd.to_numeric(known)
        except (ValueError, TypeError):
            changed[name] = known
    return replace_columns(frame, changed)


def draw_rows(count: int, max_rows: int | None, seed: int) -> NDArray[np.int64] | None:
    """The numbers of the rows of a sample in order; None for all of them."""
    if max_rows is None or count <= max_rows:
        return None
    return np.sort(generator(seed, Purpose.FILE_ROWS).choice(count, max_rows, replace=False))


@dataclass(frozen=True)
class SourceRows:
    """The rows of a query, all of which have been looked at.

    Parameters
    ----------
    connection
        DuckDB.
    given
        The rows as they are given, in SQL, with columns c0, c1, …
    columns
        The columns.
    reading
        What was found out about the rows.

    """

    connection: Any
    given: str
    columns: Sequence[_Column]
    reading: Reading

    @classmethod
    def scan(
        cls, source: Source, missing: Iterable[str] = MISSING_MARKERS, words: Collection[str] = ()
    ) -> SourceRows:
        """Look at all rows of a source; `words` are columns that may hold words of any kind, dates too."""
        connection, text_format = source.connection, source.text_format or TextFormat()
        define_macros(connection, [*missing, *text_format.markers], text_format)
        places = [f"c{place}" for place in range(len(source.names))]
        given = f"({source.query}) AS given({', '.join(places)})"
        kinds = ["VARCHAR"] * len(places)
        if source.text_format is None:
            kinds = [_simplify_type(str(each)) for each in connection.sql(f"FROM {given}").types]
        count, sorts = _count_cells(connection, given, places, kinds)
        columns = [
            _Column(name, place, kind, text_format, sorts[place], name in words)
            for name, place, kind in zip(source.names, places, kinds, strict=True)
        ]
        columns = [replace(each, date_order=each.find_date_order(connection, given)) for each in columns]
        notes = [note for column in columns for note in column.describe()]
        if (further := len(notes) - MAX_NOTES) > 1:
            notes[MAX_NOTES:] = [f"there are {further} further columns such as these"]
        return cls(connection, given, columns, Reading(count, source.text_format, tuple(notes)))

    def read(self, max_rows: int | None = None, seed: int = 0) -> pd.DataFrame:
        """All rows, or a sample of them in their order."""
        drawn = draw_rows(self.reading.rows, max_rows, seed)
        if drawn is None:
            refuse_beyond_memory(self.reading.rows, BYTES_A_CELL * len(self.columns), "rows")
            frame = self.connection.sql(self._query(self.given)).df()
        else:
            self.connection.register("drawn", pd.DataFrame({"row": drawn}))
            # a join that keeps the drawn rows in memory, and not all others
            self.connection.execute("SET disabled_optimizers = 'build_side_probe_side,join_order'")
            numbered = f"(SELECT *, row_number() OVER () - 1 AS row FROM {self.given})"
            rows = f"{numbered} SEMI JOIN drawn USING (row) ORDER BY row"
            frame = self.connection.sql(self._query(rows)).df()
        if len(frame) != (self.reading.rows if drawn is None else len(drawn)):
            raise HornbookError(f"it claims {self.reading.rows:,} rows and has fewer; get it again")
        return self._finish(frame)

    def parts(self) -> Iterator[pd.DataFrame]:
        """Yield all rows, some thousand at a time."""
        self.connection.execute(self._query(self.given))
        while len(part := self.connection.fetch_df_chunk(VECTORS_PER_PART)):
            yield self._finish(part)

    def _query(self, rows: str) -> str:
        values = ", ".join(f"{each.value} AS {each.place}" for each in self.columns)
        return f"SELECT {values} FROM {rows}"

    def _finish(self, frame: pd.DataFrame) -> pd.DataFrame:
        texts = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.StringDtype)]
        return frame.astype(dict.fromkeys(texts, object)).set_axis(
            [column.name for column in self.columns], axis=1
        )


@dataclass(frozen=True)
class _Column:
    """A column as it is given, and what its cells are.

    Parameters
    ----------
    name
        Its name.
    place
        The column in SQL.
    kind
        Its type in SQL.
    text_format
        How its numbers are written, if it holds texts.
    sorts
        For each sort of cells that it has how many there are of each marker of a missing value, and of
        others how many there are in all, by one of them.
    are_words
        Whether the user says that it holds words, whatever they look like.
    date_order
        How its dates are written, one of `DATE_ORDERS`; None if it holds none.

    """

    name: str
    place: str
    kind: str
    text_format: TextFormat
    sorts: Mapping[str, Mapping[str, int]]
    are_words: bool = False
    date_order: str | None = None

    def holds(self, *sorts: str) -> bool:
        """Whether the known cells are of these sorts alone, and there is one besides markers."""
        known = self.sorts.keys() - {"missing", "marked"}
        return self.kind == "VARCHAR" and bool(known - {"marker"}) and known <= {*sorts}

    def find_date_order(self, connection: Any, given: str) -> str | None:
        """How all dates of the column are written; None where some are not dates.

        Refuse those of which nobody can tell the day from the month.
        """
        if self.are_words or not self.holds("date", "marker"):
            return None
        ((example, count),) = self.sorts["date"].items()
        counts = ", ".join(f"count({_read_date('cell', order)})" for order in DATE_ORDERS)
        cells = f"(SELECT known(trimmed({self.place})) AS cell FROM {given}) WHERE sort(cell) = 'date'"
        (readable,) = connection.sql(f"SELECT {counts} FROM {cells}").fetchall()
        fitting = [order for order, number in zip(DATE_ORDERS, readable, strict=True) if number == count]
        if len(fitting) > 1:
            raise HornbookError(
                f"column {self.name!r} holds dates such as {example}, whose day cannot be told from the "
                "month; write them as 2021-06-07"
            )
        return fitting[0] if fitting else None

    @property
    def are_numbers(self) -> bool:
        """Whether the known cells are numbers, but for further markers of missing values."""
        return self.holds("marker", "whole", "number")

    @property
    def value(self) -> str:
        """The values in SQL: numbers, truth values, times or words."""
        is_complete = not self.sorts.keys() & {"missing", "marked"}
        if self.kind != "VARCHAR":
            is_double = self.kind == "DECIMAL" or (self.kind == "NUMBER" and not is_complete)
            return f"CAST({self.place} AS DOUBLE)" if is_double else self.place
        cell = f"known(trimmed({self.place}))"
        if self.date_order is not None:
            return _read_date(cell, self.date_order)
        if self.are_numbers:
            if self.text_format.thousands:
                cell = f"regexp_replace({cell}, {quote(SEPARATORS[self.text_format.thousands])}, '', 'g')"
            if self.text_format.decimal == ",":
                cell = f"replace({cell}, ',', '.')"
            cast = "TRY_CAST" if "marker" in self.sorts else "CAST"
            return f"{cast}({cell} AS {'BIGINT' if self.sorts.keys() == {'whole'} else 'DOUBLE'})"
        if self.holds("truth"):
            return f"(lower({cell}) = 'true')" if is_complete else f"CAST(lower({cell}) = 'true' AS DOUBLE)"
        return cell if self.sorts.keys() - {"missing", "marked"} else "CAST(NULL AS DOUBLE)"

    def describe(self) -> Iterator[str]:
        """Say which missing values stand among numbers or dates, or that words look like numbers."""
        markers = sorted({**self.sorts.get("marked", {}), **self.sorts.get("marker", {})}.items())
        if (self.are_numbers or self.date_order is not None) and markers:
            kind = "numbers" if self.are_numbers else "dates"
            counts = ", ".join(f"{count:,} × {marker!r}" for marker, count in markers)
            yield f"column {self.name!r} holds {kind}; taken for missing values: {counts}"
        elif not self.are_words and not self.are_numbers and self.holds("whole", "number", "like a number"):
            yield (
                f"column {self.name!r} holds words that look like numbers, such as "
                f"{min(self.sorts['like a number'])!r}; if they are, say decimal=',' or thousands=… (--csv "
                "decimal=,), or leave out their signs"
            )


def _read_date(cell: str, order: str) -> str:
    """A cell as a date or a time in SQL, NULL where it is none."""
    if not order:
        return f"TRY_CAST({cell} AS TIMESTAMP)"
    return f"try_strptime({cell}, [{', '.join(quote(order + time) for time in TIMES)}])"


def _simplify_type(name: str) -> str:
    """A type of DuckDB as VARCHAR, NUMBER (truth values are numbers), DECIMAL or OTHER."""
    if name in ("VARCHAR", "JSON", "UUID") or name.startswith("ENUM"):
        return "VARCHAR"
    if name.startswith("DECIMAL") or "HUGEINT" in name:
        return "DECIMAL"
    return "NUMBER" if name == "BOOLEAN" or name.endswith("INT") or name == "INTEGER" else "OTHER"


def _count_cells(
    connection: Any, given: str, places: Sequence[str], kinds: Sequence[str]
) -> tuple[int, dict[str, dict[str, dict[str, int]]]]:
    """The number of rows, and for each column how many cells are of which sort, by markers or one of them.

    The texts of all columns are looked at as one column: an expression for each takes memory for each.
    """
    texts = [place for place, kind in zip(places, kinds, strict=True) if kind == "VARCHAR"]
    others = [place for place in places if place not in {*texts}]
    sorts: dict[str, dict[str, dict[str, int]]] = {place: {} for place in places}
    if others:
        known = ", ".join(f"count(*) - count({place})" for place in others)
        ((rows, *missing),) = connection.sql(f"SELECT count(*), {known} FROM {given}").fetchall()
        for place, number in zip(others, missing, strict=True):
            if number:
                sorts[place]["missing"] = {"": number}
    if texts:
        cells = connection.sql(
            "SELECT place, sort, histogram(CASE WHEN sort IN ('marked', 'marker') THEN cell END), "
            "any_value(cell), count(*) FROM (SELECT place, cell, sort(cell) AS sort FROM "
            f"(SELECT unnest(range({len(texts)})) AS place, trimmed(unnest([{', '.join(texts)}])) AS cell "
            f"FROM {given})) GROUP BY place, sort"
        ).fetchall()
        for number, sort, markers, example, count in cells:
            sorts[texts[number]][sort] = markers or {example or "": count}
    return rows if others else sum(sum(each.values()) for each in sorts[texts[0]].values()), sorts


def define_macros(connection: Any, missing: Iterable[str], text_format: TextFormat) -> None:
    """Define in SQL what is known of a cell, without blanks at its ends, and of which sort that is."""
    markers = {marker.strip().lower() for marker in missing}
    number_markers = NUMBER_MARKERS if {marker.lower() for marker in MISSING_MARKERS} <= markers else ()
    missing_list, number_list = (
        ", ".join(map(quote, [PLAIN_MARKERS[0], *sorted(each)])) for each in (markers, number_markers)
    )
    patterns = {
        "whole": r"[+-]?\d{1,18}",
        "number": _number_pattern(text_format),
        "truth": "(?i)true|false",
        "date": A_DATE,
        "like a number": rf"[$€£]?\s?{LIKE_A_NUMBER}\s?[%$€£]?",
    }
    sorts = " ".join(
        f"WHEN regexp_full_match(cell, {quote(pattern)}) THEN {quote(sort)}"
        for sort, pattern in patterns.items()
    )
    macros = {
        "trimmed": "CASE WHEN regexp_full_match(cell, '[!-~]+') THEN cell "
        f"ELSE trim(cell, {quote(BLANKS)}) END",
        "known": f"CASE WHEN lower(cell) IN ({missing_list}) THEN NULL ELSE cell END",
        "sort": f"CASE WHEN cell IS NULL OR lower(cell) IN {PLAIN_MARKERS} AND known(cell) IS NULL "
        f"THEN 'missing' WHEN known(cell) IS NULL THEN 'marked' WHEN lower(cell) IN ({number_list}) "
        f"THEN 'marker' {sorts} ELSE 'word' END",
    }
    for name, meaning in macros.items():
        connection.execute(f"CREATE TEMP MACRO {name}(cell) AS {meaning}")


def _number_pattern(text_format: TextFormat) -> str:
    """The pattern of a number."""
    thousands, point = SEPARATORS[text_format.thousands or ""], re.escape(text_format.decimal or ".")
    groups = rf"[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|" if thousands else ""
    fraction = rf"(?:{point}\d{'*' if point != ',' else '+'})?"
    number = rf"(?:(?:{groups}\d+){fraction}|{point}\d+)(?:e[+-]?\d+)?"
    return rf"(?i)[+-]?(?:{number}|inf|infinity)"
