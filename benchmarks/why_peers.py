"""Reasons with a proof beside peers: the same models, the same rows, one run.

    pip install --target peers pyxai maraboupy
    PYTHONPATH=peers python benchmarks/why_peers.py [--part forests|networks] [--rows 10] [--seconds 20]

`forests`: sufficient reasons of rows by PyXAI and by `ColumnProver`, both out of the thresholds of the
forest: seconds, conditions, and what our prover says of PyXAI's reasons, with the model's own `predict`
as the judge of every witness. `networks`: columns are freed one after another, by Marabou and by
`ColumnProver`, in the same order: seconds, columns left, and questions that stayed open. A peer that is
not installed is left out. Seconds are those of the clock, of one thread.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbook.conditions import Category, Condition, Threshold
from hornbook.models import find_predictor
from hornbook.proof import ColumnProver, Domain, make
from hornbook.proof.ensembles import single_cut


def breast_cancer() -> tuple[pd.DataFrame, np.ndarray]:
    """569 rows of 30 columns."""
    rows, labels = load_breast_cancer(as_frame=True, return_X_y=True)
    return rows.set_axis([f"c{number}" for number in range(30)], axis=1), labels.to_numpy()


def many_columns() -> tuple[pd.DataFrame, np.ndarray]:
    """2,000 made-up rows of 90 columns."""
    numbers, labels = make_classification(2000, 90, n_informative=12, random_state=0)
    return pd.DataFrame(numbers, columns=[f"c{number}" for number in range(90)]), labels


def forests() -> Iterator[tuple[str, RandomForestClassifier, pd.DataFrame]]:
    """Forests of full trees, and their tables."""
    for name, (rows, labels), trees in (
        ("20 trees, 30 columns", breast_cancer(), 20),
        ("20 trees, 90 columns", many_columns(), 20),
        ("100 trees, 30 columns", breast_cancer(), 100),
    ):
        yield name, RandomForestClassifier(trees, random_state=0).fit(rows, labels), rows


def shrink(
    prover: ColumnProver, body: list[Condition], outcome: int, seconds: float
) -> tuple[list[Condition], Counter]:
    """The conditions left when each that provably can go has gone, and how the questions ended."""
    ended: Counter = Counter()
    verdict = prover.prove(body, outcome, seconds=seconds)
    for condition in body.copy():
        if verdict.needed is not None:
            body = [each for each in body if each in verdict.needed]
        if condition not in body:
            continue
        smaller = [each for each in body if each is not condition]
        answer = prover.prove(smaller, outcome, seconds=seconds)
        ended[answer.status] += 1
        if answer.status == "proved":
            body, verdict = smaller, answer
    return body, ended


def find_neighbours(model: RandomForestClassifier, row: pd.Series) -> list[Condition]:
    """The thresholds of a forest next to the values of a row, below and above."""
    body: list[Condition] = []
    for place, (name, value) in enumerate(row.items()):
        trees = [each.tree_ for each in model.estimators_]
        cuts = sorted({single_cut(cut) for tree in trees for cut in tree.threshold[tree.feature == place]})
        below = np.searchsorted(cuts, value)
        if below:
            body.append(Threshold(str(name), cuts[below - 1]))
        if below < len(cuts):
            body.append(Threshold(str(name), cuts[below], above=False))
    return body


class Pyxai:
    """PyXAI's explainer of a forest."""

    def __init__(self, model: RandomForestClassifier) -> None:
        from pyxai import Builder, Explaining, Learning

        self.explaining, self.builder = Explaining, Builder
        trees = [Builder.DecisionTree(model.n_features_in_, self._node(each.tree_, 0))
                 for each in model.estimators_]  # fmt: skip
        about = Learning.LearnerInformation(None, problem_type="classification")
        self.forest = Builder.RandomForest(trees, n_classes=2, learner_information=about)
        self.columns = list(model.feature_names_in_)

    def _node(self, tree, node: int):
        if tree.children_left[node] < 0:
            return int(tree.value[node, 0].argmax())
        below, above = (
            self._node(tree, int(each[node])) for each in (tree.children_left, tree.children_right)
        )
        return self.builder.DecisionNode(
            int(tree.feature[node]) + 1, operator=self.builder.GT, threshold=float(tree.threshold[node]),
            left=below, right=above,
        )  # fmt: skip

    def explain(self, row: pd.Series, seconds: float) -> list[Condition] | None:
        """A sufficient reason as conditions; None if there was none in time."""
        explainer = self.explaining.initialize(self.forest, instance=row.to_numpy())
        reason = explainer.sufficient_reason(time_limit=int(np.ceil(seconds)))
        if not reason or explainer.elapsed_time == self.explaining.TIMEOUT:
            return None
        listed = []
        for literal in reason:
            feature, _, cut = self.forest.map_id_binaries_to_features[abs(literal)]
            listed.append(Threshold(self.columns[feature - 1], single_cut(cut), above=literal > 0))
        return listed


