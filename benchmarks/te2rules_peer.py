r"""Rules of boosting beside TE2Rules, which reads the trees of the model: agreement, κ, length and seconds.

TE2Rules has a licence of its own (CC BY-NC) and runs in an environment of its own:

    python -m venv /tmp/te2rules && /tmp/te2rules/bin/pip install te2rules scikit-learn==1.9.1
    TABLES=/tmp/tables python benchmarks/te2rules_peer.py --python /tmp/te2rules/bin/python

Gradient boosting of 20 trees of depth 3 is fitted to 60 % of a table's complete rows and numeric columns.
Both explain it by these rows, TE2Rules in so many stages; the other 40 % judge. CPU-seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from frontier import judge_decisions
from frontier_tables import read_table
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from hornbook import Explainer

TABLES = ("pima", "australian", "breast", "abalone-17_vs_7-8-9-10")
SECONDS = 600

THEIRS = """
import json, sys, time
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from te2rules.explainer import ModelExplainer
data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
started = time.process_time()
names = [f"c{number}" for number in range(X.shape[1])]
labels, stages = model.predict(X).tolist(), int(sys.argv[2])
rules = ModelExplainer(model, names).explain(X=X.tolist(), y=labels, num_stages=stages)
print(json.dumps({"rules": rules, "seconds": time.process_time() - started}))
"""


def decide(rules: list[str], X: np.ndarray) -> np.ndarray:
    """Whether any rule holds, for each row."""
    decided = np.zeros(len(X), bool)
    for rule in rules:
        met = np.ones(len(X), bool)
        for column, sign, cut in re.findall(r"c(\d+) (<=|>) (\S+)", rule):
            own = X[:, int(column)].astype(np.float32)
            met &= own <= float(cut) if sign == "<=" else own > float(cut)
        decided |= met
    return decided


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", required=True, help="the interpreter that has te2rules")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--stages", type=int, default=2, help="of TE2Rules, of 20 at the most")
    options = parser.parse_args()
    print("| table | by | literals | agreement | κ | CPU-s |\n|---|---|---:|---:|---:|---:|")
    for name in options.tables:
        frame, classes = read_table(name)
        frame = frame.select_dtypes("number")
        kept = frame.notna().all(axis=1).to_numpy()
        values, names, counts = frame[kept].to_numpy(float), *np.unique(classes[kept], return_counts=True)
        labels = (classes[kept] == names[counts.argmin()]).astype(int)
        X, test, y, _ = train_test_split(values, labels, test_size=0.4, random_state=0, stratify=labels)
        model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
        truth = model.predict(test)
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder) / "rows.npz", X=X, y=y)
            command = [options.python, "-c", THEIRS, str(Path(folder) / "rows.npz"), str(options.stages)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
                found = json.loads(done.stdout.splitlines()[-1])
            except subprocess.SubprocessError as error:
                found = {"rules": [], "seconds": np.nan}
                print("#", name, type(error).__name__)
        theirs = judge_decisions(decide(found["rules"], test).astype(int), truth)
        length = sum(rule.count("&") + 1 for rule in found["rules"])
        started = time.process_time()
        frame = pd.DataFrame(X, columns=[f"c{number}" for number in range(X.shape[1])])
        extraction = Explainer(model, frame).extract(max_literals=64)
        seconds = time.process_time() - started
        rows = pd.DataFrame(test, columns=frame.columns)
        lines = [("TE2Rules", length, *theirs, found["seconds"])]
        for limit in (8, 20, 64):
            chosen = extraction.choose(literals=limit).explanation
            own = judge_decisions(chosen.decide(rows), truth)
            lines.append((f"hornbook, {limit} at most", chosen.literals, *own, seconds))
        for by, literals, share, kappa, cpu in lines:
            print(
                f"| {name} | {by} | {literals} | {100 * share:.1f} % | {kappa:.2f} | {cpu:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()
