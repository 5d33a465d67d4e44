"""Why a model decides a row so: reasons against brute force, and what users can ask of them."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from questions import why
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook.code_book import read_code_book
from hornbook.conditions import Category, Missing, meet_conditions
from hornbook.errors import HornbookError
from hornbook.models import ClassifierTeacher, Subject, bind_classifier
from hornbook.proof import ColumnProver, Verdict, make
from hornbook.randomness import Purpose, generator
from hornbook.reasons import Reasoner
from hornbook.reasons.prover import ReasonProver
from hornbook.reasons.row_conditions import RowConditions
from hornbook.reasons.search import ReasonSampler
from hornbook.schema import write_object
from hornbook.surrogates.grid import Grid

GRID = pd.DataFrame(list(product([0.0, 1.0, 2.0], repeat=4)), columns=["a", "b", "c", "d"])
IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


def random_tree(seed):
    """A tree with random classes on the grid."""
    rng = np.random.default_rng(seed)
    return DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed).fit(GRID, rng.random(81) < 0.4)


def mixed_rows(seed, size=300):
    """Rows with numbers, words, an ordered column and missing values, and classes that depend on all."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "age": rng.integers(20, 80, size),
            "bili": rng.lognormal(0, 1, size).round(2),
            "sex": rng.choice(["f", "m"], size),
            "stage": rng.choice(["I", "II", "III", "IV"], size),
        }
    )
    rows.loc[rng.random(size) < 0.2, "bili"] = np.nan
    late = rows.stage.isin(["III", "IV"]).astype(int)
    return rows, (rows.bili.fillna(2) + late + (rows.age > 60) > 2.5).astype(int)


class ByRule:
    """A classifier of raw rows that takes words and missing values."""

    classes_ = np.array([0, 1])
    feature_names_in_ = np.array(["age", "bili", "sex", "stage"])

    def predict(self, rows):
        late = rows.stage.isin(["III", "IV"]).astype(int)
        return (rows.bili.fillna(2) + late + (rows.age > 60) > 2.5).to_numpy(int)


def reasoner_of(model, rows, code_book=None):
    return Reasoner(Subject.bind(model, rows, target="yes", code_book=code_book, hold_out=False))


@pytest.fixture
def few_donors(monkeypatch):
    """A model that takes no missing values is asked about a row with the values of few others."""
    monkeypatch.setattr("hornbook.models.teacher.DONORS", 4)


@draw_examples(0.15)
@given(st.integers(0, 1000), st.integers(0, 299))
def test_why_gives_reasons_that_the_row_meets_and_rows_that_meet_them(seed, at):
    rows, _ = mixed_rows(0)
    book = {"columns": {"stage": {"order": ["I", "II", "III", "IV"]}}} if seed % 2 else None
    reasoner = reasoner_of(ByRule(), rows, book)
    answer = reasoner.explain(rows.iloc[at], changes=0)
    (reason,) = answer.reasons
    assert answer.outcome == reason.outcome == ["not yes", "yes"][ByRule().predict(rows.iloc[[at]])[0]]
    assert meet_conditions(reason.conditions, rows.iloc[[at]]).all()
    met = meet_conditions(reason.conditions, rows)
    alike = met & (ByRule().predict(rows) == (answer.outcome == "yes"))
    assert (reason.coverage.met, reason.coverage.alike) == (met.sum(), alike.sum())
    assert reason.keeps_share and reason.share.low >= 0.95 and reason.level == "sampled"


@draw_examples(0.15)
@given(st.integers(0, 1000), st.integers(0, 299))
def test_reason_sampler_draws_rows_that_meet_the_conditions_of_any_body(seed, at):
    rows, _ = mixed_rows(1)
    rng = np.random.default_rng(seed)
    words = read_code_book(None, rows)
    row = rows.iloc[[at]].reset_index(drop=True)
    conditions = RowConditions.of(row, Grid.of(rows, 32, words), rows, words)
    body = frozenset(rng.choice(len(conditions.literals), rng.integers(0, 6)).tolist())
    sampler = ReasonSampler(bind_classifier(ByRule(), rows, 0), conditions, 0)
    sources = sampler.draw(body, 200, rng)
    drawn = pd.DataFrame(
        {name: sampler.rows[name].array.take(own) for name, own in zip(rows.columns, sources, strict=True)}
    )
    described = conditions.describe(body)
    assert meet_conditions(described, drawn).all() and meet_conditions(described, row).all()
    assert (conditions.meets(body, conditions.encode(rows)) == meet_conditions(described, rows)).all()
    (labelled,) = sampler.label([sources])
    assert (labelled.codes == conditions.encode(drawn)).all()
    assert (labelled.alike == (ByRule().predict(drawn) == 0)).all()


