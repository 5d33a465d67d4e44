"""How many examples a law draws: a share of the profile's number, so that a profile speaks for all laws.

And where the random numbers of test cases come from.
"""

from typing import Any

import numpy as np
from hypothesis import settings


def draw_examples(share: float, **others: Any) -> settings:
    """Settings of a law whose examples are costlier (below 1) or cheaper (above) than most."""
    return settings(max_examples=max(1, round(share * settings.default.max_examples)), **others)


def case_generator(seed: int, *place: int) -> np.random.Generator:
    """A source of randomness for test cases, independent of all that the package draws from."""
    key = tuple(b"test cases")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, 0, *place) if place else key))
