"""Property checking: which rules that should hold a model breaks, with a witness for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from hornbook.deadline import Deadline
from hornbook.delta import PartSearch, minimise
from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.proof import RuleProver, Verdict, prove_in_time
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

CHECK_CHUNK = 1 << 14
"""Violations drawn and asked about at a time."""

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

    The smallest violation is asked about, body true, head false and all else unknown, and samples in
    which the rule is made violated.

    Parameters
    ----------
    rules
        What should hold.
    member
        The model as a teacher; it must answer about unknown values.
    distribution
        What the samples come from in which a rule is then violated.
    size
        How many samples are asked about for each rule.
    rng
        The source of randomness.
    groups
        Sets of variables that exclude each other.
    prover
        Asked first; what it decides is not sampled.
    seconds
        How long all proofs may take.

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
    rules = rules.over(distribution.vocabulary)
    prove = None
    if prover is not None:
        deadline = Deadline.after(seconds)

        def prove(rule: Rule) -> Verdict[Interpretation]:
            return prove_in_time(partial(prover.prove_rule, rule), prover.seconds, deadline)

    return [_verdict(rule, member, distribution, size, rng, groups, prove) for rule in rules]


def _verdict(
    rule: Rule,
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    groups: Groups,
    prove: Callable[[Rule], Verdict[Interpretation]] | None,
) -> RuleCheck:
    alone = HornTheory(distribution.vocabulary, [rule])
    if not (possible := smallest_violations(alone, groups)):
        return RuleCheck(rule, None, Exact())
    (smallest,) = possible
    proof = None if prove is None else prove(rule)
    if proof is not None and proof.guarantee is not None:
        return RuleCheck(rule, None, proof.guarantee)
    if proof is not None and proof.witness is not None:
        witness = shrink(member, distribution.vocabulary, proof.witness, smallest)
        return RuleCheck(rule, witness, Unknown(f"refuted by {proof.by}, not sampled"))
    undecided = "" if proof is None else proof.reason
    violated = Violations(alone, groups=groups, rest=distribution)
    hits, witnesses = 0, []
    for start in range(0, size, CHECK_CHUNK):
        batch = violated.draw(min(CHECK_CHUNK, size - start), rng)
        accepted = np.flatnonzero(member(batch))
        hits += len(accepted)
        witnesses += list(batch[accepted[:MAX_SHRUNK]])
    guarantee = Estimated(Share.of(hits, size), violated.describe())
    if member(Batch.from_interpretations([smallest], distribution.vocabulary))[0]:
        return RuleCheck(rule, smallest, guarantee, undecided)
    fewest = sorted(witnesses, key=_count_known)[:MAX_SHRUNK]
    shrunk = [shrink(member, distribution.vocabulary, witness, smallest) for witness in fewest]
    return RuleCheck(rule, min(shrunk, key=_count_known, default=None), guarantee, undecided)


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
        [PartSearch(sorted(spare))],
        lambda lists: member(Batch.from_interpretations([keep(own) for _, own in lists], vocabulary)),
    )
    return keep(left)


def _count_known(witness: Interpretation) -> int:
    return len(witness.true) + len(witness.false)
