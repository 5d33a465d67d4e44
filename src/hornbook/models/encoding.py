"""How 1, 0 and ? become the numbers that a model reads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, arrays, bits
from hornbook.logic.dense import Order, Values, as_numbers


@dataclass(frozen=True)
class Encoding:
    """The numbers for true, false and unknown, in one channel or in two.

    Parameters
    ----------
    true, false
        The numbers for known values.
    unknown
        The number for ?. None says that the model takes complete inputs only: to learn what
        it thinks of a partial interpretation, its completions must be asked.
    channels
        With 2, a model gets every variable twice: first "is it true?" for all of them, then
        "is it false?"; the answer to both is no (`false`) where the value is unknown.

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
        """`half`, `signed`, `two-channel`, `nan` or `complete`."""
        try:
            return ENCODINGS[name]
        except KeyError:
            raise HornbookError(f"unknown encoding {name!r}; choose one of {', '.join(ENCODINGS)}") from None

    @property
    def native(self) -> bool:
        """Whether ? has a number; otherwise the model answers about it through completions."""
        return self.unknown is not None

    def inputs(self, variables: int) -> int:
        """How many numbers stand for so many variables."""
        return self.channels * variables

    def encode(self, batch: Batch, dtype: DTypeLike = np.float32, order: Order = "C") -> NDArray[Any]:
        """The batch as a (k, inputs) array; order `F` is the faster to make."""
        self.refuse_unknown(batch)
        unknown = self.false if self.unknown is None else self.unknown
        values = Values(self.true, self.false, unknown)
        true, false = batch.true, batch.false
        if self.channels == 2:
            concat = arrays.module_of(true).concat
            true, false = concat([true, false]), concat([false, true])
        return as_numbers(true, false, values, dtype, order)[: len(batch)]

    def refuse_unknown(self, batch: Batch) -> None:
        """Raise for a batch with ? if ? has no number."""
        if self.native or len(batch) == 0:
            return
        unknown = ~(batch.true | batch.false)
        bits.clear_spare(unknown, len(batch))
        if not unknown.any():
            return
        row, variable = np.argwhere(bits.unpack(arrays.to_host(unknown), len(batch)))[0]
        raise HornbookError(
            f"row {row}, variable {batch.vocabulary.name(variable)!r}: the value is unknown, and the model "
            "takes complete inputs only; ask it through completions, or name the encoding of ? that it was "
            "trained with, e.g. encoding=Encoding(unknown=0.5)"
        )


COMPLETE = Encoding(unknown=None)

ENCODINGS = {
    "half": Encoding(),
    "signed": Encoding(false=-1.0, unknown=0.0),
    "two-channel": Encoding(unknown=0.0, channels=2),
    "nan": Encoding(unknown=math.nan),
    "complete": COMPLETE,
}
