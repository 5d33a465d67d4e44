"""Questions completed by what groups say: where one variable of a group is true, the others are false."""

from __future__ import annotations

import numpy as np

from hornbook.distributions.literals import Groups, Literals
from hornbook.logic.batch import Batch


def with_exclusions(batch: Batch, groups: Groups) -> Batch:
    """The same items, where one variable of a group is true the unknown others made false.

    A model that is told that a column is in one bin is told of its other bins too, as it was
    in training.

    Examples
    --------
    >>> from hornbook import Vocabulary
    >>> vocabulary = Vocabulary(["age=low", "age=high", "ill"])
    >>> nan = np.nan
    >>> with_exclusions(Batch.from_array([[1, nan, nan], [nan, 0, 1]], vocabulary), ((0, 1),)).to_array()
    array([[ 1.,  0., nan],
           [nan,  0.,  1.]])

    """
    if not groups:
        return batch
    literals = Literals.of(batch.vocabulary, groups)
    true, false = batch.true[literals.drawn], batch.false[literals.drawn]
    for group in groups:
        at = np.searchsorted(literals.drawn, group)
        false[at] |= np.bitwise_or.reduce(true[at], axis=0) & ~true[at]
    return Batch(batch.vocabulary, *literals.mirrored(true, false), len(batch))
