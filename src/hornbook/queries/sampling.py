"""Equivalence queries by sampling: fresh samples are drawn in chunks until one is a counterexample."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from typing import TypeVar

import numpy as np

from hornbook.logic import Batch, Bools, HornTheory
from hornbook.queries.distributions import Distribution
from hornbook.queries.protocol import Counterexample, Estimated, Guarantee, Membership, Pac
from hornbook.queries.words import BLOCK_ITEMS
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, sample_size

SAMPLING_CHUNK = BLOCK_ITEMS
"""Number of samples drawn and judged at a time, which bounds the memory for any sample size."""

Item = TypeVar("Item")
Result = TypeVar("Result")

ChunkId = tuple[int, int, int]
"""The number of a query, the number of a chunk in it, and the size of the chunk."""


class Sampling:
    """Draws samples until hypothesis and teacher differ on one; negative counterexamples come first.

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
        Maximum number of samples of a query: `paper`, `angluin`, `vapnik` or a number.
    epsilon, delta
        Tolerances from which the size is computed.
    seed
        Seed of the samples. With the number of the query and of the chunk it determines every chunk.
    remember
        Called with the labelled chunk that contains the counterexample; it feeds the learner's pool.

    Examples
    --------
    >>> from hornbook.queries.random_interpretations import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> asked = Sampling(theory.satisfied_by, Random(theory.vocabulary), 1000, seed=0)
    >>> found = asked(HornTheory(theory.vocabulary))
    >>> found.interpretation, found.positive, found.found_by
    (Interpretation(true=frozenset({0, 1}), false=frozenset({2})), False, 'sampling')
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
        """The first counterexample found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self._size(self.size)

        def judge_chunk(at: ChunkId) -> tuple[ChunkId, Batch, Bools]:
            batch = draw_chunk(self.distribution, self.seed, at)
            return at, batch, hypothesis.satisfied_by(batch)

        with closing(prefetch(judge_chunk, self._chunk_ids(size), core_is_free)) as chunks:
            for at, batch, satisfied in chunks:
                accepted = self.member(batch)
                if not (differs := accepted != satisfied).any():
                    continue
                if self.remember is not None:
                    self.remember(batch, accepted)
                first = first_counterexample_index(differs, accepted)
                return Counterexample(batch[first], bool(accepted[first]), self.name, at)
        words = self.distribution.describe()
        if isinstance(self.size, str) and size >= self._size("angluin"):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Replay a recorded query: draw the chunk with its counterexample again, and remember it."""
        self.queries += 1
        if found.found_by == self.name and self.remember is not None:
            query, chunk, size = found.at
            batch = draw_chunk(self.distribution, self.seed, (query, chunk, size))
            self.remember(batch, self.member(batch))

    def _size(self, rule: str | int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, self.queries)

    def _chunk_ids(self, size: int) -> Iterator[ChunkId]:
        for start in range(0, size, SAMPLING_CHUNK):
            yield self.queries, start // SAMPLING_CHUNK, min(SAMPLING_CHUNK, size - start)


def first_counterexample_index(differs: Bools, accepted: Bools) -> int:
    """The index of the first negative counterexample, or of the first positive one if there is none."""
    missing = differs & ~accepted
    return int(np.argmax(missing if missing.any() else differs))


def draw_chunk(distribution: Distribution, seed: int, at: ChunkId) -> Batch:
    """Draw the samples of a chunk, which depend on the seed and the chunk's id only."""
    query, chunk, size = at
    return distribution.draw(size, generator(seed, Purpose.EQUIVALENCE, query, chunk))


def core_is_free() -> bool:
    """Whether PyTorch, if it is in use, leaves a core for other work while it computes."""
    torch = sys.modules.get("torch")
    return torch is None or torch.get_num_threads() < (os.cpu_count() or 1)


def prefetch(
    job: Callable[[Item], Result], items: Iterable[Item], pays: Callable[[], bool] = lambda: True
) -> Generator[Result]:
    """Yield the results of a job; if `pays`, compute each but the first in the background, one ahead."""
    items = iter(items)
    for first in islice(items, 1):
        yield job(first)
    if not pays():
        yield from map(job, items)
    with ThreadPoolExecutor(1) as background:
        coming = [background.submit(job, item) for item in islice(items, 1)]
        for item in items:
            ready = coming.pop().result()
            coming.append(background.submit(job, item))
            yield ready
        for last in coming:
            yield last.result()
