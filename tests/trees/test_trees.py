"""Trees: their theory derives what asking says, and no tree that was come across is better than the best."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.cards.facts import observed
from hornbook.errors import HornbookError
from hornbook.evaluate import derive_labels
from hornbook.learners import splits
from hornbook.learners.splits import Search, trees
from hornbook.logic import BOTTOM, Batch, Interpretation, Vocabulary, syntax
from hornbook.trees.compiled import compiled
from hornbook.trees.tree import Split, Tree

NAMES = ["ascites", "obese", "asked_2"]  # as a concept of the tree would be called


@st.composite
def grown(draw, width, depth=3):
    if depth and draw(st.booleans()):
        literal = draw(st.integers(0, width - 1))
        return Split(literal, draw(grown(width, depth - 1)), draw(grown(width, depth - 1)))
    return draw(st.booleans())


@st.composite
def drawn_trees(draw):
    features = draw(st.sampled_from([Vocabulary(NAMES), Vocabulary.with_duals(NAMES)]))
    root = Split(0, draw(grown(len(features))), draw(grown(len(features))))
    return Tree(features, "dies", root)


def every(features):
    rows = np.array(list(product([0, 1, np.nan], repeat=len(NAMES))))
    return Batch.from_array(np.hstack([rows, 1 - rows])[:, : len(features)], features)


def asked(tree, row):
    """The readable version: one question after the other."""
    node = tree.root
    while isinstance(node, Split):
        node = node.yes if row[node.literal] == 1 else node.no
    return node


@given(drawn_trees())
@settings(max_examples=60)
def test_the_theory_of_a_tree_derives_what_asking_says(tree):
    batch, theory = every(tree.vocabulary), compiled(tree)
    answers = [asked(tree, row) for row in batch.to_array()]
    np.testing.assert_array_equal(tree.decide(batch), answers)
    derived = derive_labels(theory, "dies", observed(batch, theory.vocabulary))
    np.testing.assert_array_equal(derived, answers)  # never undetermined, never contradictory


@given(drawn_trees())
@settings(max_examples=40)
def test_a_tree_is_read_line_by_line_and_has_as_many_literals_as_questions(tree):
    for row, facts in zip(every(tree.vocabulary).to_array(), every(tree.vocabulary), strict=True):
        lines = list(tree.steps())
        assert len([line for line in lines if line.literal is not None]) == tree.literals
        assert len([line for line in lines if line.answer is not None]) == tree.lines == tree.literals + 1
        at = depth = 0
        while True:  # as the page tells a reader to
            line = lines[at]
            if line.literal is None or row[line.literal] == 1:
                if line.answer is not None:
                    break
                at, depth = at + 1, depth + 1
            else:
                at += 1
                while lines[at].depth > depth:
                    at += 1
                assert lines[at].otherwise
        assert line.answer == asked(tree, row)
        assert len(list(tree.reasons(facts))) <= tree.literals
    assert Tree.from_object(tree.to_object(), tree.vocabulary) == tree


def test_a_derivation_asks_the_questions_on_the_way():
    features = Vocabulary.with_duals(["ascites", "obese"])
    tree = Tree(features, "dies", Split(0, Split(3, True, False), False))
    derivation = compiled(tree).explain("ascites & not_obese -> dies")
    texts = [syntax.rule_text(compiled(tree).vocabulary, rule, syntax.UNICODE) for rule in derivation.steps]
    assert texts == ["ascites → asked_2", "not_obese ∧ asked_2 → dies"]
    facts = Interpretation(frozenset({0}), frozenset({2}))
    assert list(tree.reasons(facts)) == ["ascites? yes", "not_obese? unknown, so not true"]


def test_no_question_is_asked_twice_where_the_same_follows():
    features = Vocabulary(["a", "b", "c"])
    same = Split(2, True, False)
    theory = compiled(Tree(features, "dies", Split(0, same, Split(1, same, False))))
    asked_about = [rule for rule in theory if features.index("c") in rule.body and rule.head is not BOTTOM]
    assert len(asked_about) == 1


@pytest.mark.parametrize(
    ("root", "message"), [(True, "a tree asks something"), (Split(7, True, False), "7 is no variable")]
)
def test_a_tree_that_is_none_is_refused(root, message):
    with pytest.raises(HornbookError, match=message):
        Tree(Vocabulary(["a"]), "dies", root)


def best_by_trying(true, labels, size):
    """How many samples the best of all trees with so many splits gets right."""
    leaf = max(int(labels.sum()), len(labels) - int(labels.sum()))
    if not size:
        return leaf
    best = leaf
    for column in true.T:
        for left in range(size):
            sides = best_by_trying(true[column], labels[column], left)
            best = max(best, sides + best_by_trying(true[~column], labels[~column], size - 1 - left))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_with_every_literal_tried_the_tree_of_each_size_is_the_best_there_is(seed, monkeypatch):
    features = Vocabulary(list("abcd"))
    monkeypatch.setattr(splits, "SIZES", (1, 2))
    monkeypatch.setattr(splits, "SEARCHES", (Search(1 << 10, 0.0, choices=(3, 3, 3), large=0.0),))
    rng = np.random.default_rng(seed)
    batch = Batch.from_array(rng.choice([0, 1, np.nan], (300, 4)), features)
    true = batch.to_array() == 1
    labels = (true[:, 0] ^ true[:, 1]) | (rng.random(300) < 0.2)
    found = {
        tree.literals: int((tree.decide(batch) == labels).sum()) for tree in trees(batch, labels, "ill", 3)
    }
    for size, right in found.items():
        assert right == best_by_trying(true, labels, size)


def test_trees_grow_more_faithful_and_agree_with_scikit_learn_where_no_literal_is_tried_instead(monkeypatch):
    from sklearn.tree import DecisionTreeClassifier

    features = Vocabulary([f"x{i}" for i in range(8)])
    monkeypatch.setattr(splits, "SEARCHES", (Search(1 << 12, 0.0),))
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (4000, 8))
    labels = np.where(values[:, 0], values[:, 1] & values[:, 2], values[:, 3] | values[:, 4]).astype(bool)
    labels ^= rng.random(4000) < 0.1
    batch = Batch.from_array(values, features)
    found = {tree.literals: (tree.decide(batch) == labels).mean() for tree in trees(batch, labels, "ill", 60)}
    assert list(found) == sorted(found) and list(found.values()) == sorted(found.values())
    for size, share in found.items():  # the best pruning is at least as good as growing so far and no further
        peer = DecisionTreeClassifier(max_leaf_nodes=size + 1, random_state=0).fit(values, labels)
        assert share >= peer.score(values, labels) - 1e-9
