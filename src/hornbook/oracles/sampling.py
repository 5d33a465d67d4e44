"""Equivalence by sampling: fresh draws from a named distribution, in chunks, until one differs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from hornbook.distributions import Distribution
from hornbook.distributions.protocol import draw_on
from hornbook.distributions.words import BLOCK, keys_of
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, arrays
from hornbook.oracles.filters import Budgeted
from hornbook.parallel import count_workers, parallel_map
from hornbook.queries import Counterexample, Estimated, Guarantee, Membership, Pac
from hornbook.randomness import Purpose, generator, seed_sequence
from hornbook.statistics import Share, sample_size

CHUNK = BLOCK
"""Samples drawn, asked and judged at a time: memory is bounded by it, whatever the sample size."""

TOGETHER = 1 << 10
"""Chunks drawn, asked and judged together on a device at most: enough to keep the whole of it at work."""

COPIES = 16
"""So many times the memory of a batch may be needed to draw it, judge it and draw the next one meanwhile.
On an H200 five times was seen for random interpretations, and seven for a mixture of four kinds."""

Item = TypeVar("Item")
Result = TypeVar("Result")

Place = tuple[int, int, int]
"""The numbers of a query and of a chunk, and how many samples the chunk has."""

Difference = tuple[Batch, Bools, int]
"""A chunk, the teacher's answers, and which of them is the first that a hypothesis contradicts."""


