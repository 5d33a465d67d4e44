"""What label a classifier gives to rows of features, missing values and all."""

from __future__ import annotations

import numpy as np

from hornbook.distributions import Labelled, Rows
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import BLOCK, Batch
from hornbook.logic.bits import Bools
from hornbook.oracles.completions import every
from hornbook.oracles.exclusive import Exclusions
from hornbook.oracles.fillings import Fillings
from hornbook.oracles.membership import Classifier


class Labels:
    """The label of each row of features, by the model itself or by a majority of completions.

    Parameters
    ----------
    classifier
        The model, over the features, the label and its dual.
    rows
        Real rows of features, which completions take their values from.
    groups
        Sets of features of which at most one is true.
    draws
        How many completions of a row vote on its label; None for a model that takes ? as it is.
    rng
        The source of completions.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> from hornbook.oracles.adapters import as_predictor
    >>> symptoms = Vocabulary(["fever", "cough"])
    >>> rows = Batch.from_array([[1, 1], [1, 0], [0, 0], [0, 0], [0, 0]], symptoms)
    >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
    >>> classifier = Classifier(model, Labelled(Rows(rows), "ill").vocabulary, "ill")
    >>> labels = Labels(classifier, rows, draws=32, rng=np.random.default_rng(0))
    >>> labels(Batch.from_array([[1, np.nan], [np.nan, 0], [0, 0]], symptoms))
    array([ True, False, False])
    >>> print(labels.describe())
    the label that most of 32 completions get

    """

    def __init__(
        self,
        classifier: Classifier,
        rows: Batch,
        groups: Groups = (),
        draws: int | None = None,
        *,
        rng: np.random.Generator,
    ) -> None:
        self.classifier = classifier
        self.draws = draws
        self.exclusions = Exclusions(classifier.vocabulary, groups)
        self.fillings = None
        if draws is not None:
            source = Labelled(Rows(rows), classifier.vocabulary.name(classifier.label))
            self.fillings = Fillings(
                classifier.vocabulary, rng, groups=groups, rows=source, leave=classifier.heads
            )

    def __call__(self, batch: Batch) -> Bools:
        """The label of each row."""
        parts = [self._labels(block) for block in batch.blocks(BLOCK)]
        return np.concatenate([np.zeros(0, np.bool_), *parts])

    def describe(self) -> str:
        """How unknown values are answered about."""
        return (
            "the model's own"
            if self.draws is None
            else f"the label that most of {self.draws} completions get"
        )

    def model_labels(self, batch: Batch) -> Bools:
        """What the model itself says of each row, with nothing added to what is known."""
        return self.classifier.predict(self._unlabelled(batch))

    def _unlabelled(self, batch: Batch) -> Batch:
        """The rows as interpretations of features and label, the label unknown."""
        unknown = np.zeros((len(self.classifier.heads), batch.true.shape[1]), np.uint64)
        true, false = (np.concatenate([rows, unknown]) for rows in (batch.true, batch.false))
        return Batch(self.classifier.vocabulary, true, false, len(batch))

    def _labels(self, batch: Batch) -> Bools:
        items = self.exclusions(self._unlabelled(batch))
        if self.fillings is None:
            return self.classifier.predict(items)
        assert self.draws is not None
        holes = self.fillings.of(items)
        labels = self.classifier.predict(holes.filled(np.arange(len(batch)), np.zeros(len(batch), np.intp)))
        open_ones = np.flatnonzero(holes.any)
        completions = holes.filled(*every(open_ones, np.arange(1, self.draws + 1)))
        votes = self.classifier.predict(completions).reshape(len(open_ones), self.draws)
        labels[open_ones] = 2 * votes.sum(axis=1) >= self.draws
        return labels
