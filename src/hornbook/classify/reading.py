"""What kind of explanation is wanted, and how many answers it may rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from hornbook.errors import HornbookError
from hornbook.queries import Budget

Wanted: TypeAlias = Literal["auto", "rules", "card", "tree"]
"""What is to be read: `auto` is a card or a tree where it pays, and rules otherwise."""


@dataclass(frozen=True)
class Reading:
    """What kind of explanation is wanted, and how many answers it may rest on.

    Parameters
    ----------
    max_rules, max_literals
        What a reader is willing to read: so many rules, and so many literals in the bodies of
        rules, on a card or in a tree.
    form
        `rules`, `card`, `tree`, or `auto` for a card or a tree where it is more faithful than rules
        by 0.3 percentage points.
    default
        Whether what rules leave open gets a label, the one that is then right more often.
        Without one it stays undetermined, and counts as no agreement.
    max_points
        The most points of a line of a card.
    samples
        How many labelled samples are learned from.
    evaluation
        How many samples candidates are compared on, and how many others the winner is measured on.
    budget
        What the run may spend: membership queries are labels asked for.
    seed
        Makes the run repeatable.

    """

    max_rules: int = 20
    max_literals: int = 60
    form: Wanted = "auto"
    default: bool = True
    max_points: int = 5
    samples: int = 1 << 16
    evaluation: int = 1 << 14
    budget: Budget = Budget()  # noqa: RUF009 (frozen)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.form not in get_args(Wanted):
            raise HornbookError(f"form is 'auto', 'rules', 'card' or 'tree', not {self.form!r}")
        least = {"max_rules": 1, "max_literals": 1, "max_points": 1, "samples": 1, "evaluation": 1, "seed": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise HornbookError(f"{name} is at least {bound}; got {getattr(self, name)}")