def assert_minimal(reason, model, row, every):
    """A reason holds of all rows that there are, and without any of its conditions of some not."""
    outcome = model.predict(row)[0]
    assert reason.level == "minimal", reason.note
    assert meet_conditions(reason.conditions, row).all()
    assert (model.predict(every[meet_conditions(reason.conditions, every)]) == outcome).all()
    for left_out in reason.conditions:
        others = [condition for condition in reason.conditions if condition != left_out]
        assert (model.predict(every[meet_conditions(others, every)]) != outcome).any()


@draw_examples(0.12)
@given(st.integers(0, 1000), st.integers(0, 80))
def test_why_proves_minimal_reasons_of_trees_as_brute_force_does(seed, at):
    model, row = random_tree(seed), GRID.iloc[[at]]
    (reason,) = why(model, row, GRID, changes=0).reasons
    assert_minimal(reason, model, row, GRID)


@draw_examples(0.07)
@given(st.integers(0, 1000), st.integers(0, 255))
def test_why_proves_minimal_reasons_of_boosting_with_missing_values(seed, at):
    every = pd.DataFrame(list(product([0.0, 1.0, 2.0, np.nan], repeat=4)), columns=["a", "b", "c", "d"])
    rng = np.random.default_rng(seed)
    model = HistGradientBoostingClassifier(max_iter=5, max_depth=2, min_samples_leaf=5, random_state=0)
    model.fit(every, every.a.isna() ^ (every.b > rng.integers(2)) ^ (rng.random(256) < 0.1))
    (reason,) = why(model, every.iloc[[at]], every, changes=0).reasons
    assert_minimal(reason, model, every.iloc[[at]], every)


@draw_examples(0.07)
@given(st.integers(0, 1000))
def test_why_proves_minimal_reasons_of_a_linear_model_of_three_classes(seed):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.integers(0, 4, (60, 3)).astype(float), columns=list("abc"))
    every = pd.DataFrame(list(product(range(4), repeat=3)), columns=list("abc")).astype(float)
    rows = pd.concat([rows, every.iloc[[0, -1]]], ignore_index=True)
    model = LogisticRegression().fit(rows, np.r_[rng.integers(0, 3, 60), 0, 1])
    (reason,) = why(model, rows.iloc[[7]], rows, changes=0).reasons
    assert_minimal(reason, model, rows.iloc[[7]], every)


def test_why_proves_for_rows_beyond_the_table():
    rows = pd.DataFrame({"a": np.arange(40.0) / 4, "b": np.arange(40.0) % 5})
    model = DecisionTreeClassifier(random_state=0).fit(rows, rows.a > 5)
    (beyond,) = why(model, {"a": 25.5, "b": 2}, rows, changes=0).reasons
    assert beyond.level == "minimal" and [str(each.column) for each in beyond.conditions] == ["a"]


def test_why_believes_no_proof_that_samples_contradict(monkeypatch):
    verdict = Verdict("proved", "nobody", -1.0)
    monkeypatch.setattr(ColumnProver, "try_to_prove", lambda *_, **__: verdict)
    monkeypatch.setattr(ColumnProver, "confirm", lambda *_: True)
    monkeypatch.setattr(ReasonProver, "draw_counterexamples", lambda self, body: np.zeros((4, 0), int))
    (reason,) = why(random_tree(1), GRID.iloc[0], GRID, changes=0).reasons
    assert reason.level == "sampled" and "samples contradict" in reason.note


@draw_examples(0.07)
@given(st.integers(0, 1000))
def test_why_allows_every_category_that_keeps_the_answer(seed):
    rng = np.random.default_rng(seed)
    every = pd.DataFrame(list(product("abcde", [0.0, 1.0])), columns=["word", "n"])
    encode = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0))
    model.fit(every, [rng.integers(2) for _ in "abcde" for _ in range(2)])
    row = every.iloc[[rng.integers(10)]]
    (reason,) = why(model, row, every, changes=0).reasons
    assert_minimal(reason, model, row, every)
    outcome = model.predict(row)[0]
    words = [each for each in reason.conditions if each.column == "word"]
    assert len(words) <= 1
    if words:
        others = [each for each in reason.conditions if each.column != "word"]
        kept = every[meet_conditions(others, every)]
        right = kept.word[model.predict(kept) == outcome]
        always = set(right) - set(kept.word[model.predict(kept) != outcome])
        assert set(every.word[meet_conditions(words, every)]) == always
        assert len(always) > 1 or words == [Category("word", row.word.iloc[0])]


