"""Labelled samples of a run, each kind from a stream of its own."""

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

HELD_OUT, POOL, COHERENCE, LAST = range(4)
"""The streams: what measures, what weighs rules on the way, what tells coherence, what decides in the end."""

COMPLETIONS = 16
"""Completions of each interpretation whose answers are held against the answer about it."""


@dataclass(frozen=True)
class Samples:
    """What a teacher says of draws that no other part of a run sees."""

    member: Membership
    distribution: Distribution
    seed: int

    def labelled(self, size: int, stream: int) -> tuple[Batch, Bools]:
        """So many draws, and whether the teacher accepts each."""
        batch = self.distribution.draw(size, self._source(stream))
        parts = [self.member(block) for block in batch.blocks(CHUNK)]
        return batch, np.concatenate(parts)

    def coherence(self, size: int, groups: Groups) -> CoherenceReport | None:
        """How far the teacher contradicts itself about unknown values; nothing if nothing is to be asked."""
        if not size:
            return None
        source = self._source(COHERENCE)
        return coherence(self.member, self.distribution, size, COMPLETIONS, rng=source, groups=groups)

    def _source(self, stream: int) -> np.random.Generator:
        # a spawn key: a plain tuple could be the seed of another source, whose draws would be the same
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream,)))
