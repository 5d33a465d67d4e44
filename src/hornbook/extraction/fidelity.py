"""Fidelity: how often an explanation says what its model says, of each population and class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.schema import also_writes
from hornbook.statistics import Share

RowPopulation: TypeAlias = Literal["held-out rows", "test rows", "cases"]
"""Rows that nothing was made from, held out of the table or given apart from it; or all cases there are."""

Population: TypeAlias = RowPopulation | Literal["samples"]
"""The population of a fidelity: rows that nothing was made from, or samples drawn near the others."""

Labels: TypeAlias = NDArray[np.integer[Any] | np.bool_]
"""The number of a class for each case."""

MAX_NAMED_CLASSES = 8
"""Classes that a text gives figures of, those that are found least often first."""

Weights: TypeAlias = NDArray[np.float64]
"""How many cases of the population each row stands for."""


def write_count(cases: float) -> str:
    """A number of cases, of which weighted ones need not be whole.

    Examples
    --------
    >>> write_count(1234), write_count(12.34), write_count(1234.5)
    ('1,234', '12.34', '1,234')

    """
    return f"{cases:,.0f}" if cases >= 1000 or cases == int(cases) else f"{cases:.4g}"


@dataclass(frozen=True)
class CommonestClass(Displayed):
    """The class that a model gives most cases of a population, and the share of these cases.

    This is what an explanation reaches that always names the class: agreement is worth what it has beyond.
    """

    name: str
    share: float

    def __str__(self) -> str:
        return f'always "{self.name}": {100 * self.share:.2f} %'


@dataclass(frozen=True)
class ClassAgreement(Displayed):
    """How many of a model's decisions for a class an explanation finds, and how many it invents.

    Where rows have weights, these are the sums of them.

    Examples
    --------
    >>> print(ClassAgreement("fraud", 20, 18, 3))
    fraud: 18 of 20 found, 3 invented

    """

    name: str
    decided: float
    found: float
    invented: float

    def __str__(self) -> str:
        decided, found, invented = map(write_count, (self.decided, self.found, self.invented))
        return f"{self.name}: {found} of {decided} found, {invented} invented"


@also_writes("commonest", "kappa", "gap_closed", "by_class")
@dataclass(frozen=True)
class AnswerTable(Displayed):
    """How many cases of a population get each pair of classes: the model's (rows), and the explanation's.

    Where rows have weights, these are the sums of them.

    Examples
    --------
    >>> table = AnswerTable.of(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ("no", "yes"))
    >>> table.counts, str(table.commonest), round(table.kappa, 2), table.gap_closed
    (((2, 1), (0, 1)), 'always "no": 75.00 %', 0.5, 0.0)
    >>> print(*table.by_class, sep="; ")
    no: 2 of 3 found, 0 invented; yes: 1 of 1 found, 1 invented

    """

    classes: tuple[str, ...]
    counts: tuple[tuple[int | float, ...], ...]

    @classmethod
    def of(
        cls, model: Labels, explanation: Labels, classes: Sequence[str], weights: Weights | None = None
    ) -> AnswerTable:
        """Count the pairs of answers, by weights if there are any."""
        size = len(classes)
        pairs = model.astype(np.intp) * size + explanation.astype(np.intp)
        counts = np.bincount(pairs, weights, size * size).reshape(size, size)
        return cls(tuple(classes), tuple(map(tuple, counts.tolist())))

    @property
    def _array(self) -> NDArray[np.float64]:
        return np.array(self.counts, np.float64)

    @property
    def commonest(self) -> CommonestClass:
        """The model's commonest class, the first of equals."""
        decided = self._array.sum(axis=1)
        return CommonestClass(self.classes[int(decided.argmax())], float(decided.max() / decided.sum()))

    @property
    def kappa(self) -> float:
        """Cohen's κ: the agreement beyond chance, 0 for a constant; NaN where both give one class alone."""
        counts, size = self._array, self._array.sum()
        chance = float(counts.sum(axis=0) @ counts.sum(axis=1)) / size**2
        return math.nan if chance >= 1 else float((np.trace(counts) / size - chance) / (1 - chance))

    @property
    def gap_closed(self) -> float:
        """The share of the errors of always naming the commonest class that are not made; NaN without any."""
        agreement, base = float(np.trace(self._array) / self._array.sum()), self.commonest.share
        return math.nan if base >= 1 else (agreement - base) / (1 - base)

    @property
    def by_class(self) -> tuple[ClassAgreement, ...]:
        """What is found and invented of each class that either of them gives."""
        counts = np.array(self.counts)
        others = counts - np.diag(counts.diagonal())
        decided, invented, both = counts.sum(axis=1), others.sum(axis=0), counts.diagonal()
        figures = zip(self.classes, decided.tolist(), both.tolist(), invented.tolist(), strict=True)
        return tuple(ClassAgreement(*each) for each in figures if any(each[1:]))

    def describe_classes(self) -> Iterator[str]:
        """What is found and invented of each class, in words; of many classes those that are found least."""
        classes = sorted(self.by_class, key=lambda one: one.found / max(one.decided, 1))[:MAX_NAMED_CLASSES]
        yield from (str(one) for one in self.by_class if one in classes)
        if others := len(self.by_class) - len(classes):
            yield f"and {others} other classes, which are found more often"

    def __str__(self) -> str:
        return "\n".join(self.describe_classes())


