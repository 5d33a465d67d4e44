"""Guarantees and figures in words that need no logic to be understood."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hornbook.cards.card import Card
from hornbook.logic import Bottom, Head
from hornbook.queries import Budget, Estimated, Exact, Guarantee, Pac, Proved, Unknown
from hornbook.report.charts import convergence_chart, fidelity_chart, svg
from hornbook.report.content import (
    Difference,
    Facts,
    Report,
    ReportedRule,
    base_variables,
    exploration,
    used_literals,
)
from hornbook.statistics import Share
from hornbook.trees.tree import Tree


def percent(share: float) -> str:
    """A share in percent, with the digits that a reader can use.

    Examples
    --------
    >>> percent(0.98765), percent(0.0042), percent(1.0), percent(0.99996), percent(float("nan"))
    ('98.8 %', '0.42 %', '100 %', '99.996 %', '–')

    """
    if share != share:
        return "–"
    nearest = min(share, 1 - share)
    if nearest <= 0:
        return f"{100 * share:.0f} %"
    digits = 1 if nearest >= 0.01 else 2 if nearest >= 0.0001 else 3
    return f"{100 * share:.{digits}f} %"


def interval(share: Share) -> str:
    """The interval of a share.

    Examples
    --------
    >>> interval(Share.of(980, 1000))
    '96.9 to 98.8 %'
    >>> interval(Share.of(0, 0))
    'not measured'

    """
    return (
        f"{percent(share.low).removesuffix(' %')} to {percent(share.high)}" if share.size else "not measured"
    )


def short(number: int) -> str:
    """A count that a reader takes in at a glance.

    Examples
    --------
    >>> short(845), short(12_345), short(1_897_739), short(3_200_000_000)
    ('845', '12,345', '1.9 million', '3.2 billion')

    """
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,}"


def signed(points: int) -> str:
    """Points with their sign.

    Examples
    --------
    >>> signed(3), signed(0), signed(-2)
    ('+3', '0', '−2')

    """
    return f"{points:+d}".replace("-", "−") if points else "0"


def duration(seconds: float) -> str:
    """A time in the units that suit it.

    Examples
    --------
    >>> duration(0.25), duration(16.9), duration(125), duration(7300)
    ('0.2 s', '17 s', '2 min 5 s', '2 h 1 min')

    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, spare = divmod(minutes, 60)
    return f"{hours} h {spare} min" if hours else f"{minutes} min {rest} s"


PROMISES = {
    "exact": "exact",
    "proved": "proved",
    "pac": "probably, approximately",
    "estimated": "measured",
    "none": "no promise",
}
"""For a kind of guarantee, a word or two."""


def meaning(guarantee: Guarantee) -> str:
    """What a guarantee means, for a reader who has never heard of it.

    Examples
    --------
    >>> from textwrap import fill
    >>> print(fill(meaning(Pac(0.05, 0.1, "rows like yours")), 105))
    If the whole extraction were repeated many times, in at least 90 % of the repetitions the rules and the
    model would give different answers in no more than 5 of 100 cases like those below. It says nothing about
    cases of another kind.

    """
    match guarantee:
        case Exact():
            return "The rules and the model give the same answer in every possible case."
        case Proved():
            return "It was proved, not sampled: the rules and the model give the same answer for every input."
        case Pac(epsilon, delta, _):
            return (
                "If the whole extraction were repeated many times, in at least "
                f"{100 * (1 - delta):g} % of the repetitions the rules and the "
                f"model would give different answers in no more than {100 * epsilon:g} of 100 cases like "
                "those below. It says nothing about cases of another kind."
            )
        case Estimated(disagreement, _):
            return (
                f"On {disagreement.size:,} fresh cases that the extraction never used, rules and model gave "
                f"different answers in {percent(disagreement.estimate)}. The true share lies, with "
                f"{100 * disagreement.confidence:g} % confidence, between {percent(disagreement.low)} and "
                f"{percent(disagreement.high)}, for cases like those below and for no others."
            )
        case Unknown(reason):
            return f"Nothing is promised: {reason}. Treat the rules as suggestions."


TEMPLATES = resources.files("hornbook.report") / "templates"


def render(template: str, /, *, title: str, scripts: Sequence[str] = (), **content: Any) -> str:
    """A page from a template that extends `base.html`.

    Whatever is put into a template is shown as text. A page runs the scripts named here and no
    others: its security policy lists their hashes and forbids every connection.

    Parameters
    ----------
    template
        The name of a file beside `base.html`.
    title
        The title of the page.
    scripts
        The names of script files beside `base.html`, in the order in which they run.
    content
        What else the template speaks of.

    Examples
    --------
    >>> page = render("base.html", title="<b>Rules</b>")
    >>> "<title>&lt;b&gt;Rules&lt;/b&gt;</title>" in page
    True

    """
    program = "\n".join(source(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            program=Markup(program),
            policy=f"'sha256-{digest}'" if program else "'none'",
            **content,
        )
        + "\n"
    )


@cache
def source(name: str) -> str:
    """A file beside the templates, to be put into a page as it is."""
    return (TEMPLATES / name).read_text("utf-8")


def as_data(value: Any) -> Markup:
    r"""JSON that can stand inside a script element, whatever strings it holds.

    Examples
    --------
    >>> print(as_data({"name": "</script><b>"}))
    {"name":"\u003c/script>\u003cb>"}

    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def unbroken(text: str) -> str:
    """The text with no line break before a unit."""
    return re.sub(" (%|s|min|h)(?![a-z])", "\N{NO-BREAK SPACE}\\1", text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hornbook.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=lambda share: unbroken(percent(share)),
        interval=lambda share: unbroken(interval(share)),
        count="{:,}".format,
        short=short,
        duration=lambda seconds: unbroken(duration(seconds)),
        data=as_data,
        unbroken=unbroken,
    )
    environment.globals.update(svg=svg, style=lambda name: Markup(source(name)))
    return environment


IMPOSSIBLE = "impossible"
"""What ⊥ is called on the page."""


WRITTEN_OUT = 100
"""The bodies of so many rules are in the page as text; a script writes out the others."""


def to_html(report: Report) -> str:
    """The report as HTML: one file that reads nothing from anywhere.

    Examples
    --------
    >>> from hornbook.evaluate import Fidelity
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.queries import Exact
    >>> from hornbook.report.content import Honesty, Spent
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
