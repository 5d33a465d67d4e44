r"""The peers of the frontier: what else makes something short to read of labelled rows.

Each peer is fitted to the very samples that ours are fitted to (those that time limits get fewer of
them), with thresholds of its own. It yields explanations of several sizes; how many literals there
are to read in one is counted as in ours: a question of a tree, a stump or a line that has points, a
condition in the body of a rule. Those that do not install are left out.

    pip install --no-deps --target /tmp/peers imodels tqdm mlxtend wittgenstein pystreed \\
        scikit-survival fasterrisk
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd

SIZES = (2, 4, 8, 13, 20, 32, 64)
FIGS_SIZES = (2, 4, 8, 13, 20)
STREED_SIZES = ((2, 2), (2, 3), (3, 4), (3, 5), (3, 7))
"""The depth and the number of questions of each tree."""

STUMP_ROUNDS = 100
"""Rounds of boosting."""

SLOW_SAMPLES, SLOW_SECONDS = 3000, 10
"""Samples of the peers that time limits, and the most seconds for one optimal tree."""

MAX_THRESHOLDS, MAX_CATEGORIES = 10, 10
"""Candidates of a column for the peers that take binary features only."""


@dataclass(frozen=True, eq=False)
class PeerData:
    """Labelled samples, and the frames that each explanation decides."""

    samples: pd.DataFrame
    labels: np.ndarray
    frames: tuple[pd.DataFrame, ...]

    @property
    def classes(self) -> int:
        """Classes that occur."""
        return len(np.unique(self.labels))

    @cached_property
    def numbers(self) -> tuple[np.ndarray, ...]:
        """Samples and frames: numbers as they are, categories as ordinal codes, NaN where missing."""
        coded: list[list[np.ndarray]] = [[] for _ in range(1 + len(self.frames))]
        for name in self.samples.columns:
            for frame, columns in zip((self.samples, *self.frames), coded, strict=True):
                if pd.api.types.is_numeric_dtype(self.samples[name]):
                    columns.append(frame[name].to_numpy(float))
                else:
                    known = pd.Index(sorted(self.samples[name].dropna().unique()))
                    codes = known.get_indexer(frame[name]).astype(float)
                    columns.append(np.where(codes < 0, np.nan, codes))
        return tuple(np.column_stack(columns) for columns in coded)

    @cached_property
    def filled(self) -> tuple[np.ndarray, ...]:
        """The numbers with medians where values are missing, and a column that says so."""
        holes = np.isnan(self.numbers[0]).any(axis=0)
        medians = np.nanmedian(self.numbers[0], axis=0)
        return tuple(
            np.hstack([np.where(np.isnan(part), medians, part), np.isnan(part)[:, holes]])
            for part in self.numbers
        )

    @cached_property
    def bits(self) -> tuple[np.ndarray, ...]:
        """Thresholds at quantiles, common categories and missingness as 0/1 columns."""
        columns: list[list[np.ndarray]] = [[] for _ in range(1 + len(self.frames))]

        def add(test: Callable[[pd.Series], np.ndarray], name: str) -> None:
            for frame, own in zip((self.samples, *self.frames), columns, strict=True):
                own.append(np.asarray(test(frame[name])))

        for name in self.samples.columns:
            column = self.samples[name]
            if pd.api.types.is_numeric_dtype(column):
                cuts = np.unique(column.quantile(np.linspace(0, 1, MAX_THRESHOLDS + 2)[1:-1]))
                for cut in cuts:
                    add(lambda values, cut=cut: values > cut, name)
            else:
                for value in column.value_counts().index[:MAX_CATEGORIES]:
                    add(lambda values, value=value: values == value, name)
            if column.isna().any():
                add(lambda values: values.isna(), name)
        stacked = tuple(np.column_stack(own).astype(np.int32) for own in columns)
        varies = stacked[0].min(axis=0) < stacked[0].max(axis=0)
        return tuple(part[:, varies] for part in stacked)


Fit: TypeAlias = tuple[int, list[np.ndarray]]
"""Literals to read, and the decisions about each frame."""


def fit_tree(data: PeerData) -> Iterator[Fit]:
    """scikit-learn's tree."""
    from sklearn.tree import DecisionTreeClassifier

    samples, *frames = data.numbers
    for size in SIZES:
        for criterion in ("gini", "entropy"):
            tree = DecisionTreeClassifier(max_leaf_nodes=size + 1, criterion=criterion, random_state=0)
            tree.fit(samples, data.labels)
            yield int(tree.tree_.node_count // 2), [tree.predict(frame) for frame in frames]


def fit_stumps(data: PeerData) -> Iterator[Fit]:
    """scikit-learn's gradient boosting with one split a tree; a split that comes again is read once."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    samples, *frames = data.numbers
    for rate in (0.3, 0.8):
        model = HistGradientBoostingClassifier(
            learning_rate=rate, max_leaf_nodes=2, max_iter=STUMP_ROUNDS, early_stopping=False
        )
        model.fit(samples, data.labels)
        stages = zip(*(model.staged_predict(frame) for frame in frames), strict=True)
        splits: set[tuple[int, float]] = set()
        for stumps, decisions in zip(model._predictors, stages, strict=True):
            splits |= {(int(root["feature_idx"]), float(root["num_threshold"])) for root in _roots(stumps)}
            if len(splits) > max(SIZES):
                break
            yield len(splits), list(decisions)


def _roots(stumps: list) -> list:
    """The root of each stump that has a split."""
    return [stump.nodes[0] for stump in stumps if not stump.nodes[0]["is_leaf"]]


def fit_figs(data: PeerData) -> Iterator[Fit]:
    """FIGS of imodels: a sum of few trees."""
    from imodels import FIGSClassifier

    if data.classes != 2:
        return
    samples, *frames = data.filled
    names = np.unique(data.labels)
    for size in FIGS_SIZES:
        model = FIGSClassifier(max_rules=size, random_state=0)
        model.fit(samples, (data.labels == names[1]).astype(int))
        yield int(model.complexity_), [names[model.predict(frame).astype(int)] for frame in frames]


def fit_ripper(data: PeerData) -> Iterator[Fit]:
    """RIPPER of wittgenstein: rules for the rarer class."""
    from wittgenstein import RIPPER

    if data.classes != 2:
        return
    names, counts = np.unique(data.labels, return_counts=True)
    rare, other = names[counts.argmin()], names[counts.argmax()]
    samples, labels = data.samples[:SLOW_SAMPLES], data.labels[:SLOW_SAMPLES]
    for size in (4, 13, 32):
        model = RIPPER(max_total_conds=size, random_state=0)
        model.fit(samples, y=labels == rare, pos_class=True)
        literals = sum(len(rule.conds) for rule in model.ruleset_.rules)
        yield literals, [np.where(model.predict(frame), rare, other) for frame in data.frames]


def fit_streed(data: PeerData) -> Iterator[Fit]:
    """STreeD: optimal trees over binary features."""
    from pystreed import STreeDClassifier

    samples, *frames = data.bits
    names, codes = np.unique(data.labels, return_inverse=True)
    for depth, nodes in STREED_SIZES:
        model = STreeDClassifier(max_depth=depth, max_num_nodes=nodes, time_limit=SLOW_SECONDS)
        try:
            model.fit(samples[:SLOW_SAMPLES], codes[:SLOW_SAMPLES])
        except RuntimeError:  # out of time
            return
        yield nodes, [names[model.predict(frame)] for frame in frames]


def fit_fasterrisk(data: PeerData) -> Iterator[Fit]:
    """FasterRisk: cards with points between -5 and 5 over binary features."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    if data.classes != 2:
        return
    samples, *frames = data.bits
    names = np.unique(data.labels)
    signs = np.where(data.labels == names[1], 1.0, -1.0)[: SLOW_SAMPLES // 2]
    for size in (2, 4, 8, 13):
        optimiser = RiskScoreOptimizer(samples[: SLOW_SAMPLES // 2].astype(float), signs, k=size)
        optimiser.optimize()
        multiplier, intercept, points = optimiser.get_models(model_index=0)
        card = RiskScoreClassifier(multiplier, intercept, points)
        decisions = [names[(card.predict(frame.astype(float)) > 0).astype(int)] for frame in frames]
        yield int((points != 0).sum()), decisions


PEERS: dict[str, Callable[[PeerData], Iterator[Fit]]] = {
    "scikit-learn's tree": fit_tree,
    "boosted stumps": fit_stumps,
    "FIGS": fit_figs,
    "RIPPER": fit_ripper,
    "STreeD": fit_streed,
    "FasterRisk": fit_fasterrisk,
}
