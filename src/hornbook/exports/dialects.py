"""Explanations as source of other languages: how these write conditions on columns, choices and sums.

What is written of a tree, a card or rules decides every row by the user's own columns, as `decide` does.
A missing value is NULL in SQL, None or NaN in Python, and a column without a value in Prolog.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np

from hornbook.conditions import Category, Condition, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Explanation, RuleSet, ScoreCard, Split
from hornbook.explanations.tree import Node
from hornbook.times import Scale, write_days

Levels: TypeAlias = Mapping[str, Sequence[Any]]
"""The values that each column of categories has."""

NO_LEVELS: Levels = MappingProxyType({})
NO_SCALES: Mapping[str, Scale] = MappingProxyType({})


class Dialect(ABC):
    """How a language writes conditions on columns, choices and sums.

    `scales` says which columns hold dates, times or durations.
    """

    scales: Mapping[str, Scale] = NO_SCALES

    def with_scales(self, explanation: Explanation) -> Self:
        """The dialect for an explanation whose columns may hold times."""
        book, dialect = explanation.code_book, copy(self)
        dialect.scales = {name: book.words(name).scale for name in explanation.columns}
        return dialect

    def write_condition(self, condition: Condition) -> str:
        """Whether a condition is true of the row; false where its column is missing."""
        match condition:
            case Threshold(column, cut, above):
                scale = self.scales.get(column)
                if scale == "date":  # "at least the next day", since a value may have a time of the day
                    return self.write_time(
                        column, ">=" if above else "<", write_days(math.floor(cut) + 1, scale)
                    )
                if scale:
                    return self.write_time(column, ">" if above else "<=", write_days(cut, scale))
                return self.write_threshold(column, cut, above)
            case Category(column, values, inside):
                return self.write_membership(column, values, inside)
            case Missing(column, missing):
                return self.write_missing(column, missing)
        raise HornbookError(f"{condition}: only thresholds, categories and missing values can be exported")

    @abstractmethod
    def write_threshold(self, column: str, cut: float, above: bool) -> str:
        """Whether the number in a column is above a cut, or at most the cut."""

    def write_time(self, column: str, sign: str, moment: str) -> str:
        """Whether the time in a column, as ISO 8601 writes it, is before or after a moment."""
        raise HornbookError(f"column {column!r} holds times, and this format has numbers and words only")

    @abstractmethod
    def write_membership(self, column: str, values: Sequence[Any], inside: bool) -> str:
        """Whether the value of a column is one of some, or another one."""

    @abstractmethod
    def write_missing(self, column: str, missing: bool) -> str:
        """Whether a column has no value, or has one."""

    @abstractmethod
    def join(self, parts: Sequence[str]) -> str:
        """Whether all parts are true."""

    @abstractmethod
    def choose(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """The value of the first case whose condition is true."""

    @abstractmethod
    def write_value(self, value: Any) -> str:
        """A constant: a text, a number or a truth value."""

    @abstractmethod
    def compare(self, left: str, right: str) -> str:
        """Whether a number is at least as large as another."""

    def write_comment(self, text: str) -> str:
        """A comment of one line; nothing where a language has none."""
        return ""

    def write_levels(self, levels: Levels) -> str:
        """A comment for each column of categories: its values, of which others are other spellings."""
        return "".join(
            self.write_comment(
                f"{self.write_value(column)} is one of {', '.join(map(self.write_value, values))}, or missing"
            )
            for column, values in levels.items()
        )

    @abstractmethod
    def finish(self, expression: str, levels: Levels = NO_LEVELS) -> str:
        """The whole source around the expression that decides; it refuses other levels where it can."""

    def add(self, terms: Sequence[str]) -> str:
        """The sum of numbers."""
        return "(" + " + ".join(terms) + ")"


class SqlDialect(Dialect):
    """One SQL expression over the columns of a table, as SQLite, DuckDB and PostgreSQL read it.

    Numbers are compared as doubles, whatever the column's type; see `_write_double`.
    """

    def write_threshold(self, column: str, cut: float, above: bool) -> str:
        """A comparison; NULL where the column is, which a choice takes for not true."""
        return f"{self._name(column)} {'>' if above else '<='} {self.write_value(cut)}"

    def write_time(self, column: str, sign: str, moment: str) -> str:
        """A comparison with a text, which a database takes for a date where the column holds dates."""
        return f"{self._name(column)} {sign} {self.write_value(moment)}"

    def write_membership(self, column: str, values: Sequence[Any], inside: bool) -> str:
        """A comparison with one value, or with a list; NULL where the column is."""
        written = [self.write_value(value) for value in values]
        if len(written) == 1:
            return f"{self._name(column)} {'=' if inside else '<>'} {written[0]}"
        return f"{self._name(column)} {'IN' if inside else 'NOT IN'} ({', '.join(written)})"

    def write_missing(self, column: str, missing: bool) -> str:
        """A test for NULL."""
        return f"{self._name(column)} IS {'NULL' if missing else 'NOT NULL'}"

    def _name(self, column: str) -> str:
        return sql_name(_without_nul(column))

    def join(self, parts: Sequence[str]) -> str:
        """All parts by AND."""
        return " AND ".join(parts)

    def choose(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """A CASE expression."""
        if not cases:
            return otherwise
        written = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
        return f"CASE {written} ELSE {otherwise} END"

    def write_value(self, value: Any) -> str:
        """A constant of SQL."""
        if isinstance(value, bool | np.bool_):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | float | np.number):
            return _write_double(float(value))
        return "'" + _without_nul(str(value)).replace("'", "''") + "'"

    def compare(self, left: str, right: str) -> str:
        """A comparison of two sums."""
        return f"{left} >= {right}"

    def write_comment(self, text: str) -> str:
        """A comment that ends within its line, so that lines may be joined."""
        return f"/* {_write_line(text).replace('*/', '* /').replace('/*', '/ *')} */\n"

    def finish(self, expression: str, levels: Levels = NO_LEVELS) -> str:
        """The expression alone: it stands in the SELECT of any query over the table."""
        return expression + "\n"


class PythonDialect(Dialect):
    """A Python function without imports: `decide(row)` of a mapping of columns to values."""

    # conditions are calls of functions that `finish` defines

    def write_threshold(self, column: str, cut: float, above: bool) -> str:
        """A call of `above` or `at_most`."""
        return f"{'above' if above else 'at_most'}({column!r}, {cut!r})"

    def write_time(self, column: str, sign: str, moment: str) -> str:
        """A call of `is_time`."""
        return f"is_time({column!r}, {sign!r}, {moment!r})"

    def write_membership(self, column: str, values: Sequence[Any], inside: bool) -> str:
        """A call of `is_one` or `is_none`."""
        written = ", ".join(map(self.write_value, values))
        return f"{'is_one' if inside else 'is_none'}({column!r}, {written})"

    def write_missing(self, column: str, missing: bool) -> str:
        """A call of `missing`."""
        return f"{'' if missing else 'not '}missing({column!r})"

    def join(self, parts: Sequence[str]) -> str:
        """All parts by `and`."""
        return " and ".join(parts)

    def choose(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """A conditional expression."""
        written = "".join(f"{value} if {condition} else " for condition, value in cases)
        return f"({written}{otherwise})"

    def write_value(self, value: Any) -> str:
        """A constant of Python."""
        return repr(value.item() if hasattr(value, "item") else value)

    def compare(self, left: str, right: str) -> str:
        """A comparison of two sums."""
        return f"{left} >= {right}"

    def write_comment(self, text: str) -> str:
        """A comment to the end of the line."""
        return f"# {_write_line(text)}\n"

    def finish(self, expression: str, levels: Levels = NO_LEVELS) -> str:
        """The function, with the conditions that it asks; it raises for a level that its column never has."""
        check = _LEVEL_CHECK.format(levels=dict(levels)) if levels else ""
        return f'''def decide(row):
    """The class of a row: a mapping of columns to values, None or NaN where a value is missing."""

    def value_of(column):
        value = row.get(column)
        return None if value is None or value != value else value
{check}
    def missing(column):
        return value_of(column) is None

    def above(column, cut):
        value = value_of(column)
        return value is not None and value > cut

    def at_most(column, cut):
        value = value_of(column)
        return value is not None and value <= cut

    def is_time(column, sign, moment):
        text = str(value_of(column)).replace("T", " ")  # of a date, a time or ISO 8601
        holds = {{"<": text < moment, "<=": text <= moment, ">": text > moment, ">=": text >= moment}}
        return value_of(column) is not None and holds[sign]

    def is_one(column, *values):
        value = value_of(column)
        return value is not None and value in values

    def is_none(column, *values):
        value = value_of(column)
        return value is not None and value not in values

    return {expression}
'''


_LEVEL_CHECK = """
    for column, levels in {levels!r}.items():
        if value_of(column) is not None and value_of(column) not in levels:
            raise ValueError(f"{{column!r}} is never {{value_of(column)!r}}; it is one of {{levels!r}}")
