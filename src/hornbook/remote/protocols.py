"""How servers are asked: MLflow's scoring server, the Open Inference Protocol v2, and plain JSON.

MLflow: POST /invocations with `dataframe_split` or `dataframe_records`
(https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally). The Open Inference Protocol,
version 2, as KServe, Triton and MLServer speak it over REST: tensors, and a description of the model
(https://github.com/kserve/open-inference-protocol).
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError, ModelError
from hornbook.remote.http import BatchTooLarge, HttpClient
from hornbook.remote.settings import EndpointSettings

LABEL_OUTPUTS = ("predict", "label", "labels", "output_label", "class", "classes", "prediction")
SCORE_OUTPUTS = ("predict_proba", "probabilities", "probability", "output_probability", "scores")
"""Usual names of outputs. Labels come first: they are the model's own decision."""


MAX_WHOLE_NUMBER = 2.0**53
"""Below this, whole numbers are written without a decimal point, whatever the type of their column."""


@dataclass(frozen=True)
class CellRows:
    """Rows of a table as JSON values: numbers, words, booleans, and None for a missing one.

    Parameters
    ----------
    columns
        The names of the columns; None where rows of an array have none.
    rows
        The values of each row.
    words
        The places of columns that are no numbers.

    Examples
    --------
    >>> CellRows.of(pd.DataFrame({"age": [40.0, float("nan")], "sex": ["f", None]})).rows
    ((40, 'f'), (None, None))

    """

    columns: tuple[str, ...] | None
    rows: tuple[tuple[Any, ...], ...]
    words: frozenset[int] = frozenset()

    @classmethod
    def of(cls, rows: Any) -> CellRows:
        """The cells of a frame or of an array."""
        if not hasattr(rows, "iloc"):
            array = np.asarray(rows)
            return cls(None, tuple(zip(*map(_column_cells, array.T), strict=True)))
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])]
        words = (place for place, each in enumerate(columns) if not pd.api.types.is_numeric_dtype(each))
        cells = zip(*map(_column_cells, columns), strict=True)
        return cls(tuple(map(str, rows.columns)), tuple(cells), frozenset(words))

    def take(self, numbers: Sequence[int]) -> CellRows:
        """Some of the rows."""
        return replace(self, rows=tuple(self.rows[number] for number in numbers))

    def find_different(self) -> dict[tuple[Any, ...], int]:
        """The different rows, each with the place of one of its kind."""
        return {row: place for place, row in enumerate(self.rows)}

    def write_nan(self) -> CellRows:
        """The rows with NaN for a missing number; a missing word stays None."""
        rows = (
            tuple(
                math.nan if value is None and place not in self.words else value
                for place, value in enumerate(row)
            )
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))

    def to_objects(self) -> list[dict[str, Any]]:
        """Each row as an object with a field a column."""
        columns = self.columns or tuple(map(str, range(len(self.rows[0]))))
        return [dict(zip(columns, row, strict=True)) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)


def _column_cells(values: Any) -> list[Any]:
    """The values of a column as JSON values; each different one is converted once."""
    numbers, levels = pd.factorize(pd.Series(values))
    cells = np.empty(len(levels) + 1, object)  # None comes last, where the number -1 of missing ones points
    cells[:-1] = [_cell(each) for each in pd.Series(levels).tolist()]
    column: list[Any] = cells[numbers].tolist()
    return column


def _cell(value: Any) -> Any:
    """A value as JSON has it; whole numbers are written alike, whatever the type of their column."""
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE_NUMBER:
        return int(value)
    return value if isinstance(value, str | int | float) else str(value)


@dataclass(frozen=True)
class EndpointProtocol(ABC):
    """How one kind of server is asked: requests go to `url`."""

    name: ClassVar[str]
    url: str

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that the server says it reads."""
        return None

    @property
    def max_rows(self) -> int | None:
        """The most rows that a request of this protocol can have."""
        return None

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What the server says about its model: a part of the model's identity."""

    @abstractmethod
    def write(self, rows: CellRows) -> Any:
        """The request about rows, as a JSON value."""

    def add_missing(self, content: Any, ask: Callable[[], Any]) -> Any:
        """A response with what a server leaves out, where the same request gets it; `ask` repeats it."""
        return content

    def write_proposals(self, rules: Sequence[str]) -> Any:
        """The request for a case against rules in words; None where the model does not speak."""
        return None

    def read_texts(self, content: Any) -> list[str]:
        """The answers in words in a response to it."""
        return []

    @abstractmethod
    def read(self, content: Any, size: int) -> list[Any]:
        """The answers of a response, a JSON value a row; raise ModelError if it has another shape."""


