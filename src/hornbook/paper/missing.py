"""Do missing values help? Accuracy and rules against the share of them in rejected training examples.

The paper notes that networks trained on more missing values are more accurate, and that better
rules are read out of them. A rejected example violates a rule, so what can be missing in it is
what the rule leaves open. The more of that is missing, the clearer the rule stands out, in
training and in testing alike. Accuracy is therefore measured twice: on examples drawn as the
training examples were, and on one test set common to all shares. Rules are read and judged on
the distribution of the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hornbook.data.examples import Examples, split
from hornbook.distributions import Distribution, Mixture, Violations
from hornbook.errors import HornbookError
from hornbook.evaluate import disagreement
from hornbook.learners import Settings, extract
from hornbook.logic import Batch, Head, HornTheory
from hornbook.models.network import MLP, EncodingName, Net, Training
from hornbook.models.training import train
from hornbook.paper import published as paper
from hornbook.paper.stages import tracked
from hornbook.paper.task import Recipe, default_recipe, training_set
from hornbook.queries import Membership
from hornbook.randomness import Purpose, generator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUDGED = 1 << 15
"""Fresh interpretations that rules are judged on."""


@dataclass(frozen=True)
class Point:
    """The accuracies at one share of missing values, one a seed.

    `missing` is the probability that a value which the violated rule leaves open is unknown,
    and `unknown` the share of all values of rejected training examples that are. `t_h` and
    `h_nn` are the shares of interpretations that the rules read out of the network judge
    otherwise than the theory and than the network; empty if no rules were read.
    """

    missing: float
    unknown: float
    own: tuple[float, ...]
    common: tuple[float, ...]
    t_h: tuple[float, ...] = ()
    h_nn: tuple[float, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """What to vary and what to keep.

    Parameters
    ----------
    shares
        The probabilities that an open value of a rejected example is unknown. The accepted
        examples are drawn alike for all of them.
    net, training, encoding
        The network and how it is trained.
    sizes
        How many accepted and how many rejected examples to train on.
    tested
        How many of each to test on.
    seeds
        The seeds with which examples are drawn and networks trained.
    reading
        How rules are read out of each network; None: they are not.

    """

    shares: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    net: Net = paper.NETS[0][0]
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
    ) -> list[Point]:
        """Train and test with every share, on examples that the theory labels.

        `rows` are real rows to have among the accepted examples, `heads` those that rules may
        have.
        """
        accepted = default_recipe(theory, rows).accepted
        violations = [Violations(theory, missing) for missing in self.shares]
        every = Mixture(tuple(violations), (1.0,) * len(violations))
        recipe = Recipe(accepted, every, (self.tested, self.tested))
        test = _Test(
            theory,
            training_set(theory, rng=np.random.default_rng(self.seeds), recipe=recipe),
            Mixture((accepted, every), (1.0, 1.0)),
            heads,
        )
        found = (self._point(accepted, rejected, test) for rejected in violations)
        return list(tracked(found, len(violations), "shares of missing values"))

    def _point(self, accepted: Distribution, rejected: Violations, test: _Test) -> Point:
        sizes = (self.sizes[0] + self.tested, self.sizes[1] + self.tested)
        recipe = Recipe(accepted, rejected, sizes)
        unknown, own, shared, rules = [], [], [], []
        for seed in self.seeds:
            rng = np.random.default_rng(seed)
            examples = training_set(test.theory, rng=rng, recipe=recipe)
            learnt, apart = split(examples, rng, 2 * self.tested / sum(sizes))
            network = train(learnt, self.net, training=self.training, encoding=self.encoding, seed=seed)
            unknown.append(_unknown(learnt[~learnt.accepted].batch))
            own.append(accuracy(network, apart))
            shared.append(accuracy(network, test.examples))
            if self.reading is not None:
                rules.append(test.of_rules(network, replace(self.reading, seed=seed)))
        t_h, h_nn = zip(*rules, strict=True) if rules else ((), ())
        return Point(rejected.missing, float(np.mean(unknown)), tuple(own), tuple(shared), t_h, h_nn)


@dataclass(frozen=True, eq=False)
class _Test:
    """What is common to all shares: the theory, labelled examples, and where rules are judged."""

    theory: HornTheory
    examples: Examples
    distribution: Mixture
    heads: Sequence[Head] | None

    def of_rules(self, network: MLP, settings: Settings) -> tuple[float, float]:
        """How far the rules read out of a network are from the theory and from the network."""
        found = extract(network, self.distribution, settings, margin=network.log_odds, heads=self.heads)
        judges: dict[str, Membership] = {
            "t": self.theory.satisfied_by,
            "h": found.theory.satisfied_by,
            "nn": network,
        }
        table = disagreement(
            judges, self.distribution, JUDGED, generator(settings.seed, Purpose.RULE_JUDGEMENT)
        )
        return table["t_h"].estimate, table["h_nn"].estimate


def plot(points: Sequence[Point]) -> Figure:
    """Accuracy against the share of missing values, with its spread over the seeds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    missing = [100 * point.missing for point in points]
    for name, label in (("own", "drawn as in training"), ("common", "common to all shares")):
        accuracies = [getattr(point, name) for point in points]
        means, spreads = np.mean(accuracies, axis=1), np.std(accuracies, axis=1)
        axes.errorbar(missing, means, spreads, marker="o", capsize=3, label=label)
    axes.set_xlabel("unknown among the open values of rejected training examples, %")
    axes.set_ylabel("accuracy")
    axes.legend(title="test examples")
    return figure


def accuracy(network: MLP, examples: Examples) -> float:
    """The share of examples that the network judges as they are labelled."""
    return float(np.mean(network(examples.batch) == examples.accepted))


def _unknown(batch: Batch) -> float:
    """The share of values that are unknown."""
    return float(np.mean(np.isnan(batch.to_array())))
