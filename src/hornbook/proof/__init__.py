"""Proofs about a ReLU network or an ensemble of trees that hold for every input, not only for samples."""

from __future__ import annotations

from hornbook.proof.certificate import Certificate, Certificates, Finding, prove_rules, verify_certificates
from hornbook.proof.column_prover import ColumnProver, prove_explanation
from hornbook.proof.domain import Domain, Interval
from hornbook.proof.network import relu_net
from hornbook.proof.primes import Prime, repair_rule, shrink_rule
from hornbook.proof.prover import Prover, Verdict

__all__ = [
    "Certificate",
    "Certificates",
    "ColumnProver",
    "Domain",
    "Finding",
    "Interval",
    "Prime",
    "Prover",
    "Verdict",
    "prove_explanation",
    "prove_rules",
    "relu_net",
    "repair_rule",
    "shrink_rule",
    "verify_certificates",
]
