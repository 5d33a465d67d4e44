"""How often several judges of interpretations disagree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import (
    Batch,
    Bools,
)
from hornbook.queries.distributions import Distribution, Mixture, flatten_mixture
from hornbook.queries.protocol import Membership
from hornbook.statistics import Share

EVALUATION_CHUNK = 1 << 15
"""Number of interpretations judged at a time, which bounds the memory for any sample size."""


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
    >>> 0.03 < found.shares["t_h"].estimate < 0.04
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
    )
