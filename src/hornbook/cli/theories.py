"""Theories from files."""

from __future__ import annotations

from pathlib import Path

from hornbook.logic.errors import HornbookError
from hornbook.logic.theory import HornTheory


def read_theory(path: Path, like: HornTheory | None = None) -> HornTheory:
    """Read a `.horn` or `.json` file, over the vocabulary of another theory if one is given."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise HornbookError(
            f"{path} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}"
        ) from None
    try:
        if path.suffix == ".json":
            theory = HornTheory.from_json(text)
            theory = theory.over(like.vocabulary) if like else theory
        else:
            theory = HornTheory.parse(text, like.vocabulary if like else None)
    except HornbookError as error:
        raise HornbookError(f"{path}, {error}") from None
    if not theory.rules:
        raise HornbookError(f"{path} holds no rules; write one a line, such as: horse & wings -> pegasus")
    return theory
