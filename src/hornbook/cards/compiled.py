"""A card as a Horn theory, which derives its label exactly where adding up does.

That a value is missing is a fact here, `unknown_v`, beside `v` and `not_v`; one of the three
holds of every feature that was looked at. Points for the label are counted, and points against
it: each by a chain of concepts. Where some features were not looked at, a label follows exactly
if it does whatever they turn out to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from hornbook.cards.card import Card
from hornbook.cards.counting import Line, counting
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary


def compiled(card: Card) -> HornTheory:
    """The rules of a card, over its features, the label, its dual, and the concepts that count.

    Examples
    --------
    >>> from hornbook.cards.card import Item
    >>> features = Vocabulary.with_duals(["ascites", "obese"])
    >>> card = Card(features, "dies", (Item(frozenset({0}), 2, 1), Item(frozenset({1}), 1)), 2)
    >>> theory = compiled(card)
    >>> theory.entails("ascites -> dies"), theory.entails("unknown_ascites & obese -> dies")
    (True, True)
    >>> theory.entails("unknown_ascites -> dies"), theory.entails("unknown_ascites & not_obese -> not_dies")
    (False, True)

    """
    names = _Names(card)
    terms = [names.term(item.body) for item in card.items]
    rules = [rule for term in dict.fromkeys(terms) for rule in _term_rules(names, term)]
    for_label: list[Line] = []
    against: list[Line] = []
    least = most = 0
    for term, item in zip(terms, card.items, strict=True):
        worth = {term.true: item.points, term.unknown: item.if_unknown, term.false: 0}
        low, high = min(worth.values()), max(worth.values())
        least, most = least + low, most + high
        # no fact lowers a count: points are counted above the least that a line can have
        for_label.append([(fact, points - low) for fact, points in worth.items() if points > low])
        against.append([(fact, high - points) for fact, points in worth.items() if points < high])
    rules += _chain(names, for_label, card.threshold - least, card.label, "for")
    rules += _chain(names, against, most - card.threshold + 1, f"not_{card.label}", "against")
    vocabulary = names.vocabulary()
    return HornTheory.background(vocabulary) | HornTheory(vocabulary, rules)


def observed(batch: Batch, vocabulary: Vocabulary) -> Batch:
    """Rows of features over the vocabulary of a theory: what is missing becomes a fact, the rest is unknown.

    Examples
    --------
    >>> vocabulary = Vocabulary(["ascites", "dies", "not_dies", "not_ascites", "unknown_ascites"])
    >>> observed(Batch.from_array([[1], [np.nan]], Vocabulary(["ascites"])), vocabulary).to_array()
    array([[ 1., nan, nan,  0.,  0.],
           [nan, nan, nan, nan,  1.]])

    """
    features = batch.vocabulary
    if vocabulary.names[: len(features)] != features.names:
        raise HornbookError("the vocabulary does not begin with the features of the batch")
    true, false = (np.zeros((len(vocabulary), batch.true.shape[1]), np.uint64) for _ in range(2))
    true[: len(features)], false[: len(features)] = batch.true, batch.false
    for v, name in enumerate(features.names):
        if f"unknown_{name}" in vocabulary:
            row = vocabulary.index(f"unknown_{name}")
            false[row] = batch.true[v] | batch.false[v]
            true[row] = ~false[row]
            bits.clear_spare(true[row : row + 1], len(batch))
        if f"not_{name}" in vocabulary and f"not_{name}" not in features:
            row = vocabulary.index(f"not_{name}")
            true[row], false[row] = batch.false[v], batch.true[v]
    return Batch(vocabulary, true, false, len(batch))


class _Term(NamedTuple):
    """The body of an item, and the facts that say that it is true, false or neither."""

    body: tuple[int, ...]
    true: int
    false: int
    unknown: int


class _Names:
    """A vocabulary that grows: the features, the label and its dual, and what counting needs."""

    def __init__(self, card: Card) -> None:
        self.features = card.vocabulary
        pairs = ((self.features.name(v), self.features.name(w)) for v, w in self.features.pairs)
        self.duals = {**dict(pairs), card.label: f"not_{card.label}"}
        self.index = {name: v for v, name in enumerate(self.features.names)}
        for name in (card.label, f"not_{card.label}"):
            if name in self.index:
                raise HornbookError(f"{name!r} is among the features already; leave the label out of them")
            self.named(name)

    def named(self, name: str) -> int:
        """The variable of this name, made if need be."""
        return self.index.setdefault(name, len(self.index))

    def term(self, body: frozenset[int]) -> _Term:
        """The facts about a body: of a single literal those of its variable."""
        if len(body) > 1:
            name = "_and_".join(self.features.named(body))
            self.duals[name] = f"not_all_of_{name}"  # not_a_and_b would be not_a and b
            facts = (self.named(prefix + name) for prefix in ("", "not_all_of_", "unknown_"))
            return _Term(tuple(sorted(body)), *facts)
        (v,) = body
        dual = self.features.dual(v)
        if dual is None:
            self.duals[self.features.name(v)] = f"not_{self.features.name(v)}"
            dual = self.named(f"not_{self.features.name(v)}")
            first = v
        else:
            first = min(v, dual)
        return _Term((v,), v, dual, self.named(f"unknown_{self.features.name(first)}"))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.index, self.duals)


def _term_rules(names: _Names, term: _Term) -> Iterator[Rule]:
    """What a term's three facts exclude, and how those of a conjunction follow from its literals."""
    yield Rule({term.true, term.unknown}, BOTTOM)
    yield Rule({term.false, term.unknown}, BOTTOM)
    if len(term.body) == 1:
        return
    literals = [names.term(frozenset({v})) for v in term.body]
    for literal in literals:
        yield from _term_rules(names, literal)
        yield Rule({literal.false}, term.false)
    for facts in product(*((literal.true, literal.unknown) for literal in literals)):
        yield Rule(facts, term.true if facts == term.body else term.unknown)


def _chain(names: _Names, lines: list[Line], goal: int, head: str, kind: str) -> Iterator[Rule]:
    """The rules that count up to a goal."""
    last = (len(lines), goal)

    def concept(state: tuple[int, int]) -> int:
        return names.named(head if state == last else f"{kind}_{state[0]}_{state[1]}")

    for state, before, fact in counting(lines, goal):
        body = {*(() if before is None else (concept(before),)), *(() if fact is None else (fact,))}
        yield Rule(body, concept(state))
