"""Rows of table files, of folders of them and of queries, read by DuckDB.

A column of texts becomes one of numbers, or of truth values, only if all its known cells are written so,
from the first row of the source to the last. So a source is looked at as a whole, and then read: all its
rows, a sample of them, or some at a time, in memory that does not grow with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from hornbook.tables.sources import (
    NO_TEXT,
    PLAIN_TEXT,
    Source,
    TextFormat,
    disable_optimizers,
    name_source,
    open_source,
    quote,
    shorten,
)

MISSING_MARKERS = ("?", "", "NA", "NaN")
"""Markers of a missing value, in upper or lower case."""

NUMBER_MARKERS = ("n/a", "-", "null", ".")
"""Further markers of a missing value in a column of numbers."""

PLAIN_MARKERS = "'', 'na', 'nan'"
"""Markers in SQL of which nothing needs to be said."""

SORTS = ("missing", "marker", "whole", "number", "truth", "date", "like a number", "word", "broken")
"""What a cell of a text may be."""

MAX_NOTES = 4
"""Columns of which a note says what was taken for missing values, or looks like numbers."""

VECTORS_PER_PART = 8
"""How many of DuckDB's vectors, of 2,048 rows each, are a part of a table; of a wide one it is one."""

WIDE_COLUMNS = 500
"""Number of columns beyond which a table is wide."""

COLUMNS_PER_PASS = 10_000
"""Number of columns whose cells are counted in one pass over a source."""

BYTES_A_CELL = 40
"""Memory that a value takes while a whole table is read, about."""

SEPARATORS = {
    "": "",
    ",": ",",
    ".": "[.]",
    " ": "[ \u00a0\u202f\u2009]",
    "'": "['\u2019]",
}
"""The pattern of the signs that a sign between thousands stands for."""

BLANKS = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u3000\ufeff"
"""Signs that are not part of a value at its ends."""

