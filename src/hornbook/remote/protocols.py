"""How servers are asked: MLflow's, any other function of JSON, and language models.

MLflow: POST /invocations with `dataframe_split`
(https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally). Language models speak the open protocol
of completions and chats, as Ollama, vLLM, llama.cpp and `transformers serve` do.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError, ModelError
from hornbook.remote.settings import EndpointSettings, Sentence

LIKELIEST_TOKENS = 20
"""How many of the likeliest tokens a server is asked for: the most that the protocol allows."""

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

    @abstractmethod
    def read(self, content: Any, size: int) -> list[Any]:
        """The answers of a response, a JSON value a row; raise ModelError if it has another shape."""


@dataclass(frozen=True)
class JsonProtocol(EndpointProtocol):
    """A function of JSON, whose requests and responses the user describes.

    `request` is a request in which `$rows` stands for a list of objects, `$values` for a list of lists,
    `$row` for one object, where a request is about one row, `$columns` for their names and `$count` for the
    number of rows. `answers` is the path of the answers in a response: names of fields, numbers of items, and
    `*` for each row.

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


@dataclass(frozen=True)
class MlflowProtocol(JsonProtocol):
    """MLflow's scoring server: rows are `dataframe_split`, or `inputs` if columns have no names."""

    name: ClassVar[str] = "mlflow"
    request: Any = field(
        default_factory=lambda: {"dataframe_split": {"columns": "$columns", "data": "$values"}}
    )
    answers: str = "predictions"

    def write(self, rows: CellRows) -> Any:
        """The request with the rows in their place."""
        return {"inputs": rows.rows} if rows.columns is None else super().write(rows)


