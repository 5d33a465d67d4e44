"""Violations of rules imposed on what another distribution draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

import numpy as np

from hornbook.distributions import coins
from hornbook.distributions.literals import Groups, Literals, check_groups
from hornbook.distributions.protocol import Distribution, check_share, draw_in_blocks, percent, rows_of
from hornbook.distributions.stream import Stream
from hornbook.logic import bits
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Words
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import Bottom
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.queries import interpretation


@dataclass(frozen=True)
class Imposed:
    """Items of a distribution in which a random rule is then violated: body true, head false.

    Parameters
    ----------
    theory
        The rules to violate; those that cannot be violated are passed over.
    rest
        Where all other values come from.
    groups
        Sets of variables of which at most one is true: where a rule makes one true, another
        that was true becomes false.
    kept
        The probability that a literal of the violation is imposed; below 1 the rule is missed
        narrowly now and then.
    forgotten
        The probability that another value is made unknown.

    Examples
    --------
    >>> from hornbook.distributions import Rows
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> theory = HornTheory.parse("sunny & happy -> jogging", vocabulary)
    >>> rows = Batch.from_array([[0, 1, 1, 1, 0, 0]], vocabulary)
    >>> Imposed(theory, Rows(rows)).draw(1, np.random.default_rng(0)).to_array()
    array([[1., 1., 0., 0., 0., 1.]])
    >>> print(Imposed(theory, Rows(rows)))
    violations of one of 1 rules, imposed on: 1 real rows as they are

    """

    theory: HornTheory = field(repr=False)
    rest: Distribution
    groups: Groups = ()
    kept: float = 1.0
    forgotten: float = 0.0
    kind: ClassVar[str] = "violation"

    def __post_init__(self) -> None:
        check_share("kept", self.kept)
        check_share("forgotten", self.forgotten)
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
        return violations(self.theory, self.groups)

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def table(self) -> Words:
        """The literals of each violation."""
        return self.literals.table_of(Batch.from_interpretations(self.violations, self.vocabulary))

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        return draw_in_blocks(self, size, rng)

    def drawn_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        true, false = rows_of(self.rest, self.literals, stream)
        demand = bits.gathered((stream.of(self.table), stream.below(len(self.table))))
        if self.kept < 1:
            demand &= coins.biased((len(demand),), self.kept, stream)
        must, must_not = self.literals.halves(demand)
        free = ~(must | must_not)
        if self.forgotten:
            free &= coins.biased((len(free),), 1 - self.forgotten, stream)
        true, false = true & free, false & free
        for group in self.groups:
            rows = np.searchsorted(self.literals.drawn, group)
            moved = true[rows] & reduce(or_, must[rows])
            true[rows] ^= moved
            false[rows] |= moved
        return true | must, false | must_not

    def describe(self) -> str:
        """The distribution in words."""
        missed = f", of each literal {percent(self.kept)}" if self.kept < 1 else ""
        hidden = f", other values made unknown with probability {percent(self.forgotten)}"
        return (
            f"violations of one of {len(self.violations)} rules{missed}"
            f"{hidden if self.forgotten else ''}, imposed on: {self.rest.describe()}"
        )

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {
            "kind": self.kind,
            "rules": len(self.violations),
            "groups": [[self.vocabulary.name(v) for v in group] for group in self.groups],
            "kept": self.kept,
            "forgotten": self.forgotten,
            "rest": self.rest.settings(),
        }

    def __str__(self) -> str:
        return self.describe()


def violations(theory: HornTheory, groups: Groups = ()) -> list[Interpretation]:
    """The smallest violation of every rule, pair-consistent, where there is one.

    There is none of a rule that says nothing, of one that contradicts itself as `v ∧ not_v → ⊥`
    does, and of one that makes two variables of a group true.
    """
    found = []
    for rule in theory:
        head = () if isinstance(rule.head, Bottom) else (rule.head,)
        smallest = interpretation(theory.vocabulary, rule.body, head)
        crowded = any(len(smallest.true.intersection(group)) > 1 for group in groups)
        if not crowded and not smallest.true & smallest.false:
            found.append(smallest)
    return found
