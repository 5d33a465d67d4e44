"""The Horn envelope of a model, by every case: its rules, and what lies beyond them, as an extraction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.extraction.fidelity import CommonestClass, Fidelity
from hornbook.extraction.result import BeyondHorn, ColumnSummary, Extraction, LineStatistics
from hornbook.logic import Bools
from hornbook.models import Subject
from hornbook.queries import (
    Envelope,
    HornRules,
    LevelWorld,
    QuerySubject,
    World,
    find_envelope,
    learn_envelope,
)
from hornbook.queries.envelope import MAX_CASES
from hornbook.queries.reader import Reader
from hornbook.statistics import Share

MAX_NOTED_CLAUSES = 3
"""How many clauses beyond Horn rules a note names."""


def learn_levels(subject: Subject, margin: float = 0.0, max_cases: int = MAX_CASES) -> Extraction:
    """Learn which levels of its columns go with which classes of a classifier, by every case.

    The rules are the Horn envelope of the cases that the classifier accepts: those without a class, and those
    with a class that it decides for.

    Parameters
    ----------
    subject
        The classifier, bound to rows whose every column has few values.
    margin
        A class is possible too if its score is at most so much below the largest one.
    max_cases
        The most cases that there may be.

    Examples
    --------
    >>> rows = pd.DataFrame({"job": ["nurse", "boxer", "clerk"] * 9, "place": ["here", "there", "away"] * 9})
    >>> def guess(frame):
    ...     return np.where(frame.job == "nurse", "she", "he")
    >>> extraction = learn_levels(Subject.bind(guess, rows, target="pronoun"))
    >>> print(extraction.explanation)
    if pronoun = she: job = nurse
    if job = nurse and pronoun = he: impossible
    >>> print(extraction.guarantee)
    exact: hypothesis and teacher agree on every interpretation

    """
    teacher = subject.teacher
    names = [name for name in teacher.frame.columns if name in teacher.columns]
    levels = LevelWorld.of(subject.frame[names], subject.target, subject.classes)
    if len(levels.world) > max_cases:
        counts = subject.frame[names].nunique()
        raise HornbookError(
            f"there are {len(levels.world):,} cases, and at most {max_cases:,} are all asked about; column "
            f"{counts.idxmax()!r} has {counts.max():,} values: leave it out or merge some"
        )
    rows = levels.list_rows()
    possible = _find_possible(subject, _complete_columns(rows, subject.frame), margin)
    order = [subject.classes.index(str(name)) for name in levels.classes]
    envelope = find_envelope(levels.world, levels.accept(possible[:, order]))
    measured = _Measured(envelope, Reader.by_binariser(levels.binariser, closed=True))
    extraction = measured.to_extraction(subject.target, len(rows))
    summaries = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in names)
    target = ColumnSummary(subject.target, 0.0, categories=tuple(levels.classes))
    rule = "" if margin == 0 else f"; classes within {margin:g} of the likeliest are possible too"
    return replace(
        extraction,
        columns=(*summaries, target),
        missing_values=f"{teacher.describe()}{rule}",
        provenance={
            "model": {"name": subject.predictor.name},
            "settings": {"target": subject.target, "learner": "envelope", "margin": margin},
        },
    )


def learn_judged_cases(subject: QuerySubject, max_cases: int = MAX_CASES) -> Extraction:
    """Learn the Horn envelope of a judge: every complete interpretation of its variables is asked about."""
    teacher = subject.teacher
    if teacher.label is not None or teacher.reader.vocabulary.has_duals:
        raise HornbookError("the envelope of a judge is about variables without duals, and has no target")
    world = World(teacher.reader.vocabulary, teacher.reader.groups)
    envelope = learn_envelope(teacher.decide_items, world, max_cases)
    extraction = _Measured(envelope, teacher.reader).to_extraction(subject.target, len(world))
    columns = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in teacher.reader.columns)
    return replace(
        extraction,
        columns=columns,
        missing_values=teacher.queries.describe(),
        provenance={"model": {"name": teacher.predictor.name}, "settings": {"learner": "envelope"}},
    )


def _complete_columns(rows: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with all columns of the table in its types; columns that the model does not read have no value."""
    complete = rows.reindex(columns=frame.columns)
    return pd.DataFrame({name: _cast(complete[name], frame[name]) for name in frame.columns})


