"""Observed rows, as they are or perturbed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, Words, bits
from hornbook.queries.distributions import (
    Choices,
    DrawnInBlocks,
    Groups,
    Literals,
    check_groups,
    check_share,
    percent,
)
from hornbook.queries.random_interpretations import Random
from hornbook.queries.words import Stream, biased_bits


@dataclass(frozen=True)
class Rows(DrawnInBlocks):
    """Uniformly drawn rows of a batch, whose known values may be flipped and then made unknown.

    Parameters
    ----------
    rows
        The rows to draw from, pair-consistent where the vocabulary has duals.
    missing
        The probability that a known value is made unknown.
    flips
        The probability that a known value is exchanged for its opposite before that.
    groups
        Sets of variables of which at most one is true in every row. The values of a group are
        exchanged together, for those of another row, so that at most one stays true.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> rows = Batch.from_array([[1, 1, 0, 0], [0, np.nan, 1, np.nan]], vocabulary)
    >>> print(Rows(rows, missing=0.2))
    2 real rows, each known value made unknown with probability 20 %

    """

    rows: Batch
    missing: float = 0.0
    flips: float = 0.0
    groups: Groups = ()
    kind: ClassVar[str] = "row"

    def __post_init__(self) -> None:
        check_share("missing", self.missing)
        check_share("flips", self.flips)
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))
        if not len(self.rows):
            raise HornbookError("there are no rows to draw from")
        wrong = Literals.of(self.vocabulary).contradictions(self.rows)
        for pair in np.flatnonzero(wrong.any(axis=1)):
            names = self.vocabulary.named(self.vocabulary.pairs[pair])
            row = int(np.flatnonzero(bits.flat(wrong[pair], len(self.rows)))[0])
            raise HornbookError(f"row {row} does not give {names[0]!r} and {names[1]!r} opposite values")

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the rows."""
        return self.rows.vocabulary

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def table(self) -> Words:
        """The literals of each row."""
        return self.literals.table_of(self.rows)

    @cached_property
    def override_table(self) -> Words:
        """The literals of each row, both of unknown values; shape (rows + 1, words), the last one empty."""
        known = self.rows.true[self.literals.drawn] ^ self.rows.false[self.literals.drawn]
        unknown = bits.transpose(np.concatenate([~known, ~known]), len(self.rows))
        return np.concatenate([self.table | unknown, np.zeros_like(unknown[:1])])

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        true, false = self._pick_rows(stream)
        places = (self.literals.count,)
        if self.flips:
            flipped = (true ^ false) & biased_bits(places, self.flips, stream)
            for group in self.groups:
                flipped[np.searchsorted(self.literals.drawn, group)] = 0
            true, false = true ^ flipped, false ^ flipped
            self._exchange_groups(true, false, stream)
        if self.missing:
            kept = biased_bits(places, 1 - self.missing, stream)
            true, false = true & kept, false & kept
        return true, false

    def shares_base(self, rest: Random) -> bool:
        """Whether rows are unperturbed, so that they override every value of `rest`."""
        return (
            not self.flips and not self.missing and np.array_equal(self.literals.drawn, rest.literals.drawn)
        )

    def choices(self, stream: Stream) -> Choices:
        """All literals of a row."""
        return [(self.override_table, stream.below(len(self.rows)))]

    def _pick_rows(self, stream: Stream) -> tuple[Words, Words]:
        """Pick a random row for each item."""
        return self.literals.halves(bits.gather_rows((self.table, stream.below(len(self.rows)))))

    def _exchange_groups(self, true: Words, false: Words, stream: Stream) -> None:
        """Exchange groups for those of another row with probability `flips`, in place."""
        if not self.groups:
            return
        others = self._pick_rows(stream)
        exchanged = biased_bits((len(self.groups),), self.flips, stream)
        for group, where in zip(self.groups, exchanged, strict=True):
            at = np.searchsorted(self.literals.drawn, group)
            for own, other in zip((true, false), others, strict=True):
                own[at] = (own[at] & ~where) | (other[at] & where)

    def describe(self) -> str:
        """The distribution in words."""
        share, count = percent(self.flips), len(self.groups)
        flipped = f", each known value flipped with probability {share}" if self.flips else ""
        if self.flips and sum(map(len, self.groups)) == self.literals.count:
            flipped = f", each of {count} columns exchanged for another row's with probability {share}"
        elif self.flips and self.groups:
            groups = "1 group" if count == 1 else f"{count} groups"
            flipped += f", the values of {groups} exchanged for another row's"
        hidden = (
            f", each known value made unknown with probability {percent(self.missing)}"
            if self.missing
            else ""
        )
        return f"{len(self.rows)} real rows{flipped}{hidden}" + ("" if flipped or hidden else " as they are")

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        groups = [[self.vocabulary.name(v) for v in group] for group in self.groups]
        return {
            "kind": self.kind,
            "rows": len(self.rows),
            "missing": self.missing,
            "flips": self.flips,
            "groups": groups,
        }
