"""Tables from files: a sample is made of rows of the whole table, and types are those of the whole file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.tables import read_new_parts, read_new_rows, read_table, reading

NUMBERS = st.floats(-1e6, 1e6) | st.integers(-5, 5) | st.sampled_from([0.1, 0.2, 0.3, 1e300, -0.0])
WORDS = st.sampled_from(["red", "green", "blue", "1", "2.5", "yes", "a, b", 'say "no"', "two\nlines"])
COLUMNS = {
    "numbers": NUMBERS,
    "few": st.integers(0, 3),
    "truth": st.booleans(),
    "words": WORDS,
    "late word": st.sampled_from(["1", "2", "3"]),
    "yes": st.sampled_from(["yes", "no"]),
}
FILES = st.sampled_from(["table.csv", "table.parquet", "groups.parquet"])
QUICK = draw_examples(0.38, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Some rows with holes; every column has a known value."""
    size = draw(st.integers(1, 20))
    frame = pd.DataFrame(
        {
            name: draw(st.lists(st.none() | values, min_size=size, max_size=size))
            for name, values in COLUMNS.items()
        },
        dtype=object,
    )
    frame.loc[size - 1] = [0.5, 1, True, "red", "word", "yes"]  # the type of a column may show late
    return frame


def write_table(frame: pd.DataFrame, name: str, folder: Path) -> Path:
    """Write the table as a file of texts or of typed columns, in one row group or several."""
    path = folder / name
    if name.endswith(".csv"):
        frame.to_csv(path, index=False)
    else:
        table = pa.Table.from_pandas(frame.infer_objects())
        pq.write_table(table, path, row_group_size=5 if name == "groups.parquet" else None)
    return path


def same_values(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    return list(left.columns) == list(right.columns) and all(
        (left[name].isna().to_numpy() == right[name].isna().to_numpy()).all()
        and left[name].dropna().tolist() == right[name].dropna().tolist()
        for name in left
    )


@given(tables(), FILES)
@QUICK
def test_read_table_of_all_rows_in_parts_equals_the_whole(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file: str
) -> None:
    path = write_table(frame, file, tmp_path_factory.mktemp("table"))
    whole, sample = read_table(path), read_table(path, max_rows=len(frame))
    assert same_values(sample.frame, whole.frame)
    assert sample.kinds == whole.kinds
    assert list(sample.frame.index) == list(range(len(frame)))


@given(tables(), FILES, st.integers(1, 20), st.integers(0, 9))
@QUICK
def test_read_rows_samples_rows_of_the_whole_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file: str, size: int, seed: int
) -> None:
    numbered = frame.assign(row=range(len(frame)))
    path = write_table(numbered, file, tmp_path_factory.mktemp("table"))
    # not by read_table, which refuses a sample with a column of nothing but holes
    whole, sample = (reading.read_rows(path, max_rows=most, seed=seed)[0] for most in (None, size))
    numbers = sample["row"].tolist()
    assert len(numbers) == min(size, len(frame)) and numbers == sorted(set(numbers))
    assert same_values(sample, whole.iloc[numbers])


