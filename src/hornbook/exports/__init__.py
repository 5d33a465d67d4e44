"""Explanations in the formats of other programs."""

from hornbook.exports.source import write_explanation

__all__ = ["write_explanation"]
