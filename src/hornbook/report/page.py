"""The HTML page of a report: figures and guarantees in plain words, templates, and rendering."""

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
from hornbook.report.charts import convergence_chart, fidelity_chart, to_svg
from hornbook.report.content import (
    Details,
    DisagreeingRow,
    Report,
    ReportedRule,
    base_variables,
    explorer_data,
    used_literals,
)
from hornbook.statistics import Share
from hornbook.trees.tree import Tree


def format_percent(share: float) -> str:
    """Format a share in percent, with a useful number of digits.

    Examples
    --------
    >>> [format_percent(share) for share in (0.98765, 0.0042, 1.0, 0.99996, float("nan"))]
    ['98.8 %', '0.42 %', '100 %', '99.996 %', '–']

    """
    if share != share:
        return "–"
    nearest = min(share, 1 - share)
    if nearest <= 0:
        return f"{100 * share:.0f} %"
    digits = 1 if nearest >= 0.01 else 2 if nearest >= 0.0001 else 3
    return f"{100 * share:.{digits}f} %"


def format_interval(share: Share) -> str:
    """Format the confidence interval of a share.

    Examples
    --------
    >>> format_interval(Share.of(980, 1000))
    '96.9 to 98.8 %'
    >>> format_interval(Share.of(0, 0))
    'not measured'

    """
    return (
        f"{format_percent(share.low).removesuffix(' %')} to {format_percent(share.high)}"
        if share.size
        else "not measured"
    )


def format_count(number: int) -> str:
    """Format a count, large ones in millions or billions.

    Examples
    --------
    >>> format_count(845), format_count(12_345), format_count(1_897_739), format_count(3_200_000_000)
    ('845', '12,345', '1.9 million', '3.2 billion')

    """
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,}"


def format_points(points: int) -> str:
    """Format points with their sign.

    Examples
    --------
    >>> format_points(3), format_points(0), format_points(-2)
    ('+3', '0', '−2')

    """
    return f"{points:+d}".replace("-", "−") if points else "0"


def format_duration(seconds: float) -> str:
    """Format a time in suitable units.

    Examples
    --------
    >>> format_duration(0.25), format_duration(16.9), format_duration(125), format_duration(7300)
    ('0.2 s', '17 s', '2 min 5 s', '2 h 1 min')

    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, spare = divmod(minutes, 60)
    return f"{hours} h {spare} min" if hours else f"{minutes} min {rest} s"


GUARANTEE_LABELS = {
    "exact": "exact",
    "proved": "proved",
    "pac": "probably, approximately",
    "estimated": "measured",
    "none": "no promise",
}
"""A short label for each kind of guarantee."""


def explain_guarantee(guarantee: Guarantee) -> str:
    """Explain a guarantee to a reader without training in logic or statistics.

    Examples
    --------
    >>> from textwrap import fill
    >>> print(fill(explain_guarantee(Pac(0.05, 0.1, "rows like yours")), 105))
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
                f"different answers in {format_percent(disagreement.estimate)}. The true share lies, with "
                f"{100 * disagreement.confidence:g} % confidence, between "
                f"{format_percent(disagreement.low)} and {format_percent(disagreement.high)}, "
                "for cases like those below and for no others."
            )
        case Unknown(reason):
            return f"There is no guarantee: {reason}. Treat the rules as suggestions."


TEMPLATES = resources.files("hornbook.report") / "templates"


def render_page(template: str, /, *, title: str, scripts: Sequence[str] = (), **content: Any) -> str:
    """Render a page from a template that extends `base.html`.

    All content is escaped. A page runs only the scripts named here: its security policy lists
    their hashes and forbids every connection.

    Parameters
    ----------
    template
        The name of a file in the folder of `base.html`.
    title
        The title of the page.
    scripts
        The names of script files in that folder, in the order in which they run.
    content
        Further variables of the template.

    Examples
    --------
    >>> page = render_page("base.html", title="<b>Rules</b>")
    >>> "<title>&lt;b&gt;Rules&lt;/b&gt;</title>" in page
    True

    """
    program = "\n".join(read_asset(name) for name in scripts)
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
def read_asset(name: str) -> str:
    """Read a file of the templates folder, to be included in a page unchanged."""
    return (TEMPLATES / name).read_text("utf-8")


