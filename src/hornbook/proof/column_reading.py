"""A network, or trees, as functions of the columns of a table, compared with their model before use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.explanations import Condition
from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.bounds import Bounds
from hornbook.proof.cells import CellGrid
from hornbook.proof.domain import Box, Domain, condition_cuts
from hornbook.proof.ensembles import TreeEnsemble
from hornbook.proof.network import Matrix, ReluNet, ScoreLink, Vector, unprovable
from hornbook.proof.pipeline import SCALING_TERMS, Preprocessing
from hornbook.proof.prover import LARGEST_SUM, Verdict, decide_region, refuse_difference
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, InputSpace, States
from hornbook.proof.trees import Forest, Leaves
from hornbook.randomness import Purpose, generator

Confirm: TypeAlias = Callable[[Vector], pd.DataFrame | None]
"""Asks the model about a row, and returns it if it is a witness."""

COMPARED_ROWS = 1024
"""Rows of each kind on which a reading is compared with its model: of the table, random, and at edges."""


class NetworkReading:
    """A network as a function of columns: boxes are bounded by their ends."""

    def __init__(
        self, predictor: Predictor, net: ReluNet, preprocessing: Preprocessing, columns: Sequence[str]
    ) -> None:
        self.predictor, self.preprocessing, self.columns = predictor, preprocessing, columns
        if net.weights[0].shape[1] != len(preprocessing.scale):
            raise unprovable(predictor, "it reads another number of columns than the table has")
        self.net, self.given = preprocessing.fold_into(net)
        self.is_compared = False

    def prepare(self, domain: Domain, conditions: tuple[Condition, ...]) -> None:
        """Compare the network with the model on rows of the domain, once."""
        if self.is_compared:
            return
        rng = generator(0, Purpose.MODEL_READING)
        uniform, ends = [], []
        for name, fill in zip(self.columns, self.preprocessing.fills.tolist(), strict=True):
            own = domain.intervals[name]
            if own.missing and np.isnan(fill):
                raise unprovable(
                    self.predictor, f"it takes missing values of {name!r} in a way that is not read"
                )
            numbers = rng.uniform(own.low, own.high, COMPARED_ROWS)
            missing = own.missing & (rng.random((2, COMPARED_ROWS)) < 0.2)
            uniform.append(np.where(missing[0], np.nan, np.round(numbers) if own.whole else numbers))
            corners = np.where(rng.random(COMPARED_ROWS) < 0.5, own.low, own.high)
            ends.append(np.where(missing[1], np.nan, corners))
        table = _table_values(domain, self.columns)
        values = np.concatenate([table, np.stack(uniform, axis=1), np.stack(ends, axis=1)])
        side = Bounds(self.net, self._space(domain.intervals), None, self.given, SCALING_TERMS)
        if max(sizes.max() for sizes in side.magnitudes) > LARGEST_SUM:
            raise unprovable(self.predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow")
        reading = side.evaluate_inputs(self.preprocessing.fill(values))
        compare_rows(self.predictor, self.columns, values, reading, side.link)
        self.is_compared = True

    def decide(
        self,
        box: Box,
        accepting: bool,
        started: float,
        deadline: float,
        confirm: Confirm,
    ) -> Verdict[pd.DataFrame] | None:
        """Decide whether the network is negative on a box (or, if not `accepting`, positive)."""
        space, region = self._space(box), self._region(box)
        net = self.net if accepting else self.net.negate()
        side = Bounds(net, space, region, self.given, SCALING_TERMS)

        def ask(states: States, shares: Vector | None) -> pd.DataFrame | None:
            low, high = (space.inputs[:, end, : len(self.columns)].diagonal() for end in (FALSE, TRUE))
            values = np.where(states == TRUE, high, low)
            if shares is not None:
                values = np.where(states == FALSE, np.clip(low + shares * (high - low), low, high), values)
            return confirm(np.where(states == UNKNOWN, np.nan, values))

        return decide_region(side, region, started, deadline, ask)

    def _space(self, box: Box) -> InputSpace:
        """The ends of each interval as states, false and true, and a missing value as unknown."""
        count, width = len(self.columns), len(self.preprocessing.scale)
        inputs = np.zeros((count, 3, width))
        for place, name in enumerate(self.columns):
            own = box[name]
            fill = self.preprocessing.fills[place]
            if own.has_numbers:
                inputs[place, FALSE, place], inputs[place, TRUE, place] = own.low, own.high
            inputs[place, UNKNOWN, place] = 0 if np.isnan(fill) else fill
            if place in self.preprocessing.indicators:
                inputs[place, UNKNOWN, count + self.preprocessing.indicators.index(place)] = 1
        return InputSpace(inputs=inputs, continuous=True)

    def _region(self, box: Box) -> Bools:
        region = np.zeros((len(self.columns), 3), np.bool_)
        for place, name in enumerate(self.columns):
            own = box[name]
            region[place] = own.has_numbers, own.missing, own.low < own.high
        return region


class TreeReading:
    """Trees as a function of columns: cells are told apart by their thresholds."""

    def __init__(
        self,
        predictor: Predictor,
        ensemble: TreeEnsemble,
        preprocessing: Preprocessing,
        columns: Sequence[str],
    ) -> None:
        self.predictor, self.ensemble, self.preprocessing, self.columns = (
            predictor,
            ensemble,
            preprocessing,
            columns,
        )
        self.layout: tuple[Domain, dict[str, set[float]]] | None = None

    def prepare(self, domain: Domain, conditions: tuple[Condition, ...]) -> None:
        """Lay out the cells of a domain that conditions do not divide; compare the trees with the model."""
        cuts = condition_cuts(conditions)
        if self.layout is not None:
            same = self.layout[0].intervals == domain.intervals
            if same and all(own <= self.layout[1].get(name, set()) for name, own in cuts.items()):
                return
            for name, own in self.layout[1].items():
                cuts[name] = cuts.get(name, set()) | own
        self.grid = CellGrid.of(domain, self.columns, self.ensemble, cuts, self.preprocessing)
        leaves = Leaves.of(self.ensemble, self.grid.space)
        self.accepting, self.rejecting = (
            Forest(each, self.grid.space, partial(self._decides, sign))
            for each, sign in ((leaves, True), (leaves.negate(), False))
        )
        rng = generator(0, Purpose.MODEL_READING)
        values = np.concatenate(
            [_table_values(domain, self.columns), self.grid.draw_edges(2 * COMPARED_ROWS, rng)]
        )
        states, inside = self.grid.locate(values)
        reading = self.accepting.evaluate(states[inside])
        compare_rows(self.predictor, self.columns, values[inside], reading, self.accepting.link)
        self.layout = domain, cuts

    def decide(
        self,
        box: Box,
        accepting: bool,
        started: float,
        deadline: float,
        confirm: Confirm,
    ) -> Verdict[pd.DataFrame] | None:
        """Decide whether the trees are negative on a box (or positive); None if it has no row."""
        region = self.grid.region(box)
        if not region.any(axis=1).all():
            return None
        side = self.accepting if accepting else self.rejecting

        def ask(states: States, shares: Vector | None) -> pd.DataFrame | None:
            return confirm(self.grid.space.show(states[None])[0])

        return decide_region(side, region, started, deadline, ask)

    def _decides(self, sign: bool, states: States) -> Bools:
        rows = pd.DataFrame(self.grid.space.show(states), columns=list(self.columns))
        decided: Bools = self.predictor.decide_rows(self.predictor.read(rows)) == sign
        return decided


def compare_rows(
    predictor: Predictor,
    columns: Sequence[str],
    values: Matrix,
    reading: tuple[Vector, Vector],
    link: ScoreLink,
) -> None:
    """Refuse a model whose scores or decisions about rows differ from what was read of it."""
    rows = pd.DataFrame(values, columns=list(columns))
    try:
        read = predictor.read(rows)
        scores, decided = predictor.score_rows(read).astype(np.float64), predictor.decide_rows(read)
    except HornbookError as error:
        raise unprovable(predictor, f"it cannot be asked: {error}") from error

    def describe(at: int) -> str:
        return ", ".join(f"{name}={number:.6g}" for name, number in zip(columns, values[at], strict=True))

    refuse_difference(predictor, link, (scores, decided), reading, describe)


def _table_values(domain: Domain, columns: Sequence[str]) -> Matrix:
    """Some rows of the table that are in the domain, (k, columns)."""
    rows = domain.rows[list(columns)].head(COMPARED_ROWS)
    values: Matrix = rows.to_numpy(np.float64, na_value=np.nan)
    inside = np.ones(len(values), np.bool_)
    for place, name in enumerate(columns):
        own, numbers = domain.intervals[name], values[:, place]
        inside &= np.where(np.isnan(numbers), own.missing, (numbers >= own.low) & (numbers <= own.high))
    return values[inside]
