"""Proofs about a ReLU network or an ensemble of trees that hold for every input, not only for samples."""

from __future__ import annotations

from hornbook.proof.domain import Domain, Interval
from hornbook.proof.prover import PROOF_SECONDS, ColumnProver, Interpretations, RuleProver, make
from hornbook.proof.region import Values
from hornbook.proof.search import TOTAL_TIME_SPENT, Engine, Verdict, prove_in_time

__all__ = [
    "PROOF_SECONDS",
    "TOTAL_TIME_SPENT",
    "ColumnProver",
    "Domain",
    "Engine",
    "Interpretations",
    "Interval",
    "RuleProver",
    "Values",
    "Verdict",
    "make",
    "prove_in_time",
]
