"""Searches a smallest set of a row's conditions under which a model keeps its answer, by samples.

A body grows by the literal that parts the samples with the row's answer best from the others, until
the model keeps its answer on a share of the rows that meet the body. Then literals are dropped, and
thresholds moved outwards, as long as it still does. Samples for all candidates of a step are asked
about in one call of the model. A sample is a row of the table with columns exchanged and the body's
columns held; it is kept as the rows that its values come from, and so as the bins of those rows.

References
----------
M. Ribeiro, S. Singh, C. Guestrin. Anchors: high-precision model-agnostic explanations. AAAI 2018.
J. R. Quinlan. Learning logical definitions from relations. Machine Learning 5, 1990 (the gain).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher
from hornbook.models.answers import afford, is_spent
from hornbook.reasons.row_conditions import Body, Codes, RowConditions
from hornbook.statistics import Share

Sources: TypeAlias = NDArray[np.intp]
"""For each column and sample the number of the row that its value comes from, (columns, samples)."""

NEAR_SHARES = (0.25, 0.5, 0.75, 0.9)
"""Shares of the row's own values that samples near it have."""

GROWTH_SAMPLES = 1024
"""Samples by which one step of the search is decided, for each candidate."""

CHECK_SAMPLES = 4096
"""Samples that a body has to pass at the end of the search."""

MIN_SAMPLES = 256
"""The fewest samples by which a threshold is moved."""

MIN_ALIKE = 24
"""With fewer samples of the row's class, samples are drawn that share values with the row."""

SEARCH_SHARE = 0.3
"""The share of a budget of answers that a step of the search takes."""

SEARCH_MARGIN = 0.2
"""The share of the allowed failures that the search keeps in reserve for fresh samples."""

GAIN_POWER = 0.5
"""Exponent of the number of samples of the row's class in a gain."""

PREFERENCE = 4.0
"""Factor on the gain of a preferred column."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Samples as bins, and which of them get the row's class."""

    codes: Codes  # (columns, samples)
    alike: Bools  # (samples,)


@dataclass(frozen=True, eq=False)
class ReasonSampler:
    """Draws samples that meet bodies, and asks the model about them.

    In a column of the body, values that do not meet it are exchanged for values of the table that do.

    Parameters
    ----------
    teacher
        The model, bound to a table.
    conditions
        The conditions of the row.
    outcome
        The number of the model's class for the row.

    """

    teacher: ClassifierTeacher
    conditions: RowConditions
    outcome: int

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the table, and the row itself as the last one."""
        return pd.concat([self.teacher.sampler.frame, self.conditions.row], ignore_index=True)

    @cached_property
    def codes(self) -> Codes:
        """These rows as bins, (columns of the conditions, rows)."""
        return self.conditions.encode(self.rows)

    @cached_property
    def places(self) -> list[int]:
        """The position in the table of each column of the conditions."""
        names = list(self.rows.columns)
        return [names.index(name) for name in self.conditions.columns]

    def draw(self, body: Body, size: int, rng: np.random.Generator) -> Sources:
        """Draw samples that meet a body."""
        sources = self.teacher.sampler.draw_sources(size, rng)
        for place, bins in self.conditions.find_bins(body).items():
            own = sources[self.places[place]]
            met = bins[self.codes[place]]  # (rows,)
            pool = np.flatnonzero(met[:-1])
            if not len(pool):
                pool = np.array([len(met) - 1])  # the row itself meets it
            fails = ~met[own]
            own[fails] = pool[rng.integers(len(pool), size=size)][fails]
        return sources

    def draw_near(self, body: Body, size: int, rng: np.random.Generator) -> Sources:
        """Draw samples that meet a body and share some values with the row."""
        sources = self.draw(body, size, rng)
        share = np.asarray(NEAR_SHARES)[rng.integers(len(NEAR_SHARES), size=size)]
        sources[rng.random(sources.shape) < share] = len(self.rows) - 1
        return sources

    def build_rows(self, sources: Sources) -> pd.DataFrame:
        """Build the rows of values of samples."""
        values = zip(self.rows.columns, sources, strict=True)
        return pd.DataFrame({name: self.rows[name].iloc[own].reset_index(drop=True) for name, own in values})

    def label(self, parts: Sequence[Sources]) -> list[LabelledRows]:
        """Ask the model about samples in one call; return their bins and answers, part by part."""
        sources = np.concatenate(parts, axis=1)
        alike: Bools = self.teacher.labels(self.build_rows(sources)) == self.outcome
        codes = np.take_along_axis(self.codes, sources[self.places], axis=1)
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        return [
            LabelledRows(own, same)
            for own, same in zip(np.split(codes, ends, axis=1), np.split(alike, ends), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ReasonTask:
    """What reason is searched, and how long.

    Parameters
    ----------
    sampler
        Samples of the row's conditions.
    least_share
        The share of the rows that meet a reason on which the model has to keep its answer.
    preferred, banned
        Columns that reasons should speak of, and must not speak of.
    deadline
        When to stop.
    rng
        Where samples come from.

    """

    sampler: ReasonSampler
    least_share: float
    preferred: frozenset[str]
    banned: frozenset[str]
    deadline: Deadline
    rng: np.random.Generator

    @property
    def conditions(self) -> RowConditions:
        """The conditions of the row."""
        return self.sampler.conditions

    @cached_property
    def columns(self) -> NDArray[np.str_]:
        """The column of each literal."""
        return np.array([literal.condition.column for literal in self.conditions.literals])

    @cached_property
    def usable(self) -> Bools:
        """Which literals a reason may have."""
        return ~np.isin(self.columns, list(self.banned))

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each literal, higher on preferred columns, (literals,)."""
        return np.where(np.isin(self.columns, list(self.preferred)), PREFERENCE, 1.0)


