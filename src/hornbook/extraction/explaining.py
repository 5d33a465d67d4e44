"""Explain a classifier: search an explanation, and measure it on rows and samples that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import Value
from hornbook.explanations import Explanation
from hornbook.extraction.columns import ColumnSummary, plain_value
from hornbook.extraction.fidelity import AnswerPairs, Fidelity, Weights, measure_fidelity
from hornbook.extraction.result import (
    EVERY_SIZE,
    ColumnImportance,
    Difference,
    Extraction,
    FrontierPoint,
    LineStatistics,
    RiskRow,
)
from hornbook.models import AnswerCheck, ClassifierTeacher, Subject
from hornbook.models.answers import afford
from hornbook.queries import Estimated
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.surrogates import (
    Candidate,
    ExchangeTest,
    SampleSource,
    SearchResult,
    SearchSettings,
    search_explanations,
)
from hornbook.tables import count_shared_rows, find_identifiers, replace_columns

EVALUATION_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MAX_NAMED_COLUMNS = 8
"""Columns that a note names."""

HELD_OUT_NOTE = (
    "held-out rows are rows of this table: if the model was trained on them, it may differ on new rows; "
    "test rows measure that"
)
"""What held-out rows do not say."""

MIN_RISK_SAMPLES, MAX_RISK_ROWS = 50, 8
"""Samples that a total of points has to have, and about how many totals or ranges of them are told apart."""

EXCHANGE_ANSWERS, MAX_EXCHANGED_COLUMNS, MAX_IMPORTANT_COLUMNS = 4096, 64, 12
"""Answers that it takes to say which columns matter, columns that are tried, and columns that are kept."""

EXCHANGE_SHARE = 0.3
"""The share of what is left of a budget of answers by which columns are ranked."""

MAX_DIFFERENCES = 20
"""Rows on which explanation and model differ that an extraction keeps."""


def draw_fresh_samples(teacher: ClassifierTeacher, seed: int) -> pd.DataFrame:
    """Samples that nothing is chosen by: as many as fidelity is measured on, or as may be asked about."""
    size = min(EVALUATION_SAMPLES, teacher.sampler.max_samples)
    return teacher.sample(size, generator(seed, Purpose.EVALUATION))


def explain(
    subject: Subject,
    settings: SearchSettings = SearchSettings(),  # noqa: B008 (frozen)
    watch: Callable[[Candidate], None] | None = None,
) -> Extraction:
    """Explain what a classifier does, in the columns of its table.

    Parameters
    ----------
    subject
        The classifier, bound to rows; fidelity is measured on those that are held out.
    settings
        Which explanations are looked for, and on how many samples.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> extraction = explain(Subject.bind(model, X, target="virginica"), SearchSettings("tree"))
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 30 held-out rows 100.00 % (95 % interval 88.43 % to 100.00 %), κ 1.000; always "not virginica": 83.33 %

    """
    subject = subject.within_budget()
    teacher, words, seed = subject.teacher, subject.words, subject.seed
    populations = LabelledPopulations.of(subject, draw_fresh_samples(teacher, seed))
    result = search_explanations(populations.source, settings, seed=seed, watch=watch)
    chosen = populations.measure_point(result.chosen)
    frontier = tuple(map(populations.measure_point, result.frontier()))
    explanation, rows = result.chosen.explanation, populations.table.frame
    shown = tuple(dict.fromkeys((*explanation.columns, *list_columns(frontier))))
    headline, samples = populations.headline, populations.fresh
    rng = generator(seed, Purpose.COLUMN_EXCHANGES)
    importance, exchanged = measure_importance(explanation, teacher, samples, rng)
    return Extraction(
        target=subject.target,
        classes=teacher.classes,
        explanation=explanation,
        fidelity=chosen.fidelity,
        guarantee=Estimated(chosen.fidelity.share.complement(), _name_population(chosen.fidelity, teacher)),
        frontier=frontier,
        lines=chosen.lines,
        risks=chosen.risks,
        columns=tuple(ColumnSummary.of(rows[name], words) for name in rows.columns),
        importance=tuple(importance),
        differences=tuple(
            list_differences(explanation, headline.frame, headline.labels, shown, len(populations.apart) > 0)
        ),
        answers=result.answers + populations.answers + exchanged,
        stop_reason=EVERY_SIZE,
        distribution=teacher.sampler.describe(),
        missing_values=teacher.describe(),
        notes=tuple(_list_notes(subject, populations, result)),
        provenance={
            "model": {"name": subject.predictor.name},
            "settings": {"target": subject.target, **asdict(settings), "seed": seed},
        },
    )


def _list_notes(subject: Subject, populations: LabelledPopulations, result: SearchResult) -> Iterator[str]:
    """What else a reader should know: of rows that belong together, of columns, of answers that change."""
    teacher = subject.teacher
    yield from subject.describe_units()
    if subject.test_rows is not None:
        yield from _note_shared_rows(subject.test_rows, teacher.frame)
    elif len(subject.held_out):
        yield HELD_OUT_NOTE
    columns, read = list(teacher.frame.columns), teacher.columns_read
    unread = [name for name in columns if read is not None and name not in read]
    yield from _note_unread_columns(unread, result.exchanges)
    passed_over = {*unread, *result.exchanges.unread}
    if names := [name for name in find_identifiers(teacher.frame) if name not in passed_over]:
        yield (
            "no conditions are made of columns with a value of its own in every row, which name rows: "
            f"{_write_columns(names)}"
        )
    sought = len(columns) - len(passed_over) - len(names)
    yield from _note_searched_columns(len(result.searched_columns), sought)
    yield from AnswerCheck(teacher.labels, populations.used.frame, populations.used.labels).describe_changes()


def _note_shared_rows(test_rows: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """Say how many test rows stand in the table too: these are not new."""
    if shared := count_shared_rows(test_rows, table):
        rows = f"{shared:,} of the {len(test_rows):,} test rows" if shared > 1 else "one of the test rows"
        yield f"{rows} also occur in the table that the explanation was made from, and so are not new"


def _note_unread_columns(unread: Sequence[str], exchanges: ExchangeTest) -> Iterator[str]:
    """Say which columns have no conditions, because the model does not read them."""
    if unread:
        yield f"no conditions are made of columns that the model does not read: {_write_columns(unread)}"
    if exchanges.unread:
        yield (
            f"no conditions are made of columns whose exchange in {exchanges.samples:,} samples changed no "
            f"answer of the model: {_write_columns(exchanges.unread)}"
        )


def _write_columns(names: Sequence[str]) -> str:
    """The names of the first columns, and how many others there are.

    Examples
    --------
    >>> _write_columns(["id", "label"])
    '`id`, `label`'

    """
    shown = ", ".join(f"`{name}`" for name in names[:MAX_NAMED_COLUMNS])
    others = len(names) - MAX_NAMED_COLUMNS
    return f"{shown} and {others:,} other columns" if others > 0 else shown


def _note_searched_columns(searched: int, columns: int) -> Iterator[str]:
    """Say in how many columns of a wide table the explanation was sought."""
    if searched < columns:
        yield (
            f"of {columns:,} columns the explanation was sought in the {searched:,} whose values tell most "
            "about the model's answers"
        )


@dataclass(frozen=True, eq=False)
class LabelledFrame:
    """Rows with the model's labels, and how much each counts, if they do not count alike."""

    frame: pd.DataFrame
    labels: NDArray[np.intp]
    weights: Weights | None = None

    def __len__(self) -> int:
        return len(self.frame)

    def join(self, other: LabelledFrame) -> LabelledFrame:
        """These rows, and then the others."""
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        labels = np.concatenate([self.labels, other.labels])
        return LabelledFrame(pd.concat([self.frame, other.frame]), labels, weights)

    def pair_answers(self, explanation: Explanation, units: NDArray[np.intp] | None = None) -> AnswerPairs:
        """What an explanation and the model say of the rows, which belong to units."""
        return AnswerPairs(explanation.decide(self.frame), self.labels, units, self.weights)

    def share(self, hits: NDArray[np.bool_], where: NDArray[np.bool_]) -> Share:
        """The share of hits in some of the rows."""
        return Share.where(hits[where], weights=None if self.weights is None else self.weights[where])


