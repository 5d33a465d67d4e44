"""Randomness by seed and purpose, so that no two purposes share their draws."""

from __future__ import annotations

import numpy as np


def stream(seed: int, purpose: str) -> np.random.Generator:
    """A source of randomness for one purpose, independent of those for all others.

    Examples
    --------
    >>> [int(stream(0, purpose).integers(1000)) for purpose in ("tree", "tree", "evaluation")]
    [449, 449, 486]

    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode())))
