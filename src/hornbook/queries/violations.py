"""Distributions of rule violations: the body of a random rule is true, its head false."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import ClassVar, Literal

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bottom, HornTheory, Interpretation, Rule, Vocabulary, Words, bits
from hornbook.queries.distributions import (
    DEFAULT_MISSING,
    BitSliced,
    Distribution,
    Mixture,
    Random,
    draw_numbers,
    percent,
)
from hornbook.queries.literals import Groups, Literals, check_groups
from hornbook.queries.protocol import interpretation


@dataclass(frozen=True)
class Violations(BitSliced):
    """A random rule violated: its body true, its head false, the rest from another distribution.

    A true variable makes its dual false and a false one makes it true. Rules that cannot be
    violated in that way, such as the disjointness of a pair, are passed over.

    Parameters
    ----------
    theory
        The rules to violate.
    missing
        The share of the other values that are unknown, where these are random.
    groups
        Sets of variables that exclude each other: where a rule makes one true, another
        that was true becomes false.
    rest
        The distribution of the other values; random ones by default.

    Examples
    --------
    >>> from hornbook.queries.distributions import Rows
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> theory = HornTheory.parse("sunny & happy -> jogging", vocabulary)
    >>> print(Violations(theory, missing=0.5))
    violations of one of 1 rules, the rest random, unknown with probability 50 %
    >>> Violations(theory).draw(1, np.random.default_rng(0)).to_array()
    array([[1., 1., 0., 0., 0., 1.]])
    >>> rows = Batch.from_array([[0, 1, 1, 1, 0, 0]], vocabulary)
    >>> print(Violations(theory, rest=Rows(rows)))
    violations of one of 1 rules, imposed on: 1 real rows as they are

    """

    theory: HornTheory = field(repr=False)
    missing: float = DEFAULT_MISSING
    groups: Groups = ()
    rest: Distribution | None = None
    kind: ClassVar[str] = "violation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))
        if self.source.vocabulary != self.vocabulary:
            raise HornbookError("the theory and the distribution are over different vocabularies")
        if not self.rules:
            raise HornbookError(
                f"none of the {len(self.theory)} rules can serve here: each has its head in its body, "
                "contradicts itself, as the disjointness of a pair does, breaks a group, or has no body "
                "literal to change"
            )

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the theory."""
        return self.theory.vocabulary

    @cached_property
    def source(self) -> Distribution:
        """The distribution of the values that the rule does not fix."""
        return self.rest or Random(self.vocabulary, self.missing, self.groups)

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that can be violated consistently with pairs and groups."""
        return find_violable(self.theory, self.groups)

    @cached_property
    def table(self) -> Words:
        """The literals of each rule's violation, shape (rules, words)."""
        violations = [find_violation(rule, self.vocabulary) for rule in self.rules]
        return self.literals.table_of(Batch.from_interpretations(violations, self.vocabulary))

    def draw_literals(self, count: int, rng: np.random.Generator) -> Words:
        """The literals that each item must have, shape (literals, count)."""
        return bits.gather_rows((self.table, draw_numbers(len(self.rules), count, rng)))

    def draw_words(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        rows = self.literals.rows_of(self.source.draw(bits.WORD * count, rng))
        return impose_literals(rows, self.draw_literals(count, rng), self.literals)

    def describe(self) -> str:
        """The distribution in words."""
        return f"violations of one of {len(self.rules)} rules, {self.describe_rest()}"

    def describe_rest(self) -> str:
        """The values that the rule does not fix, in words."""
        if self.rest is not None:
            return f"imposed on: {self.rest.describe()}"
        grouped = f", at most one true in each of {len(self.groups)} groups" if self.groups else ""
        return f"the rest random, unknown with probability {percent(self.missing)}{grouped}"


def impose_literals(rows: tuple[Words, Words], must: Words, literals: Literals) -> tuple[Words, Words]:
    """Change the true and the false rows of items so that they have literals, of shape (literals, words).

    Where a variable of a group has to be true, the others of the group become false.
    """
    must_be_true, must_be_false = literals.halves(must)
    free = ~(must_be_true | must_be_false)
    true, false = (own & free for own in rows)
    for members in literals.group_rows:
        moved = true[members] & reduce(or_, must_be_true[members])
        true[members] ^= moved
        false[members] |= moved
    return true | must_be_true, false | must_be_false


def find_violable(theory: HornTheory, groups: Groups = ()) -> tuple[Rule, ...]:
    """The rules that have a pair-consistent violation.

    Trivial rules have none, and neither have rules that contradict themselves, such as
    `v ∧ not_v → ⊥`, or that make two variables of a group true.
    """
    violable = []
    for rule in theory:
        smallest = find_violation(rule, theory.vocabulary)
        crowded = any(len(smallest.true.intersection(group)) > 1 for group in groups)
        if not crowded and not smallest.true & smallest.false:
            violable.append(rule)
    return tuple(violable)


def find_violation(rule: Rule, vocabulary: Vocabulary) -> Interpretation:
    """The smallest violation of a rule: its body true, its head false, and their duals the other way."""
    return interpretation(vocabulary, rule.body, () if isinstance(rule.head, Bottom) else (rule.head,))


def smallest_violations(theory: HornTheory, groups: Groups = ()) -> list[Interpretation]:
    """The smallest pair-consistent violation of every rule that has one."""
    return [find_violation(rule, theory.vocabulary) for rule in find_violable(theory, groups)]


OPEN_UNKNOWN = 0.95
"""The probability that a value which a violated rule of T leaves open is unknown."""


def target_theory(rows: Batch, label: str, conflicts: Literal["refuse", "drop"] = "refuse") -> HornTheory:
    """Build the paper's T: one rule per row, and the disjointness of every pair of duals.

    A row's rule says that its known values together imply its class.

    Parameters
    ----------
    rows
        The rows over a vocabulary with duals, class included.
    label
        The class variable.
    conflicts
        Whether to refuse the rows or drop a rule when a row contradicts the rule of another one
        (at least its known values, and the other class).

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> vocabulary = Vocabulary.with_duals(["fever", "cough", "ill"])
    >>> nan = float("nan")
    >>> rows = Batch.from_array([[1, nan, 1, 0, nan, 0], [0, 1, 0, 1, 0, 1]], vocabulary)
    >>> print(target_theory(rows, "ill"))
    fever → ill
    cough ∧ not_fever → not_ill
    fever ∧ not_fever → ⊥
    cough ∧ not_cough → ⊥
    ill ∧ not_ill → ⊥

    """
    rules = row_rules(rows, label)
    background = HornTheory.background(rows.vocabulary)
    theory = HornTheory(rows.vocabulary, rules) | background
    rejected = np.flatnonzero(~theory.satisfied_by(rows)).tolist()
    if rejected and conflicts == "refuse":
        shown = ", ".join(str(row + 1) for row in rejected[:5]) + (" …" if len(rejected) > 5 else "")
        raise HornbookError(
            f"{len(rejected)} rows ({shown}) contradict the rule of a row of the other class; "
            "use more bins or columns, or conflicts='drop'"
        )
    dropped = set(rejected)
    kept = [rule for position, rule in enumerate(rules) if position not in dropped]
    return HornTheory(rows.vocabulary, kept) | background


def row_rules(rows: Batch, label: str) -> list[Rule]:
    """Return a rule for each row: its known values together imply its class."""
    vocabulary = rows.vocabulary
    classes = (vocabulary.index(label), vocabulary.dual(vocabulary.index(label)))
    if None in vocabulary.duals:
        raise HornbookError("the rule of a row needs the dual of every variable: Binariser.fit(…, dual=True)")
    rules = []
    for number, row in enumerate(rows, 1):
        head = next((v for v in classes if v in row.true), None)
        if head is None:
            raise HornbookError(f"row {number} has no value for the label {label!r}; drop such rows")
        rules.append(Rule(row.true - set(classes), head))
    return rules


def target_questions(theory: HornTheory) -> Mixture:
    """What the paper asks a network about: half violations of T, half random interpretations."""
    return Mixture((Violations(theory, OPEN_UNKNOWN), Random(theory.vocabulary)), (1.0, 1.0))
