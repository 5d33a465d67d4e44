"""Whether a classifier does what is claimed of it, in the columns of its table.

Samples are drawn of the cases that may break a claim. Where none breaks a rule, a local search goes on from
the rows that are closest to another decision: for all claims side by side, so that the model is asked few
times about much. A violation is shown as close to a row of the table as it can be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.checks.cases import NEAREST_ROWS, PairCases, RuleCases, Violation, find_violation
from hornbook.checks.claims import Claim, MonotoneClaim, RuleClaim, parse_claims
from hornbook.conditions import Missing, meet_conditions
from hornbook.deadline import Deadline
from hornbook.display import Displayed, Listing
from hornbook.errors import HornbookError
from hornbook.extraction import ColumnSummary, read_value
from hornbook.logic import Bools
from hornbook.models import Subject
from hornbook.models.answers import afford
from hornbook.proof import PROOF_SECONDS, ColumnProver, Domain, make, prove_in_time
from hornbook.queries import Estimated, Exact, Guarantee, Unknown
from hornbook.randomness import Purpose, generator
from hornbook.schema import also_writes
from hornbook.statistics import Share
from hornbook.storage import read_text

CHUNK_CASES = 1 << 14
"""Cases drawn and asked about at a time."""

SEARCH_ROWS, SEARCH_STEPS = 128, 30
"""Rows that the local search goes on from, and how often it changes them."""

CLAIM_SHARE = 0.3
"""The share of a budget of answers that the samples of all claims take, of which some are pairs."""


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
        kind = "" if self.guarantee.kind == "none" else f" ({self.guarantee.kind})"
        return f"{self.claim}: {'broken' if self.broken else holds}{kind}"

    @property
    def broken(self) -> bool:
        """Whether there are rows that break the claim."""
        return self.violation is not None


def check(
    claims: str | Path | Sequence[Claim | str],
    subject: Subject,
    *,
    samples: int = 10_000,
    proof: bool = False,
    proof_seconds: float = PROOF_SECONDS,
    total_seconds: float | None = None,
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
    proof, proof_seconds, total_seconds
        Whether to prove or refute each claim for every row of the table's domain, and how long each proof and
        all of them may take.

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
    listed = [_list_cases(claim, subject) for claim in read_claims(claims, subject)]
    prover, deadline = None, Deadline.after(total_seconds)
    if proof:
        prover = make(subject.predictor, Domain.of(subject.teacher.frame), seconds=proof_seconds)
    trials, closer = [], []
    for number, cases in enumerate(listed):
        rng = generator(subject.seed, Purpose.PROPERTY_CHECK, number)
        affordable = afford(samples, CLAIM_SHARE / (len(listed) - number))
        trials.append(_Trial.run(cases, rng, affordable, prover, deadline))
        if affordable == samples:
            closer.append(trials[-1])
    closer = [trial for trial in closer if isinstance(trial.guarantee, Estimated) and not trial.broken]
    for trial in closer:
        if isinstance(trial.cases, PairCases):
            trial.broken = trial.cases.climb(trial.rng)
    search_rules(closer)
    return Listing([trial.conclude() for trial in trials])


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


def _list_cases(claim: Claim, subject: Subject) -> RuleCases | PairCases:
    """The cases of a claim; refuse a column, a level or a class that there is not, and words in an order."""
    frame, words = subject.teacher.frame, subject.words
    for column in claim.columns:
        if column not in frame:
            names = ", ".join(map(str, frame.columns[:12]))
            raise HornbookError(f"{claim}: the table has no column {column!r}; it has {names}")
    conditions = claim.body if isinstance(claim, RuleClaim) else ()
    ordered = [each.column for each in conditions if each.cuts]
    for column in (*ordered, *(claim.columns if isinstance(claim, MonotoneClaim) else ())):
        if not pd.api.types.is_numeric_dtype(frame[column]):
            raise HornbookError(
                f"{claim}: the values of {column!r} are not numbers, so none is above another"
            )
    bound = subject.teacher, subject.classes
    cases = RuleCases(claim, *bound) if isinstance(claim, RuleClaim) else PairCases(claim, *bound)
    try:
        for each in conditions:
            summary = ColumnSummary.of(frame[each.column], words)
            levels = dict(words.words(each.column).levels)
            for value in () if summary.numbers else each.named_values:
                if value not in levels:
                    read_value(summary, words, value)
        _ = cases.outcome  # refuses an unknown class
    except HornbookError as error:
        raise HornbookError(f"{claim}: {error}") from None
    return cases


@dataclass(eq=False)
class _Trial:
    """The cases of a claim that were found to break it, and how sure it is that there are no others."""

    cases: RuleCases | PairCases
    rng: np.random.Generator
    guarantee: Guarantee
    broken: list[pd.DataFrame]
    undecided: str = ""

    @classmethod
    def run(
        cls,
        cases: RuleCases | PairCases,
        rng: np.random.Generator,
        samples: int,
        prover: ColumnProver | None,
        deadline: Deadline,
    ) -> _Trial:
        """Prove or refute a claim, or look for samples that break it."""
        if not cases.possible:
            return cls(cases, rng, Exact(), [])
        undecided = ""
        if prover is not None:
            verdict = prove_in_time(partial(cases.prove, prover), prover.seconds, deadline)
            if verdict.guarantee is not None:
                return cls(cases, rng, verdict.guarantee, [])
            if verdict.witness is not None:
                refuted = Unknown(f"refuted by {verdict.by}, not sampled")
                return cls(cases, rng, refuted, [verdict.witness])
            undecided = verdict.reason
        hits, found = 0, []
        for start in range(0, samples, CHUNK_CASES):
            drawn = cases.draw(min(CHUNK_CASES, samples - start), rng)
            broken = np.flatnonzero(cases.breaks(drawn))
            hits += len(broken)
            found += cases.take(drawn, broken[:NEAREST_ROWS])
        return cls(cases, rng, Estimated(Share.of(hits, samples), cases.describe()), found, undecided)

    def conclude(self) -> ClaimCheck:
        """The result, with a violation if there is one."""
        violation = find_violation(self.cases, self.broken) if self.broken else None
        return ClaimCheck(self.cases.claim, violation, self.guarantee, self.undecided)


def search_rules(trials: Sequence[_Trial]) -> None:
    """Look for rows that break rules by changing single values of those that come closest to it."""
    rules = {trial: trial.cases for trial in trials if isinstance(trial.cases, RuleCases)}
    nearest = dict.fromkeys(rules, (pd.DataFrame(), np.zeros(0)))
    changed = {trial: cases.draw(8 * SEARCH_ROWS, trial.rng) for trial, cases in rules.items()}
    for _ in range(SEARCH_STEPS + 1):
        for trial, broken, heights in _ask_together(rules, changed):
            if broken.any():
                trial.broken = rules[trial].take(changed[trial], np.flatnonzero(broken)[:NEAREST_ROWS])
                del nearest[trial]
                continue
            rows = pd.concat([nearest[trial][0], changed[trial]], ignore_index=True)
            heights = np.concatenate([nearest[trial][1], heights])
            order = np.argsort(heights, kind="stable")[:SEARCH_ROWS]
            nearest[trial] = rows.iloc[order].reset_index(drop=True), heights[order]
        changed = {
            trial: rules[trial].sampler.change_values(rows, trial.rng) for trial, (rows, _) in nearest.items()
        }


def _ask_together(
    rules: Mapping[_Trial, RuleCases], rows: Mapping[_Trial, pd.DataFrame]
) -> Iterator[tuple[_Trial, Bools, NDArray[np.float64]]]:
    """For each rule, which rows break it, and how clearly the model decides for its outcome."""
    if not rows:
        return
    teacher, every = next(iter(rules.values())).teacher, pd.concat(rows.values(), ignore_index=True)
    ends = np.cumsum([len(own) for own in rows.values()])[:-1]
    labels, supports = np.split(teacher.labels(every), ends), {}
    for place, (trial, own) in enumerate(rows.items()):
        number, positive = rules[trial].outcome
        if number not in supports:
            supports[number] = np.split(teacher.measure_support(every, number), ends)
        met = meet_conditions(rules[trial].claim.body, own)
        support = supports[number][place]
        yield trial, met & ((labels[place] == number) != positive), support if positive else -support
