"""Scores are those of the library itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from adapter_models import (
    BUILDERS,
    VOCABULARY,
    WIDTH,
    OwnForward,
    examples,
    layers,
    lightgbm_classifier,
    onnx_model,
    onnx_network,
    session,
    xgboost_classifier,
)
from onnx import TensorProto, helper

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import Encoding, as_predictor, find_predictor
from hornbook.testing import assert_refuses

SIZE = 200
PARTIAL = np.random.default_rng(5).choice([0, 1, np.nan], (SIZE, WIDTH))
COMPLETE = np.random.default_rng(6).integers(0, 2, (SIZE, WIDTH)).astype(float)


def batch(array):
    return Batch.from_array(array, VOCABULARY)


def half(array):
    return np.nan_to_num(array, nan=0.5).astype(np.float32)


def test_functions_see_the_encoding_and_may_decide():
    predictor = as_predictor(lambda array: array[:, 0] == -7, encoding=Encoding(unknown=-7))
    np.testing.assert_array_equal(predictor(batch(PARTIAL)), np.isnan(PARTIAL[:, 0]))


def test_as_predictor_threshold_and_positive_column():
    def columns(array):
        return np.stack([array[:, 0], 1 - array[:, 0], 0 * array[:, 0]], axis=1)

    for positive, expected in ((0, PARTIAL[:, 0]), (1, 1 - PARTIAL[:, 0])):
        predictor = as_predictor(columns, encoding="half", positive=positive, threshold=0.75)
        assert (predictor.positive, predictor.threshold) == (positive, 0.75)
        np.testing.assert_array_equal(predictor.decide(batch(PARTIAL)), expected == 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.bool_, np.int8, object])
@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_as_predictor_any_number_type_becomes_float32(dtype, shape):
    predictor = as_predictor(lambda array: array[:, 0].astype(dtype).reshape(shape))
    scores = predictor(batch(COMPLETE))
    assert scores.dtype == np.float32
    np.testing.assert_array_equal(scores, COMPLETE[:, 0])


def test_as_predictor_single_score_is_about_class_1():
    predictor = as_predictor(lambda array: array[:, 0], encoding="half", positive=0)
    np.testing.assert_allclose(predictor(batch(PARTIAL)), 1 - half(PARTIAL)[:, 0])


@pytest.mark.parametrize("model", ["logistic", "pipeline", "histogram_boosting", "logistic_on_a_frame"])
def test_as_predictor_sklearn_probabilities(model):
    predictor = BUILDERS[model]()
    estimator = predictor.outputs.args[0].__self__
    array = {"logistic": COMPLETE, "logistic_on_a_frame": half(PARTIAL)}.get(model, PARTIAL)
    frame = pd.DataFrame(array, columns=VOCABULARY.names) if predictor.names else array
    column = list(estimator.classes_).index(predictor.positive)
    asked = COMPLETE if model == "logistic" else PARTIAL
    np.testing.assert_allclose(predictor(batch(asked)), estimator.predict_proba(frame)[:, column], rtol=1e-5)


def test_as_predictor_classifier_that_only_decides_gives_0_and_1():
    predictor = BUILDERS["support_vectors"]()
    scores = predictor(batch(PARTIAL))
    assert set(scores) == {0, 1}
    assert predictor.encoding == Encoding()


def test_as_predictor_regressor_is_taken_as_it_is():
    predictor = BUILDERS["regressor"]()
    scores = predictor(batch(COMPLETE))
    assert scores.min() < 0 or scores.max() > 1
    assert predictor.threshold == 0.6


def test_as_predictor_native_models_get_nan_unless_told_otherwise():
    for name in ("histogram_boosting", "xgboost_classifier", "xgboost_booster", "lightgbm_booster"):
        assert BUILDERS[name]().encoding == Encoding(unknown=np.nan)
    assert not BUILDERS["logistic"]().encoding.native


def test_xgboost_takes_nan_for_missing_beside_a_marker_of_its_own():
    import xgboost

    inputs, labels = examples()
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1, missing=-1.0)
    model.fit(np.nan_to_num(inputs, nan=-1), labels)
    predictor = as_predictor(model)
    assert predictor.encoding == Encoding(unknown=np.nan)
    probability = model.predict_proba(np.nan_to_num(inputs, nan=-1))[:, 1]
    np.testing.assert_array_equal(predictor.score_rows(inputs), probability)
    ages = pd.DataFrame({"age": np.arange(20.0, 80.0)})
    marked = xgboost.XGBClassifier(n_estimators=2, n_jobs=1, missing=-1.0).fit(ages, ages.age > 50)
    predictor, _ = find_predictor(marked, ages)
    assert predictor.classify_rows(predictor.read(ages)).tolist() == marked.predict(ages).tolist()


def test_as_predictor_boosters_and_their_classifiers_agree():
    for name, classifier in (("xgboost", xgboost_classifier()), ("lightgbm", lightgbm_classifier())):
        of_class_1 = BUILDERS[f"{name}_booster"]()(batch(PARTIAL))
        positive = classifier.classes_[1]
        np.testing.assert_allclose(as_predictor(classifier, positive=positive)(batch(PARTIAL)), of_class_1)
        np.testing.assert_allclose(
            as_predictor(classifier, positive=classifier.classes_[0])(batch(PARTIAL)),
            1 - of_class_1,
            atol=1e-6,
        )


def test_as_predictor_xgboost_of_three_classes():
    import xgboost

    inputs, labels = examples()
    data = xgboost.DMatrix(inputs, labels + (inputs[:, 3] == 1))
    booster = xgboost.train({"objective": "multi:softprob", "num_class": 3, "nthread": 1}, data, 3)
    scores = as_predictor(booster, positive=2)(batch(PARTIAL))
    np.testing.assert_allclose(scores, booster.inplace_predict(PARTIAL.astype(np.float32))[:, 2])
    with pytest.raises(HornbookError, match="say which is positive"):
        as_predictor(booster)(batch(PARTIAL))


def test_as_predictor_xgboost_raw_margins_are_logits():
    import xgboost

    data = xgboost.DMatrix(*examples())
    booster = xgboost.train({"objective": "binary:logitraw", "nthread": 1}, data, 3)
    margins = booster.inplace_predict(PARTIAL.astype(np.float32))
    np.testing.assert_allclose(as_predictor(booster)(batch(PARTIAL)), 1 / (1 + np.exp(-margins)), rtol=1e-5)


def test_as_predictor_torch_logits_and_probabilities_agree():
    linear = torch.nn.Sequential(*layers())
    ended = torch.nn.Sequential(linear, torch.nn.Sigmoid())
    own = OwnForward()
    own.parts[:3].load_state_dict(linear.state_dict())
    expected = ended(torch.from_numpy(half(PARTIAL))).detach().numpy()[:, 0]
    for model, output in ((linear, None), (ended, None), (own, "logit")):
        scores = as_predictor(model, encoding="half", output=output)(batch(PARTIAL))
        np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("last", [torch.nn.Softmax(1), torch.nn.LogSoftmax(1), torch.nn.Identity()])
def test_as_predictor_torch_softmax_heads(last):
    model = torch.nn.Sequential(*layers(3), last)
    output = "logit" if isinstance(last, torch.nn.Identity) else None
    logits = model[:3](torch.from_numpy(half(PARTIAL))).detach()
    scores = as_predictor(model, encoding="half", positive=2, output=output)(batch(PARTIAL))
    np.testing.assert_allclose(scores, logits.softmax(1)[:, 2].numpy(), atol=1e-6)


def test_as_predictor_torch_modules_are_left_as_they_were():
    model = torch.nn.Sequential(*layers(), torch.nn.BatchNorm1d(1), torch.nn.Dropout(0.9), torch.nn.Sigmoid())
    model[3].eval()
    before = [module.training for module in model.modules()]
    buffers = {name: value.clone() for name, value in model.named_buffers()}
    predictor = as_predictor(model, encoding="half")
    scores = predictor(batch(PARTIAL))
    np.testing.assert_array_equal(scores, predictor(batch(PARTIAL)))
    assert [module.training for module in model.modules()] == before
    assert all(torch.equal(value, buffers[name]) for name, value in model.named_buffers())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())


def test_as_predictor_torch_modules_are_left_as_they_were_when_they_fail():
    model = torch.nn.Sequential(*layers(inputs=WIDTH + 1))
    predictor = replace(as_predictor(model, encoding="half"), inputs=None)
    assert_refuses(predictor, batch(PARTIAL), "Sequential failed on ")
    assert model.training


def test_as_predictor_keras_agrees_with_itself():
    import keras

    predictor = BUILDERS["keras_functional"]()
    model = predictor.outputs.__self__
    signed = np.nan_to_num(2 * PARTIAL - 1, nan=0).astype(np.float32)
    expected = keras.ops.softmax(model(signed, training=False)).detach().numpy()[:, 2]
    np.testing.assert_allclose(predictor(batch(PARTIAL)), expected, atol=1e-6)


def test_as_predictor_onnx_agrees_with_what_it_was_made_from():
    expected = BUILDERS["logistic"]()(batch(COMPLETE))
    for name in ("onnx_of_logistic", "onnx_of_logistic_as_maps"):
        np.testing.assert_allclose(BUILDERS[name]()(batch(COMPLETE)), expected, atol=1e-6)


def test_as_predictor_onnx_fixed_rows_and_logits_agree():
    expected = BUILDERS["onnx_sigmoid"]()(batch(PARTIAL))
    np.testing.assert_allclose(BUILDERS["onnx_fixed_rows"]()(batch(PARTIAL)), expected, atol=1e-6)
    linear = as_predictor(session(onnx_network("Identity")), encoding="half")
    assert linear.output == "logit"
    np.testing.assert_allclose(linear(batch(PARTIAL)), expected, atol=1e-6)


def test_as_predictor_onnx_with_labels_alone_decides():
    nodes = [helper.make_node("ArgMax", ["inputs"], ["label"], axis=1, keepdims=0)]
    model = onnx_model(nodes, [("label", TensorProto.INT64, ["k"])])
    scores = as_predictor(session(model), positive=2)(batch(COMPLETE))
    np.testing.assert_array_equal(scores, COMPLETE.argmax(axis=1) == 2)


def test_as_predictor_integer_inputs():
    nodes = [helper.make_node("Cast", ["inputs"], ["scores"], to=TensorProto.FLOAT)]
    model = onnx_model(nodes, [("scores", TensorProto.FLOAT, ["k", WIDTH])], kind=TensorProto.INT64)
    predictor = as_predictor(session(model), output="score", positive=3, encoding=Encoding(unknown=-1))
    np.testing.assert_array_equal(predictor(batch(PARTIAL)), np.nan_to_num(PARTIAL[:, 3], nan=-1))


def test_as_predictor_names_of_a_frame_are_compared():
    names = list(VOCABULARY.names)
    names[1], names[4] = names[4], names[1]
    predictor = BUILDERS["logistic_on_a_frame"]()
    with pytest.raises(HornbookError, match=r"input 1 of LogisticRegression was called 'smoker' .* is 'y'"):
        predictor.check(Vocabulary(names))
    predictor.check(VOCABULARY)
