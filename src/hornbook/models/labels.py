"""A model's classes beside the labels of a table: which are the same, and how often both agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook, spell_key
from hornbook.conditions import truth_value, write_value
from hornbook.errors import HornbookError
from hornbook.statistics import Share

TELLING_ROWS = 20
"""The fewest rows of which a percentage says anything."""


def match_classes(
    old: Sequence[Any], new: Sequence[Any], code_book: CodeBook = EMPTY_BOOK
) -> tuple[tuple[Any, ...], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The classes of both sides together, and the number of each of theirs among them.

    Classes are the same if they are written alike, or if the code book calls them alike. Which
    is which is never guessed.

    Examples
    --------
    >>> match_classes((0, 1), (True, False))
    ((0, 1), (array([0, 1]), array([1, 0])))
    >>> match_classes(("no", "yes"), (0, 1), CodeBook(classes={"0": "no", "1": "yes"}))[1]
    (array([0, 1]), array([0, 1]))

    """
    book = {spell_key(key): name for key, name in code_book.classes.items()}
    keys = [[book.get(spell_key(name), spell_key(name)) for name in classes] for classes in (old, new)]
    if not set(keys[0]) & set(keys[1]):
        raise HornbookError(
            f"there is no class in common: one side says {', '.join(keys[0])}, the other "
            f'{", ".join(keys[1])}; say what is what in the code book, as in [classes] 0 = "no"'
        )
    joint = list(dict.fromkeys([*keys[0], *keys[1]]))
    named: dict[str, Any] = {}
    for key, name in zip([*keys[0], *keys[1]], [*old, *new], strict=True):
        if key not in named or spell_key(name) in book:  # the code book speaks of these
            named[key] = name
    numbers = [np.array([joint.index(key) for key in own], np.intp) for own in keys]
    return tuple(named[key] for key in joint), (numbers[0], numbers[1])


def measure_accuracy(
    numbers: NDArray[np.intp],
    classes: Sequence[Any],
    labels: ArrayLike,
    words: CodeBook = EMPTY_BOOK,
    weights: NDArray[np.float64] | None = None,
) -> Share:
    """The share of the labelled rows to which a model gives their label.

    Parameters
    ----------
    numbers
        The number of the model's class for each row.
    classes
        What the model calls its classes.
    labels
        The true label of each row; missing ones are left out.
    words
        The user's words for classes.
    weights
        How much each row counts; by default all count alike.

    Examples
    --------
    >>> measure_accuracy(np.array([0, 1, 1]), ("bad", "good"), ["bad", "good", "bad"]).hits
    2

    """
    truth = pd.Series(np.asarray(labels).ravel())
    if len(truth) != len(numbers):
        raise HornbookError(f"there are {len(numbers)} rows and {len(truth)} labels; give each its label")
    known = truth.notna().to_numpy()
    names = _spell_truths(truth[known].tolist(), classes)
    levels = list(dict.fromkeys(names))
    if not levels:
        return Share.of(0, 0)
    _, (own, true) = match_classes(classes, levels, words)
    places = dict(zip(levels, true.tolist(), strict=True))
    same = own[numbers[known]] == np.array([places[name] for name in names])
    return Share.where(same, weights=None if weights is None else weights[known])


def note_accuracy(
    numbers: NDArray[np.intp],
    classes: Sequence[Any],
    labels: pd.Series[Any],
    words: CodeBook = EMPTY_BOOK,
    name: str = "the model",
) -> Iterator[str]:
    """Say how often a model agrees with the column of labels, and warn where one class alone does better.

    Examples
    --------
    >>> labels = pd.Series(["bad", "good", "bad"], name="risk")
    >>> print(*note_accuracy(np.array([1, 0, 1]), ("bad", "good"), labels))  # doctest: +ELLIPSIS
    the model agrees with the column `risk` on 0 of 3 rows; always "bad" would on 66.7 %: are ...

    """
    if not labels.notna().any():
        return
    try:
        share = measure_accuracy(numbers, classes, labels, words)
    except HornbookError as error:
        yield f"{name} cannot be compared with the column `{labels.name}`: {error}"
        return
    part = (
        f"{share.hits} of {share.size}"
        if share.size < TELLING_ROWS
        else f"{100 * share.estimate:.1f} % of the"
    )
    line = f"{name} agrees with the column `{labels.name}` on {part} rows"
    counts = labels.value_counts(normalize=True)
    if (share.low <= counts.iloc[0] and share.size >= TELLING_ROWS) or share.estimate < counts.iloc[0]:
        line += f'; always "{write_value(counts.index[0])}" would on {100 * counts.iloc[0]:.1f} %'
    if share.estimate < counts.iloc[0]:
        line += ": are classes inverted, columns exchanged or in other units, or is it another model?"
    yield line


def _spell_truths(labels: list[Any], classes: Sequence[Any]) -> list[Any]:
    """Labels as a model with the classes 0 and 1 has them, where all are words for true and false."""
    truths = {label: truth_value(label) for label in dict.fromkeys(labels)}
    if {*map(spell_key, classes)} != {"0", "1"} or None in truths.values():
        return labels
    return [int(bool(truths[label])) for label in labels]
