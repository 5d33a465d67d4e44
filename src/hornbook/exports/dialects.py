"""Explanations as source of other languages: how these write conditions on columns, choices and sums.

What is written of a tree, a card or rules decides every row by the user's own columns, as `decide` does.
A missing value is NULL in SQL, None or NaN in Python, and a column without a value in Prolog.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from hornbook.conditions import Category, Condition, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Explanation, RuleSet, ScoreCard, Split
from hornbook.explanations.tree import Node
from hornbook.times import Scale, write_days

Levels: TypeAlias = Mapping[str, Sequence[Any]]
"""The values that each column of categories has."""

NO_LEVELS: Levels = MappingProxyType({})

Cases: TypeAlias = Sequence[tuple[str, str]]
"""Conditions, each with a value, of which the first that is true decides."""


@dataclass(frozen=True)
class Dialect:
    """How a language writes conditions on columns, choices and sums.

    Parameters
    ----------
    column, value
        How it writes the name of a column, and a constant: a text, a number or a truth value.
    conditions
        A template for each kind of condition, in which `{column}` stands for the column, `{value}` for a
        constant, and `{values}` for several. Each is false where the column is missing, but for `missing`.
    join
        Whether all parts are true.
    choose
        The value of the first case whose condition is true.
    compare, add
        Whether a number is at least as large as another, and the sum of numbers.
    comment
        A comment of one line.
    finish
        The whole source around the expression that decides; it refuses other levels where it can.
    scales
        Which columns hold dates, times or durations.

    """

    column: Callable[[str], str]
    value: Callable[[Any], str]
    conditions: Mapping[str, str]
    join: Callable[[Sequence[str]], str]
    choose: Callable[[Cases, str], str]
    compare: Callable[[str, str], str]
    add: Callable[[Sequence[str]], str]
    comment: Callable[[str], str]
    finish: Callable[[str, Levels], str]
    scales: Mapping[str, Scale] = field(default_factory=dict)

    def with_scales(self, explanation: Explanation) -> Dialect:
        """The dialect for an explanation whose columns may hold times."""
        book = explanation.code_book
        return replace(self, scales={name: book.words(name).scale for name in explanation.columns})

    def write_condition(self, condition: Condition) -> str:
        """Whether a condition is true of the row; false where its column is missing."""
        match condition:
            case Threshold(column, cut, above):
                scale = self.scales.get(column)
                if scale == "date":  # "at least the next day", since a value may have a time of the day
                    moment = write_days(math.floor(cut) + 1, scale)
                    return self._fill("from time" if above else "before time", column, moment)
                if scale:
                    return self._fill("after time" if above else "until time", column, write_days(cut, scale))
                return self._fill("above" if above else "at most", column, cut)
            case Category(column, values, inside) if len(values) == 1 and "is" in self.conditions:
                return self._fill("is" if inside else "is not", column, *values)
            case Category(column, values, inside):
                return self._fill("one of" if inside else "none of", column, *values)
            case Missing(column, missing):
                return self._fill("missing" if missing else "present", column)
        raise HornbookError(f"{condition}: only thresholds, categories and missing values can be exported")

    def _fill(self, kind: str, column: str, *values: Any) -> str:
        written = ", ".join(map(self.value, values))
        return self.conditions[kind].format(column=self.column(column), value=written, values=written)

    def write_levels(self, levels: Levels) -> str:
        """A comment for each column of categories: its values, of which others are other spellings."""
        return "".join(
            self.comment(f"{self.value(column)} is one of {', '.join(map(self.value, values))}, or missing")
            for column, values in levels.items()
        )


def _add_plainly(terms: Sequence[str]) -> str:
    return "(" + " + ".join(terms) + ")"


def _compare_plainly(left: str, right: str) -> str:
    return f"{left} >= {right}"


def _write_line(text: str) -> str:
    """A text that stands in one line, whatever names are in it."""
    return "".join(each if each.isprintable() else "�" for each in text)


def _write_sql_value(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float | np.number):
        return _write_double(float(value))
    return "'" + _without_nul(str(value)).replace("'", "''") + "'"


def _choose_in_sql(cases: Cases, otherwise: str) -> str:
    if not cases:
        return otherwise
    written = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
    return f"CASE {written} ELSE {otherwise} END"


SQL = Dialect(
    column=lambda name: sql_name(_without_nul(name)),
    value=_write_sql_value,
    conditions={
        "above": "{column} > {value}",
        "at most": "{column} <= {value}",
        # with a text, which a database takes for a date where the column holds dates
        "from time": "{column} >= {value}",
        "before time": "{column} < {value}",
        "after time": "{column} > {value}",
        "until time": "{column} <= {value}",
        "is": "{column} = {value}",
        "is not": "{column} <> {value}",
        "one of": "{column} IN ({values})",
        "none of": "{column} NOT IN ({values})",
        "missing": "{column} IS NULL",
        "present": "{column} IS NOT NULL",
    },
    join=" AND ".join,
    choose=_choose_in_sql,
    compare=_compare_plainly,
    add=_add_plainly,
    # it ends within its line, so that lines may be joined
    comment=lambda text: f"/* {_write_line(text).replace('*/', '* /').replace('/*', '/ *')} */\n",
    finish=lambda expression, levels: expression + "\n",
)
"""One SQL expression over the columns of a table, as SQLite, DuckDB and PostgreSQL read it.

