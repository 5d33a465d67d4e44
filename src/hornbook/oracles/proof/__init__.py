"""Proofs: what a feed-forward ReLU network does on every input, not on most samples."""

from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.models import relu_net

__all__ = ["Prover", "Verdict", "relu_net"]
