"""Reading how the columns of a table become the inputs of a classifier: imputing, levels and scaling.

That is what a scikit-learn pipeline does before its classifier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from hornbook.models import Predictor
from hornbook.proof.domain import is_missing
from hornbook.proof.network import Matrix, ReluNet, Vector, refuse_changed, unprovable

SCALING_TERMS = 12
"""Roundings that scaling adds to each product of the first layer."""


@dataclass(frozen=True)
class ValueInput:
    """The value of a column as an input: perhaps with a missing one replaced.

    Parameters
    ----------
    column
        The number of the column.
    fill
        What a missing value is replaced by; NaN if it is left missing.

    """

    column: int
    fill: Any = math.nan

    def encode(self, value: Any) -> float:
        """The input for a value."""
        return float(self.fill if is_missing(value) else value)


@dataclass(frozen=True)
class MissingInput:
    """An input that is 1 where a column has no value, else 0."""

    column: int

    def encode(self, value: Any) -> float:
        """The input for a value."""
        return float(is_missing(value))


@dataclass(frozen=True)
class LevelInput:
    """An input that is 1 where a column has a level, else 0; None and NaN are levels of their own.

    `fill` is what NaN, but not None, is replaced by, and `known` are the levels of the column, if the
    model fails on all others.
    """

    column: int
    level: Any
    fill: Any = math.nan
    known: tuple[Any, ...] | None = None

    def encode(self, value: Any) -> float:
        """The input for a value."""
        if isinstance(value, float) and math.isnan(value):
            value = self.fill
        if is_missing(value) and is_missing(self.level):
            return float(str(value) == str(self.level))
        return float(not is_missing(value) and value == self.level)


ColumnInput: TypeAlias = ValueInput | MissingInput | LevelInput
"""The way in which one column becomes one input."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """The steps between the columns of a row and a classifier, whose input is scale·v + shift.

    Parameters
    ----------
    inputs
        How each number of v follows from a column.
    scale, shift
        Of each input, (inputs,).
    is_sparse
        Whether the classifier is given them as a sparse matrix, without those that are zero.

    """

    inputs: tuple[ColumnInput, ...]
    scale: Vector
    shift: Vector
    is_sparse: bool = False

    @classmethod
    def of(cls, inputs: Sequence[ColumnInput], is_sparse: bool = False) -> Preprocessing:
        """Inputs that are not scaled."""
        return cls(tuple(inputs), np.ones(len(inputs)), np.zeros(len(inputs)), is_sparse)

    @property
    def known_levels(self) -> dict[int, tuple[Any, ...]]:
        """For each column in which the model fails on unknown levels, the levels that it knows."""
        by_level = (each for each in self.inputs if isinstance(each, LevelInput))
        return {each.column: each.known for each in by_level if each.known is not None}

    @property
    def scales(self) -> bool:
        """Whether any input is scaled or shifted."""
        return bool((self.scale != 1).any() or (self.shift != 0).any())

    def encode(self, rows: pd.DataFrame) -> Matrix:
        """The inputs of rows, not scaled, (k, inputs); the frame has the model's columns in its order.

        A model reads every missing value of a column of numbers as NaN, and others as they are written.
        """
        listed = [
            values.to_numpy(np.float64, na_value=math.nan).tolist()
            if is_numeric_dtype(values)
            else values.astype(object).tolist()
            for _, values in rows.items()
        ]
        encoded = [[each.encode(value) for value in listed[each.column]] for each in self.inputs]
        return np.array(encoded, np.float64).reshape(len(self.inputs), len(rows)).T

    def fold_into(self, net: ReluNet) -> tuple[ReluNet, Vector]:
        """The network of unscaled inputs, and the magnitudes that scaling adds to its first sums."""
        weights, biases = net.weights[0], net.biases[0]
        first = weights * self.scale, biases + weights @ self.shift
        folded = replace(net, weights=(first[0], *net.weights[1:]), biases=(first[1], *net.biases[1:]))
        return folded, np.abs(weights) @ np.abs(self.shift) + np.abs(biases)


def read_pipeline(predictor: Predictor, columns: int) -> tuple[Predictor, Preprocessing]:
    """Split a model into its classifier and the steps before it, if there are any."""
    from sklearn.pipeline import Pipeline

    before = Preprocessing.of([ValueInput(column) for column in range(columns)])
    model = predictor.source
    if type(model) is not Pipeline:
        return predictor, before
    refuse_changed(model, "it", predictor)
    for name, step in model.steps[:-1]:
        before = _add_step(before, step, name, predictor)
    return replace(predictor, source=model.steps[-1][1]), before


def _add_step(before: Preprocessing, step: Any, name: str, predictor: Predictor) -> Preprocessing:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    if step is None or (isinstance(step, str) and step == "passthrough"):
        return before
    layer = f"its step {name} ({type(step).__name__})"
    refuse_changed(step, layer, predictor)
    if type(step) is FunctionTransformer and step.func is None:
        return before
    if type(step) is Pipeline:
        for inner, part in step.steps:
            before = _add_step(before, part, f"{name}.{inner}", predictor)
        return before
    if type(step) is ColumnTransformer:
        return _add_transformer(before, step, layer, predictor)
    if type(step) is SimpleImputer:
        return _add_imputer(before, step, layer, predictor)
    if type(step) is OneHotEncoder:
        return _add_encoder(before, step, layer, predictor)
    return _add_scaler(before, step, layer, predictor)


def _add_scaler(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

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
        raise unprovable(predictor, f"{layer} is not supported")
    if before.scales:
        raise unprovable(
            predictor, f"{layer} scales what was scaled before, which the prover does not support"
        )
    if len(scale) != len(ones) or not (
        np.isfinite(scale).all() and np.isfinite(shift).all() and (scale > 0).all()
    ):
        raise unprovable(predictor, f"{layer} has scales that are not positive numbers, one for each input")
    return replace(before, scale=np.asarray(scale, np.float64), shift=np.asarray(shift, np.float64))


def _add_imputer(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    columns = _list_untouched(before, layer, predictor)
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise unprovable(predictor, f"{layer} takes {step.missing_values!r} for missing, and proofs take NaN")
    fills = np.asarray(step.statistics_).tolist()
    if len(fills) != len(columns) or any(fill is None or is_missing(fill) for fill in fills):
        raise unprovable(predictor, f"{layer} fills in what are not values, or drops columns")
    inputs: list[ColumnInput] = [
        ValueInput(column, fill) for column, fill in zip(columns, fills, strict=True)
    ]
    if step.add_indicator:
        inputs += [MissingInput(columns[place]) for place in step.indicator_.features_.tolist()]
    return Preprocessing.of(inputs)


def _add_encoder(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    if step.handle_unknown not in ("ignore", "error") or step.min_frequency or step.max_categories:
        raise unprovable(
            predictor, f"{layer} puts rare or unknown levels together, which the prover does not support"
        )
    _list_untouched(before, layer, predictor, filled=True)
    if len(step.categories_) != len(before.inputs):
        raise unprovable(predictor, f"{layer} encodes another number of columns than there are")
    dropped = [None] * len(before.inputs) if step.drop_idx_ is None else list(step.drop_idx_)
    inputs: list[ColumnInput] = []
    for own, categories, left_out in zip(before.inputs, step.categories_, dropped, strict=True):
        fill = own.fill if isinstance(own, ValueInput) else math.nan
        levels = np.asarray(categories).tolist()
        if len(levels) == 1 and left_out is not None:
            raise unprovable(
                predictor, f"{layer} drops the only level of a column, which the prover does not support"
            )
        known = tuple(levels) if step.handle_unknown == "error" else None
        for number, level in enumerate(levels):
            if number != left_out:
                inputs.append(LevelInput(own.column, level, fill, known))
    return Preprocessing.of(inputs, step.sparse_output)


def _add_transformer(before: Preprocessing, step: Any, layer: str, predictor: Predictor) -> Preprocessing:
    """The inputs of a ColumnTransformer: those of its parts side by side, each about columns of its own."""
    columns = _list_untouched(before, layer, predictor)
    if step.transformer_weights is not None or columns != list(range(step.n_features_in_)):
        raise unprovable(
            predictor,
            f"{layer} weighs its parts or comes after another step, which the prover does not support",
        )
    parts: list[Preprocessing] = []
    seen: set[int] = set()
    for name, part, _ in step.transformers_:
        chosen = [int(column) for column in step._transformer_to_input_indices[name]]
        if isinstance(part, str) and part == "drop":
            continue
        if not seen.isdisjoint(chosen):
            raise unprovable(predictor, f"{layer} reads a column twice, which the prover does not support")
        seen.update(chosen)
        inputs = Preprocessing.of([ValueInput(columns[column]) for column in chosen])
        parts.append(_add_step(inputs, part, name, predictor) if chosen else inputs)
        own = step.output_indices_[name]
        if own.stop - own.start != len(parts[-1].inputs):
            raise unprovable(predictor, f"{layer} makes another number of inputs of {name} than was read")
    return Preprocessing(
        tuple(each for part in parts for each in part.inputs),
        np.concatenate([np.zeros(0), *(part.scale for part in parts)]),
        np.concatenate([np.zeros(0), *(part.shift for part in parts)]),
        step.sparse_output_,  # decided when it was fitted, whatever rows it is given
    )


def _list_untouched(
    before: Preprocessing, layer: str, predictor: Predictor, filled: bool = False
) -> list[int]:
    """The columns of the inputs, if nothing was done to them, or no more than filling missing values."""
    plain = all(isinstance(each, ValueInput) and (filled or is_missing(each.fill)) for each in before.inputs)
    if before.scales or not plain:
        raise unprovable(predictor, f"{layer} comes after another step, which the prover does not support")
    return [each.column for each in before.inputs]
