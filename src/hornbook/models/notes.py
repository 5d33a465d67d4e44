"""What a user should know of a model and a table before reading what it does, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hornbook.code_book import list_values
from hornbook.conditions import write_value
from hornbook.errors import HornbookError
from hornbook.models.inputs import ROWS_ASKED, list_trained_columns
from hornbook.models.outputs import flatten_column
from hornbook.models.predictor import RemoteModel
from hornbook.models.subject import Binding

TELLING_ROWS = 20
"""The fewest rows of which a percentage says anything."""


def note_size(subject: Binding) -> Iterator[str]:
    """Say of a table that is too small to say anything about other rows that it is."""
    if (rows := len(subject.frame)) < TELLING_ROWS:
        yield (
            f"a table of {rows} {'row' if rows == 1 else 'rows'} is too small: all samples are made of "
            "its values, and figures about them say nothing about other rows"
        )


def note_columns(subject: Binding, name: str = "the model") -> Iterator[str]:
    """Say that a model that names no columns is given those of the table in their order."""
    predictor, columns = subject.predictor, list(map(str, subject.frame.columns))
    reads_any = predictor.takes_any_form and predictor.inputs is None
    is_remote = isinstance(predictor.source, RemoteModel)
    if not reads_any and not is_remote and predictor.list_columns(columns) is None:
        yield f"{name} names no columns; it is given the table's in their order: {list_values(columns)}"


def note_levels(subject: Binding, name: str = "the model") -> Iterator[str]:
    """Say which levels of the table a model was never shown, as far as its encoders tell."""
    columns = subject.predictor.names or list_trained_columns(subject.predictor.source) or ()
    for column, levels in find_shown_levels(subject.predictor.source, list(map(str, columns))).items():
        if column in subject.frame:
            counts = subject.frame[column].value_counts()
            if strange := [level for level in counts.index if level not in levels]:
                rows = int(counts[strange].sum())
                known, others = list_values(levels), list_values(strange)
                yield f"{name} was never shown `{column}` = {others}, in {rows:,} rows; it knows {known}"


def find_shown_levels(model: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """The levels that the encoders of a pipeline were trained on, by the column; `names` are all it gets."""
    if isinstance(steps := getattr(model, "steps", None), list):
        return next((own for _, step in steps if (own := find_shown_levels(step, names))), {})
    if isinstance(parts := getattr(model, "transformers_", None), list):
        levels_by_column: dict[str, list[Any]] = {}
        for _, part, own in parts:
            is_named = isinstance(own, str) or all(isinstance(each, str) for each in np.atleast_1d(own))
            columns = np.atleast_1d(own) if is_named else np.array(names, object)[own]
            levels_by_column |= find_shown_levels(part, np.atleast_1d(columns).tolist())
        return levels_by_column
    levels = [[each for each in own if each == each] for own in getattr(model, "categories_", ())]
    return dict(zip(names, levels, strict=True)) if len(levels) == len(names) else {}


def note_cut(subject: Binding, name: str = "the model", has_option: bool = True) -> Iterator[str]:
    """Say that a probability counts as a class from ½ on, where nobody says from which number on."""
    predictor, rows = subject.predictor, subject.frame.head(ROWS_ASKED)
    if predictor.threshold is not None or predictor.bands or len(subject.classes) > 2:
        return
    how = "; --threshold says from which other number on" if has_option else ""
    if isinstance(predictor.source, RemoteModel):
        numbers = predictor.source.read_numbers(predictor.read(rows))
        how = "; `threshold` in a TOML file that names it says from which other number on"
    elif predictor.labels is None:
        numbers = flatten_column(predictor.output_rows(predictor.read(rows)))
    else:
        return
    if numbers is not None and numbers.ndim == 1 and not np.isin(numbers, (0, 1)).all():
        half = "0, which is a probability of ½," if predictor.output == "logit" else "½"
        yield f"{name} answers with a number, which counts as {subject.classes[1]} from {half} on{how}"


def note_accuracy(subject: Binding, labels: pd.Series[Any], name: str = "the model") -> Iterator[str]:
    """Say how often a model agrees with the column of labels, and warn where one class alone does better."""
    if not labels.notna().any():
        return
    try:
        share = subject.measure_accuracy(labels)
    except HornbookError as error:
        yield f"{name} cannot be compared with the column `{labels.name}`: {error}"
        return
    is_telling = share.size >= TELLING_ROWS
    part = f"{100 * share.estimate:.1f} % of the" if is_telling else f"{share.hits} of {share.size}"
    line = f"{name} agrees with the column `{labels.name}` on {part} rows"
    counts = pd.Series(subject.name_labels(labels)).value_counts(normalize=True)
    if (share.low <= counts.iloc[0] and is_telling) or share.estimate < counts.iloc[0]:
        line += f'; always "{write_value(counts.index[0])}" would on {100 * counts.iloc[0]:.1f} %'
    if share.estimate < counts.iloc[0]:
        line += ": are classes inverted, columns exchanged or in other units, or is it another model?"
    yield line
