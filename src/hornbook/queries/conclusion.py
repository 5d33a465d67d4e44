"""What follows from facts, its proof, and the fewest facts that it cannot do without.

Every proof of the conclusion needs some of the facts; a set of facts undoes it exactly when it
meets every proof. The search takes a proof that is left and tries to do without each of its facts in
turn, allowing one fact more at a time, so that the first set found is a smallest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, TypeAlias

from hornbook.display import Displayed
from hornbook.logic import (
    BOTTOM,
    UNICODE,
    Bottom,
    Derivation,
    Head,
    HornTheory,
    Interpretation,
    Rule,
    Vocabulary,
    bits,
    head_text,
    quote,
    rule_object,
)
from hornbook.queries.literals import Groups

MAX_CLOSURES = 20_000
"""Closures that are computed before the search settles for facts that are not proven fewest."""

RULES_PER_CLOSURE = 100
"""A theory of more rules than this makes each closure count for more than one."""


@dataclass(frozen=True)
class Undo(Displayed):
    """Facts without which a conclusion does not follow.

    `at_least` is the proven number of facts needed; if it is theirs, they are a smallest set.
    """

    facts: tuple[str, ...]
    at_least: int

    def __str__(self) -> str:
        return f"without {' and '.join(self.facts)}"

    @property
    def exact(self) -> bool:
        """Whether no fewer facts would do."""
        return len(self.facts) == self.at_least


class _EffortSpent(Exception):
    pass


def smallest_undo(
    theory: HornTheory, facts: Mapping[str, frozenset[int]], goal: Head, effort: int = MAX_CLOSURES
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
    without a and d

    """
    search = _Search(theory, list(facts.values()), goal, effort)
    names = list(facts)
    size = 0
    try:
        while (positions := search.within(frozenset(), size)) is None:
            size += 1
            if size > len(names):
                return Undo((), 0)
    except _EffortSpent:
        positions = search.some()
    return Undo(tuple(names[position] for position in sorted(positions)), size)


class _Search:
    """Facts as bit masks, and what was tried."""

    def __init__(self, theory: HornTheory, facts: list[frozenset[int]], goal: Head, effort: int) -> None:
        self.program = theory.program
        self.masks = [bits.mask(variables) for variables in facts]
        self.goal = self.program.bottom if isinstance(goal, Bottom) else 1 << goal
        self.left = effort
        self.price = 1 + len(self.program.masks) // RULES_PER_CLOSURE
        self.failed: dict[frozenset[int], int] = {}

    def within(self, without: frozenset[int], more: int) -> frozenset[int] | None:
        """Find at most `more` further facts that undo the goal; None if there are none."""
        if self.failed.get(without, -1) >= more:
            return None
        if self.left < 0:
            raise _EffortSpent
        kept = self._but(without)
        if not self._follows(kept):
            return without
        if more:
            for position in self._proof(kept):
                if (rest := self.within(without | {position}, more - 1)) is not None:
                    return rest
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


Branch: TypeAlias = tuple[str, list["Branch"]]

MAX_ALTERNATIVES = 4096
"""Ways to change the facts that would undo a conclusion that are tried at most."""


