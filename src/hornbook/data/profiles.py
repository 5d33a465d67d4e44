"""Profiles of columns, from a frame or a stream: kinds, levels, and cut points of bins.

Cut points of a stream equal those of the whole table: means are exact sums (`ExactSum`), and
quantiles are found digit by digit in a few passes (`RankFinder`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.streams import TableStream
from hornbook.data.table import Kind, are_numbers, infer_kind, kind_from_levels, known_values, sorted_levels
from hornbook.errors import HornbookError

MANTISSA_BITS = 53
"""Number of bits of a double's mantissa."""

HALF_BITS = 26
"""Mantissas are added up in two halves, so that a double holds the sum of 2²⁶ of them exactly."""

VALUES_PER_BLOCK = 1 << 16
"""Number of values added at a time, so that they stay in the cache."""

LEAST_EXPONENT = -1074
"""The smallest double is 2 to this power."""


class ExactSum:
    """The exact sum of all added values, independent of their order.

    Every double is an integer times a power of two. Mantissas are summed separately for each
    power, and the powers are combined in an integer of arbitrary length.

    Examples
    --------
    >>> total = ExactSum()
    >>> for part in ([1e300, 0.1, 0.2], [0.3, -1e300]):
    ...     total.add(np.array(part))
    >>> total.mean()
    0.12

    References
    ----------
    R. Neal. Fast exact summation using small and large superaccumulators. arXiv:1505.05571, 2015.

    """

    def __init__(self) -> None:
        self.count = 0
        self.scaled = 0
        """The sum, in units of the smallest double."""

    def add(self, values: NDArray[np.float64]) -> None:
        """Add finite values."""
        for start in range(0, len(values), VALUES_PER_BLOCK):
            mantissas, powers = np.frexp(values[start : start + VALUES_PER_BLOCK])
            whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64)
            shifts = (
                powers - MANTISSA_BITS - LEAST_EXPONENT
            )  # negative for subnormal numbers, whose last bits are zero
            whole >>= np.maximum(-shifts, 0)
            shifts = np.maximum(shifts, 0)
            high, low = (
                np.bincount(shifts, half) for half in (whole >> HALF_BITS, whole & ((1 << HALF_BITS) - 1))
            )
            for shift in np.flatnonzero((high != 0) | (low != 0)).tolist():
                self.scaled += ((int(high[shift]) << HALF_BITS) + int(low[shift])) << shift
        self.count += len(values)

    def mean(self) -> float:
        """The double nearest to the mean."""
        return self.scaled / (self.count << -LEAST_EXPONENT)


def exact_mean(values: NDArray[np.float64]) -> float:
    """The double nearest to the exact mean of the values, which is within their range."""
    total = ExactSum()
    total.add(values)
    return total.mean()


