"""Runs that are killed and started again leave the same bytes as one that was not disturbed.

    python benchmarks/kills.py [--kills 100] [--runs extraction queries proofs reproduction] [--seed 0]

A command is run once undisturbed. Then it is run in another folder and killed (SIGKILL) at a random
moment, and the same command is given again until it ends. All files are compared but those of times;
of the reproduction's metrics all but times. Each run is a process that is forked from this one, which
has imported the libraries, and queries and proofs are about a network that was trained before, so that
moments are those of the work. The reproduction is a small one. The exit code is 1 if any files differ.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import hornbook.explainer
import hornbook.report.page
import hornbook.runs  # noqa: F401  imported before, and not in each run
from hornbook.cli import main as run_command
from hornbook.cli.learn import NETWORK_FILE
from hornbook.paper import PROTOCOLS, reproduce
from hornbook.paper.networks import Net
from hornbook.paper.search import ModelSelection, grid
from hornbook.paper.settings import Scale, Sweep, TreeBudget
from hornbook.queries import Budget, Settings
from hornbook.tables import load_dataset

SMALL = Scale(
    "small",
    repetitions=1,
    selection=ModelSelection(grid((1,), (4, 8), (0.1,)), finalists=1, seeds=1),
    ours=Settings(Budget(equivalence_queries=4), pool=2000, size=2000),
    tree=TreeBudget(size=60, samples=1, tuning=20),
    sweep=Sweep((0.0, 0.8), net=Net((8,), 0.1), sizes=(30, 30), tested=20, queries=3),
    fresh=20,
)
"""A reproduction of some seconds."""


def give_command(*arguments: str) -> Callable[[Path], None]:
    """A function that gives a command of hornbook, with a folder."""

    def run(folder: Path) -> None:
        sys.argv = ["hornbook", *arguments, "-o", str(folder)]
        run_command()

    return run


def reproduce_paper(folder: Path) -> None:
    """Reproduce the paper's experiment in a folder, by its own protocol."""
    reproduce(load_dataset(), folder, SMALL, protocols=(PROTOCOLS["paper"],), synthetic=True, processes=1)


def list_runs(network: Path) -> dict[str, Callable[[Path], None]]:
    """What is run, in a folder; `network` is one that was trained on iris."""
    query = ("learn", "iris", "--model", str(network))
    return {
        "extraction": give_command("extract", "iris", "--train", "--samples", "2000", "--max-literals", "4"),
        "queries": give_command(*query, "--max-queries", "8"),
        "proofs": give_command(*query, "--max-queries", "4", "--proof", "--seconds", "60"),
        "reproduction": reproduce_paper,
    }


RUN_NAMES = ("extraction", "queries", "proofs", "reproduction")


def train_network(folder: Path) -> Path:
    """Train a network on iris in a run of its own; its file."""
    if wait(start(give_command("learn", "iris", "--train", "--max-queries", "1"), folder / "trained")):
        raise RuntimeError((folder / "output").read_text())
    return folder / "trained" / NETWORK_FILE


OF_TIMES = {"seconds.json", "seal.json", ".lock", "report.html"}
"""Files that differ from run to run; of a run folder the report is compared all the same."""


def start(run: Callable[[Path], None], folder: Path) -> int:
    """Start a run in a process of its own; its number. What it prints goes into a file."""
    process = os.fork()
    if process:
        return process
    output = os.open(folder.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    code = 1
    try:
        run(folder)
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)


def wait(process: int, seconds: float | None = None) -> int | None:
    """The exit code of a process; None if it takes longer than so many seconds."""
    end = None if seconds is None else time.perf_counter() + seconds
    while end is None or time.perf_counter() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def digest_files(folder: Path) -> dict[str, str]:
    """The digest of each file, but for those of times."""
    is_run = (folder / "extraction.json").exists()
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".seconds"
        and (path.name not in OF_TIMES or (is_run and path.name == "report.html"))
    )
    return {str(path.relative_to(folder)): hashlib.sha256(read_untimed(path)).hexdigest() for path in files}


def read_untimed(path: Path) -> bytes:
    """The content of a file; that of metrics without times."""
    if path.name != "metrics.json":
        return path.read_bytes()
    return json.dumps(drop_times(json.loads(path.read_text()))).encode()


def drop_times(value: object) -> object:
    """A JSON value without what is called seconds, times or the like."""
    if isinstance(value, dict):
        return {
            name: drop_times(part)
            for name, part in value.items()
            if not any(word in name for word in ("seconds", "times", "cpu", "hours"))
        }
    return [drop_times(part) for part in value] if isinstance(value, list) else value


def kill_once(run: Callable[[Path], None], folder: Path, seconds: float) -> tuple[bool, str]:
    """Kill a run after some seconds, and run it to its end: whether it was killed, and what went wrong."""
    process = start(run, folder)
    if wait(process, seconds) is not None:
        return False, ""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    code = wait(start(run, folder))
    said = (folder.parent / "output").read_text(errors="replace").strip().splitlines()
    finished = any("holds this run already" in line for line in said)
    return True, "" if code == 0 or finished else f"exit code {code}: {said[-1] if said else ''}"


def measure(
    name: str, run: Callable[[Path], None], kills: int, rng: np.random.Generator
) -> tuple[int, int, list[str]]:
    """How many runs were killed, how many ended differently, and what went wrong."""
    problems, killed, different = [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder, begin = Path(place) / "run", time.perf_counter()
        if wait(start(run, folder)):
            raise RuntimeError((Path(place) / "output").read_text())
        length, expected = time.perf_counter() - begin, digest_files(folder)
        while killed < kills:
            shutil.rmtree(folder, ignore_errors=True)
            was_killed, problem = kill_once(run, folder, rng.uniform(0, length))
            killed += was_killed
            if was_killed and not problem and (found := digest_files(folder)) != expected:
                different += 1
                other = sorted(path for path in {*found, *expected} if found.get(path) != expected.get(path))
                problem = f"other bytes in {', '.join(other)}"
            problems += [problem] if problem else []
            print(f"{name}: {killed} killed, {problem or 'the same bytes'}", file=sys.stderr)
    return killed, different, problems


def main() -> None:
    """Kill, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--runs", nargs="+", default=list(RUN_NAMES), choices=RUN_NAMES)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # threads do not survive a fork
    table, failures = Table("run", "killed", "other bytes", "failed to end"), 0
    with tempfile.TemporaryDirectory() as place:
        runs = list_runs(train_network(Path(place)))
        for name in arguments.runs:
            rng = np.random.default_rng(arguments.seed)
            killed, different, problems = measure(name, runs[name], arguments.kills, rng)
            table.add_row(name, str(killed), str(different), str(len(problems) - different))
            failures += len(problems)
    Console(width=100).print(table)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
