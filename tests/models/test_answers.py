"""What a model is asked: each different row once, and no more than a question may."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer
from hornbook.models import bind_classifier
from hornbook.models.answers import OutOfAnswersError, afford, ask_once, hash_rows, is_spent, limit_answers

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {"a": RNG.normal(size=300), "b": RNG.integers(0, 9, 300), "c": RNG.choice(["x", "y", "z"], 300)}
)


class Counting:
    """A model that counts the rows that it is asked about."""

    def __init__(self):
        self.rows = 0

    def __call__(self, rows):
        self.rows += len(rows)
        return (rows["a"] > 0.1) & (rows["b"] > 2) | (rows["c"] == "x")


values = st.sampled_from([0, 1, 1.0, True, "1", "x", None, float("nan"), -0.5])


@given(st.lists(st.tuples(values, st.sampled_from([0.0, 1.5, float("nan")])), min_size=1, max_size=30))
def test_equal_rows_and_no_others_have_one_number(cells):
    frame = pd.DataFrame(
        {"o": pd.Series([cell for cell, _ in cells], dtype=object), "f": [f for _, f in cells]}
    )
    written = [(type(cell).__name__, str(cell), str(f)) for cell, f in cells]
    numbers = hash_rows(frame).tolist()
    assert len(set(numbers)) == len(set(written))
    assert len(set(zip(numbers, written, strict=True))) == len(set(written))


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), min_size=1, max_size=8))
def test_each_different_row_is_asked_about_once(questions):
    asked = []

    def square(rows):
        asked.extend(rows["n"].tolist())
        return rows["n"].to_numpy() ** 2

    with limit_answers() as budget:
        for numbers in questions:
            answers = ask_once(("square", 0), pd.DataFrame({"n": np.array(numbers, int)}), square)
            assert answers.tolist() == [number**2 for number in numbers]
    assert sorted(asked) == sorted({n for numbers in questions for n in numbers})
    assert budget.answers == len(asked)


def test_more_than_there_may_be_is_refused_and_inner_limits_count_for_outer_ones():
    teacher = bind_classifier(Counting(), ROWS, seed=0)
    with limit_answers(100):
        with limit_answers(40):
            teacher.labels(ROWS.head(40))
            assert is_spent() and afford(1000) == 0
            with pytest.raises(
                OutOfAnswersError, match="more than 40 answers of the model; raise max_answers"
            ):
                teacher.labels(ROWS.tail(1))
        assert afford(1000) == 60 and afford(1000, 0.5) == 32
        teacher.labels(ROWS.head(40))  # they are known
        assert afford(10) == 10


@pytest.mark.parametrize("most", [600])
def test_every_question_keeps_its_number_of_answers(most):
    model = Counting()
    explainer = Explainer(model, ROWS, ROWS["a"] > 0, target="late", max_answers=most)
    assert model.rows <= most
    questions = [
        lambda: explainer.extract(form="tree"),
        lambda: explainer.why(ROWS.iloc[0]),
        lambda: explainer.why_table(seconds=1),
        lambda: explainer.changes(ROWS.iloc[0]),
        lambda: explainer.check("more a never lowers late\na > 1 & b > 3 -> late"),
        lambda: explainer.diff(lambda rows: model(rows) & (rows["b"] < 7)),
    ]
    for ask in questions:
        model.rows = 0
        assert str(ask()) and model.rows <= most


def test_a_function_of_few_inputs_is_asked_few_times():
    few = pd.DataFrame({"a": np.arange(200) % 9 / 4, "b": np.arange(200) % 7, "c": "x"})
    model = Counting()
    explainer = Explainer(model, few, target="late")
    for ask in (explainer.extract, lambda: explainer.why(few.iloc[3])):
        model.rows = 0
        ask()
        assert model.rows < 63 + 2 * 256 + 1  # the different rows, and what is asked again at the end


def test_a_time_limit_is_kept_by_a_slow_model():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        ROWS[["a", "b"]], ROWS["a"] * ROWS["b"] > 1
    )

    asked = []

    def slow(rows):
        asked.append(len(rows))
        time.sleep(0.002 * len(rows))
        return tree.predict(rows)

    explainer = Explainer(slow, ROWS[["a", "b"]], max_answers=500)
    explainer.max_answers = None
    asked.clear()
    reason = explainer.why(ROWS[["a", "b"]].iloc[0], seconds=0.8, reasons=3)
    assert 0.002 * sum(asked) < 1.3 * 0.8, "seconds are those of all reasons and changes"
    assert "with more seconds" in str(reason) or reason.reasons[0].keeps_share
