"""The paper's published figures, and its extraction method: LRN* with simulated equivalence queries.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from hornbook.logic import HornTheory, Rule, Vocabulary
from hornbook.queries import (
    Closed,
    Counted,
    Counterexample,
    Distribution,
    Guarantee,
    Membership,
    NegativeSampling,
    Net,
    Unknown,
    lrn_star,
    meet_query,
)

ACCURACY = 0.9612
"""The accuracy of the chosen net (the table of architectures)."""

NETS = (
    (Net((32, 16, 8, 16, 32), 0.1), ACCURACY),
    (Net((32, 32, 32, 8), 0.1), 0.9592),
    (Net((32, 32, 32), 0.1), 0.9382),
    (Net((32, 8, 32, 16), 0.1), 0.9217),
)
"""Its four best nets and their accuracies (the table of architectures); the first was chosen."""

DISAGREEMENT = {"t_h": 0.092, "t_nn": 0.060, "h_nn": 0.058, "t_tree": 0.084}
"""Published disagreement after 100 equivalence queries (the table of results)."""

HOURS = {"lrn_star": 60, "tree": 120}
"""About how long the extractions took (under Results)."""

RULES_OF_T = 20
"""How many extracted rules are rules of T (under Results)."""

BODY_FEATURES = 40
"""About how many different variables the body of an extracted rule has (under Results).

The rule of a patient has about 91 literals about 44 of the 49 features: the figure is one of features.
"""

QUERIES = 100
"""The limit on equivalence queries (under Test Setting)."""

Line7: TypeAlias = Literal["printed", "heads", "append"]
LINE_7: dict[Line7, str] = {
    "printed": "a meet that the network rejects replaces an antecedent",
    "heads": "a meet that has a head replaces an antecedent",
    "append": "every counterexample is appended",
}
"""The ways to decide line 7 of Algorithm 1: as printed, our variant, and one that leaves the line out."""


@dataclass(frozen=True)
class LrnStarResult:
    """The theory that LRN* extracted within a limit of equivalence queries, and its cost."""

    theory: HornTheory
    background: HornTheory
    equivalence_queries: int
    membership_queries: int
    stopped: str

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)


def run_lrn_star(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    queries: int = QUERIES,
    line_7: Line7 = "printed",
    close: bool = True,
) -> LrnStarResult:
    """Extract rules as the paper does: LRN*, with the disjointness of duals as background.

    The model is not a Horn teacher, so the algorithm's guarantees for Horn teachers do not apply.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Each equivalence query is simulated on `size` fresh interpretations of the distribution.
    queries
        The limit on equivalence queries.
    line_7
        How line 7 decides whether a meet replaces an antecedent, see `LINE_7`.
    close
        Whether counterexamples are closed under the hypothesis, which the paper does not print.

    Examples
    --------
    >>> from hornbook.queries import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> random = Random(theory.vocabulary)
    >>> found = run_lrn_star(theory.satisfied_by, random, 1000, np.random.default_rng(0))
    >>> print(found.theory, "|", found.stopped)
    horse ∧ wings → pegasus | no counterexample among 1000 samples

    """
    vocabulary = distribution.vocabulary
    background = HornTheory.background(vocabulary)
    counted = Counted(member)
    asked = 0
    search = NegativeSampling(counted, distribution, lambda _: size, rng)

    def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
        nonlocal asked
        if asked == queries:
            return Unknown(f"budget of {queries} equivalence queries")
        asked += 1
        return search(hypothesis)

    closed: dict[Line7, Closed | None] = {"printed": meet_query, "heads": None, "append": _never_replace}
    *_, last = lrn_star(
        vocabulary,
        counted,
        equivalent,
        background=background,
        closed=closed[line_7],
        close=close,
        strict=False,
    )
    assert isinstance(last.answer, Unknown)
    return LrnStarResult(last.hypothesis, background, asked, counted.questions, last.answer.reason)


def _never_replace(member: Membership, vocabulary: Vocabulary, A: frozenset[int]) -> bool:
    """Take every meet for closed, so that no meet replaces an antecedent."""
    return True
