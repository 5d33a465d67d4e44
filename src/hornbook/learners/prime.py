"""Learning from a model: LRN* whose antecedents are prime bodies, for teachers that need not be Horn.

As in LRN*, a negative counterexample becomes a rule and the hypothesis is asked about again.
Three things differ. The antecedent is not the counterexample closed under the hypothesis but the
most useful prime body inside it, weighed by a pool of labelled items. With each counterexample
some earlier rules are refined as well: given all the others, which literals serve best? And a
positive counterexample, which only a teacher that is not coherent can cause, refutes a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.blame import blame
from hornbook.learners.body import Search, Term, worth
from hornbook.learners.contribution import Cover
from hornbook.learners.finish import finished
from hornbook.learners.pool import Pool, count, literals, said
from hornbook.learners.together import Asking, together
from hornbook.learners.wording import Wording
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools
from hornbook.logic.rule import BOTTOM, Head, Rule
from hornbook.logic.theory import HornTheory
from hornbook.queries import Change, Counterexample, Equivalence, Membership, Step, asked
from hornbook.randomness import Purpose, generator

Margin: TypeAlias = Callable[[Batch], NDArray[np.floating]]
"""How far from rejection each interpretation is: negative where the teacher rejects."""

TRIAL_SIZE = 256
"""How many accepted items are made to meet a new term, to see whether the teacher then rejects them."""

LARGEST_MARGIN = 1e30
"""Margins are cut off here: a teacher may call itself infinitely sure, but progress is a ratio."""

TRIALS = 4
"""How often a term is sought anew after it failed its trial."""

REFINED = 5
"""Rules that are refined with each counterexample, in turn."""

CANDIDATES = 1024
"""Rules of earlier hypotheses that are looked at again in the end, the latest."""

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
        those are taken that are useful beside each other.
    max_rules
        How many rules there may be; past that the least useful ones go.
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
        tries: int = 4,
        max_rules: int = 100,
        seed: int = 0,
    ) -> None:
        self.member = member
        self.pool = pool
        self.margin = margin
        self.wording = Wording.of(pool.vocabulary, heads)
        self.background = frozenset(background)
        self.tries = tries
        self.max_rules = max_rules
        self.seed = seed
        self.calls = 0
        self.failed: list[tuple[Interpretation, ...]] = []
        self.search = Search(pool, min_precision)
        self.refuted: dict[Rule, Interpretation] = {}

    def __call__(self, h: HornTheory, answer: Counterexample) -> Change:
        """Add the rules found, or refute the one to blame, or give the counterexample up."""
        self.calls += 1
        self.failed = []
        self.pool.judge(h)
        if answer.positive:
            return self._refute(h, answer.interpretation)
        others = self.pool.missed()
        chosen = generator(self.seed, Purpose.RULE_SEARCH, self.calls).choice(
            others, min(self.tries - 1, len(others)), replace=False
        )
        seeds = [answer.interpretation, *(self.pool.rejected.batch[at] for at in chosen.tolist())]
        added = self._useful(self._found(seeds, h), h)
        removed = self._superfluous(h, added)
        refined = self._refined([rule for rule in h if rule not in self.background | removed], added)
        change = Change(
            tuple(rule for rule in added if rule not in removed),
            tuple(rule for rule in h if rule in removed),
            refined,
            failed=tuple(self.failed),
        )
        if not change.is_idle:
            return change
        self.pool.give_up(answer.interpretation)
        return replace(change, given_up=answer.interpretation)

    def recall(self, answer: Counterexample, change: Change) -> None:
        """Take up what an earlier run made of a counterexample."""
        self.calls += 1
        for questions in change.failed:
            self._stand_trial([literals(question, len(self.pool.vocabulary)) for question in questions])
        if answer.positive:
            self._remember_accepted(answer.interpretation)
        elif change.given_up is not None:
            self.pool.give_up(change.given_up)
        if change.witness is not None:
            self.refuted |= dict.fromkeys(change.removed, change.witness)

    def finished(self, h: HornTheory, candidates: Sequence[Rule], pool: Pool) -> list[tuple[Rule, Rule]]:
        """The best of all rules so far by a pool of fresh items, refined: what each was, and is."""
        rules = [rule for rule in h if rule not in self.background]
        others = [rule for rule in candidates if rule not in {*rules, *self.refuted}][-CANDIDATES:]
        return finished(
            [*rules, *others],
            range(len(rules)),
            self.max_rules,
            search=replace(self.search, pool=pool),
            wording=self.wording,
            stands=lambda term: not len(self._exceptions(term)),
        )

    def _found(self, seeds: Sequence[Interpretation], h: HornTheory) -> list[Rule]:
        """Rules with prime bodies that reject the seeds, and that stand their trial."""
        rules: list[Rule] = []
        for _ in range(TRIALS):
            found = together([self._search(seed) for seed in seeds], self._margins)
            pairs = [(seed, term) for seed, term in zip(seeds, found, strict=True) if term is not None]
            stands = self._stand_trial([term for _, term in pairs])
            rules += (self.wording.rule(term) for (_, term), good in zip(pairs, stands, strict=True) if good)
            if all(stands):
                break
            seeds = [seed for (seed, _), good in zip(pairs, stands, strict=True) if not good]
            self.pool.judge(h)
        return [rule for rule in dict.fromkeys(rules) if rule not in {*self.refuted, *h}]

    def _search(self, seed: Interpretation) -> Asking[Term | None]:
        """The first valid term, by the preference of heads, that rejects a seed."""
        zeros = [
            self.wording.zero(head) for head in self.wording.heads if head is BOTTOM or head in seed.false
        ]
        for zero in zeros:
            known = np.array(sorted({*seed.true, *zero}), np.intp)
            term = yield from self.search.prime(known, np.array(zero, np.intp))
            if term is not None:
                return term
        return None

    def _useful(self, rules: list[Rule], h: HornTheory) -> list[Rule]:
        """The rules worth having beside each other and the hypothesis, the best first."""
        chosen: list[Rule] = []
        while rules:
            best = max(rules, key=self._worth)
            if chosen and self._worth(best) <= 0:
                break
            rules.remove(best)
            if not HornTheory(h.vocabulary, (*h, *chosen)).entails(best):
                chosen.append(best)
            self.pool.close(self.wording.term(best))
        return chosen

    def _superfluous(self, h: HornTheory, added: Sequence[Rule]) -> frozenset[Rule]:
        """The rules that have to go: those that do more harm than good, and the least useful of too many."""
        rules = [*(rule for rule in h if rule not in self.background), *added]
        cover, kept = Cover.of(self.pool, map(self.wording.term, rules)), list(range(len(rules)))
        while kept:
            worths = cover.of_some(kept).contributions()
            least = int(np.argmin(worths))
            if worths[least] >= 0 and len(kept) <= self.max_rules:
                break
            kept.pop(least)
        return frozenset(rules) - {rules[at] for at in kept}

    def _refined(self, rules: list[Rule], added: Sequence[Rule]) -> tuple[tuple[Rule, Rule], ...]:
        """Some of the rules, whose turn it is, each with what it becomes given all the others."""
        if not rules:
            return ()
        cover = Cover.of(self.pool, map(self.wording.term, [*rules, *added]))
        first = (self.calls * REFINED) % len(rules)
        refined: dict[Rule, Rule] = {}
        for at in sorted({(first + turn) % len(rules) for turn in range(REFINED)}):
            before = rules[at]
            zero = np.array(self.wording.zero(before.head), np.intp)
            with self.pool.reopened(*cover.alone(at)):
                (term,) = together([self.search.refine(self.wording.term(before), zero)], self._margins)
            after = self.wording.rule(term)
            taken = {*rules, *added, *refined.values(), *self.refuted}
            if after in taken:
                continue
            if not all(self._stand_trial([term])):
                break  # the pool is another now
            refined[before] = after
            cover.replace(at, term, self.pool)
        return tuple(refined.items())

    def _stand_trial(self, terms: Sequence[Term]) -> list[bool]:
        """Whether each of several terms stands its trial; what speaks against the others is remembered."""
        exceptions = [self._exceptions(term) for term in terms]
        failed = [at for at, found in enumerate(exceptions) if len(found)]
        if failed:
            against = Batch.concatenate(exceptions)
            self.pool.add(against, np.ones(len(against), np.bool_))
            self.failed.append(tuple(said(terms[at], len(self.pool.vocabulary)) for at in failed))
        return [not len(found) for found in exceptions]

    def _exceptions(self, term: Term) -> Batch:
        """Where none is allowed: accepted items, made to meet a term, that the teacher still accepts."""
        if self.search.min_precision < 1:
            return Batch.from_interpretations([], self.pool.vocabulary)
        tried = self.pool.accepted_nearest(term, TRIAL_SIZE)
        return tried[self.member(tried)]

    def _worth(self, rule: Rule) -> int:
        """What the rule is worth to the hypothesis, by the pool."""
        term, pool = self.wording.term(rule), self.pool
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
        return Change(removed=(rule,), witness=witness)

    def _remember_accepted(self, item: Interpretation) -> None:
        self.pool.add(Batch.from_interpretations([item], self.pool.vocabulary), np.ones(1, np.bool_))

    def _margins(self, terms: Bools) -> NDArray[np.floating]:
        batch = asked(self.pool.vocabulary, terms)
        if self.margin is not None:
            return np.clip(self.margin(batch), -LARGEST_MARGIN, LARGEST_MARGIN)
        return np.where(self.member(batch), 1.0, -1.0)
