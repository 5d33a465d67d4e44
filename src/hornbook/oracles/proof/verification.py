"""Certificates checked again: witnesses are given to the model, and proofs are made anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import read_rule
from hornbook.logic.rule import Rule
from hornbook.logic.theory import violation
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters import Encoding, as_predictor
from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.certificate import checksum, read_prime, read_verdict

PATIENCE = 10.0
"""So many seconds at least, and twice what it took before, a proof may take when it is checked."""


@dataclass(frozen=True)
class Checked:
    """One certificate, checked: whether it holds, and what is wrong if not."""

    rule: Rule
    status: str
    holds: bool
    says: str


def restored(content: Mapping[str, Any], model: Any, name: str) -> Prover:
    """The prover that certificates came from, about a model that was loaded again."""
    try:
        asked = dict(content["asked"])
        vocabulary = Vocabulary(asked["vocabulary"], asked["duals"])
        groups = tuple(tuple(map(vocabulary.index, group)) for group in asked["groups"])
        predictor = as_predictor(
            model,
            encoding=Encoding(**asked["encoding"]),
            threshold=asked["threshold"],
            positive=asked["positive"],
            output=asked["output"],
            name=name,
        )
        how = {part: asked[part] for part in ("values", "label", "features")}
    except (KeyError, TypeError, ValueError) as error:
        raise HornbookError(f"the proofs do not say how the model was asked: {error!r}") from None
    return Prover(predictor, vocabulary, groups=groups, **how)


def verified(prover: Prover, content: Mapping[str, Any]) -> Iterator[Checked]:
    """Check every certificate, that of a repaired rule after that of the refuted one."""
    if content["network"] != checksum(prover.accepting):
        raise HornbookError("the proofs are about another network: the checksums of the weights differ")
    for entry in content["proofs"]:
        try:
            rule = read_rule(prover.vocabulary, entry)
        except (KeyError, TypeError, ValueError) as error:
            raise HornbookError(f"a certificate is damaged: {error!r}") from None
        yield _checked(prover, rule, read_verdict(prover.vocabulary, entry))
        if entry.get("repaired"):
            prime = read_prime(prover.vocabulary, entry["repaired"])
            again = _checked(prover, prime.rule, prime.verdict)
            wrong = [v for v, item in prime.needed.items() if not _breaks(prover, prime.rule, v, item)]
            if wrong:
                name = prover.vocabulary.name(wrong[0])
                again = Checked(prime.rule, again.status, False, f"{name} is not shown to be needed")
            yield again


def _checked(prover: Prover, rule: Rule, verdict: Verdict) -> Checked:
    if verdict.status == "undecided":
        return Checked(rule, verdict.status, True, "nothing is claimed")
    if verdict.witness is not None and verdict.status == "refuted":
        accepted = _accepted(prover, rule, verdict.witness)
        says = "the model accepts the witness" if accepted else "it does not"
        return Checked(rule, verdict.status, accepted, says)
    again = prover.rule(rule, max(PATIENCE, 2 * verdict.seconds))
    return Checked(rule, verdict.status, again.status == verdict.status, str(again))


def _breaks(prover: Prover, rule: Rule, literal: int, witness: Interpretation) -> bool:
    """Whether a witness refutes a rule once a literal of its body is left out."""
    return literal in rule.body and _accepted(prover, Rule(rule.body - {literal}, rule.head), witness)


def _accepted(prover: Prover, rule: Rule, witness: Interpretation) -> bool:
    """Whether the model accepts a witness that violates a rule."""
    question = violation(rule)
    violates = question.true <= witness.true and question.false <= witness.false
    return violates and bool(prover.member(Batch.from_interpretations([witness], prover.vocabulary))[0])
