"""The prover: decides, for all inputs of a domain at once, whether a model obeys a rule.

A model is read as functions of its inputs, its sides: for each class one that is positive where another
class is ahead. Before anything is proved, they are compared with the model's own answers. A `ColumnProver`
is about rows of a table: a question is a body of conditions and a class. For a network each box of such
rows is bounded, with the ends of its intervals as states; for trees the states are cells. A proof holds
for the numbers between the ends of a column, whole numbers only where the column has only those; a witness
is a row that the model itself decided otherwise. A `RuleProver` is about interpretations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import Condition, shorten_cut
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.logic import Bools, Interpretation, Rule, Vocabulary, violation
from hornbook.models import Predictor, columns_with_missing
from hornbook.proof.bounds import Bounds
from hornbook.proof.domain import Box, ColumnRange, Domain, Interval, Levels, is_missing, list_levels
from hornbook.proof.ensembles import drops_zeros, read_ensemble, read_tree_contests
from hornbook.proof.forest import Leaves
from hornbook.proof.network import Vector, read_contests, refuse_difference, relu_net, unprovable
from hornbook.proof.pipeline import LevelInput, ValueInput, read_pipeline
from hornbook.proof.readings import NetworkReading, TreeReading, Wall
from hornbook.proof.region import CLIMB_STARTS, FALSE, TRUE, Space, States, Values, random_states
from hornbook.proof.search import BY_LOCAL_SEARCH, BY_VACUITY, Side, Verdict, decide_region
from hornbook.proof.votes import make_forest
from hornbook.queries import Groups, Judge, interpretation
from hornbook.randomness import Purpose, generator

PROOF_SECONDS = 60.0
"""Default time limit of a proof, in seconds."""

PROBES, PROBE_BLOCK = 4096, 2048
"""Number of random inputs on which a reading is compared with its model, and batch size."""

SHORTENED_SHARES = (0.05, 0.002)
"""How far a witness value may be rounded, as shares of its interval, tried in order."""


@overload
def make(predictor: Predictor, domain: Domain, seconds: float = PROOF_SECONDS) -> ColumnProver: ...


@overload
def make(predictor: Predictor, domain: Interpretations, seconds: float = PROOF_SECONDS) -> RuleProver: ...


def make(
    predictor: Predictor, domain: Domain | Interpretations, seconds: float = PROOF_SECONDS
) -> ColumnProver | RuleProver:
    """Make the prover of a model, which is compared with what was read of it, or refuse the model.

    Parameters
    ----------
    predictor
        The predictor of a `Subject`. Its model is a ReLU network of torch, ONNX or scikit-learn, a
        logistic regression, trees, forests and boosting of scikit-learn, XGBoost and LightGBM, a
        scikit-learn pipeline of `SimpleImputer`, `OneHotEncoder`, a scaler and one of these, perhaps with
        a `ColumnTransformer`.
    domain
        The rows in question, or the interpretations of a model that reads variables. Values are missing
        only where the model takes missing values.
    seconds
        Time limit of each question.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> from hornbook.models import Subject
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 30, 60, 70], "income": [10.0, 80, 20, 90]})
    >>> model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1])
    >>> prover = make(Subject.bind(model, rows).predictor, Domain.of(rows))
    >>> prover.prove([Threshold("income", 60)], outcome=1).status
    'proved'
    >>> prover.prove([Threshold("age", 40)], outcome=1).witness.to_dict("list")
    {'age': [60.0], 'income': [20.0]}

    """
    if seconds <= 0:
        raise HornbookError(f"a proof needs time; got seconds={seconds}")
    if isinstance(domain, Interpretations):
        return RuleProver(predictor, domain, seconds)
    return ColumnProver(predictor, domain, seconds)


@dataclass(frozen=True)
class Interpretations:
    """The interpretations that a proof is about.

    Parameters
    ----------
    vocabulary
        Their variables.
    groups
        Sets of variables that exclude each other.
    values
        Whether inputs may have unknown values; by default, if the model encodes them by a number.
    label, features
        For a classifier: the name of its label, and its input variables; see `Judge`.

    """

    vocabulary: Vocabulary
    groups: Groups = ()
    values: Values | None = None
    label: str | None = None
    features: Sequence[str] | None = None


class RuleProver:
    """Proves or refutes rules about a model that reads interpretations, each for all its inputs.

    Parameters
    ----------
    predictor
        The model, a feed-forward ReLU network or an ensemble of trees.
    domain
        The interpretations in question.
    seconds
        Time limit of each question.

    Examples
    --------
    >>> import torch
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.models import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = module[0].weight.copy_(torch.tensor([[-2.0, 2.0]])), module[0].bias.fill_(0.5)
    >>> theory = HornTheory.parse("sunny -> happy", Vocabulary(["sunny", "happy"]))
    >>> prover = RuleProver(as_predictor(module, encoding="half"), Interpretations(theory.vocabulary))
    >>> prover.prove_rule(*theory).status  # accepts 0.5 + 2·happy - 2·sunny > 0
    'proved'

    """

    def __init__(self, predictor: Predictor, domain: Interpretations, seconds: float = PROOF_SECONDS) -> None:
        self.predictor, self.domain, self.seconds = predictor, domain, seconds
        self.vocabulary = domain.vocabulary
        encoding = predictor.encoding
        native = encoding.unknown is not None and not np.isnan(encoding.unknown)
        values: Values = domain.values or ("ternary" if native else "complete")
        self.member = Judge(predictor, self.vocabulary, domain.label, domain.features)
        rows, read = self.member.rows, self.member.features
        self.places = {int(v): place for place, v in enumerate(rows)}
        grouped = tuple(tuple(self.places[v] for v in group if v in self.places) for group in domain.groups)
        predictor.check(read)
        self.space = Space.of(read, encoding, grouped, values)
        self.accepting, self.rejecting = self._read_sides()
        self._refuse_misreading()

    def _read_sides(self) -> tuple[Side, Side]:
        """Read the model as two functions: one is positive where it accepts, the other where it rejects."""
        ensemble = read_ensemble(self.predictor)
        if ensemble is None:
            net = relu_net(self.predictor)
            accepting = Bounds(net, self.space)
            accepting.refuse_overflow(self.predictor)
            return accepting, Bounds(net.negate(), self.space)
        leaves = Leaves.of(ensemble, self.space)
        return (
            make_forest(leaves, self.space, lambda states: self._decide_states(states)),
            make_forest(leaves.negate(), self.space, lambda states: ~self._decide_states(states)),
        )

    def _decide_states(self, states: States) -> Bools:
        """Whether the model decides for its positive class, (inputs,)."""
        return self.predictor.decide(self.space.batch(states))

    def _refuse_misreading(self) -> None:
        """Raise if the model's answer to some random input differs from what was read of it.

        Half of the inputs have uniformly random states; in each of the others some states are rare, so
        that nearly all values are true, or false, or unknown. Scores may differ by the rounding error,
        and decisions only where the score is that close to the threshold.
        """
        rng, space = generator(0, Purpose.MODEL_READING), self.space
        shares = np.concatenate([np.ones((PROBES // 2, 3)), rng.dirichlet(np.full(3, 0.3), PROBES // 2)])
        for part in np.split(shares[:, None], PROBES // PROBE_BLOCK):
            states = random_states(space, space.whole(), len(part), rng, part)
            batch = space.batch(states)
            try:
                answers = self.predictor(batch).astype(np.float64), self.predictor.decide(batch)
            except HornbookError as error:
                raise unprovable(self.predictor, f"it cannot be asked: {error}") from error
            link, reading = self.accepting.link, self.accepting.evaluate(states)
            refuse_difference(self.predictor, link, answers, reading, partial(self._describe, states))

    def _describe(self, states: States, at: int) -> str:
        values = {FALSE: "0", TRUE: "1"}
        names = [self.space.vocabulary.name(int(v)) for v in self.space.literals.drawn]
        own = zip(names, states[at].tolist(), strict=True)
        return ", ".join(f"{name}={values.get(state, '?')}" for name, state in own)

    def prove_rule(self, rule: Rule, seconds: float | None = None) -> Verdict[Interpretation]:
        """Prove that the model rejects every input that violates a rule, or refute it."""
        item = violation(rule)
        return self.prove_rejection(item.true, item.false, seconds)

    def prove_rejection(
        self, true: Iterable[int], false: Iterable[int], seconds: float | None = None
    ) -> Verdict[Interpretation]:
        """Prove or refute that the model rejects every input with these variables true and those false."""
        deadline = Deadline.after(self.seconds if seconds is None else seconds)
        item = interpretation(self.vocabulary, true, false)
        region = self.region(item)
        if region is None:
            return Verdict("proved", BY_VACUITY, -np.inf)
        label = self.member.label
        if label is not None and label not in item.true | item.false:  # which is never contradicted
            states = random_states(self.space, region, CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
            return Verdict("refuted", BY_LOCAL_SEARCH, witness=self.interpretation(item, states[0]))
        accepts = label is None or label in item.true

        def confirm(states: States, shares: Vector | None) -> Interpretation | None:
            is_witness = self._decide_states(states[None])[0] == accepts
            return self.interpretation(item, states) if is_witness else None

        verdict = decide_region(self.accepting if accepts else self.rejecting, region, deadline, confirm)
        return replace(verdict, needed=None)

    def interpretation(self, item: Interpretation, states: States) -> Interpretation:
        """Convert an input to an interpretation of the whole vocabulary, with the question's facts."""
        (read,) = self.space.batch(states[None])
        whole = {place: v for v, place in self.places.items()}
        true = item.true | {whole[place] for place in read.true}
        false = item.false | {whole[place] for place in read.false}
        return interpretation(self.vocabulary, true, false)

    def region(self, item: Interpretation) -> Bools | None:
        """Return the region of the inputs with these facts; None if it is empty."""
        if item.true & item.false:
            return None
        region = self._allowed_states(item)
        return region if region.any(axis=1).all() else None

    def _allowed_states(self, item: Interpretation) -> Bools:
        true, false = ({self.places[v] for v in part if v in self.places} for part in (item.true, item.false))
        return self.space.region(true, false)


