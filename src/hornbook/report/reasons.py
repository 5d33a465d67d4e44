"""Why a model decides a row so, as a picture: what a reason allows, the row's values, and new ones.

Each column is a bar from its least to its greatest value, with the middle value of the table in the
middle, or has a field for each category. The part that the reason allows is coloured, a dot is the row's
value, and a ring is the value with which the model would decide otherwise. The same picture is drawn as
SVG, and with matplotlib for papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from hornbook.code_book import CodeBook
from hornbook.conditions import Condition, Missing, find_range, write_value
from hornbook.extraction import ColumnSummary, Extraction
from hornbook.report.drawings import N_COLOURS

if TYPE_CHECKING:
    from hornbook.reasons import Why

PICTURE_WIDTH, COLUMN_HEIGHT, BAR_HEIGHT, NOTE_HEIGHT = 440, 64, 12, 26
BAR_LEFT, BAR_WIDTH, MISSING_GAP, MISSING_WIDTH = 8, 344, 14, 66
"""Pixels of a picture."""

MAX_BARS = 12
"""Columns of a picture; those that change are left out last."""

MAX_FIELDS = 8
"""Categories of a column that have a field; those that nothing is said of are left out first."""

MAX_FIELD_LETTERS = 7
"""Letters of a category's name in a field; more are cut off."""


@dataclass(frozen=True)
class ColumnBar:
    """One column of a picture; places are shares of the bar's width, and None is the field for missing.

    Parameters
    ----------
    title
        What the column is called.
    words
        The row's value, and the new one, in words.
    marks
        Places below the bar and what stands there.
    allowed
        The parts of the bar that the reason allows, from one place to another.
    constrained
        Whether the reason speaks of the column.
    value, new
        Places of the row's value and of the new one; there is no new one if both are the same.
    missing
        Whether there is a field for missing values; it is allowed if the reason does not speak of the
        column or says that the value is missing.

    """

    title: str
    words: str
    marks: tuple[tuple[float, str], ...]
    allowed: tuple[tuple[float, float], ...]
    constrained: bool
    value: float | None
    new: float | None
    missing: bool

    @property
    def allows_missing(self) -> bool:
        """Whether the reason allows that the value is missing."""
        return not self.constrained or not self.allowed


def list_bars(why: Why, columns: Iterable[ColumnSummary], book: CodeBook) -> list[ColumnBar]:
    """The bars of the columns that the first reason or the first change speaks of, in their order.

    Parameters
    ----------
    why
        Why the model decides a row so.
    columns
        What values the columns of the table have.
    book
        The user's words.

    """
    conditions = why.reasons[0].readable.conditions if why.reasons else ()
    changes = why.changes.changes[0].values if why.changes is not None and why.changes.changes else ()
    new = {change.column: change.after for change in changes}
    named = {condition.column for condition in conditions} | set(new)
    bars = []
    for summary in columns:
        if summary.name in named:
            own = [condition for condition in conditions if condition.column == summary.name]
            before = why.row.get(summary.name)
            bars.append(_make_bar(summary, own, before, new.get(summary.name, before), book))
    return bars


def _make_bar(
    summary: ColumnSummary, conditions: Sequence[Condition], before: Any, after: Any, book: CodeBook
) -> ColumnBar:
    name = summary.name
    old, new = ("missing" if value is None else book.name_value(name, value) for value in (before, after))
    missing = before is None or after is None or any(isinstance(each, Missing) for each in conditions)
    words = old if old == new else f"{old} → {new}"
    if summary.numbers:
        scale = _Scale(*summary.numbers)
        marks = tuple(
            {scale.place(number): write_value(float(f"{number:.4g}")) for number in summary.numbers}.items()
        )
        value, new_place = (None if own is None else scale.place(float(own)) for own in (before, after))
        allowed = _allow_numbers(conditions, scale)
    else:
        fields = _list_fields(summary, conditions, (before, after), book)
        width = 1 / max(1, len(fields))
        marks = tuple(
            ((number + 0.5) * width, _shorten(book.words(name).name_value(each)))
            for number, each in enumerate(fields)
        )
        value, new_place = (
            None if own is None else (fields.index(own) + 0.5) * width for own in (before, after)
        )
        met = [all(condition.accepts(each) for condition in conditions) for each in fields]
        allowed = tuple((n * width, (n + 1) * width) for n, inside in enumerate(met) if inside)
    return ColumnBar(book.title(name), words, marks, allowed, bool(conditions), value, new_place, missing)


@dataclass(frozen=True)
class _Scale:
    """Places of numbers on a bar: the middle value of the table is in the middle."""

    least: float
    middle: float
    greatest: float

    def place(self, number: float) -> float:
        """The share of the bar's width at which a number stands; beyond the ends it stands at them."""
        if not self.least < self.middle < self.greatest:
            width = self.greatest - self.least
            share = (number - self.least) / width if width else 0.5
        elif number <= self.middle:
            share = 0.5 * (number - self.least) / (self.middle - self.least)
        else:
            share = 0.5 + 0.5 * (number - self.middle) / (self.greatest - self.middle)
        return round(min(max(share, 0.0), 1.0), 4)


def _allow_numbers(conditions: Sequence[Condition], scale: _Scale) -> tuple[tuple[float, float], ...]:
    if any(each.accepts_missing for each in conditions):
        return ()
    values = [float(value) for each in conditions for value in each.allowed_values]
    low, high = (values[0], values[0]) if values else find_range(conditions)
    return ((scale.place(low), scale.place(high)),)


