"""What a model reads: interpretations in its encoding, columns by the names it knows, and missing values."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.errors import HornbookError, ModelTimeout
from hornbook.logic import Batch, bits
from hornbook.models.answers import OutOfAnswersError

if TYPE_CHECKING:
    from hornbook.models.predictor import Predictor

ROWS_ASKED = 4
"""Number of rows with a missing value that are tried for each column."""

MAX_VARIABLES_HIDDEN = 500
"""Most variables of a model that are tried."""

MAX_VALUES_ASKED = 1 << 22
"""Most values of the rows that are tried: of thousands of columns several are missing at a time."""


@dataclass(frozen=True)
class Encoding:
    """The numbers for true, false and unknown, in one channel or in two.

    Parameters
    ----------
    true, false
        The numbers for known values.
    unknown
        The number for ?. None if the model takes complete inputs only; a partial interpretation
        is then judged by its completions. Where it is the number for false too, a variable known to
        be false is told from an unknown one by its dual, which is then read as true.
    channels
        With 2, every variable is given twice: first "is it true?" for all variables, then "is it
        false?"; both are `false` where the value is unknown.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> batch = Batch.from_array([[1, 0, np.nan]], Vocabulary(["sunny", "happy", "jogging"]))
    >>> Encoding().encode(batch)
    array([[1. , 0. , 0.5]], dtype=float32)
    >>> Encoding.named("signed").encode(batch)
    array([[ 1., -1.,  0.]], dtype=float32)
    >>> Encoding.named("two-channel").encode(batch)
    array([[1., 0., 0., 0., 1., 0.]], dtype=float32)
    >>> pairs = Vocabulary.with_duals(["sunny", "happy"])
    >>> Encoding.named("zero").encode(Batch.from_array([[np.nan, 0, np.nan, np.nan]], pairs))
    array([[0., 0., 0., 1.]], dtype=float32)

    """

    true: float = 1.0
    false: float = 0.0
    unknown: float | None = 0.5
    channels: int = 1

    def __post_init__(self) -> None:
        if self.channels not in (1, 2):
            raise HornbookError(f"an encoding has 1 or 2 channels, not {self.channels}")
        if self.channels == 2 and self.unknown != self.false:
            raise HornbookError(
                f"with 2 channels ? is neither true nor false, so unknown is {self.false}, not {self.unknown}"
            )
        if self.unknown is not None and math.isnan(self.unknown):
            # one NaN, so that equal encodings compare equal
            object.__setattr__(self, "unknown", math.nan)

    @classmethod
    def named(cls, name: str) -> Encoding:
        """Return the encoding named `zero`, `half`, `signed`, `two-channel`, `nan` or `complete`."""
        try:
            return ENCODINGS[name]
        except KeyError:
            raise HornbookError(f"unknown encoding {name!r}; choose one of {', '.join(ENCODINGS)}") from None

    @property
    def native(self) -> bool:
        """Whether ? is encoded by a number; otherwise completions are needed."""
        return self.unknown is not None

    def inputs(self, variables: int) -> int:
        """The number of inputs for a number of variables."""
        return self.channels * variables

    def encode(self, batch: Batch, dtype: DTypeLike = np.float32, order: bits.Order = "C") -> NDArray[Any]:
        """Encode a batch as an array of shape (k, inputs); order `F` is faster."""
        self.refuse_unknown(batch)
        unknown = self.false if self.unknown is None else self.unknown
        values = bits.Values(self.true, self.false, unknown)
        true, false = batch.true, batch.false
        if self.channels == 2:
            true, false = np.concatenate([true, false]), np.concatenate([false, true])
        elif self.unknown == self.false and batch.vocabulary.has_duals:
            v, dual = batch.vocabulary.paired_rows
            true, false = true.copy(), np.zeros_like(false)
            true[v] |= batch.false[dual]
        return bits.as_numbers(true, false, values, dtype, order)[: len(batch)]

    def refuse_unknown(self, batch: Batch) -> None:
        """Raise for a batch with ? if ? has no number."""
        if self.native or len(batch) == 0:
            return
        unknown = ~(batch.true | batch.false)
        bits.clear_spare(unknown, len(batch))
        if not unknown.any():
            return
        row, variable = np.argwhere(bits.unpack(unknown, len(batch)))[0]
        raise HornbookError(
            f"row {row}, variable {batch.vocabulary.name(variable)!r}: the value is unknown, and the model "
            "takes complete inputs only; ask it through completions, or name the encoding of ? that it was "
            "trained with, e.g. encoding=Encoding(unknown=0.5)"
        )


COMPLETE = Encoding(unknown=None)

ENCODINGS = {
    "zero": Encoding(unknown=0.0),
    "half": Encoding(),
    "signed": Encoding(false=-1.0, unknown=0.0),
    "two-channel": Encoding(unknown=0.0, channels=2),
    "nan": Encoding(unknown=math.nan),
    "complete": COMPLETE,
}


def list_trained_columns(model: Any) -> list[Any]:
    """The names of the columns that a model was fitted on, as it writes them; none if on an array.

    Examples
    --------
    >>> class Booster:
    ...     def feature_name(self):
    ...         return ["petal_width", "sex"]
    >>> list_trained_columns(Booster())
    ['petal_width', 'sex']

    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_names_", None)  # CatBoost, which numbers the columns of an array
        if names is not None and list(names) == list(map(str, range(len(names)))):
            names = None
    if names is None and callable(getattr(model, "feature_name", None)):
        names = model.feature_name()
    return [] if names is None else getattr(names, "tolist", lambda: list(names))()


