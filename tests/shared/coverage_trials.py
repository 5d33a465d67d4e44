"""Whether intervals cover the truth as often as they say, over many runs whose truth can be known.

Each run has a model and a population of its own. The truth about a figure is what a huge fresh
sample shows: rows of the population, or draws of the distribution that the figure is about. Of the
rules of a run one is looked at: those of one run are measured on the same samples, and would not be
independent trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from laws import case_generator
from numpy.typing import NDArray

import hornbook as hb
from hornbook.logic import Bools
from hornbook.models import as_predictor
from hornbook.queries import Estimated, HornRules, Literals, Pac, QuerySubject
from hornbook.statistics import Share

CONFIDENCE = 0.95
UNLIKELY = 0.001
"""With this probability intervals that are right are taken for wrong."""

COLUMNS, VARIABLES, UNITS = 3, 12, 12
ACCEPTED = 0.7
VISIT_SPREAD = 0.1
"""The standard deviation of the rows of a patient about the patient's own row."""

(MODEL, ROWS, FRESH_ROWS, FRESH_SAMPLES, ORDER, LABELS, CHOICE) = range(7)
"""What random words of a run are for."""


@dataclass(frozen=True)
class Trial:
    """Whether one claim of one run was true; `probability` is how often such claims have to be."""

    figure: str
    covered: bool
    probability: float = CONFIDENCE


@dataclass
class Coverage:
    """How many claims were true, by figure."""

    covered: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    probabilities: dict[str, float] = field(default_factory=dict)

    def add(self, trials: Iterable[Trial]) -> None:
        """Count trials."""
        for trial in trials:
            self.runs[trial.figure] += 1
            self.covered[trial.figure] += trial.covered
            self.probabilities[trial.figure] = trial.probability

    def fewest(self, figure: str) -> int:
        """The fewest true claims that a figure may have, but for an unlikely accident."""
        from scipy.stats import binom

        return int(binom.ppf(UNLIKELY, self.runs[figure], self.probabilities[figure]))

    def misses(self) -> list[str]:
        """The figures that cover too rarely, in words."""
        return [
            f"{figure}: {self.covered[figure]} of {runs}, at least {self.fewest(figure)} are needed"
            for figure, runs in self.runs.items()
            if self.covered[figure] < self.fewest(figure)
        ]


@dataclass(frozen=True)
class Waves:
    """A classifier of rows of numbers with many small regions, which no short explanation has all of.

    A missing value counts as 0.
    """

    directions: NDArray[np.float64]
    shifts: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Waves:
        """A random one."""
        return cls(
            1.5 * rng.standard_normal((COLUMNS, UNITS)),
            rng.uniform(0, 2 * np.pi, UNITS),
            rng.standard_normal(UNITS),
        )

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """The probability of the label."""
        waves = np.cos(np.nan_to_num(np.asarray(rows, np.float64)) @ self.directions + self.shifts)
        scores: NDArray[np.float64] = 1 / (1 + np.exp(-2 * waves @ self.weights))
        return scores


@dataclass(frozen=True)
class AcceptanceThreshold:
    """A judge of variables, unknown ones as ½, that accepts what a random layer scores high."""

    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    least: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> AcceptanceThreshold:
        """A random one that accepts the usual share of complete interpretations."""
        inner, outer = rng.standard_normal((VARIABLES, UNITS)), rng.standard_normal(UNITS)
        scores = cls(inner, outer, 0.0).scores(rng.integers(0, 2, (4000, VARIABLES)))
        return cls(inner, outer, float(np.quantile(scores, 1 - ACCEPTED)))

    def scores(self, array: Any) -> NDArray[np.float64]:
        """How well an interpretation does."""
        scores: NDArray[np.float64] = np.tanh((np.asarray(array, np.float64) - 0.5) @ self.inner) @ self.outer
        return scores

    def __call__(self, array: Any) -> Bools:
        """Whether it is accepted."""
        accepted: Bools = self.scores(array) >= self.least
        return accepted


