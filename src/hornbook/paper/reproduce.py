"""Reproduce the paper in one run folder: stage by stage, over several seeds, and the metrics of all."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import hornbook
from hornbook.data import Table
from hornbook.errors import HornbookError
from hornbook.paper import published
from hornbook.paper.repetition import ERROR_SAMPLES, READINGS, Repetition
from hornbook.paper.report import to_html, to_markdown
from hornbook.paper.settings import Scale, open_choices
from hornbook.paper.stages import Stage, StageRunner, read_json, write_json
from hornbook.paper.task import Task

CONFIG = "config.json"
PACKAGES = ("numpy", "torch", "river", "scikit-learn")


def reproduce(
    table: Table,
    folder: str | Path,
    scale: Scale,
    seed: int = 0,
    *,
    synthetic: bool = False,
    processes: int | None = None,
) -> dict[str, Any]:
    """Run every step of the paper on a table, and write tables, plots and a report.

    Parameters
    ----------
    table
        The patients, or rows of another kind, with a class.
    folder
        The run folder. An interrupted run is resumed; a folder with other data, another scale
        or another seed is refused.
    scale
        The size of all parts, see `hornbook.paper.settings`.
    seed
        The first of the seeds of the repetitions.
    synthetic
        Whether the rows are synthetic; the report says so at the top.
    processes
        Number of stages run in parallel; by default the number of cores. Only the times depend
        on it.

    Returns
    -------
    The metrics, which are also in `metrics.json`.

    """
    task, run = Task.of(table), Path(folder)
    config = _config(task, scale, seed, synthetic)
    _claim(run, config)
    repetitions = [Repetition(task, scale, each, run) for each in range(seed, seed + scale.repetitions)]
    stages = [repetition_stages(each) for each in repetitions]
    data = Stage("data", partial(_write_data, task), {"rows": config["data"]["sha256"]})
    runner, cores = StageRunner(run), processes or os.cpu_count() or 1
    runner.run_stages([data])
    runner.run_stages([each["search"] for each in stages])  # a search uses every core by itself
    # what takes longest comes first, so that all cores end together
    runner.run_stages(
        [each[name] for name in ("tree", "missing", "ours", "longer", "paper") for each in stages], cores
    )
    runner.run_stages([each["evaluation"] for each in stages], cores)
    times = {name: [runner.read_times(each[name]) for each in stages] for name in stages[0]}
    metrics = summarise(config, repetitions, times)
    write_json(run / "metrics.json", metrics)
    (run / "tables.md").write_text(to_markdown(metrics), "utf-8")
    (run / "report.html").write_text(to_html(metrics), "utf-8")
    return metrics


def repetition_stages(repetition: Repetition) -> dict[str, Stage]:
    """The stages of one repetition by name, each with its work, its settings and its predecessors."""
    scale, sample = repetition.scale, repetition.sample

    def stage(name: str, work: Callable[[Path], None], inputs: dict[str, Any], *after: str) -> Stage:
        return Stage(repetition.stage_path(name), work, inputs, ("data", *map(repetition.stage_path, after)))

    search = {"selection": scale.settings()["selection"], "fresh": scale.fresh}
    lrn_star = {"queries": repetition.queries, "sample": sample}
    longer = {"queries": scale.longer * repetition.queries, "sample": sample}
    tree = {**asdict(scale.tree), "sample": sample}
    evaluation = {"size": scale.evaluation * sample, "coherent": scale.coherent, "errors": ERROR_SAMPLES}
    return {
        "search": stage("search", repetition.search, search),
        "paper": stage("paper", repetition.read_by_lrn_star, lrn_star, "search"),
        "longer": stage("longer", repetition.read_by_longer_lrn_star, longer, "search"),
        "ours": stage("ours", repetition.read_by_prime_bodies, asdict(scale.ours), "search"),
        "tree": stage("tree", repetition.read_by_tree, tree, "search"),
        "missing": stage("missing", repetition.sweep, asdict(scale.sweep)),
        "evaluation": stage("evaluation", repetition.evaluate, evaluation, "search", *READINGS),
    }


def _write_data(task: Task, folder: Path) -> None:
    """Write the target theory T and the binariser."""
    (folder / "target.horn").write_text(task.theory.to_text(), "utf-8")
    (folder / "binariser.json").write_text(task.binariser.to_json(), "utf-8")


def _config(task: Task, scale: Scale, seed: int, synthetic: bool) -> dict[str, Any]:
    """Everything that determines the result of a run, as a JSON object."""
    rows, vocabulary = task.rows, task.rows.vocabulary
    digest = hashlib.sha256(repr((vocabulary.names, vocabulary.duals, task.table.label)).encode())
    digest.update(rows.true.tobytes() + rows.false.tobytes())
    versions = {package: metadata.version(package) for package in PACKAGES}
    return {
        "scale": scale.name,
        "seed": seed,
        "data": {
            "name": task.table.name,
            "described": task.table.describe(),
            "synthetic": synthetic,
            "sha256": digest.hexdigest(),
            "variables": len(vocabulary),
            "rules_of_t": len(task.theory),
        },
        "sample": scale.sample(len(vocabulary)),
        "settings": scale.settings(),
        "recipe": task.recipe.settings(),
        "choices": open_choices(task, scale),
        "versions": {"hornbook": hornbook.__version__, "python": platform.python_version(), **versions},
    }


def _claim(run: Path, config: dict[str, Any]) -> None:
    """Create or reuse a run folder; refuse one that holds something else."""
    kept = run / CONFIG
    try:
        run.mkdir(parents=True, exist_ok=True)
        if kept.exists():
            _refuse_other(run, read_json(kept), config)
        elif any(run.iterdir()):
            raise HornbookError(f"{run} holds other files; name a new folder")
        write_json(kept, config)
    except OSError as error:
        raise HornbookError(f"cannot write to {run}: {error.strerror}") from None


def _refuse_other(run: Path, before: Any, config: dict[str, Any]) -> None:
    """Refuse to mix two runs in one folder."""
    for name in ("scale", "seed", "data"):
        was = before.get(name) if isinstance(before, dict) else None
        if was != config[name]:
            said = f"{name} {was}" if name != "data" else "other data"
            raise HornbookError(f"{run} holds a run with {said}; name a new folder, or remove this one")


PAIRS = ("t_h", "t_nn", "h_nn", "t_tree", "tree_nn")
"""Pairs of judges whose disagreement is reported: those of the paper, and tree_nn."""


def summarise(
    config: Mapping[str, Any],
    repetitions: Sequence[Repetition],
    times: Mapping[str, Sequence[Mapping[str, float]]],
) -> dict[str, Any]:
    """Summarise all results of a run as a JSON object; only `seconds` differs between equal runs.

    A share is that of the median repetition with its interval, and the range over all
    repetitions; other figures are medians with ranges.
    """
    searches = [_read_result(each, "search", "search.json") for each in repetitions]
    evaluations = [_read_result(each, "evaluation", "evaluation.json") for each in repetitions]
    mixed, *kinds = evaluations[0]["shares"]
    return {
        "scale": config["scale"],
        "seeds": [each.seed for each in repetitions],
        "data": config["data"],
        "sample": config["sample"],
        "evaluated": evaluations[0]["size"],
        "disagreement": _disagreement(evaluations, mixed),
        "by_kind": {kind: _disagreement(evaluations, kind) for kind in kinds},
        "longer": {
            pair: summarise_shares([found["shares"][mixed][_judges(pair, "longer")] for found in evaluations])
            for pair in PAIRS
        },
        "errors": {
            reading: {
                kind: summarise_shares([found["errors"][reading][kind] for found in evaluations])
                for kind in ("missing", "wrong")
            }
            for reading in READINGS
        },
        "accuracy": _accuracy(searches),
        "rules": {reading: _rules(evaluations, reading) for reading in READINGS},
        "readings": {reading: _readings(repetitions, reading) for reading in READINGS},
        "frontiers": [_read_result(each, "ours", "reading.json")["frontier"] for each in repetitions],
        "missing": _missing([_read_result(each, "missing", "points.json") for each in repetitions]),
        "caveats": {
            "rows_rejected": summarise_shares([found["rows_rejected"] for found in evaluations]),
            "incoherent": {
                kind: summarise_shares([found["incoherent"][kind] for found in evaluations])
                for kind in evaluations[0]["incoherent"]
            },
            "choices": config["choices"],
        },
        "published": {
            "disagreement": published.DISAGREEMENT,
            "hours": published.HOURS,
            "rules_of_t": published.RULES_OF_T,
            "mean_body": published.BODY_LENGTH,
        },
        "seconds": {
            **{
                stage: {
                    **summarise_values([each["seconds"] for each in several]),
                    # other processes, which a search has many of, would be missing
                    "cpu": None if stage == "search" else summarise_values([each["cpu"] for each in several]),
                }
                for stage, several in times.items()
            },
            "total": sum(each["seconds"] for several in times.values() for each in several),
        },
    }


def summarise_values(values: Sequence[float]) -> dict[str, Any]:
    """Return the median of some values, their range, and the values.

    Examples
    --------
    >>> summarise_values([3, 1, 2])
    {'median': 2.0, 'least': 1, 'most': 3, 'runs': [3, 1, 2]}

    """
    return {
        "median": float(np.median(values)),
        "least": min(values),
        "most": max(values),
        "runs": list(values),
    }


def summarise_shares(shares: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return the median share with its interval, the range of all estimates, and all shares."""
    ordered = sorted(shares, key=lambda share: share["estimate"])
    return {
        **ordered[len(ordered) // 2],
        "least": ordered[0]["estimate"],
        "most": ordered[-1]["estimate"],
        "runs": list(shares),
    }


def _read_result(repetition: Repetition, stage: str, file: str) -> Any:
    return read_json(repetition.run / repetition.stage_path(stage) / file)


def _disagreement(evaluations: Sequence[Any], kind: str) -> dict[str, Any]:
    """The columns of the table of results, for the paper's extraction and for ours."""
    return {
        reading: {
            # h is the hypothesis of that extraction
            pair: summarise_shares([found["shares"][kind][_judges(pair, reading)] for found in evaluations])
            for pair in PAIRS
        }
        for reading in ("paper", "ours")
    }


def _judges(pair: str, reading: str) -> str:
    return "_".join(reading if judge == "h" else judge for judge in pair.split("_"))


def _accuracy(searches: Sequence[Any]) -> dict[str, Any]:
    chosen = [found["chosen"] for found in searches]
    return {
        **{
            name: summarise_values([each[name] for each in chosen])
            for name in ("cross_validated", "again", "held_out")
        },
        "chosen": chosen,
        "best": searches[0]["best"],
        "published": [
            {
                **{name: same[0][name] for name in ("net", "rate", "published")},
                **{
                    name: summarise_values([each[name] for each in same])
                    for name in ("cross_validated", "held_out")
                },
            }
            for same in zip(*(found["published"] for found in searches), strict=True)
        ],
        "configurations": searches[0]["configurations"],
        "trainings": searches[0]["trainings"],
        "failures": searches[0]["failures"],
        "held_out_by_kind": {
            kind: summarise_values([found["held_out_by_kind"][kind] for found in searches])
            for kind in searches[0]["held_out_by_kind"]
        },
    }


def _rules(evaluations: Sequence[Any], reading: str) -> dict[str, Any]:
    found = [evaluation["rules"][reading] for evaluation in evaluations]
    counted = ("count", "in_t", "entailed_by_t", "mean_body")
    return {
        **{name: summarise_values([each[name] for each in found]) for name in counted},
        "examples": found[0]["examples"],
    }


def _readings(repetitions: Sequence[Repetition], reading: str) -> dict[str, Any]:
    """The number of queries of each extraction, and why it stopped."""
    found = [_read_result(each, reading, "reading.json") for each in repetitions]
    return {
        "membership_queries": summarise_values([each["membership_queries"] for each in found]),
        "stopped": [each["stopped"] for each in found],
        **(
            {"parameters": [{name: each[name] for name in ("grace_period", "delta")} for each in found]}
            if reading == "tree"
            else {"equivalence_queries": summarise_values([each["equivalence_queries"] for each in found])}
        ),
    }


def _missing(sweeps: Sequence[Any]) -> list[dict[str, Any]]:
    """Accuracies and rules for each share of missing values, over the repetitions."""
    return [
        {
            "missing": points[0]["missing"],
            "unknown": float(np.mean([point["unknown"] for point in points])),
            **{
                name: summarise_values([value for point in points for value in point[name]])
                for name in ("own", "common", "t_h", "h_nn")
            },
        }
        for points in zip(*sweeps, strict=True)
    ]
