"""Learn Horn rules with prime bodies from counterexamples and a pool of labelled items.

The term of a rule `A → c` is `A ∧ ¬c`: the rule rejects the interpretations that meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import BOTTOM, Batch, Bools, Bottom, Head, HornTheory, Interpretation, Rule, chaining
from hornbook.queries.pool import Pool, count_bits, interpretation_of, term_of
from hornbook.queries.protocol import (
    Change,
    Counterexample,
    Equivalence,
    Membership,
    Step,
    batch_from_terms,
    interpretation,
)
from hornbook.queries.result import Settings
from hornbook.queries.terms import (
    QuerySearch,
    Term,
    TermCodec,
    TermCoverage,
    TermSearch,
    run_batched,
)
from hornbook.randomness import Purpose, generator


def blame(member: Membership, hypothesis: HornTheory, witness: Interpretation) -> Rule:
    """Find the rule that a positive counterexample refutes.

    The derivation of the conflict is walked, adding derived facts one at a time and asking
    the teacher: the first rule whose head flips the answer is refuted, and if none does, the
    rule that closed the conflict.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> vocabulary = Vocabulary(["a", "b", "c"])
    >>> truth = HornTheory(vocabulary, [Rule({0}, 1)])
    >>> wrong = truth | HornTheory(vocabulary, [Rule({1}, 2)])
    >>> blame(truth.satisfied_by, wrong, Interpretation(frozenset({0}), frozenset({2})))
    1 → 2

    """
    vocabulary = hypothesis.vocabulary
    steps: list[Rule] = []
    for rule in chaining.derive(hypothesis.rules, witness.true):
        steps.append(rule)
        if rule.head is BOTTOM or rule.head in witness.false:
            break
    true, questions = witness.true, []
    for rule in steps[:-1]:
        assert not isinstance(rule.head, Bottom)
        true = true | {rule.head}
        questions.append(interpretation(vocabulary, true, witness.false))
    possible = [item for item in questions if not item.true & item.false]
    accepted = member(Batch.from_interpretations(possible, vocabulary))
    for rule, yes in zip(steps, accepted.tolist(), strict=False):
        if not yes:
            return rule
    return steps[len(possible)]


Margin: TypeAlias = Callable[[Batch], NDArray[np.floating]]
"""The margin of each interpretation: negative where the teacher rejects."""

TRIAL_SIZE = 256
"""Number of accepted items that are changed to meet a new term, to test whether the teacher rejects them."""

LARGEST_MARGIN = 1e30
"""Margins are clipped to this value, because a ratio of infinite margins is undefined."""

MAX_TRIALS = 4
"""Maximum number of searches for a term that passes its trial."""

HARM_WEIGHT = 4
"""Number of rejected items that outweigh an accepted one while rules are searched for.

