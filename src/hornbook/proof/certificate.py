"""Certificates of proofs: proving rules, writing a certificate file, and verifying it.

The file is one JSON object. `model` names the model by checksums; `asked` holds everything that
determines what a question means; `run` holds the checksums of the run's configuration and rules;
`proofs` holds one certificate per rule, in the order of the rules; `digest` is the checksum of the
rest. Nothing in the file depends on the time a proof took, so an interrupted and resumed run leaves
the same file as an uninterrupted one. `verify_certificates` derives all of it again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError
from hornbook.logic import (
    UNICODE,
    Batch,
    Interpretation,
    Rule,
    Vocabulary,
    read_rule,
    rule_object,
    rule_text,
    violation,
)
from hornbook.parallel import parallel_map
from hornbook.proof.primes import Prime
from hornbook.proof.prover import (
    BY_BRANCHING,
    BY_LOCAL_SEARCH,
    BY_SOLVER,
    BY_VACUITY,
    PROOF_SECONDS,
    Prover,
    Side,
    Verdict,
)
from hornbook.proof.region import UNKNOWN
from hornbook.queries import Guarantee, Unknown, interpretation
from hornbook.storage import read_json, write_file

PROOFS_FILE = "proofs.json"
"""Name of the certificate file in a run folder."""

BY_NOBODY, TOTAL_TIME_SPENT = "nobody", "the time for all rules was spent"
"""Engine and reason of the verdict on a rule that was not asked about."""

ENGINES = {
    "proved": (BY_VACUITY, BY_SOLVER, BY_BRANCHING),
    "refuted": (BY_LOCAL_SEARCH, BY_SOLVER, BY_BRANCHING),
    "undecided": (BY_LOCAL_SEARCH, BY_SOLVER, BY_BRANCHING, BY_NOBODY),
}
"""For each status, the engines that can have decided it."""


@dataclass(frozen=True)
class Certificate:
    """The verdict on a rule and, for a refuted rule, the proved repair if there is one."""

    rule: Rule
    verdict: Verdict[Interpretation]
    repair: Prime | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for the rule."""
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
        """Return the certificate of a rule if it is decided."""
        found = self.by_rule.get(rule) or self.earlier.get(rule)
        return None if found is None or found.verdict.status == "undecided" else found

    def add(self, certificate: Certificate) -> None:
        """Add or replace a certificate, and save all of them."""
        self.by_rule[certificate.rule] = certificate
        self.earlier.pop(certificate.rule, None)
        # those of earlier rules that were not reached yet stay
        self._write(None, [*self.by_rule.values(), *self.earlier.values()])

    def bind(self, run: Mapping[str, str]) -> None:
        """Save the final certificates, with the checksums of the run that they belong to."""
        self._write(run, self.by_rule.values())

    @property
    def guarantees(self) -> dict[Rule, Guarantee]:
        """The guarantee for each rule."""
        return {rule: certificate.guarantee for rule, certificate in self.by_rule.items()}

    def _read(self, content: Mapping[str, Any]) -> Iterable[Certificate]:
        entries = content.get("proofs")
        for number, entry in enumerate(entries if isinstance(entries, list) else []):
            yield Certificate.from_object(self.prover.vocabulary, entry, f"{PROOFS_FILE}, proofs[{number}]")

    def _write(self, run: Mapping[str, str] | None, certificates: Iterable[Certificate]) -> None:
        if self.path is None:
            return
        entries = [each.to_object(self.prover.vocabulary) for each in certificates]
        content = {**self.subject, "run": run, "proofs": entries}
        text = json.dumps({**content, "digest": digest(content)}, ensure_ascii=False, indent=1)
        write_file(self.path, f"{text}\n")


def prove_rules(
    certificates: Certificates,
    rules: Iterable[Rule],
    *,
    total: float = math.inf,
    n_jobs: int | None = None,
) -> Generator[Certificate]:
    """Prove or refute each rule, in order; save and yield each certificate at once.

    Parameters
    ----------
    certificates
        The prover and its certificates; rules that are decided there are not proved again.
    rules
        The rules.
    total
        Time limit of all rules together, in seconds; rules that come later are undecided.
    n_jobs
        Number of processes, see `hornbook.parallel.parallel_map`.

    """
    known = {rule: certificates.find_decided(rule) for rule in rules}
    asked = [rule for rule, certificate in known.items() if certificate is None]
    answers = parallel_map(partial(_prove_rule, certificates.prover, time.time() + total), asked, n_jobs)
    for rule, earlier in known.items():
        certificate = earlier or Certificate(rule, next(answers))
        certificates.add(certificate)
        yield certificate


def _prove_rule(prover: Prover, deadline: float, rule: Rule) -> Verdict[Interpretation]:
    left = min(prover.seconds, deadline - time.time())
    if left <= 0:
        return Verdict("undecided", BY_NOBODY, 0.0, math.inf, reason=TOTAL_TIME_SPENT)
    verdict = prover.prove_rule(rule, left)
    if verdict.status == "undecided" and left < prover.seconds:
        return replace(verdict, reason=TOTAL_TIME_SPENT)
    return verdict


def read_certificates(path: Path) -> dict[str, Any]:
    """Read a certificate file as a JSON object, unverified."""
    if not path.exists():
        raise HornbookError(f"there is no {path}; make proofs with hornbook query --proof")
    content = read_json(path)
    if not isinstance(content, dict):
        raise HornbookError(f"{path} holds no proofs, or is damaged; make them anew with --proof")
    return content


def subject_object(prover: Prover, model: Path | None = None) -> dict[str, Any]:
    """Describe the model, and everything that determines what a question means, as a JSON object."""
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
    """The SHA-256 of a model's parameters as they were read, threshold included."""
    sha = hashlib.sha256()
    for part in side.parameters:
        sha.update(repr(part.shape).encode())
        sha.update(part.astype("<f8").tobytes())
    return sha.hexdigest()


