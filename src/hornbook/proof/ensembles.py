"""Reading trees, forests and boosting of scikit-learn, XGBoost and LightGBM.

A `TreeEnsemble` holds every tree as arrays of nodes. At a node a number goes left if it is at most
the node's cut, compared as doubles, and a missing value goes where the node sends it. Libraries
compare in their own ways: scikit-learn's trees round a number to single precision first, XGBoost
does so too and sends numbers below its threshold to the left, LightGBM and histogram boosting
compare doubles. All of that is monotone, so each comparison is one with a double, which `single_cut`
finds. LightGBM takes the tiniest numbers for zero, and XGBoost what a sparse matrix leaves out for
missing.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.network import (
    DOUBLE_ROUNDOFF,
    SINGLE_ROUNDOFF,
    Contests,
    ScoreLink,
    Vector,
    gamma,
    pair_classes,
    refuse_changed,
    unprovable,
)

Ints = NDArray[np.intp]


class TreeNodes(NamedTuple):
    """The nodes of one tree, the root first; `column` is -1 at a leaf."""

    column: Ints  # (nodes,), like the others
    cut: Vector
    left: Ints
    right: Ints
    missing_left: Bools
    value: Vector
    kind: Ints


@dataclass(frozen=True)
class Total:
    """How trees whose leaves are added up become the output N.

    Parameters
    ----------
    constant
        The constant part of the output.
    rounding
        A bound on the rounding error of the model's own sum.
    link
        The relation between the output and the model's score.
    counts_votes
        Whether each leaf is of one class, and the model's own sum is a number of votes.
    compares_shares
        Whether the output is the sum of one class minus that of another, each of half of the trees, and
        the model compares their shares among all classes, whose rounding depends on the others.

    """

    constant: float
    rounding: float
    link: ScoreLink
    counts_votes: bool = False
    compares_shares: bool = False

    @property
    def tolerance(self) -> float:
        """A bound on the output where the model's decision changes."""
        return self.rounding + self.link.tolerance

    def negate(self) -> Total:
        """That of the opposite output."""
        return replace(self, constant=-self.constant)


class TreeEnsemble(NamedTuple):
    """Trees that are added up; leaves of one kind hold the same numbers in the model."""

    trees: tuple[TreeNodes, ...]
    total: Total

    def negate(self) -> TreeEnsemble:
        """The trees with the opposite output."""
        trees = tuple(tree._replace(value=-tree.value) for tree in self.trees)
        return TreeEnsemble(trees, self.total.negate())


def read_tree_contests(predictor: Predictor, count: int) -> Contests[TreeEnsemble] | None:
    """Read the trees of a model that decides between classes; None for other models, subclasses included.

    With two classes they are the trees themselves, with the threshold folded in.
    """
    if count == 2:
        ensemble = read_ensemble(predictor)
        return None if ensemble is None else ((ensemble,), (ensemble.negate(),))
    if (read := _find_reader(predictor, BOOSTERS)) is not None:
        boosting = read(predictor.source, predictor, count)
        return pair_classes(count, boosting.contest)
    if (part := _find_reader(predictor, VOTERS)) is None:
        return None
    trees, raw = _list_voting_trees(predictor.source, predictor, part, count)
    shares = raw / raw.sum(axis=1, keepdims=True) / len(trees)
    rounding = 2 * gamma(len(trees) + 8, DOUBLE_ROUNDOFF)

    def contest(rival: int, outcome: int) -> TreeEnsemble:
        nodes = _split_nodes(trees, shares[:, rival] - shares[:, outcome], raw)
        return TreeEnsemble(nodes, Total(0.0, rounding, ScoreLink(0.0, 0.0), _are_votes(trees, raw)))

    return pair_classes(count, contest)


def read_ensemble(predictor: Predictor) -> TreeEnsemble | None:
    """Read the trees of a model that decides between two classes; None for other models."""
    if (read := _find_reader(predictor, BOOSTERS)) is not None:
        return read(predictor.source, predictor, 2).decide(predictor)
    part = _find_reader(predictor, VOTERS)
    return None if part is None else _average_votes(predictor, part)


Reader = TypeVar("Reader")


def _find_reader(predictor: Predictor, readers: Mapping[str, Mapping[str, Reader]]) -> Reader | None:
    for module, named in readers.items():
        for name, read in named.items():
            # whoever has a model of a class has imported its module
            if getattr(sys.modules.get(module), name, None) is type(predictor.source):
                return read
    return None


