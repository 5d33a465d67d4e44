"""Distributions of rule violations, and of near misses that violate a rule in all but some literals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bottom, HornTheory, Interpretation, Rule, Vocabulary, Words, bits
from hornbook.queries.distributions import (
    DEFAULT_MISSING,
    Choices,
    Distribution,
    DrawnInBlocks,
    Random,
    draw_nested_rows,
    percent,
)
from hornbook.queries.literals import Groups, Literals, check_groups
from hornbook.queries.protocol import interpretation
from hornbook.queries.words import Stream


@dataclass(frozen=True)
class RuleConditioned(DrawnInBlocks, ABC):
    """Interpretations in which a random rule fixes some values and the others are random."""

    theory: HornTheory = field(repr=False)
    missing: float = DEFAULT_MISSING
    groups: Groups = ()
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", self.rest.groups)
        if not self.rules:
            raise HornbookError(
                f"none of the {len(self.theory)} rules can serve here: each contradicts itself, as the "
                "disjointness of a pair does, or breaks a group, or has no body literal to change"
            )

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the theory."""
        return self.theory.vocabulary

    @cached_property
    def rest(self) -> Random:
        """The distribution of the values that the rule does not fix."""
        return Random(self.vocabulary, self.missing, self.groups)

    @property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return self.rest.literals

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that can be violated consistently with pairs and groups."""
        return tuple(rule for rule in self.theory if self._is_possible(self.violation(rule)))

    @cached_property
    def table(self) -> Words:
        """The literals of each rule's violation, shape (rules + 1, words); the last row is empty."""
        return self.literals.table([*(self.violation(rule) for rule in self.rules), set()])

    def violation(self, rule: Rule) -> frozenset[int]:
        """The literals that violate a rule: its body, and the contrary of its head."""
        head = () if isinstance(rule.head, Bottom) else (rule.head,)
        return self.literals.true(rule.body) | self.literals.opposite(self.literals.true(head))

    @abstractmethod
    def choices(self, stream: Stream) -> Choices:
        """The literals that each item must have; the last row of every table is empty."""

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        return self.rest.draw_with_overrides(self.choices(stream), stream)

    @abstractmethod
    def describe(self) -> str:
        """The distribution in words."""

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {**self.rest.settings(), "kind": self.kind, "rules": len(self.rules)}

    def _describe_rest(self) -> str:
        grouped = f", at most one true in each of {len(self.groups)} groups" if self.groups else ""
        return f"the rest random, unknown with probability {percent(self.missing)}{grouped}"

    def _is_possible(self, literals: frozenset[int]) -> bool:
        groups = (set(group) for rows in self.rest.group_rows for group in rows.T.tolist())
        crowded = any(len(literals & group) > 1 for group in groups)
        return not crowded and not literals & self.literals.opposite(literals)


@dataclass(frozen=True)
class Violations(RuleConditioned):
    """A random rule violated: its body true, its head false, the rest random.

    A true variable makes its dual false and a false one makes it true. Rules that cannot be
    violated in that way, such as the disjointness of a pair, are passed over.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> theory = HornTheory.parse("sunny & happy -> jogging", vocabulary)
    >>> print(Violations(theory, missing=0.5))
    violations of one of 1 rules, the rest random, unknown with probability 50 %
    >>> Violations(theory).draw(1, np.random.default_rng(0)).to_array()
    array([[1., 1., 0., 0., 0., 1.]])

    """

    kind: ClassVar[str] = "violation"

    def choices(self, stream: Stream) -> Choices:
        """The literals that each violation must have."""
        return [(self.table, stream.below(len(self.rules)))]

    def describe(self) -> str:
        """The distribution in words."""
        return f"violations of one of {len(self.rules)} rules, {self._describe_rest()}"


@dataclass(frozen=True)
class NearMisses(RuleConditioned):
    """A random rule violated, except for some literals of its body: false, and their duals true.

    So two rows of a table differ. No variable of a group becomes true in that way.

    Parameters
    ----------
    theory, missing, groups
        As for violations.
    n_changed
        Number of body literals to change; all of them where the body is shorter.

    """

    n_changed: int = 1
    kind: ClassVar[str] = "near miss"

    def __post_init__(self) -> None:
        if self.n_changed < 1:
            raise HornbookError(f"a near miss changes at least one literal; got n_changed={self.n_changed}")
        super().__post_init__()

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that can be violated and have a body literal to change."""
        return tuple(rule for rule in super().rules if self._changeable(rule))

    @cached_property
    def changeable(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The changeable literals of each rule, padded to (rules, length), and their numbers, (rules,)."""
        lists = [self._changeable(rule) for rule in self.rules]
        lengths = np.array([len(literals) for literals in lists], np.intp)
        padded = np.zeros((len(lists), lengths.max()), np.intp)
        for row, literals in zip(padded, lists, strict=True):
            row[: len(literals)] = literals
        return padded, lengths

    @cached_property
    def changes(self) -> Words:
        """For each literal, the literals that its change toggles; the last row is empty."""
        every = ({literal} for literal in range(2 * self.literals.count))
        return self.literals.table([*(one | self.literals.opposite(one) for one in every), set()])

    def choices(self, stream: Stream) -> Choices:
        """The literals that each near miss must have."""
        chosen = stream.below(len(self.rules))
        changeable, lengths = self.changeable
        none = len(self.changes) - 1
        changed = [
            (self.changes, np.where(position < 0, none, changeable[chosen, position.clip(0)]))
            for position in distinct_positions(lengths[chosen], self.n_changed, stream)
        ]
        return [(self.table, chosen), *changed]

    def describe(self) -> str:
        """The distribution in words."""
        return (
            f"near misses of one of {len(self.rules)} rules, {self.n_changed} of its body literals flipped, "
            f"{self._describe_rest()}"
        )

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {**super().settings(), "n_changed": self.n_changed}

    def _changeable(self, rule: Rule) -> list[int]:
        grouped = self.literals.true(v for group in self.groups for v in group)
        kept = self.violation(Rule((), rule.head)) | self.literals.opposite(grouped)
        return sorted(self.literals.true(rule.body) - kept)


