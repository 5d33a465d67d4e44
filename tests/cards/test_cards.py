"""Cards: the theory of a card derives what adding up says, and nothing that is not settled."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.cards.card import Card, Item
from hornbook.cards.compiled import compiled
from hornbook.cards.counting import counting
from hornbook.cards.facts import observed
from hornbook.errors import HornbookError
from hornbook.evaluate import derive_labels
from hornbook.logic import Batch, Vocabulary

NAMES = ("a", "b", "c", "d")


@st.composite
def cards(draw, names=NAMES):
    features = draw(st.sampled_from([Vocabulary(names), Vocabulary.with_duals(names)]))
    variables = st.integers(0, len(features) - 1)
    points = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(any)
    bodies = draw(st.lists(st.frozensets(variables, min_size=1, max_size=3), max_size=5, unique=True))
    items = tuple(Item(body, *draw(points)) for body in bodies)
    return Card(features, "dies", items, draw(st.integers(-12, 12)))


def every(features):
    """Every pair-consistent interpretation of four variables: 3⁴ of them."""
    plain = np.array(list(product([0, 1, np.nan], repeat=len(NAMES))))
    return Batch.from_array(np.hstack([plain, 1 - plain])[:, : len(features)], features)


def added_up(card, row):
    """The score by the definition."""
    score = 0
    for item in card.items:
        values = [row[v] for v in item.body]
        if 0 not in values:
            score += item.points if all(value == 1 for value in values) else item.if_unknown
    return score


@given(cards())
@settings(max_examples=60)
def test_the_theory_of_a_card_derives_what_adding_up_says(card):
    batch, theory = every(card.vocabulary), compiled(card)
    scores = [added_up(card, row) for row in batch.to_array()]
    np.testing.assert_array_equal(card.scores(batch), scores)
    derived = derive_labels(theory, "dies", observed(batch, theory.vocabulary))
    np.testing.assert_array_equal(derived, card.decide(batch))  # never undetermined, never contradictory


def settled(card, seen):
    """The outcomes that are possible where None was not looked at, and those that the theory derives."""
    wholes = np.array(list(product(*([0, 1, np.nan] if value is None else [value] for value in seen))))
    rows = np.hstack([wholes, 1 - wholes])[:, : len(card.vocabulary)]
    possible = set(card.decide(Batch.from_array(rows, card.vocabulary)).tolist())
    theory = compiled(card)
    facts = {
        {0: f"not_{name}", 1: name}.get(value, f"unknown_{name}")
        for name, value in zip(NAMES, seen, strict=False)
        if value is not None
    }
    closed = theory.closure(facts & set(theory.vocabulary.names))
    literals = {True: theory.vocabulary.index("dies"), False: theory.vocabulary.index("not_dies")}
    return possible, {outcome for outcome, literal in literals.items() if literal in closed}


SEEN = st.lists(st.sampled_from([0, 1, np.nan, None]), min_size=3, max_size=3)


@given(cards(NAMES[:3]), SEEN)
@settings(max_examples=100)
def test_what_a_theory_derives_holds_whatever_was_not_looked_at(card, seen):
    possible, derived = settled(card, seen)
    assert not derived or derived == possible


@given(cards(NAMES[:3]), SEEN)
@settings(max_examples=60)
def test_with_a_literal_a_feature_a_theory_derives_all_that_is_settled(card, seen):
    single = {min(item.body) % 3: item for item in card.items if len(item.body) == 1}  # a dual is 3 further
    card = Card(card.vocabulary, "dies", tuple(single.values()), card.threshold)
    possible, derived = settled(card, seen)
    assert derived == (possible if len(possible) == 1 else set())


@pytest.mark.parametrize(
    ("items", "threshold", "seen"),
    [
        # two lines about one feature: the points of both cannot be had
        ((Item(frozenset({0}), 2), Item(frozenset({2}), 2)), 3, [None, 1]),
        # a conjunction of which a literal is unknown is unknown or false, and not true
        ((Item(frozenset({0, 1}), 3, 1),), 2, [None, np.nan]),
    ],
)
def test_a_theory_may_leave_open_what_is_settled(items, threshold, seen):
    card = Card(Vocabulary.with_duals(NAMES[:2]), "dies", items, threshold)
    assert settled(card, seen) == ({False}, set())


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=2), max_size=5),
    st.integers(-1, 30),
    st.data(),
)
@settings(max_examples=200)
def test_counting_reaches_a_goal_iff_the_points_do(worths, goal, data):
    lines = [[(10 * i + j, worth) for j, worth in enumerate(line)] for i, line in enumerate(worths)]
    taken = [data.draw(st.sampled_from([*line, (None, 0)])) for line in lines]
    facts, total = {fact for fact, _ in taken}, sum(worth for _, worth in taken)
    reached = {None}
    steps = list(counting(lines, goal))
    for state, before, fact in steps:  # one pass suffices: the order is one in which rules can fire
        if before in reached and (fact is None or fact in facts):
            reached.add(state)
    assert ((len(lines), goal) in reached) == (total >= goal)
    assert len({state for state, _, _ in steps}) <= max(1, len(lines) * max(goal, 1))


def test_a_large_card_compiles_into_rules_that_stay_few():
    rng = np.random.default_rng(0)
    features = Vocabulary.with_duals([f"x{i}" for i in range(60)])
    points = rng.choice([-3, -2, -1, 1, 2, 3], 60)
    card = Card(
        features, "dies", tuple(Item(frozenset({i}), 2 * int(p), int(p)) for i, p in enumerate(points)), 1
    )
    theory = compiled(card)
    total = 2 * abs(points).sum()
    assert (
        len(theory) < 3 * len(points) * total / 2
    )  # both sides: three rules a concept at most, half of them needed
    values = rng.choice([0, 1, np.nan], (500, 60))
    batch = Batch.from_array(np.hstack([values, 1 - values]), features)
    derived = derive_labels(theory, "dies", observed(batch, theory.vocabulary))
    np.testing.assert_array_equal(derived, card.decide(batch))


def test_the_label_of_a_row_is_explained_by_its_facts():
    features = Vocabulary(["ascites", "obese"])
    card = Card(features, "dies", (Item(frozenset({0, 1}), 2, 1), Item(frozenset({1}), -1)), 1)
    derivation = compiled(card).explain("ascites & obese -> dies")
    assert "ascites_and_obese, because ascites ∧ obese → ascites_and_obese" in str(derivation)
    assert str(card).splitlines() == [
        "true  unknown",
        "  +2       +1  ascites ∧ obese",
        "  −1        0  obese",
        "1 or more → dies, less → not_dies",
    ]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((Item(frozenset(), 1),), "has a literal and points"),
        ((Item(frozenset({0}), 0),), "has a literal and points"),
        ((Item(frozenset({7}), 1),), "outside the card's vocabulary"),
    ],
)
def test_cards_that_make_no_sense_are_refused(items, message):
    with pytest.raises(HornbookError, match=message):
        Card(Vocabulary(["a"]), "dies", items, 1)


def test_the_label_is_not_among_the_features():
    with pytest.raises(HornbookError, match="'dies' is among the features already"):
        compiled(Card(Vocabulary(["dies"]), "dies", (Item(frozenset({0}), 1),), 1))
