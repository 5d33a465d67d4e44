"""Tables with missing values: kinds of columns, binary labels, reading, and datasets by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from hornbook.conditions import spell_level, truth_value
from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily
from hornbook.tables.frames import as_frame, check_names, refuse_infinity, replace_columns
from hornbook.tables.reading import (
    MISSING_MARKERS,
    Reading,
    draw_rows,
    number_rows,
    read_rows,
    replace_markers,
)
from hornbook.tables.sources import TextFormat, name_source
from hornbook.times import find_time_type

Kind: TypeAlias = Literal["binary", "categorical", "quantitative"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DATASETS = {
    "hcc-synthetic": "synthetic patients shaped like those of hcc: 165 rows, 49 features, 10 % missing",
    "hcc": "patients with liver cancer who survive a year or not: 165 rows, 49 features, 10 % missing",
    "breast-cancer": "breast tumours, benign or not: 569 rows, 30 features, complete",
    "wine": "wines, from the second cultivator or not: 178 rows, 13 features, complete",
    "iris": "iris flowers, virginica or not: 150 rows, 4 features, complete",
    "digits": "images of digits, odd or even: 1,797 rows, 61 features, complete",
}
"""The names of the datasets, each with a one-line description."""

BUNDLED = {
    "breast-cancer": ("load_breast_cancer", "benign", {1}),
    "wine": ("load_wine", "second_cultivator", {1}),
    "iris": ("load_iris", "virginica", {2}),
    "digits": ("load_digits", "odd", {1, 3, 5, 7, 9}),
}
"""How scikit-learn loads a dataset, the name of its label, and the classes that are true."""

from_paper = load_lazily("hornbook", {"paper": ["load_hcc", "make_synthetic_hcc"]})
"""The door to the paper's patients, who are datasets by name for everyone."""


def infer_kind(values: pd.Series[Any]) -> Kind:
    """Infer the kind of a column from its known values.

    A column is binary if it has truth values, or at most two values that are words or whole
    numbers; quantitative if it has other numbers, or times; and categorical otherwise.

    Examples
    --------
    >>> infer_kind(pd.Series([0, 1, None])), infer_kind(pd.Series([1, 2, 3]))
    ('binary', 'quantitative')
    >>> infer_kind(pd.Series(["no", "yes"])), infer_kind(pd.Series(["red", "green", "blue"]))
    ('binary', 'categorical')

    """
    known = known_values(values)
    if find_time_type(known) is not None:
        return "quantitative"
    if not pd.api.types.is_numeric_dtype(known) or pd.api.types.is_bool_dtype(known):
        levels = sorted_levels(known)
        return "binary" if len(levels) == 2 or are_truths(levels) else "categorical"
    numbers = known.unique()
    is_binary = len(numbers) <= 2 and all(float(number).is_integer() for number in numbers)
    return "binary" if is_binary else "quantitative"