It stands in the SELECT of any query over the table. Numbers are compared as doubles, whatever the column's
type; see `_write_double`.
"""


def _choose_in_python(cases: Cases, otherwise: str) -> str:
    return "(" + "".join(f"{value} if {condition} else " for condition, value in cases) + f"{otherwise})"


def _finish_python(expression: str, levels: Levels) -> str:
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

PYTHON = Dialect(
    column=repr,
    value=lambda value: repr(value.item() if hasattr(value, "item") else value),
    conditions={
        "above": "above({column}, {value})",
        "at most": "at_most({column}, {value})",
        "from time": "is_time({column}, '>=', {value})",
        "before time": "is_time({column}, '<', {value})",
        "after time": "is_time({column}, '>', {value})",
        "until time": "is_time({column}, '<=', {value})",
        "one of": "is_one({column}, {values})",
        "none of": "is_none({column}, {values})",
        "missing": "missing({column})",
        "present": "not missing({column})",
    },
    join=" and ".join,
    choose=_choose_in_python,
    compare=_compare_plainly,
    add=_add_plainly,
    comment=lambda text: f"# {_write_line(text)}\n",
    finish=_finish_python,
)
"""A Python function without imports: `decide(row)` of a mapping of columns to values."""


def _write_prolog_value(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | float | np.number):
        return _write_number(value)
    return prolog_atom(str(value))


def _choose_in_prolog(cases: Cases, otherwise: str) -> str:
    """A term that `value` takes apart."""
    return f"first([{', '.join(f'({condition}) - ({value})' for condition, value in cases)}], {otherwise})"


def _finish_prolog(expression: str, levels: Levels) -> str:
    """The clause that decides, and the clauses that it needs; the first throw for other levels."""
    checks = "".join(
        f"decide(R, _) :- memberchk({(name := prolog_atom(column))}-V, R), "
        f"\\+ equals_one(V, [{', '.join(map(_write_prolog_value, values))}]), "
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

PROLOG = Dialect(
    column=lambda name: prolog_atom(name),
    value=_write_prolog_value,
    conditions={
        "above": "above(R, {column}, {value})",
        "at most": "at_most(R, {column}, {value})",
        # times are atoms such as '2021-06-07'
        "from time": "time(R, {column}, (@>=), {value})",
        "before time": "time(R, {column}, (@<), {value})",
        "after time": "time(R, {column}, (@>), {value})",
        "until time": "time(R, {column}, (@=<), {value})",
        "one of": "one_of(R, {column}, [{values}])",
        "none of": "none_of(R, {column}, [{values}])",
        "missing": "missing(R, {column})",
        "present": "present(R, {column})",
    },
    join=lambda parts: f"all([{', '.join(parts)}])",
    choose=_choose_in_prolog,
    compare=lambda left, right: f"at_least({left}, {right})",
    add=lambda terms: f"sum([{', '.join(terms)}])",
    comment=lambda text: f"% {_write_line(text)}\n",
    finish=_finish_prolog,
)
"""Clauses for Prolog: `decide(Row, Class)` of a list of `Column-Value` pairs."""

DIALECTS: dict[str, Dialect] = {"sql": SQL, "python": PYTHON, "prolog": PROLOG}
"""The languages that decide by the columns of a table."""


def write_decision(explanation: Explanation, dialect: Dialect, values: Sequence[Any] = ()) -> str:
    """An expression of a language that decides the class of a row by its columns.

    `values` are what stands for the classes; by default their names.
    """
    names = [dialect.value(value) for value in values or explanation.classes]
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
        return dialect.choose([(dialect.compare(sums[0], dialect.value(0)), names[1])], names[0])
    cases = []
    for number, own in enumerate(sums[:-1]):
        beats_later = [dialect.compare(own, other) for other in sums[number + 1 :]]
        cases.append((dialect.join(beats_later), names[number]))
    return dialect.choose(cases, names[-1])


def _write_sum(card: ScoreCard, output: int, dialect: Dialect) -> str:
    """The sum of points for one output."""
    terms = [dialect.value(card.base[output])]
    for line in card.lines_of_points:
        *above, own = map(dialect.write_condition, line.body)
        points = [(own, line.points[output])]
        if not isinstance(line.body[-1], Missing):
            missing = Missing(line.body[-1].column)
            points.append((dialect.write_condition(missing), line.unknown_points[output]))
        cases = [(dialect.join([*above, met]), dialect.value(number)) for met, number in points if number]
        if cases:
            terms.append(dialect.choose(cases, dialect.value(0)))
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
