"""Explanations in other languages: each is run by its own engine and decides every row alike."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Split
from hornbook.exports import write_explanation
from hornbook.exports.dialects import DIALECTS

ROWS = pd.DataFrame(
    list(product([None, 30.0, 40.0, 45.0, 70.5], [None, "f", "m", "it's"], [None, 0.0, 1.0])),
    columns=["age (years)", "sex", "x"],
).astype({"age (years)": float, "sex": object, "x": float})

conditions = st.one_of(
    st.builds(Threshold, st.just("age (years)"), st.sampled_from([40.0, 50.25, 1e-7]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "it's"]), st.booleans()),
    st.builds(Category, st.just("sex"), st.just(("f", "it's")), st.booleans()),
    st.builds(Category, st.just("x"), st.just(1), st.booleans()),
    st.builds(Missing, st.sampled_from(["age (years)", "sex", "x"]), st.booleans()),
)


explanations = random_explanations(conditions, ("a", "it's b", "c", "d"))


def decide_in_sqlite(source, frame):
    database = sqlite3.connect(":memory:")
    try:
        frame.to_sql("patients", database, index=False)
        return [name for (name,) in database.execute(f"SELECT {source} FROM patients")]
    finally:
        database.close()


@cache
def open_duckdb():
    import duckdb

    return duckdb.connect()


def decide_in_duckdb(source, frame):
    open_duckdb().register("patients", frame.convert_dtypes())
    return [name for (name,) in open_duckdb().execute(f"SELECT {source} FROM patients").fetchall()]


def decide_in_python(source, frame):
    module = {}
    exec(source, module)
    return [module["decide"](row) for row in frame.to_dict("records")]


def decide_in_prolog(source, frame, tmp_path):
    def write(value):
        quoted = str(value).replace("'", "\\'")
        return f"'{quoted}'" if isinstance(value, str) else f"({value!r})"

    rows = [
        "[" + ", ".join(f"{write(c)}-{write(v)}" for c, v in row.items() if not pd.isna(v)) + "]"
        for row in frame.to_dict("records")
    ]
    goals = "\n".join(f":- decide({row}, C), write(C), nl." for row in rows)
    (tmp_path / "program.pl").write_text(f"{source}\n{goals}\n:- halt.\n")
    done = subprocess.run(
        ["swipl", "-q", "-f", tmp_path / "program.pl"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.splitlines()


def expected_names(explanation, frame):
    return [explanation.classes[number] for number in explanation.decide(frame)]


@given(explanations)
@draw_examples(1.5)
def test_sql_and_python_decide_as_the_explanation_does(explanation):
    expected = expected_names(explanation, ROWS)
    assert decide_in_sqlite(write_explanation(explanation, "sql"), ROWS) == expected
    assert decide_in_python(write_explanation(explanation, "python"), ROWS) == expected


@given(explanations)
@draw_examples(0.62)
def test_sql_decides_alike_in_duckdb(explanation):
    assert decide_in_duckdb(write_explanation(explanation, "sql"), ROWS) == expected_names(explanation, ROWS)


MIDWAY = [0.720887, 0.175247, -1555.174360205168, 279.3744423523639]
"""Numbers of which SQLite reads other doubles; each lies about midway between two."""

EXTREMES = [
    5e-324,
    -1e-310,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    1e22,
    1e23,
    2.0**24 + 1,
    2.0**53,
]


def test_sql_has_the_very_double_in_every_database():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 200, np.uint64).view(np.float64)
    short = [
        float(f"{number:.{digits}g}") for number, digits in zip(bits, rng.integers(1, 17, 200), strict=True)
    ]
    cents = [*rng.normal(size=200).round(3), *rng.random(200), *rng.random(200).astype(np.float32)]
    numbers = [float(x) for x in (*MIDWAY, *EXTREMES, *bits, *short, *cents) if np.isfinite(x)]
    query = "VALUES " + ", ".join(f"({DIALECTS['sql'].value(number)})" for number in numbers)
    database = sqlite3.connect(":memory:")
    assert [float(x) for (x,) in database.execute(query)] == numbers
    assert [float(x) for (x,) in open_duckdb().execute(query).fetchall()] == numbers
    database.close()


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_sql_compares_as_doubles_whatever_the_type_of_the_column(kind):
    rng, type_of_column = np.random.default_rng(0), np.dtype("f4" if kind == "FLOAT" else "f8").type
    cuts = np.array([0.1, 0.7, 1 / 3, 0.5, 2, 2.0**24, 2.0**24 + 1, 1e22, *MIDWAY])
    near = type_of_column(cuts)
    values = np.concatenate([near, *(np.nextafter(near, type_of_column(side)) for side in (-np.inf, np.inf))])
    rows = pd.DataFrame({"x": np.append(values, type_of_column(np.nan))})
    open_duckdb().execute(f"CREATE OR REPLACE TABLE typed (n INTEGER, x {kind})")
    given = [(n, None if np.isnan(x) else float(x)) for n, x in enumerate(rows["x"])]
    open_duckdb().executemany("INSERT INTO typed VALUES (?, ?)", given)
    for cut in (*cuts.tolist(), *near.astype(float).tolist()):
        for condition in (
            Threshold("x", cut),
            Category("x", cut, inside=False),
            Category("x", (cut, float(rng.choice(near)))),
        ):
            tree = DecisionTree(("no", "yes"), Split(condition, 1, 0))
            expected, source = expected_names(tree, rows), write_explanation(tree, "sql")
            found = open_duckdb().execute(f"SELECT {source} FROM typed ORDER BY n").fetchall()
            assert [name for (name,) in found] == expected
            assert decide_in_sqlite(source, rows) == expected
            assert decide_in_python(write_explanation(tree, "python"), rows) == expected


@given(explanations)
@draw_examples(0.2)
def test_reasons_of_many_rows_are_those_of_each(explanation):
    rows = ROWS[::2]
    each = [explanation.explain(rows.iloc[[number]]) for number in range(len(rows))]
    assert explanation.explain_rows(rows) == each


def learn(form, classes):
    """An explanation of a made-up model of five columns, and 2,000 rows with holes."""
    from hornbook import Explainer

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 4)).round(2), columns=[f"value {k}" for k in range(4)])
    frame["kind"] = rng.choice(["red", "green", "blue's"], len(frame))
    frame = frame.mask(rng.random(frame.shape) < 0.1)

    def model(rows):
        known = rows[[f"value {k}" for k in range(4)]].fillna(0.3).to_numpy(float)
        score = known @ [2, -1, 1, -2] + (rows["kind"] == "red") * 2
        return np.digitize(score, [0, 2][: classes - 1])

    class Model:
        classes_ = np.arange(classes)
        feature_names_in_ = np.array(frame.columns, dtype=object)

        def predict(self, rows):
            return model(rows)

    explainer = Explainer(Model(), frame[:300], target="score")
    return explainer.extract(form=form, n_samples=2000, max_literals=10).explanation, frame


@pytest.mark.parametrize(("form", "classes"), [("tree", 3), ("card", 2), ("card", 3), ("rules", 3)])
def test_exports_of_an_extraction_decide_thousands_of_rows_alike(form, classes, tmp_path):
    explanation, frame = learn(form, classes)
    assert explanation.form == form and explanation.literals >= 5
    expected = expected_names(explanation, frame)
    source = write_explanation(explanation, "sql")
    assert len(source) < 4096
    assert decide_in_sqlite(source, frame) == expected
    assert decide_in_duckdb(source, frame) == expected
    assert decide_in_python(write_explanation(explanation, "python"), frame) == expected
    if shutil.which("swipl") is None:
        pytest.skip("needs SWI-Prolog (Debian: apt-get install swi-prolog-nox)")
    assert decide_in_prolog(write_explanation(explanation, "prolog"), frame, tmp_path) == expected


def test_what_cannot_be_written_is_refused():
    tree = DecisionTree(("no", "yes"), Split(Category("a\0b", "c"), 1, 0))
    with pytest.raises(HornbookError, match="NUL character"):
        write_explanation(tree, "sql")
    with pytest.raises(HornbookError, match="choose one of sql, python, prolog"):
        write_explanation(tree, "cobol")
