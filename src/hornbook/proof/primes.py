"""Provably prime rules: no condition can be dropped, and each has a witness that shows why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.delta import Provability, drop_provable
from hornbook.logic import Interpretation, Rule, violation
from hornbook.proof.prover import Prover, Verdict
from hornbook.proof.region import CLIMB_STARTS, TRUE, UNKNOWN, States, climb, random_states
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


def shrink_rule(
    prover: Prover, rule: Rule, last: Collection[int] = (), deadline: Deadline = NO_DEADLINE
) -> Prime:
    """Drop the literals of a rule that can provably be dropped, with as few proofs as possible.

    As long as a single bound of a network proves the rule, literals go in groups. Of the others local
    search tells which are needed: it finds an input that breaks the rule without them. Those for which
    it finds none are then dropped by proofs; an input that refutes one shows another needed literal.

    Parameters
    ----------
    prover
        The prover of the model.
    rule
        The rule; it is returned unchanged if it is not proved.
    last
        Literals to drop after all others.
    deadline
        When to stop; literals not asked about by then are open.

    """
    verdict = prover.prove_rule(rule)
    answers = [verdict]
    if verdict.status != "proved":
        return Prime(rule, verdict, questions=tuple(answers))
    inputs: list[Interpretation] = []
    rule = _drop_unneeded(rule, verdict, last)
    rule, verdict = _drop_groups(prover, rule, verdict, last, inputs, answers, deadline)
    needed: dict[int, Interpretation] = {}
    spare: list[int] = []

    def list_spare(body: frozenset[int], undecided: list[int]) -> list[int]:
        nonlocal needed, spare
        left = Rule(body, rule.head)
        needed, spare = _split_literals(
            prover, left, body.difference(undecided), last, spare, inputs, deadline
        )
        return spare

    def prove(body: frozenset[int]) -> tuple[Provability, frozenset[int]]:
        smaller = Rule(body, rule.head)
        answers.append(prover.prove_rule(smaller, min(prover.seconds, deadline.left)))
        if answers[-1].witness is not None:
            inputs.append(answers[-1].witness)
        return answers[-1].status, _drop_unneeded(smaller, answers[-1], last).body

    body, _ = drop_provable(rule.body, list_spare, prove, deadline)
    rule = Rule(body, rule.head)
    verdict = next((each for each in reversed(answers) if each.status == "proved"), verdict)
    # without time to drop the spare literals, an input may break the rule without more than one literal
    needed = {literal: each for literal, each in needed.items() if body - {literal} <= each.true}
    return Prime(rule, verdict, needed, tuple(sorted(body - set(needed))), tuple(answers))


def _split_literals(
    prover: Prover,
    rule: Rule,
    literals: Collection[int],
    last: Collection[int],
    searched: Collection[int],
    inputs: list[Interpretation],
    deadline: Deadline,
) -> tuple[dict[int, Interpretation], list[int]]:
    """Split literals of a body into needed ones, each with an input, and those that may be spare, in order.

    A literal is needed if an input that the model accepts breaks the rule once it and the spare literals
    are dropped; `inputs` are some that it accepts, and local search adds others to them, but not for
    literals for which it `searched` in vain. Next comes the literal without which a linear bound on the
    output is lowest, so that a proof stays easy as long as possible; all candidates are bounded side by
    side.
    """
    needed: dict[int, Interpretation] = {}
    spare: list[int] = []
    waiting = _order_literals(prover, rule, literals, last)
    while waiting and not deadline.passed:
        literal = waiting.pop(0)
        smaller = Rule(rule.body - {literal}, rule.head)
        witness = _find_witness(prover, smaller, inputs, literal not in searched)
        if witness is not None:
            needed[literal] = witness
            continue
        rule = smaller
        spare.append(literal)
        waiting = _order_literals(prover, rule, waiting, last)
    return needed, spare + waiting


def _find_witness(
    prover: Prover, rule: Rule, inputs: list[Interpretation], search: bool = True
) -> Interpretation | None:
    """An accepted input that breaks a rule: a known one, or else one that local search adds to these."""
    known = next((each for each in inputs if rule.body <= each.true), None)
    if known is not None or not search:
        return known
    witness = prover.find_witness(rule, inputs[-CLIMB_STARTS:])
    inputs += [] if witness is None else [witness]
    return witness


def _order_literals(
    prover: Prover, rule: Rule, literals: Collection[int], last: Collection[int]
) -> list[int]:
    """The literals without which a question is easiest first, and some of them after all others."""
    listed = sorted(literals)
    bounds = prover.rank_literals(rule, listed)
    return [literal for _, _, literal in sorted(zip([each in last for each in listed], bounds, listed,
                                                    strict=True))]  # fmt: skip


def _drop_unneeded(rule: Rule, verdict: Verdict[Interpretation], last: Collection[int]) -> Rule:
    """A proved rule without the literals that its proof does not need, but for those to drop last."""
    if verdict.needed is None:
        return rule
    return Rule(rule.body & (verdict.needed | set(last)), rule.head)


def _drop_groups(
    prover: Prover,
    rule: Rule,
    verdict: Verdict[Interpretation],
    last: Collection[int],
    inputs: list[Interpretation],
    answers: list[Verdict[Interpretation]],
    deadline: Deadline,
) -> tuple[Rule, Verdict[Interpretation]]:
    """Drop groups of literals as long as a single bound proves the rest; half as many where it does not."""
    at_once = prover.prove_at_once(rule)
    free = rule.body - set(last)
    size = len(free)
    order: list[int] = []
    while at_once is not None and free and size and not deadline.passed:
        order = order or _order_literals(prover, rule, free, ())
        size = min(size, len(order))
        smaller = Rule(rule.body - set(order[:size]), rule.head)
        is_broken = _find_witness(prover, smaller, inputs) is not None
        answer = None if is_broken else prover.prove_at_once(smaller)
        if answer is None:
            size //= 2
            continue
        rule, verdict = smaller, answer
        free, order, size = free & rule.body, [], 2 * size
        answers.append(answer)
    return rule, verdict


def repair_rule(prover: Prover, rule: Rule, deadline: Deadline = NO_DEADLINE) -> Prime:
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
