"""What the paper published, and how it read its network: LRN* with simulated queries.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbook.distributions import Distribution
from hornbook.learners import lrn_star, lrn_star_by_heads
from hornbook.learners.shrink import Shrink
from hornbook.logic import HornTheory, Rule
from hornbook.models.network import Net
from hornbook.oracles import Counted
from hornbook.oracles.sampling import SAMPLING_CHUNK
from hornbook.queries import Counterexample, Equivalence, Guarantee, Membership, Unknown

NETS = (
    (Net((32, 16, 8, 16, 32), 0.1), 0.9612),
    (Net((32, 32, 32, 8), 0.1), 0.9592),
    (Net((32, 32, 32), 0.1), 0.9382),
    (Net((32, 8, 32, 16), 0.1), 0.9217),
)
"""Its four best nets and their accuracies (the table of architectures); the first was chosen."""

DISAGREEMENT = {"t_h": 0.092, "t_nn": 0.060, "h_nn": 0.058, "t_tree": 0.084}
"""The share of interpretations judged differently, after 100 equivalence queries (the table of results)."""

HOURS = {"lrn_star": 60, "tree": 120}
"""About how long the extractions took (under Results)."""

RULES_OF_T = 20
"""How many extracted rules are rules of T (under Results)."""

BODY_LENGTH = 40
"""About how many variables the body of an extracted rule has (under Results)."""

QUERIES = 100
"""The limit on equivalence queries (under Test Setting)."""


@dataclass(frozen=True)
class Reading:
    """What LRN* read out of a model within a limit of equivalence queries."""

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


def read_by_lrn_star(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    queries: int = QUERIES,
    shrink: Shrink | None = None,
    by_heads: bool = False,
) -> Reading:
    """Read a model as the paper does: LRN* as printed, begun with the disjointness of pairs.

    The model is asked as it is, though it is no Horn teacher, so that what the algorithm
    promises for Horn teachers is not promised here.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        An equivalence query is simulated on so many fresh interpretations.
    queries
        The limit on equivalence queries.
    shrink
        How counterexamples are made smaller, which the paper does not do.
    by_heads
        Whether line 7 is decided by the heads of a meet, which is our variant, and not by one
        question about the meet, as printed.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> random = Random(theory.vocabulary)
    >>> found = read_by_lrn_star(theory.satisfied_by, random, 1000, np.random.default_rng(0))
    >>> print(found.theory, "|", found.stopped)
    horse ∧ wings → pegasus | no counterexample among 1000 samples

    """
    vocabulary = distribution.vocabulary
    background = HornTheory.background(vocabulary)
    counted = Counted(member)
    asked = 0
    search = missing_rules(counted, distribution, size, rng)

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
    return Reading(last.hypothesis, background, asked, counted.questions, last.answer.reason)


def missing_rules(
    member: Membership, distribution: Distribution, size: int, rng: np.random.Generator
) -> Equivalence:
    """The paper's equivalence query: the first of `size` samples that the model alone rejects.

    What the model accepts and the hypothesis rejects is passed over: LRN* has no use for it.
    """

    def equivalent(hypothesis: HornTheory) -> Counterexample | Unknown:
        for start in range(0, size, SAMPLING_CHUNK):
            batch = distribution.draw(min(SAMPLING_CHUNK, size - start), rng)
            missed = np.flatnonzero(hypothesis.satisfied_by(batch) & ~member(batch))
            if len(missed):
                return Counterexample(batch[int(missed[0])], found_by="sampling")
        return Unknown(f"no counterexample among {size} samples")

    return equivalent
