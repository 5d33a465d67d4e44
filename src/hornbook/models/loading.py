"""Models from files: pickles, which can run any code, only on request, and others after a trial.

The libraries that read model files trust them: a damaged file can end the process, never return, or
take all memory. So such a file is first loaded, and asked about some rows, by a process of its own with
limits on time and memory. That process is kept for the next file, since imports take seconds.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from select import select
from typing import Any
from zipfile import ZipFile

from hornbook.errors import HornbookError, keras, library


def load_model(path: str | Path, trust_pickle: bool = False, answers: Path | None = None) -> Any:
    """Load the model in a file or behind a URL, as input for `as_predictor`.

    Parameters
    ----------
    path
        `.onnx`; `.safetensors` with the JSON of the same name beside it; `.keras`; `.skops`
        (scikit-learn); `.json` or `.ubj` (XGBoost); `.txt` (LightGBM).
        Or the URL of an endpoint, or a `.toml` file that describes one, or a language model.
    trust_pickle
        Also load `.pkl`, `.pickle`, `.joblib`, `.pt`, `.pt2` and `.pth`, and `.skops` with types that skops
        does not know, as those of trees. Such a file can be a program that runs when it is loaded and
        can do anything you can.
    answers
        The folder in which the answers of an endpoint are kept; by default the user's cache folder.

    """
    if not is_url(path) and not Path(path).is_file():
        raise HornbookError(f"there is no file {path}")
    if names_endpoint(path):
        from hornbook.remote import open_model

        return open_model(path, answers)
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READERS and suffix not in PICKLES:
        known = ", ".join([*READERS, *PICKLES, ENDPOINT_SUFFIX])
        raise HornbookError(f"{path}: cannot tell the kind of model from {suffix!r}; known are {known}")
    if suffix in PICKLES and not trust_pickle:
        raise HornbookError(
            f"{path} is a pickle, a program that runs when it is loaded and can do anything you can; if you "
            "trust whoever made it, pass trust_pickle=True (--trust-pickle), else ask for skops or ONNX"
        )
    read = READERS.get(suffix) or PICKLES[suffix]
    if suffix == ".skops":
        read = partial(_skops, trust=trust_pickle)
    if suffix in TRIED_FIRST:
        try_model_file(path)
    try:
        return read(path)
    except HornbookError as error:
        raise error if str(path) in str(error) else _unreadable(path, str(error)) from None
    except Exception as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error


def is_url(model: Any) -> bool:
    """Whether a model is named by the URL of its endpoint.

    Examples
    --------
    >>> is_url("http://127.0.0.1:5001/invocations"), is_url("model.onnx")
    (True, False)

    """
    return isinstance(model, str) and model.lower().startswith(("http://", "https://"))


def names_endpoint(source: Any) -> bool:
    """Whether a URL, or the path of a file that describes an endpoint."""
    return is_url(source) or (
        isinstance(source, str | Path) and Path(source).suffix.lower() == ENDPOINT_SUFFIX
    )


def name_model_source(source: str | Path) -> str:
    """The name of a model's file, or its URL without the scheme.

    Examples
    --------
    >>> name_model_source("models/tumours.onnx"), name_model_source("http://127.0.0.1:5001/invocations")
    ('tumours.onnx', '127.0.0.1:5001/invocations')

    """
    return str(source).partition("://")[2] if is_url(source) else Path(source).name


def _unreadable(path: Path, reason: str) -> HornbookError:
    first_line = " ".join(reason.strip().partition("\n")[0].split())
    return HornbookError(
        f"{path} is not a readable {path.suffix.lower()} model: {first_line[:MAX_REASON_LENGTH]}"
    )


def _refuse_exploding(path: Path) -> None:
    """Refuse an archive that says it unpacks to more than memory has room for."""
    with ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise HornbookError(f"it unpacks to {size:,} bytes, and at most {MAX_UNPACKED_BYTES:,} are read")


def _onnx(path: Path) -> Any:
    from hornbook.models.adapters.onnx import open_session

    return open_session(path)


def _safetensors(path: Path) -> Any:
    from hornbook.models.adapters.networks import read_network

    return read_network(path)


def _keras(path: Path) -> Any:
    _refuse_exploding(path)
    return keras().saving.load_model(path, compile=False, safe_mode=True)


def _skops(path: Path, trust: bool = False) -> Any:
    _refuse_exploding(path)
    import skops.io

    strangers = skops.io.get_untrusted_types(file=path)
    if not trust and (strangers := [each for each in strangers if each not in OWN_TYPES]):
        raise HornbookError(
            f"{path} holds types that skops does not know to be safe: {', '.join(strangers)}; if you trust "
            "whoever made it, pass trust_pickle=True (--trust-pickle), else ask for ONNX"
        )
    return skops.io.load(path, trusted=[*strangers, *OWN_TYPES])


def _lightgbm(path: Path) -> Any:
    return library("lightgbm", "lightgbm").Booster(model_file=path)


def _xgboost(path: Path) -> Any:
    return library("xgboost", "xgboost").Booster(model_file=path)


def _pickle(path: Path) -> Any:
    import joblib

    return joblib.load(path)


def _torch(path: Path) -> Any:
    torch = library("torch", "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is old
        if path.suffix.lower() == ".pt2":
            model = torch.export.load(path).module()
            for part in model.modules():  # it is as it was exported, and refuses `eval`
                part.training = False
        else:
            model = torch.load(path, map_location="cpu", weights_only=False)
    if not isinstance(model, torch.nn.Module):
        raise HornbookError(f"{path} holds a {type(model).__name__}, not a module; save it as ONNX")
    return model


def try_model_file(path: Path) -> None:
    """Load a model file in another process; refuse a file that it does not survive.

    Errors that the library reports by itself are not reported here: they come again when the file
    is loaded.
    """
    global _trial
    _trial = _trial if _trial is not None and _trial.is_alive else _Trial()
    size = path.stat().st_size
    outcome = _trial.ask(path, size, TRIAL_SECONDS + size / (1 << 20))
    if outcome is not None:
        raise HornbookError(
            f"{path} is not a readable {path.suffix} model: loading it {outcome}; it is damaged, "
            "save it again"
        )


SIGXCPU = getattr(signal, "SIGXCPU", signal.SIGTERM)
"""The signal that ends a process that has worked too long; Windows has none."""


class _Trial:
    """The process that loads files."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from hornbook.models.loading import serve_trials; serve_trials()"]
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
        atexit.register(self.stop)

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, path: Path, size: int, seconds: float) -> str | None:
        """What happened when the file was loaded, in words; None if nothing bad did."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):  # a process that has ended gives no answer either
            self.process.stdin.write(json.dumps([str(path.resolve()), size]).encode() + b"\n")
        # pipes cannot be waited for on Windows, where there is no limit of time
        waits = os.name != "nt"
        if waits and not select([self.process.stdout], [], [], seconds)[0]:
            self.stop()
            return f"did not end within {seconds:.0f} seconds"
        answer = self.process.stdout.readline()
        if not answer:
            self.stop()
            return "does not end" if self.process.returncode == -SIGXCPU else "ends the process"
        return "takes more memory than such a file can need" if answer == b"memory\n" else None

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        atexit.unregister(self.stop)


def serve_trials() -> None:
    """Load the files that are named on standard input, and answer a line for each."""
    for name in UNNEEDED_LIBRARIES:
        sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    for line in sys.stdin:
        path, size = json.loads(line)
        print(_load_and_ask(Path(path), size), file=answers, flush=True)


def _load_and_ask(path: Path, size: int) -> str:
    """Load a file and ask the model about random rows: `fine`, or `memory` if that does not suffice."""
    _limit_process(TRIAL_BYTES + 20 * size, TRIAL_WORK + size // (1 << 20))
    try:
        _ask(READERS[path.suffix.lower()](path))
    except MemoryError:
        return "memory"
    except Exception as error:
        return "memory" if "bad_alloc" in str(error) else "fine"
    return "fine"


def _ask(model: Any) -> None:
    import numpy as np

    from hornbook.models.adapters import as_predictor
    from hornbook.randomness import Purpose, generator

    predictor = as_predictor(model)
    if predictor.inputs is None:
        return
    rng = generator(0, Purpose.TEST_CASES)
    rows = rng.normal(size=(TRIAL_ROWS, predictor.inputs)) * 10.0 ** rng.integers(-3, 7, (TRIAL_ROWS, 1))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    predictor.outputs(rows.astype(predictor.dtype))


def _limit_process(size: int, seconds: int) -> None:
    """Limit the memory (bytes) and the time (seconds) of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = taken + size if most == resource.RLIM_INFINITY else min(taken + size, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds, most))


