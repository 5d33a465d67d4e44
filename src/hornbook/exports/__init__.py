"""Explanations in the formats of other programs."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.exports.dialects import write_source
    from hornbook.exports.pmml import write_pmml
    from hornbook.exports.spreadsheet import write_workbook

__all__ = [
    "write_pmml",
    "write_source",
    "write_workbook",
]

__getattr__ = load_lazily(
    "hornbook.exports",
    {
        "dialects": ["write_source"],
        "pmml": ["write_pmml"],
        "spreadsheet": ["write_workbook"],
    },
)