@pytest.mark.usefixtures("few_donors")
def test_why_says_why_there_is_no_proof():
    rows, _ = mixed_rows(0)
    (unread,) = why(ByRule(), rows.iloc[0], rows, changes=0).reasons
    assert unread.level == "sampled" and unread.note and str(unread).endswith(unread.note)
    (asked,) = why(ByRule(), rows.iloc[0], rows, proof=False, changes=0).reasons
    assert asked.level == "sampled" and not asked.note
    numbers = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 5})
    model = LogisticRegression().fit(numbers, numbers.a + 3 * numbers.b > 25)
    (unknown,) = why(model, {"b": 2}, numbers, changes=0).reasons
    assert (
        unknown.level == "sampled" and "takes no missing values, and the answer depends on a" in unknown.note
    )


def test_why_stops_in_time_and_says_so():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 12)).round(3)).add_prefix("x")
    model = RandomForestClassifier(10, random_state=0).fit(rows, rows.sum(axis=1) > 0)
    (reason,) = why(model, rows.iloc[0], rows, seconds=0.05, changes=0).reasons
    assert reason.level == "sampled" and reason.note == "there was no proof in time"


def test_why_looks_at_the_clock_between_calls_of_the_model_and_questions_to_the_prover(monkeypatch):
    """A question takes a second, and a call a hundredth of one, by a clock that nothing else moves."""
    clock = SimpleNamespace(now=0.0)

    def slow(method, seconds):
        def run(*arguments, **options):
            clock.now += seconds
            return method(*arguments, **options)

        return run

    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 9))).add_prefix("x")
    model = LogisticRegression().fit(rows, rows.sum(axis=1) > 0)
    reasoner = reasoner_of(model, rows)
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    monkeypatch.setattr(ColumnProver, "try_to_prove", slow(ColumnProver.try_to_prove, 1.0))
    monkeypatch.setattr(ClassifierTeacher, "labels", slow(ClassifierTeacher.labels, 0.01))
    reason = reasoner.explain(rows.iloc[[0]], seconds=10.0, changes=0).reasons[0]
    assert clock.now <= 3.5 and reason.level == "proved" and "was not decided in time" in reason.note


def test_why_repeats_bit_for_bit_with_a_seed():
    rows, _ = mixed_rows(0)
    one, two, other = (why(ByRule(), rows.iloc[5], rows, reasons=2, seed=seed) for seed in (0, 0, 1))
    assert one == two and write_object(one)["reasons"][0]["share"] == write_object(two)["reasons"][0]["share"]
    assert other.outcome == one.outcome


def test_why_draws_random_words_of_its_own_for_each_row(monkeypatch):
    drawn = []

    def spy(*key):
        drawn.append(key)
        return generator(*key)

    monkeypatch.setattr("hornbook.reasons.reasoner.generator", spy)
    rows, _ = mixed_rows(2)
    keys = []
    for at in (5, 6, 5):
        why(ByRule(), rows.iloc[at], rows, changes=0)
        keys.append(frozenset(drawn))
        drawn.clear()
    assert keys[0] == keys[2] and not keys[0] & keys[1]
    assert {purpose for _, purpose, *_ in keys[0]} >= {Purpose.REASON_SEARCH, Purpose.REASON_MEASUREMENT}


def test_reasons_and_changes_of_several_rows_share_one_prover(monkeypatch):
    made = []

    def spy(*key):
        made.append(key)
        return make(*key)

    monkeypatch.setattr("hornbook.reasons.changes.make", spy)
    reasoner = reasoner_of(random_tree(0), GRID)
    for at in (1, 2, 3):
        reasoner.explain(GRID.iloc[at])
    assert len(made) == 1


def test_why_gives_different_reasons_and_prefers_columns():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd"))
    model = hb.as_predictor(lambda array: array[:, :3].sum(axis=1) >= 2.0)  # any two of three
    answer = why(model, [1, 1, 1, 0], rows, reasons=3, changes=0)
    columns = [{condition.column for condition in reason.conditions} for reason in answer.reasons]
    assert sorted(map(sorted, columns)) == [["a", "b"], ["a", "c"], ["b", "c"]]
    (preferred,) = why(model, [1, 1, 1, 0], rows, prefer=["c", "b"], changes=0).reasons
    assert {condition.column for condition in preferred.conditions} == {"b", "c"}


def test_reasons_of_rare_answers_are_about_more_than_one_row():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"a": rng.lognormal(4, 1, 4000), "b": rng.integers(0, 24, 4000)})
    model = hb.as_predictor(lambda array: (array[:, 0] > 400.0) & (array[:, 1] < 6))  # 0.6 % of the rows
    for row in np.flatnonzero((rows.a > 400) & (rows.b < 6))[:5]:
        (reason,) = why(model, rows.iloc[row], rows, changes=0).reasons
        low, high = sorted(reason.conditions, key=lambda condition: condition.column)
        assert low.above and 300 < low.cut < 500 and high.cut == 5 and reason.coverage.met > 10