Strategy: TypeAlias = Literal["mean-of-halves", "quantile", "width", "tree"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Floats: TypeAlias = NDArray[np.float64]


def mean_of_halves_cuts(values: Floats, bins: int) -> Floats:
    """Cut at the mean of the values up to the overall mean, and at the mean of those above it.

    Two bins are cut at the mean itself, four bins at all three means. Means are exact, so the
    order of the values does not matter.
    """
    mean = split_point(exact_mean(values), values.max())
    return cuts_from_means(exact_mean(values[values <= mean]), mean, exact_mean(values[values > mean]), bins)


def split_point(mean: float, highest: float) -> float:
    """The point between the two halves: the mean, or less if rounding leaves nothing above it."""
    return min(mean, float(np.nextafter(highest, -np.inf)))


def cuts_from_means(lower: float, mean: float, upper: float, bins: int) -> Floats:
    """Return the cut points for a number of bins, from the overall mean and those of its halves."""
    points = {2: [mean], 3: [lower, upper], 4: [lower, mean, upper]}
    if bins not in points:
        raise HornbookError(f"mean-of-halves makes 2, 3 or 4 bins, not {bins}; use 'quantile' or 'width'")
    return np.array(points[bins])


def quantile_cuts(values: Floats, bins: int) -> Floats:
    """Cut into bins with about the same number of values; the last is never empty."""
    points = np.quantile(values, np.arange(1, bins) / bins)
    below_top: np.float64 = values[values < values.max()].max()
    return np.minimum(points, below_top)


def equal_width_cuts(values: Floats, bins: int) -> Floats:
    """Cut the range of the values into bins of equal width."""
    return even_cuts(values.min(), values.max(), bins)


def even_cuts(lowest: float, highest: float, bins: int) -> Floats:
    """Return evenly spaced cut points between two values."""
    return np.linspace(lowest, highest, bins + 1)[1:-1]


def tree_cuts(values: Floats, bins: int, labels: NDArray[Any]) -> Floats:
    """Cut at the thresholds of a small decision tree, or at the median if it has none."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=bins, min_samples_leaf=max(1, len(values) // 20), random_state=0
    )
    grown = model.fit(values[:, None], labels).tree_
    thresholds = grown.threshold[grown.feature >= 0]
    return np.sort(thresholds) if len(thresholds) else np.array([np.median(values)])


UNSUPERVISED: dict[str, Callable[[Floats, int], Floats]] = {
    "mean-of-halves": mean_of_halves_cuts,
    "quantile": quantile_cuts,
    "width": equal_width_cuts,
}


def cut_points(
    values: Floats, bins: int, strategy: Strategy, labels: NDArray[Any] | None = None
) -> tuple[float, ...]:
    """Return ascending, distinct cut points of known values; there may be fewer bins than asked for.

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
        points = tree_cuts(values, bins, labels)
    return tuple(np.unique(points).tolist())


DIGIT_BITS = 16
"""Number of bits of a value that each pass finds."""

RANK_PASSES = 64 // DIGIT_BITS


class RankFinder:
    """Finds the values with given ranks (from 0) in sorted order, in several passes over unsorted data.

    A double maps to a number of four 16-bit digits in the same order. Each pass counts the next
    digit of the values that share the digits found so far.

    Examples
    --------
    >>> ranked = RankFinder([0, 2])
    >>> for _ in range(RANK_PASSES):
    ...     for part in ([3.0, -1.0], [0.5, 7.0]):
    ...         ranked.add(np.array(part))
    ...     ranked.narrow()
    >>> ranked.values()
    [-1.0, 3.0]

    """

    def __init__(self, ranks: Sequence[int]) -> None:
        self.ranks = list(ranks)
        self.found = [0] * len(self.ranks)
        """The digits found so far, as a number."""
        self.below = 64
        """The number of bits that are not found yet."""
        self._count_anew()

    def add(self, values: NDArray[np.float64]) -> None:
        """Count some of the values of the current pass."""
        keys = _keys(values)
        leading = keys >> np.uint64(self.below) if self.below < 64 else np.zeros_like(keys)
        digits = (keys >> np.uint64(self.below - DIGIT_BITS)) & np.uint64((1 << DIGIT_BITS) - 1)
        for found, counts in self.counts.items():
            chosen = digits[leading == np.uint64(found)]
            counts += np.bincount(chosen.astype(np.intp), minlength=1 << DIGIT_BITS)

    def narrow(self) -> None:
        """End a pass: fix the next digit of every value in question."""
        for number, rank in enumerate(self.ranks):
            ends = np.cumsum(self.counts[self.found[number]])
            digit = int(np.searchsorted(ends, rank, side="right"))
            self.ranks[number] = rank - (int(ends[digit - 1]) if digit else 0)
            self.found[number] = (self.found[number] << DIGIT_BITS) + digit
        self.below -= DIGIT_BITS
        self._count_anew()

    def values(self) -> list[float]:
        """The values, after the last pass."""
        keys = np.array(self.found, np.uint64)
        negative = keys < _SIGN
        return [float(value) for value in np.where(negative, ~keys, keys ^ _SIGN).view(np.float64)]

    def _count_anew(self) -> None:
        self.counts = {found: np.zeros(1 << DIGIT_BITS, np.int64) for found in set(self.found)}


_SIGN = np.uint64(1 << 63)


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Map doubles to unsigned integers in the same order."""
    bits = (values + 0.0).view(np.uint64)  # zero has two signs
    return np.where(bits & _SIGN != 0, ~bits, bits | _SIGN)


class Column(Protocol):
    """A column of a frame or of a stream."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def kind(self) -> Kind:
        """Its kind, inferred."""
        ...

    def levels(self) -> list[Any]:
        """Its distinct values, in order; if there are too many, perhaps only some of them."""
        ...

    def count(self) -> str:
        """How many distinct values it has, as far as that is known."""
        ...

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        ...


class FrameColumn:
    """A column of a frame; `labels` are the labels of all its rows."""

    def __init__(self, column: pd.Series[Any], labels: NDArray[Any] | None) -> None:
        self.name = str(column.name)
        self.known = known_values(column)
        self.labels = labels

    def kind(self) -> Kind:
        """Its kind, inferred."""
        return infer_kind(self.known)

    def levels(self) -> list[Any]:
        """Its distinct values, in order."""
        return sorted_levels(self.known)

    def count(self) -> str:
        """How many distinct values it has."""
        return str(len(self.levels()))

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        _numbers(self.known)

    def cut_points(self, bins: int, strategy: Strategy) -> tuple[float, ...]:
        """Return its cut points."""
        labels = None if self.labels is None else self.labels[self.known.index]
        return cut_points(_numbers(self.known), bins, strategy, labels)


class FrameColumns:
    """The columns of a frame, and the labels of its rows."""

    def __init__(self, frame: pd.DataFrame, labels: NDArray[Any] | None) -> None:
        self.columns = [FrameColumn(frame[name], labels) for name in frame.columns]

    def cut_points(self, names: Sequence[str], bins: int, strategy: Strategy) -> dict[str, tuple[float, ...]]:
        """Return the cut points of the named columns."""
        chosen = [column for column in self.columns if column.name in names]
        return {column.name: column.cut_points(bins, strategy) for column in chosen}


class StreamedColumn:
    """The profile of a streamed column: its distinct values, exact sum and range.

    Once there are more than `most` distinct values, no further ones are kept.
    """

    def __init__(self, name: str, most: int) -> None:
        self.name = name
        self.most = most
        self.distinct: set[Any] = set()
        self.total = ExactSum()
        self.low, self.high = np.inf, -np.inf
        self.numbers = True
        self.word: HornbookError | None = None

    def add(self, part: pd.Series[Any]) -> None:
        """Add some of its values to the profile."""
        if part.isna().all():
            return
        known = known_values(part)
        if len(self.distinct) <= self.most:
            self.distinct.update(sorted_levels(known, self.most + 1))
        self.numbers &= are_numbers(known)
        if self.word is None:
            try:
                values = _numbers(known)
            except HornbookError as error:
                self.word = error
                return
            self.total.add(values)
            self.low, self.high = min(self.low, values.min()), max(self.high, values.max())

    def kind(self) -> Kind:
        """Its kind, inferred."""
        return kind_from_levels(self.levels(), self.numbers)

    def levels(self) -> list[Any]:
        """Its distinct values, in order, if there are not too many."""
        if not self.distinct:
            raise HornbookError(f"column {self.name!r} has no known value; drop it")
        return sorted_levels(pd.Series(list(self.distinct), name=self.name, dtype=object))

    def count(self) -> str:
        """How many distinct values it has, as far as that is known."""
        return f"{len(self.distinct)}{' or more' if len(self.distinct) > self.most else ''}"

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        if self.word is not None:
            raise self.word


class StreamedColumns:
    """The columns of a stream, which is read once to profile them and again to find cut points."""

    def __init__(self, stream: TableStream, most: int) -> None:
        self.stream = stream
        self.columns = [StreamedColumn(name, most) for name in stream.columns]
        for frame in stream:
            for column in self.columns:
                column.add(frame[column.name])

    def cut_points(self, names: Sequence[str], bins: int, strategy: Strategy) -> dict[str, tuple[float, ...]]:
        """Return the cut points of the named columns, equal to those of the whole table."""
        chosen = [column for column in self.columns if column.name in names]
        varied = [column for column in chosen if column.low < column.high]
        points = {column.name: np.array([column.low]) for column in chosen}
        if varied and strategy not in _STREAMED:
            raise HornbookError(
                f"bins={strategy!r} needs all rows at once; use {', '.join(_STREAMED)}, give cuts, "
                "or fit the binariser to some of the rows"
            )
        if varied:
            points |= _STREAMED[strategy](self.stream, varied, bins)
        return {name: tuple(np.unique(found).tolist()) for name, found in points.items()}


def _means_of_halves(stream: TableStream, columns: Sequence[StreamedColumn], bins: int) -> dict[str, Floats]:
    middles = {column.name: split_point(column.total.mean(), column.high) for column in columns}
    sums = {column.name: (ExactSum(), ExactSum()) for column in columns}
    for name, values in _values(stream, columns):
        above = values > middles[name]
        for half, chosen in zip(sums[name], (~above, above), strict=True):
            half.add(values[chosen])
    return {
        name: cuts_from_means(lower.mean(), middles[name], upper.mean(), bins)
        for name, (lower, upper) in sums.items()
    }


def _quantiles(stream: TableStream, columns: Sequence[StreamedColumn], bins: int) -> dict[str, Floats]:
    # a quantile lies between the values of two ranks; NumPy interpolates once these are known
    places = {column.name: np.arange(1, bins) / bins * (column.total.count - 1) for column in columns}
    ranked = {
        name: RankFinder([rank for at in found for rank in _ranks(at)]) for name, found in places.items()
    }
    below_top = {column.name: column.low for column in columns}
    tops = {column.name: column.high for column in columns}
    for _ in range(RANK_PASSES):
        for name, values in _values(stream, columns):
            ranked[name].add(values)
            below_top[name] = values.max(initial=below_top[name], where=values < tops[name])
        for one in ranked.values():
            one.narrow()
    points = {}
    for name, found in places.items():
        pairs = np.reshape(ranked[name].values(), (-1, 2))
        between = [np.quantile(pair, at % 1) for pair, at in zip(pairs, found, strict=True)]
        points[name] = np.minimum(between, below_top[name])
    return points


def _ranks(place: float) -> tuple[int, int]:
    return math.floor(place), math.ceil(place)


def _widths(stream: TableStream, columns: Sequence[StreamedColumn], bins: int) -> dict[str, Floats]:
    return {column.name: even_cuts(column.low, column.high, bins) for column in columns}


_STREAMED: dict[str, Callable[[TableStream, Sequence[StreamedColumn], int], dict[str, Floats]]] = {
    "mean-of-halves": _means_of_halves,
    "quantile": _quantiles,
    "width": _widths,
}


def _values(stream: TableStream, columns: Sequence[StreamedColumn]) -> Iterator[tuple[str, Floats]]:
    """Yield the known values of numeric columns, frame by frame."""
    for frame in stream:
        for column in columns:
            yield column.name, _numbers(frame[column.name].dropna())


def _numbers(known: pd.Series[Any]) -> Floats:
    try:
        return known.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise HornbookError(f"column {known.name!r} is to be quantitative, but: {error}") from None
