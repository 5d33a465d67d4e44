"""Statistics of each rule of a theory on fresh interpretations: support and precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Batch, Bools, Bottom, HornTheory, Rule, Words, bits
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
    found_by
        The equivalence oracle whose counterexample led to the rule; None where that is not known.
    entailed_by_model
        Whether the model rejects the body with the head false and all else unknown. A precise
        rule need not be entailed; None where the model was not asked.

    """

    rule: Rule
    support: Share
    precision: Share
    found_by: str | None = None
    entailed_by_model: bool | None = None


def measure_rules(theory: HornTheory, batch: Batch, accepted: Bools) -> list[RuleStatistics]:
    """The statistics of every rule, in order.

    Long bodies are hardly ever true in random interpretations. To measure their precision,
    draw from `Violations(theory)`, which breaks one rule after another; the support is then
    that among violations.

    Parameters
    ----------
    theory
        The rules to measure.
    batch, accepted
        Fresh interpretations, and whether the model accepts each.

    Examples
    --------
    >>> from hornbook.queries.random_interpretations import Random
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> batch = Random(t.vocabulary).draw(9000, np.random.default_rng(0))
    >>> [found] = measure_rules(h, batch, t.satisfied_by(batch))
    >>> found.support.low < 1 / 3 < found.support.high  # horse is 1, 0 or ? with equal probability
    True
    >>> found.precision.low < 1 / 3 < found.precision.high  # the model also needs wings
    True

    """
    counts = _count_outcomes(theory, batch, ~accepted).tolist()
    return [
        RuleStatistics(rule, Share.of(fired, len(batch)), Share.of(rejected, broken))
        for rule, (fired, broken, rejected) in zip(theory, counts, strict=True)
    ]


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
