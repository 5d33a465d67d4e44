"""Tables as people have them: encodings, compression, delimiters and the signs in numbers."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.tables import TextFormat, read_table, reading, sources
from hornbook.tables.sources import DECIMALS, DELIMITERS, THOUSANDS

NOTATIONS = [
    TextFormat(decimal=decimal, thousands=thousands)
    for thousands in THOUSANDS
    for decimal in DECIMALS
    if decimal != thousands
]
PLAIN = NOTATIONS[0]
QUICK = draw_examples(1, suppress_health_check=[HealthCheck.function_scoped_fixture])
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
}


def signs_of(text_format: TextFormat) -> dict[str, str | None]:
    """What `read_table` takes of a format by these names; its words for missing values are markers there."""
    return {name: sign for name, sign in asdict(text_format).items() if name != "missing"}


def write_number(value: float, notation: TextFormat, digits: int) -> str:
    """Write a number with so many digits after the decimal sign."""
    text = f"{value:,.{digits}f}" if notation.thousands else f"{value:.{digits}f}"
    return text.translate({ord(","): notation.thousands or "", ord("."): notation.decimal or "."})


def write_csv(rows: list[list[str]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def can_read(cell: str, notation: TextFormat) -> bool:
    """Whether a notation reads a cell: sign by sign, without patterns."""
    head, *fraction = cell.removeprefix("-").split(notation.decimal)
    groups = head.split(notation.thousands) if notation.thousands else [head]
    if not all(part.isdigit() for part in [*groups, *fraction]) or len(fraction) > 1:
        return False
    grouped = 1 <= len(groups[0]) <= 3 and groups[0][0] != "0" and all(len(part) == 3 for part in groups[1:])
    return len(groups) == 1 or grouped


NUMBERS = st.tuples(st.integers(-9_999_999, 9_999_999), st.integers(0, 4))
CELLS = st.text("0123456789.,' -", min_size=1, max_size=9).map(str.strip).filter(bool) | st.builds(
    lambda number, notation: write_number(number[0] / 10 ** number[1], notation, number[1]),
    NUMBERS,
    st.sampled_from(NOTATIONS),
)


@given(st.lists(CELLS, max_size=8), st.sampled_from(NOTATIONS))
@draw_examples(1.0, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_are_what_the_notation_reads(cells: list[str], notation: TextFormat) -> None:
    values = ", ".join(f"({sources.quote(cell)})" for cell in ["1", *cells])
    with TemporaryDirectory() as folder, sources.connect(Path(folder)) as connection:
        reading.define_macros(connection, [""], notation)
        sorts = connection.sql(f"SELECT sort(known(trimmed(c))) FROM (VALUES {values}) AS t(c)").fetchall()
    for cell, (sort,) in zip(["1", *cells], sorts, strict=True):
        is_number = sort in ("whole", "number")
        parts = cell.replace(",", ".").split(".")
        if can_read(cell, notation):
            assert is_number
        elif not any(part in ("", "-") for part in parts):  # "1." and ".5" are plain numbers, too
            assert not is_number or (notation == PLAIN and _is_python_number(cell))


def _is_python_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@given(
    st.lists(st.tuples(st.integers(0, 4), st.lists(NUMBERS, min_size=3, max_size=3)), min_size=2, max_size=3),
    st.sampled_from(NOTATIONS),
    st.sampled_from([";", "\t", ","]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(list(COMPRESSIONS)),
)
@QUICK
def test_read_table_reads_the_numbers_that_were_written(
    tmp_path: Path, columns: list[Any], notation: TextFormat, delimiter: str, encoding: str, suffix: str
) -> None:
    """Numbers in a notation that is named are read; without it they are words, but plain ones."""
    cells = [
        [write_number(value / 10**digits, notation, digits) for value, _ in values]
        for digits, values in columns
    ]
    header = [f"größe {number}" for number in range(len(cells))]
    rows = [header, *map(list, zip(*cells, strict=True))]
    content = COMPRESSIONS[suffix](write_csv(rows, delimiter).encode(encoding))
    path = written(tmp_path, f"table.csv{suffix}", content)
    expected = {
        name: [float(f"{value / 10**digits:.{digits}f}") for value, _ in values]
        for name, (digits, values) in zip(header, columns, strict=True)
    }
    given = replace(notation, delimiter=delimiter, encoding=encoding)
    known = read_table(path, **signs_of(given))
    assert {name: known.frame[name].tolist() for name in known.frame} == expected
    assert known.text_format == given
    plain = read_table(path, delimiter=delimiter, encoding=encoding)
    for name, column in zip(header, cells, strict=True):
        if all(can_read(cell, PLAIN) for cell in column):  # plain numbers are what they look like
            assert plain.frame[name].tolist() == [float(cell) for cell in column]
        else:
            assert plain.frame[name].tolist() == column


@pytest.mark.parametrize(
    ("text", "values", "description"),
    [
        ("a;b\n3,5;1\n2,25;2\n", [3.5, 2.25], "delimiter=; decimal=,"),
        ("a;b\n1.234,5;1\n2;2\n", [1234.5, 2], "delimiter=; decimal=, thousands=."),
        ('a,b\n"1,234.5",1\n"2,225",2\n', [1234.5, 2225], "thousands=,"),
        ("a,b\n1\u202f234,1\n2 225,2\n", [1234, 2225], "thousands=space"),
        ("a,b\n1'234.5,1\n2,2\n", [1234.5, 2], "thousands='"),
        ("a\tb\n3,5\t1\n2,5\t2\n", [3.5, 2.5], "delimiter=tab decimal=,"),
    ],
)
def test_read_table_says_that_words_look_like_numbers(
    tmp_path: Path, text: str, values: list[float], description: str
) -> None:
    path = written(tmp_path, "t.csv", text)
    table = read_table(path)
    (note,) = table.notes
    assert note.startswith("column 'a' holds words that look like numbers, such as ")
    assert table.frame["a"].dtype == object
    assert read_table(path, kinds={"a": "categorical"}).notes == ()
    table = read_table(path, **signs_of(TextFormat.parse(description)))
    assert table.frame["a"].tolist() == values and table.notes == ()
    assert table.text_format is not None


@pytest.mark.parametrize("cells", [["1.234", "2"], ["1e3", "-.5"], ["red", "3,5"], ["1.2.3", "1"]])
def test_read_table_says_nothing_of_numbers_and_words(tmp_path: Path, cells: list[str]) -> None:
    path = written(tmp_path, "t.csv", write_csv([["a", "b"], *([cell, "1"] for cell in cells)]))
    assert read_table(path).notes == ()


def test_read_table_decides_by_the_whole_file(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a;b\n" + "1;x\n" * 30_000 + "2.5;y\n")
    assert read_table(path, max_rows=5).frame["a"].dtype == np.float64
    path = written(tmp_path, "t.csv", "a;b\n" + "1.5;x\n" * 30_000 + "2 or 3;y\n")
    assert set(read_table(path).frame["a"]) == {"1.5", "2 or 3"}


@pytest.mark.parametrize("date", ["2024-01-31", "2024-01-31T12:00:00Z", "31.01.2024", "1/31/2024 8:15"])
def test_read_table_reads_dates_whose_order_is_clear(tmp_path: Path, date: str) -> None:
    path = written(tmp_path, "t.csv", f"seen,b\n{date},1\n?,2\n-,3\n")
    table = read_table(path)
    seen = table.frame["seen"]
    assert table.kinds["seen"] == "quantitative" and seen.dt.normalize()[0] == pd.Timestamp("2024-01-31")
    assert seen.isna().tolist() == [False, True, True]
    assert table.notes == ("column 'seen' holds dates; taken for missing values: 1 × '-', 1 × '?'",)
    path = written(tmp_path, "t.csv", f"seen,b\n{date},1\n?,2\n")
    assert read_table(path, kinds={"seen": "categorical"}).frame["seen"].tolist()[0] == date
    mixed = written(tmp_path, "t.csv", f"seen,b\n{date},1\nnever,2\n")
    assert read_table(mixed).kinds["seen"] == "binary"
    unclear = written(tmp_path, "t.csv", "seen,b\n3/4/2021,1\n5/6/2021,2\n")
    with pytest.raises(HornbookError, match=r"'seen' holds dates such as 3/4/2021, whose day cannot be told"):
        read_table(unclear)


def test_read_table_true_and_false_are_truth_values(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "t.csv", "a,b,c\nTrue,true,yes\nFALSE,?,no\n"))
    assert table.frame["a"].tolist() == [True, False] and table.frame["a"].dtype == bool
    assert table.frame["b"].tolist()[0] == 1.0 and np.isnan(table.frame["b"][1])
    assert table.kinds == dict.fromkeys("abc", "binary")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
@QUICK
def test_read_table_takes_utf_8_for_nothing_else(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, "t.csv", write_csv([["a", "b"], [f"x{word}", "1"], ["y", "2"]]))
    table = read_table(path, delimiter=",")
    assert table.frame["a"][0] == f"x{word}".strip()
    assert table.text_format is not None and table.text_format.encoding == "utf-8"


def test_read_table_encoding_is_utf_8_or_named(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a,b\nä,1\nb,2\n".encode("cp1252"))
    for content in (b"a,b\n\xe4,1\n", b"a,b\n1,2\n" * 9999 + b"\xe4,1\n", b"\xe4,b\n1,2\n"):
        with pytest.raises(
            HornbookError, match=r"(not utf-8 text|cannot be read).*encoding='cp1252' \(--csv encoding=cp1252"
        ):
            read_table(written(tmp_path, "bad.csv", content))
    assert read_table(path, encoding="cp1252").frame["a"].tolist() == ["ä", "b"]
    with pytest.raises(HornbookError, match="the file is not ascii text"):
        read_table(path, encoding="ascii")
    with pytest.raises(HornbookError, match="there is no encoding 'klingon'"):
        read_table(path, encoding="klingon")
    sixteen = written(tmp_path, "t.csv", "a,b\nc,1\nd,2\n".encode("utf-16-le"))
    with pytest.raises(HornbookError, match=r"no text, or in another encoding, such as encoding='utf-16'"):
        read_table(sixteen)
    assert read_table(sixteen, encoding="utf-16-le").frame["a"].tolist() == ["c", "d"]
    marked = written(tmp_path, "t.csv", "a,b\nc,1\n".encode("utf-16"))
    assert read_table(marked, encoding="utf-16").frame["a"].tolist() == ["c"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_read_table_takes_line_ends_of_one_kind(tmp_path: Path, end: str) -> None:
    text = f"a,b{end}1,2{end}3,4{end}"
    assert read_table(written(tmp_path, "t.csv", text)).frame["b"].tolist() == [2, 4]
    for other in {"\n", "\r\n", "\r"} - {end}:
        with pytest.raises(HornbookError, match=r"t\.csv: "):
            read_table(written(tmp_path, "t.csv", f"{text}5,6{other}7,8{end}"))


FORMATS = st.builds(
    TextFormat,
    st.none() | st.sampled_from([*DELIMITERS, " ", "x"]),
    st.none() | st.sampled_from(["utf-8", "cp1252", "latin-1"]),
    st.none() | st.just("."),
    st.none() | st.sampled_from(["", ",", " ", "'"]),
)


@given(FORMATS)
def test_text_format_parses_its_own_description(text_format: TextFormat) -> None:
    assert TextFormat.parse(text_format.describe()) == text_format


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("decimal", "'decimal' is not one of delimiter=…, encoding=…, decimal=…, thousands=…"),
        ("colour=red", "'colour=red' is not one of"),
        ("decimal=. decimal=,", "once each"),
        ("decimal=x", "the decimal sign is . or ,; got 'x'"),
        ("encoding=utf_8_x", "there is no encoding 'utf_8_x'"),
        ("delimiter=;;", "the delimiter is one character, such as ; or tab; got ';;'"),
        ("thousands=_", "the sign between thousands is"),
        ("decimal=, thousands=,", "',' is either the decimal sign or between thousands"),
    ],
)
def test_text_format_refuses_bad_descriptions(text: str, message: str) -> None:
    with pytest.raises(HornbookError, match=message):
        TextFormat.parse(text)


CSV_TEXT = st.text('ab1 ,"\n', max_size=30)


@given(CSV_TEXT)
@draw_examples(2, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_open_source_reads_what_the_csv_module_does(tmp_path: Path, text: str) -> None:
    """What it refuses is uneven, unfinished or unnamed."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True))
        width = max(map(len, rows), default=0)
        full = [row for row in rows if "".join(row).strip() or len(row) > (0 if width > 1 else 1)]
    except csv.Error:
        full = []
    names = [" ".join(name.split()) for name in full[0]] if full else []
    is_table = all(names) and len({*names}) == len(names) and len({*map(len, full)}) == 1
    path = written(tmp_path, "t.csv", text)
    try:
        with sources.open_source(path, TextFormat(delimiter=",")) as source:
            cells = [[cell or "" for cell in row] for row in source.connection.sql(source.query).fetchall()]
    except HornbookError:
        assert not is_table
    else:
        assert is_table and cells == full[1:]


