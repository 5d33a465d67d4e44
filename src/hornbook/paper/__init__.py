"""The paper, end to end: its task, networks and architecture search, extraction and evaluation."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.paper.disagreement import Disagreement, measure_disagreement
    from hornbook.paper.missing import Sweep
    from hornbook.paper.mixture import Mixture
    from hornbook.paper.protocol import HARD_PROTOCOL, PAPER_PROTOCOL, PROTOCOLS, Protocol, Recipe
    from hornbook.paper.published import run_lrn_star
    from hornbook.paper.search import ModelSelection, SelectionResult, grid, score_nets, select_network
    from hornbook.paper.settings import SCALES, Scale
    from hornbook.paper.task import Task, draw_training_set, target_theory

__all__ = [
    "HARD_PROTOCOL",
    "PAPER_PROTOCOL",
    "PROTOCOLS",
    "SCALES",
    "Disagreement",
    "Mixture",
    "ModelSelection",
    "Protocol",
    "Recipe",
    "Scale",
    "SelectionResult",
    "Sweep",
    "Task",
    "draw_training_set",
    "grid",
    "measure_disagreement",
    "run_lrn_star",
    "score_nets",
    "select_network",
    "target_theory",
]

__getattr__ = load_lazily(
    "hornbook.paper",
    {
        "disagreement": ["Disagreement", "measure_disagreement"],
        "missing": ["Sweep"],
        "mixture": ["Mixture"],
        "protocol": ["HARD_PROTOCOL", "PAPER_PROTOCOL", "PROTOCOLS", "Protocol", "Recipe"],
        "published": ["run_lrn_star"],
        "search": ["ModelSelection", "SelectionResult", "grid", "score_nets", "select_network"],
        "settings": ["SCALES", "Scale"],
        "task": ["Task", "draw_training_set", "target_theory"],
    },
)