def single_cut(threshold: float, strict: bool = False) -> float:
    """The largest double that goes left where numbers are rounded to single precision first.

    Parameters
    ----------
    threshold
        What the rounded number is compared with.
    strict
        Whether it has to be below the threshold, or at most the threshold.

    Examples
    --------
    >>> cut = single_cut(0.1)
    >>> float(np.float32(cut)) <= 0.1, float(np.float32(np.nextafter(cut, 1))) <= 0.1
    (True, False)

    """
    most = np.float32(threshold)
    if float(most) > threshold or (strict and float(most) >= threshold):
        most = np.nextafter(most, np.float32(-np.inf))
    above = np.nextafter(most, np.float32(np.inf))
    if not np.isfinite(above):
        return math.inf
    middle = (float(most) + float(above)) / 2
    return middle if np.float32(middle) <= most else math.nextafter(middle, -math.inf)


def _average_votes(predictor: Predictor, part: str) -> TreeEnsemble:
    """Read trees whose class frequencies are averaged."""
    trees, raw = _list_voting_trees(predictor.source, predictor, part, 2)
    link = ScoreLink.of(predictor, scale=0.0)
    column = 1 if predictor.column is None else predictor.column
    nodes = _split_nodes(trees, raw[:, column] / raw.sum(axis=1) / len(trees), raw)
    rounding = gamma(len(trees) + 8, DOUBLE_ROUNDOFF)
    return TreeEnsemble(nodes, Total(-link.cut, rounding, link, _are_votes(trees, raw)))


def _are_votes(trees: Sequence[Any], raw: Vector) -> bool:
    """Whether the numbers in each leaf, of (nodes, classes), are exactly 1 for one class and 0 for others."""
    leaf = np.concatenate([each.tree_.children_left < 0 for each in trees])
    return bool(np.isin(raw[leaf], (0.0, 1.0)).all())


def _split_nodes(trees: Sequence[Any], values: Vector, raw: Vector) -> tuple[TreeNodes, ...]:
    """The nodes of each tree with their values; nodes of one kind have equal rows of `raw`."""
    kinds = np.unique(raw, axis=0, return_inverse=True)[1].reshape(-1)
    ends = np.cumsum([each.tree_.node_count for each in trees])[:-1]
    parts = zip(trees, np.split(values, ends), np.split(kinds, ends), strict=True)
    return tuple(_sklearn_nodes(each.tree_, value, kind) for each, value, kind in parts)


def _list_voting_trees(model: Any, predictor: Predictor, part: str, count: int) -> tuple[list[Any], Vector]:
    """The trees of a scikit-learn model, and the numbers in all their nodes, (nodes, classes)."""
    from sklearn import tree

    kind = getattr(tree, part)
    refuse_changed(model, "it", predictor)
    if model.n_outputs_ != 1:
        raise unprovable(predictor, "it has several outputs, and proofs are about one")
    _refuse_other_count(model, predictor, count)
    trees = [model] if type(model) is kind else list(model.estimators_)
    for number, each in enumerate(trees):
        refuse_changed(each, f"its tree {number}", predictor)
        if type(each) is not kind or each.tree_.value.shape[1:] != (1, count):
            raise unprovable(predictor, f"its tree {number} is a {type(each).__name__} of another kind")
    return trees, np.concatenate([each.tree_.value[:, 0] for each in trees])


def _sklearn_nodes(tree: Any, values: Vector, kinds: Ints) -> TreeNodes:
    leaf = tree.children_left < 0
    cuts = np.array(
        [np.inf if end else single_cut(cut) for cut, end in zip(tree.threshold, leaf, strict=True)]
    )
    column = np.where(leaf, -1, tree.feature)
    missing_left = np.asarray(tree.missing_go_to_left).astype(np.bool_)
    return TreeNodes(column, cuts, tree.children_left, tree.children_right, missing_left, values, kinds)


class ClassScore(NamedTuple):
    """The score of a class that boosting adds up: its trees, and the number it starts from."""

    trees: tuple[TreeNodes, ...]
    start: float


