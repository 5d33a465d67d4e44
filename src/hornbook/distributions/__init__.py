"""Named distributions over partial interpretations, drawn bit-sliced."""

from hornbook.distributions.demands import NearMisses, Violations
from hornbook.distributions.imposed import Imposed
from hornbook.distributions.labelled import Labelled
from hornbook.distributions.mixture import Mixture
from hornbook.distributions.protocol import Distribution
from hornbook.distributions.random import Random
from hornbook.distributions.rows import Rows

__all__ = ["Distribution", "Imposed", "Labelled", "Mixture", "NearMisses", "Random", "Rows", "Violations"]
