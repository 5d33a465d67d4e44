"""Ask a model of table columns about binarised variables, by rows whose values meet the question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.models import COMPLETE, ENCODINGS, Predictor, columns_with_missing
from hornbook.tables import Kind

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser

VALUES_PER_BIN = 5
"""Values of each bin that a question about it is asked with."""


@dataclass(frozen=True, eq=False)
class BinValues:
    """Turns binary variables back into table rows: each bin becomes values observed in it.

    A model that reads `age` cannot be told `age=high`, but it can be given several of the high ages
    of the table, one after the other. A column without a known bin is missing.

    Parameters
    ----------
    names
        The columns.
    variables
        For each column, the positions of its variables.
    values
        For each column, an array of shape (bins + 1, draws): values for each variable if it is
        true, for a column with one variable values if it is false, and last what stands for unknown:
        NaN, or any values of the column for models that refuse NaN.

    """

    names: tuple[str, ...]
    variables: tuple[tuple[int, ...], ...]
    values: tuple[NDArray[Any], ...]

    @classmethod
    def of(
        cls, binariser: Binariser, frame: pd.DataFrame, takes_missing: bool, rng: np.random.Generator
    ) -> BinValues:
        """Draw the values from those of a table."""
        names = tuple(binariser.columns_)
        frame = frame.set_axis(list(names), axis=1)
        conditions = binariser.conditions_
        variables = tuple(
            tuple(v for v, condition in enumerate(conditions) if condition.column == name) for name in names
        )
        values = []
        for name, positions in zip(names, variables, strict=True):
            known = frame[name].dropna().infer_objects()
            parts = [known[conditions[v].evaluate(known.to_frame())[0]] for v in positions]
            if len(positions) == 1:
                parts.append(known[conditions[positions[0]].evaluate(known.to_frame())[1]])
            drawn = [_draw_values(part if len(part) else known, rng) for part in parts]
            unknown = np.full(VALUES_PER_BIN, np.nan) if takes_missing else _draw_values(known, rng)
            stacked = np.stack([*drawn, unknown])
            typed = pd.Series(stacked.reshape(-1)).infer_objects().to_numpy()
            values.append(typed.reshape(stacked.shape))
        return cls(names, variables, tuple(values))

    def frame(self, facts: NDArray[Any]) -> pd.DataFrame:
        """The table rows, one draw after another, for a (rows, variables) array of 1, 0 and NaN."""
        columns = {}
        for name, positions, values in zip(self.names, self.variables, self.values, strict=True):
            about = facts[:, positions]
            # of several bins the one that is true; with all but one ruled out, the one that is left
            true = (about == 1) | ((about != 0) & ((about == 0).sum(axis=1) == len(positions) - 1)[:, None])
            if len(positions) == 1:
                true = np.hstack([about == 1, about == 0])
            choice = np.where(true.any(axis=1), true.argmax(axis=1), len(values) - 1)
            columns[name] = values[choice].T.reshape(-1)  # (draws, rows)
        return pd.DataFrame(columns, copy=False)


def wrap_column_model(
    predictor: Predictor,
    binariser: Binariser,
    frame: pd.DataFrame,
    takes_missing: bool,
    rng: np.random.Generator,
) -> Predictor:
    """Turn a model of columns into a model of variables: the answer is that about most of several rows."""
    columns = BinValues.of(binariser, frame, takes_missing, rng)

    def average(ask: Callable[[Any], Any], facts: NDArray[Any]) -> NDArray[np.float64]:
        answers = np.asarray(ask(predictor.read(columns.frame(facts))), np.float64)
        means: NDArray[np.float64] = answers.reshape(VALUES_PER_BIN, len(facts), *answers.shape[1:]).mean(
            axis=0
        )
        return means

    plain = binariser.vocabulary_.names[: len(binariser.conditions_)]
    return replace(
        predictor,
        outputs=lambda facts: average(predictor.output_rows, facts),
        decisions=lambda facts: average(predictor.decide_rows, facts) > 0.5,
        classes=None,
        labels=None,
        gaps=None,
        encoding=ENCODINGS["nan"] if takes_missing else COMPLETE,
        inputs=len(plain),
        names=plain,
        dtype=np.float64,
        order="C",
    )


def reads_columns(predictor: Predictor, columns: Collection[str]) -> bool:
    """Whether a model reads the columns of a table, and not the variables made of them."""
    if predictor.names is not None:
        return set(predictor.names) <= set(columns)
    return predictor.inputs in (None, len(columns))


def fit_binariser(
    predictor: Predictor, frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None
) -> Binariser:
    """Fit a binariser whose bins suit a model.

    If the model reads the columns themselves, bins are cut where its answers change most, because
    rules cannot express what happens within a bin.
    """
    from hornbook.queries.binarise import Binariser

    columns = list(map(str, frame.columns))
    if reads_columns(predictor, columns):
        named = frame.set_axis(columns, axis=1)
        unread = set(columns) - columns_with_missing(predictor, named)
        if named[[name for name in columns if name in unread]].notna().all(axis=None):
            decided = predictor.decide_rows(predictor.read(named))
            return Binariser(dual=True, bins="tree", kinds=kinds).fit(frame, decided)
    return Binariser(dual=True, kinds=kinds).fit(frame)


def _draw_values(known: pd.Series[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Several observed values, spread evenly over their order and shuffled."""
    ordered = known.sort_values(ignore_index=True).to_numpy(object)
    places = ((np.arange(VALUES_PER_BIN) + 0.5) * len(ordered) / VALUES_PER_BIN).astype(np.intp)
    return rng.permutation(ordered[places])