@dataclass(frozen=True)
class Conclusion(Displayed):
    """A conclusion, its proof, and the smallest change of facts that would undo it.

    Attributes
    ----------
    conclusion
        The label literal that follows; ⊥, or a variable known to be false, if the facts
        contradict the rules; None if neither.
    proof
        The rules that fired, in order; None without a conclusion.
    undo
        The fewest facts without which the conclusion does not follow; None without a
        conclusion.
    instead
        Values for those facts under which it does not follow either, by name; empty if none
        was found, or if the facts only need to be unknown.
    default
        What is assumed where no rule decides, if anything.
    contradiction, judges
        Whether the conclusion is a contradiction, and whether only those are looked for.
    words
        What variables and facts are called in the text, by name; those that are not here keep
        their names.

    """

    vocabulary: Vocabulary
    conclusion: Head | None
    proof: Derivation | None
    undo: Undo | None
    instead: tuple[str, ...] = ()
    default: str | None = None
    contradiction: bool = False
    judges: bool = False
    words: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        if self.conclusion is None or self.proof is None or self.undo is None:
            return (
                "accepted: the facts break no rule"
                if self.judges
                else f"undetermined: no rule decides{self._describe_default}"
            )
        lines = [self._headline(), *_indent(self._branches()), self._undoing()]
        return "\n".join(lines)

    def to_parts(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        undo = self.undo
        named = {} if self.proof is None else {"facts": list(self.vocabulary.named(self.proof.facts))}
        return {
            "conclusion": None if self.conclusion is None else self._name(self.conclusion),
            "default": self.default,
            "contradiction": self.contradiction,
            "proof": [rule_object(self.vocabulary, rule) for rule in self.proof.steps] if self.proof else [],
            **named,
            "undo": None
            if undo is None
            else {
                "facts": list(undo.facts),
                "instead": list(self.instead),
                "smallest": undo.exact,
                "at_least": undo.at_least,
            },
        }

    def _headline(self) -> str:
        assert self.conclusion is not None
        broken = isinstance(self.conclusion, Bottom)
        name = self._name(self.conclusion) if broken else self._describe(self._name(self.conclusion))
        if not self.contradiction:
            return name
        what = "the rules contradict each other, or the facts" if broken else "it is known to be false"
        return f"{name}: {what}{self._describe_default}"

    @property
    def _describe_default(self) -> str:
        return f"; {self.default} by default" if self.default else ""

    def _undoing(self) -> str:
        assert self.undo is not None
        if not self.undo.facts:
            return "nothing would undo it: it follows from no facts"
        facts = ", ".join(map(self._describe, self.undo.facts))
        bound = "" if self.undo.exact else f" (at least {self.undo.at_least} facts are needed)"
        instead = f", or with {', '.join(map(self._describe, self.instead))}" if self.instead else ""
        return f"it would not follow without {facts}{instead}{bound}"

    def _describe(self, name: str) -> str:
        return self.words.get(name) or quote(name)

    def _name(self, head: Any) -> str:
        return (
            head_text(self.vocabulary, head, UNICODE)
            if isinstance(head, Bottom)
            else self.vocabulary.name(head)
        )

    def _branches(self) -> list[Branch]:
        """What the conclusion rests on: each fact by name, and what that rests on, said once."""
        assert self.proof is not None and self.conclusion is not None
        rules = {rule.head: rule for rule in self.proof.steps}
        premises: set[int] = set()

        def branches(head: Head) -> list[Branch]:
            return [branch(v) for v in sorted(rules[head].body)] if head in rules else []

        def branch(v: int) -> Branch:
            name = self._describe(self.vocabulary.name(v))
            if v not in rules:
                return f"{name} (given)", []
            if v in premises:
                return f"{name} (as above)", []
            premises.add(v)
            return name, branches(v)

        return branches(self.conclusion)


def _indent(branches: list[Branch], depth: int = 1) -> Iterator[str]:
    for text, below in branches:
        yield "  " * depth + text
        yield from _indent(below, depth + 1)


def explain_facts(
    theory: HornTheory,
    facts: Interpretation,
    labels: Sequence[int],
    groups: Groups = (),
    default: str | None = None,
    describe: Callable[[str], str] = quote,
) -> Conclusion:
    r"""Explain which label literal follows from facts.

    Parameters
    ----------
    theory
        The rules and their background.
    facts
        What is known; the values of the labels are not looked at.
    labels
        The literals that may be concluded.
    groups
        Sets of variables that make up one fact, as the bins of a column do.
    default
        What is assumed where none of them follows.
    describe
        What a variable is called, by its name.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["fever", "cough", "rash", "ill"])
    >>> theory = HornTheory.parse("fever & cough -> ill \n rash -> ill", vocabulary)
    >>> print(explain_facts(theory, Interpretation(frozenset({0, 1, 6}), frozenset({2, 4, 5})), [3, 7]))
    ill
      fever (given)
      cough (given)
    it would not follow without fever, or with not_fever
    >>> healthy = Interpretation(frozenset({4}), frozenset({0}))
    >>> print(explain_facts(theory, healthy, [3, 7], default="not_ill"))
    undetermined: no rule decides; not_ill by default

    """
    vocabulary = theory.vocabulary
    given = facts.true - set(labels)
    closed = theory.closure(given)
    denied = [v for v in sorted(facts.false) if v in closed and v not in labels]
    broken: list[Head] = [BOTTOM] if BOTTOM in closed else [*denied]
    goals = [*broken, *(label for label in labels if label in closed)]
    if not goals:
        return Conclusion(vocabulary, None, None, None, default=default, judges=not labels)
    goal = goals[0]
    units = list(_units(vocabulary, given, groups))
    undo = smallest_undo(theory, {_name_fact(vocabulary, unit): unit for unit in units}, goal)
    proof = theory.explain(Rule(given, goal))
    instead = _instead(theory, units, undo, goal, groups)
    words = {
        _name_fact(vocabulary, unit): " and ".join(
            describe(vocabulary.name(v)) for v in _own(vocabulary, unit)
        )
        for unit in (*units, *instead)
    }
    used = {goal, *(v for rule in (proof.steps if proof else ()) for v in (*rule.body, rule.head))}
    words |= {name: describe(name) for v in used if isinstance(v, int) for name in (vocabulary.name(v),)}
    return Conclusion(
        vocabulary,
        goal,
        proof,
        undo,
        tuple(_name_fact(vocabulary, unit) for unit in instead),
        default,
        contradiction=bool(broken),
        judges=not labels,
        words=words,
    )


def _units(vocabulary: Vocabulary, given: frozenset[int], groups: Groups) -> Iterator[frozenset[int]]:
    """The given variables, those of one group or pair together: what is known or unknown as one."""
    together: dict[int, frozenset[int]] = {}
    for group in groups:
        whole = frozenset(group) | {dual for v in group if (dual := vocabulary.dual(v)) is not None}
        together |= dict.fromkeys(whole, whole)
    left = set(given)
    for v in sorted(given):
        if v in left:
            unit = together.get(v, frozenset({v})) & given
            left -= unit
            yield unit


def _name_fact(vocabulary: Vocabulary, unit: Iterable[int]) -> str:
    """A fact by name: the bin that is true, or all that are known to be false."""
    return " and ".join(map(vocabulary.name, _own(vocabulary, unit)))


def _own(vocabulary: Vocabulary, unit: Iterable[int]) -> list[int]:
    """The variables that a fact is named by."""
    variables = sorted(unit)
    positive = [v for v in variables if (dual := vocabulary.dual(v)) is None or v < dual]
    return positive or variables


def _instead(
    theory: HornTheory, units: Sequence[frozenset[int]], undo: Undo, goal: Head, groups: Groups
) -> tuple[frozenset[int], ...]:
    """Other values for the facts to undo under which the goal does not follow, nor a contradiction."""
    vocabulary, program = theory.vocabulary, theory.program
    changed = [unit for unit in units if _name_fact(vocabulary, unit) in undo.facts]
    kept = bits.mask(v for unit in units if unit not in changed for v in unit)
    unwanted = program.bottom | (0 if isinstance(goal, Bottom) else 1 << goal)
    choices = [list(_others(vocabulary, unit, groups)) for unit in changed]
    for chosen in islice(product(*choices), MAX_ALTERNATIVES):
        closed = program.close(kept | bits.mask(v for unit in chosen for v in unit))
        if not closed & unwanted:
            return chosen
    return ()


def _others(vocabulary: Vocabulary, unit: frozenset[int], groups: Groups) -> Iterator[frozenset[int]]:
    """The other values that a fact could have."""
    group = next(
        (group for group in groups if any(v in unit or vocabulary.dual(v) in unit for v in group)), None
    )
    if group is None:
        opposite = frozenset(dual for v in unit if (dual := vocabulary.dual(v)) is not None)
        yield from [opposite] if opposite else []
        return
    for true in group:
        if true not in unit:
            rest = (vocabulary.dual(v) for v in group if v != true)
            yield frozenset({true, *(dual for dual in rest if dual is not None)})
