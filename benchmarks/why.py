"""Reasons of models: whether promised shares hold, how far proofs reach, and anchors beside them.

    python benchmarks/why.py shares                 # 200 sampled reasons, each held against 20,000 fresh rows
    python benchmarks/why.py ladder --rows 50       # for each kind of model: sampled, proved, minimal
    python benchmarks/why.py anchors --rows 20      # beside anchors, which are installed apart: see ANCHORS;
                                                    # for tables without missing values
    python benchmarks/why.py ladder --tables hcc-synthetic digits     # tables that nothing was tuned on

Models are trained on two thirds of a table; reasons are those of unseen rows. Seconds are CPU-seconds of
one thread. To have the peer: `pip install --target /tmp/anchors --no-deps anchor-exp lime`,
`ANCHORS=/tmp/anchors`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from hornbook.checks.cases import BodySampler
from hornbook.conditions import Condition, Threshold, meet_conditions
from hornbook.models import Subject, bind_classifier
from hornbook.reasons import Reasoner, SufficientReason
from hornbook.tables import load_dataset

DEVELOPMENT, HELD_OUT = ("breast-cancer", "wine"), ("hcc-synthetic", "digits")

TRUTH_ROWS = 20_000
"""Fresh rows that a promised share is held against."""

MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=8, random_state=0),
    "forest, 100 trees": lambda: RandomForestClassifier(100, random_state=0),
    "GradientBoosting": lambda: make_pipeline(SimpleImputer(), GradientBoostingClassifier(random_state=0)),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0),
    "XGBoost": lambda: XGBClassifier(n_estimators=50, max_depth=4, n_jobs=1, random_state=0),
    "LightGBM": lambda: LGBMClassifier(n_estimators=50, num_leaves=15, n_jobs=1, verbose=-1, random_state=0),
    "ReLU network": lambda: make_pipeline(
        SimpleImputer(), StandardScaler(), MLPClassifier((16, 16), max_iter=400, random_state=0)
    ),
}


@dataclass
class CountedModel:
    """A model that counts what it is asked; it has the face of scikit-learn."""

    model: Any
    calls: int = 0
    rows: int = 0
    classes_: Any = field(init=False)
    feature_names_in_: Any = field(init=False)

    def __post_init__(self) -> None:
        self.classes_, self.feature_names_in_ = self.model.classes_, self.model.feature_names_in_

    def predict(self, rows: Any) -> NDArray[Any]:
        self.calls, self.rows = self.calls + 1, self.rows + len(rows)
        answers: NDArray[Any] = self.model.predict(rows)
        return answers


@dataclass(frozen=True)
class Case:
    """A trained model, the rows it was trained on, and unseen rows."""

    table: str
    kind: str
    model: Any
    seen: pd.DataFrame
    unseen: pd.DataFrame

    def reasoner(self, model: Any = None) -> Reasoner:
        return Reasoner(Subject.bind(model or self.model, self.seen, target="yes", hold_out=False))


def list_cases(tables: tuple[str, ...], kinds: tuple[str, ...]) -> Iterator[Case]:
    for name in tables:
        table = load_dataset(name)
        frame = table.frame.drop(columns=str(table.label)).astype(np.float64)
        labels = table.frame[str(table.label)].astype(int).to_numpy()
        order = np.random.default_rng(0).permutation(len(frame))
        seen, unseen = np.split(order, [2 * len(frame) // 3])
        for kind in kinds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a network that has not converged is a network too
                model = MODELS[kind]().fit(frame.iloc[seen], labels[seen])
            yield Case(name, kind, model, frame.iloc[seen], frame.iloc[unseen])


def measure_shares(tables: tuple[str, ...], rows: int) -> Table:
    """How often the share that a sampled reason promises holds on fresh rows."""
    titles = ("model", "reasons", "keep 95 %", "of those, true", "lower end true", "median length", "seconds")
    table = Table(*titles, title=f"sampled reasons, {', '.join(tables)}")
    every: list[tuple[bool, bool, bool]] = []
    for kind in MODELS:
        found, lengths, seconds = [], [], []
        for case in list_cases(tables, (kind,)):
            reasoner = case.reasoner()
            for at in range(min(rows, len(case.unseen))):
                started = time.process_time()
                answer = reasoner.explain(case.unseen.iloc[at], proof=False, changes=0)
                seconds.append(time.process_time() - started)
                (reason,) = answer.reasons
                truth = true_share(reasoner, reason, seed=at)
                found.append((reason.keeps_share, truth >= reason.least_share, truth >= reason.share.low))
                lengths.append(len(reason.conditions))
        every += found
        table.add_row(kind, *count_shares(found), f"{np.median(lengths):g}", f"{np.median(seconds):.2f}")
    table.add_row("all", *count_shares(every), "", "")
    return table


def count_shares(found: list[tuple[bool, bool, bool]]) -> tuple[str, ...]:
    kept = [each for each in found if each[0]]
    true, low = sum(each[1] for each in kept), sum(each[2] for each in found)
    return str(len(found)), str(len(kept)), f"{true} of {len(kept)}", f"{low} of {len(found)}"


def true_share(reasoner: Reasoner, reason: SufficientReason, seed: int) -> float:
    """The share of many fresh rows that meet a reason and get its class."""
    rows = BodySampler(reasoner.teacher, reason.conditions).draw(TRUTH_ROWS, np.random.default_rng([7, seed]))
    outcome = reasoner.subject.classes.index(reason.outcome)
    return float((reasoner.teacher.labels(rows) == outcome).mean())


def measure_ladder(tables: tuple[str, ...], rows: int, seconds: float) -> Table:
    """For each kind of model, which levels reasons reach, their length and what they take."""
    titles = ("table", "model", "rows", "sampled", "proved", "minimal", "length: sampled", "proved",
              "seconds: sampled", "proved", "rows alike: sampled", "proved")  # fmt: skip
    table = Table(*titles, title=f"the ladder, at most {seconds:g} seconds each")
    for case in list_cases(tables, tuple(MODELS)):
        reasoner = case.reasoner()
        found: dict[bool, list[SufficientReason]] = {False: [], True: []}
        taken: dict[bool, list[float]] = {False: [], True: []}
        for at in range(min(rows, len(case.unseen))):
            for proof in (False, True):
                started = time.process_time()
                answer = reasoner.explain(case.unseen.iloc[at], proof=proof, seconds=seconds, changes=0)
                taken[proof].append(time.process_time() - started)
                found[proof] += answer.reasons
        proved = [reason for reason in found[True] if reason.level != "sampled"]
        counts = (
            sum(reason.keeps_share for reason in found[False]),
            len(proved),
            sum(reason.level == "minimal" for reason in proved),
        )
        size = len(found[False])
        table.add_row(
            case.table,
            case.kind,
            str(size),
            *(f"{100 * count / size:.0f} %" for count in counts),
            middle(len(reason.conditions) for reason in found[False]),
            middle(len(reason.conditions) for reason in proved),
            middle(taken[False], ".2f"),
            middle(taken[True], ".2f"),
            middle(reason.coverage.alike for reason in found[False]),
            middle(reason.coverage.alike for reason in proved),
        )
        Console(width=200, stderr=True).print(table.rows and f"{case.table} {case.kind} done")
    return table


def middle(numbers: Any, digits: str = "g") -> str:
    listed = list(numbers)
    return f"{np.median(listed):{digits}}" if listed else "–"


def compare_anchors(tables: tuple[str, ...], rows: int) -> Table:
    """Sampled reasons beside anchors: the same models, rows and share."""
    sys.path.append(os.environ.get("ANCHORS", "/tmp/anchors"))
    titles = ("table", "model", "by", "length", "precision: exchanged rows", "whole rows", "unseen rows",
              "95 % kept", "coverage of unseen rows", "rows asked", "calls", "seconds")  # fmt: skip
    table = Table(*titles, title="sampled reasons and anchors: medians, precision as means")
    for case in list_cases(tables, tuple(MODELS)):
        if case.seen.isna().any(axis=None):
            raise SystemExit(f"anchors takes no missing values, and {case.table} has some")
        labels = case.model.predict(case.unseen)
        for by, explain in (("hornbook", explain_here), ("anchors", explain_by_anchors)):
            counted = CountedModel(case.model)
            ask = explain(case, counted)
            lines = []
            for at in range(min(rows, len(case.unseen))):
                counted.calls = counted.rows = 0
                started = time.process_time()
                body = ask(case.unseen.iloc[at])
                seconds = time.process_time() - started
                met = meet_conditions(body, case.unseen)
                alike = float((labels[met] == labels[at]).mean())
                fresh = measure_precision(case, body, labels[at], at)
                lines.append((len(body), *fresh, alike, min(fresh) >= 0.95, met.mean(), counted.rows,
                              counted.calls, seconds))  # fmt: skip
            length, exchanged, whole, unseen, kept, coverage, asked, calls, taken = zip(*lines, strict=True)
            table.add_row(
                case.table, case.kind, by, middle(length),
                *(f"{100 * np.mean(each):.1f} %" for each in (exchanged, whole, unseen)),
                f"{100 * np.mean(kept):.0f} %", f"{100 * np.median(coverage):.1f} %",
                middle(asked, ".0f"), middle(calls, ".0f"), middle(taken, ".2f"),
            )  # fmt: skip
        Console(width=200, stderr=True).print(f"{case.table} {case.kind} done")
    return table


Ask = Callable[[pd.Series], tuple[Condition, ...]]


def explain_here(case: Case, counted: CountedModel) -> Ask:
    reasoner = case.reasoner(counted)
    return lambda row: reasoner.explain(row, proof=False, changes=0).reasons[0].conditions


def explain_by_anchors(case: Case, counted: CountedModel) -> Ask:
    """Ask anchors; it prints thresholds with two digits, so columns are scaled until these are enough."""
    from anchor.anchor_tabular import AnchorTabularExplainer

    columns = list(case.seen.columns)
    spread = (case.seen.max() - case.seen.min()).replace(0, 1)
    scale = 10.0 ** (6 - np.floor(np.log10(spread)))
    names = [f"x{place}" for place in range(len(columns))]
    explainer = AnchorTabularExplainer(["no", "yes"], names, (case.seen * scale).to_numpy())

    def predict(rows: NDArray[np.float64]) -> NDArray[Any]:
        return counted.predict(pd.DataFrame(rows, columns=columns) / scale)

    def ask(row: pd.Series) -> tuple[Condition, ...]:
        np.random.seed(0)  # noqa: NPY002, it draws from the generator of NumPy itself
        anchor = explainer.explain_instance((row * scale).to_numpy(), predict, threshold=0.95)
        parts = (each for name in anchor.names() for each in read_anchor(name, columns))
        return tuple(Threshold(each.column, each.cut / scale[each.column], each.above) for each in parts)

    return ask


def read_anchor(text: str, columns: list[str]) -> Iterator[Threshold]:
    """The conditions of an anchor's part: `x3 > 1.50`, `x3 <= 2.00` or `1.50 < x3 <= 2.00`."""
    match = re.fullmatch(r"(?:(?P<low>\S+) < )?x(?P<place>\d+)(?: > (?P<above>\S+)| <= (?P<high>\S+))?", text)
    assert match is not None, text
    column = columns[int(match["place"])]
    for part, above in (("low", True), ("above", True), ("high", False)):
        if match[part] is not None:
            yield Threshold(column, float(match[part]), above)


