"""Classifiers explained: rules about a label, out of a network, a forest and boosted trees.

    pip install "hornbook[torch]"
    python benchmarks/classifiers.py [--hcc hcc-survival.csv] [--seed 0]

Models are trained on two thirds of the rows, rules are read out of them with these rows spoiled a
little, and fidelity is measured on the last third, which neither has seen: on the rows as they
are, and on samples of them spoiled in the same way. A model that takes no unknown values is
compared on complete rows only, of which HCC has few. Without a copy of HCC its synthetic twin is
used. A row about which no rule says anything, or two contradict each other, is undetermined and
counts against the rules.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table as Printed

from hornbook.classify import explain_classifier
from hornbook.data import Binariser, Table, load_dataset
from hornbook.distributions.literals import Groups
from hornbook.evaluate import Fidelity, class_fidelity
from hornbook.extraction import Extraction, Settings
from hornbook.logic.batch import Batch
from hornbook.oracles.adapters import Predictor, as_predictor
from hornbook.oracles.membership import Classifier
from hornbook.queries import Budget
from hornbook.teachers import spoiled

FRESH = 20_000
"""Spoiled rows on which fidelity is measured, beside the rows themselves."""


DRAWS = 8
"""Completions tried for each question."""


@dataclass(frozen=True)
class Task:
    """Rows of features for training and for testing, and the labels of the former."""

    name: str
    label: str
    train: Batch
    test: Batch
    classes: np.ndarray
    groups: Groups

    @classmethod
    def of(cls, table: Table, rng: np.random.Generator) -> "Task":
        """A random third of the rows is kept for testing; bins are those of the others."""
        order = rng.permutation(len(table))
        test, train = np.split(order, [len(order) // 3])
        kinds = {column: kind for column, kind in table.kinds.items() if column != table.label}
        binariser = Binariser(kinds=kinds, dual=True).fit(table.features.iloc[train])
        return cls(
            table.name,
            str(table.label),
            *(binariser.batch(table.features.iloc[rows]) for rows in (train, test)),
            table.frame[table.label].to_numpy()[train],
            binariser.groups_,
        )

    @property
    def inputs(self) -> list[str]:
        """What models read: the variables without their duals."""
        vocabulary = self.train.vocabulary
        return [vocabulary.name(v) for v, _ in vocabulary.pairs]

    @property
    def values(self) -> np.ndarray:
        """The training rows as models read them."""
        return self.train.to_array()[:, : len(self.inputs)]


def network(task: Task, rng: np.random.Generator) -> Predictor:
    """A small network that reads ½ for what is unknown, and was trained with such values."""
    import torch

    torch.manual_seed(0)
    width = len(task.inputs)
    module = torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    values = torch.tensor(np.nan_to_num(task.values, nan=0.5), dtype=torch.float32)
    classes = torch.tensor(task.classes, dtype=torch.float32)
    optimiser = torch.optim.Adam(module.parameters(), 0.01, weight_decay=1e-3)
    for _ in range(200):
        hidden = torch.tensor(rng.random(values.shape) < rng.random((len(values), 1)) / 2)
        optimiser.zero_grad()
        logits = module(torch.where(hidden, 0.5, values))[:, 0]
        torch.nn.functional.binary_cross_entropy_with_logits(logits, classes).backward()
        optimiser.step()
    return as_predictor(module, encoding="half")


def complete_network(task: Task, rng: np.random.Generator) -> Predictor:
    """The same network, asked about complete inputs only."""
    trained = network(task, rng)
    return as_predictor(trained.outputs.args[0])


def forest(task: Task, rng: np.random.Generator) -> Predictor:
    """A random forest."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(30, max_depth=6, random_state=0)
    return as_predictor(model.fit(task.values, task.classes))


