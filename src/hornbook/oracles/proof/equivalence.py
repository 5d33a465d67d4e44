"""Equivalence decided: a counterexample, a proof that there is none, or how far the proof came.

Positive side: an input that a rule rejects and the model accepts, which is one question a rule.
Negative side: an input that the hypothesis accepts and the model rejects. A region is left out of
the search as soon as the hypothesis rejects what is certain in it, for it then rejects every input
in it.
"""

from __future__ import annotations

import time
from collections.abc import Collection

import numpy as np

from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.rule import Rule
from hornbook.logic.theory import HornTheory
from hornbook.oracles.proof.cascade import Prover
from hornbook.oracles.proof.found import Found
from hornbook.oracles.proof.region import States
from hornbook.oracles.proof.sides import BRANCHING, search
from hornbook.oracles.proof.witness import STARTS, climb, random_states
from hornbook.queries import Counterexample, Guarantee, Proved, Unknown
from hornbook.randomness import Purpose, generator


class ProvedEquivalence:
    """An equivalence oracle for judges whose inside can be seen.

    Parameters
    ----------
    prover
        Who answers; its model judges interpretations.
    background
        Rules that always hold, which no input violates.
    seconds
        What the negative side may take; the prover says what a rule may.

    """

    name = "proof"

    def __init__(
        self, prover: Prover, background: Collection[Rule] = (), seconds: float | None = None
    ) -> None:
        self.prover = prover
        self.background = frozenset(background)
        self.seconds = prover.seconds if seconds is None else seconds

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """A counterexample, or what is known of there being none."""
        started, open_, least = time.perf_counter(), 0, np.inf
        for rule in hypothesis:
            if rule in self.background:
                continue
            verdict = self.prover.rule(rule)
            if verdict.witness is not None:
                return Counterexample(verdict.witness, True, self.name)
            open_ += verdict.status == "undecided"
            least = min(least, -verdict.bound)
        found = self._missing(hypothesis)
        if found.best > 0 and found.states is not None:
            (item,) = self.prover.space.batch(found.states[None])
            if not self.prover.member(Batch.from_interpretations([item], hypothesis.vocabulary))[0]:
                return Counterexample(item, False, self.name)
        spent = time.perf_counter() - started
        if open_ or found.upper >= 0:
            sides = [f"{open_} rules are undecided"] * bool(open_)
            if found.upper >= 0:
                sides.append(f"what the rules accept may be rejected by up to {found.upper:.3g}")
            return Unknown(f"undecided after {spent:.1f} s: {'; '.join(sides)}")
        return Proved(BRANCHING, float(min(least, -found.upper)))

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Nothing is remembered from one question to the next."""

    def _missing(self, hypothesis: HornTheory) -> Found:
        """Search for an input that the hypothesis accepts and the model rejects."""
        prover = self.prover
        space, bounds = prover.space, prover.rejecting
        program = hypothesis.over(space.vocabulary)

        def admits(states: States) -> Bools:
            return program.satisfied_by(space.batch(states))

        def keep(regions: Bools) -> Bools:
            return program.satisfied_by(space.known(regions))

        deadline = time.perf_counter() + self.seconds
        region = space.whole()
        starts = random_states(space, region, 8 * STARTS, generator(0, Purpose.PROOF_STARTS))
        starts = starts[admits(starts)]
        if len(starts):
            states, outputs = climb(bounds, region, starts[:STARTS], admits=admits)
            if outputs.max() > 0:
                return Found(np.inf, float(outputs.max()), states[outputs.argmax()], 0)
        return search(bounds, deadline - time.perf_counter(), keep, admits)
