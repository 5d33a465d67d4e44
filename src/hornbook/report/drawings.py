"""A tree as a picture: boxes, and ways as wide as the rows that take them are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup, escape

from hornbook.errors import HornbookError
from hornbook.explanations import Box, Explanation
from hornbook.extraction import Extraction, LineStatistics
from hornbook.report.charts import N_COLOURS
from hornbook.report.content import count_things

BOX_WIDTH, GAP_X, GAP_Y = 176, 54, 30
LINE_HEIGHT, PADDING = 17, 9
"""Pixels of a drawing."""

MAX_LETTERS, MAX_LINES = 24, 4
"""The most letters in a line of a box, and lines in a box; more are cut off."""

THINNEST, THICKEST = 1.5, 8.0
"""Widths of the ways that no row and that every row takes."""


@dataclass(frozen=True)
class PlacedBox:
    """A box on the page: its place, the lines of its text, a note below them, and the rows that reach it."""

    box: Box
    x: float
    y: float
    height: float
    text: tuple[str, ...]
    note: str
    rows: int | None

    @property
    def middle(self) -> float:
        """The height at which ways lead to the right."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Drawing:
    """Boxes on a page of some size."""

    boxes: tuple[PlacedBox, ...]
    width: float
    height: float

    def weigh(self, target: PlacedBox) -> float:
        """The width of the way to a box: the more rows take it, the wider."""
        every = self.boxes[0].rows
        return THINNEST + (THICKEST - THINNEST) * target.rows / every if every and target.rows else THINNEST


def place_boxes(boxes: Sequence[Box], statistics: Sequence[LineStatistics] = ()) -> Drawing:
    """Place boxes on a page, columns side by side and rows one below the other.

    `statistics` are those of the explanation's lines: a class gets a note with its rows of the table.

    Examples
    --------
    >>> from hornbook.explanations import DecisionTree, Split
    >>> from hornbook.conditions import Threshold
    >>> tree = DecisionTree(("low", "high"), Split(Threshold("age", 40), 1, 0))
    >>> drawing = place_boxes(tree.list_boxes())
    >>> [(box.text, box.x) for box in drawing.boxes]
    [(('age > 40',), 1), (('high',), 231), (('low',), 1)]

    """
    rows = _count_rows(boxes, statistics)
    texts = [_wrap_text(box.text) for box in boxes]
    notes = [_write_note(box, statistics) for box in boxes]
    heights = [
        2 * PADDING + LINE_HEIGHT * (len(text) + bool(note)) for text, note in zip(texts, notes, strict=True)
    ]
    tallest = [
        max(height for box, height in zip(boxes, heights, strict=True) if box.row == row)
        for row in range(max(box.row for box in boxes) + 1)
    ]
    tops = [1 + sum(tallest[:row]) + GAP_Y * row for row in range(len(tallest))]
    placed = tuple(
        PlacedBox(
            box,
            1 + box.column * (BOX_WIDTH + GAP_X),
            tops[box.row] + (tallest[box.row] - height) / 2,
            height,
            text,
            note,
            count,
        )
        for box, height, text, note, count in zip(boxes, heights, texts, notes, rows, strict=True)
    )
    width = (max(box.column for box in boxes) + 1) * (BOX_WIDTH + GAP_X) - GAP_X + 2
    return Drawing(placed, width, tops[-1] + tallest[-1] + 1)


def _count_rows(boxes: Sequence[Box], statistics: Sequence[LineStatistics]) -> list[int | None]:
    """How many rows of the table come to each box."""
    rows: list[int | None] = [None] * len(boxes)
    if not statistics:
        return rows
    for number in reversed(range(len(boxes))):
        box = boxes[number]
        if box.yes is None or box.no is None:
            rows[number] = statistics[box.line].rows
        else:
            yes, no = rows[box.yes], rows[box.no]
            rows[number] = None if yes is None or no is None else yes + no
    return rows