def _list_fields(
    summary: ColumnSummary, conditions: Sequence[Condition], values: Iterable[Any], book: CodeBook
) -> list[Any]:
    """The categories that have a field: those that are spoken of, and the commonest others."""
    named = [value for value in values if value is not None]
    for condition in conditions:
        named += condition.named_values
    order = book.words(summary.name).order or summary.categories
    kept = list(dict.fromkeys([*named, *order]))[:MAX_FIELDS]
    if not book.words(summary.name).order and all(isinstance(value, int | float) for value in kept):
        return sorted(kept)
    return sorted(kept, key=lambda value: order.index(value) if value in order else len(order))


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_FIELD_LETTERS + 1 else name[:MAX_FIELD_LETTERS] + "…"


def draw_why(why: Why, extraction: Extraction) -> Markup:
    """Draw why a model decides a row so as an `<svg>` element; empty if nothing speaks of a column."""
    bars, more = _choose_bars(why, extraction)
    if not bars:
        return Markup("")
    own, other = _choose_colours(why, extraction.explanation.classes)
    height = COLUMN_HEIGHT * len(bars) + 4 + (NOTE_HEIGHT if more else 0)
    title = escape(f"Why the model says {why.outcome}: {'; '.join(bar.title for bar in bars)}")
    parts = [
        f'<svg class="reason s{own} t{other}" viewBox="0 0 {PICTURE_WIDTH} {height}" role="img" '
        f'aria-label="{title}">'
    ]
    parts += [_draw_bar(bar, COLUMN_HEIGHT * number) for number, bar in enumerate(bars)]
    if more:
        parts.append(f'<text x="{BAR_LEFT}" y="{height - 8}">{escape(more)}</text>')
    return Markup("".join([*parts, "</svg>"]))


def _choose_bars(why: Why, extraction: Extraction) -> tuple[list[ColumnBar], str]:
    """The bars of a picture, and what is left out, in words."""
    bars = list_bars(why, extraction.columns, extraction.code_book)
    if len(bars) <= MAX_BARS:
        return bars, ""
    kept = sorted(range(len(bars)), key=lambda number: bars[number].value == bars[number].new)[:MAX_BARS]
    return [bars[number] for number in sorted(kept)], f"and {len(bars) - MAX_BARS} columns more"


def _choose_colours(why: Why, classes: Sequence[str]) -> tuple[int, int]:
    """The numbers of the colours of the model's class and of the one that a change leads to."""
    changes = () if why.changes is None else why.changes.changes
    names = (why.outcome, changes[0].outcome if changes else why.outcome)
    own, other = (list(classes).index(name) % N_COLOURS if name in classes else 0 for name in names)
    return own, other


def _draw_bar(bar: ColumnBar, top: float) -> str:
    y = top + 30
    middle = y + BAR_HEIGHT / 2
    parts = [
        f'<text x="{BAR_LEFT}" y="{top + 20}">{escape(bar.title)}</text>',
        f'<text class="value" x="{PICTURE_WIDTH - 4}" y="{top + 20}">{escape(bar.words)}</text>',
        f'<rect class="scale" x="{BAR_LEFT}" y="{y}" width="{BAR_WIDTH}" height="{BAR_HEIGHT}" rx="3"/>',
    ]
    kind = "allowed" if bar.constrained else "free"
    for low, high in bar.allowed:
        width = max(3.0, (high - low) * BAR_WIDTH)
        place = f'x="{_across(low):g}" y="{y}" width="{width:g}" height="{BAR_HEIGHT}"'
        parts.append(f'<rect class="{kind}" {place} rx="3"/>')
    if bar.missing:
        kind = kind if bar.allows_missing else "scale"
        left = BAR_LEFT + BAR_WIDTH + MISSING_GAP
        parts.append(
            f'<rect class="{kind}" x="{left}" y="{y}" width="{MISSING_WIDTH}" height="{BAR_HEIGHT}" rx="3"/>'
        )
        parts.append(f'<text class="mark" x="{_across(None):g}" y="{y + BAR_HEIGHT + 14}">missing</text>')
    for mark, text in _keep_apart(bar.marks):
        kind = f"mark {_align(mark)}".strip()
        x = f'x="{_across(mark):g}" y="{y + BAR_HEIGHT + 14}"'
        parts.append(f'<text class="{kind}" {x}>{escape(text)}</text>')
    old, new = _across(bar.value), _across(bar.new)
    if new != old:
        tip = new - 7 if new > old else new + 7
        parts.append(f'<path class="way" d="M{old:g} {middle:g}H{tip:g}"/>')
        parts.append(f'<circle class="new" cx="{new:g}" cy="{middle:g}" r="6"/>')
    parts.append(f'<circle class="own" cx="{old:g}" cy="{middle:g}" r="6.5"/>')
    return f"<g>{''.join(parts)}</g>"


def _across(place: float | None) -> float:
    """Pixels from the left of a picture."""
    if place is None:
        return BAR_LEFT + BAR_WIDTH + MISSING_GAP + MISSING_WIDTH / 2
    return BAR_LEFT + place * BAR_WIDTH


def _align(place: float) -> str:
    """How a mark is aligned, so that it does not stick out: at the ends of the bar, or in the middle."""
    return "left" if place == 0 else "right" if place == 1 else ""


def _keep_apart(marks: Sequence[tuple[float, str]], gap: float = 0.1) -> list[tuple[float, str]]:
    """The marks that do not stand on each other, from the left."""
    kept: list[tuple[float, str]] = []
    for place, text in sorted(marks):
        if not kept or place - kept[-1][0] >= gap:
            kept.append((place, text))
    return kept
