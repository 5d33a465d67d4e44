"""What changed between two models: where they disagree, in rules, with figures nothing was chosen by.

The table is split: rules are made from one part, and measured on the other. Samples look for the
disagreement that rows alone are too few to show; see `samples`. How often a line of the rules is
right is measured on fresh samples that it applies to, and the share of disagreement among all samples
by asking more often where a line applies: the lines are the strata. Against the truth there are no
samples: only rows have labels, and half of them choose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hornbook.code_book import CodeBook, read_code_book
from hornbook.diff.measures import (
    SampleFigures,
    describe_sides,
    find_diff_groups,
    list_diff_rows,
    measure_diff_lines,
    measure_samples,
)
from hornbook.diff.result import ModelDiff
from hornbook.diff.samples import (
    Compared,
    GuidedSampler,
    LabelledModel,
    PairSamples,
    name_answers,
    pair_models,
)
from hornbook.diff.switches import ClassSwitches, search_switches
from hornbook.errors import HornbookError
from hornbook.explanations import Explanation
from hornbook.models import AnswerCheck, Subject, load_model, match_classes
from hornbook.models.answers import afford
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import Form
from hornbook.surrogates.grid import Ints
from hornbook.tables import note_units, number_units, shuffle_units

DIFF_SAMPLES = 16_000
"""Samples that rules are fitted to; half as many choose, and half as many measure."""

SAMPLES_SHARE = 0.08
"""The share of a budget of answers that samples to learn from take; others are drawn, of two models."""

LEAST_LABELLED_ROWS = 60
"""Rows with a label that a model is compared with the truth on, at the least."""


def diff(
    subject: Subject,
    other: Any,
    *,
    form: Form = "rules",
    max_literals: int = 12,
    n_samples: int = DIFF_SAMPLES,
) -> ModelDiff:
    """Say where two models disagree, or a model and the truth: how often, and for whom.

    Parameters
    ----------
    subject
        The old model, bound to rows with the columns of both; a fifth of them is held out.
    other
        The new model: a fitted classifier of any supported library, the path of a model file, or what
        `as_predictor` made of one. Each model reads those columns that it was trained on. Or the truth: the
        labels of the rows.
    form
        `rules`, `tree`, `card`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples rules are fitted to.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> old = DecisionTreeClassifier(max_depth=1).fit(X[["petal width (cm)"]], y == 2)
    >>> new = DecisionTreeClassifier(max_depth=1).fit(X[["petal length (cm)"]], y == 2)
    >>> result = diff(Subject.bind(old, X, target="virginica"), new, n_samples=2000)
    >>> print(result.explanation)
    if petal length (cm) > 4.7 and old says = not virginica: old not virginica, new virginica
    otherwise: the same

    """
    if n_samples < 1:
        raise HornbookError(f"models are compared on at least one sample; got n_samples={n_samples}")
    search = DiffSearch(subject, form, max_literals)
    if isinstance(other, pd.Series | np.ndarray | list | tuple):
        return search.compare_with_truth(pd.Series(other))
    other = load_model(other) if isinstance(other, str | Path) else other
    return search.compare_models(other, n_samples)


@dataclass(frozen=True)
class DiffSearch:
    """How differences from a bound model are looked for: form and size of the result."""

    subject: Subject
    form: Form
    max_literals: int

    def compare_models(self, new: Any, n_samples: int) -> ModelDiff:
        """Compare two models on rows and samples."""
        subject = self.subject.hold_out().within_budget()
        n_samples = afford(n_samples, SAMPLES_SHARE)
        frame, held_out, seed = subject.frame, subject.kept_back, subject.seed
        used = np.delete(np.arange(len(frame)), held_out)
        units = number_units(frame, subject.groups)
        pair = pair_models(subject, new)
        checks = [AnswerCheck.start(teacher.labels, teacher.frame) for teacher in pair.teachers]
        samples, sampler = GuidedSampler.start(pair).draw_rounds(
            n_samples, generator(seed, Purpose.LEARNING_SAMPLES)
        )
        fresh, _ = sampler.draw(max(n_samples // 2, 1), generator(seed, Purpose.CANDIDATE_CHOICE), near=True)
        used_rows, unseen = (
            replace(pair.answer(frame.iloc[rows].reset_index(drop=True)), units=units[rows])
            for rows in (used, held_out)
        )
        words = read_code_book(subject.words, used_rows.frame)
        switches = ClassSwitches.of(PairSamples.concat((samples, used_rows)), pair.classes, pair.sides)
        chosen = self._search(samples, fresh, switches, used_rows, words)
        figures = measure_samples(pair, chosen, switches, n_samples, seed)
        notes = [*subject.describe_units()]
        for side, check in zip(pair.sides, checks, strict=True):
            notes += check.describe_changes(f"the {side} model")
        shown = (unseen, held_out) if len(held_out) else (used_rows, used)
        result = self._measure(pair, chosen, switches, (used_rows, unseen), shown, words, figures)
        return replace(
            result,
            samples=figures.share,
            answers=2 * (len(samples.frame) + len(fresh.frame) + len(frame)) + figures.answers,
            distribution=pair.old.sampler.describe(),
            missing_values=pair.new.describe(),
            notes=tuple(notes),
        )

    def compare_with_truth(self, truth: pd.Series[Any]) -> ModelDiff:
        """Compare a model with the labels of rows: half of the rows choose, the others measure."""
        subject, frame = self.subject, self.subject.frame
        if len(truth) != len(frame):
            raise HornbookError(
                f"there are {len(frame)} rows and {len(truth)} labels; give each row its label"
            )
        known = truth.notna().to_numpy()
        if known.sum() < LEAST_LABELLED_ROWS:
            raise HornbookError(
                f"errors are looked for in at least {LEAST_LABELLED_ROWS} rows; {known.sum()} have a label"
            )
        truth = pd.Series(subject.name_labels(truth), truth.index, name=truth.name)
        units = number_units(frame, subject.groups)
        rows = np.flatnonzero(known)
        places = shuffle_units(units[rows], subject.seed)
        count = places.max() + 1
        unseen_rows, choosing, fitting = (
            rows[(low <= places) & (places < high)]
            for low, high in pairwise((0, count // 2, count // 2 + count // 6, count))
        )
        teacher = subject.teacher.bind_rows(frame.iloc[np.concatenate([choosing, fitting])], subject.seed)
        check = AnswerCheck.start(teacher.labels, teacher.frame)
        labels = sorted(truth[known].unique().tolist(), key=str)
        joint, (own, true) = match_classes(teacher.classes, labels, subject.words)
        classes = subject.words.name_classes(subject.target, joint)
        plain = frame.iloc[np.concatenate([fitting, choosing])].reset_index(drop=True)
        compared = LabelledModel(teacher, plain, classes, own, name_answers(frame, "model"))
        number = dict(zip(labels, true.tolist(), strict=True))
        unseen, fresh, samples = (
            compared.answer(
                frame.iloc[part].reset_index(drop=True),
                np.array([number[label] for label in truth.iloc[part]], np.intp),
                units[part],
            )
            for part in (unseen_rows, choosing, fitting)
        )
        used = PairSamples.concat((samples, fresh))
        words = read_code_book(subject.words, used.frame)
        switches = ClassSwitches.of(used, classes, compared.sides)
        chosen = self._search(samples, fresh, switches, used, words)
        result = self._measure(compared, chosen, switches, (used, unseen), (unseen, unseen_rows), words)
        left_out = f"{(~known).sum():,} rows have no label and were left out"
        return replace(
            result,
            answers=int(known.sum()),
            distribution="the labelled rows of the table; of others the truth is not known",
            missing_values=teacher.describe(),
            notes=(
                *([] if known.all() else [left_out]),
                *note_units(frame, unseen_rows, subject.groups),
                *check.describe_changes(),
            ),
        )

    def _search(
        self,
        samples: PairSamples,
        fresh: PairSamples,
        switches: ClassSwitches,
        used: PairSamples,
        words: CodeBook,
    ) -> Explanation:
        """Fit explanations to samples, and choose one by fresh ones."""
        return search_switches(
            samples,
            fresh,
            switches,
            used.frame,
            form=self.form,
            max_literals=self.max_literals,
            code_book=words,
        ).explanation

    def _measure(
        self,
        compared: Compared,
        explanation: Explanation,
        switches: ClassSwitches,
        rows: tuple[PairSamples, PairSamples],
        shown: tuple[PairSamples, Ints],
        words: CodeBook,
        figures: SampleFigures | None = None,
    ) -> ModelDiff:
        """The result with its figures: by the rows that chose, and by those that did not."""
        used, unseen = rows
        numbers = switches.number(unseen.old, unseen.new)
        every = PairSamples.concat(rows)
        all_numbers = switches.number(every.old, every.new)
        return ModelDiff(
            sides=compared.sides,
            target=self.subject.target,
            classes=compared.classes,
            share=every.measure(every.differs),
            samples=None,
            switches={
                name: every.measure(all_numbers == number)
                for number, name in enumerate(switches.outcomes)
                if number
            },
            explanation=explanation,
            lines=tuple(measure_diff_lines(explanation, switches, used, unseen, figures)),
            recall=unseen.measure(explanation.decide(unseen.frame) == numbers, unseen.differs),
            groups=tuple(find_diff_groups(used, unseen, [explanation], words)),
            rows=tuple(
                list_diff_rows(shown[0], self.subject.frame.index[shown[1]].tolist(), explanation, compared)
            ),
            models=tuple(describe_sides(compared, shown[0])),
            answers=0,
            distribution="",
            missing_values="",
        )
