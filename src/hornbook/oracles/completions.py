"""Ways to fill in unknown values: the same ways for the same interpretation, whoever asks and when.

A table of complete rows is drawn once. Which of its rows fill an interpretation is decided by a
hash of the interpretation, so an answer depends neither on what else is in the batch nor on what
was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution, Groups, Labelled, Literals, Rows
from hornbook.distributions.literals import check_groups
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, Words, bits
from hornbook.logic.batch import BLOCK
from hornbook.models.predictor import Floats
from hornbook.oracles.membership import Classifier, GroupPropagation
from hornbook.queries import Membership

DENSITIES = (0.05, 0.5, 0.2, 0.9, 0.1, 0.7, 0.35)
"""Shares of true values among those filled in, in the order in which they are tried."""

ROWS = 1 << 11
"""Rows in the table for each density, a power of two: the last bits of a hash pick one."""


class CompletionTable:
    """Completions of partial interpretations, numbered from 0.

    Number 0 makes every unknown variable false. The others take unknown values from a table:
    random rows at several densities of true values, or rows of a distribution. A variable and
    its dual get opposite values, and of a group at most one is true: where one is known to be
    true, the others are filled with false.

    Parameters
    ----------
    vocabulary
        The variables.
    rng
        The source of the table.
    groups
        Sets of variables of which at most one is true.
    rows
        Where the rows of the table come from; what such a row does not know is false. By
        default they are random, at the densities of `DENSITIES` in turn.
    leave
        Variables that are left as they are, known or not, together with their duals.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> fillings = CompletionTable(vocabulary, np.random.default_rng(0))
    >>> batch = Batch.from_array([[1, np.nan, np.nan, 0, np.nan, np.nan]], vocabulary)
    >>> fillings.of(batch).filled(np.array([0, 0, 0]), np.array([0, 1, 2])).to_array()
    array([[1., 0., 0., 0., 1., 1.],
           [1., 0., 0., 0., 1., 1.],
           [1., 1., 0., 0., 0., 1.]])

    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        rng: np.random.Generator,
        *,
        groups: Groups = (),
        rows: Distribution | None = None,
        leave: Collection[int] = (),
    ) -> None:
        self.vocabulary = vocabulary
        groups = check_groups(groups, vocabulary)
        self.literals = Literals.of(vocabulary, groups)
        drawn = self.literals.drawn
        self.groups = [np.searchsorted(drawn, sorted(group)) for group in groups]
        self.left = np.array([v in leave or vocabulary.dual(v) in leave for v in drawn.tolist()], np.bool_)
        # indexed by row, density, drawn variable
        if rows is None:
            dense = rng.random((ROWS, len(DENSITIES), len(drawn))) < np.array(DENSITIES)[:, None]
        else:
            dense = bits.unpack(rows.draw(ROWS, rng).true[drawn], ROWS)[:, None].copy()
        for group in self.groups:
            _leave_one(dense, group, rng)
        packed = bits.pack_rows(dense.reshape(-1, len(drawn)))
        self.table: Words = packed.reshape(*dense.shape[:2], -1)
        self.salt = rng.integers(0, 2**64, 2, np.uint64)

    def __len__(self) -> int:
        """How many ways there are before they repeat."""
        rows, densities, _ = self.table.shape
        return 1 + int(rows * densities)

    def of(self, batch: Batch) -> UnknownCells:
        """A batch made ready for filling."""
        batch.refuse_device("completions of unknown values")
        return UnknownCells(self, batch)


class UnknownCells:
    """The unknown values of a batch, ready to be filled again and again.

    Attributes
    ----------
    any
        Which interpretations have a value to be filled in.

    """

    def __init__(self, fillings: CompletionTable, batch: Batch) -> None:
        if batch.vocabulary is not fillings.vocabulary and batch.vocabulary != fillings.vocabulary:
            raise HornbookError("the batch and the completions are over different vocabularies")
        self.fillings = fillings
        rows = fillings.literals.drawn
        true, false = batch.true[rows], batch.false[rows]
        unknown = ~(true | false)
        unknown[fillings.left] = 0
        allowed = unknown.copy()  # to become true
        for group in fillings.groups:
            allowed[group] &= ~np.bitwise_or.reduce(true[group], axis=0)
        # from here on a row of words an interpretation, a bit a drawn variable
        self.true, self.false, self.unknown, self.allowed = (
            bits.transposed(words, len(batch)) for words in (true, false, unknown, allowed)
        )
        self.any: Bools = (self.unknown != 0).any(axis=1)
        self.first, self.stride = hashes(np.hstack([self.true, self.false]), fillings.salt)

    def filled(self, items: NDArray[np.intp], numbers: NDArray[np.intp]) -> Batch:
        """For each item the completion with the number beside it."""
        table, literals = self.fillings.table, self.fillings.literals
        turn, density = np.divmod(numbers - 1, table.shape[1])
        row = (self.first[items] + turn.astype(np.uint64) * self.stride[items]) % np.uint64(ROWS)
        filling = table[row, density] & self.allowed[items]
        filling[numbers == 0] = 0
        true = self.true[items] | filling
        false = self.false[items] | (self.unknown[items] ^ filling)
        whole = literals.mirrored(*(bits.transposed(words, literals.count) for words in (true, false)))
        return Batch(self.fillings.vocabulary, *whole, len(items))


