"""The paper's task on a table: tell whether a row and its class go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbook.data.binarise import Binariser, binarise
from hornbook.data.splits import split
from hornbook.data.table import Table
from hornbook.data.target import Recipe, default_recipe, target_theory, training_set
from hornbook.distributions import Mixture
from hornbook.experiments.network import MLP
from hornbook.experiments.plan import Net
from hornbook.experiments.training import train
from hornbook.logic.batch import Batch
from hornbook.logic.rule import BOTTOM, Head
from hornbook.logic.theory import HornTheory


@dataclass(frozen=True, eq=False)
class Task:
    """A table as rows, the target theory T, and what examples are drawn from."""

    table: Table
    binariser: Binariser
    rows: Batch
    theory: HornTheory
    recipe: Recipe

    @classmethod
    def of(cls, table: Table) -> Task:
        """The task with the default recipe: one accepted example in ten is hard."""
        binariser, rows = binarise(table, dual=True)
        theory = target_theory(rows, table.label)
        return cls(table, binariser, rows, theory, default_recipe(theory, rows))

    @property
    def mixed(self) -> Mixture:
        """Half accepted, half rejected examples, as the training set has them."""
        accepted = self.recipe.accepted
        parts, shares = (
            (accepted.components, accepted.shares) if isinstance(accepted, Mixture) else ((accepted,), (1.0,))
        )
        return Mixture((self.recipe.rejected, *parts), (1.0, *shares))

    @property
    def heads(self) -> tuple[Head, ...]:
        """The class literals first, then ⊥."""
        vocabulary = self.rows.vocabulary
        label = vocabulary.index(str(self.table.label))
        dual = vocabulary.dual(label)
        return (label, BOTTOM) if dual is None else (label, dual, BOTTOM)

    def network(self, net: Net, seed: int) -> MLP:
        """A network trained on four fifths of a training set; the rest says when to stop."""
        rng = np.random.default_rng(seed)
        examples = training_set(self.theory, self.rows, rng=rng, recipe=self.recipe)
        training, validation = split(examples, rng)
        return train(training, net, validation=validation, seed=seed)