"""


class PrologDialect(Dialect):
    """Clauses for Prolog: `decide(Row, Class)` of a list of `Column-Value` pairs."""

    def write_threshold(self, column: str, cut: float, above: bool) -> str:
        """A goal `above` or `at_most` about the row."""
        return f"{'above' if above else 'at_most'}(R, {prolog_atom(column)}, {_write_number(cut)})"

    def write_time(self, column: str, sign: str, moment: str) -> str:
        """A goal `time` about the row, whose times are atoms such as '2021-06-07'."""
        sign = {"<=": "=<"}.get(sign, sign)
        return f"time(R, {prolog_atom(column)}, (@{sign}), {prolog_atom(moment)})"

    def write_membership(self, column: str, values: Sequence[Any], inside: bool) -> str:
        """A goal `one_of` or `none_of` about the row."""
        written = ", ".join(map(self.write_value, values))
        return f"{'one_of' if inside else 'none_of'}(R, {prolog_atom(column)}, [{written}])"

    def write_missing(self, column: str, missing: bool) -> str:
        """A goal `missing` or `present` about the row."""
        return f"{'missing' if missing else 'present'}(R, {prolog_atom(column)})"

    def join(self, parts: Sequence[str]) -> str:
        """All parts as a conjunction of goals."""
        return "all([" + ", ".join(parts) + "])"

    def choose(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """A term that `value` takes apart: the first case whose goal is true."""
        written = ", ".join(f"({condition}) - ({value})" for condition, value in cases)
        return f"first([{written}], {otherwise})"

    def write_value(self, value: Any) -> str:
        """A constant of Prolog."""
        if isinstance(value, bool | np.bool_):
            return str(bool(value)).lower()
        if isinstance(value, int | float | np.number):
            return _write_number(value)
        return prolog_atom(str(value))

    def compare(self, left: str, right: str) -> str:
        """A goal about two sums."""
        return f"at_least({left}, {right})"

    def add(self, terms: Sequence[str]) -> str:
        """A term that `value` sums up."""
        return "sum([" + ", ".join(terms) + "])"

    def write_comment(self, text: str) -> str:
        """A comment to the end of the line."""
        return f"% {_write_line(text)}\n"

    def finish(self, expression: str, levels: Levels = NO_LEVELS) -> str:
        """The clause that decides, and the clauses that it needs; the first throw for other levels."""
        checks = "".join(
            f"decide(R, _) :- memberchk({(name := prolog_atom(column))}-V, R), "
            f"\\+ equals_one(V, [{', '.join(map(self.write_value, values))}]), "
            f"throw(error(domain_error({name}, V), _)).\n"
            for column, values in levels.items()
        )
        return f"{checks}decide(R, Class) :- value({expression}, Class), !.\n{_PROLOG_CLAUSES}"


_PROLOG_CLAUSES = """
value(first([], Otherwise), V) :- !, value(Otherwise, V).
value(first([Goal-Value|_], _), V) :- holds(Goal), !, value(Value, V).
value(first([_|Cases], Otherwise), V) :- !, value(first(Cases, Otherwise), V).
value(sum([]), 0) :- !.
value(sum([Term|Terms]), V) :- !, value(Term, A), value(sum(Terms), B), V is A + B.
value(V, V).
holds(all([])) :- !.
holds(all([Goal|Goals])) :- !, holds(Goal), holds(all(Goals)).
holds(at_least(Left, Right)) :- !, value(Left, A), value(Right, B), A >= B.
holds(above(R, C, Cut)) :- !, memberchk(C-V, R), V > Cut.
holds(at_most(R, C, Cut)) :- !, memberchk(C-V, R), V =< Cut.
holds(time(R, C, Sign, Moment)) :- !, memberchk(C-V, R), Test =.. [Sign, V, Moment], call(Test).
holds(one_of(R, C, Values)) :- !, memberchk(C-V, R), equals_one(V, Values).
holds(none_of(R, C, Values)) :- !, memberchk(C-V, R), \\+ equals_one(V, Values).
holds(missing(R, C)) :- !, \\+ memberchk(C-_, R).
holds(present(R, C)) :- memberchk(C-_, R).
equals_one(V, [Value|_]) :- number(V), number(Value), !, V =:= Value.
equals_one(V, [V|_]) :- !.
equals_one(V, [_|Values]) :- equals_one(V, Values).
"""


def _write_line(text: str) -> str:
    """A text that stands in one line, whatever names are in it."""
    return "".join(each if each.isprintable() else "�" for each in text)


DIALECTS: dict[str, Dialect] = {"sql": SqlDialect(), "python": PythonDialect(), "prolog": PrologDialect()}
"""The languages that decide by the columns of a table."""


def write_decision(explanation: Explanation, dialect: Dialect, values: Sequence[Any] = ()) -> str:
    """An expression of a language that decides the class of a row by its columns.

    `values` are what stands for the classes; by default their names.
    """
    names = [dialect.write_value(value) for value in values or explanation.classes]
    match explanation:
        case DecisionTree():
            return _write_node(explanation.root, names, dialect)
        case RuleSet():
            bodies = [dialect.join([*map(dialect.write_condition, rule.body)]) for rule in explanation.rules]
            outcomes = [names[rule.outcome] for rule in explanation.rules]
            return dialect.choose([*zip(bodies, outcomes, strict=True)], names[explanation.default])
        case ScoreCard():
            return _write_card(explanation, names, dialect)
    raise HornbookError(
        f"a {explanation.form} is not a single expression over columns; write its theory instead"
    )


def _write_node(node: Node[Condition], names: list[str], dialect: Dialect) -> str:
    """Choices within choices: what follows a yes stands inside, what follows a no beside it."""
    cases = []
    while isinstance(node, Split):
        cases.append((dialect.write_condition(node.question), _write_node(node.yes, names, dialect)))
        node = node.no
    return dialect.choose(cases, names[node]) if cases else names[node]


def _write_card(card: ScoreCard, names: list[str], dialect: Dialect) -> str:
    """A choice by the sums of points: of two classes by the sign, else by the greatest sum."""
    sums = [_write_sum(card, output, dialect) for output in range(len(card.base))]
    if len(sums) == 1:
        return dialect.choose([(dialect.compare(sums[0], dialect.write_value(0)), names[1])], names[0])
    cases = []
    for number, own in enumerate(sums[:-1]):
        beats_later = [dialect.compare(own, other) for other in sums[number + 1 :]]
        cases.append((dialect.join(beats_later), names[number]))
    return dialect.choose(cases, names[-1])


def _write_sum(card: ScoreCard, output: int, dialect: Dialect) -> str:
    """The sum of points for one output."""
    terms = [dialect.write_value(card.base[output])]
    for line in card.lines_of_points:
        *above, own = map(dialect.write_condition, line.body)
        points = [(own, line.points[output])]
        if not isinstance(line.body[-1], Missing):
            missing = Missing(line.body[-1].column)
            points.append((dialect.write_condition(missing), line.unknown_points[output]))
        cases = [
            (dialect.join([*above, met]), dialect.write_value(number)) for met, number in points if number
        ]
        if cases:
            terms.append(dialect.choose(cases, dialect.write_value(0)))
    return dialect.add(terms)


def prolog_atom(name: str) -> str:
    """A name as a quoted atom of Prolog; what does not print is written by its code."""
    escaped = name.replace("\\", r"\\").replace("'", r"\'")
    return "'" + "".join(c if c.isprintable() else f"\\x{ord(c):x}\\" for c in escaped) + "'"


def sql_name(name: str) -> str:
    """A name in double quotes, as SQL has identifiers."""
    return '"' + name.replace('"', '""') + '"'


def _write_number(value: Any) -> str:
    """A number with all its digits, whole ones without a decimal point."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


