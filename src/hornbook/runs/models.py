"""The model of a run, loaded again and asked as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hornbook.data.binarise import Binariser
from hornbook.data.table import spell_level
from hornbook.errors import HornbookError
from hornbook.extractor.estimator import HornExtractor
from hornbook.models import load_model
from hornbook.runs.folder import CONFIG, MODEL, Run, checksum


def make_extractor(
    model: Any, target: str, positive: str | None, binariser: Binariser, settings: Mapping[str, Any]
) -> HornExtractor:
    """The extractor of a run: `positive` is the value of the target that counts as true, if it was named."""
    known = list(getattr(model, "classes_", ()))
    named = {spell_level(name.item() if hasattr(name, "item") else name): name for name in known}
    own = None if positive is None else named.get(positive)
    return HornExtractor(model, target, positive=own, binariser=binariser, **settings)


def find_run_model(run: Run, given: Path | None = None) -> Path:
    """The file of a run's model: the one given, or where the run says."""
    about = run.config.get("model")
    if not isinstance(about, dict):
        raise HornbookError(f"{run.folder / CONFIG} does not say what the model is")
    return given or (Path(str(about["path"])) if "path" in about else run.folder / MODEL)


def load_run_model(run: Run, path: Path, trust_pickle: bool = False) -> Any:
    """The model of a run in its file; refuse a file that is not what it was."""
    model, about = load_model(path, trust_pickle), run.config["model"]
    if "sha256" in about and checksum(path) != about["sha256"]:
        raise HornbookError(f"{path} is not what it was when the run was made: the checksums differ")
    return model


def restore_extractor(run: Run, model: Any) -> HornExtractor:
    """The extractor that a run was made with, not fitted."""
    data, target, settings = (run.config[part] for part in ("data", "target", "settings"))
    return make_extractor(model, target, data["positive"], run.binariser, settings)