@pytest.mark.parametrize("suffix", list(COMPRESSIONS))
def test_read_table_decompresses_by_content(tmp_path: Path, suffix: str) -> None:
    content = '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'
    for name in (f"t.jsonl{suffix}", "t.jsonl"):
        table = read_table(written(tmp_path, name, COMPRESSIONS[suffix](content.encode())))
        assert table.frame["a"].tolist() == [1, 2]


def test_read_table_takes_thousands_of_columns(tmp_path: Path) -> None:
    width = 2000
    rows = [[f"c{number}" for number in range(width)], *(["1.5"] * width for _ in range(3)), ["2"] * width]
    table = read_table(written(tmp_path, "t.csv", write_csv(rows)))
    assert table.frame.shape == (4, width) and set(table.kinds.values()) == {"quantitative"}
    rows[0][-1] = "c0"
    with pytest.raises(HornbookError, match=f"columns 1 and {width} are both called 'c0'"):
        read_table(written(tmp_path, "t.csv", write_csv(rows)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "the file is empty"),
        ("t.csv", b"\xef\xbb\xbf", "the file is empty"),
        ("t.csv", b"a,b\n1,\x00\n", "this is no text, or in another encoding"),
        (
            "t.csv",
            b'a,b\n1,"2\n3,4\n',
            "line 2 cannot be read: is a quote not closed, or the file cut short",
        ),
        ("t.csv", b'a,b\n1,"x"y"\n3,4\n', "line 2 cannot be read: is a quote not closed"),
        ("t.csv", b"PK\x03\x04rest", "save an Excel workbook as CSV or Parquet"),
        (
            "t.csv.gz",
            gzip.compress(b"a,b\n1,2\n" * 999, mtime=0)[:-9],
            "the compressed file is damaged or cut short",
        ),
        ("t.parquet", b"a,b\n1,2\n", "this is not a Parquet file: it does not begin with PAR1"),
        ("t.parquet", b"PAR1 and no more", "No magic bytes found"),
        (
            "t.parquet.gz",
            gzip.compress(b"PAR1 and more", mtime=0),
            "No magic bytes found",
        ),
        ("t.arff", b"@data\n1,2\n", "line 2 has 2 values and there are 1 columns"),
        ("t.json", b'[{"a": 1, "b"', "Malformed JSON"),
    ],
)
def test_read_table_says_what_is_wrong_with_a_file(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(HornbookError, match=f"^{name}: .*{message}"):
        read_table(written(tmp_path, name, content))


def test_read_table_refuses_what_is_no_file(tmp_path: Path) -> None:
    for path in (Path("/dev/null"), tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        with pytest.raises(HornbookError, match="there is no such file") as error:
            read_table(path)
        assert len(str(error.value)) < 400


def test_read_table_refuses_a_format_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2, 3]}).to_parquet(path)
    with pytest.raises(HornbookError, match="what is not text has no decimal=,; leave that out"):
        read_table(path, decimal=",")


@given(st.lists(st.sampled_from(["unknown", "-9", "not known"]), min_size=1, unique=True).map(",".join))
def test_words_for_missing_values_are_part_of_a_format(words: str) -> None:
    given = TextFormat(delimiter=";", missing=words)
    assert TextFormat.parse(given.describe()) == given and given.markers == words.split(",")