@dataclass(frozen=True, eq=False)
class Boosting:
    """The sums of boosting: the log-odds of two classes as one score, or a score for each of several.

    Parameters
    ----------
    scores
        The scores; the value of a leaf is what it adds.
    scale
        Log-odds are the score times this.
    roundoff
        The unit roundoff of the arithmetic in which the model adds.

    """

    scores: tuple[ClassScore, ...]
    scale: float = 1.0
    roundoff: float = DOUBLE_ROUNDOFF

    def decide(self, predictor: Predictor) -> TreeEnsemble:
        """The trees that decide between two classes."""
        ((trees, start),) = self.scores
        link = ScoreLink.of(predictor, scale=self.scale)
        sign = -1.0 if predictor.column == 0 else 1.0
        signed = tuple(tree._replace(value=sign * tree.value) for tree in trees)
        rounding = self._bound_rounding(trees, start, link.cut)
        return TreeEnsemble(signed, Total(sign * start - link.cut, rounding, link))

    def contest(self, rival: int, outcome: int) -> TreeEnsemble:
        """The trees of one of several classes minus those of another."""
        one, other = self.scores[rival], self.scores[outcome]
        trees = (*one.trees, *(tree._replace(value=-tree.value) for tree in other.trees))
        rounding = self._bound_rounding(trees, one.start, other.start)
        total = Total(one.start - other.start, rounding, ScoreLink(0.5, 1.0), compares_shares=True)
        return TreeEnsemble(trees, total)

    def _bound_rounding(self, trees: Sequence[TreeNodes], *constants: float) -> float:
        """A bound on the rounding error of the sum of trees and constants."""
        sizes = sum(float(np.abs(tree.value).max()) for tree in trees) + sum(map(abs, constants))
        return gamma(4 * len(trees) + 16, self.roundoff) * sizes


def drops_zeros(predictor: Predictor) -> bool:
    """Whether a model takes the zeros that a sparse matrix leaves out for missing values."""
    return type(predictor.source).__module__.partition(".")[0] == "xgboost"


def _count_scores(count: int) -> int:
    """The number of scores that boosting adds up for `count` classes."""
    return 1 if count == 2 else count


def _read_boosting(model: Any, predictor: Predictor, count: int) -> Boosting:
    """Read scikit-learn's gradient boosting."""
    refuse_changed(model, "it", predictor)
    _refuse_other_count(model, predictor, count)
    scale = 2.0 if model.loss == "exponential" else 1.0
    scores = [
        ClassScore(tuple(_boosted_nodes(each, model, predictor) for each in own), start / scale)
        for own, start in zip(model.estimators_.T, _list_starts(predictor, count), strict=True)
    ]
    return Boosting(tuple(scores), scale)


def _list_starts(predictor: Predictor, count: int) -> list[float]:
    """The scores to which the trees of gradient boosting add: one for two classes, else one for each."""
    from sklearn.dummy import DummyClassifier

    before = predictor.source.init_
    if isinstance(before, str) and before == "zero":
        return [0.0] * _count_scores(count)
    if type(before) is not DummyClassifier or before.strategy != "prior":
        raise unprovable(predictor, "it starts from a model of its own, which the prover does not support")
    eps = float(np.finfo(np.float32).eps)
    shares = [min(max(float(share), eps), 1 - eps) for share in before.class_prior_]
    return [math.log(shares[1] / (1 - shares[1]))] if count == 2 else list(map(math.log, shares))


def _boosted_nodes(each: Any, model: Any, predictor: Predictor) -> TreeNodes:
    """The nodes of a tree of gradient boosting, scaled by the learning rate."""
    from sklearn.tree import DecisionTreeRegressor

    refuse_changed(each, "its tree", predictor)
    if type(each) is not DecisionTreeRegressor or each.tree_.value.shape[1:] != (1, 1):
        raise unprovable(predictor, f"one of its trees is a {type(each).__name__} of another kind")
    leaf = each.tree_.children_left < 0
    values = np.where(leaf, model.learning_rate * each.tree_.value[:, 0, 0], 0)
    return _sklearn_nodes(each.tree_, values, np.unique(values, return_inverse=True)[1].reshape(-1))


def _read_histogram_boosting(model: Any, predictor: Predictor, count: int) -> Boosting:
    """Read scikit-learn's histogram boosting."""
    refuse_changed(model, "it", predictor)
    _refuse_other_count(model, predictor, count)
    rounds = [
        [_histogram_nodes(each.nodes, number, predictor) for each in own]
        for number, own in enumerate(model._predictors)
    ]
    starts = np.ravel(model._baseline_prediction).tolist()
    return Boosting(
        tuple(
            ClassScore(trees, start) for trees, start in zip(zip(*rounds, strict=True), starts, strict=True)
        )
    )


def _histogram_nodes(nodes: Any, number: int, predictor: Predictor) -> TreeNodes:
    if nodes["is_categorical"].any():
        raise unprovable(predictor, f"its tree {number} asks for categories, and proofs are about numbers")
    leaf = nodes["is_leaf"].astype(np.bool_)
    return _additive_nodes(
        np.where(leaf, -1, nodes["feature_idx"]),
        nodes["num_threshold"].astype(np.float64),
        nodes["left"],
        nodes["right"],
        nodes["missing_go_to_left"],
        np.where(leaf, nodes["value"], 0.0),
    )


