"""Random interpretations: each value is true, false or unknown, independently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Vocabulary, Words, bits
from hornbook.queries.distributions import (
    Choices,
    DrawnInBlocks,
    Groups,
    Literals,
    check_groups,
    check_share,
    percent,
)
from hornbook.queries.words import Stream, biased_bits, one_hot_bits

DEFAULT_MISSING = 1 / 3
"""The default share of unknown values: 1, 0 and ? are equally likely."""


@dataclass(frozen=True)
class Random(DrawnInBlocks):
    """A random complete row, of which each value is then unknown with probability `missing`.

    A variable and its dual are drawn together, as (1, 0), (0, 1) or (?, ?). Without groups
    a value is true with probability 1/2; in a group exactly one variable of the complete row
    is true, each with the same probability, so that at most one is known to be true.
    Probabilities are rounded by at most 1/200 of themselves.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> distribution = Random(vocabulary, missing=0.5)
    >>> drawn = distribution.draw(10_000, np.random.default_rng(1)).to_array()
    >>> bool(0.45 < np.isnan(drawn).mean() < 0.55)
    True
    >>> np.array_equal(drawn[:, 2:], 1 - drawn[:, :2], equal_nan=True)
    True
    >>> print(distribution)
    random interpretations of 2 pairs, each value unknown with probability 50 %

    """

    vocabulary: Vocabulary
    missing: float = DEFAULT_MISSING
    groups: Groups = ()
    kind: ClassVar[str] = "random"

    def __post_init__(self) -> None:
        check_share("missing", self.missing)
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def group_rows(self) -> list[NDArray[np.intp]]:
        """The positions of groups among the drawn variables: for each size, shape (size, groups)."""
        return self.literals.group_rows(self.groups)

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        count = self.literals.count
        known = biased_bits((count,), 1 - self.missing, stream)
        value = stream.words(count)
        for rows in self.group_rows:
            shares = len(rows) * (1 / len(rows),)
            for member, is_it in zip(rows, one_hot_bits(shares, rows.shape[1:], stream), strict=True):
                value[member] = is_it
        value &= known
        known ^= value
        return value, known

    def draw_with_overrides(self, choices: Choices, stream: Stream) -> tuple[Words, Words]:
        """Draw rows in which the literals chosen from tables (combined by XOR) override random values.

        Both literals of a variable make it unknown. Where a variable of a group is chosen to be
        true, the others of the group are false.
        """
        if not choices:
            return self.draw_base_rows(stream)
        must, must_not = self.literals.halves(bits.gather_rows(*choices))
        unknown = must & must_not
        free = ~(must | must_not)
        must ^= unknown
        must_not ^= unknown
        true, false = self.draw_base_rows(stream)
        for groups in self.group_rows:
            moved = true[groups] & reduce(or_, must[groups])
            true[groups] ^= moved
            false[groups] |= moved
        for drawn, chosen in ((true, must), (false, must_not)):
            drawn &= free
            drawn |= chosen
        return true, false

    def shares_base(self, rest: Random) -> bool:
        """Whether it is the rest itself."""
        return self == rest

    def choices(self, stream: Stream) -> Choices:
        """None: all values are random."""
        return []

    def describe(self) -> str:
        """The distribution in words."""
        pairs = len(self.vocabulary.pairs)
        counted = f"{pairs} pairs" if self.vocabulary.has_duals else f"{len(self.vocabulary)} variables"
        grouped = f", at most one true in each of {len(self.groups)} groups" if self.groups else ""
        return (
            f"random interpretations of {counted}, "
            f"each value unknown with probability {percent(self.missing)}{grouped}"
        )

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        groups = [[self.vocabulary.name(v) for v in group] for group in self.groups]
        return {"kind": self.kind, "missing": self.missing, "groups": groups}