def forests_table(count: int, seconds: float) -> Table:
    """Reasons about forests by PyXAI and by us."""
    table = Table(title=f"sufficient reasons of {count} rows, {seconds:g} s each")
    for name in ("forest", "by", "seconds to set up", "median s", "worst s", "in time", "median conditions",
                 "median columns", "of them proved by us", "refuted"):  # fmt: skip
        table.add_column(name, justify="left" if name in ("forest", "by") else "right")
    for name, model, rows in forests():
        chosen = rows.iloc[np.random.default_rng(0).permutation(len(rows))[:count]]
        outcomes = model.predict(chosen)
        started = time.perf_counter()
        prover = make(find_predictor(model, rows)[0], Domain.of(rows), seconds=seconds)
        for outcome in (0, 1):  # the formula of each class is made at its first question
            prover.prove([], outcome)
        ours_ready = time.perf_counter() - started
        explain: dict[str, tuple[float, Callable]] = {
            "hornbook": (ours_ready, lambda row, outcome, m=model, p=prover: shrink(
                p, find_neighbours(m, row), outcome, seconds)[0]),
        }  # fmt: skip
        if find_spec("pyxai"):
            started = time.perf_counter()
            peer = Pyxai(model)
            explain["PyXAI"] = (
                time.perf_counter() - started,
                lambda row, outcome, p=peer: p.explain(row, seconds),
            )
        for by, (ready, reason_of) in explain.items():
            times, reasons = [], []
            for (_, row), outcome in zip(chosen.iterrows(), outcomes, strict=True):
                started = time.perf_counter()
                reason = reason_of(row, int(outcome))
                times.append(time.perf_counter() - started)
                if reason is not None:
                    reasons.append((reason, int(outcome)))
            ended = Counter(prover.prove(reason, outcome).status for reason, outcome in reasons)
            lengths = [len(reason) for reason, _ in reasons] or [np.nan]
            columns = [len({each.column for each in reason}) for reason, _ in reasons] or [np.nan]
            table.add_row(
                name, by, f"{ready:.2f}", f"{np.median(times):.3f}", f"{max(times):.2f}",
                f"{len(reasons)} of {count}", f"{np.median(lengths):g}", f"{np.median(columns):g}",
                str(ended["proved"]), str(ended["refuted"]),
            )  # fmt: skip
    return table


class MarabouQuestions:
    """Marabou's answers about a scaled perceptron of scikit-learn."""

    def __init__(self, model, seconds: float) -> None:
        from maraboupy import Marabou, MarabouCore, MarabouNetwork

        self.core, self.seconds = MarabouCore, seconds
        self.options = Marabou.createOptions(verbosity=0, timeoutInSeconds=max(1, int(np.ceil(seconds))))
        self.network = MarabouNetwork.MarabouNetwork()
        self.scaler, net = model.steps[0][1], model.steps[1][1]
        new = self.network.getNewVariable
        self.inputs = below = [new() for _ in range(net.n_features_in_)]
        for layer, (weights, biases) in enumerate(zip(net.coefs_, net.intercepts_, strict=True)):
            sums = [new() for _ in biases]
            for place, total in enumerate(sums):
                self.network.addEquality(
                    [*below, total], [*weights[:, place].tolist(), -1.0], -float(biases[place])
                )
            below = sums
            if layer + 1 < len(net.coefs_):
                below = [new() for _ in sums]
                for total, height in zip(sums, below, strict=True):
                    self.network.addRelu(total, height)
        self.output = below[0]
        self.network.inputVars = [np.array(self.inputs)]
        self.network.outputVars = [np.array([self.output])]

    def prove(self, low: np.ndarray, high: np.ndarray, outcome: int) -> str:
        """Whether the class is decided on a whole box: proved, refuted or undecided."""
        ends = (np.stack([low, high]) - self.scaler.mean_) / self.scaler.scale_
        self.network.clearProperty()
        for variable, first, last in zip(self.inputs, *ends, strict=True):
            self.network.setLowerBound(variable, float(first))
            self.network.setUpperBound(variable, float(last))
        (self.network.setUpperBound if outcome else self.network.setLowerBound)(self.output, 0.0)
        status = self.network.solve(verbose=False, options=self.options)[0]
        return {"unsat": "proved", "sat": "refuted"}.get(status, "undecided")