def measure_precision(case: Case, body: tuple[Condition, ...], label: Any, seed: int) -> tuple[float, float]:
    """How often the model keeps its answer on fresh rows that meet a body.

    They are drawn with columns exchanged between rows, as hornbook draws them, and as whole rows of
    the table with the body's columns exchanged, as anchors draws them.
    """
    teacher = bind_classifier(case.model, case.seen, 0)
    sampler, rng = BodySampler(teacher, body), np.random.default_rng([7, seed])
    exchanged = sampler.draw(TRUTH_ROWS // 4, rng)
    whole = case.seen.iloc[rng.integers(len(case.seen), size=TRUTH_ROWS // 4)].reset_index(drop=True)
    for column, pool in sampler.pools.items():
        own = [condition for condition in body if condition.column == column]
        drawn = pool.iloc[rng.integers(len(pool), size=len(whole))].to_numpy()
        whole[column] = np.where(meet_conditions(own, whole), whole[column], drawn)
    shares = [float((case.model.predict(rows) == label).mean()) for rows in (exchanged, whole)]
    return shares[0], shares[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=("shares", "ladder", "anchors"))
    parser.add_argument("--rows", type=int, default=15, help="unseen rows of each table and model")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of each reason")
    parser.add_argument("--tables", nargs="+", default=DEVELOPMENT, help=f"kept aside: {', '.join(HELD_OUT)}")
    options = parser.parse_args()
    chosen = tuple(options.tables)
    warnings.filterwarnings("ignore", category=UserWarning)  # libraries about names of columns
    if options.part == "shares":
        result = measure_shares(chosen, options.rows)
    elif options.part == "ladder":
        result = measure_ladder(chosen, options.rows, options.seconds)
    else:
        result = compare_anchors(chosen, options.rows)
    Console(width=200).print(result)