def _write_note(box: Box, statistics: Sequence[LineStatistics]) -> str:
    if box.outcome is None or not statistics:
        return ""
    rows = statistics[box.line].rows
    return "" if rows is None else count_things(rows, "row")


def _wrap_text(text: str) -> tuple[str, ...]:
    lines = wrap(text, MAX_LETTERS) or [""]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][: MAX_LETTERS - 1] + "…"]
    return tuple(lines)


def draw_boxes(explanation: Explanation, statistics: Sequence[LineStatistics] = ()) -> Markup:
    """Draw an explanation as an `<svg>` element; empty if it has no boxes."""
    boxes = explanation.list_boxes()
    if len(boxes) < 2:
        return Markup("")
    drawing = place_boxes(boxes, statistics)
    size = f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" preserveAspectRatio="xMinYMin"'
    title = escape(f"The {explanation.noun} as a drawing: a yes leads to the right, a no down")
    parts = [
        f'<svg class="boxes" {size} style="--width:{drawing.width:g}px" role="img" aria-label="{title}">'
    ]
    parts += [_draw_ways(placed, drawing) for placed in drawing.boxes]
    parts += [_draw_box(placed) for placed in drawing.boxes]
    return Markup("".join([*parts, "</svg>"]))


def _draw_ways(placed: PlacedBox, drawing: Drawing) -> str:
    """The ways from a question to the two boxes that follow."""
    if placed.box.yes is None or placed.box.no is None:
        return ""
    yes, no = drawing.boxes[placed.box.yes], drawing.boxes[placed.box.no]
    right, bottom, centre = placed.x + BOX_WIDTH, placed.y + placed.height, placed.x + BOX_WIDTH / 4
    return (
        f'<path d="M{right:g} {placed.middle:g}H{yes.x:g}" stroke-width="{drawing.weigh(yes):.3g}"/>'
        f'<path d="M{centre:g} {bottom:g}V{no.y:g}" stroke-width="{drawing.weigh(no):.3g}"/>'
        f'<text x="{right + 8:g}" y="{placed.middle - 7:g}">yes</text>'
        f'<text x="{centre + 9:g}" y="{bottom + 16:g}">{_name_no(placed.box)}</text>'
    )


def _name_no(box: Box) -> str:
    return "no" if box.text.endswith((" is missing", " is present")) else "no, or missing"


def _draw_box(placed: PlacedBox) -> str:
    box = placed.box
    kind = "" if box.outcome is None else f' class="s{box.outcome % N_COLOURS}"'
    first = placed.y + PADDING + 12.5
    lines = "".join(
        f'<tspan x="{placed.x + PADDING:g}" y="{first + LINE_HEIGHT * number:g}">{escape(text)}</tspan>'
        for number, text in enumerate(placed.text)
    )
    note = ""
    if placed.note:
        y = first + LINE_HEIGHT * len(placed.text)
        note = f'<text class="note" x="{placed.x + PADDING:g}" y="{y:g}">{escape(placed.note)}</text>'
    title = f"<title>{escape(box.text)}</title>" if placed.text[-1].endswith("…") else ""
    shape = f'<rect x="{placed.x:g}" y="{placed.y:g}" width="{BOX_WIDTH}" height="{placed.height:g}" rx="6"/>'
    return f"<g{kind}>{title}{shape}<text>{lines}</text>{note}</g>"


def write_svg(extraction: Extraction) -> str:
    """The drawing of an explanation as an SVG file of its own, for light and dark pages."""
    from hornbook.report.page import read_asset

    picture = str(draw_boxes(extraction.explanation, extraction.lines))
    if not picture:
        raise HornbookError(f"a {extraction.explanation.noun} has no drawing; a decision tree has one")
    head, rest = picture.split(">", 1)
    drawing = place_boxes(extraction.explanation.list_boxes(), extraction.lines)
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    style = read_asset("boxes.css")
    return f'{head} {size} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}\n'
