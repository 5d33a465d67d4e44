"""Load models from files; pickles, which can run any code, only on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError, keras, library
from hornbook.models import from_onnx, from_safetensors


def load_model(path: str | Path, trust_pickle: bool = False) -> Any:
    """Load the model in a file, as input for `as_predictor`.

    Parameters
    ----------
    path
        `.onnx`; `.safetensors` with the JSON of the same name beside it; `.keras`; `.skops`
        (scikit-learn); `.json` or `.ubj` (XGBoost); `.txt` (LightGBM); `.npz` (a `ColumnNetwork`).
    trust_pickle
        Also load `.pkl`, `.pickle`, `.joblib`, `.pt` and `.pth`. Such a file is a program that
        runs when it is loaded and can do anything you can.

    """
    path = Path(path)
    if not path.is_file():
        raise HornbookError(f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix not in READERS and suffix not in PICKLES:
        known = ", ".join([*READERS, *PICKLES])
        raise HornbookError(f"{path}: cannot tell the kind of model from {suffix!r}; known are {known}")
    if suffix in PICKLES and not trust_pickle:
        raise HornbookError(
            f"{path} is a pickle, a program that runs when it is loaded and can do anything you can; if you "
            "trust whoever made it, pass trust_pickle=True (--trust-pickle), else ask for skops or ONNX"
        )
    read = READERS.get(suffix) or PICKLES[suffix]
    try:
        return read(path)
    except HornbookError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise HornbookError(
            f"{path} is no readable {suffix} model: {type(error).__name__}: {reason}"
        ) from error


def _keras(path: Path) -> Any:
    return keras().saving.load_model(path, compile=False, safe_mode=True)


def _skops(path: Path) -> Any:
    skops = library("skops.io", "skops")
    strangers = skops.get_untrusted_types(file=path)
    if strangers:
        raise HornbookError(
            f"{path} holds types that skops does not know to be safe: {', '.join(strangers)}; if you trust "
            "them, load it with skops.io.load(path, trusted=[...]) and pass the model"
        )
    return skops.load(path)


def _xgboost(path: Path) -> Any:
    return library("xgboost", "xgboost").Booster(model_file=path)


def _lightgbm(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if not text.startswith("tree\n") or "\nend of trees\n" not in text:
        # LightGBM would take the whole process down with it
        raise HornbookError(f"{path} is no readable .txt model of LightGBM, or it was cut short")
    return library("lightgbm", "lightgbm").Booster(model_file=path)


def _column_network(path: Path) -> Any:
    from hornbook.models.column_network import ColumnNetwork

    return ColumnNetwork.load(path)


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
    ".npz": _column_network,
}
PICKLES: dict[str, Callable[[Path], Any]] = {
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": _pickle,
    ".pt": _torch,
    ".pth": _torch,
}
