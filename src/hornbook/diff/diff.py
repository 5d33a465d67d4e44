"""What changed between two models: where they disagree, in rules, with figures nothing was chosen by.

The table is split: rules are made from one part, and measured on the other. Samples look for the
disagreement that rows alone are too few to show; see `samples`. How often a line of the rules is
right is measured on fresh samples that it applies to, and the share of disagreement among all samples
by asking more often where a line applies: the lines are the strata. Against the truth there are no
samples: only rows have labels, and half of them choose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hornbook.code_book import read_code_book
from hornbook.diff.result import TELLING_ROWS, DiffLine, DiffRow, ModelDiff, ModelSide
from hornbook.diff.samples import Compared, GuidedSampler, PairSamples, pair_models
from hornbook.diff.switches import ClassSwitches, find_rules
from hornbook.errors import HornbookError
from hornbook.explanations import RuleSet
from hornbook.models import AnswerCheck, Subject, load_model, match_classes
from hornbook.models.answers import afford
from hornbook.randomness import Purpose, generator
from hornbook.reasons.changes import plain_cell
from hornbook.statistics import Share, StratifiedShare
from hornbook.surrogates.grid import Ints
from hornbook.tables import note_units, number_units, shuffle_units

DIFF_SAMPLES = 16_000
"""Samples that rules are fitted to; half as many choose, and half as many measure."""

SAMPLES_SHARE = 0.08
"""The share of a budget of answers that samples to learn from take; others are drawn, of two models."""

LEAST_LABELLED_ROWS = 60
"""Rows with a label that a model is compared with the truth on, at the least."""

POOL_FACTOR = 4
"""Free samples for each one that rules are fitted to: they tell how much a line applies to."""

SAME_SAMPLES_SHARE, LINE_SAMPLES_SHARE = 1 / 2, 1 / 16
"""Samples asked about where no switch is said, and of each line for a switch, for each one fitted to."""

MAX_SHOWN_ROWS, MAX_SHOWN_COLUMNS = 20, 6
"""Rows with disagreement that are kept, and columns of them where the rules name none."""


def diff(subject: Subject, other: Any, *, max_literals: int = 12, n_samples: int = DIFF_SAMPLES) -> ModelDiff:
    """Say where two models disagree, or a model and the truth: how often, and for whom.

    Parameters
    ----------
    subject
        The old model, bound to rows with the columns of both; a fifth of them is held out.
    other
        The new model: a fitted classifier of any supported library, the path of a model file, or what
        `as_predictor` made of one. Each model reads those columns that it was trained on. Or the truth: the
        labels of the rows.
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
    subject.refuse_weights("diff")
    if n_samples < 1:
        raise HornbookError(f"models are compared on at least one sample; got n_samples={n_samples}")
    if isinstance(other, pd.Series | np.ndarray | list | tuple):
        return _compare_with_truth(subject, pd.Series(other), max_literals)
    other = load_model(other) if isinstance(other, str | Path) else other
    return _compare_models(subject.hold_out().within_budget(), other, max_literals, n_samples)


