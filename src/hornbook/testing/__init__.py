"""Strategies and contract checks that tests of other packages can reuse."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.testing.predictors import PREDICTOR_CHECKS, assert_refuses
    from hornbook.testing.strategies import (
        batches,
        hostile_names,
        hostile_vocabularies,
        names,
        random_values,
        rules,
        theories,
    )

__all__ = [
    "PREDICTOR_CHECKS",
    "assert_refuses",
    "batches",
    "hostile_names",
    "hostile_vocabularies",
    "names",
    "random_values",
    "rules",
    "theories",
]

__getattr__ = load_lazily(
    "hornbook.testing",
    {
        "predictors": ["PREDICTOR_CHECKS", "assert_refuses"],
        "strategies": [
            "batches",
            "hostile_names",
            "hostile_vocabularies",
            "names",
            "random_values",
            "rules",
            "theories",
        ],
    },
)
"""Strategies need Hypothesis."""
