"""Equivalence by sampling: fresh draws from a named distribution, in chunks, until one differs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hornbook.distributions import Distribution
from hornbook.intervals import Share, sample_size
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.theory import HornTheory
from hornbook.queries import Counterexample, Estimated, Guarantee, Membership, Pac

CHUNK = 1 << 15
"""Samples drawn, asked and judged at a time: memory is bounded by it, whatever the sample size."""


class Sampling:
    """Draws interpretations until hypothesis and teacher differ on one; a missing rule before a wrong one.

    Every sample is fresh: none was seen by the learner before. A query that finds nothing is
    PAC if its size was computed for that and is at least Angluin's, whose failures add up to δ
    over all queries of a run; otherwise it is an estimate with its interval.

    Parameters
    ----------
    member
        The teacher.
    distribution
        Where samples come from.
    size
        How many a query draws at most: `paper`, `angluin`, `vapnik` or a number.
    epsilon, delta
        What the size is computed from.
    seed
        Decides, with the numbers of the query and of the chunk, what is drawn: it can be drawn again.
    remember
        Is given the labelled chunk in which a difference was found, for the learner's pool.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> asked = Sampling(theory.satisfied_by, Random(theory.vocabulary), 1000, seed=0)
    >>> asked(HornTheory(theory.vocabulary))
    Counterexample(interpretation=Interpretation(true=frozenset({0, 1}), false=frozenset({2})), \
positive=False, found_by='sampling', at=(1, 0, 1000))
    >>> print(asked(theory).disagreement)
    0.00 % (95 % interval 0.00 % to 0.37 %)

    """

    name = "sampling"

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        size: str | int = "paper",
        *,
        epsilon: float = 0.05,
        delta: float = 0.05,
        seed: int,
        remember: Callable[[Batch, Bools], None] | None = None,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.seed = seed
        self.remember = remember
        self.queries = 0
        self._size(size)  # refuses what cannot be drawn before anything is asked

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first difference found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self._size(self.size)
        for chunk in range(-(-size // CHUNK)):
            batch = self._draw(self.queries, chunk, min(CHUNK, size - chunk * CHUNK))
            accepted = self.member(batch)
            differs = accepted != hypothesis.satisfied_by(batch)
            if differs.any():
                if self.remember is not None:
                    self.remember(batch, accepted)
                first = int(np.argmax(differs & ~accepted if (differs & ~accepted).any() else differs))
                at = (self.queries, chunk, len(batch))
                return Counterexample(batch[first], bool(accepted[first]), self.name, at)
        words = self.distribution.describe()
        if isinstance(self.size, str) and size >= self._size("angluin"):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Remember once more the chunk in which an earlier run found a difference, if it was here."""
        self.queries += 1
        if found.found_by == self.name and self.remember is not None:
            batch = self._draw(*found.at)
            self.remember(batch, self.member(batch))

    def _size(self, rule: str | int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, self.queries)

    def _draw(self, query: int, chunk: int, size: int) -> Batch:
        source = np.random.SeedSequence(self.seed, spawn_key=(query, chunk))
        return self.distribution.draw(size, np.random.default_rng(source))
