"""Equivalence by sampling: fresh draws from a named distribution, in chunks, until one differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hornbook.distributions import Distribution
from hornbook.distributions.protocol import draw_on
from hornbook.distributions.stream import BLOCK
from hornbook.intervals import Share, sample_size
from hornbook.logic import arrays
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.theory import HornTheory
from hornbook.queries import Counterexample, Estimated, Guarantee, Membership, Pac

CHUNK = BLOCK
"""Samples drawn, asked and judged at a time: memory is bounded by it, whatever the sample size."""

TOGETHER = 1 << 9
"""Chunks drawn, asked and judged together on a device, so that the whole of it is at work."""


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
    device
        A device of PyTorch's, such as `cuda`, on which samples are drawn, asked and judged: only a
        chunk with a difference leaves it. The teacher has to be there, as `network.to("cuda")` is.
        The answer is the same, but for the rounding of the teacher's numbers.
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
        device: str | None = None,
        remember: Callable[[Batch, Bools], None] | None = None,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.seed = seed
        self.device = device
        self.remember = remember
        self.queries = 0
        self._size(size)  # refuses what cannot be drawn before anything is asked

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first difference found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self._size(self.size)
        for chunk, batch, satisfied in self._judged(hypothesis, size):
            accepted = self.member(batch)
            differs = accepted != satisfied
            if differs.any():
                return self._first_difference(chunk, batch, accepted, differs)
        words = self.distribution.describe()
        if isinstance(self.size, str) and size >= self._size("angluin"):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Remember once more the chunk in which an earlier run found a difference, if it was here."""
        self.queries += 1
        if found.found_by == self.name and self.remember is not None:
            query, chunk, size = found.at
            batch = self._draw(query, range(chunk, chunk + 1), size)
            self.remember(batch.to_host(), arrays.to_host(self.member(batch)))

    def _size(self, rule: str | int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, self.queries)

    def _judged(self, hypothesis: HornTheory, size: int) -> Iterator[tuple[int, Batch, Bools]]:
        """Draws, each with the number of its first chunk and what the hypothesis says of it.

        From the second on a draw is made and judged in the background, while the teacher
        answers about the one before.
        """

        def judged(part: range) -> tuple[int, Batch, Bools]:
            batch = self._draw(self.queries, part, min(len(part) * CHUNK, size - part.start * CHUNK))
            return part.start, batch, hypothesis.satisfied_by(batch)

        first, *others = parts(-(-size // CHUNK), 1 if self.device is None else TOGETHER)
        yield judged(first)
        with ThreadPoolExecutor(1) as background:
            ahead = [background.submit(judged, part) for part in others[:1]]
            for part in others[1:]:
                ready = ahead.pop().result()
                ahead.append(background.submit(judged, part))
                yield ready
            for last in ahead:
                yield last.result()

    def _first_difference(self, chunk: int, batch: Batch, accepted: Bools, differs: Bools) -> Counterexample:
        """The counterexample of the first chunk that has one."""
        accepted, differs = arrays.to_host(accepted), arrays.to_host(differs)
        start = int(np.argmax(differs)) // CHUNK
        at = slice(start * CHUNK, (start + 1) * CHUNK)
        batch, accepted, differs = batch[at].to_host(), accepted[at], differs[at]
        if self.remember is not None:
            self.remember(batch, accepted)
        missed = differs & ~accepted
        first = int(np.argmax(missed if missed.any() else differs))
        found_at = (self.queries, chunk + start, len(batch))
        return Counterexample(batch[first], bool(accepted[first]), self.name, found_at)

    def _draw(self, query: int, chunks: range, size: int) -> Batch:
        sources = (np.random.SeedSequence(self.seed, spawn_key=(query, chunk)) for chunk in chunks)
        rngs = [np.random.default_rng(source) for source in sources]
        if self.device is None:
            return self.distribution.draw(size, rngs[0])
        return draw_on(self.device, self.distribution, rngs, size)


def parts(chunks: int, most: int) -> list[range]:
    """The chunks in parts of at most so many; the first are smaller, as most differences are found soon.

    Examples
    --------
    >>> parts(3, most=1)
    [range(0, 1), range(1, 2), range(2, 3)]
    >>> parts(20, most=8)
    [range(0, 1), range(1, 3), range(3, 7), range(7, 15), range(15, 20)]

    """
    found, start, length = [], 0, 1
    while start < chunks:
        found.append(range(start, min(start + length, chunks)))
        start, length = start + length, min(2 * length, most)
    return found
