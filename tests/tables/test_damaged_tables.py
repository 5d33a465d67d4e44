"""Whatever happens to the bytes of a table file, it is read, or refused in one line; many more cases are
run by `benchmarks/fuzz.py`."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import TABLE_FORMATS, try_case

from hornbook.errors import HornbookError
from hornbook.tables import read_table

CASES = 15


@pytest.mark.parametrize("name", list(TABLE_FORMATS))
def test_damaged_file_is_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    assert try_case(TABLE_FORMATS[name], 0, tmp_path) == "read"
    outcomes = Counter(try_case(TABLE_FORMATS[name], case, tmp_path) for case in range(1, CASES))
    assert set(outcomes) <= {"read", "refused"} and outcomes["refused"]


@pytest.mark.parametrize("max_rows", [None, 3])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([b"\xff", b"a"]).view(pa.string()), "t.parquet: .*UTF8"),
        (pa.array([b"\xff", b"a"]), "column 'a' holds values that are not numbers or text, such as"),
        (pa.array([dt.time(8, 30), None]), "column 'a' holds values that are not numbers or text"),
        (pa.array([[1], [2, 3]]), "column 'a' holds values that are not numbers or text"),
        (pa.array([None, None]), "column 'a' has no known value"),
        (pa.array([], pa.int64()), "t.parquet has 2 columns and 0 rows"),
    ],
)
def test_read_table_refuses_columns_of_other_types(
    tmp_path: Path, column: pa.Array, message: str, max_rows: int | None
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": column, "b": range(len(column))}), path)
    with pytest.raises(HornbookError, match=message):
        read_table(path, max_rows=max_rows)


def write_varint(value: int) -> bytes:
    """A number as Parquet's footer has it: zigzag, seven bits a byte."""
    value, digits = 2 * value, []
    while value >= 128:
        digits.append(value % 128 + 128)
        value //= 128
    return bytes([*digits, value])


@pytest.mark.parametrize("max_rows", [None, 10])
@pytest.mark.parametrize("rows", [10**7, 10**12])
def test_read_table_refuses_a_parquet_file_that_claims_too_much(
    tmp_path: Path, rows: int, max_rows: int | None
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(54321)}), path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8].replace(write_varint(54321), write_varint(rows))
    path.write_bytes(content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert pq.read_metadata(path).num_rows == rows
    begin = time.perf_counter()
    with pytest.raises(HornbookError, match=r"t.parquet: .*(claims|Invalid data|rows take)"):
        read_table(path, max_rows=max_rows)
    assert time.perf_counter() - begin < 5
