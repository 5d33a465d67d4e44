"""Networks and trees as functions of the columns of a table, and the wall between them and their model.

What is read of a model is another function than the model until both were compared. So the model is
asked about rows as the user's table has them, in its types, with its missing values: before the first
verdict, at corners and points of whatever is proved, and at each witness. Where it says anything else
than was read, nothing is said about it any more.

A network reads the numbers between two ends of a column. Trees tell values apart by cells, which are the
intervals between their thresholds, by levels, and by a missing value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import shorten_cut
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.bounds import Bounds
from hornbook.proof.domain import Box, ColumnRange, Domain, Interval, Levels
from hornbook.proof.ensembles import TreeEnsemble, TreeNodes
from hornbook.proof.forest import Forest, Leaves, NodeSplits, compare_states, iterate_leaves
from hornbook.proof.network import (
    Contests,
    Matrix,
    ReluNet,
    ScoreLink,
    Vector,
    refuse_difference,
    unprovable,
)
from hornbook.proof.pipeline import SCALING_TERMS, Preprocessing, ValueInput
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, InputSpace, Numbers, States
from hornbook.proof.search import BY_BRANCHING, BY_VACUITY, Verdict, decide_region
from hornbook.proof.votes import make_forest
from hornbook.randomness import Purpose, generator

COMPARED_ROWS = 1024
"""Rows of each kind on which a reading is compared with its model: of the table, random, and at edges."""

CHECKED_ROWS, CHECKED_BOXES = 128, 16
"""Approximate number of rows asked about for each proof, and the most boxes that they come from."""

LARGEST_EXACT = 2.0**53
"""From here on some whole numbers are not doubles, so that models round them in ways of their own."""

SPOKEN_TYPES = {"float64", "bool", "boolean", "object"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""Types of columns that the prover supports, with or without a missing value of their own, sparse or dense.

Beside these there are categories and words.
"""


