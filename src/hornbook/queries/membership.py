"""Membership oracles: models that judge, classifiers with their label, and filters around them.

A filter wraps an oracle and adds one behaviour: `Cached(Counted(teacher.member))` counts the questions
that reach the teacher.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.errors import BudgetExhausted, HornbookError, ModelError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models import Floats, Predictor
from hornbook.models.outputs import SMALLEST_MARGIN
from hornbook.queries.literals import Groups, Literals, check_groups
from hornbook.queries.protocol import Membership


class Judge:
    """A model that judges whole interpretations: it accepts those it classifies as positive.

    Examples
    --------
    >>> from hornbook.models import as_predictor
    >>> judge = Judge(as_predictor(lambda array: array.mean(axis=1), encoding="half"))
    >>> batch = Batch.from_array([[1, np.nan], [0, np.nan]], Vocabulary(["sunny", "happy"]))
    >>> judge(batch), judge.margin(batch)
    (array([ True, False]), array([ 0.25, -0.25], dtype=float32))

    """

    heads: frozenset[int] = frozenset()
    """The heads that rules about a judge need: any will do."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each interpretation."""
        return self.predictor.decide(batch)

    def margin(self, batch: Batch) -> Floats:
        """The signed distance from the decision boundary; negative where the model rejects."""
        return self.predictor.margin(batch)


class Classifier:
    """A model that predicts a label from features, as a membership oracle over features and label.

    An interpretation is rejected exactly when its label is known and contradicts what the
    model predicts from the features. Where the label is unknown the model is not asked.

    Parameters
    ----------
    predictor
        The model; its positive class makes the label true.
    vocabulary
        The features and the label, and the label's dual if it has one.
    label
        The name of the label.
    features
        What the model reads, in its order. By default the names it was trained with, where it
        knows them, and otherwise every variable but the label and its dual.

    Attributes
    ----------
    heads
        The label and its dual: the only heads that rules about a classifier need.

    Examples
    --------
    >>> from hornbook.models import as_predictor
    >>> vocabulary = Vocabulary(["fever", "cough", "ill", "well"], {"ill": "well"})
    >>> model = as_predictor(lambda array: array.max(axis=1), encoding="half", name="any symptom")
    >>> classifier = Classifier(model, vocabulary, "ill")
    >>> batch = Batch.from_array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 0, np.nan, np.nan]], vocabulary)
    >>> classifier(batch), classifier.predict(batch)
    (array([ True, False,  True]), array([ True,  True,  True]))
    >>> vocabulary.named(classifier.heads)
    ('ill', 'well')

    """

    def __init__(
        self,
        predictor: Predictor,
        vocabulary: Vocabulary,
        label: str,
        features: Sequence[str] | None = None,
    ) -> None:
        self.predictor = predictor
        self.vocabulary = vocabulary
        self.label = vocabulary.index(label)
        self.dual = vocabulary.dual(self.label)
        self.heads = frozenset({self.label} if self.dual is None else {self.label, self.dual})
        self.rows, self.features = self._features(features)

    def __call__(self, batch: Batch) -> Bools:
        """Whether the label of each interpretation is unknown or what the model predicts."""
        true, false = self._labels(batch)
        known = np.flatnonzero(true | false)
        accepted = np.ones(len(batch), np.bool_)
        accepted[known] = self.predict(batch[known]) == true[known]
        return accepted

    def margin(self, batch: Batch) -> Floats:
        """The margin by which the model predicts the given label; infinite where the label is unknown."""
        true, false = self._labels(batch)
        known = np.flatnonzero(true | false)
        leads = self.predictor.margin(self._select_features(batch[known]))
        against = -leads
        # a lead of 0 predicts true, so it contradicts a false label, however narrowly
        against[against == 0] = -SMALLEST_MARGIN
        margins = np.full(len(batch), np.inf, np.float32)
        margins[known] = np.where(true[known], leads, against)
        return margins

    def predict(self, batch: Batch) -> Bools:
        """What the model predicts from the features, whatever the label."""
        return self.predictor.decide(self._select_features(batch))

    def _select_features(self, batch: Batch) -> Batch:
        """Select the model's features from a batch, as whole rows of words."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the classifier are over different vocabularies")
        return Batch(self.features, batch.true[self.rows], batch.false[self.rows], len(batch))

    def _labels(self, batch: Batch) -> tuple[Bools, Bools]:
        """Where the label is known to be true, and where to be false."""
        return (
            bits.flat(batch.true[self.label], len(batch)),
            bits.flat(batch.false[self.label], len(batch)),
        )

    def _features(self, names: Sequence[str] | None) -> tuple[NDArray[np.intp], Vocabulary]:
        whole = self.vocabulary
        if names is None:
            names = self.predictor.names
        if names is None:
            names = [name for v, name in enumerate(whole.names) if v not in self.heads]
        if unknown := [name for name in names if name not in whole]:
            raise HornbookError(
                f"{self.predictor.name} reads {unknown[0]!r}, which is not among the {len(whole)} variables; "
                "binarise the data as for training, or name what the model reads with features="
            )
        rows = [whole.index(name) for name in names]
        if self.heads & set(rows):
            label = whole.name(self.label)
            raise HornbookError(f"{self.predictor.name} would read its own label {label!r}: leave it out")
        duals = {
            name: whole.name(dual)
            for name, v in zip(names, rows, strict=True)
            if (dual := whole.dual(v)) in rows and dual is not None
        }
        features = Vocabulary(names, duals)
        self._refuse_misfit(features)
        return np.array(rows, np.intp), features

    def _refuse_misfit(self, features: Vocabulary) -> None:
        given = self.predictor.encoding.inputs(len(features))
        if self.predictor.inputs not in (None, given):
            raise HornbookError(
                f"{self.predictor.name} takes {self.predictor.inputs} inputs, but {len(features)} variables "
                f"without the label {self.vocabulary.name(self.label)!r} give {given}; "
                "name what the model reads, in its order, with features="
            )


class GroupPropagation:
    """Makes the other variables of a one-hot group false where one of them is true.

    So a model that is given one bin of a column gets the values of its other bins too, as in
    training.

    Examples
    --------
    >>> vocabulary = Vocabulary(["age=low", "age=high", "ill"])
    >>> batch = Batch.from_array([[1, np.nan, np.nan], [np.nan, 0, 1]], vocabulary)
    >>> GroupPropagation(vocabulary, ((0, 1),))(batch).to_array()
    array([[ 1.,  0., nan],
           [nan,  0.,  1.]])

    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups) -> None:
        groups = check_groups(groups, vocabulary)
        self.literals = Literals.of(vocabulary, groups)
        # groups of one size are looked at together: questions are many and batches of them small
        self.rows = self.literals.group_rows(groups)

    def __call__(self, batch: Batch) -> Batch:
        """The same items with more known."""
        if not self.rows:
            return batch
        true, false = self.literals.rows_of(batch)
        for rows in self.rows:
            members = true[rows]
            false[rows] |= reduce(or_, members) & ~members
        return self.literals.batch(true, false, len(batch))


