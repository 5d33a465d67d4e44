"""The contract of predictors as checks, which tests of other packages can reuse.

Each check takes a predictor, the vocabulary it is about and a random generator, and raises
`AssertionError` where the contract is broken. With pytest:

    @pytest.mark.parametrize("check", PREDICTOR_CHECKS)
    def test_my_adapter(check):
        check(my_predictor(), my_vocabulary, np.random.default_rng(0))

Scores may differ in the last digits with the size of a batch, since matrix products round
differently; the checks allow for that and for no more. Decisions may not differ at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import Predictor
from hornbook.models.predictor import PREDICTOR_BLOCK

__all__ = ["PREDICTOR_CHECKS", "assert_refuses"]

TOLERANCE = 1e-5


def random_batch(predictor: Predictor, vocabulary: Vocabulary, size: int, rng: np.random.Generator) -> Batch:
    """Random interpretations of a kind that the predictor accepts: with ? only where it is native."""
    values = [0, 1, np.nan] if predictor.encoding.native else [0, 1]
    return Batch.from_array(rng.choice(values, (size, len(vocabulary))), vocabulary)


def check_one_score_each(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """A finite float32 score for each interpretation, none for none."""
    for size in (0, 1, 2, 65):
        scores = predictor(random_batch(predictor, vocabulary, size, rng))
        assert scores.shape == (size,)
        assert scores.dtype == np.float32
        assert np.isfinite(scores).all()


def check_determinism(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """The same batch gets the same scores, bit by bit."""
    batch = random_batch(predictor, vocabulary, 300, rng)
    np.testing.assert_array_equal(predictor(batch), predictor(batch))


def check_order(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """A score does not depend on the position of its interpretation in the batch."""
    batch = random_batch(predictor, vocabulary, 300, rng)
    places = rng.permutation(len(batch))
    np.testing.assert_allclose(predictor(batch[places]), predictor(batch)[places], atol=TOLERANCE)


def check_batch_size(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """Scores do not depend on how a batch is cut into parts."""
    batch = random_batch(predictor, vocabulary, PREDICTOR_BLOCK + 70, rng)
    whole = predictor(batch)
    for size in (1000, PREDICTOR_BLOCK, PREDICTOR_BLOCK + 1):
        parts = np.concatenate([predictor(part) for part in batch.blocks(size)])
        np.testing.assert_allclose(parts, whole, atol=TOLERANCE)
    alone = [predictor(part)[0] for part in batch[-9:].blocks(1)]
    np.testing.assert_allclose(alone, whole[-9:], atol=TOLERANCE)


def check_decisions(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """Margins are negative exactly where the model decides against the positive class."""
    batch = random_batch(predictor, vocabulary, 300, rng)
    decided, margins = predictor.decide(batch), predictor.margin(batch)
    assert decided.dtype == np.bool_
    assert margins.dtype == np.float32
    np.testing.assert_array_equal(decided, margins >= 0)


def check_threshold(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """With a threshold the score decides, from the threshold on; scores at it depend on no other rows."""
    batch = random_batch(predictor, vocabulary, 300, rng)
    scores = predictor(batch)
    for threshold in (float(np.median(scores)), float(scores[-1])):
        decided = replace(predictor, threshold=threshold).decide(batch)
        clear = np.abs(scores - threshold) > TOLERANCE
        np.testing.assert_array_equal(decided[clear], (scores >= threshold)[clear])
        _assert_depends_on_the_row_alone(replace(predictor, threshold=threshold), batch, rng)


def check_decisions_alone(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """A decision depends on the interpretation alone, not on the rest of the batch or its position."""
    _assert_depends_on_the_row_alone(predictor, random_batch(predictor, vocabulary, 300, rng), rng)


def _assert_depends_on_the_row_alone(predictor: Predictor, batch: Batch, rng: np.random.Generator) -> None:
    decided = predictor.decide(batch)
    places = rng.permutation(len(batch))[:250]
    np.testing.assert_array_equal(predictor.decide(batch[places]), decided[places])
    np.testing.assert_array_equal(predictor.margin(batch[places]) >= 0, decided[places])
    parts = [predictor.decide(part) for part in batch.blocks(7)]
    np.testing.assert_array_equal(np.concatenate(parts), decided)


def check_unknown(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """A ? is encoded by a number, or refused with its row and variable; it is never guessed."""
    array = rng.integers(0, 2, (PREDICTOR_BLOCK + 9, len(vocabulary))).astype(float)
    array[PREDICTOR_BLOCK + 5, -1] = np.nan
    batch = Batch.from_array(array, vocabulary)
    if predictor.encoding.native:
        assert np.isfinite(predictor(batch)).all()
    else:
        assert_refuses(
            predictor, batch, f"row {PREDICTOR_BLOCK + 5}", repr(vocabulary.names[-1]), "completions"
        )


def check_other_width(predictor: Predictor, vocabulary: Vocabulary, rng: np.random.Generator) -> None:
    """A model that knows how many inputs it takes refuses a variable too many, by its name."""
    if predictor.inputs is None:
        return
    wider = Vocabulary([*vocabulary.names, "one more variable"])
    assert_refuses(predictor, random_batch(predictor, wider, 3, rng), predictor.name)


def assert_refuses(predictor: Predictor, batch: Batch, *words: str) -> None:
    """The predictor raises `HornbookError`, and its message has all the words.

    For a model that fails: that raises on a row, gives it NaN, or gives too few scores.
    """
    message = None
    try:
        predictor(batch)
    except HornbookError as error:
        message = str(error)
    assert message is not None, f"{predictor.name} answered where it should have refused"
    lacking = [word for word in words if word not in message]
    assert not lacking, f"the message {message!r} lacks {lacking}"


PREDICTOR_CHECKS: tuple[Callable[[Predictor, Vocabulary, np.random.Generator], None], ...] = (
    check_one_score_each,
    check_determinism,
    check_order,
    check_batch_size,
    check_decisions,
    check_threshold,
    check_decisions_alone,
    check_unknown,
    check_other_width,
)
