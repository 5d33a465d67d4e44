"""Why a model decides a row so: sufficient reasons with a guarantee, and the search for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition
from hornbook.deadline import Deadline
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.extraction import find_column, read_given_row
from hornbook.extraction.columns import plain_value
from hornbook.logic import Bools
from hornbook.models import AnswerCheck, ClassifierTeacher, Subject
from hornbook.models.answers import LEAST_AFFORDED, afford, describe_scarcity, limit_answers
from hornbook.randomness import Purpose, generator
from hornbook.reasons.change_space import NO_LIMITS, ChangeLimits
from hornbook.reasons.changes import ChangeFinder, Changes
from hornbook.reasons.prover import ProvedBody, ReasonLevel, ReasonProver
from hornbook.reasons.radius import Radius, RadiusFinder
from hornbook.reasons.row_conditions import REASON_CUTS, RowConditions
from hornbook.reasons.search import ReasonSampler, ReasonSearch, ReasonTask
from hornbook.schema import also_writes
from hornbook.statistics import Share
from hornbook.surrogates.grid import Grid

MEASURED_SAMPLES, MEASURED_SHARE = 2000, 0.5
"""Fresh samples on which a reason is measured, and the share of a budget of answers that they may take."""

PACE_ROWS, PACE_SHARE = 128, 0.05
"""Rows by which a model's speed is measured, and the share of the answers left that it takes at the most."""

CHECK_SHARE = 0.1
"""The share of the answers that may be asked for by which it is seen whether the model changes them."""

SEARCHED_SHARE = 0.6
"""The share of the time in which a reason is searched; then it is measured."""

MAX_READABLE_FACTS = 6
"""If a proved reason has more conditions, or covers a single row, a sampled one comes before it."""

PROOF_SHARE = 0.2
"""The share of the time limit that the proof of a reason may take, and proofs about changes."""


@dataclass(frozen=True)
class Coverage(Displayed):
    """The numbers of rows that meet a reason, that the model decides alike among them, and of the table."""

    met: int
    alike: int
    rows: int

    def __str__(self) -> str:
        return f"{self.met:,} of {self.rows:,} rows meet it; {self.alike:,} of them get the same class"


@also_writes("facts", "keeps_share")
@dataclass(frozen=True)
class SufficientReason(Displayed):
    """Conditions that a row meets and under which the model keeps its answer, whatever the others are.

    Parameters
    ----------
    conditions
        The conditions, in the order of the columns; none if the model always answers so.
    outcome
        The model's class, in words.
    level
        `sampled`: for at least a share of the rows that meet the conditions. `proved`: for every
        row of the domain that meets them. `minimal`: proved, and proved that no condition can be left out.
    share
        The share of fresh samples that meet the conditions and get the class, with an exact interval.
        Nothing was chosen by these samples.
    least_share
        The share that was asked for.
    coverage
        How many rows of the table meet the conditions, and how many of those get the class.
    note
        Why a higher level was not reached, if it was asked for.
    seconds
        How long the search took.
    code_book
        The user's words.
    short
        A reason that samples bear out, if this one is proved and has many conditions or covers no other row.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> reason = SufficientReason(
    ...     (Threshold("bili", 2.1), Threshold("age", 50), Threshold("age", 70, above=False)),
    ...     "dead", "minimal", Share.of(2000, 2000), 0.95, Coverage(41, 41, 312))
    >>> print(reason)
    dead, because bili > 2.1 and 50 < age ≤ 70
    proved: whatever the other values are, the model says dead; no condition can be left out
    41 of 312 rows meet this; the model says dead for 41 of them

    """

    conditions: tuple[Condition, ...]
    outcome: str
    level: ReasonLevel
    share: Share
    least_share: float
    coverage: Coverage
    note: str = ""
    seconds: float = field(default=0.0, compare=False)
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)
    short: SufficientReason | None = None

    @property
    def readable(self) -> SufficientReason:
        """The reason to read first: the short one, if there is one."""
        return self.short or self

    @property
    def facts(self) -> tuple[str, ...]:
        """The conditions in words, those on one column together."""
        return self.code_book.describe_all(self.conditions)

    @property
    def keeps_share(self) -> bool:
        """Whether the model keeps its answer on as large a share of rows as was asked for."""
        return self.level != "sampled" or self.share.low >= self.least_share

    def describe_guarantee(self) -> str:
        """Say how sure the reason is."""
        if self.level == "sampled":
            share, interval = str(self.share).split(" (")
            samples = f"{share} of {self.share.size:,} fresh samples that meet this ({interval}"
            return f"sampled: the model says {self.outcome} for {samples}"
        if_all = f" if {' and '.join(self.facts)}" if self.short else ""
        proved = f"proved: whatever the other values are, the model says {self.outcome}{if_all}"
        return f"{proved}; no condition can be left out" if self.level == "minimal" else proved

    def describe_coverage(self) -> str:
        """Say how many rows of the table the reason is about."""
        met, alike, rows = self.coverage.met, self.coverage.alike, self.coverage.rows
        if not rows:
            return "no answers were left to count the rows of the table that meet this"
        return f"{met:,} of {rows:,} rows meet this; the model says {self.outcome} for {alike:,} of them"

    def __str__(self) -> str:
        reason = f"because {' and '.join(self.facts)}" if self.conditions else "whatever the row says"
        note = (f"not more: {self.note}",) if self.note else ()
        first = (f"{self.outcome}, {reason}",) if self.short is None else (str(self.short),)
        return "\n".join((*first, self.describe_guarantee(), self.describe_coverage(), *note))


