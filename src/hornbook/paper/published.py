"""The paper's published figures, and its extraction method: LRN* with simulated equivalence queries.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbook.distributions import Distribution
from hornbook.learners import Shrink, lrn_star, lrn_star_by_heads
from hornbook.logic import HornTheory, Rule
from hornbook.models import Net
from hornbook.oracles import SAMPLING_CHUNK, Counted
from hornbook.queries import Counterexample, Equivalence, Guarantee, Membership, Unknown

NETS = (
    (Net((32, 16, 8, 16, 32), 0.1), 0.9612),
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

BODY_LENGTH = 40
"""About how many variables the body of an extracted rule has (under Results)."""

QUERIES = 100
"""The limit on equivalence queries (under Test Setting)."""


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
    shrink: Shrink | None = None,
    by_heads: bool = False,
) -> LrnStarResult:
    """Extract rules as the paper does: LRN* as printed, with the disjointness of duals as background.

    The model is no Horn teacher, so the algorithm's guarantees for Horn teachers do not apply.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Each equivalence query is simulated on `size` fresh interpretations of the distribution.
    queries
        The limit on equivalence queries.
    shrink
        How counterexamples are minimised; the paper does not minimise them.
    by_heads
        Whether line 7 is decided by the heads of a meet, our variant, instead of one question
        about the meet, as printed.

    Examples
    --------
    >>> from hornbook.distributions import Random
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
    search = simulate_equivalence(counted, distribution, size, rng)

    def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
        nonlocal asked
        if asked == queries:
            return Unknown(f"budget of {queries} equivalence queries")
        asked += 1
        return search(hypothesis)

    learn = lrn_star_by_heads if by_heads else lrn_star
    steps = learn(vocabulary, counted, equivalent, background=background, shrink=shrink, strict=False)
    *_, last = steps
    assert isinstance(last.answer, Unknown)
    return LrnStarResult(last.hypothesis, background, asked, counted.questions, last.answer.reason)


def simulate_equivalence(
    member: Membership, distribution: Distribution, size: int, rng: np.random.Generator
) -> Equivalence:
    """Simulate the paper's equivalence query: return the first of `size` samples that only the model rejects.

    Samples that only the hypothesis rejects are skipped: LRN* has no use for them.
    """

    def equivalent(hypothesis: HornTheory) -> Counterexample | Unknown:
        for start in range(0, size, SAMPLING_CHUNK):
            batch = distribution.draw(min(SAMPLING_CHUNK, size - start), rng)
            missed = np.flatnonzero(hypothesis.satisfied_by(batch) & ~member(batch))
            if len(missed):
                return Counterexample(batch[int(missed[0])], found_by="sampling")
        return Unknown(f"no counterexample among {size} samples")

    return equivalent
