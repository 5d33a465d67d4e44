"""Certificates: what was proved of which network, kept in a file.

`proofs.json` names the network by a checksum of its weights and threshold, says how it was asked,
and lists for each rule the verdict, the engine, the bound or the witness, and the seconds; for a
refuted rule that was repaired also the rule that holds instead, and for every literal of that an
input that shows it to be needed. It is written anew after every verdict, and what an interrupted
run left in it is not asked again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hornbook.logic.batch import Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import read_rule, rule_object
from hornbook.logic.rule import Rule
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.primes import Prime
from hornbook.oracles.proof.sides import Side
from hornbook.parallel import mapped

PROOFS = "proofs.json"


class Certificates:
    """The certificates of one model, as they are made.

    Parameters
    ----------
    prover
        Who answers about the model.
    path
        Their file; none is written if not given. What it holds about the same model, asked in
        the same way, is taken over.
    model
        The file of the model, which the certificates then name.

    """

    def __init__(self, prover: Prover, path: Path | None = None, model: Path | None = None) -> None:
        self.prover, self.path, self.model = prover, path, model
        self.entries: dict[Rule, dict[str, Any]] = {}
        self.earlier: dict[Rule, dict[str, Any]] = {}
        if path is not None and path.is_file():
            content = read(path)
            if all(content.get(part) == own for part, own in self._about().items()):
                self.earlier = {read_rule(prover.vocabulary, entry): entry for entry in content["proofs"]}

    def verdict(self, rule: Rule) -> Verdict | None:
        """What is known of a rule; what was undecided is not known."""
        entry = self.entries.get(rule) or self.earlier.get(rule)
        found = entry and read_verdict(self.prover.vocabulary, entry)
        return None if not found or found.status == "undecided" else found

    def repair(self, rule: Rule) -> Prime | None:
        """What a refuted rule was repaired to."""
        entry = self.entries.get(rule) or self.earlier.get(rule) or {}
        return read_prime(self.prover.vocabulary, entry["repaired"]) if entry.get("repaired") else None

    def keep(self, rule: Rule, verdict: Verdict, repair: Prime | None = None) -> None:
        """Add a certificate, and write all of them down."""
        vocabulary = self.prover.vocabulary
        repair = repair or self.repair(rule)
        self.entries[rule] = {
            **verdict_object(vocabulary, rule, verdict),
            "repaired": repair and prime_object(vocabulary, repair),
        }
        self.earlier.pop(rule, None)
        if self.path is None:
            return
        # those of earlier rules that were not reached yet stay
        content = {
            **self._about(),
            "model": None if self.model is None else str(self.model.resolve()),
            "proofs": [*self.entries.values(), *self.earlier.values()],
        }
        fresh = self.path.with_name(f"{self.path.name}.new")
        fresh.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
        fresh.replace(self.path)

    def _about(self) -> dict[str, Any]:
        return {"network": checksum(self.prover.accepting), "asked": _asked(self.prover)}


def proofs(
    certificates: Certificates,
    rules: Iterable[Rule],
    *,
    total: float = math.inf,
    n_jobs: int | None = None,
) -> Generator[tuple[Rule, Verdict]]:
    """The verdict on each rule, in order, as it becomes known and is kept.

    Parameters
    ----------
    certificates
        Where they are kept, and who answers.
    rules
        The rules.
    total
        So many seconds for all rules together; what comes later is undecided.
    n_jobs
        How many processes share the questions, see `hornbook.parallel.mapped`.

    """
    known = {rule: certificates.verdict(rule) for rule in rules}
    asked = [rule for rule, verdict in known.items() if verdict is None]
    answers = mapped(_verdict, asked, shared=(certificates.prover, time.time() + total), n_jobs=n_jobs)
    for rule, earlier in known.items():
        verdict = earlier or next(answers)
        certificates.keep(rule, verdict)
        yield rule, verdict


def _verdict(prover: Prover, deadline: float, rule: Rule) -> Verdict:
    left = min(prover.seconds, deadline - time.time())
    if left <= 0:
        return Verdict("undecided", "nobody", 0.0, math.inf, reason="the time for all rules was spent")
    return prover.rule(rule, left)


def checksum(side: Side) -> str:
    """A fingerprint of a model: the numbers that it computes with, and its threshold."""
    digest = hashlib.sha256()
    for part in side.numbers:
        digest.update(repr(part.shape).encode())
        digest.update(part.astype("<f8").tobytes())
    return digest.hexdigest()


def verdict_object(vocabulary: Vocabulary, rule: Rule, verdict: Verdict) -> dict[str, Any]:
    """A certificate, ready for JSON; a bound that is infinite is null."""
    return {
        **rule_object(vocabulary, rule),
        "verdict": verdict.status,
        "by": verdict.by,
        "seconds": round(verdict.seconds, 3),
        "bound": verdict.bound if math.isfinite(verdict.bound) else None,
        "witness": verdict.witness and _item_object(vocabulary, verdict.witness),
        "reason": verdict.reason or None,
    }


def read_verdict(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Verdict:
    """The verdict that `verdict_object` wrote down."""
    try:
        endless = -math.inf if entry["verdict"] == "proved" else math.inf
        bound = endless if entry["bound"] is None else float(entry["bound"])
        witness = entry["witness"] and _read_item(vocabulary, entry["witness"])
        seconds, reason = float(entry["seconds"]), entry["reason"] or ""
        return Verdict(entry["verdict"], entry["by"], seconds, bound, witness or None, reason)
    except (KeyError, TypeError, ValueError) as error:
        raise HornbookError(f"a certificate is damaged: {error!r}") from None


def prime_object(vocabulary: Vocabulary, prime: Prime) -> dict[str, Any]:
    """The certificate of a rule with what is known of each of its literals."""
    needed = {vocabulary.name(v): _item_object(vocabulary, item) for v, item in prime.needed.items()}
    return {**verdict_object(vocabulary, prime.rule, prime.verdict), "needed": needed}


def read_prime(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Prime:
    """The rule and its literals that `prime_object` wrote down; without the questions on the way."""
    rule, verdict = read_rule(vocabulary, entry), read_verdict(vocabulary, entry)
    try:
        needed = {vocabulary.index(v): _read_item(vocabulary, item) for v, item in entry["needed"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HornbookError(f"a certificate is damaged: {error!r}") from None
    return Prime(rule, verdict, needed, tuple(sorted(rule.body - set(needed))))


def _item_object(vocabulary: Vocabulary, item: Interpretation) -> dict[str, Any]:
    return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}


def _read_item(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Interpretation:
    return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))


def _asked(prover: Prover) -> dict[str, Any]:
    """All that decides what a question means."""
    vocabulary, predictor = prover.vocabulary, prover.predictor
    positive = predictor.positive
    return {
        "vocabulary": list(vocabulary.names),
        "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
        "groups": [list(vocabulary.named(group)) for group in prover.groups],
        "values": prover.values,
        "label": prover.label,
        "features": None if prover.classifier is None else list(prover.classifier.features.names),
        "encoding": asdict(predictor.encoding),
        "threshold": predictor.threshold,
        "positive": positive.item() if hasattr(positive, "item") else positive,
        "output": predictor.output if hasattr(predictor.source, "parameters") else None,
    }


def read(path: Path) -> dict[str, Any]:
    """The certificates in a file."""
    try:
        content = json.loads(path.read_text("utf-8"))
        entries = content["proofs"]
        if not isinstance(content["network"], str) or not isinstance(entries, list):
            raise ValueError
    except FileNotFoundError:
        raise HornbookError(
            f"there is no {path}; make proofs with hornbook extract --proof, or hornbook check --proof"
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise HornbookError(f"{path} holds no proofs, or is damaged; make them anew with --proof") from None
    return dict(content)
