"""Synthetic patients shaped like the HCC survival dataset; none of them is real."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.hcc_features import COMPLETE, FEATURES, LABEL, PATIENTS, SURVIVORS, Feature
from hornbook.data.table import Table

SEED = 165


def hcc_synthetic(seed: int = SEED) -> Table:
    """A synthetic table with the features, kinds, ranges, holes and class balance of `hcc`.

    Every patient has a hidden severity that moves some of the values and, with chance,
    decides who survives. Each column has as many holes as the published one, eight rows have
    none, and patients differ in how many they have.

    Examples
    --------
    >>> table = hcc_synthetic()
    >>> table.name, table.frame.shape, table.complete, round(table.missing, 4)
    ('hcc-synthetic', (165, 50), 8, 0.1022)

    """
    rng = np.random.default_rng(seed)
    severity = rng.standard_normal(PATIENTS)
    columns = {feature.name: _values(feature, severity, rng) for feature in FEATURES}
    frame = pd.DataFrame(columns)
    fate = severity + 0.5 * rng.standard_normal(PATIENTS)
    frame[LABEL] = (fate.argsort().argsort() < SURVIVORS).astype(float)
    frame[list(columns)] = frame[list(columns)].mask(_holes(rng))
    kinds = {feature.name: feature.kind for feature in FEATURES}
    return Table(frame, {**kinds, LABEL: "binary"}, "hcc-synthetic", LABEL)


def _values(feature: Feature, severity: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """One value a patient: a rank that follows the severity, looked up in the feature's figures."""
    own = rng.standard_normal(PATIENTS)
    follows = feature.severity * severity + np.sqrt(1 - feature.severity**2) * own
    rank = np.array([NormalDist().cdf(value) for value in follows])
    if feature.kind == "binary":
        return (rank > 1 - feature.figures[0]).astype(np.float64)
    # between two quartiles evenly on a logarithmic scale: most of these figures have long tails
    scaled = np.interp(rank, np.linspace(0, 1, len(feature.figures)), np.log1p(feature.figures))
    rounded: NDArray[np.float64] = np.expm1(scaled).round(feature.decimals)
    return rounded.clip(feature.figures[0], feature.figures[-1])


def _holes(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which values to hide: in each column as many as published, in some rows more than in others."""
    carelessness = rng.gamma(4.0, size=PATIENTS)
    whole = rng.permutation(PATIENTS)[:COMPLETE]
    carelessness[whole] = 0
    holes = np.zeros((PATIENTS, len(FEATURES)), np.bool_)
    for column, feature in enumerate(FEATURES):
        chosen = rng.choice(PATIENTS, feature.missing, replace=False, p=carelessness / carelessness.sum())
        holes[chosen, column] = True
    for row in np.setdiff1d(np.flatnonzero(~holes.any(axis=1)), whole):
        # complete by chance: it takes over a hole of the row that has most
        giver = holes.sum(axis=1).argmax()
        column = rng.choice(np.flatnonzero(holes[giver]))
        holes[[giver, row], column] = False, True
    return holes
