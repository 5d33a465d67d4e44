"""Make the report of a fitted extractor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from hornbook.explain.answers import FREE
from hornbook.extractor.estimator import HornExtractor
from hornbook.extractor.subject import Subject, said
from hornbook.learners import DisagreementPoint
from hornbook.logic import Rule
from hornbook.queries import Budget, Guarantee
from hornbook.report.content import (
    Caveats,
    ConvergencePoint,
    Cost,
    Details,
    DisagreeingRow,
    Report,
    ReportedRule,
)
from hornbook.report.page import format_percent
from hornbook.statistics import Share

MAX_DISAGREEMENTS = 10
"""Maximum number of disagreeing rows shown in a report."""


def make_report(
    extractor: HornExtractor,
    frame: pd.DataFrame,
    *,
    name: str = "the model",
    model: Details = (),
    data: Details = (),
    settings: Details = (),
    truth: Any = None,
    guarantees: Mapping[Rule, Guarantee] | None = None,
) -> Report:
    """Make the report of an extractor and the table that it was fitted to.

    Parameters
    ----------
    extractor
        The extractor, fitted.
    frame
        The table.
    name
        The model's name in the report.
    model, data, settings
        Details about the model, the data and the settings.
    truth
        The true class of each row, as 0 and 1, if it is known.
    guarantees
        The guarantees of proved rules.

    """
    reading, reader = extractor.reading_, extractor.reader_
    answers, worst = reading.answers, reading.worst
    told = said(extractor.subjects_, frame)
    notes = [
        f"Unknown values: {worst.unknowns}.",
        _used_rows_note(extractor),
    ]
    if isinstance(extractor.subjects_[0], Subject) and extractor.subjects_[0].by_columns:
        notes.append("The model reads columns: each bin is represented by one value observed in it.")
    if reading.found and len(reading.found) > 1:
        notes.append(f"The rules predict more than one class for {reading.conflicts} of the samples.")
    asked = [found.entailed_by_model for found in reading.rules if found.entailed_by_model is not None]
    if asked:
        notes.append(
            f"The model confirms {sum(asked)} of {len(asked)} rules when only their conditions are known "
            "and all other values are unknown."
        )
    if not all(asked):
        notes[-1] += " The remaining rules were correct on the sampled cases; no claim is made beyond those."
    subject = " and ".join(answers.labels) or "what it accepts"
    return Report(
        title=f"What {name} says about {subject}",
        background=answers.plain().background,
        decider=answers.decider,
        rules=tuple(report_rules(extractor, guarantees or {})),
        guarantee=worst.guarantee,
        fidelity=reading.fidelity,
        stop_reason=reading.stop_reason,
        cost=Cost(
            sum("counterexample" in step or "guarantee" in step for step in worst.steps),
            reading.queries,
            reading.seconds,
            Budget(
                extractor.max_equivalence_queries, extractor.max_membership_queries, extractor.max_seconds
            ),
        ),
        caveats=Caveats(
            worst.distribution,
            None if worst.coherence is None else worst.coherence.rate,
            None if truth is None else _disagreement_with_truth(told, np.asarray(truth)),
            tuple(notes),
        ),
        labels=answers.labels,
        model=model,
        data=data,
        settings=settings,
        words={name: reader.describe(name) for name in reader.vocabulary},
        groups=reader.groups,
        undetermined=reading.undetermined if answers.labels else None,
        default=answers.literals[answers.default] if answers.labels and answers.default != FREE else None,
        curve=worst.frontier,
        convergence=tuple(_convergence_points(worst.steps, worst.curve)),
        disagreements=tuple(_disagreeing_rows(extractor, frame, told)),
    )


def report_rules(
    extractor: HornExtractor, guarantees: Mapping[Rule, Guarantee] | None = None
) -> Iterator[ReportedRule]:
    """Yield the rules with their support, precision and guarantee."""
    for found in extractor.reading_.rules:
        yield ReportedRule(found.rule, found.support, found.precision, (guarantees or {}).get(found.rule))


def _used_rows_note(extractor: HornExtractor) -> str:
    """The note on fidelity on the rows that the rules were fitted to, which has no interval."""
    used = len(extractor.subjects_[0].frame)
    return (
        f"On the {used:,} rows that the rules were fitted to, rules and model agree on "
        f"{format_percent(extractor.fidelity_.used_rows)}; this is no estimate for other rows."
    )


def _disagreement_with_truth(told: Any, truth: Any) -> Share:
    """The share of rows for which the model predicts another class than the true one."""
    known = told != FREE
    return Share.of(int((told != truth)[known].sum()), int(known.sum()))


def _convergence_points(steps: Any, curve: tuple[DisagreementPoint, ...]) -> Iterator[ConvergencePoint]:
    """Yield a point for each equivalence query of a run, with the disagreement of its theory's size."""
    sizes = {point.rules: point for point in curve}
    found = [step for step in steps if "query" in step]
    for step in found:
        added = step.get("change", {})
        size = step["rules"] + ("added" in added) - ("removed" in added)
        if size in sizes:
            yield ConvergencePoint(step["query"], step["membership_queries"], step["seconds"], sizes[size])


def _disagreeing_rows(extractor: HornExtractor, frame: pd.DataFrame, told: Any) -> Iterator[DisagreeingRow]:
    answers = extractor.reading_.answers
    items = extractor.reader_.batch(frame)
    ours = answers.of(items)
    filled = np.where(ours == FREE, answers.default, ours)
    literals = answers.literals or ("rejected", "accepted")
    for row in np.flatnonzero((filled != told) & (told != FREE))[:MAX_DISAGREEMENTS].tolist():
        rules = literals[ours[row]] if ours[row] != FREE else "undetermined"
        yield DisagreeingRow(f"row {row}", items[row], literals[told[row]], rules)
