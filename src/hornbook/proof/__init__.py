"""Proofs about a ReLU network or an ensemble of trees that hold for every input, not only for samples."""

from __future__ import annotations

from hornbook.proof.certificate import (
    PROOFS_FILE,
    Certificate,
    Certificates,
    Finding,
    ProofLimits,
    Repair,
    certificates_text,
    digest,
    find_difference,
    prove_rules,
    read_certificates,
    read_proofs,
    verify_certificates,
)
from hornbook.proof.columns import ColumnProver, make, prove_explanation
from hornbook.proof.domain import Domain, Interval
from hornbook.proof.network import relu_net
from hornbook.proof.primes import Prime, repair_rule, shrink_rule
from hornbook.proof.prover import PROOF_SECONDS, Prover, Verdict
from hornbook.proof.region import Values

__all__ = [
    "PROOFS_FILE",
    "PROOF_SECONDS",
    "Certificate",
    "Certificates",
    "ColumnProver",
    "Domain",
    "Finding",
    "Interval",
    "Prime",
    "ProofLimits",
    "Prover",
    "Repair",
    "Values",
    "Verdict",
    "certificates_text",
    "digest",
    "find_difference",
    "make",
    "prove_explanation",
    "prove_rules",
    "read_certificates",
    "read_proofs",
    "relu_net",
    "repair_rule",
    "shrink_rule",
    "verify_certificates",
]
