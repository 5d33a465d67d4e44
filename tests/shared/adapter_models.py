"""Small real models of every library over one vocabulary, as predictors, each built once."""

import os
from functools import cache

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import pandas as pd
import torch
from onnx import TensorProto, helper, numpy_helper

from hornbook.logic import Vocabulary
from hornbook.models import as_predictor

VOCABULARY = Vocabulary(["age=high", "smoker", "ascites", "x", "y", "z"])
WIDTH = len(VOCABULARY)


@cache
def examples(missing=0.2):
    rng = np.random.default_rng(1)
    inputs = rng.integers(0, 2, (300, WIDTH)).astype(float)
    labels = (inputs[:, 0] + inputs[:, 1] * inputs[:, 2] > 0).astype(int)
    inputs[rng.random(inputs.shape) < missing] = np.nan
    return inputs, labels


def layers(outputs=1, inputs=WIDTH, seed=0):
    torch.manual_seed(seed)
    return [torch.nn.Linear(inputs, 4), torch.nn.ReLU(), torch.nn.Linear(4, outputs)]


class OwnForward(torch.nn.Module):
    """A module whose source alone tells what it gives; it insists on rows in order."""

    def __init__(self, outputs=1):
        super().__init__()
        self.parts = torch.nn.Sequential(*layers(outputs), torch.nn.Dropout(0.5))

    def forward(self, inputs):
        return self.parts(inputs.view(-1, WIDTH))


def onnx_model(nodes, outputs, constants=(), rows="k", kind=TensorProto.FLOAT):
    """A graph from `inputs` to outputs given as (name, type, shape)."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("inputs", kind, [rows, WIDTH])],
        [helper.make_tensor_value_info(*output) for output in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def onnx_network(last="Sigmoid", rows="k", outputs=1):
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(WIDTH, outputs)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["inputs", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sum"]),
        helper.make_node(last, ["sum"], ["scores"]),
    ]
    bias = np.full(outputs, 0.1, np.float32)
    shape = [rows, outputs]
    return onnx_model(
        nodes, [("scores", TensorProto.FLOAT, shape)], [("weights", weights), ("bias", bias)], rows
    )


def session(model):
    import onnxruntime

    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def function():
    return as_predictor(lambda array: array.mean(axis=1), encoding="half", name="mean")


def complete_function():
    return as_predictor(lambda array: array[:, :2], name="two columns")


def logistic():
    from sklearn.linear_model import LogisticRegression

    return as_predictor(LogisticRegression().fit(*examples(0)))


def logistic_on_a_frame():
    from sklearn.linear_model import LogisticRegression

    inputs, labels = examples(0)
    named = np.array(["dies", "survives"])[labels]
    model = LogisticRegression().fit(pd.DataFrame(inputs, columns=VOCABULARY.names), named)
    return as_predictor(model, encoding="half", positive="dies")


def pipeline():
    from sklearn.impute import SimpleImputer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    network = MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0)
    return as_predictor(make_pipeline(SimpleImputer(), network).fit(*examples()), encoding="nan")


def histogram_boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return as_predictor(HistGradientBoostingClassifier(max_iter=5).fit(*examples()))


def support_vectors():
    from sklearn.svm import LinearSVC

    return as_predictor(LinearSVC().fit(*examples(0)), encoding="half")


def regressor():
    from sklearn.linear_model import LinearRegression

    return as_predictor(LinearRegression().fit(*examples(0)), threshold=0.6)


def torch_sequential():
    return as_predictor(torch.nn.Sequential(*layers(), torch.nn.Sigmoid()), encoding="half")


def torch_double():
    return as_predictor(torch.nn.Sequential(*layers()).double(), encoding="signed")


def torch_bfloat16():
    return as_predictor(torch.nn.Sequential(*layers()).bfloat16(), encoding="half")


def torch_two_channels():
    return as_predictor(torch.nn.Sequential(*layers(2, 2 * WIDTH)), encoding="two-channel")


def torch_own_forward():
    return as_predictor(OwnForward(2), encoding="half", output="logit", positive=0)


def keras_sequential():
    import keras

    keras.utils.set_random_seed(0)
    dense = keras.layers.Dense
    model = keras.Sequential([keras.Input((WIDTH,)), dense(4, "relu"), dense(1, "sigmoid")])
    return as_predictor(model, encoding="half")


def keras_functional():
    import keras

    keras.utils.set_random_seed(0)
    inputs = keras.Input((WIDTH,))
    hidden = keras.layers.Dropout(0.5)(keras.layers.Dense(4, "relu")(inputs))
    model = keras.Model(inputs, keras.layers.Dense(3)(hidden))
    return as_predictor(model, encoding="signed", positive=2)


def onnx_sigmoid():
    return as_predictor(session(onnx_network()), encoding="half")


def onnx_fixed_rows():
    return as_predictor(session(onnx_network(rows=7)), encoding="half")


def onnx_logits():
    return as_predictor(session(onnx_network("Identity", outputs=2)), encoding="signed")


def onnx_of_logistic():
    return as_predictor(session(sklearn_as_onnx(zipmap=False)), encoding="half")


def onnx_of_logistic_as_maps():
    return as_predictor(session(sklearn_as_onnx(zipmap=True)))


@cache
def sklearn_as_onnx(zipmap):
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression

    inputs, labels = examples(0)
    model = LogisticRegression().fit(inputs, labels)
    return to_onnx(model, inputs[:1].astype(np.float32), options={"zipmap": zipmap}).SerializeToString()


@cache
def xgboost_classifier():
    import xgboost

    return xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(*examples())


@cache
def lightgbm_classifier():
    import lightgbm

    model = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, min_child_samples=5, verbose=-1)
    inputs, labels = examples()
    return model.fit(inputs, np.array(["dies", "survives"])[labels])


BUILDERS = {
    build.__name__: cache(build)
    for build in (
        function,
        complete_function,
        logistic,
        logistic_on_a_frame,
        pipeline,
        histogram_boosting,
        support_vectors,
        regressor,
        torch_sequential,
        torch_double,
        torch_bfloat16,
        torch_two_channels,
        torch_own_forward,
        keras_sequential,
        keras_functional,
        onnx_sigmoid,
        onnx_fixed_rows,
        onnx_logits,
        onnx_of_logistic,
        onnx_of_logistic_as_maps,
    )
}
BUILDERS |= {
    "xgboost_classifier": cache(lambda: as_predictor(xgboost_classifier())),
    "xgboost_booster": cache(lambda: as_predictor(xgboost_classifier().get_booster())),
    "lightgbm_classifier": cache(lambda: as_predictor(lightgbm_classifier(), positive="dies")),
    "lightgbm_booster": cache(lambda: as_predictor(lightgbm_classifier().booster_)),
}
