"""Check that intervals cover the true value as often as they claim, over many runs on random models.

The true value of a figure is measured on a huge fresh sample: rows of the population, or draws of
the distribution that the figure is about. Only one rule of each run is checked: the rules of one run
are measured on the same samples, so they are no independent trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.evaluate import RuleStatistics, statistics_on
from hornbook.extractor import Found, HornExtractor
from hornbook.extractor.reading import draw_samples
from hornbook.logic import Batch, Bools, HornTheory
from hornbook.queries import Estimated, Pac
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

CONFIDENCE = 0.95
FALSE_ALARM = 0.001
"""Probability that correct intervals are reported as wrong."""

COLUMNS, VARIABLES, UNITS = 3, 12, 12
ACCEPTED_SHARE = 0.7

(MODEL, ROWS, FRESH_ROWS, FRESH_SAMPLES) = range(4)
"""Numbers of the random generators of a run, by purpose."""


@dataclass(frozen=True)
class Trial:
    """Whether one claim of one run was true, which must happen with this probability."""

    figure: str
    covered: bool
    probability: float = CONFIDENCE


@dataclass
class Coverage:
    """The number of true claims and of runs, by figure."""

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
        """The fewest true claims that do not count as a failure."""
        from scipy.stats import binom

        return int(binom.ppf(FALSE_ALARM, self.runs[figure], self.probabilities[figure]))

    def misses(self) -> list[str]:
        """One sentence for each figure whose intervals cover the truth too rarely."""
        return [
            f"{figure}: {self.covered[figure]} of {runs}, at least {self.fewest(figure)} are needed"
            for figure, runs in self.runs.items()
            if self.covered[figure] < self.fewest(figure)
        ]


@dataclass(frozen=True)
class WaveClassifier:
    """A random classifier of numeric rows with more small regions than a short explanation can describe.

    A missing value counts as 0.
    """

    directions: NDArray[np.float64]
    shifts: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def draw(cls, rng: np.random.Generator) -> WaveClassifier:
        """Draw a random classifier."""
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
class ThresholdJudge:
    """A random judge: accepts an interpretation if a random network, with ½ for ?, scores it high."""

    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    least: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> ThresholdJudge:
        """Draw a random judge that accepts a share `ACCEPTED_SHARE` of complete interpretations."""
        inner, outer = rng.standard_normal((VARIABLES, UNITS)), rng.standard_normal(UNITS)
        scores = cls(inner, outer, 0.0).scores(rng.integers(0, 2, (4000, VARIABLES)))
        return cls(inner, outer, float(np.quantile(scores, 1 - ACCEPTED_SHARE)))

    def scores(self, array: Any) -> NDArray[np.float64]:
        """The network's output for each row."""
        scores: NDArray[np.float64] = np.tanh((np.asarray(array, np.float64) - 0.5) @ self.inner) @ self.outer
        return scores

    def __call__(self, array: Any) -> Bools:
        """Whether each row is accepted."""
        accepted: Bools = self.scores(array) >= self.least
        return accepted


