"""Score cards as people know them: points grouped by column."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbook.explanations import CardLine, Category, CategorySet, Missing, RuleSet, ScoreCard, Threshold

ROWS = pd.DataFrame(
    list(product([None, 40.0, 45.0, 50.0, 60.0, 70.0], [None, "f", "m", "x", "y"])), columns=["age", "sex"]
).astype({"age": float, "sex": object})

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([40.0, 50.0, 60.0]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "m"]), st.booleans()),
    st.builds(CategorySet, st.just("sex"), st.sampled_from([("f", "m"), ("m", "x")]), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex"]), st.booleans()),
)


@st.composite
def cards(draw):
    sums = draw(st.sampled_from([1, 3]))
    points = st.tuples(*[st.integers(-4, 4)] * sums)
    bodies = st.lists(conditions, min_size=1, max_size=3).map(tuple)
    lines = st.lists(
        st.builds(CardLine, bodies, points, points),
        max_size=5,
        unique_by=lambda line: (line.body[:-1], frozenset({line.body[-1], line.body[-1].negate()})),
    )
    return ScoreCard(tuple("ab" if sums == 1 else "abc"), tuple(draw(lines)), draw(points))


@given(cards())
def test_score_card_grouped_by_column_adds_up_to_the_score(card):
    conditions = {str(each): each for each in card.conditions}
    conditions |= {f"{name} is missing": Missing(name) for name in ROWS}
    sums = np.tile(card.base, (len(ROWS), 1))
    for group in card.group_points():
        masks = [read_words(group, words, conditions) for words, _ in group.rows]
        assert not group.title or (np.sum(masks, axis=0) <= 1).all(), "a value is in one range"
        for mask, (_, cells) in zip(masks, group.rows, strict=True):
            sums[mask] += [int(cell.replace("−", "-")) for cell in cells]
    assert (sums == card.score(ROWS)).all()


@given(cards())
def test_score_card_names_no_two_neighbouring_ranges_with_the_same_points(card):
    for group in card.group_points():
        ranges = [cells for words, cells in group.rows if words.startswith((">", "≤"))]
        assert all(one != other for one, other in pairwise(ranges))


def test_explanations_without_points_have_no_groups():
    assert RuleSet(("a", "b"), (), 0).group_points() == ()


def read_words(group, words, conditions):
    """The rows that a person who reads the words takes them to be about."""
    if not group.title:
        return np.all([conditions[part].evaluate(ROWS)[0] for part in words.split(" and ")], axis=0)
    values = ROWS[group.title]
    if words == "missing":
        return values.isna().to_numpy()
    if words.startswith((">", "≤")):
        signs = {">": pd.Series.gt, "≤": pd.Series.le}
        return np.all([signs[part[0]](values, float(part[1:])) for part in words.split(" and ")], axis=0)
    named = values.isin([value for w, _ in group.rows for value in w.split(", ")])
    return (~named & values.notna() if words == "any other" else values.isin(words.split(", "))).to_numpy(
        bool
    )
