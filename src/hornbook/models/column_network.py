"""Our own network over the columns of a table: how columns become inputs, layers, decisions, files.

A row's decision depends on that row alone, to the last digit: products are added in the order of
the inputs, for every row the same, and not by a matrix product, which rounds as the batch lies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.storage import write_file

Floats64: TypeAlias = NDArray[np.float64]

MAX_DEVIATIONS = 5.0
"""Numbers further from the mean than so many standard deviations are read as if they were so far."""

ROWS_PER_BLOCK = 1 << 10
"""Number of rows evaluated at a time, so that the sums of a layer stay in the cache."""

FILE_FORMAT = "hornbook column network 1"


@dataclass(frozen=True)
class NumericInputs:
    """The inputs for a column of numbers: the standardised value, and perhaps whether it is missing.

    A missing value is read as the mean. Truth values are the numbers 0 and 1.

    Parameters
    ----------
    column
        The name of the column.
    mean, deviation
        The mean and the standard deviation of the numbers it was made for.
    missing
        Whether there is an input that is 1 where the value is missing.

    Examples
    --------
    >>> NumericInputs("age", mean=50, deviation=10, missing=True).encode(pd.Series([60, None]))
    array([[1., 0.],
           [0., 1.]])

    """

    kind: ClassVar[str] = "numeric"
    column: str
    mean: float
    deviation: float
    missing: bool

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.deviation) and self.deviation > 0):
            raise HornbookError(
                f"column {self.column!r} has the mean {self.mean} and the standard deviation "
                f"{self.deviation}; both are finite, and the deviation is positive"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each input."""
        return (self.column, f"{self.column} is missing") if self.missing else (self.column,)

    def encode(self, values: pd.Series[Any]) -> Floats64:
        """The inputs for the values of the column, shape (inputs, rows)."""
        numbers = read_numeric(values, self.column)
        known = ~np.isnan(numbers)
        with np.errstate(over="ignore"):  # infinite, and then the largest deviation
            deviations = (np.where(known, numbers, self.mean) - self.mean) / self.deviation
        inputs = [deviations.clip(-MAX_DEVIATIONS, MAX_DEVIATIONS)]
        return np.array([*inputs, ~known] if self.missing else inputs, np.float64)


