"""Conditions under which two models are proved to say the same, for every row and not only for samples.

Rules are learned for the classes that both models give alike, as precise as samples can tell. Each is put
to the provers of both models: whenever its conditions hold, does each decide for that class? If one of
them refutes it by a row, a condition is added that leaves this row out and keeps the samples about which
both models are most certain, and it is tried again.

References
----------
A. Solar-Lezama. Program Synthesis by Sketching. 2008 (candidates that learn from what refutes them).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hornbook.code_book import CodeBook
from hornbook.conditions import Condition, Missing, meet_conditions
from hornbook.deadline import Deadline
from hornbook.diff.result import AgreementRegion
from hornbook.diff.samples import ModelPair, PairSamples
from hornbook.proof import ColumnProver, Domain, make
from hornbook.statistics import Share
from hornbook.surrogates.grid import CodedRows, Floats, Grid, Ints
from hornbook.surrogates.rules import Body, LiteralRules, fit_regions, match_body

PROOF_SAMPLES = 4_000
"""Samples by which regions are looked for."""

MAX_REGION_LITERALS = 30
"""Conditions of all rules together that are put to the provers."""

REGION_PRECISION = 0.98
"""The least precision of a rule that is put to the provers."""

MAX_TIGHTENINGS = 60
"""The most conditions that are added to a rule that is not proved."""

MAX_CONDITIONS = 10
"""Conditions of a region at the most, besides those that values are known."""

LEAST_SUPPORT = 0.005
"""The least share of the samples that a region has."""

TIGHTENED_SHARE = 0.8
"""Approximate share of a rule's samples, the most certain ones, that a further condition keeps."""

PROOF_TIME_SHARE = 0.1
"""The share of all the time that a single proof may take."""


@dataclass(frozen=True)
class AgreementProver:
    """Proves that both models decide for a class wherever conditions hold.

    Parameters
    ----------
    provers
        The prover of each model.
    outcomes
        For each model, its own number of each common class; -1 for one that it does not have.
    known
        Conditions that values are known, of columns in which a model takes no missing values.

    """

    provers: tuple[ColumnProver, ColumnProver]
    outcomes: tuple[Ints, Ints]
    known: tuple[Condition, ...]

    @classmethod
    def of(cls, pair: ModelPair, table: pd.DataFrame) -> AgreementProver:
        """Make the provers of two models; refuse a model that the prover does not support."""
        domain = Domain.of(table)
        provers = (make(pair.old.predictor, domain), make(pair.new.predictor, domain))
        outcomes = []
        for numbers in pair.numbers:
            own = np.full(len(pair.classes), -1, np.intp)
            own[numbers] = np.arange(len(numbers))
            outcomes.append(own)
        needed = [
            name
            for name, values in domain.ranges.items()
            if values.missing
            and any(
                name in prover.domain.ranges and not prover.domain.ranges[name].missing for prover in provers
            )
        ]
        return cls(
            provers, (outcomes[0], outcomes[1]), tuple(Missing(name, missing=False) for name in needed)
        )

    def prove(
        self, body: Sequence[Condition], outcome: int, seconds: float
    ) -> tuple[bool, pd.DataFrame | None]:
        """Whether both models are proved to decide for a class wherever a body holds; else a witness, if any.

        A model that does not read a column decides alike whatever is there, so it needs no condition on it.
        """
        for prover, outcomes in zip(self.provers, self.outcomes, strict=True):
            own = [condition for condition in body if condition.column in prover.domain.ranges]
            if outcomes[outcome] < 0:
                return False, None
            verdict = prover.prove(own, int(outcomes[outcome]), seconds=seconds)
            if verdict.status != "proved" or verdict.is_vacuous:
                return False, verdict.witness
        return True, None


def prove_agreement(
    pair: ModelPair,
    prover: AgreementProver,
    rows: PairSamples,
    code_book: CodeBook,
    seconds: float,
    rng: np.random.Generator,
) -> list[AgreementRegion]:
    """Regions in which both models are proved to say the same, the one with most samples first.

    Parameters
    ----------
    pair
        The models.
    prover
        Their provers.
    rows
        All rows of the table, which are counted.
    code_book
        The words.
    seconds
        How long all proofs may take.
    rng
        The source of randomness.

    """
    frame = pair.old.sample(PROOF_SAMPLES, rng)
    old, new = pair.labels(frame)
    finder = RegionFinder(
        Grid.of(pair.frame, code_book=code_book).encode(frame),
        np.where(old == new, old + 1, 0),
        np.min([_rank(margins) for margins in pair.measure_margins(frame)], axis=0),
    )
    deadline = Deadline.after(seconds)
    regions = []
    for body, outcome in finder.list_candidates():
        proved = finder.prove_part(prover, body, outcome, PROOF_TIME_SHARE * seconds, deadline)
        if proved is not None:
            conditions = (*finder.name(proved), *prover.known)
            regions.append(
                AgreementRegion(
                    conditions,
                    " and ".join(map(code_book.describe, conditions)),
                    pair.classes[outcome],
                    int(meet_conditions(conditions, rows.frame).sum()),
                    Share.where(meet_conditions(conditions, frame)),
                )
            )
    largest = sorted(regions, key=lambda region: -region.support.hits)
    return [
        region
        for place, region in enumerate(largest)
        if not any(_lies_within(region, other) for other in largest[:place])
    ]