def _read_xgboost(model: Any, predictor: Predictor, count: int) -> Boosting:
    """Read XGBoost; each of its trees says of which class it is."""
    _refuse_other_count(model, predictor, count)
    objective, trees, classes, starts = _list_xgboost_trees(model, predictor)
    if objective not in XGBOOST_OBJECTIVES[count > 2]:
        raise _untrained(predictor, objective, count)
    if any(len(starts) * classes.count(place) != len(trees) for place in range(len(starts))):
        raise unprovable(predictor, "some of its classes have more trees than others")
    scores = [
        ClassScore(tuple(tree for tree, own in zip(trees, classes, strict=True) if own == place), start)
        for place, start in enumerate(starts)
    ]
    return Boosting(tuple(scores), roundoff=SINGLE_ROUNDOFF)


XGBOOST_OBJECTIVES = ("binary:logistic", "binary:logitraw"), ("multi:softprob", "multi:softmax")
"""The objectives that the prover supports, for two classes and for more."""


def _list_xgboost_trees(
    model: Any, predictor: Predictor
) -> tuple[str, list[TreeNodes], list[int], list[float]]:
    """The objective of XGBoost, its trees, the class of each, and the scores before the first tree."""
    refuse_changed(model, "it", predictor, ("feature_names", "feature_types"))
    if hasattr(model, "get_booster"):
        if model.missing is None or not np.isnan(model.missing):
            raise unprovable(predictor, f"it takes {model.missing} for a missing value, and proofs take NaN")
        model = model.get_booster()
    content = json.loads(model.save_raw("json"))
    learner = content["learner"]
    objective, booster = learner["objective"]["name"], learner["gradient_booster"]
    if booster["name"] != "gbtree":
        raise unprovable(predictor, f"it is {booster['name']}, which the prover does not support")
    if "best_iteration" in learner["attributes"]:
        raise unprovable(
            predictor, "it was stopped early, so it may not use all of its trees; slice it first"
        )
    trees: list[TreeNodes] = []
    for number, tree in enumerate(booster["model"]["trees"]):
        if any(tree["split_type"]) or tree["categories"]:
            raise unprovable(
                predictor, f"its tree {number} asks for categories, and proofs are about numbers"
            )
        left = np.array(tree["left_children"])
        conditions = np.array(tree["split_conditions"], np.float32)
        leaf = left < 0
        cuts = [
            math.inf if end else single_cut(float(cut), strict=True)
            for cut, end in zip(conditions, leaf, strict=True)
        ]
        trees.append(
            _additive_nodes(
                np.where(leaf, -1, tree["split_indices"]),
                np.array(cuts),
                left,
                np.array(tree["right_children"]),
                np.array(tree["default_left"]),
                np.where(leaf, conditions.astype(np.float64), 0.0),
            )
        )
    return objective, trees, booster["model"]["tree_info"], _ask_xgboost_starts(content)


def _ask_xgboost_starts(content: Any) -> list[float]:
    """The scores of the classes before the first tree, as XGBoost computes them of its `base_score`.

    It takes the logit in single precision, and some versions bound the share before: so a model without
    trees is asked.
    """
    from xgboost import Booster

    trees = content["learner"]["gradient_booster"]["model"]
    trees |= {"trees": [], "tree_info": [], "iteration_indptr": [0]}
    trees["gbtree_model_param"]["num_trees"] = "0"
    content["learner"]["learner_model_param"]["boost_from_average"] = "0"  # for it was trained
    empty = Booster(model_file=bytearray(json.dumps(content).encode()))
    starts: Vector = empty.inplace_predict(np.zeros((1, empty.num_features())), predict_type="margin")
    return starts.reshape(-1).astype(np.float64).tolist()


LIGHTGBM_ZERO = float(np.float32(1e-35))
"""LightGBM takes numbers up to this one, and down to its negative, for zero."""


def _read_lightgbm(model: Any, predictor: Predictor, count: int) -> Boosting:
    """Read LightGBM, whose trees come in rounds, one for each class."""
    _refuse_other_count(model, predictor, count)
    places = _count_scores(count)
    objective, trees = _list_lightgbm_trees(model, predictor, places)
    if objective["name"] != ("binary" if count == 2 else "multiclass"):
        raise _untrained(predictor, objective["name"], count)
    scores = tuple(ClassScore(tuple(trees[place::places]), 0.0) for place in range(places))
    return Boosting(scores, float(objective.get("sigmoid", 1.0)) if count == 2 else 1.0)


