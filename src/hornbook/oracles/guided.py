"""Equivalence by guided search: small changes that bring the teacher to contradict the hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from hornbook.distributions import Distribution, Imposed
from hornbook.distributions.imposed import violations
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.logic.theory import HornTheory
from hornbook.oracles.adapters.scores import Floats
from hornbook.oracles.climb import Climb, Walkers
from hornbook.oracles.moves import Moves
from hornbook.queries import Counterexample, Guarantee, Membership, Unknown
from hornbook.randomness import Purpose, generator

Side = Literal["negative", "positive"]

MEASURED = 48
"""Moves of each walker whose margins are asked for in a step, about: a random choice of them."""

POOL = 4
"""Starting points are chosen from so many times as many."""

IMPOSED = ((1.0, 0.0), (0.9, 0.0), (0.7, 0.5))
"""How starting points violate a rule: the share of its violation they have, and of the rest they forget."""

STORED = 1 << 10
"""Counterexamples remembered as starting points."""


class Guided:
    """Changes interpretations step by step until hypothesis and teacher differ on one.

    Points that the hypothesis accepts are driven to where the teacher rejects, points that it
    rejects to where the teacher accepts; the hypothesis never changes its mind on the way. They
    start as fresh samples of which the teacher is least sure, as violations and near misses
    of the hypothesis's rules, and as earlier counterexamples. A step tries one, two, four and
    so on of the most promising changes of a value to true, false or unknown. Which these are is
    told by the margins of a random choice of changes, or to first order by a gradient. Where a
    teacher only decides, points walk in random order towards one that it answers as wanted.

    Finding nothing gives no guarantee: the search is no sample of anything.

    Parameters
    ----------
    member
        The teacher. Every counterexample is confirmed by asking it once more.
    margin
        Its margins, negative where it rejects; None if it only decides.
    distribution
        Where fresh starting points come from.
    seed
        Makes the search repeatable: with the number of the query it decides all that is random.
    gradient
        For each interpretation and variable, how the margin grows with the truth of the variable:
        saves asking about every change.
    groups
        Sets of variables of which at most one is true, which the search respects.
    background
        Rules that no counterexample may violate, beyond those of pairs and groups.
    size
        How many interpretations a query looks at, about.
    walkers, steps
        How many points climb at a time, and how far at most.

    Examples
    --------
    The teacher rejects one interpretation in 2⁴⁰. Samples miss it; its margin leads there.

    >>> from hornbook import Vocabulary
    >>> from hornbook.distributions import Random
    >>> vocabulary = Vocabulary([f"v{i}" for i in range(40)])
    >>> def margin(batch):
    ...     return (39.5 - (batch.to_array() == 1).sum(axis=1)).astype(np.float32)
    >>> def member(batch):
    ...     return margin(batch) >= 0
    >>> guided = Guided(member, margin, Random(vocabulary), seed=0)
    >>> found = guided(HornTheory(vocabulary))
    >>> len(found.interpretation.true), found.positive, found.found_by
    (40, False, 'guided')

    """

    name = "guided"

    def __init__(
        self,
        member: Membership,
        margin: Callable[[Batch], Floats] | None,
        distribution: Distribution,
        *,
        seed: int,
        gradient: Callable[[Batch], Floats] | None = None,
        groups: Groups = (),
        background: HornTheory | None = None,
        size: int = 1 << 18,
        walkers: int = 256,
        steps: int = 16,
    ) -> None:
        if gradient is not None and margin is None:
            raise HornbookError("a gradient says where to look and a margin how far: give both, or neither")
        for name, number in (("size", size), ("walkers", walkers), ("steps", steps)):
            if number < 1:
                raise HornbookError(f"{name} is at least 1; got {number}")
        self.member = member
        self.margin = margin
        self.distribution = distribution
        self.seed = seed
        self.queries = 0
        self.gradient = gradient
        self.groups = groups
        self.background = background
        self.size = size
        self.walkers = walkers
        self.steps = steps
        self.moves = Moves(distribution.vocabulary, groups)
        self._stored: dict[bytes, None] = {}

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The clearest counterexample of the first batch with one."""
        for batch, positive in self.search(hypothesis):
            self.remember(batch[:1])
            return Counterexample(batch[0], bool(positive[0]), self.name, (self.queries,))
        return Unknown(f"guided search looked at {self.size} interpretations and found no counterexample")

    def search(
        self, hypothesis: HornTheory, sides: Sequence[Side] = ("negative", "positive")
    ) -> Iterator[tuple[Batch, Bools]]:
        """Batches of counterexamples as they are found, the clearest first, and which are positive."""
        self.queries += 1
        self.rng = generator(self.seed, Purpose.GUIDED_SEARCH, self.queries)
        climb = Climb(hypothesis, self._margin, self.moves, self._worth, self.background)
        sources = self._sources(hypothesis)
        drawn = 0
        while drawn + climb.asked < self.size:
            walkers = self._starting(climb, sources, sides)
            drawn += POOL * self.walkers
            yield from self._confirmed(climb)
            for _ in range(self.steps):
                if not len(walkers):
                    break
                walkers = climb.step(walkers)
                yield from self._confirmed(climb)

    def remember(self, batch: Batch) -> None:
        """Take counterexamples as starting points of later searches, which will not report them again."""
        self._stored |= dict.fromkeys(row.tobytes() for row in self.moves.rows(batch))
        while len(self._stored) > STORED:
            del self._stored[next(iter(self._stored))]

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Take note of a search in an earlier run, and of what it found, if it did."""
        self.queries += 1
        if found.found_by == self.name:
            self.remember(Batch.from_interpretations([found.interpretation], self.moves.vocabulary))

    def _sources(self, hypothesis: HornTheory) -> list[Distribution]:
        if not violations(hypothesis, self.groups):
            return [self.distribution]
        imposed = (Imposed(hypothesis, self.distribution, self.groups, *shares) for shares in IMPOSED)
        return [self.distribution, *imposed]

    def _starting(self, climb: Climb, sources: Sequence[Distribution], sides: Sequence[Side]) -> Walkers:
        """Of each side some of the nearest points to a counterexample, and as many others."""
        share = -(-POOL * self.walkers // len(sources))
        stored = np.frombuffer(b"".join(self._stored), np.uint64).reshape(-1, self.moves.put.shape[1])
        rows = np.concatenate(
            [*(self.moves.rows(source.draw(share, self.rng)) for source in sources), stored]
        )
        accepts = climb.hypothesis.satisfied_by(self.moves.batch(rows))
        wanted = np.where(accepts, "negative" in sides, "positive" in sides) & climb.keeps(rows, accepts)
        placed = climb.placed(rows[wanted], accepts[wanted], rows[wanted])
        rejected = placed.accepts == placed.arrived
        chosen = []
        for side in (True, False):
            there = self.rng.permutation(np.flatnonzero((placed.accepts == side) & ~placed.arrived))
            near = there[np.argsort(-placed.heights[there], kind="stable")]
            picked = np.unique(np.concatenate([part[: self.walkers // 4 + 1] for part in (near, there)]))
            answered = np.flatnonzero(rejected == side)
            goals = self.rng.choice(answered if len(answered) else picked, len(picked))
            chosen.append(replace(placed[picked], goals=placed.rows[goals]))
        return Walkers.concatenate(chosen)

    def _margin(self, batch: Batch) -> Floats:
        if self.margin is not None:
            return self.margin(batch)
        return np.where(self.member(batch), np.float32(1), np.float32(-1))

    def _worth(self, climb: Climb, walkers: Walkers) -> Floats:
        """What each move is worth to each walker."""
        if self.gradient is not None:
            worth = self.moves.first_order(walkers.rows, self.gradient(self.moves.batch(walkers.rows)))
            return np.where(walkers.accepts[:, None], -worth, worth)
        order = self.rng.random((len(walkers), len(self.moves)), np.float32)
        if self.margin is not None:
            return climb.measured(walkers, order < MEASURED / len(self.moves))
        return order + self.moves.idle(walkers.goals)

    def _confirmed(self, climb: Climb) -> Iterator[tuple[Batch, Bools]]:
        """What was found since last asked, if the teacher and the hypothesis still say so."""
        if not climb.found:
            return
        found = Walkers.concatenate(climb.found)
        climb.found.clear()
        rows = found.rows[np.argsort(-found.heights, kind="stable")]
        rows = rows[[row.tobytes() not in self._stored for row in rows]]
        batch = self.moves.batch(rows)
        accepted = self.member(batch)
        differs = accepted != climb.hypothesis.satisfied_by(batch)
        if differs.any():
            yield self.moves.batch(rows[differs]), accepted[differs]
