"""Provably prime rules: nothing can be left out of the body, and each literal has a witness for that."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

import numpy as np

from hornbook.logic import Interpretation, Rule
from hornbook.logic.theory import violation
from hornbook.proof.prover import Prover, Verdict
from hornbook.proof.region import TRUE, UNKNOWN, States
from hornbook.proof.witness import STARTS, climb, random_states
from hornbook.queries import interpretation
from hornbook.randomness import Purpose, generator


@dataclass(frozen=True)
class Prime:
    """A rule with what was found out about each literal of its body.

    Parameters
    ----------
    rule
        The rule.
    verdict
        The answer to the question whether it holds.
    needed
        For literals that cannot be left out, an input that the model would then accept wrongly.
    open
        Literals of which it is undecided.
    questions
        Every answer on the way, for times.

    """

    rule: Rule
    verdict: Verdict
    needed: Mapping[int, Interpretation] = field(default_factory=dict)
    open: tuple[int, ...] = ()
    questions: tuple[Verdict, ...] = ()

    @property
    def is_prime(self) -> bool:
        """Whether the rule is proved, and every literal is proved to be needed."""
        return self.verdict.status == "proved" and self.rule.body == set(self.needed)


def shrunk(prover: Prover, rule: Rule, last: Collection[int] = (), deadline: float = math.inf) -> Prime:
    """Leave out of a rule what can provably be left out, one literal after another.

    The literal goes next without which a linear bound on the output stays lowest: so the
    questions stay easy for as long as can be, and the body gets short. The bound only rises as
    literals go, so a literal is looked at again only when it seems to be the next. A literal that
    is needed stays needed when others are left out, so each is asked about once.

    Parameters
    ----------
    prover
        Who answers about the model.
    rule
        The rule; if it is not proved it stays as it is.
    last
        Literals that go after all others.
    deadline
        By `time.time`: literals that are not asked about by then are open.

    """
    verdict = prover.rule(rule)
    answers = [verdict]
    if verdict.status != "proved":
        return Prime(rule, verdict, questions=tuple(answers))
    needed: dict[int, Interpretation] = {}
    unsure: list[int] = []
    waiting = [(literal in last, -np.inf, literal) for literal in sorted(rule.body)]
    heapify(waiting)
    while waiting and time.time() < deadline:
        late, _, literal = heappop(waiting)
        smaller = Rule(rule.body - {literal}, rule.head)
        place = (late, prover.linear(smaller), literal)
        if waiting and waiting[0] < place:
            heappush(waiting, place)
            continue
        answer = prover.rule(smaller, min(prover.seconds, deadline - time.time()))
        answers.append(answer)
        if answer.status == "proved":
            rule, verdict = smaller, answer
        elif answer.witness is not None:
            needed[literal] = answer.witness
        else:
            unsure.append(literal)
    unsure += [literal for _, _, literal in waiting]
    return Prime(rule, verdict, needed, tuple(unsure), tuple(answers))


def repaired(prover: Prover, rule: Rule, deadline: float = math.inf) -> Prime:
    """A rule that holds, from one that does not: literals are added until it does, then spare ones go.

    The literals are those of one input that violates the rule and that the model clearly rejects;
    what is left of them in the end is what the rule lacked. A rule that no such input violates
    stays refuted.
    """
    verdict = prover.rule(rule)
    goal = _rejected(prover, rule) if verdict.witness is not None else None
    if goal is None:
        return (
            shrunk(prover, rule) if verdict.status == "proved" else Prime(rule, verdict, questions=(verdict,))
        )
    item = _question(prover, rule)
    said = (prover.literal(u, goal[u] == TRUE) for u in np.flatnonzero(goal != UNKNOWN).tolist())
    added = {literal for literal in said if literal is not None} - item.true
    prime = shrunk(prover, Rule(rule.body | added, rule.head), rule.body, deadline)
    if prime.verdict.status != "proved":
        return Prime(rule, verdict, questions=(verdict, *prime.questions))
    return replace(prime, questions=(verdict, *prime.questions))


def _question(prover: Prover, rule: Rule) -> Interpretation:
    item = violation(rule)
    return interpretation(prover.vocabulary, item.true, item.false)


def _rejected(prover: Prover, rule: Rule) -> States | None:
    """An input without unknown values that violates a rule, and that the model clearly rejects."""
    item = _question(prover, rule)
    region, bounds = prover.region(item), prover.side(item)
    if region is None or bounds is None:
        return None
    opposite = prover.rejecting if bounds is prover.accepting else prover.accepting
    certain = region.copy()
    certain[:, UNKNOWN] &= region.sum(axis=1) == 1
    rng = generator(0, Purpose.PROOF_STARTS)
    states, outputs = climb(opposite, certain, random_states(prover.space, certain, STARTS, rng), np.inf)
    return states[outputs.argmax()] if outputs.max() > 0 else None
