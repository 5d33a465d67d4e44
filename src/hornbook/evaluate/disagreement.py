"""How often judges answer differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hornbook.distributions import Distribution
from hornbook.evaluate.fresh import answers, labelled_chunks, parts
from hornbook.intervals import Share
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.queries import Membership


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
        Those who are compared, each with a short name. The order decides what a pair is
        called: `t, h, tree, nn` gives t_h, t_tree, t_nn, h_tree, h_nn and tree_nn.
    distribution
        Where the interpretations come from.
    size
        How many are drawn. Memory does not depend on it.
    rng
        The source of randomness.

    Examples
    --------
    >>> from hornbook.distributions import Mixture, Random, Violations
    >>> from hornbook.logic.theory import HornTheory
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> mixed = Mixture((Random(t.vocabulary), Violations(t)), (1, 1))
    >>> judges = {"t": t.satisfied_by, "h": h.satisfied_by}
    >>> found = disagreement(judges, mixed, 10_000, np.random.default_rng(0))
    >>> print(found["t_h"])
    3.59 % (95 % interval 3.23 % to 3.97 %)
    >>> found.by_kind["violation"]["t_h"].hits
    0

    """
    if len(judges) < 2:
        raise HornbookError(f"a disagreement needs two judges at least; got {list(judges)}")
    components, weights = zip(*parts(distribution), strict=True)
    pairs = list(combinations(judges, 2))
    differences = np.zeros((len(components), len(pairs)), np.int64)
    sizes = np.zeros(len(components), np.int64)
    for batch, component in labelled_chunks(components, weights, size, rng):
        sizes += np.bincount(component, minlength=len(components))
        answered = {name: answers(member, batch, name) for name, member in judges.items()}
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
