"""Certificates: what was proved of which model, kept in one file.

The file is one JSON object. `model` names the model by checksums; `asked` holds all that decides what
a question means; `run` binds the configuration and the rules of the run that the file belongs to;
`proofs` holds one certificate a rule, in the order of the rules; and `digest` is the checksum of all
this. Nothing in the file depends on how long a proof took, so an interrupted run that goes on leaves
the same file as one that was not interrupted. `verification` derives all of it again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hornbook.logic.batch import Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import read_rule, rule_object
from hornbook.logic.rule import Rule
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.proof.cascade import LOCAL, VACUOUS, Prover, Verdict
from hornbook.oracles.proof.primes import Prime
from hornbook.oracles.proof.sides import BRANCHING, Side
from hornbook.parallel import mapped
from hornbook.queries import Guarantee, Unknown

PROOFS = "proofs.json"
"""What the file is called in a run folder."""

NOBODY, TOTAL_SPENT = "nobody", "the time for all rules was spent"
"""Who decides a rule that was not asked about, and why it was not."""

ENGINES = {
    "proved": (VACUOUS, BRANCHING),
    "refuted": (LOCAL, BRANCHING),
    "undecided": (LOCAL, BRANCHING, NOBODY),
}
"""For each verdict, who can have reached it."""


@dataclass(frozen=True)
class Certificate:
    """The verdict on a rule, and for a refuted rule one that was proved instead, if there is one."""

    rule: Rule
    verdict: Verdict
    repair: Prime | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What can be said of the rule."""
        verdict = self.verdict
        return verdict.guarantee or Unknown(verdict.reason or f"by {verdict.by}", verdict.status)

    def to_object(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """The certificate, ready for JSON: a bound, a witness or a reason, by its verdict."""
        verdict = self.verdict
        entry = {**rule_object(vocabulary, self.rule), "verdict": verdict.status, "by": verdict.by}
        if verdict.status == "proved":
            return {**entry, "bound": _bound_object(verdict)}
        if verdict.witness is not None:
            repair = self.repair and _prime_object(vocabulary, self.repair)
            return {**entry, "witness": _input_object(vocabulary, verdict.witness), "repair": repair}
        return {**entry, "reason": verdict.reason}

    @classmethod
    def from_object(cls, vocabulary: Vocabulary, entry: Any, place: str) -> Certificate:
        """The certificate that `to_object` wrote; anything else is refused, with its place in the file."""
        try:
            certificate = cls._read(vocabulary, entry)
        except (HornbookError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            said = str(error) if isinstance(error, HornbookError) else repr(error)
            raise HornbookError(f"{place} is no certificate: {said}") from None
        if difference := find_difference(entry, certificate.to_object(vocabulary), place):
            raise HornbookError(f"{place} is no certificate: {difference}")
        return certificate

    @classmethod
    def _read(cls, vocabulary: Vocabulary, entry: Any) -> Certificate:
        rule, status, by = read_rule(vocabulary, entry), entry["verdict"], entry["by"]
        if by not in ENGINES[status]:
            raise HornbookError(f"nothing is {status} by {by!r}")
        if status == "proved":
            return cls(rule, Verdict(status, by, 0.0, _read_bound(entry)))
        if status == "refuted":
            witness = _read_input(vocabulary, entry["witness"])
            repair = entry["repair"] and _read_prime(vocabulary, entry["repair"])
            return cls(rule, Verdict(status, by, 0.0, math.inf, witness), repair or None)
        return cls(rule, Verdict(status, by, 0.0, math.inf, reason=entry["reason"]))


class Certificates:
    """The certificates of one model, written down as they are made.

    Parameters
    ----------
    prover
        Who answers about the model.
    path
        Their file; none is written if not given. What it holds about the same model, asked in
        the same way, is taken over.
    model
        The file of the model, whose checksum the certificates then name.

    """

    def __init__(self, prover: Prover, path: Path | None = None, model: Path | None = None) -> None:
        self.prover, self.path = prover, path
        self.subject = subject_object(prover, model)
        self.by_rule: dict[Rule, Certificate] = {}
        self.earlier: dict[Rule, Certificate] = {}
        if path is not None and path.is_file():
            content = read_certificates(path)
            if content.get("digest") != digest(without_digest(content)):
                raise HornbookError(f"{path} was changed after it was written; write over it with --force")
            if find_difference({part: content.get(part) for part in self.subject}, self.subject, "") is None:
                self.earlier = {each.rule: each for each in self._read(content)}

    def find_decided(self, rule: Rule) -> Certificate | None:
        """The certificate of a rule that is decided."""
        found = self.by_rule.get(rule) or self.earlier.get(rule)
        return None if found is None or found.verdict.status == "undecided" else found

    def add(self, certificate: Certificate) -> None:
        """Add a certificate, or put it in the place of an earlier one, and write all of them down."""
        self.by_rule[certificate.rule] = certificate
        self.earlier.pop(certificate.rule, None)
        # those of earlier rules that were not reached yet stay
        self._write(None, [*self.by_rule.values(), *self.earlier.values()])

    def bind(self, run: Mapping[str, str]) -> None:
        """Write the certificates down for good, bound to a run by the checksums of its files."""
        self._write(run, self.by_rule.values())

    @property
    def guarantees(self) -> dict[Rule, Guarantee]:
        """What can be said of each rule."""
        return {rule: certificate.guarantee for rule, certificate in self.by_rule.items()}

    def _read(self, content: Mapping[str, Any]) -> Iterable[Certificate]:
        entries = content.get("proofs")
        for number, entry in enumerate(entries if isinstance(entries, list) else []):
            yield Certificate.from_object(self.prover.vocabulary, entry, f"{PROOFS}, proofs[{number}]")

    def _write(self, run: Mapping[str, str] | None, certificates: Iterable[Certificate]) -> None:
        if self.path is None:
            return
        entries = [each.to_object(self.prover.vocabulary) for each in certificates]
        content = {**self.subject, "run": run, "proofs": entries}
        fresh = self.path.with_name(f"{self.path.name}.new")
        text = json.dumps({**content, "digest": digest(content)}, ensure_ascii=False, indent=1)
        fresh.write_text(f"{text}\n", "utf-8")
        fresh.replace(self.path)


def prove_rules(
    certificates: Certificates,
    rules: Iterable[Rule],
    *,
    total: float = math.inf,
    n_jobs: int | None = None,
) -> Generator[Certificate]:
    """The certificate of each rule, in order, as it becomes known and is written down.

    Parameters
    ----------
    certificates
        Where they are kept, and who answers. What is decided there is not asked again.
    rules
        The rules.
    total
        So many seconds for all rules together; what comes later is undecided.
    n_jobs
        How many processes share the questions, see `hornbook.parallel.mapped`.

    """
    known = {rule: certificates.find_decided(rule) for rule in rules}
    asked = [rule for rule, certificate in known.items() if certificate is None]
    answers = mapped(_prove_rule, asked, shared=(certificates.prover, time.time() + total), n_jobs=n_jobs)
    for rule, earlier in known.items():
        certificate = earlier or Certificate(rule, next(answers))
        certificates.add(certificate)
        yield certificate


def _prove_rule(prover: Prover, deadline: float, rule: Rule) -> Verdict:
    left = min(prover.seconds, deadline - time.time())
    if left <= 0:
        return Verdict("undecided", NOBODY, 0.0, math.inf, reason=TOTAL_SPENT)
    verdict = prover.rule(rule, left)
    if verdict.status == "undecided" and left < prover.seconds:
        return replace(verdict, reason=TOTAL_SPENT)
    return verdict


def read_certificates(path: Path) -> dict[str, Any]:
    """The content of a file of certificates: a JSON object of which nothing is believed yet."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise HornbookError(f"there is no {path}; make proofs with hornbook extract --proof") from None
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise HornbookError(f"{path} holds no proofs, or is damaged; make them anew with --proof")
    return content


def subject_object(prover: Prover, model: Path | None = None) -> dict[str, Any]:
    """What certificates are about, ready for JSON: the model, and all that decides what a question means."""
    vocabulary, predictor = prover.vocabulary, prover.predictor
    positive = predictor.positive
    return {
        "model": {
            "sha256": None if model is None else hashlib.sha256(model.read_bytes()).hexdigest(),
            "network": checksum(prover.accepting),
        },
        "asked": {
            "vocabulary": list(vocabulary.names),
            "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
            "groups": [list(vocabulary.named(group)) for group in prover.groups],
            "values": prover.values,
            "label": prover.label,
            "features": None if prover.classifier is None else list(prover.classifier.features.names),
            "encoding": asdict(predictor.encoding),
            "threshold": predictor.threshold,
            "positive": positive.item() if hasattr(positive, "item") else positive,
            "output": predictor.output,
        },
    }


def checksum(side: Side) -> str:
    """The SHA-256 of a model as it was read: the numbers that it computes with, its threshold among them."""
    found = hashlib.sha256()
    for part in side.numbers:
        found.update(repr(part.shape).encode())
        found.update(part.astype("<f8").tobytes())
    return found.hexdigest()


def digest(content: Any) -> str:
    """The SHA-256 of a JSON value, whatever the order of its keys and its layout."""
    return hashlib.sha256(_text(content).encode()).hexdigest()


def without_digest(content: Mapping[str, Any]) -> dict[str, Any]:
    """All that the digest of a file of certificates is about."""
    return {part: value for part, value in content.items() if part != "digest"}


def find_difference(given: Any, derived: Any, place: str) -> str | None:
    """Where a JSON value first differs from what it should be, and how; None if it is the same.

    Examples
    --------
    >>> find_difference({"true": 1.0, "unknown": 0.5}, {"true": 1.0, "unknown": 0.25}, "encoding")
    'encoding.unknown is 0.5, not 0.25'
    >>> find_difference(["fever"], ["fever", "cough"], "body")
    'body is ["fever"], not ["fever", "cough"]'

    """
    if _text(given) == _text(derived):
        return None
    if isinstance(given, dict) and isinstance(derived, dict):
        keys = dict.fromkeys((*derived, *given))
        if lone := next((key for key in keys if (key in given) != (key in derived)), None):
            return (
                f"{place}.{lone} is missing" if lone in derived else f"{place}.{lone} does not belong there"
            )
        parts = [(given[key], derived[key], f"{place}.{key}") for key in keys]
    elif isinstance(given, list) and isinstance(derived, list) and len(given) == len(derived):
        parts = [(*pair, f"{place}[{i}]") for i, pair in enumerate(zip(given, derived, strict=True))]
    else:
        return f"{place} is {_short(given)}, not {_short(derived)}"
    return next(difference for part in parts if (difference := find_difference(*part)))


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _short(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _bound_object(verdict: Verdict) -> float | None:
    """The bound of a proof; null where no input can break the rule."""
    return float(verdict.bound) if math.isfinite(verdict.bound) else None


def _read_bound(entry: Mapping[str, Any]) -> float:
    return -math.inf if entry["bound"] is None else float(entry["bound"])


def _prime_object(vocabulary: Vocabulary, prime: Prime) -> dict[str, Any]:
    """A proved rule, with the inputs that show which of its literals are needed."""
    needed = {vocabulary.name(v): _input_object(vocabulary, prime.needed[v]) for v in sorted(prime.needed)}
    proved = {"by": prime.verdict.by, "bound": _bound_object(prime.verdict)}
    return {**rule_object(vocabulary, prime.rule), **proved, "needed": needed}


def _read_prime(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Prime:
    """The rule and its literals that `_prime_object` wrote; without the questions on the way."""
    rule = read_rule(vocabulary, entry)
    needed = {vocabulary.index(v): _read_input(vocabulary, item) for v, item in entry["needed"].items()}
    verdict = Verdict("proved", entry["by"], 0.0, _read_bound(entry))
    return Prime(rule, verdict, needed, tuple(sorted(rule.body - set(needed))))


def _input_object(vocabulary: Vocabulary, item: Interpretation) -> dict[str, Any]:
    return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}


def _read_input(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Interpretation:
    return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))
