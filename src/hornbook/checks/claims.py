"""Claims about what a model does, as text: one rule or one monotonicity a line.

A rule names conditions on columns and the class that should follow; a monotonicity names a column
and a class that must not be lost, or gained, as the column rises:

    income <= 90 & age > 40 -> good
    status in {A11, A12} & savings is missing -> not good
    "petal width (cm)" > 1.75 -> virginica
    more income never lowers good

Names and texts that are not plain words stand in double quotes, as JSON strings, unless they are columns
of the table. Also read: `and`, `∧` and `,` for `&`, `→` for `->`, `≤`, `≥` and `≠`, `sex is f`, ranges as
`43.5 < age ≤ 60` and `age 44–60`, `true` for the empty body, `#` comments, lines of an explanation,
such as `if age > 40 and sex = f: good`, and of `rules.horn`, such as `"age > 40" & "sex = f" -> good`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from hornbook.checks.unfolding import unfold_rules
from hornbook.code_book import EMPTY_BOOK, CodeBook, ColumnWords, read_segment
from hornbook.conditions import Between, Category, Condition, IsTrue, Missing, Threshold
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.times import read_days, write_days

Direction: TypeAlias = Literal["lowers", "raises"]


@dataclass(frozen=True)
class RuleClaim(Displayed):
    """The claim that every row which meets the body gets the outcome.

    Parameters
    ----------
    body
        The conditions that a row meets; none for a claim about every row.
    outcome
        A class in words: `good`, or `not good`.

    Examples
    --------
    >>> print(RuleClaim((Threshold("income", 90, above=False), Missing("age")), "good"))
    income <= 90 & age is missing -> good

    """

    body: tuple[Condition, ...]
    outcome: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the body speaks of, each once."""
        return tuple(dict.fromkeys(condition.column for condition in self.body))

    def write(self, code_book: CodeBook) -> str:
        """The claim as text, in the words of a code book."""
        body = " & ".join(write_condition(condition, code_book) for condition in self.body) or "true"
        return f"{body} -> {_write_words(self.outcome)}"

    def __str__(self) -> str:
        return self.write(EMPTY_BOOK)