def distinct_positions(lengths: NDArray[np.intp], count: int, stream: Stream) -> list[NDArray[np.intp]]:
    """For each length, `count` distinct uniform positions below it.

    Floyd's method. A length below `count` gets all its positions, and -1 for the rest.
    """
    chosen: list[NDArray[np.intp]] = []
    for last in range(count):
        top = lengths - count + last
        position = np.where(top < 0, -1, stream.below(top + 1))
        for earlier in chosen:
            position = np.where((earlier == position) & (position >= 0), top, position)
        chosen.append(position)
    return chosen


@dataclass(frozen=True)
class ImposedViolations(DrawnInBlocks):
    """Items of a distribution in which a random rule is made violated: body true, head false.

    Parameters
    ----------
    theory
        The rules to violate; those that cannot be violated are passed over.
    rest
        The distribution of all other values.
    groups
        Sets of variables of which at most one is true: where a rule makes one true, another
        that was true becomes false.

    Examples
    --------
    >>> from hornbook.queries.distributions import Rows
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> theory = HornTheory.parse("sunny & happy -> jogging", vocabulary)
    >>> rows = Batch.from_array([[0, 1, 1, 1, 0, 0]], vocabulary)
    >>> ImposedViolations(theory, Rows(rows)).draw(1, np.random.default_rng(0)).to_array()
    array([[1., 1., 0., 0., 0., 1.]])
    >>> print(ImposedViolations(theory, Rows(rows)))
    violations of one of 1 rules, imposed on: 1 real rows as they are

    """

    theory: HornTheory = field(repr=False)
    rest: Distribution
    groups: Groups = ()
    kind: ClassVar[str] = "violation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))
        if self.rest.vocabulary != self.vocabulary:
            raise HornbookError("the theory and the distribution are over different vocabularies")
        if not self.violations:
            raise HornbookError(
                f"none of the {len(self.theory)} rules can be violated: each has its head in its body, "
                "or contradicts itself, as the disjointness of a pair does, or breaks a group"
            )

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the theory."""
        return self.theory.vocabulary

    @cached_property
    def violations(self) -> list[Interpretation]:
        """The smallest violation of every rule that has one."""
        return smallest_violations(self.theory, self.groups)

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def table(self) -> Words:
        """The literals of each violation."""
        return self.literals.table_of(Batch.from_interpretations(self.violations, self.vocabulary))

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        true, false = draw_nested_rows(self.rest, self.literals, stream)
        must, must_not = self.literals.halves(bits.gather_rows((self.table, stream.below(len(self.table)))))
        free = ~(must | must_not)
        true, false = true & free, false & free
        for group in self.groups:
            rows = np.searchsorted(self.literals.drawn, group)
            moved = true[rows] & reduce(or_, must[rows])
            true[rows] ^= moved
            false[rows] |= moved
        return true | must, false | must_not

    def describe(self) -> str:
        """The distribution in words."""
        return f"violations of one of {len(self.violations)} rules, imposed on: {self.rest.describe()}"

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {
            "kind": self.kind,
            "rules": len(self.violations),
            "groups": [[self.vocabulary.name(v) for v in group] for group in self.groups],
            "rest": self.rest.settings(),
        }


def smallest_violations(theory: HornTheory, groups: Groups = ()) -> list[Interpretation]:
    """The smallest pair-consistent violation of every rule that has one.

    Trivial rules have none, and neither have rules that contradict themselves, such as
    `v ∧ not_v → ⊥`, or that make two variables of a group true.
    """
    found = []
    for rule in theory:
        head = () if isinstance(rule.head, Bottom) else (rule.head,)
        smallest = interpretation(theory.vocabulary, rule.body, head)
        crowded = any(len(smallest.true.intersection(group)) > 1 for group in groups)
        if not crowded and not smallest.true & smallest.false:
            found.append(smallest)
    return found
