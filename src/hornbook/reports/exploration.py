"""What the explorer needs to reason in the page: the theory as numbers, and words for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hornbook.cards import Card
from hornbook.logic.batch import Interpretation
from hornbook.logic.rule import Bottom, Rule
from hornbook.logic.vocabulary import Vocabulary
from hornbook.reports.content import Report
from hornbook.trees import Node, Split, Tree

OTHER_FACTS = "Facts"
"""The heading of the facts that share no column with another."""


def exploration(report: Report) -> dict[str, Any]:
    """The explorer's data, ready for JSON; `templates/reasoner.js` says what it means."""
    vocabulary = report.background.vocabulary
    known, labels, decider = report.known, vocabulary.variables(report.labels), report.decider
    used = {_base(vocabulary, v) for v in used_literals(report)}
    facts = [v for v in base_variables(vocabulary) if v not in labels]
    askable = [v for v in facts if v in used]
    return {
        "width": len(vocabulary),
        "duals": list(vocabulary.duals),
        "words": [report.say(v) for v in range(len(vocabulary))],
        "rules": [_rule_object(rule) for rule in (*known, *(reported.rule for reported in report.rules))],
        "known": len(known),
        "groups": [list(group) for group in report.groups],
        "askable": askable,
        "unused": len(facts) - len(askable),
        "sections": _sections(report, askable),
        "goals": sorted(labels) or askable,
        "default": report.default,
        "card": _card_object(vocabulary, decider) if isinstance(decider, Card) else None,
        "tree": _tree_object(vocabulary, decider) if isinstance(decider, Tree) else None,
        "cases": [{"name": case.name, **_known_facts(case.facts, facts)} for case in report.differences],
    }


def base_variables(vocabulary: Vocabulary) -> list[int]:
    """Every variable but the second of each pair: what can be asked about."""
    seconds = {w for _, w in vocabulary.pairs}
    return [v for v in range(len(vocabulary)) if v not in seconds]


def used_literals(report: Report) -> set[int]:
    """The variables that the rules, the card or the tree speak of."""
    rules = [reported.rule for reported in report.rules]
    heads = {rule.head for rule in rules if not isinstance(rule.head, Bottom)}
    decider = report.decider
    asked = () if decider is None else decider.vocabulary.named(decider.used)
    return heads.union(*(rule.body for rule in rules), report.background.vocabulary.variables(asked))


def _base(vocabulary: Vocabulary, variable: int) -> int:
    dual = vocabulary.dual(variable)
    return variable if dual is None else min(variable, dual)


def _rule_object(rule: Rule) -> dict[str, Any]:
    return {"body": sorted(rule.body), "head": -1 if isinstance(rule.head, Bottom) else rule.head}


def _card_object(vocabulary: Vocabulary, card: Card) -> dict[str, Any]:
    lines = [
        {
            "body": sorted(vocabulary.variables(card.vocabulary.named(line.body))),
            "points": line.points,
            "unknown": line.if_unknown,
        }
        for line in card.items
    ]
    return {"label": vocabulary.index(card.label), "lines": lines, "threshold": card.threshold}


def _tree_object(vocabulary: Vocabulary, tree: Tree) -> dict[str, Any]:
    def written(node: Node) -> Any:
        if not isinstance(node, Split):
            return node
        literal = vocabulary.index(tree.vocabulary.name(node.literal))
        return {"literal": literal, "yes": written(node.yes), "no": written(node.no)}

    return {"label": vocabulary.index(tree.label), "root": written(tree.root)}


def _known_facts(facts: Interpretation, base: Iterable[int]) -> dict[str, list[int]]:
    return {"yes": [v for v in base if v in facts.true], "no": [v for v in base if v in facts.false]}


def _sections(report: Report, askable: list[int]) -> list[dict[str, Any]]:
    """The facts, those that share a column under its name, the others first."""
    names = report.background.vocabulary.names
    together = [[v for v in group if v in askable] for group in report.groups]
    columns = [(names[group[0]].rpartition("=")[0], group) for group in together if len(group) > 1]
    single = [v for v in askable if not any(v in group for _, group in columns)]
    sections = [(OTHER_FACTS, single), *columns]
    return [{"title": title, "variables": variables} for title, variables in sections if variables]