@dataclass(frozen=True)
class LevelInputs:
    """The inputs for a column of categories: one for each level, and perhaps whether it is missing.

    Of a level that is not among them all inputs are 0.

    Parameters
    ----------
    column
        The name of the column.
    levels
        The values that have an input: text, truth values or numbers.
    missing
        Whether there is an input that is 1 where the value is missing.

    Examples
    --------
    >>> LevelInputs("sex", ("f", "m"), missing=False).encode(pd.Series(["m", "f", None, "?"]))
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.]])

    """

    kind: ClassVar[str] = "levels"
    column: str
    levels: tuple[Any, ...]
    missing: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if strange := [level for level in self.levels if not isinstance(level, str | bool | int | float)]:
            raise HornbookError(
                f"column {self.column!r} holds {strange[0]!r}, a {type(strange[0]).__name__}; a network "
                "reads numbers, text and truth values: leave the column out, or make it one of them"
            )
        if len(set(self.levels)) < len(self.levels):
            raise HornbookError(f"column {self.column!r} has a level twice: {self.levels}")

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each input."""
        names = tuple(f"{self.column} = {level}" for level in self.levels)
        return (*names, f"{self.column} is missing") if self.missing else names

    def encode(self, values: pd.Series[Any]) -> Floats64:
        """The inputs for the values of the column, shape (inputs, rows)."""
        known = values.notna().to_numpy(np.bool_)
        levels = pd.Index(self.levels, dtype=object).get_indexer(values.astype(object))  # -1: another
        inputs = [(levels == level) & known for level in range(len(self.levels))]
        return np.array([*inputs, ~known] if self.missing else inputs, np.float64)


ColumnInputs: TypeAlias = NumericInputs | LevelInputs
INPUT_KINDS = {kind.kind: kind for kind in (NumericInputs, LevelInputs)}


def read_numeric(values: pd.Series[Any], column: str) -> Floats64:
    """A column as numbers, NaN where a value is missing."""
    try:
        if not pd.api.types.is_numeric_dtype(values):
            values = pd.to_numeric(values.astype(object))
        numbers: Floats64 = values.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise HornbookError(f"column {column!r} holds numbers for this network: {error}") from None
    return numbers


class Layer(NamedTuple):
    """The weights of a layer, shape (outputs, inputs), and its biases, shape (outputs,)."""

    weights: Floats64
    biases: Floats64


@dataclass(frozen=True, eq=False)
class ColumnNetwork:
    """A classifier of table rows: a network with ReLU units over standardised columns and categories.

    It reads frames as they are, missing values included, and ignores columns that it does not
    know. It has what scikit-learn's classifiers have: `classes_`, `feature_names_in_`, `predict`
    and `predict_proba`.

    Parameters
    ----------
    columns
        The inputs for each column, in order.
    layers
        Linear layers, with ReLU between them. The last has one output for each class; of two
        classes it may have a single one, the log-odds of the second.
    classes
        The labels: text, truth values or numbers.
    provenance
        How the network was trained, as JSON.

    Examples
    --------
    >>> columns = NumericInputs("age", 50, 10, missing=False), LevelInputs("sex", ("f", "m"), missing=False)
    >>> layer = Layer(np.array([[1.0, 0.5, -0.5]]), np.array([0.0]))
    >>> network = ColumnNetwork(columns, (layer,), ("young", "old"))
    >>> rows = pd.DataFrame({"age": [60, 51, None], "sex": ["m", "m", "f"]})
    >>> network.predict(rows)
    array(['old', 'young', 'old'], dtype='<U5')
    >>> network.predict_proba(rows).round(2)
    array([[0.38, 0.62],
           [0.6 , 0.4 ],
           [0.38, 0.62]])

    """

    columns: tuple[ColumnInputs, ...]
    layers: tuple[Layer, ...]
    classes: tuple[Any, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        layers = tuple(Layer(*(np.array(part, np.float64) for part in layer)) for layer in self.layers)
        for part in (part for layer in layers for part in layer):
            part.flags.writeable = False
        object.__setattr__(self, "layers", layers)
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        """Raise unless columns, layers and classes fit together."""
        if len(set(self.feature_names_in_)) < len(self.columns):
            raise HornbookError(f"a network reads every column once, not {list(self.feature_names_in_)}")
        if len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            raise HornbookError(f"a network tells two or more classes apart, not {list(self.classes)}")
        inputs = len(self.input_names)
        for number, (weights, biases) in enumerate(self.layers):
            if weights.shape != (*biases.shape, inputs) or biases.ndim != 1:
                raise HornbookError(
                    f"layer {number} has weights of shape {weights.shape} and biases of shape "
                    f"{biases.shape}, but {inputs} inputs"
                )
            if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
                raise HornbookError(f"layer {number} has weights that are no finite numbers")
            inputs = len(biases)
        allowed = (1, 2) if len(self.classes) == 2 else (len(self.classes),)
        if not self.layers or inputs not in allowed:
            raise HornbookError(f"the last layer has {inputs} outputs for {len(self.classes)} classes")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, as scikit-learn has them."""
        return np.array(self.classes)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns that the network reads."""
        return np.array([column.column for column in self.columns], object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the network reads."""
        return len(self.columns)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The name of each input of the first layer, such as `sex = f` or `age is missing`."""
        return tuple(name for column in self.columns for name in column.names)

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """The label of each row: the class with the largest log-odds, the first of equals."""
        labels: NDArray[Any] = self.classes_[self.log_odds(frame).argmax(axis=1)]
        return labels

    def predict_proba(self, frame: pd.DataFrame) -> Floats64:
        """The probability of each class for each row, shape (rows, classes)."""
        odds = self.log_odds(frame)
        powers = np.exp(odds - odds.max(axis=1, keepdims=True))
        probabilities: Floats64 = powers / powers.sum(axis=1, keepdims=True)
        return probabilities

    def log_odds(self, frame: pd.DataFrame) -> Floats64:
        """The log-odds of each class, shape (rows, classes); of two classes perhaps against the first."""
        outputs = self.apply_layers(self.encode(frame))
        if outputs.shape[1] < len(self.classes):
            outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=1)
        return outputs

    def encode(self, frame: pd.DataFrame) -> Floats64:
        """The inputs of the first layer for each row, shape (rows, inputs), named by `input_names`."""
        if not isinstance(frame, pd.DataFrame):
            raise HornbookError(
                f"the network reads a pandas DataFrame with named columns, not a {type(frame).__name__}"
            )
        if lost := [name for name in self.feature_names_in_ if name not in frame.columns]:
            raise HornbookError(f"the network reads a column {lost[0]!r}, which the table does not have")
        parts = [column.encode(frame[column.column]) for column in self.columns]
        return np.concatenate([np.empty((0, len(frame))), *parts]).T

    def apply_layers(self, inputs: Floats64) -> Floats64:
        """The outputs of the last layer for encoded rows, shape (rows, 1) or (rows, classes)."""
        outputs = np.empty((len(inputs), len(self.layers[-1].biases)))
        for start in range(0, len(inputs), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            values = inputs[block].T  # (units, rows)
            for number, layer in enumerate(self.layers):
                values = _add_in_order(layer, values.clip(0) if number else values)
            outputs[block] = values.T
        return outputs

    def save(self, path: str | Path) -> None:
        """Save the network as an `.npz` file of arrays; equal networks make equal files."""
        if Path(path).suffix != ".npz":
            raise HornbookError(f"a column network is saved as .npz, not as {Path(path).name}")
        write_file(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        description = {
            "format": FILE_FORMAT,
            "columns": [{"kind": column.kind, **asdict(column)} for column in self.columns],
            "classes": self.classes,
            "provenance": self.provenance,
        }
        arrays: dict[str, Any] = {"description": np.array(json.dumps(description))}
        for number, layer in enumerate(self.layers):
            arrays |= {f"weights_{number}": layer.weights, f"biases_{number}": layer.biases}
        content = BytesIO()
        np.savez(content, **arrays)
        return content.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> ColumnNetwork:
        """Load a network that `save` wrote; other files and damaged ones are refused."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                if (broken := arrays.zip.testzip()) is not None:  # arrays cut short are not compared
                    raise HornbookError(f"{broken} is not as it was written")
                content = {name: arrays[name] for name in arrays.files}
            description = json.loads(str(content.pop("description")))
            if description["format"] != FILE_FORMAT:
                raise HornbookError(f"its format is {description['format']!r}, not {FILE_FORMAT!r}")
            columns = tuple(
                INPUT_KINDS[about.pop("kind")](**about) for about in map(dict, description["columns"])
            )
            layers = tuple(
                Layer(content.pop(f"weights_{number}"), content.pop(f"biases_{number}"))
                for number in range(len(content) // 2)
            )
            return cls(columns, layers, tuple(description["classes"]), description["provenance"])
        except Exception as error:  # zip files are damaged in many ways
            reason = str(error) if isinstance(error, HornbookError) else f"{type(error).__name__}: {error}"
            raise HornbookError(f"{path} is no column network, or it is damaged: {reason}") from error


def _add_in_order(layer: Layer, inputs: Floats64) -> Floats64:
    """The sums of a layer, shape (outputs, rows), for inputs of shape (inputs, rows)."""
    sums = np.repeat(layer.biases[:, None], inputs.shape[1], axis=1)
    products = np.empty_like(sums)
    for weights, values in zip(layer.weights.T, inputs, strict=True):
        sums += np.multiply(weights[:, None], values, out=products)
    return sums
