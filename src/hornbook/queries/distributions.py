"""Named sources of partial interpretations: random ones, rows as observed or perturbed, labelled ones."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, Words, bits
from hornbook.queries.literals import Groups, Literals, check_groups


@runtime_checkable
class Distribution(Protocol):
    """A named source of independent partial interpretations.

    The items of one draw are independent, so any part of it is a fair sample as well, and
    pair-consistent: a variable and its dual are (1, 0), (0, 1) or (?, ?).
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the interpretations."""
        ...

    @property
    def kind(self) -> str:
        """The word for one item in reports: `random`, `violation`, `row`, `near miss`."""
        ...

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        ...

    def describe(self) -> str:
        """The distribution in words, with every parameter."""
        ...


class BitSliced(ABC):
    """What distributions share that draw words of 64 items for one variable of each pair of duals."""

    @property
    @abstractmethod
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""

    @abstractmethod
    def draw_words(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables, shape (variables, count)."""

    @abstractmethod
    def describe(self) -> str:
        """The distribution in words."""

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        size = operator.index(size)
        if size < 0:
            raise HornbookError(f"cannot draw {size} interpretations")
        true, false = self.draw_words(bits.words_for(size), rng)
        for rows in (true, false):
            bits.clear_spare(rows, size)
        return self.literals.batch(true, false, size)

    def __str__(self) -> str:
        return self.describe()


COIN_PRECISION = 1 / 200
"""Maximum relative rounding of a probability, or of its complement."""

MAX_DIGITS = 24
"""Maximum number of binary digits of a probability; below 2⁻²⁵ it becomes 0."""


def draw_bits(shape: tuple[int, ...], probability: float, rng: np.random.Generator) -> Words:
    """Words in which each bit is set with a given probability.

    A bit compares a random binary fraction with the probability, digit by digit from the
    last to the first, so that one fair word serves one digit of 64 coins.
    """
    digits = binary_digits(probability)
    if not digits:
        return np.full(shape, 2**64 - 1 if probability > 0.5 else 0, np.uint64)
    words = rng.integers(0, 2**64, shape, np.uint64)
    for digit in digits[-2::-1]:
        combine = np.bitwise_or if digit == "1" else np.bitwise_and
        combine(words, rng.integers(0, 2**64, shape, np.uint64), out=words)
    return words


def draw_one_hot(size: int, shape: tuple[int, ...], rng: np.random.Generator) -> list[Words]:
    """As many matrices of words as `size`: each bit is set in exactly one, in each as likely."""
    undecided, rows = draw_bits(shape, 1, rng), []
    for left in range(size, 1, -1):
        chosen = undecided & draw_bits(shape, 1 / left, rng)
        rows.append(chosen)
        undecided = undecided ^ chosen
    return [*rows, undecided]


def binary_digits(probability: float, precision: float = COIN_PRECISION) -> str:
    """The shortest binary expansion that is close enough to a probability; empty for 0 and 1.

    Examples
    --------
    >>> binary_digits(0.5), binary_digits(0.75), binary_digits(1 / 3), binary_digits(1.0)
    ('1', '11', '01010101', '')

    """
    tolerated = precision * min(probability, 1 - probability)
    for count in range(1, MAX_DIGITS + 1):
        scaled = round(probability * 2**count)
        if abs(scaled / 2**count - probability) <= tolerated and 0 < scaled < 2**count:
            return f"{scaled:0{count}b}"
    scaled = round(probability * 2**MAX_DIGITS)
    return f"{scaled:0{MAX_DIGITS}b}".rstrip("0") if 0 < scaled < 2**MAX_DIGITS else ""