def _lies_within(region: AgreementRegion, other: AgreementRegion) -> bool:
    """Whether the conditions of a region imply those of another one."""
    return all(any(own.implies(condition) for own in region.body) for condition in other.body)


def _rank(margins: Floats) -> Floats:
    """The rank of each margin among all, from 0 to 1."""
    ranks: Floats = np.argsort(np.argsort(margins)) / max(1, len(margins) - 1)
    return ranks


@dataclass(frozen=True, eq=False)
class RegionFinder:
    """Finds regions in which both models give the same class, by samples.

    Parameters
    ----------
    rows
        The samples.
    classes
        0 where the models disagree, else one more than the number of the class that both give.
    certainty
        How far each sample is from another decision of either model, from 0 to 1.

    """

    rows: CodedRows
    classes: Ints
    certainty: Floats

    def name(self, body: Body) -> tuple[Condition, ...]:
        """The conditions of a body."""
        return tuple(self.rows.grid.literals[literal] for literal in body)

    def list_candidates(self) -> list[tuple[Body, int]]:
        """Bodies and the class that both give where they hold, those that hold most often first."""
        weights = np.ones(len(self.rows))
        *_, rules = [
            LiteralRules((), 0),
            *fit_regions(self.rows, self.classes, weights, MAX_REGION_LITERALS, REGION_PRECISION),
        ]
        bodies = [(body, outcome - 1) for body, outcome in rules.rules]
        return sorted(bodies, key=lambda one: -int(match_body(self.rows, one[0]).sum()))

    def prove_part(
        self, prover: AgreementProver, body: Body, outcome: int, seconds: float, deadline: Deadline
    ) -> Body | None:
        """The body, or a longer one, for which both models are proved to give a class; None if none is."""
        for _ in range(MAX_TIGHTENINGS):
            where = np.flatnonzero(match_body(self.rows, body))
            left = min(seconds, deadline.left)
            if left <= 0 or len(body) > MAX_CONDITIONS or len(where) < LEAST_SUPPORT * len(self.rows):
                return None
            proved, witness = False, None
            if (self.classes[where] == outcome + 1).all():
                proved, witness = prover.prove((*self.name(body), *prover.known), outcome, left)
            if proved:
                return self._drop_conditions(prover, body, outcome, seconds, deadline)
            body = self._shorten((*body, self._find_literal(where, outcome, witness)))
        return None

    def _drop_conditions(
        self, prover: AgreementProver, body: Body, outcome: int, seconds: float, deadline: Deadline
    ) -> Body:
        """Drop the conditions that the proof does not need; sort the others by column."""
        for literal in sorted(
            body, key=lambda literal: int(self.rows.where_true(literal).sum()), reverse=True
        ):
            shorter = tuple(other for other in body if other != literal)
            left = min(seconds, deadline.left)
            if left > 0 and prover.prove((*self.name(shorter), *prover.known), outcome, left)[0]:
                body = shorter
        return tuple(sorted(body))

    def _find_literal(self, where: Ints, outcome: int, witness: pd.DataFrame | None) -> int:
        """Find the literal, false of a witness, that keeps most samples of which both models are certain."""
        right = self.classes[where] == outcome + 1
        certainty = np.where(right, self.certainty[where], -1.0)
        worth = self.rows.take(where).sum_true(certainty - np.quantile(certainty, 1 - TIGHTENED_SHARE))
        if witness is not None:
            for literal, condition in enumerate(self.rows.grid.literals):
                if condition.column not in witness or not condition.evaluate(witness)[1][0]:
                    worth[literal] = -np.inf
        return int(worth.argmax())

    def _shorten(self, body: Body) -> Body:
        """Remove the literals that others imply."""
        named = dict(zip(body, self.name(body), strict=True))
        return tuple(
            literal
            for literal, condition in named.items()
            if not any(other.implies(condition) for place, other in named.items() if place != literal)
        )
