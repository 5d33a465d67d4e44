"""Provably prime rules: no condition can be dropped, and each has a witness that shows why."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

import numpy as np

from hornbook.logic import Interpretation, Rule, violation
from hornbook.proof.prover import Prover, Verdict
from hornbook.proof.region import TRUE, UNKNOWN, States
from hornbook.proof.witness import CLIMB_STARTS, climb, random_states
from hornbook.queries import interpretation
from hornbook.randomness import Purpose, generator


@dataclass(frozen=True)
class Prime:
    """A rule with the evidence that each literal of its body is needed.

    Parameters
    ----------
    rule
        The rule.
    verdict
        Whether the rule holds.
    needed
        For each literal that cannot be dropped, an input that breaks the rule without it.
    open
        Literals for which this is undecided.
    questions
        All verdicts on the way, for their times.

    """

    rule: Rule
    verdict: Verdict[Interpretation]
    needed: Mapping[int, Interpretation] = field(default_factory=dict)
    open: tuple[int, ...] = ()
    questions: tuple[Verdict[Interpretation], ...] = ()

    @property
    def is_prime(self) -> bool:
        """Whether the rule is proved, and every literal is proved to be needed."""
        return self.verdict.status == "proved" and self.rule.body == set(self.needed)


def shrink_rule(prover: Prover, rule: Rule, last: Collection[int] = (), deadline: float = math.inf) -> Prime:
    """Drop the literals of a rule that can provably be dropped, one after another.

    Next comes the literal without which a linear bound on the output is lowest, so that the
    questions stay easy as long as possible. The bound only rises as literals are dropped, so it is
    computed again only for the candidate at the top of the queue. A needed literal stays needed
    when others are dropped, so each is asked about once.

    Parameters
    ----------
    prover
        The prover of the model.
    rule
        The rule; it is returned unchanged if it is not proved.
    last
        Literals to drop after all others.
    deadline
        A `time.time`; literals not asked about by then are open.

    """
    verdict = prover.prove_rule(rule)
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
        place = (late, prover.bound_violations(smaller), literal)
        if waiting and waiting[0] < place:
            heappush(waiting, place)
            continue
        answer = prover.prove_rule(smaller, min(prover.seconds, deadline - time.time()))
        answers.append(answer)
        if answer.status == "proved":
            rule, verdict = smaller, answer
        elif answer.witness is not None:
            needed[literal] = answer.witness
        else:
            unsure.append(literal)
    unsure += [literal for _, _, literal in waiting]
    return Prime(rule, verdict, needed, tuple(unsure), tuple(answers))


def repair_rule(prover: Prover, rule: Rule, deadline: float = math.inf) -> Prime:
    """Turn a refuted rule into one that holds: add conditions, then drop those that are not needed.

    The conditions come from one input that violates the rule and that the model clearly rejects.
    If there is no such input, the rule stays refuted.
    """
    verdict = prover.prove_rule(rule)
    goal = _find_rejected_input(prover, rule) if verdict.witness is not None else None
    if goal is None:
        return (
            shrink_rule(prover, rule)
            if verdict.status == "proved"
            else Prime(rule, verdict, questions=(verdict,))
        )
    item = _violating_facts(prover, rule)
    said = (prover.literal(u, goal[u] == TRUE) for u in np.flatnonzero(goal != UNKNOWN).tolist())
    added = {literal for literal in said if literal is not None} - item.true
    prime = shrink_rule(prover, Rule(rule.body | added, rule.head), rule.body, deadline)
    if prime.verdict.status != "proved":
        return Prime(rule, verdict, questions=(verdict, *prime.questions))
    return replace(prime, questions=(verdict, *prime.questions))


def _violating_facts(prover: Prover, rule: Rule) -> Interpretation:
    item = violation(rule)
    return interpretation(prover.vocabulary, item.true, item.false)


def _find_rejected_input(prover: Prover, rule: Rule) -> States | None:
    """Find a complete input that violates a rule and that the model clearly rejects."""
    item = _violating_facts(prover, rule)
    region, bounds = prover.region(item), prover.side(item)
    if region is None or bounds is None:
        return None
    opposite = prover.rejecting if bounds is prover.accepting else prover.accepting
    certain = region.copy()
    certain[:, UNKNOWN] &= region.sum(axis=1) == 1
    rng = generator(0, Purpose.PROOF_STARTS)
    states, outputs = climb(
        opposite, certain, random_states(prover.space, certain, CLIMB_STARTS, rng), np.inf
    )
    return states[outputs.argmax()] if outputs.max() > 0 else None
