"""A score that knows its interval."""

from __future__ import annotations

from typing import Self

from hornbook.intervals import Share


class Score(float):
    """A share as a number, with its interval.

    Examples
    --------
    >>> score = Score(Share.of(9, 10))
    >>> score
    90.00 % (95 % interval 55.50 % to 99.75 %)
    >>> float(score), round(score.share.low, 3)
    (0.9, 0.555)

    """

    share: Share

    def __new__(cls, share: Share) -> Self:
        score = super().__new__(cls, share.estimate)
        score.share = share
        return score

    def __reduce__(self) -> tuple[type[Self], tuple[Share]]:
        return type(self), (self.share,)

    def __repr__(self) -> str:
        return str(self.share)
