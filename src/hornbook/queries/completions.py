"""Completions of partial interpretations, and oracles that answer about unknown values by them.

A table of complete rows is drawn once. Which of its rows fill an interpretation is decided by a
hash of the interpretation, so an answer depends neither on what else is in the batch nor on what
was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, Words, bits
from hornbook.logic.batch import BLOCK
from hornbook.models import Floats
from hornbook.queries.distributions import Distribution, Labelled, Rows
from hornbook.queries.literals import Groups, Literals, check_groups
from hornbook.queries.membership import Classifier, GroupPropagation
from hornbook.queries.protocol import Membership

TRUE_SHARES = (0.05, 0.5, 0.2, 0.9, 0.1, 0.7, 0.35)
"""Shares of true values in random completions, in the order in which they are tried."""

TABLE_ROWS = 1 << 11
"""Number of table rows for each share, a power of two: the last bits of a hash pick one."""


class CompletionTable:
    """Numbered completions of partial interpretations, taken from a table of complete rows.

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
        Sets of variables that exclude each other.
    rows
        Where the rows of the table come from; what such a row does not know is false. By
        default they are random, at the densities of `TRUE_SHARES` in turn.
    keep
        Variables that are never completed, and neither are their duals.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> completions = CompletionTable(vocabulary, np.random.default_rng(0))
    >>> batch = Batch.from_array([[1, np.nan, np.nan, 0, np.nan, np.nan]], vocabulary)
    >>> complete = completions.prepare(batch).complete(np.array([0, 0, 0]), np.array([0, 1, 2])).to_array()
    >>> bool((complete[:, 0] == 1).all()), np.array_equal(complete[:, 3:], 1 - complete[:, :3])
    (True, True)

    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        rng: np.random.Generator,
        *,
        groups: Groups = (),
        rows: Distribution | None = None,
        keep: Collection[int] = (),
    ) -> None:
        self.vocabulary = vocabulary
        groups = check_groups(groups, vocabulary)
        self.literals = Literals.of(vocabulary, groups)
        drawn = self.literals.drawn
        self.groups = [np.searchsorted(drawn, sorted(group)) for group in groups]
        self.kept = np.array([v in keep or vocabulary.dual(v) in keep for v in drawn.tolist()], np.bool_)
        # (table rows, shares, drawn variables)
        if rows is None:
            dense = rng.random((TABLE_ROWS, len(TRUE_SHARES), len(drawn))) < np.array(TRUE_SHARES)[:, None]
        else:
            dense = bits.unpack(rows.draw(TABLE_ROWS, rng).true[drawn], TABLE_ROWS)[:, None].copy()
        for group in self.groups:
            _keep_one_per_group(dense, group, rng)
        packed = bits.pack_rows(dense.reshape(-1, len(drawn)))
        self.table: Words = packed.reshape(*dense.shape[:2], -1)
        self.salt = rng.integers(0, 2**64, 2, np.uint64)

    def __len__(self) -> int:
        """The number of completions before they repeat."""
        rows, densities, _ = self.table.shape
        return 1 + int(rows * densities)

    def prepare(self, batch: Batch) -> UnknownCells:
        """Find the unknown values of a batch, to complete them."""
        return UnknownCells(self, batch)


class UnknownCells:
    """The unknown values of a batch, which `complete` gives values.

    Attributes
    ----------
    any
        Which interpretations have a value to be completed, shape (items,).

    """

    def __init__(self, completions: CompletionTable, batch: Batch) -> None:
        if batch.vocabulary is not completions.vocabulary and batch.vocabulary != completions.vocabulary:
            raise HornbookError("the batch and the completions are over different vocabularies")
        self.completions = completions
        rows = completions.literals.drawn
        true, false = batch.true[rows], batch.false[rows]
        unknown = ~(true | false)
        unknown[completions.kept] = 0
        allowed = unknown.copy()  # to become true
        for group in completions.groups:
            allowed[group] &= ~np.bitwise_or.reduce(true[group], axis=0)
        # (items, words): a row an interpretation, a bit a drawn variable
        self.true, self.false, self.unknown, self.allowed = (
            bits.transpose(words, len(batch)) for words in (true, false, unknown, allowed)
        )
        self.any: Bools = (self.unknown != 0).any(axis=1)
        self.first, self.stride = hash_rows(np.hstack([self.true, self.false]), completions.salt)

    def complete(self, items: NDArray[np.intp], numbers: NDArray[np.intp]) -> Batch:
        """The completion `numbers[i]` of interpretation `items[i]`, for every i."""
        table, literals = self.completions.table, self.completions.literals
        turn, density = np.divmod(numbers - 1, table.shape[1])
        row = (self.first[items] + turn.astype(np.uint64) * self.stride[items]) % np.uint64(TABLE_ROWS)
        filling = table[row, density] & self.allowed[items]
        filling[numbers == 0] = 0
        true = self.true[items] | filling
        false = self.false[items] | (self.unknown[items] ^ filling)
        rows = (bits.transpose(words, literals.count) for words in (true, false))
        return Batch(literals.vocabulary, *literals.mirror(*rows), len(items))


