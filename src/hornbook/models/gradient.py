"""Gradients of a torch model's score by the truth of each variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hornbook.errors import HornbookError, library
from hornbook.logic.batch import Batch
from hornbook.models.predictor import BLOCK, Floats, Predictor


def torch_gradient(model: Any, predictor: Predictor) -> Callable[[Batch], Floats]:
    """Return a function to the slopes of the positive class's score, shape (interpretations, variables).

    The truth of a variable runs from 0 to 1; the slope at ? is that of the number that stands
    for ?. Modules that end in a sigmoid have no slope where it is saturated, so leave it out
    and say `output="logit"` where that is possible.

    Parameters
    ----------
    model
        The torch module.
    predictor
        The same as a predictor, `as_predictor(model, ...)`: it knows encoding and class.

    Examples
    --------
    >>> import torch
    >>> from hornbook import Vocabulary
    >>> from hornbook.models import as_predictor
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     model[0].weight[:] = torch.tensor([[3.0, -1.0]])
    >>> slopes = torch_gradient(model, as_predictor(model, encoding="signed"))
    >>> slopes(Batch.from_array([[1, np.nan]], Vocabulary(["sunny", "happy"])))
    array([[ 6., -2.]], dtype=float32)

    """
    torch = library("torch", "torch")
    encoding = predictor.encoding
    if encoding.unknown is None or np.isnan(encoding.unknown):
        raise HornbookError(f"{predictor.name} has no number for ?, and so no slope there")

    def slopes(batch: Batch) -> Floats:
        predictor.check(batch.vocabulary)
        found = np.empty((len(batch), len(batch.vocabulary)), np.float32)
        for start in range(0, len(batch), BLOCK):
            block = batch[start : start + BLOCK]
            found[start : start + len(block)] = of_block(block)
        return found

    def of_block(block: Batch) -> Floats:
        weight = next(model.parameters())
        inputs = torch.from_numpy(np.ascontiguousarray(encoding.encode(block)))
        inputs = inputs.to(weight.device, weight.dtype).requires_grad_(True)
        scores = _positive(model(inputs), predictor)
        (gradient,) = torch.autograd.grad(scores.sum(), inputs)
        per_channel = gradient.float().cpu().numpy() * np.float32(encoding.true - encoding.false)
        if encoding.channels == 2:
            is_true, is_false = np.split(per_channel, 2, axis=1)
            per_channel = is_true - is_false
        by_variable: Floats = per_channel
        return by_variable

    return slopes


def _positive(outputs: Any, predictor: Predictor) -> Any:
    """The score of the positive class, or an increasing function of it."""
    column = 1 if predictor.column is None else predictor.column
    if outputs.ndim == 1 or outputs.shape[1] == 1:
        return outputs if column == 1 else -outputs
    return outputs.log_softmax(1)[:, column] if predictor.output == "logit" else outputs[:, column]