def to_script_json(value: Any) -> Markup:
    r"""Convert a value to JSON that is safe inside a script element.

    Examples
    --------
    >>> print(to_script_json({"name": "</script><b>"}))
    {"name":"\u003c/script>\u003cb>"}

    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def keep_units(text: str) -> str:
    """Prevent line breaks between a number and its unit."""
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
        percent=lambda share: keep_units(format_percent(share)),
        interval=lambda share: keep_units(format_interval(share)),
        count="{:,}".format,
        short=format_count,
        duration=lambda seconds: keep_units(format_duration(seconds)),
        data=to_script_json,
        unbroken=keep_units,
    )
    environment.globals.update(svg=to_svg, style=lambda name: Markup(read_asset(name)))
    return environment


BOTTOM_LABEL = "impossible"
"""The word for ⊥ on the page."""


RULES_WRITTEN_OUT = 100
"""Number of rules whose bodies are in the page as text; a script writes out the others."""


def to_html(report: Report) -> str:
    """Render a report as one self-contained HTML page.

    Examples
    --------
    >>> from hornbook.evaluate import Fidelity
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.queries import Exact
    >>> from hornbook.report.content import Caveats, Cost
    >>> theory = HornTheory.parse("fever & cough -> ill")
    >>> rules = tuple(ReportedRule(rule, Share.of(30, 100), Share.of(9, 9)) for rule in theory)
    >>> report = Report(
    ...     title="What the model says about ill",
    ...     background=HornTheory(theory.vocabulary),
    ...     rules=rules,
    ...     guarantee=Exact(),
    ...     fidelity=Fidelity(samples=Share.of(100, 100)),
    ...     stop_reason="equivalent",
    ...     cost=Cost(equivalence_queries=2, membership_queries=120, seconds=0.1),
    ...     caveats=Caveats(distribution="the rows"),
    ... )
    >>> to_html(report).splitlines()[0]
    '<!DOCTYPE html>'

    """
    lines = [_rule_line(report, reported) for reported in report.rules]
    return render_page(
        "extraction.html",
        title=report.title,
        scripts=("reasoner.js", "table.js", "explorer.js"),
        report=report,
        lead=_lead(report),
        conditions=_conditions(report),
        promise=GUARANTEE_LABELS.get(report.guarantee.kind, report.guarantee.kind),
        meaning=explain_guarantee(report.guarantee),
        card=_card(report, report.decider) if isinstance(report.decider, Card) else None,
        tree=_tree(report, report.decider) if isinstance(report.decider, Tree) else None,
        lines=lines,
        written=RULES_WRITTEN_OUT,
        heads=sorted({line.head for line in lines}),
        promised=any(line.guarantee for line in lines),
        fidelity=fidelity_chart(report.curve),
        convergence=convergence_chart(report.convergence),
        disagreements=[(row, list(_known_conditions(report, row))) for row in report.disagreements],
        cost=_cost(report),
        exploration=explorer_data(report),
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
            format_points(line.points),
            format_points(line.if_unknown),
            "plus" if line.points > 0 else "minus",
        )
        for line in card.items
    ]
    return _CardTable(
        words.get(card.label, card.label), format_points(card.threshold).removeprefix("+"), lines
    )


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
        answer: (report.describe(vocabulary.index(tree.outcome(answer))), "yes" if answer else "no")
        for answer in (False, True)
    }
    return [
        _TreeLine(
            step.depth,
            step.otherwise,
            ""
            if step.literal is None
            else report.describe(vocabulary.index(tree.vocabulary.name(step.literal))),
            *(("", "") if step.answer is None else answers[step.answer]),
        )
        for step in tree.steps()
    ]


def _rule_line(report: Report, reported: ReportedRule) -> _Line:
    rule = reported.rule
    return _Line(
        [report.describe(v) for v in sorted(rule.body)],
        BOTTOM_LABEL if isinstance(rule.head, Bottom) else report.describe(rule.head),
        _sign(report, rule.head),
        reported.support,
        reported.precision,
        reported.guarantee,
    )


def _sign(report: Report, head: Head) -> str:
    """Return whether a head affirms or denies a label (`yes`, `no` or nothing), for its colour."""
    vocabulary = report.background.vocabulary
    labels = vocabulary.variables(report.labels)
    if isinstance(head, Bottom):
        return "no"
    if head in labels:
        return "yes"
    return "no" if vocabulary.dual(head) in labels else ""


def _lead(report: Report) -> str:
    if isinstance(report.decider, Card):
        return "A score card whose points add up to the model's decision."
    if isinstance(report.decider, Tree):
        return "A tree of questions that leads to the model's decision."
    count = len(report.rules)
    vocabulary = report.background.vocabulary
    *others, last = [report.describe(vocabulary.index(label)) for label in report.labels] or [""]
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


def _known_conditions(report: Report, row: DisagreeingRow) -> Iterator[str]:
    """Describe the known values of a row that occur in the rules."""
    vocabulary = report.background.vocabulary
    used = used_literals(report)
    settled = {v for group in report.groups if row.facts.true & {*group} for v in group}
    labels = vocabulary.variables(report.labels)
    for v in base_variables(vocabulary):
        dual = vocabulary.dual(v)
        if not {v, dual} & used or v in labels or (v in settled and v in row.facts.false):
            continue
        if v in row.facts.true:
            yield report.describe(v)
        elif v in row.facts.false:
            yield f"not {report.describe(v)}" if dual is None else report.describe(dual)


def _cost(report: Report) -> Details:
    spent, budget = report.cost, report.cost.budget
    return (
        ("equivalence queries", _with_limit(f"{spent.equivalence_queries:,}", budget.equivalence_queries)),
        ("membership queries", _with_limit(f"{spent.membership_queries:,}", budget.membership_queries)),
        ("time", format_duration(spent.seconds) + _time_limit(budget)),
        ("ended by", report.stop_reason),
    )


def _with_limit(spent: str, limit: int | None) -> str:
    return spent if limit is None else f"{spent} of at most {limit:,}"


def _time_limit(budget: Budget) -> str:
    return "" if budget.seconds is None else f" of at most {format_duration(budget.seconds)}"