@also_writes("population")
@dataclass(frozen=True)
class Fidelity(Displayed):
    """The share of cases of a population on which explanation and model agree.

    The headline is about rows that were held out, if any were: nothing was drawn from them, fitted
    to them or chosen by them. Where there were too few rows for that, it is about samples.

    Attributes
    ----------
    samples
        The share of fresh samples, drawn near the rows that the explanation was made from.
    rows
        The share of the rows that were held out, or given as test rows; None where none were. Equal
        rows, or the rows of a group, count as one in its interval.
    row_population
        What the rows are called: `held-out rows` of the table, `test rows` if they were given apart from it,
        `cases` if there are no others.
    tables
        The answers of model and explanation, class by class, by the names in `populations`; those that are
        not known are left out.

    Examples
    --------
    >>> found = Fidelity(samples=Share.of(970, 1000), rows=Share.of(108, 114))
    >>> print(found)
    on 114 held-out rows 94.74 % (95 % interval 88.90 % to 98.04 %)
    >>> found.population, round(found.estimate, 3), found.samples.estimate
    ('held-out rows', 0.947, 0.97)
    >>> table = AnswerTable(("no", "yes"), ((960, 5), (25, 10)))
    >>> print(Fidelity(Share.of(970, 1000), tables={"samples": table}))
    on 1,000 samples 97.00 % (95 % interval 95.74 % to 97.97 %), κ 0.387; always "no": 96.50 %

    """

    samples: Share
    rows: Share | None = None
    row_population: RowPopulation = "held-out rows"
    tables: Mapping[str, AnswerTable] = field(default_factory=dict, hash=False)

    @property
    def population(self) -> Population:
        """The population of the headline."""
        return "samples" if self.rows is None else self.row_population

    @property
    def share(self) -> Share:
        """The headline, with its interval."""
        return self.samples if self.rows is None else self.rows

    @property
    def table(self) -> AnswerTable | None:
        """The answers about the population of the headline, class by class, if they are known."""
        return self.tables.get(self.population)

    @property
    def estimate(self) -> float:
        """The observed share."""
        return self.share.estimate

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.share.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.share.high

    @property
    def populations(self) -> dict[Population, Share]:
        """Every share with an interval by its population, the headline first."""
        return {self.population: self.share, "samples": self.samples}

    def describe(self) -> list[str]:
        """The shares in words, each with what the commonest class alone reaches, one line a population."""
        lines = []
        for population, share in self.populations.items():
            if not share.size and population != self.population:
                continue
            words = (
                f"on {share.describe_size(population)} {share}" if share.size else f"on {population}: {share}"
            )
            if (table := self.tables.get(population)) is not None:
                kappa = "" if math.isnan(table.kappa) else f", κ {table.kappa:.3f}"
                words += f"{kappa}; {table.commonest}"
            lines.append(words)
        return lines

    def __str__(self) -> str:
        return self.describe()[0]


@dataclass(frozen=True, eq=False)
class AnswerPairs:
    """The class that an explanation decides for each case of a population, and the one that the model does.

    `units` number the independent units that cases belong to; `weights` say how much each counts.
    """

    explanation: Labels
    model: Labels
    units: NDArray[np.intp] | None = None
    weights: Weights | None = None

    @property
    def share(self) -> Share:
        """The share of the cases on which both agree."""
        return Share.where(self.explanation == self.model, self.units, self.weights)

    def tabulate(self, classes: Sequence[str]) -> AnswerTable:
        """Both answers, class by class."""
        return AnswerTable.of(self.model, self.explanation, classes, self.weights)


def measure_fidelity(
    classes: Sequence[str],
    *,
    samples: AnswerPairs,
    rows: AnswerPairs,
    row_population: RowPopulation = "held-out rows",
) -> Fidelity:
    """The fidelity on each population, and what its commonest class alone reaches there."""
    named = {row_population: rows, "samples": samples}
    return Fidelity(
        samples=samples.share,
        rows=rows.share if len(rows.model) else None,
        row_population=row_population,
        tables={name: pairs.tabulate(classes) for name, pairs in named.items() if len(pairs.model)},
    )