@dataclass(frozen=True)
class MlflowProtocol(EndpointProtocol):
    """MLflow's scoring server."""

    name: ClassVar[str] = "mlflow"
    version: str | None = None
    records: bool = False

    def describe(self) -> dict[str, Any]:
        """The version of the server; it says nothing about its model."""
        return {"mlflow": self.version}

    def write(self, rows: CellRows) -> Any:
        """Rows as `dataframe_split` or `dataframe_records`, or as `inputs` if columns have no names."""
        if rows.columns is None:
            return {"inputs": rows.rows}
        if self.records:
            return {"dataframe_records": rows.to_objects()}
        return {"dataframe_split": {"columns": rows.columns, "data": rows.rows}}

    def read(self, content: Any, size: int) -> list[Any]:
        """The list of predictions."""
        answers = content.get("predictions") if isinstance(content, dict) else content
        return check_count(answers, size, self.url, "'predictions'")


@dataclass(frozen=True)
class TensorProtocol(EndpointProtocol):
    """The Open Inference Protocol, version 2.

    A model with one input of several dimensions is given a tensor of all columns. One with an input a
    column is given these. A server that describes no inputs is given a tensor of all columns if
    all are numbers, and otherwise an input a column, marked as a pandas frame (MLServer's `pd`).
    """

    name: ClassVar[str] = "v2"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the inputs, if there is one a column."""
        inputs = self._inputs
        return tuple(str(each["name"]) for each in inputs) if len(inputs) > 1 else None

    @property
    def _inputs(self) -> list[Mapping[str, Any]]:
        return list(self.metadata.get("inputs") or ())

    def describe(self) -> dict[str, Any]:
        """The name, version, platform, inputs and outputs of the model."""
        return {
            name: self.metadata.get(name) for name in ("name", "versions", "platform", "inputs", "outputs")
        }

    def write(self, rows: CellRows) -> Any:
        """Rows as tensors."""
        described = {str(each["name"]): each for each in self._inputs}
        named = list(zip(rows.columns or (), zip(*rows.rows, strict=True), strict=False))
        request: dict[str, Any] = {}
        if named and len(described) > 1:
            request["inputs"] = [
                _column_tensor(name, cells, described[name]["datatype"], described[name].get("shape") or ())
                for name, cells in named
            ]
        elif named and rows.words and not described:
            request["parameters"] = {"content_type": "pd"}
            request["inputs"] = [
                _column_tensor(name, cells, "BYTES" if place in rows.words else "FP64", (-1, 1))
                for place, (name, cells) in enumerate(named)
            ]
        else:
            only = next(iter(described.values()), {"name": "input-0", "datatype": "FP64"})
            cells = [value for row in rows.rows for value in row]
            shape = [len(rows), len(rows.rows[0])]
            request["inputs"] = [
                {"name": only["name"], "shape": shape, "datatype": only["datatype"], "data": cells}
            ]
        return request if self.output is None else {**request, "outputs": [{"name": self.output}]}

    def read(self, content: Any, size: int) -> list[Any]:
        """The values of one output, a number or a list a row."""
        outputs = content.get("outputs") if isinstance(content, dict) else None
        if not isinstance(outputs, list) or not all(isinstance(each, dict) for each in outputs):
            raise ModelError(f"{self.url} answered without a list 'outputs': {shorten(content)}")
        chosen = self._choose(outputs)
        data, shape = _flatten(chosen.get("data")), chosen.get("shape")
        if (
            not isinstance(shape, list)
            or not shape
            or not all(isinstance(each, int) and each > 0 for each in shape)
            or math.prod(shape) != len(data)
        ):
            raise ModelError(
                f"{self.url}: output {chosen.get('name')!r} says that its shape is {shape}, and there are "
                f"{len(data)} values"
            )
        if shape[0] != size:
            raise ModelError(f"{self.url} answered {size} rows with an output of shape {shape}")
        width = len(data) // size
        return data if width == 1 else [data[start : start + width] for start in range(0, len(data), width)]

    def _choose(self, outputs: list[dict[str, Any]]) -> dict[str, Any]:
        """The output that was asked for, the only one, or one with a usual name: labels before scores."""
        by_name = {str(each.get("name")): each for each in outputs}
        usual = (name for name in (*LABEL_OUTPUTS, *SCORE_OUTPUTS) if name in by_name)
        name = self.output if self.output is not None else next(usual, None)
        if name is None and len(outputs) == 1:
            return outputs[0]
        if name not in by_name:
            raise ModelError(
                f"{self.url} gives the outputs {', '.join(map(repr, by_name))}; say which one is read in a "
                f"TOML file: output = …"
            )
        return by_name[name]


@dataclass(frozen=True)
class JsonProtocol(EndpointProtocol):
    """A function of JSON, whose requests and responses the user describes.

    `request` is a request in which `$rows` stands for a list of objects, `$values` for a list of lists,
    and `$row` for one object, where a request is about one row. `answers` is the path of the answers
    in a response: names of fields, numbers of items, and `*` for each row.

    Examples
    --------
    >>> protocol = JsonProtocol("http://…", {"instances": "$values"}, "predictions.*.score")
    >>> protocol.write(CellRows(("age",), ((40,), (60,))))
    {'instances': [[40], [60]]}
    >>> protocol.read({"predictions": [{"score": 0.25}, {"score": 0.75}]}, 2)
    [0.25, 0.75]

    """

    name: ClassVar[str] = "json"
    request: Any = "$rows"
    answers: str = "*"

    def __post_init__(self) -> None:
        text = json.dumps(self.request)
        if sum(text.count(f'"{each}"') for each in ("$rows", "$values", "$row")) != 1:
            raise HornbookError(
                'the request of an endpoint has "$rows", "$values" or "$row" in one place, where the rows '
                f"stand; got {text}"
            )

    @property
    def max_rows(self) -> int | None:
        """One, if a request is about one row."""
        return 1 if '"$row"' in json.dumps(self.request) else None

    def describe(self) -> dict[str, Any]:
        """The shapes of requests and responses."""
        return {"request": self.request, "answers": self.answers}

    def write(self, rows: CellRows) -> Any:
        """The request with the rows in their place."""
        return _fill(self.request, rows)

    def read(self, content: Any, size: int) -> list[Any]:
        """The answers at their path."""
        try:
            answers = _follow(content, self.answers.split(".") if self.answers else [])
        except (KeyError, IndexError, TypeError, ValueError):
            raise ModelError(
                f"{self.url} answered without {self.answers!r}, where answers should be: {shorten(content)}"
            ) from None
        if self.max_rows == 1 and "*" not in self.answers:
            answers = [answers]
        return check_count(answers, size, self.url, repr(self.answers))


def find_protocol(settings: EndpointSettings, client: HttpClient) -> EndpointProtocol:
    """The protocol that is named, or that the URL and the server's own description tell."""
    url, parts = settings.url.rstrip("/"), urlsplit(settings.url)
    path, root = parts.path.rstrip("/"), f"{parts.scheme}://{parts.netloc}"
    name = settings.protocol
    if name is None:
        if "/v2/models/" in path:
            name = "v2"
        elif path.endswith("/invocations"):
            name = "mlflow"
        elif path == "":
            name = "v2" if client.get(f"{root}/v2").status == 200 else "mlflow"
        elif path.endswith("/chat/completions"):
            name = "chat"
        elif path.endswith("/completions"):
            name = "completions"
    if name in ("chat", "completions"):
        return _find_language(settings, name)
    if name == "json":
        return JsonProtocol(settings.url, settings.request, settings.answers)
    if name == "v2":
        return _describe_tensors(settings, client, url if path else f"{root}/v2")
    if name in ("mlflow", "mlflow-records"):
        endpoint = url if path else f"{root}/invocations"
        answer = client.get(f"{endpoint.removesuffix('/invocations')}/version")
        version = answer.text.strip()[:40] if answer.status == 200 else None
        if version is None and settings.protocol is None and path == "":
            raise HornbookError(f"{url} is neither a v2 server nor MLflow's: {PROTOCOL_ADVICE}")
        return MlflowProtocol(endpoint, version, records=name == "mlflow-records")
    raise HornbookError(f"cannot tell from {url} how its model is asked: {PROTOCOL_ADVICE}")