def known_values(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return the known values of a column, as numbers if possible; refuse a column with none."""
    known = values.dropna()
    if known.empty:
        raise HornbookError(f"column {values.name!r} has no known value; drop it")
    if known.dtype == object:
        known = known.infer_objects()
    return known


def sorted_levels(known: pd.Series[Any]) -> list[Any]:
    """Return the distinct values of a column, in a category's own order or sorted."""
    if isinstance(known.dtype, pd.CategoricalDtype):
        present = set(known.unique())
        return [level for level in known.cat.categories if level in present]
    try:
        distinct = [level.item() if isinstance(level, np.generic) else level for level in known.unique()]
    except TypeError:
        distinct = [None]
    if not all(isinstance(level, str | int | float) for level in distinct):
        example = str(known.iloc[0])[:40]
        raise HornbookError(
            f"column {known.name!r} holds values that are not numbers or text, such as {example!r}; "
            "make them numbers or words, or drop it"
        )
    return sorted(distinct, key=lambda level: (isinstance(level, str), level))


def are_truths(levels: list[Any]) -> bool:
    """Whether every level is a word or number for true or false."""
    return all(truth_value(level) is not None for level in levels)


def binary_label(
    values: pd.Series[Any], positive: str | float | None = None, above: float | None = None
) -> tuple[str, pd.Series[Any]]:
    """Return the name of the class and its values as 0 and 1; refuse a missing or constant class.

    Examples
    --------
    >>> name, classes = binary_label(pd.Series([35, 70, 62], name="age"), above=60)
    >>> name, classes.tolist()
    ('age>60', [0.0, 1.0, 1.0])

    """
    if values.isna().any():
        rows = values.index[values.isna()].tolist()
        shown = ", ".join(map(str, rows[:5])) + (" …" if len(rows) > 5 else "")
        raise HornbookError(f"the label {values.name!r} is missing in {len(rows)} rows ({shown}); drop them")
    name, classes = _binary_classes(values, positive, above)
    if classes.nunique() < 2:
        constant = "true" if classes.iloc[0] else "false"
        raise HornbookError(f"the label {name!r} is {constant} in every row: there is nothing to learn")
    return name, classes


def _binary_classes(
    values: pd.Series[Any], positive: str | float | None, above: float | None
) -> tuple[str, pd.Series[Any]]:
    """Return the name of the class and its values as 0 and 1."""
    column = str(values.name)
    levels = sorted_levels(known_values(values))
    if above is not None:
        if not pd.api.types.is_numeric_dtype(values):
            raise HornbookError(
                f"the label {column!r} has no numbers to compare with {above}; give positive="
            )
        return f"{column}>{above:g}", (values > above).astype(float)
    if positive is not None:
        matching = [level for level in levels if spell_level(level) == spell_level(positive)]
        if not matching:
            known = ", ".join(map(spell_level, levels[:10]))
            raise HornbookError(
                f"the label {column!r} is never {spell_level(positive)!r}; its values are {known}"
            )
        return f"{column}={spell_level(positive)}", (values == matching[0]).astype(float)
    if are_truths(levels):
        return column, values.map(truth_value).astype(float)
    if len(levels) > 2:
        first, middle = spell_level(levels[0]), spell_level(levels[len(levels) // 2])
        choice = f"positive={first!r}" if isinstance(levels[0], str) else f"above={middle}"
        raise HornbookError(
            f"the label {column!r} has {len(levels)} distinct values; make it binary with {choice} "
            f"(--{choice.replace('=', ' ')})"
        )
    return f"{column}={spell_level(levels[-1])}", (values == levels[-1]).astype(float)


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns have known kinds, with missing values as NaN.

    Parameters
    ----------
    frame
        The values.
    kinds
        For each column, `binary`, `categorical` or `quantitative`.
    name
        Its name in reports.
    label
        The class column, with values 0 and 1, if there is one.
    text_format
        How the file was written, if it was a text.
    source_rows
        The number of rows of the source, if the table is a sample of them.
    notes
        What was taken for missing values in columns of numbers, and which words may be numbers.

    """

    frame: pd.DataFrame
    kinds: dict[str, Kind]
    name: str
    label: str | None = None
    text_format: TextFormat | None = None
    source_rows: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> pd.DataFrame:
        """The columns without the label."""
        return self.frame if self.label is None else self.frame.drop(columns=self.label)

    @property
    def missing(self) -> float:
        """The share of missing values in the features."""
        return float(self.features.isna().to_numpy().mean())

    @property
    def complete(self) -> int:
        """The number of rows without missing features."""
        return int(self.features.notna().all(axis=1).sum())

    def with_label(
        self, column: str, positive: str | float | None = None, above: float | None = None
    ) -> Table:
        """Return the table with one column as its class, converted to 0 and 1.

        Parameters
        ----------
        column
            The column.
        positive
            The value that counts as 1; the others count as 0.
        above
            Numbers greater than this count as 1; the others count as 0.

        """
        if column not in self.frame:
            close = get_close_matches(column, self.frame.columns, n=3)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise HornbookError(f"there is no column {column!r} to be the label{hint}")
        name, classes = binary_label(self.frame[column], positive, above)
        position = self.frame.columns.get_loc(column)
        names = [name if number == position else other for number, other in enumerate(self.frame.columns)]
        frame = replace_columns(self.frame, {column: classes}).set_axis(check_names(names), axis=1)
        kinds = {name if other == column else other: kind for other, kind in self.kinds.items()}
        return replace(self, frame=frame, kinds={**kinds, name: "binary"}, label=name)

    def checksum(self) -> str:
        """The SHA-256 of the values and column names."""
        return hashlib.sha256(self.frame.to_csv(index=False).encode()).hexdigest()

    def describe(self) -> str:
        """The table in one line."""
        counts = ", ".join(f"{count} {kind}" for kind in KINDS if (count := list(self._kinds()).count(kind)))
        rows = f"{len(self)} rows" if self.source_rows is None else f"{len(self)} of {self.source_rows} rows"
        shape = f"{rows}, {self.features.shape[1]} features ({counts})"
        holes = f"{100 * self.missing:.2f} % missing, {self.complete} complete rows"
        if self.label is None:
            return f"{self.name}: {shape}, {holes}"
        positive = int(self.frame[self.label].sum())
        return f"{self.name}: {shape}, {holes}, {self.label} {positive} to {len(self) - positive}"

    def _kinds(self) -> Iterable[Kind]:
        return (kind for column, kind in self.kinds.items() if column != self.label)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"<Table {self.describe()}>"


def read_table(
    source: Any,
    *,
    label: str | None = None,
    positive: str | float | None = None,
    above: float | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    names: Sequence[str] | None = None,
    missing: Iterable[str] = MISSING_MARKERS,
    kinds: Mapping[str, Kind] | None = None,
    name: str | None = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> Table:
    """Read a table from a file or a frame; missing values stay missing.

    A file that is larger than memory is read as a sample of its rows, by `max_rows`.

    Parameters
    ----------
    source
        A path to a CSV, TSV or similar text, a `.parquet`, `.json` or `.jsonl` file, perhaps
        compressed by gzip or Zstandard; a query like `SELECT * FROM 'visits/*.parquet' WHERE
        age > 40`, which DuckDB answers. Or a pandas or polars frame.
    label, positive, above
        The class column; see `Table.with_label`.
    delimiter, encoding, decimal, thousands
        How a text is written, see `TextFormat`; of what is not given the delimiter is found out.
    names
        The column names of a text without a header.
    missing
        All markers of missing values, in upper or lower case; `[*MISSING_MARKERS, "-9"]` adds
        one to the defaults.
    kinds
        The kinds of some columns, instead of the inferred ones.
    name
        The table's name in reports; by default the file's name.
    max_rows
        The size of a sample: of a table with more rows, this many are drawn uniformly. Memory does
        then not grow with a file.
    seed
        The seed of the sample.

    Examples
    --------
    >>> table = read_table(pd.DataFrame({"age": [40, 50, 61], "ill": ["no", "?", "yes"]}))
    >>> table.kinds
    {'age': 'quantitative', 'ill': 'binary'}
    >>> print(table.describe())
    table: 3 rows, 2 features (1 binary, 1 quantitative), 16.67 % missing, 2 complete rows

    """
    if max_rows is not None and max_rows < 1:
        raise HornbookError(f"max_rows is at least 1; got {max_rows}")
    given = as_frame(source)
    name = name or ("table" if given is not None else name_source(source))
    if given is not None:
        given = replace_markers(given, missing)
        drawn, reading = draw_rows(len(given), max_rows, seed), Reading(len(given))
        frame = (given if drawn is None else given.iloc[drawn]).reset_index(drop=True)
    else:
        text_format = TextFormat(delimiter, encoding, decimal, thousands)
        frame, reading = read_rows(
            source,
            text_format,
            names=names,
            missing=missing,
            max_rows=max_rows,
            seed=seed,
            words=kinds or (),
        )
    if frame.empty:
        raise HornbookError(f"{name} has {frame.shape[1]} columns and {len(frame)} rows")
    refuse_infinity(frame if given is not None else frame.set_axis(number_rows(len(frame))))
    for column, kind in (kinds or {}).items():
        if column not in frame or kind not in KINDS:
            raise HornbookError(
                f"{column!r}: {kind!r} is not a column with one of the kinds {', '.join(KINDS)}"
            )
        if kind == "quantitative" and not pd.api.types.is_numeric_dtype(frame[column]):
            example = str(known_values(frame[column]).iloc[0])[:40]
            raise HornbookError(
                f"column {column!r} should hold numbers and holds {example!r}; mend the values"
            )
    inferred = {str(column): infer_kind(values) for column, values in frame.items()}
    source_rows = reading.rows if reading.rows > len(frame) else None
    every_kind = {**inferred, **(kinds or {})}
    table = Table(frame, every_kind, name, None, reading.text_format, source_rows, reading.notes)
    return table if label is None else table.with_label(label, positive, above)


def load_dataset(name: str = "hcc-synthetic", *, path: str | PathLike[str] | None = None) -> Table:
    """Load a dataset by name, with its class as the label.

    Parameters
    ----------
    name
        One of `DATASETS`.
    path
        For `hcc`, a copy of the data.

    Examples
    --------
    >>> print(load_dataset("iris").describe())
    iris: 150 rows, 4 features (4 quantitative), 0.00 % missing, 150 complete rows, virginica 50 to 100

    """
    if name not in DATASETS:
        close = get_close_matches(name, DATASETS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(DATASETS)}"
        raise HornbookError(f"there is no dataset {name!r}{hint}")
    if path is not None and name != "hcc":
        raise HornbookError(f"the dataset {name!r} takes no path; to read a file use read_table")
    if name in BUNDLED:
        return _load_bundled(name)
    table: Table = from_paper("load_hcc")(path) if name == "hcc" else from_paper("make_synthetic_hcc")()
    return table


def _load_bundled(name: str) -> Table:
    """A dataset that scikit-learn ships, with one of its classes, or some, as the label."""
    from sklearn import datasets

    loader, label, positive = BUNDLED[name]
    bunch = getattr(datasets, loader)(as_frame=True)
    frame: pd.DataFrame = bunch.data.rename(columns=_short)
    varying = frame.loc[:, frame.nunique() > 1]
    classes = bunch.target.isin(positive).astype(float)
    return read_table(replace_columns(varying, {label: classes}), label=label, name=name)


def _short(column: str) -> str:
    """A column's name without its unit, words joined by underscores."""
    return "_".join(column.partition("(")[0].split())
