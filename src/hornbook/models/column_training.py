"""Training of our network over the columns of a table, for those who have no model yet.

Sizes, weight decay and the number of epochs are chosen by the loss on rows that a training does
not see, in cross-validation; then one network is trained on all rows that are not held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hornbook.errors import HornbookError
from hornbook.models.column_network import (
    ColumnInputs,
    ColumnNetwork,
    Floats64,
    Layer,
    LevelInputs,
    NumericInputs,
    read_numeric,
)
from hornbook.models.perceptron import Perceptron
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

Codes: TypeAlias = NDArray[np.intp]

HIDDEN_SIZES = ((16,), (32, 16))
WEIGHT_DECAYS = (0.001, 1.0)
"""Candidates for the network; a decay is scikit-learn's `alpha`."""

LEARNING_RATE, BATCH_SIZE = 0.01, 64
MAX_EPOCHS, MAX_IDLE_EPOCHS = 100, 10
"""A training stops after so many epochs, or so many without a lower loss on unseen rows."""

HELD_OUT_PARTS, VALIDATION_PARTS, MIN_ROWS = 5, 3, 10
"""One row in five is held out; the candidates are validated on each of three parts of the others."""

MAX_TRAINING_ROWS, MAX_VALIDATION_ROWS = 20_000, 2_000
"""Of more rows a random part is trained on, and a smaller one chooses among the candidates."""

LABEL_KINDS = {str: "text", bool: "truth values", int: "numbers", float: "numbers"}
MAX_NUMERIC_CLASSES = 20
MAX_LEVELS, MIN_LEVEL_ROWS = 32, 2
"""The most frequent levels of a column get inputs, unless fewer rows than this have them."""

NUMERIC_OBJECTS = frozenset({"boolean", "decimal", "floating", "integer", "mixed-integer-float"})
"""Kinds of values in a column of Python objects that are numbers."""

LEAST_PROBABILITY = 1e-7
"""Smaller probabilities count as this one in a loss, which stays finite."""


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A trained network, and its accuracy on held-out rows."""

    network: ColumnNetwork
    accuracy: Share


@dataclass(frozen=True)
class NetworkPlan:
    """The hidden layers, weight decay and epochs of a training, and their loss in cross-validation."""

    hidden_sizes: tuple[int, ...]
    weight_decay: float
    epochs: int
    validation_loss: float


def train_column_network(frame: pd.DataFrame, labels: Any, seed: int = 0) -> TrainedNetwork:
    """Train a network to predict a label from the columns of a table; a fifth of the rows is held out.

    The same rows and seed give the same network. Columns in which all training rows are alike are
    not read. Columns with missing values get an input that says so.

    Parameters
    ----------
    frame
        The columns: numbers, truth values, text or categories, with missing values.
    labels
        The label of each row: text, truth values, or numbers of which there are few. Rows without
        a label are left out.
    seed
        The seed of held-out rows, the order of rows and initial weights.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": np.arange(20.0, 80.0), "sex": ["f", "m", None] * 20})
    >>> exceptions = np.arange(60) % 6 == 0
    >>> labels = np.where((frame["age"] > 50) ^ exceptions, "dies", "lives")
    >>> trained = train_column_network(frame, labels)
    >>> trained.network.predict(frame.iloc[[0, 59]])
    array(['lives', 'dies'], dtype='<U5')
    >>> trained.accuracy.size
    12

    """
    _refuse_columns(frame)
    codes, classes = _read_labels(labels, len(frame))
    rng = generator(seed, Purpose.NETWORK_TRAINING)
    labelled = np.flatnonzero(codes >= 0)
    if len(labelled) < MIN_ROWS:
        raise HornbookError(f"a network is trained on at least {MIN_ROWS} labelled rows; got {len(labelled)}")
    parts = _deal_parts(codes[labelled], HELD_OUT_PARTS, rng)
    test, rest = labelled[parts == HELD_OUT_PARTS - 1], labelled[parts < HELD_OUT_PARTS - 1]
    chosen = rng.permutation(rest)[:MAX_TRAINING_ROWS]
    network = _fit_network(frame.iloc[chosen], codes[chosen], classes, rng)
    accuracy = Share.where(network.predict(frame.iloc[test]) == network.classes_[codes[test]])
    held_out = {"accuracy": accuracy.estimate, "rows": accuracy.size}
    provenance = {"seed": seed, "rows_to_train_on": len(rest), **network.provenance, "held_out": held_out}
    return TrainedNetwork(replace(network, provenance=provenance), accuracy)


def _refuse_columns(frame: pd.DataFrame) -> None:
    """Raise unless every column has a name of its own."""
    if strange := [name for name in frame.columns if not isinstance(name, str)]:
        raise HornbookError(
            f"a network reads columns by their names, and {strange[0]!r} is not text; name them"
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise HornbookError(f"there are two columns {twice!r}; give each a name of its own")


def _read_labels(labels: Any, rows: int) -> tuple[Codes, tuple[Any, ...]]:
    """The number of each row's class, -1 where the label is missing; and the classes in order."""
    values = pd.Series(labels).astype(object)
    if len(values) != rows:
        raise HornbookError(f"there are {rows} rows, but {len(values)} labels")
    classes = [_plain(value) for value in values.dropna().unique()]
    kinds = {_label_kind(value) for value in classes}
    if len(kinds) > 1 or not kinds <= set(LABEL_KINDS.values()):
        raise HornbookError(f"labels are text, truth values or numbers, not {' and '.join(sorted(kinds))}")
    if len(classes) < 2:
        raise HornbookError(f"a network tells two or more classes apart, but the label is always {classes}")
    if kinds == {"numbers"} and len(classes) > MAX_NUMERIC_CLASSES:
        raise HornbookError(
            f"the label has {len(classes)} different numbers, and a network predicts at most "
            f"{MAX_NUMERIC_CLASSES} as classes; make it a question first, e.g. label > "
            f"{np.median(classes):g}"
        )
    classes.sort()
    return pd.Index(classes, dtype=object).get_indexer(values), tuple(classes)


