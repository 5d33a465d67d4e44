"""How far the numbers of a row may move before the model's answer changes: each alone, and all together.

A row that the model decides otherwise bounds the distance from above: rows of the table and random ones
are tried, and brought close. A proof about all rows that are nearer bounds it from below; a witness
against the proof is nearer, and the search goes on from there. Trees are constant between their
thresholds, so of those the two bounds meet.

Distances are in standard deviations of the columns of the table, and that of a row is that of the column
that moves farthest. Categories and missing values stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold, make_range
from hornbook.deadline import Deadline
from hornbook.display import Displayed
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher
from hornbook.proof import ColumnProver, Domain, Interval, Verdict

Numbers: TypeAlias = NDArray[np.float64]

Level: TypeAlias = Literal["proved", "sampled"]

PROBES, TRIED_ROWS, ROUNDS, KEPT_ROWS = 256, 1000, 12, 32
"""Numbers of a column that are tried; rows that are tried at a time, how often, and from how many on."""

CLOSENESS = 0.01
"""For networks, the share of a distance that may be left between what is proved and what is refuted."""

SHOWN_COLUMNS = 5
"""Columns with the least room that are written out."""

MAX_QUESTIONS = 60
"""The most proofs about the distance of all numbers."""


@dataclass(frozen=True)
class Reach(Displayed):
    """The numbers of one column, above `low` and up to `high`, with which the answer stays."""

    column: str
    value: float
    low: float
    high: float
    room: float
    """The way to the nearer of both ends, in standard deviations of the column."""

    def __str__(self) -> str:
        return self.describe(EMPTY_BOOK)

    def describe(self, code_book: CodeBook) -> str:
        """Say between which numbers the answer stays."""
        if self.is_free:
            return f"{self.column}: any number"
        numbers = make_range(self.column, self.low, self.high).round(4)
        return f"{code_book.describe(numbers)} (now {self.value:.6g}, room {self.room:.2g})"

    @property
    def is_free(self) -> bool:
        """Whether no number of the column changes the answer."""
        return self.room == math.inf


@dataclass(frozen=True)
class Radius(Displayed):
    """How far the numbers of a row may move before the model's answer changes.

    Parameters
    ----------
    alone
        For each column of numbers how far it may move while the others stay, the least room first.
    level
        Whether the room of each is proved for every number, or sampled.
    together
        All may move at once by less than this, in standard deviations of their columns; infinite if no
        numbers in the ranges of the columns change the answer. If it is sampled, some row that is so far
        is decided otherwise, and nearer ones may be.
    level_together
        `proved` if no row that is nearer is decided otherwise.

    """

    alone: tuple[Reach, ...]
    level: Level
    together: float
    level_together: Level
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)

    def __str__(self) -> str:
        moving = [each for each in self.alone if not each.is_free]
        lines = [f"  {each.describe(self.code_book)}" for each in moving[:SHOWN_COLUMNS]]
        if len(moving) > len(lines):
            lines.append(f"  {len(moving) - len(lines)} columns have more room")
        first = f"no number alone changes the answer ({self.level})"
        if moving:
            first = f"one number alone may move within its range ({self.level}; room in standard deviations):"
        far = "all numbers together do not change it either"
        if self.together < math.inf:
            far = f"all numbers may move at once by less than {self.together:.2g} standard deviations"
        return "\n".join([first, *lines, f"{far} ({self.level_together})"])


@dataclass(frozen=True, eq=False)
class RadiusFinder:
    """Looks for the nearest rows that a model decides otherwise than a given one.

    Parameters
    ----------
    row
        The row, as a frame in the form of the table.
    teacher
        The model, bound to the table.
    prover
        A prover whose domain has the row; None for a model that is only sampled.
    deadline
        When to stop proving.
    rng
        The source of random rows.

    """

    row: pd.DataFrame
    teacher: ClassifierTeacher
    prover: ColumnProver | None
    deadline: Deadline
    rng: np.random.Generator

    def measure(self, code_book: CodeBook) -> Radius:
        """Measure how far the numbers of the row may move."""
        together, is_all_proved = self.move_together()
        alone, is_proved = self.move_alone()
        levels: dict[bool, Level] = {True: "proved", False: "sampled"}
        least_first = tuple(sorted(alone, key=lambda reach: reach.room))
        return Radius(least_first, levels[is_proved], together, levels[is_all_proved], code_book)

    @cached_property
    def ranges(self) -> dict[str, Interval]:
        """The ranges of the columns of numbers in which the row has one and not all rows have the same."""
        domain = Domain.of(self.teacher.frame) if self.prover is None else self.prover.domain
        return {
            name: own
            for name, own in domain.ranges.items()
            if isinstance(own, Interval)
            and 0 < own.high - own.low < math.inf
            and self.row[name].notna().all()
            if name in self.teacher.columns and not is_bool_dtype(self.row[name])
        }

    @cached_property
    def own(self) -> Numbers:
        """The row's numbers in these columns."""
        numbers: Numbers = self.row[[*self.ranges]].to_numpy(np.float64)[0]
        return numbers

    @cached_property
    def spreads(self) -> Numbers:
        """The standard deviations of these columns."""
        spreads: Numbers = self.teacher.frame[[*self.ranges]].astype(np.float64).std().to_numpy()
        return spreads

    @cached_property
    def pieces(self) -> list[list[Interval]] | None:
        """For each column the parts of its range, ascending, between which alone trees tell numbers apart."""
        listed = []
        for name, own in self.ranges.items():
            cuts = None if self.prover is None else self.prover.list_cuts(name)
            if cuts is None:
                return None
            ends = [-math.inf, *cuts, math.inf]
            parts = [own.between(math.nextafter(low, math.inf), high) for low, high in pairwise(ends)]
            listed.append([part for part in parts if part.has_numbers])
        return listed

    def is_other(self, points: Numbers) -> Bools:
        """Whether the model decides otherwise with other numbers, (k, columns)."""
        rows = self.row.iloc[[0] * len(points)].reset_index(drop=True)
        domain = Domain(self.ranges, self.row)
        rows[[*self.ranges]] = domain.write(dict(zip(self.ranges, points.T, strict=True)))
        outcome = self.teacher.labels(self.row)[0]
        other: Bools = self.teacher.labels(rows) != outcome
        return other

    def move_alone(self) -> tuple[list[Reach], bool]:
        """How far each number may move alone, and whether all of that is proved."""
        probes = [self._list_probes(place) for place in range(len(self.own))]
        points = np.repeat(self.own[None], sum(map(len, probes)), axis=0)
        places = np.repeat(np.arange(len(probes)), [*map(len, probes)])
        points[np.arange(len(points)), places] = np.concatenate([np.zeros(0), *probes])
        other = self.is_other(points) if len(points) else np.zeros(0, np.bool_)
        answers = np.split(other, np.cumsum([*map(len, probes)])[:-1]) if probes else []
        moved = [self._move_one(place, *each) for place, each in enumerate(zip(probes, answers, strict=True))]
        return [reach for reach, _ in moved], all(is_proved for _, is_proved in moved)

    def _list_probes(self, place: int) -> Numbers:
        """Numbers of a column to ask about, ascending: one for each piece, or some in its whole range."""
        if self.pieces is not None:
            return np.array([part.low for part in self.pieces[place]])
        own = [*self.ranges.values()][place]
        numbers = np.append(np.linspace(own.low, own.high, PROBES), self.own[place])
        return np.unique(np.round(numbers) if own.whole else numbers)

    def _move_one(self, place: int, probes: Numbers, other: Bools) -> tuple[Reach, bool]:
        """How far a number may move, and whether that is proved, from what was found at some numbers."""
        value, (name, own) = float(self.own[place]), [*self.ranges.items()][place]
        at = int(np.searchsorted(probes, value, side="right")) - 1
        below, above = np.flatnonzero(other[:at]), at + np.flatnonzero(other[at:])
        low, high, is_proved = -math.inf, math.inf, self.pieces is not None
        if self.pieces is not None:
            parts = self.pieces[place]
            low = parts[below[-1]].high if len(below) else low
            high = parts[above[0] - 1].high if len(above) else high
        else:  # the last numbers on either side that keep the answer
            ends = [
                probes[below[-1] + 1] if len(below) else own.low,
                probes[above[0] - 1] if len(above) else own.high,
            ]
            low = float(probes[below[-1]]) if own.whole and len(below) else np.nextafter(ends[0], -math.inf)
            verdict = self._prove({name: (low, ends[1])})
            if verdict.witness is not None:  # a number between those that were tried
                number = float(verdict.witness[name].iloc[0])
                place_of = int(np.searchsorted(probes, number))
                return self._move_one(
                    place, np.insert(probes, place_of, number), np.insert(other, place_of, True)
                )
            is_proved = verdict.status == "proved"
            low, high = (low if len(below) else -math.inf), (ends[1] if len(above) else high)
        room = min(value - low, high + float(own.whole) - value) / self.spreads[place]
        return Reach(name, value, float(low), float(high), float(room)), is_proved

    def move_together(self) -> tuple[float, bool]:
        """How far all numbers may move together, and whether that is proved."""
        nearest, least = self._find_nearest(), 0.0
        breaks = self._list_distances()
        for number in range(MAX_QUESTIONS if self.prover is not None and len(self.own) else 0):
            radius = self._choose_radius(least, nearest, breaks, number == 0)
            if radius is None:
                return (least if breaks is None else nearest), True
            ways = radius * self.spreads
            ends = zip(self.own - ways, self.own + ways, strict=True)
            verdict = self._prove(dict(zip(self.ranges, ends, strict=True)))
            if verdict.status == "proved" and nearest == math.inf:
                return math.inf, True
            if verdict.status == "proved":
                least = radius if breaks is None else float(breaks[breaks <= radius].max())
            elif verdict.witness is not None:
                nearest = float(self._measure(verdict.witness[[*self.ranges]].to_numpy(np.float64))[0])
                nearest = nearest if breaks is None else float(breaks[breaks <= nearest * (1 + 1e-12)].max())
            else:
                break
        return (least, True) if least else (nearest, False)

    def _list_distances(self) -> Numbers | None:
        """The distances at which trees may change their answer, ascending; None for other models."""
        if self.pieces is None:
            return None
        distances = [np.zeros(1)]
        for parts, value, spread in zip(self.pieces, self.own, self.spreads, strict=True):
            ways = np.array([max(part.low - value, value - part.high, 0.0) for part in parts])
            distances.append(ways / spread)
        return np.unique(np.concatenate(distances))

    def _choose_radius(
        self, least: float, nearest: float, breaks: Numbers | None, is_first: bool
    ) -> float | None:
        """The distance to ask about between two others; None if there is nothing left to ask."""
        if nearest == math.inf:
            ends = np.array([(own.low, own.high) for own in self.ranges.values()]).T
            return 1 + float(self._measure(ends).max())
        if breaks is None:
            is_close = nearest - least <= 2 * CLOSENESS * nearest
            return None if is_close else (1 - CLOSENESS) * nearest if is_first else (least + nearest) / 2
        inner = breaks[(breaks > least) & (breaks < nearest)]
        if not len(inner):
            return None
        chosen = inner[-1] if is_first else inner[len(inner) // 2]
        return float(chosen / 2 + breaks[breaks > chosen][0] / 2)

    def _find_nearest(self) -> float:
        """The distance of the nearest row that samples find to be decided otherwise; infinite without one."""
        if not len(self.own):
            return math.inf
        low, high = np.array([(own.low, own.high) for own in self.ranges.values()]).T
        known = self.teacher.frame[[*self.ranges]].to_numpy(np.float64, na_value=np.nan)
        known = self.rng.permutation(known)[:TRIED_ROWS]
        spread = self.rng.uniform(low, high, (TRIED_ROWS, len(low)))
        tried = np.concatenate([np.where(np.isnan(known), self.own, known), spread])
        nearest, closest = math.inf, self.own[None]
        for _ in range(ROUNDS):
            tried = np.clip(tried, low, high)
            whole = [own.whole for own in self.ranges.values()]
            tried[:, whole] = np.round(tried[:, whole])
            other = tried[self.is_other(tried)]
            if len(other):
                ways = self._measure(other)
                nearest, closest = min(nearest, float(ways.min())), other[np.argsort(ways)[:KEPT_ROWS]]
            if nearest == math.inf:
                break
            toward = closest[self.rng.integers(len(closest), size=TRIED_ROWS)]
            nearer = self.own + self.rng.random((TRIED_ROWS, 1)) * (toward - self.own)
            corners = self.rng.choice([-1.0, 1.0], (TRIED_ROWS, len(low)))
            tried = np.concatenate([nearer, self.own + 0.95 * nearest * corners * self.spreads])
        return nearest

    def _measure(self, points: Numbers) -> Numbers:
        """The distance of points, (k, columns), from the row."""
        distances: Numbers = (np.abs(points - self.own) / self.spreads).max(axis=1)
        return distances

    def _prove(self, ends: Mapping[str, tuple[float, float]]) -> Verdict[pd.DataFrame]:
        """Ask whether the answer stays while some numbers are above one end and up to another."""
        if self.prover is None:
            return Verdict.leave_open("the model is only sampled")
        body: list[Condition] = []
        for name in self.prover.domain.ranges:
            value = self.row[name].iloc[0]
            if name in ends:
                low, high = ends[name]
                body += [Threshold(name, low), Threshold(name, high, above=False)]
            else:
                body.append(Missing(name, missing=True) if pd.isna(value) else Category(name, value))
        outcome = int(self.teacher.labels(self.row)[0])
        verdict = self.prover.prove(body, outcome, seconds=max(self.deadline.left, 0.01))
        # the row itself meets the body, so no rows to prove anything of means another domain
        return Verdict.leave_open("the row is outside of the domain") if verdict.is_vacuous else verdict
