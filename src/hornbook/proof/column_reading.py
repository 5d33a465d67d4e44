"""A network, or trees, as functions of the columns of a table, compared with their model before use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd

from hornbook.deadline import Deadline
from hornbook.logic import Bools
from hornbook.proof.bounds import Bounds
from hornbook.proof.cells import CellGrid
from hornbook.proof.domain import Box, Domain, Interval, Levels, is_single
from hornbook.proof.ensembles import TreeEnsemble, ZeroReading
from hornbook.proof.forest import Forest, compare_states
from hornbook.proof.leaves import Leaves, NodeSplits, iterate_leaves
from hornbook.proof.network import SCORE_ROUNDING, SINGLE_ROUNDOFF, Contests, ReluNet, Vector, unprovable
from hornbook.proof.pipeline import SCALING_TERMS, Preprocessing, ValueInput
from hornbook.proof.prover import BY_BRANCHING, LARGEST_SUM, Verdict, decide_region
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, InputSpace, States
from hornbook.proof.votes import make_forest
from hornbook.proof.wall import COMPARED_ROWS, Wall
from hornbook.randomness import Purpose, generator

Confirm: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame | None]
"""Asks the model about a row, and returns it if it is a witness."""


class NetworkReading:
    """A network as a function of columns: boxes are bounded by their ends and levels."""

    def __init__(
        self,
        wall: Wall,
        contests: Contests[ReluNet],
        preprocessing: Preprocessing,
        columns: Sequence[str],
        domain: Domain,
    ) -> None:
        self.wall, self.preprocessing, self.columns = wall, preprocessing, columns
        if contests[0][0].weights[0].shape[1] != len(preprocessing.inputs):
            raise unprovable(wall.predictor, "it reads another number of columns than the table has")
        # a table of single precision is scaled, and may be multiplied, in single precision
        least = SINGLE_ROUNDOFF if any(map(is_single, domain.rows.dtypes[[*columns]])) else 0.0
        # the first layer is the same for all, and so are the magnitudes that scaling adds
        self.contests = tuple(
            tuple(replace(preprocessing.fold_into(net)[0], roundoff=max(net.roundoff, least)) for net in own)
            for own in contests
        )
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
        if max(sizes.max() for side in sides for sizes in side.magnitudes) > LARGEST_SUM:
            raise unprovable(
                self.wall.predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow"
            )
        readings = [side.evaluate_inputs(inputs) for side in sides]
        self.wall.compare(rows, readings, sides[0].link)

    def decide(
        self,
        box: Box,
        outcome: int,
        rival: int,
        deadline: Deadline,
        confirm: Confirm,
    ) -> Verdict[pd.DataFrame] | None:
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


class TreeReading:
    """Trees as a function of columns: cells are told apart by their thresholds."""

    def __init__(
        self,
        wall: Wall,
        contests: Contests[TreeEnsemble],
        preprocessing: Preprocessing,
        columns: Sequence[str],
        domain: Domain,
        zeros: ZeroReading | None = None,
    ) -> None:
        self.wall, self.contests = wall, contests
        self.preprocessing, self.columns, self.zeros = preprocessing, columns, zeros
        self._lay_out(domain)

    def prepare(self, domain: Domain) -> None:
        """Lay out cells again if a domain has levels that were unknown before."""
        if not self.grid.has_levels(domain):
            self._lay_out(self.grid.domain.join_levels(domain))

    def _lay_out(self, domain: Domain) -> None:
        """Divide the columns into cells, and compare the trees with the model."""
        trees = (tree for ensemble in self.contests[0] for tree in ensemble.trees)
        self.grid = CellGrid.of(domain, self.columns, trees, self.preprocessing, self.zeros)
        self._refuse_rounded_fills(domain)
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
    ) -> Verdict[pd.DataFrame] | None:
        """Decide whether a class is ahead of one of the others on a whole box; None if it has no row."""
        region = self.grid.region(box)
        if not region.any(axis=1).all():
            return None
        side = self.side(outcome, rival)

        def ask(states: States, shares: Vector | None) -> pd.DataFrame | None:
            return confirm(self.grid.show_within(states, box))

        return decide_region(side, region, deadline, ask)

    def _refuse_rounded_fills(self, domain: Domain) -> None:
        """Refuse trees that tell what an imputer fills in from what it is in single precision."""
        for source in self.preprocessing.inputs:
            name, edges = self.columns[source.column], self.grid.edges[source.column]
            if not isinstance(source, ValueInput) or edges is None or not domain.ranges[name].missing:
                continue
            if not is_single(domain.rows.dtypes[name]):
                continue
            exact, rounded = np.searchsorted(edges[1:-1], [source.fill, float(np.float32(source.fill))])
            if exact != rounded:
                raise unprovable(
                    self.wall.predictor,
                    f"its column {name!r} of the type {domain.rows.dtypes[name]} is filled in with a number "
                    "that single precision rounds across a threshold",
                )

    def decide_monotone(
        self, column: str, outcome: int, deadline: Deadline
    ) -> Iterator[Verdict[pd.DataFrame]]:
        """For each two neighbouring cells of a column, whether the higher one never loses a class of two."""
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
            found = change.search(deadline, change.may_lose)
            seconds = deadline.elapsed
            if found.best > 0 and found.states is not None:
                states: States = lower.argmax(axis=1)
                states[lower.sum(axis=1) > 1] = found.states
                shown = [self._show_state(states[None], place, state) for state in pair]
                witness = pd.concat(shown, ignore_index=True)
                yield Verdict("refuted", BY_BRANCHING, seconds, found.upper, witness)
            elif found.upper < 0:
                yield Verdict("proved", BY_BRANCHING, seconds, found.upper)
            else:
                reason = f"not decided in {deadline.limit:g} s"
                yield Verdict("undecided", BY_BRANCHING, seconds, found.upper, reason=reason)

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
            classes = outcome, rival + (rival >= outcome)
            tells_apart = partial(self._tells_apart, classes) if leaves.compares_shares else None
            is_other = partial(self._is_other, outcome)
            self.sides[outcome, rival] = make_forest(leaves, self.grid.space, is_other, tells_apart)
        return self.sides[outcome, rival]

    def _is_other(self, outcome: int, states: States) -> Bools:
        return ~self.wall.decide(outcome, self.grid.show(states))

    def _tells_apart(self, classes: tuple[int, int], states: States) -> Bools:
        """Whether the model's shares of two classes differ by more than rounding."""
        one, other = self.wall.score(self.grid.show(states))[:, classes].T
        differ: Bools = np.abs(one - other) > SCORE_ROUNDING * np.maximum(one, other)
        return differ
