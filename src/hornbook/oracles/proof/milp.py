"""The same question as a mixed-integer program, solved by HiGHS.

Each base variable has a binary for being true and one for being unknown, each unit of open sign a
binary for being on, with big-M constraints from the ranges at hand. The output is the objective;
the solver stops as soon as its sign is decided.

HiGHS works within tolerances, so its bound counts only with `MARGIN` to spare, beside the model's
own rounding.

References
----------
V. Tjeng, K. Xiao, R. Tedrake. Evaluating Robustness of Neural Networks with Mixed Integer
Programming, ICLR 2019.

"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hornbook.logic.bits import Bools
from hornbook.logic.rule import Bottom, Rule
from hornbook.oracles.adapters.libraries import library
from hornbook.oracles.proof.bounds import Bounds
from hornbook.oracles.proof.cells import Cells
from hornbook.oracles.proof.found import Found
from hornbook.oracles.proof.region import FALSE, TRUE, UNKNOWN, States

MARGIN = 1e-4
"""What is asked of a bound of HiGHS beyond rounding: a hundred times the tolerance on integrality."""


def solve(
    bounds: Bounds,
    root: Cells,
    tolerance: float,
    seconds: float,
    start: States | None = None,
    rules: Iterable[Rule] | None = None,
) -> Found:
    """Bound the output over a region until its sign is decided.

    Parameters
    ----------
    bounds
        The network and its inputs.
    root
        The inputs in question, as a cell with ranges.
    tolerance
        What a bound has to be below 0 by, beside `MARGIN`.
    seconds
        The time limit.
    start
        An input to begin with.
    rules
        Only inputs count that some completion satisfying these rules extends.

    """
    highspy = library("highspy", "proof")
    program = _Program(bounds, root)
    if rules is not None:
        program.satisfy(rules)
    highs = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("time_limit", max(seconds, 0.1)),
        ("threads", 1),
        ("mip_feasibility_tolerance", 1e-6),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", MARGIN / 10),
        ("objective_target", -1e-6),
    ):
        highs.setOptionValue(option, value)
    highs.passModel(program.model(highspy))
    least = tolerance + MARGIN
    _stop_when_decided(highs, highspy, least)
    if start is not None:
        _begin_with(highs, highspy, program.point(start))
    highs.run()
    return _found(highs, highspy, bounds, program, tolerance)


class _Program:
    """The columns and rows of the program."""

    def __init__(self, bounds: Bounds, root: Cells) -> None:
        self.bounds, self.region = bounds, root.regions[0]
        region = self.region
        self.cost: list[float] = []
        self.range: list[tuple[float, float]] = []
        self.integer: list[bool] = []
        self.rows: list[tuple[float, float, list[int], list[float]]] = []
        count = bounds.space.count
        self.true = [self._binary(*_span(region[u], TRUE)) for u in range(count)]
        self.unknown = [self._binary(*_span(region[u], UNKNOWN)) for u in range(count)]
        self._states()
        self.units: list[list[int]] = []
        self.sums: list[list[int]] = []
        self._network(root)
        self.completion: list[int] | None = None

    def column(self, low: float, high: float, cost: float = 0.0, integer: bool = False) -> int:
        self.range.append((low, high))
        self.cost.append(cost)
        self.integer.append(integer)
        return len(self.range) - 1

    def row(self, low: float, high: float, terms: Iterable[tuple[int, float]]) -> None:
        terms = [(column, value) for column, value in terms if value]
        self.rows.append((low, high, [column for column, _ in terms], [value for _, value in terms]))

    def _binary(self, low: float, high: float) -> int:
        return self.column(low, high, integer=True)

    def _states(self) -> None:
        for u in range(self.bounds.space.count):
            free_of_false = float(not self.region[u, FALSE])
            self.row(free_of_false, 1, [(self.true[u], 1), (self.unknown[u], 1)])
        for members in self.bounds.space.groups:
            self.row(-np.inf, 1, [(self.true[u], 1) for u in members])
            for u in members:
                for other in members:
                    if u != other:
                        self.row(-np.inf, 1, [(self.true[u], 1), (self.unknown[other], 1)])

    def _network(self, root: Cells) -> None:
        bounds, net = self.bounds, self.bounds.net
        for layer in range(net.depth):
            last = layer == net.depth - 1
            above, outputs = [], []
            for unit in range(len(net.biases[layer])):
                low, high = -np.inf, np.inf
                if not last:
                    place = bounds.layers[layer].start + unit
                    low, high = float(root.low[0, place]), float(root.high[0, place])
                if not last and high <= 0:
                    above.append(-1)
                    outputs.append(-1)
                    continue
                total = self.column(low, high, 1.0 if last else 0.0)
                constant, terms = self._terms(layer, unit)
                self.row(constant, constant, [(total, 1.0), *((c, -value) for c, value in terms)])
                above.append(total)
                outputs.append(total if last or low >= 0 else self._rectified(total, low, high))
            self.sums.append(above)
            self.units.append(outputs)

    def _terms(self, layer: int, unit: int) -> tuple[float, list[tuple[int, float]]]:
        """What a sum is made of: a constant, and columns with their weights."""
        bias = float(self.bounds.net.biases[layer][unit])
        if layer:
            weights = self.bounds.net.weights[layer][unit]
            below = self.units[layer - 1]
            return bias, [(c, float(w)) for c, w in zip(below, weights, strict=True) if c >= 0]
        effects = self.bounds.effects[:, :, unit]
        terms = []
        for u in range(self.bounds.space.count):
            terms.append((self.true[u], float(effects[u, TRUE] - effects[u, FALSE])))
            terms.append((self.unknown[u], float(effects[u, UNKNOWN] - effects[u, FALSE])))
        return bias + float(effects[:, FALSE].sum()), terms

    def _rectified(self, total: int, low: float, high: float) -> int:
        """The ReLU of a sum of open sign."""
        on = self._binary(0, 1)
        value = self.column(0, high)
        self.row(0, np.inf, [(value, 1.0), (total, -1.0)])
        self.row(-np.inf, 0, [(value, 1.0), (on, -high)])
        self.row(-np.inf, -low, [(value, 1.0), (total, -1.0), (on, -low)])
        return value

    def satisfy(self, rules: Iterable[Rule]) -> None:
        """Add a completion of the input that satisfies the rules."""
        literals = self.bounds.space.literals
        whole: dict[int, tuple[int, bool]] = {}
        for u, v in enumerate(literals.drawn.tolist()):
            completed = self._binary(0, 1)
            self.row(0, np.inf, [(completed, 1.0), (self.true[u], -1.0)])
            self.row(-np.inf, 0, [(completed, 1.0), (self.true[u], -1.0), (self.unknown[u], -1.0)])
            whole[v] = (completed, True)
        for u, v in zip(literals.paired.tolist(), literals.duals.tolist(), strict=True):
            whole[v] = (whole[int(literals.drawn[u])][0], False)
        for rule in rules:
            terms, least = [], 1.0
            heads = () if isinstance(rule.head, Bottom) else (rule.head,)
            for v, wanted in (*((v, False) for v in rule.body), *((v, True) for v in heads)):
                column, direct = whole[v]
                sign = 1.0 if wanted == direct else -1.0
                least -= sign < 0
                terms.append((column, sign))
            self.row(least, np.inf, _merged(terms))

    def model(self, highspy: Any) -> Any:
        """The program as HiGHS takes it; the output is maximised."""
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.cost), len(self.rows)
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = np.array(self.cost)
        lp.col_lower_, lp.col_upper_ = np.array(self.range).T.copy()
        lp.row_lower_ = np.array([row[0] for row in self.rows])
        lp.row_upper_ = np.array([row[1] for row in self.rows])
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kInteger if each else kinds.kContinuous for each in self.integer]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.cumsum([0, *(len(row[2]) for row in self.rows)])
        lp.a_matrix_.index_ = np.array([column for row in self.rows for column in row[2]])
        lp.a_matrix_.value_ = np.array([value for row in self.rows for value in row[3]])
        return lp

    def point(self, states: States) -> tuple[list[int], list[float]]:
        """The input columns and their values at an input."""
        columns = [*self.true, *self.unknown]
        return columns, [*(states == TRUE).astype(float), *(states == UNKNOWN).astype(float)]

    def states(self, values: list[float]) -> States:
        """The input at a solution."""
        true, unknown = (np.round([values[c] for c in columns]) for columns in (self.true, self.unknown))
        return np.where(true > 0, TRUE, np.where(unknown > 0, UNKNOWN, FALSE))


def _span(allowed: Bools, state: int) -> tuple[float, float]:
    """The range of the binary of a state."""
    return float(allowed[state] and allowed.sum() == 1), float(allowed[state])


def _merged(terms: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """One term a column; a variable and its dual share theirs."""
    total: dict[int, float] = {}
    for column, value in terms:
        total[column] = total.get(column, 0.0) + value
    return list(total.items())


def _stop_when_decided(highs: Any, highspy: Any, least: float) -> None:
    """Interrupt the solver once its bound is low enough."""

    def look(event: Any) -> None:
        if event.data_out.mip_dual_bound < -least:
            event.interrupt()

    highs.cbMipInterrupt += look


def _begin_with(highs: Any, highspy: Any, point: tuple[list[int], list[float]]) -> None:
    columns, values = point
    highs.setSolution(len(columns), np.array(columns, np.int32), np.array(values))


def _found(highs: Any, highspy: Any, bounds: Bounds, program: _Program, tolerance: float) -> Found:
    info, status = highs.getInfo(), highs.getModelStatus()
    nodes = max(int(info.mip_node_count), 0)
    if status == highspy.HighsModelStatus.kInfeasible:
        return Found(-np.inf, -np.inf, None, nodes)
    upper = float(info.mip_dual_bound) + tolerance + MARGIN
    ended = status == highspy.HighsModelStatus.kOptimal
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return Found(upper, -np.inf, None, nodes, ended)
    states = program.states(list(highs.getSolution().col_value))
    return Found(upper, float(bounds.outputs(states[None])[0]), states, nodes, ended)
