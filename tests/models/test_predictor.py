"""A model that fails is an error that names it and the row; what is ambiguous must be said."""

import numpy as np
import pandas as pd
import pytest
import torch
from adapter_models import (
    BUILDERS,
    VOCABULARY,
    WIDTH,
    OwnForward,
    layers,
    lightgbm_classifier,
    onnx_model,
    onnx_network,
    session,
    xgboost_classifier,
)
from onnx import TensorProto, helper

from hornbook.errors import HornbookError
from hornbook.logic import Batch
from hornbook.models import as_predictor, columns_with_missing
from hornbook.models.predictor import PREDICTOR_BLOCK
from hornbook.testing import assert_refuses


def batch(array):
    return Batch.from_array(array, VOCABULARY)


class Raising:
    """Fails on rows with the first variable true."""

    def __call__(self, array):
        if (array[:, 0] == 1).any():
            raise ArithmeticError("first is true")
        return array[:, 0]


def one_bad_row(row, size=PREDICTOR_BLOCK + 200):
    array = np.zeros((size, WIDTH))
    array[row:, 0] = 1
    return batch(array)


@pytest.mark.parametrize("row", [0, PREDICTOR_BLOCK + 199])
def test_predictor_model_that_raises_is_named_with_what_it_says(row):
    assert_refuses(
        as_predictor(Raising()), one_bad_row(row), "Raising failed on ", "ArithmeticError: first is true"
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [3, PREDICTOR_BLOCK + 5])
def test_predictor_score_that_is_no_number_is_named_with_the_row(bad, row):
    predictor = as_predictor(lambda array: np.where(array[:, 0] == 1, bad, 0), name="judge")
    assert_refuses(predictor, one_bad_row(row), "judge gave a row", f"the score {bad}")


@pytest.mark.parametrize(
    ("shape", "words"),
    [((3,), "3 instead of 5"), ((), "a single number"), ((6, 2), "6 instead of 5"), ((0,), "0 instead of 5")],
)
def test_predictor_wrong_number_of_scores(shape, words):
    predictor = as_predictor(lambda array: np.zeros(shape), name="judge")
    assert_refuses(predictor, batch(np.zeros((5, WIDTH))), "judge answered 5 rows", words)


@pytest.mark.parametrize("shape", [(5, 2, 2), (5, 0)])
def test_predictor_scores_of_an_odd_shape(shape):
    predictor = as_predictor(lambda array: np.zeros(shape), name="judge")
    assert_refuses(predictor, batch(np.zeros((5, WIDTH))), "judge", str(shape))


def test_predictor_scores_that_are_no_numbers_at_all():
    predictor = as_predictor(lambda array: ["yes"] * len(array), name="judge")
    assert_refuses(predictor, batch(np.zeros((5, WIDTH))), "judge failed on 5 rows", "yes")


class BadModule(torch.nn.Module):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, inputs):
        return self.answer(inputs)


def bad_torch(answer):
    return as_predictor(BadModule(answer), output="logit")


def bad_keras(answer):
    import keras

    class Bad(keras.layers.Layer):
        def call(self, inputs):
            return answer(inputs)

        def compute_output_shape(self, shape):
            return shape[:1]

    inputs = keras.Input((WIDTH,))
    return as_predictor(keras.Model(inputs, Bad()(inputs)), output="logit")


def bad_sklearn(answer):
    from sklearn.base import BaseEstimator, RegressorMixin

    class Bad(RegressorMixin, BaseEstimator):
        n_features_in_ = WIDTH

        def fit(self, inputs, labels):
            return self

        def predict(self, inputs):
            return answer(torch.from_numpy(np.ascontiguousarray(inputs))).numpy()

        def __sklearn_is_fitted__(self):
            return True

    return as_predictor(Bad())


def bad_xgboost(answer):
    import xgboost

    class Bad(xgboost.Booster):
        def inplace_predict(self, data, **options):
            return answer(torch.from_numpy(data)).numpy()

    return as_predictor(Bad(model_file=xgboost_classifier().get_booster().save_raw()))


def bad_lightgbm(answer):
    import lightgbm

    class Bad(lightgbm.Booster):
        def predict(self, data, **options):
            return answer(torch.from_numpy(data)).numpy()

    return as_predictor(Bad(model_str=lightgbm_classifier().booster_.model_to_string()))


