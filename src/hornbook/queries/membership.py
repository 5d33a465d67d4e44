"""Membership oracles: models that judge interpretations, and filters around them.

A filter wraps an oracle and adds one behaviour: `Cached(Counted(teacher.member))` counts the questions
that reach the teacher.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.errors import BudgetExhausted, HornbookError, ModelError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models import Predictor
from hornbook.queries.protocol import Membership


class Judge:
    """A model that judges interpretations: whole ones or, with a label, whether it predicts the label.

    A whole interpretation is accepted if the model classifies it as positive. One of features and label is
    rejected exactly when its label is known and contradicts what the model predicts from the features; where
    the label is unknown the model is not asked.

    Parameters
    ----------
    predictor
        The model; its positive class means accepted, or makes the label true.
    vocabulary
        The variables, and with a label the label, and the label's dual if it has one.
    label
        The name of the label that a classifier predicts.
    features
        What the model reads, in its order. By default the names it was trained with, where it
        knows them, and otherwise every variable but the label and its dual.

    Attributes
    ----------
    heads
        The label and its dual: the only heads that rules about a classifier need; empty for any.

    Examples
    --------
    >>> from hornbook.models import as_predictor
    >>> model = as_predictor(lambda array: array.mean(axis=1), encoding="half", name="mean")
    >>> judge = Judge(model, Vocabulary(["sunny", "happy"]))
    >>> batch = Batch.from_array([[1, np.nan], [0, np.nan]], judge.vocabulary)
    >>> judge(batch)
    array([ True, False])
    >>> classifier = Judge(model, Vocabulary(["fever", "cough", "ill", "well"], {"ill": "well"}), "ill")
    >>> batch = Batch.from_array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 0, np.nan, np.nan]], classifier.vocabulary)
    >>> classifier(batch), classifier.predict(batch)
    (array([ True, False,  True]), array([ True,  True,  True]))

    """

    def __init__(
        self,
        predictor: Predictor,
        vocabulary: Vocabulary,
        label: str | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.predictor, self.vocabulary = predictor, vocabulary
        self.label = None if label is None else vocabulary.index(label)
        dual = None if self.label is None else vocabulary.dual(self.label)
        self.heads = frozenset(v for v in (self.label, dual) if v is not None)
        self.rows, self.features = self._choose_features(features)

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each interpretation; with a label, whether it says nothing against it."""
        if self.label is None:
            return self.predict(batch)
        true, known = self._find_labels(batch)
        accepted = np.ones(len(batch), np.bool_)
        accepted[known] = self.predict(batch[known]) == true[known]
        return accepted

    def predict(self, batch: Batch) -> Bools:
        """What the model decides about the features, whatever the label."""
        return self.predictor.decide(self._select_features(batch))

    def _select_features(self, batch: Batch) -> Batch:
        """Select the model's features from a batch, as whole rows of words."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the model are over different vocabularies")
        return Batch(self.features, batch.true[self.rows], batch.false[self.rows], len(batch))

    def _find_labels(self, batch: Batch) -> tuple[Bools, NDArray[np.intp]]:
        """Where the label is known to be true, and the places where it is known."""
        true, false = (bits.flat(words[self.label], len(batch)) for words in (batch.true, batch.false))
        return true, np.flatnonzero(true | false)

    def _choose_features(self, names: Sequence[str] | None) -> tuple[NDArray[np.intp], Vocabulary]:
        whole, name = self.vocabulary, self.predictor.name
        if names is None:
            names = self.predictor.names
        if names is None:
            names = [name for v, name in enumerate(whole.names) if v not in self.heads]
        if unknown := [name for name in names if name not in whole]:
            raise HornbookError(
                f"{name} reads {unknown[0]!r}, which is not among the {len(whole)} variables; "
                "binarise the data as for training, or name what the model reads with features="
            )
        rows = [whole.index(name) for name in names]
        if self.heads.intersection(rows):
            raise HornbookError(f"{name} would read its own label: leave it out")
        duals = {
            name: whole.name(dual)
            for name, v in zip(names, rows, strict=True)
            if (dual := whole.dual(v)) in rows and dual is not None
        }
        features = Vocabulary(names, duals)
        given = self.predictor.encoding.inputs(len(features))
        if self.predictor.inputs not in (None, given):
            raise HornbookError(
                f"{name} takes {self.predictor.inputs} inputs, but {len(features)} variables give {given}; "
                "check the variables and the encoding, or name what the model reads with features="
            )
        return np.array(rows, np.intp), features


TIMED_BLOCK = 1 << 10
"""Maximum number of questions asked at a time under a time limit."""


class Counted:
    """Counts questions and batches."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.questions = self.batches = 0

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and count."""
        self.questions += len(batch)
        self.batches += 1
        return self.member(batch)


class Checked:
    """Raises `ModelError` for every error and malformed answer of a teacher; skips empty batches."""

    def __init__(self, member: Membership) -> None:
        self.member = member

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and look at the answers before passing them on."""
        if not len(batch):
            return np.zeros(0, np.bool_)
        try:
            answers = np.asarray(self.member(batch))
        except BudgetExhausted:
            raise
        except HornbookError as error:
            raise ModelError(str(error)) from error
        except (Exception, SystemExit) as error:
            raise ModelError(f"{type(error).__name__}: {error}") from error
        if answers.shape != (len(batch),) or answers.dtype != np.bool_:
            raise ModelError(
                f"{len(batch)} questions were answered by {answers.dtype} of shape {answers.shape}; "
                "expected as many booleans"
            )
        return answers


class Cached:
    """Asks about no interpretation twice."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self._answers: dict[tuple[int, int], bool] = {}

    def __call__(self, batch: Batch) -> Bools:
        """Answer from memory where possible, the rest in one batch."""
        keys = batch.masks
        new = {key: position for position, key in enumerate(keys) if key not in self._answers}
        if new:
            self._answers.update(zip(new, self.member(batch[list(new.values())]).tolist(), strict=True))
        return np.array([self._answers[key] for key in keys], np.bool_)


class Budgeted:
    """Raises `BudgetExhausted` when the limit on questions or on time is reached.

    With a time limit, large batches are split so that the limit is noticed. `questions_asked` counts the
    questions passed on; `spent` is the number of seconds used before.
    """

    def __init__(
        self,
        member: Membership,
        questions: int | None,
        seconds: float | None,
        spent: float = 0.0,
    ) -> None:
        self.member = member
        self.questions = questions
        self.seconds = seconds
        self.questions_asked = 0
        self.deadline = None if seconds is None else Deadline.after(seconds - spent)

    def __call__(self, batch: Batch) -> Bools:
        """Ask, if the budget allows it."""
        self._refuse_beyond(len(batch))
        parts = []
        whole = self.deadline is None or not len(batch)
        for part in [batch] if whole else batch.blocks(TIMED_BLOCK):
            self.charge(len(part))
            parts.append(self.member(part))
        return np.concatenate(parts)

    def charge(self, questions: int) -> None:
        """Charge questions to the budget."""
        self._refuse_beyond(questions)
        if self.deadline is not None and self.deadline.passed:
            raise BudgetExhausted(f"budget of {self.seconds} seconds")
        self.questions_asked += questions

    @property
    def left(self) -> float:
        """The number of questions left."""
        return math.inf if self.questions is None else self.questions - self.questions_asked

    def _refuse_beyond(self, questions: int) -> None:
        if questions > self.left:
            raise BudgetExhausted(f"budget of {self.questions} membership queries")
