"""The rules of a fitted extractor, proved of its model for every input, refuted, or repaired."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornbook.extractor import HornExtractor
from hornbook.extractor.subject import Subject
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import Rule
from hornbook.oracles.proof import Prime, Prover, Verdict, proofs, repaired
from hornbook.oracles.proof.certificate import verdict_object, write
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
        return self.verdict.guarantee or Unknown(str(self.verdict))

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
    prover: Prover,
    rules: Sequence[Rule],
    path: Path | None = None,
    model: Path | None = None,
    *,
    total: float | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> list[Proof]:
    """Prove or refute each rule, and repair what was refuted; `path` keeps certificates all the while.

    An interruption ends it, and what is known by then is kept.
    """
    deadline = time.time() + (math.inf if total is None else total)
    found: list[Proof] = []
    try:
        for rule, verdict in proofs(prover, rules, path, model, total=deadline - time.time()):
            found.append(Proof(rule, verdict))
            watch({"query": len(found), "rules": len(rules), "membership_queries": 0})
        for place, proof in enumerate(found):
            if proof.verdict.status == "refuted" and time.time() < deadline:
                found[place] = Proof(proof.rule, proof.verdict, repaired(prover, proof.rule))
                _keep(path, prover, found, model)
    except KeyboardInterrupt:
        pass
    return found


def _keep(path: Path | None, prover: Prover, found: Sequence[Proof], model: Path | None) -> None:
    """Write the certificates of all rules, those of repaired ones after them."""
    if path is None:
        return
    pairs = [(proof.rule, proof.verdict) for proof in found]
    pairs += [
        (each.repair.rule, each.repair.verdict) for each in found if each.repair is not None and each.mended
    ]
    write(path, prover, [verdict_object(prover.vocabulary, *pair) for pair in pairs], model)
