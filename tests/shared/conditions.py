"""Conditions of every kind, and a table of every row that they tell apart."""

import math
from itertools import product

import pandas as pd
from hypothesis import strategies as st

from hornbook.conditions import Between, Category, IsTrue, Missing, Threshold

AGES, SEXES, HABITS = [None, 20.0, 30.0, 40.0, 55.5], [None, "f", "m", "x"], [None, "yes", "no"]
EVERY_ROW = pd.DataFrame(list(product(AGES, SEXES, HABITS)), columns=["age", "sex", "smokes"]).astype(
    {"age": float, "sex": object, "smokes": object}
)
RANGES = [(25, 30), (30, 40), (25, 50.5), (20, 25)]

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([25, 30, 40, 50.5]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "m"]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from([("f", "m"), ("m", "x")]), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex", "smokes"]), st.booleans()),
)


def value_of(condition, row):
    """True, False or None, straight from the meaning of a condition."""
    value = row[condition.column]
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    if isinstance(condition, Missing):
        return missing == condition.missing
    if missing:
        return None
    if isinstance(condition, Threshold):
        return (value > condition.cut) == condition.above
    if isinstance(condition, Between):
        return (condition.low < value <= condition.high) == condition.inside
    if isinstance(condition, IsTrue):
        return (value == "yes") == condition.true
    return (value in condition.values) == condition.inside


def rows_of(frame):
    return frame.to_dict("records")
