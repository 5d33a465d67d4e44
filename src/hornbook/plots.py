"""The report's charts for notebooks, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hornbook.classify import Point as Weighed
from hornbook.extraction import Point
from hornbook.reports.charts import Chart, Series, convergence_chart, fidelity_chart
from hornbook.reports.content import Checkpoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def fidelity_curve(curve: Iterable[Point | Weighed], ax: Axes | None = None) -> Axes:
    """Fidelity against the number of rules: the report's first chart.

    Examples
    --------
    >>> from hornbook.intervals import Share
    >>> ax = fidelity_curve([Point(1, 3, Share.of(30, 100)), Point(2, 6, Share.of(10, 100))])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rules', 'fidelity')

    """
    return draw(fidelity_chart(curve), ax)


def convergence(steps: Iterable[Checkpoint], ax: Axes | None = None) -> Axes:
    """Disagreement over the equivalence queries of a run: the report's second chart."""
    return draw(convergence_chart(steps), ax)


def draw(chart: Chart, ax: Axes | None = None) -> Axes:
    """Any chart, on the given axes or on new ones."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    if ax is None:
        ax = Figure(figsize=(6.4, 3.6), layout="constrained").subplots()
    for series in chart.series:
        _draw_series(series, ax)
    ax.set(xlabel=chart.x, ylabel=chart.y, title=chart.title)
    if chart.percent:
        ax.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    if chart.logarithmic:
        ax.set_xscale("log")
    if len(chart.series) > 1:
        ax.legend()
    ax.grid(alpha=0.3)
    return ax


def _draw_series(series: Series, ax: Axes) -> None:
    x = [dot.x for dot in series.dots]
    step = series.style == "steps"
    shape = {"line": "-o", "steps": "-", "dots": "o"}[series.style]
    drawn = ax.plot(
        x,
        [dot.y for dot in series.dots],
        shape,
        drawstyle="steps-post" if step else "default",
        label=series.name,
        markersize=4,
    )
    bounds = [
        (dot.x, dot.low, dot.high) for dot in series.dots if dot.low is not None and dot.high is not None
    ]
    if bounds:
        positions, low, high = zip(*bounds, strict=True)
        colour = drawn[0].get_color()
        if series.style == "dots":
            ax.vlines(positions, low, high, colors=colour, alpha=0.5)
        else:
            ax.fill_between(positions, low, high, color=colour, alpha=0.18, step="post" if step else None)
