"""The report of a fitted extractor."""

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
from hornbook.report.content import Checkpoint, Difference, Facts, Honesty, Report, ReportedRule, Spent
from hornbook.report.page import percent
from hornbook.statistics import Share

DIFFERENCES = 10
"""So many rows on which rules and model differ are shown."""


def report_of(
    extractor: HornExtractor,
    frame: pd.DataFrame,
    *,
    name: str = "the model",
    model: Facts = (),
    data: Facts = (),
    settings: Facts = (),
    truth: Any = None,
    guarantees: Mapping[Rule, Guarantee] | None = None,
) -> Report:
    """What an extractor has to say about the table that it was fitted to.

    Parameters
    ----------
    extractor
        The extractor, fitted.
    frame
        The table.
    name
        What to call the model.
    model, data, settings
        What the model is, what it was asked about, and how.
    truth
        The true class of each row, as 0 and 1, where it is known.
    guarantees
        What was proved of rules.

    """
    reading, reader = extractor.reading_, extractor.reader_
    answers, worst = reading.answers, reading.worst
    told = said(extractor.subjects_, frame)
    notes = [
        f"Unknown values: {worst.unknowns}.",
        _used_rows(extractor),
    ]
    if isinstance(extractor.subjects_[0], Subject) and extractor.subjects_[0].by_columns:
        notes.append("The model reads columns: of each bin it is shown one value that was seen in it.")
    if reading.found and len(reading.found) > 1:
        notes.append(f"More than one class follows for {reading.conflicts}.")
    asked = [found.entailed_by_model for found in reading.rules if found.entailed_by_model is not None]
    if asked:
        notes.append(
            f"Asked for each rule with all else unknown, the model itself says {sum(asked)} of {len(asked)}."
        )
    if not all(asked):
        notes[-1] += " The others were right about the cases drawn; beyond these nothing vouches for them."
    subject = " and ".join(answers.labels) or "what it accepts"
    return Report(
        title=f"What {name} says about {subject}",
        background=answers.plain().background,
        decider=answers.decider,
        rules=tuple(reported(extractor, guarantees or {})),
        guarantee=worst.guarantee,
        fidelity=reading.fidelity,
        stop_reason=reading.stop_reason,
        spent=Spent(
            sum("counterexample" in step or "guarantee" in step for step in worst.steps),
            reading.queries,
            reading.seconds,
            Budget(
                extractor.max_equivalence_queries, extractor.max_membership_queries, extractor.max_seconds
            ),
        ),
        honesty=Honesty(
            worst.distribution,
            None if worst.coherence is None else worst.coherence.rate,
            None if truth is None else _contradicted(told, np.asarray(truth)),
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
        convergence=tuple(_checkpoints(worst.steps, worst.curve)),
        differences=tuple(_differences(extractor, frame, told)),
    )


def reported(
    extractor: HornExtractor, guarantees: Mapping[Rule, Guarantee] | None = None
) -> Iterator[ReportedRule]:
    """The rules and what each is worth."""
    for found in extractor.reading_.rules:
        yield ReportedRule(found.rule, found.support, found.precision, (guarantees or {}).get(found.rule))


def _used_rows(extractor: HornExtractor) -> str:
    """What is known of the rows that the rules were made from, and why it has no interval."""
    used = len(extractor.subjects_[0].frame)
    return (
        f"On the {used:,} rows that the rules were made from, as they are, rules and model agree on "
        f"{percent(extractor.fidelity_.used_rows)}: rows that were used say nothing sure about others."
    )


def _contradicted(told: Any, truth: Any) -> Share:
    """The share of rows of which the model says another class than the true one."""
    known = told != FREE
    return Share.of(int((told != truth)[known].sum()), int(known.sum()))


def _checkpoints(steps: Any, curve: tuple[DisagreementPoint, ...]) -> Iterator[Checkpoint]:
    """The equivalence queries of a run, each with the theory of its size."""
    sizes = {point.rules: point for point in curve}
    found = [step for step in steps if "query" in step]
    for step in found:
        added = step.get("change", {})
        size = step["rules"] + ("added" in added) - ("removed" in added)
        if size in sizes:
            yield Checkpoint(step["query"], step["membership_queries"], step["seconds"], sizes[size])


def _differences(extractor: HornExtractor, frame: pd.DataFrame, told: Any) -> Iterator[Difference]:
    answers = extractor.reading_.answers
    items = extractor.reader_.batch(frame)
    ours = answers.of(items)
    filled = np.where(ours == FREE, answers.default, ours)
    literals = answers.literals or ("rejected", "accepted")
    for row in np.flatnonzero((filled != told) & (told != FREE))[:DIFFERENCES].tolist():
        rules = literals[ours[row]] if ours[row] != FREE else "undetermined"
        yield Difference(f"row {row}", items[row], literals[told[row]], rules)
