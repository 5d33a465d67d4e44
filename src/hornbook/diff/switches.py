"""The search for rules that say where two models disagree, and how.

A switch is a class of the old model and another one of the new model; cases without a switch are the
rest. Switches are rare and need not fill any region, so fitting by accuracy alone would say that
there are none. Rules are fitted with several least precisions, and compared by the F-measure of the
region that they name, estimated for all samples by the weights of fresh ones.

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
from hornbook.diff.samples import Compared, PairSamples
from hornbook.explanations import RuleSet
from hornbook.surrogates import CodedRows, Grid
from hornbook.surrogates.grid import Floats, Ints
from hornbook.surrogates.naming import Build, keep_condition, name_rules, round_thresholds
from hornbook.surrogates.rules import fit_regions

RULE_PRECISIONS = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Least precisions with which a part of a region is worth naming; which is best, fresh samples decide."""

MAX_SWITCHES = 8
"""Switches that are told apart, the commonest first; the others are one."""

F_TOLERANCE = 0.02
"""The most by which shorter rules may fall short of the best F-measure."""


@dataclass(frozen=True)
class ClassSwitches:
    """The switches that rules tell apart.

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
    def of(cls, samples: PairSamples, compared: Compared) -> ClassSwitches:
        """The switches of samples, in words such as `old yes, new no`."""
        classes, (one, other) = compared.classes, compared.sides
        codes = (samples.old * len(classes) + samples.new)[samples.differs]
        sums = np.bincount(codes, samples.weights[samples.differs])
        common = np.argsort(-sums, kind="stable")[: np.count_nonzero(sums)]
        pairs = [divmod(int(code), len(classes)) for code in common]
        words = [f"{one} {classes[old]}, {other} {classes[new]}" for old, new in pairs[:MAX_SWITCHES]]
        others = ["another switch"] if len(pairs) > MAX_SWITCHES else []
        return cls(tuple(pairs[:MAX_SWITCHES]), ("the same", *words, *others))

    def number(self, samples: PairSamples) -> Ints:
        """The number of each sample's switch; 0 where both classes are the same, shape (samples,)."""
        numbers = np.where(samples.differs, len(self.outcomes), 0)
        if len(self.outcomes) > len(self.pairs) + 1:
            numbers = np.minimum(numbers, len(self.outcomes) - 1)
        for number, (before, after) in enumerate(self.pairs, 1):
            numbers[(samples.old == before) & (samples.new == after)] = number
        return numbers


def find_rules(
    samples: PairSamples,
    fresh: PairSamples,
    switches: ClassSwitches,
    rows: pd.DataFrame,
    max_literals: int,
    code_book: CodeBook,
) -> RuleSet:
    """Say by rules where models disagree: the shortest whose F-measure is close to the best.

    Parameters
    ----------
    samples
        The samples that rules are fitted to.
    fresh
        Other samples, by which rules are chosen.
    switches
        The switches to tell apart.
    rows
        The rows of the table, whose values thresholds lie between.
    max_literals
        The most literals to read.
    code_book
        Which columns are categories, and the words.

    """
    nothing = RuleSet(switches.outcomes, (), 0, code_book)
    if not switches.pairs:
        return nothing
    labels = np.eye(len(switches.outcomes))[switches.number(samples)] * samples.weights[:, None]
    coded = Grid.of(rows, code_book=code_book).encode(samples.frame).rank_categories(labels)
    judged, truth = coded.grid.encode(fresh.frame), switches.number(fresh)
    found = []  # literals, F-measure, rules
    for decided, build in fit_switches(coded, labels, switches.outcomes, judged, max_literals):
        literals = build(keep_condition).literals
        if literals <= max_literals:
            found.append((literals, measure_region(decided, truth, fresh.weights), build))
    least = max((quality for _, quality, _ in found), default=0.0) - F_TOLERANCE
    close = [each for each in found if each[1] >= least]
    if least <= 0 or not close:
        return nothing
    _, _, build = min(close, key=lambda each: (each[0], -each[1]))
    rounded = round_thresholds(
        build, pd.concat([rows, samples.frame, fresh.frame], ignore_index=True), code_book
    )
    assert isinstance(rounded, RuleSet)
    merged = tuple(replace(rule, body=merge_conditions(rule.body)) for rule in rounded.rules)
    return replace(rounded, rules=merged)


def fit_switches(
    rows: CodedRows, labels: Floats, outcomes: tuple[str, ...], judged: CodedRows, max_literals: int
) -> Iterator[tuple[Ints, Build]]:
    """Rules of each size, and what they say of other rows; `labels` has the shape (rows, outcomes)."""
    classes, counts = labels.argmax(axis=1), labels.sum(axis=1)
    for precision in RULE_PRECISIONS:
        for rules in fit_regions(rows, classes, counts, max_literals, precision):
            yield rules.decide(judged), partial(name_rules, rules, rows.grid, outcomes)


def measure_region(decided: Ints, truth: Ints, weights: Floats) -> float:
    """The F-measure of the switches that are said: the harmonic mean of precision and recall."""
    right = weights[(decided == truth) & (truth > 0)].sum()
    total = weights[decided > 0].sum() + weights[truth > 0].sum()
    return float(2 * right / total) if total else 0.0