PROTOCOL_ADVICE = (
    "give a URL that ends with /invocations (MLflow) or /v2/models/NAME (KServe, Triton, MLServer), or a "
    "TOML file with url, protocol, request and answers"
)


def _find_language(settings: EndpointSettings, name: str) -> EndpointProtocol:
    """The protocol for a language model, which needs a sentence."""
    from hornbook.remote.language import ChatProtocol, CompletionProtocol

    if settings.sentence is None:
        raise HornbookError(
            f"{settings.url} is a language model, which is asked by sentences: give a TOML file with its url "
            "and a table [sentence]"
        )
    kind = ChatProtocol if name == "chat" else CompletionProtocol
    return kind(settings.url, settings.sentence, settings.model)


def _describe_tensors(settings: EndpointSettings, client: HttpClient, url: str) -> TensorProtocol:
    """The v2 protocol for a model: that of the URL, or the only one of a server."""
    if "/models/" not in url:
        try:
            index = client.post(f"{url}/repository/index", b"{}").json(url)
        except BatchTooLarge:
            raise ModelError(
                f"{url} does not say within {settings.timeout:g} seconds what it serves"
            ) from None
        entries = index if isinstance(index, list) else []
        names = [str(each["name"]) for each in entries if isinstance(each, dict) and "name" in each]
        if len(names) != 1:
            raise HornbookError(
                f"{url} has the models {', '.join(names) or '(none)'}; give the URL of one: {url}/models/NAME"
            )
        url = f"{url}/models/{names[0]}"
    url = url.removesuffix("/infer")
    answer = client.get(url)
    if answer.status == 404:
        raise ModelError(f"there is no model at {url} (status 404)")
    metadata = answer.json(url) if answer.status == 200 else {}
    if not isinstance(metadata, dict) or not _are_inputs(metadata.get("inputs") or []):
        raise ModelError(f"{url} describes its model otherwise than the protocol has it: {shorten(metadata)}")
    return TensorProtocol(f"{url}/infer", metadata, settings.output)


