"""Exact confidence intervals of shares, exact tests, and sample sizes of equivalence queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.schema import also_writes, leaves_out_defaults


@also_writes("estimate", "low", "high")
@leaves_out_defaults
@dataclass(frozen=True)
class Share(Displayed):
    """A share estimated from `hits` of `size` samples, with an exact interval.

    Samples that belong together, such as equal rows or the rows of a patient, tell less than as many
    independent ones, and so do samples of which some count more than others. The interval is that of
    `independent` samples with the same share of hits. Where samples have weights, `weighted` is the share of
    the weight that hits have. A share of all there is has confidence 1, and no interval.

    Examples
    --------
    >>> print(Share.of(3, 1000))
    0.30 % (95 % interval 0.06 % to 0.87 %)
    >>> print(Share.where(np.arange(200) < 190, units=np.arange(200) // 10))
    95.00 % (95 % interval 75.13 % to 99.87 %)
    >>> print(Share.where(np.arange(200) < 190, weights=np.where(np.arange(200) < 100, 1.0, 9.0)))
    91.00 % (95 % interval 84.03 % to 95.62 %)
    >>> Share.of(0, 0)
    not measured

    References
    ----------
    C. Clopper, E. Pearson. The use of confidence or fiducial limits. Biometrika 26, 1934.

    """

    hits: int
    size: int
    confidence: float
    independent: int
    weighted: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.size:
            raise HornbookError(f"{self.hits} of {self.size} is not a share")
        if not min(self.size, 1) <= self.independent <= self.size:
            raise HornbookError(f"{self.size} samples do not count as {self.independent}")

    @classmethod
    def of(cls, hits: int, size: int, confidence: float = 0.95, independent: int | None = None) -> Share:
        """The share, by default of independent samples."""
        return cls(int(hits), int(size), confidence, int(size if independent is None else independent))

    @classmethod
    def where(
        cls,
        hits: NDArray[np.bool_],
        units: NDArray[np.intp] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> Share:
        """The share of true values, as in `Share.where(decided == labels)`.

        `units` are the numbers of what each sample belongs to; by default samples are independent. `weights`
        say how much each counts, above 0; by default all count alike.
        """
        if weights is None or not len(hits):
            independent = None if units is None else count_independent(units)
            return cls.of(int(hits.sum()), len(hits), independent=independent)
        weighted = float(weights @ hits / weights.sum())
        independent = count_weighted(hits, np.arange(len(hits)) if units is None else units, weights)
        return cls(int(hits.sum()), len(hits), 0.95, independent, weighted)

    def at_confidence(self, confidence: float) -> Share:
        """The same share with an interval of another confidence."""
        return replace(self, confidence=confidence)

    def complement(self) -> Share:
        """The share of the samples that are not hits."""
        weighted = None if self.weighted is None else 1 - self.weighted
        return replace(self, hits=self.size - self.hits, weighted=weighted)

    def describe_size(self, noun: str) -> str:
        """How many samples there are, and how many they count as, as in `200 rows (which count as 20)`."""
        counted = "" if self.independent == self.size else f" (which count as {self.independent:,})"
        return f"{self.size:,} {noun}{counted}"

    @property
    def estimate(self) -> float:
        """The observed share; NaN without samples."""
        if self.weighted is not None:
            return self.weighted
        return self.hits / self.size if self.size else math.nan

    @cached_property
    def low(self) -> float:
        """The lower end of the Clopper–Pearson interval."""
        from scipy.special import betaincinv

        if self.confidence == 1:
            return self.estimate
        hits, tail = self._independent_hits, (1 - self.confidence) / 2
        return float(betaincinv(hits, self.independent - hits + 1, tail)) if self.hits else 0.0

    @cached_property
    def high(self) -> float:
        """The upper end of the Clopper–Pearson interval."""
        from scipy.special import betaincinv

        if self.confidence == 1:
            return self.estimate
        if self.hits == self.size:
            return 1.0
        hits, tail = self._independent_hits, (1 - self.confidence) / 2
        return float(betaincinv(hits + 1, self.independent - hits, 1 - tail))

    @property
    def _independent_hits(self) -> float:
        """How many hits there are among the independent samples."""
        if self.weighted is not None:
            return self.weighted * self.independent
        return self.hits * self.independent / self.size if self.size else 0.0

    def __str__(self) -> str:
        if not self.size:
            return "not measured"
        if self.confidence == 1:
            return f"{100 * self.estimate:.2f} %"
        return (
            f"{100 * self.estimate:.2f} % ({100 * self.confidence:.4g} % interval "
            f"{100 * self.low:.2f} % to {100 * self.high:.2f} %)"
        )


def count_independent(units: NDArray[np.intp]) -> int:
    """How many independent samples some count as at the least, if those of a unit may all be alike.

    Samples of n units of one size count as n. Those of units of several sizes count as fewer, because a
    large unit decides much alone (Kish's effective size).

    Examples
    --------
    >>> [count_independent(np.array(units)) for units in ([0, 1, 2], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1])]
    [3, 3, 1]

    References
    ----------
    L. Kish. Survey Sampling. 1965.

    """
    sizes = np.unique(units, return_counts=True)[1]
    return int(sizes.sum() ** 2 // (sizes**2).sum()) if len(sizes) else 0


def count_weighted(hits: NDArray[np.bool_], units: NDArray[np.intp], weights: NDArray[np.float64]) -> int:
    """How many independent samples weighted ones count as, for the share of hits.

    It is Kish's effective size, or less where hits vary with weights: as many samples as have the variance
    that is observed, and fewer the fewer samples this is observed by.

    Examples
    --------
    >>> hits, weights = np.arange(100) > 4, np.where(np.arange(100) < 50, 1.0, 4.0)
    >>> count_weighted(hits, np.arange(100), weights), count_weighted(hits[::-1], np.arange(100), weights)
    (72, 62)

    References
    ----------
    E. Korn, B. Graubard. Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24, 1998.

    """
    from scipy.special import stdtrit

    _, unit = np.unique(units, return_inverse=True)
    weights = weights / weights.sum()
    shares, share = np.bincount(unit, weights), float(weights @ hits)
    kish = size = 1 / float((shares**2).sum())
    if 0 < share < 1:
        errors = np.bincount(unit, weights * (hits - share))
        variance = len(shares) / max(len(shares) - 1, 1) * float((errors**2).sum())
        size = min(kish, share * (1 - share) / max(variance, 1e-300))
    freedom = np.maximum([len(shares) - 1, kish - 1], 1.0)
    known, needed = stdtrit(freedom, 0.975)
    return int(np.clip(size * (known / needed) ** 2 + 1e-9, 1, len(hits)))


@also_writes("estimate", "low", "high")
@dataclass(frozen=True)
class StratifiedShare(Displayed):
    """A share of a population whose parts, the strata, were sampled apart, with an interval.

    Every stratum counts by its part of the population, however many samples it got: so the share is
    one of the whole population, though samples were drawn where they tell most. The interval holds
    whatever the strata are like: those of all their sizes and shares are so wide that all of them
    hold together.

    Parameters
    ----------
    sizes
        For each stratum, the part of the population that it is.
    shares
        For each stratum, the share of its samples that are hits.

    Examples
    --------
    >>> rare = StratifiedShare.of(members=(990, 10), hits=(0, 90), samples=(1000, 100))
    >>> print(rare)
    0.90 % (95 % interval 0.31 % to 2.50 %)

    """

    sizes: tuple[Share, ...]
    shares: tuple[Share, ...]
    confidence: float = 0.95

    @classmethod
    def of(
        cls, members: Sequence[int], hits: Sequence[int], samples: Sequence[int], confidence: float = 0.95
    ) -> StratifiedShare:
        """The share, from the members of each stratum among free samples, and hits among those asked about.

        `hits` of the `samples` asked about in each stratum count; the other samples of the population only
        say how large the strata are.
        """
        each = 1 - (1 - confidence) / (2 * max(len(members), 1))  # all intervals hold at once
        total = int(sum(members))
        return cls(
            tuple(Share.of(count, total, each) for count in members),
            tuple(Share.of(hit, size, each) for hit, size in zip(hits, samples, strict=True)),
            confidence,
        )

    @property
    def estimate(self) -> float:
        """The sum of the strata's shares, each by its size; unbiased; NaN if a stratum was not sampled."""
        return sum(
            size.estimate * share.estimate
            for size, share in zip(self.sizes, self.shares, strict=True)
            if size.hits
        )

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self._bound([share.low for share in self.shares], 1)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self._bound([share.high for share in self.shares], -1)

    @property
    def size(self) -> int:
        """The number of samples asked about."""
        return sum(share.size for share in self.shares)

    def _bound(self, ends: list[float], sign: int) -> float:
        """The least sum (greatest, if the sign is -1) that sizes within their intervals can give."""
        bound = sum(size.low * end for size, end in zip(self.sizes, ends, strict=True))
        left = 1 - sum(size.low for size in self.sizes)
        for place in sorted(range(len(ends)), key=lambda place: sign * ends[place]):
            part = min(left, self.sizes[place].high - self.sizes[place].low)
            bound, left = bound + part * ends[place], left - part
        return min(max(bound, 0.0), 1.0)

    def __str__(self) -> str:
        return (
            f"{100 * self.estimate:.2f} % ({100 * self.confidence:g} % interval "
            f"{100 * self.low:.2f} % to {100 * self.high:.2f} %)"
        )


def exceeds(share: Share, tolerance: float, strict: bool = False) -> bool:
    """Whether a share is above a tolerance: clearly, or perhaps if it is `strict`.

    It is clearly above if its whole interval is, and perhaps if a part of it is. So few samples that none of
    them could show that the share is within the tolerance are refused, unless it is clearly above. A
    tolerance of 0 is about the samples themselves.

    Examples
    --------
    >>> [exceeds(Share.of(hits, 400), 0.02) for hits in (0, 12, 20)]
    [False, False, True]
    >>> exceeds(Share.of(12, 400), 0.02, strict=True)
    True
    >>> exceeds(Share.of(0, 90), 0.02)
    Traceback (most recent call last):
    hornbook.errors.HornbookError: 90 rows are too few to say that a share is at most 2 %: give at least 183

    """
    if not tolerance:
        return share.hits > 0
    if share.size and share.low > tolerance:
        return True
    if not share.size or Share.of(0, share.independent).high > tolerance:
        counted = "" if share.independent == share.size else f", which count as {share.independent:,},"
        needed = math.ceil(math.log((1 - share.confidence) / 2) / math.log1p(-tolerance))
        raise HornbookError(
            f"{share.size:,} rows{counted} are too few to say that a share is at most {100 * tolerance:g} %: "
            f"give at least {needed:,}"
        )
    return strict and share.high > tolerance


def check_tolerances(epsilon: float, delta: float) -> None:
    """Refuse epsilon or delta outside the open interval from 0 to 1."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value < 1:
            raise HornbookError(f"{name} is between 0 and 1, both excluded; got {value}")


def sample_size(rule: str | int, width: int, epsilon: float, delta: float, query: int) -> int:
    """The sample size of the `query`-th equivalence query, counted from 1.

    Parameters
    ----------
    rule
        `paper`: ⌈(n^2.1 + log₂(1/δ))/ε⌉, the size the paper chose. `angluin`:
        ⌈(ln(1/δ) + i·ln 2)/ε⌉, which makes the whole run probably approximately correct. Or a number.
    width
        The number n of variables.
    epsilon, delta
        The tolerated disagreement, and the tolerated probability that it is exceeded.
    query
        The number i of the equivalence query.

    Examples
    --------
    >>> sample_size("paper", 204, 0.1, 0.1, 1), sample_size("angluin", 204, 0.05, 0.05, 1)
    (708344, 74)

    """
    check_tolerances(epsilon, delta)
    if rule == "paper":
        return math.ceil((math.pow(width, 2.1) + math.log2(1 / delta)) / epsilon)
    if rule == "angluin":
        return math.ceil((math.log(1 / delta) + query * math.log(2)) / epsilon)
    if isinstance(rule, int) and rule > 0:
        return rule
    raise HornbookError(f"a sample size is paper, angluin or a positive number; got {rule!r}")
