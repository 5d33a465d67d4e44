"""Equivalence queries by sampling: fresh samples are drawn in chunks until one is a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from hornbook.distributions import Distribution, draw_on
from hornbook.distributions.words import BLOCK_ITEMS, keys_from_seeds
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, arrays
from hornbook.oracles.filters import Budgeted
from hornbook.parallel import count_workers, parallel_map
from hornbook.queries import Counterexample, Estimated, Guarantee, Membership, Pac
from hornbook.randomness import Purpose, generator, seed_sequence
from hornbook.statistics import Share, sample_size

SAMPLING_CHUNK = BLOCK_ITEMS
"""Number of samples drawn and judged at a time, which bounds the memory for any sample size."""

MAX_DEVICE_CHUNKS = 1 << 10
"""Maximum number of chunks in one batch on a device: enough to keep all of it busy."""

DEVICE_COPIES = 16
"""Device memory for one batch, in multiples of its size: drawing, judging, and drawing the next one.

On an H200 we measured 5 for random interpretations and 7 for a mixture of four kinds.
"""

Item = TypeVar("Item")
Result = TypeVar("Result")

ChunkId = tuple[int, int, int]
"""The number of a query, the number of a chunk in it, and the size of the chunk."""

ChunkDifference = tuple[Batch, Bools, int]
"""A chunk, the teacher's answers, and the index of the first answer that the hypothesis contradicts."""


