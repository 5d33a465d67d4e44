"""Load models from files; pickles, which can run any code, only on request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from hornbook.errors import HornbookError, keras, library
from hornbook.models import from_onnx, from_safetensors
from hornbook.models.trial import try_model_file


def load_model(path: str | Path, trust_pickle: bool = False, answers: Path | None = None) -> Any:
    """Load the model in a file or behind a URL, as input for `as_predictor`.

    Parameters
    ----------
    path
        `.onnx`; `.safetensors` with the JSON of the same name beside it; `.keras`; `.skops`
        (scikit-learn); `.json` or `.ubj` (XGBoost); `.txt` (LightGBM).
        Or the URL of an endpoint, or a `.toml` file that describes one.
    trust_pickle
        Also load `.pkl`, `.pickle`, `.joblib`, `.pt` and `.pth`, and `.skops` with types that skops
        does not know, as those of trees. Such a file can be a program that runs when it is loaded and
        can do anything you can.
    answers
        The folder in which the answers of an endpoint are kept; by default the user's cache folder.

    """
    if not is_url(path) and not Path(path).is_file():
        raise HornbookError(f"there is no file {path}")
    if names_endpoint(path):
        from hornbook.remote import Endpoint

        return Endpoint(path, answers)
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
        f"{path} is no readable {path.suffix.lower()} model: {first_line[:MAX_REASON_LENGTH]}"
    )


def _refuse_exploding(path: Path) -> None:
    """Refuse an archive that says it unpacks to more than memory has room for."""
    with ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise HornbookError(f"it unpacks to {size:,} bytes, and at most {MAX_UNPACKED_BYTES:,} are read")


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
    model = torch.load(path, map_location="cpu", weights_only=False)
    if not isinstance(model, torch.nn.Module):
        raise HornbookError(f"{path} holds a {type(model).__name__}, not a module; save it as ONNX")
    return model


READERS: dict[str, Callable[[Path], Any]] = {
    ".onnx": from_onnx.open_session,
    ".safetensors": from_safetensors.read_network,
    ".keras": _keras,
    ".skops": _skops,
    ".json": _xgboost,
    ".ubj": _xgboost,
    ".txt": _lightgbm,
}
OWN_TYPES = ("sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",)
"""Types of what `train_pipeline` makes that skops does not list as safe: arrays of nodes."""

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
    ".pth": _torch,
}
