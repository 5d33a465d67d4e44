"""The paper, end to end: its task, networks and architecture search, extraction and evaluation."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.paper.envelopes import study_lines, study_model
    from hornbook.paper.experiment import reproduce
    from hornbook.paper.hcc import load_hcc, make_synthetic_hcc
    from hornbook.paper.report import Document, verdict_lines
    from hornbook.paper.search import ModelSelection, grid, score_nets, select_network
    from hornbook.paper.settings import SCALES, Scale, Sweep, TreeBudget
    from hornbook.paper.task import (
        HALF_PROTOCOL,
        HARD_PROTOCOL,
        PAPER_PROTOCOL,
        PROTOCOLS,
        NearMisses,
        Protocol,
        Recipe,
        Task,
        draw_training_set,
        run_lrn_star,
    )

__all__ = [
    "HALF_PROTOCOL",
    "HARD_PROTOCOL",
    "PAPER_PROTOCOL",
    "PROTOCOLS",
    "SCALES",
    "Document",
    "ModelSelection",
    "NearMisses",
    "Protocol",
    "Recipe",
    "Scale",
    "Sweep",
    "Task",
    "TreeBudget",
    "draw_training_set",
    "grid",
    "load_hcc",
    "make_synthetic_hcc",
    "reproduce",
    "run_lrn_star",
    "score_nets",
    "select_network",
    "study_lines",
    "study_model",
    "verdict_lines",
]

__getattr__ = load_lazily(
    "hornbook.paper",
    {
        "envelopes": ["study_lines", "study_model"],
        "experiment": ["reproduce"],
        "hcc": ["load_hcc", "make_synthetic_hcc"],
        "report": ["Document", "verdict_lines"],
        "search": ["ModelSelection", "grid", "score_nets", "select_network"],
        "settings": ["SCALES", "Scale", "Sweep", "TreeBudget"],
        "task": [
            "run_lrn_star",
            "HALF_PROTOCOL",
            "HARD_PROTOCOL",
            "PAPER_PROTOCOL",
            "PROTOCOLS",
            "NearMisses",
            "Protocol",
            "Recipe",
            "Task",
            "draw_training_set",
        ],
    },
)
