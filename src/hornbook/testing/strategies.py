"""Hypothesis strategies for vocabularies, rules, theories and batches."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hornbook.logic.batch import Batch
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.randomness import Purpose, generator


def names() -> st.SearchStrategy[str]:
    """Any text that can be a name: everything but the empty string and lone surrogates."""
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def vocabularies(max_size: int = 6) -> st.SearchStrategy[Vocabulary]:
    """Vocabularies of short plain names."""
    return st.integers(1, max_size).map(lambda size: Vocabulary(f"v{i}" for i in range(size)))


@st.composite
def rules(draw: st.DrawFn, width: int, max_body: int | None = None) -> Rule:
    """Rules over `width` variables; trivial ones are possible."""
    body = draw(st.frozensets(st.integers(0, width - 1), max_size=max_body or width))
    head = draw(st.one_of(st.just(BOTTOM), st.integers(0, width - 1)))
    return Rule(body, head)


@st.composite
def theories(draw: st.DrawFn, max_variables: int = 6, max_rules: int = 8) -> HornTheory:
    """Small theories."""
    vocabulary = draw(vocabularies(max_variables))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary)), max_size=max_rules)))


def batches(vocabulary: Vocabulary, max_size: int = 200) -> st.SearchStrategy[Batch]:
    """Batches of random partial interpretations."""

    def build(size_and_seed: tuple[int, int]) -> Batch:
        return Batch.from_array(random_values(*size_and_seed, len(vocabulary)), vocabulary)

    return st.tuples(st.integers(0, max_size), st.integers(0, 2**32 - 1)).map(build)


def random_values(size: int, seed: int, width: int) -> NDArray[np.float64]:
    """A (size, width) array of 1, 0 and NaN."""
    rng = generator(seed, Purpose.TEST_CASES)
    return rng.choice([0.0, 1.0, np.nan], (size, width), p=rng.dirichlet([1, 1, 1]))
