"""A tree as a Horn theory that asks.

That a case comes to a question is a concept. It follows from having come to the question before
and the fact that answers that one: the literal is true, or it is false, or it is unknown. So an
upper question, which rules would repeat, is asked once.

Where every question on the way of a case was looked at, the theory derives what the tree answers,
and never both labels. Where one was not, neither follows, even if the tree answers the same
whatever it turns out to be.
"""

from __future__ import annotations

from hornbook.cards.facts import Facts, exclusions
from hornbook.logic import HornTheory, Rule
from hornbook.trees.tree import Node, Split, Tree


def compiled(tree: Tree) -> HornTheory:
    """The rules of a tree, over its features, the label, its dual, and a concept for each inner question.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> features = Vocabulary.with_duals(["ascites", "obese"])
    >>> theory = compiled(Tree(features, "dies", Split(0, Split(1, True, False), False)))
    >>> print(HornTheory(theory.vocabulary, [rule for rule in theory if rule.head in range(4, 99)]))
    ascites → asked_2
    not_ascites → not_dies
    unknown_ascites → not_dies
    obese ∧ asked_2 → dies
    not_obese ∧ asked_2 → not_dies
    unknown_obese ∧ asked_2 → not_dies

    """
    facts = Facts(tree.vocabulary, tree.label)
    questions = {split: number for number, split in enumerate(dict.fromkeys(tree.splits()), 1)}
    terms = {split: facts.about(frozenset({split.literal})) for split in questions}

    def comes_to(node: Node) -> int:
        if isinstance(node, Split):
            return facts.concept(f"asked_{questions[node]}")
        return facts.label if node else facts.negation

    rules = [rule for term in dict.fromkeys(terms.values()) for rule in exclusions(facts, term)]
    for split, term in terms.items():
        asked = set() if split == tree.root else {comes_to(split)}
        rules.append(Rule({*asked, term.true}, comes_to(split.yes)))
        rules += [Rule({*asked, fact}, comes_to(split.no)) for fact in (term.false, term.unknown)]
    vocabulary = facts.vocabulary()
    return HornTheory.background(vocabulary) | HornTheory(vocabulary, rules)
