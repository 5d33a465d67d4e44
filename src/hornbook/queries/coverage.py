"""Terms of rules, which pooled items meet them, and the choice of the final rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import BOTTOM, Bottom, Head, Rule, Vocabulary, Words, bits
from hornbook.queries.body import Term, TermSearch, worth
from hornbook.queries.items import LabelledItems, count_bits, count_in_rows
from hornbook.queries.pool import Pool


@dataclass(frozen=True)
class TermCodec:
    """Converts rules to terms and back, with a list of heads, the preferred one first.

    Examples
    --------
    >>> vocabulary = Vocabulary(["rain", "wet"])
    >>> codec = TermCodec.of(vocabulary, None)
    >>> term = codec.term(Rule({0}, 1))
    >>> term.tolist(), codec.rule(term) == Rule({0}, 1)
    ([0, 3], True)

    """

    vocabulary: Vocabulary
    heads: tuple[Head, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary, heads: Sequence[Head] | None) -> TermCodec:
        """Use the given heads, or ⊥ and every variable without a dual."""
        # a variable with a dual need not be a head: its dual in the body says the same
        return cls(vocabulary, (BOTTOM, *sorted(vocabulary.unpaired)) if heads is None else tuple(heads))

    def head_literal(self, head: Head) -> tuple[int, ...]:
        """The literal of a false head (its dual if it has one), as a tuple; empty for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.vocabulary.dual(head)
        return (len(self.vocabulary) + head if dual is None else dual,)

    def rule(self, term: Term) -> Rule:
        """The rule that rejects the items that meet the term, with the most preferred head possible."""
        body = set(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self.head_literal(head)):
                return Rule(body.difference(self.head_literal(head)), head)
        return Rule(body, BOTTOM)

    def term(self, rule: Rule) -> Term:
        """The term of a rule: an item that meets it violates the rule."""
        return np.array(sorted({*rule.body, *self.head_literal(rule.head)}), np.intp)


@dataclass(frozen=True)
class TermCoverage:
    """The items of each label that meet each of several terms, shape (terms, words).

    Each rule is considered by itself: an item that only a chain of rules rejects counts for
    none of them.
    """

    rejected: Words
    accepted: Words

    @classmethod
    def of(cls, pool: Pool, terms: Iterable[NDArray[np.intp]]) -> TermCoverage:
        """The items of a pool that meet the terms."""
        terms = list(terms)
        return cls(_find_meeting(pool.rejected, terms), _find_meeting(pool.accepted, terms))

    def uncovered_by_others(self) -> Iterator[tuple[Words, Words]]:
        """For each term in turn, the rejected and the accepted items that meet no other term.

        A term may be replaced when its turn is over.
        """
        return zip(_in_no_other_row(self.rejected), _in_no_other_row(self.accepted), strict=True)

    def replace(self, at: int, term: NDArray[np.intp], pool: Pool) -> None:
        """Replace the term at a position."""
        self.rejected[at], self.accepted[at] = (side.meeting(term) for side in (pool.rejected, pool.accepted))

    def contributions(self, chosen: Sequence[int]) -> NDArray[np.int64]:
        """The worth of each chosen term on the items that meet no other chosen one, shape (chosen,)."""
        positions = np.array(chosen, np.intp)
        return worth(*(count_sole(words, positions) for words in (self.rejected, self.accepted)))

    def choose_terms(self, chosen: Sequence[int], most: int) -> list[int]:
        """Choose at most `most` terms by local search from `chosen`; returns their positions.

        Terms that do more harm than good are dropped. The term that adds most is added, and if
        there are too many terms, the one whose removal costs least is dropped.
        """
        chosen = list(chosen)
        relevant = TermCoverage(_drop_unmet(self.rejected), _drop_unmet(self.accepted))
        added = -1
        while True:
            losses = relevant.contributions(chosen)
            if len(chosen) > most or losses.min(initial=0) < 0:
                least = len(chosen) - 1 if losses[-1] <= losses.min() else int(np.argmin(losses))
                if chosen.pop(least) == added:
                    return chosen
                continue
            offers = worth(
                *(
                    count_in_rows(words, np.arange(len(words)), ~_in_any_row(words[chosen]))
                    for words in (relevant.rejected, relevant.accepted)
                )
            )
            if offers.max(initial=0) <= 0:
                return chosen
            added = int(np.argmax(offers))
            chosen.append(added)


def _find_meeting(side: LabelledItems, terms: list[NDArray[np.intp]]) -> Words:
    met = np.zeros((len(terms), side.rows.shape[1]), np.uint64)
    for row, term in zip(met, terms, strict=True):
        row[:] = side.meeting(term)
    return met


def _drop_unmet(words: Words) -> Words:
    """Drop the items that are in no row, shape (rows, fewer words)."""
    return bits.take(words, np.flatnonzero(bits.flat(_in_any_row(words), bits.WORD * words.shape[1])))


def _in_any_row(words: Words) -> Words:
    """The items that are in at least one row, shape (words,)."""
    some: Words = np.bitwise_or.reduce(words, axis=0)
    return some


def _in_no_other_row(words: Words) -> Iterator[Words]:
    """For each row in turn, the items that are in no other row, shape (words,); rows behind may change."""
    after = np.bitwise_or.accumulate(words[::-1], axis=0)[::-1]  # those in a row or in one after it
    before = np.zeros(words.shape[1], np.uint64)
    for at, row in enumerate(words):
        yield ~(before | after[at + 1]) if at + 1 < len(words) else ~before
        before |= row


def count_sole(words: Words, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
    """For each chosen row, the number of items that are in no other chosen row, shape (chosen,)."""
    rows = words[chosen]
    return count_bits(rows & _in_one_row(rows))


def _in_one_row(words: Words) -> Words:
    """The items that are in exactly one row, shape (words,)."""
    once, twice = np.zeros((2, words.shape[1]), np.uint64)
    for row in words:
        twice |= once & row
        once |= row
    exactly: Words = once & ~twice
    return exactly


MAX_SWEEPS = 2
"""Maximum number of passes in which every rule is refined."""


def choose_final_rules(
    candidates: Sequence[Rule],
    chosen: Sequence[int],
    most: int,
    *,
    search: TermSearch,
    codec: TermCodec,
    passes_trial: Callable[[Term], bool],
) -> list[tuple[Rule, Rule]]:
    """Choose and refine the final rules; returns (candidate, refined rule) pairs.

    Parameters
    ----------
    candidates, chosen
        Candidate rules, and the positions of those to start from.
    most
        Maximum number of rules.
    search
        The search, with its pool of labelled items.
    codec
        Converts rules to terms and back.
    passes_trial
        Whether the teacher confirms a term.

    """
    pool = search.pool
    origins = [
        candidates[at] for at in TermCoverage.of(pool, map(codec.term, candidates)).choose_terms(chosen, most)
    ]
    rules, terms = list(origins), [codec.term(rule) for rule in origins]
    cover = TermCoverage.of(pool, terms)
    for _ in range(MAX_SWEEPS):
        before = list(rules)
        for at, (rule, uncovered) in enumerate(zip(before, cover.uncovered_by_others(), strict=True)):
            pool.reopen(*uncovered)
            term = search.refine(terms[at], np.array(codec.head_literal(rule.head), np.intp))
            after = codec.rule(term)
            if after not in rules and passes_trial(term):
                rules[at], terms[at] = after, term
                cover.replace(at, term, pool)
        if rules == before:
            break
    return list(zip(origins, rules, strict=True))
