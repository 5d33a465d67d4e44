"""Explanations and theories as source of other languages: SQL, Python and Prolog; the one door to exports."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hornbook.code_book import UNNAMED_TARGET
from hornbook.errors import HornbookError
from hornbook.explanations import Explanation
from hornbook.exports.dialects import DIALECTS, NO_LEVELS, Levels, prolog_atom, sql_name, write_decision
from hornbook.exports.pmml import write_pmml
from hornbook.logic import BOTTOM, Bottom, Head, HornTheory, Rule, Vocabulary, fresh_name


def write_explanation(
    source: Explanation | HornTheory,
    form: str,
    target: str = UNNAMED_TARGET,
    values: Sequence[Any] = (),
    levels: Levels = NO_LEVELS,
) -> str:
    """An explanation or a theory in one of the formats of other programs.

    Parameters
    ----------
    source
        A tree, a card or rules, which are written over the user's own columns; a theory, or an
        explanation that is one, which is written over its variables.
    form
        `sql`, `python` or `prolog`; of a tree, a card or rules also `pmml`.
    target
        What is predicted, in a word.
    values
        What stands for each class of a tree, a card or rules, such as 1 and 0; by default its name.
    levels
        The values that columns of categories have: Python, Prolog and PMML refuse others, and a
        comment names them.

    Examples
    --------
    >>> from hornbook.conditions import Category, Threshold
    >>> from hornbook.explanations import DecisionTree, Split
    >>> root = Split(Threshold("age", 40), Split(Category("sex", "f"), 1, 0), 0)
    >>> tree = DecisionTree(("low", "high"), root)
    >>> print(write_explanation(tree, "sql"), end="")
    CASE WHEN "age" > 40 THEN CASE WHEN "sex" = 'f' THEN 'high' ELSE 'low' END ELSE 'low' END
    >>> exec(write_explanation(tree, "python"))
    >>> decide({"age": 50, "sex": "f"}), decide({"age": None, "sex": "f"})
    ('high', 'low')

    """
    if isinstance(source, Explanation) and form == "pmml":
        return write_pmml(source, target, values, levels)
    if isinstance(source, Explanation) and source.form == "theory":
        source = source.compile().theory
    languages = THEORY_WRITERS if isinstance(source, HornTheory) else DIALECTS
    if form not in languages:
        known = ", ".join([*languages, *(["pmml"] if languages is DIALECTS else [])])
        raise HornbookError(f"cannot write {form!r}; choose one of {known}")
    if isinstance(source, HornTheory):
        return THEORY_WRITERS[form](source.vocabulary, source.rules)
    dialect = DIALECTS[form].with_scales(source)
    spoken = {name: levels[name] for name in source.columns if levels.get(name)}
    return dialect.write_levels(spoken) + dialect.finish(write_decision(source, dialect, values), spoken)


def _write_prolog(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """Clauses for a Prolog with tabling: assert `fact(horse)`, ask `holds(pegasus)` or `contradiction`."""
    lines = [":- dynamic fact/1, contradiction/0.", ":- table holds/1.", "holds(X) :- fact(X)."]
    # the clauses of a predicate stand together
    for rule in sorted(rules, key=lambda rule: isinstance(rule.head, Bottom)):
        head = "contradiction" if isinstance(rule.head, Bottom) else _holds(vocabulary.name(rule.head))
        body = _join(map(_holds, vocabulary.named(rule.body)))
        lines.append(head + (f" :- {body}." if body else "."))
    return "\n".join(lines) + "\n"


def _write_python(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """A module without imports: RULES, closure(facts) and satisfied(true, false)."""
    lines = []
    for rule in rules:
        head = None if isinstance(rule.head, Bottom) else vocabulary.name(rule.head)
        lines.append(f"    ({list(vocabulary.named(rule.body))!r}, {head!r}),")
    return "\n".join(["RULES = [", *lines, "]", _PYTHON_FUNCTIONS])


def _write_sql(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """A query over a table `facts` of 1, 0 and NULL: the closed columns, and `satisfied`.

    The columns are those of `sql_columns`; comments name the variables that are called otherwise.
    Every step of the recursion is one step of chaining. A row of the recursion has a column for
    each variable, and one more if it is a head, of which SQLite takes 2,000.
    """
    rules = [rule for rule in rules if not rule.is_trivial]
    firing: dict[Head, list[str]] = {}
    for rule in rules:
        body = " AND ".join(f"v{v} = 1" for v in sorted(rule.body)) or "1 = 1"
        firing.setdefault(rule.head, []).append(f"WHEN {body} THEN 1")

    def closed(head: Head, column: str) -> str:
        return f"CASE {' '.join(firing[head])} ELSE {column} END" if head in firing else column

    variables = range(len(vocabulary))
    derived = [v for v in variables if v in firing]
    steps = _chaining_steps(rules)
    columns = [sql_name(name) for name in sql_columns(vocabulary)]
    aliases = [*(f"v{v}" for v in variables), *(f"given{v}" for v in derived)]
    given = [f"facts.{columns[v]}" for v in (*variables, *derived)]
    step = [*(closed(v, f"v{v}") for v in variables), *(f"given{v}" for v in derived)]
    broken = [f"given{v} = 0 AND v{v} = 1" for v in derived]
    verdict = " ".join(f"WHEN {condition} THEN 0" for condition in [*broken, "contradiction = 1"])
    named = _join(f"v{v} AS {column}" for v, column in enumerate(columns))
    satisfied = sql_name(sql_columns(vocabulary, "satisfied")[-1])
    return "\n".join(
        [
            *renamed_columns(vocabulary),
            f"WITH RECURSIVE chained ({_join(['step', *aliases, 'contradiction'])}) AS (",
            f"SELECT {_join(['0', *given, '0'])} FROM facts",
            "UNION ALL",
            f"SELECT {_join(['step + 1', *step, closed(BOTTOM, 'contradiction')])}",
            f"FROM chained WHERE step < {steps})",
            f"SELECT {named}, CASE {verdict} ELSE 1 END AS {satisfied}",
            f"FROM chained WHERE step = {steps};",
            "",
        ]
    )


def sql_columns(vocabulary: Vocabulary, *others: str) -> tuple[str, ...]:
    """The column of each variable in SQL, and names for other columns beside them.

    A variable is called as it is, unless a database would take its name for an earlier one's or
    not take it at all: names there do not differ by case, and hold no NUL.

    Examples
    --------
    >>> sql_columns(Vocabulary(["age", "Age", "AGE_2"]), "satisfied")
    ('age', 'Age_3', 'AGE_2', 'satisfied')

    """
    owners: dict[str, str] = {}
    for name in vocabulary:
        owners.setdefault(_sql_spelling(name), name)
    taken = set(owners)

    def fresh_column(name: str) -> str:
        name = name.replace("\0", "\N{REPLACEMENT CHARACTER}")
        wanted = _sql_spelling(name)
        spelling = fresh_name(wanted, taken)
        taken.add(spelling)
        return name + spelling.removeprefix(wanted)

    columns = []
    for name in vocabulary:
        is_own = "\0" not in name and owners[_sql_spelling(name)] == name
        columns.append(name if is_own else fresh_column(name))
    return (*columns, *map(fresh_column, others))


def _sql_spelling(name: str) -> str:
    """The form of a name that two names share if some database takes them for the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def renamed_columns(vocabulary: Vocabulary) -> Iterable[str]:
    """A comment for each variable whose column has another name."""
    for name, column in zip(vocabulary, sql_columns(vocabulary), strict=True):
        if name != column:
            yield f"-- column {json.dumps(column)} is the variable {json.dumps(name)}"


