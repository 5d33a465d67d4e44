"""Models from files and URLs: pickles, which can run any code, only on request, and others after a trial.

The libraries that read files of boosters and of ONNX trust them: a damaged file can end the process, never
return, or take all memory. So such a file is first loaded, and asked about some rows, by another process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError, keras, library

ENDPOINT_SUFFIX = ".toml"
"""The end of the name of a file that describes an endpoint."""

MAX_REASON_LENGTH = 300
"""Characters of what a library says about a file that are repeated."""

PICKLES = (".pkl", ".pickle", ".joblib")

TRIED_FIRST = (".json", ".onnx", ".txt", ".ubj")
"""Files whose libraries trust them; the others are archives with checksums."""

TRIAL_SECONDS = 60.0
"""Seconds within which a file must be loaded, and one more for each megabyte that it has."""

TRIAL_BYTES = 8 << 30
"""Memory that loading a file may take, and twenty times its size besides."""

OWN_TYPES = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "hornbook.tables.frames.number_times",
)
"""Types of what `train_pipeline` makes that skops does not list as safe: arrays of nodes, and a function."""


def load_model(path: str | Path, trust_pickle: bool = False, answers: Path | None = None) -> Any:
    """Load the model in a file or behind a URL, as input for `as_predictor`.

    Parameters
    ----------
    path
        `.onnx`; `.safetensors` with the JSON of the same name beside it; `.keras`; `.skops`
        (scikit-learn); `.json` or `.ubj` (XGBoost); `.txt` (LightGBM).
        Or the URL of an endpoint, or a `.toml` file that describes one, or a language model.
    trust_pickle
        Also load `.pkl`, `.pickle` and `.joblib`, and `.skops` with types that skops does not know, as those
        of trees. Such a file can be a program that runs when it is loaded and can do anything you can.
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
    if suffix not in READERS:
        known = ", ".join([*READERS, ENDPOINT_SUFFIX])
        raise HornbookError(f"{path}: cannot tell the kind of model from {suffix!r}; known are {known}")
    if suffix in PICKLES and not trust_pickle:
        raise HornbookError(
            f"{path} is a pickle, a program that runs when it is loaded and can do anything you can; if you "
            "trust whoever made it, pass trust_pickle=True (--trust-pickle), else ask for skops or ONNX"
        )
    if suffix in TRIED_FIRST and path.is_file():
        _try_model_file(path)
    try:
        return _read_skops(path, trust_pickle) if suffix == ".skops" else READERS[suffix](path)
    except Exception as error:
        if isinstance(error, HornbookError) and str(path) in str(error):
            raise
        reason = str(error) if isinstance(error, HornbookError) else f"{type(error).__name__}: {error}"
        line = " ".join(reason.strip().partition("\n")[0].split())[:MAX_REASON_LENGTH]
        raise HornbookError(f"{path} is not a readable {suffix} model: {line}") from error


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


def _try_model_file(path: Path) -> None:
    """Load a model file in another process; refuse a file that it does not survive.

    Errors that the library reports by itself are not reported here: they come again when the file is loaded.
    """
    megabytes = path.stat().st_size / (1 << 20)
    paths = os.pathsep.join(place for place in sys.path if place)
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from hornbook.models.loading import load_once; load_once()", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            timeout=TRIAL_SECONDS + megabytes,
        )
        survives = done.returncode == 0
    except subprocess.TimeoutExpired:
        survives = False
    if not survives:
        raise HornbookError(
            f"{path} is not a readable {path.suffix} model: loading it ends the process, never ends, or "
            "takes more memory than such a file can need; it is damaged, save it again"
        )


def load_once() -> None:
    """Load the file that the command line of this process names, and ask its model about some rows."""
    for name in ("dask", "matplotlib", "pandas", "sklearn"):  # which boosters import for a second if they can
        sys.modules[name] = None  # type: ignore[assignment]
    import numpy as np

    from hornbook.models.adapters import as_predictor
    from hornbook.randomness import Purpose, generator

    path = Path(sys.argv[1])
    _limit_memory(TRIAL_BYTES + 20 * path.stat().st_size)
    try:
        predictor = as_predictor(READERS[path.suffix.lower()](path))
        if predictor.inputs is not None:
            rng = generator(0, Purpose.TEST_CASES)
            rows = rng.normal(size=(256, predictor.inputs)) * 10.0 ** rng.integers(-3, 7, (256, 1))
            rows[rng.random(rows.shape) < 0.2] = np.nan
            predictor.outputs(rows.astype(predictor.dtype))
    except MemoryError:
        sys.exit(1)
    except Exception as error:
        sys.exit("bad_alloc" in str(error))


def _limit_memory(more: int) -> None:
    """Limit the memory of this process to so many bytes more than it has, where the system can."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = taken + more if most == resource.RLIM_INFINITY else min(taken + more, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _read_onnx(path: Path) -> Any:
    from hornbook.models.adapters.onnx import open_session

    return open_session(path)


def _read_network(path: Path) -> Any:
    from hornbook.models.adapters.networks import read_network

    return read_network(path)


def _read_keras(path: Path) -> Any:
    return keras().saving.load_model(path, compile=False, safe_mode=True)


def _read_skops(path: Path, trust: bool = False) -> Any:
    import skops.io

    strangers = skops.io.get_untrusted_types(file=path)
    if not trust and (strangers := [each for each in strangers if each not in OWN_TYPES]):
        raise HornbookError(
            f"{path} holds types that skops does not know to be safe: {', '.join(strangers)}; if you trust "
            "whoever made it, pass trust_pickle=True (--trust-pickle), else ask for ONNX"
        )
    return skops.io.load(path, trusted=[*strangers, *OWN_TYPES])


def _read_lightgbm(path: Path) -> Any:
    return library("lightgbm", "lightgbm").Booster(model_file=path)


def _read_xgboost(path: Path) -> Any:
    return library("xgboost", "xgboost").Booster(model_file=path)


def _unpickle(path: Path) -> Any:
    import joblib

    return joblib.load(path)


READERS: dict[str, Callable[[Path], Any]] = {
    ".onnx": _read_onnx,
    ".safetensors": _read_network,
    ".keras": _read_keras,
    ".skops": _read_skops,
    ".json": _read_xgboost,
    ".ubj": _read_xgboost,
    ".txt": _read_lightgbm,
    **dict.fromkeys(PICKLES, _unpickle),
}
