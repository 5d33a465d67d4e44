"""Rules as people read them: lines of text, a table in a terminal, a table in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Protocol

from hornbook.cards.card import Card
from hornbook.deciders import Decider
from hornbook.explain.answers import FREE, Answers
from hornbook.logic import Rule
from hornbook.logic.syntax import UNICODE, head_text, quote, rule_text
from hornbook.statistics import Share

if TYPE_CHECKING:
    from rich.table import Table

Describe = Callable[[str], str]
"""The condition behind the name of a variable, or the name."""


HEADINGS = ("if", "then", "applies to samples", "right on")


class Measured(Protocol):
    """A rule and what it is worth."""

    @property
    def rule(self) -> Rule: ...
    @property
    def support(self) -> Share: ...
    @property
    def precision(self) -> Share: ...


def lines(answers: Answers, rules: Iterable[Measured], describe: Describe) -> Iterator[str]:
    """One rule a line, each with what it is worth in a comment; or a card or a tree, line by line.

    Rules as they come out can be read back as a theory.
    """
    if answers.decider is not None:
        yield from str(answers.decider).splitlines()
    worth = {reported.rule: reported for reported in rules}
    texts = {rule: rule_text(answers.theory.vocabulary, rule, UNICODE) for rule in answers.readable}
    width = max(map(len, texts.values()), default=0)
    for rule, text in texts.items():
        found = worth.get(rule)
        yield f"{text:<{width}}  # {measured(found)}" if found else text
    if answers.decider is None and answers.labels and answers.default != FREE:
        yield f"# otherwise {quote(answers.literals[answers.default])}"
    yield from (f"# {quote(name)}: {said}" for name in used(answers) if (said := describe(name)) != name)


def measured(found: Measured) -> str:
    """What a rule is worth, in words."""
    return f"applies to {_percent(found.support)} of samples, right on {_percent(found.precision)} of these"


def used(answers: Answers) -> list[str]:
    """The variables that there are to read, in order."""
    decider = answers.decider
    if decider is not None:
        return list(decider.vocabulary.named(decider.used))
    return list(answers.theory.vocabulary.named({v for rule in answers.rules for v in rule.body}))


def table(answers: Answers, rules: Iterable[Measured], title: str, describe: Describe) -> Table:
    """The rules in a terminal, in words."""
    from rich.markup import escape as plain
    from rich.table import Table

    shown = Table(title=plain(title), title_justify="left")
    if answers.decider is not None:
        headings, rows = _decided(answers.decider, describe)
        for heading in headings:
            shown.add_column(heading, justify="left" if heading in HEADINGS else "right")
        for row in rows:
            shown.add_row(*(plain(cell) for cell in row))
        shown.caption = plain(str(answers.decider).splitlines()[-1])
        return shown
    for heading in HEADINGS:
        shown.add_column(heading, justify="left" if heading in HEADINGS[:2] else "right")
    for cells in _rows(answers, rules, describe):
        shown.add_row(*map(plain, cells))
    if answers.labels and answers.default != FREE:
        shown.caption = f"otherwise {plain(answers.literals[answers.default])}"
    return shown


def html(answers: Answers, rules: Iterable[Measured], title: str, describe: Describe) -> str:
    """The rules in a notebook, in words; names are shown as text, whatever they hold."""
    if answers.decider is not None:
        return f"<p>{escape(title)}</p><pre>{escape(str(answers.decider))}</pre>"
    heads = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in _rows(answers, rules, describe)
    )
    default = answers.literals[answers.default] if answers.labels and answers.default != FREE else None
    otherwise = f"<p>otherwise {escape(default)}</p>" if default else ""
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{otherwise}"
    )


def _decided(decider: Decider, describe: Describe) -> tuple[tuple[str, ...], list[list[str]]]:
    """The headings and cells of a card, or of a tree, in words."""
    names = decider.vocabulary.named
    if isinstance(decider, Card):
        return ("points", "unknown", "if"), [
            [f"{item.points:+d}", f"{item.if_unknown:+d}", " and ".join(map(describe, names(item.body)))]
            for item in decider.items
        ]
    rows = []
    for step in decider.steps():
        asked = ("" if step.literal is None else f"if {describe(decider.vocabulary.name(step.literal))}",)
        words = " ".join(filter(None, ("otherwise" if step.otherwise else "", *asked)))
        answer = "" if step.answer is None else decider.outcome(step.answer)
        rows.append(["  " * step.depth + words, answer])
    return ("if", "then"), rows


def _rows(answers: Answers, rules: Iterable[Measured], describe: Describe) -> Iterator[list[str]]:
    vocabulary = answers.theory.vocabulary
    worth = {reported.rule: reported for reported in rules}
    for rule in answers.readable:
        found = worth.get(rule)
        body = " and ".join(describe(name) for name in vocabulary.named(rule.body)) or "always"
        shares = [_percent(found.support), _percent(found.precision)] if found else ["", ""]
        yield [body, head_text(vocabulary, rule.head, UNICODE), *shares]


def _percent(share: Share) -> str:
    return f"{100 * share.estimate:.1f} %" if share.size else "–"
