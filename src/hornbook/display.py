"""How a value shows itself: in one line in a Python session, and whole in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")

MAX_CHARACTERS = 240
"""Characters of a value that a Python session shows; `print` and notebooks show all."""

STYLE = "font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal"


class Displayed:
    r"""A value that a Python session shows as one line of what it prints, and a notebook as all of it.

    A subclass defines `__str__`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Poem(Displayed):
    ...     lines: tuple[str, ...]
    ...
    ...     def __str__(self) -> str:
    ...         return "\n".join(self.lines)
    >>> Poem(("Little Miss Muffet", "sat on a tuffet"))
    Little Miss Muffet; sat on a tuffet

    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class a `__repr__` of its own, so that `dataclass` writes no other."""
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return join_lines(str(self))

    def _repr_html_(self) -> str:
        return f'<pre style="{STYLE}">{escape(str(self))}</pre>'


class Listing(Displayed, tuple[ItemT, ...]):
    """Values that a notebook shows below each other."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def join_lines(text: str) -> str:
    r"""Write lines as one, cut where it is long.

    Examples
    --------
    >>> join_lines("dead, because\n  bili > 2.1\nwith bili ≤ 2.1 it would be alive")
    'dead, because bili > 2.1; with bili ≤ 2.1 it would be alive'

    """
    line = "; ".join(part for each in text.splitlines() if (part := each.strip(" #")))
    line = line.replace("because; ", "because ").replace(":; ", ": ")
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 2]} …"


def count_things(number: int, singular: str) -> str:
    """Format a number of things.

    Examples
    --------
    >>> count_things(1, "condition"), count_things(1200, "condition")
    ('1 condition', '1,200 conditions')

    """
    return f"{number:,} {singular}" + ("" if number == 1 else "s")
