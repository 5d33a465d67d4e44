"""Equivalence by local search: change interpretations step by step until one is a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import (
    Distribution,
    Groups,
    ImposedViolations,
    Literals,
    check_groups,
    smallest_violations,
)
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, Vocabulary, Words
from hornbook.models import Floats
from hornbook.queries import Counterexample, Guarantee, Membership, Unknown
from hornbook.randomness import Purpose, generator

Indices = NDArray[np.intp]


class Moves:
    """The changes of one value to true, false or unknown.

    A variable changes together with its dual. A variable of a group that becomes true makes
    the others of the group false. Of m drawn variables, move p makes the p-th true, move
    m + p makes it false, and move 2m + p makes it unknown.

    Interpretations are rows of words here: bit p says that the p-th drawn variable is true, bit
    m + p that it is false.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> moves = Moves(vocabulary)
    >>> rows = moves.rows(Batch.from_array([[1, 0, 0, 1]], vocabulary))
    >>> moves.batch(moves.apply_each(rows, np.array([[1, 4]]))[0]).to_array()
    array([[ 1.,  1.,  0.,  0.],
           [nan,  0., nan,  1.]])

    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups = ()) -> None:
        groups = check_groups(groups, vocabulary)
        self.vocabulary = vocabulary
        self.literals = literals = Literals.of(vocabulary, groups)
        self.variables = m = literals.count
        mates = {p: literals.true(group) - {p} for group in groups for p in literals.true(group)}
        put = [{p} | literals.opposite(mates.get(p, ())) for p in range(m)]
        put += [{m + p} for p in range(m)]
        put += [set() for _ in range(m)]
        touched = [{p, m + p} for p in range(m)] * 3
        self.put = literals.table(put)
        self.keep = ~literals.table([t | p | literals.opposite(p) for t, p in zip(touched, put, strict=True)])

    def __len__(self) -> int:
        return 3 * self.variables

    def rows(self, batch: Batch) -> Words:
        """The interpretations as rows of words, shape (items, words)."""
        return self.literals.table_of(batch)

    def batch(self, rows: Words) -> Batch:
        """Rows of words as a batch."""
        return Batch(self.vocabulary, *self.literals.mirror(*self.literals.slice_table(rows)), len(rows))

    def apply_each(self, rows: Words, moves: Indices) -> Words:
        """Each row after each of its moves alone, shape (rows, moves, words)."""
        return (rows[:, None] & self.keep[moves]) | self.put[moves]

    def apply_prefixes(self, rows: Words, moves: Indices, allowed: Bools, counts: Sequence[int]) -> Words:
        """Each row after its first `count` moves, for every count: shape (rows, counts, words).

        Moves that are not allowed are passed over, but counted.
        """
        stages = []
        for number, (move, may) in enumerate(zip(moves.T, allowed.T, strict=True), 1):
            rows = np.where(may[:, None], (rows & self.keep[move]) | self.put[move], rows)
            if number in counts:
                stages.append(rows)
        return np.stack(stages, axis=1)

    def find_idle(self, rows: Words) -> Bools:
        """Which moves leave each row unchanged, shape (rows, moves)."""
        octets = np.ascontiguousarray(rows).view(np.uint8)
        known = np.unpackbits(octets, axis=1, count=2 * self.variables, bitorder="little").view(np.bool_)
        true, false = known[:, : self.variables], known[:, self.variables :]
        return np.hstack([true, false, ~(true | false)])


MOVE_COUNTS = (1, 2, 4, 8, 16, 32)
"""Numbers of the best moves that a step tries together."""


