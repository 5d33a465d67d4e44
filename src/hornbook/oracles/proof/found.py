"""How a search for a positive output ended."""

from __future__ import annotations

from dataclasses import dataclass

from hornbook.oracles.proof.region import States


@dataclass(frozen=True)
class Found:
    """`upper` bounds the model's output, rounding included; `states` is the best input found.

    `nodes` counts the cells that were bounded, and `ended` says whether none was left over.
    """

    upper: float
    best: float
    states: States | None
    nodes: int
    ended: bool = True

    @property
    def settled(self) -> bool:
        """Whether the sign is decided."""
        return self.upper < 0 or self.best > 0
