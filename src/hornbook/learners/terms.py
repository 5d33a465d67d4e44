"""Terms as columns: where each is true or unknown in labelled samples, and what it weighs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hornbook.cards.card import values
from hornbook.learners.logistic import Matrix, fit
from hornbook.logic import Batch, Bools, bits

Columns = NDArray[np.int8]

PAIRS = (12, 12, 12)
"""Pairs of literals taken in, round by round: each round looks for what the last left unexplained."""


@dataclass(frozen=True)
class Terms:
    """Bodies of lines: where each is true, where it is unknown, and what it weighs.

    `shares` says which share of a term's weight goes to samples in which it is unknown.
    """

    bodies: tuple[frozenset[int], ...]
    true: Columns
    unknown: Columns
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, bodies: list[frozenset[int]]) -> Terms:
        """The terms on a batch, unknown ones worth half of true ones."""
        true, unknown = (np.empty((len(batch), len(bodies)), np.int8, order="F") for _ in range(2))
        for column, body in enumerate(bodies):
            whole, broken = (bits.flat(words, len(batch)) for words in values(batch, body))
            true[:, column], unknown[:, column] = whole, ~(whole | broken)
        return cls(tuple(bodies), true, unknown, np.full(len(bodies), 0.5), np.zeros(len(bodies) + 1))

    @property
    def columns(self) -> Matrix:
        """The values as a regression takes them."""
        return np.asarray(self.true + self.unknown * self.shares.astype(np.float32), np.float32)

    @property
    def costs(self) -> NDArray[np.intp]:
        """How many literals there are to read in each."""
        return np.array([len(body) for body in self.bodies], np.intp)

    def kept(self, which: NDArray[np.intp]) -> Terms:
        """Some of the terms."""
        return Terms(
            tuple(self.bodies[i] for i in which),
            self.true[:, which],
            self.unknown[:, which],
            self.shares[which],
            np.append(self.weights[which], self.weights[-1]),
        )

    def varied(self) -> Terms:
        """The terms that are not the same in every sample."""
        both = self.true + 2 * self.unknown
        return self.kept(np.flatnonzero((both != both[:1]).any(axis=0)))

    def also(self, other: Terms) -> Terms:
        """These terms and others."""
        weights = np.concatenate([self.weights[:-1], other.weights[:-1], self.weights[-1:]])
        return Terms(
            self.bodies + other.bodies,
            np.asfortranarray(np.hstack([self.true, other.true])),
            np.asfortranarray(np.hstack([self.unknown, other.unknown])),
            np.concatenate([self.shares, other.shares]),
            weights,
        )

    def shared(self, labels: Bools) -> Terms:
        """The same terms, the shares of unknown ones as a regression over both kinds of columns has them."""
        width = len(self.bodies)
        weights = fit(np.hstack([self.true, self.unknown]).astype(np.float32), labels).weights
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.nan_to_num(weights[width:-1] / weights[:width], nan=0.5, posinf=1.0, neginf=0.0)
        return replace(self, shares=shares.clip(0, 1))


def with_pairs(terms: Terms, batch: Batch, labels: Bools) -> Terms:
    """The terms, and the pairs of literals whose truth goes most with what they do not explain."""
    terms = terms.shared(labels)
    true = bits.unpack(batch.true, len(batch)).astype(np.float32)
    support = true.T @ true
    for count in PAIRS:
        columns = terms.columns
        found = fit(columns, labels, terms.weights)
        residual = found.residual(columns, labels)
        covariance = true.T @ (true * residual[:, None])
        z = np.triu(abs(covariance) / np.sqrt(support + len(batch) / 100), 1)
        order = np.argsort(z, axis=None)[::-1][: 4 * count]
        pairs = [frozenset({int(v), int(w)}) for v, w in zip(*np.unravel_index(order, z.shape), strict=True)]
        new = [body for body in pairs if body not in terms.bodies][:count]
        terms = replace(terms, weights=found.weights).also(Terms.of(batch, new))
    return terms
