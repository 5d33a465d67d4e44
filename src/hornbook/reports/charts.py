"""Charts as values: what is plotted, told apart from how it is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hornbook.classify import Point as Weighed
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


def fidelity_chart(curve: Iterable[Point | Weighed]) -> Chart:
    """Fidelity against what there is to read: the best of each size.

    Rules, cards and trees are compared by literals; the run of a learner goes by rules.

    Examples
    --------
    >>> wrong = {(1, 3): 30, (2, 6): 10, (2, 5): 8}
    >>> curve = [Point(*size, Share.of(hits, 100)) for size, hits in wrong.items()]
    >>> [(dot.x, dot.y) for dot in fidelity_chart(curve).series[0].dots]
    [(1, 0.7), (2, 0.92)]

    """
    best: dict[str, dict[int, Share]] = {}
    x = "rules"
    for point in curve:
        if isinstance(point, Point):
            form, size, agreed = "rules", point.rules, _agreed(point)
        else:
            form, size, agreed, x = point.form, point.literals, point.fidelity, "literals to read"
        sizes = best.setdefault(form, {})
        if size not in sizes or agreed.estimate > sizes[size].estimate:
            sizes[size] = agreed
    series = tuple(
        Series(form, tuple(Dot(size, *_drawn(share)) for size, share in sorted(sizes.items())))
        for form, sizes in sorted(best.items(), reverse=True)
    )
    title = "How often the answers agree with the model, for explanations of growing size"
    return Chart(title, x, "fidelity", series, percent=True)


def _agreed(point: Point) -> Share:
    wrong = point.disagreement
    return Share.of(wrong.size - wrong.hits, wrong.size, wrong.confidence)


def _drawn(share: Share) -> tuple[float, float, float]:
    return share.estimate, share.low, share.high


def convergence_chart(convergence: Iterable[Checkpoint]) -> Chart:
    """Disagreement over the equivalence queries of a run."""
    dots = tuple(Dot(step.equivalence_queries, *_drawn(step.point.disagreement)) for step in convergence)
    title = "How often rules and model disagree, as the run goes on"
    return Chart(
        title, "equivalence queries", "disagreement", (Series("disagreement", dots, "steps"),), percent=True
    )
