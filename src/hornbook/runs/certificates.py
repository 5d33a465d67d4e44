"""Certificates of proofs: proving rules, writing a file of verdicts, and deriving each of them again.

The file is one JSON object. `model` names the model by checksums; `asked` holds everything that
determines what a question means; `proofs` holds one certificate per rule, in the order of the rules;
`digest` is the checksum of the rest. Nothing in the file depends on the time a proof took, so an
interrupted and resumed run leaves the same file as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.logic import UNICODE, Interpretation, Rule, Vocabulary, rule_text, vocabulary_forms
from hornbook.proof import (
    PROOF_SECONDS,
    TOTAL_TIME_SPENT,
    Engine,
    Prime,
    RuleProver,
    Verdict,
    prove_in_time,
    repair_rule,
)
from hornbook.queries import Guarantee, Proved, Unknown, UnknownKind
from hornbook.runs.seal import Finding
from hornbook.schema import read_object, write_object
from hornbook.storage import read_json, write_file

PROOFS_FILE = "proofs.json"
"""Name of the certificate file in a run folder."""


@dataclass(frozen=True)
class Repair:
    """A proved rule in place of a refuted one, and inputs that show, by name, which literals are needed."""

    rule: Rule
    by: Engine
    bound: float
    needed: Mapping[str, Interpretation]

    @classmethod
    def of(cls, prime: Prime, vocabulary: Vocabulary) -> Repair:
        """The repair that was found."""
        needed = {vocabulary.name(literal): prime.needed[literal] for literal in sorted(prime.needed)}
        return cls(prime.rule, prime.verdict.by, prime.verdict.bound, needed)

    @property
    def is_prime(self) -> bool:
        """Whether every literal is shown to be needed."""
        return len(self.needed) == len(self.rule.body)


@dataclass(frozen=True)
class Certificate:
    """The verdict on a rule and, for a refuted rule, the proved repair if there is one."""

    rule: Rule
    verdict: Verdict[Interpretation]
    repair: Repair | None = None

    @classmethod
    def of(cls, rule: Rule, verdict: Verdict[Interpretation]) -> Certificate:
        """The certificate of a verdict, without what depends on the time that it took."""
        bound = verdict.bound if verdict.status == "proved" else math.inf
        return cls(rule, Verdict(verdict.status, verdict.by, 0.0, bound, verdict.witness, verdict.reason))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for the rule."""
        verdict = self.verdict
        status: UnknownKind = "refuted" if verdict.status == "refuted" else "undecided"
        return verdict.guarantee or Unknown(verdict.reason or f"by {verdict.by}", status)

    def to_object(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """The certificate, ready for JSON."""
        content: dict[str, Any] = write_object(self, vocabulary_forms(vocabulary))
        return content

    @classmethod
    def from_object(cls, vocabulary: Vocabulary, entry: Any, place: str) -> Certificate:
        """Read what `to_object` wrote; refuse anything else, with its place in the file."""
        certificate = read_object(cls, entry, place, vocabulary_forms(vocabulary))
        if difference := find_difference(entry, certificate.to_object(vocabulary), place):
            raise HornbookError(f"{place} is not a certificate: {difference}")
        verdict = certificate.verdict
        evidence = {
            "proved": verdict.bound < math.inf,
            "refuted": verdict.witness is not None,
            "undecided": bool(verdict.reason),
        }
        if any(given != (status == verdict.status) for status, given in evidence.items()):
            raise HornbookError(f"{place} is not a certificate: its evidence is not that of {verdict.status}")
        return certificate


class Certificates:
    """The certificates of one model, saved as they are made.

    Parameters
    ----------
    prover
        The prover of the model.
    path
        The certificate file; None to write none. Certificates that it holds for the same model
        and the same questions are reused.
    model
        The model file, to record its checksum.

    """

    def __init__(self, prover: RuleProver, path: Path | None = None, model: Path | None = None) -> None:
        self.prover, self.path = prover, path
        self.subject = subject_object(prover, model)
        self.by_rule: dict[Rule, Certificate] = {}
        self.earlier: dict[Rule, Certificate] = {}
        if path is not None and path.is_file():
            content = read_certificates(path)
            if content.get("digest") != digest({**content, "digest": None}):
                raise HornbookError(f"{path} was changed after it was written; write over it with --force")
            if find_difference({part: content.get(part) for part in self.subject}, self.subject, "") is None:
                self.earlier = {each.rule: each for each in read_proofs(prover.vocabulary, content)}

    def find_decided(self, rule: Rule) -> Certificate | None:
        """Return the certificate of a rule if it is decided."""
        found = self.by_rule.get(rule) or self.earlier.get(rule)
        return None if found is None or found.verdict.status == "undecided" else found

    def add(self, certificate: Certificate) -> None:
        """Add or replace a certificate, and save all of them."""
        self.by_rule[certificate.rule] = certificate
        self.earlier.pop(certificate.rule, None)
        self._write()

    def close(self) -> None:
        """Save the final certificates, without those of rules that the run gave up."""
        self.earlier = {}
        self._write()

    @property
    def guarantees(self) -> dict[Rule, Guarantee]:
        """The guarantee for each rule, and for each that was found in the place of a refuted one."""
        return list_guarantees(self.by_rule.values())

    def _write(self) -> None:
        if self.path is not None:  # certificates of earlier rules that were not reached yet stay
            both = [*self.by_rule.values(), *self.earlier.values()]
            write_file(self.path, certificates_text(self.subject, self.prover.vocabulary, both))


def list_guarantees(certificates: Iterable[Certificate]) -> dict[Rule, Guarantee]:
    """The guarantee for each rule, and for each that was found in the place of a refuted one."""
    guarantees: dict[Rule, Guarantee] = {}
    for each in certificates:
        guarantees[each.rule] = each.guarantee
        if each.repair is not None:
            guarantees.setdefault(each.repair.rule, Proved(each.repair.by, -each.repair.bound))
    return guarantees


def mend_rules(certificates: Iterable[Certificate]) -> dict[Rule, Rule | None]:
    """For each refuted rule the one that holds in its place; None where none was found."""
    refuted = (each for each in certificates if each.verdict.status == "refuted")
    return {each.rule: None if each.repair is None else each.repair.rule for each in refuted}


def certificates_text(
    subject: Mapping[str, Any], vocabulary: Vocabulary, certificates: Iterable[Certificate]
) -> str:
    """The certificate file about a subject: its model, and what is asked about it."""
    content = {
        "model": subject.get("model"),
        "asked": subject.get("asked"),
        "proofs": [each.to_object(vocabulary) for each in certificates],
        "digest": None,
    }
    return json.dumps({**content, "digest": digest(content)}, ensure_ascii=False, indent=1) + "\n"


def read_proofs(vocabulary: Vocabulary, content: Mapping[str, Any]) -> list[Certificate]:
    """The certificates in the content of a file."""
    entries = content.get("proofs")
    if not isinstance(entries, list):
        raise HornbookError(f"{PROOFS_FILE}, proofs is not a list")
    return [
        Certificate.from_object(vocabulary, entry, f"{PROOFS_FILE}, proofs[{number}]")
        for number, entry in enumerate(entries)
    ]


def prove_and_repair(
    certificates: Certificates, rules: Sequence[Rule], *, total: float | None = None
) -> Iterator[Certificate]:
    """Prove or refute each rule, in order, then repair the refuted ones; save and yield each certificate.

    Rules that the certificates decide already are not proved again. Rules that `total` seconds leave no
    time for are undecided.
    """
    deadline, prover = Deadline.after(total), certificates.prover
    known = {rule: certificates.find_decided(rule) for rule in rules}
    for rule, earlier in known.items():
        certificate = earlier or Certificate.of(
            rule, prove_in_time(partial(prover.prove_rule, rule), prover.seconds, deadline)
        )
        certificates.add(certificate)
        yield certificate
    for certificate in [certificates.by_rule[rule] for rule in known]:
        is_open = certificate.verdict.status == "refuted" and certificate.repair is None
        if not is_open or deadline.passed:
            continue
        repair = repair_rule(certificates.prover, certificate.rule, deadline)
        if repair.verdict.status == "proved":
            mended = replace(certificate, repair=Repair.of(repair, certificates.prover.vocabulary))
            certificates.add(mended)
            yield mended


@dataclass
class TheoryProofs:
    """Proves, refutes and repairs the rules of a theory; what was proved before an interrupt is kept.

    Parameters
    ----------
    prover
        The prover.
    folder
        Where certificates are written as they are found; an interrupt goes on to the caller then.
    model
        The model's file, for the certificates.
    total
        Time limit of all proofs together in seconds.
    watch
        Is called with the number of rules decided so far, and of all rules.
    certificates
        The certificates; None before rules were given.

    """

    prover: RuleProver
    folder: Path | None = None
    model: Path | None = None
    total: float | None = None
    watch: Callable[[int, int], None] | None = None
    certificates: Certificates | None = None

    def __call__(self, rules: Sequence[Rule]) -> dict[Rule, Rule | None]:
        """For each rule that is refuted the one that holds in its place, or None."""
        self.certificates = Certificates(self.prover, self.folder and self.folder / PROOFS_FILE, self.model)
        try:
            for number, _ in enumerate(prove_and_repair(self.certificates, rules, total=self.total), 1):
                if self.watch is not None:
                    self.watch(min(number, len(rules)), len(rules))
        except KeyboardInterrupt:
            if self.folder is not None:
                raise
        return mend_rules(self.certificates.by_rule.values())


def read_certificates(path: Path) -> dict[str, Any]:
    """Read a certificate file as a JSON object, unverified."""
    if not path.exists():
        raise HornbookError(f"there is no {path}; make proofs with hornbook learn --proof")
    content = read_json(path)
    if not isinstance(content, dict):
        raise HornbookError(f"{path} holds no proofs, or is damaged; make them anew with --proof")
    return content


def subject_object(prover: RuleProver, model: Path | None = None) -> dict[str, Any]:
    """Describe the model, and everything that determines what a question means, as a JSON object."""
    vocabulary, predictor = prover.vocabulary, prover.predictor
    positive = predictor.positive
    return {
        "model": {
            "sha256": None if model is None else hashlib.sha256(model.read_bytes()).hexdigest(),
            "network": prover.checksum,
        },
        "asked": {
            "vocabulary": list(vocabulary.names),
            "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
            "groups": [list(vocabulary.named(group)) for group in prover.groups],
            "values": prover.values,
            "label": prover.domain.label,
            "features": None if prover.classifier is None else list(prover.classifier.features.names),
            "encoding": asdict(predictor.encoding),
            "threshold": predictor.threshold,
            "positive": positive.item() if hasattr(positive, "item") else positive,
            "output": predictor.output,
        },
    }


def digest(content: Any) -> str:
    """The SHA-256 of a JSON value, independent of the order of keys and of layout."""
    return hashlib.sha256(_text(content).encode()).hexdigest()


def find_difference(given: Any, derived: Any, place: str) -> str | None:
    """Describe the first difference between a JSON value and the derived one; None if they are equal.

    Examples
    --------
    >>> find_difference({"true": 1.0, "unknown": 0.5}, {"true": 1.0, "unknown": 0.25}, "encoding")
    'encoding.unknown is 0.5, not 0.25'
    >>> find_difference(["fever"], ["fever", "cough"], "body")
    'body is ["fever"], not ["fever", "cough"]'
    >>> find_difference({"": 1}, {}, "body")
    'body. does not belong there'

    """
    if _text(given) == _text(derived):
        return None
    if isinstance(given, dict) and isinstance(derived, dict):
        keys = dict.fromkeys((*derived, *given))
        for key in keys:
            if (key in given) != (key in derived):
                return f"{place}.{key} {'is missing' if key in derived else 'does not belong there'}"
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


MARGIN_TOLERANCE = 1e-6
"""Tolerance for a margin that is derived again: other machines round sums differently."""

LITTLE_TIME = 0.1
"""A verdict derived within this share of the time limit contradicts one that ran out of time."""


@dataclass(frozen=True)
class ProofLimits:
    """The time limits of a run's proofs in seconds: of each, and of all together."""

    seconds: float = PROOF_SECONDS
    total: float | None = None

    @property
    def patience(self) -> float:
        """The seconds that a proof may take when it is derived again."""
        return 2 * min(self.seconds, math.inf if self.total is None else self.total)

    def agree(self, claimed: Guarantee, derived: Guarantee, taken: float) -> bool:
        """Whether the stored verdict equals the one that was derived again in `taken` seconds.

        Margins agree within `MARGIN_TOLERANCE`; a verdict that was undecided for want of time agrees with
        one that takes much of the time.
        """
        if isinstance(claimed, Proved) and isinstance(derived, Proved):
            tolerance = {"rel_tol": MARGIN_TOLERANCE, "abs_tol": MARGIN_TOLERANCE}
            return claimed.by == derived.by and math.isclose(claimed.margin, derived.margin, **tolerance)
        if claimed.kind == "undecided":
            if self.total is not None and claimed == Unknown(TOTAL_TIME_SPENT, "undecided"):
                return True
            return derived.kind == "undecided" or taken > LITTLE_TIME * self.seconds
        return claimed == derived


def verify_certificates(
    prover: RuleProver,
    content: Mapping[str, Any],
    *,
    rules: Sequence[Rule] | None = None,
    model: Path | None = None,
    limits: ProofLimits | None = None,
    seconds: float = 2 * PROOF_SECONDS,
) -> Iterator[Finding]:
    """Derive each certificate in a file again; yield a finding for each verdict, repair and problem.

    Parameters
    ----------
    prover
        A prover made from the model and the table of the run, not from the certificates.
    content
        The JSON object in the file.
    rules
        The rules of the run, each of which has one certificate; by default those in the file.
    model
        The model file.
    limits
        The time limits under which the certificates were made.
    seconds
        Time limit of each proof.

    """
    vocabulary, limits = prover.vocabulary, limits or ProofLimits()
    derived = subject_object(prover, model)
    for part, about in (("model", "another model"), ("asked", "other questions")):
        if difference := find_difference(content.get(part), derived[part], part):
            yield Finding(PROOFS_FILE, False, f"it is about {about}: {difference}")
            return
    certificates = read_proofs(vocabulary, content)
    if rules is not None and [each.rule for each in certificates] != list(rules):
        yield Finding(PROOFS_FILE, False, "it is not about the rules of the run, each once and in order")
        return
    for claimed in certificates:
        rule, status, witness = claimed.rule, claimed.verdict.status, claimed.verdict.witness
        if witness is None:
            patience = LITTLE_TIME * limits.seconds if status == "undecided" else seconds
            again = prover.prove_rule(rule, patience)
            holds = limits.agree(claimed.guarantee, Certificate(rule, again).guarantee, again.seconds)
            says = str(claimed.verdict) if holds else f"it is {again}"
        else:  # which engine finds a witness depends on what it was asked before
            holds = prover.is_witness(rule, witness)
            says = "the model accepts the witness" if holds else "the witness is not an input that refutes it"
        yield Finding(f"{status}  {rule_text(vocabulary, rule, UNICODE)}", holds, says)
        if claimed.repair is not None:
            holds, says = _verify_repair(prover, claimed, limits, seconds)
            repaired = rule_text(vocabulary, claimed.repair.rule, UNICODE)
            yield Finding(f"repaired  {repaired}", holds, says)


def _verify_repair(
    prover: RuleProver, claimed: Certificate, limits: ProofLimits, seconds: float
) -> tuple[bool, str]:
    """Check a repair: the repaired rule is proved, and each witness shows that its literal is needed."""
    repair, rule = claimed.repair, claimed.rule
    assert repair is not None
    if claimed.verdict.status != "refuted" or repair.rule.head != rule.head:
        return False, "it repairs another rule"
    for name, witness in repair.needed.items():
        literal = prover.vocabulary.index(name)
        smaller = Rule(repair.rule.body - {literal}, repair.rule.head)
        if literal not in repair.rule.body or not prover.is_witness(smaller, witness):
            return False, f"{name} is not shown to be needed"
    again = prover.prove_rule(repair.rule, seconds)
    claimed_guarantee = Proved(repair.by, -repair.bound)
    holds = limits.agree(claimed_guarantee, Certificate(repair.rule, again).guarantee, again.seconds)
    return holds, str(again) if holds else f"it is {again}"
