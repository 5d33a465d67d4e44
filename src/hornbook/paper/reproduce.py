"""Reproduce the paper in one run folder: stage by stage, with several seeds, resumable."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import hornbook
from hornbook.data.table import Table
from hornbook.errors import HornbookError
from hornbook.paper.repetition import ERROR_SAMPLES, READINGS, Repetition
from hornbook.paper.report import to_html, to_markdown
from hornbook.paper.settings import Scale, open_choices
from hornbook.paper.stages import Stage, StageRunner, read_json, write_json
from hornbook.paper.summary import summarise
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
    paper = {"queries": repetition.queries, "sample": sample}
    longer = {"queries": scale.longer * repetition.queries, "sample": sample}
    tree = {**asdict(scale.tree), "sample": sample}
    evaluation = {"size": scale.evaluation * sample, "coherent": scale.coherent, "errors": ERROR_SAMPLES}
    return {
        "search": stage("search", repetition.search, search),
        "paper": stage("paper", repetition.read_by_lrn_star, paper, "search"),
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
