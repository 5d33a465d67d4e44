"""Coins thrown 64 at a time: words whose bits are independent and biased alike."""

from __future__ import annotations

import numpy as np

from hornbook.logic.bits import Words
from hornbook.logic.chaining import ALWAYS

PRECISION = 16
"""Binary digits of a probability that count: it is rounded to a multiple of 1/65536."""


def fair(shape: tuple[int, ...], rng: np.random.Generator) -> Words:
    """Words whose every bit is set with probability 1/2."""
    return rng.integers(0, 2**64, shape, np.uint64)


def biased(shape: tuple[int, ...], probability: float, rng: np.random.Generator) -> Words:
    """Words whose every bit is set with a given probability.

    A bit compares a random binary fraction with the probability, digit by digit from the
    last to the first, so that one fair word serves one digit of 64 coins.
    """
    scaled = round(probability * 2**PRECISION)
    if scaled in (0, 2**PRECISION):
        return np.full(shape, ALWAYS if scaled else 0, np.uint64)
    digits = f"{scaled:0{PRECISION}b}".rstrip("0")
    words = fair(shape, rng)
    for digit in reversed(digits[:-1]):
        if digit == "1":
            words |= fair(shape, rng)
        else:
            words &= fair(shape, rng)
    return words
