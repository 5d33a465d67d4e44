"""Extractions: a model explained in its own columns, measured on held-out rows, kept as JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from hornbook import Explainer
from hornbook.errors import HornbookError
from hornbook.extraction import Extraction
from hornbook.models import as_predictor, bind_classifier
from hornbook.statistics import Share
from hornbook.tables import split_rows

SMALL = {"n_samples": 1000, "max_literals": 6}


def explain_model(model, rows, target="label", seed=0, **parameters):
    return Explainer(model, rows, target=target, seed=seed).extract(**parameters)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, 400).astype(float),
            "bili": rng.exponential(2.0, 400).round(1),
            "sex": rng.choice(["f", "m"], 400),
        }
    )
    classes = np.where(frame.bili > 2.1, "high", np.where(frame.age > 60, "old", "fine"))
    holes = frame.copy()
    holes.loc[rng.random(400) < 0.2, "bili"] = np.nan
    holes.loc[rng.random(400) < 0.1, "sex"] = None
    return frame, holes, classes


def encoder():
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    return ColumnTransformer([("words", words, ["sex"])], remainder="passthrough")


@pytest.fixture(scope="module")
def models(table):
    """Models of several kinds, each with the rows that it takes."""
    frame, holes, classes = table
    numbers, known = frame[["age", "bili"]], holes[["age", "bili"]]
    forest, three = (RandomForestClassifier(trees, random_state=0) for trees in (10, 5))
    native = make_pipeline(encoder(), HistGradientBoostingClassifier(max_iter=5, random_state=0))
    imputed = make_pipeline(SimpleImputer(), LogisticRegression())
    return {
        "forest with ties": (forest.fit(numbers, classes == "high"), numbers),
        "three classes": (three.fit(numbers, classes), numbers),
        "words and NaN": (native.fit(holes, classes == "high"), holes),
        "imputer inside": (imputed.fit(known, classes == "high"), known),
    }


@pytest.fixture(scope="module")
def extractions(models):
    return {name: explain_model(model, rows, "ill", **SMALL) for name, (model, rows) in models.items()}


def test_teacher_labels_are_what_predict_says_of_rows_as_they_are(models):
    for name, (model, rows) in models.items():
        teacher = bind_classifier(model, rows, seed=0)
        samples = teacher.sample(500, np.random.default_rng(1))
        for shown in (rows, samples):
            said = np.array(teacher.classes)[teacher.labels(shown)]
            assert (said == model.predict(shown)).all(), name
        assert teacher.donors is None, name


def test_teacher_completes_rows_for_a_model_that_takes_no_missing_values(table):
    frame, holes, classes = table
    model = LogisticRegression().fit(frame[["age", "bili"]], classes == "high")
    rows = holes[["age", "bili"]]
    teacher = bind_classifier(model, rows, seed=0)
    labels = teacher.labels(rows)
    known = rows.notna().all(axis=1).to_numpy()
    assert (labels[known] == model.predict(rows[known])).all()
    # an answer depends on the row alone
    shuffled = np.random.default_rng(0).permutation(len(rows))
    assert (teacher.labels(rows.iloc[shuffled]) == labels[shuffled]).all()
    assert "completions" in teacher.describe()


def test_teacher_hands_a_model_the_columns_and_types_that_it_was_trained_on(table):
    lightgbm = pytest.importorskip("lightgbm")
    frame, _, classes = table
    rows = frame.astype({"sex": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1).fit(rows, classes == "high")
    shown = rows[["sex", "bili", "age"]].assign(more=1.0)
    teacher = bind_classifier(model, shown, seed=0)
    assert (teacher.labels(shown) == model.predict(rows)).all()
    assert teacher.describe() == "the model's own answer"
    forest = RandomForestClassifier(2, random_state=0).fit(frame[["age", "bili"]], classes)
    with pytest.raises(HornbookError, match="reads a column 'bili', which the table does not have"):
        explain_model(forest, frame[["age"]])


def test_teacher_refuses_a_regressor(table):
    frame, *_ = table
    model = LinearRegression().fit(frame[["age"]], frame.bili)
    with pytest.raises(HornbookError, match="predicts numbers"):
        bind_classifier(model, frame[["age"]], seed=0)
    assert bind_classifier(as_predictor(model, threshold=2.0), frame[["age"]], 0).classes == (0, 1)


def test_teacher_finds_the_classes_of_a_model_without_names_by_its_outputs(table):
    _, holes, classes = table
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    rows = holes[["age", "bili"]]
    numbers = np.unique(classes, return_inverse=True)[1]
    booster = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(rows, numbers)
    light = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1).fit(rows, numbers)
    for plain, model in ((booster.get_booster(), booster), (light.booster_, light)):
        teacher = bind_classifier(plain, rows, seed=0)
        assert teacher.classes == (0, 1, 2)
        assert (teacher.labels(rows) == model.predict(rows)).all()


def test_extraction_reports_the_share_of_held_out_rows_that_both_decide_alike(extractions):
    for name, extraction in extractions.items():
        fidelity = extraction.fidelity
        assert fidelity.population == "held-out rows" and 75 <= fidelity.share.size <= 85, name
        assert fidelity.estimate > 0.85, name
        assert extraction.explanation.literals <= 6
        literals = [point.literals for point in extraction.frontier]
        assert literals == sorted(literals)


def test_extraction_is_repeatable_and_read_back_from_json(models, extractions):
    one, two = extractions["three classes"], explain_model(*models["three classes"], "ill", **SMALL)
    assert one == two and one.to_json() == two.to_json()
    again = Extraction.from_json(one.to_json())
    assert again == one and again.theory == one.theory


def test_fidelity_counts_the_answers_of_model_and_explanation(models, extractions):
    for name, (model, rows) in models.items():
        fidelity, explanation = extractions[name].fidelity, extractions[name].explanation
        used, held_out = split_rows(rows, seed=0, hold_out=True)
        teacher = bind_classifier(model, rows.iloc[used], seed=0)
        labels, decided = teacher.labels(rows.iloc[held_out]), explanation.decide(rows.iloc[held_out])
        table = fidelity.table
        for number, one in enumerate(table.classes):
            own = [each for each in table.by_class if each.name == one]
            counts = [(each.decided, each.found, each.invented) for each in own] or [(0, 0, 0)]
            both = (labels == number) & (decided == number)
            assert counts == [((labels == number).sum(), both.sum(), ((decided == number) & ~both).sum())]
        assert table.kappa == pytest.approx(cohen_kappa_score(labels, decided), nan_ok=True)
        base = np.bincount(labels).max() / len(labels)
        assert table.commonest.share == base
        assert table.gap_closed == pytest.approx((fidelity.estimate - base) / (1 - base))
        assert set(fidelity.tables) == {"held-out rows", "samples"}
        assert str(table.commonest) in str(fidelity)
        assert Extraction.from_json(extractions[name].to_json()).fidelity == fidelity


def test_lines_and_totals_say_how_often_the_model_decides_so(models):
    model, rows = models["forest with ties"]
    extraction = explain_model(model, rows, "ill", form="card", **SMALL)
    explanation, labels = extraction.explanation, bind_classifier(model, rows, seed=0).labels(rows)
    matches = explanation.match_lines(rows)
    for line, statistics, match in zip(explanation.lines(), extraction.lines, matches, strict=True):
        if line.outcome:
            right = labels[match] == explanation.classes.index(line.outcome)
            assert statistics.row_precision == Share.where(right)
    totals = explanation.sum_points(rows)
    assert sum(risk.rows.size for risk in extraction.risks) == len(rows)
    for risk in extraction.risks:
        inside = (totals >= risk.low) & (totals <= risk.high)
        assert risk.rows == Share.where(labels[inside] == 1)
        assert (explanation.decide(rows)[inside] == (risk.low >= explanation.threshold)).all()


def test_columns_that_the_model_does_not_read_get_no_conditions_and_a_note(table):
    frame, _, _ = table
    rows = frame[["age", "bili"]].assign(number=np.arange(len(frame)))
    yes = (rows.age > rows.age.median()).to_numpy()
    left_in = rows.assign(label=yes)
    named = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(rows[["age", "bili"]], yes)
    extraction = explain_model(named, left_in, **SMALL)
    assert set(extraction.explanation.columns) <= {"age", "bili"}
    (note,) = (note for note in extraction.notes if "does not read" in note)
    assert note.endswith(": `number`, `label`")


def test_label_left_in_the_table_of_a_function_gets_no_condition(table):
    rows = table[0][["age", "bili"]]
    cut = rows.age.median()
    left_in = rows.assign(label=np.asarray(rows.age > cut, float))
    extraction = explain_model(lambda asked: np.asarray(asked)[:, 0] > cut, left_in, n_samples=2000)
    assert extraction.explanation.columns == ("age",)
    (note,) = (note for note in extraction.notes if "exchange" in note)
    assert note.endswith("changed no answer of the model: `bili`, `label`")


def test_extraction_refuses_json_that_is_none(extractions):
    content = extractions["imputer inside"].to_object()
    for key in content.keys() - {"text"}:  # which follows from the explanation
        for wrong in (None, 7, "poem", [], {}):
            if (key, wrong) in (("provenance", {}), ("code_book", {}), ("beyond_horn", None)):
                continue
            if isinstance(wrong, str) and isinstance(content[key], str):
                continue
            if wrong == [] and key in (
                "columns",
                "differences",
                "frontier",
                "groups",
                "importance",
                "notes",
                "risks",
            ):
                continue
            if wrong == 7 and key == "answers":
                continue
            with pytest.raises(HornbookError, match="is not what an extraction leaves there"):
                Extraction.from_json(json.dumps({**content, key: wrong}))
    for text in ("", "[", "[1]", "3", "[" * 100_000):
        with pytest.raises(HornbookError):
            Extraction.from_json(text)


def test_theory_of_an_extraction_derives_what_it_decides(models, extractions):
    for name, (_, rows) in models.items():
        extraction = extractions[name]
        assert (extraction.compiled.decide(rows) == extraction.explanation.decide(rows)).all()


def test_extractor_names_columns_and_refuses_what_cannot_be_explained():
    def above(rows):
        return rows[:, 0] > 2

    rows = np.arange(20.0).reshape(-1, 2)
    assert explain_model(above, rows, n_samples=200).explanation.columns == ("x0",)
    with pytest.raises(HornbookError, match="no rows"):
        explain_model(above, pd.DataFrame({"a": []}))
    with pytest.raises(HornbookError, match="infinity"):
        explain_model(above, pd.DataFrame({"a": [np.inf]}))


def test_lines_of_an_extraction_are_counted_on_rows_and_samples(table):
    frame, holes, classes = table
    for rows, names in ((frame[["age", "bili"]], classes == "high"), (holes[["age", "bili"]], classes)):
        model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(rows, names)
        for form in ("tree", "card", "rules"):
            extraction = explain_model(model, rows, form=form, **SMALL)
            explanation = extraction.explanation
            matches = explanation.match_lines(rows)
            assert matches.shape == (len(explanation.lines()), len(rows))
            assert [line.rows for line in extraction.lines] == matches.sum(axis=1).tolist()
            decided = np.array(explanation.classes)[explanation.decide(rows)]
            for line, applies in zip(explanation.lines(), matches, strict=True):
                assert not line.outcome or (decided[applies] == line.outcome).all()
            for number, statistics in enumerate(extraction.lines):
                assert (statistics.precision is None) == (not explanation.lines()[number].outcome)


def test_differences_of_an_extraction_are_rows_that_the_model_decides_otherwise(table):
    frame, _, classes = table
    rows = frame[["age", "bili"]]
    model = RandomForestClassifier(5, random_state=0).fit(rows, classes)
    extraction = explain_model(model, rows, "state", n_samples=1000, max_literals=1)
    held_out = extraction.fidelity.rows
    assert len(extraction.differences) == min(20, held_out.size - held_out.hits) > 0
    for difference in extraction.differences:
        asked = rows[np.logical_and.reduce([rows[name] == value for name, value in difference.row.items()])]
        assert difference.model in model.predict(asked)
        assert difference.explanation != difference.model


def test_columns_that_matter_are_those_whose_exchange_changes_answers(models):
    model, rows = models["forest with ties"]
    extraction = explain_model(model, rows, "ill", **SMALL)
    names = [one.name for one in extraction.importance]
    assert names[0] == "bili" and set(names) <= {"age", "bili"}
    by_model = [one.model.estimate for one in extraction.importance]
    assert by_model == sorted(by_model, reverse=True) and by_model[0] > 0.2
    for one in extraction.importance:
        assert (one.explanation.hits > 0) == (one.name in extraction.explanation.columns)
