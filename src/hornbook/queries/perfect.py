"""A teacher that knows the target theory and answers every query exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Interpretation, Rule, bits, chaining, violation
from hornbook.queries.protocol import Counterexample, Exact
from hornbook.randomness import Purpose, generator


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
    Interpretation(true=frozenset({0, 1}), false=frozenset({2}))
    >>> teacher.equivalent(teacher.theory)
    Exact()

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
        self.enlarge = POLICIES[counterexamples]
        self.rng = rng or generator(0, Purpose.TEACHER_COUNTEREXAMPLES)

    def member(self, batch: Batch) -> Bools:
        """Whether each interpretation satisfies the theory."""
        return self.theory.satisfied_by(batch)

    def equivalent(self, hypothesis: HornTheory) -> Counterexample | Exact:
        """A counterexample if there is one."""
        for rule in hypothesis.unentailed(self.theory):
            return Counterexample(self.enlarge(rule, hypothesis, self.rng))
        for rule in self.theory.unentailed(hypothesis):
            return Counterexample(self.enlarge(rule, self.theory, self.rng), positive=True)
        return Exact()


def _smallest(rule: Rule, accepting: HornTheory, rng: np.random.Generator) -> Interpretation:
    return violation(rule)


def _with_random_values(rule: Rule, accepting: HornTheory, rng: np.random.Generator) -> Interpretation:
    true = _enlarge_body(rule, accepting, rng, share=0.5)
    rest = frozenset(range(len(accepting.vocabulary))) - accepting.closure(true)
    zeros = frozenset(v for v in sorted(rest) if rng.random() < 0.5)
    return Interpretation(true, zeros | violation(rule).false)


def _adversarial(rule: Rule, accepting: HornTheory, rng: np.random.Generator) -> Interpretation:
    return _complete_closure(_enlarge_body(rule, accepting, rng, share=1.0), accepting)


def _total(rule: Rule, accepting: HornTheory, rng: np.random.Generator) -> Interpretation:
    return _complete_closure(rule.body, accepting)


def _complete_closure(facts: frozenset[int], accepting: HornTheory) -> Interpretation:
    everything = frozenset(range(len(accepting.vocabulary)))
    true = everything & accepting.closure(facts)
    return Interpretation(true, everything - true)


def _enlarge_body(
    rule: Rule, accepting: HornTheory, rng: np.random.Generator, share: float
) -> frozenset[int]:
    """The body and about `share` of the other variables, so that the head still does not follow."""
    program, true = accepting.program, bits.mask(rule.body)
    breach = program.bottom if isinstance(rule.head, Bottom) else program.bottom | 1 << rule.head
    others = [
        v
        for v in rng.permutation(len(accepting.vocabulary)).tolist()
        if v not in rule.body and v != rule.head
    ]
    for v in others:
        if rng.random() < share and not program.close(true | 1 << v) & breach:
            true |= 1 << v
    return frozenset(chaining.members(true))


POLICIES: dict[str, Callable[[Rule, HornTheory, np.random.Generator], Interpretation]] = {
    "violated": _smallest,
    "inflated": _with_random_values,
    "adversarial": _adversarial,
    "total": _total,
}
