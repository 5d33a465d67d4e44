"""Reading tables: what is kept, what is inferred, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.paper import Task
from hornbook.queries import Binariser
from hornbook.tables import Table, read_table

FRAME = pd.DataFrame(
    {
        "age": [40, np.nan, 61.5, 70],
        "stage of disease": ["I", "II", None, "III"],
        "ill": [0, 1, 1, np.nan],
        "group": ["control", "treated", "treated", "control"],
    }
)
KINDS = {"age": "quantitative", "stage of disease": "categorical", "ill": "binary", "group": "binary"}

CSV = """age, stage of disease ,ill,group
40,I,0,control
?,II,1,treated
61.5,NA,1,treated

70,III,,control
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def same_values(table: Table, frame: pd.DataFrame) -> bool:
    return list(table.frame.columns) == list(frame.columns) and all(
        (table.frame[column].isna() == frame[column].isna()).all()
        and table.frame[column].dropna().tolist() == frame[column].dropna().tolist()
        for column in frame
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_read_table_any_delimiter_is_found_out(tmp_path: Path, delimiter: str) -> None:
    table = read_table(written(tmp_path, "trial.csv", CSV.replace(",", delimiter)))
    assert same_values(table, FRAME)
    assert table.kinds == KINDS
    assert table.name == "trial.csv"


def test_read_table_given_delimiter_wins(tmp_path: Path) -> None:
    path = written(tmp_path, "trial.txt", "a b\n1 2,x\n3 ?\n")
    assert read_table(path, delimiter=" ").frame["b"].tolist() == ["2,x", pytest.approx(np.nan, nan_ok=True)]


def test_read_table_delimiters_inside_headings_and_quotes_do_not_mislead(tmp_path: Path) -> None:
    text = '"Iron\t(mcg/dL)",Cirrhosis\t,"a; b\nc",x\n1.5,0,"p, ""q""",1\n2.5,1,r;s,2\n'
    table = read_table(written(tmp_path, "odd.csv", text))
    assert list(table.frame.columns) == ["Iron (mcg/dL)", "Cirrhosis", "a; b c", "x"]
    assert table.frame["a; b c"].tolist() == ['p, "q"', "r;s"]


def test_parquet_and_json_hold_the_same_table(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "trial.parquet")
    FRAME.to_json(tmp_path / "trial.json", orient="records")
    FRAME.to_json(tmp_path / "trial.jsonl", orient="records", lines=True)
    for path in tmp_path.iterdir():
        table = read_table(path)
        assert same_values(table, FRAME)
        assert table.kinds == KINDS


def test_frames_of_pandas_and_polars_are_tables() -> None:
    polar = pl.DataFrame({name: [None if pd.isna(v) else v for v in FRAME[name]] for name in FRAME})
    for frame in (FRAME, polar, polar.lazy()):
        table = read_table(frame)
        assert same_values(table, FRAME)
        assert table.kinds == KINDS
        assert table.name == "table"


def test_read_table_texts_of_a_frame_may_be_missing_values_and_numbers() -> None:
    frame = pd.DataFrame(
        {"a": ["1", " ? ", "2.5"], "b": ["x", "NA", " y "], "c": [1, "?", 3], "d": list("uvw")}
    )
    table = read_table(frame)
    assert table.frame["a"].tolist()[::2] == [1, 2.5] and table.frame["c"].tolist()[::2] == [1, 3]
    assert table.frame["b"].tolist() == ["x", None, "y"] and table.frame["d"].tolist() == ["u", "v", "w"]
    assert table.frame.isna().to_numpy().sum() == 3


def test_read_table_source_frame_is_left_alone() -> None:
    frame = FRAME.astype(object).fillna("?")
    before = frame.copy()
    assert same_values(read_table(frame, label="group", positive="treated"), FRAME) is False
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("marker", ["?", "", "NA", "na", "NaN", "nan", " ? "])
def test_read_table_markers_are_missing_values(tmp_path: Path, marker: str) -> None:
    table = read_table(written(tmp_path, "t.csv", f"a,b\n1,x\n{marker},{marker}\n3,y\n"))
    assert table.frame.isna().to_numpy().tolist() == [[False, False], [True, True], [False, False]]


def test_read_table_markers_can_be_others(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a,country\n1,NA\n-99,DE\n3,unknown\n")
    table = read_table(path, missing=["-99", "Unknown"])
    assert table.frame["country"].tolist()[:2] == ["NA", "DE"]
    assert table.frame.isna().to_numpy().sum() == 2


def test_read_table_names_serve_a_file_without_a_header(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "t.data", "1,x\n2,y\n"), names=["a", "b"])
    assert table.frame["a"].tolist() == [1, 2]


def test_read_table_kinds_can_be_overridden() -> None:
    table = read_table(FRAME, kinds={"age": "categorical"})
    assert table.kinds == {**KINDS, "age": "categorical"}
    binariser = Binariser.fit(table.frame, kinds=table.kinds, dual=True)
    assert binariser.vocabulary.names[:3] == ("age=40", "age=61.5", "age=70")
    assert len(binariser.batch(table.frame)) == 4


@given(
    st.lists(
        st.tuples(
            st.floats(-1e9, 1e9) | st.none(), st.sampled_from(["red", "a;b", 'q"q', "x,y"]) | st.none()
        ),
        min_size=2,
        max_size=12,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_table_what_pandas_writes_is_read_back(tmp_path: Path, rows: list[Any], delimiter: str) -> None:
    rows = [(1.5, "green"), *rows]
    frame = pd.DataFrame(rows, columns=["number", "word"])
    path = tmp_path / "again.csv"
    frame.to_csv(path, sep=delimiter, index=False, na_rep="?")
    assert same_values(read_table(path, delimiter=delimiter), frame)


def test_a_table_tells_about_itself() -> None:
    table = read_table(FRAME, label="group", positive="treated", name="trial")
    assert table.describe() == (
        "trial: 4 rows, 3 features (1 binary, 1 categorical, 1 quantitative), "
        "25.00 % missing, 1 complete rows, group=treated 2 to 2"
    )
    assert repr(table) == f"<Table {table.describe()}>"
    assert table.checksum() == read_table(FRAME, label="group", positive="treated").checksum()
    assert table.checksum() != read_table(FRAME).checksum()


@pytest.mark.parametrize(
    ("values", "arguments", "name", "classes"),
    [
        ([0, 1, 1], {}, "y", [0, 1, 1]),
        (["no", "Yes", "no"], {}, "y", [0, 1, 0]),
        (["a", "b", "a"], {}, "y=b", [0, 1, 0]),
        ([1, 2, 2], {}, "y=2", [0, 1, 1]),
        ([1, 2, 3], {"positive": 2}, "y=2", [0, 1, 0]),
        (["a", "b", "c"], {"positive": "a"}, "y=a", [1, 0, 0]),
        ([1.5, 2, 3], {"above": 2}, "y>2", [0, 0, 1]),
    ],
)
def test_read_table_label_is_made_of_zero_and_one(
    values: list[Any], arguments: dict[str, Any], name: str, classes: list[int]
) -> None:
    table = read_table(pd.DataFrame({"x": ["p", "q", "r"], "y": values}), label="y", **arguments)
    assert table.label == name
    assert table.frame[name].tolist() == classes
    assert table.kinds[name] == "binary"
    assert list(table.features) == ["x"]
    assert len(Task.of(table).theory) == 3 + 4


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,a\n1,2\n", {}, "t.csv: columns 1 and 2 are both called 'a'; rename one"),
        ("a\t b,a b\n1,2\n", {}, "columns 1 and 2 are both called 'a b'"),
        ("a,\n1,2\n", {}, "column 2 has no name; name it in the header"),
        ("a,b\n1,2\n\n3\n", {}, "line 4 has 1 values and there are 2 columns"),
        ("a,b\n1,2\n3,4,5\n", {}, "line 3 has 3 values"),
        (
            "a,b\n1," + (1 << 23) * "x" + "\n",
            {},
            "line 2 cannot be read: is a quote not closed",
        ),
        ("", {}, "the file is empty; its first line should name the columns"),
        ("a,b\n", {}, "t.csv has 2 columns and 0 rows"),
        ("a,b\n1,?\n2,?\n", {}, "column 'b' has no known value; drop it"),
        ("a,b\n1,inf\n2,1\n", {}, "row 1, column 'b' is infinity"),
        ("a,b\n1,x\n", {"kinds": {"b": "quantitative"}}, "column 'b' should hold numbers and holds 'x'"),
        ("a,b\n1,2\n", {"kinds": {"c": "binary"}}, "'c': 'binary' is not a column"),
        ("a,b\n1,2\n", {"kinds": {"a": "text"}}, "'a': 'text' is not a column with one of the kinds binary"),
        ("age,b\n1,2\n", {"label": "aeg"}, "no column 'aeg' to be the label; did you mean 'age'"),
        ("a,y\n1,0\n2,?\n3,1\n", {"label": "y"}, r"label 'y' is missing in 1 rows \(1\); drop them"),
        ("a,y\n1,1\n2,1\n", {"label": "y"}, "label 'y' is true in every row: there is nothing to learn"),
        ("a,y\n1,u\n2,u\n", {"label": "y"}, "label 'y=u' is true in every row"),
        ("a,y\n1,1\n2,2\n3,3\n", {"label": "y"}, "'y' has 3 distinct values; make it binary with above=2"),
        ("a,y\n1,r\n2,s\n3,t\n", {"label": "y"}, "3 distinct values; make it binary with positive='r'"),
        ("a,y\n1,r\n2,s\n", {"label": "y", "positive": "q"}, "never 'q'; its values are r, s"),
        ("a,y\n1,r\n2,s\n", {"label": "y", "above": 3}, "no numbers to compare with 3; give positive="),
        ("a,y\n1,1\n2,5\n", {"label": "y", "above": 7}, "label 'y>7' is false in every row"),
    ],
)
def test_read_table_bad_text_is_refused_with_a_reason(
    tmp_path: Path, text: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(HornbookError, match=message):
        read_table(written(tmp_path, "t.csv", text), **arguments)


def test_read_table_file_that_is_absent_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HornbookError, match=r"nowhere.csv: there is no such file"):
        read_table(tmp_path / "nowhere.csv")
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"a,b\n1,\xff\x90\n")
    with pytest.raises(HornbookError, match=r"b.csv: the file is not utf-8 text. If it is in"):
        read_table(binary)


def test_read_table_duplicate_columns_of_a_frame_are_refused() -> None:
    with pytest.raises(HornbookError, match="columns 1 and 2 are both called 'a'"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", " a"]))
