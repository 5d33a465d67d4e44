"""Sentences about rows: how a language model is asked about the levels of columns, in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from string import Formatter
from typing import Any, Literal

from hornbook.errors import HornbookError

BLANK = "____"
"""Stands for the word that is asked for where a model is told to fill it in."""

INSTRUCTION = "Fill in the blank. Answer with one word, {choices}.\n\n{sentence}"
"""What a chat model is told; a user can write another one."""

PROPOSAL = """These rules say how you complete the sentence "{template}":
{rules}

Name one case that breaks a rule, or that shows that a rule is missing. Choose one value a line:
{levels}"""
"""How a chat model is asked for a case against rules."""


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
        for name in named:
            if not self.words.get(name):
                raise HornbookError(f"the template has {{{name}}}, and there are no words for its levels")
        for name in (self.asks, *self.words, *self.unknown):
            if named.count(name) != 1:
                raise HornbookError(
                    f"the template names the column {name!r} {named.count(name)} times, not once"
                )
        for name, levels in self.words.items():
            if empty := [level for level, words in levels.items() if not words.strip()]:
                raise HornbookError(f"there are no words for the level {empty[0]!r} of {name!r}")
        for name in set(named) - {self.asks, *self.unknown}:
            raise HornbookError(f"there are no words for an unknown {name!r}: unknown.{name} = …")
        if self.asks in self.unknown:
            raise HornbookError(f"{self.asks!r} is asked for, so it needs no words for an unknown level")
        if len(set(map(str.lower, self.choices))) < max(2, len(self.choices)):
            raise HornbookError(f"{self.asks!r} needs two different words or more, one for each level")
        if self.read not in ("probabilities", "votes"):
            raise HornbookError(f"read is 'probabilities' or 'votes', not {self.read!r}")
        if self.votes < 1:
            raise HornbookError(f"there are 1 vote or more, not {self.votes}")
        if self.proposals < 0:
            raise HornbookError(f"there are 0 proposals or more, not {self.proposals}")

    @classmethod
    def parse(cls, content: Any, source: str) -> Sentence:
        """The sentence in a table of a TOML file; refuse what has no meaning."""
        known = {each.name for each in fields(cls)}
        if not isinstance(content, Mapping) or not {"template", "asks", "words"} <= content.keys() <= known:
            raise HornbookError(
                f"{source}: [sentence] has template, asks and words, and may have "
                f"{', '.join(sorted(known - {'template', 'asks', 'words'}))}"
            )
        tables = {"words": content["words"], "unknown": content.get("unknown", {})}
        texts = [content["template"], content["asks"], *tables["unknown"].values()]
        texts += [words for levels in tables["words"].values() for words in levels.values()]
        if not all(isinstance(text, str) for text in texts):
            raise HornbookError(f"{source}: templates, columns and words of [sentence] are texts")
        try:
            return cls(**content)
        except HornbookError as error:
            raise HornbookError(f"{source}: {error}") from None

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
