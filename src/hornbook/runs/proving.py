"""Prove or refute the lines of an explanation for every row of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from hornbook.conditions import Condition, write_value
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Explanation, RuleSet, Split
from hornbook.explanations.tree import Node
from hornbook.extraction import Extraction
from hornbook.models import Subject
from hornbook.proof import PROOF_SECONDS, ColumnProver, Domain, Verdict, make, prove_in_time
from hornbook.queries import Guarantee, Unknown


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
    >>> from hornbook.explanations import ConditionRule
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
    questions = list(_list_questions(explanation))
    if questions and len(explanation.classes) != prover.classes:
        raise HornbookError(
            f"the explanation tells {len(explanation.classes)} classes apart, and the model {prover.classes}"
        )
    deadline, asked = Deadline.after(total), iter(questions)
    for line in explanation.lines():
        if not line.outcome:
            yield None
            continue
        body, excluded, outcome = next(asked)
        yield prove_in_time(partial(prover.prove, body, outcome, excluded), prover.seconds, deadline)


Question = tuple[tuple[Condition, ...], tuple[tuple[Condition, ...], ...], int]


def _list_questions(explanation: Explanation) -> Iterator[Question]:
    """Yield the body, the excluded bodies and the class of each line that names a class."""
    if isinstance(explanation, RuleSet):
        bodies = tuple(rule.body for rule in explanation.rules)
        for number, rule in enumerate(explanation.rules):
            yield rule.body, bodies[:number], rule.outcome
        yield (), bodies, explanation.default
    elif isinstance(explanation, DecisionTree):
        yield from _walk_paths(explanation.root, (), ())


def _walk_paths(
    node: Node[Condition], met: tuple[Condition, ...], failed: tuple[tuple[Condition, ...], ...]
) -> Iterator[Question]:
    if not isinstance(node, Split):
        yield met, failed, node
        return
    yield from _walk_paths(node.yes, (*met, node.question), failed)
    yield from _walk_paths(node.no, met, (*failed, (node.question,)))


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
