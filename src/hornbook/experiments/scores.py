"""What a search found: the best nets, and how many trainings failed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hornbook.experiments.lockstep import Outcome
from hornbook.experiments.plan import Bools, Net


@dataclass(frozen=True)
class Score:
    """One net: its validation accuracy in each fold, and how many of its trainings failed."""

    net: Net
    accuracies: tuple[float, ...]
    diverged: int
    collapsed: int

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """The standard deviation of the accuracy."""
        return float(np.std(self.accuracies))


@dataclass(frozen=True)
class Failures:
    """The trainings at one learning rate, and how many of them failed."""

    rate: float
    trainings: int
    diverged: int
    collapsed: int


@dataclass(frozen=True, eq=False)
class Scores:
    """The outcome of every training of a search.

    A training *diverged* if its loss ended as no number, or higher than it began; it
    *collapsed* if the net now gives the same output to every example.
    """

    nets: tuple[Net, ...]
    outcome: Outcome

    @cached_property
    def diverged(self) -> Bools:
        """For each net and fold, whether the training diverged."""
        return ~(self.outcome.loss_after <= self.outcome.loss_before)

    @property
    def collapsed(self) -> Bools:
        """For each net and fold, whether the training collapsed."""
        return self.outcome.constant

    def best(self, count: int) -> list[Score]:
        """The nets of highest mean accuracy; of equals, those of smaller spread, then of fewer units."""
        accuracy = self.outcome.accuracy.astype(np.float64)
        units = [sum(net.widths) for net in self.nets]
        order = np.lexsort((units, accuracy.std(1).round(6), -accuracy.mean(1).round(6)))
        return [self[at] for at in order[:count].tolist()]

    def failures(self) -> list[Failures]:
        """For each learning rate, how many trainings diverged and how many collapsed."""
        rates = np.array([net.rate for net in self.nets])
        return [
            Failures(
                rate,
                self.diverged[rates == rate].size,
                int(self.diverged[rates == rate].sum()),
                int(self.collapsed[rates == rate].sum()),
            )
            for rate in np.unique(rates).tolist()
        ]

    def __getitem__(self, position: int) -> Score:
        return Score(
            self.nets[position],
            tuple(self.outcome.accuracy[position].tolist()),
            int(self.diverged[position].sum()),
            int(self.collapsed[position].sum()),
        )

    def __len__(self) -> int:
        return len(self.nets)
