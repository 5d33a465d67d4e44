"""Theories by queries, from judges and classifiers, with a guarantee: by each learner."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer, Extraction, HornTheory, Vocabulary, as_predictor, learn, load
from hornbook.errors import HornbookError
from hornbook.extraction import learning
from hornbook.logic import Batch
from hornbook.queries import QuerySubject
from hornbook.statistics import Share
from hornbook.tables import split_rows

FRAME = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd")).astype(float)
LABELS = (FRAME.a == 1) & ((FRAME.b == 1) | (FRAME.c == 0))
TREE = DecisionTreeClassifier(random_state=0).fit(FRAME, LABELS)
SMALL = {"epsilon": 0.2, "max_queries": 6}


@pytest.fixture(autouse=True, scope="module")
def few_samples():
    patch = pytest.MonkeyPatch()
    patch.setattr(learning, "POOL_SAMPLES", 400)
    patch.setattr(learning, "FRESH_SAMPLES", 200)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def explainer():
    return Explainer(TREE, FRAME, target="ill")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run folder of the extraction."""
    return tmp_path_factory.mktemp("fitted")


@pytest.fixture(scope="module")
def extraction(explainer, folder):
    return explainer.learn(folder=folder, **SMALL)


@pytest.fixture(scope="module")
def one_rule(explainer):
    return explainer.learn(max_rules=1, **SMALL)


def judge(array):
    return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))


def waves(array):
    """A model with more to say than a few rules can."""
    return np.sin(3 * np.nan_to_num(array)).sum(axis=1) > 0.3


def agreement(extraction, rows):
    """The share of rows on which the rules say what the tree says."""
    return np.mean(extraction.predict(rows) == TREE.predict(rows))


def test_judge_is_learned_by_queries(tmp_path):
    theory = HornTheory.parse("a & b -> c")
    frame = FRAME[list("abc")]
    extraction = learn(as_predictor(judge, encoding="half"), frame, folder=tmp_path, **SMALL)
    assert extraction.theory.over(theory.vocabulary).equivalent(theory)
    assert (extraction.predict(frame) == judge(frame.to_numpy())).all()
    assert extraction.predict(frame).dtype == bool
    assert extraction.fidelity.population == "samples"
    last = json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[-1])
    assert last["guarantee"] == "pac" == extraction.guarantee.kind
    assert extraction.explanation.classes == ("rejected", "accepted")
    again = Extraction.from_json(extraction.to_json())
    assert again.to_json() == extraction.to_json() and again.theory == extraction.theory
    with pytest.raises(HornbookError, match="the shortest explanation has 2 literals"):
        extraction.choose(1)


def test_queries_find_the_rules_of_a_tree_and_resume(extraction, explainer, folder, one_rule, tmp_path):
    assert agreement(extraction, FRAME) == 1 and extraction.theory.entails("a & b -> ill")
    assert load(folder).theory == extraction.theory
    with pytest.raises(HornbookError, match="it is finished"):
        explainer.learn(folder=folder, **SMALL)
    shutil.copy(folder / "config.json", tmp_path)
    lines = (folder / "trace.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "trace.jsonl").write_text("".join(lines[:2]))
    assert explainer.learn(folder=tmp_path, **SMALL).theory == extraction.theory
    assert (tmp_path / "trace.jsonl").read_text() == "".join(lines)
    assert len(extraction.theory) > 1 == len(one_rule.theory)
    shown, statistics = extraction.explanation.lines(), extraction.lines
    assert len(shown) == len(statistics) == len(extraction.theory) + 1
    assert shown[-1].text == "otherwise"


def test_rows_that_rules_leave_open_get_the_default(one_rule):
    rules = one_rule.explanation
    left = rules.derive(rules.binariser.batch(FRAME)) == -1
    decided = one_rule.predict(FRAME)
    assert left.any() and (decided[left] == bool(rules.default)).all()
    assert "undetermined" in one_rule.notes[0]


@pytest.mark.parametrize("table", ["numbers", "variables"])
def test_nothing_is_made_from_the_rows_held_out(table):
    """Whatever stands in them, all is the same but for the figure that is measured on them."""
    numbers = pd.DataFrame(np.random.default_rng(2).standard_normal((150, 3)), columns=list("xyz"))
    frame, other = {"numbers": (numbers, 9.0), "variables": (FRAME.iloc[:150], 1.0)}[table]
    model = as_predictor(waves, encoding="nan")
    each = range(150)  # every row is its own group, whatever stands in it
    first = Explainer(model, frame, target="ill", groups=each).learn(**SMALL | {"max_queries": 2})
    _, held_out = split_rows(frame, 0, groups=each)
    changed = frame.copy()
    changed.iloc[held_out] = other
    explainer = Explainer(model, changed, target="ill", groups=each)
    again = explainer.learn(**SMALL | {"max_queries": 2})
    assert len(first.theory) and again.theory == first.theory
    assert [(line.support, line.precision) for line in again.lines] == [
        (line.support, line.precision) for line in first.lines
    ]
    assert again.fidelity.samples == first.fidelity.samples
    assert again.explanation.default == first.explanation.default
    rows = changed.iloc[held_out]
    same = again.explanation.decide(rows) == explainer.subject.teacher.labels(rows)
    assert again.fidelity.share == Share.of(30 if same.all() else 0, 30)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME.to_numpy(),
        lambda: FRAME.astype(bool),
        lambda: FRAME.astype("Int64"),
    ],
)
def test_tables_of_all_kinds_give_the_same_variables(make):
    table = make()
    model = DecisionTreeClassifier(random_state=0).fit(np.asarray(table, float), LABELS)
    other = Explainer(model, table, target="ill").learn(**SMALL)
    names = [f"x{v}" for v in range(4)] if isinstance(table, np.ndarray) else list("abcd")
    assert other.explanation.binariser.vocabulary.names == (*names, *(f"not_{name}" for name in names))
    assert len(other.columns) == np.shape(table)[1]
    assert (other.predict(table) == TREE.predict(FRAME)).all()


