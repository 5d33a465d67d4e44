"""Fresh interpretations in chunks, and what judges answer about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution, Mixture
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.queries import Membership

CHUNK = 1 << 15
"""Interpretations drawn and judged at a time: it bounds the memory, whatever the sample size."""


def chunks(distribution: Distribution, size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """`size` fresh interpretations, a chunk at a time."""
    for batch, _ in labelled_chunks((distribution,), (1.0,), size, rng):
        yield batch


def labelled_chunks(
    components: tuple[Distribution, ...],
    weights: tuple[float, ...],
    size: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Batch, NDArray[np.intp]]]:
    """`size` fresh interpretations of a mixture, a chunk at a time, and the component of each."""
    if size < 1:
        raise HornbookError(f"a share is estimated from at least one sample; got size={size}")
    mixture = Mixture(components, weights)
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        if len(components) == 1:
            yield components[0].draw(count, rng), np.zeros(count, np.intp)
        else:
            yield mixture.draw_labelled(count, rng)


def parts(distribution: Distribution, weight: float = 1.0) -> list[tuple[Distribution, float]]:
    """The components of a mixture, of its mixtures too, each with its share."""
    if not isinstance(distribution, Mixture):
        return [(distribution, weight)]
    shares = zip(distribution.components, distribution.shares, strict=True)
    return [part for component, share in shares for part in parts(component, weight * share)]


def answers(member: Membership, batch: Batch, name: str) -> Bools:
    """What a judge answers; refuse anything but one answer an interpretation."""
    answered = np.asarray(member(batch))
    if answered.shape != (len(batch),):
        raise HornbookError(f"{name} gave answers of shape {answered.shape} to {len(batch)} interpretations")
    return answered.astype(np.bool_, copy=False)
