"""One code for two kinds of array: NumPy's `uint64` words here, PyTorch's `int64` words on a device.

NumPy 2 and PyTorch agree in most of what the bit-sliced kernels need: the operators, `empty`
and `zeros` with a device, `where`, `concat`. What they do not agree in is here. A tensor has the
same bits as the array, but its numbers are signed: a shift to the right copies the sign.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError

HOST = "cpu"
"""Where NumPy's arrays are."""


FUSED = 1 << 21
"""Words from which on a GPU's steps are fused: it takes seconds, once, to prepare that."""


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
    """The bytes that are free on a GPU; for other devices, what may be used of the machine's memory."""
    import torch

    if torch.device(device).type != "cuda":
        return 1 << 31
    free: int = torch.cuda.mem_get_info(device)[0]
    return free


def core_is_free() -> bool:
    """Whether PyTorch, if it is in use, leaves a core for other work while it computes."""
    torch = sys.modules.get("torch")
    return torch is None or torch.get_num_threads() < (os.cpu_count() or 1)


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


def is_of(array: Any, kind: type[np.generic]) -> bool:
    """Whether its items are of a kind of NumPy's: `np.bool_`, or `np.floating`."""
    if on_host(array):
        return np.issubdtype(array.dtype, kind)
    return bool(array.is_floating_point() if kind is np.floating else array.dtype == module_of(array).bool)


def signed(words: Any) -> Any:
    """The words as signed numbers, as indices have to be."""
    return words.view(np.int64) if on_host(words) else words


def word(value: int, like: Any) -> int:
    """A word as a number that fits the type of `like`."""
    value %= 2**64
    return value if on_host(like) or value < 2**63 else value - 2**64


def taken(table: Any, index: Any) -> Any:
    """The rows of a table that an array of numbers says; none of them is negative."""
    return table.take(index, axis=0, mode="clip") if on_host(table) else table[index]


def fuses(device: Any, words: int) -> bool:
    """Whether so many words on a device are worth fusing steps: on a GPU alone."""
    return words >= FUSED and str(device).startswith("cuda") and find_spec("triton") is not None


def fused(function: Callable[..., Any], device: Any, words: int) -> Callable[..., Any]:
    """A function of tensors; for very many words compiled, so that it passes over them once."""
    return _compiled(function) if fuses(device, words) else function


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    compiled: Callable[..., Any] = torch.compile(function, dynamic=True)
    return compiled
