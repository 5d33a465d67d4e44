"""What an explanation can say: rules with a default, or a card; and what a reader gets for reading it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.cards import Card, observed
from hornbook.evaluate import Fidelity, predicted_labels
from hornbook.intervals import Share
from hornbook.logic import syntax
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.rule import Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary

Form: TypeAlias = Literal["rules", "card"]
"""What a reader reads."""


@dataclass(frozen=True)
class Point:
    """What there is to read in one explanation, and how faithful it is.

    Attributes
    ----------
    form
        `rules`, or a `card`.
    rules, literals
        How many rules there are (of a card, lines), and how many literals in their bodies.
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
    """Rules with a default for what they leave open, or a card, over features, a label and its dual."""

    vocabulary: Vocabulary
    label: str
    rules: tuple[Rule, ...] = ()
    card: Card | None = None
    default: bool | None = None

    @property
    def form(self) -> Form:
        """What there is to read."""
        return "rules" if self.card is None else "card"

    @property
    def lines(self) -> int:
        """How many rules there are, or lines of a card."""
        return len(self.rules) if self.card is None else len(self.card.items)

    @property
    def literals(self) -> int:
        """How many literals there are to read, heads aside."""
        return sum(len(rule.body) for rule in self.rules) if self.card is None else self.card.literals

    def derive(self, batch: Batch) -> NDArray[np.float64]:
        """What follows for each row of features: 1, 0, or NaN where neither label or both do."""
        if self.card is not None:
            return self.card.decide(batch).astype(np.float64)
        theory = HornTheory(self.vocabulary, self.rules)
        return predicted_labels(theory, self.label, observed(batch, self.vocabulary))

    def predict(self, batch: Batch) -> NDArray[np.float64]:
        """The label of each row, by default where none follows."""
        return self._filled(self.derive(batch))

    def measured(self, batch: Batch, labels: Bools) -> tuple[Fidelity, Fidelity]:
        """How faithful it is with its default, and without."""
        derived = self.derive(batch)
        return Fidelity.of(self._filled(derived), labels), Fidelity.of(derived, labels)

    def point(self, batch: Batch, labels: Bools) -> Point:
        """What there is to read, and how faithful it is to labelled rows."""
        answered, derived = self.measured(batch, labels)
        return Point(
            self.form, self.lines, self.literals, answered.plain, answered.balanced, derived.undetermined
        )

    def _filled(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        return labels if self.default is None else np.where(np.isnan(labels), float(self.default), labels)

    def __str__(self) -> str:
        if self.card is not None:
            return str(self.card)
        lines = [syntax.rule_text(self.vocabulary, rule, syntax.UNICODE) for rule in self.rules]
        names = {None: "undetermined", True: self.label, False: f"not_{self.label}"}
        return "\n".join([*lines, f"otherwise {names[self.default]}"])
