"""Whether a judge breaks rules over variables, with a witness for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from hornbook.deadline import Deadline
from hornbook.delta import minimise
from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.proof import RuleProver, prove_in_time
from hornbook.queries import (
    Distribution,
    Estimated,
    Exact,
    Groups,
    Guarantee,
    Membership,
    Unknown,
    Violations,
    smallest_violations,
)
from hornbook.schema import also_writes
from hornbook.statistics import Share

MAX_SHRUNK = 8
"""Witnesses that are made smaller; the smallest is given."""


@also_writes("broken")
@dataclass(frozen=True)
class RuleCheck:
    """Whether a model breaks a rule.

    `witness` is an interpretation that violates the rule and that the model accepts, the smallest
    found. `guarantee` says how often samples that violate the rule were accepted, whether the
    rule is broken or not; it is exact for a rule that nothing can violate, and a proof where one
    was found. `undecided` says why none was found though one was asked for.
    """

    rule: Rule
    witness: Interpretation | None
    guarantee: Guarantee
    undecided: str = ""

    @property
    def broken(self) -> bool:
        """Whether there is a witness."""
        return self.witness is not None


def check_theory(
    rules: HornTheory,
    member: Membership,
    distribution: Distribution,
    size: int = 10_000,
    *,
    rng: np.random.Generator,
    groups: Groups = (),
    prover: RuleProver | None = None,
    seconds: float | None = None,
) -> list[RuleCheck]:
    r"""For each rule look for an interpretation that violates it and that the model accepts.

    The smallest violation is asked about, body true, head false and all else unknown, and `size` samples
    of a distribution in which the rule is made violated. `groups` of variables exclude each other. What a
    prover decides in some seconds is not sampled.

    Examples
    --------
    >>> from hornbook.queries import Random
    >>> model = HornTheory.parse("horse & wings -> pegasus")
    >>> rules = HornTheory.parse("horse -> pegasus \n horse & wings -> pegasus", model.vocabulary)
    >>> for verdict in check_theory(
    ...     rules, model.satisfied_by, Random(model.vocabulary), 1000, rng=np.random.default_rng(0)
    ... ):
    ...     print(verdict.broken, verdict.witness)
    True true [0], false [2], all else unknown
    False None

    """
    if size < 1:
        raise HornbookError(f"a rule is checked on at least one sample; got size={size}")
    vocabulary, deadline, checks = distribution.vocabulary, Deadline.after(seconds), []
    for rule in rules.over(vocabulary):
        alone, undecided = HornTheory(vocabulary, [rule]), ""
        if not (smallest := smallest_violations(alone, groups)):
            checks.append(RuleCheck(rule, None, Exact()))
            continue
        guarantee: Guarantee | None = None
        found: list[Interpretation] = []
        if prover is not None:
            verdict = prove_in_time(partial(prover.prove_rule, rule), prover.seconds, deadline)
            guarantee, undecided = verdict.guarantee, verdict.reason
            if verdict.witness is not None:
                found, guarantee = [verdict.witness], Unknown(f"refuted by {verdict.by}, not sampled")
        if guarantee is None:
            violated = Violations(alone, groups=groups, rest=distribution)
            drawn = violated.draw(size, rng)
            accepted = np.flatnonzero(member(drawn))
            guarantee = Estimated(Share.of(len(accepted), size), violated.describe())
            if member(Batch.from_interpretations(smallest, vocabulary))[0]:
                found = smallest
            else:
                found = sorted(drawn[accepted], key=_count_known)[:MAX_SHRUNK]
        shrunk = [shrink(member, vocabulary, witness, smallest[0]) for witness in found]
        witness = min(shrunk, key=_count_known, default=None)
        checks.append(RuleCheck(rule, witness, guarantee, undecided))
    return checks


def shrink(
    member: Membership, vocabulary: Vocabulary, witness: Interpretation, needed: Interpretation
) -> Interpretation:
    """Make values unknown, except the needed ones, until the model would reject if any more were."""
    known = (witness.true | witness.false) - needed.true - needed.false
    duals = {dual for v, dual in vocabulary.pairs if v in known}
    spare = known - duals

    def keep(values: list[int]) -> Interpretation:
        forgotten = spare.difference(values)
        gone = {*forgotten, *(vocabulary.dual(v) for v in forgotten)}
        return Interpretation(witness.true - gone, witness.false - gone)

    (left,) = minimise(
        [sorted(spare)],
        lambda lists: member(Batch.from_interpretations([keep(own) for _, own in lists], vocabulary)),
    )
    return keep(left)


def _count_known(witness: Interpretation) -> int:
    return len(witness.true) + len(witness.false)
