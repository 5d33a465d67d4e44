"""The search for rules, a tree or a card that say where two models disagree, and how.

A switch is a class of the old model and another one of the new model; cases without a switch are the
rest. Switches are rare and need not fill any region, so fitting by accuracy alone would say that
there are none. Explanations are fitted with several prices of an overlooked switch, and compared by
the F-measure of the region that they name: its precision and its recall, both estimated for all
samples by the weights of fresh ones.

References
----------
Z. Lipton, C. Elkan, B. Naryanaswamy. Optimal Thresholding of Classifiers to Maximize F1 Measure.
ECML PKDD 2014 (the best price depends on the F-measure that can be reached, and not on how rare a
class is).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from hornbook.code_book import CodeBook
from hornbook.conditions import merge_conditions
from hornbook.diff.samples import PairSamples
from hornbook.explanations import Explanation, RuleSet
from hornbook.surrogates import CodedRows, Form, Grid, fit_explanations
from hornbook.surrogates.grid import Floats, Ints
from hornbook.surrogates.rules import fit_regions
from hornbook.surrogates.search import name_rules
from hornbook.surrogates.thresholds import Build, keep_condition, round_thresholds

RULE_PRECISIONS, OTHER_PRECISIONS = (0.1, 0.2, 0.3, 0.4, 0.5), (0.2, 0.4)
"""Least precisions with which a part of a region is worth naming; which is best, fresh samples decide."""

OTHER_FORMS: tuple[Form, ...] = ("tree", "card")
"""Forms that are fitted by a price of overlooked switches."""

MAX_SWITCHES = 8
"""Switches that are told apart, the commonest first; the others are one."""

F_TOLERANCE = 0.02
"""The most by which a shorter explanation may fall short of the best F-measure."""


@dataclass(frozen=True)
class ClassSwitches:
    """The switches that explanations tell apart.

    Parameters
    ----------
    pairs
        The numbers of the old and the new class of each switch, the commonest first.
    outcomes
        What cases without a switch are called, then each switch, and any other switch, if there are more.

    """

    pairs: tuple[tuple[int, int], ...]
    outcomes: tuple[str, ...]

    @classmethod
    def of(cls, samples: PairSamples, classes: tuple[str, ...], sides: tuple[str, str]) -> ClassSwitches:
        """The switches of samples, in words such as `old yes, new no`."""
        codes = (samples.old * len(classes) + samples.new)[samples.differs]
        sums = np.bincount(codes, samples.weights[samples.differs])
        common = np.argsort(-sums, kind="stable")[: np.count_nonzero(sums)]
        pairs = [divmod(int(code), len(classes)) for code in common]
        words = [f"{sides[0]} {classes[old]}, {sides[1]} {classes[new]}" for old, new in pairs[:MAX_SWITCHES]]
        others = ["another switch"] if len(pairs) > MAX_SWITCHES else []
        return cls(tuple(pairs[:MAX_SWITCHES]), ("the same", *words, *others))

    def number(self, old: Ints, new: Ints) -> Ints:
        """The number of each case's switch; 0 where both classes are the same, shape (cases,)."""
        numbers = np.where(old == new, 0, len(self.outcomes))
        if len(self.outcomes) > len(self.pairs) + 1:
            numbers = np.minimum(numbers, len(self.outcomes) - 1)
        for number, (before, after) in enumerate(self.pairs, 1):
            numbers[(old == before) & (new == after)] = number
        return numbers


@dataclass(frozen=True)
class RegionQuality:
    """Precision and recall of a region, of all samples, estimated by their weights.

    Parameters
    ----------
    precision
        Of what the region covers, the share that switches as it says.
    recall
        Of what switches, the share that the region covers and says rightly.

    """

    precision: float
    recall: float

    @classmethod
    def of(cls, decided: Ints, truth: Ints, weights: Floats) -> RegionQuality:
        """Compare the switches that are said with those that are; each case has a weight."""
        right = float(weights[(decided == truth) & (truth > 0)].sum())
        covered, changed = float(weights[decided > 0].sum()), float(weights[truth > 0].sum())
        return cls(right / covered if covered else 0.0, right / changed if changed else 0.0)

    @property
    def f_measure(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True)
