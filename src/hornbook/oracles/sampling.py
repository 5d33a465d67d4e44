"""Equivalence by sampling: fresh draws from a named distribution, in chunks, until one differs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbook.distributions import Distribution
from hornbook.distributions.protocol import draw_on
from hornbook.distributions.stream import BLOCK
from hornbook.intervals import Share, sample_size
from hornbook.logic import arrays
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.theory import HornTheory
from hornbook.oracles.filters import Budgeted
from hornbook.parallel import mapped, workers
from hornbook.queries import Counterexample, Estimated, Guarantee, Membership, Pac

CHUNK = BLOCK
"""Samples drawn, asked and judged at a time: memory is bounded by it, whatever the sample size."""

TOGETHER = 1 << 10
"""Chunks drawn, asked and judged together on a device, so that the whole of it is at work."""

Place = tuple[int, int, int]
"""The numbers of a query and of a chunk, and how many samples the chunk has."""

Difference = tuple[Batch, Bools, int]
"""A chunk, the teacher's answers, and which of them is the first that a hypothesis contradicts."""


@dataclass(frozen=True)
class Remote:
    """A teacher as other processes ask it, and the account that this process keeps of their questions."""

    member: Membership
    account: Budgeted[Any]


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
    device
        A device of PyTorch's, such as `cuda`, on which samples are drawn, asked and judged: only a
        chunk with a difference leaves it. The teacher has to be there, as `network.to("cuda")` is.
        The answer is the same, but for the rounding of the teacher's numbers.
    n_jobs
        How many processes share the chunks of a query, see `hornbook.parallel.mapped`. The
        answer does not depend on it. The first chunk is judged here: most counterexamples are
        found in it.
    remote
        For other processes, a teacher without the filters that count its questions, and where
        they are counted here. Without it they ask `member`, and filters count each for itself.

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
        device: str | None = None,
        n_jobs: int | None = None,
        remote: Remote | None = None,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.seed = seed
        self.remember = remember
        self.device = device
        self.n_jobs = n_jobs
        self.remote = remote or Remote(member, Budgeted(member, None, None))
        self.queries = 0
        self._size(size)  # refuses what cannot be drawn before anything is asked

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first difference found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self._size(self.size)
        for at, found in self._judged(hypothesis, size):
            if found is not None:
                batch, accepted, first = found
                if self.remember is not None:
                    self.remember(batch, accepted)
                return Counterexample(batch[first], bool(accepted[first]), self.name, at)
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

    def _judged(self, hypothesis: HornTheory, size: int) -> Iterator[tuple[Place, Difference | None]]:
        """Chunk after chunk: where it is, and its first difference."""
        chunks = -(-size // CHUNK)
        if self.device is not None:
            yield from self._judged_here(hypothesis, size, parts(chunks, TOGETHER))
        elif workers(self.n_jobs) == 1:
            yield from self._judged_here(hypothesis, size, parts(chunks, 1))
        else:
            yield from self._judged_here(hypothesis, size, parts(1, 1))
            yield from self._judged_elsewhere((self.distribution, hypothesis, self.seed), size)

    def _judged_here(
        self, hypothesis: HornTheory, size: int, drawn: Sequence[range]
    ) -> Iterator[tuple[Place, Difference | None]]:
        """What this process finds, in chunks that are drawn together."""

        def judged(part: range) -> tuple[Batch, Bools]:
            batch = self._draw(self.queries, part, min(len(part) * CHUNK, size - part.start * CHUNK))
            return batch, hypothesis.satisfied_by(batch)

        with closing(ahead(judged, drawn)) as found:
            for part, (batch, satisfied) in zip(drawn, found, strict=True):
                accepted = self.member(batch)
                differs = accepted != satisfied
                if not differs.any():
                    yield (self.queries, part.start, len(batch)), None
                    continue
                accepted, differs = arrays.to_host(accepted), arrays.to_host(differs)
                start = int(np.argmax(differs)) // CHUNK * CHUNK
                at = slice(start, start + CHUNK)
                chunk = batch[at].to_host()
                place = (self.queries, part.start + start // CHUNK, len(chunk))
                yield place, (chunk, accepted[at], foremost(differs[at], accepted[at]))

    def _draw(self, query: int, chunks: range, size: int) -> Batch:
        if self.device is None:
            return draw(self.distribution, self.seed, (query, chunks.start, size))
        rngs = [generator(self.seed, query, chunk) for chunk in chunks]
        return draw_on(self.device, self.distribution, rngs, size)

    def _judged_elsewhere(
        self, shared: tuple[Any, ...], size: int
    ) -> Iterator[tuple[Place, Difference | None]]:
        """What other processes find in all chunks but the first."""
        member, account = self.remote.member, self.remote.account
        left = account.left
        affordable = (at for at in self._places(size, 1) if (at[1] - 1) * CHUNK + at[2] <= left)
        found = mapped(
            difference,
            affordable,
            shared=(member, *shared),
            n_jobs=self.n_jobs,
            until=lambda one: one is not None,
        )
        with closing(found):
            for at in self._places(size, 1):
                account.charge(at[2])  # ends the run where the affordable chunks end
                yield at, next(found)

    def _places(self, size: int, first: int = 0) -> Iterator[Place]:
        for start in range(first * CHUNK, size, CHUNK):
            yield self.queries, start // CHUNK, min(CHUNK, size - start)


def difference(
    member: Membership, distribution: Distribution, hypothesis: HornTheory, seed: int, at: Place
) -> Difference | None:
    """The first difference of a chunk, a missing rule before a wrong one, whoever judges it."""
    batch = draw(distribution, seed, at)
    accepted = member(batch)
    differs = accepted != hypothesis.satisfied_by(batch)
    if not differs.any():
        return None
    return batch, accepted, foremost(differs, accepted)


def foremost(differs: Bools, accepted: Bools) -> int:
    """The first difference, a missing rule before a wrong one."""
    missing = differs & ~accepted
    return int(np.argmax(missing if missing.any() else differs))


def draw(distribution: Distribution, seed: int, at: Place) -> Batch:
    """The samples of a chunk: what they are follows from the seed and its place."""
    query, chunk, size = at
    return distribution.draw(size, generator(seed, query, chunk))


def generator(seed: int, query: int, chunk: int) -> np.random.Generator:
    """The source of a chunk's samples."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(query, chunk)))


def ahead(
    job: Callable[[range], tuple[Batch, Bools]], items: Sequence[range]
) -> Generator[tuple[Batch, Bools], None, None]:
    """The results of a job; from the second on, one is made in the background while another is used."""
    for first in items[:1]:
        yield job(first)
    with ThreadPoolExecutor(1) as background:
        coming = [background.submit(job, item) for item in items[1:2]]
        for item in items[2:]:
            ready = coming.pop().result()
            coming.append(background.submit(job, item))
            yield ready
        for last in coming:
            yield last.result()


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
