"""Proofs about a ReLU network or an ensemble of trees that hold for every input, not only for samples."""

from __future__ import annotations

from hornbook.proof.domain import Domain, Interval
from hornbook.proof.prover import PROOF_SECONDS, ColumnProver, Interpretations, RuleProver, make
from hornbook.proof.search import Verdict, prove_in_time

__all__ = [
    "PROOF_SECONDS",
    "ColumnProver",
    "Domain",
    "Interpretations",
    "Interval",
    "RuleProver",
    "Verdict",
    "make",
    "prove_in_time",
]
