"""The sweep over missing values: accuracy and rules against the share of unknown training values.

The paper notes that networks trained on more missing values are more accurate and yield better
rules. A rejected example violates a rule, so only the values that the rule leaves open can be
missing in it. The more of them are missing, the clearer the rule stands out, in training and in
testing. Accuracy is therefore measured twice: on examples drawn like the training examples, and on
one test set common to all shares. Rules are extracted and evaluated on the latter's distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornbook.data import Examples, split_examples
from hornbook.distributions import Distribution, Mixture, Violations
from hornbook.errors import HornbookError
from hornbook.evaluate import disagreement
from hornbook.learners import Settings, extract
from hornbook.logic import Batch, Head, HornTheory
from hornbook.models import MLP, Net, Training, train
from hornbook.models.network import EncodingName
from hornbook.paper import published
from hornbook.paper.stages import show_progress
from hornbook.paper.task import Recipe, default_recipe, draw_training_set
from hornbook.queries import Membership
from hornbook.randomness import Purpose, generator

EVALUATION_SAMPLES = 1 << 15
"""Number of fresh interpretations on which rules are evaluated."""


@dataclass(frozen=True)
class SweepPoint:
    """The results at one share of missing values, one figure per seed.

    `missing` is the probability that a value left open by the violated rule is unknown; `unknown`
    is the resulting share of unknown values in rejected training examples. `own` and `common` are
    accuracies. `t_h` and `h_nn` are the disagreements of the extracted rules with the theory and
    with the network; empty if no rules were extracted.
    """

    missing: float
    unknown: float
    own: tuple[float, ...]
    common: tuple[float, ...]
    t_h: tuple[float, ...] = ()
    h_nn: tuple[float, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """The settings of a sweep over shares of missing values.

    Parameters
    ----------
    shares
        The probabilities that an open value of a rejected example is unknown. Accepted examples
        are drawn in the same way for all of them.
    net, training, encoding
        The network and its training.
    sizes
        The number of accepted and of rejected training examples.
    tested
        The number of test examples of each kind.
    seeds
        The seeds of examples and networks.
    reading
        How rules are extracted from each network; None for no extraction.

    """

    shares: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    net: Net = published.NETS[0][0]
    training: Training = field(default_factory=Training)
    encoding: EncodingName = "half"
    sizes: tuple[int, int] = (160, 160)
    tested: int = 500
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    reading: Settings | None = None

    def __post_init__(self) -> None:
        if not self.shares or not self.seeds or self.tested < 1:
            raise HornbookError("a sweep needs shares of missing values, seeds, and examples to test on")

    def run(
        self, theory: HornTheory, rows: Batch | None = None, heads: Sequence[Head] | None = None
    ) -> list[SweepPoint]:
        """Train and test with every share, on examples labelled by the theory.

        `rows` are real rows to include in the accepted examples, `heads` the allowed heads of
        rules.
        """
        accepted = default_recipe(theory, rows).accepted
        violations = [Violations(theory, missing) for missing in self.shares]
        every = Mixture(tuple(violations), (1.0,) * len(violations))
        recipe = Recipe(accepted, every, (self.tested, self.tested))
        test = _Test(
            theory,
            draw_training_set(theory, rng=np.random.default_rng(self.seeds), recipe=recipe),
            Mixture((accepted, every), (1.0, 1.0)),
            heads,
        )
        found = (self._point(accepted, rejected, test) for rejected in violations)
        return list(show_progress(found, len(violations), "shares of missing values"))

    def _point(self, accepted: Distribution, rejected: Violations, test: _Test) -> SweepPoint:
        sizes = (self.sizes[0] + self.tested, self.sizes[1] + self.tested)
        recipe = Recipe(accepted, rejected, sizes)
        unknown, own, shared, rules = [], [], [], []
        for seed in self.seeds:
            rng = np.random.default_rng(seed)
            examples = draw_training_set(test.theory, rng=rng, recipe=recipe)
            learnt, apart = split_examples(examples, rng, 2 * self.tested / sum(sizes))
            network = train(learnt, self.net, training=self.training, encoding=self.encoding, seed=seed)
            unknown.append(_unknown_share(learnt[~learnt.accepted].batch))
            own.append(accuracy(network, apart))
            shared.append(accuracy(network, test.examples))
            if self.reading is not None:
                rules.append(test.measure_rules(network, replace(self.reading, seed=seed)))
        t_h, h_nn = zip(*rules, strict=True) if rules else ((), ())
        return SweepPoint(rejected.missing, float(np.mean(unknown)), tuple(own), tuple(shared), t_h, h_nn)


@dataclass(frozen=True, eq=False)
class _Test:
    """What all shares have in common: the theory, the test examples, and their distribution."""

    theory: HornTheory
    examples: Examples
    distribution: Mixture
    heads: Sequence[Head] | None

    def measure_rules(self, network: MLP, settings: Settings) -> tuple[float, float]:
        """Extract rules; return their disagreement with the theory and with the network."""
        found = extract(network, self.distribution, settings, margin=network.log_odds, heads=self.heads)
        judges: dict[str, Membership] = {
            "t": self.theory.satisfied_by,
            "h": found.theory.satisfied_by,
            "nn": network,
        }
        table = disagreement(
            judges, self.distribution, EVALUATION_SAMPLES, generator(settings.seed, Purpose.RULE_JUDGEMENT)
        )
        return table["t_h"].estimate, table["h_nn"].estimate


def accuracy(network: MLP, examples: Examples) -> float:
    """The share of examples that the network labels correctly."""
    return float(np.mean(network(examples.batch) == examples.accepted))


def _unknown_share(batch: Batch) -> float:
    """The share of values that are unknown."""
    return float(np.mean(np.isnan(batch.to_array())))
