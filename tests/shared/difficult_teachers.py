"""Difficult teachers and classifiers, to test with: whatever they do, a run must end, and say how."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from laws import case_generator
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, bits
from hornbook.models import Encoding, Floats, Predictor
from hornbook.queries import Distribution, Membership
from hornbook.queries.completions import hash_interpretations

Fault: TypeAlias = Literal["flip", "drift", "lie", "raise", "exit", "shape", "nan", "label", "stall", "leak"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


class Constant:
    """Always gives the same answer."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer

    def __call__(self, batch: Batch) -> Bools:
        """The answer, for each interpretation."""
        return np.full(len(batch), self.answer)


class Coin:
    """Tosses a coin for every question, whatever it is and however often it is asked."""

    def __init__(self, rng: np.random.Generator, accepted: float = 0.5) -> None:
        self.rng = rng
        self.accepted = accepted

    def __call__(self, batch: Batch) -> Bools:
        """Fresh tosses."""
        tosses: Bools = self.rng.random(len(batch)) < self.accepted
        return tosses


class Noisy:
    """Flips a share of another teacher's answers, anew each time: asking again may help."""

    def __init__(self, member: Membership, rng: np.random.Generator, share: float = 0.01) -> None:
        self.member = member
        self.rng = rng
        self.share = share

    def __call__(self, batch: Batch) -> Bools:
        """The other's answers, some flipped."""
        flips: Bools = self.rng.random(len(batch)) < self.share
        return self.member(batch) ^ flips


class Mistaken:
    """Flips a share of another teacher's answers, always those to the same questions.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.queries import Random
    >>> batch = Random(Vocabulary([f"v{i}" for i in range(20)])).draw(10_000, np.random.default_rng(0))
    >>> mistaken = Mistaken(Constant(True), seed=1)
    >>> bool(0.005 < (~mistaken(batch)).mean() < 0.015)
    True
    >>> bool((mistaken(batch) == mistaken(batch[::-1])[::-1]).all())
    True

    """

    def __init__(self, member: Membership, seed: int, share: float = 0.01) -> None:
        self.member = member
        self.salt = case_generator(seed).integers(0, 2**64, 2, np.uint64)
        self.share = share

    def __call__(self, batch: Batch) -> Bools:
        """The other's answers, some flipped."""
        rows = bits.transpose(np.concatenate([batch.true, batch.false]), len(batch))
        flips: Bools = hash_interpretations(rows, self.salt)[0] < np.uint64(self.share * 2**64)
        return self.member(batch) ^ flips


class Network:
    """A random network that reads ? as ½: smooth, and its answers fit no formula.

    Parameters
    ----------
    distribution
        The interpretations of which it accepts the given share, about.
    rng
        The source of its weights.
    accepted
        That share.
    hidden
        The units of its one hidden layer.

    """

    def __init__(
        self, distribution: Distribution, rng: np.random.Generator, accepted: float = 0.9, hidden: int = 16
    ) -> None:
        width = len(distribution.vocabulary)
        self.inner = rng.standard_normal((width, hidden)).astype(np.float32)
        self.outer = rng.standard_normal(hidden).astype(np.float32)
        scores = Predictor(self._outputs, "network", Encoding())
        threshold = float(np.quantile(scores(distribution.draw(10_000, rng)), 1 - accepted))
        self.predictor = replace(scores, threshold=threshold)

    def __call__(self, batch: Batch) -> Bools:
        """Where the margin is not negative."""
        return self.predictor.decide(batch)

    def _outputs(self, array: Floats) -> Floats:
        outputs: Floats = np.maximum((array - np.float32(0.5)) @ self.inner, 0) @ self.outer
        return outputs


class Failing:
    """Answers as another teacher does, until it breaks at a certain question."""

    def __init__(self, member: Membership, at: int = 1000) -> None:
        self.member = member
        self.at = at
        self.questions = 0

    def __call__(self, batch: Batch) -> Bools:
        """The other's answers, or a `RuntimeError`."""
        self.questions += len(batch)
        if self.questions >= self.at:
            raise RuntimeError(f"the model broke at question {self.at}")
        return self.member(batch)


class Slow:
    """Takes its time over every batch."""

    def __init__(self, member: Membership, seconds: float = 0.01) -> None:
        self.member = member
        self.seconds = seconds

    def __call__(self, batch: Batch) -> Bools:
        """The other's answers, late."""
        time.sleep(self.seconds)
        return self.member(batch)


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
        time; `leak` takes memory and never gives it back.
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
        self.rng = case_generator(0)

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
            case "leak":
                self.leaked.append(bytes(self.leak_bytes))
                return answers

    def _exchange(self, answers: NDArray[Any], share: float) -> NDArray[Any]:
        """The answers, of which a random share is the other class."""
        first, second = self.classes_
        others = np.where(answers == first, second, first)
        return np.where(self.rng.random(len(answers)) < share, others, answers)
