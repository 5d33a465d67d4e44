"""Facts about features, beside which a label is decided: true, false, or missing.

That a value is missing is a fact here, `unknown_v`, beside `v` and `not_v`; one of the three
holds of every feature that was looked at. Where a feature has such a name already, the fact gets
another; `Vocabulary.unknown` and `Vocabulary.dual` say which variable it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Rule, Vocabulary, bits
from hornbook.logic.vocabulary import NEGATION_PREFIX, fresh_name


def observed(batch: Batch, vocabulary: Vocabulary) -> Batch:
    """Rows of features over the vocabulary of a theory: what is missing becomes a fact, the rest is unknown.

    Examples
    --------
    >>> names = ["ascites", "dies", "not_ascites", "unknown_ascites"]
    >>> vocabulary = Vocabulary(names, {"ascites": "not_ascites"}, {"ascites": "unknown_ascites"})
    >>> observed(Batch.from_array([[1], [np.nan]], Vocabulary(["ascites"])), vocabulary).to_array()
    array([[ 1., nan,  0.,  0.],
           [nan, nan, nan,  1.]])

    """
    features = batch.vocabulary
    if vocabulary.names[: len(features)] != features.names:
        raise HornbookError("the vocabulary does not begin with the features of the batch")
    true, false = (np.zeros((len(vocabulary), batch.true.shape[1]), np.uint64) for _ in range(2))
    true[: len(features)], false[: len(features)] = batch.true, batch.false
    for v in range(len(features)):
        unknown, dual = vocabulary.unknown(v), vocabulary.dual(v)
        if unknown is not None:
            false[unknown] = batch.true[v] | batch.false[v]
            true[unknown] = ~false[unknown]
            bits.clear_spare(true[unknown : unknown + 1], len(batch))
        if dual is not None and dual >= len(features):
            true[dual], false[dual] = batch.false[v], batch.true[v]
    return Batch(vocabulary, true, false, len(batch))


class Term(NamedTuple):
    """The body of an item, and the facts that say that it is true, false or neither."""

    body: tuple[int, ...]
    true: int
    false: int
    unknown: int


class Facts:
    """A vocabulary that grows: the features, a label and its dual, and what deciding it needs.

    What it makes up has a name that no feature has, nor anything else in it.
    """

    def __init__(self, features: Vocabulary, label: str) -> None:
        decided = features.with_label(label)
        self.features = features
        self.label, self.negation = len(features), len(features) + 1
        self.index = {name: v for v, name in enumerate(decided.names)}
        self.duals, self.unknowns = dict(decided.dual_names), dict[str, str]()
        self.concepts: dict[str, int] = {}
        self.terms: dict[frozenset[int], Term] = {}

    def concept(self, name: str) -> int:
        """The variable of the concept that rules call by this name."""
        if name not in self.concepts:
            self.concepts[name] = self.index[self._new_name(name)]
        return self.concepts[name]

    def about(self, body: frozenset[int]) -> Term:
        """The facts about a body: of a single literal those of its variable."""
        if body not in self.terms:
            self.terms[body] = self._conjunction(body) if len(body) > 1 else self._literal(*body)
        return self.terms[body]

    def vocabulary(self) -> Vocabulary:
        """All that is there by now."""
        return Vocabulary(self.index, self.duals, self.unknowns)

    def _new_name(self, wanted: str) -> str:
        """The name of a new variable: as wanted, or much like it."""
        name = fresh_name(wanted, self.index)
        self.index[name] = len(self.index)
        return name

    def _conjunction(self, body: frozenset[int]) -> Term:
        name = "_and_".join(self.features.named(body))
        # not_a_and_b would be not_a and b
        true, false, unknown = (self._new_name(prefix + name) for prefix in ("", "not_all_of_", "unknown_"))
        self.duals[true] = false
        return Term(tuple(sorted(body)), self.index[true], self.index[false], self.index[unknown])

    def _literal(self, v: int) -> Term:
        name, dual = self.features.name(v), self.features.dual(v)
        if dual is None:
            self.duals[name] = self._new_name(NEGATION_PREFIX + name)
            dual = self.index[self.duals[name]]
        first = self.features.name(min(v, dual))
        if first not in self.unknowns:
            self.unknowns[first] = self._new_name(f"unknown_{first}")
        return Term((v,), v, dual, self.index[self.unknowns[first]])


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