def _are_inputs(inputs: Any) -> bool:
    """Whether the inputs of a description have names, types and shapes."""
    return isinstance(inputs, list) and all(
        isinstance(each, dict)
        and isinstance(each.get("name"), str)
        and isinstance(each.get("datatype"), str)
        and isinstance(each.get("shape"), list)
        for each in inputs
    )


def check_count(answers: Any, size: int, url: str, place: str) -> list[Any]:
    """The answers, if they are as many as the rows."""
    if not isinstance(answers, list):
        raise ModelError(f"{url} answered without a list {place}: {shorten(answers)}")
    if len(answers) != size:
        raise ModelError(f"{url} answered {size} rows with {len(answers)} answers")
    return answers


def shorten(content: Any) -> str:
    """The beginning of a JSON value."""
    try:
        text = json.dumps(content, ensure_ascii=False)
    except RecursionError:
        text = "lists in lists in lists …"
    return text if len(text) <= 120 else f"{text[:120]}…"


def _column_tensor(
    name: str, cells: Sequence[Any], datatype: str, described_shape: Sequence[int]
) -> dict[str, Any]:
    """The tensor of a column; words say that they are such, which MLServer wants to know."""
    shape = [len(cells), 1] if len(described_shape) > 1 else [len(cells)]
    tensor = {"name": name, "shape": shape, "datatype": datatype, "data": list(cells)}
    return {**tensor, "parameters": {"content_type": "str"}} if datatype == "BYTES" else tensor


def _flatten(data: Any) -> list[Any]:
    """The values of a tensor, which may be nested."""
    values = data if isinstance(data, list) else []
    while values and isinstance(values[0], list):
        values = [value for part in values for value in (part if isinstance(part, list) else [part])]
    return values


def _fill(template: Any, rows: CellRows) -> Any:
    """The template with the rows where they stand."""
    if template == "$rows":
        return rows.to_objects()
    if template == "$values":
        return [list(row) for row in rows.rows]
    if template == "$row":
        return rows.to_objects()[0]
    if isinstance(template, dict):
        return {name: _fill(part, rows) for name, part in template.items()}
    return [_fill(part, rows) for part in template] if isinstance(template, list) else template


def _follow(value: Any, path: list[str]) -> Any:
    """The value at a path."""
    for place, step in enumerate(path):
        if step == "*":
            if not isinstance(value, list):
                raise TypeError
            return [_follow(each, path[place + 1 :]) for each in value]
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value
