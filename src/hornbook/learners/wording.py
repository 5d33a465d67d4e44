"""Rules as terms and back: a rule rejects what has its body and the literal that says its head is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hornbook.learners.body import Term
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule
from hornbook.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Wording:
    """How terms over a vocabulary are worded as rules with some heads, the preferred first.

    Examples
    --------
    >>> vocabulary = Vocabulary(["rain", "wet"])
    >>> wording = Wording.of(vocabulary, None)
    >>> term = wording.term(Rule({0}, 1))
    >>> term.tolist(), wording.rule(term) == Rule({0}, 1)
    ([0, 3], True)

    """

    vocabulary: Vocabulary
    heads: tuple[Head, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary, heads: Sequence[Head] | None) -> Wording:
        """With the heads given, or with ⊥ and every variable without a dual."""
        # a variable with a dual need not be a head: what it would say, its dual says in a body
        unpaired = (v for v, dual in enumerate(vocabulary.duals) if dual is None)
        return cls(vocabulary, (BOTTOM, *unpaired) if heads is None else tuple(heads))

    def zero(self, head: Head) -> tuple[int, ...]:
        """The literal that says that a head is false, its dual if it has one; none for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.vocabulary.dual(head)
        return (len(self.vocabulary) + head if dual is None else dual,)

    def rule(self, term: Term) -> Rule:
        """The rule that rejects what meets the term, with the preferred head that it allows."""
        body = set(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self.zero(head)):
                return Rule(body.difference(self.zero(head)), head)
        return Rule(body, BOTTOM)

    def term(self, rule: Rule) -> Term:
        """What an item must have for the rule to reject it."""
        return np.array(sorted({*rule.body, *self.zero(rule.head)}), np.intp)
