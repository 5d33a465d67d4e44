"""The scales of a reproduction, quick and paper, and its sweep over missing values.

What the paper leaves open, and why it is decided as here, is in `docs/reproduction.md`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory
from hornbook.paper.claims import NETS, QUERIES
from hornbook.paper.networks import Examples, Net, split_examples
from hornbook.paper.search import ModelSelection, train
from hornbook.paper.task import Protocol, Recipe, draw_training_set, run_lrn_star
from hornbook.queries import (
    Budget,
    Random,
    Settings,
    Violations,
)
from hornbook.queries.disagreement import measure_disagreement
from hornbook.queries.distributions import Mixture
from hornbook.randomness import Purpose, generator
from hornbook.statistics import sample_size

EVALUATION_SAMPLES = 1 << 15
"""Number of fresh interpretations on which rules are evaluated."""


@dataclass(frozen=True)
class Sweep:
    """A sweep over missing values: accuracy and rules against the share of unknown training values.

    The paper notes that "examples labelled negatively with many missing values contain more information",
    and that networks trained on more missing values were more accurate and gave better rules, with classes
    balanced. A rejected example violates the rule of a patient, so that only values which the rule leaves
    open can be missing in it: those that the patient's row lacks. The sweep therefore violates the rules of
    the patients who lack most, from none of the open values unknown to nearly all, and accepted examples
    have the same share of unknown values as the rejected ones, so that the number of unknown values does
    not tell the classes apart.

    Accuracy is measured on one test set common to all levels. Rules are extracted by LRN*, as in the paper,
    and evaluated on the distribution of that set.

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

    def run(self, theory: HornTheory, protocol: Protocol, seed: int, sample: int) -> list[dict[str, float]]:
        """Train, test and extract at every level, everything else as in the protocol.

        For each level, `missing` is its share; `unknown` is the resulting share of unknown values in
        rejected examples; `common` is the accuracy; `t_h` and `h_nn` are the disagreements of the rules
        with the theory and with the network.
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
            training, _ = split_examples(examples, rng, 2 * self.tested / sum(recipe.sizes))
            network = train(
                training, self.net, training=protocol.training, encoding=protocol.encoding, seed=seed
            )
            rules = run_lrn_star(
                network,
                distribution,
                self.size or sample,
                generator(seed, Purpose.LRN_STAR),
                queries=self.queries,
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
                    "common": float(np.mean(network(tests.batch) == tests.accepted)),
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


PAPER_BUDGET = Budget(equivalence_queries=QUERIES)


@dataclass(frozen=True)
class TreeBudget:
    """The budget of the Hoeffding tree, which is trained on samples until it misclassifies none of one.

    Parameters
    ----------
    size
        Number of interpretations in a sample; None for that of an equivalence query, as in the paper.
    samples
        Number of samples at most, a limit that gives the same tree on every machine.
    tuning
        Number of labels for tuning, and of others on which the settings are compared.

    """

    size: int | None
    samples: int
    tuning: int


@dataclass(frozen=True)
class Scale:
    """The size of every part of a reproduction.

    Parameters
    ----------
    name
        Its name on the command line.
    repetitions
        The number of repetitions, with consecutive seeds.
    selection
        The architecture search; training and encoding are the protocol's.
    ours
        The settings of our extraction; its sample size applies to all equivalence queries.
    tree
        The Hoeffding tree's budget.
    sweep
        The sweep over missing values, with one seed per repetition; None for no sweep.
    fresh
        The number of accepted and of rejected test examples of the nets.
    evaluation
        The evaluation sample, in multiples of the sample size of a query.

    """

    name: str
    repetitions: int
    selection: ModelSelection
    ours: Settings
    tree: TreeBudget
    sweep: Sweep | None
    fresh: int = 1000
    evaluation: int = 2

    def __post_init__(self) -> None:
        if self.repetitions % 2 == 0:
            raise HornbookError(
                f"an odd number of repetitions has a median among them; got {self.repetitions}"
            )

    @property
    def queries(self) -> int:
        """The limit on equivalence queries."""
        return self.ours.budget.equivalence_queries or QUERIES

    def sample(self, width: int) -> int:
        """The sample size of an equivalence query over `width` variables."""
        ours = self.ours
        return sample_size(ours.size, width, ours.epsilon, ours.delta, 1)

    def settings(self) -> dict[str, Any]:
        """All settings as a JSON object."""
        described = asdict(self)
        described["selection"]["nets"] = [str(net) for net in self.selection.nets]
        return described


QUICK = Scale(
    "quick",
    repetitions=5,
    selection=ModelSelection((NETS[0][0],), finalists=1, seeds=1),
    ours=Settings(PAPER_BUDGET, pool=1 << 15),
    tree=TreeBudget(size=100_000, samples=2, tuning=2_000),
    sweep=Sweep(queries=10, size=1 << 14),
)
"""The paper's own network without a search, few labels for the tree, a sweep with few queries."""

PAPER = Scale(
    "paper",
    repetitions=5,
    selection=ModelSelection(),
    ours=Settings(PAPER_BUDGET),
    tree=TreeBudget(size=None, samples=10, tuning=2_000),
    sweep=Sweep(queries=QUERIES),
)
"""The paper's search, queries and samples."""

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}