def _list_lightgbm_trees(
    model: Any, predictor: Predictor, count: int
) -> tuple[dict[str, str], list[TreeNodes]]:
    """The objective of LightGBM, its name and settings, and its trees, `count` in each round."""
    refuse_changed(model, "it", predictor)
    if hasattr(model, "get_params") and model.get_params().get("pred_early_stop"):
        raise unprovable(predictor, "it has pred_early_stop, so it may not use all of its trees; set it off")
    content = getattr(model, "booster_", model).dump_model()
    if "objective" not in content:
        raise unprovable(
            predictor, "it is trained for an objective of its own, which the prover does not support"
        )
    name, *settings = content["objective"].split()
    if content["num_tree_per_iteration"] != count:
        raise unprovable(
            predictor, f"it is trained for {content['objective']}, which the prover does not support"
        )
    if content["average_output"]:
        raise unprovable(predictor, "its trees are averaged, which the prover does not support")
    trees = [_lightgbm_nodes(tree["tree_structure"], predictor) for tree in content["tree_info"]]
    return {"name": name, **dict(part.split(":") for part in settings if ":" in part)}, trees


def _lightgbm_nodes(root: dict[str, Any], predictor: Predictor) -> TreeNodes:
    rows: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        place = len(rows)
        if "leaf_value" in node:
            if "leaf_features" in node or "leaf_coeff" in node:
                raise unprovable(predictor, "its leaves are linear models, which the prover does not support")
            rows.append([-1, math.inf, -1, -1, 0, node["leaf_value"]])
            return place
        if node["decision_type"] != "<=":
            raise unprovable(predictor, "its trees ask for categories, and proofs are about numbers")
        if node["missing_type"] == "Zero":
            raise unprovable(predictor, "it takes zero for a missing value, and proofs take NaN")
        cut = float(node["threshold"])
        # without a way of their own, missing values count as zero
        left = node["default_left"] if node["missing_type"] == "NaN" else cut >= 0
        if -LIGHTGBM_ZERO <= cut < LIGHTGBM_ZERO:  # all that counts as zero goes one way
            cut = LIGHTGBM_ZERO if cut >= 0 else math.nextafter(-LIGHTGBM_ZERO, -math.inf)
        rows.append([node["split_feature"], cut, 0, 0, left, 0.0])
        rows[place][2:4] = add(node["left_child"]), add(node["right_child"])
        return place

    add(root)
    columns = np.array(rows).T
    whole = [part.astype(np.intp) for part in columns[[0, 2, 3]]]
    return _additive_nodes(whole[0], columns[1], whole[1], whole[2], columns[4], columns[5])


def _additive_nodes(column: Any, cut: Vector, left: Any, right: Any, missing: Any, value: Any) -> TreeNodes:
    value = np.asarray(value, np.float64)
    ints = (np.asarray(each).astype(np.intp) for each in (column, left, right))
    places, lower, higher = ints
    kinds = np.unique(value, return_inverse=True)[1].reshape(-1)
    return TreeNodes(places, cut, lower, higher, np.asarray(missing).astype(np.bool_), value, kinds)


def _refuse_other_count(model: Any, predictor: Predictor, count: int) -> None:
    """Raise for a model with another number of classes; boosters without names of classes have two."""
    if len(getattr(model, "classes_", (0, 1))) != count:
        others = "two" if count == 2 else f"the {count}"
        raise unprovable(predictor, f"it does not decide between {others} classes that proofs are about")


def _untrained(predictor: Predictor, objective: str, count: int) -> HornbookError:
    return unprovable(
        predictor, f"it is trained for {count} classes by {objective}, which the prover does not support"
    )


VOTERS: dict[str, dict[str, str]] = {
    "sklearn.tree": {
        "DecisionTreeClassifier": "DecisionTreeClassifier",
        "ExtraTreeClassifier": "ExtraTreeClassifier",
    },
    "sklearn.ensemble": {
        "RandomForestClassifier": "DecisionTreeClassifier",
        "ExtraTreesClassifier": "ExtraTreeClassifier",
    },
}
"""The classes whose trees' class frequencies are averaged, by module, and the class of their trees."""

BOOSTERS: dict[str, dict[str, Callable[[Any, Predictor, int], Boosting]]] = {
    "sklearn.ensemble": {
        "GradientBoostingClassifier": _read_boosting,
        "HistGradientBoostingClassifier": _read_histogram_boosting,
    },
    "xgboost": {"Booster": _read_xgboost, "XGBClassifier": _read_xgboost},
    "lightgbm": {"Booster": _read_lightgbm, "LGBMClassifier": _read_lightgbm},
}
"""The reader of each class of boosting, by module."""
