"""Searches the fewest columns, and the smallest change of them, with which a model decides otherwise.

Every single column is given every value of its list, then every pair of columns, and so on, as long as
the rows that the model may be asked about suffice: such a level is exhausted. Of a larger level a grid of
some values of each column is tried. Rows of the table that the model decides otherwise, and mixtures of its
values, give changes of many columns, of which as many as possible are taken back. What is
found so is moved closer to the row, and exchanged for fewer columns or nearer values, as long as that
succeeds; at last all nearer changes of as many columns are tried, if there are not too many. Nothing is
random, so a search repeats bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import comb
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.delta import minimise
from hornbook.logic import Bools
from hornbook.randomness import Purpose, generator
from hornbook.reasons.change_space import ChangeSpace, Places

CHUNK_ROWS = 1 << 12
"""Rows that the model is asked about at a time."""

MAX_CHANGED_COLUMNS = 8
"""The most columns that are changed together, except by rows of the table."""

MIN_GRID_VALUES = 3
"""The fewest values of each column that a grid is worth asking about."""

NEAR_ROWS, NEAR_CHUNK = 8, 512
"""Rows of the table that changes are made of, and how many are tried at a time, the nearest first."""

MIXTURES, MIXED_VALUES = 2_048, 8
"""Changes of about half of the columns that are tried, and values of each column in them."""

COMPARED_ROWS = 5_000
"""Rows of the table among which the nearest ones are looked for."""

TIGHTENED_CHANGES, TIGHTENED_VALUES, IMPROVED_CHANGES = 16, 64, 3
"""Changes that are moved closer to the row, values of a column that are tried for each at a time, and
changes whose columns are exchanged for others."""

EXCHANGED_VALUES, MAX_PAIRED_COLUMNS = 128, 4
"""Values of a column that others are exchanged for; the most columns of which pairs are given all of them."""

MAX_GRID = 1_000_000
"""The most changes of some columns that are listed to find the smaller ones."""

Grade: TypeAlias = Literal["proved", "exhausted", "sampled"]
"""How sure it is that no change does: for all values, for those that occur, or for those tried."""


Answer = TypeVar("Answer", np.bool_, np.float64)

Flips: TypeAlias = Callable[[pd.DataFrame], Bools]
"""Which rows the model decides as wished."""

Scores: TypeAlias = Callable[[pd.DataFrame], NDArray[np.float64]]
"""How nearly the model decides rows as wished."""


class ChangeSearch:
    """The search for changes of one row, and what it found.

    Parameters
    ----------
    space
        The row, and the values that it may change to.
    flips, score
        The model: which changed rows it decides as wished, and how nearly it does.
    max_rows
        The most rows that the model is asked about.
    deadline
        When the model is asked no more.

    """

    def __init__(
        self,
        space: ChangeSpace,
        flips: Flips,
        score: Scores,
        max_rows: int,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self.space, self.flips, self.score = space, flips, score
        self.deadline, self.is_late = deadline, False
        self.left, self.rows_asked = max_rows, 0  # how many rows the model may still be asked about, and was
        self.best: dict[tuple[int, ...], tuple[float, Places]] = {}  # by columns: distance, places
        self.exhausted: set[int] = set()  # numbers of columns of which every change was tried
        self.nearest: set[int] = set()  # numbers of columns of which every nearer change was tried
        self.largest = min(MAX_CHANGED_COLUMNS, int((space.sizes > 0).sum()))  # number of columns tried
        self.none = np.zeros((0, len(space.columns)), np.int32)

    def run(self, table: pd.DataFrame, count: int) -> list[Places]:
        """Find `count` changes of different columns, the fewest columns and the nearest first.

        No change has all columns of another one. Rows of the table are tried where one column does not do.
        """
        for size in range(1, self.largest + 1):
            if sum(len(columns) < size for columns in self.best) >= count:
                break
            if size == 2:
                self._try_near_rows(table)
                self._try_mixtures()
            self._try_level(size)
        self._tighten()
        self._improve(count)
        self._tighten()
        self._try_nearer()
        smallest = sorted(self.best, key=self._rank_columns)
        kept: list[tuple[int, ...]] = []
        for columns in smallest:
            if not any(set(other) < set(columns) for other in kept):
                kept.append(columns)
        return [self.best[columns][1] for columns in kept[:count]]

    def grade(self, size: int) -> Grade:
        """Whether every change of `size` columns was tried."""
        return "exhausted" if size in self.exhausted else "sampled"

    def grade_nearest(self, size: int) -> Grade:
        """Whether every change of `size` columns was tried that is nearer than the nearest one found."""
        return "exhausted" if size in self.exhausted | self.nearest else "sampled"

    def _try_level(self, size: int) -> None:
        """Try all changes of `size` columns within the budget, else a grid of them."""
        columns = self._list_movable(size)
        if _count_changes(self.space.sizes[columns], size) <= self.left:
            every = {column: np.sort(self.space.ladders[column]) for column in columns}
            for changes in self._enumerate(every, size):
                self._ask(changes)
            if not self.is_late:
                self.exhausted.add(size)
        elif self.left > 0:
            share = max(1, self.left // 2 // max(1, len(columns)))
            some = {column: self._thin(column, share) for column in columns}
            for changes in self._enumerate(some if size == 1 else self._thin_ladders(columns, size), size):
                self._ask(changes)

    def _list_movable(self, size: int) -> list[int]:
        """List the columns that may change; several together only if none of them suffices alone."""
        movable = np.flatnonzero(self.space.sizes).tolist()
        return [column for column in movable if size == 1 or (column,) not in self.best]

    def _enumerate(self, ladders: dict[int, NDArray[np.int32]], size: int) -> Iterator[Places]:
        """Yield all changes of `size` of the columns to some of their values, in chunks."""
        waiting, rows = [], 0
        for chosen in combinations(ladders, size):
            grid = np.indices([len(ladders[column]) for column in chosen]).reshape(size, -1)
            changes = np.zeros((grid.shape[1], len(self.space.columns)), np.int32)
            for column, own in zip(chosen, grid, strict=True):
                changes[:, column] = ladders[column][own]
            waiting.append(changes)
            rows += len(changes)
            if rows >= CHUNK_ROWS:
                yield np.concatenate(waiting)
                waiting, rows = [], 0
        if waiting:
            yield np.concatenate(waiting)

    def _thin_ladders(self, columns: list[int], size: int) -> dict[int, NDArray[np.int32]]:
        """Some values of each column, as many as a grid of `size` columns has for half of the rows left."""
        count = MIN_GRID_VALUES
        while True:
            sizes = np.minimum(self.space.sizes[columns], count)
            if _count_changes(sizes, size) > self.left // 2 or count > sizes.max(initial=0):
                break
            count += 1
        count -= 1
        return {column: self._thin(column, count) for column in columns if count >= MIN_GRID_VALUES}

    def _thin(self, column: int, count: int) -> NDArray[np.int32]:
        """At most `count` values of a column, at even steps, both ends included."""
        ladder = self.space.ladders[column]
        return ladder[np.unique(np.linspace(0, len(ladder) - 1, count).astype(np.intp))]

    def _try_near_rows(self, table: pd.DataFrame) -> None:
        """Copy near rows of the table that flip the model, then take back as many values as can be."""
        rows = table.iloc[np.unique(np.linspace(0, len(table) - 1, COMPARED_ROWS).astype(np.intp))]
        changes = np.unique(self.space.find_places(rows), axis=0)
        changes = changes[np.argsort(self.space.measure(changes), kind="stable")]
        successes = changes[:0]
        for start in range(0, len(changes), NEAR_CHUNK):
            if self.left <= 0 or len(successes) >= NEAR_ROWS:
                break
            part = changes[start : start + NEAR_CHUNK]
            flipped = self._ask(part, record=False)
            successes = np.concatenate([successes, part[flipped]])
        self._take_back(successes[:NEAR_ROWS])

    def _try_mixtures(self) -> None:
        """Change about half of the columns at once, and then few to the values that score best there.

        A model may be so sure of the row that no few changes move its score.
        """
        columns = np.flatnonzero(self.space.sizes).tolist()
        count = min(MIXTURES, self.left // 8)
        if not count or not columns:
            return
        rng = generator(0, Purpose.CHANGE_SEARCH)
        mixed = np.zeros((count, len(self.space.columns)), np.int32)
        ladders = {column: self._thin(column, MIXED_VALUES) for column in columns}
        for column, places in ladders.items():
            mixed[:, column] = np.where(rng.random(count) < 0.5, 0, rng.choice(places, count))
        scores = self._score(mixed)
        promising = np.concatenate(
            [
                _choose_best(mixed, scores, ladders)[None],
                mixed[np.argsort(-scores, kind="stable")[:NEAR_ROWS]],
            ]
        )
        flipped = self._ask(promising, record=False)
        self._take_back(promising[flipped])
        base = self.best[min(self.best, key=self._rank_columns)][1] if self.best else promising[0]
        varied = np.repeat(base[None], sum(map(len, ladders.values())), axis=0)
        varied[np.arange(len(varied)), np.repeat(columns, list(map(len, ladders.values())))] = np.concatenate(
            list(ladders.values())
        )
        best = _choose_best(varied, self._score(varied), ladders)
        for size in range(2, min(self.largest, len(columns)) + 1):
            if comb(len(columns), size) > self.left // 4:
                break
            several = self._enumerate({column: best[[column]] for column in columns}, size)
            if self._ask(np.concatenate(list(several))).any():
                break

    def _take_back(self, changes: Places) -> None:
        """Give columns of changes the row's own values again, as many as can be, the farthest first."""
        self._record(changes)

        def flip(lists: list[tuple[int, list[int]]]) -> Bools:
            return self._ask(np.stack([_keep_columns(changes[number], own) for number, own in lists]))

        minimise([self._list_farthest(change) for change in changes], flip)

    def _list_farthest(self, change: Places) -> list[int]:
        """List the columns of a change, the farthest values first."""
        lengths = np.array([own[place] for own, place in zip(self.space.distances, change, strict=True)])
        farthest: list[int] = np.argsort(-lengths, kind="stable")[: (change > 0).sum()].tolist()
        return farthest

    def _tighten(self) -> None:
        """Move the best changes closer to the row, one column at a time, where not all were tried."""
        improving = True
        while improving and self.left > 0:
            before = {columns: self.best[columns][0] for columns in self._list_open()[:TIGHTENED_CHANGES]}
            closer = [each for columns in before for each in self._step_closer(self.best[columns][1])]
            if not closer:
                return
            self._ask(np.concatenate(closer))
            improving = any(self.best[columns][0] < length for columns, length in before.items())

    def _improve(self, count: int) -> None:
        """Exchange columns of the best changes for fewer ones or nearer values, as long as that succeeds."""
        tried: set[bytes] = set()
        while self.left > 0:
            waiting = [self.best[columns][1] for columns in self._list_open()[: count + IMPROVED_CHANGES]]
            change = next((own for own in waiting if own.tobytes() not in tried), None)
            if change is None:
                break
            tried.add(change.tobytes())
            self._ask(self._list_exchanges(change))

    def _list_exchanges(self, change: Places) -> Places:
        """The smaller changes that undo one or two columns and change one or two again, the smallest first.

        One undone column may be exchanged for any column, two for any one column, or for each other's values.
        """
        columns = np.flatnonzero(change).tolist()
        movable = np.flatnonzero(self.space.sizes).tolist()
        parts = [self.none]
        for undone in [*combinations(columns, 1), *combinations(columns, 2)]:
            base = change.copy()
            base[list(undone)] = 0
            free = [column for column in movable if not base[column]]
            parts += [self._vary(base, [column]) for column in free]
            if len(undone) == 2 and len(columns) <= MAX_PAIRED_COLUMNS:
                parts.append(self._vary(base, list(undone)))
        changes = np.concatenate(parts)
        numbers, lengths = (changes > 0).sum(axis=1), self.space.measure(changes)
        own = self.space.measure(change[None])[0]
        smaller = (numbers < len(columns)) | ((numbers == len(columns)) & (lengths < own))
        changes, order = changes[smaller], np.lexsort([lengths[smaller], numbers[smaller]])
        exchanged: Places = changes[order]
        return exchanged

    def _vary(self, base: Places, columns: list[int]) -> Places:
        """A change with values of some more columns."""
        grid = np.array(list(product(*(self._thin(column, EXCHANGED_VALUES) for column in columns))))
        changes = np.repeat(base[None], len(grid), axis=0)
        changes[:, columns] = grid
        return changes

    def _try_nearer(self) -> None:
        """Try all changes of as many columns as the best change that are nearer, the nearest first."""
        for columns in self._list_open()[:1]:
            length, size = self.best[columns][0], len(columns)
            ladders = {
                column: np.arange(1, 1 + (self.space.distances[column][1:] < length).sum(), dtype=np.int32)
                for column in self._list_movable(size)
            }
            if _count_changes(np.array([len(own) for own in ladders.values()], np.intp), size) > MAX_GRID:
                continue
            listed = [self.space.keep_nearer(part, length) for part in self._enumerate(ladders, size)]
            changes = np.concatenate([self.none, *listed])
            changes = changes[np.argsort(self.space.measure(changes), kind="stable")]
            suffices, has_flip = len(changes) <= self.left, False
            for start in range(0, min(len(changes), self.left), CHUNK_ROWS):
                has_flip = bool(self._ask(changes[start : start + CHUNK_ROWS]).any())
                if has_flip:
                    break
            if has_flip or (suffices and not self.is_late):
                self.nearest.add(size)

    def _list_open(self) -> list[tuple[int, ...]]:
        """List the columns of changes that may not be the smallest, the best change first."""
        open_ones = [columns for columns in self.best if len(columns) not in self.exhausted]
        return sorted(open_ones, key=self._rank_columns)

    def _rank_columns(self, columns: tuple[int, ...]) -> tuple[int, float, tuple[int, ...]]:
        """Sort key of the change of some columns: fewest columns first, and then the nearest."""
        return len(columns), self.best[columns][0], columns

    def _step_closer(self, change: Places) -> Iterator[Places]:
        """Yield changes with nearer values, in one column each time."""
        for column in np.flatnonzero(change):
            count = change[column] - 1
            places = np.unique(np.linspace(1, count, min(count, TIGHTENED_VALUES)).astype(np.int32))
            closer = np.repeat(change[None], len(places), axis=0)
            closer[:, column] = places
            yield closer

    def _score(self, changes: Places) -> NDArray[np.float64]:
        """How close the model scores changes to flipping, (changes,); those beyond the budget come last."""
        return self._spend(changes, self.score, np.full(len(changes), -np.inf))

    def _ask(self, changes: Places, record: bool = True) -> Bools:
        """Ask the model about changes within the budget; keep the nearest flip for each set of columns."""
        flipped = self._spend(changes, self.flips, np.zeros(len(changes), np.bool_))
        if record:
            self._record(changes[flipped])
        return flipped

    def _spend(
        self, changes: Places, ask: Callable[[pd.DataFrame], NDArray[Answer]], answers: NDArray[Answer]
    ) -> NDArray[Answer]:
        """Fill in the answers to a question about changes, as far as the budget goes."""
        for start in range(0, min(len(changes), self.left), CHUNK_ROWS):
            part = changes[start : min(start + CHUNK_ROWS, self.left)]
            if self._look_at_clock():
                break
            answers[start : start + len(part)] = ask(self.space.make_rows(part))
            self.rows_asked += len(part)
        self.left = max(0, self.left - len(changes))
        return answers

    def _look_at_clock(self) -> bool:
        """Whether time is up; if so, end the budget of rows too."""
        if self.deadline.passed:
            self.left, self.is_late = 0, True
        return self.is_late

    def _record(self, changes: Places) -> None:
        lengths = self.space.measure(changes)
        for number in np.argsort(lengths, kind="stable"):
            columns = tuple(np.flatnonzero(changes[number]).tolist())
            if columns and lengths[number] < self.best.get(columns, (np.inf,))[0]:
                self.best[columns] = float(lengths[number]), changes[number]


def _keep_columns(change: Places, columns: list[int]) -> Places:
    """Undo a change in all columns but some."""
    kept = np.zeros_like(change)
    kept[columns] = change[columns]
    return kept


def _choose_best(
    changes: Places, scores: NDArray[np.float64], ladders: dict[int, NDArray[np.int32]]
) -> Places:
    """For each column the value of its ladder with which changes score best on average, (columns,)."""
    best = np.zeros(changes.shape[1], np.int32)
    for column, places in ladders.items():
        met = changes[:, column] == places[:, None]  # (places, changes)
        sums = np.where(met, scores, 0.0).sum(axis=1)
        means = np.where(met.any(axis=1), sums / np.maximum(met.sum(axis=1), 1), -np.inf)
        best[column] = places[int(means.argmax())]
    return best


def _count_changes(sizes: NDArray[np.intp], size: int) -> int:
    """Count the changes of `size` columns, given the number of other values of each."""
    counts = [1] + [0] * size  # of changes of 0, 1, … of the columns so far
    for own in sizes.tolist():
        for number in range(size, 0, -1):
            counts[number] += own * counts[number - 1]
    return counts[size]