def draw_rows(size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows for classifiers: numeric columns, two of them correlated."""
    values = rng.standard_normal((size, COLUMNS))
    values[:, 1] += 0.5 * values[:, 0]
    return pd.DataFrame(values, columns=[f"x{column}" for column in range(COLUMNS)])


def draw_interpretations(size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw complete rows of 0/1 variables for judges."""
    values = rng.integers(0, 2, (size, VARIABLES)).astype(np.float64)
    return pd.DataFrame(values, columns=[f"v{variable}" for variable in range(VARIABLES)])


def try_classifier(seed: int, rows: int, fresh: int, **settings: Any) -> Iterator[Trial]:
    """Run an extraction on a random classifier, and compare each of its claims with fresh samples.

    Parameters
    ----------
    seed
        The seed of model, rows and run.
    rows
        The number of rows given to `fit`.
    fresh
        The size of the fresh samples.
    settings
        Parameters of `HornExtractor`.

    """
    model = WaveClassifier.draw(_test_generator(seed, MODEL))
    frame = draw_rows(rows, _test_generator(seed, ROWS))
    extractor = HornExtractor(model, "high", encoding="nan", random_state=seed, **settings).fit(frame)
    (subject,), (found,) = extractor.subjects_, extractor.reading_.found.values()
    kind = extractor.method
    population = draw_rows(fresh, _test_generator(seed, FRESH_ROWS))
    truth = extractor.score(population)
    if extractor.fidelity_.unseen_rows is not None:
        yield Trial(f"{kind}: fidelity on unseen rows", _covers(extractor.fidelity_.share, truth))
    samples = draw_samples(subject, found, fresh, _test_generator(seed, FRESH_SAMPLES))
    agreed = float((extractor.reading_.answers.filled(samples) == subject.answers(samples)).mean())
    yield Trial(f"{kind}: fidelity on samples", _covers(extractor.fidelity_.samples, agreed))
    if kind == "queries":
        yield from _try_theory(kind, found, subject.teacher, fresh, seed)
        return
    if isinstance(found.guarantee, Estimated):
        yield Trial(f"{kind}: estimated guarantee", _covers(found.guarantee.disagreement, 1 - agreed))
    if found.statistics:
        claimed = _pick_rule(found.statistics, seed)
        labels = subject.answers(samples) == (claimed.rule.head == found.theory.vocabulary.index("high"))
        fires = _fires(claimed, samples)
        yield Trial(f"{kind}: support", _covers(claimed.support, float(fires.mean())))
        if fires.any():
            yield Trial(f"{kind}: precision", _covers(claimed.precision, float(labels[fires].mean())))


def try_judge(seed: int, rows: int, fresh: int, **settings: Any) -> Iterator[Trial]:
    """Run an extraction on a random judge; the parameters are those of `try_classifier`."""
    model = ThresholdJudge.draw(_test_generator(seed, MODEL))
    frame = draw_interpretations(rows, _test_generator(seed, ROWS))
    extractor = HornExtractor(model, judge=True, encoding="half", random_state=seed, **settings).fit(frame)
    (subject,), (found,) = extractor.subjects_, extractor.reading_.found.values()
    teacher = subject.teacher
    samples = teacher.distribution.draw(fresh, _test_generator(seed, FRESH_SAMPLES))
    agreed = float((found.theory.satisfied_by(samples) == teacher(samples)).mean())
    yield Trial("judge: fidelity on samples", _covers(extractor.fidelity_.samples, agreed))
    yield from _try_theory("judge", found, teacher, fresh, seed)


def _try_theory(kind: str, found: Found, teacher: Any, fresh: int, seed: int) -> Iterator[Trial]:
    """Check the claims of a run by queries: its guarantee, and the statistics of one rule."""
    batch = teacher.distribution.draw(fresh, _test_generator(seed, FRESH_SAMPLES))
    accepted = teacher(batch)
    wrong = float((found.theory.satisfied_by(batch) != accepted).mean())
    guarantee = found.guarantee
    if isinstance(guarantee, Pac):
        yield Trial(f"{kind}: PAC guarantee", wrong <= guarantee.epsilon, 1 - guarantee.delta)
    elif isinstance(guarantee, Estimated):
        yield Trial(f"{kind}: estimated guarantee", _covers(guarantee.disagreement, wrong))
    if found.statistics:
        claimed = _pick_rule(found.statistics, seed)
        alone = HornTheory(found.theory.vocabulary, [claimed.rule])
        (shown,) = statistics_on([(batch, accepted)], alone)
        yield Trial(f"{kind}: support", _covers(claimed.support, shown.support.estimate))
        if shown.precision.size:
            yield Trial(f"{kind}: precision", _covers(claimed.precision, shown.precision.estimate))


def _pick_rule(statistics: tuple[RuleStatistics, ...], seed: int) -> RuleStatistics:
    """Pick the statistics of one rule by the seed."""
    return statistics[seed % len(statistics)]


def _fires(claimed: RuleStatistics, samples: Batch) -> Bools:
    fires: Bools = (samples.to_array()[:, sorted(claimed.rule.body)] == 1).all(axis=1)
    return fires


def _covers(share: Share, truth: float) -> bool:
    return share.low <= truth <= share.high


def _test_generator(seed: int, number: int) -> np.random.Generator:
    return generator(seed, Purpose.TEST_CASES, number)
