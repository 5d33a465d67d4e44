"""Ask a model of table columns about binarised variables, by a representative value of each bin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.binarise import Binariser
from hornbook.data.table import Kind
from hornbook.models import ENCODINGS, Predictor
from hornbook.models.encoding import COMPLETE
from hornbook.models.missing import columns_with_missing


@dataclass(frozen=True, eq=False)
class BinRepresentatives:
    """Turns binary variables back into table rows: each bin becomes a value observed in it.

    A model that reads `age` cannot be told `age=high`, but it can be given the median of the
    high ages of the table. Each bin has one representative, and a column without a known bin is
    missing.

    Parameters
    ----------
    names
        The columns.
    variables
        For each column, the positions of its variables.
    representatives
        For each column, a value for each variable if it is true, and, for a column with one
        variable, a value if it is false.
    missing
        For each column, the value if unknown: NaN, or the median for models that refuse NaN.

    """

    names: tuple[str, ...]
    variables: tuple[tuple[int, ...], ...]
    representatives: tuple[tuple[Any, ...], ...]
    missing: tuple[Any, ...]

    @classmethod
    def of(cls, binariser: Binariser, frame: pd.DataFrame, takes_missing: bool) -> BinRepresentatives:
        """Choose the representatives from the values of a table."""
        names = tuple(binariser.columns_)
        frame = frame.set_axis(list(names), axis=1)
        conditions = binariser.conditions_
        variables = tuple(
            tuple(v for v, condition in enumerate(conditions) if condition.column == name) for name in names
        )
        representatives, missing = [], []
        for name, positions in zip(names, variables, strict=True):
            known = frame[name].dropna().infer_objects()
            middle = _median_value(known)
            parts = [known[conditions[v].holds(known)] for v in positions]
            if len(positions) == 1:
                parts.append(known[~conditions[positions[0]].holds(known)])
            representatives.append(tuple(_median_value(part) if len(part) else middle for part in parts))
            missing.append(np.nan if takes_missing else middle)
        return cls(names, variables, tuple(representatives), tuple(missing))

    def frame(self, values: NDArray[Any]) -> pd.DataFrame:
        """The table rows for a (rows, variables) array of 1, 0 and NaN."""
        columns = {}
        for name, positions, representatives, missing in zip(
            self.names, self.variables, self.representatives, self.missing, strict=True
        ):
            about = values[:, positions]
            # of several bins the one that is true; with all but one ruled out, the one that is left
            true = (about == 1) | ((about != 0) & ((about == 0).sum(axis=1) == len(positions) - 1)[:, None])
            if len(positions) == 1:
                true = np.hstack([about == 1, about == 0])
            choice = np.where(true.any(axis=1), true.argmax(axis=1), len(representatives))
            columns[name] = pd.Series([*representatives, missing]).take(choice).to_numpy()
        return pd.DataFrame(columns, copy=False)


def wrap_column_model(
    predictor: Predictor, binariser: Binariser, frame: pd.DataFrame, takes_missing: bool
) -> Predictor:
    """Turn a model of columns into a model of variables."""
    columns = BinRepresentatives.of(binariser, frame, takes_missing)

    def of_values(ask: Callable[[Any], Any] | None) -> Callable[[NDArray[Any]], Any] | None:
        return None if ask is None else lambda values: ask(predictor.read(columns.frame(values)))

    plain = binariser.vocabulary_.names[: len(binariser.conditions_)]
    return replace(
        predictor,
        outputs=lambda values: predictor.outputs(predictor.read(columns.frame(values))),
        decisions=of_values(predictor.decisions),
        gaps=of_values(predictor.gaps),
        encoding=ENCODINGS["nan"] if takes_missing else COMPLETE,
        inputs=len(plain),
        names=plain,
        dtype=np.float64,
        order="C",
        device_outputs=None,
    )


def reads_columns(predictor: Predictor, columns: Collection[str]) -> bool:
    """Whether a model reads the columns of a table, and not the variables made of them."""
    if predictor.names is not None:
        return set(predictor.names) <= set(columns)
    return predictor.inputs in (None, len(columns))


def predict_readable_rows(
    predictor: Predictor, frame: pd.DataFrame, takes_missing_in: Collection[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows the model can read as they are, shape (rows,), and its decisions on these."""
    needed = [name for name in frame.columns if name not in takes_missing_in]
    readable: NDArray[np.bool_] = frame[needed].notna().all(axis=1).to_numpy()
    if not readable.any():
        return readable, np.zeros(0, np.bool_)
    return readable, predictor.decide_rows(predictor.read(frame[readable]))


def fit_binariser(
    predictors: Sequence[Predictor], frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None
) -> Binariser:
    """Fit a binariser whose bins suit one or several models.

    If the models read the columns themselves, bins are cut where their answers change most,
    because rules cannot express what happens within a bin.
    """
    columns = list(map(str, frame.columns))
    if reads_columns(predictors[0], columns):
        named = frame.set_axis(columns, axis=1)
        takes_missing_in = columns_with_missing(predictors[0], named)
        told = [predict_readable_rows(predictor, named, takes_missing_in) for predictor in predictors]
        if told[0][0].all():
            decided = np.stack([decided for _, decided in told], axis=1) @ np.arange(1, len(told) + 1)
            return Binariser(dual=True, bins="tree", kinds=kinds).fit(frame, decided)
    return Binariser(dual=True, kinds=kinds).fit(frame)


def _median_value(known: pd.Series[Any]) -> Any:
    """The lower median, which is an observed value."""
    ordered = known.sort_values(ignore_index=True)
    return ordered.iloc[(len(ordered) - 1) // 2]
