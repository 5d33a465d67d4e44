"""The exceptions for what a user can mend: bad input, and a model that fails."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
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


class ModelError(HornbookError):
    """A model gave no answer, or none that makes sense: the message says what happened."""


class ModelTimeout(ModelError):
    """A model did not answer in time."""


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
