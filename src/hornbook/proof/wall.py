"""The wall between what was read of a model and what is said of it: the model, asked in the table's form.

What is read of a model is another function than the model until both were compared. So the model is
asked about rows as the user's table has them, in its types, with its missing values: before the first
verdict, at corners and points of whatever is proved, and at each witness. Where it says anything else
than was read, nothing is said about it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.domain import Box, Domain, Interval, is_single
from hornbook.proof.network import Matrix, ScoreLink, Vector, unprovable
from hornbook.proof.prover import refuse_difference
from hornbook.randomness import Purpose, generator

COMPARED_ROWS = 1024
"""Rows of each kind on which a reading is compared with its model: of the table, random, and at edges."""

CHECKED_ROWS, CHECKED_BOXES = 128, 16
"""Approximate number of rows asked about for each proof, and the most boxes that they come from."""

LARGEST_EXACT = 2.0**53
"""From here on some whole numbers are no doubles, so that models round them in ways of their own."""

SPOKEN_TYPES = {"float64", "float32", "bool", "boolean", "object"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""Types of columns that the prover supports, with or without a missing value of their own, sparse or dense.

Beside these there are categories and words.
"""


class Wall:
    """Asks a model about rows in the table's own form, and refuses it where it is not what was read.

    Parameters
    ----------
    predictor
        The model; of two classes it decides for the second.
    columns
        The columns that it reads.
    table
        Rows of the user's table, which show its form.

    """

    def __init__(self, predictor: Predictor, columns: Sequence[str], table: pd.DataFrame) -> None:
        self.predictor, self.columns, self.table = predictor, columns, table
        is_pair = predictor.classes is None or predictor.positive is not None
        self.count = 2 if is_pair else len(predictor.classes or ())
        """The number of classes."""
        self.refusal = ""
        """Why nothing is said about the model any more; empty while it is what was read."""
        for name in columns:
            if not _is_spoken(kind := table.dtypes[name]):
                raise unprovable(
                    self.predictor,
                    f"its column {name!r} is of the type {kind}, which the prover does not support",
                )

    def decide(self, outcome: int, rows: pd.DataFrame) -> Bools:
        """Whether the model decides for a class about rows in the table's form."""
        read = self.read(rows)
        if self.count == 2:
            numbers: NDArray[Any] = self.predictor.decide_rows(read)
        else:
            numbers = self.predictor.classify_rows(read)
        decided: Bools = numbers == outcome
        return decided

    def score(self, rows: pd.DataFrame) -> Matrix:
        """The model's score of each class for rows in the table's form, (rows, classes)."""
        return self.predictor.score_classes(self.read(rows)).astype(np.float64)

    def read(self, rows: pd.DataFrame) -> Any:
        """Rows as the model reads them; an array has the precision of the table."""
        read = self.predictor.read(rows)
        is_array = isinstance(read, np.ndarray) and all(map(is_single, self.table.dtypes[[*self.columns]]))
        return read.astype(np.float32) if is_array else read

    def refuse_inexact(self, domain: Domain) -> None:
        """Refuse a domain with whole numbers that are no doubles."""
        for name in self.columns:
            own = domain.ranges[name]
            if (
                not isinstance(own, Interval)
                or not own.has_numbers
                or self.table.dtypes[name].kind not in "iu"
            ):
                continue
            if max(abs(own.low), abs(own.high)) >= LARGEST_EXACT:
                raise unprovable(
                    self.predictor,
                    f"its column {name!r} of the type {self.table.dtypes[name]} has numbers beyond 2**53, "
                    "which models round in ways of their own",
                )

    def join_table(self, domain: Domain, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of the table that are in a domain, and further rows, in the table's form."""
        table = self.table[list(self.columns)].head(COMPARED_ROWS)
        parts = table[domain.contains(table)], rows
        joined = {
            name: np.concatenate([part[name].astype(object).to_numpy() for part in parts])
            for name in self.columns
        }
        return domain.write(joined)

    def compare(self, rows: pd.DataFrame, readings: Sequence[tuple[Vector, Vector]], link: ScoreLink) -> None:
        """Refuse a model whose scores or decisions about rows differ from what was read of it.

        A reading is how far each class but the first is ahead of the first, and how far off the model may
        be. Without a scale in the link these are differences of probabilities, with one of log-odds.
        """
        if not len(rows):
            raise unprovable(self.predictor, "there is no row in the domain about which it can be asked")
        try:
            read = self.read(rows)
            if self.count == 2:
                answers = self.predictor.score_rows(read).astype(np.float64), self.predictor.decide_rows(read)
            else:
                scores, numbers = self.score(rows).T, self.predictor.classify_rows(read)
        except HornbookError as error:
            raise unprovable(self.predictor, f"it cannot be asked: {error}") from error

        def describe(at: int) -> str:
            return _describe_row(rows.iloc[[at]])

        if self.count == 2:
            refuse_difference(self.predictor, link, answers, readings[0], describe)
            return
        ahead = np.stack([np.zeros(len(rows)), *(outputs for outputs, _ in readings)])  # (classes, rows)
        off = np.sum([off for _, off in readings], axis=0)
        if link.scale:
            powers = np.exp(ahead - ahead.max(axis=0))
            shares = powers / powers.sum(axis=0)
        else:
            shares = ahead + (1 - ahead.sum(axis=0)) / len(ahead)
        top = ahead.argmax(axis=0)
        second, first = np.sort(ahead, axis=0)[-2:]
        clear = first - second > 2 * off + link.tolerance
        wrong = ~(np.abs(scores - shares) <= link.allowance(shares, 4 * off))  # (classes, rows)
        wrong |= clear & (
            (numbers == np.arange(self.count)[:, None]) != (top == np.arange(self.count)[:, None])
        )
        if wrong.any():
            number, at = (int(place) for place in np.argwhere(wrong)[0])
            score, share = scores[number, at], shares[number, at]
            raise unprovable(
                self.predictor,
                f"it does not compute what was read of it: class {number} gets {score:.6g} where "
                f"{share:.6g} was read, for {describe(at)}",
            )

    def check(self, boxes: Sequence[Box], outcome: int) -> bool:
        """Whether the model decides for a class at corners and points of boxes; else it is refused."""
        boxes = boxes[:: -(-len(boxes) // CHECKED_BOXES) or 1]
        if not boxes:
            return True
        rows = self._draw(boxes).drop_duplicates()
        return self._accept(lambda: ~self.decide(outcome, rows), rows)

    def check_monotone(self, box: Box, column: str, outcome: int) -> bool:
        """Whether the model keeps a class where a column rises, at points of a box; else it is refused."""
        rows = self._draw([box])
        ordered = rows[column].sort_values(ignore_index=True)
        half = len(rows) // 2
        lower, higher = rows.head(half).copy(), rows.head(half).copy()
        lower[column] = ordered.head(half)
        higher[column] = ordered.tail(half).reset_index(drop=True)
        known = higher[column].notna().to_numpy(np.bool_)
        return self._accept(
            lambda: known & self.decide(outcome, lower) & ~self.decide(outcome, higher), higher
        )

    def _draw(self, boxes: Sequence[Box]) -> pd.DataFrame:
        """Random rows of boxes, half of them corners."""
        rng = generator(0, Purpose.MODEL_READING)
        domain = Domain(boxes[0], self.table)
        return domain.draw(boxes, self.columns, CHECKED_ROWS // len(boxes), rng)

    def _accept(self, find_contrary: Callable[[], Bools], rows: pd.DataFrame) -> bool:
        """Whether no row is contrary to what was proved; else the model is refused from now on."""
        try:
            contrary = find_contrary()
        except HornbookError as error:
            self.refusal = str(unprovable(self.predictor, f"it cannot be asked: {error}"))
            return False
        if contrary.any():
            row = _describe_row(rows.iloc[[int(contrary.argmax())]])
            why = f"it does not decide as was proved of what was read of it, for {row}"
            self.refusal = str(unprovable(self.predictor, why))
        return not contrary.any()


def _is_spoken(kind: Any) -> bool:
    """Whether the prover supports columns of a type."""
    if isinstance(kind, pd.CategoricalDtype | pd.StringDtype):
        return True
    return str(getattr(kind, "subtype", kind)).lower() in SPOKEN_TYPES


def _describe_row(row: pd.DataFrame) -> str:
    """A row in words, with its missing values as they are written."""
    values = row.astype(object).iloc[0].items()
    return ", ".join(f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
                     for name, value in values)  # fmt: skip