AnswersT = TypeVar("AnswersT", bound=NDArray[Any])
"""An array of answers: booleans, or margins."""

TIMED_BLOCK = 1 << 10
"""Maximum number of questions asked at a time under a time limit."""


class Counted(Generic[AnswersT]):
    """Counts questions and batches."""

    def __init__(self, member: Callable[[Batch], AnswersT]) -> None:
        self.member = member
        self.questions = self.batches = 0

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, and count."""
        self.questions += len(batch)
        self.batches += 1
        return self.member(batch)


class Checked(Generic[AnswersT]):
    """Raises `ModelError` for every error and malformed answer of a teacher; skips empty batches.

    Parameters
    ----------
    member
        The teacher, or its margins.
    kind
        The type of a proper answer: `np.bool_`, or `np.floating` for margins.

    """

    def __init__(self, member: Callable[[Batch], AnswersT], kind: type[np.generic] = np.bool_) -> None:
        self.member = member
        self.kind = kind

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, and look at the answers before passing them on."""
        if not len(batch):
            return cast(AnswersT, np.zeros(0, np.bool_ if self.kind is np.bool_ else np.float32))
        try:
            answers: Any = np.asarray(self.member(batch))
        except BudgetExhausted:
            raise
        except HornbookError as error:
            raise ModelError(str(error)) from error
        except (Exception, SystemExit) as error:
            raise ModelError(f"{type(error).__name__}: {error}") from error
        if answers.shape != (len(batch),) or not np.issubdtype(answers.dtype, self.kind):
            wanted = "booleans" if self.kind is np.bool_ else "numbers, negative where it rejects"
            raise ModelError(
                f"{len(batch)} questions were answered by {answers.dtype} of shape {answers.shape}; "
                f"expected as many {wanted}"
            )
        wrong = np.isnan(answers)
        if wrong.any():
            raise ModelError(f"{int(wrong.sum())} of {len(batch)} answers are NaN")
        return cast(AnswersT, answers)


class Cached:
    """Caches the last `size` answers and asks only for those it does not have."""

    def __init__(self, member: Membership, size: int = 1 << 18) -> None:
        self.member = member
        self.size = size
        self._answers: OrderedDict[tuple[int, int], bool] = OrderedDict()

    def __call__(self, batch: Batch) -> Bools:
        """Answer from memory where possible, the rest in one batch."""
        keys = batch.masks
        new = {key: position for position, key in enumerate(keys) if key not in self._answers}
        if new:
            questions = batch if len(new) == len(batch) else batch[list(new.values())]
            self._answers.update(zip(new, self.member(questions).tolist(), strict=True))
        for key in keys:
            self._answers.move_to_end(key)
        answers = np.array([self._answers[key] for key in keys], np.bool_)
        while len(self._answers) > self.size:
            self._answers.popitem(last=False)
        return answers


class Budgeted(Generic[AnswersT]):
    """Raises `BudgetExhausted` when the limit on questions or on time is reached.

    With a time limit, large batches are split so that the limit is noticed. `questions_asked` counts the
    questions passed on; `spent` is the number of seconds used before.
    """

    def __init__(
        self,
        member: Callable[[Batch], AnswersT],
        questions: int | None,
        seconds: float | None,
        spent: float = 0.0,
    ) -> None:
        self.member = member
        self.questions = questions
        self.seconds = seconds
        self.questions_asked = 0
        self.deadline = None if seconds is None else Deadline.after(seconds - spent)

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, if the budget allows it."""
        self._refuse_beyond(len(batch))
        parts = []
        whole = self.deadline is None or not len(batch)
        for part in [batch] if whole else batch.blocks(TIMED_BLOCK):
            self.charge(len(part))
            parts.append(self.member(part))
        return cast(AnswersT, np.concatenate(parts))

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
