"""Proofs in a run: of the lines of an explanation and the rules of a theory; verdicts that are derived again.

`proofs.json` of a run by queries holds a certificate for each rule, in order: its verdict, and what holds in
the place of a refuted rule. Nothing in it depends on the time a proof took.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from hornbook.conditions import write_value
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.explanations import Explanation
from hornbook.extraction import Extraction
from hornbook.logic import UNICODE, Interpretation, Rule, Vocabulary, rule_text, vocabulary_forms
from hornbook.models import Subject
from hornbook.proof import (
    PROOF_SECONDS,
    TOTAL_TIME_SPENT,
    ColumnProver,
    Domain,
    Engine,
    Prime,
    RuleProver,
    Verdict,
    make,
    prove_in_time,
    repair_rule,
)
from hornbook.queries import Guarantee, Proved, Unknown, UnknownKind
from hornbook.schema import read_object, write_json, write_object
from hornbook.storage import read_json

PROOFS_FILE = "proofs.json"
"""Name of the file of certificates in a run folder."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, whether it holds, and why; None for what cannot be derived."""

    about: str
    holds: bool | None
    says: str


def prove_lines(
    extraction: Extraction,
    subject: Subject,
    seconds: float = PROOF_SECONDS,
    total: float | None = None,
    watch: Callable[[str], None] | None = None,
) -> Extraction:
    """The extraction, with what was proved or refuted of each line for every row of a domain.

    Parameters
    ----------
    extraction
        An explanation by a tree or rules.
    subject
        The model, bound to a table: the domain reaches from the least to the greatest value of each column.
    seconds, total
        Time limits of each line, and of all together.
    watch
        Is called with the text of each line.

    """
    refuse_unprovable_form(extraction.explanation.form)
    domain = Domain.of(subject.frame)
    prover = make(subject.predictor, domain, seconds)
    verdicts = []
    for line, verdict in zip(
        extraction.explanation.lines(), prove_explanation(extraction.explanation, prover, total), strict=True
    ):
        verdicts.append(None if verdict is None else line_guarantee(verdict))
        if watch is not None:
            watch(line.text)
    return add_verdicts(extraction, domain, verdicts)


def prove_explanation(
    explanation: Explanation, prover: ColumnProver, total: float | None = None
) -> Iterator[Verdict[pd.DataFrame] | None]:
    """Prove or refute each line of an explanation for every row of a domain.

    A line of rules is about the rows that meet its rule and none before it, a line of a tree about the
    rows that come to the class on it; the class is the one that the line names.

    Parameters
    ----------
    explanation
        Rules or a tree; the lines of a score card hold only together, so none has a verdict.
    prover
        The prover of the model.
    total
        Time limit of all lines together in seconds.

    Yields
    ------
    verdict
        One for each line of `explanation.lines()`; None for a line that names no class.

    Examples
    --------
    >>> from hornbook.explanations import ConditionRule, RuleSet
    >>> from hornbook.conditions import Threshold
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 30, 60, 70], "income": [10.0, 80, 20, 90]})
    >>> model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1])
    >>> prover = make(Subject.bind(model, rows).predictor, Domain.of(rows))
    >>> rules = RuleSet(("bad", "good"), (ConditionRule((Threshold("income", 60),), 1),), 0)
    >>> for line, verdict in zip(rules.lines(), prove_explanation(rules, prover)):
    ...     print(line.text, line.outcome, verdict.status)
    if income > 60 good proved
    otherwise bad refuted

    """
    questions = list(explanation.list_regions())
    if questions and len(explanation.classes) != prover.classes:
        raise HornbookError(
            f"the explanation tells {len(explanation.classes)} classes apart, and the model {prover.classes}"
        )
    deadline, regions = Deadline.after(total), iter(questions)
    for line in explanation.lines():
        if not line.outcome:
            yield None
            continue
        body, excluded, outcome = next(regions)
        yield prove_in_time(partial(prover.prove, body, outcome, excluded), prover.seconds, deadline)


def add_verdicts(
    extraction: Extraction, domain: Domain, guarantees: Sequence[Guarantee | None]
) -> Extraction:
    """The extraction, with a verdict on each line for every row of a domain."""
    pairs = zip(extraction.lines, guarantees, strict=True)
    lines = tuple(replace(line, guarantee=guarantee) for line, guarantee in pairs)
    return replace(extraction, lines=lines, notes=(*extraction.notes, f"{domain.describe()}."))


def refuse_unprovable(subject: Subject) -> None:
    """Refuse, before a run begins, a model of which nothing could be proved."""
    make(subject.predictor, Domain.of(subject.frame))


def refuse_unprovable_form(form: str) -> None:
    """Refuse a form whose lines say nothing by themselves."""
    if form not in PROVABLE_FORMS:
        raise HornbookError(
            f"a proof is about single lines, and the lines of a {form} hold only together; "
            f"ask for --form {' or --form '.join(PROVABLE_FORMS)}"
        )


PROVABLE_FORMS = ("rules", "tree")
"""Forms whose lines say by themselves what the model decides."""


