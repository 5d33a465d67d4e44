"""Provably prime rules: nothing can be left out of the body, and each literal has a witness for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hornbook.logic.batch import Interpretation
from hornbook.logic.rule import Rule
from hornbook.logic.theory import violation
from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.region import FALSE, TRUE, UNKNOWN, States
from hornbook.oracles.proof.witness import STARTS, climb, random_states
from hornbook.queries import interpretation


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


def shrunk(prover: Prover, rule: Rule, order: Iterable[int] | None = None) -> Prime:
    """Leave out of a rule what can provably be left out, one literal after another.

    A literal that is needed stays needed when others are left out, so each is asked about once.

    Parameters
    ----------
    prover
        Who answers about the model.
    rule
        The rule; if it is not proved it stays as it is.
    order
        The literals that may go, the first to go first; by default all of the body.

    """
    verdict = prover.rule(rule)
    answers = [verdict]
    if verdict.status != "proved":
        return Prime(rule, verdict, questions=tuple(answers))
    needed, unsure = {}, []
    for literal in sorted(rule.body) if order is None else order:
        smaller = Rule(rule.body - {literal}, rule.head)
        answer = prover.rule(smaller)
        answers.append(answer)
        if answer.status == "proved":
            rule, verdict = smaller, answer
        elif answer.witness is not None:
            needed[literal] = answer.witness
        else:
            unsure.append(literal)
    return Prime(rule, verdict, needed, tuple(unsure), tuple(answers))


def repaired(prover: Prover, rule: Rule) -> Prime:
    """A rule that holds, from one that does not: literals are added until it is proved, then spare ones go.

    The literals are those of one input that the model clearly rejects; each is one on which the
    last witness differs, the one that would lower the witness's output most. A rule that no such
    input violates stays refuted.
    """
    verdict = prover.rule(rule)
    answers = [verdict]
    goal = _rejected(prover, rule)
    added: list[int] = []
    last = verdict.witness
    while verdict.witness is not None and goal is not None:
        literal = _against(prover, rule, goal, verdict.witness)
        if literal is None:
            break
        added.append(literal)
        last = verdict.witness
        rule = Rule({*rule.body, literal}, rule.head)
        verdict = prover.rule(rule)
        answers.append(verdict)
    if verdict.status != "proved":
        return Prime(rule, verdict, questions=tuple(answers))
    spare = shrunk(prover, rule, [*added[:-1], *sorted(rule.body - set(added))])
    # without the literal that was added last the rule was refuted
    needed = {**spare.needed, **({added[-1]: last} if added and last is not None else {})}
    return replace(spare, needed=needed, questions=(*answers, *spare.questions))


def _rejected(prover: Prover, rule: Rule) -> States | None:
    """An input without unknown values that violates a rule, and that the model clearly rejects."""
    item = violation(rule)
    item = interpretation(prover.vocabulary, item.true, item.false)
    region, bounds = prover.region(item), prover.side(item)
    if region is None or bounds is None:
        return None
    opposite = prover.rejecting if bounds is prover.accepting else prover.accepting
    certain = region.copy()
    certain[:, UNKNOWN] &= region.sum(axis=1) == 1
    rng = np.random.default_rng(0)
    states, outputs = climb(opposite, certain, random_states(prover.space, certain, STARTS, rng), np.inf)
    return states[outputs.argmax()] if outputs.max() > 0 else None


def _against(prover: Prover, rule: Rule, goal: States, witness: Interpretation) -> int | None:
    """The literal of the goal that the witness lacks and that lowers its output most."""
    item = violation(rule)
    bounds = prover.side(interpretation(prover.vocabulary, item.true, item.false))
    now = prover.states(witness)
    places = [
        (u, literal)
        for u in np.flatnonzero((goal != now) & (goal != UNKNOWN)).tolist()
        if (literal := prover.literal(u, goal[u] == TRUE)) is not None and literal not in rule.body
    ]
    if not places or bounds is None:
        return None
    trials = np.repeat(now[None], len(places), axis=0)
    for row, (u, _) in zip(trials, places, strict=True):
        for members in prover.space.groups:
            if goal[u] == TRUE and u in members:
                row[members] = FALSE
        row[u] = goal[u]
    return places[int(bounds.outputs(trials).argmin())][1]