class Wall:
    """Asks a model about rows in the table's own form, and refuses it where it is not what was read.

    Parameters
    ----------
    predictor
        The model; of two classes it decides for the second.
    columns
        The columns that it reads.
    table
        Rows of the user's table, which show its form.

    """

    def __init__(self, predictor: Predictor, columns: Sequence[str], table: pd.DataFrame) -> None:
        self.predictor, self.columns, self.table = predictor, columns, table
        self.kinds = dict(zip(map(str, table.columns), table.dtypes, strict=True))
        is_pair = predictor.classes is None or predictor.positive is not None
        self.count = 2 if is_pair else len(predictor.classes or ())
        """The number of classes."""
        self.refusal = ""
        """Why nothing is said about the model any more; empty while it is what was read."""
        for name in columns:
            if not _is_spoken(kind := self.kinds[name]):
                hint = "; make it float64" if str(kind).lower() == "float32" else ""
                raise unprovable(
                    self.predictor,
                    f"its column {name!r} is of the type {kind}, which the prover does not support{hint}",
                )

    def decide(self, outcome: int, rows: pd.DataFrame) -> Bools:
        """Whether the model decides for a class about rows in the table's form."""
        read = self.predictor.read(rows)
        if self.count == 2:
            numbers: NDArray[Any] = self.predictor.decide_rows(read)
        else:
            numbers = self.predictor.classify_rows(read)
        decided: Bools = numbers == outcome
        return decided

    def score(self, rows: pd.DataFrame) -> Matrix:
        """The model's score of each class for rows in the table's form, (rows, classes)."""
        return self.predictor.score_classes(self.predictor.read(rows)).astype(np.float64)

    def refuse_inexact(self, domain: Domain) -> None:
        """Refuse a domain with whole numbers that are not doubles."""
        for name in self.columns:
            own = domain.ranges[name]
            if not isinstance(own, Interval) or not own.has_numbers or self.kinds[name].kind not in "iu":
                continue
            if max(abs(own.low), abs(own.high)) >= LARGEST_EXACT:
                raise unprovable(
                    self.predictor,
                    f"its column {name!r} of the type {self.kinds[name]} has numbers beyond 2**53, "
                    "which models round in ways of their own",
                )

    def join_table(self, domain: Domain, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of the table that are in a domain, and further rows, in the table's form."""
        table = self.table[list(self.columns)].head(COMPARED_ROWS)
        parts = table[domain.contains(table)], rows
        joined = {
            name: np.concatenate([part[name].astype(object).to_numpy() for part in parts])
            for name in self.columns
        }
        return domain.write(joined)

    def compare(self, rows: pd.DataFrame, readings: Sequence[tuple[Vector, Vector]], link: ScoreLink) -> None:
        """Refuse a model whose scores or decisions about rows differ from what was read of it.

        A reading is how far each class but the first is ahead of the first, and how far off the model may
        be. Without a scale in the link these are differences of probabilities, with one of log-odds.
        """
        if not len(rows):
            raise unprovable(self.predictor, "there is no row in the domain about which it can be asked")
        try:
            read = self.predictor.read(rows)
            if self.count == 2:
                answers = self.predictor.score_rows(read).astype(np.float64), self.predictor.decide_rows(read)
            else:
                scores, numbers = self.score(rows).T, self.predictor.classify_rows(read)
        except HornbookError as error:
            raise unprovable(self.predictor, f"it cannot be asked: {error}") from error

        def describe(at: int) -> str:
            return _describe_row(rows.iloc[[at]])

        if self.count == 2:
            refuse_difference(self.predictor, link, answers, readings[0], describe)
            return
        ahead = np.stack([np.zeros(len(rows)), *(outputs for outputs, _ in readings)])  # (classes, rows)
        off = np.sum([off for _, off in readings], axis=0)
        if link.scale:
            powers = np.exp(ahead - ahead.max(axis=0))
            shares = powers / powers.sum(axis=0)
        else:
            shares = ahead + (1 - ahead.sum(axis=0)) / len(ahead)
        top = ahead.argmax(axis=0)
        second, first = np.sort(ahead, axis=0)[-2:]
        clear = first - second > 2 * off + link.tolerance
        wrong = ~(np.abs(scores - shares) <= link.allowance(shares, 4 * off))  # (classes, rows)
        wrong |= clear & (
            (numbers == np.arange(self.count)[:, None]) != (top == np.arange(self.count)[:, None])
        )
        if wrong.any():
            number, at = (int(place) for place in np.argwhere(wrong)[0])
            score, share = scores[number, at], shares[number, at]
            raise unprovable(
                self.predictor,
                f"it does not compute what was read of it: class {number} gets {score:.6g} where "
                f"{share:.6g} was read, for {describe(at)}",
            )

    def check(self, boxes: Sequence[Box], outcome: int) -> bool:
        """Whether the model decides for a class at corners and points of boxes; else it is refused."""
        boxes = boxes[:: -(-len(boxes) // CHECKED_BOXES) or 1]
        if not boxes:
            return True
        rows = self._draw(boxes).drop_duplicates()
        return self._accept(lambda: ~self.decide(outcome, rows), rows)

    def check_monotone(self, box: Box, column: str, outcome: int) -> bool:
        """Whether the model keeps a class where a column rises, at points of a box; else it is refused."""
        rows = self._draw([box])
        ordered = rows[column].sort_values(ignore_index=True)
        half = len(rows) // 2
        lower, higher = rows.head(half).copy(), rows.head(half).copy()
        lower[column] = ordered.head(half)
        higher[column] = ordered.tail(half).reset_index(drop=True)
        known = higher[column].notna().to_numpy(np.bool_)
        return self._accept(
            lambda: known & self.decide(outcome, lower) & ~self.decide(outcome, higher), higher
        )

    def _draw(self, boxes: Sequence[Box]) -> pd.DataFrame:
        """Random rows of boxes, half of them corners."""
        rng = generator(0, Purpose.MODEL_READING)
        domain = Domain(boxes[0], self.table)
        return domain.draw(boxes, self.columns, CHECKED_ROWS // len(boxes), rng)

    def _accept(self, find_contrary: Callable[[], Bools], rows: pd.DataFrame) -> bool:
        """Whether no row is contrary to what was proved; else the model is refused from now on."""
        try:
            contrary = find_contrary()
        except HornbookError as error:
            self.refusal = str(unprovable(self.predictor, f"it cannot be asked: {error}"))
            return False
        if contrary.any():
            row = _describe_row(rows.iloc[[int(contrary.argmax())]])
            why = f"it does not decide as was proved of what was read of it, for {row}"
            self.refusal = str(unprovable(self.predictor, why))
        return not contrary.any()


def _is_spoken(kind: Any) -> bool:
    """Whether the prover supports columns of a type."""
    if isinstance(kind, pd.CategoricalDtype | pd.StringDtype):
        return True
    return str(getattr(kind, "subtype", kind)).lower() in SPOKEN_TYPES


def _describe_row(row: pd.DataFrame) -> str:
    """A row in words, with its missing values as they are written."""
    values = row.astype(object).iloc[0].items()
    return ", ".join(f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
                     for name, value in values)  # fmt: skip


Confirm: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame | None]
"""Asks the model about a row, and returns it if it is a witness."""


class NetworkReading:
    """A network as a function of columns: boxes are bounded by their ends and levels."""

    def __init__(
        self,
        wall: Wall,
        contests: Contests[ReluNet],
        preprocessing: Preprocessing,
        domain: Domain,
    ) -> None:
        self.wall, self.preprocessing, self.columns = wall, preprocessing, wall.columns
        if contests[0][0].weights[0].shape[1] != len(preprocessing.inputs):
            raise unprovable(wall.predictor, "it reads another number of columns than the table has")
        # the first layer is the same for all, and so are the magnitudes that scaling adds
        self.contests = tuple(tuple(preprocessing.fold_into(net)[0] for net in own) for own in contests)
        self.given = preprocessing.fold_into(contests[0][0])[1]
        self.domain = domain
        self.compare(domain)

    def prepare(self, domain: Domain) -> None:
        """Nothing has to be prepared: boxes are bounded whatever the domain."""

    def compare(self, domain: Domain) -> None:
        """Compare the network with the model on rows of a domain."""
        for source in self.preprocessing.inputs:
            name = self.columns[source.column]
            if domain.ranges[name].missing and np.isnan(source.encode(domain.missing_value(name))):
                raise unprovable(
                    self.wall.predictor,
                    f"it takes missing values of {name!r} in a way that the prover does not support",
                )
        rng = generator(0, Purpose.MODEL_READING)
        drawn = domain.draw([domain.ranges], self.columns, 2 * COMPARED_ROWS, rng)
        rows = self.wall.join_table(domain, drawn)
        space, inputs = self._space(domain.ranges), self.preprocessing.encode(rows)
        sides = [Bounds(net, space, None, self.given, SCALING_TERMS) for net in self.contests[0]]
        for side in sides:
            side.refuse_overflow(self.wall.predictor)
        readings = [side.evaluate_inputs(inputs) for side in sides]
        self.wall.compare(rows, readings, sides[0].link)

    def decide(
        self,
        box: Box,
        outcome: int,
        rival: int,
        deadline: Deadline,
        confirm: Confirm,
    ) -> Verdict[pd.DataFrame]:
        """Decide whether a class is ahead of one of the others on a whole box."""
        space, region = self._space(box), self._region(box)
        side = Bounds(self.contests[outcome][rival], space, region, self.given, SCALING_TERMS)
        domain = Domain(box, self.domain.rows)

        def ask(states: States, shares: Vector | None) -> pd.DataFrame | None:
            numbers = np.full(len(self.columns), np.nan)
            for place, name in enumerate(self.columns):
                own, state = box[name], states[place]
                if state > TRUE:
                    numbers[place] = state - TRUE - 1
                elif isinstance(own, Interval) and state != UNKNOWN:
                    share = 1.0 if state == TRUE else 0.0 if shares is None else shares[place]
                    numbers[place] = np.clip(own.low + share * (own.high - own.low), own.low, own.high)
            return confirm(domain.decode(numbers[None], self.columns))

        return decide_region(side, region, deadline, ask)

    def _space(self, box: Box) -> InputSpace:
        """The states of each column: the ends of its interval, a missing value, and levels.

        Between the ends an input moves in proportion to the number.
        """
        levels = [own.values if isinstance(own, Levels) else () for own in map(box.get, self.columns)]
        inputs = np.zeros((len(levels), 3 + max(map(len, levels)), len(self.preprocessing.inputs)))
        for at, source in enumerate(self.preprocessing.inputs):
            own, place = box[self.columns[source.column]], source.column
            if isinstance(own, Interval) and own.has_numbers:
                inputs[place, FALSE, at], inputs[place, TRUE, at] = map(source.encode, (own.low, own.high))
            if own.missing:
                missing = self.domain.missing_value(self.columns[place])
                inputs[place, UNKNOWN, at] = source.encode(missing)
            for state, value in enumerate(levels[place], start=TRUE + 1):
                inputs[place, state, at] = source.encode(value)
        return InputSpace(inputs=inputs, continuous=True)

    def _region(self, box: Box) -> Bools:
        counts = [len(own.values) if isinstance(own, Levels) else 0 for own in map(box.get, self.columns)]
        region = np.zeros((len(self.columns), 3 + max(counts)), np.bool_)
        for place, name in enumerate(self.columns):
            own = box[name]
            if isinstance(own, Interval):
                region[place, [FALSE, TRUE]] = own.has_numbers, own.low < own.high
            region[place, UNKNOWN] = own.missing
            region[place, TRUE + 1 : TRUE + 1 + counts[place]] = True
        return region


SHOWN, VALID = 0, 1
"""Indices of a state's numbers: the value or the number of the level, and whether the state exists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CellSpace(InputSpace):
    """Columns whose states are cells, in ascending order, or levels, and at last a missing value.

    `inputs` holds, for each column and state, a number of the cell to show in a row, or the number of
    the level, and whether the state exists: columns have different numbers of cells. `routed` holds
    the number that trees compare, for each of their inputs and each state of its column.
    """

    owners: tuple[int, ...]
    routed: Numbers  # (inputs of the trees, states)

    def whole(self) -> Bools:
        """The region of all inputs."""
        exists: Bools = self.inputs[:, :, VALID] > 0
        return exists

    def column_states(self, column: int) -> tuple[int, Vector]:
        """The column that decides an input of the trees, and the input in each of its states."""
        return self.owners[column], self.routed[column]


@dataclass(frozen=True, eq=False)
class CellGrid:
    """The cells or levels of every column, which no tree divides, whatever the question.

    Parameters
    ----------
    domain
        The domain; its levels are those of the grid, and its numbers are shown where a cell has some.
    columns
        The columns in the order in which the model reads them.
    edges
        For each column, the ends of its cells, from -inf to inf: a cell holds the numbers above one and
        up to the next. None for a column of levels.
    space
        The cells and levels as states.

    """

    domain: Domain
    columns: tuple[str, ...]
    edges: tuple[Vector | None, ...]
    space: CellSpace
    masks: dict[tuple[int, ColumnRange], Bools] = field(default_factory=dict, repr=False)
    """The states that a range of a column holds, for the ranges of earlier questions."""

    @classmethod
    def of(
        cls,
        domain: Domain,
        columns: Sequence[str],
        trees: Iterable[TreeNodes],
        preprocessing: Preprocessing,
        no_zeros: bool = False,
    ) -> CellGrid:
        """Divide the columns at the cuts of the trees and, if trees take it for a missing value, at zero."""
        cuts = _list_cuts(trees, preprocessing, no_zeros, len(columns))
        edges: list[Vector | None] = []
        values: list[list[Any]] = []
        for name, own in zip(columns, cuts, strict=True):
            interval = domain.ranges[name]
            if isinstance(interval, Levels):
                edges.append(None)
                values.append(list(interval.values))
                continue
            ends = np.array([-math.inf, *sorted(cut for cut in own if math.isfinite(cut)), math.inf])
            known = np.unique(domain.rows[name].dropna().to_numpy(np.float64))
            edges.append(ends)
            values.append([_choose_number(interval, *pair, known) for pair in pairwise(ends.tolist())])
        states = max(map(len, values)) + 1
        inputs = np.full((len(columns), states, 2), np.inf)
        inputs[:, :, VALID] = 0
        for place, (name, own_values) in enumerate(zip(columns, values, strict=True)):
            is_level = edges[place] is None
            inputs[place, : len(own_values), SHOWN] = range(len(own_values)) if is_level else own_values
            inputs[place, : len(own_values), VALID] = 1
            inputs[place, -1] = np.nan, domain.ranges[name].missing
        routed = np.full((len(preprocessing.inputs), states), np.inf)
        for place, source in enumerate(preprocessing.inputs):
            numbers = [source.encode(value) for value in values[source.column]]
            routed[place, : len(numbers)] = numbers
            name = columns[source.column]
            if domain.ranges[name].missing:
                routed[place, -1] = source.encode(domain.missing_value(name))
        if no_zeros:
            routed[routed == 0] = np.nan
        owners = tuple(source.column for source in preprocessing.inputs)
        space = CellSpace(inputs=inputs, owners=owners, routed=routed)
        return cls(domain, tuple(columns), tuple(edges), space)

    def has_levels(self, domain: Domain) -> bool:
        """Whether every level of a domain is a state of this grid."""
        for name in self.columns:
            own, every = domain.ranges[name], self.domain.ranges[name]
            if isinstance(own, Levels) and isinstance(every, Levels) and not {*own.values} <= {*every.values}:
                return False
        return True

    def region(self, box: Box) -> Bools:
        """The states of the rows in a box, (columns, states)."""
        return np.stack([self._column_region(place, box[name]) for place, name in enumerate(self.columns)])

    def _column_region(self, place: int, own: ColumnRange) -> Bools:
        """The states of a column for which a range holds a value, (states,)."""
        if (place, own) in self.masks:
            return self.masks[place, own]
        mask = np.zeros(self.space.inputs.shape[1], np.bool_)
        every, edges = self.domain.ranges[self.columns[place]], self.edges[place]
        if isinstance(own, Interval) and edges is not None:
            low = np.maximum(np.nextafter(edges[:-1], np.inf), own.low)
            high = np.minimum(edges[1:], own.high)
            if own.whole:
                low, high = np.ceil(low), np.floor(high)
            mask[: len(low)] = low <= high
        elif isinstance(own, Levels) and isinstance(every, Levels):
            mask[: len(every.values)] = [value in own.values for value in every.values]
        mask[-1] = own.missing
        self.masks[place, own] = mask
        return mask

    def locate(self, rows: pd.DataFrame) -> tuple[States, Bools]:
        """Find the states of rows, (k, columns), and the rows whose values all have one."""
        states = np.full((len(rows), len(self.columns)), self.space.inputs.shape[1] - 1)
        inside = np.ones(len(rows), np.bool_)
        takes_missing = self.space.whole()[:, -1]
        cut = [name for name, ends in zip(self.columns, self.edges, strict=True) if ends is not None]
        numbers = dict(zip(cut, rows[cut].to_numpy(np.float64, na_value=np.nan).T, strict=True))
        for place, (name, ends) in enumerate(zip(self.columns, self.edges, strict=True)):
            own = self.domain.ranges[name]
            if ends is not None:
                known = ~np.isnan(numbers[name])
                state = np.searchsorted(ends[1:-1], numbers[name][known])
            elif isinstance(own, Levels):
                known = rows[name].notna().to_numpy(np.bool_)
                state = pd.Index(own.values, dtype=object).get_indexer(rows[name].astype(object)[known])
            states[known, place] = np.maximum(state, 0)
            inside[known] &= state >= 0
            inside[~known] &= takes_missing[place]
        return states, inside

    def draw_edges(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw rows of the domain with numbers at the ends of cells, just above one or at the next."""
        columns = []
        region = self.region(self.domain.ranges)
        for place, (name, ends) in enumerate(zip(self.columns, self.edges, strict=True)):
            own, cells = self.domain.ranges[name], np.flatnonzero(region[place, :-1])
            if not len(cells):
                columns.append(np.full(size, np.nan))
                continue
            numbers = cells[rng.integers(len(cells), size=size)].astype(np.float64)
            if isinstance(own, Interval) and ends is not None:
                chosen = numbers.astype(np.intp)
                low, high = np.nextafter(ends[chosen], np.inf), ends[chosen + 1]
                numbers = np.clip(np.where(rng.random(size) < 0.5, low, high), own.low, own.high)
            if region[place, -1]:
                numbers = np.where(rng.random(size) < 0.2, np.nan, numbers)
            columns.append(numbers)
        return self.domain.decode(np.stack(columns, axis=1), self.columns)

    def show(self, states: States) -> pd.DataFrame:
        """A row for each input, with values of the table where its cells have some."""
        shown: Matrix = self.space.inputs[np.arange(self.space.count), states, SHOWN]
        return self.domain.decode(shown, self.columns)

    def show_within(self, states: States, box: Box) -> pd.DataFrame:
        """The row for an input, (columns,), with numbers of a box."""
        numbers = self.space.inputs[np.arange(self.space.count), states, SHOWN].copy()
        for place, name in enumerate(self.columns):
            own, ends = box[name], self.edges[place]
            if not isinstance(own, Interval) or ends is None or math.isnan(numbers[place]):
                continue
            if not own.low <= numbers[place] <= own.high:
                known = np.unique(self.domain.rows[name].dropna().to_numpy(np.float64))
                low, high = ends[states[place]], ends[states[place] + 1]
                numbers[place] = _choose_number(own, float(low), float(high), known)
        return self.domain.decode(numbers[None], self.columns)


def _list_cuts(
    trees: Iterable[TreeNodes], preprocessing: Preprocessing, no_zeros: bool, columns: int
) -> list[set[float]]:
    """For each column the numbers up to which trees tell its values apart."""
    cuts: list[set[float]] = [set() for _ in range(columns)]
    for tree in trees:
        for place, cut in zip(tree.column.tolist(), tree.cut.tolist(), strict=True):
            if place >= 0 and isinstance(source := preprocessing.inputs[place], ValueInput):
                cuts[source.column].add(cut)
    for source in preprocessing.inputs:
        if no_zeros and isinstance(source, ValueInput):
            cuts[source.column] |= {math.nextafter(0.0, -math.inf), 0.0}
    return cuts


def _choose_number(interval: Interval, low: float, high: float, known: Vector) -> float:
    """Choose a number above one end and up to another: of the interval, and of the table if there is one."""
    least, most = interval.snap(max(math.nextafter(low, math.inf), interval.low), min(high, interval.high))
    if least > most:  # no number of the interval: the cell is in no question about it
        return high if math.isfinite(high) else math.nextafter(low, math.inf)
    first, last = np.searchsorted(known, least), np.searchsorted(known, most, side="right")
    if first < last:
        return float(known[(first + last) // 2])
    if interval.whole or least == most:
        return most
    return shorten_cut(least, most)


class TreeReading:
    """Trees as a function of columns: cells are told apart by their thresholds."""

    def __init__(
        self,
        wall: Wall,
        contests: Contests[TreeEnsemble],
        preprocessing: Preprocessing,
        domain: Domain,
        no_zeros: bool = False,
    ) -> None:
        self.wall, self.contests = wall, contests
        self.preprocessing, self.columns, self.no_zeros = preprocessing, wall.columns, no_zeros
        self._lay_out(domain)

    def prepare(self, domain: Domain) -> None:
        """Lay out cells again if a domain has levels that were unknown before."""
        if not self.grid.has_levels(domain):
            self._lay_out(self.grid.domain.join_levels(domain))

    def _lay_out(self, domain: Domain) -> None:
        """Divide the columns into cells, and compare the trees with the model."""
        trees = (tree for ensemble in self.contests[0] for tree in ensemble.trees)
        self.grid = CellGrid.of(domain, self.columns, trees, self.preprocessing, self.no_zeros)
        self.sides: dict[tuple[int, int], Forest] = {}
        rng = generator(0, Purpose.MODEL_READING)
        compared = self.wall.join_table(domain, self.grid.draw_edges(2 * COMPARED_ROWS, rng))
        states, inside = self.grid.locate(compared)
        sides = [self.side(0, rival) for rival in range(len(self.contests[0]))]
        readings = [side.evaluate(states[inside]) for side in sides]
        self.wall.compare(compared[inside], readings, sides[0].link)

    def decide(
        self,
        box: Box,
        outcome: int,
        rival: int,
        deadline: Deadline,
        confirm: Confirm,
    ) -> Verdict[pd.DataFrame]:
        """Decide whether a class is ahead of one of the others on a whole box."""
        region = self.grid.region(box)
        if not region.any(axis=1).all():
            return Verdict("proved", BY_VACUITY, -math.inf)
        side = self.side(outcome, rival)

        def ask(states: States, shares: Vector | None) -> pd.DataFrame | None:
            return confirm(self.grid.show_within(states, box))

        return decide_region(side, region, deadline, ask)

    def decide_monotone(
        self, column: str, outcome: int, deadline: Deadline
    ) -> Iterator[Verdict[pd.DataFrame]]:
        """Decide for each two neighbouring cells of a column whether a class is never lost upwards."""
        place = list(self.columns).index(column)
        ensemble, splits = self.contests[outcome][0], NodeSplits(self.grid.space)
        leaves_of = [list(iterate_leaves(tree, splits)) for tree in ensemble.trees]
        whole = self.grid.region(self.grid.domain.ranges)
        for pair in pairwise(np.flatnonzero(whole[place, :-1]).tolist()):
            is_lost = partial(self._is_lost, outcome, place, pair)
            change = compare_states(ensemble, leaves_of, splits, place, pair, is_lost)
            if change is None:
                continue
            lower, higher = whole.copy(), whole.copy()
            lower[place], higher[place] = (np.arange(whole.shape[1]) == state for state in pair)
            behind = self.side(outcome, 0).restrict_to(higher)
            ahead = self.side(1 - outcome, 0).restrict_to(lower)
            change = change.restrict_to(lower)
            change.sides = behind, ahead
            search = change.search(deadline, change.may_lose)
            if search.best > 0 and search.states is not None:
                states: States = lower.argmax(axis=1)
                states[lower.sum(axis=1) > 1] = search.states
                shown = [self._show_state(states[None], place, state) for state in pair]
                witness = pd.concat(shown, ignore_index=True)
                yield Verdict("refuted", BY_BRANCHING, search.upper, witness)
            elif search.upper < 0:
                yield Verdict("proved", BY_BRANCHING, search.upper)
            else:
                reason = f"not decided in {deadline.limit:g} s"
                yield Verdict("undecided", BY_BRANCHING, search.upper, reason=reason)

    def _is_lost(self, outcome: int, place: int, pair: tuple[int, int], states: States) -> Bools:
        """Whether the model decides for a class at the lower state of a column, and not at the higher."""
        low, high = (self.wall.decide(outcome, self._show_state(states, place, state)) for state in pair)
        lost: Bools = low & ~high
        return lost

    def _show_state(self, states: States, place: int, state: int) -> pd.DataFrame:
        """Rows for inputs, with another state of one column."""
        moved = states.copy()
        moved[:, place] = state
        return self.grid.show(moved)

    def side(self, outcome: int, rival: int) -> Forest:
        """The trees whose output is positive where a class is behind one of the others."""
        if (outcome, rival) not in self.sides:
            leaves = Leaves.of(self.contests[outcome][rival], self.grid.space)
            self.sides[outcome, rival] = make_forest(
                leaves,
                self.grid.space,
                lambda states: ~self.wall.decide(outcome, self.grid.show(states)),
            )
        return self.sides[outcome, rival]
