"""Statistics of each rule of a theory on fresh interpretations: support, precision, redundancy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution
from hornbook.errors import HornbookError
from hornbook.evaluate.fidelity import ask_judge, draw_chunks
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Rule, Words, bits, chaining
from hornbook.queries import Membership
from hornbook.statistics import Share


@dataclass(frozen=True)
class RuleStatistics:
    """Statistics of one rule on fresh interpretations.

    Attributes
    ----------
    rule
        The rule A → c.
    support
        The share of interpretations in which every variable of A is known to be true.
    precision
        Of the interpretations that break the rule, those with A true and c known to be false
        (any with A true where the head is ⊥), the share that the model rejects. A rule that
        the model obeys has 1. One that no interpretation broke has the interval [0, 1].
    redundant
        Whether the other rules and the background entail it. Of two rules that say the same,
        each is redundant.
    in_target, entailed_by_target
        Whether the target has this very rule, and whether it follows from the target; None
        without a target.
    found_by
        The equivalence oracle whose counterexample led to the rule; None where that is not known.
    entailed_by_model
        Whether the model rejects the body with the head false and all else unknown. A precise
        rule need not be entailed; None where the model was not asked.

    """

    rule: Rule
    support: Share
    precision: Share
    redundant: bool
    in_target: bool | None = None
    entailed_by_target: bool | None = None
    found_by: str | None = None
    entailed_by_model: bool | None = None

    @property
    def length(self) -> int:
        """The number of literals in the body."""
        return len(self.rule.body)


def rule_statistics(
    theory: HornTheory,
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    background: HornTheory | None = None,
    target: HornTheory | None = None,
) -> list[RuleStatistics]:
    """The statistics of every rule, in order.

    Long bodies are hardly ever true in random interpretations. To measure their precision,
    draw from `Violations(theory)`, which breaks one rule after another; the support is then
    that among violations.

    Parameters
    ----------
    theory
        The rules to measure.
    member
        The model from which they were extracted.
    distribution, size, rng
        Where the fresh interpretations come from, and how many. Memory does not depend on it.
    background
        Rules known to hold, which count for redundancy but are not measured.
    target
        The theory the model was trained on, if known.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> drawn = Random(t.vocabulary)
    >>> [found] = rule_statistics(h, t.satisfied_by, drawn, 9000, np.random.default_rng(0), target=t)
    >>> found.support.low < 1 / 3 < found.support.high  # horse is 1, 0 or ? with equal probability
    True
    >>> found.precision.low < 1 / 3 < found.precision.high  # the target also needs wings
    True
    >>> found.in_target, found.entailed_by_target
    (False, False)

    """
    for other in (background, target, distribution):
        if other is not None and other.vocabulary != theory.vocabulary:
            raise HornbookError("theory, background, target and distribution are over one vocabulary")
    labelled = (
        (batch, ask_judge(member, batch, "the model")) for batch in draw_chunks(distribution, size, rng)
    )
    return statistics_on(labelled, theory, background=background, target=target)


def statistics_on(
    labelled: Iterable[tuple[Batch, Bools]],
    theory: HornTheory,
    *,
    background: HornTheory | None = None,
    target: HornTheory | None = None,
) -> list[RuleStatistics]:
    """The statistics of every rule on batches with the model's answers."""
    size, counts = 0, np.zeros((len(theory), 3), np.int64)
    for batch, accepted in labelled:
        size += len(batch)
        counts += _count_outcomes(theory, batch, ~accepted)
    needless = find_redundant_rules(theory, background)
    known = frozenset(target.rules) if target else frozenset()
    return [
        RuleStatistics(
            rule,
            Share.of(fired, size),
            Share.of(rejected, broken),
            redundant,
            rule in known if target else None,
            target.entails(rule) if target else None,
        )
        for rule, redundant, (fired, broken, rejected) in zip(theory, needless, counts.tolist(), strict=True)
    ]


def find_redundant_rules(theory: HornTheory, background: HornTheory | None = None) -> list[bool]:
    """For each rule, whether the other rules and the background entail it."""
    width = len(theory.vocabulary)
    implications = [(chaining.mask(rule.body), _head_bit(rule, width)) for rule in theory]
    known = background.program.masks if background else []
    found = []
    for position, (body, head) in enumerate(implications):
        others = chaining.Program([*known, *implications[:position], *implications[position + 1 :]], width)
        found.append(bool(others.close(body) & (head | others.bottom)))
    return found


def _count_outcomes(theory: HornTheory, batch: Batch, rejected: Bools) -> NDArray[np.int64]:
    """Numbers of interpretations that fire each rule, break it, and break it and are rejected: (rules, 3)."""
    refused = bits.pack_rows(rejected[None, :])[0]
    fires: dict[frozenset[int], Words] = {}
    counts = np.zeros((len(theory), 3), np.int64)
    for row, rule in zip(counts, theory, strict=True):
        if rule.body not in fires:
            fires[rule.body] = np.bitwise_and.reduce(batch.true[sorted(rule.body)], axis=0)
            bits.clear_spare(fires[rule.body], len(batch))
        fired = fires[rule.body]
        broken = fired if isinstance(rule.head, Bottom) else fired & batch.false[rule.head]
        row[:] = [np.bitwise_count(words).sum() for words in (fired, broken, broken & refused)]
    return counts


def _head_bit(rule: Rule, width: int) -> int:
    return 1 << (width if isinstance(rule.head, Bottom) else rule.head)
