"""The content of a report on an extraction, and the data of its explorer; rendering is in `page`."""

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
from hornbook.learners import DisagreementPoint
from hornbook.logic import Bottom, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries import Budget, Guarantee
from hornbook.statistics import Share
from hornbook.trees.tree import Node, Split, Tree

Details: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values in reading order: `(("file", "model.onnx"), …)`."""


@dataclass(frozen=True)
class ReportedRule:
    """One rule with its support and precision.

    Parameters
    ----------
    rule
        The rule, over the vocabulary of the report's background.
    support
        The share of interpretations in which its whole body is true.
    precision
        Of the interpretations that break it, the share that the model rejects.
    guarantee
        A guarantee for this rule, such as a proof, if there is one.

    """

    rule: Rule
    support: Share
    precision: Share
    guarantee: Guarantee | None = None


@dataclass(frozen=True)
class ConvergencePoint:
    """The cost and the disagreement of a run after one equivalence query."""

    equivalence_queries: int
    membership_queries: int
    seconds: float
    point: DisagreementPoint


@dataclass(frozen=True)
class DisagreeingRow:
    """A row on which rules and model disagree.

    Parameters
    ----------
    name
        Its name, such as `row 17`.
    facts
        Its known values.
    model, rules
        The answer of each, in words: a label, its negation, or `undetermined`.

    """

    name: str
    facts: Interpretation
    model: str
    rules: str


@dataclass(frozen=True)
class Cost:
    """The cost of a run, and its budget."""

    equivalence_queries: int
    membership_queries: int
    seconds: float
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Caveats:
    """What a reader should know before trusting the report.

    Parameters
    ----------
    distribution
        The samples on which every share was measured, unless it names other cases.
    incoherence
        How often the model's answers for unknown values contradict those for known ones.
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
    """The content of a report on an extraction.

    Parameters
    ----------
    title
        One line, such as `What the network says about survives`.
    labels
        The variables that the rules predict: one for a classifier, several for several classes,
        none for a model that judges whole interpretations.
    model, data, settings
        Details about the model, the data and the settings.
    background
        The rules that hold by construction, over the vocabulary of the whole report.
    rules
        The extracted rules, the most useful first.
    words
        Descriptions of variables by name: `{"albumin=high": "albumin > 4.1 g/dL"}`. By default a
        variable is described by its name, and a dual by "not" and its partner's description.
    groups
        Sets of variables of which at most one is true.
    guarantee
        The guarantee for the rules as a whole.
    fidelity
        The share of answers that equal the model's, on unseen rows (if any) and on samples.
    decider
        A score card or tree instead of rules or in addition; its vocabulary is part of the
        report's.
    undetermined
        The share of cases that no rule decides.
    default
        The answer where no rule decides, if there is one.
    stop_reason
        Why the run stopped.
    curve
        The fidelity of theories, cards or trees of growing size.
    convergence
        The progress of the run, query by query.
    disagreements
        Some rows on which rules and model disagree.
    cost, caveats
        The cost of the run, and the caveats of the report.

    """

    title: str
    background: HornTheory
    rules: tuple[ReportedRule, ...]
    guarantee: Guarantee
    fidelity: Fidelity
    stop_reason: str
    cost: Cost
    caveats: Caveats
    labels: tuple[str, ...] = ()
    model: Details = ()
    data: Details = ()
    settings: Details = ()
    words: Mapping[str, str] = field(default_factory=dict)
    groups: Groups = ()
    decider: Decider | None = None
    undetermined: Share | None = None
    default: str | None = None
    curve: tuple[DisagreementPoint | Weighed, ...] = ()
    convergence: tuple[ConvergencePoint, ...] = ()
    disagreements: tuple[DisagreeingRow, ...] = ()

    def __post_init__(self) -> None:
        spoken_of = () if self.decider is None else (self.decider.label, *self.decider.vocabulary)
        for name in (*self.labels, *self.words, *spoken_of):
            self.background.vocabulary.index(name)
        if self.default is not None and not self.labels:
            raise HornbookError(f"a default answer {self.default!r} needs a label to be about")

    @property
    def known(self) -> HornTheory:
        """The rules that hold by construction: the background, and the exclusivity of groups."""
        return self.background | exclusivity_rules(self.background.vocabulary, self.groups)

    @property
    def theory(self) -> HornTheory:
        """The extracted rules together with those that hold by construction."""
        found = HornTheory(self.background.vocabulary, (reported.rule for reported in self.rules))
        return self.known | found

    def describe(self, variable: int) -> str:
        """Describe a variable in words."""
        vocabulary = self.background.vocabulary
        name, dual = vocabulary.name(variable), vocabulary.dual(variable)
        if name in self.words or dual is None or dual > variable:
            return self.words.get(name, name)
        return f"not {self.describe(dual)}"


OTHER_FACTS = "Facts"
"""The explorer's heading for facts that do not share a column with others."""


def explorer_data(report: Report) -> dict[str, Any]:
    """Return the explorer's data as a JSON object; `templates/reasoner.js` documents it."""
    vocabulary = report.background.vocabulary
    known, labels, decider = report.known, vocabulary.variables(report.labels), report.decider
    used = {_base(vocabulary, v) for v in used_literals(report)}
    facts = [v for v in base_variables(vocabulary) if v not in labels]
    askable = [v for v in facts if v in used]
    return {
        "width": len(vocabulary),
        "duals": list(vocabulary.duals),
        "words": [report.describe(v) for v in range(len(vocabulary))],
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
        "cases": [{"name": case.name, **_case_facts(case.facts, facts)} for case in report.disagreements],
    }


def base_variables(vocabulary: Vocabulary) -> list[int]:
    """Return one variable of each pair of duals, and all others: what can be asked about."""
    seconds = {w for _, w in vocabulary.pairs}
    return [v for v in range(len(vocabulary)) if v not in seconds]


def used_literals(report: Report) -> set[int]:
    """Return the variables that occur in the rules, the card or the tree."""
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


def _case_facts(facts: Interpretation, base: Iterable[int]) -> dict[str, list[int]]:
    return {"yes": [v for v in base if v in facts.true], "no": [v for v in base if v in facts.false]}


def _sections(report: Report, askable: list[int]) -> list[dict[str, Any]]:
    """Group the facts that share a column under its name; the others come first."""
    names = report.background.vocabulary.names
    together = [[v for v in group if v in askable] for group in report.groups]
    columns = [(names[group[0]].rpartition("=")[0], group) for group in together if len(group) > 1]
    single = [v for v in askable if not any(v in group for _, group in columns)]
    sections = [(OTHER_FACTS, single), *columns]
    return [{"title": title, "variables": variables} for title, variables in sections if variables]
