"""Agreement and fidelity: how often a theory or any other judge answers as the model does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools
from hornbook.queries.distributions import Distribution
from hornbook.queries.mixture import Mixture
from hornbook.queries.protocol import Membership
from hornbook.statistics import Share

EVALUATION_CHUNK = 1 << 15
"""Number of interpretations judged at a time, which bounds the memory for any sample size."""


def draw_labelled_chunks(
    components: tuple[Distribution, ...],
    weights: tuple[float, ...],
    size: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Batch, NDArray[np.intp]]]:
    """Draw `size` interpretations of a mixture, a chunk at a time, with the component of each."""
    if size < 1:
        raise HornbookError(f"a share is estimated from at least one sample; got size={size}")
    mixture = Mixture(components, weights)
    for start in range(0, size, EVALUATION_CHUNK):
        count = min(EVALUATION_CHUNK, size - start)
        if len(components) == 1:
            yield components[0].draw(count, rng), np.zeros(count, np.intp)
        else:
            yield mixture.draw_labelled(count, rng)


def flatten_mixture(distribution: Distribution, weight: float = 1.0) -> list[tuple[Distribution, float]]:
    """The components of a mixture, nested ones included, each with its share."""
    if not isinstance(distribution, Mixture):
        return [(distribution, weight)]
    shares = zip(distribution.components, distribution.shares, strict=True)
    return [part for component, share in shares for part in flatten_mixture(component, weight * share)]


def ask_judge(member: Membership, batch: Batch, name: str) -> Bools:
    """A judge's answers, shape (items,); refuse any other shape."""
    answered = np.asarray(member(batch))
    if answered.shape != (len(batch),):
        raise HornbookError(f"{name} gave answers of shape {answered.shape} to {len(batch)} interpretations")
    return answered.astype(np.bool_, copy=False)


@dataclass(frozen=True)
class Disagreement:
    """For each pair of judges, the share of interpretations that they judge differently.

    `shares` holds the pairs by name, `by_kind` the same for each kind of interpretation in
    the distribution. Intervals are for one share at a time.
    """

    shares: dict[str, Share]
    by_kind: dict[str, dict[str, Share]]
    distribution: str

    def __getitem__(self, pair: str) -> Share:
        return self.shares[pair]


def disagreement(
    judges: Mapping[str, Membership],
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
) -> Disagreement:
    """The pairwise disagreement of judges on `size` fresh interpretations.

    The pair of the judges `t` and `h`, given in that order, is called `t_h`. A mixture is
    also broken down by the kind of its components, those of mixtures within it included.

    Parameters
    ----------
    judges
        The judges to compare, each with a short name. The order decides what a pair is
        called: `t, h, tree, nn` gives t_h, t_tree, t_nn, h_tree, h_nn and tree_nn.
    distribution
        Where the interpretations come from.
    size
        Number of interpretations. Memory does not depend on it.
    rng
        The source of randomness.

    Examples
    --------
    >>> from hornbook.queries.mixture import Mixture
    >>> from hornbook.queries.random_interpretations import Random
    >>> from hornbook.queries.violations import Violations
    >>> from hornbook.logic import HornTheory
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> mixed = Mixture((Random(t.vocabulary), Violations(t)), (1, 1))
    >>> judges = {"t": t.satisfied_by, "h": h.satisfied_by}
    >>> found = disagreement(judges, mixed, 10_000, np.random.default_rng(0))
    >>> 0.03 < found["t_h"].estimate < 0.04
    True
    >>> found.by_kind["violation"]["t_h"].hits
    0

    """
    if len(judges) < 2:
        raise HornbookError(f"a disagreement needs two judges at least; got {list(judges)}")
    components, weights = zip(*flatten_mixture(distribution), strict=True)
    pairs = list(combinations(judges, 2))
    differences = np.zeros((len(components), len(pairs)), np.int64)
    sizes = np.zeros(len(components), np.int64)
    for batch, component in draw_labelled_chunks(components, weights, size, rng):
        sizes += np.bincount(component, minlength=len(components))
        answered = {name: ask_judge(member, batch, name) for name, member in judges.items()}
        for column, (left, right) in enumerate(pairs):
            differing = component[answered[left] != answered[right]]
            differences[:, column] += np.bincount(differing, minlength=len(components))

    kinds = np.array([component.kind for component in components])
    names = [f"{left}_{right}" for left, right in pairs]

    def shares(members: Bools) -> dict[str, Share]:
        total = int(sizes[members].sum())
        hits = differences[members].sum(axis=0).tolist()
        return {name: Share.of(hit, total) for name, hit in zip(names, hits, strict=True)}

    return Disagreement(
        shares(np.ones(len(components), np.bool_)),
        {kind: shares(kinds == kind) for kind in dict.fromkeys(kinds.tolist())},
        distribution.describe(),
    )


