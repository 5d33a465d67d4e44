"""What is written for programs gives the model's own values of classes; what is for readers, words."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb

ROWS = pd.DataFrame({"age": np.arange(20.0, 80.0)})
KINDS = {
    "numbers": (np.array([0, 1]), ["class 0", "class 1"], ["not late", "late"]),
    "truths": (np.array([False, True]), ["class 0", "class 1"], ["not late", "late"]),
    "floats": (np.array([0.0, 1.0]), ["class 0", "class 1"], ["not late", "late"]),
    "others": (np.array([1, 2]), ["class 1", "class 2"], ["late 1", "late 2"]),
    "words": (np.array(["no", "yes"]), ["no", "yes"], ["no", "yes"]),
}


def test_levels_that_the_table_never_had_are_refused_everywhere(tmp_path):
    rows = pd.DataFrame({"job": ["fixed", "free", "part"] * 40, "age": np.arange(120) % 60})
    model = hb.as_predictor(lambda frame: frame.job == "part")
    extraction = hb.Explainer(model, rows, target="risky").extract(form="tree", n_samples=500)
    other = rows.head(3).assign(job=["fixed", "PART", "part"])
    with pytest.raises(
        hb.HornbookError, match="row 1: column 'job' is never 'PART'; its values are fixed, free, part"
    ):
        extraction.predict(other)
    assert extraction.predict(other, unknown_levels="missing").tolist() == [False, False, True]
    for form in ("python", "pmml", "prolog"):
        extraction.export(form, tmp_path / form)
    space = {}
    exec((tmp_path / "python").read_text(), space)
    with pytest.raises(ValueError, match="'job' is never 'PART'"):
        space["decide"]({"job": "PART"})
    assert "throw(error(domain_error('job', V), _))" in (tmp_path / "prolog").read_text()
    pmml = (tmp_path / "pmml").read_text()
    assert (
        '<Value value="free" />' in pmml
        and 'name="job" usageType="active" invalidValueTreatment="returnInvalid"' in pmml
    )


@pytest.mark.parametrize("kind", KINDS)
def test_classes_are_named_by_the_target_and_exported_by_their_values(kind, tmp_path):
    values, unnamed, named = KINDS[kind]
    labels = values[(ROWS.age > 50).astype(int)]
    model = DecisionTreeClassifier(max_depth=1).fit(ROWS, labels)
    assert list(hb.Explainer(model, ROWS, target="late").subject.classes) == named
    explainer = hb.Explainer(model, ROWS)
    assert list(explainer.subject.classes) == unnamed
    extraction = explainer.extract(form="tree", n_samples=500)
    assert set(extraction.explanation.classes) == set(unnamed)
    assert explainer.why(ROWS.iloc[0], changes=0).outcome == unnamed[0]
    predicted = extraction.predict(ROWS).tolist()
    assert predicted == labels.tolist()
    for form in ("python", "sql", "pmml", "prolog"):
        extraction.export(form, tmp_path / form)
    space = {}
    exec((tmp_path / "python").read_text(), space)
    assert [space["decide"]({"age": age}) for age in ROWS.age] == predicted
    with sqlite3.connect(":memory:") as database:
        ROWS.to_sql("people", database)
        query = f"SELECT {(tmp_path / 'sql').read_text()} FROM people"
        assert [row[0] for row in database.execute(query)] == predicted
    assert (
        "class" not in (tmp_path / "sql").read_text()
        and f">{unnamed[0]}<" not in (tmp_path / "pmml").read_text()
    )
    extraction.report(tmp_path / "report.html")
    title = (tmp_path / "report.html").read_text().split("<title>")[1].split("</title>")[0]
    assert "about class" not in title and "label" not in title