@given(tables(), FILES)
@QUICK
def test_read_new_parts_are_those_of_the_whole_table(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file: str
) -> None:
    most = 2048  # rows of a vector of DuckDB
    long = pd.concat([frame.iloc[:-1]] * (1 + 2 * most // len(frame)) + [frame], ignore_index=True)
    path = write_table(long, file, tmp_path_factory.mktemp("table"))
    whole, of_whole = read_new_rows(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "VECTORS_PER_PART", 1)
        found, of_parts = read_new_parts(path)
        parts = list(found)
    assert of_whole == of_parts and of_whole.rows == len(whole) == len(long)
    assert max(map(len, parts)) <= most and (len(long) <= most or len(parts) > 1)
    joined = pd.concat([part.astype(object) for part in parts])
    assert same_values(joined, whole) and list(joined.index) == list(range(1, len(long) + 1))


def test_read_new_parts_names_the_row_of_infinity_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("age\n" + "40\n" * 19 + "inf\n")
    with pytest.raises(HornbookError, match="row 20, column 'age' is infinity"):
        list(read_new_parts(tmp_path / "table.csv")[0])


def test_read_table_samples_every_row_with_the_same_probability(tmp_path: Path) -> None:
    path = write_table(pd.DataFrame({"row": range(30)}), "table.csv", tmp_path)
    draws, size = 60, 6
    counts = np.zeros(30)
    for seed in range(draws):
        counts[read_table(path, max_rows=size, seed=seed).frame["row"]] += 1
    expected = draws * size / 30
    variance = expected * (1 - size / 30)
    # (counts - expected)² / variance sums to about 29 ± 8 if rows are equally likely
    assert 10 < ((counts - expected) ** 2 / variance).sum() * 29 / 30 < 58


def test_read_table_takes_types_from_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("code,age\n" + "01,40\n" * 50 + "none,?\n")
    sample = read_table(path, max_rows=5, seed=1).frame
    assert sample["code"].tolist() == ["01"] * 5  # not the number 1, though the sample has no word
    assert sample["age"].dtype == np.float64 and sample["age"].tolist() == [40.0] * 5


def test_read_table_samples_frames_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"row": range(100)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    samples = [
        read_table(source, max_rows=9).frame["row"].tolist() for source in (frame, tmp_path / "table.csv")
    ]
    assert samples[0] == samples[1] == sorted(set(samples[0])) and len(samples[0]) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "table.csv: line 3 has 1 values and there are 2 columns"),
        ("a,a\n1,2\n", "columns 1 and 2 are both called 'a'"),
        ("", "table.csv: the file is empty"),
        ("a,b\n", "table.csv has 2 columns and 0 rows"),
        ("a,b\n1,inf\n", "row 1, column 'b' is infinity"),
    ],
)
def test_read_table_refuses_bad_files_when_it_samples(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(HornbookError, match=message):
        read_table(path, max_rows=10)
    with pytest.raises(HornbookError, match="there is no such file"):
        read_table(tmp_path / "none.csv", max_rows=10)
    with pytest.raises(HornbookError, match="max_rows is at least 1; got 0"):
        read_table(path, max_rows=0)


@pytest.mark.parametrize("options", [{}, {"missing": ["-9"]}, {"delimiter": ";"}, {"names": ["a", "b"]}])
def test_read_table_samples_with_the_same_options(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\ufeffage;stage of  disease\n40; I \n-9;?\n61,5;II\n", "utf-8")
    sample, whole = read_table(path, max_rows=10, **options), read_table(path, **options)
    pd.testing.assert_frame_equal(sample.frame, whole.frame)


def test_read_table_reads_several_files_by_a_query(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [40, 50, 61], "ward": ["a", None, "b"]})
    for suffix, write in (("csv", frame.to_csv), ("parquet", frame.to_parquet)):
        for name in ("1", "2"):
            write(tmp_path / f"{name}.{suffix}", index=False)
        table = read_table(f"SELECT * FROM '{tmp_path}/*.{suffix}'")
        assert same_values(table.frame, pd.concat([frame, frame], ignore_index=True))
        with pytest.raises(HornbookError, match="a folder is no table; name its files in a query"):
            read_table(tmp_path)
        with pytest.raises(HornbookError, match="there is no such file; several files are read by a query"):
            read_table(tmp_path / "none")
    query = f"SELECT ward, max(age) AS age FROM '{tmp_path}/*.parquet' GROUP BY ward ORDER BY age;"
    assert read_table(query).frame["age"].tolist() == [40, 50, 61]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT nothing FROM range(3)", "nothing"),
        ("SELECT * FROM 'nowhere.parquet'", "No files found"),
        ("SELECT 1 AS a; DROP TABLE b", "syntax error"),
        ("SELECT * FROM range(3) WHERE range > 5", "1 columns and 0 rows"),
    ],
)
def test_read_table_refuses_bad_queries_in_one_line(query: str, message: str) -> None:
    with pytest.raises(HornbookError, match=message) as error:
        read_table(query)
    assert "\n" not in str(error.value)


def test_read_table_counts_what_it_takes_for_missing_among_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,word\n40,a\nn/a,-\nN/A,b\n-,.\n.,c\nNULL,d\n61.5,e\n?,f\n")
    table = read_table(path)
    assert table.kinds == {"age": "quantitative", "word": "categorical"}
    assert table.frame["age"].isna().tolist() == [False, *[True] * 5, False, True]
    assert table.frame["word"].tolist()[1:4] == ["-", "b", "."]
    words = "taken for missing values: 1 × '-', 1 × '.', 1 × '?', 1 × 'N/A', 1 × 'NULL', 1 × 'n/a'"
    assert table.notes == (f"column 'age' holds numbers; {words}",)
    assert read_table(path, missing=["?"]).kinds["age"] == "categorical"


def test_words_for_yes_and_no_stay_words_in_a_query(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("good,paid\nyes,true\nno,false\n")
    table = read_table(f"SELECT * FROM '{path}'")
    assert table.frame["good"].tolist() == ["yes", "no"] == read_table(path).frame["good"].tolist()
    assert table.frame["paid"].tolist() == [True, False] == read_table(path).frame["paid"].tolist()
