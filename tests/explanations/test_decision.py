"""What would change an explanation's decision, held against all rows that it tells apart."""

from itertools import product

import pandas as pd
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st

from hornbook.conditions import Category, Missing, Threshold, meet_conditions
from hornbook.explanations import explain_row
from hornbook.explanations.decision import find_change
from hornbook.explanations.tree import DecisionTree, Split

CUTS = (20.0, 40.0, 60.0)
AGES, SEXES = (None, 10.0, 30.0, 50.0, 70.0), (None, "f", "m", "x", "another")
ROWS = pd.DataFrame(list(product(AGES, SEXES)), columns=["age", "sex"]).astype({"age": float, "sex": object})

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from(CUTS), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "m", "x", ("f", "m")]), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex"]), st.booleans()),
)


def measure(explanation, row, other):
    """The columns that two rows differ in, and the thresholds of the explanation between them."""
    cuts = {cut for condition in explanation.conditions for cut in condition.cuts}
    columns, length = set(), 0
    for name in explanation.columns:
        old, new = row[name], other[name]
        if old == new or (pd.isna(old) and pd.isna(new)):
            continue
        numbers = name == "age" and not pd.isna(old) and not pd.isna(new)
        steps = sum(min(old, new) <= cut < max(old, new) for cut in cuts) if numbers else 1
        columns |= {name} if steps else set()
        length += steps
    return len(columns), length


@given(random_explanations(conditions, "abcd"), st.integers(0, len(ROWS) - 1))
def test_a_change_is_the_smallest_and_does_what_it_says_wherever_it_holds(explanation, number):
    row = ROWS.iloc[number]
    decided = explanation.decide(ROWS)
    change, other = find_change(explanation, ROWS.iloc[[number]].reset_index(drop=True), int(decided[number]))
    reachable = [
        measure(explanation, row, ROWS.iloc[new])
        for new in range(len(ROWS))
        if decided[new] != decided[number] and mentions_enough(explanation, row, ROWS.iloc[new])
    ]
    assert bool(change) == bool(reachable)
    if not change:
        return
    columns = {condition.column for condition in change}
    kept = [name for name in ROWS if name not in columns]
    same = pd.Series(True, index=ROWS.index)
    for name in kept:
        same &= ROWS[name].eq(row[name]) | (ROWS[name].isna() & pd.isna(row[name]))
    met = meet_conditions(change, ROWS) & same.to_numpy()
    assert met.any() and (decided[met] == other).all()
    nearest = min(measure(explanation, row, ROWS.iloc[new]) for new in met.nonzero()[0])
    assert nearest == min(reachable)


@given(random_explanations(conditions, "abcd"))
def test_reasons_are_in_positive_words_and_say_of_each_column_one_thing(explanation):
    for reason in explanation.explain_rows(ROWS):
        assert not any("not (" in fact for fact in reason.facts)
        spoken = [name for fact in reason.facts for name in explanation.columns if name in fact]
        assert explanation.form == "card" or len(spoken) == len(set(spoken)), reason.facts


def mentions_enough(explanation, row, other):
    """Whether the rows differ only in what the explanation names: missing only where it asks for that."""
    asks = {each.column for each in explanation.conditions if isinstance(each, Missing)}
    names = {each.column for each in explanation.conditions if not isinstance(each, Missing)}
    for name in row.index:
        was_missing, is_missing = pd.isna(row[name]), pd.isna(other[name])
        differs = row[name] != other[name] and not (was_missing and is_missing)
        if differs and name not in (asks if is_missing else names):
            return False
    return True


def test_a_range_that_suffices_is_said_and_not_the_farthest_one():
    nested = Split(Threshold("plasma", 60), Split(Threshold("plasma", 28), 0, 0), 0)
    tree = DecisionTree(("no", "yes"), Split(Threshold("plasma", 100), 1, nested))
    assert explain_row(tree, {"plasma": 120.0}).change == ("plasma ≤ 100",)
    tree = DecisionTree(
        ("no", "yes"), Split(Threshold("plasma", 60), 1, Split(Threshold("plasma", 28), 0, 1))
    )
    assert explain_row(tree, {"plasma": 120.0}).change == ("28 < plasma ≤ 60",)
