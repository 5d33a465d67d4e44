"""Trees read as rules: what rule extraction has to beat."""

from hornbook.baselines.hoeffding import HoeffdingSettings, Tuning, hoeffding_tree, tune_hoeffding_tree
from hornbook.baselines.tree import Baseline, decide_by_tree, decision_tree, read_tree, tree_object

__all__ = [
    "Baseline",
    "HoeffdingSettings",
    "Tuning",
    "decide_by_tree",
    "decision_tree",
    "hoeffding_tree",
    "read_tree",
    "tree_object",
    "tune_hoeffding_tree",
]
