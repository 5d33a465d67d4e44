"""Rules and theories as text and as data: one rule a line, and JSON.

On a line, `horse & wings -> pegasus` is written. Also read: `∧` and `,` for `&`, `→` for `->`, `true` or
`⊤` for the empty body, `false` or `⊥` for ⊥, `#` comments, and names in double quotes (JSON strings) for
anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from hornbook.errors import HornbookError
from hornbook.logic.batch import Interpretation
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule, Vocabulary
from hornbook.schema import Forms


@dataclass(frozen=True)
class Symbols:
    """The signs that rules are written with."""

    conjunction: str
    arrow: str
    top: str
    bottom: str


ASCII = Symbols(" & ", " -> ", "true", "false")
UNICODE = Symbols(" ∧ ", " → ", "⊤", "⊥")

_BARE = r'[^\s&∧,→⊥⊤#"\-]*(?:-(?!>)[^\s&∧,→⊥⊤#"\-]*)*'
_TOKEN = re.compile(
    rf"""(?P<blank>\s+|\#.*)
       | (?P<arrow>->|→)
       | (?P<and>[&∧,])
       | (?P<top>⊤|true(?=[\s&∧,→\-\#]|$)) | (?P<bottom>⊥|false(?=[\s&∧,→\-\#]|$))
       | "(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"
       | (?P<name>(?=[^\s&∧,→⊥⊤\#"]){_BARE.replace("#", chr(92) + "#")})
       | (?P<bad>.)""",
    re.VERBOSE,
)
_NEEDS_NO_QUOTES = re.compile(rf"(?!(?:true|false)\Z){_BARE}\Z")


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def parse(text: str, vocabulary: Vocabulary | None = None) -> tuple[Vocabulary, list[Rule]]:
    """The vocabulary and rules of a text; see `HornTheory.parse`."""
    named = [
        (number, parts)
        for number, line in enumerate(text.split("\n"), 1)
        if (parts := _parse_line(line, number)) is not None
    ]
    if vocabulary is None:
        names = (name for _, (body, head) in named for name in (*body, head) if not isinstance(name, Bottom))
        vocabulary = Vocabulary(dict.fromkeys(names))
    rules = []
    for number, (body, head) in named:
        try:
            rules.append(Rule.of(vocabulary, body, head))
        except HornbookError as error:
            raise HornbookError(f"line {number}: {error}") from None
    return vocabulary, rules


def parse_rule(text: str, vocabulary: Vocabulary) -> Rule:
    """The one rule that `text` spells."""
    _, rules = parse(text, vocabulary)
    if len(rules) != 1:
        raise HornbookError(f"expected one rule, got {len(rules)} in {text!r}")
    return rules[0]


def print_rules(vocabulary: Vocabulary, rules: Iterable[Rule], symbols: Symbols) -> str:
    """One line a rule, each ended by a newline."""
    return "".join(rule_text(vocabulary, rule, symbols) + "\n" for rule in rules)


def rule_text(vocabulary: Vocabulary, rule: Rule, symbols: Symbols) -> str:
    """A rule on one line."""
    body = symbols.conjunction.join(map(quote, vocabulary.named(rule.body))) or symbols.top
    return body + symbols.arrow + head_text(vocabulary, rule.head, symbols)


def head_text(vocabulary: Vocabulary, head: Head, symbols: Symbols) -> str:
    """A head as written in a rule."""
    return symbols.bottom if isinstance(head, Bottom) else quote(vocabulary.name(head))


def quote(name: str) -> str:
    """A name as written in a rule: in quotes only where it must be."""
    return name if _NEEDS_NO_QUOTES.match(name) else json.dumps(name, ensure_ascii=False)


def _parse_line(line: str, number: int) -> tuple[list[str], str | Bottom] | None:
    tokens = list(_tokens(line, number))
    if not tokens:
        return None
    arrows = [position for position, token in enumerate(tokens) if token.kind == "arrow"]
    if not arrows:
        raise _error(number, len(line.rstrip()) + 1, "expected '->' and a head")
    end = _Token("end", "the end of the line", len(line.rstrip()) + 1)
    body = _parse_body([*tokens[: arrows[0]], tokens[arrows[0]]], number)
    head, after = [*tokens[arrows[0] + 1 :], end, end][:2]
    if head.kind not in ("name", "bottom"):
        raise _error(number, head.column, f"expected a head, a name or false, got {head.text!r}")
    if after is not end:
        raise _error(number, after.column, f"expected one head and no more, got {after.text!r}")
    return body, BOTTOM if head.kind == "bottom" else head.text


def _parse_body(tokens: list[_Token], number: int) -> list[str]:
    """The names before the arrow, which is the last token."""
    if [token.kind for token in tokens] == ["top", "arrow"]:
        return []
    names = []
    for position, token in enumerate(tokens[:-1] or tokens):
        if position % 2 == 0:
            if token.kind != "name":
                hint = "; write 'true' for an empty body" if token.kind == "arrow" else ""
                raise _error(number, token.column, f"expected a name, got {token.text!r}{hint}")
            names.append(token.text)
        elif token.kind != "and":
            raise _error(number, token.column, f"expected '&' or '->', got {token.text!r}")
    if len(tokens) % 2:
        raise _error(number, tokens[-1].column, "expected a name before '->'")
    return names


def _tokens(line: str, number: int) -> Iterator[_Token]:
    for match in _TOKEN.finditer(line):
        kind, column = str(match.lastgroup), match.start() + 1
        text = match.group(kind)
        if kind == "bad":
            hint = "; a quote is not closed" if text == '"' else ""
            raise _error(number, column, f"unexpected {text!r}{hint}")
        if kind == "quoted":
            kind, text = "name", _unquote(text, number, column)
        if kind != "blank":
            yield _Token(kind, text, column)


def _unquote(text: str, number: int, column: int) -> str:
    try:
        name = json.loads(f'"{text}"', strict=False)
    except json.JSONDecodeError as error:
        raise _error(number, column, f"bad escape in a quoted name: {error.msg}") from None
    if not name:
        raise _error(number, column, "a name cannot be empty")
    return str(name)


def _error(line: int, column: int, message: str) -> HornbookError:
    short = message if len(message) <= 300 else f"{message[:140]} … {message[-140:]}"
    return HornbookError(f"line {line}, column {column}: {short}")


def rule_object(vocabulary: Vocabulary, rule: Rule) -> dict[str, Any]:
    """A rule as a JSON object: names, with null for ⊥."""
    head = None if isinstance(rule.head, Bottom) else vocabulary.name(rule.head)
    return {"body": list(vocabulary.named(rule.body)), "head": head}


def read_rule(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Rule:
    """The rule that `rule_object` wrote down."""
    return Rule.of(vocabulary, list(entry["body"]), BOTTOM if entry["head"] is None else entry["head"])


@lru_cache(maxsize=8)
def vocabulary_forms(vocabulary: Vocabulary) -> Forms:
    """How rules and interpretations over a vocabulary are written as JSON: by the names of variables."""

    def write_item(item: Interpretation) -> dict[str, Any]:
        return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}

    def read_item(entry: Mapping[str, Any]) -> Interpretation:
        return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))

    rules = partial(rule_object, vocabulary), partial(read_rule, vocabulary)
    return Forms({Rule: rules, Interpretation: (write_item, read_item)})


def to_json(vocabulary: Vocabulary, rules: Iterable[Rule]) -> str:
    """The vocabulary, its dual pairs, and the rules."""
    document = {
        "vocabulary": list(vocabulary.names),
        "duals": vocabulary.dual_names,
        "rules": [rule_object(vocabulary, rule) for rule in rules],
        "background": [],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> tuple[Vocabulary, list[Rule]]:
    """The vocabulary and the rules, the background first."""
    try:
        document = json.loads(text)
        vocabulary = Vocabulary(document["vocabulary"], document.get("duals"))
        entries = [*document.get("background", ()), *document["rules"]]
        return vocabulary, [read_rule(vocabulary, entry) for entry in entries]
    except HornbookError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HornbookError(f"not a theory in JSON: {type(error).__name__} {error}") from None
