"""Candidates out of labelled samples, and which of them is best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from hornbook.classify.candidate import Candidate, Form, Point
from hornbook.classify.reading import Reading
from hornbook.learners.cover import Worth, covers
from hornbook.learners.points import cards
from hornbook.learners.splits import trees
from hornbook.logic import Batch, Bools, Rule

PAYS = 0.003
"""How much more faithful a card or a tree has to be than rules to be read in their place."""

DERIVED = 0.05
"""How much more a right answer is worth that rules derive than one by default, and a wrong one less."""

WRONG = -4.0
"""What a wrong answer is worth where there is no default, against 1 for a right one."""

ALONE = 16
"""How often all rules may be replaced in the end where nothing but rules is wanted."""

READ = 0.003
"""What reading as many literals as a reader is willing to read costs, as a share of all samples."""


def candidates(nothing: Candidate, batch: Batch, labels: Bools, reading: Reading) -> Iterator[Candidate]:
    """Explanations of labelled rows of features, from one that says nothing on."""
    if reading.default:
        nothing = replace(nothing, default=_majority(labels))
    yield nothing
    if reading.form in ("auto", "rules"):
        yield from _rule_sets(nothing, batch, labels, reading)
    if reading.form in ("auto", "tree"):
        for tree in trees(batch, labels, nothing.label, reading.max_literals):
            yield replace(nothing, decider=tree, default=None)
    if reading.form in ("auto", "card"):
        for card in cards(batch, labels, nothing.label, reading.max_literals, reading.max_points):
            yield replace(nothing, decider=card, default=None)


def chosen(weighed: Iterable[tuple[Candidate, Point]], literals: int | None = None) -> Candidate:
    """The most faithful candidate with so many literals; rules, where nothing else pays."""
    best: dict[Form, tuple[float, Candidate]] = {}
    for candidate, point in sorted(weighed, key=lambda pair: pair[1].literals):
        fits = literals is None or point.literals <= literals
        if fits and (point.form not in best or point.fidelity.estimate > best[point.form][0]):
            best[point.form] = point.fidelity.estimate, candidate
    rules = best.pop("rules")
    other = max(best.values(), key=lambda found: found[0], default=rules)
    return other[1] if other[0] - rules[0] > PAYS else rules[1]


def best_by_size(weighed: Iterable[tuple[Candidate, Point]]) -> Iterator[Candidate]:
    """Of each form the candidates that are more faithful than all shorter ones, the shortest first."""
    best: dict[Form, float] = {}
    for candidate, point in sorted(weighed, key=lambda pair: pair[1].literals):
        if point.fidelity.estimate > best.get(point.form, -1.0):
            best[point.form] = point.fidelity.estimate
            yield candidate


def _rule_sets(nothing: Candidate, batch: Batch, labels: Bools, reading: Reading) -> Iterator[Candidate]:
    literal = READ / reading.max_literals
    worth = Worth(None, 1.0, WRONG, literal)
    if nothing.default is not None:
        worth = Worth(nothing.default, 1 + DERIVED, -DERIVED, literal)
    heads = {
        True: nothing.vocabulary.index(nothing.label),
        False: nothing.vocabulary.index(f"not_{nothing.label}"),
    }
    sweeps = ALONE if reading.form == "rules" else 1
    for found in covers(batch, labels, worth, reading.max_rules, reading.max_literals, sweeps):
        candidate = replace(nothing, rules=tuple(Rule(body, heads[head]) for body, head in found))
        if reading.default:
            left_open = np.isnan(candidate.derive(batch))
            candidate = replace(candidate, default=_majority(labels[left_open]))
        yield candidate


def _majority(labels: Bools) -> bool:
    return bool(2 * labels.sum() >= len(labels))
