"""Random Horn theories, to test and to show learners with."""

from __future__ import annotations

import numpy as np

from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary


def random_theory(
    variables: int,
    rules: int,
    body: tuple[int, int],
    rng: np.random.Generator,
    bottom: float = 0.1,
) -> HornTheory:
    """A theory of distinct non-trivial rules, body lengths uniform in `body`, heads ⊥ with a given share.

    Examples
    --------
    >>> print(random_theory(4, 3, (1, 2), np.random.default_rng(1)))
    v1 → v2
    v1 ∧ v4 → v2
    v1 ∧ v4 → ⊥

    """
    shortest, longest = body
    if not 0 <= shortest <= longest < variables:
        raise HornbookError(
            f"bodies of {shortest} to {longest} need at least {longest + 1} variables, not {variables}"
        )
    vocabulary = Vocabulary(f"v{i}" for i in range(1, variables + 1))
    found: dict[Rule, None] = {}
    for _ in range(100 * rules + 100):
        if len(found) == rules:
            return HornTheory(vocabulary, found)
        *chosen, head = rng.permutation(variables)[: rng.integers(shortest, longest + 1) + 1].tolist()
        found.setdefault(Rule(chosen, BOTTOM if rng.random() < bottom else head))
    raise HornbookError(f"there are too few distinct rules over {variables} variables to draw {rules}")
