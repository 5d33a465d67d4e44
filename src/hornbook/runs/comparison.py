"""Compare the explanation of a run with decision trees fitted to the same model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.baselines import UNKNOWN_INPUT, hoeffding_tree
from hornbook.explanations import Explanation
from hornbook.logic import Batch
from hornbook.models import Subject
from hornbook.queries import Literals, VariableTeacher
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.tables import number_units

HOEFFDING_SECONDS = 20.0
"""Seconds in which a Hoeffding tree learns."""

TREE_SIZES = (2, 4, 8, 16, 32, 64)
"""Numbers of questions of the trees that are compared."""


@dataclass(frozen=True)
class ComparisonRow:
    """The size of one explanation, and its fidelity on rows that it was not made from and on samples.

    `literals` counts conditions to read, for a tree its questions; `rows` is None where no rows are
    left over.
    """

    method: str
    literals: int
    rows: Share | None
    samples: Share


def compare_with_trees(
    explanation: Explanation,
    subject: Subject,
    size: int,
    seed: int,
    rows: pd.DataFrame | None = None,
) -> Iterator[ComparisonRow]:
    """Measure an explanation and trees of several sizes on the same held-out rows and fresh samples.

    Parameters
    ----------
    explanation
        The explanation.
    subject
        The model, bound to the table that the explanation was made from.
    size
        The number of samples that trees are fitted to, and of those that all are measured on.
    seed
        Decides the samples.
    rows
        Other rows to measure on than those that are held out.

    """
    from sklearn.tree import DecisionTreeClassifier

    teacher = subject.teacher
    held_out, units, weights = subject.held_out, subject.held_out_units, subject.held_out_weights
    if rows is not None:
        held_out, units, weights = rows, number_units(rows), None
    training, fresh = (
        teacher.sample(size, generator(seed, purpose))
        for purpose in (Purpose.PEER_TRAINING, Purpose.PEER_EVALUATION)
    )
    labels, row_labels = teacher.labels(fresh), teacher.labels(held_out)

    def measure(method: str, literals: int, on_rows: NDArray[Any], on_fresh: NDArray[Any]) -> ComparisonRow:
        rows = Share.where(on_rows == row_labels, units, weights) if len(held_out) else None
        return ComparisonRow(method, literals, rows, Share.where(on_fresh == labels))

    yield measure("hornbook", explanation.literals, explanation.decide(held_out), explanation.decide(fresh))
    common = int(np.bincount(labels).argmax())
    always = (np.full(len(rows), common) for rows in (held_out, fresh))
    yield measure(f'always "{explanation.classes[common]}"', 0, *always)
    encode = ColumnEncoder.of(teacher.frame)
    wanted = teacher.labels(training)
    for questions in TREE_SIZES:
        tree = DecisionTreeClassifier(max_leaf_nodes=questions + 1, random_state=0)
        tree.fit(encode(training), wanted)
        splits = int((tree.tree_.feature >= 0).sum())
        decided = (tree.predict(encode(rows)) if len(rows) else np.zeros(0) for rows in (held_out, fresh))
        yield measure(f"tree of scikit-learn, at most {questions}", splits, *decided)


def compare_rules_with_trees(
    explanation: Explanation,
    teacher: VariableTeacher,
    size: int,
    seed: int,
) -> Iterator[ComparisonRow]:
    """Measure rules by queries, and trees over the same variables, on the same fresh interpretations.

    Parameters
    ----------
    explanation
        The rules.
    teacher
        The model that they are about, bound to the table's variables.
    size
        The number of samples that trees are fitted to, and of those that all are measured on.
    seed
        Decides the samples.

    """
    from sklearn.tree import DecisionTreeClassifier

    member, distribution = teacher.decide_items, teacher.feature_distribution
    fresh = distribution.draw(size, generator(seed, Purpose.PEER_EVALUATION))
    labels = member(fresh)

    def measure(method: str, literals: int, decided: NDArray[Any]) -> ComparisonRow:
        return ComparisonRow(method, literals, None, Share.where(decided == labels))

    yield measure("hornbook", explanation.literals, explanation.compile().decide_items(fresh))
    common = int(np.bincount(labels).argmax())
    yield measure(f'always "{explanation.classes[common]}"', 0, np.full(len(fresh), common))
    rng = generator(seed, Purpose.PEER_TRAINING)
    training = distribution.draw(size, rng)
    wanted, state = member(training), int(rng.integers(2**31))
    variables = Literals.of(distribution.vocabulary).drawn  # one of each pair: the other says the same

    def encode(batch: Batch) -> NDArray[np.float32]:
        return batch.to_array(UNKNOWN_INPUT, np.float32)[:, variables]

    for questions in TREE_SIZES:
        tree = DecisionTreeClassifier(max_leaf_nodes=questions + 1, random_state=state)
        tree.fit(encode(training), wanted)
        name = f"tree of scikit-learn, at most {questions}"
        yield measure(name, tree.get_n_leaves() - 1, tree.predict(encode(fresh)))
    rng = generator(seed, Purpose.PEER_TRAINING)
    grown = hoeffding_tree(member, distribution, size, rng, samples=5, seconds=HOEFFDING_SECONDS)
    yield measure("Hoeffding tree", grown.tree.splits, grown.tree.member(fresh))


@dataclass(frozen=True)
class ColumnEncoder:
    """Turns rows into numbers for scikit-learn's trees: categories become columns of 0 and 1."""

    numbers: tuple[str, ...]
    categories: tuple[tuple[str, object], ...]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> ColumnEncoder:
        """The encoder of a table."""
        numbers = [
            name
            for name in frame.columns
            if pd.api.types.is_numeric_dtype(frame[name]) and not pd.api.types.is_bool_dtype(frame[name])
        ]
        others = [name for name in frame.columns if name not in numbers]
        categories = [(name, value) for name in others for value in frame[name].dropna().unique()]
        return cls(tuple(numbers), tuple(categories))

    def __call__(self, frame: pd.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """The encoded rows, shape (rows, numbers + categories); missing numbers stay NaN."""
        columns = [frame[name].to_numpy(np.float64, na_value=np.nan) for name in self.numbers]
        columns += [
            (frame[name] == value).fillna(False).to_numpy(np.float64) for name, value in self.categories
        ]
        return np.stack(columns, axis=1)
