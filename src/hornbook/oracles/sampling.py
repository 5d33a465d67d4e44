"""Equivalence by sampling: fresh draws from a named distribution, in chunks, until one differs."""

from __future__ import annotations

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
    """Draws interpretations until hypothesis and teacher differ on one.

    Every sample is fresh: none was seen by the learner before. A query that finds nothing is
    PAC for the sizes that carry that claim, and otherwise an estimate with its interval.

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
    rng
        The source of randomness.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> asked = Sampling(theory.satisfied_by, Random(theory.vocabulary), 1000, rng=np.random.default_rng(0))
    >>> asked(HornTheory(theory.vocabulary))
    Counterexample(interpretation=Interpretation(true=frozenset({0, 1}), false=frozenset({2})), \
positive=False, found_by='sampling')
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
        rng: np.random.Generator,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.rng = rng
        self.queries = 0
        sample_size(size, len(distribution.vocabulary), epsilon, delta, 1)

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first difference found, or the guarantee that its absence gives."""
        self.queries += 1
        size = sample_size(self.size, len(hypothesis.vocabulary), self.epsilon, self.delta, self.queries)
        for start in range(0, size, CHUNK):
            batch = self.distribution.draw(min(CHUNK, size - start), self.rng)
            accepted, differs = self.compare(hypothesis, batch)
            if differs.any():
                first = int(differs.argmax())
                return Counterexample(batch[first], bool(accepted[first]), self.name)
        words = self.distribution.describe()
        if isinstance(self.size, str):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def compare(self, hypothesis: HornTheory, batch: Batch) -> tuple[Bools, Bools]:
        """What the teacher accepts, and where the hypothesis says otherwise."""
        accepted = self.member(batch)
        return accepted, accepted != hypothesis.satisfied_by(batch)