@dataclass(frozen=True)
class MonotoneClaim(Displayed):
    """The claim that a class is never lost (or, if it `raises`, never gained) as a column rises.

    Examples
    --------
    >>> print(MonotoneClaim("income", "lowers", "good"))
    more income never lowers good

    """

    column: str
    never: Direction
    outcome: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that rises."""
        return (self.column,)

    def write(self, code_book: CodeBook) -> str:
        """The claim as text, in the words of a code book."""
        column = _write_word(code_book.label(self.column))
        return f"more {column} never {self.never} {_write_words(self.outcome)}"

    def __str__(self) -> str:
        return self.write(EMPTY_BOOK)


Claim: TypeAlias = RuleClaim | MonotoneClaim


def parse_claims(
    text: str,
    code_book: CodeBook = EMPTY_BOOK,
    columns: Iterable[str] = (),
    always: Iterable[Condition] = (),
    remark: Callable[[str], None] | None = None,
) -> tuple[Claim, ...]:
    """Read claims, one a line; columns and values may be named as a code book does.

    Names of `columns` need no quotes. Of a theory with variables of its own, as the rules of a list or a
    tree are written, it reads what follows for rows, all of which meet `always`; `remark` is told of
    rules that are left out.

    Examples
    --------
    >>> for claim in parse_claims("status in {A11, A12} -> not good  # the bank says so"):
    ...     print(claim)
    status in {A11, A12} -> not good
    >>> print(*parse_claims("if petal width > 1.7 and sex is f: good", columns=["petal width"]))
    "petal width" > 1.7 & sex = f -> good
    >>> parse_claims("income -> good")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: line 1: after the column 'income' comes <=, >, =, in or is, not '->'

    """
    names = {*columns, *(words.label for words in code_book.columns.values())}
    unfolded = unfold_rules(text, lambda name: _read_conditions(_quote_names(name, names), code_book), always)
    if unfolded is not None:
        if unfolded.remark and remark is not None:
            remark(unfolded.remark)
        return tuple(RuleClaim(body, outcome) for body, outcome in unfolded.rules)
    claims: list[Claim] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            tokens = list(_tokens(_quote_names(line, names)))
            if tokens:
                claims.append(_parse_line(_Reader(tokens, code_book)))
        except HornbookError as error:
            raise HornbookError(f"line {number}: {error}") from None
    return tuple(claims)


def _read_conditions(text: str, code_book: CodeBook) -> list[Condition]:
    """The conditions that a whole text says."""
    reader = _Reader(list(_tokens(text)), code_book)
    conditions = _parse_conditions(reader)
    if reader.peek().kind != "end":
        raise HornbookError(f"after a condition comes {reader.peek()}")
    return conditions


def _quote_names(line: str, names: Collection[str]) -> str:
    """A line whose known names stand in quotes where they have to, with an arrow before its class."""
    parts = re.split(r'("(?:[^"\\]|\\.)*"|#.*)', line)  # at odd places quotes and comments
    odd = sorted((name for name in names if name and not _PLAIN_WORD.match(name)), key=len, reverse=True)
    pattern = "|".join(map(re.escape, odd))
    for place in range(0, len(parts), 2):
        if odd:
            quoted = rf"(?<!\w)({pattern})(?!\w)"
            parts[place] = re.sub(
                quoted, lambda match: json.dumps(match[0], ensure_ascii=False), parts[place]
            )
    line = "".join(parts)
    if re.match(r"\s*otherwise\b", line):
        raise HornbookError(
            "a line that begins with otherwise depends on those above it; write its conditions"
        )
    return re.sub(r"^\s*if\b(.*):\s", r"\1 -> ", line)


def name_outcome(outcome: str, classes: tuple[str, ...]) -> tuple[int, bool]:
    """The number of the class that an outcome names, and whether it says that it is that class.

    Examples
    --------
    >>> name_outcome("good", ("bad", "good")), name_outcome("not bad", ("bad", "fair", "good"))
    ((1, True), (0, False))

    """
    if outcome in classes:
        return classes.index(outcome), True
    if outcome.startswith("not ") and outcome.removeprefix("not ") in classes:
        return classes.index(outcome.removeprefix("not ")), False
    raise HornbookError(f"the model has no class {outcome!r}; its classes are {', '.join(classes)}")


def write_condition(condition: Condition, code_book: CodeBook = EMPTY_BOOK) -> str:
    """A condition as text that reads back as the same condition, whatever its column is called."""
    name, words = _write_word(code_book.label(condition.column)), code_book.words(condition.column)
    if isinstance(condition, Threshold) and words.scale:
        written = words.name_value(condition.cut)
        reaches = condition.cut < words.read_level(written)  # "at least" is above the number just below
        sign = (">=" if reaches else ">") if condition.above else ("<" if reaches else "<=")
        return f"{name} {sign} {written}"
    if isinstance(condition, Threshold):
        return f"{name} {_write_threshold(condition)}"
    if isinstance(condition, Category):
        values = ", ".join(_write_value(words.name_level(value)) for value in condition.values)
        if len(condition.values) == 1:
            return f"{name} {'=' if condition.inside else '!='} {values}"
        return f"{name} {'in' if condition.inside else 'not in'} {{{values}}}"
    if isinstance(condition, Missing):
        return f"{name} is {'missing' if condition.missing else 'present'}"
    if isinstance(condition, IsTrue):
        return f"{name} is {'true' if condition.true else 'false'}"
    ends = (
        Threshold(condition.column, condition.low),
        Threshold(condition.column, condition.high, above=False),
    )
    sides = ends if condition.inside else tuple(end.negate() for end in ends)
    joined = (" & " if condition.inside else " or ").join(write_condition(side, code_book) for side in sides)
    return joined if condition.inside else f"({joined})"


_WORD = r'(?:-(?!>)|[^\s&∧,→\#"{}<>=≤≥≠!\-])+'
_TOKEN = re.compile(
    rf"""(?P<blank>\s+|\#.*)
       | (?P<arrow>->|→)
       | (?P<and>[&∧,])
       | (?P<sign><=|>=|!=|[<>=≤≥≠])
       | (?P<brace>[{{}}])
       | (?<!\S)\((?P<gap>(?:[^()"]|"(?:[^"\\]|\\.)*")*\sor\s(?:[^()"]|"(?:[^"\\]|\\.)*")*)\)
       | "(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"
       | (?P<word>{_WORD})
       | (?P<bad>.)""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN_WORD = re.compile(rf"{_WORD}\Z")
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!="}
_KEYWORDS = frozenset(
    {"and", "if", "otherwise", "or", "true", "more", "never", "not", "in", "is", "True", "False"}
)


class _ClaimToken(NamedTuple):
    kind: str
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == "end" else repr(self.text)


class _Reader:
    """Reads the tokens of one line, one after the other."""

    def __init__(self, tokens: list[_ClaimToken], code_book: CodeBook) -> None:
        self.tokens, self.code_book, self.place = tokens, code_book, 0

    def peek(self, ahead: int = 0) -> _ClaimToken:
        """The next token, or the end of the line."""
        at = self.place + ahead
        return self.tokens[at] if at < len(self.tokens) else _ClaimToken("end", "the end of the line")

    def take(self) -> _ClaimToken:
        """The next token; reading goes on after it."""
        token = self.peek()
        self.place += 1
        return token

    def take_keyword(self, *words: str) -> str | None:
        """The next token if it is one of some plain words, else None."""
        return self.take().text if self.peek().kind == "word" and self.peek().text in words else None

    def take_words(self, first: _ClaimToken) -> str:
        """A text of several words, of which the first is taken already."""
        words = [first.text]
        while self.peek().kind == "word" and self.peek().text != "and":
            words.append(self.take().text)
        return " ".join(words)

    def take_name(self, what: str) -> str:
        """The next token as a name."""
        token = self.take()
        if token.kind not in ("word", "quoted"):
            raise HornbookError(f"expected {what}, not {token}")
        if not token.text:
            raise HornbookError(f"{what} has no letters")
        return token.text


def _parse_line(reader: _Reader) -> Claim:
    if reader.peek() == _ClaimToken("word", "more") and all(token.kind != "arrow" for token in reader.tokens):
        return _parse_monotone(reader)
    body: list[Condition] = []
    if reader.peek() == _ClaimToken("word", "true") and reader.peek(1).kind == "arrow":
        reader.take()
    elif reader.peek().kind == "arrow":
        raise HornbookError("a rule without conditions is written true -> class")
    else:
        body += _parse_conditions(reader)
        while reader.peek().kind == "and" or reader.peek() == _ClaimToken("word", "and"):
            reader.take()
            body += _parse_conditions(reader)
    if reader.take().kind != "arrow":
        last_word = reader.peek(-1).text
        raise HornbookError(
            f"after a condition comes & or ->, not {last_word!r}; a name with spaces stands in double quotes"
        )
    return RuleClaim(tuple(body), _parse_outcome(reader))


def _parse_monotone(reader: _Reader) -> MonotoneClaim:
    reader.take()
    column = reader.code_book.find_column(reader.take_name("a column after more"))
    change = None if reader.take_keyword("never") is None else reader.take_keyword("lowers", "raises")
    if change is None:
        raise HornbookError(
            f"a monotonicity is written: more {column} never lowers good, or: more {column} never raises good"
        )
    return MonotoneClaim(column, "lowers" if change == "lowers" else "raises", _parse_outcome(reader))


def _parse_conditions(reader: _Reader) -> list[Condition]:
    """A condition, the two ends of a range, or what a variable of a theory says, which stands in quotes."""
    if reader.peek().kind == "gap":
        return [_parse_gap(_Reader(list(_tokens(reader.take().text)), reader.code_book))]
    low, column, after, further = (reader.peek(ahead) for ahead in range(4))
    if low.kind == "quoted" and (column.kind in ("and", "arrow") or column == _ClaimToken("word", "and")):
        return _parse_conditions(_Reader(list(_tokens(reader.take().text)), reader.code_book))
    if column.kind == further.kind == "sign" and _read_number(low.text) is not None:
        reader.take()
        sign = {"<": ">", "<=": ">="}.get(_SIGNS.get(reader.take().text, column.text))
        if sign is None or reader.peek(1).text not in ("<", "<=", "≤"):
            raise HornbookError(f"a range is written as 40 < {after.text} <= 60")
        name = reader.code_book.find_column(after.text)
        return [_make_threshold(name, sign, float(low.text)), _parse_condition(reader)]
    if match := _WHOLE_RANGE.match(" ".join(token.text for token in (column, after, further))):
        name = reader.code_book.find_column(reader.take_name("a column"))
        reader.place += 1 if match["dash"] else 3
        ends = [float(match[end].replace("−", "-")) for end in ("low", "high")]
        return [_make_threshold(name, ">=", ends[0]), _make_threshold(name, "<=", ends[1])]
    return [_parse_condition(reader)]


_WHOLE_RANGE = re.compile(r"(?P<low>[-−]?\d+)(?:(?P<dash>–)| to )(?P<high>[-−]?\d+)(?!\S)")
"""Whole numbers from one to another, as explanations print them."""


def _parse_gap(reader: _Reader) -> Between:
    """The numbers around a gap, such as `age <= 40 or age > 60`."""
    below, _, beyond = _parse_condition(reader), reader.take_keyword("or"), _parse_condition(reader)
    if not (isinstance(below, Threshold) and isinstance(beyond, Threshold)) or (
        below.above or not beyond.above or below.column != beyond.column
    ):
        raise HornbookError(
            f"what lies around a gap is written ({below.column} <= 40 or {below.column} > 60)"
        )
    return Between(below.column, below.cut, beyond.cut, inside=False)


def _make_threshold(column: str, sign: str, cut: float) -> Threshold:
    if sign in (">=", "<"):
        cut = math.nextafter(cut, -math.inf)
    return Threshold(column, cut, sign in (">", ">="))


def _parse_condition(reader: _Reader) -> Condition:
    column = reader.code_book.find_column(reader.take_name("a column"))
    token = reader.take()
    if token.kind == "sign":
        return _parse_comparison(column, _SIGNS.get(token.text, token.text), reader)
    if token == _ClaimToken("word", "is"):
        state = reader.take_keyword("missing", "present", "true", "false")
        if state is None:
            return _parse_comparison(column, "=", reader)
        return (
            Missing(column, state == "missing")
            if state in ("missing", "present")
            else IsTrue(column, state == "true")
        )
    inside = token == _ClaimToken("word", "in")
    if inside or (token == _ClaimToken("word", "not") and reader.take_keyword("in") is not None):
        return Category(column, tuple(_parse_values(column, reader)), inside)
    raise HornbookError(f"after the column {column!r} comes <=, >, =, in or is, not {token}")


def _parse_comparison(column: str, sign: str, reader: _Reader) -> Condition:
    words = reader.code_book.words(column)
    value = _parse_value(reader, words)
    if sign in ("=", "!="):
        return Category(column, words.read_level(value), sign == "=")
    if words.order:
        return read_segment(column, words, sign, value)
    if isinstance(value, str | bool):
        raise HornbookError(f"{column!r} is compared by {sign} with a number, not with {value!r}")
    for part in words.unit.split():
        reader.take_keyword(part)
    return _make_threshold(column, sign, float(value))


def _parse_values(column: str, reader: _Reader) -> Iterator[Any]:
    if reader.take().text != "{":
        raise HornbookError(f"the values of {column!r} stand in braces: {column} in {{a, b}}")
    words = reader.code_book.words(column)
    yield words.read_level(_parse_value(reader, words))
    while (token := reader.take()) == _ClaimToken("and", ","):
        yield words.read_level(_parse_value(reader, words))
    if token.text != "}":
        raise HornbookError(f"the values of {column!r} end with a brace, and commas stand between them")


def _parse_value(reader: _Reader, words: ColumnWords) -> Any:
    """A value: a number, True or False, or a text; what is in quotes is a text. Times become days."""
    token = reader.take()
    if words.scale and token.kind in ("word", "quoted"):
        text = reader.take_words(token)
        if (days := read_days(text, words.scale)) is None:
            example = write_days(18785.5, words.scale)
            raise HornbookError(f"{text!r} is not a {words.scale}; write for example {example}")
        return days
    if token.kind == "quoted":
        return token.text
    if token.kind != "word":
        raise HornbookError(f"expected a value, not {token}")
    if token.text in ("True", "False"):
        return token.text == "True"
    number = _read_number(token.text)
    if number is not None:
        return number
    return reader.take_words(token)


def _parse_outcome(reader: _Reader) -> str:
    words = []
    while reader.peek().kind in ("word", "quoted"):
        words.append(reader.take().text)
    if reader.peek().kind != "end" or not words:
        raise HornbookError(
            f"a claim ends with a class, such as good or not good, not {reader.peek().text!r}"
        )
    return " ".join(words)


def _tokens(line: str) -> Iterator[_ClaimToken]:
    for match in _TOKEN.finditer(line):
        kind = str(match.lastgroup)
        text = match.group(kind)
        if kind == "bad":
            hint = "; a quote is not closed" if text == '"' else ""
            raise HornbookError(f"unexpected {text!r}{hint}")
        if kind == "quoted":
            text = _unquote(text)
        if kind != "blank":
            yield _ClaimToken(kind, text)


def _unquote(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except json.JSONDecodeError as error:
        raise HornbookError(f"bad escape in quotes: {error.msg}") from None


def _read_number(text: str) -> int | float | None:
    """The finite number that a text spells, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    if "_" in text or not math.isfinite(number):
        return None
    return int(text) if re.fullmatch(r"-?[0-9]+", text) and abs(number) < 2**53 else number


def _write_threshold(condition: Threshold) -> str:
    """The sign and the number; at least 40 is written so, and not as above the number just below 40."""
    cut, above = float(condition.cut), math.nextafter(condition.cut, math.inf)
    if math.isfinite(above) and len(_write_number(above)) < len(_write_number(cut)):
        return f"{'>=' if condition.above else '<'} {_write_number(above)}"
    return f"{'>' if condition.above else '<='} {_write_number(cut)}"


def _write_number(number: float) -> str:
    return repr(number).removesuffix(".0")


def _write_value(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return _write_number(value) if isinstance(value, float) else str(value)
    return json.dumps(value, ensure_ascii=False) if _read_number(value) is not None else _write_word(value)


def _write_word(name: str) -> str:
    plain = _PLAIN_WORD.match(name) and name not in _KEYWORDS
    return name if plain else json.dumps(name, ensure_ascii=False)


def _write_words(outcome: str) -> str:
    """An outcome: plain words as they are, `not good` too, anything else in quotes."""
    words = outcome.split(" ")
    return (
        outcome if all(_PLAIN_WORD.match(word) for word in words) else json.dumps(outcome, ensure_ascii=False)
    )
