"""Dates, times and durations as numbers of days, in which hornbook compares them; how they read.

A date is a whole number of days since 1970-01-01, a time a number with a fraction, to a microsecond, by the
clock of its own time zone. A model is always given its values as the user has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_datetime64_any_dtype, is_timedelta64_dtype

Scale: TypeAlias = Literal["", "date", "time", "duration"]
"""What the numbers of a column are: numbers, or days as a date, as a time or as a duration."""

MICROSECONDS = 86_400_000_000
"""Microseconds of a day."""

PARTS = {"d": MICROSECONDS, "h": MICROSECONDS // 24, "min": MICROSECONDS // 1440, "s": MICROSECONDS // 86_400}
"""The units of durations, and how many microseconds each has."""

WRITTEN_TYPES = ("date", "datetime", "timedelta")
"""Kinds of values in columns of Python objects."""


def find_time_type(values: pd.Series[Any]) -> Any:
    """The type of a column of dates, times or durations: its own, or a name of objects; None of others."""
    if is_datetime64_any_dtype(values.dtype) or is_timedelta64_dtype(values.dtype):
        return values.dtype
    kind = infer_dtype(values, skipna=True) if values.dtype == object else ""
    return kind if kind in WRITTEN_TYPES else None


def find_scale(kind: Any, days: NDArray[np.float64]) -> Scale:
    """What the numbers of a column of times of a type are."""
    if _are_durations(kind):
        return "duration"
    return "date" if (days[~np.isnan(days)] % 1 == 0).all() else "time"


def _are_durations(kind: Any) -> bool:
    return bool(kind == "timedelta" if isinstance(kind, str) else kind.kind == "m")


def count_days(values: pd.Series[Any], kind: Any) -> NDArray[np.float64]:
    """The times of a column of a type in days, NaN where one is missing."""
    if isinstance(kind, str):
        values = (pd.to_timedelta if kind == "timedelta" else pd.to_datetime)(values)
    elif isinstance(kind, pd.DatetimeTZDtype):
        values = values.dt.tz_localize(None)
    ticks = values.to_numpy("m8[us]" if _are_durations(kind) else "M8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / MICROSECONDS)


def restore_column(days: pd.Series[Any], kind: Any) -> pd.Series[Any]:
    """Days as times of a type that `find_time_type` found."""
    numbers = days.to_numpy(np.float64, na_value=np.nan)
    missing = np.isnan(numbers)
    ticks = np.where(missing, 0, np.rint(numbers * MICROSECONDS)).astype(np.int64)
    plain = pd.Series(ticks.view("m8[us]" if _are_durations(kind) else "M8[us]"), days.index, name=days.name)
    times = plain.mask(missing)
    if isinstance(kind, str):
        written = list(times.dt.date if kind == "date" else times)
        return pd.Series(written, days.index, object, days.name).mask(missing, None)
    if isinstance(kind, pd.DatetimeTZDtype):
        is_summer = np.ones(len(times), np.bool_)  # of an hour that the clock shows twice
        times = times.dt.tz_localize(kind.tz, ambiguous=is_summer, nonexistent="shift_forward")
    return times.astype(kind)


def write_days(days: float, scale: Scale) -> str:
    """A number of days as a reader expects it.

    Examples
    --------
    >>> write_days(18785, "date"), write_days(18785.625, "time"), write_days(4.25, "duration")
    ('2021-06-07', '2021-06-07 15:00', '4 d 6 h')

    """
    ticks = round(days * MICROSECONDS)
    if scale == "date":
        return str(np.datetime64(ticks // MICROSECONDS, "D"))
    if scale == "time":
        moment = str(np.datetime64(ticks, "us")).replace("T", " ")
        return moment.removesuffix(".000000").removesuffix(":00")
    parts, rest = [], abs(ticks)
    for name, size in PARTS.items():
        count = round(rest / size, 6) if name == "s" else float(rest // size)
        rest %= size
        if count:
            parts.append(f"{count:.9g} {name}")
    return ("-" if ticks < 0 else "") + (" ".join(parts) or "0 d")


def read_days(value: Any, scale: Scale) -> float | None:
    """The days that a text, a date, a time or a duration says; None where it says none.

    Examples
    --------
    >>> read_days("2021-06-07", "date"), read_days("4 d 6 h", "duration"), read_days("soon", "date")
    (18785.0, 4.25, None)

    """
    if isinstance(value, int | float | np.number):
        return float(value)
    if scale == "duration" and isinstance(value, str):
        value = re.sub(r"(?<=[0-9 ])d\b", "D", value)
    try:
        made = pd.Timedelta(value) if scale == "duration" else pd.Timestamp(value)
    except (ValueError, TypeError):
        return None
    column = pd.Series([made])
    return None if pd.isna(made) else float(count_days(column, column.dtype)[0])


def list_rounder_days(days: float, scale: Scale) -> Iterator[float]:
    """Days near a number of days that read shorter: the beginnings of years or months, whole days or hours.

    Examples
    --------
    >>> [write_days(each, "date") for each in list_rounder_days(18785, "date")]
    ['2021-01-01', '2022-01-01', '2021-06-01', '2021-07-01']

    """
    if scale == "date":
        day = np.datetime64(int(days), "D")
        for unit in ("Y", "M"):
            first = day.astype(f"M8[{unit}]")
            yield from (float((first + step).astype("M8[D]").astype(np.int64)) for step in (0, 1))
        return
    for size in PARTS.values():
        start = int(days * MICROSECONDS) // size
        yield from ((start + step) * size / MICROSECONDS for step in (0, 1))