def _cast(levels: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Levels in the type of a column; of whole numbers, which have no missing ones, as floats."""
    if pd.api.types.is_integer_dtype(column.dtype) and not pd.api.types.is_extension_array_dtype(
        column.dtype
    ):
        return levels.astype(np.float64)
    return levels.astype(column.dtype)


def _find_possible(subject: Subject, rows: pd.DataFrame, margin: float) -> Bools:
    """Which classes are possible for each row: the one that the model decides for, and those close to it."""
    teacher = subject.teacher
    possible = np.eye(len(subject.classes), dtype=np.bool_)[teacher.labels(rows)]
    if margin > 0:
        scores = np.stack(
            [teacher.measure_support(rows, number) for number in range(len(subject.classes))], 1
        )
        if len(subject.classes) == 2:  # the score of the second class, and of the first its negation
            scores = np.stack([1 - scores[:, 1], scores[:, 1]], 1)
        possible |= scores >= scores.max(axis=1, keepdims=True) - margin
    return possible


@dataclass(frozen=True)
class _Measured:
    """An envelope, and how rows become its cases."""

    envelope: Envelope
    reader: Reader

    def to_extraction(self, target: str, answers: int) -> Extraction:
        """The envelope as the result of a run; columns and provenance are for the caller."""
        envelope, world = self.envelope, self.envelope.world
        rules = HornRules(envelope.theory.minimise() | envelope.background, envelope.background, self.reader)
        accepted = envelope.accepted.astype(np.intp)
        right = rules.decide_items(world.batch) == accepted
        clauses = tuple(self._say_clauses(rules))
        beyond = BeyondHorn(len(envelope.beyond_horn), clauses)
        return Extraction(
            target=target,
            classes=(False, True),
            explanation=rules,
            fidelity=Fidelity(
                samples=Share.of(0, 0),
                unseen_rows=Share.where(right),
                unseen_population="cases",
                commonest={"cases": CommonestClass.of(accepted, rules.classes)},
            ),
            guarantee=envelope.guarantee,
            frontier=(),
            lines=tuple(self._count_lines(rules)),
            columns=(),
            differences=(),
            answers=answers,
            stop_reason="every case was asked about",
            distribution=f"all {len(world):,} cases",
            missing_values="",
            notes=tuple(_note_beyond(beyond, len(world))),
            beyond_horn=beyond,
        )

    def _count_lines(self, rules: HornRules) -> Iterator[LineStatistics]:
        """For each rule the cases in which its body holds, and those of them that it is right about."""
        table, accepted = self.envelope.world.table, self.envelope.accepted
        for rule in rules.rules:
            holds = np.asarray(table[sorted(rule.body)].all(axis=0), np.bool_)
            broken = holds if not isinstance(rule.head, int) else holds & ~table[rule.head]
            right = Share.of(int((broken & ~accepted).sum()), int(broken.sum()))
            yield LineStatistics(None, Share.where(holds), right)

    def _say_clauses(self, rules: HornRules) -> Iterator[str]:
        """The clauses beyond Horn rules in words."""
        names = self.envelope.world.vocabulary
        for true, false in self.envelope.list_clauses():
            body = " and ".join(rules.describe(name) for name in names.named(true)) or "always"
            yield f"{body} → {' or '.join(rules.describe(name) for name in names.named(false))}"


def _note_beyond(beyond: BeyondHorn, size: int) -> Iterator[str]:
    """Say how much no Horn theory can exclude."""
    if not beyond.cases:
        yield "the model is Horn: the rules accept exactly what it accepts"
        return
    shown = "; ".join(beyond.clauses[:MAX_NOTED_CLAUSES])
    more = len(beyond.clauses) - MAX_NOTED_CLAUSES
    others = f"; and {more} more" if more > 0 else ""
    yield (
        f"{beyond.cases:,} of the {size:,} cases lie beyond Horn rules: the model rejects them, and every "
        f"Horn theory that accepts what it accepts has to accept them; {shown}{others}"
    )
