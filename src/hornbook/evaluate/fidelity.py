"""How faithful a theory is to a model: as a judge of interpretations, or as a classifier."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hornbook.distributions import Distribution
from hornbook.evaluate.fresh import answers, chunks
from hornbook.intervals import Share
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.logic.theory import HornTheory
from hornbook.queries import Membership


@dataclass(frozen=True)
class Fidelity:
    """How often answers equal the model's, in all and for each of the model's two answers.

    Every tuple is (where the model says no, where it says yes). An undetermined answer agrees
    with nothing.

    Examples
    --------
    >>> found = Fidelity.of([1, 1, 0, np.nan], [1, 0, 0, 1])
    >>> found.plain.estimate, found.balanced, found.undetermined.estimate
    (0.5, 0.5, 0.25)

    """

    agreed: tuple[int, int]
    unanswered: tuple[int, int]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, answered: ArrayLike, model: ArrayLike) -> Fidelity:
        """Count answers of 1, 0 and NaN for undetermined against the model's 1 and 0."""
        given, expected = np.asarray(answered, np.float64), np.asarray(model, np.bool_)
        if given.shape != expected.shape or given.ndim != 1:
            raise HornbookError(
                f"one answer for each of the model's is needed; got shapes {given.shape} and {expected.shape}"
            )
        rows = [given[~expected], given[expected]]
        agreed = [int((row == value).sum()) for value, row in enumerate(rows)]
        unanswered = [int(np.isnan(row).sum()) for row in rows]
        return cls((agreed[0], agreed[1]), (unanswered[0], unanswered[1]), (len(rows[0]), len(rows[1])))

    def __add__(self, other: Fidelity) -> Fidelity:
        """The counts of both samples together."""
        return Fidelity(
            _sum(self.agreed, other.agreed),
            _sum(self.unanswered, other.unanswered),
            _sum(self.sizes, other.sizes),
        )

    @property
    def plain(self) -> Share:
        """The share of all answers that equal the model's."""
        return Share.of(sum(self.agreed), sum(self.sizes))

    @property
    def undetermined(self) -> Share:
        """The share of answers that say neither yes nor no."""
        return Share.of(sum(self.unanswered), sum(self.sizes))

    def where(self, model: bool, confidence: float = 0.95) -> Share:
        """The share of equal answers where the model gives this one."""
        return Share.of(self.agreed[model], self.sizes[model], confidence)

    @property
    def balanced(self) -> float:
        """The mean of the two shares, so that a rare answer counts as much as a common one."""
        return math.fsum(self.where(model).estimate for model in (False, True)) / 2

    def balanced_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """An interval that covers the balanced fidelity with at least this confidence.

        Each of the two shares is given half of the permitted error, so it is a little wide.
        """
        shares = [self.where(model, 1 - (1 - confidence) / 2) for model in (False, True)]
        return math.fsum(share.low for share in shares) / 2, math.fsum(share.high for share in shares) / 2


def fidelity(
    judge: Membership, model: Membership, distribution: Distribution, size: int, rng: np.random.Generator
) -> Fidelity:
    """How faithful a judge is to a model on `size` fresh interpretations.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> rng = np.random.default_rng(0)
    >>> found = fidelity(h.satisfied_by, t.satisfied_by, Random(t.vocabulary), 10_000, rng)
    >>> print(found.plain)
    92.53 % (95 % interval 92.00 % to 93.04 %)
    >>> found.where(model=False).estimate
    1.0

    """
    return fidelity_on(chunks(distribution, size, rng), judge, model)


def fidelity_on(batches: Iterable[Batch], judge: Membership, model: Membership) -> Fidelity:
    """How faithful a judge is to a model on batches, such as those of a table that is streamed."""
    return _total(
        Fidelity.of(answers(judge, batch, "the judge"), answers(model, batch, "the model"))
        for batch in batches
    )


def class_fidelity_on(
    predicted: Iterable[tuple[Batch, ArrayLike]], theory: HornTheory, label: str
) -> Fidelity:
    """How faithful the labels that a theory derives are to those that a model predicts for batches."""
    return _total(class_fidelity(theory, label, batch, model) for batch, model in predicted)


def class_fidelity(theory: HornTheory, label: str, batch: Batch, model: ArrayLike) -> Fidelity:
    """How faithful the labels that a theory derives are to those that a model predicts."""
    return Fidelity.of(predicted_labels(theory, label, batch), model)


def predicted_labels(theory: HornTheory, label: str, batch: Batch) -> NDArray[np.float64]:
    """What a theory says about the label of each interpretation: 1, 0, or NaN for undetermined.

    1 if the label follows from the other values, 0 if its dual does. What follows from
    neither, and what contradicts the theory, is undetermined. Values that the batch gives for
    the label are not looked at.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.with_duals(["fever", "ill"])
    >>> theory = HornTheory.parse("fever -> ill", vocabulary)
    >>> predicted_labels(theory, "ill", Batch.from_array([[1, 0, 0, 1], [0, 1, 1, 0]], vocabulary))
    array([ 1., nan])

    """
    if batch.vocabulary != theory.vocabulary:
        raise HornbookError("the batch and the theory are over different vocabularies")
    positive = batch.vocabulary.index(label)
    negative = batch.vocabulary.dual(positive)
    true = batch.true.copy()
    true[positive] = 0
    if negative is not None:
        true[negative] = 0
    closed, broken = theory.program.close_batch(Batch(batch.vocabulary, true, batch.false, len(batch)))
    yes = bits.flat(closed[positive], len(batch)) & ~broken
    no = np.zeros_like(yes) if negative is None else bits.flat(closed[negative], len(batch)) & ~broken
    return np.where(yes & ~no, 1.0, np.where(no & ~yes, 0.0, np.nan))


def _total(parts: Iterable[Fidelity]) -> Fidelity:
    return sum(parts, start=Fidelity((0, 0), (0, 0), (0, 0)))


def _sum(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return left[0] + right[0], left[1] + right[1]