def _keep_one_per_group(dense: Bools, group: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Keep one random true variable of the group in each row and make the others false, in place."""
    preference = np.where(dense[..., group], rng.random((*dense.shape[:2], len(group))), 0)
    dense[..., group] &= preference == preference.max(axis=-1, keepdims=True)


def hash_rows(rows: Words, salt: Words) -> tuple[Words, Words]:
    """Two hashes of each row of words, the second one odd; both of shape (rows,)."""
    first = np.full(len(rows), salt[0])
    for column in rows.T:
        first = _mix_words(first ^ column)
    return first, _mix_words(first ^ salt[1]) | np.uint64(1)


def _mix_words(words: Words) -> Words:
    """Mix the bits of each word by the finaliser of SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


COMPLETIONS_BLOCK = 1 << 11
"""Number of interpretations completed at a time."""

MAX_ROUND = 16
"""Maximum number of completions of an interpretation in one batch; bounds the memory."""


class Completions:
    """Accepts an interpretation if the teacher accepts at least one of `draws` completions of it.

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
        Sets of variables that exclude each other.
    rows
        A distribution whose rows fill in the unknown values; random rows by default.
    keep
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
        keep: Collection[int] = (),
    ) -> None:
        self.member = member
        self.draws = draws
        self.margins = margin
        self.completions = CompletionTable(vocabulary, rng, groups=groups, rows=rows, keep=keep)
        most = len(self.completions)
        if not 1 <= draws <= most:
            raise HornbookError(
                f"completions are tried 1 to {most} times an interpretation; got draws={draws}"
            )

    def __call__(self, batch: Batch) -> Bools:
        """Whether some completion of each interpretation is accepted."""
        return np.concatenate(
            [np.zeros(0, np.bool_), *map(self._accept_some, batch.blocks(COMPLETIONS_BLOCK))]
        )

    def margin(self, batch: Batch) -> Floats:
        """The largest margin among the completions; all of them are asked about."""
        if self.margins is None:
            raise HornbookError("these completions only decide; for margins give Completions the teacher's")
        return np.concatenate(
            [np.zeros(0, np.float32), *map(self._maximise_margin, batch.blocks(COMPLETIONS_BLOCK))]
        )

    def describe(self) -> str:
        """What an answer means."""
        return f"accepted: some completion is; rejected: none of {self.draws} completions is"

    def _accept_some(self, batch: Batch) -> Bools:
        cells = self.completions.prepare(batch)
        accepted = np.zeros(len(batch), np.bool_)
        pending = np.arange(len(batch))
        for numbers in rounds(self.draws):
            answers = self.member(cells.complete(*cross_indices(pending, numbers)))
            accepted[pending] = answers.reshape(len(pending), -1).any(axis=1)
            pending = np.flatnonzero(~accepted & cells.any)
            if not len(pending):
                break
        return accepted

    def _maximise_margin(self, batch: Batch) -> Floats:
        assert self.margins is not None
        cells = self.completions.prepare(batch)
        largest = np.full(len(batch), -np.inf, np.float32)
        for numbers in rounds(self.draws):
            cases = np.flatnonzero(cells.any | (numbers[0] == 0))
            margins = self.margins(cells.complete(*cross_indices(cases, numbers)))
            best = margins.reshape(len(cases), len(numbers)).max(axis=1)
            largest[cases] = np.maximum(largest[cases], best)
        return largest


def rounds(draws: int) -> Iterator[NDArray[np.intp]]:
    """Split the numbers below `draws` into rounds of 1, 1, 2, 4, … up to `MAX_ROUND` numbers.

    Most interpretations that are accepted at all are accepted early, so few are asked for first.
    """
    start = 0
    while start < draws:
        size = min(max(start, 1), MAX_ROUND)  # as many as were asked for so far
        yield np.arange(start, min(start + size, draws))
        start += size


def cross_indices(
    items: NDArray[np.intp], numbers: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair each item with each number, item by item; both of shape (items · numbers,)."""
    return np.repeat(items, len(numbers)), np.tile(numbers, len(items))


class LabelOracle:
    """The model's label of each row; with unknown values, the label of most of its completions.

    Parameters
    ----------
    classifier
        The model, over the features, the label and its dual.
    rows
        Real rows of features, which completions take their values from.
    groups
        Sets of features that exclude each other.
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
    >>> labels = LabelOracle(classifier, rows, draws=32, rng=np.random.default_rng(0))
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
        self.propagate = GroupPropagation(classifier.vocabulary, groups)
        self.completions = None
        if draws is not None:
            source = Labelled(Rows(rows), classifier.vocabulary.name(classifier.label))
            self.completions = CompletionTable(
                classifier.vocabulary, rng, groups=groups, rows=source, keep=classifier.heads
            )

    def __call__(self, batch: Batch) -> Bools:
        """The label of each row."""
        parts = [self._labels(block) for block in batch.blocks(BLOCK)]
        return np.concatenate([np.zeros(0, np.bool_), *parts])

    def describe(self) -> str:
        """How rows with unknown values get their labels."""
        return (
            "the model's own"
            if self.draws is None
            else f"the label that most of {self.draws} completions get"
        )

    def model_labels(self, batch: Batch) -> Bools:
        """The model's own label of each row, without group propagation and completions."""
        return self.classifier.predict(self._with_unknown_label(batch))

    def _with_unknown_label(self, batch: Batch) -> Batch:
        """The rows as interpretations of features and label, the label unknown."""
        unknown = np.zeros((len(self.classifier.heads), batch.true.shape[1]), np.uint64)
        true, false = (np.concatenate([rows, unknown]) for rows in (batch.true, batch.false))
        return Batch(self.classifier.vocabulary, true, false, len(batch))

    def _labels(self, batch: Batch) -> Bools:
        items = self.propagate(self._with_unknown_label(batch))
        if self.completions is None:
            return self.classifier.predict(items)
        assert self.draws is not None
        cells = self.completions.prepare(items)
        labels = self.classifier.predict(cells.complete(np.arange(len(batch)), np.zeros(len(batch), np.intp)))
        open_ones = np.flatnonzero(cells.any)
        completions = cells.complete(*cross_indices(open_ones, np.arange(1, self.draws + 1)))
        votes = self.classifier.predict(completions).reshape(len(open_ones), self.draws)
        labels[open_ones] = 2 * votes.sum(axis=1) >= self.draws
        return labels