DATE_ORDERS = ("", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
"""How dates may be written besides ISO 8601, which is the first."""

SIGNED_NUMBER = r"[+-]?\d+([.'\s\x{a0}\x{2009}\x{2019}\x{202f}]\d{3})*(,\d+)*(\.\d+)?"
"""The pattern of what may be a number with a comma, or with signs between thousands."""


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
        connection, text_format = source.connection, source.text_format or PLAIN_TEXT
        define_macros(connection, [*missing, *text_format.markers], text_format)
        places = [f"c{place}" for place in range(len(source.names))]
        given = f"({source.query}) AS given({', '.join(places)})"
        kinds = ["VARCHAR"] * len(places)
        if source.text_format is None:
            kinds = [_simplify_type(str(each)) for each in connection.sql(f"FROM {given}").types]
        count, cells = _count_cells(connection, given, places, kinds)
        columns = [
            _Column(name, place, kind, text_format, cells[place])
            for name, place, kind in zip(source.names, places, kinds, strict=True)
        ]
        notes = []
        for place, column in enumerate(columns):
            if column.name not in words and column.holds("date", "marker") and column.kind == "VARCHAR":
                columns[place] = column = replace(
                    column, date_order=column.find_date_order(connection, given)
                )
            notes += [note for note in (_note(column, column.name in words, connection, given),) if note]
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
            disable_optimizers(self.connection, "build_side_probe_side", "join_order")  # it keeps all rows
            numbered = f"(SELECT *, row_number() OVER () - 1 AS row FROM {self.given})"
            frame = self.connection.sql(
                self._query(f"{numbered} SEMI JOIN drawn USING (row) ORDER BY row")
            ).df()
        if len(frame) != (self.reading.rows if drawn is None else len(drawn)):
            raise HornbookError(f"it claims {self.reading.rows:,} rows and has fewer; get it again")
        return self._finish(frame)

    def parts(self) -> Iterator[pd.DataFrame]:
        """Yield all rows, some thousand at a time."""
        self.connection.execute(self._query(self.given))
        vectors = 1 if len(self.columns) > WIDE_COLUMNS else VECTORS_PER_PART
        while len(part := self.connection.fetch_df_chunk(vectors)):
            yield self._finish(part)

    def _query(self, rows: str) -> str:
        values = ", ".join(f"{each.value} AS {each.place}" for each in self.columns)
        return f"SELECT {values} FROM (SELECT {', '.join(each.trimmed for each in self.columns)} FROM {rows})"

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
    counts
        How many cells are of which of the `SORTS`; how many have blanks at their ends, which are trimmed;
        and how many of those that are missing are marked so, by more than nothing or `NA`.
    date_order
        How its dates are written, one of `DATE_ORDERS`; None if it holds none.

    """

    name: str
    place: str
    kind: str
    text_format: TextFormat
    counts: Counter[str]
    date_order: str | None = None

    def holds(self, *cells: str) -> bool:
        """Whether the known cells are of these sorts alone, and there is one besides markers."""
        known = {sort for sort in SORTS if self.counts[sort]} - {"missing"}
        return bool(known - {"marker"}) and known <= {*cells}

    def find_date_order(self, connection: Any, given: str) -> str | None:
        """How all dates of the column are written; None where some are not dates.

        Refuse those of which nobody can tell the day from the month.
        """
        counts = ", ".join(f"count({_read_date('cell', order)})" for order in DATE_ORDERS)
        cells = f"(SELECT known(trimmed({self.place})) AS cell FROM {given}) WHERE sort(cell) = 'date'"
        ((example, *readable),) = connection.sql(f"SELECT first(cell), {counts} FROM {cells}").fetchall()
        fitting = [
            order for order, count in zip(DATE_ORDERS, readable, strict=True) if count == self.counts["date"]
        ]
        if len(fitting) > 1:
            raise HornbookError(
                f"column {self.name!r} holds dates such as {example}, whose day cannot be told from the "
                "month; write them as 2021-06-07"
            )
        return fitting[0] if fitting else None

    @property
    def are_numbers(self) -> bool:
        """Whether the known cells are numbers, but for further markers of missing values."""
        return self.kind == "VARCHAR" and self.holds("marker", "whole", "number")

    @property
    def trimmed(self) -> str:
        """The cells in SQL without blanks at their ends."""
        return f"trimmed({self.place}) AS {self.place}" if self.counts["trimmed"] else self.place

    @property
    def value(self) -> str:
        """The values in SQL: numbers, truth values or words."""
        complete = not self.counts["missing"]
        if self.kind != "VARCHAR":
            is_double = self.kind == "DECIMAL" or (self.kind == "NUMBER" and not complete)
            return f"CAST({self.place} AS DOUBLE)" if is_double else self.place
        cell = self.place if complete else f"known({self.place})"  # of trimmed cells
        if self.date_order is not None:
            return _read_date(cell, self.date_order)
        if self.are_numbers:
            if self.text_format.thousands:
                cell = f"regexp_replace({cell}, {quote(SEPARATORS[self.text_format.thousands])}, '', 'g')"
            if self.text_format.decimal == ",":
                cell = f"replace({cell}, ',', '.')"
            is_whole = complete and not self.counts["marker"] + self.counts["number"]
            cast = "TRY_CAST" if self.counts["marker"] else "CAST"
            return f"{cast}({cell} AS {'BIGINT' if is_whole else 'DOUBLE'})"
        if self.holds("truth"):
            return f"(lower({cell}) = 'true')" if complete else f"CAST(lower({cell}) = 'true' AS DOUBLE)"
        return cell if any(map(self.counts.get, SORTS[1:])) else "CAST(NULL AS DOUBLE)"


def _note(column: _Column, are_words: bool, connection: Any, given: str) -> str | None:
    """Say which further markers stand among numbers or dates, or that words look like numbers."""
    if column.kind != "VARCHAR":
        return None
    cells = f"(SELECT trimmed({column.place}) AS cell FROM {given})"
    if column.counts["broken"]:
        raise HornbookError(f"column {column.name!r} {NO_TEXT}")
    is_marked = column.counts["marker"] + column.counts["marked"]
    if (column.are_numbers or column.date_order is not None) and is_marked:
        counts = connection.sql(
            f"SELECT cell, count(*) FROM {cells} WHERE sort(known(cell)) IN ('marker', 'missing') "
            f"AND lower(cell) NOT IN ({PLAIN_MARKERS}) GROUP BY cell ORDER BY cell"
        ).fetchall()
        markers = ", ".join(f"{count:,} × {marker!r}" for marker, count in counts)
        kind = "numbers" if column.are_numbers else "dates"
        return f"column {column.name!r} holds {kind}; taken for missing values: {markers}"
    looks = column.holds("whole", "number", "like a number")
    if column.are_numbers or column.date_order is not None or are_words or not looks:
        return None
    ((example,),) = connection.sql(
        f"SELECT first(cell) FROM {cells} WHERE sort(known(cell)) = 'like a number'"
    ).fetchall()
    advice = "if they are, say decimal=',' or thousands=… (--csv decimal=,)"
    if example.strip("%$€£ ") != example:
        advice = "if they are, leave out the signs in the table or by a query"
    return f"column {column.name!r} holds words that look like numbers, such as {example!r}; {advice}"


def _read_date(cell: str, order: str) -> str:
    """A cell as a date or a time in SQL, NULL where it is none."""
    if not order:
        return f"TRY_CAST({cell} AS TIMESTAMP)"
    times = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f")
    return f"try_strptime({cell}, [{', '.join(quote(order + time) for time in times)}])"


def _simplify_type(name: str) -> str:
    """A type of DuckDB as VARCHAR, NUMBER (truth values are numbers), DECIMAL or OTHER."""
    if name in ("VARCHAR", "JSON", "UUID") or name.startswith("ENUM"):
        return "VARCHAR"
    if name.startswith("DECIMAL") or "HUGEINT" in name:
        return "DECIMAL"
    return "NUMBER" if name == "BOOLEAN" or name.endswith("INT") or name == "INTEGER" else "OTHER"


def _count_cells(
    connection: Any, given: str, places: Sequence[str], kinds: Sequence[str]
) -> tuple[int, dict[str, Counter[str]]]:
    """The number of rows, and for each column how many cells are of which sort.

    The texts of all columns are looked at as one column: an expression for each takes memory for each.
    """
    texts = [place for place, kind in zip(places, kinds, strict=True) if kind == "VARCHAR"]
    others = [place for place, kind in zip(places, kinds, strict=True) if kind != "VARCHAR"]
    counts: dict[str, Counter[str]] = {place: Counter() for place in places}
    if others:
        known = ", ".join(f"count(*) - count({place})" for place in others)
        ((rows, *missing),) = connection.sql(f"SELECT count(*), {known} FROM {given}").fetchall()
        for place, number in zip(others, missing, strict=True):
            counts[place]["missing"] = number
    for first in range(0, len(texts), COLUMNS_PER_PASS):
        group = texts[first : first + COLUMNS_PER_PASS]
        cells = connection.sql(
            "SELECT place, sort(known(cell)) AS sort, count(*), count(*) FILTER (cell <> given), "
            f"count(*) FILTER (known(cell) IS NULL AND lower(cell) NOT IN ({PLAIN_MARKERS})) "
            "FROM (SELECT place, given, trimmed(given) AS cell FROM (SELECT unnest("
            f"[{', '.join(group)}]) AS given, unnest(range({len(group)})) AS place FROM {given})) "
            "GROUP BY place, sort"
        ).fetchall()
        for number, sort, count, trimmed, marked in cells:
            counts[group[number]].update({sort: count, "trimmed": trimmed, "marked": marked})
    return (rows if others else sum(counts[texts[0]][sort] for sort in SORTS)), counts


def define_macros(connection: Any, missing: Iterable[str], text_format: TextFormat) -> None:
    """Define in SQL what is known of a cell, without blanks at its ends, and of which sort that is."""
    markers = {marker.strip().lower() for marker in missing}
    number_markers = NUMBER_MARKERS if {marker.lower() for marker in MISSING_MARKERS} <= markers else ()
    missing_list = ", ".join(map(quote, ["", *sorted(markers)]))
    connection.execute(
        "CREATE TEMP MACRO trimmed(cell) AS CASE WHEN regexp_full_match(cell, '[!-~]+') THEN cell "
        f"ELSE trim(cell, {quote(BLANKS)}) END"
    )
    connection.execute(
        f"CREATE TEMP MACRO known(cell) AS CASE WHEN lower(cell) IN ({missing_list}) THEN NULL ELSE cell END"
    )
    patterns = {
        "whole": r"[+-]?\d{1,18}",
        "number": _number_pattern(text_format),
        "truth": "(?i)true|false",
        "date": _date_pattern(),
        "like a number": rf"[$€£]?\s?{SIGNED_NUMBER}\s?[%$€£]?",
    }
    sorts = " ".join(
        f"WHEN regexp_full_match(cell, {quote(pattern)}) THEN {quote(sort)}"
        for sort, pattern in patterns.items()
    )
    connection.execute(
        "CREATE TEMP MACRO sort(cell) AS CASE WHEN cell IS NULL THEN 'missing' "
        f"WHEN lower(cell) IN ({', '.join(map(quote, ['', *number_markers]))}) THEN 'marker' {sorts} "
        "WHEN contains(cell, chr(0)) THEN 'broken' ELSE 'word' END"
    )


def _number_pattern(text_format: TextFormat) -> str:
    """The pattern of a number."""
    thousands, point = SEPARATORS[text_format.thousands or ""], re.escape(text_format.decimal or ".")
    groups = rf"[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|" if thousands else ""
    fraction = rf"(?:{point}\d{'*' if point != ',' else '+'})?"
    number = rf"(?:(?:{groups}\d+){fraction}|{point}\d+)(?:e[+-]?\d+)?"
    return rf"(?i)[+-]?(?:{number}|inf|infinity)"


def _date_pattern() -> str:
    """The pattern of a date, perhaps with a time."""
    days = "|".join(
        rf"\d{{4}}{sign}\d\d?{sign}\d\d?|\d\d?{sign}\d\d?{sign}\d{{4}}" for sign in ("-", "/", r"\.")
    )
    return rf"(?:{days})(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
