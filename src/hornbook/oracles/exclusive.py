"""Questions completed by what groups say: where one variable of a group is true, the others are false."""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np

from hornbook.distributions.literals import Groups, Literals, check_groups
from hornbook.logic.batch import Batch
from hornbook.logic.vocabulary import Vocabulary


class Exclusions:
    """Makes the unknown others of a group false where one of its variables is true.

    A model that is told that a column is in one bin is told of its other bins too, as it was
    in training.

    Examples
    --------
    >>> vocabulary = Vocabulary(["age=low", "age=high", "ill"])
    >>> batch = Batch.from_array([[1, np.nan, np.nan], [np.nan, 0, 1]], vocabulary)
    >>> Exclusions(vocabulary, ((0, 1),))(batch).to_array()
    array([[ 1.,  0., nan],
           [nan,  0.,  1.]])

    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups) -> None:
        groups = check_groups(groups, vocabulary)
        self.literals = Literals.of(vocabulary, groups)
        sizes = sorted({len(group) for group in groups if group})
        # groups of one size are looked at together: questions are many and batches of them small
        alike = ([group for group in groups if len(group) == size] for size in sizes)
        self.rows = [np.searchsorted(self.literals.drawn, np.array(several, np.intp).T) for several in alike]

    def __call__(self, batch: Batch) -> Batch:
        """The same items with more known."""
        if not self.rows:
            return batch
        true, false = batch.true[self.literals.drawn], batch.false[self.literals.drawn]
        for rows in self.rows:
            members = true[rows]
            false[rows] |= reduce(or_, members) & ~members
        return Batch(batch.vocabulary, *self.literals.mirrored(true, false), len(batch))
