"""The frontier: how faithful an explanation of a classifier is, by how many literals there are to read.

    pip install "hornbook[torch,river,peers]"
    python benchmarks/frontier.py                       # three tables, one seed: four CPU-minutes
    python benchmarks/frontier.py --full                # eight tables, five seeds
    python benchmarks/frontier.py --job                 # an MLP on 101 inputs, columns drawn independently
    python benchmarks/frontier.py --unknowns            # scores that treat what is unknown in different ways
    python benchmarks/frontier.py --data hcc-survival.csv   # the patients, in place of synthetic ones

Models are trained on two thirds of the rows, with copies in which values are missing. Explanations
are learned from these rows, perturbed (`hornbook.teachers.perturbed`), and measured on the last
third, spoiled a little: samples of rows that neither model nor explanation has seen. Peers get
labels of the same distribution, ½ or `?` for what is unknown: as many as hornbook asks for, or as
many as they get through in about the time of our whole curve (`PEERS` says which).

Literals read are conditions: those in the bodies of rules, the splits of trees, the lines of a
card. Ours is what `Explanation.within` says for a number of literals: chosen by hornbook's own
samples, before it is measured. A peer is above our curve where it is more faithful than that with
no more literals.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table as Printed

from hornbook.classify import Explanation, Reading, explain_classifier
from hornbook.data import Binariser, Table, load_dataset, read_table
from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.evaluate import Fidelity
from hornbook.experiments.progress import tracked
from hornbook.logic.batch import Batch
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters import Predictor, as_predictor
from hornbook.teachers import classifier_labels, perturbed, spoiled

FRESH = 20_000
"""Samples of held-out rows that fidelity is measured on."""

BUDGETS = (2, 4, 8, 16, 32, 64, 100)
"""Numbers of literals at which our curve is printed."""

READING = Reading(max_rules=60, max_literals=100)

LABELS = READING.samples + 2 * READING.evaluation
"""Labels that hornbook asks for: to learn from, to compare by, and to measure with."""

SUBSET = ("wine", "diabetes", "phishing")
"""Tables that are measured unless others are asked for: those with few columns."""

CLEARLY = 0.005
"""A peer counts as above our curve if it is more faithful by half a percentage point, on average."""


@dataclass(frozen=True)
class Task:
    """Rows for training, with their classes, and where samples for learning and for judging come from."""

    name: str
    label: str
    rows: Batch
    classes: np.ndarray
    groups: Groups
    learned: Distribution
    judged: Distribution

    @classmethod
    def of(cls, table: Table, rng: np.random.Generator) -> "Task":
        """A random third of the rows is kept for judging; bins are those of the others."""
        order = rng.permutation(len(table))
        test, train = np.split(order, [len(order) // 3])
        binariser = _binariser(table).fit(table.features.iloc[train])
        rows, others = (binariser.batch(table.features.iloc[part]) for part in (train, test))
        classes = table.frame[table.label].to_numpy()[train]
        groups = binariser.groups_
        return cls(
            table.name,
            str(table.label),
            rows,
            classes,
            groups,
            perturbed(rows, groups),
            spoiled(others, groups),
        )

    @classmethod
    def of_columns(cls, table: Table) -> "Task":
        """All rows for training; samples draw each column by itself."""
        binariser = _binariser(table).fit(table.features)
        rows = binariser.batch(table.features)
        source = Columns(rows, binariser.groups_)
        return cls(
            table.name,
            str(table.label),
            rows,
            table.frame[table.label].to_numpy(),
            binariser.groups_,
            source,
            source,
        )

    @property
    def inputs(self) -> list[str]:
        """What models read: the variables without their duals."""
        vocabulary = self.rows.vocabulary
        return [vocabulary.name(v) for v, _ in vocabulary.pairs]

    def masked(self, copies: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the rows with up to half of the values missing, and their classes."""
        values = np.tile(self.rows.to_array()[:, : len(self.inputs)], (copies, 1))
        hidden = rng.random(values.shape) < rng.random((len(values), 1)) / 2
        return np.where(hidden, np.nan, values), np.tile(self.classes, copies)


