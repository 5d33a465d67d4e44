"""Explain a classifier: search an explanation, and measure it on rows and samples that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.explanations import Explanation
from hornbook.extraction.fidelity import CommonestClass, Fidelity, UnseenPopulation, measure_groups
from hornbook.extraction.result import (
    ColumnSummary,
    Difference,
    Extraction,
    FrontierPoint,
    LineStatistics,
    plain_value,
)
from hornbook.models import AnswerCheck, ClassifierTeacher, Subject
from hornbook.queries import Estimated
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.surrogates import Candidate, ExchangeTest, Form, SearchResult, search_explanations
from hornbook.tables import count_shared_rows, find_identifiers

EVALUATION_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MAX_NAMED_COLUMNS = 8
"""Columns that a note names."""

MAX_DIFFERENCES = 20
"""Rows on which explanation and model differ that an extraction keeps."""


def explain(
    subject: Subject,
    *,
    form: Form = "auto",
    max_literals: int = 20,
    n_samples: int | None = None,
    certify: bool = False,
    watch: Callable[[Candidate], None] | None = None,
) -> Extraction:
    """Explain what a classifier does, in the columns of its table.

    Parameters
    ----------
    subject
        The classifier, bound to rows; fidelity is measured on those that are held out.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; by default 16,000 to 24,000.
    certify
        Whether the best tree of three questions is sought to the end.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> extraction = explain(Subject.bind(model, X, target="virginica"), form="tree")
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 30 unseen rows 100.00 % (95 % interval 88.43 % to 100.00 %); always "not virginica": 83.33 %

    """
    teacher, words, seed = subject.teacher, subject.words, subject.seed
    unseen = subject.held_out
    rows = teacher.frame if subject.test_rows is not None else pd.concat([teacher.frame, unseen])
    size = min(EVALUATION_SAMPLES, teacher.sampler.max_samples)
    fresh = teacher.sample(size, generator(seed, Purpose.EVALUATION))
    labelled = LabelledPopulations.of(subject, fresh)
    result = search_explanations(
        teacher.labels,
        teacher.sampler,
        subject.classes,
        seed=seed,
        max_literals=max_literals,
        form=form,
        n_samples=n_samples,
        code_book=words,
        columns_read=teacher.columns_read,
        left_out=find_identifiers(teacher.frame),
        certify=certify,
        watch=watch,
    )
    settings = {"target": subject.target, "form": form, "max_literals": max_literals}
    settings |= {"n_samples": n_samples, "certify": certify, "seed": seed}
    chosen = result.chosen.explanation
    fidelity = labelled.measure(chosen)
    frontier = tuple(_measure_frontier(result, labelled, rows, fresh))
    shown = tuple(dict.fromkeys((*chosen.columns, *list_columns(frontier))))
    return Extraction(
        target=subject.target,
        classes=teacher.classes,
        explanation=chosen,
        fidelity=fidelity,
        guarantee=Estimated(fidelity.share.complement(), _name_population(fidelity, teacher)),
        frontier=frontier,
        lines=tuple(measure_lines(chosen, rows, fresh, labelled.fresh_labels)),
        columns=tuple(ColumnSummary.of(rows[name], words) for name in rows.columns),
        groups=tuple(measure_groups(chosen, fresh, labelled.fresh_labels)),
        differences=tuple(list_differences(chosen, *labelled.headline, shown)),
        answers=result.answers + len(teacher.frame) + len(unseen) + len(fresh),
        stop_reason="every form and size was tried",
        distribution=teacher.sampler.describe(),
        missing_values=teacher.describe(),
        notes=tuple(_list_notes(subject, labelled, result)),
        provenance={"model": {"name": subject.predictor.name}, "settings": settings},
    )


def _measure_frontier(
    result: SearchResult, labelled: LabelledPopulations, rows: pd.DataFrame, fresh: pd.DataFrame
) -> Iterator[FrontierPoint]:
    """The best explanation of each size, with its fidelity and the statistics of its lines."""
    for point in result.frontier():
        lines = tuple(measure_lines(point.explanation, rows, fresh, labelled.fresh_labels))
        fidelity = labelled.measure(point.explanation)
        yield FrontierPoint(point.literals, fidelity, point.explanation, lines, point.missed)


def _list_notes(subject: Subject, labelled: LabelledPopulations, result: SearchResult) -> Iterator[str]:
    """What else a reader should know: of rows that belong together, of columns, of answers that change."""
    teacher = subject.teacher
    yield from subject.describe_units()
    if subject.test_rows is not None:
        yield from _note_shared_rows(subject.test_rows, teacher.frame)
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
    yield from AnswerCheck(teacher.labels, labelled.used, labelled.used_labels).describe_changes()


def _note_shared_rows(test_rows: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """Say how many test rows stand in the table too: these are not unseen."""
    if shared := count_shared_rows(test_rows, table):
        rows = f"{shared:,} of the {len(test_rows):,} test rows" if shared > 1 else "one of the test rows"
        yield f"{rows} also occur in the table that the explanation was made from, and so are not unseen"


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
class LabelledPopulations:
    """Unseen rows, fresh samples and the rows that were used, each with the model's labels."""

    unseen: pd.DataFrame
    unseen_labels: NDArray[np.intp]
    fresh: pd.DataFrame
    fresh_labels: NDArray[np.intp]
    used: pd.DataFrame
    used_labels: NDArray[np.intp]
    unseen_population: UnseenPopulation
    unseen_units: NDArray[np.intp]

    @classmethod
    def of(cls, subject: Subject, fresh: pd.DataFrame) -> LabelledPopulations:
        """Ask the model about each population, the used rows first: it is asked about these again later."""
        used, unseen = subject.teacher.frame, subject.held_out
        used_labels, unseen_labels, fresh_labels = (
            subject.teacher.labels(rows) for rows in (used, unseen, fresh)
        )
        population: UnseenPopulation = "unseen rows" if subject.test_rows is None else "test rows"
        units = subject.held_out_units
        return cls(unseen, unseen_labels, fresh, fresh_labels, used, used_labels, population, units)

    @property
    def headline(self) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """The population of the headline: the unseen rows, or the samples where there are none."""
        if len(self.unseen):
            return self.unseen, self.unseen_labels
        return self.fresh, self.fresh_labels

    def measure(self, explanation: Explanation) -> Fidelity:
        """The fidelity on unseen rows, if there are any, on fresh samples, and on the rows that were used."""
        return measure_fidelity(
            explanation,
            samples=(explanation.decide(self.fresh), self.fresh_labels),
            unseen=(explanation.decide(self.unseen), self.unseen_labels),
            used=(explanation.decide(self.used), self.used_labels),
            units=self.unseen_units,
            unseen_population=self.unseen_population,
        )


