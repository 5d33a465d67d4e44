"""Models behind an endpoint: protocols, batches, retries, credentials, the cache of answers."""

from __future__ import annotations

import json
import pickle
import sys
import threading
import time
import zlib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from model_servers import Reply, read_rows, serve, serve_mlflow

import hornbook as hb
from hornbook.errors import HornbookError, ModelError, ModelTimeout
from hornbook.models import AnswerCheck, as_predictor, ask_anew, bind_classifier, load_model
from hornbook.remote import Endpoint, EndpointSettings
from hornbook.remote import http as endpoint_http
from hornbook.remote.endpoint import AnswerCache, row_key
from hornbook.remote.predictor import find_classes, read_labels, read_scores, unwrap_answers
from hornbook.remote.protocols import CellRows, JsonProtocol, MlflowProtocol

ROWS = pd.DataFrame({"age": [20.0, 40.0, np.nan, 80.0], "visits": [1, 2, 3, 4], "sex": ["f", "m", "f", None]})


@pytest.fixture(autouse=True)
def _quick_and_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Answers are kept apart from those of other tests, and retries wait for milliseconds."""
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(endpoint_http, "FIRST_DELAY", 0.0005)
    for name in ("HORNBOOK_ENDPOINT_TOKEN", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def old(rows: pd.DataFrame) -> list[Any]:
    """The class of each row: old from 50 on, and where the age is missing."""
    ages = pd.to_numeric(rows.iloc[:, 0])
    return ["young" if age < 50 else "old" for age in ages]


def probability(rows: pd.DataFrame) -> list[Any]:
    """The probabilities of two classes."""
    ages = pd.to_numeric(rows.iloc[:, 0]).fillna(100).to_numpy(float)
    return np.stack([1 - ages / 100, ages / 100], axis=1).tolist()


def numbers(size: int, seed: int = 0) -> pd.DataFrame:
    return pd.DataFrame({"age": np.random.default_rng(seed).uniform(0, 100, size)})


def test_mlflow_requests_keep_words_and_missing_values() -> None:
    with serve_mlflow(old) as server:
        endpoint = Endpoint(f"{server.url}/invocations")
        assert endpoint.answer_rows(ROWS) == ["young", "young", "old", "old"]
        rows = read_rows(server.bodies[0])
        assert list(rows.columns) == ["age", "visits", "sex"]
        assert rows["sex"].tolist()[:3] == ["f", "m", "f"] and rows.isna().sum().sum() == 2


def test_the_open_inference_protocol_is_a_function_of_json(tmp_path: Path) -> None:
    def infer(path: str, body: Any, number: int) -> Reply:
        (tensor,) = body["inputs"]
        assert path == "/v2/models/tumours/infer" and tensor["shape"] == [len(tensor["data"]), 2]
        scores = [age / 100 for age, _ in tensor["data"]]
        return Reply({"outputs": [{"name": "y", "shape": [len(scores)], "data": scores}]})

    with serve(infer) as server:
        (tmp_path / "v2.toml").write_text(
            f'url = "{server.url}/v2/models/tumours/infer"\nprotocol = "json"\nanswers = "outputs.0.data.*"\n'
            'request.inputs = [{name = "x", datatype = "FP64", shape = ["$count", 2], data = "$values"}]\n'
        )
        endpoint = Endpoint(tmp_path / "v2.toml")
        assert endpoint.answer_rows(ROWS[["age", "visits"]].dropna()) == [0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("request_lines", "response"),
    [
        (
            'request = {instances = "$rows", k = 1}\nanswers = "out.*.p"',
            lambda p: {"out": [{"p": x} for x in p]},
        ),
        ('request = {instances = "$values"}\nanswers = "*.1"', lambda p: [[1 - x, x] for x in p]),
        ('request = "$rows"\nanswers = "p"', lambda p: {"p": p}),
        ('request = "$row"\nanswers = "p"', lambda p: {"p": p[0]}),
    ],
)
def test_json_shapes_are_described_in_toml(request_lines: str, response: Any, tmp_path: Path) -> None:
    def respond(path: str, body: Any, number: int) -> Reply:
        ages = pd.to_numeric(read_rows(body).iloc[:, 0]).tolist()
        return Reply(response([0.9 if age != age else age / 100 for age in ages]))

    with serve(respond) as server:
        file = tmp_path / "scorer.toml"
        file.write_text(f'url = "{server.url}/score"\nprotocol = "json"\nthreshold = 0.3\n{request_lines}\n')
        teacher = bind_classifier(file, ROWS, seed=0)
        assert teacher.classes == (0, 1) and teacher.donors is None
        np.testing.assert_array_equal(teacher.labels(ROWS), [0, 1, 1, 1])


@pytest.mark.parametrize(
    ("answer", "classes", "labels"),
    [
        (old, ("old", "young"), [1, 1, 0, 0]),
        (lambda rows: [1 + int(each) for each in rows["visits"]], (2, 3, 4, 5), [0, 1, 2, 3]),
        (lambda rows: [each > 2 for each in rows["visits"]], (0, 1), [0, 0, 1, 1]),
        (lambda rows: [int(each > 2) for each in rows["visits"]], (0, 1), [0, 0, 1, 1]),
        (lambda rows: [0.3 * int(each) - 0.2 for each in rows["visits"]], (0, 1), [0, 0, 1, 1]),
        (lambda rows: [[0.2 * int(each)] for each in rows["visits"]], (0, 1), [0, 0, 1, 1]),
        (lambda rows: np.eye(4)[rows["visits"].astype(int) - 1].tolist(), (0, 1, 2, 3), [0, 1, 2, 3]),
        (lambda rows: [{"a": 0.5, "b": each / 4} for each in rows["visits"]], ("a", "b"), [0, 0, 1, 1]),
    ],
)
def test_classes_are_found_from_answers(answer: Any, classes: tuple[Any, ...], labels: list[int]) -> None:
    with serve_mlflow(answer) as server:
        teacher = bind_classifier(f"{server.url}/invocations", ROWS, seed=0)
        assert teacher.classes == classes
        np.testing.assert_array_equal(teacher.labels(ROWS), labels)


FRAMES = st.lists(
    st.tuples(
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        st.integers(-(2**40), 2**40),
        st.one_of(st.none(), st.sampled_from(["", "f", 'é"\\', "1"])),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
).map(lambda rows: pd.DataFrame(rows, columns=["dose", "visits", "sex", "smokes"]).astype({"dose": float}))


def number_row(*values: Any) -> int:
    """A class that depends on every bit of a row."""
    plain = [None if each is None or each != each else each for each in values]
    return zlib.crc32(repr([float(each) if isinstance(each, int) else each for each in plain]).encode()) % 3


@pytest.mark.parametrize("protocol", ["mlflow", "json"])
def test_served_model_decides_every_row_as_the_model_itself(protocol: str, tmp_path: Path) -> None:
    def answer(rows: pd.DataFrame) -> list[Any]:
        return [number_row(*row) for row in rows.astype(object).itertuples(index=False)]

    with serve_mlflow(answer) as server:
        request = {"instances": "$rows"}
        settings = EndpointSettings(
            f"{server.url}/invocations", protocol, classes=(0, 1, 2), request=request, answers="predictions"
        )
        endpoint = Endpoint(settings, tmp_path)
        predictors = [as_predictor(endpoint, positive=label) for label in (0, 1, 2)]

        @draw_examples(0.38)
        @given(FRAMES)
        def check(frame: pd.DataFrame) -> None:
            expected = np.array(answer(frame))
            for label, predictor in enumerate(predictors):
                np.testing.assert_array_equal(predictor.decide_rows(predictor.read(frame)), expected == label)

        check()


def test_columns_and_missing_values_are_written_as_the_settings_say() -> None:
    with serve_mlflow(probability) as server:
        settings = EndpointSettings(f"{server.url}/invocations", columns=("visits", "age"), missing="nan")
        predictor = as_predictor(Endpoint(settings))
        predictor.decide_rows(predictor.read(ROWS))
        data = server.bodies[-1]["dataframe_split"]["data"]
        assert data[:2] == [[1, 20], [2, 40]] and data[2][1] != data[2][1]
        with pytest.raises(HornbookError, match="reads a column 'age', which the table does not have"):
            predictor.read(ROWS[["visits"]])


def test_classes_of_settings_name_outputs_and_numbers() -> None:
    names = ("bad", "good")
    for answer in (probability, lambda rows: [int(age >= 50) for age in rows["age"]]):
        with serve_mlflow(answer) as server:
            settings = EndpointSettings(f"{server.url}/invocations", classes=names)
            predictor = as_predictor(Endpoint(settings), positive="bad")
            rows = ROWS.dropna()
            np.testing.assert_array_equal(predictor.decide_rows(rows), [True, True])
            assert predictor.positive == "bad"
    with serve_mlflow(probability) as server:
        predictor = as_predictor(f"{server.url}/invocations", threshold=0.3)
        np.testing.assert_array_equal(predictor.decide_rows(ROWS), [False, True, True, True])
        np.testing.assert_allclose(predictor.score_rows(ROWS), [0.2, 0.4, 1, 0.8])


@pytest.mark.parametrize("refusal", [Reply({"error": "NaN"}, 400), Reply("", 500), None])
def test_missing_values_that_the_server_refuses_are_completed(refusal: Reply | None) -> None:
    def respond(path: str, body: Any, number: int) -> Reply | None:
        rows = None if body is None else read_rows(body)
        if rows is None:
            return Reply("3.17.2")
        return refusal if rows["age"].isna().any() else Reply({"predictions": old(rows)})

    with serve(respond) as server:
        teacher = bind_classifier(Endpoint(f"{server.url}/invocations"), ROWS.iloc[[0, 1, 3]], seed=0)
        assert teacher.donors is not None and teacher.donors.columns == {"age"}
        assert set(teacher.labels(ROWS)) == {0, 1}


def test_busy_server_is_not_taken_for_one_that_refuses_missing_values() -> None:
    def respond(path: str, body: Any, number: int) -> Reply:
        rows = None if body is None else read_rows(body)
        if rows is not None and rows["age"].isna().any():
            return Reply("", 503)
        return Reply("1" if rows is None else {"predictions": old(rows)})

    with (
        serve(respond) as server,
        pytest.raises(ModelTimeout, match=r"is too busy \(status 503\), also after 6"),
    ):
        bind_classifier(f"{server.url}/invocations", ROWS.iloc[[0, 1, 3]], seed=0)


def test_equal_rows_are_asked_about_once_and_answers_outlive_the_process(tmp_path: Path) -> None:
    rows = numbers(300)
    with serve_mlflow(probability) as server:
        first = Endpoint(f"{server.url}/invocations", tmp_path)
        answers = first.answer_rows(pd.concat([rows, rows]))
        assert first.counts.rows == 300
        again = Endpoint(f"{server.url}/invocations", tmp_path)
        assert again.answer_rows(rows) == answers[:300]
        assert again.counts.rows == 0
        assert "100 % of 300 answers were known" in str(again.counts)
        other_column = rows.rename(columns={"age": "years"})
        assert len(again.answer_rows(other_column)) == 300 == again.counts.rows
    assert server.rows >= 300


def test_answers_of_a_run_that_fails_are_kept(tmp_path: Path) -> None:
    rows = numbers(200)

    def respond(path: str, body: Any, number: int) -> Reply:
        if body is None:
            return Reply("1")
        return Reply({"predictions": probability(read_rows(body))}) if number < 3 else Reply("no", 400)

    with serve(respond) as server:
        endpoint = Endpoint(EndpointSettings(f"{server.url}/invocations", in_flight=1), tmp_path)
        with pytest.raises(ModelError, match="status 400: no"):
            endpoint.answer_rows(rows)
        kept = sum(map(len, map(read_rows, server.bodies[:3])))
        assert kept > 0
        again = Endpoint(EndpointSettings(f"{server.url}/invocations", in_flight=1), tmp_path)
        with pytest.raises(ModelError):
            again.answer_rows(rows)
        assert again.counts.cached == kept


def test_several_requests_are_in_flight_and_batches_fit_the_latency() -> None:
    with serve_mlflow(probability, seconds_per_row=0.0008) as server:
        settings = EndpointSettings(f"{server.url}/invocations", in_flight=3, max_batch=64)
        Endpoint(settings).answer_rows(numbers(600))
        sizes = [len(read_rows(body)) for body in server.bodies]
        assert server.most_at_once == 3
        assert sizes[0] == 16 and max(sizes) == 64


def test_slow_rows_make_batches_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hornbook.remote.endpoint.BATCH_SECONDS", 0.02)
    with serve_mlflow(probability, seconds_per_row=0.005) as server:
        Endpoint(EndpointSettings(f"{server.url}/invocations", in_flight=2)).answer_rows(numbers(96))
        sizes = [len(read_rows(body)) for body in server.bodies]
        assert max(sizes[-4:]) <= 8


def test_throttled_and_dropped_requests_are_repeated() -> None:
    rng = np.random.default_rng(0)

    def respond(path: str, body: Any, number: int) -> Reply | None:
        if body is None:
            return Reply("1")
        fault = rng.integers(5)
        if fault < 3:
            return (None, Reply("slow down", 429), Reply("", 503))[fault]
        return Reply({"predictions": probability(read_rows(body))})

    with serve(respond) as server:
        endpoint = Endpoint(EndpointSettings(f"{server.url}/invocations", max_batch=16, retries=30))
        rows = numbers(200)
        assert endpoint.answer_rows(rows) == probability(rows)
        assert endpoint.counts.retries > 5


def test_retry_after_holds_back_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float] = []

    def respond(path: str, body: Any, number: int) -> Reply:
        if body is None:
            return Reply("1")
        times.append(time.monotonic())
        if number == 0:
            return Reply("", 429, {"Retry-After": "1"})
        return Reply({"predictions": probability(read_rows(body))})

    monkeypatch.setattr(endpoint_http, "MAX_RETRY_AFTER", 0.1)  # a second is long
    with serve(respond) as server:
        endpoint = Endpoint(EndpointSettings(f"{server.url}/invocations", in_flight=1))
        endpoint.answer_rows(numbers(40))
        assert times[1] - times[0] >= 0.1


def test_failure_of_the_server_is_repeated_twice_only() -> None:
    with serve(lambda path, body, number: Reply("Internal Server Error", 500 if body else 200)) as server:
        with pytest.raises(ModelError, match="status 500: Internal Server Error"):
            Endpoint(f"{server.url}/invocations").answer_rows(numbers(4))
        assert len(server.bodies) == 3


def test_requests_that_are_too_large_or_too_slow_are_halved() -> None:
    def respond(path: str, body: Any, number: int) -> Reply:
        if body is None:
            return Reply("1")
        rows = read_rows(body)
        if len(rows) > 8:
            return Reply("", 413)
        if len(rows) > 4:
            time.sleep(0.5)
        return Reply({"predictions": probability(rows)})

    with serve(respond) as server:
        rows = numbers(20)
        settings = EndpointSettings(f"{server.url}/invocations", timeout=0.25, in_flight=1, max_batch=16)
        assert Endpoint(settings).answer_rows(rows) == probability(rows)
        assert {16, 8, 4} <= {len(read_rows(body)) for body in server.bodies}


def test_one_row_that_takes_too_long_is_an_error() -> None:
    def respond(path: str, body: Any, number: int) -> Reply:
        time.sleep(0.6 if body else 0)
        return Reply("1")

    with (
        serve(respond) as server,
        pytest.raises(ModelError, match=r"does not answer about one row within 0\.2 seconds"),
    ):
        Endpoint(EndpointSettings(f"{server.url}/invocations", timeout=0.2)).answer_rows(numbers(2))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"predictions": [0.5]}, "answered 4 rows with 1 answers"),
        ({"prediction": [0.5] * 4}, "answered without 'predictions'"),
        ("<html>", "something else than JSON"),
        ({"predictions": [[0.5, 0.5], [1.0], [0.5, 0.5], [0.5, 0.5]]}, "not a score and none of the classes"),
        ({"predictions": [[0.5, 0.2, 0.3]] * 4}, "not a score and none of the classes"),
        ({"predictions": [None] * 4}, "answered a row with null"),
        ({"predictions": ["yes"] * 4}, 'answered a row with "yes"'),
        ({"predictions": [17.5] * 4}, "threshold"),
        ({"predictions": [float("nan")] * 4}, "answered a row with NaN"),
    ],
)
def test_wrong_shapes_are_model_errors(content: Any, message: str) -> None:
    with serve(lambda path, body, number: Reply(content if body else "1")) as server:
        predictor = as_predictor(f"{server.url}/invocations")
        with pytest.raises(ModelError, match=message):
            predictor.decide_rows(ROWS)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from(["", "a", "1"])),
    lambda values: st.one_of(
        st.lists(values, max_size=3),
        st.dictionaries(
            st.sampled_from(["predictions", "outputs", "shape", "data", "name", "a"]), values, max_size=3
        ),
    ),
    max_leaves=8,
)


@given(JSON, st.integers(1, 3))
def test_any_response_is_an_answer_a_row_or_a_model_error(content: Any, size: int) -> None:
    for protocol in (
        MlflowProtocol("http://h"),
        JsonProtocol("http://h", "$rows", "predictions.*.a"),
        JsonProtocol("http://h", "$rows", "*.1"),
    ):
        with suppress(ModelError):
            assert len(protocol.read(content, size)) == size


@given(st.lists(JSON, min_size=1, max_size=3), st.sampled_from([None, ("a", "1"), (1, 2, 3)]))
def test_any_answers_are_classes_scores_or_a_model_error(answers: list[Any], classes: Any) -> None:
    model = SimpleNamespace(
        classes_=classes, settings=EndpointSettings("http://h"), name="h", answer_rows=lambda rows: answers
    )
    with suppress(HornbookError):
        model.classes_ = classes or find_classes(model, answers)
        assert len(model.classes_) >= 2
    with suppress(ModelError):
        unwrapped = unwrap_answers(model, answers)
        count = len(model.classes_ or (0, 1))
        if (labels := read_labels(model, unwrapped)) is not None:
            assert len(labels) == len(answers) and ((labels >= 0) & (labels < count)).all()
        else:
            scores = read_scores(model, unwrapped)
            assert len(scores) == len(answers) and np.isfinite(scores).all()
            assert scores.shape[1:] in ((), (count,))


def test_answers_that_change_are_noticed(tmp_path: Path) -> None:
    rng, lock = np.random.default_rng(0), threading.Lock()

    def fickle(rows: pd.DataFrame) -> list[Any]:
        with lock:
            return rng.integers(2, size=len(rows)).tolist()

    with serve_mlflow(fickle) as server:
        explainer = hb.Explainer(f"{server.url}/invocations", numbers(100))
        notes = " ".join(explainer.extract(form="tree", max_literals=2, n_samples=100).notes)
        assert "asked 80 questions again, the model gave another answer to" in notes


def test_claims_that_are_broken_only_now_and_then_are_noticed() -> None:
    asked: set[float] = set()

    def wavering(rows: pd.DataFrame) -> list[Any]:
        known = [age in asked for age in rows["age"]]
        asked.update(rows["age"])
        return [int(age > 95 and not before) for age, before in zip(rows["age"], known, strict=True)]

    with serve_mlflow(wavering) as server:
        explainer = hb.Explainer(f"{server.url}/invocations", numbers(60), target="ill")
        with pytest.raises(ModelError, match="it changes its answers, for it breaks this on a row only now"):
            explainer.check("age > 50 -> not ill", samples=100)


def test_rows_that_are_asked_about_anew_are_sent_again() -> None:
    with serve_mlflow(probability) as server:
        endpoint = Endpoint(f"{server.url}/invocations")
        answers = endpoint.answer_rows(numbers(40))
        with ask_anew():
            assert endpoint.answer_rows(numbers(40)) == answers
        assert server.rows == 80


def test_cached_answers_of_another_model_are_noticed(tmp_path: Path) -> None:
    answer = [probability]
    with serve_mlflow(lambda rows: answer[0](rows)) as server:
        endpoint = Endpoint(f"{server.url}/invocations", tmp_path)
        check = AnswerCheck.start(bind_classifier(endpoint, numbers(50), seed=0).labels, numbers(50))
        assert not list(check.describe_changes())
        answer[0] = lambda rows: [[p, q] for q, p in probability(rows)]
        assert "gave another answer to 50: " in next(check.describe_changes())


def test_endpoint_is_pickled_without_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HORNBOOK_ENDPOINT_TOKEN", "hush-token")
    with serve_mlflow(old) as server:
        endpoint = Endpoint(f"{server.url}/invocations", tmp_path)
        answers = endpoint.answer_rows(ROWS)
        content = pickle.dumps(endpoint)
        assert b"hush" not in content
        again = pickle.loads(content)
        assert again.answer_rows(ROWS) == answers and again.counts.cached == 4


def test_server_that_cannot_be_reached_is_one_line() -> None:
    with serve_mlflow(old) as server:
        url = server.url
    with pytest.raises(
        ModelError, match=f"cannot reach {url}/invocations: connection refused; is the server"
    ):
        bind_classifier(f"{url}/invocations", ROWS, seed=0)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://user:hush@example.org/invocations", "has a user or password"),
        ("http://example.org/invocations?key=hush", "has a query"),
        ("http://:5001/invocations", "is not a URL"),
        ("http://host:port/?key=hush", "is not a URL"),
    ],
)
def test_credentials_in_a_url_are_refused_and_not_repeated(url: str, message: str) -> None:
    with pytest.raises(HornbookError, match=message) as caught:
        load_model(url)
    assert "hush" not in str(caught.value)


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HORNBOOK_ENDPOINT_TOKEN", "hush-token")
    monkeypatch.setenv("SCORING_KEY", "hush-key")

    def respond(path: str, body: Any, number: int) -> Reply:
        return Reply("1") if body is None else Reply("you sent Bearer hush-token and hush-key", 422)

    with serve(respond) as server:
        settings = EndpointSettings(f"{server.url}/invocations", headers={"X-Key": "k:${SCORING_KEY}"})
        assert "hush" not in repr(settings)
        with pytest.raises(ModelError, match="you sent Bearer … and …"):
            Endpoint(settings, tmp_path).answer_rows(numbers(2))
        assert server.headers[0]["Authorization"] == "Bearer hush-token"
        assert server.headers[0]["X-Key"] == "k:hush-key"
    monkeypatch.delenv("SCORING_KEY")
    with pytest.raises(HornbookError, match="environment variable SCORING_KEY"):
        Endpoint(settings, tmp_path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", r"required field missing @ \$\.url"),
        ('url = "http://h"\nprotocoll = "json"', r"extra fields found \(protocoll\)"),
        (
            'url = "http://h"\nprotocol = "grpc"',
            r"toml: grpc not in literal .*json.* @ \$\.protocol",
        ),
        ('url = "http://h"\nmax_batch = "many"', r"expected int @ \$\.max_batch"),
        ('url = "http://h/x"\nprotocol = "json"\nrequest = {rows = 1}', "in one place"),
        ("url = ", "is not TOML"),
        ("url = " + "[" * 3000, "it is nested too deeply"),
        *(
            (f'url = "http://h/x"\nprotocol = "json"\n{line}', message)
            for line, message in {
                "timeout = inf": "timeout is at least 0.001 and at most 86,400; got inf",
                "timeout = nan": "timeout is at least 0.001 and at most 86,400; got nan",
                "retries = 1000000": "retries is at least 0 and at most 100",
                "threshold = nan": "a threshold is a finite number",
                "classes = [1, [2]]": "classes of an endpoint are words and numbers",
                'classes = ["a", "a"]': "named once each",
                'classes = ["a"]': "two classes or more",
                "columns = [1]": r"expected str @ \$\.columns\[0\]",
                'request = {a = "$rows", day = 1979-05-27}': "holds texts, finite numbers",
                'request = {a = "$rows", b = nan}': "holds texts, finite numbers",
                '[headers]\n"a b" = "x"': "the header 'a b', or its value, has a character",
                '[headers]\na = "x\\r\\nb: y"': "the header 'a', or its value, has a character",
                '[headers]\na = "\u20ac"': "the header 'a', or its value, has a character",
            }.items()
        ),
    ],
)
def test_wrong_descriptions_say_what_is_wrong(lines: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "scorer.toml").write_text(lines)
    with pytest.raises(HornbookError, match=message):
        load_model(tmp_path / "scorer.toml")


def test_unknown_servers_are_told_how_to_be_described() -> None:
    with serve(lambda path, body, number: Reply("", 404)) as server:
        for url in (server.url, f"{server.url}/score"):
            with pytest.raises(HornbookError, match="TOML file with url, protocol, request and answers"):
                load_model(url)


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(HornbookError, match=r'this needs urllib3: pip install "hornbook\[http\]"'):
        load_model("http://127.0.0.1:5001/invocations")


def test_damaged_cache_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(HornbookError, match="cannot be used as a cache of answers"):
        AnswerCache(tmp_path / "answers.sqlite")


CELLS = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.sampled_from(["", "1", "é", "null"]),
    st.booleans(),
)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=8))
def test_row_keys_are_equal_exactly_for_equal_rows(rows: list[tuple[Any, Any]]) -> None:
    texts = [json.dumps(row) for row in rows]
    assert len({row_key("model", row) for row in rows}) == len(set(texts))


@given(st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=8))
def test_cells_are_the_values_of_a_frame(values: list[float | None]) -> None:
    column = pd.Series(values, dtype=float)
    cells = [row[0] for row in CellRows.of(column.to_frame()).rows]
    assert [cell is None for cell in cells] == column.isna().tolist()
    np.testing.assert_array_equal(np.array(cells, float), column.to_numpy())
    assert CellRows.of(column.to_numpy()[:, None]).rows == CellRows.of(column.to_frame()).rows
