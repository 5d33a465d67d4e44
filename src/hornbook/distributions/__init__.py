"""Named distributions over partial interpretations, drawn bit-sliced."""

from hornbook.distributions.labelled import Labelled
from hornbook.distributions.literals import Groups, Literals
from hornbook.distributions.mixture import Mixture
from hornbook.distributions.protocol import Distribution
from hornbook.distributions.random import Random
from hornbook.distributions.row_sampler import RowSampler
from hornbook.distributions.rows import Rows
from hornbook.distributions.violations import ImposedViolations, NearMisses, Violations

__all__ = [
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
]