def raising(inputs):
    if (inputs[:, 0] == 1).any():
        raise ArithmeticError("first is true")
    return inputs[:, 0]


BAD = {f.__name__: f for f in (bad_torch, bad_keras, bad_sklearn, bad_xgboost, bad_lightgbm)}


@pytest.mark.parametrize("bad", BAD)
def test_predictor_failing_models_of_every_library(bad):
    failing = one_bad_row(7, 20)
    predictor = BAD[bad](raising)
    assert_refuses(predictor, failing, predictor.name, "failed on 20 rows", "first is true")
    predictor = BAD[bad](lambda inputs: torch.where(inputs[:, 0] == 1, torch.nan, 0.0))
    assert_refuses(predictor, failing, predictor.name, "gave a row the score nan")
    predictor = BAD[bad](lambda inputs: inputs[:-1, 0])
    assert_refuses(predictor, failing, predictor.name, "answered 20 rows", "19 instead of 20")


def onnx_scores(*nodes, rows="k", constants=()):
    """A model whose output `scores` is a matrix; column 0 is the score."""
    model = onnx_model(nodes, [("scores", TensorProto.FLOAT, [rows, WIDTH])], constants)
    return as_predictor(session(model), output="score", positive=0)


def test_predictor_failing_onnx_models():
    node = helper.make_node
    failing = one_bad_row(7, 20)
    negative = node("Neg", ["inputs"], ["negative"])
    nan = onnx_scores(negative, node("Sqrt", ["negative"], ["scores"]))
    assert_refuses(nan, failing, "InferenceSession gave a row the score nan")
    short = onnx_scores(node("ReduceMax", ["inputs"], ["scores"], axes=[0]), rows=1)
    assert_refuses(short, failing, "InferenceSession", "1 instead of 20")
    index = node("Cast", ["inputs"], ["index"], to=TensorProto.INT64)
    one = ("one", np.zeros(1, np.float32))
    outside = onnx_scores(index, node("Gather", ["one", "index"], ["scores"]), constants=[one])
    assert_refuses(outside, failing, "InferenceSession failed on 20 rows")


def test_predictor_logits_taken_for_probabilities_are_noticed():
    model = torch.nn.Sequential(*layers())
    torch.nn.init.constant_(model[2].bias, 3.0)
    predictor = as_predictor(model, output="probability", encoding="half", name="net")
    assert_refuses(predictor, one_bad_row(0, 3), "net gave a row", "pass output='logit'")


def test_predictor_forward_must_give_one_tensor():
    predictor = bad_torch(lambda inputs: (inputs, inputs))
    assert_refuses(predictor, one_bad_row(0, 3), "BadModule failed on 3 rows", "gave a tuple")


def several_inputs():
    import keras

    inputs = [keras.Input((2,)), keras.Input((4,))]
    return keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Concatenate()(inputs)))


def own_call():
    import keras

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.last = keras.layers.Dense(1, "sigmoid")

        def call(self, inputs):
            return self.last(inputs)

    return Own()


def unfitted(path):
    module, name = path.rsplit(".", 1)
    return getattr(pytest.importorskip(module), name)()


def two_outputs():
    nodes = [helper.make_node("Relu", ["inputs"], ["a"]), helper.make_node("Neg", ["inputs"], ["b"])]
    return session(onnx_model(nodes, [(name, TensorProto.FLOAT, ["k", WIDTH]) for name in "ab"]))