Answers: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any] | np.bool_]]
"""The class that an explanation decides for each case of a population, and the one that the model does."""


def measure_fidelity(
    explanation: Explanation,
    *,
    samples: Answers,
    unseen: Answers,
    used: Answers,
    units: NDArray[np.intp] | None = None,
    unseen_population: UnseenPopulation = "unseen rows",
) -> Fidelity:
    """The fidelity on each population, and what its commonest class alone reaches there.

    `units` number the independent units that the unseen rows belong to.
    """
    labels = {unseen_population: unseen[1], "samples": samples[1], "used rows": used[1]}
    commonest = {
        name: CommonestClass.of(own, explanation.classes) for name, own in labels.items() if len(own)
    }
    return Fidelity(
        samples=Share.where(samples[0] == samples[1]),
        unseen_rows=Share.where(unseen[0] == unseen[1], units) if len(unseen[1]) else None,
        used_rows=Share.where(used[0] == used[1]).estimate,
        unseen_population=unseen_population,
        commonest=commonest,
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
) -> Iterator[Difference]:
    """Some of the rows that the model decides differently, with their values in some columns.

    `labels` are the model's classes. By default the columns are those of the explanation.
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
        )


def measure_lines(
    explanation: Explanation, rows: pd.DataFrame, fresh: pd.DataFrame, labels: NDArray[np.intp]
) -> Iterator[LineStatistics]:
    """The statistics of each line, from rows of the table and labelled fresh samples."""
    on_rows, on_fresh = explanation.match_lines(rows), explanation.match_lines(fresh)
    for line, row_match, match in zip(explanation.lines(), on_rows, on_fresh, strict=True):
        hits, precision = int(match.sum()), None
        if line.outcome:
            right = match & (labels == explanation.classes.index(line.outcome))
            precision = Share.of(int(right.sum()), hits)
        yield LineStatistics(int(row_match.sum()), Share.of(hits, len(fresh)), precision)


def _name_population(fidelity: Fidelity, teacher: ClassifierTeacher) -> str:
    names = {"unseen rows": "unseen rows of the table", "test rows": "test rows, given apart from the table"}
    return names.get(fidelity.population, teacher.sampler.describe())
