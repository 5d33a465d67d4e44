"""Reasons with a proof beside peers: the same models, the same rows, one run.

    pip install --target peers pyxai maraboupy
    PYTHONPATH=peers python benchmarks/why_peers.py [--part forests|networks|rules] [--rows 10] [--seconds 20]

`forests`: sufficient reasons of rows by PyXAI and by `ColumnProver`, both out of the thresholds of the
forest, and the smallest ones, by hitting sets: seconds, conditions, and what our prover says of each, with
the model's own `predict` as the judge of every witness. `networks`: columns are freed one after another, by
Marabou and by `ColumnProver`, in the same order: seconds, columns left, and questions that stayed open.
`rules`: of the lines of extracted rules and of boxes of many widths around rows, each with the class that
the network gives it, the twenty that took Marabou or `ColumnProver` longest; auto_LiRPA (0.7.1, from its
repository) bounds them without splitting, so it proves or leaves open. A peer that is not installed is left
out. Seconds are those of the clock, of one thread; of `rules` they are CPU-seconds.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbook import Explainer
from hornbook.conditions import Category, Condition, Threshold
from hornbook.models import find_predictor
from hornbook.proof import ColumnProver, Domain, make
from hornbook.proof.ensembles import single_cut

HARDEST, COMPLETE = 20, {"hornbook", "Marabou 2.0.0"}
MOST_TREES = 5


def breast_cancer() -> tuple[pd.DataFrame, np.ndarray]:
    """569 rows of 30 columns."""
    rows, labels = load_breast_cancer(as_frame=True, return_X_y=True)
    return rows.set_axis([f"c{number}" for number in range(30)], axis=1), labels.to_numpy()


def forests() -> Iterator[tuple[str, RandomForestClassifier, pd.DataFrame]]:
    """Forests of full trees, and their tables."""
    for name, (rows, labels), trees in (
        ("5 trees, 30 columns", breast_cancer(), 5),
        ("20 trees, 30 columns", breast_cancer(), 20),
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


def find_smallest(
    prover: ColumnProver, body: list[Condition], outcome: int, seconds: float
) -> list[Condition] | None:
    """The fewest of the conditions that suffice, by implicit hitting sets; None if there is not time enough.

    A refuted set has a row that another class is decided for: of the conditions that the row does not meet,
    every sufficient set needs one. First it is seen whether another row leaves fewer of them unmet.
    """
    started, needed = time.perf_counter(), []
    while time.perf_counter() - started < seconds:
        costs = np.ones(len(body))
        chosen: Sequence[int] = []
        if needed:
            found = milp(
                costs,
                constraints=LinearConstraint(np.array(needed), lb=1),
                integrality=costs,
                bounds=Bounds(0, 1),
            )
            chosen = np.flatnonzero(found.x > 0.5).tolist()
        kept = [body[place] for place in chosen]
        verdict = prover.prove(kept, outcome, seconds=seconds)
        if verdict.status == "proved":
            return kept
        if verdict.status != "refuted":
            return None
        unmet = ~np.array([each.evaluate(verdict.witness)[0][0] for each in body])
        for place in np.flatnonzero(unmet):  # a smaller set says more
            fewer = unmet.copy()
            fewer[place] = False
            more = prover.prove(
                [each for each, out in zip(body, fewer, strict=True) if not out], outcome, seconds=seconds
            )
            if more.status == "refuted":
                unmet = fewer & ~np.array([each.evaluate(more.witness)[0][0] for each in body])
        needed.append(unmet.astype(float))
    return None


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

    def explain(self, row: pd.Series, seconds: float, smallest: bool = False) -> list[Condition] | None:
        """A sufficient reason as conditions, or the smallest; None if there was none in time."""
        explainer = self.explaining.initialize(self.forest, instance=row.to_numpy())
        find = explainer.minimal_sufficient_reason if smallest else explainer.sufficient_reason
        reason = find(time_limit=int(np.ceil(seconds)))
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
            "hornbook, smallest": (ours_ready, lambda row, outcome, m=model, p=prover: find_smallest(
                p, find_neighbours(m, row), outcome, seconds)),
        }  # fmt: skip
        if find_spec("pyxai"):
            started = time.perf_counter()
            peer = Pyxai(model)
            explain["PyXAI"] = (
                time.perf_counter() - started,
                lambda row, outcome, p=peer: p.explain(row, seconds),
            )
            explain["PyXAI, smallest"] = (
                explain["PyXAI"][0],
                lambda row, outcome, p=peer: p.explain(row, seconds, True),
            )
        if len(model.estimators_) > MOST_TREES:  # the smallest of more trees take too long, by both
            explain = {by: own for by, own in explain.items() if not by.endswith("smallest")}
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


class LirpaQuestions:
    """Bounds by auto_LiRPA's optimised CROWN of a scaled perceptron."""

    def __init__(self, model) -> None:
        import torch
        from auto_LiRPA import BoundedModule

        self.scaler, net = model.steps[0][1], model.steps[1][1]
        layers: list[torch.nn.Module] = []
        for weights, biases in zip(net.coefs_, net.intercepts_, strict=True):
            layers += [torch.nn.Linear(*weights.shape), torch.nn.ReLU()]
            layers[-2].load_state_dict({"weight": torch.tensor(weights.T), "bias": torch.tensor(biases)})
        module = torch.nn.Sequential(*layers[:-1]).float()
        self.bounded = BoundedModule(module, torch.zeros(1, net.n_features_in_))

    def prove(self, low: np.ndarray, high: np.ndarray, outcome: int) -> str:
        """Whether the bounds show a class on a whole box: proved or undecided."""
        import torch
        from auto_LiRPA import BoundedTensor, PerturbationLpNorm

        ends = torch.tensor((np.stack([low, high]) - self.scaler.mean_) / self.scaler.scale_).float()[:, None]
        box = PerturbationLpNorm(norm=np.inf, x_L=ends[0], x_U=ends[1])
        lower, upper = self.bounded.compute_bounds(
            x=(BoundedTensor(ends.mean(dim=0), box),), method="CROWN-Optimized"
        )
        return "proved" if (lower.item() > 0 if outcome else upper.item() < 0) else "undecided"


