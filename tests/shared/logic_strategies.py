"""Hypothesis strategies for vocabularies, rules, theories and batches."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary


def names() -> st.SearchStrategy[str]:
    """Any text that can be a name: everything but the empty string and lone surrogates."""
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


COLLIDING_NAMES = (
    "x", "not_x", "not_x_2", "unknown_x", "unknown_x_2", "unknown_not_x", "not_unknown_x", "asked_1",
    "asked_2", "a", "b", "c", "a_and_b", "b_and_c", "a_and_b_and_c", "not_all_of_a", "not_all_of_a_and_b",
    "unknown_a", "unknown_a_and_b", "for_1_1", "for_1_2", "for_2_2", "against_1_1", "against_1_2",
)  # fmt: skip
"""Names of features that are like those that hornbook makes up for cards and trees of the others."""

HOSTILE_NAMES = (
    *COLLIDING_NAMES,
    "X", "not_X", "not_not_x", "unknown_X", "score≥1", "x=low", "true", "True", "TRUE", "false", "FALSE",
    "null", "None", "⊥", "⊤", "select", "class", "And", "0", "-1", "facts", "chained", "step", "v0",
    "given0", "RULES", "contradiction", "satisfied", "Satisfied", "rowid", "holds", "fact", "a & b",
    "a -> b", "a,b", "#", "-- x", ";", "*/", "[a]", "`a`", "%", "?1", ":a", "$a", "'", "it's", "''", '"',
    '""', 'say "x"', "\\", "\\x", "\\'", "{}", "\0", "a\0", "a\ufffd", "\x01", " ", "  ", "\t", "\n",
    "a\nb", "\r", "\u2028", "\ufeff", "\u200b", "x ", "É", "é", "e\u0301", "ß", "ss", "SS",
    "\N{ANGSTROM SIGN}", "Å", "\N{LATIN SMALL LIGATURE FI}", "fi",
    "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "i\u0307", "\N{LATIN SMALL LETTER DOTLESS I}",
    "\U0001f40e",
)  # fmt: skip
"""Names that meet those that hornbook makes up, that a format gives a meaning, or that look alike."""


def hostile_names() -> st.SearchStrategy[str]:
    """Names that are likely to meet each other, or what a format makes of them."""
    return st.one_of(st.sampled_from(HOSTILE_NAMES), names())


def hostile_vocabularies(max_size: int = 5) -> st.SearchStrategy[Vocabulary]:
    """Vocabularies of hostile names, with duals or without."""
    kinds = (st.sampled_from(COLLIDING_NAMES), hostile_names())
    drawn = st.one_of(*(st.lists(kind, min_size=1, max_size=max_size, unique=True) for kind in kinds))
    return st.one_of(drawn.map(Vocabulary), drawn.map(Vocabulary.with_duals))


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
    rng = np.random.default_rng(seed)
    return rng.choice([0.0, 1.0, np.nan], (size, width), p=rng.dirichlet([1, 1, 1]))
