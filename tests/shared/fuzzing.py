"""Damaged files: whatever happens to the bytes of a file, reading it returns, or refuses it in one line.

A `FileFormat` makes valid files and reads them; `damage` changes bytes; `try_case` says what reading
a damaged file does. `benchmarks/fuzz.py` runs many cases in processes of their own, so that a file
that ends the process, or never ends, is counted too.
"""

from __future__ import annotations

import gzip
import io
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa

from hornbook.errors import HornbookError
from hornbook.tables import read_table

MAX_SECONDS = 40.0
"""Time in which a damaged file has to be read or refused."""

MAX_MESSAGE = 1000
"""Length of the longest message that is one line to read."""

TOKENS = [
    b"", b"\x00", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\x1a", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xc3\x28", b"\xe4", b"?", b"-", b"1e999", b"-inf", b"nan", b"9" * 400, b"3,5",
    b"1.234,5", b"2024-01-31", b"@data", b"@attribute", b"{", b"}", b"%", b"\\", b"[" * 50, b"x" * 5000,
    "é\u202e".encode(), b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xff" * 8, b"\x00" * 8,
    b"\x80\x80\x80\x80\x10",
]  # fmt: skip
"""What files are damaged by: signs of formats, bad characters, and large lengths."""


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    Parameters
    ----------
    file_name
        The name of a file, by which reading may tell its format.
    make
        Makes the bytes of a valid file.
    read
        Reads a file.
    wrap
        Makes a whole file of damaged bytes, such as by compressing them.

    """

    file_name: str
    make: Callable[[np.random.Generator], bytes]
    read: Callable[[Path], object]
    wrap: Callable[[bytes], bytes] = bytes


def damage(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Change a file in one way or several; `other` is a file that parts are taken from."""
    for _ in range(rng.geometric(0.6)):
        content = DAMAGES[rng.integers(len(DAMAGES))](content, other, rng)
    return content


def _place(content: bytes, rng: np.random.Generator) -> int:
    """A place in a file, its two ends more often than others."""
    near = int(rng.integers(0, 64))
    return [near, len(content) - near, int(rng.integers(0, len(content) + 1))][rng.integers(3)] % (
        len(content) + 1
    )


