"""Proofs: what a ReLU network or an ensemble of trees does on every input, not on most samples."""

from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.certificate import Certificate, Certificates, prove_rules
from hornbook.oracles.proof.equivalence import ProvedEquivalence
from hornbook.oracles.proof.exact import ExactCompletions
from hornbook.oracles.proof.models import relu_net
from hornbook.oracles.proof.primes import Prime, repaired, shrunk
from hornbook.oracles.proof.verification import Finding, verify_certificates

__all__ = [
    "Certificate",
    "Certificates",
    "ExactCompletions",
    "Finding",
    "Prime",
    "ProvedEquivalence",
    "Prover",
    "Verdict",
    "prove_rules",
    "relu_net",
    "repaired",
    "shrunk",
    "verify_certificates",
]
