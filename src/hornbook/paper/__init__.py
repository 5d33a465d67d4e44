"""The paper, end to end: its task, networks and architecture search, extraction and evaluation."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.paper.missing import Sweep, plot_sweep
    from hornbook.paper.published import run_lrn_star
    from hornbook.paper.search import ModelSelection, SelectionResult, grid, score_nets, select_network
    from hornbook.paper.settings import SCALES, Scale
    from hornbook.paper.task import Recipe, Task, default_recipe, draw_training_set, target_theory

__all__ = [
    "SCALES",
    "ModelSelection",
    "Recipe",
    "Scale",
    "SelectionResult",
    "Sweep",
    "Task",
    "default_recipe",
    "draw_training_set",
    "grid",
    "plot_sweep",
    "run_lrn_star",
    "score_nets",
    "select_network",
    "target_theory",
]

_MODULES = {
    "SCALES": "settings",
    "ModelSelection": "search",
    "Recipe": "task",
    "Scale": "settings",
    "SelectionResult": "search",
    "Sweep": "missing",
    "Task": "task",
    "default_recipe": "task",
    "draw_training_set": "task",
    "grid": "search",
    "plot_sweep": "missing",
    "run_lrn_star": "published",
    "score_nets": "search",
    "select_network": "search",
    "target_theory": "task",
}
"""Where each name is; loaded when used, since these need PyTorch and scikit-learn."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.paper' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.paper.{_MODULES[name]}"), name)
