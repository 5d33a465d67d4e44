"""Counting by Horn rules: "at least so many points" as a chain of concepts.

The concept (i, s) says that the first i lines give at least s points. It follows from
(i - 1, s), or from (i - 1, s - w) and a fact that gives line i a worth of w. Only concepts that
the goal depends on are made, and of those that say the same (because no sum of points lies
between) only one, so a chain has at most lines × goal concepts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

Line: TypeAlias = Sequence[tuple[int, int]]
"""The facts that give a line points, at most one of which holds, each with its points, above 0."""

State: TypeAlias = tuple[int, int]
"""At least so many points (second) from so many lines (first)."""

Step: TypeAlias = tuple[State, State | None, int | None]
"""A state follows from an earlier one, if any, and a fact, if any."""


def counting(lines: Sequence[Line], goal: int) -> Iterator[Step]:
    """How states follow from each other, up to the last: the goal reached with all lines.

    The order is one in which rules can fire. Nothing is yielded if the goal is out of reach; a
    goal that needs no points follows from nothing.

    Examples
    --------
    >>> for step in counting([[(10, 2)], [(20, 1)], [(30, 1)]], 3):
    ...     print(step)
    ((1, 2), None, 10)
    ((2, 3), (1, 2), 20)
    ((3, 3), (2, 3), None)
    ((3, 3), (1, 2), 30)

    """
    need = _needs(lines)
    last = need(len(lines), goal)
    if last is None:
        return
    if last == (0, 0):
        yield (len(lines), goal), None, None
        return
    pending, steps = [last], {}
    while pending:
        state = pending.pop()
        if state not in steps:
            steps[state] = list(_ways(lines, need, state))
            pending += [before for before, _ in steps[state] if before is not None]
    for state in sorted(steps):
        for before, fact in steps[state]:
            yield (state if state != last else (len(lines), goal)), before, fact


def _needs(lines: Sequence[Line]) -> Callable[[int, int], State | None]:
    """The state that stands for "at least s from i lines", (0, 0) if it always holds, or None if never."""
    sums = [[0]]
    for line in lines:
        more = {total + worth for total in sums[-1] for _, worth in line}
        sums.append(sorted({*sums[-1], *more}))

    @cache
    def need(count: int, least: int) -> State | None:
        if least <= 0:
            return 0, 0
        at = bisect_left(sums[count], least)
        if at == len(sums[count]):
            return None
        least = sums[count][at]
        before = need(count - 1, least)
        ways = {need(count - 1, least - worth) for _, worth in lines[count - 1]} - {None}
        return before if before is not None and ways <= {before} else (count, least)

    return need


def _ways(
    lines: Sequence[Line], need: Callable[[int, int], State | None], state: State
) -> Iterator[tuple[State | None, int | None]]:
    """What a state follows from: an earlier state, a fact, or both."""
    count, least = state
    carried = need(count - 1, least)
    if carried is not None:
        yield carried, None
    for fact, worth in lines[count - 1]:
        before = need(count - 1, least - worth)
        if before is not None and before != carried:
            yield (None if before == (0, 0) else before), fact
