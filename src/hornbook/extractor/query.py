"""QueryExtractor: a Horn theory out of a model by membership and equivalence queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hornbook.code_book_source import CodeBookSource, read_code_book
from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import ModelError
from hornbook.extraction import (
    ColumnSummary,
    Extraction,
    Fidelity,
    FrontierPoint,
    LineStatistics,
    list_differences,
    measure_fidelity,
    name_values,
    read_facts,
)
from hornbook.extractor.base import Extractor, describe_run, draw_seed, refuse_numbers
from hornbook.logic import Batch, Bools
from hornbook.models import note_changed_answers, predict_two_classes
from hornbook.queries import (
    MODEL_FAILED,
    UNDETERMINED,
    Binariser,
    BoundModel,
    Budget,
    Conclusion,
    GroupPropagation,
    Guarantee,
    HornRules,
    QueryResult,
    Reader,
    Settings,
    extract,
    is_binary,
    to_frame,
)
from hornbook.queries.column_models import fit_binariser
from hornbook.queries.membership import TIMED_BLOCK
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, check_tolerances
from hornbook.tables import infer_kind, note_units, number_units, split_rows

POOL_SAMPLES = 1 << 14
"""Labelled samples that rules are compared on during a run."""

FRESH_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MEASURING_SHARE = 0.2
"""Share of a time limit that is kept for measuring what was learned."""

Watch = Callable[[dict[str, Any]], None]
"""Is called with what just happened, ready for JSON."""


class QueryExtractor(Extractor):
    """Learns a Horn theory about a model by queries, with a stated guarantee.

    Parameters
    ----------
    model
        The black box, already fitted: a judge that accepts or rejects whole interpretations, as the
        paper's network does, or a classifier of two classes. See `HornExtractor` for its kinds; it
        is never refitted, copied or changed, and clones share it.
    target
        What a classifier predicts: the label of the rules.
    judge
        Whether the model is a judge; rules then say which interpretations it accepts.
    binariser
        The fitted binariser that made the columns, or that is to make variables of them. Without
        one, columns of 1, 0 and NaN are taken as variables, and others are binarised here.
    max_rules
        The most rules besides those that always hold.
    max_queries
        The most equivalence queries.
    epsilon, delta
        The tolerated disagreement, and the tolerated probability that it is exceeded.
    sample_size
        How many samples an equivalence query draws, see `hornbook.statistics.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too.
    max_seconds
        Time limit in seconds, a fifth of it for measuring fidelity; None is no limit. Where it does
        not suffice, `extraction_.notes` say what was not measured.
    random_state
        Makes the run repeatable.
    code_book
        The user's words, as of `HornExtractor`.

    Attributes
    ----------
    explanation_
        The rules as an explanation: `HornRules`.
    theory_, background_
        The rules, and what always holds beside them.
    fidelity_
        How often the rules, with their default, say what the model says: on unseen rows, with an
        interval, and on `samples`. The rows of a judge are not held out.
    guarantee_
        Under what the rules are held to be equivalent to the model.
    result_
        What the learner returned: statistics of each rule, incoherence, refuted rules, trace.
    frontier_, extraction_, classes_, feature_names_in_, n_features_in_
        As of `HornExtractor`.

    Examples
    --------
    >>> frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (99, 3)), columns=list("abc"))
    >>> def judge(array):
    ...     return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))
    >>> from hornbook.models import as_predictor
    >>> model = as_predictor(judge, encoding="half")
    >>> extractor = QueryExtractor(model, judge=True, random_state=0).fit(frame)
    >>> print(extractor.theory_)
    a ∧ b → c
    >>> extractor.guarantee_.kind
    'pac'

    """

    def __init__(
        self,
        model: Any,
        target: str = "label",
        *,
        judge: bool = False,
        binariser: Binariser | None = None,
        max_rules: int = 100,
        max_queries: int = 100,
        epsilon: float = 0.05,
        delta: float = 0.05,
        sample_size: str | int = "angluin",
        min_precision: float = 0.9,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        code_book: CodeBookSource = None,
    ) -> None:
        self.model = model
        self.target = target
        self.judge = judge
        self.binariser = binariser
        self.max_rules = max_rules
        self.max_queries = max_queries
        self.epsilon = epsilon
        self.delta = delta
        self.sample_size = sample_size
        self.min_precision = min_precision
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.code_book = code_book

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        trace: Path | None = None,
        watch: Watch | None = None,
    ) -> Self:
        """Ask the model until the rules say what it says, or a limit is reached.

        Parameters
        ----------
        X
            Rows like those that the model will see, missing values as NaN: variables, or the columns
            that a binariser makes variables of.
        y
            Not used: the rules are about what the model says.
        groups
            The group of each row, as of `HornExtractor`; a judge's rows are not held out.
        trace
            A file that gets a line for each equivalence query, and from which a killed run resumes.
        watch
            Is called with every such entry.

        A model that fails ends the run: what was learned is in `extraction_`, and `ModelError` is raised.

        """
        clock = Stopwatch()
        check_tolerances(self.epsilon, self.delta)
        refuse_numbers(y, self.target)
        seed = draw_seed(self.random_state)
        frame, held_out = self._bind_rows(X, seed, groups)
        classes = tuple(self.classes_.tolist())
        self._class_names = () if self.judge else self._book.name_classes(self.target, classes)
        self.result_ = self._learn(seed, trace, watch, clock.elapsed)
        answers = Answers.of(self.result_, self.max_seconds, clock)
        units = number_units(frame, groups)[held_out]
        extraction = self._extraction(frame, frame.iloc[held_out], units, seed, answers)
        notes = note_units(frame, held_out, groups)
        self.extraction_ = replace(extraction, notes=(*notes, *extraction.notes))
        if answers.failure is not None:
            raise ModelError(answers.failure)
        return self

    def bind(self, X: Any, groups: ArrayLike | None = None) -> BoundModel:
        """The model bound to the rows that `fit` would use, before anything is learned."""
        self._bind_rows(X, draw_seed(self.random_state), groups)
        return self.bound_

    def _bind_rows(
        self, X: Any, seed: int, groups: ArrayLike | None
    ) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """Set `bound_`, and return all rows and the numbers of those that are held out.

        The kinds of columns are told by all rows.
        """
        frame = self._read_frame(X, reset=True)
        self._book = read_code_book(self.code_book, frame)
        used, held_out = split_rows(frame, seed, not self.judge, groups)
        reads_columns = not self.judge and self.binariser is None and not is_binary(frame)
        predictor, classes = predict_two_classes(self.model, frame, reads_columns)
        self.classes_ = np.array([False, True] if self.judge else classes)
        label = None if self.judge else self.target
        if self.binariser is not None:
            reader = Reader.of(frame, self.binariser, duals=not self.judge)
        elif is_binary(frame):
            reader = Reader.of_variables(frame.iloc[used], duals=not self.judge)
        else:
            kinds = {
                str(column): "categorical"
                if self._book.words(str(column)).are_categories
                else infer_kind(values)
                for column, values in frame.items()
            }
            reader = Reader.of(frame, fit_binariser(predictor, frame.iloc[used], kinds))
        self.bound_ = BoundModel(predictor, reader, frame.iloc[used], label, seed)
        return frame, held_out

    @property
    def guarantee_(self) -> Guarantee:
        """Under what the rules are held to be equivalent to the model."""
        return self.extraction_.guarantee

    def explain(self, row: Any) -> Conclusion:
        """What follows from one row, why, and the fewest facts that would undo it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the others
            are unknown. Values are the table's own, as text too, names of bins or of the code book;
            None and `?` stand for an unknown one.

        """
        check_is_fitted(self)
        rules = self.extraction_.explanation
        assert isinstance(rules, HornRules)
        return rules.conclude(read_facts(self.extraction_, name_values(row, self._columns)))

    def _name_columns(self, frame: pd.DataFrame) -> list[str]:
        """Columns without names are called x0, x1, …, and not_x0, … if one half mirrors the other."""
        named = all(isinstance(name, str) for name in frame.columns)
        return list(to_frame(frame.to_numpy()).columns) if not named else super()._name_columns(frame)

    def _learn(self, seed: int, trace: Path | None, watch: Watch | None, seconds: float) -> QueryResult:
        """Learn by queries; `seconds` have passed before."""
        reserve = seconds + MEASURING_SHARE * (self.max_seconds or 0.0)
        settings = Settings(
            Budget(self.max_queries, None, self.max_seconds, reserve),
            size=self.sample_size,
            epsilon=self.epsilon,
            delta=self.delta,
            min_precision=self.min_precision,
            max_rules=self.max_rules,
            pool=POOL_SAMPLES,
            evaluation=FRESH_SAMPLES,
            seed=seed,
        )
        teacher = self.bound_.teacher
        return extract(
            teacher,
            teacher.distribution,
            settings,
            margin=teacher.margin,
            background=teacher.background,
            heads=teacher.heads,
            groups=teacher.groups,
            trace=trace,
            watch=watch and (lambda _, trace: watch(trace.entries[-1])),
        )

    def _extraction(
        self,
        frame: pd.DataFrame,
        unseen: pd.DataFrame,
        units: NDArray[np.intp],
        seed: int,
        answers: Answers,
    ) -> Extraction:
        """Measure what was learned, as far as the model answers in time."""
        bound, result = self.bound_, self.result_
        chosen_by, fresh = (
            self._draw(FRESH_SAMPLES, generator(seed, purpose))
            for purpose in (Purpose.DEFAULT_CHOICE, Purpose.EVALUATION)
        )
        rules = HornRules(
            result.theory,
            result.background,
            bound.reader,
            bound.label,
            classes=self._class_names,
            code_book=self._book,
        )
        rng = generator(seed, Purpose.EVALUATION_ORDER)
        unseen, unseen_labels = answers.label_rows(
            bound.decide_rows, unseen.reset_index(drop=True), "unseen rows", rng
        )
        units = units[unseen.index]
        if bound.label is not None:
            chosen_by, labels = answers.label(
                bound.decide_items, chosen_by, "samples that the default is chosen by"
            )
            rules = replace(rules, default=choose_default(rules, chosen_by, labels))
        fresh, labels = answers.label(bound.decide_items, fresh, "samples")
        used, used_labels = answers.label_rows(bound.decide_rows, bound.frame, "rows that were used", rng)
        derived = rules.derive(fresh)
        fidelity = measure_fidelity(
            rules,
            samples=(rules.decide_items(fresh), labels),
            unseen=(rules.decide(unseen), unseen_labels),
            used=(rules.decide(used), used_labels),
            units=units,
        )
        return Extraction(
            target=self.target if bound.label else "what it accepts",
            classes=tuple(self.classes_.tolist()),
            explanation=rules,
            fidelity=fidelity,
            guarantee=result.guarantee,
            frontier=tuple(
                FrontierPoint(point.literals, Fidelity(point.disagreement.complement()))
                for point in result.frontier
            ),
            lines=tuple(self._lines(rules, frame, derived, labels)),
            columns=tuple(ColumnSummary.of(frame[name], self._book) for name in rules.columns),
            differences=tuple(list_differences(rules, unseen, unseen_labels.astype(np.intp))),
            answers=result.membership_queries,
            stop_reason=result.stop_reason
            if answers.failure is None
            else f"{MODEL_FAILED}: {answers.failure}",
            distribution=bound.feature_distribution.describe(),
            missing_values=bound.teacher.describe(),
            notes=(
                *self._notes(derived),
                *note_changed_answers(result.changed_answers),
                *answers.list_notes(),
            ),
            provenance=describe_run(self.model, self.get_params()),
        )

    def _draw(self, size: int, rng: np.random.Generator) -> Batch:
        """Samples of the features; a column known to be in one bin is known to be in no other."""
        items = self.bound_.feature_distribution.draw(size, rng)
        return GroupPropagation(items.vocabulary, self.bound_.reader.groups)(items)

    def _lines(
        self, rules: HornRules, frame: pd.DataFrame, derived: NDArray[np.int8], labels: Bools
    ) -> list[LineStatistics]:
        """The statistics of each rule, and of the default on the samples that it decides."""
        counts = rules.match_lines(frame).sum(axis=1).tolist()
        measured = {each.rule: each for each in self.result_.statistics}
        lines = [
            LineStatistics(count, measured[rule].support, measured[rule].precision)
            if rule in measured
            else LineStatistics(count, Share.of(0, 0), None)
            for count, rule in zip(counts, rules.rules, strict=False)
        ]
        if rules.label is not None:
            left = derived == UNDETERMINED
            precision = Share.where(labels[left] == rules.default)
            lines.append(LineStatistics(counts[-1], Share.where(left), precision))
        return lines

    def _notes(self, derived: NDArray[np.int8]) -> list[str]:
        """What else a reader should know about rules from queries."""
        notes = []
        if self.bound_.label is not None and len(derived):
            left = Share.where(derived == UNDETERMINED)
            notes.append(f"The rules leave {left} of the samples undetermined, and the default decides them.")
        asked = [each.entailed_by_model for each in self.result_.statistics]
        answered = [answer for answer in asked if answer is not None]
        if answered:
            notes.append(
                f"The model confirms {sum(answered)} of {len(answered)} rules when only their conditions are "
                "known and all other values are unknown."
            )
        if not all(answered):
            notes.append("The other rules were right on the samples; no claim is made beyond those.")
        if self.result_.coherence is not None:
            notes.append(
                f"The model contradicts itself about unknown values on {self.result_.coherence.rate} of the "
                "samples."
            )
        if self.bound_.reads_columns:
            notes.append("The model reads columns: each bin is asked about by several values observed in it.")
        return notes

    def _model_labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        return self.bound_.decide_rows(frame).astype(np.intp)


@dataclass
class Answers:
    """The model's answers while a run is measured: until the time is up, or the model fails.

    Parameters
    ----------
    deadline
        When the time is up; None for no limit.
    failure
        What the model did that failed, in words.
    gaps
        What the model was not asked about, in words.

    """

    deadline: Deadline | None = None
    failure: str | None = None
    gaps: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, result: QueryResult, max_seconds: float | None, clock: Stopwatch) -> Answers:
        """The answers after a run that was timed by `clock`; of a model that has failed there are none."""
        failed = result.stop_reason.startswith(MODEL_FAILED)
        failure = result.stop_reason.removeprefix(f"{MODEL_FAILED}: ") if failed else None
        if max_seconds is None:
            return cls(None, failure)
        return cls(Deadline.after(max_seconds - result.trace.seconds_before - clock.elapsed), failure)

    def label_rows(
        self, decide: Callable[[Any], Bools], rows: pd.DataFrame, name: str, rng: np.random.Generator
    ) -> tuple[pd.DataFrame, Bools]:
        """As `label`; under a time limit rows come in random order, so that any part is a fair sample."""
        if self.deadline is not None:
            rows = rows.iloc[rng.permutation(len(rows))]
        return self.label(decide, rows, name)

    def label(self, decide: Callable[[Any], Bools], items: Any, name: str) -> tuple[Any, Bools]:
        """As many of the first items as there is time for, and the model's answer about each."""
        by_place, parts = getattr(items, "iloc", items), [np.zeros(0, np.bool_)]
        step = len(items) if self.deadline is None else TIMED_BLOCK
        for start in range(0, len(items), max(1, step)):
            if self.failure is not None or (self.deadline is not None and self.deadline.passed):
                break
            try:
                parts.append(decide(by_place[start : start + step]))
            except ModelError as error:
                self.failure = str(error)
        labels = np.concatenate(parts)
        if len(labels) < len(items):
            self.gaps.append(f"{len(labels):,} of {len(items):,} {name}")
        return by_place[: len(labels)], labels

    def list_notes(self) -> list[str]:
        """What could not be measured, as a note; none if everything was."""
        reason = "The time was up" if self.failure is None else "The model failed"
        return [f"{reason}: figures are from {', '.join(self.gaps)}."] if self.gaps else []


def choose_default(rules: HornRules, items: Batch, labels: Bools) -> int:
    """The class that the model decides for most often where the rules decide nothing."""
    left = labels[rules.derive(items) == UNDETERMINED]
    return int(2 * (left if len(left) else labels).sum() >= (len(left) or len(labels)))
