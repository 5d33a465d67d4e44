"""One repetition of the paper's experiment; it follows the paper's section on experiments.

A training set is drawn and a network selected; rules are extracted from the network in three ways
(the paper's, ours, a tree); all of them are compared with each other and with the target theory T
on fresh interpretations. Each stage writes its results into its own folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from hornbook.baselines import decide_by_tree, hoeffding_tree, read_tree, tree_object, tune_hoeffding_tree
from hornbook.logic import Batch, Bottom, HornTheory, Rule
from hornbook.paper import published
from hornbook.paper.missing import accuracy
from hornbook.paper.search import NETS_PER_CHUNK, ModelSelection, score_nets, select_network
from hornbook.paper.settings import Scale
from hornbook.paper.stages import Stage, StageRunner, write_json
from hornbook.paper.task import Task, draw_training_set, violating_body
from hornbook.queries import (
    INTERRUPTED,
    MLP,
    Budget,
    Examples,
    Membership,
    extract,
    split_examples,
)
from hornbook.queries.mixture import measure_disagreement
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.storage import read_json, write_file


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
        found = select_network(training, fresh, selection)
        found.network.save(folder / "network.safetensors")
        chosen = found.finalists[0]
        empty = Batch.from_array(np.full((1, len(task.rows.vocabulary)), np.nan), task.rows.vocabulary)
        report = {
            "configurations": len(found.scores),
            "trainings": len(found.scores) * selection.folds,
            "published": _score_published(training, selection),
            "chosen": {
                "net": str(chosen.net),
                "cross_validated": chosen.mean,
                "again": found.again[0],
                "held_out": accuracy(found.network, fresh),
            },
            "empty": float(found.network.log_odds(empty)[0]),
            "held_out_by_kind": {kind: share.estimate for kind, share in found.fresh.items()},
        }
        write_json(folder / "search.json", report)

    def read_by_lrn_star(self, folder: Path) -> None:
        """Run LRN* with 100 equivalence queries, each simulated on s samples."""
        protocol = self.task.protocol
        found = published.run_lrn_star(
            self.network,
            self.task.mixed,
            self.sample,
            generator(self.seed, Purpose.LRN_STAR),
            queries=self.scale.queries,
            line_7=protocol.line_7,
            close=protocol.close,
        )
        self._keep_rules(folder, found.rules)
        about = {
            "equivalence_queries": found.equivalence_queries,
            "membership_queries": found.membership_queries,
            "stopped": found.stopped,
        }
        write_json(folder / "reading.json", about)

    def read_by_prime_bodies(self, folder: Path) -> None:
        """Extract rules with prime bodies, with the same number of equivalence queries and samples."""
        settings = replace(self.scale.ours, seed=self.seed)
        network = self.network
        found = extract(network, self.task.mixed, settings, margin=network.log_odds, heads=self.task.heads)
        if found.stop_reason == INTERRUPTED:
            raise KeyboardInterrupt
        self._keep_rules(folder, found.rules)
        about = {
            "equivalence_queries": len(found.trace.entries),
            "membership_queries": found.membership_queries,
            "stopped": found.stop_reason,
            "frontier": [[point.rules, point.disagreement.estimate] for point in found.frontier],
        }
        write_json(folder / "reading.json", about)

    def read_by_tree(self, folder: Path) -> None:
        """Tune an incremental tree, then train it on samples until it errs on none of them."""
        budget, unknown = self.scale.tree, self.task.protocol.unknown_input
        network, mixed = self.network, self.task.mixed
        rng = generator(self.seed, Purpose.TREE_TUNING)
        tuning = tune_hoeffding_tree(network, mixed, budget.tuning, rng, unknown=unknown)
        grown = hoeffding_tree(
            network,
            mixed,
            budget.size or self.sample,
            generator(self.seed, Purpose.TREE),
            settings=tuning.best,
            budget=Budget(equivalence_queries=budget.samples, seconds=budget.seconds),
            unknown=unknown,
        )
        self._keep_rules(folder, grown.theory.rules)
        write_json(folder / "tree.json", tree_object(grown.tree, mixed.vocabulary))
        about = {
            "samples": grown.settings["samples"],
            "membership_queries": grown.labels_used,
            "tuning_labels": tuning.labels_used,
            "stopped": grown.stopped,
            "grace_period": tuning.best.grace_period,
            "delta": tuning.best.delta,
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
        found = measure_disagreement(judges, task.mixed, size, generator(self.seed, Purpose.EVALUATION))
        report = {
            "size": size,
            "shares": {"mixed": _shares(found.shares)}
            | {kind: _shares(shares) for kind, shares in found.by_kind.items()}
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
    nets = [net for net, _ in published.NETS]
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
