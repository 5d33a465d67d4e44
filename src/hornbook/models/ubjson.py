"""Reads UBJSON (Universal Binary JSON), the form in which XGBoost saves boosters by default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hornbook.errors import HornbookError

NUMBER_TYPES = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
"""For each marker of a number, how NumPy reads it."""

CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def decode_ubjson(content: bytes) -> Any:
    r"""The value that a UBJSON text holds.

    Examples
    --------
    >>> decode_ubjson(b"{i\x04rate[$U#i\x02\x01\x02}")
    {'rate': [1, 2]}

    """
    decoder = _Decoder(content)
    value = decoder.read_value(decoder.take(1))
    if decoder.position != len(content):
        raise HornbookError(f"something follows at byte {decoder.position}, where it should end")
    return value


class _Decoder:
    """The bytes, and how far they are read."""

    def __init__(self, content: bytes) -> None:
        self.content, self.position = content, 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count < 0 or self.position + count > len(self.content):
            raise HornbookError(f"it was cut short, or is damaged at byte {self.position}")
        self.position += count
        return self.content[self.position - count : self.position]

    def read_value(self, marker: bytes) -> Any:
        """The value behind a marker."""
        if marker in NUMBER_TYPES:
            return self.read_numbers(marker, 1)[0]
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker in (b"S", b"H"):
            return self.read_string()
        if marker == b"C":
            return self.take(1).decode()
        if marker == b"[":
            return self.read_array()
        if marker == b"{":
            return self.read_object()
        raise HornbookError(f"there is no value at byte {self.position - 1}")

    def read_numbers(self, marker: bytes, count: int) -> list[Any]:
        """So many numbers of one type."""
        dtype = np.dtype(NUMBER_TYPES[marker])
        numbers: list[Any] = np.frombuffer(self.take(count * dtype.itemsize), dtype).tolist()
        return numbers

    def read_string(self) -> str:
        return self.take(self.read_length()).decode()

    def read_length(self) -> int:
        marker = self.take(1)
        if marker not in NUMBER_TYPES or marker in (b"d", b"D"):
            raise HornbookError(f"there is no length at byte {self.position - 1}")
        return int(self.read_numbers(marker, 1)[0])

    def read_form(self) -> tuple[bytes | None, float]:
        """The type of all values of a container, if it is given, and their number, or infinity."""
        kind = None
        if self.content[self.position : self.position + 1] == b"$":
            self.take(1)
            kind = self.take(1)
        if self.content[self.position : self.position + 1] != b"#":
            return kind, math.inf
        self.take(1)
        return kind, self.read_length()

    def read_array(self) -> list[Any]:
        kind, count = self.read_form()
        if kind in NUMBER_TYPES and count != math.inf:
            return self.read_numbers(kind, int(count))
        values: list[Any] = []
        while len(values) < count:
            marker = kind or self.take(1)
            if marker == b"]" and count == math.inf:
                break
            values.append(self.read_value(marker))
        return values

    def read_object(self) -> dict[str, Any]:
        kind, count = self.read_form()
        values: dict[str, Any] = {}
        while len(values) < count:
            if count == math.inf and self.content[self.position : self.position + 1] == b"}":
                self.take(1)
                break
            name = self.read_string()
            values[name] = self.read_value(kind or self.take(1))
        return values
