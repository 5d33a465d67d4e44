"""What a user says about a model behind an endpoint, and how a language model is asked about rows, in words.

An endpoint is a URL, or a TOML file of a few lines. A language model needs a sentence for each row, and
the words in it for the levels of columns.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Formatter
from typing import Any, Literal
from urllib.parse import urlsplit

from hornbook.errors import HornbookError
from hornbook.models.loading import is_url
from hornbook.schema import leaves_out_defaults, read_object
from hornbook.storage import read_toml

BLANK = "____"
"""Stands for the word that is asked for where a model is told to fill it in."""

INSTRUCTION = "Fill in the blank. Answer with one word, {choices}.\n\n{sentence}"
"""What a chat model is told; a user can write another one."""

PROPOSAL = """These rules say how you complete the sentence "{template}":
{rules}

Name one case that breaks a rule, or that shows that a rule is missing. Choose one value a line:
{levels}"""
"""How a chat model is asked for a case against rules."""


@leaves_out_defaults
@dataclass(frozen=True)
class Sentence:
    """A sentence for each row, and the words in it for the levels of columns.

    Parameters
    ----------
    template
        The sentence, with the columns in braces: `{pronoun} was born {period} and is {job}.`
    asks
        The column that the model is asked for.
    words
        For each column its levels, and the words for each.
    unknown
        For each column the words for an unknown level; the column that is asked for has none.
    read
        `probabilities`: the likeliest of the words is the answer. `votes`: what a chat model answers most
        often, for models that give no probabilities.
    votes
        How many answers are asked for.
    instruction
        What a chat model is told, with `{choices}` and `{sentence}`.
    proposals
        How many cases a chat model proposes against each hypothesis of a run by samples.

    Examples
    --------
    >>> sentence = Sentence(
    ...     "Somebody is {job}. {pronoun}",
    ...     asks="pronoun",
    ...     words={"pronoun": {"she": "She", "he": "He"}, "job": {"nurse": "a nurse"}},
    ...     unknown={"job": "a person of unknown occupation"},
    ... )
    >>> sentence.split({"job": "nurse"})
    ('Somebody is a nurse. ', '')
    >>> sentence.split({"job": None})
    ('Somebody is a person of unknown occupation. ', '')

    """

    template: str
    asks: str
    words: Mapping[str, Mapping[str, str]]
    unknown: Mapping[str, str] = field(default_factory=dict)
    read: Literal["probabilities", "votes"] = "probabilities"
    votes: int = 5
    instruction: str = INSTRUCTION
    proposals: int = 0

    def __post_init__(self) -> None:
        named = self._list_columns()
        if sorted(named) != sorted(self.words) or self.asks not in named:
            raise HornbookError(
                f"the template names the columns {', '.join(named)}, each once, and words are needed "
                f"for the levels of these and no others; there are for {', '.join(self.words)}"
            )
        for name, levels in self.words.items():
            if empty := [level for level, words in levels.items() if not words.strip()]:
                raise HornbookError(f"there are no words for the level {empty[0]!r} of {name!r}")
        if set(self.unknown) != set(self.columns):
            raise HornbookError(
                f"words are needed for an unknown level of {', '.join(self.columns)}, and of no others; "
                f"there are for {', '.join(self.unknown) or 'none'}"
            )
        if len(set(map(str.lower, self.choices))) < max(2, len(self.choices)):
            raise HornbookError(f"{self.asks!r} needs two different words or more, one for each level")
        if self.votes < 1 or self.proposals < 0:
            raise HornbookError(
                f"votes are 1 or more, proposals 0 or more; got {self.votes}, {self.proposals}"
            )

    def describe(self) -> dict[str, Any]:
        """What answers depend on, ready for JSON."""
        return {
            "template": self.template,
            "words": {name: dict(levels) for name, levels in self.words.items()},
            "unknown": dict(self.unknown),
            "read": self.read,
            "votes": self.votes,
            "instruction": self.instruction,
        }

    def _list_columns(self) -> list[str]:
        """The columns in the braces of the template, in order."""
        try:
            return [name for _, name, _, _ in Formatter().parse(self.template) if name is not None]
        except ValueError as error:
            raise HornbookError(f"the template {self.template!r} cannot be read: {error}") from None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the model reads, in the order of the template."""
        return tuple(name for name in self._list_columns() if name != self.asks)

    @property
    def classes(self) -> tuple[str, ...]:
        """The levels of the column that is asked for."""
        return tuple(self.words[self.asks])

    @property
    def choices(self) -> tuple[str, ...]:
        """The words for them."""
        return tuple(self.words[self.asks].values())

    def split(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """What stands before the word that is asked for, and what comes after it, about a row."""
        phrases = {name: self._say(name, row.get(name)) for name in self.columns}
        before, after = self.template.split(f"{{{self.asks}}}")
        return before.format(**phrases), after.format(**phrases)

    def _say(self, column: str, level: Any) -> str:
        """The words for a level of a column."""
        if level is None or level != level:
            return self.unknown[column]
        if str(level) not in self.words[column]:
            levels = ", ".join(self.words[column])
            raise HornbookError(
                f"there are no words for the level {level!r} of {column!r}; there are {levels}"
            )
        return self.words[column][str(level)]

    def instruct(self, row: Mapping[str, Any]) -> str:
        """What a chat model is told about a row."""
        before, after = self.split(row)
        *others, last = self.choices
        choices = f"{', '.join(others)} or {last}"
        return self.instruction.format(choices=choices, sentence=f"{before}{BLANK}{after}")

    def ask_for_case(self, rules: Sequence[str]) -> str:
        """How a chat model is asked for a case against rules about itself."""
        rule_list = "\n".join(f"- {rule}" for rule in rules) or "- everything is possible"
        levels = "\n".join(f"{column}: {', '.join(levels)}" for column, levels in self.words.items())
        return PROPOSAL.format(template=self.template, rules=rule_list, levels=levels)

    def read_case(self, text: str) -> dict[str, str]:
        """The level of each column that a text names, or the words for it; none of a column with several."""
        case = {}
        for column, levels in self.words.items():
            named = [
                level
                for level, words in levels.items()
                if re.search(rf"(?<!\w)({re.escape(level)}|{re.escape(words)})(?!\w)", text, re.IGNORECASE)
            ]
            if len(named) == 1:
                case[column] = named[0]
        return case

    def share_tokens(self, likeliest: Mapping[str, float]) -> dict[str, float] | None:
        """The share of each level in the probabilities of the likeliest tokens of an answer.

        A token counts for the word that it begins; one that begins several words counts for none. A word that
        none begins has the probability of the least likely token. None if no word begins with any.
        """
        weights = dict.fromkeys(self.classes, 0.0)
        for token, log_probability in likeliest.items():
            start = token.strip().lower()
            begun = [level for level, word in self.words[self.asks].items() if word.lower().startswith(start)]
            if start and len(begun) == 1:
                weights[begun[0]] += math.exp(log_probability)
        if not any(weights.values()):
            return None
        least = math.exp(min(likeliest.values()))
        weights = {level: weight or least for level, weight in weights.items()}
        total = sum(weights.values())
        return {level: weight / total for level, weight in weights.items()}

    def count_votes(self, answers: Sequence[str]) -> dict[str, float]:
        """The share of each level among answers in words; an answer that names several counts for none."""
        counts = dict.fromkeys(self.classes, 0)
        for answer in answers:
            spoken = {part.strip(".,;:!?\"'*_ ").lower() for part in answer.split()}
            named = [level for level, word in self.words[self.asks].items() if word.lower() in spoken]
            if len(named) == 1:
                counts[named[0]] += 1
        total = sum(counts.values())
        return {level: count / total if total else 1 / len(counts) for level, count in counts.items()}


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


@leaves_out_defaults
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
        The columns that the model reads, in its order; None for all.
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
    protocol: Literal["mlflow", "json", "completions", "chat"] | None = None
    classes: tuple[Any, ...] | None = None
    threshold: float | None = None
    columns: tuple[str, ...] | None = None
    request: Any = "$rows"
    answers: str = "*"
    sentence: Sentence | None = None
    model: str | None = None
    missing: Literal["null", "nan"] = "null"
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
        for name, (least, most) in SETTING_RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise HornbookError(f"{name} is at least {least} and at most {most:,}; got {value}")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise HornbookError(f"a threshold is a finite number; got {self.threshold}")
        for part, names in (("columns", self.columns), ("classes", self.classes)):
            if any(isinstance(name, list | dict) or name != name for name in names or ()):
                raise HornbookError(f"{part} of an endpoint are words and numbers; got {list(names or ())}")
            if names and len(set(names)) < len(names):
                raise HornbookError(f"{part} of an endpoint are named once each; got {list(names)}")
        if self.classes is not None and len(self.classes) < 2:
            raise HornbookError(f"a model has two classes or more; got {list(self.classes)}")
        try:
            json.dumps(self.request, allow_nan=False)
        except (TypeError, ValueError):
            raise HornbookError(
                "the request of an endpoint holds texts, finite numbers, truth values, lists and tables"
            ) from None

    @classmethod
    def of(cls, source: EndpointSettings | str | Path) -> EndpointSettings:
        """Settings, a URL, or the settings in a TOML file."""
        if isinstance(source, EndpointSettings):
            return source
        return cls(str(source)) if is_url(source) else cls.read(read_toml(Path(source)), str(source))

    @classmethod
    def read(cls, content: Mapping[str, Any], source: str) -> EndpointSettings:
        """The settings in a mapping; refuse what has no meaning."""
        others = {name: value for name, value in content.items() if name != "headers"}
        headers = read_object(dict[str, str], content.get("headers", {}), source)
        return replace(read_object(cls, others, source), headers=headers)

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


def _environment(match: re.Match[str]) -> str:
    name = match[1]
    if (value := os.environ.get(name)) is None:
        raise HornbookError(
            f"a header of the endpoint needs the environment variable {name}, which is not set"
        )
    return value
