"""Labelled samples of a run, each kind for a purpose of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.oracles.coherence import CoherenceReport, coherence
from hornbook.oracles.sampling import CHUNK
from hornbook.queries import Membership
from hornbook.randomness import Purpose, generator

COMPLETIONS = 16
"""Completions of each interpretation whose answers are held against the answer about it."""


@dataclass(frozen=True)
class Samples:
    """What a teacher says of draws that no other part of a run sees."""

    member: Membership
    distribution: Distribution
    seed: int

    def labelled(self, size: int, purpose: Purpose) -> tuple[Batch, Bools]:
        """So many draws, and whether the teacher accepts each."""
        batch = self.distribution.draw(size, generator(self.seed, purpose))
        parts = [self.member(block) for block in batch.blocks(CHUNK)]
        return batch, np.concatenate(parts)

    def coherence(self, size: int, groups: Groups) -> CoherenceReport | None:
        """How far the teacher contradicts itself about unknown values; nothing if nothing is to be asked."""
        if not size:
            return None
        rng = generator(self.seed, Purpose.COHERENCE)
        return coherence(self.member, self.distribution, size, COMPLETIONS, rng=rng, groups=groups)
