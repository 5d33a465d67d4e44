"""Literals over the variables that are drawn, of each pair of duals one.

Of a pair only one variable is drawn, and the value of its dual follows. With m drawn variables,
literal p says that the p-th of them is true and literal m + p that it is false; a true dual is a
false partner. Sets of literals are words of 2m bits, which keeps every pair consistent and halves
the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import or_
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, Words, bits

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Groups of variables that exclude each other, such as the bins of one column."""

Span: TypeAlias = slice | NDArray[np.intp]
"""Rows of words, by a slice where they are consecutive."""


@dataclass(frozen=True)
class Literals:
    """Which variables are drawn, and which mirror them with true and false exchanged.

    `drawn` are the variables without a dual and one of every pair; `duals` are the others,
    and `paired` are the positions in `drawn` that they mirror.
    """

    vocabulary: Vocabulary
    groups: Groups
    drawn: NDArray[np.intp]
    paired: NDArray[np.intp]
    duals: NDArray[np.intp]

    @classmethod
    def of(cls, vocabulary: Vocabulary, groups: Groups = ()) -> Literals:
        """The literals of a vocabulary; of a pair with a grouped variable, that one is drawn."""
        groups = check_groups(groups, vocabulary)
        grouped = {v for group in groups for v in group}
        drawn = [
            v
            for v, dual in enumerate(vocabulary.duals)
            if dual is None or v in grouped or (v < dual and dual not in grouped)
        ]
        paired = [position for position, v in enumerate(drawn) if vocabulary.dual(v) is not None]
        duals = [dual for v in drawn if (dual := vocabulary.dual(v)) is not None]
        return cls(vocabulary, groups, *(np.array(rows, np.intp) for rows in (drawn, paired, duals)))

    @cached_property
    def group_rows(self) -> list[NDArray[np.intp]]:
        """The positions of groups among the drawn variables: for each size of group, shape (size, groups)."""
        sizes = sorted({len(group) for group in self.groups if group})
        alike = ([group for group in self.groups if len(group) == size] for size in sizes)
        return [np.searchsorted(self.drawn, np.array(several, np.intp).T) for several in alike]

    @property
    def count(self) -> int:
        """The number of drawn variables, half the number of literals."""
        return len(self.drawn)

    def true(self, variables: Iterable[int]) -> frozenset[int]:
        """The literals that make these variables true."""
        return frozenset(self._literal_of_variable[v] for v in variables)

    @cached_property
    def _literal_of_variable(self) -> dict[int, int]:
        literals = {v: position for position, v in enumerate(self.drawn.tolist())}
        for position, dual in zip(self.paired.tolist(), self.duals.tolist(), strict=True):
            literals[dual] = position + self.count
        return literals

    def opposite(self, literals: Iterable[int]) -> frozenset[int]:
        """The negations of literals."""
        return frozenset((literal + self.count) % (2 * self.count) for literal in literals)

    def table(self, sets: Sequence[Iterable[int]]) -> Words:
        """Sets of literals as bits, shape (sets, words)."""
        dense = np.zeros((len(sets), 2 * self.count), np.bool_)
        for row, members in zip(dense, sets, strict=True):
            row[list(members)] = True
        return bits.pack_rows(dense)

    def table_of(self, rows: Batch) -> Words:
        """The literals of each interpretation of a batch as bits, shape (items, words)."""
        return bits.transpose(np.concatenate([rows.true[self.drawn], rows.false[self.drawn]]), len(rows))

    def halves(self, rows: Words) -> tuple[Words, Words]:
        """The true and the false rows among those of all literals."""
        return rows[: self.count], rows[self.count : 2 * self.count]

    @property
    def width(self) -> int:
        """The number of all variables."""
        return len(self.vocabulary)

    def batch(self, true: Words, false: Words, size: int) -> Batch:
        """The interpretations with these values of the drawn variables, and the opposite ones of duals."""
        return Batch(self.vocabulary, *self.mirror(true, false), size)

    def mirror(self, true: Words, false: Words) -> tuple[Words, Words]:
        """All rows, from those of the drawn variables."""
        drawn, paired, duals = self._spans
        whole_true, whole_false = (np.empty((self.width, true.shape[1]), np.uint64) for _ in range(2))
        for rows, own, other in ((whole_true, true, false), (whole_false, false, true)):
            rows[drawn] = own
            rows[duals] = other[paired]
        return whole_true, whole_false

    def contradictions(self, batch: Batch) -> Words:
        """For each pair, the items in which its variables are neither opposite nor both unknown."""
        own, dual = self.drawn[self.paired], self.duals
        differ: Words = (batch.true[own] ^ batch.false[dual]) | (batch.false[own] ^ batch.true[dual])
        return differ

    @cached_property
    def _spans(self) -> tuple[Span, Span, Span]:
        """The drawn variables, the positions of those with a dual, and the duals, as slices if possible."""
        return _span(self.drawn), _span(self.paired), _span(self.duals)

    def rows_of(self, batch: Batch) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables in a batch."""
        return batch.true[self.drawn], batch.false[self.drawn]

    def propagate(self, batch: Batch) -> Batch:
        """The same items, with the other variables of a group false where one of them is true.

        Examples
        --------
        >>> vocabulary = Vocabulary(["age=low", "age=high", "ill"])
        >>> batch = Batch.from_array([[1, np.nan, np.nan], [np.nan, 0, 1]], vocabulary)
        >>> Literals.of(vocabulary, ((0, 1),)).propagate(batch).to_array()
        array([[ 1.,  0., nan],
               [nan,  0.,  1.]])

        """
        if not self.groups:
            return batch
        true, false = self.rows_of(batch)
        for rows in self.group_rows:  # groups of one size together: questions are many, and batches small
            members = true[rows]
            false[rows] |= reduce(or_, members) & ~members
        return self.batch(true, false, len(batch))


def extend_batch(items: Batch, vocabulary: Vocabulary) -> Batch:
    """The items over a vocabulary that begins with theirs: what is new is unknown."""
    if items.vocabulary == vocabulary:
        return items
    if vocabulary.names[: len(items.vocabulary)] != items.vocabulary.names:
        raise HornbookError("the rules are about other variables than the interpretations")
    unknown = np.zeros((len(vocabulary) - len(items.vocabulary), items.true.shape[1]), np.uint64)
    true, false = (np.concatenate([rows, unknown]) for rows in (items.true, items.false))
    return Batch(vocabulary, true, false, len(items))


def _span(index: NDArray[np.intp]) -> Span:
    """Turn consecutive indices into a slice, which is faster."""
    if len(index) and (np.diff(index) == 1).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


def check_groups(groups: Iterable[Iterable[int]], vocabulary: Vocabulary) -> Groups:
    """Convert groups to tuples; refuse variables in two groups, and duals among them."""
    checked = tuple(tuple(group) for group in groups)
    seen: set[int] = set()
    for v in (v for group in checked for v in group):
        if not 0 <= v < len(vocabulary):
            raise HornbookError(f"a group names variable {v}, outside the {len(vocabulary)} there are")
        if v in seen or vocabulary.dual(v) in seen:
            raise HornbookError(f"{vocabulary.name(v)!r}, or its dual, is in a group already")
        seen.add(v)
    return checked


def group_by_column(columns: Sequence[str]) -> Groups:
    """Group the variables of each column that has several; `columns` has one entry per variable."""
    members: dict[str, list[int]] = {}
    for variable, column in enumerate(columns):
        members.setdefault(column, []).append(variable)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


def exclusivity_rules(vocabulary: Vocabulary, groups: Groups) -> HornTheory:
    """Return the rules that at most one variable of each group is true.

    With duals, a true variable implies the duals of the others, so that closures derive them;
    without, two true variables imply ⊥.

    Examples
    --------
    >>> print(exclusivity_rules(Vocabulary(["age=low", "age=high"]), ((0, 1),)))
    age=low ∧ age=high → ⊥
    >>> print(exclusivity_rules(Vocabulary.with_duals(["age=low", "age=high"]), ((0, 1),)))
    age=low → not_age=high
    age=high → not_age=low

    """
    rules = []
    for v, w in (pair for group in groups for pair in combinations(group, 2)):
        not_v, not_w = vocabulary.dual(v), vocabulary.dual(w)
        if not_v is None or not_w is None:
            rules.append(Rule({v, w}, BOTTOM))
        else:
            rules += [Rule({v}, not_w), Rule({w}, not_v)]
    return HornTheory(vocabulary, rules)
