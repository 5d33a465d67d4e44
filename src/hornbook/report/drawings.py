"""Explanations as pictures: a tree as boxes, a card as bars; as SVG, and with matplotlib for papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from hornbook.errors import HornbookError
from hornbook.explanations import Box, Explanation, PointsGroup
from hornbook.extraction import Extraction, LineStatistics
from hornbook.report.charts import N_COLOURS
from hornbook.report.content import count_things

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOX_WIDTH, GAP_X, GAP_Y = 176, 54, 30
LINE_HEIGHT, PADDING = 17, 9
"""Pixels of a drawing."""

MAX_LETTERS, MAX_LINES = 24, 4
"""The most letters in a line of a box, and lines in a box; more are cut off."""

THINNEST, THICKEST = 1.5, 8.0
"""Widths of the ways that no row and that every row takes."""

COLOURS = ("#0b6e75", "#b4531a", "#5b4bb0", "#7a6a10")
"""Colours of the classes on paper, as in the style sheet."""


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


def plot_explanation(extraction: Extraction, ax: Axes | None = None) -> Axes:
    """Plot an explanation with matplotlib: a tree as boxes, a card as bars, rules as their lines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbook import HornExtractor
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1).fit(X, y == 2)
    >>> extractor = HornExtractor(model, "virginica", form="tree", n_samples=500, random_state=0).fit(X)
    >>> [text.get_text() for text in plot_explanation(extractor.extraction_).texts][-4:]
    ['virginica', '46 rows', 'not virginica', '104 rows']

    """
    explanation = extraction.explanation
    if boxes := explanation.list_boxes():
        return _plot_boxes(place_boxes(boxes, extraction.lines), ax)
    if groups := explanation.group_points():
        return _plot_points(explanation, groups, ax)
    return _plot_lines(explanation, ax)


def _plot_boxes(drawing: Drawing, ax: Axes | None) -> Axes:
    from matplotlib.patches import FancyBboxPatch

    ax = ax or new_axes(drawing.width / 96, drawing.height / 96)
    ax.set(xlim=(-2, drawing.width + 2), ylim=(drawing.height + 2, -2), aspect="equal")
    ax.set_axis_off()
    small: dict[str, Any] = {"fontsize": 7.5, "color": "#525b6b", "va": "center"}
    for placed in drawing.boxes:
        box = placed.box
        if box.yes is not None and box.no is not None:
            yes, no = drawing.boxes[box.yes], drawing.boxes[box.no]
            right, bottom, centre = placed.x + BOX_WIDTH, placed.y + placed.height, placed.x + BOX_WIDTH / 4
            for xs, ys, width in (
                ((right, yes.x), (placed.middle, placed.middle), drawing.weigh(yes)),
                ((centre, centre), (bottom, no.y), drawing.weigh(no)),
            ):
                ax.plot(xs, ys, color="#9aa3ad", linewidth=0.75 * width, solid_capstyle="butt", zorder=1)
            ax.text(right + 8, placed.middle - 11, "yes", **small)
            ax.text(centre + 9, bottom + GAP_Y / 2, _name_no(box), **small)
    for placed in drawing.boxes:
        outcome = placed.box.outcome
        colour = "#525b6b" if outcome is None else COLOURS[outcome % N_COLOURS]
        patch = FancyBboxPatch(
            (placed.x, placed.y),
            BOX_WIDTH,
            placed.height,
            boxstyle="round,pad=0,rounding_size=6",
            facecolor="white",
            edgecolor=colour,
            linewidth=0.8 if outcome is None else 1.8,
            zorder=2,
        )
        ax.add_patch(patch)
        first = placed.y + PADDING + LINE_HEIGHT / 2
        for number, text in enumerate(placed.text):
            weight = "normal" if outcome is None else "bold"
            y = first + LINE_HEIGHT * number
            ax.text(placed.x + PADDING, y, text, fontsize=9, va="center", weight=weight, parse_math=False)
        if placed.note:
            ax.text(placed.x + PADDING, first + LINE_HEIGHT * len(placed.text), placed.note, **small)
    return ax


def _plot_points(explanation: Explanation, groups: tuple[PointsGroup, ...], ax: Axes | None) -> Axes:
    """Bars of points, one for each case of each column, and for several classes one for each."""
    from matplotlib.ticker import MaxNLocator

    labels, bars, places = [], [], []
    y = 0.0
    for group in groups:
        for words, cells in group.rows:
            label = f"{group.title}: {words}" if group.title else words
            labels.append(label)
            bars.append([int(cell.replace("−", "-")) for cell in cells])
            places.append(y)
            y += 1
        y += 0.6  # a gap between columns
    count = len(bars[0])
    ax = ax or new_axes(6.4, 0.8 + 0.24 * y * max(1, 0.6 * count))
    for output in range(count):
        values = [bar[output] for bar in bars]
        shifted = [place + 0.8 * ((output + 0.5) / count - 0.5) for place in places]
        paint = [COLOURS[int(value > 0)] for value in values] if count == 1 else COLOURS[output % N_COLOURS]
        name = None if count == 1 else explanation.classes[output]
        drawn = ax.barh(shifted, values, height=0.8 / count, color=paint, label=name)
        ax.bar_label(drawn, [f"{value:+d}" if value else "0" for value in values], padding=2, fontsize=8)
    ax.set_yticks(places, labels, fontsize=9, parse_math=False)
    ax.invert_yaxis()
    ax.axvline(0, color="#525b6b", linewidth=0.8)
    ax.margins(x=0.12, y=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    verdict = [line for line in explanation.lines() if not line.cells]
    verdicts = [f"{line.text}: {line.outcome}" if line.outcome else line.text for line in verdict]
    ax.set_xlabel("\n".join(["points", *wrap("; ".join(verdicts), 60)]), parse_math=False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if count > 1:
        ax.legend(fontsize=8)
    return ax


def _plot_lines(explanation: Explanation, ax: Axes | None) -> Axes:
    """The lines as they are read."""
    lines = str(explanation).splitlines()
    ax = ax or new_axes(max(3.0, 0.075 * max(map(len, lines))), 0.24 * len(lines) + 0.1)
    ax.set(xlim=(0, 1), ylim=(len(lines), 0))
    ax.set_axis_off()
    for number, line in enumerate(lines):
        ax.text(0, number + 0.5, line, fontsize=9, family="monospace", va="center", parse_math=False)
    return ax


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of some size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()