class ColumnProver:
    """Proves or refutes that a model decides for a class on all rows that meet conditions; see `make`."""

    def __init__(self, predictor: Predictor, domain: Domain, seconds: float = PROOF_SECONDS) -> None:
        self.predictor, self.seconds = predictor, seconds
        if not self.predictor.encodes_as_tables:
            raise unprovable(self.predictor, "it reads variables, each with a number for ?, and not columns")
        self.columns = list_columns(self.predictor, domain.rows)
        inner, self.preprocessing = read_pipeline(self.predictor, len(self.columns))
        self.wall = Wall(self.predictor, self.columns, domain.rows)
        self.domain = self._narrow(domain)
        self.wall.refuse_inexact(self.domain)
        self.classes = count = self.wall.count
        trees = read_tree_contests(inner, count)
        self.reading: NetworkReading | TreeReading
        if trees is None:
            nets = read_contests(inner, count)
            self.reading = NetworkReading(self.wall, nets, self.preprocessing, self.domain)
        elif self.preprocessing.scales:
            raise unprovable(
                self.predictor, "its trees read columns that were scaled, which the prover does not support"
            )
        else:
            no_zeros = self.preprocessing.is_sparse and drops_zeros(inner)
            self.reading = TreeReading(self.wall, trees, self.preprocessing, self.domain, no_zeros)

    def prove(
        self,
        body: Sequence[Condition],
        outcome: int,
        excluded: Sequence[Sequence[Condition]] = (),
        seconds: float | None = None,
    ) -> Verdict[pd.DataFrame]:
        """Prove or refute that the model decides for a class on every row that meets a body.

        Of a proof, points are put to the model itself.

        Parameters
        ----------
        body
            What the rows meet.
        outcome
            The number of the class; of two classes 1 is the positive one.
        excluded
            Bodies that the rows do not meet, such as those of earlier rules.
        seconds
            The time limit.

        """
        verdict = self._answer(body, outcome, excluded, seconds, asks_model=True)
        if verdict.status == "proved" and not self.wall.check(self._list_boxes(body, excluded), int(outcome)):
            return Verdict.leave_open(self.wall.refusal)
        return verdict

    def try_to_prove(
        self,
        body: Sequence[Condition],
        outcome: int,
        excluded: Sequence[Sequence[Condition]] = (),
        seconds: float | None = None,
    ) -> Verdict[pd.DataFrame]:
        """The same for questions on the way to others: a proof is not put to the model; see `confirm`.

        Nor are the witnesses of trees, of which what was read of them is sure.
        """
        return self._answer(
            body, outcome, excluded, seconds, asks_model=isinstance(self.reading, NetworkReading)
        )

    def _answer(
        self,
        body: Sequence[Condition],
        outcome: int,
        excluded: Sequence[Sequence[Condition]],
        seconds: float | None,
        asks_model: bool,
    ) -> Verdict[pd.DataFrame]:
        """Prove or refute; `asks_model` says whether the model is asked about witnesses."""
        deadline = Deadline.after(self.seconds if seconds is None else seconds)
        try:
            boxes = self._list_boxes(body, excluded)
        except HornbookError as error:
            return Verdict.leave_open(str(error))
        verdicts = []
        for rival, box in product(reversed(range(self.classes - 1)), reversed(boxes)):
            verdict = self._decide(box, int(outcome), rival, deadline, asks_model)
            if verdict.status == "refuted":
                return verdict
            verdicts.append(verdict)
        verdict = combine(verdicts)
        if excluded or verdict.needed is None:  # rows may be ruled out by other bodies
            return replace(verdict, needed=None)
        columns = {self.columns[place] for place in verdict.needed}
        return replace(verdict, needed=frozenset(each for each in body if each.column in columns))

    def confirm(self, bodies: Sequence[Sequence[Condition]], outcome: int) -> bool:
        """Whether points of what was tried to prove are decided so by the model; else it is refused."""
        boxes = [box for body in bodies for box in self._list_boxes(body, ())]
        return self.wall.check(boxes, int(outcome))

    def _list_boxes(
        self, body: Sequence[Condition], excluded: Sequence[Sequence[Condition]]
    ) -> Sequence[Box]:
        if self.wall.refusal:
            raise HornbookError(self.wall.refusal)
        domain = self._keep_known_levels(self.domain.widen(body))
        self.wall.refuse_inexact(domain)
        boxes = domain.list_boxes(body, excluded)
        self.reading.prepare(domain)
        return boxes

    def _decide(
        self, box: Box, outcome: int, rival: int, deadline: Deadline, asks_model: bool
    ) -> Verdict[pd.DataFrame]:
        if not asks_model:
            return self.reading.decide(box, outcome, rival, deadline, lambda row: row)
        confirm = _Confirmation(self.wall, box, outcome)
        verdict = self.reading.decide(box, outcome, rival, deadline, confirm)
        if verdict.status != "undecided" or confirm.fraction is None:
            return verdict
        parts = []
        for smaller in _split_box(box, *confirm.fraction):
            parts.append(self._decide(smaller, outcome, rival, deadline, asks_model))
            if parts[-1].status == "refuted":
                return parts[-1]
        return combine(parts)

    def locate(self, rows: pd.DataFrame) -> States | None:
        """The cells of rows, (rows, columns), by which trees tell them apart; None for others."""
        if isinstance(self.reading, NetworkReading):
            return None
        states, inside = self.reading.grid.locate(rows)
        return states if inside.all() else None

    def decides_otherwise(self, states: States, outcome: int) -> Bools:
        """Whether trees clearly decide for another class about rows, by their cells; see `locate`."""
        other = np.zeros(len(states), np.bool_)
        if isinstance(self.reading, TreeReading):
            for rival in range(self.classes - 1):
                side = self.reading.side(outcome, rival)
                other |= side.evaluate(states)[0] > side.leaves.total.tolerance
        return other

    def list_cuts(self, column: str) -> list[float] | None:
        """List the numbers up to which trees tell the values of a column apart; None for a network."""
        if isinstance(self.reading, NetworkReading):
            return None
        ends = self.reading.grid.edges[self.columns.index(column)]
        return None if ends is None else ends[1:-1].tolist()

    def prove_monotone(
        self, column: str, outcome: int, seconds: float | None = None
    ) -> Verdict[pd.DataFrame]:
        """Prove or refute that a class is never lost where a column rises and the others stay.

        That is decided for trees of two classes. A witness is two rows, the lower one first.

        Parameters
        ----------
        column
            A column of numbers that the model reads.
        outcome
            The number of the class.
        seconds
            The time limit.

        """
        deadline = Deadline.after(self.seconds if seconds is None else seconds)
        reason = self.wall.refusal
        if not isinstance(self.reading, TreeReading) or self.wall.count > 2:
            reason = "monotonicity is proved of trees of two classes; of other models it is sampled"
        elif not isinstance(self.domain.ranges.get(column), Interval):
            reason = f"{column!r} is not a column of numbers that the model reads"
        if reason or not isinstance(self.reading, TreeReading):
            return Verdict.leave_open(reason)
        verdicts = []
        for verdict in self.reading.decide_monotone(column, outcome, deadline):
            if verdict.status == "refuted":
                return verdict
            verdicts.append(verdict)
        combined = combine(verdicts)
        if combined.status == "proved" and not self.wall.check_monotone(self.domain.ranges, column, outcome):
            return Verdict.leave_open(self.wall.refusal)
        return combined

    def _narrow(self, domain: Domain) -> Domain:
        """Narrow a domain to the columns that the model reads, and to the missing values that it takes."""
        taken = columns_with_missing(self.predictor, domain.rows)
        by_level = {each.column for each in self.preprocessing.inputs if isinstance(each, LevelInput)}
        by_number = {
            each.column: each.fill for each in self.preprocessing.inputs if isinstance(each, ValueInput)
        }
        ranges: dict[str, ColumnRange] = {}
        for place, name in enumerate(self.columns):
            own = domain.ranges.get(name)
            if place in by_level and isinstance(own, Interval):
                levels = list_levels(domain.rows[name])
                own = None if levels is None else Levels(levels, own.missing)
            no_numbers = not isinstance(own, Interval) or isinstance(by_number.get(place), str)
            if own is None or (place in by_number and no_numbers):
                raise unprovable(
                    self.predictor,
                    f"its column {name!r} has no numbers in the type {domain.rows.dtypes[name]}, and is not "
                    "read by its levels",
                )
            ranges[name] = replace(own, missing=own.missing and name in taken)
        return self._keep_known_levels(Domain(ranges, domain.rows))

    def _keep_known_levels(self, domain: Domain) -> Domain:
        """Leave out the levels on which the model fails."""
        ranges = dict(domain.ranges)
        for place, known in self.preprocessing.known_levels.items():
            own = ranges[self.columns[place]]
            if isinstance(own, Levels):
                values = tuple(value for value in own.values if value in known)
                ranges[self.columns[place]] = replace(own, values=values)
        return replace(domain, ranges=ranges)


