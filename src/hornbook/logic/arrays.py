"""One code for two kinds of array: NumPy's `uint64` words here, PyTorch's `int64` words on a device.

NumPy 2 and PyTorch agree in most of what the bit-sliced kernels need: the operators, `empty`
and `zeros` with a device, `where`, `concat`. This module has the rest. A tensor has the
same bits as the array, but its numbers are signed: a shift to the right copies the sign.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from hornbook.errors import HornbookError

MIN_FUSED_WORDS = 1 << 21
"""Number of words from which on the steps of a GPU are fused; compiling them takes seconds, once."""


JOINED_AT_ONCE = 8
"""Number of rows of a group that one step on a device joins."""


def on_host(array: Any) -> bool:
    """Whether an array is NumPy's, not a tensor."""
    return isinstance(array, np.ndarray)


def module_of(array: Any) -> Any:
    """The module whose functions take the array: NumPy or PyTorch."""
    return np if on_host(array) else sys.modules["torch"]


def on_device(array: np.ndarray[Any, Any], device: str | None) -> Any:
    """Copy a NumPy array to a tensor on a device; return it unchanged if the device is None."""
    if device is None:
        return array
    import torch

    signed = array.view(np.int64) if array.dtype == np.uint64 else array
    return torch.from_numpy(np.ascontiguousarray(signed)).to(device)


def check_device(device: str) -> None:
    """Refuse a device that PyTorch does not have here."""
    try:
        import torch
    except ImportError:
        raise HornbookError(
            f'device={device!r} needs PyTorch: pip install "hornbook[torch]"; leave it out for the CPU'
        ) from None
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        seen = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        raise HornbookError(
            f"PyTorch cannot use device={device!r} here ({str(error).splitlines()[0]}); "
            f"it sees {', '.join(['cpu', *seen])}"
        ) from None


def free_memory(device: str) -> int:
    """Number of free bytes on a GPU; for other devices, a fixed part of the machine's memory."""
    import torch

    if torch.device(device).type != "cuda":
        return 1 << 31
    free: int = torch.cuda.mem_get_info(device)[0]
    return free


def core_is_free() -> bool:
    """Whether PyTorch, if it is in use, leaves a core for other work while it computes."""
    torch = sys.modules.get("torch")
    return torch is None or torch.get_num_threads() < (os.cpu_count() or 1)


def copy_rows(array: Any) -> Any:
    """Copy an array so that its rows are contiguous."""
    return array.copy() if on_host(array) else array.clone(memory_format=module_of(array).contiguous_format)


def to_host(array: Any) -> Any:
    """Copy a tensor to a NumPy array with the same bits."""
    if on_host(array):
        return array
    host = array.cpu().numpy()
    return host.view(np.uint64) if host.dtype == np.int64 else host


def shift_right(words: Any, count: int) -> Any:
    """Shift words to the right, with zeros from the left."""
    xp = module_of(words)
    shifted = xp.bitwise_right_shift(words, count)
    if not on_host(words):
        shifted &= 2 ** (64 - count) - 1
    return shifted


def join_rows(rows: Any, groups: Sequence[Sequence[int]], join: Literal["and", "or"]) -> Any:
    """Join the rows of a tensor that each group names, by AND or by OR: shape (groups, words).

    A step joins eight rows of every group, so that a GPU has few and large steps. Groups are filled up
    to the longest by a row of their own, which changes nothing; none is empty.
    """
    longest = -(-max(map(len, groups)) // JOINED_AT_ONCE) * JOINED_AT_ONCE
    filled = [[*group, *[group[0]] * (longest - len(group))] for group in groups]
    index = on_device(np.array(filled, np.intp).T, rows.device)  # (longest, groups)
    joined = rows[index[0]]
    step = fuse_if_large(_and_rows if join == "and" else _or_rows, rows.device, joined.numel())
    for several in index.split(JOINED_AT_ONCE):
        joined = step(joined, rows, several)
    return joined


def _and_rows(joined: Any, rows: Any, index: Any) -> Any:
    for number in range(JOINED_AT_ONCE):
        joined = joined & rows[index[number]]
    return joined


def _or_rows(joined: Any, rows: Any, index: Any) -> Any:
    for number in range(JOINED_AT_ONCE):
        joined = joined | rows[index[number]]
    return joined


def reduce_rows(rows: Any, join: Literal["and", "or"]) -> Any:
    """Join all rows of an array by AND or by OR, shape (words,); on a device by halves, in few steps."""
    if on_host(rows):
        return (np.bitwise_and if join == "and" else np.bitwise_or).reduce(rows, axis=0)
    if not len(rows):
        return rows.new_full(rows.shape[1:], -1 if join == "and" else 0)
    while (half := len(rows) // 2) > 0:
        joined = rows[:half] & rows[half : 2 * half] if join == "and" else rows[:half] | rows[half : 2 * half]
        rows = module_of(rows).concat([joined, rows[2 * half :]])
    return rows[0]


def accumulate_rows(rows: Any, join: Literal["and", "or"]) -> Any:
    """Join each row with all rows before it by AND or by OR, shape (rows, words)."""
    if on_host(rows):
        return (np.bitwise_and if join == "and" else np.bitwise_or).accumulate(rows, axis=0)
    step = 1
    while step < len(rows):
        joined = rows[step:] & rows[:-step] if join == "and" else rows[step:] | rows[:-step]
        rows, step = module_of(rows).concat([rows[:step], joined]), 2 * step
    return rows


def count_word_bits(words: Any) -> Any:
    """The number of set bits of each word."""
    if on_host(words):
        return np.bitwise_count(words)
    words = words - (words >> 1 & 0x5555555555555555)  # in each pair of bits, then in four, and in eight
    words = (words & 0x3333333333333333) + (words >> 2 & 0x3333333333333333)
    words = words + (words >> 4) & 0x0F0F0F0F0F0F0F0F
    return words * 0x0101010101010101 >> 56


def has_kind(array: Any, kind: type[np.generic]) -> bool:
    """Whether an array's items are of a NumPy kind: `np.bool_` or `np.floating`."""
    if on_host(array):
        return np.issubdtype(array.dtype, kind)
    return bool(array.is_floating_point() if kind is np.floating else array.dtype == module_of(array).bool)


def as_signed(words: Any) -> Any:
    """View words as signed numbers, which indices must be."""
    return words.view(np.int64) if on_host(words) else words


def as_word(value: int, like: Any) -> int:
    """Convert a number to a word of the type of `like`."""
    value %= 2**64
    return value if on_host(like) or value < 2**63 else value - 2**64


def take_rows(table: Any, index: Any) -> Any:
    """Rows of a table by their numbers, which are not negative: shape (*index.shape, columns)."""
    return table.take(index, axis=0, mode="clip") if on_host(table) else table[index]


def is_worth_fusing(device: Any, words: int) -> bool:
    """Whether there are enough words on a GPU that fusing steps pays."""
    return words >= MIN_FUSED_WORDS and str(device).startswith("cuda") and find_spec("triton") is not None


def fuse_if_large(function: Callable[..., Any], device: Any, words: int) -> Callable[..., Any]:
    """Compile a function of tensors into one fused kernel if there are many words; else return it."""
    return _compile(function) if is_worth_fusing(device, words) else function


@cache
def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    compiled: Callable[..., Any] = torch.compile(function, dynamic=True)
    return compiled
