"""The report of an extraction as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hornbook.cards import Card
from hornbook.intervals import Share
from hornbook.logic.rule import Bottom, Head
from hornbook.queries import Budget, Guarantee
from hornbook.reports.charts import convergence_chart, fidelity_chart
from hornbook.reports.content import Difference, Facts, Report, ReportedRule
from hornbook.reports.exploration import base_variables, exploration, used_literals
from hornbook.reports.page import render
from hornbook.reports.wording import PROMISES, duration, meaning, signed
from hornbook.trees import Tree

IMPOSSIBLE = "impossible"
"""What ⊥ is called on the page."""


WRITTEN_OUT = 100
"""The bodies of so many rules are in the page as text; a script writes out the others."""


def to_html(report: Report) -> str:
    """The report as HTML: one file that reads nothing from anywhere.

    Examples
    --------
    >>> from hornbook.evaluate import Fidelity
    >>> from hornbook.logic.theory import HornTheory
    >>> from hornbook.queries import Exact
    >>> from hornbook.reports.content import Honesty, Spent
    >>> theory = HornTheory.parse("fever & cough -> ill")
    >>> rules = tuple(ReportedRule(rule, Share.of(30, 100), Share.of(9, 9)) for rule in theory)
    >>> report = Report(
    ...     title="What the model says about ill",
    ...     background=HornTheory(theory.vocabulary),
    ...     rules=rules,
    ...     guarantee=Exact(),
    ...     fidelity=Fidelity(samples=Share.of(100, 100)),
    ...     stop_reason="equivalent",
    ...     spent=Spent(equivalence_queries=2, membership_queries=120, seconds=0.1),
    ...     honesty=Honesty(distribution="the rows"),
    ... )
    >>> to_html(report).splitlines()[0]
    '<!DOCTYPE html>'

    """
    lines = [_line(report, reported) for reported in report.rules]
    return render(
        "extraction.html",
        title=report.title,
        scripts=("reasoner.js", "table.js", "explorer.js"),
        report=report,
        lead=_lead(report),
        conditions=_conditions(report),
        promise=PROMISES.get(report.guarantee.kind, report.guarantee.kind),
        meaning=meaning(report.guarantee),
        card=_card(report, report.decider) if isinstance(report.decider, Card) else None,
        tree=_tree(report, report.decider) if isinstance(report.decider, Tree) else None,
        lines=lines,
        written=WRITTEN_OUT,
        heads=sorted({line.head for line in lines}),
        promised=any(line.guarantee for line in lines),
        fidelity=fidelity_chart(report.curve),
        convergence=convergence_chart(report.convergence),
        differences=[(difference, list(_known(report, difference))) for difference in report.differences],
        cost=_cost(report),
        exploration=exploration(report),
    )


@dataclass(frozen=True)
class _Line:
    """A rule in words, as the table shows it."""

    body: list[str]
    head: str
    sign: str
    support: Share
    precision: Share
    guarantee: Guarantee | None


@dataclass(frozen=True)
class _CardLine:
    """A line of a card in words."""

    body: list[str]
    points: str
    unknown: str
    sign: str


@dataclass(frozen=True)
class _CardTable:
    """A card in words."""

    label: str
    threshold: str
    lines: list[_CardLine]


def _card(report: Report, card: Card) -> _CardTable:
    words = report.words
    lines = [
        _CardLine(
            [words.get(name, name) for name in card.vocabulary.named(line.body)],
            signed(line.points),
            signed(line.if_unknown),
            "plus" if line.points > 0 else "minus",
        )
        for line in card.items
    ]
    return _CardTable(words.get(card.label, card.label), signed(card.threshold).removeprefix("+"), lines)


@dataclass(frozen=True)
class _TreeLine:
    """A line of a tree in words."""

    depth: int
    otherwise: bool
    condition: str
    answer: str
    sign: str


def _tree(report: Report, tree: Tree) -> list[_TreeLine]:
    vocabulary = report.background.vocabulary
    answers = {
        answer: (report.say(vocabulary.index(tree.outcome(answer))), "yes" if answer else "no")
        for answer in (False, True)
    }
    return [
        _TreeLine(
            step.depth,
            step.otherwise,
            "" if step.literal is None else report.say(vocabulary.index(tree.vocabulary.name(step.literal))),
            *(("", "") if step.answer is None else answers[step.answer]),
        )
        for step in tree.steps()
    ]


def _line(report: Report, reported: ReportedRule) -> _Line:
    rule = reported.rule
    return _Line(
        [report.say(v) for v in sorted(rule.body)],
        IMPOSSIBLE if isinstance(rule.head, Bottom) else report.say(rule.head),
        _sign(report, rule.head),
        reported.support,
        reported.precision,
        reported.guarantee,
    )


def _sign(report: Report, head: Head) -> str:
    """Whether a head says yes or no to a label, for its colour."""
    vocabulary = report.background.vocabulary
    labels = vocabulary.variables(report.labels)
    if isinstance(head, Bottom):
        return "no"
    if head in labels:
        return "yes"
    return "no" if vocabulary.dual(head) in labels else ""


def _lead(report: Report) -> str:
    if isinstance(report.decider, Card):
        return "A card with points that adds up to what the model decides."
    if isinstance(report.decider, Tree):
        return "A tree of questions that leads to what the model decides."
    count = len(report.rules)
    vocabulary = report.background.vocabulary
    *others, last = [report.say(vocabulary.index(label)) for label in report.labels] or [""]
    about = f"{', '.join(others)} or {last}" if others else last
    rules = f"{count:,} {'rule' if count == 1 else 'rules'}"
    return (
        f"{rules} that say when the model decides for {about}." if about else f"{rules} that the model obeys."
    )


def _conditions(report: Report) -> str:
    lengths = [len(reported.rule.body) for reported in report.rules]
    if not lengths:
        return "none was found"
    return f"{sum(lengths) / len(lengths):.1f} conditions on average, {max(lengths)} at most"


def _known(report: Report, difference: Difference) -> Iterator[str]:
    """What is known of a case, as far as the rules speak of it."""
    vocabulary = report.background.vocabulary
    used = used_literals(report)
    settled = {v for group in report.groups if difference.facts.true & {*group} for v in group}
    labels = vocabulary.variables(report.labels)
    for v in base_variables(vocabulary):
        dual = vocabulary.dual(v)
        if not {v, dual} & used or v in labels or (v in settled and v in difference.facts.false):
            continue
        if v in difference.facts.true:
            yield report.say(v)
        elif v in difference.facts.false:
            yield f"not {report.say(v)}" if dual is None else report.say(dual)


def _cost(report: Report) -> Facts:
    spent, budget = report.spent, report.spent.budget
    return (
        ("equivalence queries", _of(f"{spent.equivalence_queries:,}", budget.equivalence_queries)),
        ("membership queries", _of(f"{spent.membership_queries:,}", budget.membership_queries)),
        ("time", duration(spent.seconds) + _within(budget)),
        ("ended by", report.stop_reason),
    )


def _of(spent: str, limit: int | None) -> str:
    return spent if limit is None else f"{spent} of at most {limit:,}"


def _within(budget: Budget) -> str:
    return "" if budget.seconds is None else f" of at most {duration(budget.seconds)}"
