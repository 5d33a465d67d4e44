"""The fewest facts that a conclusion cannot do without.

Every proof of the conclusion needs some of the facts; a set of facts undoes it exactly when it
meets every proof. The search takes a proof that is left and tries to do without each of its facts in
turn, allowing one fact more at a time, so that the first set found is a smallest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hornbook.logic import chaining
from hornbook.logic.rule import Bottom, Head
from hornbook.logic.theory import HornTheory

EFFORT = 20_000
"""So many closures are computed before the search settles for facts that are not proven fewest."""

RULES = 100
"""A theory of more rules than this makes each closure count for more than one."""


@dataclass(frozen=True)
class Undo:
    """Facts without which a conclusion does not follow.

    `at_least` is the proven number of facts needed; if it is theirs, they are a smallest set.
    """

    facts: tuple[str, ...]
    at_least: int

    @property
    def exact(self) -> bool:
        """Whether no fewer facts would do."""
        return len(self.facts) == self.at_least


class _EffortSpent(Exception):
    pass


def smallest_undo(
    theory: HornTheory, facts: Mapping[str, frozenset[int]], goal: Head, effort: int = EFFORT
) -> Undo:
    r"""The fewest facts without which the goal does not follow from the theory.

    Parameters
    ----------
    theory
        The rules.
    facts
        For each fact its variables, which are known or unknown together.
    goal
        What follows from all the facts.
    effort
        How many closures are computed in the search, fewer if there are many rules. If that is
        not enough, the answer is a set of which none can be spared, with a bound on how few
        would do.

    Examples
    --------
    >>> theory = HornTheory.parse("a & b -> ill \n a & c -> ill \n d -> ill")
    >>> facts = {name: theory.vocabulary.variables([name]) for name in "abcd"}
    >>> smallest_undo(theory, facts, theory.vocabulary.index("ill"))
    Undo(facts=('a', 'd'), at_least=2)

    """
    search = _Search(theory, list(facts.values()), goal, effort)
    names = list(facts)
    size = 0
    try:
        while (found := search.within(frozenset(), size)) is None:
            size += 1
            if size > len(names):
                return Undo((), 0)
    except _EffortSpent:
        found = search.some()
    return Undo(tuple(names[position] for position in sorted(found)), size)


class _Search:
    """Facts as bit masks, and what was tried."""

    def __init__(self, theory: HornTheory, facts: list[frozenset[int]], goal: Head, effort: int) -> None:
        self.program = theory.program
        self.masks = [chaining.mask(variables) for variables in facts]
        self.goal = self.program.bottom if isinstance(goal, Bottom) else 1 << goal
        self.left = effort
        self.price = 1 + len(self.program.masks) // RULES
        self.failed: dict[frozenset[int], int] = {}

    def within(self, without: frozenset[int], more: int) -> frozenset[int] | None:
        """At most so many more facts that undo the goal, or None."""
        if self.failed.get(without, -1) >= more:
            return None
        if self.left < 0:
            raise _EffortSpent
        kept = self._but(without)
        if not self._follows(kept):
            return without
        if more:
            for position in self._proof(kept):
                if (found := self.within(without | {position}, more - 1)) is not None:
                    return found
        self.failed[without] = more
        return None

    def some(self) -> frozenset[int]:
        """Facts that undo the goal, none of which can be spared."""
        without: frozenset[int] = frozenset()
        while self._follows(kept := self._but(without)):
            without |= {self._proof(kept)[0]}
        for position in sorted(without):
            if not self._follows(self._but(without - {position})):
                without -= {position}
        return without

    def _proof(self, kept: list[int]) -> list[int]:
        """Facts that suffice for the goal, none of which can be spared."""
        needed = list(kept)
        for position in kept:
            fewer = [other for other in needed if other != position]
            if self._follows(fewer):
                needed = fewer
        return needed

    def _but(self, without: frozenset[int]) -> list[int]:
        return [position for position in range(len(self.masks)) if position not in without]

    def _follows(self, positions: list[int]) -> bool:
        self.left -= self.price
        given = 0
        for position in positions:
            given |= self.masks[position]
        return bool(self.program.close(given) & self.goal)
