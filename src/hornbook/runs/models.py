"""Load the model of a saved run, and restore the extractor that the run used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hornbook.data.binarise import Binariser
from hornbook.data.table import spell_level
from hornbook.errors import HornbookError
from hornbook.extractor.estimator import HornExtractor
from hornbook.models import load_model
from hornbook.runs.folder import CONFIG_FILE, MODEL_FILE, Run, file_checksum


def make_extractor(
    model: Any, target: str, positive: str | None, binariser: Binariser, settings: Mapping[str, Any]
) -> HornExtractor:
    """Make the extractor of a run; `positive` is the target value that counts as true, if given."""
    known = list(getattr(model, "classes_", ()))
    named = {spell_level(name.item() if hasattr(name, "item") else name): name for name in known}
    own = None if positive is None else named.get(positive)
    return HornExtractor(model, target, positive=own, binariser=binariser, **settings)


def find_run_model(run: Run, given: Path | None = None) -> Path:
    """Return the path of a run's model: the given one, or the one that the run recorded."""
    about = run.config.get("model")
    if not isinstance(about, dict):
        raise HornbookError(f"{run.folder / CONFIG_FILE} does not say what the model is")
    return given or (Path(str(about["path"])) if "path" in about else run.folder / MODEL_FILE)


def load_run_model(run: Run, path: Path, trust_pickle: bool = False) -> Any:
    """Load the model of a run; refuse a file that has changed."""
    model, about = load_model(path, trust_pickle), run.config["model"]
    if "sha256" in about and file_checksum(path) != about["sha256"]:
        raise HornbookError(f"{path} has changed since the run was made: the checksums differ")
    return model


def restore_extractor(run: Run, model: Any) -> HornExtractor:
    """Make the extractor of a saved run, not fitted."""
    data, target, settings = (run.config[part] for part in ("data", "target", "settings"))
    return make_extractor(model, target, data["positive"], run.binariser, settings)