def _label_kind(value: Any) -> str:
    """The kind of a label in words; the name of its type if a network cannot predict it."""
    return LABEL_KINDS.get(type(value), type(value).__name__)


def _plain(value: Any) -> Any:
    """A value of NumPy's as Python's, which JSON knows."""
    return value.item() if isinstance(value, np.generic) else value


def _deal_parts(codes: Codes, parts: int, rng: np.random.Generator) -> Codes:
    """The number of each row's part: parts of one size, each with its share of every class.

    Rows of the rarest classes go to the first parts, so that the last one, which is held out, has
    none of a class that only it would have, unless there are many of them.
    """
    order = rng.permutation(len(codes))
    frequencies = np.bincount(codes)[codes]
    order = order[np.lexsort((codes[order], frequencies[order]))]
    numbers = np.empty(len(codes), np.intp)
    numbers[order] = np.arange(len(codes)) % parts
    return numbers


def _describe_columns(frame: pd.DataFrame) -> tuple[ColumnInputs, ...]:
    """The inputs for each column in which the rows differ."""
    columns = tuple(column for name in frame.columns if (column := _describe_column(frame[name], name)))
    if not columns:
        raise HornbookError("there is nothing to learn from: every column has the same value in all rows")
    return columns


def _describe_column(values: pd.Series[Any], name: str) -> ColumnInputs | None:
    """The inputs for a column; None if all rows are alike."""
    known = values.notna()
    missing = not known.all()
    if _is_numeric(values):
        mean, deviation = _moments(read_numeric(values, name))
        if deviation > 0:
            return NumericInputs(name, mean, deviation, missing)
        levels: list[Any] = []
    else:
        levels = _frequent_levels(values, name)
    if not levels and not (missing and known.any()):
        return None
    return LevelInputs(name, tuple(levels), missing)


