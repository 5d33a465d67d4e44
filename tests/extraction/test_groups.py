"""Groups of samples on which explanation and model differ."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbook.conditions import Threshold
from hornbook.explanations import DecisionTree, Split
from hornbook.extraction import list_groups, measure_groups

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
    groups = [body for _, body in list_groups(samples, "x")]
    masks = [np.logical_and.reduce([one.evaluate(samples)[0] for one in body]) for body in groups]
    assert (np.sum(masks, axis=0) == 1).all()


def test_groups_are_listed_worst_first_with_their_own_share():
    rng = np.random.default_rng(0)
    samples = pd.DataFrame({"age": rng.uniform(0, 100, 2000), "rare": np.r_[np.ones(20), np.zeros(1980)]})
    tree = DecisionTree(("a", "b"), Split(Threshold("age", 50), Split(Threshold("rare", 0.5), 0, 1), 0))
    labels = (samples["age"] > 60).to_numpy().astype(np.intp)  # differs above 50, and on some rare samples
    groups = measure_groups(tree, samples, labels)
    assert groups[0].fidelity.estimate < 0.7
    low, high = map(float, groups[0].condition.split(" < age ≤ "))
    inside = (samples["age"] > low) & (samples["age"] <= high) & (samples.index % 2 == 1)
    assert low < 55 < high and groups[0].fidelity.size == inside.sum()
    assert groups[0].fidelity.hits == (tree.decide(samples) == labels)[inside].sum()
    assert not any("rare > " in group.condition for group in groups), "twenty samples are too few"


def test_the_worst_groups_are_measured_on_samples_that_did_not_choose_them():
    """Errors fall on all samples alike, so that every group is as faithful as all: none looks worse."""
    rng, worst = np.random.default_rng(0), []
    for _ in range(20):
        samples = pd.DataFrame(rng.uniform(size=(800, 3)), columns=list("abc"))
        tree = DecisionTree(
            ("no", "yes"),
            Split(Threshold("a", 2), 0, Split(Threshold("b", 2), 0, Split(Threshold("c", 2), 0, 0))),
        )
        labels = (rng.random(800) < 0.2).astype(np.intp)
        groups = measure_groups(tree, samples, labels)
        worst.append(groups[0].fidelity)
    assert sum(share.low <= 0.8 <= share.high for share in worst) >= 18  # 17 and fewer are 1 in 40 cases
    assert abs(np.mean([share.estimate for share in worst]) - 0.8) < 0.03
