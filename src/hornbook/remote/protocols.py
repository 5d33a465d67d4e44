"""How servers are asked: MLflow's scoring server, and any other function of JSON.

MLflow: POST /invocations with `dataframe_split`
(https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally).
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError, ModelError
from hornbook.remote.http import HttpClient
from hornbook.remote.settings import EndpointSettings

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
        The places of columns that are not numbers.

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

    def describe(self) -> dict[str, Any]:
        """The version of the server; it says nothing about its model."""
        return {"mlflow": self.version}

    def write(self, rows: CellRows) -> Any:
        """Rows as `dataframe_split`, or as `inputs` if columns have no names."""
        if rows.columns is None:
            return {"inputs": rows.rows}
        return {"dataframe_split": {"columns": rows.columns, "data": rows.rows}}

    def read(self, content: Any, size: int) -> list[Any]:
        """The list of predictions."""
        answers = content.get("predictions") if isinstance(content, dict) else content
        return check_count(answers, size, self.url, "'predictions'")


@dataclass(frozen=True)
class JsonProtocol(EndpointProtocol):
    """A function of JSON, whose requests and responses the user describes.

    `request` is a request in which `$rows` stands for a list of objects, `$values` for a list of lists,
    `$row` for one object, where a request is about one row, and `$count` for the number of rows. `answers`
    is the path of the answers in a response: names of fields, numbers of items, and `*` for each row.

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
        if path.endswith("/invocations") or path == "":
            name = "mlflow"
        elif path.endswith("/chat/completions"):
            name = "chat"
        elif path.endswith("/completions"):
            name = "completions"
    if name in ("chat", "completions"):
        return _find_language(settings, name)
    if name == "json":
        return JsonProtocol(settings.url, settings.request, settings.answers)
    if name == "mlflow":
        endpoint = url if path else f"{root}/invocations"
        answer = client.get(f"{endpoint.removesuffix('/invocations')}/version")
        version = answer.text.strip()[:40] if answer.status == 200 else None
        if version is None and settings.protocol is None and path == "":
            raise HornbookError(f"{url} is not a server of MLflow's: {PROTOCOL_ADVICE}")
        return MlflowProtocol(endpoint, version)
    raise HornbookError(f"cannot tell from {url} how its model is asked: {PROTOCOL_ADVICE}")


PROTOCOL_ADVICE = (
    "give a URL that ends with /invocations (MLflow), or a TOML file with url, protocol, request and answers"
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


def _fill(template: Any, rows: CellRows) -> Any:
    """The template with the rows where they stand."""
    if template == "$rows":
        return rows.to_objects()
    if template == "$values":
        return [list(row) for row in rows.rows]
    if template == "$row":
        return rows.to_objects()[0]
    if template == "$count":
        return len(rows)
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
