"""Groups of samples on which explanation and model differ."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbook.extraction import list_groups

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
