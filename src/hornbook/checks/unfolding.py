"""What the rules of a list, a tree or a card, which follow from each other, say of conditions alone.

`"bilirubin > 2.5" -> "question 2"` and `"question 2" & "age > 60" -> dead` claim together that rows
with bilirubin above 2.5 and age above 60 are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import permutations
from typing import NamedTuple

from hornbook.conditions import Condition, merge_conditions
from hornbook.errors import HornbookError
from hornbook.logic import Bottom, Head, HornTheory, Rule

MAX_CASES = 100
"""Ways of meeting one rule that are looked at."""


class Unfolded(NamedTuple):
    """Rules about conditions, as bodies and heads, and what to say of rules that are left out."""

    rules: list[tuple[tuple[Condition, ...], str]]
    remark: str


def unfold_rules(
    text: str, read: Callable[[str], Iterable[Condition]], always: Iterable[Condition] = ()
) -> Unfolded | None:
    r"""The rules about conditions that follow from a theory with variables of its own; None for other texts.

    Its own variables are the head of one rule and in the body of another; `read` reads the conditions
    that any other variable is named by. All rows meet `always`: what it excludes is left out.

    Examples
    --------
    >>> from hornbook.conditions import IsTrue
    >>> rules = "age -> old\nfever & old -> ill\ncough & old -> ill"
    >>> for body, head in unfold_rules(rules, lambda name: [IsTrue(name)]).rules:
    ...     print(" and ".join(map(str, body)), "->", head)
    fever is true and age is true -> ill
    cough is true and age is true -> ill

    """
    try:
        theory = HornTheory.parse(text)
    except HornbookError:
        return None
    used = frozenset[Head]().union(*(rule.body for rule in theory.rules))
    definitions: dict[Head, list[Rule]] = {rule.head: [] for rule in theory.rules if rule.head in used}
    if not definitions:
        return None
    for rule in theory.rules:
        definitions.get(rule.head, []).append(rule)
    name, unfolded, left_out = theory.vocabulary.name, [], 0
    goals = [
        (rule, rule.head)
        for rule in theory.rules
        if rule.head not in definitions and not isinstance(rule.head, Bottom)
    ]
    for rule, head in goals:
        try:
            bodies = _unfold(rule, definitions, lambda variable: read(name(variable)), tuple(always))
        except HornbookError:
            left_out += 1
        else:
            unfolded += [(merge_conditions(body), name(head)) for body in bodies]
    reason = "can be met in too many ways, or speak of what is no column, and are left out"
    return Unfolded(unfolded, f"{left_out} of {len(goals)} rules {reason}" if left_out else "")


def _unfold(
    rule: Rule,
    definitions: dict[Head, list[Rule]],
    read: Callable[[int], Iterable[Condition]],
    always: tuple[Condition, ...],
) -> list[dict[Condition, None]]:
    """The fewest conditions of each way to meet a rule's body; refuse too many ways, and circles."""
    ways: list[dict[Condition, None]] = []
    left = [(dict[Condition, None](), rule.body, frozenset[int]())]  # conditions, what else follows, and did
    for _ in range(MAX_CASES):
        if not left:
            return [each for each in ways if not any(other.keys() < each.keys() for other in ways)]
        conditions, body, followed = left.pop()
        own = body & definitions.keys()
        conditions = conditions | {each: None for variable in sorted(body - own) for each in read(variable)}
        if any(one.excludes(other) for one, other in permutations((*conditions, *always), 2)):
            continue
        if own & followed:
            break
        if own:
            variable = max(own)
            rest, done = own - {variable}, followed | {variable}
            left += [(conditions, rest | each.body, done) for each in reversed(definitions[variable])]
        elif not any(other.keys() <= conditions.keys() for other in ways):
            ways.append(conditions)
    raise HornbookError(f"{rule} follows from itself, or in too many ways")
