"""Reproduce the paper in one run folder: protocol by protocol, stage by stage, over several seeds.

A stage is a file of JSON with its result, written whole when the stage has ended: what has its file is not
done again. The settings of a run are in `config.json`, and a folder with others is refused.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bottom, HornTheory, Rule
from hornbook.paper.claims import NETS
from hornbook.paper.hoeffding import HoeffdingTree, hoeffding_tree, tune_hoeffding_tree
from hornbook.paper.networks import split_examples
from hornbook.paper.report import to_html
from hornbook.paper.search import NETS_PER_CHUNK, score_nets, select_network
from hornbook.paper.settings import Scale
from hornbook.paper.task import PROTOCOLS, Protocol, Task, draw_training_set, run_lrn_star, violating_body
from hornbook.queries import INTERRUPTED, MLP, Membership, run_learner
from hornbook.queries.disagreement import measure_disagreement
from hornbook.randomness import Purpose, generator
from hornbook.schema import write_json
from hornbook.statistics import Share
from hornbook.storage import parse_json, read_json, read_text, write_errors, write_file
from hornbook.tables import Table

SIDE_BY_SIDE = (("search",), ("tree", "missing", "ours", "lrn_star"), ("evaluation",))
"""The stages, of which those of a later group read files of earlier ones; what takes longest comes first."""

CONFIG = "config.json"
PACKAGES = ("hornbook", "numpy", "torch", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Repetition:
    """One repetition: its task, scale and seed, and the run folder."""

    task: Task
    scale: Scale
    seed: int
    run: Path

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.run / self.task.protocol.name / f"seed-{self.seed}"

    @property
    def stages(self) -> dict[str, Callable[[], Any]]:
        """What each stage does; it returns what enters the metrics.

        The paper's remark on missing values is examined under the paper's own protocol alone.
        """
        stages = {
            "search": self.search,
            "lrn_star": self.read_by_lrn_star,
            "ours": self.read_by_prime_bodies,
            "tree": self.read_by_tree,
            "missing": self.sweep,
            "evaluation": self.evaluate,
        }
        if self.scale.sweep is None or not self.task.protocol.is_published:
            del stages["missing"]
        return stages

    def do(self, stage: str) -> str:
        """Do a stage and write its file; return what was done, in words."""
        clock, busy = Stopwatch(), time.process_time()
        result = self.stages[stage]()
        times = {"seconds": clock.elapsed, "cpu": time.process_time() - busy}
        write_file(self.folder / f"{stage}.seconds", write_json(times))
        write_file(self.find_file(stage), write_json(result))
        return f"{stage} of {self.task.protocol.name}, seed {self.seed}"

    def find_file(self, stage: str) -> Path:
        """The file of a stage, which exists once the stage has ended."""
        return self.folder / f"{stage}.json"

    def search(self) -> dict[str, Any]:
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
        search = select_network(training, selection)
        search.network.save(self.folder / "network.safetensors")
        empty = Batch.from_array(np.full((1, len(task.rows.vocabulary)), np.nan), task.rows.vocabulary)
        published = [net for net, _ in NETS]
        accuracies = score_nets(published, selection.validation(training, selection.seed), 1).accuracy
        return {
            "configurations": len(selection.nets),
            "trainings": len(selection.nets) * selection.folds,
            "published": {
                str(net): {"cross_validated": float(mean)}
                for net, mean in zip(published, accuracies.mean(axis=1, dtype=np.float64), strict=True)
            },
            "chosen": {
                "net": str(search.net),
                "cross_validated": search.cross_validated,
                "again": search.again,
                "held_out": float(np.mean(search.network(fresh.batch) == fresh.accepted)),
            },
            "empty": float(search.network.log_odds(empty)[0]),
        }

    def read_by_lrn_star(self) -> dict[str, Any]:
        """Run LRN* with 100 equivalence queries, each simulated on s samples."""
        result = run_lrn_star(
            self.network,
            self.task.mixed,
            self.sample,
            generator(self.seed, Purpose.LRN_STAR),
            queries=self.scale.queries,
        )
        self._keep_rules("lrn_star", result.rules)
        return {
            "equivalence_queries": result.equivalence_queries,
            "membership_queries": result.membership_queries,
            "stopped": result.stopped,
        }

    def read_by_prime_bodies(self) -> dict[str, Any]:
        """Extract rules with prime bodies, with the same number of equivalence queries and samples."""
        settings = replace(self.scale.ours, seed=self.seed)
        result = run_learner(self.network, self.task.mixed, settings, heads=self.task.heads)
        if result.stop_reason == INTERRUPTED:
            raise KeyboardInterrupt
        self._keep_rules("ours", result.rules)
        return {
            "equivalence_queries": len(result.entries),
            "membership_queries": result.membership_queries,
            "stopped": result.stop_reason,
        }

    def read_by_tree(self) -> dict[str, Any]:
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
            unknown=unknown,
        )
        write_file(self.folder / "tests.json", write_json(grown.tree.to_object()))
        return {
            "samples": grown.samples,
            "membership_queries": grown.samples * (budget.size or self.sample),
            "stopped": grown.stopped,
            "splits": grown.tree.splits,
            **asdict(settings),
        }

    def sweep(self) -> list[dict[str, float]]:
        """Measure accuracy and rules against the share of missing values."""
        assert self.scale.sweep is not None
        return self.scale.sweep.run(self.task.theory, self.task.protocol, self.seed, self.sample)

    def evaluate(self) -> dict[str, Any]:
        """Measure the disagreement of all judges, on 2s fresh interpretations and on the real rows."""
        network, task = self.network, self.task
        vocabulary = task.theory.vocabulary
        background = HornTheory.background(vocabulary)
        rules = {name: self._rules(name) for name in ("lrn_star", "ours")}
        tree = HoeffdingTree.read(read_json(self.folder / "tests.json"), vocabulary)
        judges: dict[str, Membership] = {
            "t": task.theory.satisfied_by,
            **{name: (background | theory).satisfied_by for name, theory in rules.items()},
            "tree": tree.member,
            "nn": network,
        }
        size = self.scale.evaluation * self.sample
        errors = measure_disagreement(judges, task.mixed, size, generator(self.seed, Purpose.EVALUATION))
        # drawn again and again, the real rows would seem to be more than they are
        answers = {name: judge(task.rows) for name, judge in judges.items()}
        of_rows = {
            f"{left}_{right}": Share.where(answers[left] != answers[right])
            for left, right in combinations(judges, 2)
        }
        by_kind = {"mixed": errors.shares, **errors.by_kind, "row": of_rows}
        return {
            "size": size,
            "shares": {
                kind: {pair: _share(share) for pair, share in shares.items()}
                for kind, shares in by_kind.items()
            },
            "rules": {name: count_rules(theory.rules, task) for name, theory in rules.items()},
            "rows_rejected": _share(Share.where(~answers["nn"])),
        }

    @property
    def sample(self) -> int:
        """The sample size s of an equivalence query."""
        return self.scale.sample(len(self.task.rows.vocabulary))

    @property
    def network(self) -> MLP:
        """The network that the search chose."""
        return MLP.load(self.folder / "network.safetensors")

    def _keep_rules(self, stage: str, rules: Sequence[Rule]) -> None:
        theory = HornTheory(self.task.theory.vocabulary, rules)
        write_file(self.folder / f"{stage}.horn", theory.to_text())

    def _rules(self, stage: str) -> HornTheory:
        return HornTheory.parse(read_text(self.folder / f"{stage}.horn"), self.task.theory.vocabulary)


def _share(share: Share) -> dict[str, float]:
    return {"estimate": share.estimate, "low": share.low, "high": share.high}


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


def run_stages(repetitions: Sequence[Repetition], processes: int, tell: Callable[[str], None]) -> None:
    """Do the stages that are not done yet, side by side where none waits for another."""
    for stages in SIDE_BY_SIDE:
        pending = [
            (each, stage)
            for stage in stages
            for each in repetitions
            if stage in each.stages and not each.find_file(stage).exists()
        ]
        # a large search uses every core by itself
        alone = "search" in stages and len(repetitions[0].scale.selection.nets) > NETS_PER_CHUNK
        # joblib's engine for Ray gives all results at the end
        streams = get_active_backend()[0].supports_return_generator
        parallel = Parallel(1 if alone else processes, return_as="generator_unordered" if streams else "list")
        for done in parallel(delayed(each.do)(stage) for each, stage in pending):
            tell(done)


def reproduce(
    table: Table,
    folder: str | Path,
    scale: Scale,
    seed: int = 0,
    *,
    protocols: Sequence[Protocol] = tuple(PROTOCOLS.values()),
    synthetic: bool = False,
    processes: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Run every step of the paper on a table, and write its figures and a report.

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
    tell
        Is called with what was done, stage by stage.

    Returns
    -------
    The metrics, which are also in `metrics.json`.

    """
    tasks, run = [Task.of(table, protocol) for protocol in protocols], Path(folder)
    config = parse_json(write_json(_config(tasks[0], scale, seed, synthetic)))
    _claim(run, config)
    write_file(run / "target.horn", tasks[0].theory.to_text())
    seeds = range(seed, seed + scale.repetitions)
    repetitions = {
        task.protocol.name: [Repetition(task, scale, each, run) for each in seeds] for task in tasks
    }
    everything = [each for several in repetitions.values() for each in several]
    with write_errors(run):
        for each in everything:
            each.folder.mkdir(parents=True, exist_ok=True)
    run_stages(everything, processes or os.cpu_count() or 1, tell)
    metrics = {
        **config,
        "seeds": list(seeds),
        "labels": {task.protocol.name: task.protocol.label for task in tasks},
        "protocols": {task.protocol.name: asdict(task.protocol) for task in tasks},
        "experiments": {name: _summarise_files(several, "{}.json") for name, several in repetitions.items()},
        "seconds": {name: _summarise_files(several, "{}.seconds") for name, several in repetitions.items()},
    }
    write_file(run / "metrics.json", write_json(metrics))
    write_file(run / "report.html", to_html(metrics))
    return metrics


