"""The rules of a fitted extractor, proved of its model for every input, refuted, or repaired."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hornbook.extractor import HornExtractor
from hornbook.extractor.subject import Subject
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import Rule
from hornbook.oracles.proof import Certificates, Prime, Prover, Verdict, proofs, repaired
from hornbook.queries import Guarantee, Unknown


@dataclass(frozen=True)
class Proof:
    """What became of a rule: the verdict on it, and a rule that holds instead if it was refuted."""

    rule: Rule
    verdict: Verdict
    repair: Prime | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What can be said of the rule."""
        status = self.verdict.status
        return self.verdict.guarantee or Unknown(str(self.verdict).removeprefix(f"{status} "), status)

    @property
    def mended(self) -> bool:
        """Whether there is a rule that holds instead."""
        return self.repair is not None and self.repair.verdict.status == "proved"


def prover_of(extractor: HornExtractor, seconds: float) -> Prover:
    """Who proves what the model of a fitted extractor says."""
    if extractor.decider_ is not None:
        raise HornbookError(
            "a card or a tree is no set of rules that could be proved one by one; use --form rules"
        )
    if len(extractor.subjects_) > 1:
        raise HornbookError("proofs are about models of two classes; say which class with --positive")
    (subject,) = extractor.subjects_
    if isinstance(subject, Subject) and subject.by_columns:
        raise HornbookError(
            f"{subject.predictor.name} reads the columns of the table; proofs are about networks that read "
            "the variables that hornbook makes of them, such as those of --train"
        )
    return subject.teacher.prover(seconds)


def prove(
    certificates: Certificates,
    rules: Sequence[Rule],
    *,
    total: float | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> Iterator[Proof]:
    """Prove or refute each rule, as it becomes known, and then once more each that was refuted, repaired.

    What the certificates know already is not asked again.
    """
    deadline = time.time() + (math.inf if total is None else total)
    refuted = []
    for place, (rule, verdict) in enumerate(proofs(certificates, rules, total=deadline - time.time())):
        proof = Proof(rule, verdict, certificates.repair(rule))
        watch({"query": place + 1, "rules": len(rules), "membership_queries": 0})
        yield proof
        if verdict.status == "refuted" and proof.repair is None:
            refuted.append(proof)
    for proof in refuted:
        if time.time() < deadline:
            repair = repaired(certificates.prover, proof.rule, deadline)
            certificates.keep(proof.rule, proof.verdict, repair)
            yield replace(proof, repair=repair)