def _compare_models(subject: Subject, new: Any, max_literals: int, n_samples: int) -> ModelDiff:
    """Compare two models on rows and samples."""
    n_samples, seed = afford(n_samples, SAMPLES_SHARE), subject.seed
    frame, held_out = subject.frame, subject.kept_back
    pair = pair_models(subject, new)
    checks = [AnswerCheck.start(teacher.labels, teacher.frame) for teacher in pair.teachers]
    samples, sampler = GuidedSampler.start(pair).draw_rounds(
        n_samples, generator(seed, Purpose.LEARNING_SAMPLES)
    )
    fresh, _ = sampler.draw(max(n_samples // 2, 1), generator(seed, Purpose.CANDIDATE_CHOICE), near=True)
    places, units = (
        (np.delete(np.arange(len(frame)), held_out), held_out),
        number_units(frame, subject.groups),
    )
    used, unseen = (pair.answer(frame.iloc[own].reset_index(drop=True), units[own]) for own in places)
    switches = ClassSwitches.of(PairSamples.concat((samples, used)), pair)
    words = read_code_book(subject.words, used.frame)
    rules = find_rules(samples, fresh, switches, used.frame, max_literals, words)
    figures = SampleFigures.measure(pair, rules, switches, n_samples, seed)
    notes = [*subject.describe_units()]
    for side, check in zip(pair.sides, checks, strict=True):
        notes += check.describe_changes(f"the {side} model")
    shown = (unseen, held_out) if len(held_out) else (used, places[0])
    return replace(
        _measure(subject, pair, rules, switches, (used, unseen), shown, figures),
        samples=figures.share,
        answers=2 * (len(samples.frame) + len(fresh.frame) + len(frame)) + figures.answers,
        distribution=pair.teachers[0].sampler.describe(),
        missing_values=pair.teachers[1].describe(),
        notes=tuple(notes),
    )


def _compare_with_truth(subject: Subject, truth: pd.Series[Any], max_literals: int) -> ModelDiff:
    """Compare a model with the labels of rows: half of the rows choose, the others measure."""
    frame, words = subject.frame, subject.words
    if len(truth) != len(frame):
        raise HornbookError(f"there are {len(frame)} rows and {len(truth)} labels; give each row its label")
    known = truth.notna().to_numpy()
    if known.sum() < LEAST_LABELLED_ROWS:
        raise HornbookError(
            f"errors are looked for in at least {LEAST_LABELLED_ROWS} rows; {known.sum()} have a label"
        )
    truth = pd.Series(subject.name_labels(truth), truth.index, name=truth.name)
    units, rows = number_units(frame, subject.groups), np.flatnonzero(known)
    order = shuffle_units(units[rows], subject.seed)
    count = order.max() + 1
    places = [
        rows[(low <= order) & (order < high)]
        for low, high in pairwise((0, count // 2, count // 2 + count // 6, count))
    ]
    teacher = subject.teacher.bind_rows(frame.iloc[np.concatenate(places[1:])], subject.seed)
    check = AnswerCheck.start(teacher.labels, teacher.frame)
    labels = sorted(truth[known].unique().tolist(), key=str)
    joint, (own, true) = match_classes(teacher.classes, labels, words)
    classes = words.name_classes(subject.target, joint)
    compared = Compared(("model", "truth"), (teacher,), classes, (own,))
    number = dict(zip(labels, true.tolist(), strict=True))
    unseen, fresh, samples = (
        compared.answer(
            frame.iloc[part].reset_index(drop=True),
            units[part],
            np.array([number[label] for label in truth.iloc[part]], np.intp),
        )
        for part in places
    )
    used = PairSamples.concat((samples, fresh))
    switches = ClassSwitches.of(used, compared)
    words = read_code_book(words, used.frame)
    rules = find_rules(samples, fresh, switches, used.frame, max_literals, words)
    left_out = f"{(~known).sum():,} rows have no label and were left out"
    return replace(
        _measure(subject, compared, rules, switches, (used, unseen), (unseen, places[0])),
        answers=int(known.sum()),
        distribution="the labelled rows of the table; of others the truth is not known",
        missing_values=teacher.describe(),
        notes=(
            *([] if known.all() else [left_out]),
            *note_units(frame, places[0], subject.groups),
            *check.describe_changes(),
        ),
    )


@dataclass(frozen=True)
class SampleFigures:
    """Figures of the lines of rules on fresh samples.

    Attributes
    ----------
    share
        The share of all samples with disagreement; the strata are the lines.
    support, precision
        For each line, the share of samples that it applies to, and the share of those asked about that
        switch as it says.
    answers
        How many answers were needed.

    """

    share: StratifiedShare
    support: tuple[Share, ...]
    precision: tuple[Share, ...]
    answers: int

    @classmethod
    def measure(
        cls, pair: Compared, rules: RuleSet, switches: ClassSwitches, n_samples: int, seed: int
    ) -> SampleFigures:
        """Measure rules on fresh samples, asked about more often where they speak of a switch.

        Free samples say how much each line applies to. Both models are asked about some samples of each
        line, enough that a line for few samples has its figure too.
        """
        pool = pair.teachers[0].sample(POOL_FACTOR * n_samples, generator(seed, Purpose.EVALUATION))
        rows, answers = pool, 0
        if pair.column in rules.columns:
            rows, answers = pair.add_answers(pool, pair.label(pool)), len(pool)
        strata, outcomes = find_lines(rules, rows), list_outcomes(rules)
        members = np.bincount(strata, minlength=len(outcomes))
        same = members[np.array(outcomes) == 0].sum()
        differs, right, sizes = [], [], []
        for line, outcome in enumerate(outcomes):
            budget = LINE_SAMPLES_SHARE * n_samples
            if not outcome:
                budget = SAME_SAMPLES_SHARE * n_samples * members[line] / max(same, 1)
            part = pair.answer(pool.iloc[np.flatnonzero(strata == line)[: max(1, round(budget))]])
            differs.append(int(part.differs.sum()))
            right.append(int((switches.number(part) == outcome).sum()))
            sizes.append(len(part.frame))
        return cls(
            StratifiedShare.of(members.tolist(), differs, sizes),
            tuple(Share.of(count, len(pool)) for count in members.tolist()),
            tuple(Share.of(hits, size) for hits, size in zip(right, sizes, strict=True)),
            answers + 2 * sum(sizes),
        )

    def contrast(self, line: int) -> tuple[float, float]:
        """The share of samples with disagreement where a line applies, and where it does not."""
        size, inside = self.share.sizes[line].estimate, self.share.shares[line].estimate
        rest = self.share.estimate - (size * inside if size else 0.0)
        return inside, rest / (1 - size) if size < 1 else math.nan


def list_outcomes(rules: RuleSet) -> list[int]:
    """The number of the class that each line decides for."""
    return [*(rule.outcome for rule in rules.rules), rules.default]


def find_lines(rules: RuleSet, frame: pd.DataFrame) -> Ints:
    """Which line applies to each row, shape (rows,)."""
    places: Ints = rules.match_lines(frame).argmax(axis=0)
    return places


def _measure(
    subject: Subject,
    compared: Compared,
    rules: RuleSet,
    switches: ClassSwitches,
    rows: tuple[PairSamples, PairSamples],
    shown: tuple[PairSamples, Ints],
    figures: SampleFigures | None = None,
) -> ModelDiff:
    """The result with its figures: by the rows that chose, and by those that did not."""
    unseen, every = rows[1], PairSamples.concat(rows)
    numbers = switches.number(every)
    says_rightly = rules.decide(unseen.frame) == switches.number(unseen)
    return ModelDiff(
        sides=compared.sides,
        target=subject.target,
        classes=compared.classes,
        share=every.measure(every.differs),
        switches={
            name: every.measure(numbers == number) for number, name in enumerate(switches.outcomes) if number
        },
        explanation=rules,
        lines=tuple(measure_lines(rules, switches, rows, figures)),
        recall=unseen.measure(says_rightly, unseen.differs),
        rows=tuple(list_rows(shown[0], subject.frame.index[shown[1]].tolist(), rules, compared)),
        models=tuple(describe_sides(compared, shown[0])),
    )


def measure_lines(
    rules: RuleSet,
    switches: ClassSwitches,
    rows: tuple[PairSamples, PairSamples],
    figures: SampleFigures | None,
) -> Iterator[DiffLine]:
    """The statistics of each line, by rows that chose the rules and by unseen ones."""
    unseen = rows[1]
    on_used, on_unseen = (find_lines(rules, each.frame) for each in rows)
    numbers = switches.number(unseen)
    for line, outcome in enumerate(list_outcomes(rules)):
        applies = on_unseen == line
        inside, elsewhere = (Share.where(unseen.differs[part]).estimate for part in (applies, ~applies))
        if figures is not None and applies.sum() < TELLING_ROWS:
            inside, elsewhere = figures.contrast(line)
        yield DiffLine(
            int((on_used == line).sum() + applies.sum()),
            unseen.measure(numbers == outcome, applies),
            inside,
            elsewhere,
            None if figures is None else figures.support[line],
            None if figures is None else figures.precision[line],
        )


def list_rows(
    rows: PairSamples, names: Sequence[Any], rules: RuleSet, compared: Compared
) -> Iterator[DiffRow]:
    """List some rows with disagreement, with their values in the columns of the rules, or the first ones.

    `names` are what the table's index calls the rows.
    """
    lines, decided = find_lines(rules, rows.frame), rules.decide(rows.frame)
    shown = [name for name in rules.columns if name != compared.column]
    shown = shown or [str(name) for name in rows.frame if name != compared.column][:MAX_SHOWN_COLUMNS]
    for place in np.flatnonzero(rows.differs)[:MAX_SHOWN_ROWS].tolist():
        yield DiffRow(
            row=names[place],
            values={name: plain_cell(rows.frame[name].iloc[place]) for name in shown},
            old=compared.classes[rows.old[place]],
            new=compared.classes[rows.new[place]],
            line=int(lines[place]) if decided[place] else None,
        )


def describe_sides(compared: Compared, judged: PairSamples) -> Iterator[ModelSide]:
    """Describe each model: the columns that it reads, and how often it gives each class to some rows."""
    for teacher, labels in zip(compared.teachers, (judged.old, judged.new), strict=False):
        yield ModelSide(
            teacher.predictor.name,
            tuple(teacher.columns),
            {name: Share.where(labels == number) for number, name in enumerate(compared.classes)},
        )
