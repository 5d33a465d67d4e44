"""Kinds of models and of columns: a model is given what the user gave, and its classes are its answers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer, as_predictor
from hornbook.errors import HornbookError, ModelError
from hornbook.models import bind_classifier
from hornbook.queries import QuerySubject
from hornbook.randomness import Purpose, generator
from hornbook.tables import read_frame

RNG = np.random.default_rng(0)
SIZE = 90
AGES = RNG.integers(20, 80, SIZE)
NUMBERS = pd.DataFrame(
    {"weight": RNG.normal(70, 9, SIZE), "age": AGES, "petal length": RNG.normal(size=SIZE)}
)
MIXED = NUMBERS.assign(
    sex=RNG.choice(["f", "m"], SIZE), stage=pd.Categorical(RNG.choice(["I", "II", "III"], SIZE))
)
THIRDS = np.array(["young", "grown", "old"])


def thirds(ages):
    """The numbers of three classes."""
    return np.asarray((ages > 40) * 1 + (ages > 60) * 1)


def shares(ages, classes):
    """A score for each of so many classes."""
    return np.eye(classes)[np.minimum(thirds(ages), classes - 1)] * 0.7 + 0.1


ANSWERS = {
    "truth values": (lambda ages: ages > 50, lambda ages: ages > 50),
    "0 and 1": (lambda ages: (ages > 50).astype(int), lambda ages: (ages > 50) * 1),
    "0 to 2": (thirds, thirds),
    "0.0 to 2.0": (lambda ages: thirds(ages).astype(float), thirds),
    "1 and 2": (lambda ages: 1 + (ages > 50), lambda ages: 1 + (ages > 50)),
    "-1 and 1": (lambda ages: np.where(ages > 50, 1, -1), lambda ages: np.where(ages > 50, 1, -1)),
    "words": (lambda ages: THIRDS[thirds(ages)], lambda ages: THIRDS[thirds(ages)]),
    "a list of words": (lambda ages: THIRDS[thirds(ages)].tolist(), lambda ages: THIRDS[thirds(ages)]),
    "a series": (lambda ages: pd.Series(THIRDS[thirds(ages)]), lambda ages: THIRDS[thirds(ages)]),
    "a category": (lambda ages: pd.Categorical(THIRDS[thirds(ages)]), lambda ages: THIRDS[thirds(ages)]),
    "words in a column": (lambda ages: THIRDS[thirds(ages)][:, None], lambda ages: THIRDS[thirds(ages)]),
    "scores": (lambda ages: ages / 100, lambda ages: (ages >= 50) * 1),
    "scores in a column": (lambda ages: np.asarray(ages)[:, None] / 100, lambda ages: (ages >= 50) * 1),
    "two columns": (lambda ages: shares(ages, 2), lambda ages: np.minimum(thirds(ages), 1)),
    "three columns": (lambda ages: shares(ages, 3), thirds),
}


def read_ages(rows, kind):
    """The ages of rows, which have to be of the kind that the user gave."""
    if kind == "frame":
        assert isinstance(rows, pd.DataFrame)
        pd.testing.assert_series_equal(rows.dtypes, MIXED.dtypes)
        assert isinstance(rows.index, pd.RangeIndex)
        return rows["age"].to_numpy()
    if kind == "numbered frame":
        assert rows.columns.tolist() == [10, 20, 30]
        return rows[20].to_numpy()
    if kind == "polars":
        assert rows.schema == TABLES["polars"].schema
        return rows["age"].to_numpy()
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == TABLES[kind].dtype
    return rows[:, 1].astype(float)


TABLES = {
    "frame": MIXED,
    "numbered frame": NUMBERS.set_axis([10, 20, 30], axis=1),
    "polars": pl.DataFrame(MIXED.astype({"stage": str}).to_dict("list")),
    "array": NUMBERS.to_numpy(),
    "array of singles": NUMBERS.to_numpy(np.float32),
    "array of objects": MIXED.to_numpy(),
    "array of whole numbers": NUMBERS.to_numpy(np.int64),
}


def sample(teacher, size=60):
    return teacher.sample(size, generator(1, Purpose.SAMPLED_ROWS))


def assert_labels(teacher, rows, expected):
    labels = np.array(teacher.classes, object)[teacher.labels(rows)]
    assert labels.tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("answers", ANSWERS)
def test_functions_and_objects_are_given_what_the_user_gave_and_answer_their_classes(answers, kind):
    answer, expect = ANSWERS[answers]

    def function(rows):
        return answer(read_ages(rows, kind))

    class Wrapper:
        def predict(self, rows):
            return function(rows)

    frame = read_frame(TABLES[kind])
    age = frame.columns[1]
    for model in (function, Wrapper()):
        teacher = bind_classifier(model, frame, seed=0)
        for rows in (frame, sample(teacher)):
            assert_labels(teacher, rows, expect(rows[age].to_numpy().astype(float)))


def test_a_function_that_fails_on_a_frame_is_given_arrays_of_numbers():
    kinds = []

    def function(rows):
        kinds.append(type(rows))
        return rows[:, 1] > 50

    teacher = bind_classifier(function, NUMBERS, seed=0)
    assert_labels(teacher, NUMBERS, NUMBERS["age"] > 50)
    assert kinds[0] is pd.DataFrame and set(kinds[1:]) == {np.ndarray}
    square = NUMBERS.assign(height=1.0)
    assert_labels(bind_classifier(lambda rows: rows.T[1] > 50, square, seed=0), square, square["age"] > 50)


def test_a_function_that_changes_what_it_is_given_changes_nothing_else():
    def function(rows):
        rows["age"] = rows["age"] > 50
        return rows["age"]

    teacher = bind_classifier(function, NUMBERS, seed=0)
    assert_labels(teacher, NUMBERS, AGES > 50)
    assert_labels(teacher, NUMBERS, AGES > 50)


class Scorer:
    """Answers in words, with or without probabilities and the names of its classes."""

    def __init__(self, classes=None):
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, rows):
        return shares(rows["age"], 3)


class Decider(Scorer):
    def predict(self, rows):
        return THIRDS[thirds(rows["age"])]


@pytest.mark.parametrize("classes", [None, THIRDS, THIRDS.tolist(), [*THIRDS[::-1]]])
@pytest.mark.parametrize("kind", [Scorer, Decider])
def test_wrappers_with_and_without_names_of_classes(kind, classes):
    names = np.arange(3) if classes is None else np.asarray(classes)
    expected = THIRDS[thirds(AGES)] if kind is Decider else names[thirds(AGES)]
    assert_labels(bind_classifier(kind(classes), MIXED, seed=0), MIXED, expected)


def test_a_function_may_say_its_classes():
    def function(rows):
        return THIRDS[thirds(rows["age"])]

    function.classes_ = ["old", "young", "grown", "ancient"]
    teacher = bind_classifier(function, MIXED, seed=0)
    assert teacher.classes == ("old", "young", "grown", "ancient")
    assert_labels(teacher, MIXED, THIRDS[thirds(AGES)])


def test_classes_are_looked_for_in_all_rows_those_held_out_and_those_with_holes_too():
    rows = MIXED.assign(age=MIXED["age"].astype(float))
    rows.loc[3, "age"] = np.nan
    answer = lambda rows: np.where(rows["age"].isna(), "unknown", THIRDS[thirds(rows["age"])])  # noqa: E731
    teacher = bind_classifier(answer, rows, 0, np.arange(10, SIZE))
    assert teacher.classes == ("grown", "old", "unknown", "young")
    assert len(teacher.frame) == SIZE - 10 and teacher.donors is None
    assert_labels(teacher, rows, answer(rows))
    refusing = lambda rows: [THIRDS[thirds(int(age))] for age in rows["age"]]  # noqa: E731
    teacher = bind_classifier(refusing, rows, 0)
    assert teacher.classes == ("grown", "old", "young") and teacher.donors.columns == {"age"}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda rows: rows["age"] * 1.5, "say from which number on it says yes: as_predictor"),
        (lambda rows: range(len(rows)), "say from which number on it says yes"),
        (lambda rows: ["a"] * len(rows), "answers every row with 'a'.*two classes.*model.classes_"),
        (lambda rows: [2] * len(rows), "answers every row with 2"),
        (lambda rows: [["a"], [1]][len(rows) > 3] * len(rows), None),
        (lambda rows: np.array([*["a"] * (len(rows) - 1), 1], object), "answers rows with 'a' and 1"),
    ],
)  # fmt: skip
def test_answers_that_are_no_classes_are_refused(model, words):
    if words is None:
        assert bind_classifier(model, MIXED, seed=0).classes == (0, 1)  # 1 for every row
        return
    with pytest.raises(HornbookError, match=words):
        bind_classifier(model, MIXED, seed=0)


def test_a_label_that_no_row_of_the_table_got_is_an_error_that_names_it():
    young = MIXED[AGES <= 60].reset_index(drop=True)
    teacher = bind_classifier(lambda rows: THIRDS[thirds(rows["age"])], young, seed=0)
    assert teacher.classes == ("grown", "young")
    with pytest.raises(ModelError, match=r"answers a row with 'old'.*classes_ = \["):
        teacher.labels(MIXED)


@pytest.mark.parametrize("fitted_on", [NUMBERS, NUMBERS.to_numpy()])
def test_clusters_are_classes(fitted_on):
    model = KMeans(4, n_init=1, random_state=0).fit(fitted_on)
    frame = read_frame(fitted_on)
    teacher = bind_classifier(model, frame, seed=0)
    assert teacher.classes == (0, 1, 2, 3)
    for rows in (frame, sample(teacher)):
        own = rows if isinstance(fitted_on, pd.DataFrame) else rows.to_numpy()
        assert_labels(teacher, rows, model.predict(own))


@pytest.mark.parametrize("rows", [MIXED, MIXED.to_numpy()])
def test_pipelines_that_read_words(rows):
    words = ["sex", "stage"] if isinstance(rows, pd.DataFrame) else [3, 4]
    columns = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(rows, THIRDS[thirds(AGES)])
    assert_labels(bind_classifier(model, read_frame(rows), seed=0), read_frame(rows), model.predict(rows))


def make_booster(library):
    """A booster on columns of categories, numbers and missing values, and its rows."""
    rows = MIXED.astype({"sex": "category", "age": float})
    rows.loc[::7, "age"] = np.nan
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=3, n_jobs=1, verbose=-1)
        return model.fit(rows, THIRDS[thirds(AGES)]), rows
    if library == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        return xgboost.XGBClassifier(n_estimators=8, n_jobs=1, enable_categorical=True).fit(
            rows, thirds(AGES)
        ), rows
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=8, thread_count=1, verbose=0, cat_features=["sex", "stage"], allow_writing_files=False
    )
    return model.fit(rows, THIRDS[thirds(AGES)]), rows


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosters_on_categories_spaces_in_names_and_missing_values(library):
    model, rows = make_booster(library)
    teacher = bind_classifier(model, rows, seed=0)
    assert teacher.donors is None or teacher.donors.columns <= {"sex", "stage"}
    for asked in (rows, sample(teacher)):
        assert_labels(teacher, asked, np.asarray(model.predict(asked)).reshape(-1))
        assert_labels(teacher, asked[asked.columns[::-1]], np.asarray(model.predict(asked)).reshape(-1))


def test_catboost_on_arrays_and_words():
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 8, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
    for rows, kinds, labels in (
        (NUMBERS.to_numpy(), None, AGES > 50),
        (MIXED.to_numpy(), [3, 4], THIRDS[thirds(AGES)]),
        (MIXED.astype({"stage": str}), ["sex", "stage"], 1 + thirds(AGES)),
    ):
        model = catboost.CatBoostClassifier(**settings, cat_features=kinds).fit(rows, labels)
        frame = read_frame(rows)
        assert_labels(bind_classifier(model, frame, seed=0), frame, model.predict(rows).reshape(-1))


def test_a_native_booster_reads_categories_by_names_without_spaces():
    model, rows = make_booster("lightgbm")
    teacher = bind_classifier(model.booster_, rows, seed=0)
    assert_labels(teacher, rows, model.booster_.predict(rows).argmax(axis=1))
    shuffled = rows[rows.columns[::-1]]
    assert_labels(teacher, shuffled, model.booster_.predict(rows).argmax(axis=1))


def test_names_that_libraries_write_otherwise_are_matched_where_only_one_column_can_be_meant():
    class Model:
        feature_names_in_ = np.array(["petal_length", "age"])
        classes_ = np.array([0, 1])

        def predict(self, rows):
            assert rows.columns.tolist() == ["petal_length", "age"]
            return (rows["petal_length"] > 0) * 1

    predictor = as_predictor(Model())
    assert predictor.list_columns(["age", "petal length"]) == ["petal length", "age"]
    assert predictor.list_columns(["age", "petal[length"]) == ["petal[length", "age"]
    assert predictor.list_columns(["age", "petal length", "petal_length"]) == ["petal_length", "age"]
    rows = NUMBERS[["age", "petal length"]]
    assert (predictor.decide_rows(predictor.read(rows)) == (rows["petal length"] > 0)).all()
    with pytest.raises(HornbookError, match="reads a column 'petal_length'"):
        predictor.list_columns(["age", "petal length", "petal<length"])


class Counted:
    """A classifier that counts the rows that its `predict` is asked about, and the calls."""

    def __init__(self, model):
        self.model, self.calls, self.rows = model, 0, 0
        self.classes_ = model.classes_

    def predict(self, rows):
        self.calls, self.rows = self.calls + 1, self.rows + len(rows)
        return self.model.predict(rows)


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_a_model_of_several_classes_is_asked_once_about_each_row(load):
    X, y = load(return_X_y=True, as_frame=True)
    model = Counted(DecisionTreeClassifier(random_state=0).fit(X, y))
    teacher = bind_classifier(model, X, seed=0)
    model.calls = model.rows = 0
    assert_labels(teacher, teacher.frame, model.model.predict(X))
    assert (model.calls, model.rows) == (1, len(X))


def test_a_function_of_scores_is_asked_once_about_each_row():
    asked = []

    def function(rows):
        asked.append(len(rows))
        return np.c_[rows[:, 1], np.full(len(rows), 50.0), 100 - rows[:, 1]] / 100

    rows = NUMBERS.to_numpy()
    rows[:5, 1] = 50
    rows[5, 1] = 60  # a tie of the first and the third
    expected = function(rows).argmax(axis=1)
    teacher = bind_classifier(function, read_frame(rows), seed=0)
    asked.clear()
    assert (teacher.labels(read_frame(rows)) == expected).all()
    assert asked == [SIZE]


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(max_iter=200), GaussianNB(), LinearSVC(), Perceptron(), DecisionTreeClassifier()],
)
def test_classes_at_once_are_those_of_the_views_of_single_classes(model):
    X, y = load_iris(return_X_y=True, as_frame=True)
    rows = X.astype(float).round(0)  # coarse, so that there are ties
    model.fit(rows, np.array(["a", "b", "c"])[y])
    views = [as_predictor(model, positive=name) for name in "abc"]
    numbers = views[0].classify_rows(rows)
    assert (np.array(["a", "b", "c"])[numbers] == model.predict(rows)).all()
    for number, view in enumerate(views):
        assert view.classes == ("a", "b", "c")
        assert (view.decide_rows(rows) == (numbers == number)).all()
        assert (view.classify_rows(rows) == numbers).all()


def test_verbs_explain_functions_of_frames_in_the_words_that_they_answer():
    answer = lambda rows: np.where((rows["age"] > 50) & (rows["sex"] == "m"), "ill", "well")  # noqa: E731
    rows = MIXED.copy()
    explainer = Explainer(answer, rows, target="state")
    extraction = explainer.extract(n_samples=500)
    assert extraction.classes == ("ill", "well")
    assert (extraction.predict(rows) == answer(rows)).all()
    old = rows[answer(rows) == "ill"].iloc[0]
    reason = explainer.why(old, changes=0)
    assert reason.outcome == "ill"
    assert {each.column for each in reason.reasons[0].conditions} == {"age", "sex"}
    assert explainer.changes(old).changes[0].outcome == "well"
    (result,) = explainer.check("age <= 50 -> well", samples=200)
    assert not result.broken
    stricter = lambda rows: np.where((rows["age"] > 60) & (rows["sex"] == "m"), "ill", "well")  # noqa: E731
    compared = explainer.diff(stricter, n_samples=500)
    assert compared.classes == ("ill", "well")


def test_queries_ask_a_function_of_frames_about_frames():
    def answer(rows):
        assert isinstance(rows, pd.DataFrame)
        return np.where((rows["age"] > 50) & (rows["sex"] == "m"), "well", "ill")

    subject = QuerySubject.bind(answer, MIXED, target="well")
    bound = subject.teacher
    assert subject.classes == ("ill", "well")
    assert (bound.decide_rows(MIXED) == (answer(MIXED) == "well")).all()
    agreeing = bound.decide_items(bound.rows) == (answer(bound.frame) == "well")
    assert agreeing.mean() > 0.9  # the others share a bin with rows of the other class


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosters_are_given_words_as_the_categories_they_were_trained_with(library, saved, tmp_path):
    words = MIXED[["age", "sex"]].assign(stage=MIXED["stage"].astype(str))
    categories = words.astype({"sex": "category", "stage": "category"})
    labels = ((words["sex"] == "f") & (words["age"] > 40)).astype(int)
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMClassifier(
            n_estimators=5, verbose=-1, n_jobs=1, min_child_samples=5
        )
        path, booster = tmp_path / "model.txt", "booster_"
    else:
        model = pytest.importorskip("xgboost").XGBClassifier(
            n_estimators=5, enable_categorical=True, n_jobs=1
        )
        path, booster = tmp_path / "model.json", None
    model.fit(categories, labels)
    (getattr(model, booster) if booster else model).save_model(path)
    teacher = bind_classifier(path if saved else model, words, seed=0)
    assert teacher.labels(words).tolist() == model.predict(categories).tolist()


@pytest.mark.parametrize("zipmap", [True, False])
def test_an_onnx_model_with_an_input_a_column_reads_a_mixed_table_and_keeps_its_labels(zipmap):
    onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    table = MIXED.astype({"stage": str}).rename(columns={"petal length": "length"})
    columns = make_column_transformer((OneHotEncoder(), ["sex", "stage"]), ("passthrough", ["weight", "age"]))
    labels = THIRDS[thirds(table["age"].to_numpy())]
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(table, labels)
    content = onnx.to_onnx(model, table[:1], options={"zipmap": zipmap}).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    shuffled = table[["stage", "sex", "length", "age", "weight"]]  # inputs have names
    teacher = bind_classifier(session, shuffled, seed=0)
    assert set(teacher.classes) == set(THIRDS)
    assert_labels(teacher, shuffled, model.predict(table))


def test_numbers_of_classes_are_no_scores():
    """A class that no row gets is known from the probabilities, or refused when it is answered."""

    class Model:
        def predict(self, rows):
            return (rows["age"] > 40).astype(int).to_numpy() + (rows["age"] > 80).to_numpy()

        def predict_proba(self, rows):
            return np.eye(3)[self.predict(rows)]

    table, older = pd.DataFrame({"age": np.arange(20.0, 80)}), pd.DataFrame({"age": [90.0]})
    teacher = bind_classifier(Model(), table, seed=0)
    assert teacher.classes == (0, 1, 2) and teacher.labels(older).tolist() == [2]
    teacher = bind_classifier(Model().predict, table, seed=0)
    assert teacher.classes == (0, 1)
    with pytest.raises(ModelError, match="answers a row with 2, which it answered about no row of the table"):
        teacher.labels(older)
