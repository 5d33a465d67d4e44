"""What an explanation can say: rules with a default, a card or a tree; and what a reader gets for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.cards.card import Card
from hornbook.cards.facts import observed
from hornbook.deciders import Decider
from hornbook.evaluate import Agreement, derive_labels
from hornbook.logic import Batch, Bools, HornTheory, Rule, Vocabulary, syntax
from hornbook.statistics import Share

Form: TypeAlias = Literal["rules", "card", "tree"]
"""What a reader reads."""


@dataclass(frozen=True)
class Point:
    """What there is to read in one explanation, and how faithful it is.

    Attributes
    ----------
    form
        `rules`, a `card` or a `tree`.
    rules, literals
        How many rules there are (lines of a card, answers of a tree), and how many literals to read.
    fidelity
        The share of samples that get the model's label, the default included.
    balanced
        The mean of that share over the model's two labels.
    undetermined
        The share that rules do not decide, and a default does, if there is one.

    """

    form: Form
    rules: int
    literals: int
    fidelity: Share
    balanced: float
    undetermined: Share


@dataclass(frozen=True)
class Candidate:
    """Rules with a default for what they leave open, or what always decides, over features and a label."""

    vocabulary: Vocabulary
    label: str
    rules: tuple[Rule, ...] = ()
    decider: Decider | None = None
    default: bool | None = None

    @property
    def form(self) -> Form:
        """What there is to read."""
        if self.decider is None:
            return "rules"
        return "card" if isinstance(self.decider, Card) else "tree"

    @property
    def lines(self) -> int:
        """How many rules there are, or lines of a card, or answers of a tree."""
        return len(self.rules) if self.decider is None else self.decider.lines

    @property
    def literals(self) -> int:
        """How many literals there are to read, heads aside."""
        return sum(len(rule.body) for rule in self.rules) if self.decider is None else self.decider.literals

    def derive(self, batch: Batch) -> NDArray[np.float64]:
        """What follows for each row of features: 1, 0, or NaN where neither label or both do."""
        if self.decider is not None:
            return self.decider.decide(batch).astype(np.float64)
        theory = HornTheory(self.vocabulary, self.rules)
        return derive_labels(theory, self.label, observed(batch, self.vocabulary))

    def predict(self, batch: Batch) -> NDArray[np.float64]:
        """The label of each row, by default where none follows."""
        return self._filled(self.derive(batch))

    def measured(self, batch: Batch, labels: Bools) -> tuple[Agreement, Agreement]:
        """How faithful it is with its default, and without."""
        derived = self.derive(batch)
        return Agreement.of(self._filled(derived), labels), Agreement.of(derived, labels)

    def point(self, batch: Batch, labels: Bools) -> Point:
        """What there is to read, and how faithful it is to labelled rows."""
        answered, derived = self.measured(batch, labels)
        return Point(
            self.form, self.lines, self.literals, answered.plain, answered.balanced, derived.undetermined
        )

    def _filled(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        return labels if self.default is None else np.where(np.isnan(labels), float(self.default), labels)

    def __str__(self) -> str:
        if self.decider is not None:
            return str(self.decider)
        lines = [syntax.rule_text(self.vocabulary, rule, syntax.UNICODE) for rule in self.rules]
        names = {None: "undetermined", True: self.label, False: f"not_{self.label}"}
        return "\n".join([*lines, f"otherwise {names[self.default]}"])
