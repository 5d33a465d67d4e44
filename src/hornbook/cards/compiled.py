"""A card as a Horn theory that adds up.

Points for the label are counted, and points against it: each by a chain of concepts, from the
facts of `facts.py`. What is guaranteed depends on how many features were looked at, so that
one of `v`, `not_v` and `unknown_v` is a fact.

- All of them: the theory derives the label where adding up reaches the threshold, its dual
  elsewhere, and never both.
- Some of them: what the theory derives is right whatever the others turn out to be. The converse
  holds if every line has one literal and no two lines speak of the same feature. Otherwise a
  label may be left open that is settled: the chain adds up what each line can give at most,
  though two lines about one feature cannot both give it, and of a conjunction it knows that it
  is true, false or unknown, but not that it is one of two.
"""

from __future__ import annotations

from collections.abc import Iterator

from hornbook.cards.card import Card
from hornbook.cards.counting import Line, counting
from hornbook.cards.facts import Facts, exclusions
from hornbook.logic import HornTheory, Rule


def compiled(card: Card) -> HornTheory:
    """The rules of a card, over its features, the label, its dual, and the concepts that count.

    Examples
    --------
    >>> from hornbook.cards.card import Item
    >>> from hornbook.logic import Vocabulary
    >>> features = Vocabulary.with_duals(["ascites", "obese"])
    >>> card = Card(features, "dies", (Item(frozenset({0}), 2, 1), Item(frozenset({1}), 1)), 2)
    >>> theory = compiled(card)
    >>> theory.entails("ascites -> dies"), theory.entails("unknown_ascites & obese -> dies")
    (True, True)
    >>> theory.entails("unknown_ascites -> dies"), theory.entails("unknown_ascites & not_obese -> not_dies")
    (False, True)

    """
    facts = Facts(card.vocabulary, card.label)
    terms = [facts.about(item.body) for item in card.items]
    rules = [rule for term in dict.fromkeys(terms) for rule in exclusions(facts, term)]
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
    rules += _chain(facts, for_label, card.threshold - least, facts.label, "for")
    rules += _chain(facts, against, most - card.threshold + 1, facts.negation, "against")
    vocabulary = facts.vocabulary()
    return HornTheory.background(vocabulary) | HornTheory(vocabulary, rules)


def _chain(facts: Facts, lines: list[Line], goal: int, head: int, kind: str) -> Iterator[Rule]:
    """The rules that count up to a goal."""
    last = (len(lines), goal)

    def concept(state: tuple[int, int]) -> int:
        return head if state == last else facts.concept(f"{kind}_{state[0]}_{state[1]}")

    for state, before, fact in counting(lines, goal):
        body = {*(() if before is None else (concept(before),)), *(() if fact is None else (fact,))}
        yield Rule(body, concept(state))
