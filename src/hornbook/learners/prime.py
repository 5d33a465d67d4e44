"""Rules as terms and back: a rule rejects what has its body and the literal that says its head is false."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.body import Asking, Search, Term, together, worth
from hornbook.learners.pool import Pool, Side, count, literals, said
from hornbook.logic import (
    BOTTOM,
    Batch,
    Bools,
    Bottom,
    Head,
    HornTheory,
    Interpretation,
    Rule,
    Vocabulary,
    Words,
    bits,
)
from hornbook.logic.chaining import derive
from hornbook.queries import Change, Counterexample, Equivalence, Membership, Step, asked, interpretation
from hornbook.randomness import Purpose, generator


@dataclass(frozen=True)
class Wording:
    """How terms over a vocabulary are worded as rules with some heads, the preferred first.

    Examples
    --------
    >>> vocabulary = Vocabulary(["rain", "wet"])
    >>> wording = Wording.of(vocabulary, None)
    >>> term = wording.term(Rule({0}, 1))
    >>> term.tolist(), wording.rule(term) == Rule({0}, 1)
    ([0, 3], True)

    """

    vocabulary: Vocabulary
    heads: tuple[Head, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary, heads: Sequence[Head] | None) -> Wording:
        """With the heads given, or with ⊥ and every variable without a dual."""
        # a variable with a dual need not be a head: what it would say, its dual says in a body
        unpaired = (v for v, dual in enumerate(vocabulary.duals) if dual is None)
        return cls(vocabulary, (BOTTOM, *unpaired) if heads is None else tuple(heads))

    def zero(self, head: Head) -> tuple[int, ...]:
        """The literal that says that a head is false, its dual if it has one; none for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.vocabulary.dual(head)
        return (len(self.vocabulary) + head if dual is None else dual,)

    def rule(self, term: Term) -> Rule:
        """The rule that rejects what meets the term, with the preferred head that it allows."""
        body = set(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self.zero(head)):
                return Rule(body.difference(self.zero(head)), head)
        return Rule(body, BOTTOM)

    def term(self, rule: Rule) -> Term:
        """What an item must have for the rule to reject it."""
        return np.array(sorted({*rule.body, *self.zero(rule.head)}), np.intp)


def blame(member: Membership, hypothesis: HornTheory, witness: Interpretation) -> Rule:
    """The rule that a positive counterexample refutes.

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
    Rule(body=frozenset({1}), head=2)

    """
    vocabulary = hypothesis.vocabulary
    steps: list[Rule] = []
    for rule in derive(hypothesis.rules, witness.true):
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


@dataclass(frozen=True)
class Cover:
    """The items that meet each of several terms, of both labels.

    It looks at each rule by itself. An item that rules reject only together, one deriving what
    another needs, counts for none of them.
    """

    rejected: Words
    accepted: Words

    @classmethod
    def of(cls, pool: Pool, terms: Iterable[NDArray[np.intp]]) -> Cover:
        """The items of a pool that meet the terms."""
        terms = list(terms)
        return cls(_met(pool.rejected, terms), _met(pool.accepted, terms))

    def of_some(self, positions: Sequence[int]) -> Cover:
        """The cover of some of the terms."""
        return Cover(self.rejected[positions], self.accepted[positions])

    def alone(self, at: int) -> tuple[Words, Words]:
        """The rejected and the accepted items that meet one term and no other."""
        return self.rejected[at] & _once(self.rejected), self.accepted[at] & _once(self.accepted)

    def beside(self, at: int) -> tuple[Words, Words]:
        """The rejected and the accepted items that meet no other term."""
        rejected, accepted = (
            ~(_any(words[:at]) | _any(words[at + 1 :])) for words in (self.rejected, self.accepted)
        )
        return rejected, accepted

    def replace(self, at: int, term: NDArray[np.intp], pool: Pool) -> None:
        """Put another term in the place of one."""
        self.rejected[at], self.accepted[at] = (side.meeting(term) for side in (pool.rejected, pool.accepted))

    def contributions(self) -> NDArray[np.int64]:
        """What each term is worth on the items that meet it and no other."""
        return worth(*(count(words & _once(words)) for words in (self.rejected, self.accepted)))

    def best(self, chosen: Sequence[int], most: int) -> list[int]:
        """The positions of terms that are worth most together, as far as exchanges of those chosen lead.

        A term that does more harm than good goes. The one that adds most comes in, and then, if
        they are too many, the one goes whose removal costs least.
        """
        chosen = list(chosen)
        relevant = Cover(_met_by_some(self.rejected), _met_by_some(self.accepted))
        added = -1
        while True:
            losses = relevant.of_some(chosen).contributions()
            if len(chosen) > most or losses.min(initial=0) < 0:
                least = len(chosen) - 1 if losses[-1] <= losses.min() else int(np.argmin(losses))
                if chosen.pop(least) == added:
                    return chosen
                continue
            offers = worth(
                *(count(words & ~_any(words[chosen])) for words in (relevant.rejected, relevant.accepted))
            )
            if offers.max(initial=0) <= 0:
                return chosen
            added = int(np.argmax(offers))
            chosen.append(added)


def _met(side: Side, terms: list[NDArray[np.intp]]) -> Words:
    met = np.zeros((len(terms), side.rows.shape[1]), np.uint64)
    for row, term in zip(met, terms, strict=True):
        row[:] = side.meeting(term)
    return met


def _met_by_some(words: Words) -> Words:
    """The same rows, without the items that are in none of them."""
    return bits.take(words, np.flatnonzero(bits.flat(_any(words), bits.WORD * words.shape[1])))


def _any(words: Words) -> Words:
    """The items that are in some row."""
    some: Words = np.bitwise_or.reduce(words, axis=0)
    return some


def _once(words: Words) -> Words:
    """The items that are in exactly one row."""
    once, twice = np.zeros((2, words.shape[1]), np.uint64)
    for row in words:
        twice |= once & row
        once |= row
    exactly: Words = once & ~twice
    return exactly


SWEEPS = 3
"""How often every rule is looked at again, unless none of them changes any more."""


def finished(
    candidates: Sequence[Rule],
    chosen: Sequence[int],
    most: int,
    *,
    search: Search,
    wording: Wording,
    stands: Callable[[Term], bool],
) -> list[tuple[Rule, Rule]]:
    """The rules chosen in the end, each with the candidate that it was refined from.

    Parameters
    ----------
    candidates, chosen
        Rules, and the positions of those to begin with.
    most
        How many are to be chosen.
    search
        Knows the labelled items, and what makes a term precise.
    wording
        Turns rules into terms and back.
    stands
        Whether a term stands its trial.

    """
    pool = search.pool
    origins = [candidates[at] for at in Cover.of(pool, map(wording.term, candidates)).best(chosen, most)]
    rules, terms = list(origins), [wording.term(rule) for rule in origins]
    cover = Cover.of(pool, terms)
    for _ in range(SWEEPS):
        before = list(rules)
        for at, rule in enumerate(before):
            pool.reopen(*cover.beside(at))
            term = search.weighed(terms[at], np.array(wording.zero(rule.head), np.intp))
            after = wording.rule(term)
            if after not in rules and stands(term):
                rules[at], terms[at] = after, term
                cover.replace(at, term, pool)
        if rules == before:
            break
    return list(zip(origins, rules, strict=True))


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

    def replay(self, answer: Counterexample, change: Change) -> None:
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
