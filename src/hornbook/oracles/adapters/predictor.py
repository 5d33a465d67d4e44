"""A model as one function: a batch in, a score each out, and what was wrong if it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.logic import arrays
from hornbook.logic.batch import Batch
from hornbook.logic.bits import WORD, Bools
from hornbook.logic.dense import TILE, Order, device_block
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters.encoding import COMPLETE, Encoding
from hornbook.oracles.adapters.scores import Floats, Output, positive_scores

BLOCK = TILE * WORD
"""Interpretations given to a model at a time: few enough for their numbers to stay in the caches."""

ROUNDING = 1e-5
"""By how much a probability may leave 0 to 1."""


@dataclass(frozen=True)
class Predictor:
    """A model that scores partial interpretations.

    Parameters
    ----------
    outputs
        The model itself: a (k, inputs) array in, one number or one row of numbers each out.
    name
        What messages call it.
    encoding
        How 1, 0 and ? are given to it.
    threshold
        It decides for the positive class where the score is at least this.
    positive
        The class that the score is about: a label of the model's, or a column of its output.
        None is the second of two.
    column
        The column of the output that belongs to the positive class.
    output
        Whether the outputs are probabilities, logits, or scores to be taken as they are.
    inputs, names
        How many numbers the model takes and what they were called in training, where known.
    dtype, order
        What arrays it reads fastest.
    source
        The model itself, for proofs, which look inside.
    there
        For models of PyTorch's: the same function on a device, of tensors. A batch that was drawn
        on a device is then encoded, asked about and scored there, and the scores stay there.

    Examples
    --------
    >>> mean = Predictor(lambda array: array.mean(axis=1), "mean", Encoding(unknown=0.5))
    >>> batch = Batch.from_array([[1, np.nan], [0, np.nan]], Vocabulary(["sunny", "happy"]))
    >>> mean(batch)
    array([0.75, 0.25], dtype=float32)
    >>> mean.decide(batch)
    array([ True, False])

    """

    outputs: Callable[[NDArray[Any]], Any]
    name: str
    encoding: Encoding = COMPLETE
    threshold: float = 0.5
    positive: Any = None
    column: int | None = None
    output: Output = "score"
    inputs: int | None = None
    names: tuple[str, ...] | None = None
    dtype: DTypeLike = np.float32
    order: Order = "C"
    source: Any = None
    there: Callable[[Any], Callable[[Any], Any]] | None = None

    def __call__(self, batch: Batch) -> Floats:
        """The score of the positive class for each interpretation, about 0 to 1."""
        self.check(batch.vocabulary)
        self.encoding.refuse_unknown(batch)
        if not arrays.on_host(batch.true):
            return self._scores_there(batch)
        scores = np.empty(len(batch), np.float32)
        for start in range(0, len(batch), BLOCK):
            scores[start : start + BLOCK] = self._block(batch[start : start + BLOCK], start)
        return scores

    def decide(self, batch: Batch) -> Bools:
        """For each interpretation, whether its score reaches the threshold."""
        decided: Bools = self(batch) >= self.threshold
        return decided

    def check(self, vocabulary: Vocabulary) -> None:
        """Raise unless the model's inputs are the variables of the vocabulary."""
        given = self.encoding.inputs(len(vocabulary))
        if self.inputs not in (None, given):
            raise HornbookError(
                f"{self.name} takes {self.inputs} inputs, but {len(vocabulary)} variables in "
                f"{self.encoding.channels} channel(s) give {given}; check the vocabulary and the encoding"
            )
        if self.names is None or len(self.names) != len(vocabulary):
            return
        for position, (theirs, ours) in enumerate(zip(self.names, vocabulary, strict=True)):
            if theirs != ours:
                raise HornbookError(
                    f"input {position} of {self.name} was called {theirs!r} in training, but variable "
                    f"{position} is {ours!r}; give the variables in the model's order"
                )

    def _scores_there(self, batch: Batch) -> Floats:
        """The scores as a tensor where the batch is."""
        xp, device = arrays.module_of(batch.true), batch.true.device
        if self.there is None:
            raise HornbookError(
                f"{self.name} is asked on the CPU only: on a device, such as {str(device)!r}, "
                "models are torch modules that read the variables themselves"
            )
        moved = replace(self, outputs=self.there(device), dtype=np.float32)
        size = device_block(self.encoding.inputs(len(batch.vocabulary)))
        starts = range(0, len(batch), size)
        scores: Floats = xp.concat([moved._block(batch[start : start + size], start) for start in starts])
        return scores

    def _block(self, block: Batch, start: int) -> Floats:
        array = self.encoding.encode(block, self.dtype, self.order)
        try:
            raw = self._outputs(array)
        except Exception as error:
            rows = self._failing(array, start)
            raise HornbookError(f"{self.name} failed on {rows}: {type(error).__name__}: {error}") from error
        rows = _rows(start, len(block))
        if raw.ndim == 0 or len(raw) != len(block):
            count = len(raw) if raw.ndim else "a single number"
            raise HornbookError(f"{self.name} answered {rows} with {count} instead of {len(block)} scores")
        scores = positive_scores(raw, self.column, self.output, f"{self.name}, {rows}")
        self._refuse_other_than_scores(scores, start)
        return scores

    def _outputs(self, array: NDArray[Any]) -> NDArray[Any]:
        raw = self.outputs(array)
        if not arrays.on_host(array):
            there: NDArray[Any] = raw
            return there
        raw = np.asarray(raw)
        return raw if raw.dtype == np.float64 else raw.astype(np.float32, copy=False)

    def _refuse_other_than_scores(self, scores: Floats, start: int) -> None:
        xp = arrays.module_of(scores)
        wrong = ~xp.isfinite(scores)
        if self.output == "probability":
            wrong |= xp.abs(scores - 0.5) > 0.5 + ROUNDING
        if wrong.any():
            wrong, scores = arrays.to_host(wrong), arrays.to_host(scores)
            row = int(wrong.argmax())
            kind = "finite score" if self.output == "score" else "probability"
            hint = "; if it gives logits, pass output='logit'" if np.isfinite(scores[row]) else ""
            raise HornbookError(
                f"{self.name} gave row {start + row} the score {scores[row]}, which is no {kind}{hint}"
            )

    def _failing(self, array: NDArray[Any], start: int) -> str:
        """The first row on which the model fails, found by halving rows on which it fails together."""
        low, high = 0, len(array)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fails(array[low:middle]) else (middle, high)
        return _rows(start + low, 1) if self._fails(array[low:high]) else _rows(start, len(array))

    def _fails(self, array: NDArray[Any]) -> bool:
        try:
            self._outputs(array)
        except Exception:
            return True
        return False


def _rows(start: int, size: int) -> str:
    return f"row {start}" if size == 1 else f"rows {start} to {start + size - 1}"