@dataclass(frozen=True)
class Walkers:
    """Interpretations on their way to a counterexample, one walker each.

    `rows` are the interpretations, as `Moves` has them. `accepts` is what the hypothesis says
    about them, which no step changes. `heights` is how near the teacher is to saying the
    opposite. `goals` are interpretations of which it does say the opposite, one each.
    """

    rows: Words
    accepts: Bools
    heights: Floats
    goals: Words

    @classmethod
    def concatenate(cls, parts: Sequence[Walkers]) -> Walkers:
        """The parts one after another."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @property
    def has_arrived(self) -> Bools:
        """Where teacher and hypothesis differ: the teacher accepts at margin 0 and rejects below."""
        return np.where(self.accepts, self.heights > 0, self.heights >= 0)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, items: Indices | Bools) -> Walkers:
        return Walkers(*(getattr(self, field.name)[items] for field in fields(self)))


class Climb:
    """One hill climb against one hypothesis, with the counterexamples it has found.

    Parameters
    ----------
    hypothesis
        What counterexamples are sought against.
    margin
        The teacher: negative where it rejects.
    moves
        The changes that a step can make.
    worth
        What each move is worth to each walker: a step makes the best ones.
    background
        Every interpretation asked about satisfies it.

    Attributes
    ----------
    found
        Interpretations on which teacher and hypothesis differ.
    asked
        How many questions the teacher was asked.

    """

    def __init__(
        self,
        hypothesis: HornTheory,
        margin: Callable[[Batch], Floats],
        moves: Moves,
        worth: Callable[[Climb, Walkers], Floats],
        background: HornTheory | None = None,
    ) -> None:
        self.hypothesis = hypothesis
        self.margin = margin
        self.moves = moves
        self.worth = worth
        self.background = background
        self.found: list[Walkers] = []
        self.asked = 0

    def step(self, walkers: Walkers) -> Walkers:
        """Apply the best moves; walkers that reach a counterexample or cannot improve are dropped.

        At equal heights the larger change is taken: a teacher that only decides has no others.
        """
        best = self._best_moves(walkers)
        size, depth = best.shape
        single = self.moves.apply_each(walkers.rows, best).reshape(size * depth, -1)
        kept = self.keeps_verdict(single, np.repeat(walkers.accepts, depth)).reshape(size, depth)
        stages = self.moves.apply_prefixes(walkers.rows, best, kept, MOVE_COUNTS)
        count = stages.shape[1]
        heights = np.full((size, count), -np.inf, np.float32)
        at, stage = np.nonzero((stages != walkers.rows[:, None]).any(axis=2))
        at, stage, asked = self._ask(walkers, at, stage, stages[at, stage])
        heights[at, stage] = asked
        highest = count - 1 - heights[:, ::-1].argmax(axis=1)
        everyone = np.arange(size)
        rows, heights = stages[everyone, highest], heights[everyone, highest]
        stepped = Walkers(rows, walkers.accepts, heights, walkers.goals)
        return stepped[(heights >= walkers.heights) & ~stepped.has_arrived]

    def measure_moves(self, walkers: Walkers, chosen: Bools) -> Floats:
        """The gain in height of each chosen move, by asking the teacher; -inf for the other moves."""
        worth = np.full(chosen.shape, -np.inf, np.float32)
        at, move = np.nonzero(chosen & ~self.moves.find_idle(walkers.rows))
        changed = (walkers.rows[at] & self.moves.keep[move]) | self.moves.put[move]
        at, move, heights = self._ask(walkers, at, move, changed)
        worth[at, move] = heights - walkers.heights[at]
        return worth

    def keeps_verdict(self, rows: Words, accepts: Bools) -> Bools:
        """Where the hypothesis still answers `accepts` and the background is satisfied."""
        batch = self.moves.batch(rows)
        kept: Bools = self.hypothesis.satisfied_by(batch) == accepts
        return kept if self.background is None else kept & self.background.satisfied_by(batch)

    def place(self, rows: Words, accepts: Bools, goals: Words) -> Walkers:
        """Create walkers at these rows and ask for their heights; those at a counterexample go to `found`."""
        margins = self.margin(self.moves.batch(rows)) if len(rows) else np.empty(0, np.float32)
        self.asked += len(rows)
        placed = Walkers(rows, accepts, np.where(accepts, -margins, margins), goals)
        if placed.has_arrived.any():
            self.found.append(placed[placed.has_arrived])
        return placed

    def _ask(
        self, walkers: Walkers, at: Indices, what: Indices, rows: Words
    ) -> tuple[Indices, Indices, Floats]:
        """The heights of moved walkers, for those on which the hypothesis keeps its verdict."""
        kept = self.keeps_verdict(rows, walkers.accepts[at])
        at, what = at[kept], what[kept]
        placed = self.place(rows[kept], walkers.accepts[at], walkers.goals[at])
        return at, what, placed.heights

    def _best_moves(self, walkers: Walkers) -> Indices:
        """Each walker's best moves, one per variable, the best first: shape (walkers, depth)."""
        count = self.moves.variables
        worth = self.worth(self, walkers)
        worth[self.moves.find_idle(walkers.rows)] = -np.inf
        by_value = worth.reshape(len(walkers), 3, count)
        variables = np.argsort(-by_value.max(axis=1), axis=1)[:, : MOVE_COUNTS[-1]]
        values = np.take_along_axis(by_value.argmax(axis=1), variables, axis=1)
        return values * count + variables


Sign = Literal["negative", "positive"]

MEASURED_MOVES = 48
"""Expected number of random moves of a walker whose margins a step asks for."""

START_FACTOR = 4
"""Number of samples from which each starting point is chosen."""

START_VIOLATIONS = ((1.0, 0.0), (0.9, 0.0), (0.7, 0.5))
"""How starting points violate a rule: the shares of literals imposed and of other values made unknown."""

MAX_STORED = 1 << 10
"""Maximum number of counterexamples remembered as starting points."""