TRIAL_SECONDS = 60.0
"""Seconds within which a file must be loaded, and one more for each megabyte that it has."""

TRIAL_WORK = 8
"""Seconds of a processor within which a file must be loaded, and one more for each megabyte."""

TRIAL_BYTES = 8 << 30
"""Memory that loading a file may take, and twenty times its size besides."""

TRIAL_ROWS = 256
"""Rows that a model is asked about."""

UNNEEDED_LIBRARIES = ("dask", "matplotlib", "pandas", "sklearn")
"""What libraries of boosters import where it is installed, for a second, and their own files do not need."""

READERS: dict[str, Callable[[Path], Any]] = {
    ".onnx": _onnx,
    ".safetensors": _safetensors,
    ".keras": _keras,
    ".skops": _skops,
    ".json": _xgboost,
    ".ubj": _xgboost,
    ".txt": _lightgbm,
}
OWN_TYPES = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "hornbook.tables.frames.number_times",
)
"""Types of what `train_pipeline` makes that skops does not list as safe: arrays of nodes, and a function."""

ENDPOINT_SUFFIX = ".toml"
"""The end of the name of a file that describes an endpoint."""

TRIED_FIRST = (".json", ".onnx", ".txt", ".ubj")
"""Files whose libraries trust them; the others are archives with checksums."""

MAX_REASON_LENGTH = 300
"""Characters of what a library says about a file that are repeated."""

MAX_UNPACKED_BYTES = 8 << 30
"""The most that an archive may unpack to."""

PICKLES: dict[str, Callable[[Path], Any]] = {
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": _pickle,
    ".pt": _torch,
    ".pt2": _torch,
    ".pth": _torch,
}

_trial: _Trial | None = None
