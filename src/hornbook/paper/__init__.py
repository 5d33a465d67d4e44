"""The paper, end to end: its task, networks and architecture search, extraction and evaluation."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.paper.envelopes import study_lines, study_model
    from hornbook.paper.experiment import reproduce
    from hornbook.paper.hcc import load_hcc, make_synthetic_hcc
    from hornbook.paper.networks import Net
    from hornbook.paper.report import Document, verdict_lines
    from hornbook.paper.settings import SCALES
    from hornbook.paper.task import HARD_PROTOCOL, PROTOCOLS, NearMisses, Task

__all__ = [
    "HARD_PROTOCOL",
    "PROTOCOLS",
    "SCALES",
    "Document",
    "NearMisses",
    "Net",
    "Task",
    "load_hcc",
    "make_synthetic_hcc",
    "reproduce",
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
        "networks": ["Net"],
        "report": ["Document", "verdict_lines"],
        "settings": ["SCALES"],
        "task": ["HARD_PROTOCOL", "PROTOCOLS", "NearMisses", "Task"],
    },
)
