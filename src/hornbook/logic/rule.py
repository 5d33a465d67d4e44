"""Rules: a body of variables and a head, which is a variable or ⊥."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from hornbook.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary


class Bottom(Enum):
    """The type of ⊥, whose only value is `BOTTOM`."""

    BOTTOM = "⊥"

    def __repr__(self) -> str:
        return "BOTTOM"

    def __str__(self) -> str:
        return "⊥"


BOTTOM: Final = Bottom.BOTTOM

Head: TypeAlias = int | Bottom


@dataclass(frozen=True, init=False)
class Rule:
    """`body → head`: if every variable of the body is true, so is the head.

    An empty body means ⊤. A rule whose head is in its body says nothing.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> Rule.of(vocabulary, ["horse", "wings"], "pegasus")
    Rule(body=frozenset({0, 1}), head=2)
    >>> Rule({0, 1}, BOTTOM)
    Rule(body=frozenset({0, 1}), head=BOTTOM)

    """

    body: frozenset[int]
    head: Head

    def __init__(self, body: Iterable[int], head: Head) -> None:
        body = frozenset(body)
        if {*map(type, body)} - {int} or not isinstance(head, int | Bottom):
            raise HornbookError(
                f"a rule is made of variables, which are indices; for names write "
                f"Rule.of(vocabulary, body, head); got {sorted(map(str, body))} → {head!r}"
            )
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "head", head)

    @classmethod
    def of(cls, vocabulary: Vocabulary, body: Iterable[str], head: str | Bottom) -> Rule:
        """The rule with these names."""
        return cls(vocabulary.variables(body), head if isinstance(head, Bottom) else vocabulary.index(head))

    @property
    def is_trivial(self) -> bool:
        """Whether the head is in the body, so that every interpretation satisfies the rule."""
        return self.head in self.body
