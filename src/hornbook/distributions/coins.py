"""Coins thrown 64 at a time: words whose bits are independent and biased alike."""

from __future__ import annotations

from collections.abc import Sequence

from hornbook.distributions.stream import Stream
from hornbook.logic.bits import Words

PRECISION = 1 / 200
"""By what share of itself, or of its complement, a probability may be rounded."""

MOST_DIGITS = 24
"""Binary digits of a probability at most: below 2⁻²⁵ it is none."""


def biased(shape: tuple[int, ...], probability: float, stream: Stream, precision: float = PRECISION) -> Words:
    """Words whose every bit is set with a given probability, a row of them in each place of the shape.

    A bit compares a random binary fraction with the probability, digit by digit from the
    last to the first, so that one fair word serves one digit of 64 coins.
    """
    digits = binary(probability, precision)
    if digits:
        return stream.joined(shape, digits[-2::-1])
    words = stream.words(*shape)
    words ^= words
    return ~words if probability > 0.5 else words


def one_of(
    shares: Sequence[float], shape: tuple[int, ...], stream: Stream, precision: float = PRECISION
) -> list[Words]:
    """Words for each share, of which exactly one has a given bit set, as often as its share says."""
    *first, _ = shares
    left, undecided, rows = sum(shares), None, []
    for share in first:
        thrown = biased(shape, share / left if left > 0 else 0, stream, precision)
        rows.append(thrown if undecided is None else thrown & undecided)
        undecided = ~thrown if undecided is None else undecided & ~thrown
        left -= share
    if undecided is None:
        undecided = biased(shape, 1, stream)
    return [*rows, undecided]


def binary(probability: float, precision: float = PRECISION) -> str:
    """The fewest binary digits that are close enough to a probability; none for 0 and 1.

    Examples
    --------
    >>> binary(0.5), binary(0.75), binary(1 / 3), binary(1.0)
    ('1', '11', '01010101', '')

    """
    tolerated = precision * min(probability, 1 - probability)
    for count in range(1, MOST_DIGITS + 1):
        scaled = round(probability * 2**count)
        if abs(scaled / 2**count - probability) <= tolerated and 0 < scaled < 2**count:
            return f"{scaled:0{count}b}"
    scaled = round(probability * 2**MOST_DIGITS)
    return f"{scaled:0{MOST_DIGITS}b}".rstrip("0") if 0 < scaled < 2**MOST_DIGITS else ""
