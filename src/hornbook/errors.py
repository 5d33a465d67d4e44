"""The exceptions for what a user can mend: bad input, a model that fails, and too little memory."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MAX_MESSAGE_LENGTH = 1000
"""Characters of a message; of a longer one, which names have made long, the middle is left out."""


class HornbookError(ValueError):
    """Bad input: the message says in one line what was wrong, where, and what to do."""

    def __init__(self, message: str) -> None:
        line, half = " ".join(message.splitlines()), MAX_MESSAGE_LENGTH // 2
        super().__init__(
            line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[: half - 2]} … {line[1 - half :]}"
        )


class BudgetExhausted(HornbookError):
    """A limit was reached; the message says which."""


class ModelError(HornbookError):
    """A model gave no answer, or none that makes sense: the message says what happened."""


class ModelTimeout(ModelError):
    """A model did not answer in time."""


class UnknownLevelError(HornbookError):
    """A value that its column of categories never has."""


def library(module: str, extra: str) -> Any:
    """Import a module, or say which extra brings it.

    Examples
    --------
    >>> library("no_such_module", "torch")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: this needs no_such_module: pip install "hornbook[torch]"

    """
    try:
        return import_module(module)
    except ImportError as error:
        raise HornbookError(f'this needs {error.name or module}: pip install "hornbook[{extra}]"') from error


def keras() -> Any:
    """Keras, on PyTorch unless the user chose a backend or has TensorFlow, its own choice."""
    if find_spec("tensorflow") is None:
        os.environ.setdefault("KERAS_BACKEND", "torch")
    return library("keras", "keras")


def refuse_beyond_memory(count: int, bytes_each: int, what: str) -> None:
    """Refuse `count` things of `bytes_each` bytes if there is no memory for them.

    Examples
    --------
    >>> refuse_beyond_memory(1000, 800, "samples")
    >>> refuse_beyond_memory(10**14, 800, "samples")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hornbook.errors.HornbookError: 100,000,000,000,000 samples take about 74,505,806 GiB of memory, and ...

    """
    free = available_memory()
    if free is not None and count * bytes_each > free:
        raise HornbookError(
            f"{count:,} {what} take about {count * bytes_each / (1 << 30):,.0f} GiB of memory, and "
            f"{free / (1 << 30):,.1f} GiB are free; ask for at most {free // bytes_each:,}"
        )


def available_memory() -> int | None:
    """The bytes that this process can still take; None where the system does not say."""
    overview = Path("/proc/meminfo")
    if overview.exists():
        for line in overview.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
