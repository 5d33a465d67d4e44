"""Facts about features, beside which a label is decided: true, false, or missing.

That a value is missing is a fact here, `unknown_v`, beside `v` and `not_v`; one of the three
holds of every feature that was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.vocabulary import Vocabulary


def observed(batch: Batch, vocabulary: Vocabulary) -> Batch:
    """Rows of features over the vocabulary of a theory: what is missing becomes a fact, the rest is unknown.

    Examples
    --------
    >>> vocabulary = Vocabulary(["ascites", "dies", "not_dies", "not_ascites", "unknown_ascites"])
    >>> observed(Batch.from_array([[1], [np.nan]], Vocabulary(["ascites"])), vocabulary).to_array()
    array([[ 1., nan, nan,  0.,  0.],
           [nan, nan, nan, nan,  1.]])

    """
    features = batch.vocabulary
    if vocabulary.names[: len(features)] != features.names:
        raise HornbookError("the vocabulary does not begin with the features of the batch")
    true, false = (np.zeros((len(vocabulary), batch.true.shape[1]), np.uint64) for _ in range(2))
    true[: len(features)], false[: len(features)] = batch.true, batch.false
    for v, name in enumerate(features.names):
        if f"unknown_{name}" in vocabulary:
            row = vocabulary.index(f"unknown_{name}")
            false[row] = batch.true[v] | batch.false[v]
            true[row] = ~false[row]
            bits.clear_spare(true[row : row + 1], len(batch))
        if f"not_{name}" in vocabulary and f"not_{name}" not in features:
            row = vocabulary.index(f"not_{name}")
            true[row], false[row] = batch.false[v], batch.true[v]
    return Batch(vocabulary, true, false, len(batch))


class Term(NamedTuple):
    """The body of an item, and the facts that say that it is true, false or neither."""

    body: tuple[int, ...]
    true: int
    false: int
    unknown: int


class Facts:
    """A vocabulary that grows: the features, a label and its dual, and what deciding it needs."""

    def __init__(self, features: Vocabulary, label: str) -> None:
        self.features = features
        pairs = ((self.features.name(v), self.features.name(w)) for v, w in self.features.pairs)
        self.duals = {**dict(pairs), label: f"not_{label}"}
        self.index = {name: v for v, name in enumerate(self.features.names)}
        for name in (label, f"not_{label}"):
            if name in self.index:
                raise HornbookError(f"{name!r} is among the features already; leave the label out of them")
            self.named(name)

    def named(self, name: str) -> int:
        """The variable of this name, made if need be."""
        return self.index.setdefault(name, len(self.index))

    def concept(self, name: str) -> int:
        """The variable of a concept; where a feature has its name already, of one much like it."""
        while name in self.features:
            name += "_"
        return self.named(name)

    def about(self, body: frozenset[int]) -> Term:
        """The facts about a body: of a single literal those of its variable."""
        if len(body) > 1:
            name = "_and_".join(self.features.named(body))
            self.duals[name] = f"not_all_of_{name}"  # not_a_and_b would be not_a and b
            three = (self.named(prefix + name) for prefix in ("", "not_all_of_", "unknown_"))
            return Term(tuple(sorted(body)), *three)
        (v,) = body
        dual = self.features.dual(v)
        if dual is None:
            self.duals[self.features.name(v)] = f"not_{self.features.name(v)}"
            dual = self.named(f"not_{self.features.name(v)}")
            first = v
        else:
            first = min(v, dual)
        return Term((v,), v, dual, self.named(f"unknown_{self.features.name(first)}"))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.index, self.duals)


def exclusions(facts: Facts, term: Term) -> Iterator[Rule]:
    """What a term's three facts exclude, and how those of a conjunction follow from its literals."""
    yield Rule({term.true, term.unknown}, BOTTOM)
    yield Rule({term.false, term.unknown}, BOTTOM)
    if len(term.body) == 1:
        return
    literals = [facts.about(frozenset({v})) for v in term.body]
    for literal in literals:
        yield from exclusions(facts, literal)
        yield Rule({literal.false}, term.false)
    for known in product(*((literal.true, literal.unknown) for literal in literals)):
        yield Rule(known, term.true if known == term.body else term.unknown)