@dataclass(frozen=True)
class Why(Displayed):
    """Why a model decides one row so.

    Parameters
    ----------
    outcome
        The model's class, in words.
    reasons
        Sufficient reasons, the best first.
    row
        The values of the row, None where one is missing.
    changes
        What would change the decision, if that was asked for.
    notes
        What else there is to say, such as that the model changes its answers.

    """

    outcome: str
    reasons: tuple[SufficientReason, ...]
    row: Mapping[str, Any] = field(default_factory=dict)
    changes: Changes | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        between = "\n" if len(self.reasons) < 2 else "\n\n"
        changes = () if self.changes is None else (str(self.changes),)
        return between.join([*map(str, self.reasons), *changes, *self.notes])


@dataclass(frozen=True, eq=False)
class Reasoner:
    """Says why a model decides rows so.

    Parameters
    ----------
    subject
        The model, bound to the rows of a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    >>> reasoner = Reasoner(Subject.bind(model, X, target="virginica", hold_out=False))
    >>> print(reasoner.explain(X.iloc[120]))  # doctest: +NORMALIZE_WHITESPACE
    virginica, because petal length (cm) > 4.97
    proved: whatever the other values are, the model says virginica; no condition can be left out
    46 of 150 rows meet this; the model says virginica for 46 of them
    with petal length (cm) 5.7 → 4.9 and petal width (cm) 2.3 → 1.7 it would be not virginica; no change of
    one column does (proved)

    """

    subject: Subject

    @property
    def teacher(self) -> ClassifierTeacher:
        """The model, bound to the rows that are not held out."""
        return self.subject.teacher

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the model reads."""
        return tuple(self.teacher.columns)

    @cached_property
    def grid(self) -> Grid:
        """The bins of the columns that the model reads."""
        return Grid.of(self.teacher.frame[list(self.columns)], REASON_CUTS, self.subject.words)

    def read_row(self, row: Any) -> pd.DataFrame:
        """A row as a user gives it, in the columns and types of the table."""
        return read_given_row(row, self.teacher.frame, self.subject.words)

    def explain(
        self,
        row: Any,
        *,
        share: float = 0.95,
        reasons: int = 1,
        prefer: Sequence[str] = (),
        proof: bool = True,
        seconds: float = 10.0,
        changes: int = 1,
        limits: ChangeLimits = NO_LIMITS,
        wished: Any = None,
        ask_again: bool = True,
    ) -> Why:
        """Why the model decides one row so; the parameters are those of `hornbook.Explainer.why`.

        Some questions are asked again at the end, to notice a model that changes its answers; `ask_again`
        leaves that out where the caller does it.
        """
        if not 0 < share < 1:
            raise HornbookError(f"a share is between 0 and 1, both excluded; got share={share}")
        if reasons < 1 or seconds <= 0:
            raise HornbookError(
                f"at least one reason is looked for, in some time; got reasons={reasons}, seconds={seconds}"
            )
        given, ends = self.read_row(row), Deadline.after(seconds)
        with limit_answers(seconds=seconds):
            for rows in LEAST_AFFORDED, PACE_ROWS:  # how long do answers take? The first may be late
                self.teacher.labels(self.teacher.sampler.frame.head(afford(rows, PACE_SHARE)))
            with limit_answers(share=CHECK_SHARE):
                check = AnswerCheck.start(self.teacher.labels, self.teacher.sampler.frame)
            outcome = int(self.teacher.labels(given)[0])
            columns = dict.fromkeys(self.columns)
            preferred = frozenset(find_column(name, columns, self.subject.words) for name in prefer)
            limit = PROOF_SHARE * seconds if proof else 0.0
            settings = ReasonSettings(share, preferred, limit, ends, reasons, bool(changes))
            distinct_reasons: list[SufficientReason] = []
            for reason in self._list_reasons(given, outcome, settings):
                if all(reason.conditions != other.conditions for other in distinct_reasons):
                    distinct_reasons.append(reason)
                if len(distinct_reasons) == reasons or ends.passed:
                    break
            found = None
            if changes:
                left = ends.left
                found = self._finder.find(
                    given, limits, wished, count=changes, proof_seconds=min(limit, left), search_seconds=left
                )
            notes = [*_note_scarcity(distinct_reasons), *(check.describe_changes() if ask_again else ())]
        known = {str(name): plain_value(given[name].iloc[0]) for name in given if given[name].notna().all()}
        row_values = dict.fromkeys(map(str, given)) | known
        return Why(self.subject.classes[outcome], tuple(distinct_reasons), row_values, found, tuple(notes))

    def measure_radius(self, row: Any, proof: bool = True, seconds: float = 10.0) -> Radius:
        """How far the numbers of a row may move, proved where that is wanted and possible."""
        given = self.read_row(row)
        try:
            prover = self._finder.find_prover(given) if proof else None
        except HornbookError:
            prover = None
        rng = generator(self.subject.seed, Purpose.REASON_MEASUREMENT)
        finder = RadiusFinder(given, self.teacher, prover, Deadline.after(seconds), rng)
        return finder.measure(self.subject.words)

    @cached_property
    def _finder(self) -> ChangeFinder:
        return ChangeFinder(self.subject)

    def _list_reasons(
        self, row: pd.DataFrame, outcome: int, settings: ReasonSettings
    ) -> Iterator[SufficientReason]:
        """Different reasons: each later one does without a column of an earlier one.

        This is a hitting-set tree, breadth first: every set of columns that hits all reasons so far may
        be forbidden (R. Reiter, A theory of diagnosis from first principles, 1987).
        """
        conditions = RowConditions.of(row, self.grid, self.teacher.frame, self.subject.words)
        sampler = ReasonSampler(self.teacher, conditions, outcome)
        waiting: list[frozenset[str]] = [frozenset()]
        seen = set(waiting)
        for number, banned in enumerate(waiting):
            with limit_answers(seconds=settings.share_time(number)):
                reason = self._find_reason(sampler, settings, banned, number)
            if number and not reason.keeps_share:
                continue
            yield reason
            for column in dict.fromkeys(condition.column for condition in reason.conditions):
                if (more := banned | {column}) not in seen:
                    seen.add(more)
                    waiting.append(more)

    def _find_reason(
        self,
        sampler: ReasonSampler,
        settings: ReasonSettings,
        banned: frozenset[str],
        number: int,
    ) -> SufficientReason:
        deadline = Deadline.after(settings.share_time(number))
        rng = generator(self.subject.seed, Purpose.REASON_SEARCH, sampler.conditions.row_number, number)
        task = ReasonTask(sampler, settings.share, settings.preferred, banned, deadline, rng)
        with limit_answers(seconds=SEARCHED_SHARE * deadline.left, share=SEARCHED_SHARE):
            body = ReasonSearch(task).find_body()
        if not settings.proof_seconds:
            return self._measure(task, ProvedBody(body, "sampled"), number)
        try:
            prover = self._finder.find_prover(sampler.conditions.row)
        except HornbookError as error:
            proved = ProvedBody(body, "sampled", str(error))
        else:
            limit = Deadline.after(min(settings.proof_seconds, deadline.left))
            proved = ReasonProver(task, prover, limit).find_body(body)
        reason = self._measure(task, proved, number)
        is_long, is_alone = len(reason.facts) > MAX_READABLE_FACTS, reason.coverage.met <= 1
        if reason.level == "sampled" or not (is_long or is_alone):
            return reason
        short = self._measure(task, ProvedBody(body, "sampled"), number)
        is_shorter = is_long and len(short.facts) < len(reason.facts)
        is_wider = is_alone and short.coverage.met > reason.coverage.met
        may_keep_share = short.share.high >= settings.share
        return replace(reason, short=short) if may_keep_share and (is_shorter or is_wider) else reason

    def _cover(self, met: Bools, outcome: int) -> Coverage:
        """How many rows of the table meet a reason and are decided so: of fewer rows if few may be asked."""
        frame, count = self.teacher.sampler.frame, int(met.sum())
        if (affordable := afford(count)) < count:
            looked_at = np.linspace(0, len(frame) - 1, affordable * len(frame) // count).astype(np.intp)
            frame, met = frame.iloc[looked_at], met[looked_at]
        alike = self.teacher.labels(frame[met]) == outcome
        return Coverage(int(met.sum()), int(alike.sum()), len(frame))

    def _measure(self, task: ReasonTask, proved: ProvedBody, number: int) -> SufficientReason:
        """The reason with its share of fresh samples, and the rows of the table that it covers."""
        sampler, conditions, body = task.sampler, task.conditions, proved.body
        rng = generator(self.subject.seed, Purpose.REASON_MEASUREMENT, conditions.row_number, number)
        (fresh,) = sampler.label([sampler.draw(body, afford(MEASURED_SAMPLES, MEASURED_SHARE), rng)])
        if proved.level != "sampled" and not fresh.alike.all():
            note = "a proof was found that samples contradict; please report this"
            proved = ProvedBody(body, "sampled", note)
        return SufficientReason(
            conditions.describe(body),
            self.subject.classes[sampler.outcome],
            proved.level,
            Share.where(fresh.alike),
            task.least_share,
            self._cover(conditions.meets(body, sampler.codes[:, :-1]), sampler.outcome),
            proved.note,
            task.deadline.elapsed,
            self.subject.words,
        )


def _note_scarcity(reasons: Sequence[SufficientReason]) -> Iterator[str]:
    """Say that a model was too slow, or asked too little, for a reason that holds often enough."""
    if any(each.share.size < MEASURED_SAMPLES and not each.keeps_share for each in reasons):
        yield from describe_scarcity()


@dataclass(frozen=True)
class ReasonSettings:
    """Settings of a search for reasons: share, preferred columns, seconds for a proof (or 0).

    The deadline is that of all `reasons`, and of what would change the answer, if that `follows`.
    """

    share: float
    preferred: frozenset[str]
    proof_seconds: float
    deadline: Deadline
    reasons: int
    follows: bool

    def share_time(self, number: int) -> float:
        """The seconds for one reason: an even part of what is left for those that are still wanted."""
        return self.deadline.left / (max(1, self.reasons - number) + self.follows)
