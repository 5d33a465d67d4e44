"""What the tests of extraction share: a theory, models that are not Horn, quick settings."""

from functools import cache

import numpy as np
from difficult_teachers import Network

from hornbook.logic import BOTTOM, HornTheory, Vocabulary, random_theory
from hornbook.queries import Random, Settings, run_learner


def rng(seed=0):
    return np.random.default_rng(seed)


THEORY = random_theory(12, 6, (2, 3), rng(1))
PARTIAL = Random(THEORY.vocabulary)
QUICK = Settings(pool=2000, size=3000)
PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(8)])


@cache
def quick_run():
    """A whole run about the theory, for tests that look at what it found."""
    return run_learner(THEORY.satisfied_by, PARTIAL, QUICK)


def disagreement(found, member, distribution, size=20_000, seed=99):
    """The share of fresh samples on which rules and teacher differ."""
    batch = distribution.draw(size, rng(seed))
    return float((found.theory.satisfied_by(batch) != member(batch)).mean())


RARE = HornTheory.parse(
    "v1 & v2 & v3 & v4 & v5 & v6 & v7 -> v8\nv9 & v8 & v7 & v6 & v5 & v4 -> false", THEORY.vocabulary
)


def rare_margin(batch):
    """How many literals the nearest violation of a rule lacks, less a half."""
    dense = batch.to_array()
    lacking = [
        (dense[:, sorted(rule.body)] != 1).sum(axis=1)
        + (0 if rule.head is BOTTOM else dense[:, rule.head] != 0)
        for rule in RARE
    ]
    return np.min(lacking, axis=0) - 0.5


def hasty(batch):
    """Is sure about questions with few known values, and wrong about them."""
    few = HornTheory.parse("v1 & v2 -> v4", THEORY.vocabulary)
    many = HornTheory.parse("v1 & v2 & v3 -> v4", THEORY.vocabulary)
    known = (~np.isnan(batch.to_array())).sum(axis=1)
    return np.where(known > 8, many.satisfied_by(batch), few.satisfied_by(batch))


NETWORK = Network(PARTIAL, rng(3))
SCARCE = {"pool": 60, "size": 100, "min_precision": 0.5}
