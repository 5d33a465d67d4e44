"""Named distributions over partial interpretations, drawn bit-sliced, and samples of raw rows."""

from typing import TYPE_CHECKING

from hornbook.distributions.mixture import Labelled, Mixture
from hornbook.distributions.protocol import Distribution, Groups, Literals, check_groups, check_share
from hornbook.distributions.random import DEFAULT_MISSING, Random
from hornbook.distributions.rows import Rows
from hornbook.distributions.violations import ImposedViolations, NearMisses, Violations, smallest_violations
from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.distributions.row_sampler import RowSampler

__all__ = [
    "DEFAULT_MISSING",
    "Distribution",
    "Groups",
    "ImposedViolations",
    "Labelled",
    "Literals",
    "Mixture",
    "NearMisses",
    "Random",
    "RowSampler",
    "Rows",
    "Violations",
    "check_groups",
    "check_share",
    "smallest_violations",
]

__getattr__ = load_lazily("hornbook.distributions", {"row_sampler": ["RowSampler"]})
"""Samples of rows need pandas."""
