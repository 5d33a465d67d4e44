"""Adapter for plain Python functions from an array to scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hornbook.models.predictor import Output, Predictor, column_of


def adapt(model: Callable[..., Any], name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a function of a (k, inputs) array; its scores are used unchanged by default."""
    column = column_of(positive, name)
    return Predictor(model, name, positive=column, column=column, output=output or "score")
