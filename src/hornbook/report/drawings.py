"""The pictures of a report as SVG: charts, and a tree as boxes, its ways as wide as the rows are many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup, escape

from hornbook.display import count_things
from hornbook.errors import HornbookError
from hornbook.explanations import Box, Explanation
from hornbook.extraction import Extraction, FrontierPoint, LineStatistics

BOX_WIDTH, GAP_X, GAP_Y = 176, 54, 30
LINE_HEIGHT, PADDING = 17, 9
"""Pixels of a drawing."""

MAX_LETTERS, MAX_LINES = 24, 4
"""The most letters in a line of a box, and lines in a box; more are cut off."""

THINNEST, THICKEST = 1.5, 8.0
"""Widths of the ways that no row and that every row takes."""


@dataclass(frozen=True)
class Dot:
    """A point of a chart, with the ends of its confidence interval if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """A named series of dots, in the order of x."""

    name: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Chart:
    """Series of shares on common axes.

    Parameters
    ----------
    title
        What the chart shows, as a sentence; screen readers read it instead of the picture.
    x, y
        The labels of the axes.
    series
        The plotted series.

    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]


def frontier_chart(frontier: Iterable[FrontierPoint]) -> Chart:
    """Chart fidelity against size, on each population.

    Examples
    --------
    >>> from hornbook.extraction import Fidelity
    >>> from hornbook.statistics import Share
    >>> points = [FrontierPoint(n, Fidelity(Share.of(90 + n, 100), Share.of(40 + n, 50))) for n in (1, 2)]
    >>> for series in frontier_chart(points).series:
    ...     print(series.name, [(dot.x, dot.y) for dot in series.dots])
    held-out rows [(1, 0.82), (2, 0.84)]
    samples [(1, 0.91), (2, 0.92)]

    """
    dots: dict[str, list[Dot]] = {}
    for point in sorted(frontier, key=lambda point: point.literals):
        for population, share in point.fidelity.populations.items():
            if share.size:
                dot = Dot(point.literals, share.estimate, share.low, share.high)
                dots.setdefault(population, []).append(dot)
    title = "How often explanation and model say the same, for explanations of growing size"
    series = tuple(Series(name, tuple(each)) for name, each in dots.items())
    return Chart(title, "conditions to read", "fidelity", series)


WIDTH, HEIGHT = 500, 280
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 48
_LIGHT = "#0b6e75 #b4531a #5b4bb0 #7a6a10 #a3286a #2f7030 #1d5fa8 #6b4a2b #5a636d #8a1c1c"
_DARK = "#5cc4c4 #f0a067 #b3a6f7 #d8c85a #f09ac6 #8fd097 #8ab8f2 #cfa988 #b4bec8 #f28b82"
_BOTH = "#128a92 #c9641f #7868cf #8f7d1a #c0468a #43914a #3f7fc4 #94704b #7d8791 #bf4545"
COLOURS = {name: each.split() for name, each in {"light": _LIGHT, "dark": _DARK, "both": _BOTH}.items()}
"""The colours of classes and series on light pages, on dark ones, and where it is not known which."""

N_COLOURS = len(COLOURS["light"])
"""Further classes and series start again with the first colour."""


def to_svg(chart: Chart, mark: float | None = None) -> Markup:
    """Draw a chart as an `<svg>` element, with an upright line at `mark` if there is one.

    Examples
    --------
    >>> dots = (Dot(1, 0.5, 0.4, 0.6), Dot(10, 0.9, 0.8, 1.0))
    >>> picture = to_svg(Chart("Growth", "rules", "fidelity", (Series("a < b", dots),)))
    >>> picture.startswith('<svg class="chart"'), "a &lt; b" in picture
    (True, True)

    """
    plane = _Plane.around(chart)
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">'
    ]
    parts += _draw_grid(chart, plane)
    if mark is not None:
        path = f'<path d="M0 {TOP}V{HEIGHT - BOTTOM}"/>'
        parts.append(f'<g class="mark" transform="translate({place_mark(chart, mark)})">{path}</g>')
    for number, series in enumerate(chart.series):
        parts.append(f'<g class="series s{number % N_COLOURS}"><title>{escape(series.name)}</title>')
        parts += _draw_series(series, plane)
        parts.append("</g>")
    if len(chart.series) > 1:
        parts += _legend(chart, plane)
    return Markup("".join([*parts, "</svg>"]))


def place_mark(chart: Chart, x: float) -> float:
    """How far from the left of its picture a value of a chart lies."""
    return _Plane.around(chart).x(x)


@dataclass(frozen=True)
class _Plane:
    """The mapping from values to positions on the page."""

    ticks_x: Sequence[float]
    ticks_y: Sequence[float]
    x: Callable[[float], float]
    y: Callable[[float], float]

    @classmethod
    def around(cls, chart: Chart) -> _Plane:
        """Make the plane that contains every dot and interval of a chart."""
        dots = [dot for series in chart.series for dot in series.dots]
        xs = [dot.x for dot in dots] or [0.0, 1.0]
        ys = [end for dot in dots for end in (dot.y, dot.low, dot.high) if end is not None] or [0.0, 1.0]
        ticks_x, ticks_y = even_ticks(min(xs), max(xs)), even_ticks(min(ys), max(ys), within=(0.0, 1.0))
        right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
        (start, *_, end), (bottom, *_, top) = ticks_x, ticks_y
        return cls(
            ticks_x,
            ticks_y,
            lambda x: round(LEFT + (right - LEFT) * (x - start) / (end - start), 1),
            lambda y: round(low - (low - TOP) * (y - bottom) / (top - bottom), 1),
        )


def even_ticks(low: float, high: float, within: tuple[float, float] | None = None) -> list[float]:
    """Return about five round numbers that span an interval.

    Examples
    --------
    >>> even_ticks(3, 97)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    >>> even_ticks(0.91, 0.987, within=(0, 1))
    [0.9, 0.92, 0.94, 0.96, 0.98, 1.0]

    """
    if high - low <= 1e-9 * max(abs(low), abs(high), 1):  # a constant, but for rounding
        margin = abs(high) / 2 if abs(high) > 1e-9 else 0.5
        low, high = low - margin, high + margin
        if within:
            low, high = max(low, within[0]), min(high, within[1])
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(size for size in (1, 2, 2.5, 5, 10) if power * size >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _draw_grid(chart: Chart, plane: _Plane) -> list[str]:
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = ['<g class="grid" aria-hidden="true">']
    for tick in plane.ticks_y:
        y = plane.y(tick)
        label = f'<text class="y" x="{LEFT - 8}" y="{y + 4}">{100 * tick:g} %</text>'
        parts.append(f'<path d="M{LEFT} {y}H{right}"/>{label}')
    for tick in plane.ticks_x:
        x = plane.x(tick)
        parts.append(f'<path d="M{x} {low}v5"/><text class="x" x="{x}" y="{low + 20}">{tick:,.6g}</text>')
    middle, halfway = (LEFT + right) / 2, (TOP + low) / 2
    return [
        *parts,
        f'<text class="axis" x="{middle}" y="{HEIGHT - 6}">{escape(chart.x)}</text>',
        f'<text class="axis" transform="translate(13 {halfway}) rotate(-90)">{escape(chart.y)}</text></g>',
    ]


def _draw_series(series: Series, plane: _Plane) -> list[str]:
    """Draw a line through the dots, and a band of their intervals behind it."""
    dots = series.dots
    if not dots:
        return []

    def join(points: Iterable[tuple[float, float | None]]) -> str:
        return "L".join(f"{plane.x(x)} {plane.y(y)}" for x, y in points if y is not None)

    parts = []
    if all(dot.low is not None and dot.high is not None for dot in dots):
        upper = join((dot.x, dot.high) for dot in dots)
        lower = join((dot.x, dot.low) for dot in reversed(dots))
        parts.append(f'<path class="band" d="M{upper}L{lower}Z"/>')
    parts.append(f'<path class="line" d="M{join((dot.x, dot.y) for dot in dots)}"/>')
    if len(dots) <= 40:
        parts += [f'<circle cx="{plane.x(dot.x)}" cy="{plane.y(dot.y)}" r="3"/>' for dot in dots]
    return parts


def _legend(chart: Chart, plane: _Plane) -> list[str]:
    """Draw the names of the series at the right, away from their last dots."""
    ends = [plane.y(series.dots[-1].y) for series in chart.series if series.dots]
    low = sum(ends) < len(ends) * (TOP + HEIGHT - BOTTOM) / 2  # y grows downwards
    top = HEIGHT - BOTTOM - 8 - 18 * (len(chart.series) - 1) if low else TOP + 10
    height = 18 * len(chart.series) + 4
    parts = [
        f'<rect class="plate" x="{WIDTH - 178}" y="{top - 11}" width="{178 - RIGHT}" height="{height}"/>'
    ]
    for number, series in enumerate(chart.series):
        y = top + 18 * number
        parts.append(
            f'<g class="legend s{number % N_COLOURS}"><path d="M{WIDTH - 170} {y}h18"/>'
            f'<text x="{WIDTH - 146}" y="{y + 4}">{escape(series.name)}</text></g>'
        )
    return parts


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
