"""The explorers of a page and their data: values of a case to type in, or facts to reason with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornbook.code_book import ColumnWords
from hornbook.extraction import ColumnSummary, Extraction, FrontierPoint
from hornbook.logic import Bottom, HornTheory, Vocabulary
from hornbook.queries import Groups, exclusivity_rules
from hornbook.schema import write_object

MAX_SHOWN_CATEGORIES = 32
"""Categories of a column that a reader can choose from, the commonest first."""

OTHER_FACTS = "Facts"
"""The heading for facts that do not share a column with others."""


@dataclass(frozen=True)
class Explorer:
    """How a reader tries a case.

    Parameters
    ----------
    template
        The part of the page.
    scripts
        Its scripts, in order.
    build_data
        Makes what the scripts read.
    sorts_lines
        Whether the lines of the explanation can be sorted and searched, for their order means
        nothing; the texts of many lines are then written out by a script.

    """

    template: str
    scripts: tuple[str, ...]
    build_data: Callable[[Extraction], dict[str, Any]]
    sorts_lines: bool = False


def choose_explorer(extraction: Extraction) -> Explorer:
    """The explorer for the form of an explanation."""
    return EXPLORERS.get(extraction.explanation.form, CASE_EXPLORER)


def case_data(extraction: Extraction) -> dict[str, Any]:
    """What `templates/case.js` reads: explanations of every size, their columns, and rows to start from."""
    points = readable_points(extraction)
    explanations = [point.explanation for point in points if point.explanation is not None]
    known, book = {summary.name: summary for summary in extraction.columns}, extraction.code_book
    names = dict.fromkeys(name for each in explanations for name in each.columns)
    return {
        "explanations": [each.to_object() for each in explanations],
        "columns": [
            _column_object(known.get(name, ColumnSummary(name, 0.0)), book.words(name)) for name in names
        ],
        "rows": [
            [_finite(difference.row.get(name)) for name in names] for difference in extraction.differences
        ],
    }


def readable_points(extraction: Extraction) -> list[FrontierPoint]:
    """The points that a reader can move along, the chosen one among them; of theories it is alone."""
    movable = choose_explorer(extraction) is CASE_EXPLORER
    points = [point for point in extraction.frontier if movable and point.explanation is not None]
    if all(point.explanation != extraction.explanation for point in points):
        chosen = extraction.explanation
        points.append(FrontierPoint(chosen.literals, extraction.fidelity, chosen))
    return sorted(points, key=lambda point: point.literals)


def _column_object(summary: ColumnSummary, words: ColumnWords) -> dict[str, Any]:
    numbers = [number for number in summary.numbers if math.isfinite(number)]
    parts = {
        "missing": summary.missing,
        "numbers": numbers if len(numbers) == 3 else [],
        "whole": summary.whole,
        "categories": list(words.order or summary.categories[:MAX_SHOWN_CATEGORIES]),
        "words": write_object(words),
    }
    return {"name": summary.name, **{part: value for part, value in parts.items() if value}}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def theory_data(extraction: Extraction) -> dict[str, Any]:
    """What `templates/explorer.js` reads about rules over variables."""
    compiled, content = extraction.explanation.compile(), write_object(extraction.explanation)
    vocabulary = compiled.theory.vocabulary
    label, classes = content["label"], content["classes"]
    words = {name: compiled.describe(name) for name in vocabulary}
    return explore_theory(
        HornTheory(vocabulary, compiled.rules),
        compiled.background,
        labels=() if label is None else (label,),
        default=None if label is None else classes[content["default"]],
        groups=tuple(tuple(map(vocabulary.index, group)) for group in content["groups"]),
        words=words,
        rows=[difference.row for difference in extraction.differences],
    )


def explore_theory(
    rules: HornTheory,
    background: HornTheory,
    *,
    labels: tuple[str, ...] = (),
    default: str | None = None,
    groups: Groups = (),
    words: Mapping[str, str] | None = None,
    rows: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The data of an explorer that reasons with rules; `templates/reasoner.js` documents it.

    Parameters
    ----------
    rules, background
        The rules that were learned, and those that always hold, over one vocabulary.
    labels
        The variables that are decided; none for rules about what is accepted.
    default
        What is assumed where the rules decide nothing, in words.
    groups
        Sets of variables that exclude each other.
    words
        Descriptions of variables by name; by default a variable is described by its name, and a
        dual by "not" and its partner's description.
    rows
        Cases to start from, by names of variables that are 1, 0 or missing.

    """
    vocabulary = rules.vocabulary
    always = background | exclusivity_rules(vocabulary, groups)
    describe = [_describe(vocabulary, words or {}, v) for v in range(len(vocabulary))]
    decided = vocabulary.variables(labels)
    facts = [v for v in _base_variables(vocabulary) if v not in decided]
    used = {_base(vocabulary, v) for v in _used_literals(rules)}
    askable = [v for v in facts if v in used]
    return {
        "width": len(vocabulary),
        "duals": list(vocabulary.duals),
        "words": describe,
        "rules": [
            {"body": sorted(rule.body), "head": -1 if isinstance(rule.head, Bottom) else rule.head}
            for rule in (*always, *rules)
        ],
        "known": len(always),
        "groups": [list(group) for group in groups],
        "askable": askable,
        "unused": len(facts) - len(askable),
        "sections": _sections(vocabulary, groups, askable),
        "goals": sorted(decided) or askable,
        "default": default,
        "cases": [
            {"name": f"row {number}", **case}
            for number, row in enumerate(rows, 1)
            if any((case := _case_facts(vocabulary, facts, row)).values())
        ],
    }