def networks_table(count: int, seconds: float) -> Table:
    """Columns of rows freed in the same order by Marabou and by us."""
    table = Table(title=f"columns freed in {count} rows, {seconds:g} s a question")
    for name in ("network", "by", "median s a row", "worst s a row", "median columns left", "proved",
                 "refuted", "undecided", "other verdicts than ours"):  # fmt: skip
        table.add_column(name, justify="left" if name in ("network", "by") else "right")
    rows, labels = breast_cancer()
    for widths in ((16, 8), (32, 16)):
        net = MLPClassifier(widths, max_iter=400, alpha=0.01, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_pipeline(StandardScaler(), net).fit(rows, labels)
        chosen = rows.iloc[np.random.default_rng(1).permutation(len(rows))[:count]]
        prover = make(find_predictor(model, rows)[0], Domain.of(rows), seconds=seconds)
        ranges = [prover.domain.ranges[str(name)] for name in rows]
        lowest, highest = (np.array([getattr(own, end) for own in ranges]) for end in ("low", "high"))
        ours: dict[tuple, str] = {}

        def ask_us(kept, row, outcome, prover=prover, ours=ours):
            body = [Category(str(name), float(row[name])) for name in kept]
            verdict = prover.prove(body, outcome).status
            ours[row.name, tuple(kept)] = verdict
            return verdict

        ask: dict[str, Callable] = {"hornbook": ask_us}
        if find_spec("maraboupy"):
            peer = MarabouQuestions(model, seconds)

            def ask_marabou(kept, row, outcome, peer=peer, lowest=lowest, highest=highest):
                fixed = np.isin(rows.columns, kept)
                return peer.prove(np.where(fixed, row, lowest), np.where(fixed, row, highest), outcome)

            ask["Marabou"] = ask_marabou
        for by, question in ask.items():
            times, lengths, ended, others = [], [], Counter(), 0
            for (_, row), outcome in zip(chosen.iterrows(), model.predict(chosen), strict=True):
                started = time.perf_counter()
                kept = list(rows.columns)
                for name in rows.columns:
                    smaller = [each for each in kept if each != name]
                    verdict = question(smaller, row, int(outcome))
                    ended[verdict] += 1
                    theirs = ours.get((row.name, tuple(smaller)), verdict)
                    others += "undecided" not in (verdict, theirs) and verdict != theirs
                    if verdict == "proved":
                        kept = smaller
                times.append(time.perf_counter() - started)
                lengths.append(len(kept))
            table.add_row(
                "-".join(map(str, widths)), by, f"{np.median(times):.2f}", f"{max(times):.1f}",
                f"{np.median(lengths):g}", *(str(ended[each]) for each in ("proved", "refuted", "undecided")),
                str(others),
            )  # fmt: skip
    return table


PARTS = {"forests": forests_table, "networks": networks_table}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=tuple(PARTS))
    parser.add_argument("--rows", type=int, default=10, help="rows to explain for each model")
    parser.add_argument("--seconds", type=float, default=20.0, help="what a reason or a question may take")
    arguments = parser.parse_args()
    for name, part in PARTS.items():
        if arguments.part in (None, name):
            Console(width=180).print(part(arguments.rows, arguments.seconds))


if __name__ == "__main__":
    main()
