"""Files as streams of bytes: plain, or compressed by gzip, bzip2, xz or Zstandard."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, cast

from hornbook.errors import HornbookError, library

CHUNK_BYTES = 1 << 20
"""Number of bytes that are read at a time."""

MAX_EXPANSION = 200
"""Largest number of bytes that a compressed byte may become; tables become 3 to 50."""

SMALL_EXPANSION = 1 << 24
"""Number of bytes up to which a file may expand by any factor."""


def _open_zstd(file: BinaryIO) -> BinaryIO:
    """Decompress Zstandard by Python itself, from version 3.14, or by pyarrow."""
    if find_spec("compression") is not None:
        return cast(BinaryIO, import_module("compression.zstd").ZstdFile(file))
    arrow = library("pyarrow", "parquet")
    return cast(BinaryIO, arrow.CompressedInputStream(arrow.PythonFile(file, mode="r"), "zstd"))


DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
"""For the first bytes of a compressed file, a function that decompresses it."""

COMPRESSION_SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst"})


def content_suffix(path: Path) -> str:
    """The suffix of a file's content, in lower case: `.arff` for `table.arff.gz`."""
    stem = Path(path.stem) if path.suffix.lower() in COMPRESSION_SUFFIXES else path
    return stem.suffix.lower()


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes say that it is compressed."""
    file = path.open("rb")
    start = file.read(max(map(len, DECOMPRESSORS)))
    file.seek(0)
    decompress = next((each for first, each in DECOMPRESSORS.items() if start.startswith(first)), None)
    if decompress is None:
        return file
    try:
        return cast(BinaryIO, io.BufferedReader(_Expansion(file, decompress), CHUNK_BYTES))
    except HornbookError:
        file.close()
        raise


class _Expansion(io.RawIOBase):
    """What a compressed file expands to; damage, and more than a table would be, is refused."""

    def __init__(self, file: BinaryIO, decompress: Callable[[Any], Any]) -> None:
        self.file, self.expanded, self.size = file, decompress(file), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self.expanded.read(min(len(buffer), CHUNK_BYTES))
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise HornbookError(
                f"the compressed file is damaged or cut short ({reason}); get it again"
            ) from None
        self.size += len(content)
        if self.size > max(SMALL_EXPANSION, MAX_EXPANSION * self.file.tell()):
            raise HornbookError(
                f"the file expands to more than {MAX_EXPANSION} times its size, which tables do not; "
                "if you trust it, decompress it yourself"
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self.expanded.close()
            self.file.close()
        super().close()
