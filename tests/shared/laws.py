"""How many examples a law draws: a share of the profile's number, so that a profile speaks for all laws."""

from typing import Any

from hypothesis import settings


def draw_examples(share: float, **others: Any) -> settings:
    """Settings of a law whose examples are costlier (below 1) or cheaper (above) than most."""
    return settings(max_examples=max(1, round(share * settings.default.max_examples)), **others)