def _leave_one(dense: Bools, group: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Let at most one of the group be true in each row, any of the true ones as likely, in place."""
    preference = np.where(dense[..., group], rng.random((*dense.shape[:2], len(group))), 0)
    dense[..., group] &= preference == preference.max(axis=-1, keepdims=True)


def hashes(rows: Words, salt: Words) -> tuple[Words, Words]:
    """Two numbers for each row of words, the second odd."""
    first = np.full(len(rows), salt[0])
    for column in rows.T:
        first = _mixed(first ^ column)
    return first, _mixed(first ^ salt[1]) | np.uint64(1)


def _mixed(words: Words) -> Words:
    """Words whose every bit depends on every bit of the given ones: the finaliser of SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


COMPLETIONS_BLOCK = 1 << 11
"""Interpretations completed at a time."""

ROUND = 16
"""Completions of each that are asked about at most at a time: with `BLOCK` it bounds the memory."""


class Completions:
    """Accepts an interpretation if the teacher accepts some completion of it, among so many tried.

    Accepted is certain: there is a completion that the teacher accepts. Rejected says that none
    of `draws` completions was accepted, so a teacher that accepts few of them may be misjudged,
    always in this direction. Without unknown values the answer is the teacher's own.

    The same interpretation is always completed in the same ways, so an answer depends on the
    interpretation and the generator's seed alone. Completions are asked about in batches, and
    no more about an interpretation once one was accepted.

    Parameters
    ----------
    member
        The teacher, who need not understand unknown values.
    vocabulary
        The variables.
    draws
        How many completions are tried: the one that makes every unknown variable false, and
        then random ones, see `CompletionTable`.
    margin
        The teacher's margins, negative where it rejects, if completions are to have them too.
    rng
        The source of the completions.
    groups
        Sets of variables of which at most one is true.
    rows
        A distribution whose rows fill in the unknown values; random rows by default.
    leave
        Variables whose unknown values the teacher does understand: the `heads` of a classifier.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> def member(batch):  # pegasus, if and only if a horse with wings
    ...     horse, wings, pegasus = batch.to_array().T == 1
    ...     return pegasus == (horse & wings)
    >>> some = Completions(member, vocabulary, draws=8, rng=np.random.default_rng(0))
    >>> some(Batch.from_array([[1, np.nan, 1], [0, np.nan, 1]], vocabulary))
    array([ True, False])
    >>> print(some.describe())
    accepted: some completion is; rejected: none of 8 completions is

    """

    def __init__(
        self,
        member: Membership,
        vocabulary: Vocabulary,
        draws: int = 32,
        margin: Callable[[Batch], Floats] | None = None,
        *,
        rng: np.random.Generator,
        groups: Groups = (),
        rows: Distribution | None = None,
        leave: Collection[int] = (),
    ) -> None:
        self.member = member
        self.draws = draws
        self.margins = margin
        self.fillings = CompletionTable(vocabulary, rng, groups=groups, rows=rows, leave=leave)
        if not 1 <= draws <= len(self.fillings):
            raise HornbookError(
                f"completions are tried 1 to {len(self.fillings)} times an interpretation; got draws={draws}"
            )

    def __call__(self, batch: Batch) -> Bools:
        """Whether some completion of each interpretation is accepted."""
        return np.concatenate([np.zeros(0, np.bool_), *map(self._some, batch.blocks(COMPLETIONS_BLOCK))])

    def margin(self, batch: Batch) -> Floats:
        """The largest margin among the completions; all of them are asked about."""
        if self.margins is None:
            raise HornbookError("these completions only decide; for margins give Completions the teacher's")
        return np.concatenate([np.zeros(0, np.float32), *map(self._largest, batch.blocks(COMPLETIONS_BLOCK))])

    def describe(self) -> str:
        """What an answer means."""
        return f"accepted: some completion is; rejected: none of {self.draws} completions is"

    def _some(self, batch: Batch) -> Bools:
        holes = self.fillings.of(batch)
        accepted = np.zeros(len(batch), np.bool_)
        pending = np.arange(len(batch))
        for numbers in rounds(self.draws):
            answers = self.member(holes.filled(*every(pending, numbers)))
            accepted[pending] = answers.reshape(len(pending), -1).any(axis=1)
            pending = np.flatnonzero(~accepted & holes.any)
            if not len(pending):
                break
        return accepted

    def _largest(self, batch: Batch) -> Floats:
        assert self.margins is not None
        holes = self.fillings.of(batch)
        largest = np.full(len(batch), -np.inf, np.float32)
        for numbers in rounds(self.draws):
            asked = np.flatnonzero(holes.any | (numbers[0] == 0))
            margins = self.margins(holes.filled(*every(asked, numbers)))
            best = margins.reshape(len(asked), len(numbers)).max(axis=1)
            largest[asked] = np.maximum(largest[asked], best)
        return largest


def rounds(draws: int) -> Iterator[NDArray[np.intp]]:
    """The numbers below `draws`: one, one, two, four and so on at a time, up to `ROUND`.

    Most interpretations that are accepted at all are accepted early, so few are asked for first.
    """
    start = 0
    while start < draws:
        size = min(max(start, 1), ROUND)  # as many as were asked for so far
        yield np.arange(start, min(start + size, draws))
        start += size


def every(items: NDArray[np.intp], numbers: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each item with each number, item by item."""
    return np.repeat(items, len(numbers)), np.tile(numbers, len(items))


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
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.models import as_predictor
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
        self.exclusions = GroupPropagation(classifier.vocabulary, groups)
        self.fillings = None
        if draws is not None:
            source = Labelled(Rows(rows), classifier.vocabulary.name(classifier.label))
            self.fillings = CompletionTable(
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
