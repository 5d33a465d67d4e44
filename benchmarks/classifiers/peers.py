"""The peers: what else makes something readable of labelled samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from hornbook.classify import Reading

READING = Reading(max_rules=60, max_literals=100)
"""What hornbook is asked for."""

LABELS = READING.samples + 2 * READING.evaluation
"""Labels that hornbook asks for: to learn from, to compare by, and to measure with."""

Fitted: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], int]
"""What predicts from values of 1, 0 and ½, and how many literals there are to read in it."""

Fit: TypeAlias = Callable[[np.ndarray, np.ndarray, int], Fitted]


def tree(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(values, labels)
    return model.predict, int(model.tree_.node_count // 2)


def figs(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import FIGSClassifier

    model = FIGSClassifier(max_rules=size, random_state=0).fit(values, labels)
    return model.predict, int(model.complexity_)


def boosted_rules(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import BoostedRulesClassifier

    model = BoostedRulesClassifier(n_estimators=size, random_state=0).fit(values, labels)
    return model.predict, sum(int(stump.tree_.node_count // 2) for stump in model.estimators_)


def tao(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import TaoTreeClassifier

    model = TaoTreeClassifier(model_args={"max_leaf_nodes": size, "random_state": 0}).fit(values, labels)
    return model.predict, int(model.model.tree_.node_count // 2)


def ripper(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from wittgenstein import RIPPER

    def frame(values: np.ndarray) -> pd.DataFrame:
        words = np.where(values == 1, "1", np.where(values == 0, "0", "?"))
        return pd.DataFrame(words, columns=[f"x{v}" for v in range(values.shape[1])])

    rare = int(2 * labels.sum() < len(labels))  # rules for the rarer label, the other by default
    model = RIPPER(max_rules=size, random_state=0)
    model.fit(frame(values), y=labels, pos_class=rare)

    def predict(values: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(frame(values)), np.bool_) == bool(rare)

    return predict, sum(len(rule.conds) for rule in model.ruleset_.rules)


def hoeffding(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from river.tree import HoeffdingTreeClassifier

    names = [f"x{v}" for v in range(values.shape[1])]
    model = HoeffdingTreeClassifier(nominal_attributes=names, leaf_prediction="mc")
    for row, label in zip(values.tolist(), labels.tolist(), strict=True):
        model.learn_one(dict(zip(names, row, strict=True)), label)

    def predict(values: np.ndarray) -> np.ndarray:
        rows = (dict(zip(names, row, strict=True)) for row in values.tolist())
        return np.array([model.predict_one(row) for row in rows], np.bool_)

    return predict, int(model.n_branches)


class Peer(NamedTuple):
    """How a peer is fitted, the sizes it is fitted with, and the labels that it learns from."""

    fit: Fit
    sizes: tuple[int, ...]
    labels: int


PEERS = {
    "tree": Peer(tree, (2, 3, 5, 9, 17, 33, 65, 101), LABELS),
    "FIGS": Peer(figs, (2, 8, 24), 1 << 15),
    "BoostedRules": Peer(boosted_rules, (1, 2, 4, 8, 16, 32, 64), 1 << 15),
    "TAO": Peer(tao, (5, 17), 10_000),
    "RIPPER": Peer(ripper, (8, 32), 10_000),
    "Hoeffding tree": Peer(hoeffding, (0,), LABELS),
}
"""The tree and the Hoeffding tree get as many labels as hornbook; time is what limits the others."""