@dataclass(frozen=True, eq=False)
class LabelledPopulations:
    """The rows that were used, fresh samples, and held-out or test rows, each with the model's labels."""

    used: LabelledFrame
    fresh: LabelledFrame
    apart: LabelledFrame
    subject: Subject

    @classmethod
    def of(cls, subject: Subject, fresh: pd.DataFrame) -> LabelledPopulations:
        """Ask the model about each population, the used rows first: it is asked about these again later."""
        used, samples, apart = (
            LabelledFrame(rows, subject.teacher.labels(rows), weights)
            for rows, weights in (
                (subject.teacher.frame, subject.used_weights),
                (fresh, None),
                (subject.held_out, subject.held_out_weights),
            )
        )
        return cls(used, samples, apart, subject)

    @property
    def answers(self) -> int:
        """How many answers of the model these are."""
        asked_again = 0 if self.sampled_labels is self.used.labels else len(self.sampled_labels)
        return len(self.used) + len(self.fresh) + len(self.apart) + asked_again

    @property
    def headline(self) -> LabelledFrame:
        """The population of the headline: the rows apart, or the samples where there are none."""
        return self.apart if len(self.apart) else self.fresh

    @cached_property
    def sampled_labels(self) -> NDArray[np.intp]:
        """The labels of the rows that samples are made of; these are only some rows of a very large table."""
        teacher = self.subject.teacher
        sampled = teacher.sampler.frame
        return self.used.labels if len(self.used) == len(sampled) else teacher.labels(sampled)

    @property
    def source(self) -> SampleSource:
        """The model and its rows as an explanation is learned from them."""
        teacher = self.subject.teacher
        return SampleSource(
            teacher.labels,
            teacher.sampler,
            self.subject.classes,
            self.sampled_labels,
            self.subject.words,
            columns_read=teacher.columns_read,
            left_out=find_identifiers(teacher.frame),
        )

    @cached_property
    def table(self) -> LabelledFrame:
        """All rows of the table: those that were used, and those held out."""
        return self.used if self.subject.test_rows is not None else self.used.join(self.apart)

    def measure(self, explanation: Explanation) -> Fidelity:
        """The fidelity on rows apart, if there are any, and on fresh samples."""
        return measure_fidelity(
            explanation.classes,
            samples=self.fresh.pair_answers(explanation),
            rows=self.apart.pair_answers(explanation, self.subject.held_out_units),
            row_population="held-out rows" if self.subject.test_rows is None else "test rows",
        )

    def measure_point(self, candidate: Candidate) -> FrontierPoint:
        """The fidelity of a candidate, and the statistics of its lines and of its totals."""
        explanation = candidate.explanation
        return FrontierPoint(
            candidate.literals,
            self.measure(explanation),
            explanation,
            tuple(measure_lines(explanation, self.table, self.fresh)),
            candidate.missed,
            tuple(measure_risks(explanation, self.table, self.fresh)),
        )


