"""Strategies, difficult teachers and contract checks that tests of other packages can reuse."""

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
    from hornbook.testing.teachers import (
        FAULTS,
        Coin,
        Constant,
        Failing,
        FaultyClassifier,
        Mistaken,
        Network,
        Noisy,
        Slow,
    )

__all__ = [
    "FAULTS",
    "PREDICTOR_CHECKS",
    "Coin",
    "Constant",
    "Failing",
    "FaultyClassifier",
    "Mistaken",
    "Network",
    "Noisy",
    "Slow",
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
        "teachers": [
            "FAULTS",
            "Coin",
            "Constant",
            "Failing",
            "FaultyClassifier",
            "Mistaken",
            "Network",
            "Noisy",
            "Slow",
        ],
    },
)
"""Strategies need Hypothesis."""