def test_model_of_raw_columns_is_asked_about_observed_values():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extraction = Explainer(model, X, target="virginica").learn(**SMALL)
    assert np.mean(extraction.predict(X) == model.predict(X)) > 0.9
    assert any("several values observed" in note for note in extraction.notes)
    explained = extraction.explain({"petal width (cm)": 2.4, "petal length (cm)": 6.0})
    assert str(explained).startswith("virginica, because\n")


def test_explain_takes_rows_of_every_kind_and_shows_itself(extraction):
    row = {"a": 1, "b": 1, "c": 1, "d": 0}
    told = [row, pd.Series(row), list(row.values()), pd.DataFrame([row]), np.array([[1, 1, 1, 0]])]
    texts = {str(extraction.explain(each)) for each in told}
    assert len(texts) == 1 and texts.pop().startswith("ill, because\n")
    with pytest.raises(HornbookError, match="the table has no column 'e'; it has a, b, c, d"):
        extraction.explain({"e": 1})
    assert "ill" in extraction._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Explainer(TREE, FRAME).learn(epsilon=0), "epsilon is between 0 and 1"),
        (lambda: learn(LinearRegression().fit(FRAME, LABELS), FRAME, target="ill"), "threshold="),
        (lambda: Explainer(TREE, FRAME, target="a").learn(**SMALL), "'a' is a feature already"),
        (lambda: Explainer(TREE, FRAME).learn(learner="magic"), "one of prime, lrn_star, horn1"),
        (lambda: Explainer(TREE, FRAME).learn(learner="horn1"), "variables without duals"),
        (lambda: Explainer(TREE, FRAME).learn(budget=1), "there is no option 'budget'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


def test_binding_before_learning_is_what_is_learned_about():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    subject = QuerySubject.bind(model, X, target="virginica")
    with pytest.raises(HornbookError, match="reads the columns of the table"):
        subject.teacher.prover()
    with pytest.raises(HornbookError, match="reads the columns of the table"):
        Explainer(model, X, target="virginica").learn(proof=True)
    extraction = Explainer(model, X, target="virginica").learn(max_queries=1)
    assert extraction.explanation.binariser.vocabulary == subject.teacher.binariser.vocabulary


THEORIES = {
    "one rule": "a & b -> c",
    "three rules": "a & b -> c\nc & d -> false\ne -> a",
}


@pytest.mark.parametrize("learner", ["prime", "lrn_star", "horn1"])
@pytest.mark.parametrize("name", THEORIES)
def test_every_learner_learns_about_a_function_of_complete_rows(learner, name):
    """A judge that is a plain function is asked about complete rows only."""
    vocabulary = Vocabulary(list("abcde"))
    theory = HornTheory.parse(THEORIES[name], vocabulary)

    def accepts(array):
        assert not np.isnan(array).any()
        return theory.satisfied_by(Batch.from_array(array, vocabulary))

    extraction = learn(accepts, vocabulary, learner=learner, sample_size=2000)
    assert extraction.theory.equivalent(theory)
    assert extraction.guarantee.kind == "estimated" and extraction.fidelity.share.estimate == 1
    assert extraction.provenance["settings"]["learner"] == learner
    again = learn(accepts, FRAME.assign(e=1 - FRAME.a), learner=learner, max_queries=1)
    assert again.stop_reason == "budget of 1 equivalence queries" or again.stop_reason == "equivalent"


def test_lrn_star_as_printed_is_run_on_a_judge_of_partial_interpretations():
    theory = HornTheory.parse("a & b -> c\nc & d -> false")
    model = as_predictor(
        lambda array: theory.satisfied_by(
            Batch.from_array(np.where(array == 0.5, np.nan, array), theory.vocabulary)
        ),
        encoding="half",
    )
    frame = FRAME[["a", "b", "d"]].assign(c=FRAME.c)[list(theory.vocabulary.names)]
    extraction = learn(model, frame, learner="lrn_star", sample_size="paper")
    assert extraction.theory.equivalent(theory)
    assert extraction.stop_reason.startswith("no counterexample among ")


def test_horn1_stops_at_the_first_answer_that_no_horn_teacher_gives():
    extraction = learn(lambda array: array.sum(axis=1) >= 1, Vocabulary(list("abc")), learner="horn1")
    assert "the teacher is not Horn: it accepts {" in extraction.stop_reason
    assert extraction.guarantee.kind == "estimated" and "not Horn" in str(extraction)


def test_rules_about_a_network_are_proved(tmp_path):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    with torch.no_grad():
        net[0].weight[:] = torch.tensor([[1.0, 1, -1]] * 4)
        net[0].bias[:] = -1.5
        net[2].weight[:] = -1.0
        net[2].bias[:] = 0.1
    model = as_predictor(net, encoding="half", output="logit")
    extraction = learn(model, FRAME[list("abc")], proof=True, folder=tmp_path, **SMALL)
    kinds = [line.guarantee.kind for line in extraction.lines]
    assert kinds and set(kinds) <= {"proved", "refuted"} and "proved" in kinds
    assert load(tmp_path).lines == extraction.lines