MAX_PLAIN_NUMBER = 1 << 24
"""Up to here whole numbers are exact in columns of every type of numbers."""

MAX_EXACT_POWER = 22
"""The greatest power of ten that is a double."""

MAX_DIVISOR_BITS = 62
"""Bits of a divisor that is an integer in every database."""


def _write_double(number: float) -> str:
    """A number as SQL that every database takes for this very double, and compares as a double.

    A literal alone is a decimal in some databases, which round it to the type of the column that it is
    compared with. And SQLite is off by a bit where a decimal lies about midway between two doubles: what
    is not read exactly becomes a quotient of whole numbers, which is exact.

    Examples
    --------
    >>> _write_double(40.0), _write_double(2.5), _write_double(0.1)
    ('40', '2.5', 'CAST(0.1 AS DOUBLE PRECISION)')
    >>> _write_double(0.720887)
    '(CAST(6493172849152469 AS DOUBLE PRECISION) / 9007199254740992)'

    """
    if _is_read_exactly(number):
        literal = _write_number(number)
        exact = Fraction(literal) == Fraction(float(np.float32(number)))
        plain = exact and abs(number) <= MAX_PLAIN_NUMBER
        return literal if plain else f"CAST({literal} AS DOUBLE PRECISION)"
    mantissa, exponent = math.frexp(number)
    whole, exponent = int(mantissa * 2**53), exponent - 53
    steps, rest = divmod(abs(exponent), MAX_DIVISOR_BITS)
    factors = [1 << MAX_DIVISOR_BITS] * steps + [1 << rest] * (rest > 0)
    sign = " / " if exponent < 0 else " * "
    return "(" + sign.join([f"CAST({whole} AS DOUBLE PRECISION)", *map(str, factors)]) + ")"


def _is_read_exactly(number: float) -> bool:
    """Whether one division or product, of any precision from that of doubles on, makes it of its digits.

    Its digits as a whole number, and its power of ten, are doubles then. And it does not lie so near the
    middle of two doubles that a product of 64 bits is rounded to the middle first.
    """
    written = Decimal(repr(number))
    power = int(written.as_tuple().exponent)
    if abs(written.scaleb(-power)) >= 2**53 or abs(power) > MAX_EXACT_POWER:
        return False
    exact, own = Fraction(written), Fraction(number)
    middles = ((own + Fraction(math.nextafter(number, side))) / 2 for side in (-math.inf, math.inf))
    return min(abs(exact - middle) for middle in middles) > abs(exact) / 2**63


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise HornbookError(f"{text!r} has a NUL character, which no database takes; rename it first")
    return text
