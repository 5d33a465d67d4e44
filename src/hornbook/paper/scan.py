"""The scan: what the choices that the paper leaves open decide.

Each open choice is varied alone around the protocol `paper`. The variations that come nearest to the
published figures are then combined, step by step. The network is always the paper's own net.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hornbook.baselines import HoeffdingSettings, decide_by_tree, hoeffding_tree
from hornbook.paper import published
from hornbook.paper.missing import accuracy
from hornbook.paper.mixture import measure_disagreement
from hornbook.paper.repetition import count_rules
from hornbook.paper.stages import Stage, StageRunner, write_json
from hornbook.paper.task import Task, draw_training_set
from hornbook.queries import DEFAULT_MISSING, Budget, Membership, split_examples, train
from hornbook.randomness import Purpose, generator
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
    *({"optimiser": "sgd", "epochs": epochs} for epochs in (5, 100)),
    {"optimiser": "adam", "epochs": 20},
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

TREE = HoeffdingSettings(grace_period=50, delta=0.5)
"""The tree's parameters, which are not tuned here."""


@dataclass(frozen=True)
class ScanPlan:
    """What a scan varies, and how much it spends.

    Parameters
    ----------
    levels
        The variations of one choice each.
    seeds
        The number of consecutive seeds.
    rounds, partners
        The number of rounds in which the nearest combination so far is combined with the `partners`
        variations of other choices that came nearest by themselves.
    queries, labels
        The limit on LRN*'s equivalence queries, and the labels of the tree.
    fresh, evaluation
        The numbers of accepted and of rejected test examples, and of interpretations evaluated.

    """

    levels: tuple[Level, ...] = LEVELS
    seeds: int = 3
    rounds: int = 2
    partners: int = 4
    queries: int = published.QUERIES
    labels: int = 5_000
    fresh: int = 1000
    evaluation: int = 1 << 17


def name_level(level: Level) -> str:
    """The name of a variation, or of a combination of several.

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


def run_scan(
    task: Task, runner: StageRunner, sample: int, seed: int, plan: ScanPlan, processes: int
) -> dict[str, Any]:
    """Run every variation and the combinations; return the result as a JSON object.

    Finished parts of an interrupted scan are not run again.
    """
    measured: dict[str, dict[str, Any]] = {}

    def run_levels(levels: Sequence[Level]) -> None:
        fresh = [level for level in levels if name_level(level) not in measured]
        stages = {name_level(level): _level_stages(task, level, sample, seed, plan) for level in fresh}
        runner.run_stages([stage for several in stages.values() for stage in several], processes)
        for level in fresh:
            name = name_level(level)
            runs = [read_json(runner.folder / stage.name / "figures.json") for stage in stages[name]]
            measured[name] = {"level": dict(level), **summarise_figures(runs)}

    run_levels([{}, *plan.levels])
    alone = sorted(plan.levels, key=lambda level: measured[name_level(level)]["distance"])
    for _ in range(plan.rounds):
        best = measured[nearest_name(measured)]["level"]
        partners = [level for level in alone if not level.keys() & best.keys()][: plan.partners]
        run_levels([{**best, **level} for level in partners])
    return {
        "seeds": list(range(seed, seed + plan.seeds)),
        "protocol": task.protocol.settings(),
        "published": PUBLISHED,
        "combinations": measured,
        "nearest": nearest_name(measured),
    }


def nearest_name(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """The name of the combination nearest to the published figures."""
    return min(measured, key=lambda name: float(measured[name]["distance"]))


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


def _level_stages(task: Task, level: Level, sample: int, seed: int, plan: ScanPlan) -> list[Stage]:
    """A stage for each seed of a combination."""
    protocol = replace(task.protocol, **level)
    varied = replace(task, protocol=protocol)
    effort = {
        name: value
        for name, value in asdict(plan).items()
        if name in ("queries", "labels", "fresh", "evaluation")
    }
    inputs = {"protocol": protocol.settings(), "sample": sample, **effort}
    return [
        Stage(
            f"scan/{name_level(level).replace(', ', '+')}/seed-{each}",
            partial(measure_protocol, varied, sample, each, plan),
            inputs,
            ("data",),
        )
        for each in range(seed, seed + plan.seeds)
    ]


def measure_protocol(task: Task, sample: int, seed: int, plan: ScanPlan, folder: Path) -> None:
    """Train the paper's net under a protocol, read it by LRN* and by a tree, and write all figures."""
    protocol, mixed = task.protocol, task.mixed
    rng = generator(seed, Purpose.TRAINING_SET)
    training, _ = split_examples(task.examples(rng), rng)
    network = train(
        training, published.NETS[0][0], training=protocol.training, encoding=protocol.encoding, seed=seed
    )
    recipe = replace(task.recipe, sizes=(plan.fresh, plan.fresh))
    fresh = draw_training_set(task.theory, recipe, generator(seed, Purpose.FRESH_EXAMPLES))
    found = published.run_lrn_star(
        network,
        mixed,
        sample,
        generator(seed, Purpose.LRN_STAR),
        queries=plan.queries,
        line_7=protocol.line_7,
        close=protocol.close,
    )
    tree = hoeffding_tree(
        network,
        mixed,
        plan.labels,
        generator(seed, Purpose.TREE),
        settings=TREE,
        budget=Budget(membership_queries=plan.labels),
        unknown=protocol.unknown_input,
    )
    judges: dict[str, Membership] = {
        "t": task.theory.satisfied_by,
        "h": found.theory.satisfied_by,
        "tree": partial(decide_by_tree, tree.tree),
        "nn": network,
    }
    shares = measure_disagreement(judges, mixed, plan.evaluation, generator(seed, Purpose.EVALUATION)).shares
    figures = {
        "error": 1 - accuracy(network, fresh),
        **{pair: shares[pair].estimate for pair in ("t_nn", "h_nn", "t_h", "t_tree")},
        **count_rules(found.rules, task),
        "rows_rejected": float(np.mean(~network(task.rows))),
    }
    write_json(folder / "figures.json", figures)
