"""What a user says about a model behind an endpoint: its URL, or a TOML file of a few lines."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hornbook.errors import HornbookError
from hornbook.models.loading import is_url
from hornbook.remote.sentence import Sentence
from hornbook.storage import read_toml

PROTOCOLS = ("mlflow", "json", "completions", "chat")
"""The protocols by name."""

TOKEN_VARIABLE = "HORNBOOK_ENDPOINT_TOKEN"
"""The environment variable whose value is sent as a bearer token."""

SETTING_RANGES: dict[str, tuple[float, float]] = {
    "timeout": (0.001, 86_400),
    "in_flight": (1, 1000),
    "max_batch": (1, 1_000_000),
    "retries": (0, 100),
}
"""The least and the largest value of a number."""

HEADER_NAME, HEADER_VALUE = re.compile(r"[!#$%&'*+.^`|~\w-]+", re.ASCII), re.compile(r"[\t -~\xa0-\xff]*")
"""What a header may be, and its value."""

VARIABLE = re.compile(r"\$\{(\w+)\}")
"""An environment variable in the value of a header, such as ${SCORING_KEY}."""


@dataclass(frozen=True)
class EndpointSettings:
    """A model behind an endpoint, as a user describes it.

    Parameters
    ----------
    url
        Where the model is asked; it has no user, password or query, since it is kept in files.
    protocol
        `mlflow`, `json`, or, of a language model, `completions` or `chat`; None to
        find it out.
    classes
        The names of the classes in the order of the outputs; None to find them out.
    threshold
        The lowest score of the second of two classes; None leaves the decision to the model.
    columns
        The columns that the model reads, in its order; None for those that it says, or all.
    request, answers
        For json: the shape of a request, with `$rows`, `$values` or `$row` where the rows stand, and
        perhaps `$count` for their number; and the path of the answers in a response, in which `*` stands for
        each row.
    sentence, model
        For a language model: how a row is said in words, and the name of the model on its server.
    missing
        `null` or `nan`: how a missing value is written.
    headers
        Headers of each request; `${NAME}` in them is replaced by an environment variable.
    timeout
        Seconds to wait for an answer.
    in_flight
        The number of requests at a time.
    max_batch
        The most rows of a request.
    retries
        How often a request is repeated that the server throttles or loses.

    """

    url: str
    protocol: str | None = None
    classes: tuple[Any, ...] | None = None
    threshold: float | None = None
    columns: tuple[str, ...] | None = None
    request: Any = "$rows"
    answers: str = "*"
    sentence: Sentence | None = None
    model: str | None = None
    missing: str = "null"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 60.0
    in_flight: int = 4
    max_batch: int = 2048
    retries: int = 6

    def __post_init__(self) -> None:
        refuse_secrets(self.url)
        if self.sentence is not None:
            object.__setattr__(self, "classes", self.sentence.classes)
            object.__setattr__(self, "columns", self.sentence.columns)
        if self.protocol not in (None, *PROTOCOLS):
            raise HornbookError(f"the protocol is one of {', '.join(PROTOCOLS)}; not {self.protocol!r}")
        if self.missing not in ("null", "nan"):
            raise HornbookError(f"missing values are written as 'null' or 'nan'; not {self.missing!r}")
        for name, (least, most) in SETTING_RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise HornbookError(f"{name} is at least {least} and at most {most:,}; got {value}")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise HornbookError(f"a threshold is a finite number; got {self.threshold}")
        self._refuse_names()
        try:
            json.dumps(self.request, allow_nan=False)
        except (TypeError, ValueError):
            raise HornbookError(
                "the request of an endpoint holds texts, finite numbers, truth values, lists and tables"
            ) from None

    def _refuse_names(self) -> None:
        """Refuse columns and classes that are not names, or that are named twice."""
        for part, names, kinds in (
            ("columns", self.columns, (str,)),
            ("classes", self.classes, (str, bool, int, float)),
        ):
            for name in names or ():
                if not isinstance(name, kinds) or name != name:
                    raise HornbookError(f"{part} of an endpoint cannot be {str(name)[:40]!r}")
            if names and len(set(names)) < len(names):
                raise HornbookError(f"{part} of an endpoint are named once each; got {list(names)}")
        if self.classes is not None and len(self.classes) < 2:
            raise HornbookError(f"a model has two classes or more; got {list(self.classes)}")

    @classmethod
    def of(cls, source: EndpointSettings | str | Path) -> EndpointSettings:
        """Settings, a URL, or the settings in a TOML file."""
        if isinstance(source, EndpointSettings):
            return source
        return cls(str(source)) if is_url(source) else cls.read(read_toml(Path(source)), str(source))

    @classmethod
    def read(cls, content: Mapping[str, Any], source: str) -> EndpointSettings:
        """The settings in a mapping; refuse what has no meaning."""
        known = {each.name: str(each.type) for each in fields(cls)}
        if "sentence" in content:
            content = {**content, "sentence": Sentence.parse(content["sentence"], source)}
        for name, value in content.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                raise HornbookError(f"{source}: an endpoint has no {name!r}; {advice}")
            if not _fits(value, known[name]):
                raise HornbookError(f"{source}: {name} cannot be {value!r}")
        if "url" not in content:
            raise HornbookError(f'{source} does not say where the model is: url = "http://…"')
        lists = {name: tuple(value) for name, value in content.items() if name in ("classes", "columns")}
        return cls(**{**content, **lists})

    def find_headers(self) -> dict[str, str]:
        """The headers of a request, with credentials from the environment."""
        headers = {name: VARIABLE.sub(_environment, value) for name, value in self.headers.items()}
        token = os.environ.get(TOKEN_VARIABLE)
        headers = headers if token is None else {"Authorization": f"Bearer {token}", **headers}
        for name, value in headers.items():
            if not (HEADER_NAME.fullmatch(name) and HEADER_VALUE.fullmatch(value)):
                raise HornbookError(f"the header {name!r}, or its value, has a character that none can have")
        return headers

    def list_secrets(self) -> list[str]:
        """The values of the environment that requests carry: they occur in no message."""
        names = [name for value in self.headers.values() for name in VARIABLE.findall(value)]
        return [value for name in (TOKEN_VARIABLE, *names) if (value := os.environ.get(name))]


def refuse_secrets(url: str) -> None:
    """Refuse a URL with a user, a password or a query, which files and messages would repeat."""
    try:
        parts = urlsplit(url)
        valid = is_url(url) and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise HornbookError(
            f"{url.partition('?')[0].rpartition('@')[2]!r} is not a URL of a model: http://host/…"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        part = "a query" if parts.query or parts.fragment else "a user or password"
        raise HornbookError(
            f"the URL at {parts.hostname} has {part}, which files and messages would repeat; leave it out, "
            f"and give credentials by the environment: {TOKEN_VARIABLE}, or headers of a TOML file"
        )


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value of TOML has the type of a field."""
    if annotation == "Any" or annotation.startswith("Sentence"):
        return True
    if annotation.startswith("tuple"):
        return isinstance(value, list) and len(value) > 0
    if annotation.startswith("Mapping"):
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    kinds: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
    return isinstance(value, kinds[annotation.partition(" ")[0]]) and not isinstance(value, bool)


def _environment(match: re.Match[str]) -> str:
    name = match[1]
    if (value := os.environ.get(name)) is None:
        raise HornbookError(
            f"a header of the endpoint needs the environment variable {name}, which is not set"
        )
    return value
