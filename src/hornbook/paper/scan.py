"""The scan: what the choices that the paper leaves open decide.

Each open choice is varied alone around the protocol `paper`; the network is always the paper's own net.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from hornbook.paper import published
from hornbook.paper.repetition import Repetition, run_repetitions
from hornbook.paper.search import ModelSelection
from hornbook.paper.settings import PAPER_BUDGET, Scale, TreeBudget
from hornbook.paper.stages import StageRunner
from hornbook.paper.task import Task
from hornbook.queries import DEFAULT_MISSING, Settings
from hornbook.storage import read_json

Level: TypeAlias = Mapping[str, Any]
"""Values of some fields of a protocol that differ from the default."""

LEVELS: tuple[Level, ...] = (
    *({"open_unknown": share} for share in (DEFAULT_MISSING, 0.8, 0.99)),
    *({"random_unknown": share} for share in (0.1, 0.6, 0.9)),
    *({"hard_share": share} for share in (0.05, 0.1, 0.2)),
    *({"asked_violations": share} for share in (0.0, 0.1, 0.25)),
    *({"line_7": way} for way in ("heads", "append")),
    {"close": True},
    *({"encoding": encoding} for encoding in ("half", "signed", "two-channel")),
    *({"epochs": epochs} for epochs in (5, 100)),
)
"""Every open choice, varied."""

PUBLISHED = {
    "error": 1 - published.ACCURACY,
    **published.DISAGREEMENT,
    "in_t_by_side": float(published.RULES_OF_T),
    "body_features": float(published.BODY_FEATURES),
}
"""The published figures that a combination is compared with; `error` is one minus the accuracy."""

FARTHEST = 3.0
"""The greatest distance of one figure: eight times as much, or an eighth."""

SCAN = Scale(
    "scan",
    repetitions=3,
    selection=ModelSelection((published.NETS[0][0],), finalists=1, seeds=1),
    ours=Settings(PAPER_BUDGET),
    tree=TreeBudget(size=100_000, samples=1, tuning=2_000),
    sweep=None,
    readers=("lrn_star", "tree"),
    evaluation=1,
)
"""Every combination is a small reproduction: the paper's own net, read by LRN* and by a tree."""


@dataclass(frozen=True)
class ScanPlan:
    """What a scan varies, and how much it spends.

    Parameters
    ----------
    levels
        The variations of one choice each.
    scale
        The size of each combination's reproduction.

    """

    levels: tuple[Level, ...] = LEVELS
    scale: Scale = SCAN


def name_level(level: Level) -> str:
    """The name of a variation.

    Examples
    --------
    >>> name_level({"hard_share": 0.1, "line_7": "heads"}), name_level({})
    ('hard_share=0.1, line_7=heads', 'default')

    """
    named = (
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in level.items()
    )
    return ", ".join(named) or "default"


def run_scan(task: Task, runner: StageRunner, seed: int, plan: ScanPlan, processes: int) -> dict[str, Any]:
    """Run every variation; return the result as a JSON object.

    Finished parts of an interrupted scan are not run again.
    """
    seeds = range(seed, seed + plan.scale.repetitions)
    levels = {name_level(level): level for level in ({}, *plan.levels)}
    repetitions = {}
    for name, level in levels.items():
        protocol = replace(task.protocol, name=f"scan/{name.replace(', ', '+')}", **level)
        varied = replace(task, protocol=protocol)
        repetitions[name] = [Repetition(varied, plan.scale, each, runner.folder) for each in seeds]
    run_repetitions(runner, [each for several in repetitions.values() for each in several], processes)
    measured = {
        name: {"level": dict(level), **summarise_figures([read_figures(each) for each in repetitions[name]])}
        for name, level in levels.items()
    }
    return {
        "seeds": list(seeds),
        "protocol": task.protocol.settings(),
        "published": PUBLISHED,
        "combinations": measured,
        "nearest": min(measured, key=lambda name: float(measured[name]["distance"])),
    }


def summarise_figures(runs: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The median and the range of each figure over the seeds, and the distance of the medians."""
    figures = {
        name: {
            "median": float(np.median([run[name] for run in runs])),
            "least": min(run[name] for run in runs),
            "most": max(run[name] for run in runs),
        }
        for name in runs[0]
    }
    return {
        "figures": figures,
        "distance": measure_distance({name: each["median"] for name, each in figures.items()}),
    }


def measure_distance(figures: Mapping[str, float]) -> float:
    """The mean over the published figures of |log₂(here / published)|, each at most `FARTHEST`.

    Examples
    --------
    >>> measure_distance(PUBLISHED)
    0.0
    >>> measure_distance({name: 2 * figure for name, figure in PUBLISHED.items()})
    1.0
    >>> measure_distance(dict.fromkeys(PUBLISHED, 0.0))
    3.0

    """
    distances = [
        min(abs(float(np.log2(figures[name] / wanted))), FARTHEST) if figures[name] > 0 else FARTHEST
        for name, wanted in PUBLISHED.items()
    ]
    return float(np.mean(distances))


def read_figures(repetition: Repetition) -> dict[str, float]:
    """The figures of a finished repetition that are compared with the published ones, and some more."""
    search, evaluation = (
        read_json(repetition.run / repetition.stage_path(stage) / f"{stage}.json")
        for stage in ("search", "evaluation")
    )
    mixed, rules = evaluation["shares"]["mixed"], evaluation["rules"]["lrn_star"]
    pairs = {"t_nn": "t_nn", "h_nn": "lrn_star_nn", "t_h": "t_lrn_star", "t_tree": "t_tree"}
    return {
        "error": 1 - search["chosen"]["held_out"],
        **{figure: mixed[pair]["estimate"] for figure, pair in pairs.items()},
        **rules,
        "rows_rejected": evaluation["rows_rejected"]["estimate"],
    }
