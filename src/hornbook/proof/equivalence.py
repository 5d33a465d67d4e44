"""Proof-based oracles: membership by all completions of unknown values, and proved equivalence."""

from __future__ import annotations

import time
from collections.abc import Collection

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, Interpretation, Rule
from hornbook.models import Floats
from hornbook.proof.prover import BY_BRANCHING, Prover, Verdict, search
from hornbook.proof.region import States
from hornbook.proof.witness import CLIMB_STARTS, SearchOutcome, climb, random_states
from hornbook.queries import Counterexample, Guarantee, Proved, Unknown
from hornbook.randomness import Purpose, generator


class ExactCompletions:
    """Accepts an interpretation if the model accepts at least one of all its completions.

    What the prover cannot decide in time counts as accepted, so that no rule rests on it;
    `undecided` counts these cases.

    Parameters
    ----------
    prover
        The prover that decides; it must be about complete inputs.

    Examples
    --------
    >>> import torch
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.models import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = module[0].weight.copy_(torch.tensor([[2.0, 2.0]])), module[0].bias.fill_(-3.0)
    >>> vocabulary = Vocabulary(["horse", "wings"])
    >>> some = ExactCompletions(Prover(as_predictor(module), vocabulary))
    >>> some(Batch.from_array([[1, np.nan], [0, np.nan]], vocabulary))
    array([ True, False])

    """

    def __init__(self, prover: Prover) -> None:
        if prover.values != "complete":
            raise HornbookError("completions are complete inputs; make the prover with values='complete'")
        self.prover = prover
        self.undecided = 0

    def __call__(self, batch: Batch) -> Bools:
        """Whether some completion of each interpretation is accepted."""
        return np.array([verdict.status != "proved" for verdict in self._verdicts(batch)], np.bool_)

    def margin(self, batch: Batch) -> Floats:
        """1 for accepted interpretations, and for others the bound, which is negative."""
        found = [1.0 if v.status != "proved" else max(v.bound, -1e6) for v in self._verdicts(batch)]
        return np.array(found, np.float32)

    def describe(self) -> str:
        """What an answer means."""
        return "accepted: some completion is, of all there are; rejected: proved that none is"

    def _verdicts(self, batch: Batch) -> list[Verdict[Interpretation]]:
        verdicts = [self.prover.prove_rejection(item.true, item.false) for item in batch]
        self.undecided += sum(verdict.status == "undecided" for verdict in verdicts)
        return verdicts


class ProvedEquivalence:
    """An equivalence oracle for a judge that the prover can read: a network or an ensemble of trees.

    Parameters
    ----------
    prover
        The prover; its model judges interpretations.
    background
        Rules that no input violates.
    seconds
        Time limit of the search for an input that the hypothesis wrongly accepts; the prover has
        its own for each rule.

    """

    name = "proof"

    def __init__(
        self, prover: Prover, background: Collection[Rule] = (), seconds: float | None = None
    ) -> None:
        self.prover = prover
        self.background = frozenset(background)
        self.seconds = prover.seconds if seconds is None else seconds

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """Return a counterexample, or a guarantee if none was found."""
        started, open_, least = time.perf_counter(), 0, np.inf
        for rule in hypothesis:
            if rule in self.background:
                continue
            verdict = self.prover.prove_rule(rule)
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
        return Proved(BY_BRANCHING, float(min(least, -found.upper)))

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Do nothing: the oracle keeps no state between queries."""

    def _missing(self, hypothesis: HornTheory) -> SearchOutcome:
        """Search for an input that the hypothesis accepts and the model rejects."""
        prover = self.prover
        space, bounds = prover.space, prover.rejecting
        program = hypothesis.over(space.vocabulary)

        def admits(states: States) -> Bools:
            return program.satisfied_by(space.batch(states))

        def keep(regions: Bools) -> Bools:
            return program.satisfied_by(space.certain_facts(regions))

        deadline = time.perf_counter() + self.seconds
        region = space.whole()
        starts = random_states(space, region, 8 * CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
        starts = starts[admits(starts)]
        if len(starts):
            states, outputs = climb(bounds, region, starts[:CLIMB_STARTS], admits=admits)
            if outputs.max() > 0:
                return SearchOutcome(np.inf, float(outputs.max()), states[outputs.argmax()], 0)
        return search(bounds, deadline - time.perf_counter(), keep, admits)
