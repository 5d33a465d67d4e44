"""The pictures of a report as SVG: fidelity against size, and a tree as boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap

from markupsafe import Markup, escape

from hornbook.errors import HornbookError
from hornbook.explanations import Box, Explanation
from hornbook.extraction import FrontierPoint
from hornbook.statistics import Share

_LIGHT = "#0b6e75 #b4531a #5b4bb0 #7a6a10 #a3286a #2f7030 #1d5fa8 #6b4a2b #5a636d #8a1c1c"
_DARK = "#5cc4c4 #f0a067 #b3a6f7 #d8c85a #f09ac6 #8fd097 #8ab8f2 #cfa988 #b4bec8 #f28b82"
_BOTH = "#128a92 #c9641f #7868cf #8f7d1a #c0468a #43914a #3f7fc4 #94704b #7d8791 #bf4545"
COLOURS = {name: each.split() for name, each in {"light": _LIGHT, "dark": _DARK, "both": _BOTH}.items()}
"""The colours of classes and series on light pages, on dark ones, and where it is not known which."""

N_COLOURS = len(COLOURS["light"])
"""Further classes and series start again with the first colour."""

WIDTH, HEIGHT = 500, 280
LEFT, RIGHT, TOP, BOTTOM = 62, WIDTH - 14, 14, HEIGHT - 48
"""Pixels of a chart: its size, and where its axes begin and end."""

MAX_DOTS = 40
"""Points of a line that are drawn as dots."""


@dataclass(frozen=True)
class FrontierChart:
    """Fidelity against size, on each population.

    Parameters
    ----------
    series
        For each population the numbers of literals, ascending, each with the share.

    Examples
    --------
    >>> from hornbook.extraction import Fidelity
    >>> points = [FrontierPoint(n, Fidelity(Share.of(90 + n, 100), Share.of(40 + n, 50))) for n in (1, 2)]
    >>> chart = FrontierChart.of(points)
    >>> for name, dots in chart.series.items():
    ...     print(name, [(size, share.estimate) for size, share in dots])
    held-out rows [(1, 0.82), (2, 0.84)]
    samples [(1, 0.91), (2, 0.92)]
    >>> chart.draw().startswith('<svg class="chart"')
    True

    """

    title = "How often explanation and model say the same, for explanations of growing size"
    series: Mapping[str, Sequence[tuple[int, Share]]]

    @classmethod
    def of(cls, frontier: Iterable[FrontierPoint]) -> FrontierChart:
        """The chart of a frontier."""
        series: dict[str, list[tuple[int, Share]]] = {}
        for point in sorted(frontier, key=lambda point: point.literals):
            for population, share in point.fidelity.populations.items():
                if share.size:
                    series.setdefault(population, []).append((point.literals, share))
        return cls(series)

    @cached_property
    def ticks(self) -> tuple[list[float], list[float]]:
        """The numbers along both axes."""
        dots = [dot for own in self.series.values() for dot in own]
        sizes = [size for size, _ in dots] or [0, 1]
        ends = [end for _, share in dots for end in (share.low, share.high)] or [0.0, 1.0]
        return even_ticks(min(sizes), max(sizes)), even_ticks(min(ends), max(ends), within=(0.0, 1.0))

    def x(self, size: float) -> float:
        """How far from the left a number of literals lies."""
        start, *_, end = self.ticks[0]
        return round(LEFT + (RIGHT - LEFT) * (size - start) / (end - start), 1)

    def y(self, share: float) -> float:
        """How far from above a share lies."""
        low, *_, high = self.ticks[1]
        return round(BOTTOM - (BOTTOM - TOP) * (share - low) / (high - low), 1)

    def draw(self, mark: float | None = None) -> Markup:
        """An `<svg>` element, with an upright line at `mark` if there is one."""
        parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{self.title}">']
        parts += self._draw_grid()
        if mark is not None:
            path = f'<path d="M0 {TOP}V{BOTTOM}"/>'
            parts.append(f'<g class="mark" transform="translate({self.x(mark)})">{path}</g>')
        for number, (name, dots) in enumerate(self.series.items()):
            parts.append(f'<g class="series s{number % N_COLOURS}"><title>{escape(name)}</title>')
            parts += [*self._draw_series(dots), "</g>"]
        if len(self.series) > 1:
            parts += self._draw_legend()
        return Markup("".join([*parts, "</svg>"]))

    def _draw_grid(self) -> list[str]:
        parts = ['<g class="grid" aria-hidden="true">']
        for share in self.ticks[1]:
            y = self.y(share)
            label = f'<text class="y" x="{LEFT - 8}" y="{y + 4}">{100 * share:g} %</text>'
            parts.append(f'<path d="M{LEFT} {y}H{RIGHT}"/>{label}')
        for size in self.ticks[0]:
            x = self.x(size)
            label = f'<text class="x" x="{x}" y="{BOTTOM + 20}">{size:,.6g}</text>'
            parts.append(f'<path d="M{x} {BOTTOM}v5"/>{label}')
        middle, halfway = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
        return [
            *parts,
            f'<text class="axis" x="{middle}" y="{HEIGHT - 6}">conditions to read</text>',
            f'<text class="axis" transform="translate(13 {halfway}) rotate(-90)">fidelity</text></g>',
        ]

    def _draw_series(self, dots: Sequence[tuple[int, Share]]) -> Iterable[str]:
        """A line through the dots, and a band of their intervals behind it."""

        def join(points: Iterable[tuple[float, float]]) -> str:
            return "L".join(f"{self.x(size)} {self.y(share)}" for size, share in points)

        upper = join((size, share.high) for size, share in dots)
        lower = join((size, share.low) for size, share in reversed(dots))
        yield f'<path class="band" d="M{upper}L{lower}Z"/>'
        yield f'<path class="line" d="M{join((size, share.estimate) for size, share in dots)}"/>'
        for size, share in dots if len(dots) <= MAX_DOTS else ():
            yield f'<circle cx="{self.x(size)}" cy="{self.y(share.estimate)}" r="3"/>'

    def _draw_legend(self) -> list[str]:
        """The names of the series at the right, away from their last dots."""
        ends = [self.y(dots[-1][1].estimate) for dots in self.series.values()]
        is_high = sum(ends) < len(ends) * (TOP + BOTTOM) / 2  # y grows downwards
        top = BOTTOM - 8 - 18 * (len(ends) - 1) if is_high else TOP + 10
        size = f'width="{RIGHT - WIDTH + 178}" height="{18 * len(ends) + 4}"'
        parts = [f'<rect class="plate" x="{WIDTH - 178}" y="{top - 11}" {size}/>']
        for number, name in enumerate(self.series):
            y = top + 18 * number
            parts.append(
                f'<g class="legend s{number % N_COLOURS}"><path d="M{WIDTH - 170} {y}h18"/>'
                f'<text x="{WIDTH - 146}" y="{y + 4}">{escape(name)}</text></g>'
            )
        return parts


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


BOX_WIDTH, GAP_X, GAP_Y = 176, 54, 30
LINE_HEIGHT, PADDING = 17, 9
"""Pixels of a drawing of boxes."""

MAX_LETTERS, MAX_LINES = 24, 4
"""The most letters in a line of a box, and lines in a box; more are cut off."""


@dataclass(frozen=True)
class PlacedBox:
    """A box on the page: its place, its height, and the lines of its text."""

    box: Box
    x: float
    y: float
    height: float
    text: tuple[str, ...]


def place_boxes(boxes: Sequence[Box]) -> list[PlacedBox]:
    """Place boxes on a page, columns side by side and rows one below the other.

    Examples
    --------
    >>> from hornbook.explanations import DecisionTree, Split
    >>> from hornbook.conditions import Threshold
    >>> tree = DecisionTree(("low", "high"), Split(Threshold("age", 40), 1, 0))
    >>> [(placed.text, placed.x) for placed in place_boxes(tree.list_boxes())]
    [(('age > 40',), 1), (('high',), 231), (('low',), 1)]

    """
    texts = [_wrap_text(box.text) for box in boxes]
    heights = [2 * PADDING + LINE_HEIGHT * len(text) for text in texts]
    tallest = [
        max(height for box, height in zip(boxes, heights, strict=True) if box.row == row)
        for row in range(max(box.row for box in boxes) + 1)
    ]
    tops = [1 + sum(tallest[:row]) + GAP_Y * row for row in range(len(tallest))]
    return [
        PlacedBox(
            box,
            1 + box.column * (BOX_WIDTH + GAP_X),
            tops[box.row] + (tallest[box.row] - height) / 2,
            height,
            text,
        )
        for box, height, text in zip(boxes, heights, texts, strict=True)
    ]


def _wrap_text(text: str) -> tuple[str, ...]:
    lines = wrap(text, MAX_LETTERS) or [""]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][: MAX_LETTERS - 1] + "…"]
    return tuple(lines)


def draw_boxes(explanation: Explanation, style: str = "") -> Markup:
    """Draw an explanation as an `<svg>` element, with a style for a file of its own; empty without boxes."""
    boxes = explanation.list_boxes()
    if len(boxes) < 2:
        return Markup("")
    drawing = place_boxes(boxes)
    width = max(placed.x for placed in drawing) + BOX_WIDTH + 1
    height = max(placed.y + placed.height for placed in drawing) + 1
    title = escape(f"The {explanation.noun} as a drawing: a yes leads to the right, a no down")
    alone = f' width="{width:g}" height="{height:g}" xmlns="http://www.w3.org/2000/svg"' if style else ""
    parts = [
        f'<svg class="boxes" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="xMinYMin" '
        f'style="--width:{width:g}px" role="img" aria-label="{title}"{alone}>',
        f"<style>{style}</style>" if style else "",
        *(_draw_ways(placed, drawing) for placed in drawing),
        *(_draw_box(placed) for placed in drawing),
    ]
    return Markup("".join([*parts, "</svg>"]))


def _draw_ways(placed: PlacedBox, drawing: Sequence[PlacedBox]) -> str:
    """The ways from a question to the two boxes that follow."""
    box = placed.box
    if box.yes is None or box.no is None:
        return ""
    right, bottom, centre = placed.x + BOX_WIDTH, placed.y + placed.height, placed.x + BOX_WIDTH / 4
    middle = placed.y + placed.height / 2
    no = "no" if box.text.endswith((" is missing", " is present")) else "no, or missing"
    return (
        f'<path d="M{right:g} {middle:g}H{drawing[box.yes].x:g}"/>'
        f'<path d="M{centre:g} {bottom:g}V{drawing[box.no].y:g}"/>'
        f'<text x="{right + 8:g}" y="{middle - 7:g}">yes</text>'
        f'<text x="{centre + 9:g}" y="{bottom + 16:g}">{no}</text>'
    )


def _draw_box(placed: PlacedBox) -> str:
    box = placed.box
    kind = "" if box.outcome is None else f' class="s{box.outcome % N_COLOURS}"'
    first = placed.y + PADDING + 12.5
    lines = "".join(
        f'<tspan x="{placed.x + PADDING:g}" y="{first + LINE_HEIGHT * number:g}">{escape(text)}</tspan>'
        for number, text in enumerate(placed.text)
    )
    title = f"<title>{escape(box.text)}</title>" if placed.text[-1].endswith("…") else ""
    shape = f'<rect x="{placed.x:g}" y="{placed.y:g}" width="{BOX_WIDTH}" height="{placed.height:g}" rx="6"/>'
    return f"<g{kind}>{title}{shape}<text>{lines}</text></g>"


def write_svg(explanation: Explanation) -> str:
    """The drawing of an explanation as an SVG file of its own, for light and dark pages."""
    from hornbook.report.page import read_asset

    if not (picture := draw_boxes(explanation, read_asset("boxes.css"))):
        raise HornbookError(f"a {explanation.noun} has no drawing; a decision tree has one")
    return f"{picture}\n"