def boosting(task: Task, rng: np.random.Generator) -> Predictor:
    """Gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=5, random_state=0)
    return as_predictor(model.fit(task.values, task.classes))


Build: TypeAlias = Callable[[Task, np.random.Generator], Predictor]

MODELS: dict[str, Build] = {
    "network, ½ for ?": network,
    "network, completions": complete_network,
    "random forest, NaN": forest,
    "gradient boosting, NaN": boosting,
}


def measured(task: Task, predictor: Predictor, found: Extraction, batch: Batch) -> Fidelity:
    """How faithful the rules are on rows of features; only on complete ones if the model takes no others."""
    if not predictor.encoding.native:
        batch = batch[np.flatnonzero(~np.isnan(batch.to_array()).any(axis=1))]
    vocabulary = found.theory.vocabulary
    unlabelled = np.zeros((2, batch.true.shape[1]), np.uint64)
    true, false = (np.concatenate([rows, unlabelled]) for rows in (batch.true, batch.false))
    rows = Batch(vocabulary, true, false, len(batch))
    model = Classifier(predictor, vocabulary, task.label, task.inputs).predict(rows)
    return class_fidelity(found.theory, task.label, rows, model)


def cells(found: Fidelity) -> list[str]:
    """Plain and balanced fidelity with their intervals, and the undetermined share."""
    size = sum(found.sizes)
    if not size:
        return ["no complete rows", "", ""]
    plain, (low, high) = found.plain, found.balanced_interval()
    balanced = f"{found.balanced:.1%} ({low:.0%}-{high:.0%})" if all(found.sizes) else "one class only"
    return [
        f"{plain.estimate:.1%} ({plain.low:.0%}-{plain.high:.0%}) of {size}",
        balanced,
        f"{found.undetermined.estimate:.1%}",
    ]


def explained(task: Task, name: str, settings: Settings) -> list[str]:
    """Train a model, read rules out of it, and measure them."""
    rng = np.random.default_rng(settings.seed)
    predictor = MODELS[name](task, rng)
    started = time.perf_counter()
    found = explain_classifier(
        predictor, task.train, task.label, settings, inputs=task.inputs, groups=task.groups, draws=DRAWS
    )
    seconds = time.perf_counter() - started
    source = spoiled(task.test, task.groups)
    if not predictor.encoding.native:
        source = replace(source, missing=0.0)
    fresh = source.draw(FRESH, rng)
    length = np.mean([len(rule.body) for rule in found.rules]) if found.rules else 0
    return [
        *cells(measured(task, predictor, found, task.test)),
        *cells(measured(task, predictor, found, fresh)),
        str(len(found.rules)),
        f"{length:.1f}",
        str(len(found.trace.entries)),
        f"{found.membership_queries:,}",
        f"{seconds:.1f}",
        found.stop_reason,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hcc", help="a copy of the HCC survival data")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    settings = Settings(
        Budget(equivalence_queries=60),
        size=5_000,
        min_precision=0.9,
        pool=1 << 13,
        tries=4,
        evaluation=1 << 12,
        seed=arguments.seed,
    )
    hcc = load_dataset("hcc", path=arguments.hcc) if arguments.hcc else load_dataset("hcc-synthetic")
    printed = Printed(title="fidelity to the model, with 95 % intervals")
    for column in ("dataset", "model", "held-out rows", "balanced", "undetermined"):
        printed.add_column(column)
    for column in ("spoiled held-out rows", "balanced", "undetermined"):
        printed.add_column(column)
    for column in ("rules", "length", "equivalence queries", "membership queries", "seconds", "ended by"):
        printed.add_column(column)
    tasks = [
        Task.of(table, np.random.default_rng(arguments.seed))
        for table in (load_dataset("breast-cancer"), hcc)
    ]
    jobs = list(product(tasks, MODELS))
    rows = Parallel(n_jobs=2)(delayed(explained)(task, name, settings) for task, name in jobs)
    for (task, name), row in zip(jobs, rows, strict=True):
        printed.add_row(task.name, name, *row)
    Console(width=220).print(printed)


if __name__ == "__main__":
    main()
