"""Trees read as rules: what rule extraction has to beat."""

from hornbook.baselines.hoeffding import HoeffdingSettings, Tuning, hoeffding_tree, tuned
from hornbook.baselines.tree import Baseline, decision_tree

__all__ = ["Baseline", "HoeffdingSettings", "Tuning", "decision_tree", "hoeffding_tree", "tuned"]
