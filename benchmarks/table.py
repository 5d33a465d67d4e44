"""Runs benchmarks and writes their figures into docs/benchmarks.md, with machine and date.

    python benchmarks/table.py [--print]                    the quick figures, a minute or two
    python benchmarks/table.py --again learning changes    the tables whose commands have one of these words

The document marks what a command prints: `<!-- prints: benchmarks/learning.py -->` begins a table, and
`<!-- end -->` ends it. Seconds are CPU-seconds: on a busy machine they are higher, and the load is written
beside them. `--print` leaves the document as it is.
"""

import argparse
import os
import platform
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import closure
import extraction
import learning
import numpy as np
import surrogates

from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.tables import load_dataset

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
START = "<!-- the quick figures, put here by benchmarks/table.py -->\n"
END = "<!-- the end of the quick figures -->\n"

PRINTED = re.compile(r"<!-- prints: (?P<command>.+?) -->\n.*?<!-- end -->\n", re.DOTALL)

Line = tuple[str, str, str]
"""What is measured, its figure, and the command that prints it alone."""


def measure_commands() -> Iterator[Line]:
    """How long it takes until something can be done."""
    for what, command in (
        ("import hornbook", [sys.executable, "-c", "import hornbook"]),
        ("hornbook --help", [sys.executable, "-m", "hornbook", "--help"]),
    ):
        times = [count_child_seconds(command) for _ in range(5)]
        yield f"`{what}`", f"{statistics.median(times):.2f} s", f"`{what}`, median of 5"


def count_child_seconds(command: list[str]) -> float:
    """CPU-seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_closure() -> Iterator[Line]:
    """The closure beside the network that it judges."""
    closing, _, ratio, _ = closure.measure()
    figure = f"{closing:.3f} s, {ratio:.2f} of the paper's network"
    yield "closing a million interpretations under 100 rules", figure, "`benchmarks/closure.py`"


def measure_learning() -> Iterator[Line]:
    """Exact learning of a large theory."""
    variables, rules, body, policy = learning.SETTINGS[-1]
    start = time.process_time()
    run = learning.learn(variables, rules, body, policy, 0)
    seconds = time.process_time() - start
    what = f"exact learning, {variables} variables, {rules} rules, bodies of {body[0]}"
    yield what, f"{seconds:.1f} s, {run.membership_queries:,} questions", "`benchmarks/learning.py`"


def measure_surrogates() -> Iterator[Line]:
    """Trees, cards and rules of every size."""
    samples, literals = 65_536, 1000
    seconds, _, count = surrogates.search(samples, literals, "auto")
    what = f"search of all forms and sizes, {samples:,} samples, {literals:,} literals"
    yield what, f"{seconds:.1f} s, {count} explanations", "`benchmarks/surrogates.py`"


def measure_reading() -> Iterator[Line]:
    """The paper's network read by 100 queries."""
    task = Task.of(load_dataset(), HARD_PROTOCOL)
    network, start = extraction.Timed(task.network(extraction.NET, 0)), time.process_time()
    extraction.ours(task, network, extraction.OURS, 0)
    figure = f"{time.process_time() - start:.1f} s"
    yield "100 queries on the paper's network, synthetic cohort, `hard`", figure, "`benchmarks/extraction.py`"


TEXT_COLUMNS = (
    "answered by",
    "counterexamples",
    "default",
    "form",
    "learner",
    "method",
    "model",
    "protocol",
    "run",
    "server",
    "table",
)
"""Columns of words."""

MEASUREMENTS: tuple[Callable[[], Iterator[Line]], ...] = (
    measure_commands,
    measure_closure,
    measure_learning,
    measure_surrogates,
    measure_reading,
)


def describe_machine() -> str:
    """The processor, the load, versions and the date, in a sentence."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if "model name" in line] if info.exists() else []
    processor = names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()
    return (
        f"{date.today():%d %B %Y}; {processor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, NumPy {np.__version__}."
    )


def measure_again(document: str, words: list[str]) -> str:
    """The document with the tables of some commands as they are printed now."""

    def run(marked: re.Match[str]) -> str:
        command = marked["command"]
        if not any(word in command for word in words):
            return marked[0]
        printed = subprocess.run(
            [sys.executable, *shlex.split(command)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=DOCUMENT.parents[1],
            env=os.environ | {"COLUMNS": "200"},
        ).stdout
        body = f"`python {command}`; {describe_machine()}\n\n{write_tables(printed)}"
        print(body)
        return f"<!-- prints: {command} -->\n\n{body}\n<!-- end -->\n"

    return PRINTED.sub(run, document)


def write_tables(printed: str) -> str:
    """The tables among printed lines in Markdown, each under its title; numbers to the right."""
    written = ""
    for line in printed.splitlines():
        cells = [cell.strip() for cell in re.split("[┃│]", line)[1:-1]]
        if line.startswith("┃"):
            kinds = ["---" if cell in TEXT_COLUMNS else "---:" for cell in cells]
            written += f"| {' | '.join(cells)} |\n|{'|'.join(kinds)}|\n"
        elif cells:
            written += f"| {' | '.join(cells)} |\n"
        elif line.strip() and line.strip()[0] not in "┏┡└":
            written += f"\n{line.strip()}:\n\n"
    return written.lstrip("\n")


def write_glance(document: str) -> str:
    """The document with the quick figures as they are now."""
    machine = describe_machine()
    lines = [line for measure in MEASUREMENTS for line in measure()]
    rows = "".join(f"| {what} | {figure} | {command} |\n" for what, figure, command in lines)
    table = f"{machine}\n\n| what | CPU-seconds | command |\n|---|---|---|\n{rows}"
    above, _, rest = document.partition(START)
    _, _, below = rest.partition(END)
    print(table)
    return "".join((above, START, "\n", table, "\n", END, below))


def main() -> None:
    """Measure, and write what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", help="print the table and change nothing")
    parser.add_argument("--again", nargs="+", metavar="WORD", help="words of the commands to run again")
    arguments = parser.parse_args()
    document = DOCUMENT.read_text("utf-8")
    if not (START in document and END in document):
        parser.error(f"{DOCUMENT} has lost one of its markers")
    written = measure_again(document, arguments.again) if arguments.again else write_glance(document)
    if not arguments.print:
        DOCUMENT.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
