"""Interpretations one change apart, kept as rows of words so that thousands are changed at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions.literals import Groups, Literals, check_groups
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters.scores import Floats

Indices = NDArray[np.intp]


class Moves:
    """The changes of one value to true, false or unknown.

    A variable changes together with its dual. A variable of a group that becomes true makes
    the others of the group false. Of m drawn variables, move p makes the p-th true, move
    m + p makes it false, and move 2m + p makes it unknown.

    Interpretations are rows of words here: bit p says that the p-th drawn variable is true, bit
    m + p that it is false.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> moves = Moves(vocabulary)
    >>> rows = moves.rows(Batch.from_array([[1, 0, 0, 1]], vocabulary))
    >>> moves.batch(moves.changed(rows, np.array([[1, 4]]))[0]).to_array()
    array([[ 1.,  1.,  0.,  0.],
           [nan,  0., nan,  1.]])

    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups = ()) -> None:
        groups = check_groups(groups, vocabulary)
        self.vocabulary = vocabulary
        self.literals = literals = Literals.of(vocabulary, groups)
        self.variables = m = literals.count
        mates = {p: literals.true(group) - {p} for group in groups for p in literals.true(group)}
        put = [{p} | literals.opposite(mates.get(p, ())) for p in range(m)]
        put += [{m + p} for p in range(m)]
        put += [set() for _ in range(m)]
        touched = [{p, m + p} for p in range(m)] * 3
        self.put = literals.table(put)
        self.keep = ~literals.table([t | p | literals.opposite(p) for t, p in zip(touched, put, strict=True)])

    def __len__(self) -> int:
        return 3 * self.variables

    def rows(self, batch: Batch) -> Words:
        """The interpretations as rows of words."""
        return self.literals.table_of(batch)

    def batch(self, rows: Words) -> Batch:
        """Rows of words as a batch."""
        return Batch(self.vocabulary, *self.literals.mirrored(*self.literals.sliced(rows)), len(rows))

    def changed(self, rows: Words, moves: Indices) -> Words:
        """For each row and each of the moves beside it, the row so changed: (rows, moves, words)."""
        return (rows[:, None] & self.keep[moves]) | self.put[moves]

    def stages(self, rows: Words, moves: Indices, allowed: Bools, counts: Sequence[int]) -> Words:
        """Each row after the first so many of the moves beside it: (rows, counts, words).

        Moves that are not allowed are passed over, but counted.
        """
        stages = []
        for number, (move, may) in enumerate(zip(moves.T, allowed.T, strict=True), 1):
            rows = np.where(may[:, None], (rows & self.keep[move]) | self.put[move], rows)
            if number in counts:
                stages.append(rows)
        return np.stack(stages, axis=1)

    def idle(self, rows: Words) -> Bools:
        """Which moves would leave each row as it is: (rows, moves)."""
        octets = np.ascontiguousarray(rows).view(np.uint8)
        known = np.unpackbits(octets, axis=1, count=2 * self.variables, bitorder="little").view(np.bool_)
        true, false = known[:, : self.variables], known[:, self.variables :]
        return np.hstack([true, false, ~(true | false)])

    def first_order(self, rows: Words, slopes: Floats) -> Floats:
        """What each move is worth if the score grows by `slopes` with the truth of the variables.

        The truth of a variable is 1, 0 or, where unknown, ½. What a move does to the others
        of a group is left out. The result is indexed by row and move, `slopes` by row and variable.
        """
        literals = self.literals
        own = slopes[:, literals.drawn]
        own[:, literals.paired] -= slopes[:, literals.duals]
        true, false, _ = np.split(self.idle(rows).astype(np.float32), 3, axis=1)
        truth = (1 + true - false) / 2
        return np.hstack([own * (1 - truth), -own * truth, own * (0.5 - truth)])
