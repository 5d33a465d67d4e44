"""The sweep over missing values: accuracy and rules against the share of unknown training values.

The paper notes that networks trained on more missing values are more accurate and yield better
rules. A rejected example violates a rule, so only the values that the rule leaves open can be
missing in it. The more of them are missing, the clearer the rule stands out, in training and in
testing. Accuracy is therefore measured twice: on examples drawn like the training examples, and on
one test set common to all shares. Rules are extracted by LRN*, as in the paper, and evaluated on the
latter's distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory
from hornbook.paper import published
from hornbook.paper.disagreement import measure_disagreement
from hornbook.paper.mixture import Mixture
from hornbook.paper.protocol import Protocol, Recipe
from hornbook.paper.stages import show_progress
from hornbook.paper.task import draw_training_set
from hornbook.queries import MLP, Examples, Membership, Net, split_examples, train
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
    net
        The network.
    sizes
        The number of accepted and of rejected training examples.
    tested
        The number of test examples of each kind.
    seeds
        The seeds of examples and networks.
    queries, size
        The limit on LRN*'s equivalence queries, 0 for no extraction, and the samples of each.

    """

    shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 0.95)
    net: Net = published.NETS[0][0]
    sizes: tuple[int, int] = (160, 160)
    tested: int = 500
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    queries: int = 0
    size: int = 1 << 18

    def __post_init__(self) -> None:
        if not self.shares or not self.seeds or self.tested < 1:
            raise HornbookError("a sweep needs shares of missing values, seeds, and examples to test on")

    def run(self, theory: HornTheory, protocol: Protocol, rows: Batch | None = None) -> list[SweepPoint]:
        """Train and test with every share, everything else as in the protocol.

        `rows` are real rows among the hard examples, if the protocol has any.
        """
        recipes = [replace(protocol, open_unknown=share).recipe(theory) for share in self.shares]
        every = Mixture(tuple(recipe.rejected for recipe in recipes), (1.0,) * len(recipes))
        common = Recipe(protocol.recipe(theory, rows).accepted, every, (self.tested, self.tested))
        test = _Test(
            theory,
            protocol,
            draw_training_set(theory, common, np.random.default_rng(self.seeds)),
            Mixture((common.accepted, every), (1.0, 1.0)),
        )
        points = (
            self._point(share, replace(common, rejected=recipe.rejected), test)
            for share, recipe in zip(self.shares, recipes, strict=True)
        )
        return list(show_progress(points, len(recipes), "shares of missing values"))

    def _point(self, share: float, recipe: Recipe, test: _Test) -> SweepPoint:
        sizes = (self.sizes[0] + self.tested, self.sizes[1] + self.tested)
        unknown, own, shared, rules = [], [], [], []
        for seed in self.seeds:
            rng = np.random.default_rng(seed)
            examples = draw_training_set(test.theory, replace(recipe, sizes=sizes), rng)
            learnt, apart = split_examples(examples, rng, 2 * self.tested / sum(sizes))
            protocol = test.protocol
            network = train(
                learnt, self.net, training=protocol.training, encoding=protocol.encoding, seed=seed
            )
            unknown.append(_unknown_share(learnt[~learnt.accepted].batch))
            own.append(accuracy(network, apart))
            shared.append(accuracy(network, test.examples))
            if self.queries:
                rules.append(test.measure_rules(network, self, seed))
        t_h, h_nn = zip(*rules, strict=True) if rules else ((), ())
        return SweepPoint(share, float(np.mean(unknown)), tuple(own), tuple(shared), t_h, h_nn)


@dataclass(frozen=True, eq=False)
class _Test:
    """What all shares have in common: the theory, the protocol, the test examples and their distribution."""

    theory: HornTheory
    protocol: Protocol
    examples: Examples
    distribution: Mixture

    def measure_rules(self, network: MLP, sweep: Sweep, seed: int) -> tuple[float, float]:
        """Extract rules by LRN*; return their disagreement with the theory and with the network."""
        found = published.run_lrn_star(
            network,
            self.distribution,
            sweep.size,
            generator(seed, Purpose.LRN_STAR),
            queries=sweep.queries,
            line_7=self.protocol.line_7,
            close=self.protocol.close,
        )
        judges: dict[str, Membership] = {
            "t": self.theory.satisfied_by,
            "h": found.theory.satisfied_by,
            "nn": network,
        }
        table = measure_disagreement(
            judges, self.distribution, EVALUATION_SAMPLES, generator(seed, Purpose.RULE_JUDGEMENT)
        )
        return table["t_h"].estimate, table["h_nn"].estimate


def accuracy(network: MLP, examples: Examples) -> float:
    """The share of examples that the network labels correctly."""
    return float(np.mean(network(examples.batch) == examples.accepted))


def _unknown_share(batch: Batch) -> float:
    """The share of values that are unknown."""
    return float(np.mean(np.isnan(batch.to_array())))
