"""Boosters of LightGBM and XGBoost in files: their trees are trees, which the libraries take for granted.

A node that is its own descendant makes them ask for ever, and one that does not exist ends the process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError, library
from hornbook.models.ubjson import decode_ubjson
from hornbook.storage import parse_json

LEAF = -1
"""What stands for the children of a leaf."""

XGBOOST_NO_NODE = (-1, 2**31 - 1)
"""What stands for the parent of the first node of a tree of XGBoost."""

LIGHTGBM_NODE_PARTS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
"""The parts of a tree of LightGBM that have one value for each question."""

XGBOOST_NODE_PARTS = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_conditions",
    "default_left",
    "base_weights",
)
"""The parts of a tree of XGBoost that have one value for each node."""


def read_lightgbm(path: Path) -> Any:
    """The booster in a text file of LightGBM; refuse a file whose trees are damaged."""
    content = path.read_bytes()
    head, start, _ = content.partition(b"\nTree=0\n")
    if not head.startswith(b"tree\n") or not start:
        raise HornbookError("it is not as LightGBM writes models, or was cut short")
    about = _read_parts(head.decode())
    features = int(about["max_feature_idx"]) + 1
    place = len(head) + 1
    for number, size in enumerate(map(int, about["tree_sizes"].split())):
        tree = content[place : place + size]
        if size <= 0 or not tree.startswith(b"Tree=%d\n" % number):
            raise HornbookError(f"there is no tree {number} at byte {place}, where its head says so")
        _check_lightgbm_tree(_read_parts(tree.decode()), features, f"tree {number}")
        place += size
    if not content[place:].startswith(b"end of trees\n"):
        raise HornbookError(f"it was cut short, or has more trees than its head says, at byte {place}")
    # what follows the trees are notes on how they were trained, but for the levels of categories
    _, _, levels = content[place:].decode().rpartition("\npandas_categorical:")
    categories = "null" if levels.startswith("end of trees\n") else json.dumps(parse_json(levels))
    text = f"{content[:place].decode()}end of trees\n\npandas_categorical:{categories}\n"
    return library("lightgbm", "lightgbm").Booster(model_str=text)


def read_xgboost(path: Path) -> Any:
    """The booster in a JSON or UBJSON file of XGBoost; refuse a file whose trees are damaged."""
    content = path.read_bytes()
    learner = (decode_ubjson(content) if path.suffix == ".ubj" else parse_json(content.decode()))["learner"]
    about = learner["learner_model_param"]
    classes = max(int(about["num_class"]), int(about.get("num_target", 1)), 1)
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster).get("model", {})  # boosting with dropout has its trees deeper
    if not all(type(number) is int and 0 <= number < classes for number in model.get("tree_info", ())):
        raise HornbookError("it has trees of a class that it does not have")
    for number, tree in enumerate(model.get("trees", ())):
        _check_xgboost_tree(tree, int(about["num_feature"]), f"tree {number}")
    return library("xgboost", "xgboost").Booster(model_file=path)


def _read_parts(text: str) -> dict[str, str]:
    """The lines `name=value` of a text."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _check_lightgbm_tree(parts: Mapping[str, str], features: int, place: str) -> None:
    leaves = int(parts["num_leaves"])
    questions = leaves - 1
    if leaves < 1 or len(parts["leaf_value"].split()) != leaves:
        raise HornbookError(f"{place} has not as many values as leaves")
    values = {name: parts.get(name, "").split() for name in LIGHTGBM_NODE_PARTS}
    for name, found in values.items():
        if len(found) != questions:
            raise HornbookError(f"{place} has {len(found)} values of {name} for {questions} questions")
    _check_features(map(int, values["split_feature"]), features, place)
    # a leaf is written as the complement of its number; here leaves come after the questions
    left, right = (
        [child if child >= 0 else questions + ~child for child in map(int, values[name])]
        for name in ("left_child", "right_child")
    )
    if questions:
        _check_tree([*left, *[LEAF] * leaves], [*right, *[LEAF] * leaves], place)
    if int(parts["num_cat"]):
        _check_lightgbm_categories(parts, values, place)


def _check_lightgbm_categories(
    parts: Mapping[str, str], values: Mapping[str, Sequence[str]], place: str
) -> None:
    """Check that each question about categories has a set of them."""
    bounds = [int(bound) for bound in parts["cat_boundaries"].split()]
    asked = [
        float(cut)
        for cut, kind in zip(values["threshold"], values["decision_type"], strict=True)
        if int(kind) & 1
    ]
    ordered = bounds == sorted(bounds) and bounds[0] == 0
    if not ordered or len(bounds) != int(parts["num_cat"]) + 1:
        raise HornbookError(f"{place} has damaged sets of categories")
    if bounds[-1] != len(parts["cat_threshold"].split()) or any(
        not 0 <= cut < len(bounds) - 1 for cut in asked
    ):
        raise HornbookError(f"{place} asks for a set of categories that it does not have")


def _check_xgboost_tree(tree: Mapping[str, Any], features: int, place: str) -> None:
    nodes = int(tree["tree_param"]["num_nodes"])
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise HornbookError(
            f"{place} decides all classes at once, which is not read; train with "
            'multi_strategy="one_output_per_tree"'
        )
    for name in XGBOOST_NODE_PARTS:
        if len(tree[name]) != nodes:
            raise HornbookError(f"{place} has {len(tree[name])} values of {name} for {nodes} nodes")
    left, right = tree["left_children"], tree["right_children"]
    _check_tree(left, right, place)
    _check_parents(tree["parents"], left, right, place)
    asked = (feature for feature, child in zip(tree["split_indices"], left, strict=True) if child != LEAF)
    _check_features(asked, features, place)


def _check_parents(parents: Sequence[int], left: Sequence[int], right: Sequence[int], place: str) -> None:
    """Check that the parent of each node is the node that it is a child of."""
    if parents[0] not in XGBOOST_NO_NODE:
        raise HornbookError(f"{place} has a first node with a parent")
    for node, children in enumerate(zip(left, right, strict=True)):
        for child in children:
            if child != LEAF and parents[child] != node:
                raise HornbookError(f"{place} has a node {child} whose parent is not the one it hangs on")


def _check_features(asked: Iterable[int], features: int, place: str) -> None:
    if any(type(feature) is not int or not 0 <= feature < features for feature in asked):
        raise HornbookError(f"{place} asks for a column that the model does not have")


def _check_tree(left: Sequence[int], right: Sequence[int], place: str) -> None:
    """Check that from node 0 each node is reached once.

    Examples
    --------
    >>> _check_tree([1, LEAF, LEAF], [2, LEAF, LEAF], "a tree")
    >>> _check_tree([1, 0, LEAF], [2, 0, LEAF], "a tree")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: a tree reaches its node 0 twice

    """
    reached = {0}
    open_nodes = [0]
    while open_nodes:
        node = open_nodes.pop()
        if (left[node] == LEAF) != (right[node] == LEAF):
            raise HornbookError(f"{place} has a node with one child")
        for child in (left[node], right[node]) if left[node] != LEAF else ():
            if type(child) is not int or not 0 <= child < len(left):
                raise HornbookError(f"{place} has no node {child}, which it goes to")
            if child in reached:
                raise HornbookError(f"{place} reaches its node {child} twice")
            reached.add(child)
            open_nodes.append(child)
    if len(reached) != len(left):
        raise HornbookError(f"{place} has nodes that are never reached")