def _is_numeric(values: pd.Series[Any]) -> bool:
    """Whether a column holds numbers or truth values."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return False
    if values.dtype == object:
        return pd.api.types.infer_dtype(values, skipna=True) in NUMERIC_OBJECTS
    return pd.api.types.is_numeric_dtype(values)


def _moments(numbers: Floats64) -> tuple[float, float]:
    """The mean and the standard deviation of the finite numbers; 0 and 0 of equal ones."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite) or finite.min() == finite.max():
        return 0.0, 0.0
    unit = np.abs(finite).max()  # squares of large numbers would be infinite
    return float((finite / unit).mean() * unit), float((finite / unit).std() * unit)


def _frequent_levels(values: pd.Series[Any], name: str) -> list[Any]:
    """The levels that get an input; none if there is only one."""
    try:
        counts = Counter(map(_plain, values.dropna().astype(object)))
    except TypeError:
        raise HornbookError(f"column {name!r} holds lists or the like; leave it out") from None
    if len(counts) < 2:
        return []
    ranked = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return [level for level, count in ranked[:MAX_LEVELS] if count >= MIN_LEVEL_ROWS]


def _fit_network(
    frame: pd.DataFrame, codes: Codes, classes: tuple[Any, ...], rng: np.random.Generator
) -> ColumnNetwork:
    """Train a network on all rows of a frame, with the plan that does best in cross-validation."""
    columns = _describe_columns(frame)
    rows = np.concatenate([column.encode(frame[column.column]) for column in columns]).T
    with threadpool_limits(1):  # small products are slower on several threads, and round otherwise
        plan = _choose_plan(rows, codes, len(classes), rng)
        *_, model = _train_epochs(plan, rows, codes, len(classes), rng)
    layers = tuple(
        Layer(weights.T, biases) for weights, biases in zip(model.weights, model.biases, strict=True)
    )
    provenance = {"rows": len(rows), **asdict(plan), "hidden_sizes": list(plan.hidden_sizes)}  # as JSON
    return ColumnNetwork(columns, layers, classes, provenance)


def _choose_plan(rows: Floats64, codes: Codes, classes: int, rng: np.random.Generator) -> NetworkPlan:
    """The candidate with the least loss in cross-validation, and how many epochs it needed."""
    rows, codes = rows[:MAX_VALIDATION_ROWS], codes[:MAX_VALIDATION_ROWS]
    parts = _deal_parts(codes, VALIDATION_PARTS, rng)
    plans = []
    for sizes, decay in product(HIDDEN_SIZES, WEIGHT_DECAYS):
        plan = NetworkPlan(sizes, decay, MAX_EPOCHS, np.inf)
        ends = []
        for part in range(VALIDATION_PARTS):
            models = _train_epochs(plan, rows[parts != part], codes[parts != part], classes, rng)
            ends.append(_least_loss(models, rows[parts == part], codes[parts == part]))
        losses, epochs = zip(*ends, strict=True)
        plans.append(NetworkPlan(sizes, decay, round(float(np.mean(epochs))), float(np.mean(losses))))
    return min(plans, key=lambda plan: plan.validation_loss)


def _train_epochs(
    plan: NetworkPlan, rows: Floats64, codes: Codes, classes: int, rng: np.random.Generator
) -> Iterator[Perceptron]:
    """Train a network; yield it after each epoch."""
    model = Perceptron(
        rows,
        codes,
        classes,
        plan.hidden_sizes,
        plan.weight_decay,
        LEARNING_RATE,
        BATCH_SIZE,
        seed=int(rng.integers(2**31)),
    )
    for _ in range(plan.epochs):
        model.train_epoch()
        yield model


def _least_loss(models: Iterator[Perceptron], rows: Floats64, codes: Codes) -> tuple[float, int]:
    """The least loss on unseen rows, and after how many epochs; stops when it no longer falls."""
    least, best = np.inf, 0
    for epoch, model in enumerate(models, start=1):
        probabilities = model.probabilities(rows)[np.arange(len(codes)), codes]
        loss = -float(np.log(probabilities.clip(LEAST_PROBABILITY)).mean())
        if loss < least:
            least, best = loss, epoch
        elif epoch - best >= MAX_IDLE_EPOCHS:
            break
    return least, best
