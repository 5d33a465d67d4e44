"""Certificates checked: whatever they say is derived again, from the model itself.

A proved rule is proved again, and a refuted one is violated by its witness, which has to be an input
in question that the model itself accepts. Which model was asked, and how, is compared with what the
run says. What cannot be derived again, such as why a rule stayed undecided, is held by the digest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import Rule
from hornbook.logic.syntax import UNICODE, rule_text
from hornbook.logic.theory import violation
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.proof.cascade import LOCAL, SECONDS, Prover, Verdict
from hornbook.oracles.proof.certificate import (
    NOBODY,
    PROOFS,
    Certificate,
    digest,
    find_difference,
    subject_object,
    without_digest,
)
from hornbook.oracles.proof.primes import Prime
from hornbook.oracles.proof.region import UNKNOWN
from hornbook.queries import interpretation

BOUND_TOLERANCE = 1e-6
"""By how much a bound that is derived again may differ: sums are rounded differently elsewhere."""

LOCAL_SECONDS = 1e-3
"""A time in which local search is made, which no limit stops, and hardly anything else."""


@dataclass(frozen=True)
class Finding:
    """One thing that was checked, whether it holds, and what was found out."""

    about: str
    holds: bool
    says: str


@dataclass(frozen=True)
class RunClaims:
    """What a run says beside its certificates: checksums of its files, and a guarantee for each rule."""

    checksums: Mapping[str, str]
    guarantees: Mapping[Rule, Any]


def verify_certificates(
    prover: Prover,
    content: Mapping[str, Any],
    *,
    model: Path | None = None,
    claims: RunClaims | None = None,
    seconds: float = 2 * SECONDS,
) -> Iterator[Finding]:
    """Check all that a file of certificates says, one finding for each certificate and problem.

    Parameters
    ----------
    prover
        Who answers, made anew from the model and from what the run says about how to ask it.
    content
        The JSON object in the file.
    model
        The file of the model.
    claims
        What the run says, if the certificates belong to one.
    seconds
        What a question may take.

    """
    derived = subject_object(prover, model)
    for part, about in (("model", "another model"), ("asked", "other questions")):
        if difference := find_difference(content.get(part), derived[part], part):
            yield Finding(PROOFS, False, f"it is about {about}: {difference}")
            return
    intact = content.get("digest") == digest(without_digest(content))
    fine = True
    for finding in _check_entries(prover, content.get("proofs"), claims, seconds, intact):
        fine &= finding.holds
        yield finding
    if not fine:
        return
    parts = {*content} ^ {*derived, "run", "proofs", "digest"}
    checksums = None if claims is None else dict(claims.checksums)
    if parts:
        yield Finding(PROOFS, False, f"{min(parts)!r} is missing, or does not belong there")
    elif difference := find_difference(content["run"], checksums, "run"):
        yield Finding(PROOFS, False, f"the run was changed after its proofs were made: {difference}")
    elif not intact:
        yield Finding(PROOFS, False, "it was changed after it was written: its digest does not match")


def find_missing(
    vocabulary: Vocabulary, claims: RunClaims, certified: Collection[Rule] = ()
) -> Iterator[Finding]:
    """Findings about the rules of a run that have no certificate."""
    for rule, guarantee in claims.guarantees.items():
        if rule not in certified:
            called = f"called {guarantee['kind']}" if _has_kind(guarantee) else "a rule of the run"
            yield Finding(
                _say(vocabulary, rule), False, f"it is {called}, but has no certificate in {PROOFS}"
            )


def _check_entries(
    prover: Prover, entries: Any, claims: RunClaims | None, seconds: float, intact: bool
) -> Iterator[Finding]:
    """Findings about each certificate, and about rules without one."""
    certificates: list[Certificate] = []
    damages: list[str] = [] if isinstance(entries, list) else ["proofs is no list"]
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        try:
            certificates.append(Certificate.from_object(prover.vocabulary, entry, f"proofs[{number}]"))
        except HornbookError as error:
            damages.append(str(error))
    if damages and intact:  # nobody changed it, so these never were certificates
        raise HornbookError(f"{PROOFS}, {damages[0]}")
    if damages:
        yield from (Finding(PROOFS, False, damage) for damage in damages)
        return
    rules = [certificate.rule for certificate in certificates]
    wanted = rules if claims is None else list(claims.guarantees)
    if misplaced := list(_find_misplaced(prover.vocabulary, rules, wanted)):
        yield from misplaced
        return
    if claims is not None:
        yield from find_missing(prover.vocabulary, claims, rules)
    for certificate in certificates:
        yield from _check_certificate(prover, certificate, claims, seconds)


def _find_misplaced(
    vocabulary: Vocabulary, rules: Sequence[Rule], wanted: Sequence[Rule]
) -> Iterator[Finding]:
    """Findings about certificates that should not be there, or not in this place."""
    for number, rule in enumerate(rules):
        if rule in rules[:number]:
            yield Finding(_say(vocabulary, rule), False, f"proofs[{number}] certifies it once more")
        elif rule not in wanted:
            yield Finding(_say(vocabulary, rule), False, f"proofs[{number}] is about no rule of the run")
    if set(rules) == set(wanted) and len(rules) == len(wanted) and list(rules) != list(wanted):
        yield Finding(PROOFS, False, "the certificates are not in the order of the rules")


def _check_certificate(
    prover: Prover, certificate: Certificate, claims: RunClaims | None, seconds: float
) -> Iterator[Finding]:
    """A finding about the verdict, and one about the rule that a refuted one was repaired to."""
    rule, verdict, repair = certificate.rule, certificate.verdict, certificate.repair
    if verdict.witness is not None:
        holds = _is_refuted(prover, rule, verdict.witness)
        says = "the model accepts the witness" if holds else "the witness is no input that refutes it"
    elif verdict.status == "proved":
        holds, says = _prove_again(prover, rule, verdict, seconds)
    else:
        # local search comes first and always ends, so what it refutes was refuted then
        again = None if verdict.by == NOBODY else prover.rule(rule, LOCAL_SECONDS)
        holds = again is None or again.by != LOCAL or again.status != "refuted"
        says = str(verdict) if holds else f"it is {again}"
    if holds and claims is not None:
        guarantee = {"kind": certificate.guarantee.kind, "says": str(certificate.guarantee)}
        if difference := find_difference(claims.guarantees[rule], guarantee, "what the run says of it"):
            holds, says = False, difference
    yield Finding(f"{verdict.status}  {_say(prover.vocabulary, rule)}", holds, says)
    if repair is not None:
        holds, says = _check_repair(prover, rule, repair, seconds)
        yield Finding(f"repaired  {_say(prover.vocabulary, repair.rule)}", holds, says)


def _check_repair(prover: Prover, rule: Rule, repair: Prime, seconds: float) -> tuple[bool, str]:
    """Whether a repaired rule is proved, and every literal that is called needed is."""
    if repair.rule.head != rule.head:
        return False, "it concludes something else than the rule that it repairs"
    for literal, witness in repair.needed.items():
        smaller = Rule(repair.rule.body - {literal}, repair.rule.head)
        if literal not in repair.rule.body or not _is_refuted(prover, smaller, witness):
            return False, f"{prover.vocabulary.name(literal)} is not shown to be needed"
    return _prove_again(prover, repair.rule, repair.verdict, seconds)


def _prove_again(prover: Prover, rule: Rule, verdict: Verdict, seconds: float) -> tuple[bool, str]:
    """Whether a rule is proved again with the same bound, and what the proof says now."""
    again = prover.rule(rule, seconds)
    if again.status != "proved":
        return False, f"it is not proved again: {again}"
    if again.by != verdict.by:
        return False, f"it is proved by {again.by}, not by {verdict.by}"
    if not math.isclose(again.bound, verdict.bound, rel_tol=BOUND_TOLERANCE, abs_tol=BOUND_TOLERANCE):
        return False, f"the bound is {again.bound:.9g}, not {verdict.bound:.9g}"
    return True, str(again)


def _is_refuted(prover: Prover, rule: Rule, witness: Interpretation) -> bool:
    """Whether a witness is an input in question, violates the rule, and is accepted by the model."""
    question = violation(rule)
    question = interpretation(prover.vocabulary, question.true, question.false)
    if not (question.true <= witness.true and question.false <= witness.false):
        return False
    if prover.region(witness) is None:
        return False
    states = prover.states(witness)
    if prover.values == "complete" and (states == UNKNOWN).any():
        return False
    if prover.interpretation(question, states) != witness:
        return False
    return bool(prover.member(Batch.from_interpretations([witness], prover.vocabulary))[0])


def _has_kind(guarantee: Any) -> bool:
    return isinstance(guarantee, dict) and "kind" in guarantee


def _say(vocabulary: Vocabulary, rule: Rule) -> str:
    return rule_text(vocabulary, rule, UNICODE)
