"""Columns may have the names that Python and pandas have for their own."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb

NAMES = ["self", "index", "columns", "class"]


def test_every_question_takes_columns_called_self_and_index():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 6, (200, 4)), columns=NAMES)
    labels = (rows["self"] + rows["index"] > 5).to_numpy()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, labels)
    boosting = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(rows, labels)
    assert "self" in str(hb.Explainer(boosting, rows).extract(max_literals=4, n_samples=500))
    explainer = hb.Explainer(tree, rows)
    assert "self" in str(explainer.why(rows.iloc[0]))
    assert "self" in str(explainer.diff(boosting, n_samples=500))
    claims = (
        "self > 4 & index > 4 -> class 1\nindex > 4 & self <= 0 -> class 1\nmore self never lowers class 1"
    )
    assert [each.broken for each in explainer.check(claims, samples=1000)] == [False, True, False]


def test_rows_of_columns_that_have_numbers_for_names_are_asked_about_as_they_are():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 6, (120, 3)), columns=[10, 20, 30])

    def model(given):
        assert given.columns.tolist() == [10, 20, 30]
        return np.where(given[20] > 2, "high", "low")

    explainer = hb.Explainer(model, rows)
    extraction = explainer.extract(n_samples=300)
    assert (extraction.predict(rows) == model(rows)).all()
    for row in (rows.iloc[5], rows.iloc[[5]], rows.iloc[5].tolist(), {"x1": rows[20].iloc[5]}):
        assert explainer.why(row, changes=0).outcome == model(rows)[5]
        assert str(extraction.explain(row)).startswith(model(rows)[5])
