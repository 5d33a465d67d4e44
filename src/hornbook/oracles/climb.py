"""Local search: interpretations change step by step until teacher and hypothesis differ on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.theory import HornTheory
from hornbook.oracles.adapters.scores import Floats
from hornbook.oracles.moves import Indices, Moves

COUNTS = (1, 2, 4, 8, 16, 32)
"""So many of the most promising changes are made together, and each outcome is asked about."""


@dataclass(frozen=True)
class Walkers:
    """Interpretations on their way to a counterexample.

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
    def arrived(self) -> Bools:
        """Where teacher and hypothesis differ: a teacher accepts at margin 0, and rejects below."""
        return np.where(self.accepts, self.heights > 0, self.heights >= 0)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, items: Indices | Bools) -> Walkers:
        return Walkers(*(getattr(self, field.name)[items] for field in fields(self)))


class Climb:
    """One search against one hypothesis: what it may ask, and what it has found.

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
        """Make the best of the most promising changes; those who arrive or cannot climb leave.

        At equal heights the larger change is taken: a teacher that only decides has no others.
        """
        best = self._best_moves(walkers)
        size, depth = best.shape
        single = self.moves.changed(walkers.rows, best).reshape(size * depth, -1)
        kept = self.keeps(single, np.repeat(walkers.accepts, depth)).reshape(size, depth)
        stages = self.moves.stages(walkers.rows, best, kept, COUNTS)
        count = stages.shape[1]
        heights = np.full((size, count), -np.inf, np.float32)
        at, stage = np.nonzero((stages != walkers.rows[:, None]).any(axis=2))
        at, stage, asked = self._ask(walkers, at, stage, stages[at, stage])
        heights[at, stage] = asked
        highest = count - 1 - heights[:, ::-1].argmax(axis=1)
        everyone = np.arange(size)
        rows, heights = stages[everyone, highest], heights[everyone, highest]
        stepped = Walkers(rows, walkers.accepts, heights, walkers.goals)
        return stepped[(heights >= walkers.heights) & ~stepped.arrived]

    def measured(self, walkers: Walkers, chosen: Bools) -> Floats:
        """What each of the chosen moves is worth, by asking; the others are worth nothing."""
        worth = np.full(chosen.shape, -np.inf, np.float32)
        at, move = np.nonzero(chosen & ~self.moves.idle(walkers.rows))
        changed = (walkers.rows[at] & self.moves.keep[move]) | self.moves.put[move]
        at, move, heights = self._ask(walkers, at, move, changed)
        worth[at, move] = heights - walkers.heights[at]
        return worth

    def keeps(self, rows: Words, accepts: Bools) -> Bools:
        """Where the hypothesis still says the same, and the background is satisfied."""
        batch = self.moves.batch(rows)
        kept: Bools = self.hypothesis.satisfied_by(batch) == accepts
        return kept if self.background is None else kept & self.background.satisfied_by(batch)

    def placed(self, rows: Words, accepts: Bools, goals: Words) -> Walkers:
        """Walkers at these rows, with their heights; those that have arrived are noted as found."""
        margins = self.margin(self.moves.batch(rows)) if len(rows) else np.empty(0, np.float32)
        self.asked += len(rows)
        placed = Walkers(rows, accepts, np.where(accepts, -margins, margins), goals)
        if placed.arrived.any():
            self.found.append(placed[placed.arrived])
        return placed

    def _ask(
        self, walkers: Walkers, at: Indices, what: Indices, rows: Words
    ) -> tuple[Indices, Indices, Floats]:
        """The heights of changed walkers, of those which the hypothesis still judges alike."""
        kept = self.keeps(rows, walkers.accepts[at])
        at, what = at[kept], what[kept]
        placed = self.placed(rows[kept], walkers.accepts[at], walkers.goals[at])
        return at, what, placed.heights

    def _best_moves(self, walkers: Walkers) -> Indices:
        """For each walker the best move of each of the most promising variables, the best first."""
        count = self.moves.variables
        worth = self.worth(self, walkers)
        worth[self.moves.idle(walkers.rows)] = -np.inf
        by_value = worth.reshape(len(walkers), 3, count)
        variables = np.argsort(-by_value.max(axis=1), axis=1)[:, : COUNTS[-1]]
        values = np.take_along_axis(by_value.argmax(axis=1), variables, axis=1)
        return values * count + variables
