"""What a report of an extraction contains. Nothing here knows how it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hornbook.cards.card import Card
from hornbook.classify.candidate import Point as Weighed
from hornbook.data.conditions import exclusivity_rules
from hornbook.deciders import Decider
from hornbook.distributions import Groups
from hornbook.errors import HornbookError
from hornbook.evaluate import Fidelity
from hornbook.learners import Point
from hornbook.logic import Bottom, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries import Budget, Guarantee
from hornbook.statistics import Share
from hornbook.trees.tree import Node, Split, Tree

Facts: TypeAlias = tuple[tuple[str, str], ...]
"""What something is called and what it is, in reading order: `(("file", "model.onnx"), …)`."""


@dataclass(frozen=True)
class ReportedRule:
    """One rule and what it is worth.

    Parameters
    ----------
    rule
        The rule, over the vocabulary of the report's background.
    support
        The share of interpretations in which its whole body is true.
    precision
        Of the interpretations that break it, the share that the model rejects.
    guarantee
        What is known of this very rule, where more is known than its precision.

    """

    rule: Rule
    support: Share
    precision: Share
    guarantee: Guarantee | None = None


@dataclass(frozen=True)
class Checkpoint:
    """How far a run had come after one equivalence query."""

    equivalence_queries: int
    membership_queries: int
    seconds: float
    point: Point


@dataclass(frozen=True)
class Difference:
    """A case on which rules and model differ.

    Parameters
    ----------
    name
        What to call it, such as `row 17`.
    facts
        What is known of it.
    model, rules
        What each says of it, in words: a label, its negation, or `undetermined`.

    """

    name: str
    facts: Interpretation
    model: str
    rules: str


@dataclass(frozen=True)
class Spent:
    """What a run cost, and what it was allowed to."""

    equivalence_queries: int
    membership_queries: int
    seconds: float
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Honesty:
    """What a reader should know before trusting the rest.

    Parameters
    ----------
    distribution
        What every share in the report was measured on, but for those that name other cases.
    incoherence
        How often the model's answers about unknown values contradict those about known ones.
    rows_rejected
        The share of the real rows, with their true labels, that the model rejects.
    notes
        Further warnings, a sentence each.

    """

    distribution: str
    incoherence: Share | None = None
    rows_rejected: Share | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Everything that a report of an extraction says.

    Parameters
    ----------
    title
        One line, such as `What the network says about survives`.
    labels
        The variables that the rules decide: one for a classifier, several for several classes,
        none for a model that judges whole interpretations.
    model, data, settings
        What the model is, what it was asked about, and how.
    background
        What always holds, over the vocabulary of the whole report.
    rules
        The rules found, the most useful first.
    words
        For a variable's name, what it says: `{"albumin=high": "albumin > 4.1 g/dL"}`. A variable
        that is left out is called by its name, and a dual "not" what the other says.
    groups
        Sets of variables of which at most one is true, as a binariser knows them.
    guarantee
        How faithful the rules are, and in which sense.
    fidelity
        The share of answers that equal the model's: on unseen rows, if there were any, and on samples.
    decider
        Points to add up or questions to ask, in place of rules or beside them; its vocabulary is
        part of the report's.
    undetermined
        The share of cases about which the rules say nothing.
    default
        What is answered where no rule decides, if anything is.
    stop_reason
        How the run ended.
    curve
        Theories, cards or trees of growing size and how faithful each is.
    convergence
        The run, query by query.
    differences
        Some cases on which rules and model differ.
    spent, honesty
        What it cost, and what to beware of.

    """

    title: str
    background: HornTheory
    rules: tuple[ReportedRule, ...]
    guarantee: Guarantee
    fidelity: Fidelity
    stop_reason: str
    spent: Spent
    honesty: Honesty
    labels: tuple[str, ...] = ()
    model: Facts = ()
    data: Facts = ()
    settings: Facts = ()
    words: Mapping[str, str] = field(default_factory=dict)
    groups: Groups = ()
    decider: Decider | None = None
    undetermined: Share | None = None
    default: str | None = None
    curve: tuple[Point | Weighed, ...] = ()
    convergence: tuple[Checkpoint, ...] = ()
    differences: tuple[Difference, ...] = ()

    def __post_init__(self) -> None:
        spoken_of = () if self.decider is None else (self.decider.label, *self.decider.vocabulary)
        for name in (*self.labels, *self.words, *spoken_of):
            self.background.vocabulary.index(name)
        if self.default is not None and not self.labels:
            raise HornbookError(f"a default answer {self.default!r} needs a label to be about")

    @property
    def known(self) -> HornTheory:
        """What holds before any rule is found: the background, and that groups are exclusive."""
        return self.background | exclusivity_rules(self.background.vocabulary, self.groups)

    @property
    def theory(self) -> HornTheory:
        """What is known and the rules together."""
        found = HornTheory(self.background.vocabulary, (reported.rule for reported in self.rules))
        return self.known | found

    def say(self, variable: int) -> str:
        """What a variable says, in words."""
        vocabulary = self.background.vocabulary
        name, dual = vocabulary.name(variable), vocabulary.dual(variable)
        if name in self.words or dual is None or dual > variable:
            return self.words.get(name, name)
        return f"not {self.say(dual)}"


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
