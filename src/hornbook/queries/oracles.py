"""Equivalence oracles: samples, and a known theory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Interpretation, Rule, bits, chaining, violation
from hornbook.queries.distributions import Distribution
from hornbook.queries.protocol import (
    Counterexample,
    Estimated,
    Exact,
    Guarantee,
    Membership,
    Pac,
    Unknown,
)
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, sample_size

SAMPLING_CHUNK = 1 << 15
"""Number of samples drawn and judged at a time, which bounds the memory for any sample size."""


class Sampling:
    """Draws samples until explanation and model differ on one; negative counterexamples come first.

    Every sample is fresh: none was seen by the learner before. A query that finds nothing is
    PAC if its size was computed for that and is at least Angluin's, whose failures add up to δ
    over all queries of a run; otherwise it is an estimate with its interval.

    Parameters
    ----------
    member
        The teacher.
    distribution
        Where samples come from.
    size
        Maximum number of samples of a query: `paper`, `angluin` or a number.
    epsilon, delta
        Tolerances from which the size is computed.
    seed
        Seed of the samples. With the number of the query and of the chunk it determines every chunk.
    remember
        Called with the labelled chunk that contains the counterexample; it feeds the learner's pool.
    chunk
        How many samples are drawn and judged at a time; few, where an answer costs much.

    Examples
    --------
    >>> from hornbook.queries.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> asked = Sampling(theory.satisfied_by, Random(theory.vocabulary), 1000, seed=0)
    >>> found = asked(HornTheory(theory.vocabulary))
    >>> found.interpretation, found.positive, found.found_by
    (true [0, 1], false [2], all else unknown, False, 'sampling')
    >>> print(asked(theory).disagreement)
    0.00 % (95 % interval 0.00 % to 0.37 %)

    """

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        size: str | int = "paper",
        *,
        epsilon: float = 0.05,
        delta: float = 0.05,
        seed: int,
        remember: Callable[[Batch, Bools], None] | None = None,
        chunk: int | None = None,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.seed = seed
        self.remember = remember
        self.chunk = chunk or SAMPLING_CHUNK
        self.queries = 0
        self.size_of_query(0)  # refuses what cannot be drawn before anything is asked

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or the guarantee that its absence gives."""
        self.queries += 1
        size = self.size_of_query(self.queries)
        for number, start in enumerate(range(0, size, self.chunk)):
            rng = generator(self.seed, Purpose.EQUIVALENCE, self.queries, number)
            batch = self.distribution.draw(min(self.chunk, size - start), rng)
            accepted = self.member(batch)
            differs = accepted != hypothesis.satisfied_by(batch)
            if differs.any():
                if self.remember is not None:
                    self.remember(batch, accepted)
                missing = differs & ~accepted
                first = int(np.argmax(missing if missing.any() else differs))
                return Counterexample(batch[first], bool(accepted[first]), "sampling")
        words = self.distribution.describe()
        if isinstance(self.size, str) and size >= self._size("angluin", self.queries):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def size_of_query(self, query: int) -> int:
        """The number of samples of the query with this number, counted from 1."""
        return self._size(self.size, query)

    def _size(self, rule: str | int, query: int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, query)


class NegativeSampling:
    """The paper's equivalence query: the first sample that only the teacher rejects.

    Samples that only the hypothesis rejects are skipped: LRN* has no use for them. So finding none is no
    guarantee.

    Parameters
    ----------
    member
        The teacher.
    distribution
        Where samples come from.
    size
        The number of samples of the query with this number.
    rng
        The source of randomness.

    """

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        size: Callable[[int], int],
        rng: np.random.Generator,
    ) -> None:
        self.member = member
        self.distribution = distribution
        self.size = size
        self.rng = rng
        self.queries = 0

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Unknown:
        """The first such sample, or that there was none."""
        self.queries += 1
        size = self.size(self.queries)
        for start in range(0, size, SAMPLING_CHUNK):
            batch = self.distribution.draw(min(SAMPLING_CHUNK, size - start), self.rng)
            missed = np.flatnonzero(hypothesis.satisfied_by(batch) & ~self.member(batch))
            if len(missed):
                return Counterexample(batch[int(missed[0])], found_by="sampling")
        return Unknown(f"no counterexample among {size} samples")


POLICIES = ("violated", "inflated", "adversarial", "total")
"""The ways to choose a counterexample."""


class PerfectTeacher:
    """Answers membership and equivalence queries about a theory.

    Parameters
    ----------
    theory
        What is to be learned.
    counterexamples
        Which of the many counterexamples to give: `violated`, the body of a violated rule true
        and its head false; `inflated`, that with random further facts; `adversarial`, with as
        many further facts as possible and everything else false; `total`, everything false
        that does not follow.
    rng
        The source of the random facts.

    Examples
    --------
    >>> teacher = PerfectTeacher(HornTheory.parse("horse & wings -> pegasus"))
    >>> teacher.equivalent(HornTheory(teacher.theory.vocabulary)).interpretation
    true [0, 1], false [2], all else unknown
    >>> print(teacher.equivalent(teacher.theory))
    exact: rules and teacher agree on every interpretation

    """

    def __init__(
        self,
        theory: HornTheory,
        counterexamples: str = "violated",
        rng: np.random.Generator | None = None,
    ) -> None:
        if counterexamples not in POLICIES:
            raise HornbookError(f"counterexamples={counterexamples!r}; choose one of {', '.join(POLICIES)}")
        self.theory = theory
        self.counterexamples = counterexamples
        self.rng = rng or generator(0, Purpose.TEACHER_COUNTEREXAMPLES)

    def member(self, batch: Batch) -> Bools:
        """Whether each interpretation satisfies the theory."""
        return self.theory.satisfied_by(batch)

    def equivalent(self, hypothesis: HornTheory) -> Counterexample | Exact:
        """A counterexample if there is one."""
        for rule in hypothesis.unentailed(self.theory):
            return Counterexample(self._break_rule(rule, hypothesis))
        for rule in self.theory.unentailed(hypothesis):
            return Counterexample(self._break_rule(rule, self.theory), positive=True)
        return Exact()

    def _break_rule(self, rule: Rule, accepting: HornTheory) -> Interpretation:
        """An interpretation that breaks a rule and that a theory accepts."""
        smallest, everything = violation(rule), frozenset(range(len(accepting.vocabulary)))
        if self.counterexamples == "violated":
            return smallest
        shares = {"inflated": 0.5, "adversarial": 1.0, "total": 0.0}
        true = self._enlarge_body(rule, accepting, shares[self.counterexamples])
        closed = everything & accepting.closure(true)
        if self.counterexamples != "inflated":
            return Interpretation(closed, everything - closed)
        zeros = frozenset(v for v in sorted(everything - closed) if self.rng.random() < 0.5)
        return Interpretation(true, zeros | smallest.false)

    def _enlarge_body(self, rule: Rule, accepting: HornTheory, share: float) -> frozenset[int]:
        """The body and about `share` of the other variables, so that the head still does not follow."""
        if not share:
            return rule.body
        program, true = accepting.program, bits.mask(rule.body)
        breach = program.bottom if isinstance(rule.head, Bottom) else program.bottom | 1 << rule.head
        for v in self.rng.permutation(len(accepting.vocabulary)).tolist():
            if v in rule.body or v == rule.head:
                continue
            if self.rng.random() < share and not program.close(true | 1 << v) & breach:
                true |= 1 << v
        return frozenset(chaining.members(true))
