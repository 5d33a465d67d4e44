"""What was read out of a classifier, and how far it is to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornbook.cards.facts import observed
from hornbook.classify.candidate import Candidate, Form, Point
from hornbook.classify.search import chosen
from hornbook.deciders import Decider, compiled
from hornbook.evaluate import Agreement, RuleStatistics
from hornbook.logic import Batch, HornTheory, Rule
from hornbook.queries import Guarantee


@dataclass(frozen=True)
class Explanation:
    """Rules about a label and its negation, a card or a tree, with what is known of their faithfulness.

    Attributes
    ----------
    said
        The rules and their default, or the card or tree.
    background
        What holds of features, label and its dual whatever the model says.
    weighed
        What else could be said, each with what there is to read and how faithful it is to the
        samples that candidates are compared on, the shortest first.
    frontier
        Fidelity against literals to read: of each form what is more faithful than all that is
        shorter, by those samples, and how faithful it is to the fresh ones.
    fidelity
        How often `predict` gives the model's label on fresh samples, by which nothing was chosen.
    derived
        The same for what the theory itself derives: what it leaves open is no agreement.
    statistics
        What each rule is worth on those samples: how often its body is true, and how often the
        model then gives the label that is its head.
    guarantee
        Under what the explanation is held to be faithful.
    stop_reason
        What ended the search.
    queries
        How many labels the model was asked for.
    distribution
        Where samples came from, in words.
    unknowns
        What the model's label of a row with unknown values is, in words.

    """

    said: Candidate
    background: HornTheory
    weighed: tuple[tuple[Candidate, Point], ...]
    frontier: tuple[Point, ...]
    fidelity: Agreement
    derived: Agreement
    statistics: tuple[RuleStatistics, ...]
    guarantee: Guarantee
    stop_reason: str
    queries: int
    distribution: str
    unknowns: str

    @property
    def label(self) -> str:
        """The name of the label."""
        return self.said.label

    @property
    def form(self) -> Form:
        """What there is to read: `rules`, a `card` or a `tree`."""
        return self.said.form

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, over the vocabulary of the background; none for a card or tree."""
        return self.said.rules

    @property
    def decider(self) -> Decider | None:
        """The card or the tree; None for rules."""
        return self.said.decider

    @property
    def default(self) -> bool | None:
        """The label of what rules do not decide, as none fires or two disagree; None for undetermined."""
        return self.said.default

    @property
    def literals(self) -> int:
        """How many literals a reader has to read, heads aside."""
        return self.said.literals

    def within(self, literals: int) -> Candidate:
        """The best that can be said with so many literals to read: the knee of the frontier, once seen."""
        return chosen(self.weighed, literals) if self.weighed else self.said

    @cached_property
    def theory(self) -> HornTheory:
        """Background and rules, or background and the concepts by which a card counts or a tree asks."""
        if self.decider is None:
            return self.background | HornTheory(self.background.vocabulary, self.rules)
        deciding = compiled(self.decider)
        return self.background.over(deciding.vocabulary) | deciding

    def observed(self, batch: Batch) -> Batch:
        """Rows of features over the vocabulary of the theory: what it asks about and is missing is a fact."""
        return observed(batch, self.theory.vocabulary)

    def derive(self, batch: Batch) -> NDArray[np.float64]:
        """What the theory derives for each row of features: 1, 0, or NaN where it decides nothing."""
        return self.said.derive(batch)

    def predict(self, batch: Batch) -> NDArray[np.float64]:
        """The label of each row of features: 1, 0, or NaN for undetermined where there is no default."""
        return self.said.predict(batch)

    def __str__(self) -> str:
        return str(self.said)
