"""Proofs in a run: what is proved or refuted of each line of its explanation, for every input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from hornbook.conditions import write_value
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.explanations import Explanation
from hornbook.extraction import Extraction
from hornbook.logic import Interpretation, Vocabulary
from hornbook.models import Subject
from hornbook.proof import (
    PROOF_SECONDS,
    ColumnProver,
    Domain,
    RuleProver,
    Verdict,
    make,
    prove_in_time,
)
from hornbook.queries import Guarantee, HornRules, Proved, QuerySubject, Unknown
from hornbook.runs.folder import is_unfinished

PROVABLE_FORMS = ("rules", "tree")
"""Forms whose lines say by themselves what the model decides."""

MARGIN_TOLERANCE = 1e-6
"""Tolerance for a margin that is derived again: other machines round sums differently."""

LineProver: TypeAlias = ColumnProver | RuleProver
"""The prover of a run: about rows of the table, or about interpretations for a run by queries."""


@dataclass(frozen=True)
class ProofLimits:
    """The time limits of a run's proofs in seconds: of each, and of all together."""

    seconds: float = PROOF_SECONDS
    total: float | None = None

    def relax(self) -> ProofLimits:
        """The limits under which proofs that came in time are made again, on a slower machine too."""
        return ProofLimits(2 * min(self.seconds, math.inf if self.total is None else self.total))


def refuse_unprovable_form(form: str) -> None:
    """Refuse a form whose lines say nothing by themselves."""
    if form not in PROVABLE_FORMS:
        raise HornbookError(
            f"a proof is about single lines, and the lines of a {form} hold only together; "
            f"ask for --form {' or --form '.join(PROVABLE_FORMS)}"
        )


def make_prover(subject: Subject | QuerySubject) -> LineProver:
    """The prover of an explanation's lines; refuse a model of which nothing could be proved."""
    if isinstance(subject, QuerySubject):
        return subject.teacher.prover()
    return make(subject.predictor, Domain.of(subject.frame))


def prove_lines(
    extraction: Extraction,
    prover: LineProver,
    limits: ProofLimits,
    watch: Callable[[str], None] | None = None,
) -> Extraction:
    """The extraction, with what was proved or refuted of each line for every input.

    One of a run that did not end stays as it is.

    Parameters
    ----------
    extraction
        An explanation by a tree, rules, or rules by queries.
    prover
        The prover of the model, as `make_prover` makes it.
    limits
        Time limits of each line, and of all together.
    watch
        Is called with the text of each line.

    """
    if is_unfinished(extraction):
        return extraction
    lines = []
    verdicts = prove_explanation(extraction.explanation, prover, limits)
    for text, line, verdict in zip(extraction.explanation.lines(), extraction.lines, verdicts, strict=True):
        guarantee = None if verdict is None else line_guarantee(verdict, prover)
        lines.append(replace(line, guarantee=guarantee))
        if watch is not None:
            watch(text.text)
    if isinstance(prover, ColumnProver):
        note = f"{Domain.of(prover.domain.rows).describe()}."
    else:
        refuted = sum(bool(line.mark) for line in lines)
        note = f"Of the rules {refuted} are refuted: they stay, and are marked." if refuted else ""
    notes = (*extraction.notes, note) if note else extraction.notes
    return replace(extraction, lines=tuple(lines), notes=notes)


def prove_explanation(
    explanation: Explanation, prover: LineProver, limits: ProofLimits | None = None
) -> Iterator[Verdict[Any] | None]:
    """Prove or refute each line of an explanation for every input.

    A line of rules is about the rows that meet its rule and none before it, a line of a tree about the
    rows that come to the class on it; the class is the one that the line names. A rule by queries is about
    every interpretation.

    Parameters
    ----------
    explanation
        Rules or a tree; the lines of a score card hold only together, so none has a verdict.
    prover
        The prover of the model.
    limits
        Time limits of each line, and of all together.

    Yields
    ------
    verdict
        One for each line of `explanation.lines()`; None for a line that claims nothing by itself.

    Examples
    --------
    >>> import pandas as pd
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
    limits = limits or ProofLimits()
    deadline = Deadline.after(limits.total)
    questions = _list_questions(explanation, prover)
    for line in explanation.lines():
        ask = next(questions, None) if line.outcome else None
        yield None if ask is None else prove_in_time(ask, limits.seconds, deadline)


def _list_questions(explanation: Explanation, prover: LineProver) -> Iterator[Callable[..., Verdict[Any]]]:
    """For each line that claims something, in order, what asks the prover about it."""
    if isinstance(prover, RuleProver):
        assert isinstance(explanation, HornRules)
        yield from (partial(prover.prove_rule, rule) for rule in explanation.rules)
        return
    regions = list(explanation.list_regions())
    if regions and len(explanation.classes) != prover.classes:
        raise HornbookError(
            f"the explanation tells {len(explanation.classes)} classes apart, and the model {prover.classes}"
        )
    yield from (partial(prover.prove, body, outcome, excluded) for body, excluded, outcome in regions)


def line_guarantee(verdict: Verdict[Any], prover: LineProver) -> Guarantee:
    """What a verdict on a line says: a refuted line names the values of the witness."""
    if verdict.guarantee is not None:
        return verdict.guarantee
    if verdict.witness is None:
        return Unknown(verdict.reason, "undecided")
    if isinstance(prover, RuleProver):
        values = ", ".join(_name_facts(verdict.witness, prover.vocabulary))
    else:
        row = verdict.witness.iloc[0].dropna()
        values = ", ".join(f"{name} = {write_value(value)}" for name, value in row.items())
    return Unknown(f"the model decides otherwise about {values}", "refuted")


def _name_facts(item: Interpretation, vocabulary: Vocabulary) -> Iterator[str]:
    """What is known in an interpretation, by name; a variable with a dual is named once."""
    yield from (vocabulary.name(v) for v in sorted(item.true))
    yield from (f"not {vocabulary.name(v)}" for v in sorted(item.false) if vocabulary.dual(v) is None)


def is_confirmed(stated: Guarantee | None, derived: Guarantee | None) -> bool:
    """Whether a verdict that was derived again is the stated one, up to the last digits of a margin."""
    if isinstance(stated, Proved) and isinstance(derived, Proved):
        is_close = math.isclose(
            stated.margin, derived.margin, rel_tol=MARGIN_TOLERANCE, abs_tol=MARGIN_TOLERANCE
        )
        return stated.by == derived.by and is_close
    return stated == derived
