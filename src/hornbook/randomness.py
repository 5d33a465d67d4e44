"""Every source of randomness: a seed, and the one purpose that its words serve.

A figure is honest only if it is measured on samples that chose nothing. So each purpose has its
own words: no two purposes can be given the same ones, whatever the seed.
"""

from __future__ import annotations

from enum import Enum, unique

import numpy as np

from hornbook.errors import HornbookError

LARGEST_PLACE = 2**32 - 1
"""A number beyond it would be read as two numbers, and could be mistaken for another place."""


@unique
class Purpose(Enum):
    """What random words are for. The value is the key that tells its words from all others."""

    # what an explanation is made from
    FILE_ROWS = "rows of a large file"
    COMPLETIONS = "completions"
    SAMPLED_ROWS = "rows that samples are made of"
    BIN_VALUES = "values of bins"
    LEARNING_SAMPLES = "learning samples"
    COLUMN_EXCHANGES = "exchanges of columns"
    CANDIDATE_CHOICE = "candidate choice"
    DEFAULT_CHOICE = "default choice"
    POOL = "pool"
    RULE_SEARCH = "rule search"
    EQUIVALENCE = "="  # short, for it is part of a key for every chunk of every query
    REASON_SEARCH = "search for reasons"
    CHANGE_SEARCH = "search for changes"
    TABLE_REASONS = "rows to find reasons for"
    TEACHER_COUNTEREXAMPLES = "counterexamples of a perfect teacher"

    # what it is measured on
    HELD_OUT_ROWS = "held-out rows"
    ANSWER_CHECK = "questions that are asked twice"
    EVALUATION = "evaluation"
    EVALUATION_ORDER = "order of rows in an evaluation"
    COHERENCE = "coherence"
    PROPERTY_CHECK = "property check"
    REASON_MEASUREMENT = "measuring reasons"

    # what it is compared with
    PEER_TRAINING = "training of peers"
    PEER_EVALUATION = "evaluation of peers"

    # proofs
    PROOF_STARTS = "starts of proofs"
    MODEL_READING = "comparing a reading with its model"

    # the paper's experiments
    TRAINING_SET = "training set"
    FRESH_EXAMPLES = "fresh examples"
    LRN_STAR = "LRN*"
    TREE_TUNING = "tuning the tree"
    TREE = "tree"
    RULE_JUDGEMENT = "judging rules"

    # rows to try a model on
    TEST_CASES = "test cases"

    # what users ask for by the command line
    MODEL_TRAINING = "training of a model"
    NETWORK_TRAINING = "training of a network"

    def key(self, *place: int) -> tuple[int, ...]:
        """The words that tell this purpose, at a place, from all others: letters, 0, and the place.

        Examples
        --------
        >>> Purpose.EQUIVALENCE.key(), Purpose.EQUIVALENCE.key(3, 7)
        ((61,), (61, 0, 3, 7))

        """
        if any(not 0 <= number <= LARGEST_PLACE for number in place):
            raise HornbookError(f"places are numbers from 0 to {LARGEST_PLACE}; got {place}")
        letters = tuple(self.value.encode("ascii"))
        return (*letters, 0, *place) if place else letters


def generator(seed: int, purpose: Purpose, *place: int) -> np.random.Generator:
    """A source of randomness for one purpose, independent of those for all others.

    Parameters
    ----------
    seed
        The seed of the run.
    purpose
        What the words are for.
    place
        Numbers that tell several sources for one purpose apart, such as those of a query and of a
        chunk of its samples.

    Examples
    --------
    >>> tree, lrn_star = Purpose.TREE, Purpose.LRN_STAR
    >>> first, again, other = (generator(0, p).random() for p in (tree, tree, lrn_star))
    >>> first == again, first == other
    (True, False)

    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=purpose.key(*place)))
