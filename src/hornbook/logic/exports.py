"""Theories as source for other tools: SymPy, Prolog, Python, SQL and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule
from hornbook.logic.vocabulary import Vocabulary


def export(language: str, vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """The theory in `language`, one of `LANGUAGES`."""
    if language not in LANGUAGES:
        raise HornbookError(f"cannot export to {language!r}; choose one of {', '.join(LANGUAGES)}")
    return LANGUAGES[language](vocabulary, rules)


def to_sympy(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """Python source that binds `theory` to a SymPy formula."""
    lines = []
    for rule in rules:
        body = _join(f"Symbol({name!r})" for name in vocabulary.named(rule.body))
        head = "false" if isinstance(rule.head, Bottom) else f"Symbol({vocabulary.name(rule.head)!r})"
        lines.append(f"    Implies(And({body}), {head}),")
    return "\n".join(["from sympy import And, Implies, Symbol, false", "", "theory = And(", *lines, ")", ""])


def to_prolog(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """Clauses for a Prolog with tabling: assert `fact(horse)`, ask `holds(pegasus)` or `holds('⊥')`."""
    lines = [":- dynamic fact/1.", ":- table holds/1.", "holds(X) :- fact(X)."]
    for rule in rules:
        head = "⊥" if isinstance(rule.head, Bottom) else vocabulary.name(rule.head)
        body = _join(f"holds({_atom(name)})" for name in vocabulary.named(rule.body))
        lines.append(f"holds({_atom(head)})" + (f" :- {body}." if body else "."))
    return "\n".join(lines) + "\n"


def to_python(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """A module without imports: RULES, closure(facts) and satisfied(true, false)."""
    lines = []
    for rule in rules:
        head = None if isinstance(rule.head, Bottom) else vocabulary.name(rule.head)
        lines.append(f"    ({list(vocabulary.named(rule.body))!r}, {head!r}),")
    return "\n".join(["RULES = [", *lines, "]", _PYTHON_FUNCTIONS])


def to_sql(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """A query over a table `facts` of 1, 0 and NULL: the closed columns, and `satisfied`.

    Each stage is one step of chaining. A stage before the last adds at least one variable
    that some body uses, so their number bounds the stages.
    """
    columns = [_sql_name(name) for name in vocabulary]
    given = [_sql_name(f"given {name}") for name in vocabulary]
    bottom = _sql_name("⊥")
    firing: dict[Head, list[str]] = {}
    for rule in rules:
        body = " AND ".join(f"{columns[v]} = 1" for v in sorted(rule.body)) or "1 = 1"
        firing.setdefault(rule.head, []).append(f"WHEN {body} THEN 1")

    def closed(head: Head, column: str) -> str:
        whens = firing.get(head)
        return f"CASE {' '.join(whens)} ELSE {column} END AS {column}" if whens else column

    start = [f"{column}, {column} AS {kept}" for column, kept in zip(columns, given, strict=True)]
    step = [closed(v, column) for v, column in enumerate(columns)] + [closed(BOTTOM, bottom), *given]
    stages = 1 + len({v for rule in rules for v in rule.body} & firing.keys())
    tables = [f"step0 AS (SELECT {_join(start)}, 0 AS {bottom} FROM facts)"]
    tables += [f"step{i} AS (SELECT {_join(step)} FROM step{i - 1})" for i in range(1, stages + 1)]
    broken = [f"{given[v]} = 0 AND {columns[v]} = 1" for v in firing if not isinstance(v, Bottom)]
    whens = " ".join(f"WHEN {condition} THEN 0" for condition in [*broken, f"{bottom} = 1"])
    verdict = f"CASE {whens} ELSE 1 END AS satisfied"
    return "WITH " + ",\n".join(tables) + f"\nSELECT {_join([*columns, verdict])}\nFROM step{stages};\n"


def to_latex(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """An `align*` environment, one rule a line."""
    lines = []
    for rule in rules:
        body = r" \land ".join(map(_latex_name, vocabulary.named(rule.body))) or r"\top"
        head = r"\bot" if isinstance(rule.head, Bottom) else _latex_name(vocabulary.name(rule.head))
        lines.append(rf"  {body} &\rightarrow {head}")
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


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


def _atom(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _latex_name(name: str) -> str:
    named = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    escaped = re.sub(r"[\\^~{}_$&#%]", lambda m: named.get(m[0], "\\" + m[0]), name)
    return rf"\mathsf{{\text{{{escaped}}}}}" if " " in name else rf"\mathsf{{{escaped}}}"


LANGUAGES: dict[str, Callable[[Vocabulary, Sequence[Rule]], str]] = {
    "sympy": to_sympy,
    "prolog": to_prolog,
    "python": to_python,
    "sql": to_sql,
    "latex": to_latex,
}