def test_why_keeps_unknown_values_unknown():
    rows = pd.DataFrame({"a": [0.0, 1.0, np.nan, 2.0] * 20, "b": np.arange(80.0) % 7})
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5).fit(rows, rows.a.isna())
    (reason,) = why(model, {"b": 3}, rows, changes=0).reasons
    assert reason.conditions == (Missing("a"),)


@pytest.mark.usefixtures("few_donors")
def test_why_answers_for_a_model_that_takes_no_missing_values():
    rows = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 5})
    model = LogisticRegression().fit(rows, rows.a > 20)
    answer = why(model, {"a": 35}, rows, changes=0)
    assert {condition.column for condition in answer.reasons[0].conditions} == {"a"}
    assert answer.reasons[0].keeps_share


def test_why_of_a_class_that_is_always_decided_for_needs_no_condition():
    rows = pd.DataFrame({"a": np.arange(40.0)})
    model = DecisionTreeClassifier().fit(rows, np.r_[0, np.ones(39)])
    (reason,) = why(model, [20.0], rows[1:], "good").reasons
    assert reason.conditions == () and str(reason).startswith("good, whatever the row says\n")


def test_why_of_several_classes_names_the_class_and_says_it_in_four_lines():
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(IRIS, SPECIES)
    classes = {"classes": {0: "setosa", 1: "versicolor", 2: "virginica"}}
    answer = why(model, IRIS.iloc[60], IRIS, code_book=classes)
    assert answer.outcome == "versicolor" and len(str(answer).splitlines()) == 4
    reason = write_object(answer)["reasons"][0]
    assert reason["level"] == "minimal" and reason["coverage"]["rows"] == 150
    assert len(reason["conditions"]) == len(answer.reasons[0].conditions)


def test_extractor_why_speaks_of_the_model_in_words_of_the_code_book():
    rows, classes = mixed_rows(0)
    rows = rows.assign(sex=rows.sex.map({"f": 1, "m": 2})).drop(columns="stage")
    model = HistGradientBoostingClassifier(max_iter=10).fit(rows, classes)
    book = {
        "columns": {"sex": {"label": "Sex", "levels": {1: "female", 2: "male"}}, "age": {"unit": "years"}}
    }
    explainer = hb.Explainer(model, rows, target="dead", code_book=book)
    answer = explainer.why({"age": "75", "bili": 4, "Sex": "male"}, prefer=["Sex", "age"])
    assert answer.outcome == "dead"
    assert all(reason.keeps_share for reason in answer.reasons)


def test_reasons_on_categories_of_one_column_are_one_condition():
    rows = pd.DataFrame({"stage": list("ABCDE") * 20, "b": np.arange(100) % 3})

    class NotTwo:
        classes_, feature_names_in_ = np.array([0, 1]), np.array(["stage", "b"])

        def predict(self, rows):
            return (~rows.stage.isin(["A", "B"])).to_numpy(int)

    (loose,) = why(NotTwo(), {"stage": "C", "b": 1}, rows, changes=0).reasons
    assert [condition.column for condition in loose.conditions] == ["stage"]
    (tight,) = why(NotTwo(), {"stage": "A", "b": 1}, rows, changes=0).reasons
    assert [condition.column for condition in tight.conditions] == ["stage"]
    assert meet_conditions(tight.conditions, rows).sum() in (20, 40)
    assert Category("stage", "C").implies(loose.conditions[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.0}, "a share is between 0 and 1"),
        ({"reasons": 0}, "at least one reason"),
        ({"prefer": ["agee"]}, "did you mean 'age'"),
    ],
)
def test_why_refuses_what_cannot_be(options, message):
    rows, _ = mixed_rows(0)
    with pytest.raises(HornbookError, match=message):
        why(ByRule(), rows.iloc[0], rows, **options)


def test_why_long_proof_comes_after_a_short_reason_that_samples_bear_out():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 8)).round(1), columns=list("abcdefgh"))
    weights = np.array([4.0, *[1.0] * 7])
    model = LogisticRegression().fit(rows, rows.to_numpy() @ weights > 0)
    row = int((rows["a"] > 1.5).argmax())
    (reason,) = why(model, rows.iloc[row], rows, share=0.9, changes=0).reasons
    (sampled,) = why(model, rows.iloc[row], rows, share=0.9, changes=0, proof=False).reasons
    assert reason.level == "minimal" and len(reason.facts) > 4
    assert reason.short == reason.readable == sampled
    assert len(sampled.facts) < len(reason.facts) and sampled.keeps_share
    first, *others = str(reason).splitlines()
    assert first == str(sampled).splitlines()[0]
    assert f"says label if {' and '.join(reason.facts)}; no condition can be left out" in others[2]
    assert write_object(reason)["short"]["facts"] == list(sampled.facts)
    assert sampled.short is None and write_object(sampled)["short"] is None