def combine(verdicts: Sequence[Verdict[pd.DataFrame]]) -> Verdict[pd.DataFrame]:
    """Combine the verdicts about the parts of a question, none of which is refuted."""
    meaningful = [verdict for verdict in verdicts if not verdict.is_vacuous]
    if not meaningful:
        return Verdict("proved", BY_VACUITY, -np.inf)
    bound = max(verdict.bound for verdict in meaningful)
    for verdict in meaningful:
        if verdict.status == "undecided":
            return Verdict("undecided", verdict.by, bound, reason=verdict.reason)
    parts = [verdict.needed for verdict in verdicts if verdict.needed is not None]
    needed = frozenset().union(*parts) if len(parts) == len(verdicts) else None
    return Verdict("proved", meaningful[0].by, bound, needed=needed)


def list_columns(predictor: Predictor, frame: pd.DataFrame) -> list[str]:
    """List the columns of a table that a model reads, in its order."""
    columns = predictor.list_columns(list(frame.columns)) or list(frame.columns)
    if predictor.inputs not in (None, len(columns)):
        raise unprovable(predictor, f"it reads {predictor.inputs} columns, and the table has {len(columns)}")
    return columns


class _Confirmation:
    """Asks the model about rows of a box, and remembers a whole column in which a row has a fraction."""

    def __init__(self, wall: Wall, box: Box, outcome: int) -> None:
        self.wall, self.box, self.outcome = wall, box, outcome
        self.fraction: tuple[str, float] | None = None

    def __call__(self, row: pd.DataFrame) -> pd.DataFrame | None:
        """Confirm a row as a witness, with short numbers if the model decides alike about those."""
        values = _list_values(row)[0]
        rounded, fractions = dict(values), {}
        for name, own in self.box.items():
            number = values[name]
            if isinstance(own, Interval) and own.whole and not is_missing(number) and number % 1 > 0:
                fractions[name] = float(number)
                rounded[name] = float(np.round(number))
        tried = [*(self._shorten(values, share) for share in SHORTENED_SHARES), rounded]
        domain = Domain(self.box, self.wall.table)
        rows = domain.write(
            {name: self._list_column(name, [each[name] for each in tried]) for name in values}
        )
        inside = np.array([self._holds(each) for each in _list_values(rows)], np.bool_)
        if inside.any():
            rows = rows[inside].reset_index(drop=True)
            others = np.flatnonzero(~self.wall.decide(self.outcome, rows))
            if len(others):
                return rows.iloc[others[:1]].reset_index(drop=True)
        self.fraction = next(iter(fractions.items()), None)
        return None

    def _list_column(self, name: str, values: Sequence[Any]) -> NDArray[Any]:
        """Values of a column as an array, (k,): of doubles if they are numbers."""
        if isinstance(self.box[name], Interval):
            return np.array([math.nan if is_missing(value) else value for value in values], np.float64)
        listed = np.empty(len(values), object)
        listed[:] = values
        return listed

    def _holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a row is in the box."""
        return all(own.holds(values[name]) for name, own in self.box.items())

    def _shorten(self, values: Mapping[str, Any], share: float) -> dict[str, Any]:
        """Round the numbers of a row by up to a share of their intervals."""
        shortened = dict(values)
        for name, own in self.box.items():
            number = values[name]
            if not isinstance(own, Interval) or is_missing(number) or not own.low < own.high:
                continue
            if own.whole:
                shortened[name] = float(np.round(number))
                continue
            width = share * (own.high - own.low)
            middle = min(max(float(number), own.low + width), own.high - width)
            shortened[name] = shorten_cut(middle - width, middle + width)
        return shortened


def _list_values(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The values of each row, by column."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _split_box(box: Box, column: str, number: float) -> list[Box]:
    """Split a box at a fraction in a column of whole numbers."""
    own = box[column]
    if not isinstance(own, Interval):
        return [box]
    below, above = own.between(-math.inf, number), own.between(number, math.inf)
    return [{**box, column: part} for part in (below, above) if part.has_numbers]