def list_boxes(model, rows: pd.DataFrame, domain: Domain, count: int) -> list[tuple[np.ndarray, ...]]:
    """Both ends of boxes: where lines of extracted rules hold, and around rows; with a class for each."""
    whole = np.array([[getattr(domain.ranges[str(name)], end) for name in rows] for end in ("low", "high")])
    boxes = []
    for rule in Explainer(model, rows).extract(form="rules", max_literals=32).explanation.rules:
        low, high = whole.copy()
        for condition in rule.body:
            place = list(rows).index(condition.column)
            if condition.above:
                low[place] = max(low[place], np.nextafter(condition.cut, np.inf))
            else:
                high[place] = min(high[place], condition.cut)
        boxes.append((low, high, rule.outcome))
    ranks = rows.rank(pct=True)
    for number in np.random.default_rng(2).permutation(len(rows))[:count].tolist():
        outcome = int(model.predict(rows.iloc[[number]])[0])
        for width in (0.02, 0.04, 0.07, 0.1, 0.14, 0.2, 0.3):
            shares = [np.clip(ranks.loc[number] + side * width / 2, 0, 1) for side in (-1, 1)]
            low, high = ([rows[name].quantile(own[name]) for name in rows] for own in shares)
            boxes.append((np.array(low), np.array(high), outcome))
    return boxes


def rules_table(count: int, seconds: float) -> Table:
    """The hardest rules about perceptrons, by each prover."""
    rows, labels = breast_cancer()
    asked: list[dict[str, tuple[str, float]]] = []
    for widths in ((16, 8), (32, 16), (64, 32)):
        net = MLPClassifier(widths, max_iter=400, alpha=0.01, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_pipeline(StandardScaler(), net).fit(rows, labels)
        prover = make(find_predictor(model, rows)[0], Domain.of(rows), seconds=seconds)

        def ask_us(low, high, outcome, prover=prover):
            body = [
                Threshold(str(n), float(np.nextafter(a, -np.inf))) for n, a in zip(rows, low, strict=True)
            ]
            body += [Threshold(str(n), float(b), above=False) for n, b in zip(rows, high, strict=True)]
            return prover.prove(body, outcome, seconds=seconds).status

        provers: dict[str, Callable] = {"hornbook": ask_us}
        if find_spec("maraboupy"):
            provers["Marabou 2.0.0"] = MarabouQuestions(model, seconds).prove
        if find_spec("auto_LiRPA"):
            provers["auto_LiRPA"] = LirpaQuestions(model).prove
        for box in list_boxes(model, rows, prover.domain, count):
            verdicts = {}
            for by, prove in provers.items():
                started = time.process_time()
                verdicts[by] = prove(*box), time.process_time() - started
            asked.append(verdicts)
    hardest = sorted(asked, key=lambda one: -max(one[by][1] for by in COMPLETE & one.keys()))[:HARDEST]
    decided = [{status for status, _ in one.values()} - {"undecided"} for one in asked]
    table = Table(title=f"the {len(hardest)} hardest of {len(asked)} rules, {seconds:g} s a question")
    for name in ("by", "proved", "refuted", "undecided", "median s", "all s"):
        table.add_column(name)
    for by in hardest[0]:
        ended = Counter(one[by][0] for one in hardest)
        times = [one[by][1] for one in hardest]
        counts = (str(ended[each]) for each in ("proved", "refuted", "undecided"))
        table.add_row(by, *counts, f"{np.median(times):.2f}", f"{sum(times):.1f}")
    table.caption = f"{sum(len(each) > 1 for each in decided)} contradictions among all {len(asked)}"
    return table


PARTS = {"forests": forests_table, "networks": networks_table, "rules": rules_table}


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