def _describe(vocabulary: Vocabulary, words: Mapping[str, str], variable: int) -> str:
    name, dual = vocabulary.name(variable), vocabulary.dual(variable)
    if name in words or dual is None or dual > variable:
        return words.get(name, name)
    return f"not {_describe(vocabulary, words, dual)}"


def _base_variables(vocabulary: Vocabulary) -> list[int]:
    """One variable of each pair of duals, and all others: what can be asked about."""
    seconds = {w for _, w in vocabulary.pairs}
    return [v for v in range(len(vocabulary)) if v not in seconds]


def _base(vocabulary: Vocabulary, variable: int) -> int:
    dual = vocabulary.dual(variable)
    return variable if dual is None else min(variable, dual)


def _used_literals(rules: HornTheory) -> Iterator[int]:
    for rule in rules:
        yield from rule.body
        if not isinstance(rule.head, Bottom):
            yield rule.head


def _case_facts(vocabulary: Vocabulary, facts: list[int], row: Mapping[str, Any]) -> dict[str, list[int]]:
    values = [(v, row.get(vocabulary.name(v))) for v in facts]
    return {"yes": [v for v, value in values if value == 1], "no": [v for v, value in values if value == 0]}


def _sections(vocabulary: Vocabulary, groups: Groups, askable: list[int]) -> list[dict[str, Any]]:
    """Group the facts that share a column under its name; the others come first."""
    together = [[v for v in group if v in askable] for group in groups]
    columns = [(vocabulary.name(group[0]).rpartition("=")[0], group) for group in together if len(group) > 1]
    single = [v for v in askable if not any(v in group for _, group in columns)]
    sections = [(OTHER_FACTS, single), *columns]
    return [{"title": title, "variables": variables} for title, variables in sections if variables]


CASE_EXPLORER = Explorer("case.html", ("decide.js", "case.js"), case_data)
"""Values of columns are typed in; the explanation decides."""

EXPLORERS = {
    "theory": Explorer(
        "theory.html", ("reasoner.js", "table.js", "explorer.js"), theory_data, sorts_lines=True
    )
}
"""Explorers for forms that are not read in values of columns."""