def two_inputs():
    kind, shape = TensorProto.FLOAT, ["k", WIDTH]
    infos = [helper.make_tensor_value_info(name, kind, shape) for name in ("inputs", "more", "sum")]
    node = helper.make_node("Add", ["inputs", "more"], ["sum"])
    graph = helper.make_graph([node], "graph", infos[:2], infos[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return session(model.SerializeToString())


def three_classes():
    from sklearn.naive_bayes import BernoulliNB

    return BernoulliNB().fit(np.eye(3), ["a", "b", "c"])


def logistic():
    return BUILDERS["logistic"]().outputs.args[0].__self__


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: 7, {}, "a int is not a supported model; give a function of an array, or a model of keras"),
        (
            lambda: unfitted("sklearn.preprocessing.StandardScaler"),
            {},
            "a StandardScaler is not a supported model",
        ),
        (lambda: as_predictor(len), {}, "len is a predictor already"),
        (lambda: unfitted("sklearn.linear_model.LogisticRegression"), {}, "LogisticRegression is not fitted"),
        (lambda: unfitted("lightgbm.LGBMClassifier"), {}, "LGBMClassifier is not fitted"),
        (lambda: unfitted("xgboost.XGBClassifier"), {}, "XGBClassifier is not fitted"),
        (logistic, {"positive": "yes"}, r"knows no class 'yes'; its classes are \[.*0.*, .*1.*\]"),
        (logistic, {"output": "logit"}, "leave output='logit' out"),
        (three_classes, {}, "knows the classes .* say which is positive, e.g. positive='a'"),
        (lambda: len, {"output": "odds"}, "'probability', 'logit' or 'score', not 'odds'"),
        (lambda: len, {"positive": "yes"}, "positive is a column of its output, not 'yes'"),
        (lambda: len, {"positive": -1}, "positive is a column of its output, not -1"),
        (lambda: len, {"encoding": "none"}, "unknown encoding 'none'"),
        (lambda: len, {"threshold": np.nan}, "the threshold is a score, not nan"),
        (OwnForward, {}, "cannot tell whether OwnForward gives probabilities or logits"),
        (lambda: torch.nn.Sequential(*layers(), torch.nn.Tanh()), {}, "pass output='probability' or"),
        (lambda: torch.nn.Sequential(), {}, "cannot tell whether Sequential"),
        (several_inputs, {}, "Functional takes several inputs"),
        (own_call, {}, "Own is not built yet"),
        (lambda: session(onnx_network("Relu")), {}, "cannot tell whether InferenceSession"),
        (two_outputs, {}, "has the outputs a, b; keep one"),
        (two_inputs, {}, r"should take one matrix of numbers, or .*, not inputs: tensor\(float\) .*, more"),
    ],
)
def test_predictor_what_cannot_be_asked_or_is_ambiguous(make, options, message):
    with pytest.raises(HornbookError, match=message):
        as_predictor(make(), **options)


def test_predictor_keras_model_with_its_own_call_needs_the_output_said():
    model = own_call()
    model(np.zeros((1, WIDTH), np.float32))
    with pytest.raises(HornbookError, match="cannot tell whether Own"):
        as_predictor(model)
    scores = as_predictor(model, output="probability")(one_bad_row(1, 3))
    assert scores.shape == (3,)


@pytest.mark.parametrize(
    ("columns", "positive", "message"),
    [(3, None, "3 classes; say which is positive"), (2, 2, "no class 2, only 0 to 1"), (1, 2, "no class 2")],
)
def test_predictor_columns_that_are_ambiguous_or_absent(columns, positive, message):
    predictor = as_predictor(lambda array: array[:, :columns], name="judge", positive=positive)
    assert_refuses(predictor, one_bad_row(0, 3), "judge", message)


def test_predictor_regressor_has_no_positive_class():
    model = BUILDERS["regressor"]().outputs.args[0].__self__
    with pytest.raises(HornbookError, match="LinearRegression has no classes"):
        as_predictor(model, positive=1)


def test_columns_with_missing_asks_once_about_each_column():
    """And once about all; that a model fails is an answer, whichever row it fails on."""
    asked = []

    def model(rows):
        asked.append(len(rows))
        if np.isnan(rows).any():
            raise ValueError("no NaN")
        return rows[:, 0]

    table = pd.DataFrame(np.random.default_rng(0).random((9, 5)), columns=list("abcde"))
    assert columns_with_missing(as_predictor(model), table) == frozenset()
    assert asked == [20, 4, 4, 4, 4, 4]


def test_columns_with_missing_asks_about_several_columns_of_a_wide_table_at_a_time(monkeypatch):
    asked = []

    def model(rows):
        asked.append(rows.shape)
        if np.isnan(rows[:, 3]).any():
            raise ValueError("no NaN in column 3")
        return np.zeros(len(rows))

    table = pd.DataFrame(np.eye(8), columns=list("abcdefgh"))
    predictor = as_predictor(model)
    assert columns_with_missing(predictor, table) == frozenset("abcefgh")
    assert len(asked) == 1 + 7 * 2 + 1  # score and decision; which row it fails on is not sought
    monkeypatch.setattr("hornbook.models.inputs.MAX_VALUES_ASKED", 2 * 4 * 8)
    asked.clear()
    assert columns_with_missing(predictor, table) == frozenset("efgh")  # its neighbours are completed too
    assert max(rows * columns for rows, columns in asked) == 2 * 4 * 8
