"""Horn theories: what they accept, what follows from them, and why; smaller equivalent sets of rules.

References
----------
J.-L. Guigues, V. Duquenne. Familles minimales d'implications informatives résultant d'un
tableau de données binaires. Mathématiques et Sciences humaines 95, 1986.
M. Wild. Implicational bases for finite closure systems. 1989.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import bits, chaining, formats
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools, mask
from hornbook.logic.chaining import Program, members
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule, Vocabulary


@dataclass(frozen=True, init=False)
class HornTheory(Displayed):
    """A set of Horn rules over one vocabulary, kept in order.

    A partial interpretation satisfies the theory if some way of filling in its unknown
    values does.

    Examples
    --------
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> print(theory)
    horse ∧ wings → pegasus
    >>> theory.entails("horse & wings -> pegasus"), theory.entails("horse -> pegasus")
    (True, False)
    >>> nan = float("nan")
    >>> batch = Batch.from_array([[1, 1, 0], [1, nan, 0]], theory.vocabulary)
    >>> theory.satisfied_by(batch)
    array([False,  True])

    """

    vocabulary: Vocabulary
    rules: tuple[Rule, ...]

    def __init__(self, vocabulary: Vocabulary, rules: Iterable[Rule] = ()) -> None:
        rules = tuple(dict.fromkeys(rules))
        width = len(vocabulary)
        heads = [rule.head for rule in rules if not isinstance(rule.head, Bottom)]
        used = frozenset[int]().union(heads, *(rule.body for rule in rules))
        for v in used and {min(used), max(used)}:
            if not 0 <= v < width:
                raise HornbookError(f"variable {v} is outside the vocabulary of {width} names")
        object.__setattr__(self, "vocabulary", vocabulary)
        object.__setattr__(self, "rules", rules)

    @classmethod
    def parse(cls, text: str, vocabulary: Vocabulary | None = None) -> HornTheory:
        """Read one rule a line; without a vocabulary, variables come in order of appearance."""
        return cls(*formats.parse(text, vocabulary))

    @classmethod
    def background(cls, vocabulary: Vocabulary) -> HornTheory:
        """What always holds: no variable is true together with its dual."""
        return cls(vocabulary, (Rule(pair, BOTTOM) for pair in vocabulary.pairs))

    @classmethod
    def from_json(cls, text: str) -> HornTheory:
        """Read what `to_json` wrote."""
        return cls(*formats.from_json(text))

    def satisfied_by(self, batch: Batch) -> Bools:
        """For each interpretation, whether some completion of it satisfies every rule."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the theory are over different vocabularies")
        return ~self.program.conflicts(batch)

    def closure(self, facts: Iterable[int | str]) -> frozenset[Head]:
        """Everything that follows from the facts, ⊥ included if they contradict the theory."""
        closed = self.program.close(bits.mask(self._variables(facts)))
        return chaining.heads_of(closed, len(self.vocabulary))

    def entails(self, claim: Rule | HornTheory | str) -> bool:
        """Whether the rule, or every rule of the theory, follows from this theory."""
        return next(self.unentailed(claim), None) is None

    def unentailed(self, claim: Rule | HornTheory | str) -> Iterator[Rule]:
        """The rules of the claim that do not follow from this theory."""
        if isinstance(claim, HornTheory):
            claims = claim.over(self.vocabulary).program
        else:
            claims = chaining.Program.of([self._rule(claim)], len(self.vocabulary))
        for body, heads in claims.masks:
            closed = self.program.close(body)
            if not closed & self.program.bottom:
                for head in chaining.heads_of(heads & ~closed, len(self.vocabulary)):
                    yield Rule(chaining.members(body), head)

    def equivalent(self, other: HornTheory) -> bool:
        """Whether both theories accept exactly the same interpretations."""
        return self.entails(other) and other.entails(self)

    def is_satisfiable(self) -> bool:
        """Whether some interpretation satisfies every rule."""
        return BOTTOM not in self.closure(())

    def minimise(self, background: HornTheory | None = None) -> HornTheory:
        """An equivalent theory with no redundant rule and no redundant body literal.

        The rules of a background hold anyway: others that follow from them are redundant, and they stay.
        """
        known = () if background is None else background.over(self.vocabulary).rules
        rules = (rule for rule in self.rules if rule not in known)
        return HornTheory(self.vocabulary, (*known, *remove_redundancy(rules, len(self.vocabulary), known)))

    def canonical(self) -> HornTheory:
        """The Duquenne–Guigues basis: the least number of bodies, each with all its heads."""
        return HornTheory(self.vocabulary, canonical_basis(self.rules, len(self.vocabulary)))

    def explain(self, claim: Rule | str | Iterable[int | str]) -> Derivation | None:
        """How a rule follows from the theory (None if it does not), or all that follows from facts.

        A string is read as a rule.
        """
        if not isinstance(claim, Rule | str):
            facts = self._variables(claim)
            return Derivation(self.vocabulary, facts, tuple(chaining.derive(self.rules, facts)))
        rule = self._rule(claim)
        steps = list(chaining.derive(self.rules, rule.body))
        goals = {rule.head, BOTTOM} & {*rule.body, *(step.head for step in steps)}
        if not goals:
            return None
        goal = rule.head if rule.head in goals else BOTTOM
        return Derivation(self.vocabulary, rule.body, tuple(_select_needed(steps, goal)))

    def over(self, vocabulary: Vocabulary) -> HornTheory:
        """The same rules, by name, over another vocabulary."""
        if vocabulary is self.vocabulary or vocabulary == self.vocabulary:
            return self
        names = self.vocabulary.names
        return HornTheory(
            vocabulary,
            (
                Rule.of(
                    vocabulary,
                    (names[v] for v in rule.body),
                    BOTTOM if isinstance(rule.head, Bottom) else names[rule.head],
                )
                for rule in self.rules
            ),
        )

    def to_text(self) -> str:
        """One rule a line in plain ASCII operators: the format of `.horn` files."""
        return formats.print_rules(self.vocabulary, self.rules, formats.ASCII)

    def to_json(self) -> str:
        """The vocabulary and rules as JSON."""
        return formats.to_json(self.vocabulary, self.rules)

    @cached_property
    def program(self) -> chaining.Program:
        """The rules compiled for chaining."""
        return chaining.Program.of(self.rules, len(self.vocabulary))

    def _rule(self, claim: Rule | str) -> Rule:
        return formats.parse_rule(claim, self.vocabulary) if isinstance(claim, str) else claim

    def _variables(self, facts: Iterable[int | str]) -> frozenset[int]:
        if isinstance(facts, str):
            raise HornbookError(f"facts are a set of names, not the string {facts!r}; write {{{facts!r}}}")
        return frozenset(self.vocabulary.index(v) if isinstance(v, str) else v for v in facts)

    def __or__(self, other: HornTheory) -> HornTheory:
        return HornTheory(self.vocabulary, self.rules + other.over(self.vocabulary).rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return formats.print_rules(self.vocabulary, self.rules, formats.UNICODE).rstrip("\n")


@dataclass(frozen=True)
class Derivation(Displayed):
    """Facts, and the rules that fire from them, in order."""

    vocabulary: Vocabulary
    facts: frozenset[int]
    steps: tuple[Rule, ...]

    def __str__(self) -> str:
        given = ", ".join(map(formats.quote, self.vocabulary.named(self.facts))) or "nothing"
        lines = [f"given {given}"]
        for number, rule in enumerate(self.steps, 1):
            head = formats.head_text(self.vocabulary, rule.head, formats.UNICODE)
            lines.append(
                f"{number}. {head}, because {formats.rule_text(self.vocabulary, rule, formats.UNICODE)}"
            )
        return "\n".join(lines)


def violation(rule: Rule) -> Interpretation:
    """The smallest interpretation that breaks a rule: body true, head false."""
    return Interpretation(rule.body, frozenset() if isinstance(rule.head, Bottom) else frozenset({rule.head}))


def _select_needed(steps: list[Rule], goal: Head) -> list[Rule]:
    """The steps that the goal depends on, in their order."""
    wanted: set[Head] = {goal}
    needed = []
    for rule in reversed(steps):
        if rule.head in wanted:
            wanted |= rule.body
            needed.append(rule)
    return needed[::-1]


def random_theory(
    variables: int,
    rules: int,
    body: tuple[int, int],
    rng: np.random.Generator,
    bottom: float = 0.1,
) -> HornTheory:
    """A theory of distinct non-trivial rules, body lengths uniform in `body`, heads ⊥ with a given share.

    Examples
    --------
    >>> theory = random_theory(4, 3, (1, 2), np.random.default_rng(1))
    >>> len(theory), {len(rule.body) for rule in theory} <= {1, 2}
    (3, True)

    """
    shortest, longest = body
    if not 0 <= shortest <= longest < variables:
        raise HornbookError(
            f"bodies of {shortest} to {longest} need at least {longest + 1} variables, not {variables}"
        )
    vocabulary = Vocabulary(f"v{i}" for i in range(1, variables + 1))
    distinct_rules: dict[Rule, None] = {}
    for _ in range(100 * rules + 100):
        if len(distinct_rules) == rules:
            return HornTheory(vocabulary, distinct_rules)
        *chosen, head = rng.permutation(variables)[: rng.integers(shortest, longest + 1) + 1].tolist()
        distinct_rules.setdefault(Rule(chosen, BOTTOM if rng.random() < bottom else head))
    raise HornbookError(f"there are too few distinct rules over {variables} variables to draw {rules}")


def remove_redundancy(rules: Iterable[Rule], width: int, known: Sequence[Rule] = ()) -> list[Rule]:
    """Left-reduce every body, then drop every rule that the others and those that are known entail."""
    kept = [rule for rule in dict.fromkeys(rules) if not rule.is_trivial]
    program = Program.of([*known, *kept], width)
    reduced = list(dict.fromkeys(_left_reduce(rule, program) for rule in kept))
    # the longest first, so that of two equivalent rules the shorter stays
    for rule in sorted(reduced, key=lambda rule: -len(rule.body)):
        others = [other for other in reduced if other != rule]
        if _is_entailed(rule.body, rule, Program.of([*known, *others], width)):
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