def _config(task: Task, scale: Scale, seed: int, synthetic: bool) -> dict[str, Any]:
    """Everything that determines the result of a run, as a JSON object."""
    rows, vocabulary = task.rows, task.rows.vocabulary
    digest = hashlib.sha256(repr((vocabulary.names, vocabulary.duals, task.table.label)).encode())
    digest.update(rows.true.tobytes() + rows.false.tobytes())
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
        "versions": {
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in PACKAGES},
        },
    }


def _claim(run: Path, config: Mapping[str, Any]) -> None:
    """Create or reuse a run folder; refuse one that holds something else."""
    kept = run / CONFIG
    with write_errors(run):
        run.mkdir(parents=True, exist_ok=True)
    if not kept.exists():
        if any(run.glob("[!.]*")):
            raise HornbookError(f"{run} holds other files; name a new folder")
        write_file(kept, write_json(config))
        return
    before = read_json(kept)
    for name, value in config.items():
        if before[name] != value:
            content = f"{name} {before[name]}" if name in ("scale", "seed") else f"other {name}"
            raise HornbookError(f"{run} holds a run with {content}; name a new folder, or remove this one")


def _summarise_files(repetitions: Sequence[Repetition], name: str) -> dict[str, Any]:
    """A summary over the repetitions of the file of each stage."""
    return {
        stage: summarise([read_json(each.folder / name.format(stage)) for each in repetitions])
        for stage in repetitions[0].stages
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