UnseenPopulation: TypeAlias = Literal["unseen rows", "test rows"]
"""Rows that nothing was made from: held out of the table, or given apart from it."""

Population: TypeAlias = UnseenPopulation | Literal["samples"]
"""The population of a fidelity: rows that nothing was made from, or samples drawn near the others."""


@dataclass(frozen=True)
class CommonestClass:
    """The class that a model gives most cases of a population, and the share of these cases.

    This is what an explanation reaches that always names the class: agreement is worth what it has beyond.

    Examples
    --------
    >>> print(CommonestClass.of(np.array([0, 0, 1, 0]), ("benign", "malignant")))
    always "benign": 75.00 %

    """

    name: str
    share: float

    @classmethod
    def of(cls, labels: NDArray[np.integer[Any] | np.bool_], classes: Sequence[str]) -> CommonestClass:
        """The commonest of a model's labels, of which there are some; the first of equals."""
        counts = np.bincount(labels)
        return cls(classes[int(counts.argmax())], float(counts.max() / len(labels)))

    def __str__(self) -> str:
        return f'always "{self.name}": {100 * self.share:.2f} %'


@dataclass(frozen=True)
class Fidelity:
    """The share of cases of a population on which explanation and model agree.

    The headline is about rows that were held out, if any were: nothing was drawn from them, fitted
    to them or chosen by them. Where there were too few rows for that, it is about samples.

    Attributes
    ----------
    samples
        The share of fresh samples, drawn near the rows that the explanation was made from.
    unseen_rows
        The share of the rows that were held out, or given as test rows; None where none were. Equal
        rows, or the rows of a group, count as one in its interval.
    used_rows
        The share of the rows that the explanation was made from. They say nothing sure about
        others, so it has no interval.
    unseen_population
        What the unseen rows are called: `test rows` if they were given apart from the table.
    commonest
        The commonest class of each population, by the names in `populations` and `used rows`; those
        that are not known are left out.

    Examples
    --------
    >>> found = Fidelity(samples=Share.of(970, 1000), unseen_rows=Share.of(108, 114), used_rows=0.96)
    >>> print(found)
    on 114 unseen rows 94.74 % (95 % interval 88.90 % to 98.04 %)
    >>> found.population, round(found.estimate, 3), found.samples.estimate
    ('unseen rows', 0.947, 0.97)
    >>> print(Fidelity(Share.of(970, 1000), commonest={"samples": CommonestClass("no", 0.965)}))
    on 1,000 samples 97.00 % (95 % interval 95.74 % to 97.97 %); always "no": 96.50 %

    """

    samples: Share
    unseen_rows: Share | None = None
    used_rows: float = math.nan
    unseen_population: UnseenPopulation = "unseen rows"
    commonest: Mapping[str, CommonestClass] = field(default_factory=dict, hash=False)

    @property
    def population(self) -> Population:
        """The population of the headline."""
        return "samples" if self.unseen_rows is None else self.unseen_population

    @property
    def share(self) -> Share:
        """The headline, with its interval."""
        return self.samples if self.unseen_rows is None else self.unseen_rows

    @property
    def estimate(self) -> float:
        """The observed share."""
        return self.share.estimate

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.share.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.share.high

    @property
    def populations(self) -> dict[Population, Share]:
        """Every share with an interval by its population, the headline first."""
        return {self.population: self.share, "samples": self.samples}

    def describe(self) -> list[str]:
        """The shares in words, each beside what the commonest class alone reaches, one line a population."""
        lines = []
        for population, share in self.populations.items():
            words = (
                f"on {share.describe_size(population)} {share}" if share.size else f"on {population}: {share}"
            )
            commonest = self.commonest.get(population)
            lines.append(words if commonest is None else f"{words}; {commonest}")
        return lines

    def __str__(self) -> str:
        return self.describe()[0]


def fidelity(
    judge: Membership, model: Membership, distribution: Distribution, size: int, rng: np.random.Generator
) -> Share:
    """The share of `size` fresh interpretations about which a judge says what the model says.

    Examples
    --------
    >>> from hornbook.queries.random_interpretations import Random
    >>> from hornbook.logic import HornTheory
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> rng = np.random.default_rng(0)
    >>> found = fidelity(h.satisfied_by, t.satisfied_by, Random(t.vocabulary), 10_000, rng)
    >>> found.low < 25 / 27 < found.high  # horse is 1, pegasus 0, wings not 1: 2 in 27
    True

    """
    return disagreement({"judge": judge, "model": model}, distribution, size, rng)["judge_model"].complement()
