"""Strategies, difficult teachers and contract checks that tests of other packages can reuse."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.testing.calibration import Coverage, Trial, try_classifier, try_judge
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
    "PREDICTOR_CHECKS",
    "Coin",
    "Constant",
    "Coverage",
    "Failing",
    "Mistaken",
    "Network",
    "Noisy",
    "Slow",
    "Trial",
    "assert_refuses",
    "batches",
    "hostile_names",
    "hostile_vocabularies",
    "names",
    "random_values",
    "rules",
    "theories",
    "try_classifier",
    "try_judge",
]

_MODULES = {
    "PREDICTOR_CHECKS": "predictors",
    "Coin": "teachers",
    "Constant": "teachers",
    "Coverage": "calibration",
    "Failing": "teachers",
    "Mistaken": "teachers",
    "Network": "teachers",
    "Noisy": "teachers",
    "Slow": "teachers",
    "Trial": "calibration",
    "assert_refuses": "predictors",
    "batches": "strategies",
    "hostile_names": "strategies",
    "hostile_vocabularies": "strategies",
    "names": "strategies",
    "random_values": "strategies",
    "rules": "strategies",
    "theories": "strategies",
    "try_classifier": "calibration",
    "try_judge": "calibration",
}
"""Where each name is; loaded when used, since strategies need Hypothesis."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.testing' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.testing.{_MODULES[name]}"), name)
