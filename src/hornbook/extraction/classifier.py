"""Explain a classifier: search an explanation, and measure it on rows and samples that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data import count_shared_rows, number_units
from hornbook.evaluate import Fidelity, UnseenPopulation
from hornbook.explanations import CodeBookSource, Explanation, measure_groups, read_code_book
from hornbook.extraction.result import (
    ColumnSummary,
    Difference,
    Extraction,
    FrontierPoint,
    LineStatistics,
    plain_value,
)
from hornbook.models import AnswerCheck
from hornbook.queries import Estimated
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.surrogates import Candidate, Form, search_explanations
from hornbook.teacher import ClassifierTeacher

EVALUATION_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MAX_DIFFERENCES = 20
"""Rows on which explanation and model differ that an extraction keeps."""


def explain_classifier(
    teacher: ClassifierTeacher,
    unseen: pd.DataFrame,
    target: str,
    *,
    unseen_population: UnseenPopulation = "unseen rows",
    unseen_units: NDArray[np.intp] | None = None,
    form: Form = "auto",
    max_literals: int = 20,
    n_samples: int | None = None,
    seed: int = 0,
    code_book: CodeBookSource = None,
    watch: Callable[[Candidate], None] | None = None,
) -> Extraction:
    """Explain what a classifier does, in the columns of a table.

    Parameters
    ----------
    teacher
        The classifier, bound to rows.
    unseen
        Rows that the teacher does not have: fidelity is measured on them.
    target
        What the model predicts: what its classes are called in words.
    unseen_population
        What the unseen rows are: held out of the table, or test rows, given apart from it.
    unseen_units
        For each unseen row the number of its group, if they have groups; by default equal rows are one.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; by default 16,000 to 24,000.
    seed
        Makes the run repeatable.
    code_book
        The user's words for columns, values and classes.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbook.teacher import bind_classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> teacher = bind_classifier(model, X[::2], seed=0)
    >>> extraction = explain_classifier(teacher, X[1::2], "virginica", form="tree")
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 75 unseen rows 100.00 % (95 % interval 95.20 % to 100.00 %)

    """
    given = unseen_population == "test rows"
    rows = teacher.frame if given else pd.concat([teacher.frame, unseen])
    words = read_code_book(code_book, rows)
    columns = tuple(ColumnSummary.of(rows[name], words) for name in rows.columns)
    size = min(EVALUATION_SAMPLES, teacher.sampler.max_samples)
    fresh = teacher.sample(size, generator(seed, Purpose.EVALUATION))
    units = number_units(unseen) if unseen_units is None else unseen_units
    labelled = LabelledPopulations.of(teacher, unseen, fresh, unseen_population, units)
    result = search_explanations(
        teacher.labels,
        teacher.sampler,
        words.name_classes(target, teacher.classes),
        seed=seed,
        max_literals=max_literals,
        form=form,
        n_samples=n_samples,
        code_book=words,
        watch=watch,
    )
    chosen = result.chosen.explanation
    fidelity = labelled.measure(chosen)
    frontier = tuple(
        FrontierPoint(
            point.literals,
            labelled.measure(point.explanation),
            point.explanation,
            tuple(measure_lines(point.explanation, rows, fresh, labelled.fresh_labels)),
        )
        for point in result.frontier()
    )
    shown = tuple(dict.fromkeys((*chosen.columns, *list_columns(frontier))))
    return Extraction(
        target=target,
        classes=teacher.classes,
        explanation=chosen,
        fidelity=fidelity,
        guarantee=Estimated(fidelity.share.complement(), _name_population(fidelity, teacher)),
        frontier=frontier,
        lines=tuple(measure_lines(chosen, rows, fresh, labelled.fresh_labels)),
        columns=columns,
        groups=tuple(measure_groups(chosen, fresh, labelled.fresh_labels)),
        differences=tuple(list_differences(chosen, *labelled.headline, shown)),
        answers=result.answers + len(teacher.frame) + len(unseen) + len(fresh),
        stop_reason="every form and size was tried",
        distribution=teacher.sampler.describe(),
        missing_values=teacher.describe(),
        notes=(
            *(_note_shared_rows(unseen, teacher.frame) if given else ()),
            *_note_searched_columns(len(result.searched_columns), len(columns)),
            *AnswerCheck(teacher.labels, labelled.used, labelled.used_labels).describe_changes(),
        ),
    )


def _note_shared_rows(test_rows: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """Say how many test rows stand in the table too: these are not unseen."""
    if shared := count_shared_rows(test_rows, table):
        rows = f"{shared:,} of the {len(test_rows):,} test rows" if shared > 1 else "one of the test rows"
        yield f"{rows} also occur in the table that the explanation was made from, and so are not unseen"


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
    def of(
        cls,
        teacher: ClassifierTeacher,
        unseen: pd.DataFrame,
        fresh: pd.DataFrame,
        population: UnseenPopulation,
        units: NDArray[np.intp],
    ) -> LabelledPopulations:
        """Ask the model about each population, the used rows first: it is asked about these again later."""
        used = teacher.frame
        used_labels, unseen_labels, fresh_labels = (teacher.labels(rows) for rows in (used, unseen, fresh))
        return cls(unseen, unseen_labels, fresh, fresh_labels, used, used_labels, population, units)

    @property
    def headline(self) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """The population of the headline: the unseen rows, or the samples where there are none."""
        if len(self.unseen):
            return self.unseen, self.unseen_labels
        return self.fresh, self.fresh_labels

    def measure(self, explanation: Explanation) -> Fidelity:
        """The fidelity on unseen rows, if there are any, on fresh samples, and on the rows that were used."""

        def share(
            rows: pd.DataFrame, labels: NDArray[np.intp], units: NDArray[np.intp] | None = None
        ) -> Share:
            return Share.where(explanation.decide(rows) == labels, units)

        return Fidelity(
            samples=share(self.fresh, self.fresh_labels),
            unseen_rows=share(self.unseen, self.unseen_labels, self.unseen_units)
            if len(self.unseen)
            else None,
            used_rows=share(self.used, self.used_labels).estimate,
            unseen_population=self.unseen_population,
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
