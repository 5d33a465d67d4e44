"""Rules over a vocabulary: ordered, unique names, and bodies and heads that are indices into them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError

NEGATION_PREFIX = "not_"
"""What the name of a dual begins with."""


def fresh_name(wanted: str, taken: Container[str]) -> str:
    """The wanted name, or where that is taken the first of `wanted_2`, `wanted_3`, … that is not.

    Every name that hornbook makes up comes from here, so that none meets a name of the user's.

    Examples
    --------
    >>> fresh_name("unknown_x", {"x"}), fresh_name("unknown_x", {"x", "unknown_x"})
    ('unknown_x', 'unknown_x_2')

    """
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


@dataclass(frozen=True, init=False)
class Vocabulary(Displayed):
    """Ordered unique variable names, some of them paired with their duals.

    A variable is an index into the vocabulary. The dual of `v` is the variable that stands
    for its negation.

    Parameters
    ----------
    names
        The names, in order.
    duals
        For a name, the name of its dual. One entry a pair is enough.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> vocabulary.index("wings"), vocabulary.name(2), len(vocabulary)
    (1, 'pegasus', 3)
    >>> paired = Vocabulary.with_duals(["sunny", "happy"])
    >>> paired.names
    ('sunny', 'happy', 'not_sunny', 'not_happy')
    >>> paired.dual(paired.index("not_happy"))
    1

    """

    names: tuple[str, ...]
    duals: tuple[int | None, ...]
    _index: dict[str, int] = field(compare=False, repr=False)

    def __init__(self, names: Iterable[str], duals: Mapping[str, str] | None = None) -> None:
        if isinstance(names, str):
            raise HornbookError(f"a vocabulary is a list of names, not the string {names!r}")
        names = tuple(names)
        index: dict[str, int] = {}
        for position, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise HornbookError(f"name {position} is {name!r}; a name is a non-empty string")
            if name in index:
                raise HornbookError(f"the name {name!r} appears twice, at {index[name]} and {position}")
            if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
                raise HornbookError(f"name {position} is {name!r}, half a character that no file holds")
            index[name] = position
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "duals", self._pair_duals(duals or {}))

    def _pair_duals(self, duals: Mapping[str, str]) -> tuple[int | None, ...]:
        partner: list[int | None] = [None] * len(self.names)
        for left, right in duals.items():
            v, w = self.index(left), self.index(right)
            if v == w:
                raise HornbookError(f"{left!r} cannot be its own dual")
            for this, other in ((v, w), (w, v)):
                if partner[this] not in (None, other):
                    taken = self.names[partner[this] or 0]
                    raise HornbookError(
                        f"contradictory duals: {self.names[this]!r} is paired with {taken!r} "
                        f"and with {self.names[other]!r}"
                    )
                partner[this] = other
        return tuple(partner)

    @classmethod
    def with_duals(cls, names: Iterable[str]) -> Vocabulary:
        """The names followed by one dual for each, called `not_…`."""
        names = tuple(names)
        taken, duals = set(names), dict[str, str]()
        for name in names:
            duals[name] = fresh_name(NEGATION_PREFIX + name, taken)
            taken.add(duals[name])
        return cls((*names, *duals.values()), duals)

    def with_label(self, label: str) -> Vocabulary:
        """These names as features, followed by a label and its dual `not_…`.

        A person reads both names beside the features, so neither may be the name of one.
        """
        negation = NEGATION_PREFIX + label
        for name in (label, negation):
            if name in self:
                raise HornbookError(
                    f"{name!r} is a feature already, and the label is {label!r}; leave it out, or rename it"
                )
        return Vocabulary((*self.names, label, negation), {**self.dual_names, label: negation})

    def index(self, name: str) -> int:
        """The variable called `name`."""
        try:
            return self._index[name]
        except KeyError:
            close = get_close_matches(name, self.names[:10_000], n=3)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise HornbookError(f"unknown name {name!r}{hint}") from None

    def name(self, variable: int) -> str:
        """The name of a variable."""
        return self.names[variable]

    def variables(self, names: Iterable[str]) -> frozenset[int]:
        """The variables called `names`."""
        return frozenset(map(self.index, names))

    def named(self, variables: Iterable[int]) -> tuple[str, ...]:
        """The names of `variables`, in vocabulary order."""
        return tuple(self.names[v] for v in sorted(variables))

    def dual(self, variable: int) -> int | None:
        """The variable that stands for the negation of `variable`, if there is one."""
        return self.duals[variable]

    @cached_property
    def dual_names(self) -> dict[str, str]:
        """For the first name of each pair, the name of its dual."""
        return {self.names[v]: self.names[w] for v, w in self.pairs}

    @cached_property
    def has_duals(self) -> bool:
        """Whether any variable has a dual."""
        return any(dual is not None for dual in self.duals)

    @cached_property
    def unpaired(self) -> frozenset[int]:
        """The variables without a dual."""
        return frozenset(v for v, dual in enumerate(self.duals) if dual is None)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every pair (v, dual of v), once, the smaller index first."""
        return tuple((v, w) for v, w in enumerate(self.duals) if w is not None and v < w)

    @cached_property
    def paired_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Every variable that has a dual, and the dual of each, as arrays."""
        v, w = np.array(self.pairs, np.intp).reshape(-1, 2).T
        return np.concatenate([v, w]), np.concatenate([w, v])

    def __str__(self) -> str:
        return f"{len(self)} variables: {', '.join(self.names)}"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._index


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
class Rule(Displayed):
    """`body → head`: if every variable of the body is true, so is the head.

    An empty body means ⊤. A rule whose head is in its body says nothing.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> Rule.of(vocabulary, ["horse", "wings"], "pegasus")
    0 ∧ 1 → 2
    >>> Rule({0, 1}, BOTTOM)
    0 ∧ 1 → ⊥

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

    def __str__(self) -> str:
        return f"{' ∧ '.join(map(str, sorted(self.body))) or '⊤'} → {self.head}"

    @classmethod
    def of(cls, vocabulary: Vocabulary, body: Iterable[str], head: str | Bottom) -> Rule:
        """The rule with these names."""
        return cls(vocabulary.variables(body), head if isinstance(head, Bottom) else vocabulary.index(head))

    @property
    def is_trivial(self) -> bool:
        """Whether the head is in the body, so that every interpretation satisfies the rule."""
        return self.head in self.body
