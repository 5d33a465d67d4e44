"""Tables larger than memory: a file is binarised and rules are evaluated on it, in parts.

    python benchmarks/tables.py [--rows 1000000 10000000] [--formats parquet csv] [--folder /tmp]

A file of 12 columns with 5 % of the values missing is written to a temporary folder: seven
columns of numbers, two of truth values, two of words, and a label. A fresh process fits a
binariser to it, makes partial interpretations of all rows and measures on them how faithful a
theory is to the label and how often each rule fires. Printed are the seconds of each step and the
most memory that the process ever had; with nothing but the imports it has the `start` column.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet
from rich.console import Console
from rich.table import Table

from hornbook.data.binarise import Binariser
from hornbook.data.streams import stream_table
from hornbook.evaluate import class_fidelity_on
from hornbook.evaluate.rules import statistics_on
from hornbook.logic import HornTheory

PART = 1 << 17
MISSING = 0.05


def part(rng: np.random.Generator, size: int) -> pa.Table:
    """Some rows."""
    columns = {f"x{i}": rng.normal(50, 10, size) for i in range(7)}
    columns |= {f"b{i}": rng.integers(0, 2, size).astype(float) for i in range(2)}
    columns |= {f"c{i}": rng.choice(["red", "green", "blue"], size).astype(object) for i in range(2)}
    ill = (columns["x0"] + 10 * columns["b0"] > 60).astype(float)
    frame = pd.DataFrame(columns)
    return pa.Table.from_pandas(frame.mask(rng.random(frame.shape) < MISSING).assign(ill=ill))


def write(path: Path, rows: int) -> None:
    """A file of so many rows, written in parts."""
    rng = np.random.default_rng(0)
    first = part(rng, 1).schema
    kind = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    with kind(path, first) as writer:
        for start in range(0, rows, PART):
            writer.write_table(part(rng, min(PART, rows - start)))


def peak() -> float:
    """The most memory that this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: Path) -> dict[str, float]:
    """Fit, binarise and evaluate, and the seconds of each."""
    import sklearn.tree  # noqa: F401 (so that it counts at the start)

    figures = {"start": peak()}
    begin = time.perf_counter()
    stream = stream_table(path)
    binariser = Binariser(dual=True, kinds={"ill": "binary"}).fit(stream)
    figures["fit"] = time.perf_counter() - begin
    begin = time.perf_counter()
    figures["rows"] = sum(len(batch) for batch in binariser.batches(stream))
    figures["binarise"] = time.perf_counter() - begin
    rules = "x0=high -> ill\nx0=low -> not_ill\nb0 & x0=middle -> ill\nc0=red & ill -> false"
    theory = HornTheory.parse(rules, binariser.vocabulary_)
    begin = time.perf_counter()
    fidelity = class_fidelity_on(((binariser.batch(frame), frame["ill"]) for frame in stream), theory, "ill")
    accepted = ((batch, theory.satisfied_by(batch)) for batch in binariser.batches(stream))
    statistics = statistics_on(accepted, theory)
    figures["evaluate"] = time.perf_counter() - begin
    figures["agreed"] = sum(fidelity.agreed)
    figures["fired"] = statistics[0].support.hits
    figures["peak"] = peak()
    return figures


def main() -> None:
    """Write, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv"], choices=["parquet", "csv"])
    parser.add_argument("--folder", help="where the files are written; they are removed in the end")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    shown = Table(
        "file", "rows", "MB", "fit, s", "binarise, s", "evaluate, s", "start, MiB", "peak, MiB", "agree"
    )
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for kind in arguments.formats:
            for rows in arguments.rows:
                path = Path(folder) / f"table.{kind}"
                write(path, rows)
                command = [sys.executable, __file__, "--measure", str(path)]
                found = json.loads(subprocess.check_output(command))
                assert found["rows"] == rows
                print(f"{kind}, {rows:,} rows: {found}", file=sys.stderr)
                shown.add_row(
                    kind,
                    f"{rows:,}",
                    f"{path.stat().st_size / 1e6:,.0f}",
                    *(f"{found[step]:.1f}" for step in ("fit", "binarise", "evaluate")),
                    f"{found['start']:.0f}",
                    f"{found['peak']:.0f}",
                    f"{found['agreed'] / rows:.4f}",
                )
                path.unlink()
    Console(width=110).print(shown)


if __name__ == "__main__":
    main()