@dataclass(frozen=True)
class UncountedTeacher:
    """A teacher without filters, for a device or worker processes, and the budget to charge."""

    member: Membership
    budget: Budgeted[Any]


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
    device
        A device of PyTorch's, such as `cuda`, on which samples are drawn, asked and judged, very many
        at once. A chunk in which the device sees a difference is drawn and judged again on the CPU, and
        counts if it differs there too. So the answer is the same, unless rounding hides a difference
        from the device. The teacher has to answer on the device: torch models do, see `Predictor`.
    n_jobs
        Number of processes that share the chunks of a query, see `hornbook.parallel.parallel_map`.
        The answer does not depend on it. The first chunk is judged in this process, as most
        counterexamples are found in it.
    remote
        The teacher without counting filters, for a device or worker processes, and the budget that
        is charged in this process, chunk by chunk. By default they ask `member`: then filters on a
        device count all questions of a batch at once, and each worker process counts for itself.

    Examples
    --------
    >>> from hornbook.distributions import Random
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
        device: str | None = None,
        n_jobs: int | None = None,
        remote: UncountedTeacher | None = None,
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
        self.remote = remote or UncountedTeacher(member, Budgeted(member, None, None))
        self.queries = 0
        if device is not None:
            arrays.check_device(device)
        self._size(size)  # refuses what cannot be drawn before anything is asked

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self._size(self.size)
        for at, found in self._judge_chunks(hypothesis, size):
            if found is not None:
                batch, accepted, first = found
                if self.remember is not None:
                    self.remember(batch, accepted)
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

    def _judge_chunks(
        self, hypothesis: HornTheory, size: int
    ) -> Iterator[tuple[ChunkId, ChunkDifference | None]]:
        """Yield each chunk's id and first difference, in order."""
        places = self._chunk_ids(size)
        if self.device is not None:
            yield from self._judge_on_device(hypothesis, size)
        elif count_workers(self.n_jobs) == 1:
            yield from self._judge_on_cpu(hypothesis, places)
        else:
            yield from self._judge_on_cpu(hypothesis, islice(places, 1))
            yield from self._judge_in_workers(hypothesis, size)

    def _judge_on_cpu(
        self, hypothesis: HornTheory, places: Iterable[ChunkId]
    ) -> Iterator[tuple[ChunkId, ChunkDifference | None]]:
        """Judge chunks in this process."""

        def judge_chunk(at: ChunkId) -> tuple[ChunkId, Batch, Bools]:
            batch = draw_chunk(self.distribution, self.seed, at)
            return at, batch, hypothesis.satisfied_by(batch)

        with closing(prefetch(judge_chunk, places, arrays.core_is_free)) as found:
            for at, batch, satisfied in found:
                yield at, first_difference(batch, self.member(batch), satisfied)

    def _judge_on_device(
        self, hypothesis: HornTheory, size: int
    ) -> Iterator[tuple[ChunkId, ChunkDifference | None]]:
        """Judge many chunks at once on a device; chunks with a difference are judged again on the CPU."""
        assert self.device is not None
        device, query = self.device, self.queries
        member, budget = self.remote.member, self.remote.budget
        affordable = -(-size // SAMPLING_CHUNK) if size <= budget.left else int(budget.left) // SAMPLING_CHUNK

        def judge_chunks(part: range) -> tuple[range, Batch, Bools]:
            keys = keys_from_seeds(
                seed_sequence(self.seed, Purpose.EQUIVALENCE, query, chunk) for chunk in part
            )
            items = min(part.stop * SAMPLING_CHUNK, size) - part.start * SAMPLING_CHUNK
            batch = draw_on(device, self.distribution, keys, items)
            return part, batch, hypothesis.satisfied_by(batch)

        places = self._chunk_ids(size)
        with closing(
            prefetch(judge_chunks, growing_ranges(affordable, self._chunks_per_device_batch(device)))
        ) as found:
            for part, batch, satisfied in found:
                seen = differing_chunks(member(batch), satisfied)
                for at in islice(places, len(part)):
                    budget.charge(at[2])
                    shared = (member, self.distribution, hypothesis, self.seed)
                    yield at, find_difference(*shared, at) if at[1] - part.start in seen else None
        for at in places:
            budget.charge(at[2])  # ends the run where the affordable chunks end

    def _chunks_per_device_batch(self, device: str) -> int:
        """The number of chunks that fit into the device's memory, with intermediate results."""
        chunk = 2 * len(self.distribution.vocabulary) * SAMPLING_CHUNK // 8
        return max(1, min(MAX_DEVICE_CHUNKS, arrays.free_memory(device) // (DEVICE_COPIES * chunk)))

    def _judge_in_workers(
        self, hypothesis: HornTheory, size: int
    ) -> Iterator[tuple[ChunkId, ChunkDifference | None]]:
        """Judge all chunks but the first in worker processes."""
        member, budget = self.remote.member, self.remote.budget
        rest = size - SAMPLING_CHUNK  # the first chunk is paid for
        affordable = -(-rest // SAMPLING_CHUNK) if rest <= budget.left else int(budget.left) // SAMPLING_CHUNK
        judge = partial(find_difference, member, self.distribution, hypothesis, self.seed)
        judge_numbered = partial(
            _judge_numbered, judge, partial(chunk_id, self.queries, size, SAMPLING_CHUNK)
        )
        with closing(parallel_map(judge_numbered, range(1, 1 + affordable), self.n_jobs)) as found:
            for at in self._chunk_ids(size, 1):
                budget.charge(at[2])  # ends the run where the affordable chunks end
                yield at, next(found)

    def _chunk_ids(self, size: int, first: int = 0) -> Iterator[ChunkId]:
        for number in range(first, -(-size // SAMPLING_CHUNK)):
            yield chunk_id(self.queries, size, SAMPLING_CHUNK, number)


def chunk_id(query: int, size: int, length: int, number: int) -> ChunkId:
    """The id of a chunk of a query, whose samples are cut into chunks of this length."""
    return query, number, min(length, size - number * length)


def _judge_numbered(
    judge: Callable[[ChunkId], ChunkDifference | None], identify: Callable[[int], ChunkId], number: int
) -> ChunkDifference | None:
    """Judge the chunk of this number."""
    return judge(identify(number))


def find_difference(
    member: Membership, distribution: Distribution, hypothesis: HornTheory, seed: int, at: ChunkId
) -> ChunkDifference | None:
    """Draw a chunk and judge it: its first difference, or None."""
    batch = draw_chunk(distribution, seed, at)
    return first_difference(batch, member(batch), hypothesis.satisfied_by(batch))


def first_difference(batch: Batch, accepted: Bools, satisfied: Bools) -> ChunkDifference | None:
    """The first difference between teacher and hypothesis on a chunk, or None."""
    differs = accepted != satisfied
    return (batch, accepted, first_counterexample_index(differs, accepted)) if differs.any() else None


def differing_chunks(accepted: Any, satisfied: Any) -> set[int]:
    """The numbers of the chunks on a device in which answers differ; only these numbers leave the device."""
    if arrays.on_host(accepted):
        raise HornbookError(
            "the teacher was asked on a device and answered on the CPU; there, teachers are theories, "
            "networks, and the judges and classifiers of torch models"
        )
    (items,) = (accepted != satisfied).nonzero(as_tuple=True)
    return set((items // SAMPLING_CHUNK).unique().tolist())


def first_counterexample_index(differs: Bools, accepted: Bools) -> int:
    """The index of the first negative counterexample, or of the first positive one if there is none."""
    missing = differs & ~accepted
    return int(np.argmax(missing if missing.any() else differs))


def draw_chunk(distribution: Distribution, seed: int, at: ChunkId) -> Batch:
    """Draw the samples of a chunk, which depend on the seed and the chunk's id only."""
    query, chunk, size = at
    return distribution.draw(size, generator(seed, Purpose.EQUIVALENCE, query, chunk))


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


def growing_ranges(chunks: int, most: int) -> list[range]:
    """Split chunks into ranges that double in length up to `most`, as most differences are found early.

    Examples
    --------
    >>> growing_ranges(3, most=1)
    [range(0, 1), range(1, 2), range(2, 3)]
    >>> growing_ranges(20, most=8)
    [range(0, 1), range(1, 3), range(3, 7), range(7, 15), range(15, 20)]

    """
    found, start, length = [], 0, 1
    while start < chunks:
        found.append(range(start, min(start + length, chunks)))
        start, length = start + length, min(2 * length, most)
    return found
