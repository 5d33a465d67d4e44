"""A theory that answers: which class follows from what is known, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hornbook.cards.facts import observed
from hornbook.data.conditions import exclusivity_rules
from hornbook.deciders import Decider, compiled
from hornbook.distributions import Groups
from hornbook.explain.explanation import Explanation, explain
from hornbook.logic import Batch, HornTheory, Interpretation, Rule, Vocabulary, bits

FREE = -1
"""The answer of a model, or of rules, that leave it open."""


@dataclass(frozen=True)
class Answers:
    """Rules about labels, or about what is accepted.

    Classes are numbers here. Those of one label are 0 for false and 1 for true, and so are
    rejecting and accepting; several labels are the classes in their order.

    Parameters
    ----------
    theory, background
        All rules, and those among them that always hold. The features come first in their
        vocabulary.
    labels
        The variables that are decided: one for two classes, one a class for more, none for
        rules about what is accepted.
    default
        The class that is assumed where the rules say nothing; -1 for none.
    decider
        The card or tree that the rules decide by, if they do.
    parts
        For several labels, the rules about each, with a default of its own: its class, or not.

    Examples
    --------
    >>> theory = HornTheory.parse("fever -> ill", Vocabulary.with_duals(["fever", "ill"]))
    >>> rules = Answers(theory, HornTheory.background(theory.vocabulary), ("ill",), default=0)
    >>> rules.of(Batch.from_array([[1], [0]], Vocabulary(["fever"])))
    array([ 1, -1], dtype=int8)

    """

    theory: HornTheory
    background: HornTheory
    labels: tuple[str, ...] = ()
    default: int = FREE
    decider: Decider | None = None
    parts: tuple[Answers, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)

    @property
    def readable(self) -> tuple[Rule, ...]:
        """The rules that a person reads: those that count for a card or ask for a tree are for machines."""
        return self.rules if self.decider is None else ()

    @property
    def lines(self) -> int:
        """How many rules there are to read, or lines of a card, or answers of a tree."""
        return len(self.rules) if self.decider is None else self.decider.lines

    @property
    def to_read(self) -> int:
        """How many literals there are to read, heads aside."""
        return sum(len(rule.body) for rule in self.rules) if self.decider is None else self.decider.literals

    @property
    def literals(self) -> tuple[str, ...]:
        """What stands for each class: for one label its dual and itself."""
        vocabulary = self.theory.vocabulary
        if len(self.labels) != 1:
            return self.labels
        dual = vocabulary.dual(vocabulary.index(self.labels[0]))
        return (*(() if dual is None else (vocabulary.name(dual),)), *self.labels)

    @property
    def features(self) -> Vocabulary:
        """All variables but one label and its dual, and what follows them."""
        names = self.theory.vocabulary.names
        count = names.index(self.labels[0]) if self.labels else len(names)
        pairs = ((v, w) for v, w in self.theory.vocabulary.pairs if w < count)
        return Vocabulary(names[:count], {names[v]: names[w] for v, w in pairs})

    def by(self, decider: Decider) -> Answers:
        """The same labels, decided by a card or a tree: the rules are those that count or ask."""
        deciding = compiled(decider)
        known = self.background.over(deciding.vocabulary)
        return replace(self, theory=known | deciding, background=known, decider=decider)

    def plain(self) -> Answers:
        """Without a card or tree and the concepts it takes: the background over features and label."""
        if self.decider is None:
            return self
        width = len(self.decider.vocabulary) + 2
        names = self.theory.vocabulary.names[:width]
        pairs = ((v, w) for v, w in self.theory.vocabulary.pairs if w < width)
        plain = HornTheory(Vocabulary(names, {names[v]: names[w] for v, w in pairs}), self.background)
        return Answers(plain, plain, self.labels, self.default)

    def of(self, items: Batch) -> NDArray[np.int8]:
        """The class that follows for each item, -1 where none does or more than one."""
        if not self.labels:
            return self.theory.satisfied_by(observed(items, self.theory.vocabulary)).astype(np.int8)
        if self.decider is not None:
            return self.decider.decide(items).astype(np.int8)
        follows = self.following(items)
        return np.where(follows.sum(axis=1) == 1, follows.argmax(axis=1), FREE).astype(np.int8)

    def filled(self, items: Batch) -> NDArray[np.int8]:
        """The class of each item, by default where none follows."""
        answered = self.of(items)
        return np.where(answered == FREE, np.int8(self.default), answered)

    def following(self, items: Batch) -> NDArray[np.bool_]:
        """For each item and class, whether it follows; two in a row are a conflict.

        Of several labels one follows if the rules about it say so, or its own default does.
        """
        if self.parts:
            return np.stack([part.filled(items) == 1 for part in self.parts], axis=1)
        if self.decider is not None:
            decided = self.decider.decide(items)
            return np.stack([~decided, decided], axis=1)
        items = observed(items, self.theory.vocabulary)
        closed, _ = self.theory.program.close_batch(items)
        rows = [bits.flat(closed[self.theory.vocabulary.index(name)], len(items)) for name in self.literals]
        return np.array(rows).T

    def fired(self, items: Batch) -> NDArray[np.bool_]:
        """For each item and rule, whether the body follows from what is known of the item."""
        closed, _ = self.theory.program.close_batch(observed(items, self.theory.vocabulary))
        found = np.ones((len(self.rules), len(items)), np.bool_)
        for row, rule in zip(found, self.rules, strict=True):
            for v in rule.body:
                row &= bits.flat(closed[v], len(items))
        return found.T

    def explain(self, facts: Interpretation, groups: Groups = ()) -> Explanation:
        """Why the rules say what they say of these facts."""
        vocabulary = self.theory.vocabulary
        if self.parts:
            said = int(self.of(Batch.from_interpretations([facts], self.parts[0].features))[0])
            if said != FREE:
                return self.parts[said].explain(facts, groups)
        labels = [] if self.parts else [vocabulary.index(name) for name in self.literals]
        duals = [dual for v in labels if (dual := vocabulary.dual(v)) is not None and dual not in labels]
        assumed = self.literals[self.default] if self.default != FREE and self.labels else None
        explained = explain(self.theory, self._seen(facts), [*labels, *duals], groups, assumed)
        if self.decider is None:
            return explained
        return replace(explained, reasons=tuple(self.decider.reasons(facts)))

    def _seen(self, facts: Interpretation) -> Interpretation:
        """The facts, and for a card or tree what is missing, which is a fact too."""
        if self.decider is None:
            return facts
        known = Batch.from_interpretations([facts], self.decider.vocabulary)
        return observed(known, self.theory.vocabulary)[0]


def united(theories: Sequence[HornTheory], labels: Sequence[str]) -> HornTheory:
    """The rules of several theories over one vocabulary, and that at most one of the labels is true.

    Examples
    --------
    >>> theories = [HornTheory.parse(f"petal -> {name}") for name in ("setosa", "virginica")]
    >>> print(united(theories, ["setosa", "virginica"]))
    petal → setosa
    petal → virginica
    setosa ∧ virginica → ⊥

    """
    if len(theories) == 1:
        return theories[0]
    names: dict[str, None] = {}
    duals: dict[str, str] = {}
    for theory in theories:
        names |= dict.fromkeys(theory.vocabulary)
        duals |= theory.vocabulary.dual_names
    whole = HornTheory(Vocabulary(names, duals))
    for theory in theories:
        whole |= theory
    return whole | exclusivity_rules(whole.vocabulary, (tuple(map(whole.vocabulary.index, labels)),))
