"""Classifiers that misbehave: whatever a model does, every command ends, and says what happened."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.randomness import Purpose, generator

Fault: TypeAlias = Literal[
    "flip", "drift", "lie", "raise", "exit", "shape", "nan", "label", "stall", "hang", "leak"
]
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass
class FaultyClassifier:
    """A classifier that answers as another one does until so many rows were asked about, and then not.

    Parameters
    ----------
    model
        A fitted classifier of two classes.
    fault
        What it does then: `flip` exchanges some answers, others each time, `drift` more and more of
        them, `lie` all of them; `raise` an error, `exit` the process; `shape` answers too few, `nan`
        not at all for the first row, `label` with a class that it does not have; `stall` takes its
        time, `hang` all of it; `leak` takes memory and never gives it back.
    after
        The number of rows that it answers about properly.
    seconds
        The time that `stall` takes for each batch.
    leak_bytes
        The memory that `leak` takes with each batch.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> rows = np.zeros((4, 1))
    >>> faulty = FaultyClassifier(DummyClassifier().fit(rows, [0, 0, 0, 1]), "raise", after=6)
    >>> faulty.predict(rows)
    array([0, 0, 0, 0])
    >>> faulty.predict(rows)
    Traceback (most recent call last):
    RuntimeError: the model broke after 6 rows

    """

    model: Any
    fault: Fault
    after: int = 1000
    seconds: float = 0.05
    leak_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        if self.fault not in FAULTS:
            raise HornbookError(f"a classifier has one of the faults {', '.join(FAULTS)}, not {self.fault!r}")
        self.classes_ = self.model.classes_
        if hasattr(self.model, "feature_names_in_"):
            self.feature_names_in_ = self.model.feature_names_in_
        self.rows = 0
        self.leaked: list[bytes] = []
        self.rng = generator(0, Purpose.TEST_CASES)

    def predict(self, rows: Any) -> NDArray[Any]:
        """The classes of the rows, as long as it behaves."""
        self.rows += len(rows)
        answers = np.asarray(self.model.predict(rows))
        return answers if self.rows <= self.after else self._misbehave(answers)

    def _misbehave(self, answers: NDArray[Any]) -> NDArray[Any]:
        match self.fault:
            case "flip":
                return self._exchange(answers, 0.2)
            case "drift":
                return self._exchange(answers, min(1.0, self.rows / self.after / 100))
            case "lie":
                return self._exchange(answers, 1.0)
            case "raise":
                raise RuntimeError(f"the model broke after {self.after} rows")
            case "exit":
                sys.exit("the model left")
            case "shape":
                return answers[:-1]
            case "nan":
                return np.where(np.arange(len(answers)) == 0, np.nan, answers.astype(np.float64))
            case "label":
                return np.where(np.arange(len(answers)) == 0, "no such class", answers.astype(object))
            case "stall":
                time.sleep(self.seconds)
                return answers
            case "hang":
                while True:
                    time.sleep(1)
            case "leak":
                self.leaked.append(bytes(self.leak_bytes))
                return answers

    def _exchange(self, answers: NDArray[Any], share: float) -> NDArray[Any]:
        """The answers, of which a random share is the other class."""
        first, second = self.classes_
        others = np.where(answers == first, second, first)
        return np.where(self.rng.random(len(answers)) < share, others, answers)