def _flip_bits(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    values = bytearray(content)
    for _ in range(rng.integers(1, 9) if values else 0):
        values[_place(content, rng) % len(values)] ^= 1 << int(rng.integers(8))
    return bytes(values)


def _insert(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + TOKENS[rng.integers(len(TOKENS))] + content[place:]


def _overwrite(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    place, token = _place(content, rng), TOKENS[rng.integers(len(TOKENS))]
    return content[:place] + token + content[place + len(token) :]


def _delete(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + content[place + int(rng.integers(1, 40)) :]


def _cut(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: _place(content, rng)]


def _repeat(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    start, length = _place(content, rng), int(rng.integers(1, 40))
    return content[:start] + content[start : start + length] * int(rng.integers(2, 20)) + content[start:]


def _splice(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: _place(content, rng)] + other[_place(other, rng) :]


def _randomise(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    place, length = _place(content, rng), int(rng.integers(1, 20))
    return content[:place] + rng.bytes(length) + content[place + length :]


def _exchange_value(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Exchange a value of a JSON text, or of one of its lines, for another that is JSON too."""
    lines = content.splitlines(keepends=True) if content.count(b"\n{") > 1 else [content]
    number = int(rng.integers(len(lines)))
    try:
        document = json.loads(lines[number])
    except (ValueError, RecursionError):
        return _overwrite(content, other, rng)
    holder, key = {"": document}, ""
    while rng.random() < 0.8 and isinstance(holder[key], dict | list) and holder[key]:
        holder = holder[key]
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = keys[rng.integers(len(keys))]
    holder[key] = JSON_VALUES[rng.integers(len(JSON_VALUES))]
    ending = b"\n" if lines[number].endswith(b"\n") else b""
    lines[number] = json.dumps(holder[key] if key == "" else document).encode() + ending
    return b"".join(lines)


JSON_VALUES = [None, True, -1, 0, 10**30, 0.5, "", "x", [], {}, [[]], ["x", 1], {"x": {}}]
"""What values of JSON texts are exchanged for: other types, and numbers out of range."""

DAMAGES = (_flip_bits, _insert, _overwrite, _delete, _cut, _repeat, _splice, _randomise, _exchange_value)


def make_case(file_format: FileFormat, case: int) -> bytes:
    """The damaged file of a case; case 0 is not damaged."""
    rng = np.random.default_rng([case, crc32(file_format.file_name.encode())])
    content, other = file_format.make(rng), file_format.make(rng)
    return file_format.wrap(damage(content, other, rng) if case else content)


def try_case(file_format: FileFormat, case: int, folder: Path) -> str:
    """Read a damaged file: `read`, `refused`, or what is wrong with the way it is refused."""
    path = folder / file_format.file_name
    path.unlink(missing_ok=True)  # a disk takes longer to overwrite a file
    path.write_bytes(make_case(file_format, case))
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            file_format.read(path)
        outcome = "read"
    except HornbookError as error:
        one_line = len(str(error).splitlines()) == 1 and len(str(error)) <= MAX_MESSAGE
        outcome = "refused" if one_line else "refused in more than a line"
    except Exception as error:
        outcome = type(error).__name__
    return outcome if time.perf_counter() - begin < MAX_SECONDS else "slow"


def make_table(rng: np.random.Generator) -> pd.DataFrame:
    """A small table with numbers, words, truth values and holes."""
    size = int(rng.integers(2, 12))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, size),
            "größe": rng.normal(170, 10, size).round(2),
            'the "colour"': rng.choice(["red", "grün", "blue, or so", "two\nlines"], size).astype(object),
            "ill": rng.integers(0, 2, size).astype(bool),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


def _make_csv(rng: np.random.Generator) -> bytes:
    return make_table(rng).to_csv(index=False).encode()


def _make_western_csv(rng: np.random.Generator) -> bytes:
    return make_table(rng).to_csv(index=False, sep=";", decimal=",").encode("cp1252")


def _make_json(rng: np.random.Generator) -> bytes:
    return make_table(rng).to_json(orient="records", lines=True).encode()


def _make_parquet(rng: np.random.Generator) -> bytes:
    frame, buffer = make_table(rng), io.BytesIO()
    frame["age"] = frame["age"].astype(float)
    frame.astype({'the "colour"': "category" if rng.integers(2) else "object"}).to_parquet(
        buffer,
        compression=["snappy", "gzip", "zstd", None][rng.integers(4)],
        row_group_size=int(rng.integers(1, 6)),
    )
    return buffer.getvalue()


def _make_zstd(rng: np.random.Generator) -> bytes:
    return bytes(pa.Codec("zstd").compress(_make_csv(rng), asbytes=True))


def _read_sample(path: Path) -> object:
    return read_table(path, max_rows=3)


def _read_western(path: Path) -> object:
    return read_table(path, max_rows=3, encoding="cp1252", decimal=",")


TABLE_FORMATS = {
    "csv": FileFormat("table.csv", _make_csv, read_table),
    "western-csv": FileFormat("western.csv", _make_western_csv, _read_western),
    "gzip": FileFormat("table.csv.gz", lambda rng: gzip.compress(_make_csv(rng), mtime=0), read_table),
    "inside-gzip": FileFormat("inside.csv.gz", _make_csv, _read_sample, gzip.compress),
    "zstd": FileFormat("table.csv.zst", _make_zstd, read_table),
    "json": FileFormat("table.jsonl", _make_json, read_table),
    "parquet": FileFormat("table.parquet", _make_parquet, read_table),
    "parquet-sample": FileFormat("sample.parquet", _make_parquet, _read_sample),
}
"""The formats by their names in `benchmarks/fuzz.py`."""