@dataclass(frozen=True, eq=False)
class ReasonSearch:
    """Searches reasons for the answer of a model about one row.

    Parameters
    ----------
    task
        What is searched.
    earlier
        The bodies that samples were drawn for, with these: where few can be drawn, they count again.

    """

    task: ReasonTask
    earlier: list[tuple[Body, LabelledRows]] = field(default_factory=list)

    @property
    def conditions(self) -> RowConditions:
        """The conditions of the row."""
        return self.task.conditions

    @property
    def is_over(self) -> bool:
        """Whether no time and no answers are left."""
        return self.task.deadline.passed or is_spent()

    def find_body(self) -> Body:
        """Find a short body on which the model keeps its answer, by samples."""
        body = self._grow(frozenset())
        body = self._relax(body)
        while not self._keeps_share(self._draw([body], CHECK_SAMPLES)[0].alike):
            tighter = self._grow(body, least=len(body) + 1)
            if tighter == body or self.is_over:
                break
            body = tighter
        return self.conditions.remove_implied(body)

    def _grow(self, body: Body, least: int = 0) -> Body:
        """Add literals until the model keeps its answer and the body has at least `least`."""
        while True:
            (samples,) = self._draw([body], GROWTH_SAMPLES)
            if len(body) >= least and self._keeps_share(samples.alike):
                return body
            if samples.alike.sum() < MIN_ALIKE:
                size = afford(GROWTH_SAMPLES, SEARCH_SHARE)
                (samples,) = self.task.sampler.label([self.task.sampler.draw_near(body, size, self.task.rng)])
            literal = self.choose_literal(body, samples)
            if literal is None:
                return body
            body = self.conditions.remove_implied(body | {literal})
            if self.is_over:
                return body

    def choose_literal(self, body: Body, samples: LabelledRows) -> int | None:
        """Choose the literal that parts the samples of the row's class best from the others, if one does.

        Its gain is the information that it gives about samples of the row's class that meet it.
        """
        good = self.conditions.count_met(samples.codes[:, samples.alike])
        bad = self.conditions.count_met(samples.codes[:, ~samples.alike])
        total_good, total_bad = int(samples.alike.sum()), int((~samples.alike).sum())
        useful = bad < total_bad
        useful &= self.task.usable
        useful[list(body)] = False
        if not useful.any():
            return None
        before = np.log2((total_good + 1) / (total_good + total_bad + 2))
        gain = (good + 1.0) ** GAIN_POWER * (np.log2((good + 1) / (good + bad + 2)) - before)  # (literals,)
        gain = np.where(gain > 0, gain * self.task.weights, gain)
        return int(np.where(useful, gain, -np.inf).argmax())

    def _relax(self, body: Body) -> Body:
        """Drop literals or move them outwards one by one, the most useful change first."""
        while body and not self.is_over:
            order = sorted(body)
            drawn = self._draw([body - {number} for number in order], GROWTH_SAMPLES)
            drops = [
                (self.task.weights[number], -int(samples.alike.sum()), number)
                for number, samples in zip(order, drawn, strict=True)
                if self._keeps_share(samples.alike)
            ]
            if drops:
                body -= {min(drops)[2]}
                continue
            moves = [
                (self._count_gained(body, number, looser), number, looser)
                for number, samples in zip(order, drawn, strict=True)
                if (looser := self._find_loosest(body, number, samples)) is not None
            ]
            if not moves:
                break
            _, number, looser = max(moves)
            body = self.conditions.remove_implied(body - {number} | {looser})
        return body

    def _find_loosest(self, body: Body, number: int, samples: LabelledRows) -> int | None:
        """Find the loosest literal that can replace another, by samples of the body without it.

        Of literals that few of these meet, samples of their own are drawn.
        """
        seldom = []
        for looser in self.conditions.list_looser(number):
            met = self.conditions.meets([looser], samples.codes)
            if met.sum() < MIN_SAMPLES:
                seldom.append(looser)
            elif self._keeps_share(samples.alike[met]):
                return looser
        drawn = self._draw([body - {number} | {looser} for looser in seldom], MIN_SAMPLES) if seldom else []
        kept = (one for one, own in zip(seldom, drawn, strict=True) if self._keeps_share(own.alike))
        return next(kept, None)

    def _count_gained(self, body: Body, number: int, looser: int) -> int:
        """Count the rows of the table that a body gains by a looser literal."""
        table = self.task.sampler.codes[:, :-1]
        wider = self.conditions.meets(body - {number} | {looser}, table).sum()
        return int(wider) - int(self.conditions.meets(body, table).sum())

    def _keeps_share(self, alike: Bools) -> bool:
        """Whether the model keeps its answer on the least share and a margin."""
        wanted = self.task.least_share + SEARCH_MARGIN * (1 - self.task.least_share)
        return Share.where(alike).low >= wanted

    def _draw(self, bodies: Sequence[Body], size: int) -> list[LabelledRows]:
        """Draw and label samples that meet each body, in one call of the model; fewer if few may be asked."""
        fewer = max(1, afford(size * len(bodies), SEARCH_SHARE) // len(bodies))
        drawn = self.task.sampler.label(
            [self.task.sampler.draw(body, fewer, self.task.rng) for body in bodies]
        )
        if fewer == size:
            return drawn
        self.earlier.extend(zip(bodies, drawn, strict=True))
        return [self._join_earlier(body) for body in bodies]

    def _join_earlier(self, body: Body) -> LabelledRows:
        """All samples that meet a body and were drawn for it, or for fewer of its literals."""
        own = [samples for drawn_for, samples in self.earlier if drawn_for <= body]
        met = [self.conditions.meets(body, samples.codes) for samples in own]
        codes = [samples.codes[:, where] for samples, where in zip(own, met, strict=True)]
        alike = [samples.alike[where] for samples, where in zip(own, met, strict=True)]
        return LabelledRows(np.concatenate(codes, axis=1), np.concatenate(alike))