@dataclass(frozen=True)
class Columns:
    """Each column from a row of its own; 10 to 30 % of the columns of a sample are missing."""

    rows: Batch
    groups: Groups

    @property
    def vocabulary(self) -> Vocabulary:
        return self.rows.vocabulary

    @property
    def kind(self) -> str:
        return "columns"

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        width = len(self.vocabulary) // 2
        values = self.rows.to_array()[:, :width]
        drawn = np.empty((size, width))
        missing = rng.uniform(0.1, 0.3, size)
        alone = set(range(width)).difference(*self.groups)
        for column in (*map(list, self.groups), *([v] for v in sorted(alone))):
            known = values[~np.isnan(values[:, column]).any(axis=1)][:, column]
            drawn[:, column] = known[rng.integers(0, len(known), size)]
            drawn[np.ix_(np.flatnonzero(rng.random(size) < missing), column)] = np.nan
        return Batch.from_array(np.hstack([drawn, 1 - drawn]), self.vocabulary)

    def describe(self) -> str:
        return f"the columns of {len(self.rows)} rows, each drawn by itself, 10 to 30 % of them missing"

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": len(self.rows)}


def _binariser(table: Table) -> Binariser:
    kinds = {column: kind for column, kind in table.kinds.items() if column != table.label}
    return Binariser(kinds=kinds, dual=True)


# Tables


def diabetes() -> Table:
    """Patients with diabetes: a worse progression than the median or not (scikit-learn)."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(as_frame=True)
    worse = (bunch.target > bunch.target.median()).astype(float)
    return read_table(bunch.data.assign(worse=worse), label="worse", name="diabetes")


def phishing() -> Table:
    """Web pages that phish or not (river)."""
    from river.datasets import Phishing

    return _streamed(Phishing(), "phishing", lambda y: bool(y))


def segments() -> Table:
    """Regions of outdoor images: of brick, foliage or grass, or not (river)."""
    from river.datasets import ImageSegments

    return _streamed(ImageSegments(), "segments", lambda y: y in {"brickface", "foliage", "grass"})


def _streamed(source: Any, name: str, positive: Callable[[Any], bool]) -> Table:
    rows = [{**x, name: float(positive(y))} for x, y in source]
    frame = pd.DataFrame(rows)
    return read_table(frame.loc[:, frame.nunique() > 1], label=name, name=name)


def tables(data: str | None) -> dict[str, Callable[[], Table]]:
    hcc = (lambda: load_dataset("hcc", path=data)) if data else (lambda: load_dataset("hcc-synthetic"))
    shipped = {
        name: (lambda name=name: load_dataset(name)) for name in ("breast-cancer", "wine", "iris", "digits")
    }
    return {
        "hcc" if data else "hcc-synthetic": hcc,
        **shipped,
        "diabetes": diabetes,
        "phishing": phishing,
        "segments": segments,
    }


# Models

Build: TypeAlias = Callable[[Task, int], Predictor]


def network(task: Task, seed: int) -> Predictor:
    """A network with layers of 32 and 16 that reads ½ for what is unknown (torch)."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    width, rng = len(task.inputs), np.random.default_rng(seed)
    layers = [torch.nn.Linear(width, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
    optimiser = torch.optim.Adam(module.parameters(), 0.01, weight_decay=1e-3)
    for _ in range(200):
        values, classes = task.masked(1, rng)
        optimiser.zero_grad()
        logits = module(torch.tensor(np.nan_to_num(values, nan=0.5), dtype=torch.float32))[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, torch.tensor(classes, dtype=torch.float32)
        )
        loss.backward()
        optimiser.step()
    return as_predictor(module, encoding="half")


def forest(task: Task, seed: int) -> Predictor:
    """A random forest that takes missing values (scikit-learn)."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(50, max_depth=8, random_state=seed)
    return as_predictor(model.fit(*task.masked(5, np.random.default_rng(seed))))


def boosting(task: Task, seed: int) -> Predictor:
    """Gradient boosting that takes missing values (scikit-learn)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    return as_predictor(model.fit(*task.masked(5, np.random.default_rng(seed))))


def job_network(task: Task, seed: int) -> Predictor:
    """A network with layers of 32 and 16 that reads ½ for what is unknown (scikit-learn)."""
    from sklearn.neural_network import MLPClassifier

    values, classes = task.masked(10, np.random.default_rng(seed))
    model = MLPClassifier((32, 16), random_state=seed, max_iter=100)
    model.fit(np.nan_to_num(values, nan=0.5), classes)
    return as_predictor(model, encoding="half")


MODELS: dict[str, Build] = {"network": network, "forest": forest, "boosting": boosting}

# Peers

Fitted: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], int]
"""What predicts from values of 1, 0 and ½, and how many literals there are to read in it."""

Fit: TypeAlias = Callable[[np.ndarray, np.ndarray, int], Fitted]


