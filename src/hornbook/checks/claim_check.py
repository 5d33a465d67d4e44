"""Whether a classifier does what is claimed of it, in the columns of its table.

A rule is checked on rows that meet its body: samples of the table in which values of the body's
columns are exchanged for values of the table that meet it. A monotonicity is checked on pairs of
rows that differ in one column only. Where samples find no violation, a local search goes on from
the rows that are closest to another decision. A violation is shown as close to a row of the table
as it can be made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.checks.claims import Claim, MonotoneClaim, RuleClaim, name_outcome, parse_claims
from hornbook.checks.violations import NEAREST_ROWS, BodySampler, Violation, bring_close
from hornbook.code_book import CodeBook
from hornbook.conditions import Missing, meet_conditions
from hornbook.deadline import Deadline
from hornbook.display import Displayed, Listing
from hornbook.errors import HornbookError, ModelError
from hornbook.extraction import ColumnSummary, read_value
from hornbook.extraction.result import plain_value
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher, Subject, ask_anew
from hornbook.models.answers import afford
from hornbook.proof import PROOF_SECONDS, ColumnProver, Domain, Verdict, make, prove_in_time
from hornbook.queries import Estimated, Exact, Guarantee, Unknown
from hornbook.randomness import Purpose, generator
from hornbook.schema import also_writes
from hornbook.statistics import Share
from hornbook.storage import read_text
from hornbook.tables import replace_columns

CHUNK_ROWS = 1 << 14
"""Rows drawn and asked about at a time."""

SEARCH_ROWS, SEARCH_STEPS = 128, 30
"""Rows that the local search goes on from, and how often it changes them."""

CLAIM_SHARE = 0.3
"""The share of a budget of answers that the samples of all claims take, of which some are pairs."""

LADDER_VALUES = 32
"""Values of a column that the local search for a broken monotonicity tries at each row."""


@also_writes("broken", text=lambda check: str(check.claim))
@dataclass(frozen=True, eq=False)
class ClaimCheck(Displayed):
    """Whether a model breaks a claim.

    Parameters
    ----------
    claim
        What is claimed.
    violation
        Rows that break it, if there are any.
    guarantee
        How often samples break it, whether it is broken or not; a proof where one was found; exact
        where no row can meet the body.
    undecided
        Why there is no proof though one was asked for.

    """

    claim: Claim
    violation: Violation | None
    guarantee: Guarantee
    undecided: str = ""

    def __str__(self) -> str:
        holds = "holds" if self.guarantee.kind in ("exact", "proved") else "no violation was found"
        return f"{self.claim}: {'broken' if self.broken else holds} ({self.guarantee.kind})"

    @property
    def broken(self) -> bool:
        """Whether there are rows that break the claim."""
        return self.violation is not None


def check(
    claims: str | Path | Sequence[Claim | str],
    subject: Subject,
    *,
    samples: int = 10_000,
    local_search: bool = True,
    proof: bool = False,
    proof_seconds: float = PROOF_SECONDS,
    total_seconds: float | None = None,
    watch: Callable[[Claim], None] | None = None,
) -> Listing[ClaimCheck]:
    r"""For each claim look for rows that break it.

    Parameters
    ----------
    claims
        Claims as text, the path of a file of them, or claims; see `hornbook.checks.parse_claims`.
    subject
        The model, bound to rows; claims may be written in the user's words.
    samples
        How many rows, or pairs of rows, are drawn for each claim.
    local_search
        Whether to go on from the rows that are closest to another decision where samples break nothing.
    proof, proof_seconds, total_seconds
        Whether to prove or refute each claim for every row of the table's domain, and how long each proof and
        all of them may take.
    watch
        Is called with every claim that has been checked.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 30, 60, 70], "income": [10.0, 80, 20, 90]})
    >>> model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1])
    >>> subject = Subject.bind(model, rows, target="good")
    >>> for result in check("income > 60 -> good \n age > 40 -> good", subject):
    ...     print(result.broken, None if result.violation is None else result.violation.rows.to_dict("list"))
    False None
    True {'age': [60.0], 'income': [20.0]}

    """
    if samples < 1:
        raise HornbookError(f"a claim is checked on at least one row; got samples={samples}")
    listed = read_claims(claims, subject)
    checker = ClaimChecker(subject.teacher, subject.classes, samples, local_search)
    for claim in listed:
        checker.refuse_unknown(claim, subject.words)
    prover = None
    if proof:
        made = make(subject.predictor, Domain.of(subject.teacher.frame), seconds=proof_seconds)
        prover = ClaimProver(made, subject.classes, Deadline.after(total_seconds))
    checked = []
    for number, claim in enumerate(listed):
        rng = generator(subject.seed, Purpose.PROPERTY_CHECK, number)
        checked.append(checker.within_budget(len(listed) - number).check(claim, rng, prover))
        if watch is not None:
            watch(claim)
    return Listing(checked)


def read_claims(
    claims: str | Path | Sequence[Claim | str],
    subject: Subject,
    remark: Callable[[str], None] | None = None,
) -> tuple[Claim, ...]:
    """Claims of a text, of several, of a file, or as they are; a text with several words is not a path."""
    frame = subject.frame
    known = [Missing(str(name), missing=False) for name in frame if not frame[name].isna().any()]
    parse = partial(
        parse_claims, code_book=subject.words, columns=tuple(map(str, frame)), always=known, remark=remark
    )
    if not isinstance(claims, str | Path):
        return tuple(
            chain.from_iterable(parse(each) if isinstance(each, str) else (each,) for each in claims)
        )
    path, text = Path(claims), str(claims)
    if isinstance(claims, Path) or (" " not in text and "\n" not in text and path.suffix):
        text = read_text(path)
        try:
            read = parse(text)
        except HornbookError as error:
            raise HornbookError(f"{path}, {error}") from None
    else:
        read = parse(text)
    if not read:
        raise HornbookError("there are no claims; write one a line, such as: income <= 90 & age > 40 -> good")
    return read


@also_writes("broken", text=lambda check: str(check.claim))
@dataclass(frozen=True, eq=False)
class ClaimChecker:
    """Checks claims about one teacher by samples."""

    teacher: ClassifierTeacher
    classes: tuple[str, ...]
    samples: int
    local_search: bool

    def within_budget(self, claims: int) -> ClaimChecker:
        """Return this checker with as many samples for a claim as it may ask about if `claims` are left."""
        samples = afford(self.samples, CLAIM_SHARE / claims)
        return replace(self, samples=samples, local_search=self.local_search and samples == self.samples)

    def refuse_unknown(self, claim: Claim, words: CodeBook) -> None:
        """Raise for a column, a level or a class that there is not, or for an order of values without one."""
        columns = self.teacher.frame.columns
        for column in claim.columns:
            if column not in columns:
                raise HornbookError(
                    f"{claim}: the table has no column {column!r}; it has {', '.join(map(str, columns[:12]))}"
                )
        conditions = claim.body if isinstance(claim, RuleClaim) else ()
        ordered = [each.column for each in conditions if each.cuts]
        for column in (*ordered, *(claim.columns if isinstance(claim, MonotoneClaim) else ())):
            if not pd.api.types.is_numeric_dtype(self.teacher.frame[column]):
                raise HornbookError(
                    f"{claim}: the values of {column!r} are not numbers, so none is above another"
                )
        try:
            for each in conditions:
                summary = ColumnSummary.of(self.teacher.frame[each.column], words)
                levels = dict(words.words(each.column).levels)
                for value in () if summary.numbers else each.named_values:
                    if value not in levels:
                        read_value(summary, words, value)
            name_outcome(claim.outcome, self.classes)
        except HornbookError as error:
            raise HornbookError(f"{claim}: {error}") from None

    def check(self, claim: Claim, rng: np.random.Generator, prover: ClaimProver | None = None) -> ClaimCheck:
        """Look for rows that break one claim; raise if they break it only now and then."""
        if isinstance(claim, MonotoneClaim):
            result = self._check_monotone(claim, rng, prover)
        else:
            result = self._check_rule(claim, rng, prover)
        if result.violation is not None and not self._breaks_again(claim, result.violation.rows):
            raise ModelError(
                f"{claim}: it changes its answers, for it breaks this on a row only now and then"
            )
        return result

    def _breaks_again(self, claim: Claim, rows: pd.DataFrame) -> bool:
        """Whether rows that broke a claim do so when the model is asked again."""
        with ask_anew():
            if isinstance(claim, MonotoneClaim):
                return bool(self.breaks_monotone(claim, rows.iloc[[0]], rows.iloc[[1]])[0])
            return bool(self.breaks_rule(claim, rows)[0])

    def _check_rule(
        self, claim: RuleClaim, rng: np.random.Generator, prover: ClaimProver | None
    ) -> ClaimCheck:
        breaks = partial(self.breaks_rule, claim)
        sampler = BodySampler(self.teacher, claim.body)
        if not sampler.possible:
            return ClaimCheck(claim, None, Exact())
        verdict = None if prover is None else prover.prove(claim)
        if verdict is not None and verdict.guarantee is not None:
            return ClaimCheck(claim, None, verdict.guarantee)
        if verdict is not None and verdict.witness is not None:
            refuted = Unknown(f"refuted by {verdict.by}, not sampled")
            return ClaimCheck(
                claim, self._bring_close(self._complete(verdict.witness), breaks, claim.columns), refuted
            )
        undecided = "" if verdict is None else verdict.reason
        hits, violations = 0, []
        for start in range(0, self.samples, CHUNK_ROWS):
            rows = sampler.draw(min(CHUNK_ROWS, self.samples - start), rng)
            broken = breaks(rows)
            hits += int(broken.sum())
            violations.append(rows[broken].head(NEAREST_ROWS))
        guarantee = Estimated(Share.of(hits, self.samples), sampler.describe())
        witnesses = pd.concat(violations, ignore_index=True)
        if not len(witnesses) and self.local_search:
            witnesses = self._search(claim, sampler, rng)
        violation = self._bring_close(witnesses, breaks, claim.columns) if len(witnesses) else None
        return ClaimCheck(claim, violation, guarantee, undecided)

    def _complete(self, witness: pd.DataFrame) -> pd.DataFrame:
        """A witness with all columns of the table; those that the model does not read are a row's."""
        first = self.teacher.frame.head(1).reset_index(drop=True)
        return replace_columns(first, {name: witness[name].set_axis(first.index) for name in witness})

    def breaks_rule(self, claim: RuleClaim, rows: pd.DataFrame) -> Bools:
        """Which rows meet the body and get another class than the outcome."""
        number, positive = name_outcome(claim.outcome, self.classes)
        broken = meet_conditions(claim.body, rows)
        if broken.any():
            broken[broken] = (self.teacher.labels(rows[broken]) == number) != positive
        return broken

    def _measure_support(self, outcome: str, rows: pd.DataFrame) -> NDArray[np.float64]:
        """Measure how clearly the model decides for an outcome, a number a row."""
        number, positive = name_outcome(outcome, self.classes)
        support = self.teacher.measure_support(rows, number)
        return support if positive else -support

    def _search(self, claim: RuleClaim, sampler: BodySampler, rng: np.random.Generator) -> pd.DataFrame:
        """Rows that break a rule, found by changing single values of those that come closest to it."""
        scores = partial(self._measure_support, claim.outcome)
        rows = sampler.draw(8 * SEARCH_ROWS, rng)
        heights = scores(rows)
        for _ in range(SEARCH_STEPS):
            order = np.argsort(heights, kind="stable")[:SEARCH_ROWS]
            rows, heights = rows.iloc[order].reset_index(drop=True), heights[order]
            changed = sampler.change_values(rows, rng)
            broken = self.breaks_rule(claim, changed)
            if broken.any():
                return changed[broken].head(NEAREST_ROWS).reset_index(drop=True)
            rows = pd.concat([rows, changed], ignore_index=True)
            heights = np.concatenate([heights, scores(changed)])
        return rows.head(0)

    def _bring_close(
        self, witnesses: pd.DataFrame, breaks: Callable[[pd.DataFrame], Bools], needed: tuple[str, ...]
    ) -> Violation:
        """The violation that changes the fewest columns of a row of the table."""
        rows, number, changed = bring_close(witnesses, self.teacher.frame, breaks, needed)
        name = self.teacher.frame.index[number]
        return Violation(rows, self._outcomes(rows), plain_value(name), changed)

    def _outcomes(self, rows: pd.DataFrame) -> tuple[str, ...]:
        return tuple(self.classes[number] for number in self.teacher.labels(rows))

    def _check_monotone(
        self, claim: MonotoneClaim, rng: np.random.Generator, prover: ClaimProver | None
    ) -> ClaimCheck:
        column, frame = claim.column, self.teacher.frame
        values = np.sort(frame[column].dropna().unique())
        if len(values) < 2:
            return ClaimCheck(claim, None, Exact())
        verdict = None if prover is None else prover.prove_monotone(claim)
        if verdict is not None and verdict.guarantee is not None:
            return ClaimCheck(claim, None, verdict.guarantee)
        if verdict is not None and verdict.witness is not None:
            both = [self._complete(verdict.witness.iloc[[place]]) for place in (0, 1)]
            closest = self._bring_pair_close(claim, pd.concat(both, ignore_index=True))
            return ClaimCheck(claim, closest, Unknown(f"refuted by {verdict.by}, not sampled"))
        note = "" if verdict is None else verdict.reason
        hits, violation = 0, None
        for start in range(0, self.samples, CHUNK_ROWS):
            rows = self.teacher.sample(min(CHUNK_ROWS, self.samples - start), rng)
            low, high = self._draw_pairs(values, len(rows), rng)
            below, above = (replace_columns(rows, {column: part}) for part in (low, high))
            broken = self.breaks_monotone(claim, below, above)
            hits += int(broken.sum())
            if violation is None and broken.any():
                at = int(broken.argmax())
                pair = pd.concat([below.iloc[[at]], above.iloc[[at]]], ignore_index=True)
                violation = self._bring_pair_close(claim, pair)
        guarantee = Estimated(
            Share.of(hits, self.samples),
            f"pairs of samples that differ in {column!r} alone: {self.teacher.sampler.describe()}",
        )
        if violation is None and self.local_search:
            violation = self._climb_ladder(claim, values, rng)
        return ClaimCheck(claim, violation, guarantee, note)

    @staticmethod
    def _draw_pairs(values: Any, size: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw two different values for each of `size` rows: the lower ones and the higher ones."""
        first = rng.integers(len(values), size=size)
        second = (first + rng.integers(1, len(values), size=size)) % len(values)
        return values[np.minimum(first, second)], values[np.maximum(first, second)]

    def breaks_monotone(self, claim: MonotoneClaim, low: pd.DataFrame, high: pd.DataFrame) -> Bools:
        """Which pairs lose (or gain) the class as the column rises."""
        number, positive = name_outcome(claim.outcome, self.classes)
        below, above = ((self.teacher.labels(rows) == number) == positive for rows in (low, high))
        broken: Bools = below & ~above if claim.never == "lowers" else ~below & above
        return broken

    def _climb_ladder(self, claim: MonotoneClaim, values: Any, rng: np.random.Generator) -> Violation | None:
        """Try many values of the column at rows, and look for a class that is lost, or gained, on the way."""
        steps = values[np.unique(np.linspace(0, len(values) - 1, LADDER_VALUES).astype(np.intp))]
        rows = self.teacher.sample(4 * SEARCH_ROWS, rng)
        below = replace_columns(rows, {claim.column: steps[0]})
        for value in steps[1:]:
            above = replace_columns(rows, {claim.column: value})
            broken = self.breaks_monotone(claim, below, above)
            if broken.any():
                at = int(broken.argmax())
                pair = pd.concat([below.iloc[[at]], above.iloc[[at]]], ignore_index=True)
                return self._bring_pair_close(claim, pair)
            below = above
        return None

    def _bring_pair_close(self, claim: MonotoneClaim, pair: pd.DataFrame) -> Violation:
        column, low, high = claim.column, pair[claim.column].iloc[0], pair[claim.column].iloc[1]

        def breaks(rows: pd.DataFrame) -> Bools:
            below, above = (replace_columns(rows, {column: value}) for value in (low, high))
            return self.breaks_monotone(claim, below, above)

        violation = self._bring_close(pair.head(1), breaks, (column,))
        rows = replace_columns(pd.concat([violation.rows] * 2, ignore_index=True), {column: [low, high]})
        changed = tuple(name for name in violation.changed if name != column)
        return Violation(rows, self._outcomes(rows), violation.row, changed)


@dataclass(frozen=True, eq=False)
class ClaimProver:
    """Proves or refutes claims about every row of a table's domain."""

    prover: ColumnProver
    classes: tuple[str, ...]
    deadline: Deadline

    def prove(self, claim: RuleClaim) -> Verdict[pd.DataFrame]:
        """Prove or refute one claim."""
        number, positive = name_outcome(claim.outcome, self.classes)
        if positive or len(self.classes) == 2:
            ask = partial(self.prover.prove, claim.body, number if positive else 1 - number)
            return prove_in_time(ask, self.prover.seconds, self.deadline)
        return Verdict.leave_open("a proof is about one class, and not about all others of several")

    def prove_monotone(self, claim: MonotoneClaim) -> Verdict[pd.DataFrame]:
        """Prove or refute that a class is never lost, or never gained, where a column rises."""
        number, positive = name_outcome(claim.outcome, self.classes)
        if len(self.classes) > 2:
            return Verdict.leave_open("monotonicity is proved of trees of two classes, and sampled of others")
        never_lost = positive == (claim.never == "lowers")
        ask = partial(self.prover.prove_monotone, claim.column, number if never_lost else 1 - number)
        return prove_in_time(ask, self.prover.seconds, self.deadline)