def match_columns(trained_on: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
    """The column of a table for each that a model was trained on; None where there is none.

    Libraries that forbid a character in names write an underscore for it. So a name that the table
    does not have is that of the only column that is written so.
    """
    known = {*columns}
    if known.issuperset(trained_on):
        return list(trained_on)
    written = Counter(map(_write_name, columns))
    as_written = {_write_name(each): each for each in columns if written[_write_name(each)] == 1}
    return [name if name in known else as_written.get(name) for name in trained_on]


def _write_name(name: Any) -> str:
    """A column's name as LightGBM, which takes no spaces, and users of XGBoost write it."""
    return re.sub(r"[ \[\]<]", "_", str(name))


def read_numbers(rows: Any, dtype: DTypeLike, name: str) -> NDArray[Any]:
    """A table as an array of numbers; a copy, for torch warns of arrays that are read-only."""
    try:
        return np.array(rows.to_numpy(dtype))
    except (TypeError, ValueError) as error:
        raise HornbookError(
            f"{name} does not say which columns it was trained on, and is given all of them as "
            f"numbers: {error}; leave out or encode columns of words, or give it names: feature_names_in_"
        ) from None


def takes_missing(predictor: Predictor) -> bool:
    """Whether a model of variables accepts NaN in each of them."""
    if predictor.inputs is None:
        return False
    hidden = np.linspace(0, predictor.inputs - 1, min(predictor.inputs, MAX_VARIABLES_HIDDEN)).astype(np.intp)
    rows = np.ones((len(hidden), predictor.inputs))
    rows[np.arange(len(hidden)), hidden] = np.nan
    return _answers(predictor, np.concatenate([rows, 0 * rows]))


def columns_with_missing(predictor: Predictor, table: Any) -> frozenset[str]:
    """Return the columns of a table in which a model accepts missing values.

    It does where it answers about rows of the table without the value, in finite scores, and
    does not where it fails. Columns that it does not read are among them. Of thousands of columns it
    is asked about several at a time. A model with a number of its own for unknown values takes them in all.
    """
    if not predictor.encodes_as_tables:
        return frozenset(table.columns)
    complete = table.dropna()
    shown = (complete if len(complete) else table).head(ROWS_ASKED)
    groups = list(_group_columns(shown.shape))
    if _answers(predictor, _hide_in_turn(shown, groups, table)):
        return frozenset(table.columns)
    taken = (columns for columns in groups if _answers(predictor, _hide_in_turn(shown, [columns], table)))
    return frozenset(table.columns[column] for columns in taken for column in columns)


def _group_columns(shape: tuple[int, int]) -> Iterator[range]:
    """The numbers of the columns whose values are missing at a time, for rows of a shape: one, or several."""
    rows, columns = shape
    size = -(-rows * columns * columns // MAX_VALUES_ASKED)
    return (range(start, min(start + size, columns)) for start in range(0, columns, size))


def _missing_value(column: Any) -> Any:
    """How a column writes that a value is missing: the first one of objects, such as None, else NaN."""
    return next(iter(column[column.isna()]), np.nan) if column.dtype == object else np.nan


def make_missing(values: Any, column: Any) -> Any:
    """The values of a column as missing ones, written as they are there."""
    return values.mask(np.ones(len(values), np.bool_), _missing_value(column))


def _hide_in_turn(rows: Any, groups: list[range], table: Any) -> Any:
    """A table of the rows once for each group of columns, without the values of that group."""
    from hornbook.tables import replace_columns  # with pandas, without which files of models are tried

    repeated = rows.iloc[np.tile(np.arange(len(rows)), len(groups))].reset_index(drop=True)
    turn = np.arange(len(groups)).repeat(len(rows))
    hidden = {
        name: repeated[name].mask(turn == number, _missing_value(table[name]))
        for number, columns in enumerate(groups)
        for name in rows.columns[columns.start : columns.stop]
    }
    return replace_columns(repeated, hidden)


def _answers(predictor: Predictor, rows: Any) -> bool:
    """Whether the model scores the rows and decides about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = predictor.read(rows)
            predictor.score_classes(rows)
            predictor.classify_rows(rows)
        except (ModelTimeout, OutOfAnswersError):
            raise
        except (Exception, SystemExit):  # whatever a model raises that wants no NaN
            return False
    return True
