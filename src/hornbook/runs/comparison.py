"""Compare the explanation of a run with decision trees fitted to the same model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.explanations import Explanation
from hornbook.logic import Batch
from hornbook.models import Subject
from hornbook.queries import Literals, QuerySubject
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.tables import number_units

TREE_SIZES = (2, 4, 8, 16, 32, 64)
"""Numbers of questions of the trees that are compared."""

Ask: TypeAlias = Callable[[Any], NDArray[Any]]
"""Takes rows or interpretations, and gives something of each."""


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
    subject: Subject | QuerySubject,
    size: int,
    seed: int,
    rows: pd.DataFrame | None = None,
) -> Iterator[ComparisonRow]:
    """Measure an explanation and trees of several sizes on the same held-out rows and fresh samples.

    Rules by queries, and the trees beside them, are about interpretations, of which none are held out.

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

    if isinstance(subject, QuerySubject):
        draw: Callable[..., Any] = subject.teacher.feature_distribution.draw
        encode: Ask = _encode_items
        label: Ask = subject.teacher.decide_items
        decide: Ask = explanation.compile().decide_items
    else:
        draw, encode = subject.teacher.sample, ColumnEncoder.of(subject.teacher.frame)
        label, decide = subject.teacher.labels, explanation.decide
    training, fresh = (
        draw(size, generator(seed, purpose)) for purpose in (Purpose.PEER_TRAINING, Purpose.PEER_EVALUATION)
    )
    wanted = label(training)
    cases: list[tuple[Any, NDArray[Any] | None, NDArray[Any] | None]] = [(fresh, None, None)]
    if rows is not None:
        cases.append((rows, number_units(rows), None))
    elif isinstance(subject, Subject) and len(subject.held_out):
        cases.append((subject.held_out, subject.held_out_units, subject.held_out_weights))
    labels = [label(each) for each, *_ in cases]

    def measure(method: str, literals: int, says: Ask) -> ComparisonRow:
        shares = [
            Share.where(says(each) == expected, units, weights)
            for (each, units, weights), expected in zip(cases, labels, strict=True)
        ]
        return ComparisonRow(method, literals, shares[1] if len(shares) > 1 else None, shares[0])

    yield measure("hornbook", explanation.literals, decide)
    common = int(np.bincount(labels[0]).argmax())
    yield measure(f'always "{explanation.classes[common]}"', 0, lambda each: np.full(len(each), common))
    for questions in TREE_SIZES:
        tree = DecisionTreeClassifier(max_leaf_nodes=questions + 1, random_state=0)
        tree.fit(encode(training), wanted)
        name = f"tree of scikit-learn, at most {questions}"
        yield measure(name, tree.get_n_leaves() - 1, partial(_ask_tree, tree, encode))


def _ask_tree(tree: Any, encode: Ask, cases: Any) -> NDArray[Any]:
    decided: NDArray[Any] = tree.predict(encode(cases))
    return decided


def _encode_items(items: Batch) -> NDArray[np.float32]:
    """Interpretations as numbers, shape (items, variables), without the duals, which say the same."""
    variables = Literals.of(items.vocabulary).drawn
    encoded: NDArray[np.float32] = items.to_array(0.5, np.float32)[:, variables]
    return encoded


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