def draw_rows(size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of the population of classifiers: numbers, of which two go together."""
    values = rng.standard_normal((size, COLUMNS))
    values[:, 1] += 0.5 * values[:, 0]
    return pd.DataFrame(values, columns=[f"x{column}" for column in range(COLUMNS)])


def draw_visits(patients: int, visits: int, rng: np.random.Generator) -> pd.DataFrame:
    """So many rows of each patient, close to each other: patient by patient."""
    rows = draw_rows(patients, rng)
    rows = rows.loc[np.repeat(rows.index, visits)].reset_index(drop=True)
    return rows + VISIT_SPREAD * rng.standard_normal(rows.shape)


def draw_interpretations(size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of variables, the population of judges."""
    values = rng.integers(0, 2, (size, VARIABLES)).astype(np.float64)
    return pd.DataFrame(values, columns=[f"v{variable}" for variable in range(VARIABLES)])


def try_classifier(
    seed: int, rows: int, fresh: int, repeats: int = 1, visits: int = 0, **settings: Any
) -> Iterator[Trial]:
    """One explanation of a classifier, each claim of which is held against so much that is fresh.

    Parameters
    ----------
    seed
        Decides model, rows and run.
    rows
        How many rows are given to `fit`, or how many patients have rows there.
    fresh
        The size of the samples that show the truth.
    repeats
        How often each row stands in the table.
    visits
        How many rows each patient has, whose groups `fit` is given; 0 for rows of their own.
    settings
        Those of `Explainer.extract`.

    """
    model = as_predictor(Waves.draw(_source(seed, MODEL)), encoding="nan")
    patients = None
    if visits:
        patients = np.repeat(np.arange(rows), visits)
        table = draw_visits(rows, visits, _source(seed, ROWS))
        others = draw_visits(fresh, 1, _source(seed, FRESH_ROWS))
    else:
        order = _source(seed, ORDER).permutation(rows * repeats) % rows
        table = draw_rows(rows, _source(seed, ROWS)).iloc[order].reset_index(drop=True)
        others = draw_rows(fresh, _source(seed, FRESH_ROWS))
    explainer = hb.Explainer(model, table, target="high", groups=patients, seed=seed)
    extraction, teacher = explainer.extract(**settings), explainer.subject.hold_out().teacher
    truth = float((extraction.explanation.decide(others) == teacher.labels(others)).mean())
    if extraction.fidelity.rows is not None:
        yield Trial("explanation: fidelity on held-out rows", _covers(extraction.fidelity.share, truth))
        assert isinstance(extraction.guarantee, Estimated)
        claimed = extraction.guarantee.disagreement
        yield Trial("explanation: estimated guarantee", _covers(claimed, 1 - truth))
    # how many samples are rows as they are depends on the size of a draw: all draws have that of the figure
    source, size = _source(seed, FRESH_SAMPLES), extraction.fidelity.samples.size
    samples = pd.concat([teacher.sample(size, source) for _ in range(-(-fresh // size))], ignore_index=True)
    labels, explanation = teacher.labels(samples), extraction.explanation
    agreed = float((explanation.decide(samples) == labels).mean())
    yield Trial("explanation: fidelity on samples", _covers(extraction.fidelity.samples, agreed))
    number = seed % len(extraction.lines)
    line, applies = extraction.lines[number], explanation.match_lines(samples)[number]
    yield Trial("explanation: support", _covers(line.support, float(applies.mean())))
    if line.precision is not None and applies.any():
        right = labels[applies] == explanation.classes.index(explanation.lines()[number].outcome)
        yield Trial("explanation: precision", _covers(line.precision, float(right.mean())))


def try_queries(seed: int, rows: int, fresh: int, **settings: Any) -> Iterator[Trial]:
    """One run by queries on a classifier; the settings are those of `Explainer.learn`."""
    model = as_predictor(Waves.draw(_source(seed, MODEL)), encoding="nan")
    frame = draw_rows(rows, _source(seed, ROWS))
    subject = QuerySubject.bind(model, frame, target="high", seed=seed)
    extraction = hb.learn(model, frame, target="high", seed=seed, **settings)
    others = draw_rows(fresh, _source(seed, FRESH_ROWS))
    truth = float((extraction.explanation.decide(others) == subject.teacher.decide_rows(others)).mean())
    if extraction.fidelity.rows is not None:
        yield Trial("queries: fidelity on held-out rows", _covers(extraction.fidelity.share, truth))
    yield from _try_samples("queries", subject, extraction, fresh, seed)


def try_diff(seed: int, rows: int, fresh: int, repeats: int = 1, **settings: Any) -> Iterator[Trial]:
    """One comparison of a classifier with the truth: it errs more often above a number in one column.

    The settings are those of `Explainer.diff`.
    """
    waves = Waves.draw(_source(seed, MODEL))
    model = as_predictor(waves, encoding="nan")

    def err(frame: pd.DataFrame) -> NDArray[np.float64]:
        chances: NDArray[np.float64] = np.where(frame.x0 > 0.6, 0.2, 0.08)
        return chances

    table = draw_rows(rows, _source(seed, ROWS))
    wrong = _source(seed, LABELS).random(rows) < err(table)
    truth = ((waves(table) > 0.5) ^ wrong).astype(int)
    order = _source(seed, ORDER).permutation(rows * repeats) % rows
    explainer = hb.Explainer(model, table.iloc[order], target="high", seed=seed)
    found = explainer.diff(truth[order], **settings)
    others = draw_rows(fresh, _source(seed, FRESH_ROWS))
    chances = err(others)
    yield Trial("diff: share of errors", _covers(found.share, float(chances.mean())))


def try_judge(seed: int, rows: int, fresh: int, **settings: Any) -> Iterator[Trial]:
    """One run by queries on a judge; the settings are those of `hb.learn`."""
    model = as_predictor(AcceptanceThreshold.draw(_source(seed, MODEL)), encoding="half")
    frame = draw_interpretations(rows, _source(seed, ROWS))
    extraction = hb.learn(model, frame, seed=seed, **settings)
    yield from _try_samples("judge", QuerySubject.bind(model, frame, seed=seed), extraction, fresh, seed)


def _try_samples(
    kind: str, subject: QuerySubject, extraction: hb.Extraction, fresh: int, seed: int
) -> Iterator[Trial]:
    """The claims of a run by queries about samples: fidelity, the guarantee, and the figures of one rule."""
    bound, rules, guarantee = subject.teacher, extraction.explanation, extraction.guarantee
    assert isinstance(rules, HornRules)
    rng = _source(seed, FRESH_SAMPLES)
    if bound.reads_columns:
        drawn = bound.sample_rows(fresh, rng)
        items, answers = bound.binariser.batch(drawn), bound.decide_rows(drawn)
    else:
        literals = Literals.of(bound.binariser.vocabulary, bound.binariser.groups)
        items = literals.propagate(bound.feature_distribution.draw(fresh, rng))
        answers = bound.decide_items(items)
    agreed = float((rules.decide_items(items) == answers).mean())
    yield Trial(f"{kind}: fidelity on samples", _covers(extraction.fidelity.samples, agreed))
    if isinstance(guarantee, Pac):
        batch = bound.distribution.draw(fresh, _source(seed, FRESH_SAMPLES))
        wrong = float((rules.theory.satisfied_by(batch) != bound(batch)).mean())
        yield Trial(f"{kind}: PAC guarantee", wrong <= guarantee.epsilon, 1 - guarantee.delta)
    elif isinstance(guarantee, Estimated):
        covered = _covers(guarantee.disagreement, 1 - agreed)
        yield Trial(f"{kind}: estimated guarantee", covered)
    if rules.rules:
        number = seed % len(rules.rules)
        claimed, (hits, outcomes) = extraction.lines[number], rules.match_rules(items)
        right = answers[hits[number]] == outcomes[number]
        yield Trial(f"{kind}: support", _covers(claimed.support, hits[number].mean()))
        if claimed.precision is not None and len(right):
            yield Trial(f"{kind}: precision", _covers(claimed.precision, right.mean()))


def _covers(share: Share, truth: float) -> bool:
    return share.low <= truth <= share.high


def _source(seed: int, number: int) -> np.random.Generator:
    return case_generator(seed, number)