A rule that is right about some rows and half right about others would close the others to rules that
are right about more of them.
"""

MAX_SWEEPS = 2
"""Maximum number of passes in which every rule is refined at the end."""

MAX_CANDIDATES = 1024
"""Maximum number of rules of earlier hypotheses, the latest, that compete in the end."""

Revise: TypeAlias = Callable[[HornTheory, Counterexample], Change]


def prime(equivalent: Equivalence, revise: Revise, background: HornTheory) -> Iterator[Step]:
    """Learn until no counterexample is found; yields each hypothesis with the answer and the change."""
    h = background
    while isinstance(answer := equivalent(h), Counterexample):
        change = revise(h, answer)
        yield Step(h, answer, change)
        h = change.apply_to(h)
    yield Step(h, answer)


class HypothesisUpdater:
    """Turns a counterexample into a change of the hypothesis.

    Parameters
    ----------
    member
        The teacher.
    pool
        Labelled items that rules are weighed by.
    settings
        How precise rules are, how many are tried for a counterexample, how many there may be, and the seed,
        which chooses the items that they are sought from.
    margin
        The teacher's score, if it has one: it guides the search, and decides nothing.
    background
        Rules that are never removed.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable
        without a dual, which can say all that rules can say.

    """

    def __init__(
        self,
        member: Membership,
        pool: Pool,
        settings: Settings = Settings(),  # noqa: B008 (frozen)
        *,
        margin: Margin | None = None,
        background: HornTheory,
        heads: Sequence[Head] | None = None,
    ) -> None:
        self.member = member
        self.pool = pool
        self.margin = margin
        self.codec = TermCodec.of(pool.vocabulary, heads)
        self.background = frozenset(background)
        self.settings = settings
        self.calls = 0
        self.failed: list[tuple[Interpretation, ...]] = []
        self.search = TermSearch(pool, settings.min_precision, HARM_WEIGHT)
        self.refuted: dict[Rule, Interpretation] = {}

    def __call__(self, h: HornTheory, answer: Counterexample) -> Change:
        """Add the rules found, or refute the one to blame, or give the counterexample up."""
        self.calls += 1
        self.failed = []
        self.pool.judge(h)
        if answer.positive:
            return self._refute(h, answer.interpretation)
        others = self.pool.missed_positions()
        chosen = generator(self.settings.seed, Purpose.RULE_SEARCH, self.calls).choice(
            others, min(self.settings.tries - 1, len(others)), replace=False
        )
        seeds = [answer.interpretation, *(self.pool.rejected.batch[at] for at in chosen.tolist())]
        added = self._choose_useful(self._find_rules(seeds, h), h)
        removed = self._find_superfluous(h, added)
        change = Change(
            tuple(rule for rule in added if rule not in removed),
            tuple(rule for rule in h if rule in removed),
            failed=tuple(self.failed),
        )
        if not change.is_idle:
            return change
        self.pool.give_up(answer.interpretation)
        return replace(change, given_up=answer.interpretation)

    def replay(self, answer: Counterexample, change: Change) -> None:
        """Replay a recorded change."""
        self.calls += 1
        for questions in change.failed:
            self._try_terms([term_of(question, len(self.pool.vocabulary)) for question in questions])
        if answer.positive:
            self._remember_accepted(answer.interpretation)
        elif change.given_up is not None:
            self.pool.give_up(change.given_up)
        if change.witness is not None:
            self.refuted |= dict.fromkeys(change.removed, change.witness)

    def choose_final_rules(
        self, h: HornTheory, candidates: Sequence[Rule], pool: Pool
    ) -> list[tuple[Rule, Rule]]:
        """Choose and refine the best rules so far on a pool of fresh items; returns (before, after) pairs."""
        own = [rule for rule in h if rule not in self.background]
        others = [rule for rule in candidates if rule not in {*own, *self.refuted}][-MAX_CANDIDATES:]
        possible, codec = [*own, *others], self.codec
        cover = TermCoverage.of(pool, map(codec.term, possible))
        chosen = cover.choose_terms(range(len(own)), self.settings.max_rules)
        origins = [possible[at] for at in chosen]
        rules, terms = list(origins), [codec.term(rule) for rule in origins]
        search, cover = replace(self.search, pool=pool, harm_weight=1), TermCoverage.of(pool, terms)
        for _ in range(MAX_SWEEPS):
            before = list(rules)
            for at, (rule, uncovered) in enumerate(zip(before, cover.uncovered_by_others(), strict=True)):
                pool.reopen(*uncovered)
                term = search.refine(terms[at], np.array(codec.head_literal(rule.head), np.intp))
                after = codec.rule(term)
                if after not in rules and not len(self._exceptions(term)):
                    rules[at], terms[at] = after, term
                    cover.replace(at, term, pool)
            if rules == before:
                break
        return list(zip(origins, rules, strict=True))

    def _find_rules(self, seeds: Sequence[Interpretation], h: HornTheory) -> list[Rule]:
        """Find rules with prime bodies that reject the seeds and pass their trials."""
        rules: list[Rule] = []
        for _ in range(MAX_TRIALS):
            terms = run_batched([self._search(seed) for seed in seeds], self._margins)
            pairs = [(seed, term) for seed, term in zip(seeds, terms, strict=True) if term is not None]
            stands = self._try_terms([term for _, term in pairs])
            rules += (self.codec.rule(term) for (_, term), good in zip(pairs, stands, strict=True) if good)
            if all(stands):
                break
            seeds = [seed for (seed, _), good in zip(pairs, stands, strict=True) if not good]
            self.pool.judge(h)
        return [rule for rule in dict.fromkeys(rules) if rule not in {*self.refuted, *h}]

    def _search(self, seed: Interpretation) -> QuerySearch[Term | None]:
        """Search for a valid term that rejects a seed, in order of preferred heads."""
        zeros = [
            self.codec.head_literal(head) for head in self.codec.heads if head is BOTTOM or head in seed.false
        ]
        for zero in zeros:
            known = np.array(sorted({*seed.true, *zero}), np.intp)
            term = yield from self.search.prime(known, np.array(zero, np.intp))
            if term is not None:
                return term
        return None

    def _choose_useful(self, rules: list[Rule], h: HornTheory) -> list[Rule]:
        """Choose the rules that improve the hypothesis, best first."""
        chosen: list[Rule] = []
        theory = h
        while rules:
            best = max(rules, key=self._rule_worth)
            if chosen and self._rule_worth(best) <= 0:
                break
            rules.remove(best)
            if not theory.entails(best):
                chosen.append(best)
                theory = HornTheory(h.vocabulary, (*h, *chosen))
            self.pool.close_term(self.codec.term(best))
        return chosen

    def _find_superfluous(self, h: HornTheory, added: Sequence[Rule]) -> frozenset[Rule]:
        """Find the rules to drop: harmful ones, and the least useful ones beyond `max_rules`."""
        rules = [*(rule for rule in h if rule not in self.background), *added]
        cover, kept = TermCoverage.of(self.pool, map(self.codec.term, rules)), list(range(len(rules)))
        while kept:
            worths = cover.contributions(kept)
            least = int(np.argmin(worths))
            if worths[least] >= 0 and len(kept) <= self.settings.max_rules:
                break
            kept.pop(least)
        return frozenset(rules) - {rules[at] for at in kept}

    def _try_terms(self, terms: Sequence[Term]) -> list[bool]:
        """Whether each term passes its trial; the exceptions to the others are added to the pool."""
        exceptions = [self._exceptions(term) for term in terms]
        failed = [at for at, cases in enumerate(exceptions) if len(cases)]
        if failed:
            against = Batch.concatenate(exceptions)
            self.pool.add(against, np.ones(len(against), np.bool_))
            self.failed.append(
                tuple(interpretation_of(terms[at], len(self.pool.vocabulary)) for at in failed)
            )
        return [not len(cases) for cases in exceptions]

    def _exceptions(self, term: Term) -> Batch:
        """With `min_precision` 1, accepted items changed to meet a term that the teacher still accepts."""
        if self.search.min_precision < 1:
            return Batch.from_interpretations([], self.pool.vocabulary)
        tried = self.pool.accepted_nearest(term, TRIAL_SIZE)
        return tried[self.member(tried)]

    def _rule_worth(self, rule: Rule) -> int:
        """The worth of a rule on the open items of the pool."""
        term, pool = self.codec.term(rule), self.pool
        gain = count_bits(pool.rejected.meeting(term) & pool.rejected.open)
        harm = count_bits(pool.accepted.meeting(term) & pool.accepted.open)
        return self.search.worth(int(gain), int(harm))

    def _refute(self, h: HornTheory, witness: Interpretation) -> Change:
        """Remove the refuted rule, unless it is still precise enough."""
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
        batch = batch_from_terms(self.pool.vocabulary, terms)
        if self.margin is not None:
            return np.clip(self.margin(batch), -LARGEST_MARGIN, LARGEST_MARGIN)
        return np.where(self.member(batch), 1.0, -1.0)
