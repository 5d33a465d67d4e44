"""Smaller equivalent sets of rules.

References
----------
J.-L. Guigues, V. Duquenne. Familles minimales d'implications informatives résultant d'un
tableau de données binaires. Mathématiques et Sciences humaines 95, 1986.
M. Wild. Implicational bases for finite closure systems. 1989.

"""

from __future__ import annotations

from collections.abc import Iterable

from hornbook.logic.bits import mask
from hornbook.logic.chaining import Program, members
from hornbook.logic.rule import BOTTOM, Rule


def remove_redundancy(rules: Iterable[Rule], width: int) -> list[Rule]:
    """Left-reduce every body, then drop every rule that the others entail."""
    kept = [rule for rule in dict.fromkeys(rules) if not rule.is_trivial]
    program = Program.of(kept, width)
    reduced = list(dict.fromkeys(_left_reduce(rule, program) for rule in kept))
    # the longest first, so that of two equivalent rules the shorter stays
    for rule in sorted(reduced, key=lambda rule: -len(rule.body)):
        others = [other for other in reduced if other != rule]
        if _is_entailed(rule.body, rule, Program.of(others, width)):
            reduced = others
    return reduced


def canonical_basis(rules: Iterable[Rule], width: int) -> list[Rule]:
    """The Duquenne–Guigues basis: saturate every body under the other rules.

    A body whose closure is inconsistent has ⊥ as its only head.
    """
    rules = [rule for rule in rules if not rule.is_trivial]
    whole = Program.of(rules, width)
    everything = (1 << width + 1) - 1

    def saturate(program: Program, body: int) -> int:
        closed = program.close(body)
        return everything if closed & program.bottom else closed

    bodies = list(dict.fromkeys(mask(rule.body) for rule in rules))
    implications = {body: saturate(whole, body) for body in bodies}
    for body in bodies:
        closed = implications.pop(body)
        others = Program(implications.items(), width)
        if (pseudo_closed := saturate(others, body)) != closed:
            implications[pseudo_closed] = closed
    return [
        Rule(members(body), head)
        for body, closed in sorted(implications.items())
        for head in ([BOTTOM] if closed == everything else members(closed & ~body))
    ]


def _left_reduce(rule: Rule, program: Program) -> Rule:
    body = rule.body
    for v in sorted(rule.body):
        if _is_entailed(body - {v}, rule, program):
            body = body - {v}
    return Rule(body, rule.head)


def _is_entailed(body: frozenset[int], rule: Rule, program: Program) -> bool:
    goal = program.bottom | (0 if rule.head is BOTTOM else 1 << rule.head)
    return bool(program.close(mask(body)) & goal)