def _chaining_steps(rules: Sequence[Rule]) -> int:
    """Number of steps after which everything is derived from any facts; in each, every rule fires that can.

    A step before the last adds a variable that some body uses. Where no variable depends on
    itself, the longest way through the rules is a smaller number.
    """
    heads = {rule.head for rule in rules}
    most = len(heads) and 1 + len({v for rule in rules for v in rule.body} & heads)
    steps: dict[Head, int] = dict.fromkeys(heads, 0)
    grows = True
    while grows:
        grows = False
        for rule in rules:
            needed = min(most, 1 + max((steps[v] for v in rule.body if v in heads), default=0))
            if needed > steps[rule.head]:
                steps[rule.head], grows = needed, True
    return max(steps.values(), default=0)


_PYTHON_FUNCTIONS = '''

def closure(facts):
    """Everything that follows from a set of names; None stands for a contradiction."""
    closed = set(facts)
    while new := {head for body, head in RULES if head not in closed and closed.issuperset(body)}:
        closed |= new
    return closed


def satisfied(true, false=()):
    """Whether the names in `true` can be true and those in `false` false, the rest unknown."""
    return not closure(true) & {None, *false}
'''


def _join(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _holds(name: str) -> str:
    return f"holds({prolog_atom(name)})"


THEORY_WRITERS: dict[str, Callable[[Vocabulary, Sequence[Rule]], str]] = {
    "sql": _write_sql,
    "python": _write_python,
    "prolog": _write_prolog,
}
"""For each language that a theory can be written in, the function that writes it."""
