"""A theory that answers: which class follows from what is known, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hornbook.answers.explanation import Explanation, explain
from hornbook.cards import Card, compiled, observed
from hornbook.data.dual import exclusivity
from hornbook.distributions.literals import Groups
from hornbook.logic import bits
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.rule import Rule
from hornbook.logic.syntax import quote
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary

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
    card
        The score that the rules count, if they do.
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
    card: Card | None = None
    parts: tuple[Answers, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)

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

    def counting(self, card: Card) -> Answers:
        """The same labels, decided by a card: the rules are those that count its points."""
        counted = compiled(card)
        known = self.background.over(counted.vocabulary)
        return replace(self, theory=known | counted, background=known, card=card)

    def uncounted(self) -> Answers:
        """Without a card and what it takes to count it: the background over features and label."""
        if self.card is None:
            return self
        width = len(self.card.vocabulary) + 2
        names = self.theory.vocabulary.names[:width]
        pairs = ((v, w) for v, w in self.theory.vocabulary.pairs if w < width)
        plain = HornTheory(Vocabulary(names, {names[v]: names[w] for v, w in pairs}), self.background)
        return Answers(plain, plain, self.labels, self.default)

    def of(self, items: Batch) -> NDArray[np.int8]:
        """The class that follows for each item, -1 where none does or more than one."""
        if not self.labels:
            return self.theory.satisfied_by(observed(items, self.theory.vocabulary)).astype(np.int8)
        if self.card is not None:
            return self.card.decide(items).astype(np.int8)
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
        if self.card is not None:
            decided = self.card.decide(items)
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
        return explained if self.card is None else replace(explained, scored=tuple(self._scored(facts)))

    def _seen(self, facts: Interpretation) -> Interpretation:
        """The facts, and for a card what is missing, which is a fact too."""
        if self.card is None:
            return facts
        return observed(Batch.from_interpretations([facts], self.card.vocabulary), self.theory.vocabulary)[0]

    def _scored(self, facts: Interpretation) -> Iterator[str]:
        """The lines of the card that give points for these facts, and the total."""
        assert self.card is not None
        for item in self.card.items:
            words = " ∧ ".join(map(quote, self.card.vocabulary.named(item.body)))
            if item.body <= facts.true:
                yield f"{item.points:+d}  {words}"
            elif item.if_unknown and not item.body & facts.false:
                yield f"{item.if_unknown:+d}  {words} (unknown)"
        (score,) = self.card.scores(Batch.from_interpretations([facts], self.card.vocabulary))
        side = "reaches" if score >= self.card.threshold else "stays below"
        yield f"in all {score:g}, which {side} {self.card.threshold:g}"


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
        duals |= {theory.vocabulary.name(v): theory.vocabulary.name(w) for v, w in theory.vocabulary.pairs}
    whole = HornTheory(Vocabulary(names, duals))
    for theory in theories:
        whole |= theory
    return whole | exclusivity(whole.vocabulary, (tuple(map(whole.vocabulary.index, labels)),))
