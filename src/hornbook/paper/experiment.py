"""Reproduce the paper in one run folder: protocol by protocol, stage by stage, over several seeds."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import hornbook
from hornbook.errors import HornbookError
from hornbook.paper.repetition import Repetition, run_repetitions
from hornbook.paper.report import to_html, to_markdown
from hornbook.paper.settings import READERS, Scale, open_choices
from hornbook.paper.stages import Stage, StageRunner, write_json
from hornbook.paper.task import PROTOCOLS, Protocol, Task
from hornbook.storage import read_json, write_file
from hornbook.tables import Table

CONFIG = "config.json"
PACKAGES = ("numpy", "torch", "scikit-learn")


def reproduce(
    table: Table,
    folder: str | Path,
    scale: Scale,
    seed: int = 0,
    *,
    protocols: Sequence[Protocol] = tuple(PROTOCOLS.values()),
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
    protocols
        The protocols to run, each an experiment of its own.
    synthetic
        Whether the rows are synthetic; the report says so at the top.
    processes
        Number of stages run in parallel; by default the number of cores. Only the times depend
        on it.

    Returns
    -------
    The metrics, which are also in `metrics.json`.

    """
    tasks, run = [Task.of(table, protocol) for protocol in protocols], Path(folder)
    config = _config(tasks, scale, seed, synthetic)
    runner, cores = _open_folder(run, tasks[0], config), processes or os.cpu_count() or 1
    repetitions = {
        task.protocol.name: [
            Repetition(task, scale, each, run) for each in range(seed, seed + scale.repetitions)
        ]
        for task in tasks
    }
    run_repetitions(runner, [each for several in repetitions.values() for each in several], cores)
    metrics = summarise_repetitions(config, repetitions, runner)
    write_json(run / "metrics.json", metrics)
    write_file(run / "tables.md", to_markdown(metrics))
    write_file(run / "report.html", to_html(metrics))
    return metrics


def _open_folder(run: Path, task: Task, config: dict[str, Any]) -> StageRunner:
    """Create or reuse a run folder, and write what all of its stages read."""
    _claim(run, config)
    runner = StageRunner(run)
    runner.run_stages([Stage("data", partial(_write_data, task), {"rows": config["data"]["sha256"]})])
    return runner


def _write_data(task: Task, folder: Path) -> None:
    """Write the target theory T and the binariser."""
    write_file(folder / "target.horn", task.theory.to_text())
    write_file(folder / "binariser.json", task.binariser.to_json())


def _config(tasks: Sequence[Task], scale: Scale, seed: int, synthetic: bool) -> dict[str, Any]:
    """Everything that determines the result of a run, as a JSON object."""
    task = tasks[0]
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
        "protocols": {each.protocol.name: each.protocol.settings() for each in tasks},
        "choices": {each.protocol.name: open_choices(each, scale) for each in tasks},
        "versions": {"hornbook": hornbook.__version__, "python": platform.python_version(), **versions},
    }


def _claim(run: Path, config: dict[str, Any]) -> None:
    """Create or reuse a run folder; refuse one that holds something else."""
    kept = run / CONFIG
    try:
        run.mkdir(parents=True, exist_ok=True)
        if kept.exists():
            _refuse_other(run, read_json(kept), config)
        elif any(run.glob("[!.]*")):
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


RESULTS = {
    "search": "search.json",
    **dict.fromkeys(READERS, "reading.json"),
    "missing": "points.json",
    "evaluation": "evaluation.json",
}
"""The file of each stage that enters the metrics."""


def summarise_repetitions(
    config: Mapping[str, Any], repetitions: Mapping[str, Sequence[Repetition]], runner: StageRunner
) -> dict[str, Any]:
    """Summarise the repetitions of each protocol; only `seconds` differs between equal runs.

    `experiments` has, for each protocol and stage, what the stage wrote, with a summary over the
    repetitions in the place of each number and share.
    """
    first = next(iter(repetitions.values()))
    return {
        "scale": config["scale"],
        "seeds": [each.seed for each in first],
        "data": config["data"],
        "sample": config["sample"],
        "settings": config["settings"],
        "labels": {name: several[0].task.protocol.label for name, several in repetitions.items()},
        "experiments": {name: _summarise_stages(several) for name, several in repetitions.items()},
        "choices": config["choices"],
        "seconds": {
            name: {
                stage: summarise([runner.read_times(each.stages()[stage]) for each in several])
                for stage in several[0].stages()
            }
            for name, several in repetitions.items()
        },
    }


def _summarise_stages(repetitions: Sequence[Repetition]) -> dict[str, Any]:
    """The results of one protocol by stage."""
    return {
        stage: summarise([read_json(each.run / each.stage_path(stage) / file) for each in repetitions])
        for stage, file in RESULTS.items()
        if stage in repetitions[0].stages()
    }


def summarise(results: Sequence[Any]) -> Any:
    """Summarise results of the same form: what stands in the same place of each becomes one summary.

    A number becomes its median, range and values, and so does the estimate of a share. Texts, and lists of
    anything but objects, are listed.

    Examples
    --------
    >>> summarise([{"rules": 3, "net": "8-4"}, {"rules": 1, "net": "4"}, {"rules": 2, "net": "8"}])
    {'rules': {'median': 2.0, 'least': 1, 'most': 3, 'runs': [3, 1, 2]}, 'net': {'runs': ['8-4', '4', '8']}}
    >>> summarise([{"estimate": 0.5, "low": 0.4, "high": 0.6}])["median"]
    0.5

    """
    first = results[0]
    if isinstance(first, dict):
        if first.keys() == {"estimate", "low", "high"}:
            return {**summarise([each["estimate"] for each in results]), "runs": list(results)}
        return {name: summarise([each[name] for each in results]) for name in first}
    if isinstance(first, int | float):
        return {
            "median": float(np.median(results)),
            "least": min(results),
            "most": max(results),
            "runs": list(results),
        }
    if isinstance(first, list) and first and isinstance(first[0], dict):
        return [summarise(parts) for parts in zip(*results, strict=True)]
    return {"runs": list(results)}
