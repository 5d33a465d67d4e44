"""The sweep over missing values: accuracy and rules against the share of unknown training values.

The paper notes that "examples labelled negatively with many missing values contain more information",
and that networks trained on more missing values were more accurate and gave better rules, with classes
balanced. A rejected example violates the rule of a patient, so that only values which the rule leaves
open can be missing in it: those that the patient's row lacks. The sweep therefore violates the rules of
the patients who lack most, from none of the open values unknown to nearly all, and accepted examples
have the same share of unknown values as the rejected ones, so that the number of unknown values does
not tell the classes apart.

Accuracy is measured twice: on examples drawn like the training examples, and on one test set common to
all levels. Rules are extracted by LRN*, as in the paper, and evaluated on the latter's distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory
from hornbook.paper.claims import NETS, QUERIES
from hornbook.paper.task import Protocol, Recipe, draw_training_set, run_lrn_star
from hornbook.queries import MLP, Examples, Net, Random, Violations, split_examples, train
from hornbook.queries.distributions import Mixture
from hornbook.queries.result import measure_disagreement
from hornbook.randomness import Purpose, generator

EVALUATION_SAMPLES = 1 << 15
"""Number of fresh interpretations on which rules are evaluated."""


@dataclass(frozen=True)
class Sweep:
    """The settings of a sweep over shares of missing values.

    Parameters
    ----------
    shares
        The levels: the probabilities that an open value of a rejected example is unknown.
    patients
        The share of the rules of T that are violated: those that leave most open.
    net
        The network.
    sizes
        The number of accepted and of rejected training examples.
    tested
        The number of test examples of each kind.
    queries, size
        The limit on LRN*'s equivalence queries, and the samples of each; None for those of a query.

    """

    shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 0.95)
    patients: float = 0.2
    net: Net = NETS[0][0]
    sizes: tuple[int, int] = (160, 160)
    tested: int = 500
    queries: int = QUERIES
    size: int | None = None

    def __post_init__(self) -> None:
        if not self.shares or self.tested < 1:
            raise HornbookError("a sweep needs shares of missing values, and examples to test on")

    def run(self, theory: HornTheory, protocol: Protocol, seed: int, sample: int) -> list[dict[str, Any]]:
        """Train, test and extract at every level, everything else as in the protocol.

        For each level, `missing` is its share; `unknown` is the resulting share of unknown values in
        rejected examples; `own` and `common` are accuracies; `t_h` and `h_nn` are the disagreements of
        the rules with the theory and with the network.
        """
        recipes = [self.recipe(theory, share) for share in self.shares]
        accepted, rejected = (
            Mixture(tuple(getattr(recipe, side) for recipe in recipes), (1.0,) * len(recipes))
            for side in ("accepted", "rejected")
        )
        common = Recipe(accepted, rejected, (self.tested, self.tested))
        tests = draw_training_set(theory, common, generator(seed, Purpose.FRESH_EXAMPLES))
        distribution = Mixture((accepted, rejected), (1.0, 1.0))
        points = []
        for share, recipe in zip(self.shares, recipes, strict=True):
            rng = generator(seed, Purpose.TRAINING_SET)
            examples = draw_training_set(theory, recipe, rng)
            training, held_out = split_examples(examples, rng, 2 * self.tested / sum(recipe.sizes))
            network = train(
                training, self.net, training=protocol.training, encoding=protocol.encoding, seed=seed
            )
            rules = run_lrn_star(
                network,
                distribution,
                self.size or sample,
                generator(seed, Purpose.LRN_STAR),
                queries=self.queries,
                line_7=protocol.line_7,
                close=protocol.close,
            ).theory
            shares = measure_disagreement(
                {"t": theory.satisfied_by, "h": rules.satisfied_by, "nn": network},
                distribution,
                EVALUATION_SAMPLES,
                generator(seed, Purpose.RULE_JUDGEMENT),
            ).shares
            points.append(
                {
                    "missing": share,
                    "unknown": unknown_share(training),
                    "own": accuracy(network, held_out),
                    "common": accuracy(network, tests),
                    "t_h": shares["t_h"].estimate,
                    "h_nn": shares["h_nn"].estimate,
                }
            )
        return points

    def recipe(self, theory: HornTheory, share: float) -> Recipe:
        """The training and test examples of a level."""
        violable = sorted(Violations(theory).rules, key=lambda rule: len(rule.body))
        chosen = HornTheory(theory.vocabulary, violable[: max(round(self.patients * len(violable)), 1)])
        rejected = Violations(chosen, share)
        sizes = (self.sizes[0] + self.tested, self.sizes[1] + self.tested)
        # examples are distinct, so that less is unknown in them than in all that are drawn
        one_sided = Recipe(Random(theory.vocabulary), rejected, (0, sizes[1]))
        drawn = draw_training_set(theory, one_sided, generator(0, Purpose.TRAINING_SET))
        return Recipe(Random(theory.vocabulary, unknown_share(drawn)), rejected, sizes)


def unknown_share(examples: Examples) -> float:
    """The share of unknown values in the rejected examples."""
    return float(np.isnan(examples[~examples.accepted].batch.to_array()).mean())


def accuracy(network: MLP, examples: Examples) -> float:
    """The share of examples that the network labels correctly."""
    return float(np.mean(network(examples.batch) == examples.accepted))