def tree(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(values, labels)
    return model.predict, int(model.tree_.node_count // 2)


def figs(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import FIGSClassifier

    model = FIGSClassifier(max_rules=size, random_state=0).fit(values, labels)
    return model.predict, int(model.complexity_)


def boosted_rules(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import BoostedRulesClassifier

    model = BoostedRulesClassifier(n_estimators=size, random_state=0).fit(values, labels)
    return model.predict, sum(int(stump.tree_.node_count // 2) for stump in model.estimators_)


def tao(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from imodels import TaoTreeClassifier

    model = TaoTreeClassifier(model_args={"max_leaf_nodes": size, "random_state": 0}).fit(values, labels)
    return model.predict, int(model.model.tree_.node_count // 2)


def ripper(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from wittgenstein import RIPPER

    def frame(values: np.ndarray) -> pd.DataFrame:
        words = np.where(values == 1, "1", np.where(values == 0, "0", "?"))
        return pd.DataFrame(words, columns=[f"x{v}" for v in range(values.shape[1])])

    rare = int(2 * labels.sum() < len(labels))  # rules for the rarer label, the other by default
    model = RIPPER(max_rules=size, random_state=0)
    model.fit(frame(values), y=labels, pos_class=rare)

    def predict(values: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(frame(values)), np.bool_) == bool(rare)

    return predict, sum(len(rule.conds) for rule in model.ruleset_.rules)


def hoeffding(values: np.ndarray, labels: np.ndarray, size: int) -> Fitted:
    from river.tree import HoeffdingTreeClassifier

    names = [f"x{v}" for v in range(values.shape[1])]
    model = HoeffdingTreeClassifier(nominal_attributes=names, leaf_prediction="mc")
    for row, label in zip(values.tolist(), labels.tolist(), strict=True):
        model.learn_one(dict(zip(names, row, strict=True)), label)

    def predict(values: np.ndarray) -> np.ndarray:
        rows = (dict(zip(names, row, strict=True)) for row in values.tolist())
        return np.array([model.predict_one(row) for row in rows], np.bool_)

    return predict, int(model.n_branches)


class Peer(NamedTuple):
    """How a peer is fitted, the sizes it is fitted with, and the labels that it learns from."""

    fit: Fit
    sizes: tuple[int, ...]
    labels: int


PEERS = {
    "tree": Peer(tree, (2, 3, 5, 9, 17, 33, 65, 101), LABELS),
    "FIGS": Peer(figs, (2, 8, 24), 1 << 15),
    "BoostedRules": Peer(boosted_rules, (1, 2, 4, 8, 16, 32, 64), 1 << 15),
    "TAO": Peer(tao, (5, 17), 10_000),
    "RIPPER": Peer(ripper, (8, 32), 10_000),
    "Hoeffding tree": Peer(hoeffding, (0,), LABELS),
}
"""The tree and the Hoeffding tree get as many labels as hornbook; time is what limits the others."""

# Measuring


@dataclass(frozen=True)
class Measured:
    """One explanation of one model: what there is to read, how faithful it is and what it cost."""

    table: str
    model: str
    seed: int
    who: str
    form: str
    size: int
    literals: int
    fidelity: float
    balanced: float
    undetermined: float
    cpu_seconds: float
    labels: int


def measured(task: Task, model: str, build: Build, seed: int, peers: list[str]) -> list[Measured]:
    """Our curve and the peers' points for one model."""
    rng = np.random.default_rng(seed)
    predictor = build(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    fresh, sample = task.judged.draw(FRESH, rng), task.learned.draw(LABELS, rng)
    expected, known = ask(fresh), ask(sample)
    found, seconds = _timed(lambda: _explained(task, predictor, replace(READING, seed=seed)))

    def ours(who: str, size: int, budget: int) -> Measured:
        said = found.within(budget)
        answered, derived = said.measured(fresh, expected)
        return Measured(
            *(task.name, model, seed, who, said.form, size, said.literals),
            *(answered.plain.estimate, answered.balanced, derived.undetermined.estimate),
            *(seconds, found.queries),
        )

    results = [ours("hornbook", budget, budget) for budget in BUDGETS]
    width = len(task.inputs)
    values, judged = (batch.to_array(unknown=0.5)[:, :width] for batch in (sample, fresh))
    for name, size in [(peer, size) for peer in peers for size in PEERS[peer].sizes]:
        fit, _, labels = PEERS[name]
        (predict, literals), cost = _timed(partial(fit, values[:labels], known[:labels].astype(int), size))
        answered = Fidelity.of(np.asarray(predict(judged), np.float64), expected)
        results += [
            Measured(
                *(task.name, model, seed, name, "peer", size, literals),
                *(answered.plain.estimate, answered.balanced, 0.0, cost, labels),
            ),
            ours(f"against {name}", size, literals),
        ]
    return results


def goals(task: Task, seed: int) -> list[str]:
    """Rules alone, 60 of them, and a card of at most 80 literals, for the network of the job."""
    predictor = job_network(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    fresh, sample = (task.judged.draw(FRESH, np.random.default_rng((seed, part))) for part in (1, 2))
    expected, known = ask(fresh), ask(sample)
    values, judged = (batch.to_array(unknown=0.5)[:, : len(task.inputs)] for batch in (sample, fresh))
    row = [str(seed), f"{max(expected.mean(), 1 - expected.mean()):.1%}"]
    row += [f"{(model.fit(values, known).predict(judged) == expected).mean():.1%}" for model in references()]
    rules = Reading(form="rules", max_rules=60, max_literals=600, samples=1 << 18, seed=seed)
    for reading in (rules, Reading(form="card", max_literals=80, seed=seed)):
        found, seconds = _timed(partial(_explained, task, predictor, reading))
        answered, _ = found.said.measured(fresh, expected)
        said = found.said
        row += [f"{answered.plain.estimate:.1%}", f"{said.lines}/{said.literals}", f"{seconds:.0f}"]
    return row


def references() -> list[Any]:
    """Models that are no explanation: how far weights, and boosted trees, could come."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    return [LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(random_state=0)]


def _explained(task: Task, predictor: Predictor, reading: Reading) -> Explanation:
    return explain_classifier(
        predictor,
        task.rows,
        task.label,
        reading,
        inputs=task.inputs,
        groups=task.groups,
        distribution=task.learned,
    )


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    return work(), time.process_time() - started


def unknowns(task: Task, seed: int) -> dict[str, float]:
    """How faithful a score can be, weights unrounded, by what it makes of unknown values."""
    predictor = job_network(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    sample, fresh = (task.learned.draw(FRESH, np.random.default_rng((seed, part))) for part in (1, 2))
    known, expected = ask(sample), ask(fresh)
    width = len(task.inputs)
    (true, false), (judged_true, judged_false) = (
        ((values == 1).astype(float), (values == 0).astype(float))
        for values in (batch.to_array()[:, :width] for batch in (sample, fresh))
    )
    evidence, judged = np.hstack([true, false]), np.hstack([judged_true, judged_false])
    regression = references()[0]
    half = regression.fit(true - false, known).predict(judged_true - judged_false)
    free = regression.fit(evidence, known).predict(judged)
    yes = judged @ (weights := _never_negative(evidence, known))[:-1] + weights[-1] > 0
    no = judged @ (weights := _never_negative(evidence, ~known))[:-1] + weights[-1] > 0
    return {
        "unknown has half the points": float((half == expected).mean()),
        "unknown has points of its own": float((free == expected).mean()),
        "unknown has none, none are negative: a card for the label, its negation by default": float(
            (yes == expected).mean()
        ),
        "the same, a card for each label": float((np.where(yes == no, ~expected, yes) == expected).mean()),
    }


def _never_negative(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Logistic regression whose weights are not negative, the intercept last and free."""
    from scipy.optimize import minimize

    whole = np.hstack([columns, np.ones((len(columns), 1))])
    sign = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = sign * (whole @ weights)
        slope = whole.T @ (-sign / (1 + np.exp(margins)))
        return float(np.logaddexp(0, -margins).sum()), slope

    bounds = [(0, None)] * columns.shape[1] + [(None, None)]
    return minimize(loss, np.zeros(whole.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x


# Printing


def curves(frame: pd.DataFrame) -> Printed:
    """Our curve beside the most faithful peer at each number of literals."""
    printed = Printed(title="fidelity on held-out rows, by literals read (mean over seeds)")
    for column in (
        "table",
        "model",
        "literals",
        "hornbook",
        "balanced",
        "form",
        "undetermined",
        "best peer",
        "its fidelity",
    ):
        printed.add_column(column)
    for (table, model), part in frame.groupby(["table", "model"], sort=False):
        ours, peers = part[part.who == "hornbook"], part[part.form == "peer"]
        for budget in BUDGETS:
            row = ours[ours["size"] == budget]
            # a peer's point is one that fits on average over seeds
            mean = peers.groupby(["who", "size"])[["literals", "fidelity"]].mean()
            fits = mean[mean.literals <= budget]
            best = fits.fidelity.idxmax() if len(fits) else None
            printed.add_row(
                str(table),
                str(model),
                str(budget),
                f"{row.fidelity.mean():.1%}",
                f"{row.balanced.mean():.1%}",
                "/".join(sorted(set(row.form))),
                f"{row.undetermined.mean():.1%}",
                best[0] if best else "",
                f"{fits.fidelity.max():.1%}" if best else "",
            )
    return printed


def above(frame: pd.DataFrame) -> Printed:
    """Every peer that is above our curve: more faithful than ours with no more literals."""
    printed = Printed(
        title=f"peers above our curve by {CLEARLY:.1%} or more (mean over seeds, ours with no more literals)"
    )
    for column in ("table", "model", "peer", "literals", "its fidelity", "ours", "above by"):
        printed.add_column(column)
    for name, peer, ours in _pairs(frame):
        ahead = peer.fidelity.mean() - ours.fidelity.mean()
        if ahead >= CLEARLY:
            printed.add_row(
                *name,
                f"{peer.literals.mean():.0f}",
                f"{peer.fidelity.mean():.1%}",
                f"{ours.fidelity.mean():.1%}",
                f"{ahead:.1%}",
            )
    return printed


def _pairs(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame, pd.DataFrame]]:
    """Each point of a peer over seeds, and what ours says with as many literals."""
    for (table, model, who, size), peer in frame[frame.form == "peer"].groupby(
        ["table", "model", "who", "size"], sort=False
    ):
        same = (frame.table == table) & (frame.model == model) & (frame["size"] == size)
        yield (str(table), str(model), str(who)), peer, frame[same & (frame.who == f"against {who}")]


def costs(frame: pd.DataFrame) -> Printed:
    """What an explanation costs: all of our curve, and each of the peers' points."""
    printed = Printed(title="cost of an explanation (ours: the whole curve; peers: their largest)")
    for column in ("who", "CPU-seconds, median", "most", "labels asked for"):
        printed.add_column(column)
    for who, part in frame[~frame.who.str.startswith("against")].groupby("who", sort=False):
        largest = part[part["size"] == part["size"].max()]
        printed.add_row(
            str(who),
            f"{largest.cpu_seconds.median():.1f}",
            f"{largest.cpu_seconds.max():.1f}",
            f"{largest.labels.max():,}",
        )
    return printed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="a copy of the HCC survival data, in place of synthetic patients")
    parser.add_argument("--full", action="store_true", help="all tables, five seeds")
    parser.add_argument("--job", action="store_true", help="the MLP on independent columns only")
    parser.add_argument(
        "--unknowns", action="store_true", help="what a score may make of unknown values, only"
    )
    parser.add_argument("--tables", nargs="+", help="some tables only")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--seeds", type=int, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--csv", help="write every measurement to this file")
    arguments = parser.parse_args()
    known = tables(arguments.data)
    names = arguments.tables or (list(known) if arguments.full else SUBSET)
    first = arguments.first_seed
    seeds = range(first, first + (arguments.seeds or (5 if arguments.full else 1)))
    console = Console(width=170)
    if arguments.unknowns:
        task = Task.of_columns(known[next(iter(known))]())
        found = pd.DataFrame([unknowns(task, seed) for seed in seeds])
        printed = Printed("scores", f"fidelity, mean over {len(seeds)} seeds")
        for name, share in found.mean().items():
            printed.add_row(str(name), f"{share:.1%}")
        console.print(printed)
        return
    if arguments.job:
        task = Task.of_columns(known[next(iter(known))]())
        printed = Printed(
            title="MLP 32-16 on binarised inputs, each column drawn by itself, 10 to 30 % missing"
        )
        for column in (
            "seed",
            "majority",
            "logistic regression",
            "gradient boosting",
            "rules alone",
            "rules/literals",
        ):
            printed.add_column(column)
        for column in ("CPU-seconds", "card", "lines/literals", "CPU-seconds"):
            printed.add_column(column)
        for row in Parallel(n_jobs=arguments.jobs)(delayed(goals)(task, seed) for seed in seeds):
            printed.add_row(*row)
        console.print(printed)
        jobs = [(task, "MLP 32-16", job_network, seed) for seed in seeds]
    else:
        jobs = [
            (Task.of(known[name](), np.random.default_rng(seed)), model, MODELS[model], seed)
            for name, model, seed in product(names, arguments.models, seeds)
        ]
    warnings.simplefilter("ignore")  # of peers about what comes with later versions of what they use
    running = Parallel(n_jobs=arguments.jobs, return_as="generator")(
        delayed(measured)(*job, arguments.peers) for job in jobs
    )
    parts = list(tracked(running, len(jobs), "models"))
    frame = pd.DataFrame([asdict(result) for part in parts for result in part])
    if arguments.csv:
        frame.to_csv(arguments.csv, index=False)
    for printed in (curves(frame), above(frame), costs(frame)):
        console.print(printed)


if __name__ == "__main__":
    main()