def line_guarantee(verdict: Verdict[pd.DataFrame]) -> Guarantee:
    """What a verdict on a line says: a refuted line names the values of the witness."""
    if verdict.guarantee is not None:
        return verdict.guarantee
    if verdict.witness is None:
        return Unknown(verdict.reason, "undecided")
    row = verdict.witness.iloc[0].dropna()
    values = ", ".join(f"{name} = {write_value(value)}" for name, value in row.items())
    return Unknown(f"the model decides otherwise about {values}", "refuted")


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


@dataclass
class TheoryProofs:
    """Proves or refutes the rules of a theory, in order, and then repairs the refuted ones.

    Parameters
    ----------
    prover
        The prover.
    total
        Time limit of all proofs together in seconds; rules that it leaves no time for are undecided.
    watch
        Is called with the number of rules decided so far, and of all rules.
    certificates
        What was proved; None before rules were given.

    """

    prover: RuleProver
    total: float | None = None
    watch: Callable[[int, int], None] | None = None
    certificates: list[Certificate] | None = field(default=None, init=False)

    def __call__(self, rules: Sequence[Rule]) -> dict[Rule, Rule | None]:
        """For each rule that is refuted the one that holds in its place, or None."""
        deadline, prover = Deadline.after(self.total), self.prover
        self.certificates = made = []
        for rule in rules:
            ask = partial(prover.prove_rule, rule)
            made.append(Certificate.of(rule, prove_in_time(ask, prover.seconds, deadline)))
            if self.watch is not None:
                self.watch(len(made), len(rules))
        for place, certificate in enumerate(made):
            if certificate.verdict.status == "refuted" and not deadline.passed:
                repair = repair_rule(prover, certificate.rule, deadline)
                if repair.verdict.status == "proved":
                    made[place] = replace(certificate, repair=Repair.of(repair, prover.vocabulary))
        return mend_rules(made)


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


def describe_proofs(vocabulary: Vocabulary, certificates: Iterable[Certificate]) -> list[dict[str, Any]]:
    """Certificates, ready for JSON."""
    written: list[dict[str, Any]] = write_object(list(certificates), vocabulary_forms(vocabulary))
    return written


def write_proofs(vocabulary: Vocabulary, certificates: Iterable[Certificate]) -> str:
    """The file of certificates."""
    return write_json(describe_proofs(vocabulary, certificates))


def read_proofs(vocabulary: Vocabulary, path: Path) -> list[Certificate]:
    """The certificates in a file; their evidence is not looked at."""
    if not path.exists():
        raise HornbookError(f"there is no {path}; make proofs with hornbook learn --proof")
    forms = vocabulary_forms(vocabulary)
    return list(read_object(tuple[Certificate, ...], read_json(path), PROOFS_FILE, forms))


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
    certificates: Sequence[Certificate],
    rules: Sequence[Rule],
    limits: ProofLimits,
) -> Iterator[Finding]:
    """Derive each certificate again; yield a finding for each verdict, repair and problem.

    Parameters
    ----------
    prover
        A prover made from the model and the table of the run, not from the certificates.
    certificates
        What is claimed.
    rules
        The rules of the run, each of which has one certificate.
    limits
        The time limits under which the certificates were made.

    """
    vocabulary = prover.vocabulary
    if [each.rule for each in certificates] != list(rules):
        yield Finding(PROOFS_FILE, False, "it is not about the rules of the run, each once and in order")
        return
    for claimed in certificates:
        rule, status, witness = claimed.rule, claimed.verdict.status, claimed.verdict.witness
        about, open_reason = f"{status}  {rule_text(vocabulary, rule, UNICODE)}", claimed.verdict.reason
        if (status == "refuted") != (witness is not None) or (status == "undecided") != bool(open_reason):
            yield Finding(about, False, f"its evidence is not that of {status}")
            continue
        if witness is None:
            patience = LITTLE_TIME * limits.seconds if status == "undecided" else limits.patience
            again = prover.prove_rule(rule, patience)
            holds = limits.agree(claimed.guarantee, Certificate(rule, again).guarantee, again.seconds)
            says = str(claimed.verdict) if holds else f"it is {again}"
        else:  # which engine finds a witness depends on what it was asked before
            holds = prover.is_witness(rule, witness)
            says = "the model accepts the witness" if holds else "the witness is not an input that refutes it"
        yield Finding(about, holds, says)
        if claimed.repair is not None:
            holds, says = _verify_repair(prover, claimed, limits)
            repaired = rule_text(vocabulary, claimed.repair.rule, UNICODE)
            yield Finding(f"repaired  {repaired}", holds, says)


def _verify_repair(prover: RuleProver, claimed: Certificate, limits: ProofLimits) -> tuple[bool, str]:
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
    again = prover.prove_rule(repair.rule, limits.patience)
    claimed_guarantee = Proved(repair.by, -repair.bound)
    holds = limits.agree(claimed_guarantee, Certificate(repair.rule, again).guarantee, again.seconds)
    return holds, str(again) if holds else f"it is {again}"