def list_columns(frontier: Iterable[FrontierPoint]) -> Iterator[str]:
    """The columns that the explanations of a frontier speak of."""
    for point in frontier:
        if point.explanation is not None:
            yield from point.explanation.columns


def list_differences(
    explanation: Explanation,
    rows: pd.DataFrame,
    labels: NDArray[np.intp],
    columns: tuple[str, ...] = (),
    named: bool = False,
) -> Iterator[Difference]:
    """Some of the rows that the model decides differently, with their values in some columns.

    `labels` are the model's classes. By default the columns are those of the explanation. Rows that are
    `named` are given with their index.
    """
    decided = explanation.decide(rows)
    for number in np.flatnonzero(decided != labels)[:MAX_DIFFERENCES]:
        row = rows.iloc[[number]]
        values = {name: row[name].iloc[0] for name in columns or explanation.columns}
        yield Difference(
            {name: None if pd.isna(value) else plain_value(value) for name, value in values.items()},
            explanation.classes[decided[number]],
            explanation.classes[labels[number]],
            explanation.explain(row).facts,
            read_name(row.index[0]) if named else None,
        )


def read_name(label: Any) -> Value:
    """What an index calls a row, as a number or a text."""
    plain = plain_value(label)
    return plain if isinstance(plain, int | str) else str(plain)


