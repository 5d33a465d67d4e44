"""Models behind real servers, explained: requests, rows a second, retries, and what a kill costs.

    python benchmarks/endpoints.py [--servers mlflow hostile] [--environments FOLDER] [--rows 2000]

MLflow's `mlflow models serve` is started on the loopback address, from a virtual environment of its
own, which is made in FOLDER if it is not there. The other server throttles a
fifth of the requests, drops a tenth of the connections, and takes 0.1 ms a row. Each is explained
undisturbed, then killed (SIGKILL) in the middle, then run again. The exit code is 1 if the two
explanations differ.
"""

import argparse
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))
from model_servers import Reply, read_rows, serve

PACKAGES = {
    "mlflow": ["mlflow-skinny", "pandas", f"scikit-learn=={sklearn.__version__}"],
}
START_SECONDS = 300
"""How long a server may take to start."""

RUN = """
import json, sys
from pathlib import Path
import pandas as pd
import hornbook as hb
from hornbook.remote import Endpoint
endpoint = Endpoint(sys.argv[1], Path(sys.argv[2]))
extraction = hb.Explainer(endpoint, pd.read_csv(sys.argv[3])).extract()
print(json.dumps({"counts": vars(endpoint.counts), "explanation": str(extraction.explanation)}))
"""


def make_environment(folder: Path, name: str) -> Path:
    """The Python of a server's virtual environment, which is made if it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[name]], check=True)
    return python


def train(folder: Path, rows: int) -> RandomForestClassifier:
    """Write a table of so many rows, and the forest that is served."""
    values, labels = make_classification(rows, 8, n_informative=5, random_state=0)
    frame = pd.DataFrame(values, columns=[f"x{number}" for number in range(8)])
    model = RandomForestClassifier(20, max_depth=6, random_state=0).fit(frame, labels)
    frame.to_csv(folder / "table.csv", index=False)
    joblib.dump(model, folder / "model.joblib")
    return model


@contextmanager
def start_server(command: list[Any], port: int, folder: Path, python: Path) -> Iterator[None]:
    """Run a server until the block ends; wait until it answers."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{python.parent}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_listening(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    f"{command[0]} does not start: {(folder / 'server.log').read_text()[-2000:]}"
                )
            time.sleep(0.2)
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def is_listening(port: int) -> bool:
    """Whether a server takes connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def find_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def serve_mlflow_models(folder: Path, model: Any, environments: Path) -> Iterator[str]:
    """MLflow's own server of the model, which a program of MLflow saves."""
    python, (port,) = make_environment(environments, "mlflow"), find_ports(1)
    save = (
        "import joblib, mlflow.sklearn as flavor;"
        "flavor.save_model(joblib.load('model.joblib'), 'mlflow-model', serialization_format='cloudpickle')"
    )
    quiet = {"cwd": folder, "check": True, "stderr": subprocess.DEVNULL}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-c", save], env=environment, **quiet)
    command = [python, "-m", "mlflow", "models", "serve", "-m", "mlflow-model", "-h", "127.0.0.1", "-p", port]
    with start_server([*command, "--env-manager", "local"], port, folder, python):
        yield f"http://127.0.0.1:{port}/invocations"


@contextmanager
def serve_hostile(folder: Path, model: Any, environments: Path) -> Iterator[str]:
    """A server that throttles, drops connections and is slow."""
    rng = np.random.default_rng(0)

    def respond(path: str, body: Any, number: int) -> Reply | None:
        if body is None:
            return Reply("hostile")
        luck, rows = rng.random(), read_rows(body)
        if luck < 0.2:
            return Reply("slow down", 429, {"Retry-After": "0"})
        if luck < 0.3:
            return None
        time.sleep(0.0001 * len(rows))
        return Reply({"predictions": model.predict(rows).tolist()})

    with serve(respond) as server:
        yield f"{server.url}/invocations"


def run_once(url: str, folder: Path, table: Path, kill_at: int | None = None) -> dict[str, Any] | None:
    """Explain a model in another process; None if it was killed once so many answers were kept."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, url, str(folder), str(table)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        while kill_at is not None and process.poll() is None:
            if count_answers(folder) >= kill_at:
                process.kill()
                return None
            time.sleep(0.02)
        printed, _ = process.communicate()
    return dict(json.loads(printed))


def count_answers(folder: Path) -> int:
    """The answers that are kept in a folder."""
    if not (folder / "answers.sqlite").exists():
        return 0
    with sqlite3.connect(f"file:{folder / 'answers.sqlite'}?mode=ro", uri=True, timeout=60) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:  # the table is still to be made
            return 0


SERVERS = {"mlflow": serve_mlflow_models, "hostile": serve_hostile}


def main() -> None:
    """Start each server, explain its model three times, and print what was asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", nargs="+", choices=SERVERS, default=list(SERVERS))
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir()) / "hornbook-servers")
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    printed = Table("server", "run", "requests", "rows sent", "rows a second", "retries", "known answers")
    same = True
    for name in options.servers:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            model = train(folder, options.rows)
            with SERVERS[name](folder, model, options.environments.resolve()) as url:
                whole = run_once(url, folder / "whole", folder / "table.csv")
                assert whole is not None
                half = count_answers(folder / "whole") // 2
                run_once(url, folder / "killed", folder / "table.csv", kill_at=half)
                kept = count_answers(folder / "killed")
                again = run_once(url, folder / "killed", folder / "table.csv")
                assert again is not None
        add_row(printed, name, "undisturbed", whole["counts"])
        printed.add_row(name, f"killed with {kept:,} answers", "", "", "", "", "")
        add_row(printed, name, "the same again", again["counts"])
        same &= whole["explanation"] == again["explanation"]
    Console(width=110).print(printed)
    print("the explanations are the same" if same else "the explanations DIFFER")
    raise SystemExit(0 if same else 1)


def add_row(table: Table, server: str, run: str, counts: dict[str, Any]) -> None:
    """Add what one run asked."""
    speed = counts["rows"] / max(counts["seconds"], 1e-9)
    share = 100 * counts["cached"] / max(1, counts["answers"])
    table.add_row(
        server,
        run,
        f"{counts['requests']:,}",
        f"{counts['rows']:,}",
        f"{speed:,.0f}",
        f"{counts['retries']:,}",
        f"{share:.1f} % of {counts['answers']:,}",
    )


if __name__ == "__main__":
    main()
