"""Tables larger than memory: a sample of the rows of a file.

    python benchmarks/tables.py [--rows 1000000 10000000] [--formats parquet csv] [--folder /tmp]

A file of 12 columns with 5 % of the values missing is written to a temporary folder: seven
columns of numbers, two of truth values, two of words, and a label. A fresh process draws 100,000
of its rows. Printed are the seconds that this takes, and the most memory that the process ever
had; with nothing but the imports it has the `start` column.
"""

import argparse
import json
import re
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

from hornbook.tables import read_table

ROWS_PER_WRITE = 1 << 17
MISSING_SHARE = 0.05
SAMPLE_SIZE = 100_000


def make_rows(rng: np.random.Generator, size: int) -> pa.Table:
    """Some rows."""
    columns = {f"x{i}": rng.normal(50, 10, size) for i in range(7)}
    columns |= {f"b{i}": rng.integers(0, 2, size).astype(float) for i in range(2)}
    columns |= {f"c{i}": rng.choice(["red", "green", "blue"], size).astype(object) for i in range(2)}
    ill = (columns["x0"] + 10 * columns["b0"] > 60).astype(float)
    frame = pd.DataFrame(columns)
    return pa.Table.from_pandas(frame.mask(rng.random(frame.shape) < MISSING_SHARE).assign(ill=ill))


def write_file(path: Path, rows: int) -> None:
    """Write a file of so many rows, in parts."""
    rng = np.random.default_rng(0)
    schema = make_rows(rng, 1).schema
    kind = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    with kind(path, schema) as writer:
        for start in range(0, rows, ROWS_PER_WRITE):
            writer.write_table(make_rows(rng, min(ROWS_PER_WRITE, rows - start)))


def peak_memory() -> float:
    """The most memory that this process ever had, in MiB."""
    # not getrusage, which begins with the memory of the process that started this one
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def measure_sampling(path: Path) -> dict[str, float]:
    """Draw a sample of the rows; return its size, the seconds and the memory."""
    figures = {"start": peak_memory()}
    begin = time.perf_counter()
    table = read_table(path, max_rows=SAMPLE_SIZE, label="ill")
    figures["seconds"] = time.perf_counter() - begin
    return figures | {"sampled": len(table), "peak": peak_memory()}


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
        print(json.dumps(measure_sampling(arguments.measure)))
        return
    shown = Table("file", "rows", "MB", "sampled", "seconds", "start, MiB", "peak, MiB")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for kind in arguments.formats:
            for rows in arguments.rows:
                path = Path(folder) / f"table.{kind}"
                write_file(path, rows)
                command = [sys.executable, __file__, "--measure", str(path)]
                figures = json.loads(subprocess.check_output(command))
                shown.add_row(
                    kind,
                    f"{rows:,}",
                    f"{path.stat().st_size / 1e6:,.0f}",
                    f"{figures['sampled']:,}",
                    *(f"{figures[name]:.0f}" for name in ("seconds", "start", "peak")),
                )
                path.unlink()
    Console(width=110).print(shown)


if __name__ == "__main__":
    main()
