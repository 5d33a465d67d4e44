"""Runs that are killed and started again leave the same bytes as one that was not disturbed.

    python benchmarks/kills.py [--kills 100] [--runs extraction queries proofs reproduction] [--seed 0]

A command is run once undisturbed. Then it is run in another folder and killed (SIGKILL) at a random
moment, and the same command is given again until it ends, perhaps killed on the way. All files are
compared but those of times and the lock. The exit code is 1 if any differ.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

RUNS = {
    "extraction": ["extract", "breast-cancer", "--train", "--max-literals", "6"],
    "queries": ["query", "hcc-synthetic", "--train", "--max-queries", "12"],
    "proofs": ["query", "iris", "--train", "--max-queries", "8", "--proof", "--proof-seconds", "5"],
    "reproduction": ["reproduce", "--protocol", "paper"],
}
"""The commands, without their folder."""

OF_TIMES = {"seconds.json", "trace.seconds", ".lock"}
"""Files that differ from run to run."""


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    full = [sys.executable, "-m", "hornbook", *command, "-o", str(folder)]
    return subprocess.Popen(full, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def digest_files(folder: Path) -> dict[str, str]:
    """The digest of each file, but for those of times."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in OF_TIMES)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def kill_once(command: list[str], folder: Path, seconds: float) -> tuple[bool, str]:
    """Kill a run after some seconds, and run it to its end: whether it was killed, and what went wrong."""
    process = start(command, folder)
    try:
        process.wait(seconds)
        killed = False
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        killed = True
    if not killed:
        return False, ""
    again = start(command, folder)
    _, errors = again.communicate()
    finished = b"holds this run already" in errors
    return True, "" if again.returncode == 0 or finished else errors.decode().strip().splitlines()[-1]


def measure(name: str, kills: int, rng: np.random.Generator) -> tuple[int, int, list[str]]:
    """How many runs were killed, how many ended differently, and what went wrong."""
    command, problems, killed, different = RUNS[name], [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        begin = time.perf_counter()
        process = start(command, Path(place) / "run")
        _, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(errors.decode())
        length, expected = time.perf_counter() - begin, digest_files(Path(place) / "run")
        (Path(place) / "run").rename(Path(place) / "undisturbed")
        for _ in track(range(kills), name, console=Console(stderr=True)):
            shutil.rmtree(Path(place) / "run", ignore_errors=True)
            was_killed, problem = kill_once(command, Path(place) / "run", rng.uniform(0, length))
            killed += was_killed
            problems += [problem] if problem else []
            if not problem and (found := digest_files(Path(place) / "run")) != expected:
                different += 1
                other = sorted(path for path in {*found, *expected} if found.get(path) != expected.get(path))
                problems.append(f"other bytes in {', '.join(other)}")
    return killed, different, problems


def main() -> None:
    """Kill, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=list(RUNS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    table, failures = Table("run", "killed", "other bytes", "failed to end"), 0
    for name in arguments.runs:
        killed, different, problems = measure(name, arguments.kills, np.random.default_rng(arguments.seed))
        table.add_row(name, str(killed), str(different), str(len(problems) - different))
        failures += len(problems)
        for problem in problems[:10]:
            print(f"{name}: {problem}", file=sys.stderr)
    Console(width=100).print(table)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