def digest(content: Any) -> str:
    """The SHA-256 of a JSON value, independent of the order of keys and of layout."""
    return hashlib.sha256(_text(content).encode()).hexdigest()


def without_digest(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a certificate file without its digest."""
    return {part: value for part, value in content.items() if part != "digest"}


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


def _bound_object(verdict: Verdict[Interpretation]) -> float | None:
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
    verdict = Verdict[Interpretation]("proved", entry["by"], 0.0, _read_bound(entry))
    return Prime(rule, verdict, needed, tuple(sorted(rule.body - set(needed))))


def _input_object(vocabulary: Vocabulary, item: Interpretation) -> dict[str, Any]:
    return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}


def _read_input(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Interpretation:
    return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))


BOUND_TOLERANCE = 1e-6
"""Tolerance for a bound that is derived again: other machines round sums differently."""

LOCAL_SECONDS = 1e-3
"""A time limit that leaves time for local search only, which no limit stops."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, whether it holds, and the explanation."""

    about: str
    holds: bool
    says: str


@dataclass(frozen=True)
class RunClaims:
    """What a run claims besides its certificates: checksums of its files, and a guarantee per rule."""

    checksums: Mapping[str, str]
    guarantees: Mapping[Rule, Any]


def verify_certificates(
    prover: Prover,
    content: Mapping[str, Any],
    *,
    model: Path | None = None,
    claims: RunClaims | None = None,
    seconds: float = 2 * PROOF_SECONDS,
) -> Iterator[Finding]:
    """Verify a certificate file; yield one finding per certificate and per problem.

    Parameters
    ----------
    prover
        A prover made from the model and the configuration of the run, not from the certificates.
    content
        The JSON object in the file.
    model
        The model file.
    claims
        The claims of the run, if the certificates belong to one.
    seconds
        Time limit of each proof.

    """
    derived = subject_object(prover, model)
    for part, about in (("model", "another model"), ("asked", "other questions")):
        if difference := find_difference(content.get(part), derived[part], part):
            yield Finding(PROOFS_FILE, False, f"it is about {about}: {difference}")
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
        yield Finding(PROOFS_FILE, False, f"{min(parts)!r} is missing, or does not belong there")
    elif difference := find_difference(content["run"], checksums, "run"):
        yield Finding(PROOFS_FILE, False, f"the run was changed after its proofs were made: {difference}")
    elif not intact:
        yield Finding(PROOFS_FILE, False, "it was changed after it was written: its digest does not match")


def find_missing(
    vocabulary: Vocabulary, claims: RunClaims, certified: Collection[Rule] = ()
) -> Iterator[Finding]:
    """Findings about the rules of a run that have no certificate."""
    for rule, guarantee in claims.guarantees.items():
        if rule not in certified:
            called = f"called {guarantee['kind']}" if _has_kind(guarantee) else "a rule of the run"
            yield Finding(
                _format_rule(vocabulary, rule),
                False,
                f"it is {called}, but has no certificate in {PROOFS_FILE}",
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
        raise HornbookError(f"{PROOFS_FILE}, {damages[0]}")
    if damages:
        yield from (Finding(PROOFS_FILE, False, damage) for damage in damages)
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
            yield Finding(_format_rule(vocabulary, rule), False, f"proofs[{number}] certifies it once more")
        elif rule not in wanted:
            yield Finding(
                _format_rule(vocabulary, rule), False, f"proofs[{number}] is about no rule of the run"
            )
    if set(rules) == set(wanted) and len(rules) == len(wanted) and list(rules) != list(wanted):
        yield Finding(PROOFS_FILE, False, "the certificates are not in the order of the rules")


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
        # a solver or local search comes first, so what they refute at once was refuted then
        again = None if verdict.by == BY_NOBODY else prover.prove_rule(rule, LOCAL_SECONDS)
        holds = again is None or again.by == BY_BRANCHING or again.status != "refuted"
        says = str(verdict) if holds else f"it is {again}"
    if holds and claims is not None:
        guarantee = {"kind": certificate.guarantee.kind, "says": str(certificate.guarantee)}
        if difference := find_difference(claims.guarantees[rule], guarantee, "what the run says of it"):
            holds, says = False, difference
    yield Finding(f"{verdict.status}  {_format_rule(prover.vocabulary, rule)}", holds, says)
    if repair is not None:
        holds, says = _check_repair(prover, rule, repair, seconds)
        yield Finding(f"repaired  {_format_rule(prover.vocabulary, repair.rule)}", holds, says)


def _check_repair(prover: Prover, rule: Rule, repair: Prime, seconds: float) -> tuple[bool, str]:
    """Whether a repaired rule is proved, and every literal that is called needed is."""
    if repair.rule.head != rule.head:
        return False, "it concludes something else than the rule that it repairs"
    for literal, witness in repair.needed.items():
        smaller = Rule(repair.rule.body - {literal}, repair.rule.head)
        if literal not in repair.rule.body or not _is_refuted(prover, smaller, witness):
            return False, f"{prover.vocabulary.name(literal)} is not shown to be needed"
    return _prove_again(prover, repair.rule, repair.verdict, seconds)


def _prove_again(
    prover: Prover, rule: Rule, verdict: Verdict[Interpretation], seconds: float
) -> tuple[bool, str]:
    """Whether a rule is proved again with the same bound, and what the proof says now."""
    again = prover.prove_rule(rule, seconds)
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


def _format_rule(vocabulary: Vocabulary, rule: Rule) -> str:
    return rule_text(vocabulary, rule, UNICODE)
