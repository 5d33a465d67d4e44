"""Where to cut a quantitative column into bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.data.sums import exact_mean
from hornbook.logic.errors import HornbookError

Strategy: TypeAlias = Literal["mean-of-halves", "quantile", "width", "tree"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Floats: TypeAlias = NDArray[np.float64]


def mean_of_halves(values: Floats, bins: int) -> Floats:
    """The mean of the values up to the overall mean, and the mean of those above it.

    Two bins are cut at the mean itself, four bins at all three means. Means are exact, so the
    order of the values does not matter.
    """
    mean = middle(exact_mean(values), values.max())
    return halves(exact_mean(values[values <= mean]), mean, exact_mean(values[values > mean]), bins)


def middle(mean: float, highest: float) -> float:
    """Where the halves meet: at the mean, unless rounding has left nothing above it."""
    return min(mean, float(np.nextafter(highest, -np.inf)))


def halves(lower: float, mean: float, upper: float, bins: int) -> Floats:
    """The cut points for a number of bins, from the mean of all values and those of its halves."""
    points = {2: [mean], 3: [lower, upper], 4: [lower, mean, upper]}
    if bins not in points:
        raise HornbookError(f"mean-of-halves makes 2, 3 or 4 bins, not {bins}; use 'quantile' or 'width'")
    return np.array(points[bins])


def quantile(values: Floats, bins: int) -> Floats:
    """Cut points with about as many values between each two, and some above the last."""
    points = np.quantile(values, np.arange(1, bins) / bins)
    below_top: np.float64 = values[values < values.max()].max()
    return np.minimum(points, below_top)


def width(values: Floats, bins: int) -> Floats:
    """Cut points with the same distance between each two."""
    return evenly(values.min(), values.max(), bins)


def evenly(lowest: float, highest: float, bins: int) -> Floats:
    """Cut points between two values, with the same distance between each two."""
    return np.linspace(lowest, highest, bins + 1)[1:-1]


def tree(values: Floats, bins: int, labels: NDArray[Any]) -> Floats:
    """The thresholds of a small decision tree; the median where it finds none."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=bins, min_samples_leaf=max(1, len(values) // 20), random_state=0
    )
    grown = model.fit(values[:, None], labels).tree_
    thresholds = grown.threshold[grown.feature >= 0]
    return np.sort(thresholds) if len(thresholds) else np.array([np.median(values)])


UNSUPERVISED: dict[str, Callable[[Floats, int], Floats]] = {
    "mean-of-halves": mean_of_halves,
    "quantile": quantile,
    "width": width,
}


def cut_points(
    values: Floats, bins: int, strategy: Strategy, labels: NDArray[Any] | None = None
) -> tuple[float, ...]:
    """Ascending cut points from known values; equal ones are one, so there may be fewer bins.

    A constant column is cut at its only value.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2, 3, 10]), 3, "mean-of-halves")
    (2.0, 10.0)
    >>> cut_points(np.array([0.0, 0, 0, 0, 8]), 4, "quantile")
    (0.0,)

    """
    if values.min() == values.max():
        return (float(values[0]),)
    if strategy != "tree":
        points = UNSUPERVISED[strategy](values, bins)
    elif labels is None:
        raise HornbookError("bins='tree' requires y to be passed, but the target y is None: call fit(X, y)")
    else:
        points = tree(values, bins, labels)
    return tuple(np.unique(points).tolist())
