"""Strategies, difficult teachers and contract checks that tests of other packages can reuse."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.testing.classifiers import FAULTS, FaultyClassifier
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
    from hornbook.testing.teachers import Coin, Constant, Failing, Mistaken, Network, Noisy, Slow

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
        "classifiers": ["FAULTS", "FaultyClassifier"],
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
        "teachers": ["Coin", "Constant", "Failing", "Mistaken", "Network", "Noisy", "Slow"],
    },
)
"""Strategies need Hypothesis."""