class SwitchCandidate:
    """An explanation of the switches, and how well it fits those of fresh samples."""

    explanation: Explanation
    quality: RegionQuality

    @property
    def literals(self) -> int:
        """The number of literals."""
        return self.explanation.literals


def search_switches(
    samples: PairSamples,
    fresh: PairSamples,
    switches: ClassSwitches,
    rows: pd.DataFrame,
    *,
    form: Form = "rules",
    max_literals: int = 12,
    code_book: CodeBook,
) -> SwitchCandidate:
    """Say by rules, a tree or a card where models disagree.

    Parameters
    ----------
    samples
        The samples that explanations are fitted to.
    fresh
        Other samples, by which one is chosen.
    switches
        The switches to tell apart.
    rows
        The rows of the table, whose values thresholds lie between.
    form
        What to look for; `auto` for all forms.
    max_literals
        The most literals to read.
    code_book
        Which columns are categories, and the words.

    """
    truth = switches.number(fresh.old, fresh.new)
    nothing = SwitchCandidate(
        RuleSet(switches.outcomes, (), 0, code_book),
        RegionQuality.of(np.zeros_like(truth), truth, fresh.weights),
    )
    if not switches.pairs:
        return nothing
    labels = (
        np.eye(len(switches.outcomes))[switches.number(samples.old, samples.new)] * samples.weights[:, None]
    )
    grid = Grid.of(rows, code_book=code_book)
    coded = grid.encode(samples.frame).rank_categories(labels)
    judged = coded.grid.encode(fresh.frame)
    builds: dict[SwitchCandidate, Build] = {}
    for decided, build in fit_switches(coded, labels, switches.outcomes, judged, max_literals, form):
        quality = RegionQuality.of(decided, truth, fresh.weights)
        builds[SwitchCandidate(build(keep_condition), quality)] = build
    chosen = choose_switch_candidate([nothing, *builds], max_literals)
    if chosen is nothing:
        return nothing
    everything = pd.concat([rows, samples.frame, fresh.frame], ignore_index=True)
    explanation = round_thresholds(builds[chosen], everything, code_book)
    if isinstance(explanation, RuleSet):
        rules = [replace(rule, body=merge_conditions(rule.body)) for rule in explanation.rules]
        explanation = replace(explanation, rules=tuple(rules))
    return SwitchCandidate(explanation, chosen.quality)


def fit_switches(
    rows: CodedRows,
    labels: Floats,
    outcomes: tuple[str, ...],
    judged: CodedRows,
    max_literals: int,
    form: Form,
) -> Iterator[tuple[Ints, Build]]:
    """Explanations of each size, and what they say of other rows; `labels` has the shape (rows, outcomes)."""
    if form in ("auto", "rules"):
        classes, counts = labels.argmax(axis=1), labels.sum(axis=1)
        for precision in RULE_PRECISIONS:
            for rules in fit_regions(rows, classes, counts, max_literals, precision):
                yield rules.decide(judged), partial(name_rules, rules, rows.grid, outcomes)
    for other in OTHER_FORMS:
        for precision in OTHER_PRECISIONS if form in ("auto", other) else ():
            weights = labels.copy()
            weights[:, 1:] *= (1 - precision) / precision
            yield from fit_explanations(rows, weights, outcomes, judged, max_literals, other)


def choose_switch_candidate(candidates: list[SwitchCandidate], max_literals: int) -> SwitchCandidate:
    """The shortest candidate whose F-measure is close to the best of those short enough."""
    short = [candidate for candidate in candidates if candidate.literals <= max_literals]
    best = max(candidate.quality.f_measure for candidate in short)
    close = [candidate for candidate in short if candidate.quality.f_measure >= best - F_TOLERANCE]
    return min(close, key=lambda candidate: (candidate.literals, -candidate.quality.f_measure))
