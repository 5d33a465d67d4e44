"""Reading what a scikit-learn pipeline does with columns before its classifier: imputing and scaling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.network import Matrix, ReluNet, Vector, refuse_changed, unprovable

SCALING_TERMS = 6
"""Roundings that scaling adds to each product of the first layer."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """What happens to the columns before a classifier reads them.

    The classifier's input is scale·v + shift, where v are the columns, missing values filled, followed
    by an indicator of missingness for some columns.

    Parameters
    ----------
    fills
        What each column's missing value is replaced by; NaN where it is left missing, (columns,).
    indicators
        The columns with an indicator.
    scale, shift
        Of each input, (columns + indicators,).

    """

    fills: Vector
    indicators: tuple[int, ...]
    scale: Vector
    shift: Vector

    @classmethod
    def none(cls, columns: int) -> Preprocessing:
        """Columns are read as they are."""
        return cls(np.full(columns, np.nan), (), np.ones(columns), np.zeros(columns))

    @property
    def scales(self) -> bool:
        """Whether any input is scaled or shifted."""
        return bool((self.scale != 1).any() or (self.shift != 0).any())

    def fill(self, values: Matrix) -> Matrix:
        """Rows with missing values filled, indicators appended and nothing scaled, (k, inputs)."""
        missing: Bools = np.isnan(values)
        filled = np.where(missing, self.fills, values)
        return np.concatenate([filled, missing[:, list(self.indicators)].astype(np.float64)], axis=1)

    def fold_into(self, net: ReluNet) -> tuple[ReluNet, Vector]:
        """The network of unscaled inputs, and the magnitudes that scaling adds to its first sums."""
        weights, biases = net.weights[0], net.biases[0]
        first = weights * self.scale, biases + weights @ self.shift
        folded = replace(net, weights=(first[0], *net.weights[1:]), biases=(first[1], *net.biases[1:]))
        return folded, np.abs(weights) @ np.abs(self.shift) + np.abs(biases)


def read_pipeline(predictor: Predictor, columns: int) -> tuple[Predictor, Preprocessing]:
    """Split a pipeline into what happens to the columns, nothing for other models, and the classifier."""
    from sklearn.pipeline import Pipeline

    before = Preprocessing.none(columns)
    model = predictor.source
    if type(model) is not Pipeline:
        return predictor, before
    refuse_changed(model, "it", predictor)
    for name, step in model.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        layer = f"its step {name} ({type(step).__name__})"
        refuse_changed(step, layer, predictor)
        before = _add_step(before, step, layer, predictor)
    return replace(predictor, source=model.steps[-1][1]), before


def _add_step(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    if type(step) is SimpleImputer:
        return _add_imputer(before, step, layer, predictor)
    ones, zeros = np.ones(len(before.scale)), np.zeros(len(before.scale))
    if type(step) in (StandardScaler, RobustScaler):
        middle = step.mean_ if type(step) is StandardScaler else step.center_
        centred = step.with_mean if type(step) is StandardScaler else step.with_centering
        scale = ones if step.scale_ is None else 1 / step.scale_
        shift = -middle * scale if centred else zeros
    elif type(step) is MinMaxScaler and not step.clip:
        scale, shift = step.scale_, step.min_
    elif type(step) is MaxAbsScaler and not getattr(step, "clip", False):
        scale, shift = 1 / step.scale_, zeros
    else:
        raise unprovable(predictor, f"{layer} is not understood")
    if before.scales:
        raise unprovable(predictor, f"{layer} scales what was scaled before, which is not read")
    if not (np.isfinite(scale).all() and np.isfinite(shift).all() and (scale > 0).all()):
        raise unprovable(predictor, f"{layer} has scales that are no positive numbers")
    return replace(before, scale=np.asarray(scale, np.float64), shift=np.asarray(shift, np.float64))


def _add_imputer(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    if before.scales or before.indicators or not np.isnan(before.fills).all():
        raise unprovable(predictor, f"{layer} comes after another step, which is not read")
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise unprovable(predictor, f"{layer} takes {step.missing_values!r} for missing, and proofs take NaN")
    try:
        fills = np.asarray(step.statistics_, np.float64)
    except (TypeError, ValueError):
        fills = np.full(len(before.fills), np.nan)
    if len(fills) != len(before.fills) or not np.isfinite(fills).all():
        raise unprovable(predictor, f"{layer} fills in what are no numbers, or drops columns")
    indicators: tuple[int, ...] = ()
    if step.add_indicator:
        indicators = tuple(int(column) for column in step.indicator_.features_)
    width = len(fills) + len(indicators)
    return Preprocessing(fills, indicators, np.ones(width), np.zeros(width))
