"""Training of a classifier on the columns of a table, for those who have no model yet.

It is scikit-learn's gradient boosting: numbers are read as they are, missing ones too, and the frequent
levels of other columns each become an input that is 0 or 1, as a missing value of theirs does. Times are
read as days.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.tables import number_times
from hornbook.times import find_time_type

MIN_ROWS = 10
"""The fewest labelled rows that a classifier is trained on."""

PARTS = 5
"""The number of parts that the rows are dealt into; the last one is held out."""

ROUNDS, MAX_LEAVES, MAX_LEAF_ROWS, MIN_LEAF_ROWS = 100, 15, 20, 2
"""Trees of each class, the most leaves of a tree, and bounds on the rows of a leaf, of small tables a
twentieth: small trees do as well as large ones on most tables, and more can be proved of them."""

SEEDS = 1 << 32
"""How many different seeds scikit-learn takes."""

MAX_LEVELS, MIN_LEVEL_ROWS = 32, 2
"""The most frequent levels of a column get inputs, unless fewer rows than this have them."""

MAX_NUMERIC_CLASSES = 20
"""The most different numbers that a label may have."""

SCHEMA_FILE, ADDRESS = "schema.json", re.compile(r'(?<="__id__": )[0-9]+|(?<=": ")[0-9]+(?=\.npy")')
"""The file of a `.skops` archive that says what is in it, and the addresses of objects there."""


LABEL_KINDS = {str: "text", bool: "truth values", int: "numbers", float: "numbers"}

NUMERIC_OBJECTS = frozenset({"boolean", "decimal", "empty", "floating", "integer", "mixed-integer-float"})
"""Kinds of values in a column of Python objects that are numbers."""


@dataclass(frozen=True, eq=False)
class TrainedPipeline:
    """A trained classifier, a pipeline of scikit-learn, and its accuracy on held-out rows.

    Parameters
    ----------
    pipeline
        The classifier.
    accuracy
        The share of held-out rows that it predicts right.
    provenance
        How it was trained, ready for JSON.

    """

    pipeline: Any
    accuracy: Share
    provenance: dict[str, Any]

    def to_bytes(self) -> bytes:
        """The content of a `.skops` file that holds the classifier; equal classifiers make equal files."""
        import skops.io

        return _strip_addresses(skops.io.dumps(self.pipeline))


def train_pipeline(frame: pd.DataFrame, labels: Any, seed: int = 0) -> TrainedPipeline:
    """Train gradient boosting to predict a label from the columns of a table.

    A fifth of the rows is held out. The same rows and seed give the same classifier.

    Parameters
    ----------
    frame
        The columns: numbers, truth values, text or categories, with missing values.
    labels
        The label of each row: text, truth values, or whole numbers of which there are few. Rows without
        a label are left out.
    seed
        The seed of held-out rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": np.arange(20.0, 80.0), "sex": ["f", "m", None] * 20})
    >>> exceptions = np.arange(60) % 6 == 0
    >>> labels = np.where((frame["age"] > 50) ^ exceptions, "dies", "lives")
    >>> trained = train_pipeline(frame, labels)
    >>> trained.pipeline.predict(frame.iloc[[1, 58]])
    array(['lives', 'dies'], dtype='<U5')
    >>> trained.accuracy.size
    12

    """
    from threadpoolctl import threadpool_limits

    codes, classes = _read_labels(labels, len(frame))
    labelled = np.flatnonzero(codes >= 0)
    if len(labelled) < MIN_ROWS:
        raise HornbookError(
            f"a classifier is trained on {MIN_ROWS} labelled rows or more; got {len(labelled)}"
        )
    parts = _deal_parts(codes[labelled], generator(seed, Purpose.MODEL_TRAINING))
    held_out, used = labelled[parts == PARTS - 1], labelled[parts < PARTS - 1]
    rows, named = frame.iloc[used], np.array(classes)
    with threadpool_limits(1):  # small tables take longer on several threads
        pipeline = _make_pipeline(rows, seed).fit(rows, named[codes[used]])
    accuracy = Share.where(pipeline.predict(frame.iloc[held_out]) == named[codes[held_out]])
    measured = {"accuracy": accuracy.estimate, "rows": accuracy.size}
    return TrainedPipeline(pipeline, accuracy, {"seed": seed, "rows": len(used), "held_out": measured})


def _make_pipeline(rows: pd.DataFrame, seed: int) -> Any:
    """A classifier still to be fitted, with an input for each column of numbers and for each level."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    kept = [name for name in rows.columns if rows[name].nunique(dropna=False) > 1]
    numbers = [name for name in kept if _is_numeric(rows[name])]
    times = [name for name in kept if find_time_type(rows[name]) is not None]
    words = [name for name in kept if name not in (*numbers, *times)]
    levels = {name: own for name in words if (own := _list_levels(rows[name]))}
    if not numbers and not levels and not times:
        raise HornbookError("there is nothing to learn from: every column has the same value in all rows")
    encoder = OneHotEncoder(categories=[*levels.values()], handle_unknown="ignore", sparse_output=False)
    parts: list[Any] = [("levels", encoder, [*levels]), ("numbers", "passthrough", numbers)]
    if times:
        days = FunctionTransformer(number_times, feature_names_out="one-to-one")
        parts.append(("times", days, times))
    columns = ColumnTransformer(parts)
    boosting = HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        max_leaf_nodes=MAX_LEAVES,
        min_samples_leaf=min(max(len(rows) // 20, MIN_LEAF_ROWS), MAX_LEAF_ROWS),
        early_stopping=False,
        random_state=seed % SEEDS,  # of the rows that bins are made of, if there are very many
    )
    # as a frame, in which a number may be missing in a column of any type
    return Pipeline([("columns", columns.set_output(transform="pandas")), ("boosting", boosting)])


def _read_labels(labels: Any, rows: int) -> tuple[NDArray[np.intp], tuple[Any, ...]]:
    """The number of each row's class, -1 where the label is missing; and the classes in order."""
    values = pd.Series(labels).astype(object)
    if len(values) != rows:
        raise HornbookError(f"there are {rows} rows, but {len(values)} labels")
    classes = values.dropna().unique().tolist()
    kinds = {LABEL_KINDS.get(type(value), type(value).__name__) for value in classes}
    if len(kinds) > 1 or not kinds <= set(LABEL_KINDS.values()):
        raise HornbookError(f"labels are text, truth values or numbers, not {' and '.join(sorted(kinds))}")
    if len(classes) < 2:
        only = " or ".join(map(repr, classes)) or "missing"
        raise HornbookError(f"a classifier tells two or more classes apart, but the label is always {only}")
    if kinds == {"numbers"} and (
        len(classes) > MAX_NUMERIC_CLASSES or not all(float(each).is_integer() for each in classes)
    ):
        raise HornbookError(
            f"the label has {len(classes)} different numbers, and a classifier predicts at most "
            f"{MAX_NUMERIC_CLASSES} whole ones as classes; make it a question first, e.g. label > "
            f"{np.median(classes):g}"
        )
    classes.sort()
    return pd.Index(classes, dtype=object).get_indexer(values), tuple(classes)


def _deal_parts(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """The number of each row's part: parts of one size, each with its share of every class.

    Rows of the rarest classes go to the first parts, so that the last one, which is held out, has
    none of a class that only it would have, unless there are many of them.
    """
    order = rng.permutation(len(codes))
    frequencies = np.bincount(codes)[codes]
    order = order[np.lexsort((codes[order], frequencies[order]))]
    numbers = np.empty(len(codes), np.intp)
    numbers[order] = np.arange(len(codes)) % PARTS
    return numbers


def _is_numeric(values: pd.Series[Any]) -> bool:
    """Whether a column holds numbers or truth values."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return False
    if values.dtype == object:
        return pd.api.types.infer_dtype(values, skipna=True) in NUMERIC_OBJECTS
    return pd.api.types.is_numeric_dtype(values)


def _list_levels(values: pd.Series[Any]) -> list[Any]:
    """The frequent levels of a column, in order, and then its missing values as they are written."""
    counts = Counter(values.dropna().astype(object).tolist())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    levels = sorted(level for level, count in ranked[:MAX_LEVELS] if count >= MIN_LEVEL_ROWS)
    missing = {str(value): value for value in values[values.isna()].astype(object)}
    return [*levels, *missing.values()]


def _strip_addresses(content: bytes) -> bytes:
    """A file of skops with numbers for the addresses of objects, by which it refers to them, and no dates."""
    with ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = parts.pop(SCHEMA_FILE).decode()
    numbers: dict[str, str] = {}
    schema = ADDRESS.sub(lambda match: numbers.setdefault(match[0], str(len(numbers))), schema)
    stripped = io.BytesIO()
    with ZipFile(stripped, "w", ZIP_DEFLATED) as archive:
        for name, part in sorted(parts.items(), key=lambda item: int(numbers[Path(item[0]).stem])):
            archive.writestr(ZipInfo(f"{numbers[Path(name).stem]}.npy"), part, ZIP_DEFLATED)
        archive.writestr(ZipInfo(SCHEMA_FILE), schema, ZIP_DEFLATED)
    return stripped.getvalue()