@dataclass(frozen=True)
class LanguageProtocol(EndpointProtocol):
    """The open protocol of language models: what completions and chats share."""

    sentence: Sentence
    model: str | None = None

    def describe(self) -> dict[str, Any]:
        """The model's name and the sentence."""
        return {"model": self.model, **self.sentence.describe()}

    def _name_model(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with the name of the model, if the user gave one."""
        return request if self.model is None else {"model": self.model, **request}

    def _share_tokens(self, tokens: Mapping[str, float]) -> dict[str, float]:
        """The share of each level; raise if no word is among the likeliest tokens."""
        shares = self.sentence.share_tokens(tokens)
        if shares is None:
            raise ModelError(
                f"{self.url}: none of the words {', '.join(self.sentence.choices)} begins with one of the "
                f"likeliest tokens {', '.join(map(repr, list(tokens)[:5]))}; word the template otherwise"
            )
        return shares


@dataclass(frozen=True)
class CompletionProtocol(LanguageProtocol):
    """Completions of texts, `POST …/v1/completions`: the probabilities of the next token."""

    name: ClassVar[str] = "completions"

    def __post_init__(self) -> None:
        if self.sentence.read == "votes":
            raise HornbookError('a server of completions gives probabilities: read = "probabilities"')
        if not self.sentence.template.rstrip().endswith(f"{{{self.sentence.asks}}}"):
            raise HornbookError(
                f"a model that completes texts reads nothing after the word that is asked for: the template "
                f"has to end with {{{self.sentence.asks}}}"
            )

    def write(self, rows: CellRows) -> Any:
        """The beginnings of the sentences, and how to complete them: by one token, the likeliest first."""
        prompts = [self.sentence.split(row)[0].rstrip() for row in rows.to_objects()]
        prompt = prompts[0] if len(prompts) == 1 else prompts  # some servers take one text alone
        request = {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": LIKELIEST_TOKENS}
        return self._name_model(request)

    def read(self, content: Any, size: int) -> list[Any]:
        """For each row the share of each level in the probabilities of their words."""
        choices = content.get("choices") if isinstance(content, dict) else None
        choices = check_count(choices, size, self.url, "'choices'")
        return [self._read_shares(choice) for choice in sorted(choices, key=_place)]

    def _read_shares(self, choice: Any) -> dict[str, float]:
        try:
            likeliest = choice["logprobs"]["top_logprobs"][0]
            tokens = {str(token): float(value) for token, value in likeliest.items()}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise ModelError(
                f"{self.url} gives no log-probabilities of tokens: {shorten(choice)}; count answers in words "
                'instead: …/v1/chat/completions and read = "votes"'
            ) from None
        return self._share_tokens(tokens)


@dataclass(frozen=True)
class ChatProtocol(LanguageProtocol):
    """Answers of a chat model, `POST …/v1/chat/completions`: probabilities of the first token, or votes."""

    name: ClassVar[str] = "chat"

    @property
    def max_rows(self) -> int:
        """A chat is about one row."""
        return 1

    def write(self, rows: CellRows) -> Any:
        """The instruction about a row."""
        message = {"role": "user", "content": self.sentence.instruct(rows.to_objects()[0])}
        request: dict[str, Any] = {"messages": [message]}
        if self.sentence.read == "votes":
            request |= {"n": self.sentence.votes, "max_tokens": 8, "temperature": 1}
        else:
            request |= {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": LIKELIEST_TOKENS}
        return self._name_model(request)

    def add_missing(self, content: Any, ask: Callable[[], Any]) -> Any:
        """A response with all votes: many servers give one answer a request, however many are asked for."""
        choices = self._read_choices(content)
        while self.sentence.read == "votes" and len(choices) < self.sentence.votes:
            choices = [*choices, *self._read_choices(ask())]
        return {"choices": choices}

    def write_proposals(self, rules: Sequence[str]) -> Any:
        """The request for a case against rules."""
        message = {"role": "user", "content": self.sentence.ask_for_case(rules)}
        return self._name_model({"messages": [message], "max_tokens": 64, "temperature": 1})

    def _read_choices(self, content: Any) -> list[Any]:
        """The answers in a response."""
        choices = content.get("choices") if isinstance(content, dict) else None
        if not isinstance(choices, list) or not choices:
            raise ModelError(f"{self.url} answered without a list 'choices': {shorten(content)}")
        return choices

    def read_texts(self, content: Any) -> list[str]:
        """The answers in words."""
        try:
            return [str(each["message"]["content"]) for each in self._read_choices(content)]
        except (KeyError, TypeError):
            raise ModelError(f"{self.url} answered without messages: {shorten(content)}") from None

    def read(self, content: Any, size: int) -> list[Any]:
        """The share of each level in the probabilities of their words, or in the votes."""
        if self.sentence.read == "votes":
            return [self.sentence.count_votes(self.read_texts(content))]
        try:
            likeliest = self._read_choices(content)[0]["logprobs"]["content"][0]["top_logprobs"]
            tokens = {str(each["token"]): float(each["logprob"]) for each in likeliest}
        except (IndexError, KeyError, TypeError, ValueError):
            raise ModelError(
                f'{self.url} gives no log-probabilities of tokens; count answers instead: read = "votes"'
            ) from None
        return [self._share_tokens(tokens)]


def _place(choice: Any) -> int:
    """The number of the text that a completion belongs to."""
    return int(choice.get("index", 0)) if isinstance(choice, dict) else 0


def find_protocol(settings: EndpointSettings) -> EndpointProtocol:
    """The protocol that is named, or that the end of the URL tells."""
    url, name = settings.url.rstrip("/"), settings.protocol
    if name is None and url.endswith("/invocations"):
        name = "mlflow"
    elif name is None and url.endswith("/completions"):
        name = "chat" if url.endswith("/chat/completions") else "completions"
    if name == "mlflow":
        return MlflowProtocol(url)
    if name == "json":
        return JsonProtocol(url, settings.request, settings.answers)
    if name is None:
        raise HornbookError(
            f"cannot tell from {url} how its model is asked: give a URL that ends with /invocations, as "
            "MLflow's do, or a TOML file with url, protocol, request and answers"
        )
    if settings.sentence is None:
        raise HornbookError(
            f"{url} is a language model, which is asked by sentences: give a TOML file with its url "
            "and a table [sentence]"
        )
    kind = ChatProtocol if name == "chat" else CompletionProtocol
    return kind(url, settings.sentence, settings.model)


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
    if template == "$columns":
        return rows.columns
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
