"""Charts as values: what is plotted, told apart from how it is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hornbook.extraction import Point
from hornbook.intervals import Share
from hornbook.reports.content import Checkpoint

Style: TypeAlias = Literal["line", "steps", "dots"]


@dataclass(frozen=True)
class Dot:
    """A value and, where it is uncertain, the ends of its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Dots in the order of x, under one name."""

    name: str
    dots: tuple[Dot, ...]
    style: Style = "line"


@dataclass(frozen=True)
class Chart:
    """Series on common axes.

    Parameters
    ----------
    title
        What the chart shows, as a sentence; read aloud in place of the picture.
    x, y
        What the axes measure.
    series
        What is plotted.
    percent
        Whether y is a share, shown in percent.
    logarithmic
        Whether x is on a logarithmic scale; it must then be positive.

    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    percent: bool = False
    logarithmic: bool = False


def fidelity_chart(curve: Iterable[Point]) -> Chart:
    """Fidelity against the number of rules, the best theory of each size.

    Examples
    --------
    >>> wrong = {(1, 3): 30, (2, 6): 10, (2, 5): 8}
    >>> curve = [Point(*size, Share.of(hits, 100)) for size, hits in wrong.items()]
    >>> [(dot.x, dot.y) for dot in fidelity_chart(curve).series[0].dots]
    [(1, 0.7), (2, 0.92)]

    """
    best: dict[int, Share] = {}
    for point in curve:
        known = best.get(point.rules)
        if known is None or point.disagreement.estimate < known.estimate:
            best[point.rules] = point.disagreement
    dots = tuple(
        Dot(rules, 1 - share.estimate, 1 - share.high, 1 - share.low) for rules, share in sorted(best.items())
    )
    title = "How often the rules agree with the model, for theories of growing size"
    return Chart(title, "rules", "fidelity", (Series("fidelity", dots),), percent=True)


def convergence_chart(convergence: Iterable[Checkpoint]) -> Chart:
    """Disagreement over the equivalence queries of a run."""
    dots = tuple(
        Dot(step.equivalence_queries, share.estimate, share.low, share.high)
        for step in convergence
        for share in [step.point.disagreement]
    )
    title = "How often rules and model disagree, as the run goes on"
    return Chart(
        title, "equivalence queries", "disagreement", (Series("disagreement", dots, "steps"),), percent=True
    )
