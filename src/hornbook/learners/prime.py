"""Learning from a model: LRN* whose antecedents are prime bodies, for teachers that need not be Horn.

As in LRN*, a negative counterexample becomes a rule and the hypothesis is asked about again.
Two things differ. The antecedent is not the counterexample closed under the hypothesis but the
most useful prime body inside it, weighed by a pool of labelled items. And a positive
counterexample, which only a teacher that is not coherent can cause, refutes a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.blame import blame
from hornbook.learners.body import Search, Term, worth
from hornbook.learners.pool import Pool, count, literals, said
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule
from hornbook.logic.theory import HornTheory
from hornbook.queries import Change, Counterexample, Equivalence, Membership, Step, asked

Margin: TypeAlias = Callable[[Batch], NDArray[np.floating]]
"""How far from rejection each interpretation is: negative where the teacher rejects."""

TRIAL_SIZE = 256
"""How many accepted items are made to meet a new term, to see whether the teacher then rejects them."""

LARGEST_MARGIN = 1e30
"""Margins are cut off here: a teacher may call itself infinitely sure, but progress is a ratio."""

TRIALS = 4
"""How often a term is sought anew after it failed its trial."""

Revise: TypeAlias = Callable[[HornTheory, Counterexample], Change]


def prime(equivalent: Equivalence, revise: Revise, background: HornTheory) -> Iterator[Step]:
    """Learn until no counterexample is found, yielding each hypothesis with the answer and the change."""
    h = background
    while isinstance(answer := equivalent(h), Counterexample):
        change = revise(h, answer)
        yield Step(h, answer, change)
        h = change.applied_to(h)
    yield Step(h, answer)


class Reviser:
    """Turns a counterexample into a change of the hypothesis.

    Parameters
    ----------
    member
        The teacher.
    pool
        Labelled items that rules are weighed by.
    margin
        The teacher's score, if it has one: it guides the search, and decides nothing.
    background
        Rules that are never removed.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable
        without a dual, which can say all that rules can say.
    min_precision
        The share of what a rule newly rejects that the teacher must reject as well. Lower
        values give fewer and shorter rules, 1 gives rules that no pooled item contradicts.
    tries
        How many rules are tried for each counterexample, from it and from other open items;
        the most useful one is taken.
    seed
        Chooses the other items, for each counterexample anew.

    """

    def __init__(
        self,
        member: Membership,
        pool: Pool,
        *,
        margin: Margin | None = None,
        background: HornTheory,
        heads: Sequence[Head] | None = None,
        min_precision: float = 0.9,
        tries: int = 8,
        seed: int = 0,
    ) -> None:
        self.member = member
        self.pool = pool
        self.margin = margin
        # a variable with a dual need not be a head: what it would say, its dual says in a body
        unpaired = (v for v, dual in enumerate(pool.vocabulary.duals) if dual is None)
        self.heads: Sequence[Head] = (BOTTOM, *unpaired) if heads is None else heads
        self.background = frozenset(background)
        self.tries = tries
        self.seed = seed
        self.calls = 0
        self.failed: list[Interpretation] = []
        self.search = Search(pool, self._margins, min_precision)
        self.refuted: dict[Rule, Interpretation] = {}

    def __call__(self, h: HornTheory, answer: Counterexample) -> Change:
        """Add the best rule found, or refute the one to blame, or give the counterexample up."""
        self.calls += 1
        self.failed = []
        self.pool.judge(h)
        if answer.positive:
            return self._refute(h, answer.interpretation)
        others = self.pool.missed()
        chosen = np.random.default_rng((self.seed, self.calls)).choice(
            others, min(self.tries - 1, len(others)), replace=False
        )
        seeds = [answer.interpretation, *(self.pool.rejected.batch[at] for at in chosen.tolist())]
        found = [rule for seed in seeds if (rule := self._rule(seed, h)) and rule not in self.refuted]
        if found:
            return Change(added=max(found, key=self._worth), failed=tuple(self.failed))
        self.pool.give_up(answer.interpretation)
        return Change(given_up=answer.interpretation, failed=tuple(self.failed))

    def recall(self, answer: Counterexample, change: Change) -> None:
        """Take up what an earlier run made of a counterexample."""
        self.calls += 1
        for question in change.failed:
            self._stands_trial(literals(question, len(self.pool.vocabulary)))
        if answer.positive:
            self._remember_accepted(answer.interpretation)
        elif change.given_up is not None:
            self.pool.give_up(change.given_up)
        if change.removed is not None and change.witness is not None:
            self.refuted[change.removed] = change.witness

    def _rule(self, seed: Interpretation, h: HornTheory) -> Rule | None:
        """A rule with a prime body that rejects the seed, and that stands its trial."""
        for zero in self._zeros(seed):
            known = np.array(sorted({*seed.true, *zero}), np.intp)
            for _ in range(TRIALS):
                term = self.search.prime(known, np.array(zero, np.intp))
                if term is None:
                    break
                if self._stands_trial(term):
                    return self._as_rule(term)
                self.failed.append(said(term, len(self.pool.vocabulary)))
                self.pool.judge(h)
        return None

    def _stands_trial(self, term: Term) -> bool:
        """Whether the teacher rejects enough items made to meet a term; if not, they are remembered."""
        tried = self._tried(term)
        accepted = self.member(tried)
        if self.search.is_precise(int((~accepted).sum()), int(accepted.sum())):
            return True
        self.pool.add(tried[accepted], accepted[accepted])
        return False

    def _tried(self, term: Term) -> Batch:
        """Items made to meet a term: typical ones, or where no exception is allowed the nearest to one."""
        if self.search.min_precision == 1:
            return self.pool.accepted_nearest(term, TRIAL_SIZE)
        return self.pool.typical(term, TRIAL_SIZE)

    def _zeros(self, seed: Interpretation) -> list[tuple[int, ...]]:
        """The ways to say which head is false that leave the seed rejected; () says nothing, for ⊥."""
        zeros = [self._zero(head) for head in self.heads if head is BOTTOM or head in seed.false]
        rows = np.zeros((len(zeros), 2 * len(self.pool.vocabulary)), np.bool_)
        rows[:, list(seed.true)] = True
        for row, zero in zip(rows, zeros, strict=True):
            row[list(zero)] = True
        rejected = self._margins(rows) < 0
        return [zero for zero, possible in zip(zeros, rejected, strict=True) if possible]

    def _zero(self, head: Head) -> tuple[int, ...]:
        """The literal that says that a head is false, its dual if it has one; none for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.pool.vocabulary.dual(head)
        return (len(self.pool.vocabulary) + head if dual is None else dual,)

    def _as_rule(self, term: Term) -> Rule:
        """The rule that rejects what meets the term, with the preferred head that it allows."""
        body = set(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self._zero(head)):
                return Rule(body.difference(self._zero(head)), head)
        return Rule(body, BOTTOM)

    def _term(self, rule: Rule) -> Term:
        return np.array(sorted({*rule.body, *self._zero(rule.head)}), np.intp)

    def _worth(self, rule: Rule) -> int:
        """What the rule is worth to the hypothesis, by the pool."""
        term, pool = self._term(rule), self.pool
        gain = count(pool.rejected.meeting(term) & pool.rejected.open)
        harm = count(pool.accepted.meeting(term) & pool.accepted.open)
        return worth(int(gain), int(harm))

    def _refute(self, h: HornTheory, witness: Interpretation) -> Change:
        """Remove the rule to blame, unless it stays precise enough all the same."""
        vocabulary, pool = h.vocabulary, self.pool
        self._remember_accepted(witness)
        rule = blame(self.member, h, witness)
        without = HornTheory(vocabulary, (other for other in h if other != rule))
        gain, harm = (
            int((without.satisfied_by(side.batch) & ~h.satisfied_by(side.batch)).sum())
            for side in (pool.rejected, pool.accepted)
        )
        if rule in self.background or self.search.is_precise(gain, harm):
            return Change(given_up=witness)
        self.refuted[rule] = witness
        return Change(removed=rule, witness=witness)

    def _remember_accepted(self, item: Interpretation) -> None:
        self.pool.add(Batch.from_interpretations([item], self.pool.vocabulary), np.ones(1, np.bool_))

    def _margins(self, terms: Bools) -> NDArray[np.floating]:
        batch = asked(self.pool.vocabulary, terms)
        if self.margin is not None:
            return np.clip(self.margin(batch), -LARGEST_MARGIN, LARGEST_MARGIN)
        return np.where(self.member(batch), 1.0, -1.0)
