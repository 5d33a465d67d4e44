"""Tables, and the tasks made of them: rows to train on, and where samples come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hornbook.teachers import augmented_rows, perturbed_rows

from hornbook.data import Binariser, Table, load_dataset, read_table
from hornbook.distributions import Distribution, Groups
from hornbook.logic import Batch, Vocabulary


@dataclass(frozen=True)
class Task:
    """Rows for training, with their classes, and where samples for learning and for judging come from."""

    name: str
    label: str
    rows: Batch
    classes: np.ndarray
    groups: Groups
    learned: Distribution
    judged: Distribution

    @classmethod
    def of(cls, table: Table, rng: np.random.Generator) -> Task:
        """A random third of the rows is kept for judging; bins are those of the others."""
        order = rng.permutation(len(table))
        test, train = np.split(order, [len(order) // 3])
        binariser = _binariser(table).fit(table.features.iloc[train])
        rows, others = (binariser.batch(table.features.iloc[part]) for part in (train, test))
        classes = table.frame[table.label].to_numpy()[train]
        groups = binariser.groups_
        return cls(
            table.name,
            str(table.label),
            rows,
            classes,
            groups,
            augmented_rows(rows, groups),
            perturbed_rows(others, groups),
        )

    @classmethod
    def of_columns(cls, table: Table) -> Task:
        """All rows for training; samples draw each column by itself."""
        binariser = _binariser(table).fit(table.features)
        rows = binariser.batch(table.features)
        source = Columns(rows, binariser.groups_)
        return cls(
            table.name,
            str(table.label),
            rows,
            table.frame[table.label].to_numpy(),
            binariser.groups_,
            source,
            source,
        )

    @property
    def inputs(self) -> list[str]:
        """What models read: the variables without their duals."""
        vocabulary = self.rows.vocabulary
        return [vocabulary.name(v) for v, _ in vocabulary.pairs]

    def masked(self, copies: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the rows with up to half of the values missing, and their classes."""
        values = np.tile(self.rows.to_array()[:, : len(self.inputs)], (copies, 1))
        hidden = rng.random(values.shape) < rng.random((len(values), 1)) / 2
        return np.where(hidden, np.nan, values), np.tile(self.classes, copies)


@dataclass(frozen=True)
class Columns:
    """Each column from a row of its own; 10 to 30 % of the columns of a sample are missing."""

    rows: Batch
    groups: Groups

    @property
    def vocabulary(self) -> Vocabulary:
        return self.rows.vocabulary

    @property
    def kind(self) -> str:
        return "columns"

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        width = len(self.vocabulary) // 2
        values = self.rows.to_array()[:, :width]
        drawn = np.empty((size, width))
        missing = rng.uniform(0.1, 0.3, size)
        alone = set(range(width)).difference(*self.groups)
        for column in (*map(list, self.groups), *([v] for v in sorted(alone))):
            known = values[~np.isnan(values[:, column]).any(axis=1)][:, column]
            drawn[:, column] = known[rng.integers(0, len(known), size)]
            drawn[np.ix_(np.flatnonzero(rng.random(size) < missing), column)] = np.nan
        return Batch.from_array(np.hstack([drawn, 1 - drawn]), self.vocabulary)

    def describe(self) -> str:
        return f"the columns of {len(self.rows)} rows, each drawn by itself, 10 to 30 % of them missing"

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": len(self.rows)}


def _binariser(table: Table) -> Binariser:
    kinds = {column: kind for column, kind in table.kinds.items() if column != table.label}
    return Binariser(kinds=kinds, dual=True)


def diabetes() -> Table:
    """Patients with diabetes: a worse progression than the median or not (scikit-learn)."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(as_frame=True)
    worse = (bunch.target > bunch.target.median()).astype(float)
    return read_table(bunch.data.assign(worse=worse), label="worse", name="diabetes")


def phishing() -> Table:
    """Web pages that phish or not (river)."""
    from river.datasets import Phishing

    return _streamed(Phishing(), "phishing", lambda y: bool(y))


def segments() -> Table:
    """Regions of outdoor images: of brick, foliage or grass, or not (river)."""
    from river.datasets import ImageSegments

    return _streamed(ImageSegments(), "segments", lambda y: y in {"brickface", "foliage", "grass"})


def _streamed(source: Any, name: str, positive: Callable[[Any], bool]) -> Table:
    rows = [{**x, name: float(positive(y))} for x, y in source]
    frame = pd.DataFrame(rows)
    return read_table(frame.loc[:, frame.nunique() > 1], label=name, name=name)


def tables(data: str | None) -> dict[str, Callable[[], Table]]:
    hcc = (lambda: load_dataset("hcc", path=data)) if data else (lambda: load_dataset("hcc-synthetic"))
    shipped = {
        name: (lambda name=name: load_dataset(name)) for name in ("breast-cancer", "wine", "iris", "digits")
    }
    return {
        "hcc" if data else "hcc-synthetic": hcc,
        **shipped,
        "diabetes": diabetes,
        "phishing": phishing,
        "segments": segments,
    }
