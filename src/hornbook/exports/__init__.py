"""Explanations in the formats of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.exports.pmml import write_pmml
    from hornbook.exports.source import write_explanation, write_source

__all__ = [
    "write_explanation",
    "write_pmml",
    "write_source",
]

__getattr__ = load_lazily(
    "hornbook.exports",
    {
        "pmml": ["write_pmml"],
        "source": ["write_explanation", "write_source"],
    },
)