class LocalSearch:
    """An equivalence oracle that changes interpretations step by step towards a counterexample.

    Points that the hypothesis accepts are driven to where the teacher rejects, points that it
    rejects to where the teacher accepts; the hypothesis never changes its mind on the way. They
    start as fresh samples of which the teacher is least sure, as violations and near misses
    of the hypothesis's rules, and as earlier counterexamples. A step tries one, two, four and
    so on of the most promising changes of a value to true, false or unknown. Which these are is
    told by the margins of a random choice of changes. Where a teacher only decides, points walk
    in random order towards one that it answers as wanted.

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

    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.distributions import Random
    >>> vocabulary = Vocabulary([f"v{i}" for i in range(40)])
    >>> def margin(batch):
    ...     return (39.5 - (batch.to_array() == 1).sum(axis=1)).astype(np.float32)
    >>> def member(batch):
    ...     return margin(batch) >= 0
    >>> search = LocalSearch(member, margin, Random(vocabulary), seed=0)
    >>> found = search(HornTheory(vocabulary))
    >>> len(found.interpretation.true), found.positive, found.found_by
    (40, False, 'local search')

    """

    name = "local search"

    def __init__(
        self,
        member: Membership,
        margin: Callable[[Batch], Floats] | None,
        distribution: Distribution,
        *,
        seed: int,
        groups: Groups = (),
        background: HornTheory | None = None,
        size: int = 1 << 18,
        walkers: int = 256,
        steps: int = 16,
    ) -> None:
        for name, number in (("size", size), ("walkers", walkers), ("steps", steps)):
            if number < 1:
                raise HornbookError(f"{name} is at least 1; got {number}")
        self.member = member
        self.margin = margin
        self.distribution = distribution
        self.seed = seed
        self.queries = 0
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
        return Unknown(f"local search looked at {self.size} interpretations and found no counterexample")

    def search(
        self, hypothesis: HornTheory, signs: Sequence[Sign] = ("negative", "positive")
    ) -> Iterator[tuple[Batch, Bools]]:
        """Batches of counterexamples as they are found, the clearest first, and which are positive."""
        self.queries += 1
        self.rng = generator(self.seed, Purpose.GUIDED_SEARCH, self.queries)
        climb = Climb(hypothesis, self._margin, self.moves, self._worth, self.background)
        sources = self._start_distributions(hypothesis)
        drawn = 0
        while drawn + climb.asked < self.size:
            walkers = self._choose_starts(climb, sources, signs)
            drawn += START_FACTOR * self.walkers
            yield from self._confirm_found(climb)
            for _ in range(self.steps):
                if not len(walkers):
                    break
                walkers = climb.step(walkers)
                yield from self._confirm_found(climb)

    def remember(self, batch: Batch) -> None:
        """Take counterexamples as starting points of later searches, which will not report them again."""
        self._stored |= dict.fromkeys(row.tobytes() for row in self.moves.rows(batch))
        while len(self._stored) > MAX_STORED:
            del self._stored[next(iter(self._stored))]

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Replay a recorded query: remember its counterexample if this oracle found it."""
        self.queries += 1
        if found.found_by == self.name:
            self.remember(Batch.from_interpretations([found.interpretation], self.moves.vocabulary))

    def _start_distributions(self, hypothesis: HornTheory) -> list[Distribution]:
        if not smallest_violations(hypothesis, self.groups):
            return [self.distribution]
        imposed = (
            ImposedViolations(hypothesis, self.distribution, self.groups, *shares)
            for shares in START_VIOLATIONS
        )
        return [self.distribution, *imposed]

    def _choose_starts(self, climb: Climb, sources: Sequence[Distribution], signs: Sequence[Sign]) -> Walkers:
        """For each sign, the samples nearest to a counterexample and as many random ones."""
        share = -(-START_FACTOR * self.walkers // len(sources))
        stored = np.frombuffer(b"".join(self._stored), np.uint64).reshape(-1, self.moves.put.shape[1])
        rows = np.concatenate(
            [*(self.moves.rows(source.draw(share, self.rng)) for source in sources), stored]
        )
        accepts = climb.hypothesis.satisfied_by(self.moves.batch(rows))
        wanted = np.where(accepts, "negative" in signs, "positive" in signs) & climb.keeps_verdict(
            rows, accepts
        )
        placed = climb.place(rows[wanted], accepts[wanted], rows[wanted])
        rejected = placed.accepts == placed.has_arrived
        chosen = []
        for side in (True, False):
            there = self.rng.permutation(np.flatnonzero((placed.accepts == side) & ~placed.has_arrived))
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
        """The estimated gain of each move for each walker, shape (walkers, moves)."""
        order = self.rng.random((len(walkers), len(self.moves)), np.float32)
        if self.margin is not None:
            return climb.measure_moves(walkers, order < MEASURED_MOVES / len(self.moves))
        return order + self.moves.find_idle(walkers.goals)

    def _confirm_found(self, climb: Climb) -> Iterator[tuple[Batch, Bools]]:
        """Yield the counterexamples found since the last call that the teacher confirms."""
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
