"""Groups of samples on which explanation and model differ."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbook.explanations import DecisionTree, Split, Threshold, measure_groups, split_groups

columns = st.one_of(
    st.lists(
        st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([1.0, 2.0])), min_size=1, max_size=40
    ),
    st.lists(st.one_of(st.none(), st.sampled_from("abc")), min_size=1, max_size=40),
    st.lists(st.booleans(), min_size=1, max_size=40),
)


@given(columns)
def test_groups_of_a_column_have_every_sample_once(values):
    samples = pd.DataFrame({"x": pd.Series(values)})
    masks = [mask for _, mask in split_groups(samples, "x")]
    assert (np.sum(masks, axis=0) == 1).all()


def test_groups_are_listed_worst_first_with_their_own_share():
    rng = np.random.default_rng(0)
    samples = pd.DataFrame({"age": rng.uniform(0, 100, 2000), "rare": np.r_[np.ones(20), np.zeros(1980)]})
    tree = DecisionTree(("a", "b"), Split(Threshold("age", 50), Split(Threshold("rare", 0.5), 0, 1), 0))
    labels = (samples["age"] > 60).to_numpy().astype(np.intp)  # differs above 50, and on some rare samples
    groups = measure_groups(tree, samples, labels)
    shares = [group.fidelity.estimate for group in groups]
    assert shares == sorted(shares) and shares[0] < 0.7
    low, high = map(float, groups[0].condition.split(" < age ≤ "))
    inside = (samples["age"] > low) & (samples["age"] <= high)
    assert low < 55 < high and groups[0].fidelity.size == inside.sum()
    assert groups[0].fidelity.hits == (tree.decide(samples) == labels)[inside].sum()
    assert not any("rare > " in group.condition for group in groups), "twenty samples are too few"
