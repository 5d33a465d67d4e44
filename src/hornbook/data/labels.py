"""Labels: a column that is, or is made, a class of 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hornbook.data.kinds import are_truths, known_values, levels_of, spelled, truth
from hornbook.logic.errors import HornbookError


def binary_label(
    values: pd.Series[Any], positive: str | float | None = None, above: float | None = None
) -> tuple[str, pd.Series[Any]]:
    """What to call the class, and its values as 0 and 1; refuse one that is missing or constant.

    Examples
    --------
    >>> name, classes = binary_label(pd.Series([35, 70, 62], name="age"), above=60)
    >>> name, classes.tolist()
    ('age>60', [0.0, 1.0, 1.0])

    """
    if values.isna().any():
        rows = np.flatnonzero(values.isna()).tolist()
        shown = ", ".join(map(str, rows[:5])) + (" …" if len(rows) > 5 else "")
        raise HornbookError(f"the label {values.name!r} is missing in {len(rows)} rows ({shown}); drop them")
    name, classes = _two_classes(values, positive, above)
    if classes.nunique() < 2:
        constant = "true" if classes.iloc[0] else "false"
        raise HornbookError(f"the label {name!r} is {constant} in every row: there is nothing to learn")
    return name, classes


def _two_classes(
    values: pd.Series[Any], positive: str | float | None, above: float | None
) -> tuple[str, pd.Series[Any]]:
    """What to call the class, and its values as 0 and 1."""
    column = str(values.name)
    levels = levels_of(known_values(values))
    if above is not None:
        if not pd.api.types.is_numeric_dtype(values):
            raise HornbookError(
                f"the label {column!r} has no numbers to compare with {above}; give positive="
            )
        return f"{column}>{above:g}", (values > above).astype(float)
    if positive is not None:
        matching = [level for level in levels if spelled(level) == spelled(positive)]
        if not matching:
            known = ", ".join(map(spelled, levels[:10]))
            raise HornbookError(
                f"the label {column!r} is never {spelled(positive)!r}; its values are {known}"
            )
        return f"{column}={spelled(positive)}", (values == matching[0]).astype(float)
    if are_truths(levels):
        return column, values.map(truth).astype(float)
    if len(levels) > 2:
        first, middle = spelled(levels[0]), spelled(levels[len(levels) // 2])
        choice = f"positive={first!r}" if isinstance(levels[0], str) else f"above={middle}"
        raise HornbookError(
            f"the label {column!r} has {len(levels)} distinct values; make it binary with {choice} "
            f"(--{choice.replace('=', ' ')})"
        )
    return f"{column}={spelled(levels[-1])}", (values == levels[-1]).astype(float)
