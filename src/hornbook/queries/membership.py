"""Models as membership oracles: judges of interpretations, and classifiers with their label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models import Floats, Predictor
from hornbook.models.outputs import SMALLEST_MARGIN
from hornbook.queries.distributions import Groups, Literals, check_groups


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
                f"beside the label {self.vocabulary.name(self.label)!r} give {given}; "
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
        true, false = batch.true[self.literals.drawn], batch.false[self.literals.drawn]
        for rows in self.rows:
            members = true[rows]
            false[rows] |= reduce(or_, members) & ~members
        return Batch(batch.vocabulary, *self.literals.mirror(true, false), len(batch))
