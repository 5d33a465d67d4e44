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
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

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
    >>> parse_claims("40 > age > 20 -> good")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: line 1: a range is written as 40 < age <= 60

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
            said = _split(_quote_names(line, names), "#.*")[0].strip()
            if said:
                claims.append(_parse_line(said, code_book))
        except HornbookError as error:
            raise HornbookError(f"line {number}: {error}") from None
    return tuple(claims)


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
_PLAIN_WORD = re.compile(rf"{_WORD}\Z")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TERM = rf"{_QUOTED}|{_WORD}"
_BRACES = rf'{{(?:{_QUOTED}|[^"}}])*}}'
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!="}
_KEYWORDS = frozenset(
    {"and", "if", "otherwise", "or", "true", "more", "never", "not", "in", "is", "True", "False"}
)
_MONOTONE = re.compile(rf"more\s+(?P<column>{_TERM})\s+never\s+(?P<never>lowers|raises)\s+(?P<outcome>.*)")
_RANGE = re.compile(rf"(?P<low>{_WORD})\s*(?P<sign><=|[<≤>≥]|>=)\s*(?P<rest>.*[<>≤≥].*)")
_WHOLE_RANGE = re.compile(
    rf"(?P<column>{_TERM})\s+(?P<low>[-−]?\d+)(?:–|\s+to\s+)(?P<high>[-−]?\d+)"
)  # whole numbers from one to another, as explanations print them
_COMPARISON = re.compile(
    rf"(?P<column>{_TERM})\s*(?:(?P<sign><=|>=|!=|[<>=≤≥≠])|(?P<is>(?<=[\s\"])is\b))\s*(?P<value>.*)"
)
_MEMBERSHIP = re.compile(rf"(?P<column>{_TERM})\s+(?P<outside>not\s+)?in\s*{{(?P<values>.*)}}")


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators, which do not count within quotes and braces."""
    parts, start = [], 0
    for match in re.finditer(rf"{_QUOTED}|{_BRACES}|({separator})", text):
        if match[1] is not None:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _parse_line(line: str, code_book: CodeBook) -> Claim:
    body, *heads = _split(line, "->|→")
    if not heads and (monotone := _MONOTONE.fullmatch(line)):
        column = code_book.find_column(_read_name(monotone["column"]))
        never: Direction = "lowers" if monotone["never"] == "lowers" else "raises"
        return MonotoneClaim(column, never, _parse_outcome(monotone["outcome"]))
    if len(heads) != 1:
        raise HornbookError(
            f"{line!r} is no claim; write: age > 40 & sex = f -> good, or: more income never lowers good"
        )
    if not body.strip():
        raise HornbookError("a rule without conditions is written true -> class")
    conditions = [] if body.strip() == "true" else _read_conditions(body, code_book)
    return RuleClaim(tuple(conditions), _parse_outcome(heads[0]))


def _read_conditions(text: str, code_book: CodeBook) -> list[Condition]:
    """The conditions that a whole text says."""
    return [
        condition
        for part in _split(text, r"[&∧,]|(?<=\s)and(?=\s)")
        for condition in _parse_part(part.strip(), code_book)
    ]


def _parse_part(part: str, code_book: CodeBook) -> list[Condition]:
    """A condition, the two ends of a range, or what a variable of a theory says, which stands in quotes."""
    if re.fullmatch(_QUOTED, part):
        return _read_conditions(_read_name(part), code_book)
    if part.startswith("(") and len(sides := _split(part[1:-1], r"(?<=\s)or(?=\s)")) == 2 and part[-1] == ")":
        below, beyond = (_parse_condition(side.strip(), code_book) for side in sides)
        if (
            isinstance(below, Threshold)
            and isinstance(beyond, Threshold)
            and not below.above
            and beyond.above
        ):
            return [Between(below.column, below.cut, beyond.cut, inside=False)]
    if (ends := _RANGE.fullmatch(part)) and (low := _read_number(ends["low"])) is not None:
        high = _parse_condition(ends["rest"].strip(), code_book)
        sign = {"<": ">", "<=": ">="}.get(_SIGNS.get(ends["sign"], ends["sign"]))
        if sign is None or not isinstance(high, Threshold) or high.above:
            raise HornbookError("a range is written as 40 < age <= 60")
        return [_make_threshold(high.column, sign, float(low)), high]
    if ends := _WHOLE_RANGE.fullmatch(part):
        column = code_book.find_column(_read_name(ends["column"]))
        first, last = (float(ends[end].replace("−", "-")) for end in ("low", "high"))
        return [_make_threshold(column, ">=", first), _make_threshold(column, "<=", last)]
    return [_parse_condition(part, code_book)]


def _make_threshold(column: str, sign: str, cut: float) -> Threshold:
    if sign in (">=", "<"):
        cut = math.nextafter(cut, -math.inf)
    return Threshold(column, cut, sign in (">", ">="))


def _parse_condition(part: str, code_book: CodeBook) -> Condition:
    if member := _MEMBERSHIP.fullmatch(part):
        column = code_book.find_column(_read_name(member["column"]))
        words = code_book.words(column)
        values = [words.read_level(_parse_value(each, words)) for each in _split(member["values"], ",")]
        return Category(column, tuple(values), inside=member["outside"] is None)
    if not (compared := _COMPARISON.fullmatch(part)):
        raise HornbookError(
            f"{part!r} is no condition; write age > 40, 40 < age <= 60, sex = f, status in {{a, b}} or "
            "age is missing"
        )
    column = code_book.find_column(_read_name(compared["column"]))
    if compared["is"] and compared["value"] in ("missing", "present"):
        return Missing(column, compared["value"] == "missing")
    if compared["is"] and compared["value"] in ("true", "false"):
        return IsTrue(column, compared["value"] == "true")
    sign, words = _SIGNS.get(compared["sign"], compared["sign"] or "="), code_book.words(column)
    text = compared["value"].strip()
    if sign not in ("=", "!=") and words.unit and not words.order:
        text = text.removesuffix(words.unit).strip()
    value = _parse_value(text, words)
    if sign in ("=", "!="):
        return Category(column, words.read_level(value), sign == "=")
    if words.order:
        return read_segment(column, words, sign, value)
    if isinstance(value, str | bool):
        raise HornbookError(f"{column!r} is compared by {sign} with a number, not with {value!r}")
    return _make_threshold(column, sign, float(value))


def _parse_value(text: str, words: ColumnWords) -> Any:
    """A value: a number, True or False, or a text; what is in quotes is a text. Times become days."""
    text = text.strip()
    if words.scale:
        text = _read_name(text) if re.fullmatch(_QUOTED, text) else " ".join(text.split())
        if (days := read_days(text, words.scale)) is None:
            example = write_days(18785.5, words.scale)
            raise HornbookError(f"{text!r} is not a {words.scale}; write for example {example}")
        return days
    if re.fullmatch(_QUOTED, text):
        return _unquote(text)
    if text in ("True", "False"):
        return text == "True"
    if (number := _read_number(text)) is not None:
        return number
    if not re.fullmatch(rf"{_WORD}(?:\s+{_WORD})*", text):
        raise HornbookError(f"{text!r} is no value; a text with signs stands in double quotes")
    return " ".join(text.split())


def _parse_outcome(text: str) -> str:
    parts = re.findall(_TERM, text)
    if not parts or re.sub(rf"{_TERM}|\s", "", text):
        raise HornbookError(f"a claim ends with a class, such as good or not good, not {text.strip()!r}")
    return " ".join(map(_read_name, parts))


def _read_name(term: str) -> str:
    """A word, or what stands in quotes."""
    name = _unquote(term) if term.startswith('"') else term
    if not name:
        raise HornbookError("a name has no letters")
    return name


def _unquote(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
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
