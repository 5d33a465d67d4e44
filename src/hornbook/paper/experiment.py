"""Reproduce the paper in one run folder: protocol by protocol, stage by stage, over several seeds."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import hornbook
from hornbook.baselines import decide_by_tree, hoeffding_tree, read_tree, tree_object, tune_hoeffding_tree
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bottom, HornTheory, Rule
from hornbook.paper.claims import NETS
from hornbook.paper.report import to_html, to_markdown
from hornbook.paper.search import NETS_PER_CHUNK, ModelSelection, score_nets, select_network
from hornbook.paper.settings import READERS, Scale, accuracy, open_choices
from hornbook.paper.stages import Stage, StageRunner, write_json
from hornbook.paper.task import PROTOCOLS, Protocol, Task, draw_training_set, run_lrn_star, violating_body
from hornbook.queries import (
    INTERRUPTED,
    MLP,
    Examples,
    Membership,
    extract,
    split_examples,
)
from hornbook.queries.result import measure_disagreement
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.storage import read_json, write_file
from hornbook.tables import Table


@dataclass(frozen=True, eq=False)
class Repetition:
    """One repetition: its task, scale and seed, and the run folder."""

    task: Task
    scale: Scale
    seed: int
    run: Path

    def stages(self) -> dict[str, Stage]:
        """The stages by name, each with its work, its settings and its predecessors.

        The paper's remark on missing values is examined under the paper's own protocol alone.
        """
        scale, sample, protocol = self.scale, self.sample, self.task.protocol

        def stage(name: str, work: Callable[[Path], None], inputs: dict[str, Any], *after: str) -> Stage:
            inputs = {"protocol": protocol.settings(), **inputs}
            return Stage(self.stage_path(name), work, inputs, ("data", *map(self.stage_path, after)))

        search = {"selection": scale.settings()["selection"], "fresh": scale.fresh}
        lrn_star = {"queries": scale.queries, "sample": sample}
        tree = {**asdict(scale.tree), "sample": sample}
        evaluation = {"size": scale.evaluation * sample}
        readers = {
            "lrn_star": stage("lrn_star", self.read_by_lrn_star, lrn_star, "search"),
            "ours": stage("ours", self.read_by_prime_bodies, asdict(scale.ours), "search"),
            "tree": stage("tree", self.read_by_tree, tree, "search"),
        }
        stages = {
            "search": stage("search", self.search, search),
            **{name: readers[name] for name in scale.readers},
            "evaluation": stage("evaluation", self.evaluate, evaluation, "search", *scale.readers),
        }
        if scale.sweep and protocol.is_published:
            stages["missing"] = stage("missing", self.sweep, asdict(scale.sweep) | {"sample": sample})
        return stages

    def search(self, folder: Path) -> None:
        """Select the network: draw a training set, search architectures, save the best network."""
        task, scale = self.task, self.scale
        rng = generator(self.seed, Purpose.TRAINING_SET)
        training, _ = split_examples(task.examples(rng), rng)
        recipe = replace(task.recipe, sizes=(scale.fresh, scale.fresh))
        fresh = draw_training_set(task.theory, recipe, generator(self.seed, Purpose.FRESH_EXAMPLES))
        selection = replace(
            scale.selection,
            training=task.protocol.training,
            encoding=task.protocol.encoding,
            # a selection uses the seeds that follow its own, so they are spread out
            seed=self.seed * (1 + scale.selection.seeds),
        )
        search = select_network(training, fresh, selection)
        search.network.save(folder / "network.safetensors")
        chosen = search.finalists[0]
        empty = Batch.from_array(np.full((1, len(task.rows.vocabulary)), np.nan), task.rows.vocabulary)
        report = {
            "configurations": len(search.scores),
            "trainings": len(search.scores) * selection.folds,
            "published": _score_published(training, selection),
            "chosen": {
                "net": str(chosen.net),
                "cross_validated": chosen.mean,
                "again": search.again[0],
                "held_out": accuracy(search.network, fresh),
            },
            "empty": float(search.network.log_odds(empty)[0]),
            "held_out_by_kind": {kind: share.estimate for kind, share in search.fresh.items()},
        }
        write_json(folder / "search.json", report)

    def read_by_lrn_star(self, folder: Path) -> None:
        """Run LRN* with 100 equivalence queries, each simulated on s samples."""
        protocol = self.task.protocol
        result = run_lrn_star(
            self.network,
            self.task.mixed,
            self.sample,
            generator(self.seed, Purpose.LRN_STAR),
            queries=self.scale.queries,
            line_7=protocol.line_7,
            close=protocol.close,
        )
        self._keep_rules(folder, result.rules)
        about = {
            "equivalence_queries": result.equivalence_queries,
            "membership_queries": result.membership_queries,
            "stopped": result.stopped,
        }
        write_json(folder / "reading.json", about)

    def read_by_prime_bodies(self, folder: Path) -> None:
        """Extract rules with prime bodies, with the same number of equivalence queries and samples."""
        settings = replace(self.scale.ours, seed=self.seed)
        network = self.network
        result = extract(network, self.task.mixed, settings, margin=network.log_odds, heads=self.task.heads)
        if result.stop_reason == INTERRUPTED:
            raise KeyboardInterrupt
        self._keep_rules(folder, result.rules)
        about = {
            "equivalence_queries": len(result.trace.entries),
            "membership_queries": result.membership_queries,
            "stopped": result.stop_reason,
            "frontier": [[point.rules, point.disagreement.estimate] for point in result.frontier],
        }
        write_json(folder / "reading.json", about)

    def read_by_tree(self, folder: Path) -> None:
        """Tune an incremental tree, then train it on samples until it errs on none of them."""
        budget, unknown = self.scale.tree, self.task.protocol.unknown_input
        network, mixed = self.network, self.task.mixed
        rng = generator(self.seed, Purpose.TREE_TUNING)
        settings = tune_hoeffding_tree(network, mixed, budget.tuning, rng, unknown=unknown)
        grown = hoeffding_tree(
            network,
            mixed,
            budget.size or self.sample,
            generator(self.seed, Purpose.TREE),
            settings=settings,
            samples=budget.samples,
            seconds=budget.seconds,
            unknown=unknown,
        )
        self._keep_rules(folder, grown.theory.rules)
        write_json(folder / "tree.json", tree_object(grown.tree, mixed.vocabulary))
        about = {
            "samples": grown.samples,
            "membership_queries": grown.labels_used,
            "tuning_labels": 2 * budget.tuning,
            "stopped": grown.stopped,
            "grace_period": settings.grace_period,
            "delta": settings.delta,
        }
        write_json(folder / "reading.json", about)

    def sweep(self, folder: Path) -> None:
        """Measure accuracy and rules against the share of missing values."""
        assert self.scale.sweep is not None
        points = self.scale.sweep.run(self.task.theory, self.task.protocol, self.seed, self.sample)
        write_json(folder / "points.json", points)

    def evaluate(self, folder: Path) -> None:
        """Measure the disagreement of all judges, on 2s fresh interpretations and on the real rows."""
        network, task = self.network, self.task
        judges: dict[str, Membership] = {
            "t": task.theory.satisfied_by,
            **{name: self._judge(name) for name in self.scale.readers},
            "nn": network,
        }
        size = self.scale.evaluation * self.sample
        errors = measure_disagreement(judges, task.mixed, size, generator(self.seed, Purpose.EVALUATION))
        report = {
            "size": size,
            "shares": {"mixed": _shares(errors.shares)}
            | {kind: _shares(shares) for kind, shares in errors.by_kind.items()}
            # drawn again and again, the real rows would seem to be more than they are
            | {"row": _shares(_disagreement_on(task.rows, judges))},
            "rules": {name: count_rules(self._rules(name).rules, task) for name in self.scale.readers},
            "rows_rejected": _share(Share.where(~network(task.rows))),
        }
        write_json(folder / "evaluation.json", report)

    @property
    def sample(self) -> int:
        """The sample size s of an equivalence query."""
        return self.scale.sample(len(self.task.rows.vocabulary))

    @property
    def network(self) -> MLP:
        """The network that the search chose."""
        return MLP.load(self.run / self.stage_path("search") / "network.safetensors")

    def stage_path(self, stage: str) -> str:
        """The folder of a stage of this repetition."""
        return f"{self.task.protocol.name}/seed-{self.seed}/{stage}"

    def _keep_rules(self, folder: Path, rules: Sequence[Rule]) -> None:
        theory = HornTheory(self.task.theory.vocabulary, rules)
        write_file(folder / "rules.json", theory.to_json())
        write_file(folder / "rules.horn", theory.to_text())

    def _rules(self, reading: str) -> HornTheory:
        return HornTheory.from_json((self.run / self.stage_path(reading) / "rules.json").read_text("utf-8"))

    def _judge(self, reading: str) -> Membership:
        """What was read from the network, as a judge: the tree itself, or rules with their background."""
        vocabulary = self.task.theory.vocabulary
        if reading == "tree":
            tree = read_json(self.run / self.stage_path("tree") / "tree.json")
            return partial(decide_by_tree, read_tree(tree, vocabulary))
        return (HornTheory.background(vocabulary) | self._rules(reading)).satisfied_by


def run_repetitions(runner: StageRunner, repetitions: Sequence[Repetition], processes: int) -> None:
    """Run the stages of several repetitions, side by side where none waits for another."""
    stages = [each.stages() for each in repetitions]
    # a large search uses every core by itself
    alone = any(len(each.scale.selection.nets) > NETS_PER_CHUNK["cpu"] for each in repetitions)
    runner.run_stages([each["search"] for each in stages], 1 if alone else processes)
    # what takes longest comes first, so that all cores end together
    order = ("tree", "missing", "ours", "lrn_star")
    runner.run_stages([each[name] for name in order for each in stages if name in each], processes)
    runner.run_stages([each["evaluation"] for each in stages], processes)


def count_rules(rules: Sequence[Rule], task: Task) -> dict[str, float]:
    """Count rules, those that are rules of T in three senses, and the mean length of their bodies.

    `in_t` counts literally, `in_t_by_side` up to the side of the class literal, `entailed_by_t`
    what follows from T. Lengths are in literals and in features, both without the class.
    """
    target, vocabulary = task.theory, task.theory.vocabulary
    literally = set(target)
    violations = {violating_body(rule, vocabulary) for rule in target}
    classes = {v for v in task.heads if not isinstance(v, Bottom)}
    bodies = [(len(rule.body - classes), len(task.features(rule))) for rule in rules] or [(0, 0)]
    literals, features = np.mean(bodies, axis=0).tolist()
    return {
        "count": len(rules),
        "in_t": sum(rule in literally for rule in rules),
        "in_t_by_side": sum(violating_body(rule, vocabulary) in violations for rule in rules),
        "entailed_by_t": sum(target.entails(rule) for rule in rules),
        "body_literals": literals,
        "body_features": features,
    }


def _score_published(training: Examples, selection: ModelSelection) -> dict[str, Any]:
    """Cross-validate the paper's four published nets."""
    nets = [net for net, _ in NETS]
    validated = score_nets(nets, selection.validation(training, selection.seed))
    return {str(net): {"cross_validated": validated[at].mean} for at, net in enumerate(nets)}


def _disagreement_on(batch: Batch, judges: Mapping[str, Membership]) -> dict[str, Share]:
    """Measure the disagreement of each pair of judges on a batch."""
    answers = {name: judge(batch) for name, judge in judges.items()}
    return {
        f"{left}_{right}": Share.where(answers[left] != answers[right])
        for left, right in combinations(judges, 2)
    }


def _shares(shares: Mapping[str, Share]) -> dict[str, Any]:
    return {pair: _share(share) for pair, share in shares.items()}


def _share(share: Share) -> dict[str, Any]:
    return {"estimate": share.estimate, "low": share.low, "high": share.high}


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
            content = f"{name} {was}" if name != "data" else "other data"
            raise HornbookError(f"{run} holds a run with {content}; name a new folder, or remove this one")


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