def draw_numbers(limit: int | NDArray[np.intp], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a number in [0, limit) for each item of `count` words, shape (64, count): bit first."""
    return rng.integers(limit, size=(bits.WORD, count))


def check_share(name: str, share: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0 <= share <= 1:
        raise HornbookError(f"{name} is a share between 0 and 1; got {share}")


def percent(share: float) -> str:
    """A share as reports write it."""
    return f"{100 * share:.3g} %"


DEFAULT_MISSING = 1 / 3
"""The default share of unknown values: 1, 0 and ? are equally likely."""


@dataclass(frozen=True)
class Random(BitSliced):
    """A random complete row, of which each value is then unknown with probability `missing`.

    A variable and its dual are drawn together, as (1, 0), (0, 1) or (?, ?). Without groups
    a value is true with probability 1/2; in a group exactly one variable of the complete row
    is true, each with the same probability, so that at most one is known to be true.
    Probabilities are rounded by at most 1/200 of themselves.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> distribution = Random(vocabulary, missing=0.5)
    >>> drawn = distribution.draw(10_000, np.random.default_rng(1)).to_array()
    >>> bool(0.45 < np.isnan(drawn).mean() < 0.55)
    True
    >>> np.array_equal(drawn[:, 2:], 1 - drawn[:, :2], equal_nan=True)
    True
    >>> print(distribution)
    random interpretations of 2 pairs, each value unknown with probability 50 %

    """

    vocabulary: Vocabulary
    missing: float = DEFAULT_MISSING
    groups: Groups = ()
    kind: ClassVar[str] = "random"

    def __post_init__(self) -> None:
        check_share("missing", self.missing)
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    def draw_words(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        shape = self.literals.count, count
        known, value = draw_bits(shape, 1 - self.missing, rng), draw_bits(shape, 0.5, rng)
        for rows in self.literals.group_rows:
            for member, is_it in zip(rows, draw_one_hot(len(rows), (rows.shape[1], count), rng), strict=True):
                value[member] = is_it
        value &= known
        known ^= value
        return value, known

    def describe(self) -> str:
        """The distribution in words."""
        pairs = len(self.vocabulary.pairs)
        counted = f"{pairs} pairs" if self.vocabulary.has_duals else f"{len(self.vocabulary)} variables"
        grouped = f", at most one true in each of {len(self.groups)} groups" if self.groups else ""
        return (
            f"random interpretations of {counted}, "
            f"each value unknown with probability {percent(self.missing)}{grouped}"
        )


@dataclass(frozen=True)
class Rows(BitSliced):
    """Uniformly drawn rows of a batch, whose known values may be flipped and then made unknown.

    Parameters
    ----------
    rows
        The rows to draw from, pair-consistent where the vocabulary has duals.
    missing
        The probability that a known value is made unknown.
    flips
        The probability that a known value is exchanged for its opposite before that.
    groups
        Sets of variables that exclude each other in every row. The values of a group are
        exchanged together, for those of another row, so that at most one stays true.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> rows = Batch.from_array([[1, 1, 0, 0], [0, np.nan, 1, np.nan]], vocabulary)
    >>> print(Rows(rows, missing=0.2))
    2 real rows, each known value made unknown with probability 20 %

    """

    rows: Batch
    missing: float = 0.0
    flips: float = 0.0
    groups: Groups = ()
    kind: ClassVar[str] = "row"

    def __post_init__(self) -> None:
        check_share("missing", self.missing)
        check_share("flips", self.flips)
        object.__setattr__(self, "groups", check_groups(self.groups, self.vocabulary))
        if not len(self.rows):
            raise HornbookError("there are no rows to draw from")
        wrong = Literals.of(self.vocabulary).contradictions(self.rows)
        for pair in np.flatnonzero(wrong.any(axis=1)):
            names = self.vocabulary.named(self.vocabulary.pairs[pair])
            row = int(np.flatnonzero(bits.flat(wrong[pair], len(self.rows)))[0])
            raise HornbookError(f"row {row} does not give {names[0]!r} and {names[1]!r} opposite values")

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the rows."""
        return self.rows.vocabulary

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary, self.groups)

    @cached_property
    def table(self) -> Words:
        """The literals of each row."""
        return self.literals.table_of(self.rows)

    def draw_words(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        true, false = self._pick_rows(count, rng)
        shape = self.literals.count, count
        if self.flips:
            flipped = (true ^ false) & draw_bits(shape, self.flips, rng)
            for group in self.literals.group_rows:
                flipped[group] = 0
            true, false = true ^ flipped, false ^ flipped
            self._exchange_groups(true, false, rng)
        if self.missing:
            kept = draw_bits(shape, 1 - self.missing, rng)
            true, false = true & kept, false & kept
        return true, false

    def _pick_rows(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """Pick a random row for each item."""
        chosen = draw_numbers(len(self.rows), count, rng)
        return self.literals.halves(bits.gather_rows((self.table, chosen)))

    def _exchange_groups(self, true: Words, false: Words, rng: np.random.Generator) -> None:
        """Exchange groups for those of another row with probability `flips`, in place."""
        count = true.shape[1]
        others = self._pick_rows(count, rng) if self.groups else ()
        for rows in self.literals.group_rows:
            where = draw_bits((rows.shape[1], count), self.flips, rng)
            for own, other in zip((true, false), others, strict=True):
                own[rows] = (own[rows] & ~where) | (other[rows] & where)

    def describe(self) -> str:
        """The distribution in words."""
        share, count = percent(self.flips), len(self.groups)
        flipped = f", each known value flipped with probability {share}" if self.flips else ""
        if self.flips and sum(map(len, self.groups)) == self.literals.count:
            flipped = f", each of {count} columns exchanged for another row's with probability {share}"
        elif self.flips and self.groups:
            groups = "1 group" if count == 1 else f"{count} groups"
            flipped += f", the values of {groups} exchanged for another row's"
        hidden = (
            f", each known value made unknown with probability {percent(self.missing)}"
            if self.missing
            else ""
        )
        return f"{len(self.rows)} real rows{flipped}{hidden}" + ("" if flipped or hidden else " as they are")


@dataclass(frozen=True)
class Labelled(BitSliced):
    """Items of a distribution over features, each with a label that is true or false by a fair coin.

    The label is always known, because an item without one says nothing about a classifier.
    The label and its dual come after the features.

    Parameters
    ----------
    features
        Where the features come from.
    label
        The name of the label; its dual is called `not_…`.

    Examples
    --------
    >>> distribution = Labelled(Random(Vocabulary(["fever", "cough"])), "ill")
    >>> distribution.vocabulary.names
    ('fever', 'cough', 'ill', 'not_ill')
    >>> drawn = distribution.draw(100, np.random.default_rng(3)).to_array()
    >>> bool((drawn[:, 2] == 1 - drawn[:, 3]).all())
    True
    >>> rows = Batch.from_array([[1, 0]], Vocabulary(["fever", "cough"]))
    >>> print(Labelled(Rows(rows), "ill"))
    'ill' true or false with probability 50 % each, and: 1 real rows as they are

    """

    features: Distribution
    label: str
    kind: ClassVar[str] = "labelled"

    def __post_init__(self) -> None:
        self.features.vocabulary.with_label(self.label)  # refuses a label that is a feature

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The features, the label, and its dual."""
        return self.features.vocabulary.with_label(self.label)

    @cached_property
    def literals(self) -> Literals:
        """The drawn variables, which are those of the features and the label, and their duals."""
        return Literals.of(self.vocabulary)

    def draw_words(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        label = draw_bits((1, count), 0.5, rng)
        features = Literals.of(self.features.vocabulary)
        true, false = features.rows_of(self.features.draw(bits.WORD * count, rng))
        return np.concatenate([true, label]), np.concatenate([false, ~label])

    def describe(self) -> str:
        """The distribution in words."""
        return f"{self.label!r} true or false with probability 50 % each, and: {self.features.describe()}"


@dataclass(frozen=True)
class Complete:
    """Items of a distribution whose unknown values become 1 or 0 by a fair coin; in a group they become 0.

    Examples
    --------
    >>> distribution = Complete(Random(Vocabulary(["fever", "cough"])))
    >>> bool(np.isnan(distribution.draw(100, np.random.default_rng(0)).to_array()).any())
    False

    """

    items: Distribution
    groups: Groups = ()
    kind: ClassVar[str] = "complete"

    @property
    def vocabulary(self) -> Vocabulary:
        """The variables, none of which has a dual."""
        return self.items.vocabulary

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """Independent complete interpretations."""
        values = self.items.draw(size, rng).to_array()
        coins = rng.random(values.shape) < 0.5
        for group in self.groups:
            coins[:, list(group)] = False
        return Batch.from_array(np.where(np.isnan(values), coins, values), self.vocabulary)

    def describe(self) -> str:
        """The distribution in words."""
        return f"{self.items.describe()}; unknown values drawn at random"


@dataclass(frozen=True)
class Mixture:
    """Each item from one of the components, chosen with probability proportional to its weight.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> from hornbook.queries.distributions import Random
    >>> mixture = Mixture((Random(vocabulary, 0.1), Random(vocabulary, 0.9)), weights=(3, 1))
    >>> print(mixture)
    75 % random interpretations of 2 pairs, each value unknown with probability 10 %;
    25 % random interpretations of 2 pairs, each value unknown with probability 90 %
    >>> batch, component = mixture.draw_labelled(1000, np.random.default_rng(0))
    >>> bool(0.2 < component.mean() < 0.3)
    True

    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if not self.components or len(self.components) != len(self.weights):
            raise HornbookError(
                f"a mixture needs one weight a component; "
                f"got {len(self.components)} components and {len(self.weights)} weights"
            )
        if not all(weight >= 0 and np.isfinite(weight) for weight in self.weights) or not any(self.weights):
            raise HornbookError(f"weights are not negative and not all zero; got {list(self.weights)}")
        if any(component.vocabulary != self.vocabulary for component in self.components):
            raise HornbookError("the components of a mixture are over one vocabulary")

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the components."""
        return self.components[0].vocabulary

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights made to sum to 1."""
        return tuple(weight / sum(self.weights) for weight in self.weights)

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        return self.draw_labelled(size, rng)[0]

    def draw_labelled(self, size: int, rng: np.random.Generator) -> tuple[Batch, NDArray[np.intp]]:
        """`size` independent interpretations, and for each the index of its component."""
        if len(self.components) == 1:
            return self.components[0].draw(size, rng), np.zeros(size, np.intp)
        origins = rng.choice(len(self.components), operator.index(size), p=self.shares)
        counts = np.bincount(origins, minlength=len(self.components)).tolist()
        parts = [each.draw(count, rng) for each, count in zip(self.components, counts, strict=True)]
        places = np.empty(size, np.intp)
        places[np.argsort(origins, kind="stable")] = np.arange(size)
        return Batch.concatenate(parts)[places], origins

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The distribution in words."""
        parts = zip(self.shares, self.components, strict=True)
        return ";\n".join(f"{percent(share)} {component.describe()}" for share, component in parts)


def flatten_mixture(distribution: Distribution, weight: float = 1.0) -> list[tuple[Distribution, float]]:
    """The components of a mixture, nested ones included, each with its share."""
    if not isinstance(distribution, Mixture):
        return [(distribution, weight)]
    shares = zip(distribution.components, distribution.shares, strict=True)
    return [part for component, share in shares for part in flatten_mixture(component, weight * share)]
