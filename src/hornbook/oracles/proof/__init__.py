"""Proofs: what a ReLU network or an ensemble of trees does on every input, not on most samples."""

from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.certificate import Certificates, proofs
from hornbook.oracles.proof.equivalence import ProvedEquivalence
from hornbook.oracles.proof.exact import ExactCompletions
from hornbook.oracles.proof.models import relu_net
from hornbook.oracles.proof.primes import Prime, repaired, shrunk
from hornbook.oracles.proof.verification import verified

__all__ = [
    "Certificates",
    "ExactCompletions",
    "Prime",
    "ProvedEquivalence",
    "Prover",
    "Verdict",
    "proofs",
    "relu_net",
    "repaired",
    "shrunk",
    "verified",
]
