"""Proofs about tables in every form in which they may reach a model, which is asked in that form itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from column_zoo import NUMERIC_FORMS, WORD_FORMS, draw_table, examine
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook.code_book import EMPTY_BOOK
from hornbook.conditions import Category, Threshold
from hornbook.errors import HornbookError
from hornbook.extraction import read_given_row
from hornbook.models import as_predictor
from hornbook.proof import Domain, Interval
from tests.shared.column_zoo import bind_prover

DECIDED = [
    *(("scaled regression", form) for form in ("Int64", "int8")),
    ("regression", "sparse"),
    ("perceptron", "float64"),
    ("tree", "sparse"),
    ("filled histogram boosting", "int64"),
    *(("forest", form) for form in ("Int64", "int8")),
    *(("encoded tree", form) for form in WORD_FORMS if "pd.NA" not in form and form != "string"),
    *(("filled regression", form) for form in ("object, NaN", "object, None", "category")),
    ("filled forest", "object, None"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "form"), DECIDED)
def test_verdicts_equal_the_whole_domain_in_the_types_of_the_table(kind, form):
    counts, reason = examine(kind, form, questions=5)
    assert counts["wrong"] == 0, counts
    if form == "object, None and NaN":
        assert counts["refused"] and "'colour' are written in different ways, None and nan" in reason
    else:
        assert counts["proved"] and counts["refuted"] and not counts["undecided"], (counts, reason)


@pytest.mark.parametrize("form", [*NUMERIC_FORMS, *WORD_FORMS])
def test_rows_of_a_domain_are_written_as_the_table_has_them(form):
    frame, _ = draw_table(has_words=form in WORD_FORMS)
    table = {**NUMERIC_FORMS, **WORD_FORMS}[form](frame)
    if form == "object, None and NaN":
        with pytest.raises(HornbookError, match="'colour' are written in different ways"):
            Domain.of(table).missing_value("colour")
        return
    domain = Domain.of(table)
    written = domain.write({name: table[name].astype(object).to_numpy() for name in table})
    pd.testing.assert_frame_equal(written, table)
    assert all(
        type(one) is type(other)
        for name in table
        for one, other in zip(written[name], table[name], strict=True)
    )
    drawn = domain.draw([domain.ranges], list(table), 60, np.random.default_rng(0))
    assert (drawn.dtypes == table.dtypes).all() and domain.contains(drawn).all()


@pytest.mark.parametrize("form", [*NUMERIC_FORMS, *WORD_FORMS])
def test_a_row_of_a_table_is_read_as_the_table_has_it(form):
    frame, _ = draw_table(has_words=form in WORD_FORMS)
    table = {**NUMERIC_FORMS, **WORD_FORMS}[form](frame)
    for at in np.flatnonzero(table.notna().any(axis=1))[:40]:
        row = table.iloc[[at]].reset_index(drop=True)
        for asked in (row, row.iloc[0]):
            read = read_given_row(asked, table, EMPTY_BOOK)
            pd.testing.assert_frame_equal(read, row)
            assert all(type(read[name].iloc[0]) is type(row[name].iloc[0]) for name in table)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["float32", "Float32", "float64"]))
def test_a_number_that_is_typed_is_what_the_table_would_hold(number, dtype):
    table = pd.DataFrame({"x": pd.Series([0.5, -2.0], dtype=dtype), "n": [1, 2]})
    for given_value in (number, repr(number)):
        read = read_given_row({"x": given_value}, table, EMPTY_BOOK).x
        with np.errstate(over="ignore"):
            held = np.array([number]).astype(dtype.lower())[0]
        if np.isfinite(held):
            assert read.dtype == dtype and read.iloc[0] == held
        else:
            assert read.dtype == "float64" and read.iloc[0] == number, "too large for the column"
    assert read_given_row({"n": 2.5}, table, EMPTY_BOOK).n.iloc[0] == 2.5


def test_a_model_is_asked_in_the_types_of_the_table_whatever_it_is_asked_for():
    colours = np.array(["red", "blue", None, "green"] * 30, dtype=object)
    rows = pd.DataFrame({"colour": pd.Series(colours, dtype=object), "x": np.arange(120.0)})
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, DecisionTreeClassifier(max_depth=4, random_state=0))
    model.fit(rows, rows.colour.isna() | (rows.x > 90))
    asked = []

    def decide(frame):
        asked.append(frame)
        return model.predict(frame)

    recorded, read = hb.Explainer(decide, rows), hb.Explainer(model, rows)
    recorded.extract(n_samples=200)
    for row, kept in ((rows.iloc[[2]], True), (rows.iloc[[3]], False)):
        assert (recorded.why(row).outcome == "class 1") == kept
        (reason,) = read.why(row).reasons
        assert reason.level == "minimal" and any(each.column == "colour" for each in reason.conditions)
    recorded.check("colour is missing -> class 1\nmore x never lowers class 1", samples=200)
    assert all((frame.dtypes == rows.dtypes).all() for frame in asked)
    assert all(value is None or isinstance(value, str) for frame in asked for value in frame.colour)


def test_none_is_a_level_of_its_own_and_no_imputer_fills_it_in():
    colours = pd.DataFrame({"colour": ["red", "blue", None, "red"] * 8}, dtype=object)
    model = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(), LogisticRegression(C=100.0)
    ).fit(colours, (colours.colour == "red").astype(int))
    none, nan = colours.head(3), colours.head(3).where(colours.colour.notna(), np.nan)
    assert model.predict(none).tolist() == [1, 0, 0]
    assert model.predict(nan).tolist() == [1, 0, 1]
    for rows, outcome in ((none, 0), (nan, 1)):
        prover = bind_prover(model, Domain.of(pd.concat([rows] * 9, ignore_index=True)))
        missing = prover.prove([Category("colour", "red", inside=False)], outcome)
        refuted = prover.prove([], outcome)
        assert refuted.status == "refuted" and (missing.status == "proved") == (outcome == 0)


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64"])
def test_whole_numbers_that_are_no_doubles_are_refused_by_name(kind):
    rows = pd.DataFrame({"id": [1, 2, 3, 2**53 + 1] * 5, "x": np.arange(20.0)}).astype({"id": kind})
    model = DecisionTreeClassifier(random_state=0).fit(rows, rows.x > 9)
    with pytest.raises(HornbookError, match=f"its column 'id' of the type {kind} has numbers beyond"):
        bind_prover(model, Domain.of(rows))
    near = rows.assign(id=rows.id.where(rows.id < 5, 4).astype(kind))
    verdict = bind_prover(model, Domain.of(near)).prove([Threshold("id", 2.0**54)], 1)
    assert verdict.status == "undecided" and "has numbers beyond" in verdict.reason


@pytest.mark.parametrize("kind", ["float16", "complex128", "int64[pyarrow]"])
def test_columns_of_types_that_are_not_read_are_refused_by_name(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    rows = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0)})
    model = DecisionTreeClassifier(random_state=0).fit(rows, rows.x > 9)
    domain = Domain({name: Interval(0, 19) for name in rows}, rows.astype({"y": kind}))
    with pytest.raises(HornbookError, match="its column 'y' is of the type"):
        bind_prover(model, domain)


def test_a_model_that_differs_where_something_is_proved_is_refused_from_then_on():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=80), "n": rng.integers(0, 9, 80)})
    honest = as_predictor(DecisionTreeClassifier(max_depth=2).fit(rows, rows.x > 0.2))
    above = np.nextafter(1.25, 2)

    def decide(frame):
        odd = (frame.x == above) if frame.n.dtype == "int64" else np.ones(len(frame), bool)
        return honest.labels(frame) ^ odd.to_numpy(bool)

    prover = bind_prover(replace(honest, labels=decide), Domain.of(rows))
    assert prover.prove([Threshold("x", 1.0)], 1).status == "proved"
    verdict = prover.prove([Threshold("x", 1.25)], 1)
    assert verdict.status == "undecided"
    assert "does not decide as was proved of what was read of it, for x=1.25, n=" in verdict.reason
    again = prover.prove([Threshold("x", 1.0)], 1), prover.prove_monotone("x", 1)
    assert {each.reason for each in again} == {verdict.reason}


def test_a_model_that_is_not_monotone_where_that_was_proved_is_refused():
    rows = pd.DataFrame({"x": np.arange(40.0), "n": np.arange(40) % 3})
    honest = as_predictor(DecisionTreeClassifier().fit(rows, rows.x > 19))
    prover = bind_prover(honest, Domain.of(rows))
    assert prover.prove_monotone("x", 1).status == "proved"
    liar = replace(honest, labels=lambda frame: honest.labels(frame) ^ (frame.x == 39).to_numpy())
    prover.wall.predictor = liar
    verdict = prover.prove_monotone("x", 1)
    assert verdict.status == "undecided" and "does not decide as was proved" in verdict.reason
