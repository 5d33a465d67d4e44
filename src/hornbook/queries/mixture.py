"""Mixtures of distributions, and how often judges disagree on interpretations, by kind of interpretation."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary
from hornbook.queries.distributions import Distribution, percent
from hornbook.queries.protocol import Membership
from hornbook.statistics import Share


@dataclass(frozen=True)
class Mixture:
    """Each item from one of the components, chosen with probability proportional to its weight.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> from hornbook.queries.distributions import Random
    >>> mixture = Mixture((Random(vocabulary, 0.1), Random(vocabulary, 0.9)), weights=(3, 1))
    >>> print(mixture)
    75 % random interpretations of 2 pairs, each value unknown with probability 10 %;
    25 % random interpretations of 2 pairs, each value unknown with probability 90 %
    >>> batch, component = mixture.draw_labelled(1000, np.random.default_rng(0))
    >>> bool(0.2 < component.mean() < 0.3)
    True

    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if not self.components or len(self.components) != len(self.weights):
            raise HornbookError(
                f"a mixture needs one weight a component; "
                f"got {len(self.components)} components and {len(self.weights)} weights"
            )
        if not all(weight >= 0 and np.isfinite(weight) for weight in self.weights) or not any(self.weights):
            raise HornbookError(f"weights are not negative and not all zero; got {list(self.weights)}")
        if any(component.vocabulary != self.vocabulary for component in self.components):
            raise HornbookError("the components of a mixture are over one vocabulary")

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the components."""
        return self.components[0].vocabulary

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights made to sum to 1."""
        return tuple(weight / sum(self.weights) for weight in self.weights)

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        return self.draw_labelled(size, rng)[0]

    def draw_labelled(self, size: int, rng: np.random.Generator) -> tuple[Batch, NDArray[np.intp]]:
        """`size` independent interpretations, and for each the index of its component."""
        if len(self.components) == 1:
            return self.components[0].draw(size, rng), np.zeros(size, np.intp)
        origins = rng.choice(len(self.components), operator.index(size), p=self.shares)
        counts = np.bincount(origins, minlength=len(self.components)).tolist()
        parts = [each.draw(count, rng) for each, count in zip(self.components, counts, strict=True)]
        places = np.empty(size, np.intp)
        places[np.argsort(origins, kind="stable")] = np.arange(size)
        return Batch.concatenate(parts)[places], origins

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The distribution in words."""
        parts = zip(self.shares, self.components, strict=True)
        return ";\n".join(f"{percent(share)} {component.describe()}" for share, component in parts)

    def settings(self) -> dict[str, Any]:
        """The components with their weights, ready for JSON."""
        parts = zip(self.weights, self.components, strict=True)
        return {
            "kind": self.kind,
            "components": [{"weight": weight, **component.settings()} for weight, component in parts],
        }


EVALUATION_CHUNK = 1 << 15
"""Number of interpretations judged at a time, which bounds the memory for any sample size."""


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


def measure_disagreement(
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
    >>> from hornbook.queries import Random, Violations
    >>> from hornbook.logic import HornTheory
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> mixed = Mixture((Random(t.vocabulary), Violations(t)), (1, 1))
    >>> judges = {"t": t.satisfied_by, "h": h.satisfied_by}
    >>> found = measure_disagreement(judges, mixed, 10_000, np.random.default_rng(0))
    >>> 0.03 < found["t_h"].estimate < 0.04
    True
    >>> found.by_kind["violation"]["t_h"].hits
    0

    """
    if len(judges) < 2:
        raise HornbookError(f"a disagreement needs two judges at least; got {list(judges)}")
    if size < 1:
        raise HornbookError(f"a share is estimated from at least one sample; got size={size}")
    components, weights = zip(*flatten_mixture(distribution), strict=True)
    mixture, pairs = Mixture(components, weights), list(combinations(judges, 2))
    differences = np.zeros((len(components), len(pairs)), np.int64)
    sizes = np.zeros(len(components), np.int64)
    for start in range(0, size, EVALUATION_CHUNK):
        batch, component = mixture.draw_labelled(min(EVALUATION_CHUNK, size - start), rng)
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
