"""Provably prime rules: no condition can be dropped, and each has a witness that shows why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.delta import Provability, drop_provable
from hornbook.logic import Interpretation, Rule
from hornbook.proof.prover import RuleProver
from hornbook.proof.region import CLIMB_STARTS, TRUE, UNKNOWN, States, climb, random_states
from hornbook.proof.search import Verdict
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
    prover: RuleProver, rule: Rule, last: Collection[int] = (), deadline: Deadline = NO_DEADLINE
) -> Prime:
    """Drop the literals of a rule that can provably be dropped, with as few proofs as possible.

    Local search tells which literals are needed: it finds an input that breaks the rule without them.
    Those for which it finds none are then dropped by proofs; an input that refutes one shows another
    needed literal.

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
    if verdict.status != "proved":
        return Prime(rule, verdict, questions=(verdict,))
    return _RuleShrinker(prover, rule, verdict, frozenset(last), deadline).shrink()


class _RuleShrinker:
    """Drops literals of a proved rule.

    `inputs` are accepted inputs that break smaller rules, and `answers` all verdicts so far.
    """

    def __init__(
        self,
        prover: RuleProver,
        rule: Rule,
        verdict: Verdict[Interpretation],
        last: frozenset[int],
        deadline: Deadline,
    ) -> None:
        self.prover, self.head, self.last, self.deadline = prover, rule.head, last, deadline
        self.body = self._keep_needed(rule.body, verdict)
        self.answers = [verdict]
        self.inputs: list[Interpretation] = []
        self.needed: dict[int, Interpretation] = {}
        self.spare: list[int] = []

    def shrink(self) -> Prime:
        """Drop the literals that can provably be dropped."""
        body, _ = drop_provable(self.body, self._list_spare, self._prove, self.deadline)
        verdict = next(each for each in reversed(self.answers) if each.status == "proved")
        # without time to drop the spare literals, an input may break the rule without more than one literal
        needed = {literal: each for literal, each in self.needed.items() if body - {literal} <= each.true}
        open_literals = tuple(sorted(body - set(needed)))
        return Prime(Rule(body, self.head), verdict, needed, open_literals, tuple(self.answers))

    def _list_spare(self, body: frozenset[int], undecided: list[int]) -> list[int]:
        """The literals of a body that may be spare, in order; the needed ones are kept, each with an input.

        A literal is needed if an input that the model accepts breaks the rule once it and the spare literals
        are dropped. Next comes the literal without which a linear bound on the output is lowest, so that a
        proof stays easy as long as possible; all candidates are bounded side by side.
        """
        searched, self.needed, self.spare = self.spare, {}, []
        waiting = self._order_literals(body, body.difference(undecided))
        while waiting and not self.deadline.passed:
            literal = waiting.pop(0)
            witness = self._find_witness(body - {literal}, literal not in searched)
            if witness is not None:
                self.needed[literal] = witness
                continue
            body -= {literal}
            self.spare.append(literal)
            waiting = self._order_literals(body, waiting)
        self.spare += waiting
        return self.spare

    def _prove(self, body: frozenset[int]) -> tuple[Provability, frozenset[int]]:
        """Whether a smaller rule is proved, and those of its literals that the proof needs."""
        answer = self.prover.prove_rule(Rule(body, self.head), min(self.prover.seconds, self.deadline.left))
        self.answers.append(answer)
        self.inputs += [] if answer.witness is None else [answer.witness]
        return answer.status, self._keep_needed(body, answer)

    def _keep_needed(self, body: frozenset[int], verdict: Verdict[Interpretation]) -> frozenset[int]:
        """Keep the literals of a proved rule that its proof needs, and those to drop last."""
        return body if verdict.needed is None else body & (verdict.needed | self.last)

    def _find_witness(self, body: frozenset[int], search: bool = True) -> Interpretation | None:
        """Find an accepted input that breaks a rule: a known one, or else by local search."""
        known = next((each for each in self.inputs if body <= each.true), None)
        if known is not None or not search:
            return known
        witness = self.prover.find_witness(Rule(body, self.head), self.inputs[-CLIMB_STARTS:])
        self.inputs += [] if witness is None else [witness]
        return witness

    def _order_literals(self, body: frozenset[int], literals: Collection[int]) -> list[int]:
        """Sort literals: those first without which the question is easiest, those to drop last at the end."""
        listed = sorted(literals)
        bounds = self.prover.rank_literals(Rule(body, self.head), listed).tolist()
        ranked = sorted(zip([each in self.last for each in listed], bounds, listed, strict=True))
        return [literal for *_, literal in ranked]


def repair_rule(prover: RuleProver, rule: Rule, deadline: Deadline = NO_DEADLINE) -> Prime:
    """Turn a refuted rule into one that holds: add conditions, then drop those that are not needed.

    The conditions come from one input that violates the rule and that the model clearly rejects.
    If there is no such input, the rule stays refuted.
    """
    verdict = prover.prove_rule(rule)
    goal = _find_rejected_input(prover, rule) if verdict.witness is not None else None
    if goal is None:
        proved = verdict.status == "proved"
        return shrink_rule(prover, rule) if proved else Prime(rule, verdict, questions=(verdict,))
    item = prover.violate(rule)
    literals = (prover.literal(u, goal[u] == TRUE) for u in np.flatnonzero(goal != UNKNOWN).tolist())
    added = {literal for literal in literals if literal is not None} - item.true
    prime = shrink_rule(prover, Rule(rule.body | added, rule.head), rule.body, deadline)
    if prime.verdict.status != "proved":
        return Prime(rule, verdict, questions=(verdict, *prime.questions))
    return replace(prime, questions=(verdict, *prime.questions))


def _find_rejected_input(prover: RuleProver, rule: Rule) -> States | None:
    """Find a complete input that violates a rule and that the model clearly rejects."""
    item = prover.violate(rule)
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
