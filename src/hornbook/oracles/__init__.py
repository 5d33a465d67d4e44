"""Membership and equivalence oracles, and filters that wrap them."""

from hornbook.oracles.chain import Chain, PoolOracle, ResumableOracle, RuleOracle
from hornbook.oracles.coherence import CoherenceReport, measure_coherence
from hornbook.oracles.completions import Completions, LabelOracle
from hornbook.oracles.filters import Budgeted, Cached, Checked, Counted
from hornbook.oracles.membership import Classifier, GroupPropagation, Judge
from hornbook.oracles.perfect import PerfectTeacher
from hornbook.oracles.sampling import SAMPLING_CHUNK, Sampling

__all__ = [
    "SAMPLING_CHUNK",
    "Budgeted",
    "Cached",
    "Chain",
    "Checked",
    "Classifier",
    "CoherenceReport",
    "Completions",
    "Counted",
    "GroupPropagation",
    "Judge",
    "LabelOracle",
    "PerfectTeacher",
    "PoolOracle",
    "ResumableOracle",
    "RuleOracle",
    "Sampling",
    "measure_coherence",
]