def measure_importance(
    explanation: Explanation, teacher: ClassifierTeacher, fresh: LabelledFrame, rng: np.random.Generator
) -> tuple[list[ColumnImportance], int]:
    """The columns that matter most to the model, by samples that get another sample's value in a column.

    The second value is how many answers of the model that took. A model that has very many columns is asked
    about those of the explanation alone.
    """
    columns = teacher.columns if len(teacher.columns) <= MAX_EXCHANGED_COLUMNS else explanation.columns
    size = min(afford(EXCHANGE_ANSWERS, EXCHANGE_SHARE) // max(len(columns), 1), len(fresh))
    own = fresh.frame.iloc[:size]
    others = fresh.frame.iloc[rng.integers(len(fresh), size=size)].set_axis(own.index)
    parts = [replace_columns(own, {name: others[name]}) for name in columns]
    if not parts or not size:
        return [], 0
    exchanged = pd.concat(parts, ignore_index=True)
    shape = len(columns), size
    by_model = teacher.labels(exchanged).reshape(shape) != fresh.labels[:size]
    by_explanation = explanation.decide(exchanged).reshape(shape) != explanation.decide(own)
    importances = [
        ColumnImportance(name, Share.where(model), Share.where(own))
        for name, model, own in zip(columns, by_model, by_explanation, strict=True)
        if model.any() or own.any()
    ]
    return sorted(importances, key=lambda one: -one.model.hits)[:MAX_IMPORTANT_COLUMNS], len(exchanged)


def measure_lines(
    explanation: Explanation, rows: LabelledFrame, fresh: LabelledFrame
) -> Iterator[LineStatistics]:
    """The statistics of each line, from rows of the table and fresh samples."""
    on_rows, on_fresh = explanation.match_lines(rows.frame), explanation.match_lines(fresh.frame)
    for line, row_match, match in zip(explanation.lines(), on_rows, on_fresh, strict=True):
        precisions: list[Share | None] = [None, None]
        if line.outcome:
            outcome = explanation.classes.index(line.outcome)
            precisions = [
                part.share(part.labels == outcome, where)
                for part, where in ((fresh, match), (rows, row_match))
            ]
        yield LineStatistics(
            int(row_match.sum()), Share.where(match), precisions[0], row_precision=precisions[1]
        )


def measure_risks(explanation: Explanation, rows: LabelledFrame, fresh: LabelledFrame) -> Iterator[RiskRow]:
    """For each total of points, or some neighbouring ones, how often the model decides for the second class.

    Of several classes the total is the lead of the first, and the share is how often the model decides for
    it. There is nothing where there are no points.
    """
    totals = explanation.sum_points(fresh.frame)
    if totals is None or not len(explanation.conditions):
        return
    own = explanation.sum_points(rows.frame)
    assert own is not None
    two = len(explanation.classes) == 2
    hits, row_hits = (part.labels == (1 if two else explanation.decide(part.frame)) for part in (fresh, rows))
    for low, high in group_totals(totals, explanation.threshold):
        inside, row_inside = (totals >= low) & (totals <= high), (own >= low) & (own <= high)
        yield RiskRow(low, high, rows.share(row_hits, row_inside), fresh.share(hits, inside))


def group_totals(totals: NDArray[np.int64], threshold: int) -> Iterator[tuple[float, float]]:
    """Ranges of totals with enough samples each, in order; none spans the threshold.

    Examples
    --------
    >>> list(group_totals(np.repeat([0, 1, 2, 5], [500, 3, 400, 97]), 2))
    [(-inf, 1), (2, 4), (5, inf)]

    """
    values, counts = np.unique(totals, return_counts=True)
    least = max(MIN_RISK_SAMPLES, len(totals) // (2 * MAX_RISK_ROWS))
    starts: list[float] = []
    for side in (values < threshold, values >= threshold):
        own, gathered = [], least
        for value, count in zip(values[side].tolist(), counts[side].tolist(), strict=True):
            if gathered >= least:
                own.append(value)
                gathered = 0
            gathered += count
        starts += own[:-1] if len(own) > 1 and gathered < least else own
    starts[0] = -np.inf
    yield from zip(starts, [*(start - 1 for start in starts[1:]), np.inf], strict=True)


def _name_population(fidelity: Fidelity, teacher: ClassifierTeacher) -> str:
    names = {
        "held-out rows": "held-out rows of the table",
        "test rows": "test rows, given apart from the table",
    }
    return names.get(fidelity.population, teacher.sampler.describe())
