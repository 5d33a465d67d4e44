"""The one clock: how long something took, and until when it may take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stopwatch:
    """A clock that starts when it is made."""

    started: float = field(default_factory=lambda: time.monotonic(), kw_only=True)

    @property
    def elapsed(self) -> float:
        """The seconds since the clock was started."""
        return time.monotonic() - self.started


@dataclass(frozen=True)
class Deadline(Stopwatch):
    """The end of the time that something may take, counted from when the deadline is made.

    Parameters
    ----------
    limit
        The time in seconds.

    Examples
    --------
    >>> Deadline.after(0).passed, Deadline.after(60).passed, Deadline.after(None).passed
    (True, False, False)
    >>> 59 < Deadline.after(60).left <= 60
    True

    """

    limit: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline a number of seconds from now; None gives one that never comes."""
        return cls(math.inf if seconds is None else seconds)

    @property
    def left(self) -> float:
        """The seconds that are left; 0 once the deadline has passed."""
        return max(0.0, self.limit - self.elapsed)

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0


NO_DEADLINE = Deadline()
"""The deadline that never comes."""
