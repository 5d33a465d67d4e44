"""Why a model decides the rows of a table so: the few reasons that cover most of them.

Rows are taken in a random order. For each that no reason covers yet, a reason is searched, until more do not
help. It covers all rows that meet its conditions and that the model decides alike. Of all reasons the one
that covers most rows is taken first, then the one that covers most of the others, and so on. So a view of
the whole model is made of statements about single rows, each of which keeps its own guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hornbook.conditions import meet_conditions
from hornbook.deadline import Deadline
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models import AnswerCheck
from hornbook.models.answers import is_spent, limit_answers
from hornbook.randomness import Purpose, generator
from hornbook.reasons.reasoner import Reasoner, SufficientReason

REASON_SHARE = 0.25
"""The share of what is left of a budget of answers that one reason takes."""

REASON_SECONDS = 10.0
"""Time limit of a single reason."""

MAX_IDLE_REASONS = 12
"""Reasons in a row that are not among the few that cover most rows, after which no more are looked for."""

MAX_SHOWN_ROWS = 12
"""Rows that remain that are named."""


@dataclass(frozen=True)
class CoveringReason(Displayed):
    """A reason, and how many rows it covers that no reason before it does.

    Parameters
    ----------
    reason
        The reason, which was found for one row.
    row
        That row, by the table's index.
    rows
        How many rows it covers that those before it do not.

    """

    reason: SufficientReason
    row: Any
    rows: int

    def __str__(self) -> str:
        facts = " and ".join(self.reason.facts) or "whatever the row says"
        coverage = self.reason.coverage
        others = coverage.met - coverage.alike
        level = "proved, minimal" if self.reason.level == "minimal" else self.reason.level
        note = f", but not for {others:,} of {coverage.met:,} rows that meet it" if others else ""
        noun = "row" if self.rows == 1 else "rows"
        return f"{self.rows:,} {noun}, because {facts} ({level}{note})"


@dataclass(frozen=True)
class TableReasons(Displayed):
    """Why a model decides the rows of a table so: reasons, the one that covers most rows first.

    Parameters
    ----------
    reasons
        The reasons.
    rows
        How many rows the table has.
    outcomes
        The classes and how many rows the model decides for each, in words.
    uncovered
        The rows that none of the reasons covers, by the table's index.
    found
        How many different reasons were found, of which these cover most.
    notes
        What else there is to say, such as that the model changes its answers.

    """

    reasons: tuple[CoveringReason, ...]
    rows: int
    outcomes: tuple[tuple[str, int], ...]
    uncovered: tuple[Any, ...]
    found: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = []
        for outcome, count in self.outcomes:
            own = [each for each in self.reasons if each.reason.outcome == outcome]
            lines.append(f"{outcome}: {count:,} of {self.rows:,} rows")
            lines += [f"  {each}" for each in own]
        covered = self.rows - len(self.uncovered)
        cover = f"{len(self.reasons)} of {self.found} reasons cover {covered:,} of {self.rows:,} rows"
        lines.append(cover if self.found else "no reason was found within the limits")
        if self.uncovered:
            shown = ", ".join(map(str, self.uncovered[:MAX_SHOWN_ROWS]))
            more = len(self.uncovered) - MAX_SHOWN_ROWS
            lines.append(f"these rows remain: {shown}" + (f" and {more:,} more" if more > 0 else ""))
        return "\n".join([*lines, *self.notes])


def cover_table(
    reasoner: Reasoner, max_reasons: int = 10, *, proof: bool = False, seconds: float = 60.0, **options: Any
) -> TableReasons:
    """Why a model decides the rows of a table so: the few reasons that cover most of them.

    Parameters
    ----------
    reasoner
        The model, bound to the rows.
    max_reasons
        The most reasons that are named.
    proof
        Whether reasons are proved where they can be.
    seconds
        Time limit of the search.
    options
        What `Reasoner.explain` takes: `share` and `prefer`.

    Examples
    --------
    >>> from hornbook.models import Subject
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    >>> subject = Subject.bind(model, X, target="virginica", hold_out=False)
    >>> print(cover_table(Reasoner(subject), max_reasons=2, proof=True))
    not virginica: 98 of 150 rows
      98 rows, because petal length (cm) ≤ 4.93 and petal width (cm) ≤ 1.73 (proved, minimal)
    virginica: 52 of 150 rows
      46 rows, because petal length (cm) > 4.97 (proved, minimal)
    2 of 3 reasons cover 144 of 150 rows
    these rows remain: 70, 121, 123, 126, 127, 138

    """
    if seconds <= 0 or max_reasons < 1:
        raise HornbookError(
            f"at least one reason is looked for, in some time; got max_reasons={max_reasons}, "
            f"seconds={seconds}"
        )
    deadline = Deadline.after(seconds)
    reasoner = replace(reasoner, subject=reasoner.subject.within_budget())
    frame, classes = reasoner.teacher.frame, reasoner.subject.classes
    labels, names = reasoner.teacher.labels(frame), frame.index.tolist()
    found: list[tuple[int, SufficientReason]] = []  # with the row that it was found for
    covers: list[Bools] = []
    chosen: list[tuple[int, int]] = []
    for row in generator(reasoner.subject.seed, Purpose.TABLE_REASONS).permutation(len(frame)).tolist():
        idle = len(found) - max((number for number, _ in chosen), default=0)
        if deadline.passed or is_spent() or idle > MAX_IDLE_REASONS:
            break
        if any(own[row] for own in covers):
            continue
        limit = min(deadline.left, REASON_SECONDS)
        with limit_answers(share=REASON_SHARE):
            (reason,) = reasoner.explain(
                frame.iloc[[row]], proof=proof, seconds=limit, changes=0, ask_again=False, **options
            ).reasons
        if reason.readable.keeps_share:
            found.append((row, reason.readable))
            covers.append(meet_conditions(reason.readable.conditions, frame) & (labels == labels[row]))
            chosen = _choose_reasons(covers, [len(own.conditions) for _, own in found], max_reasons)
    left_over = ~np.logical_or.reduce([np.zeros(len(frame), np.bool_), *(covers[each] for each, _ in chosen)])
    counts = np.bincount(labels, minlength=len(classes)).tolist()
    return TableReasons(
        tuple(CoveringReason(found[each][1], names[found[each][0]], rows) for each, rows in chosen),
        len(frame),
        tuple(zip(classes, counts, strict=True)),
        tuple(names[row] for row in np.flatnonzero(left_over)),
        len(found),
        tuple(AnswerCheck(reasoner.teacher.labels, frame, labels).describe_changes()),
    )


def _choose_reasons(covers: Sequence[Bools], lengths: Sequence[int], count: int) -> list[tuple[int, int]]:
    """The numbers of reasons that cover most rows, each with the rows that it covers first; greedily."""
    left = np.ones(len(covers[0]), np.bool_)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < count:
        gains = [int((own & left).sum()) for own in covers]
        best = max(range(len(covers)), key=lambda number: (gains[number], -lengths[number]))
        if not gains[best]:
            break
        chosen.append((best, gains[best]))
        left &= ~covers[best]
    return chosen
