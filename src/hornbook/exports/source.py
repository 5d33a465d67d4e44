"""Explanations and theories as source of other languages.

What is written of a tree, a card or rules decides every row by the user's own columns, as `decide` does.
"""

from __future__ import annotations

from hornbook.conditions import Condition, Missing
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Explanation, RuleSet, ScoreCard, Split
from hornbook.explanations.tree import Node
from hornbook.exports.dialects import DIALECTS, Dialect
from hornbook.exports.theories import THEORY_WRITERS
from hornbook.logic import HornTheory


def write_explanation(explanation: Explanation, form: str, target: str = "class") -> str | bytes:
    """An explanation in one of the formats of other programs: source, `pmml`, or a sheet (`xlsx`).

    `target` is what is predicted, in a word.
    """
    if form == "pmml":
        from hornbook.exports.pmml import write_pmml

        return write_pmml(explanation, target)
    if form == "xlsx":
        from hornbook.exports.excel import write_workbook

        return write_workbook(explanation, target)
    return write_source(explanation, form)


def write_source(source: Explanation | HornTheory, language: str) -> str:
    """An explanation or a theory as source of a language.

    Parameters
    ----------
    source
        A tree, a card or rules, which are written over the user's own columns; a theory, or an
        explanation that is one, which is written over its variables.
    language
        `sql`, `python` or `prolog`; of a theory also `sympy` and `latex`.

    Examples
    --------
    >>> from hornbook.conditions import Category, Threshold
    >>> root = Split(Threshold("age", 40), Split(Category("sex", "f"), 1, 0), 0)
    >>> tree = DecisionTree(("low", "high"), root)
    >>> print(write_source(tree, "sql"), end="")
    CASE WHEN "age" > 40 THEN CASE WHEN "sex" = 'f' THEN 'high' ELSE 'low' END ELSE 'low' END
    >>> exec(write_source(tree, "python"))
    >>> decide({"age": 50, "sex": "f"}), decide({"age": None, "sex": "f"})
    ('high', 'low')

    """
    if isinstance(source, Explanation) and source.form == "theory":
        source = source.compile().theory
    languages = THEORY_WRITERS if isinstance(source, HornTheory) else DIALECTS
    if language not in languages:
        raise HornbookError(f"cannot write {language!r}; choose one of {', '.join(languages)}")
    if isinstance(source, HornTheory):
        return THEORY_WRITERS[language](source.vocabulary, source.rules)
    dialect = DIALECTS[language]
    return dialect.finish(write_decision(source, dialect))


def write_decision(explanation: Explanation, dialect: Dialect) -> str:
    """An expression of a language that decides the class of a row by its columns."""
    names = [dialect.write_value(name) for name in explanation.classes]
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
        f"a {explanation.form} is no single expression over columns; write its theory instead"
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
