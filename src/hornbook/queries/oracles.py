"""Equivalence oracles: samples, stored examples, single rules, several in turn, and a known theory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Interpretation, Rule, bits, chaining, violation
from hornbook.queries.distributions import Distribution
from hornbook.queries.protocol import (
    Counterexample,
    Equivalence,
    Estimated,
    Exact,
    Guarantee,
    Membership,
    Pac,
    Unknown,
    interpretation,
)
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, sample_size

SAMPLING_CHUNK = 1 << 15
"""Number of samples drawn and judged at a time, which bounds the memory for any sample size."""

ChunkId = tuple[int, int, int]
"""The number of a query, the number of a chunk in it, and the size of the chunk."""


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

    name = "sampling"

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
        for at in self._chunk_ids(size):
            batch = draw_chunk(self.distribution, self.seed, at)
            accepted = self.member(batch)
            differs = accepted != hypothesis.satisfied_by(batch)
            if differs.any():
                if self.remember is not None:
                    self.remember(batch, accepted)
                first = first_counterexample_index(differs, accepted)
                return Counterexample(batch[first], bool(accepted[first]), self.name, at)
        words = self.distribution.describe()
        if isinstance(self.size, str) and size >= self._size("angluin", self.queries):
            return Pac(self.epsilon, self.delta, words)
        return Estimated(Share.of(0, size), words)

    def replay(self, hypothesis: HornTheory, counterexample: Counterexample) -> None:
        """Replay a recorded query: draw the chunk with its counterexample again, and remember it."""
        self.queries += 1
        if counterexample.found_by == self.name and self.remember is not None:
            query, chunk, size = counterexample.at
            batch = draw_chunk(self.distribution, self.seed, (query, chunk, size))
            self.remember(batch, self.member(batch))

    def size_of_query(self, query: int) -> int:
        """The number of samples of the query with this number, counted from 1."""
        return self._size(self.size, query)

    def _size(self, rule: str | int, query: int) -> int:
        return sample_size(rule, len(self.distribution.vocabulary), self.epsilon, self.delta, query)

    def _chunk_ids(self, size: int) -> Iterator[ChunkId]:
        for start in range(0, size, self.chunk):
            yield self.queries, start // self.chunk, min(self.chunk, size - start)


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


def first_counterexample_index(differs: Bools, accepted: Bools) -> int:
    """The index of the first negative counterexample, or of the first positive one if there is none."""
    missing = differs & ~accepted
    return int(np.argmax(missing if missing.any() else differs))


def draw_chunk(distribution: Distribution, seed: int, at: ChunkId) -> Batch:
    """Draw the samples of a chunk, which depend on the seed and the chunk's id only."""
    query, chunk, size = at
    return distribution.draw(size, generator(seed, Purpose.EQUIVALENCE, query, chunk))


class PoolOracle:
    """Finds an item of a pool that the teacher rejects and the hypothesis accepts.

    `missed(hypothesis)` gives the first such item, or None.
    """

    name = "stored"

    def __init__(self, missed: Callable[[HornTheory], Interpretation | None]) -> None:
        self.missed = missed

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Unknown:
        """A stored counterexample; none stored says nothing about the rest."""
        item = self.missed(hypothesis)
        if item is None:
            return Unknown("no stored example contradicts the hypothesis")
        return Counterexample(item, found_by=self.name)

    def replay(self, hypothesis: HornTheory, counterexample: Counterexample) -> None:
        """Do nothing: the pool is this oracle's only state."""


class RuleOracle:
    """Asks for each rule A → u whether the closure of A under the other rules, with u false, is rejected.

    If it is accepted, the rule is wrong. As the hypothesis comes close to the teacher this
    question becomes decisive: it completes A with just what follows from it. Each question is
    asked once, so that a rule that is kept for its precision is not brought up again.
    """

    name = "rules"

    def __init__(self, member: Membership, background: Collection[Rule]) -> None:
        self.member = member
        self.background = frozenset(background)
        self._asked: set[Interpretation] = set()

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Unknown:
        """A violation of some rule that the teacher accepts."""
        questions = self._take_new_questions(hypothesis)
        accepted = self.member(Batch.from_interpretations(questions, hypothesis.vocabulary))
        if accepted.any():
            return Counterexample(questions[int(accepted.argmax())], True, self.name)
        return Unknown("the teacher rejects the breach of every rule, all else unknown")

    def replay(self, hypothesis: HornTheory, counterexample: Counterexample) -> None:
        """Replay a recorded query: mark the questions about its hypothesis as asked."""
        self._take_new_questions(hypothesis)

    def _take_new_questions(self, hypothesis: HornTheory) -> list[Interpretation]:
        questions = [item for item in self._violations(hypothesis) if item not in self._asked]
        self._asked.update(questions)
        return questions

    def _violations(self, hypothesis: HornTheory) -> Iterator[Interpretation]:
        vocabulary = hypothesis.vocabulary
        everything = frozenset(range(len(vocabulary)))
        for rule in hypothesis:
            others = HornTheory(vocabulary, (other for other in hypothesis if other != rule))
            closed = others.closure(rule.body)
            if rule not in self.background and rule.head not in closed and not closed - everything:
                breach = violation(rule)
                item = interpretation(vocabulary, everything & closed, breach.false)
                if not item.true & item.false:
                    yield item


class ResumableOracle(Equivalence, Protocol):
    """An equivalence oracle with a name that can replay the queries of an earlier run."""

    @property
    def name(self) -> str:
        """The value of `found_by` in its counterexamples."""
        ...

    def replay(self, hypothesis: HornTheory, counterexample: Counterexample, /) -> None:
        """Replay a recorded query: restore the state after the chain answered `counterexample`."""
        ...


class Chain:
    """Asks each oracle in turn until one finds a counterexample.

    An oracle that has answered its share of the queries so far lets the others go first, so
    that none of them answers everything. If none finds a counterexample, the answer is the
    first guarantee, in the order of the chain, that says more than `Unknown`.

    Parameters
    ----------
    oracles
        The oracles, in order.
    shares
        By name, the share of the queries that an oracle may answer before the others; 1 for
        those that are not named.

    """

    def __init__(self, oracles: Sequence[ResumableOracle], shares: Mapping[str, float] | None = None) -> None:
        self.oracles = oracles
        self.shares = shares or {}
        self._answered: Counter[str] = Counter()

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or what its absence guarantees."""
        guarantees: dict[str, Guarantee] = {}
        for oracle in self._order_oracles():
            answer = oracle(hypothesis)
            if isinstance(answer, Counterexample):
                self._answered[oracle.name] += 1
                return answer
            guarantees[oracle.name] = answer
        in_order = [guarantees[oracle.name] for oracle in self.oracles]
        nothing = in_order[0] if in_order else Unknown("no equivalence oracle was asked")
        return next((one for one in in_order if not isinstance(one, Unknown)), nothing)

    def replay(self, hypothesis: HornTheory, counterexample: Counterexample) -> None:
        """Replay a recorded query with every oracle that was asked, up to the one that answered."""
        for oracle in self._order_oracles():
            oracle.replay(hypothesis, counterexample)
            if oracle.name == counterexample.found_by:
                self._answered[oracle.name] += 1
                return

    def _order_oracles(self) -> list[ResumableOracle]:
        """The oracles within their share, in order, and then the others."""
        queries = self._answered.total() + 1
        return sorted(
            self.oracles,
            key=lambda oracle: self._answered[oracle.name] + 1 > self.shares.get(oracle.name, 1.0) * queries,
        )


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
