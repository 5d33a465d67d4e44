"""Damaged files: each is read, or refused in one line within seconds.

    python benchmarks/fuzz.py [--cases 100000] [--formats csv json parquet] [--jobs 2]
        [--outcomes folder] [--save folder]

Valid files are made, changed at random (bits, bytes, signs of the format, cuts, parts of other
files), and read, each with a limit of time. The cases run in processes of their own: a file that
ends the process or hangs is counted, and the cases after it are run. A case depends on its number
and its format alone. `--outcomes` keeps the outcomes, a file for each thousand cases, and does not run
these again: a run that ended early goes on. `--save` keeps the files that are neither read nor refused
as they should be. The exit code is 1 if there are any.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from fuzzing import MAX_SECONDS, TABLE_FORMATS, make_case, try_case
from fuzzing_others import OTHER_FORMATS
from rich.console import Console
from rich.table import Table

from hornbook.storage import write_file

FORMATS = TABLE_FORMATS | OTHER_FORMATS

CASES_PER_PROCESS = 1000
MAX_MEMORY = 8 << 30
"""Bytes that a process may take."""

GOOD = ("read", "refused")


def run_cases(name: str, first: int, last: int) -> None:
    """Print the outcome of each case, a line each."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also where Python is not asked
    outcomes = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no outcome
    with tempfile.TemporaryDirectory() as folder:
        for case in range(first, last):
            imports = case == first
            signal.alarm(int((6 if imports else 2) * MAX_SECONDS))
            print(json.dumps(try_case(FORMATS[name], case, Path(folder))), file=outcomes, flush=True)


def count_outcomes(name: str, first: int, last: int) -> dict[int, str]:
    """The outcome of each case, by processes that are started anew after one that ended."""
    outcomes: dict[int, str] = {}
    while first < last:
        command = [sys.executable, __file__, "--worker", name, str(first), str(last)]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        outcomes |= {first + place: json.loads(line) for place, line in enumerate(lines)}
        first += len(lines)
        if done.returncode < 0:
            ended = signal.Signals(-done.returncode)
            outcomes[first] = "hangs" if ended is signal.SIGALRM else ended.name
            first += 1
        elif done.returncode:
            raise RuntimeError(done.stderr)
    return outcomes


def recall_outcomes(name: str, first: int, last: int, folder: Path | None) -> dict[int, str]:
    """The outcome of each case, kept in a folder or run now."""
    path = None if folder is None else folder / f"{name}-{first}-{last}.json"
    if path is not None and path.exists():
        return dict(zip(range(first, last), json.loads(path.read_text()), strict=True))
    outcomes = count_outcomes(name, first, last)
    if path is not None:
        write_file(path, json.dumps([outcomes[case] for case in range(first, last)]))
    return outcomes


def fuzz(name: str, cases: int, jobs: int, folder: Path | None) -> dict[int, str]:
    """The outcome of each case of a format."""
    starts = range(0, cases, CASES_PER_PROCESS)
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(
            lambda first: recall_outcomes(name, first, min(first + CASES_PER_PROCESS, cases), folder), starts
        )
        return {case: outcome for part in parts for case, outcome in part.items()}


def main() -> None:
    """Run the cases, count and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000, help="number of cases, shared by the formats")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--outcomes", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        name, first, last = arguments.worker
        run_cases(name, int(first), int(last))
        return
    if arguments.outcomes:
        arguments.outcomes.mkdir(parents=True, exist_ok=True)
    cases = -(-arguments.cases // len(arguments.formats))  # rounded up
    shown = Table("format", "cases", "read", "refused", "neither")
    totals, failures = Counter[str](), 0
    for name in arguments.formats:
        outcomes = fuzz(name, cases, arguments.jobs, arguments.outcomes)
        counts = Counter(outcomes.values())
        bad = {case: outcome for case, outcome in outcomes.items() if outcome not in GOOD}
        kinds = Counter(bad.values()).most_common()
        shown.add_row(
            name,
            f"{len(outcomes):,}",
            *(f"{counts[outcome]:,}" for outcome in GOOD),
            ", ".join(f"{count} {kind}" for kind, count in kinds) or "0",
        )
        failures += len(bad)
        totals += counts
        print(f"{name}: {len(outcomes):,} cases, {len(bad)} neither read nor refused", file=sys.stderr)
        for case, outcome in list(bad.items())[:20]:
            print(f"{name} {case}: {outcome}", file=sys.stderr)
            if arguments.save:
                arguments.save.mkdir(parents=True, exist_ok=True)
                path = arguments.save / f"{case}-{FORMATS[name].file_name}"
                path.write_bytes(make_case(FORMATS[name], case))
    shown.add_row(
        "all",
        f"{totals.total():,}",
        *(f"{totals[outcome]:,}" for outcome in GOOD),
        str(failures),
    )
    Console(width=110).print(shown)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
