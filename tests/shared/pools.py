"""Vocabularies of every kind, pools of labelled items and terms about them."""

import numpy as np

from hornbook.logic import Vocabulary
from hornbook.queries import Random
from hornbook.queries.prime import Pool

PLAIN = Vocabulary([f"x{i}" for i in range(8)])
PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(5)])
PARTLY = Vocabulary(["a", "b", "c", "ill", "well"], {"ill": "well"})
VOCABULARIES = [PLAIN, PAIRED, PARTLY]


def rng(seed=0):
    return np.random.default_rng(seed)


def has(batch):
    """Whether each item has each literal, dense: a (k, 2n) matrix."""
    dense = batch.to_array()
    return np.concatenate([dense == 1, dense == 0], axis=1)


def filled_pool(vocabulary, size=300, seed=0, accepted=0.7):
    pool = Pool(vocabulary)
    batch = Random(vocabulary, 0.4).draw(size, rng(seed))
    pool.add(batch, rng(seed + 1).random(size) < accepted)
    return pool


def some_terms(vocabulary, seed, times=20):
    generator = rng(seed)
    width = 2 * len(vocabulary)
    return [generator.permutation(width)[: generator.integers(0, 4)].astype(np.intp) for _ in range(times)]


def met(batch, term):
    return has(batch)[:, term].all(axis=1)
