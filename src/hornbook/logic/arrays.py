"""One code for two kinds of array: NumPy's `uint64` words here, PyTorch's `int64` words on a device.

NumPy 2 and PyTorch agree in most of what the bit-sliced kernels need: the operators, `empty`
and `zeros` with a device, `where`, `concat`. What they do not agree in is here. A tensor has the
same bits as the array, but its numbers are signed: a shift to the right copies the sign.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

HOST = "cpu"
"""Where NumPy's arrays are."""


def on_host(array: Any) -> bool:
    """Whether it is NumPy's, rather than a tensor."""
    return isinstance(array, np.ndarray)


def module_of(array: Any) -> Any:
    """The module whose functions take the array: NumPy or PyTorch."""
    return np if on_host(array) else sys.modules["torch"]


def on_device(array: np.ndarray[Any, Any], device: str | None) -> Any:
    """An array of NumPy's as a tensor on a device; without a device, as it is."""
    if device is None:
        return array
    import torch

    signed = array.view(np.int64) if array.dtype == np.uint64 else array
    return torch.from_numpy(np.ascontiguousarray(signed)).to(device)


def copied(array: Any) -> Any:
    """A copy, one row after another."""
    return array.copy() if on_host(array) else array.clone(memory_format=module_of(array).contiguous_format)


def to_host(array: Any) -> Any:
    """The same bits as an array of NumPy's."""
    if on_host(array):
        return array
    host = array.cpu().numpy()
    return host.view(np.uint64) if host.dtype == np.int64 else host


def shifted_right(words: Any, count: int, out: Any = None) -> Any:
    """The words shifted, with zeros from the left."""
    xp = module_of(words)
    shifted = xp.bitwise_right_shift(words, count, out=out)
    if not on_host(words):
        shifted &= 2 ** (64 - count) - 1
    return shifted


def each_of(rows: Any) -> Any:
    """The rows in a form that `all_of` takes: of a tensor, a view of each, made once."""
    return rows if on_host(rows) else rows.unbind()


def all_of(rows: Any, chosen: NDArray[np.intp]) -> Any:
    """The bits that all of the chosen rows have set; tensors are given one by one."""
    if isinstance(rows, np.ndarray):
        return np.bitwise_and.reduce(rows[chosen], axis=0)
    common = ~(rows[0] & 0) if len(chosen) == 0 else rows[chosen[0]].clone()
    for row in chosen[1:].tolist():
        common.bitwise_and_(rows[row])
    return common


def signed(words: Any) -> Any:
    """The words as signed numbers, as indices have to be."""
    return words.view(np.int64) if on_host(words) else words


def word(value: int, like: Any) -> int:
    """A word as a number that fits the type of `like`."""
    value %= 2**64
    return value if on_host(like) or value < 2**63 else value - 2**64
