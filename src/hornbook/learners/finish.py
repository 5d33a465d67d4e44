"""The last stage of a run: the best of all rules found on the way, refined beside each other.

During a run a rule is judged beside the hypothesis of the moment. When all queries are used up,
every rule that was ever part of a hypothesis is a candidate again. On fresh labelled items, more
than a run can afford to look at with each counterexample, the rules are chosen that are worth
most together; then each in turn is refined given all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hornbook.learners.body import Search, Term
from hornbook.learners.contribution import Cover
from hornbook.learners.wording import Wording
from hornbook.logic.rule import Rule

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
