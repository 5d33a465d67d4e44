"""Frames from elsewhere: pandas as it is, polars converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hornbook.logic.errors import HornbookError


def as_frame(data: Any) -> pd.DataFrame | None:
    """A pandas frame from a pandas or polars one; None for anything else."""
    if isinstance(data, pd.DataFrame):
        return data
    if type(data).__module__.partition(".")[0] == "polars" and hasattr(data, "collect_schema"):
        eager = data.collect() if hasattr(data, "collect") else data
        return pd.DataFrame(eager.to_dict(as_series=False))
    return None


def refuse_infinity(frame: pd.DataFrame) -> None:
    """Refuse infinite numbers, naming the first."""
    for column in frame.select_dtypes("number"):
        infinite = np.isinf(frame[column].to_numpy(np.float64, na_value=np.nan))
        if infinite.any():
            row = int(np.flatnonzero(infinite)[0])
            raise HornbookError(f"row {row}, column {column!r} is infinity; make it missing or finite")