@dataclass(frozen=True)
class Remote:
    """A teacher as a device or other processes ask it, and the account that is kept here of its questions."""

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
        A device of PyTorch's, such as `cuda`, on which samples are drawn, asked and judged, very many
        at once. A chunk in which the device sees a difference is drawn and judged here once more, and
        counts if it differs here too. So the answer is the same, unless rounding hides a difference
        from the device. The teacher has to answer on the device: torch models do, see `Predictor`.
    n_jobs
        How many processes share the chunks of a query, see `hornbook.parallel.parallel_map`.
        The answer does not depend on it. The first chunk is judged here: most counterexamples
        are found in it.
    remote
        For a device and other processes, a teacher without the filters that count its questions, and
        where they are counted here, chunk after chunk. Without it they ask `member`: on a device
        filters then count all that is asked at once, and other processes count each for itself.

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
        if device is not None:
            arrays.check_device(device)
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
            batch = draw(self.distribution, self.seed, (query, chunk, size))
            self.remember(batch, self.member(batch))

    def _size(self, rule: str | int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, self.queries)

    def _judged(self, hypothesis: HornTheory, size: int) -> Iterator[tuple[Place, Difference | None]]:
        """Chunk after chunk: where it is, and its first difference."""
        places = self._places(size)
        if self.device is not None:
            yield from self._judged_there(hypothesis, size)
        elif count_workers(self.n_jobs) == 1:
            yield from self._judged_here(hypothesis, places)
        else:
            yield from self._judged_here(hypothesis, islice(places, 1))
            yield from self._judged_elsewhere(hypothesis, size)

    def _judged_here(
        self, hypothesis: HornTheory, places: Iterable[Place]
    ) -> Iterator[tuple[Place, Difference | None]]:
        """What this process finds."""

        def judged(at: Place) -> tuple[Place, Batch, Bools]:
            batch = draw(self.distribution, self.seed, at)
            return at, batch, hypothesis.satisfied_by(batch)

        with closing(ahead(judged, places, arrays.core_is_free)) as found:
            for at, batch, satisfied in found:
                yield at, first_difference(batch, self.member(batch), satisfied)

    def _judged_there(self, hypothesis: HornTheory, size: int) -> Iterator[tuple[Place, Difference | None]]:
        """What a device finds in many chunks at once, looked at here where there is something to see."""
        assert self.device is not None
        device, query = self.device, self.queries
        member, account = self.remote.member, self.remote.account
        affordable = -(-size // CHUNK) if size <= account.left else int(account.left) // CHUNK

        def judged(part: range) -> tuple[range, Batch, Bools]:
            keys = keys_of(seed_sequence(self.seed, Purpose.EQUIVALENCE, query, chunk) for chunk in part)
            items = min(part.stop * CHUNK, size) - part.start * CHUNK
            batch = draw_on(device, self.distribution, keys, items)
            return part, batch, hypothesis.satisfied_by(batch)

        places = self._places(size)
        with closing(ahead(judged, parts(affordable, self._together(device)))) as found:
            for part, batch, satisfied in found:
                seen = differing_chunks(member(batch), satisfied)
                for at in islice(places, len(part)):
                    account.charge(at[2])
                    shared = (member, self.distribution, hypothesis, self.seed)
                    yield at, difference(*shared, at) if at[1] - part.start in seen else None
        for at in places:
            account.charge(at[2])  # ends the run where the affordable chunks end

    def _together(self, device: str) -> int:
        """How many chunks the device's memory has room for, with all that is made of them on the way."""
        chunk = 2 * len(self.distribution.vocabulary) * CHUNK // 8
        return max(1, min(TOGETHER, arrays.free_memory(device) // (COPIES * chunk)))

    def _judged_elsewhere(
        self, hypothesis: HornTheory, size: int
    ) -> Iterator[tuple[Place, Difference | None]]:
        """What other processes find in all chunks but the first."""
        member, account = self.remote.member, self.remote.account
        rest = size - CHUNK  # the first chunk is paid for
        affordable = -(-rest // CHUNK) if rest <= account.left else int(account.left) // CHUNK
        judge = partial(difference, member, self.distribution, hypothesis, self.seed)
        judge_numbered = partial(_judge_numbered, judge, partial(place_of, self.queries, size, CHUNK))
        with closing(parallel_map(judge_numbered, range(1, 1 + affordable), self.n_jobs)) as found:
            for at in self._places(size, 1):
                account.charge(at[2])  # ends the run where the affordable chunks end
                yield at, next(found)

    def _places(self, size: int, first: int = 0) -> Iterator[Place]:
        for number in range(first, -(-size // CHUNK)):
            yield place_of(self.queries, size, CHUNK, number)


def place_of(query: int, size: int, length: int, number: int) -> Place:
    """The place of a chunk of a query, whose samples are cut into chunks of this length."""
    return query, number, min(length, size - number * length)


def _judge_numbered(
    judge: Callable[[Place], Difference | None], place: Callable[[int], Place], number: int
) -> Difference | None:
    """Judge the chunk of this number."""
    return judge(place(number))


def difference(
    member: Membership, distribution: Distribution, hypothesis: HornTheory, seed: int, at: Place
) -> Difference | None:
    """The first difference of a chunk, a missing rule before a wrong one, whoever judges it."""
    batch = draw(distribution, seed, at)
    return first_difference(batch, member(batch), hypothesis.satisfied_by(batch))


def first_difference(batch: Batch, accepted: Bools, satisfied: Bools) -> Difference | None:
    """The first difference of a chunk, if there is one."""
    differs = accepted != satisfied
    return (batch, accepted, foremost(differs, accepted)) if differs.any() else None


def differing_chunks(accepted: Any, satisfied: Any) -> set[int]:
    """The numbers of those among many chunks on a device in which answers differ; they alone leave it."""
    if arrays.on_host(accepted):
        raise HornbookError(
            "the teacher was asked on a device and answered on the CPU; there, teachers are theories, "
            "networks, and the judges and classifiers of torch models"
        )
    (items,) = (accepted != satisfied).nonzero(as_tuple=True)
    return set((items // CHUNK).unique().tolist())


def foremost(differs: Bools, accepted: Bools) -> int:
    """The first difference, a missing rule before a wrong one."""
    missing = differs & ~accepted
    return int(np.argmax(missing if missing.any() else differs))


def draw(distribution: Distribution, seed: int, at: Place) -> Batch:
    """The samples of a chunk: what they are follows from the seed and its place."""
    query, chunk, size = at
    return distribution.draw(size, generator(seed, Purpose.EQUIVALENCE, query, chunk))


def ahead(
    job: Callable[[Item], Result], items: Iterable[Item], pays: Callable[[], bool] = lambda: True
) -> Generator[Result]:
    """The results of a job; where it pays, all but the first are made in the background, one ahead."""
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
