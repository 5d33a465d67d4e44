"""What would change the decisions about many rows: a few actions, each of few columns.

An action sets columns to a value, or raises or lowers them to one; a row that is beyond it already stays as
it is. Steps are valued by random mixtures of them; the best are put together, column by column, and then
the actions that turn most rows between them are chosen, near ones first. Each is measured on rows that the
search has not seen.

References
----------
L. Kavouras and others. GLANCE: global actions in a nutshell for counterfactual explainability. 2024.

"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_float_dtype

from hornbook.code_book import CodeBook
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models import Subject
from hornbook.randomness import Purpose, generator
from hornbook.reasons.change_space import (
    DISTANCE_WORDS,
    NO_LIMITS,
    ChangeLimits,
    measure_distance_pairs,
    order_values,
)
from hornbook.reasons.changes import plain_cell, read_class
from hornbook.schema import also_writes
from hornbook.statistics import Share

STEP_VALUES, PROMISING_STEPS, COMPARED_ACTIONS = 12, 24, 48
"""Values that a column may go to in one direction; steps that are put together; actions that compete."""

DISTANCE_WEIGHT = 0.5
"""How much less it counts to turn a row by changing each column from end to end than by changing none."""

Steps: TypeAlias = tuple[int, ...]
"""An action by the numbers of its steps, in ascending order."""


@dataclass(frozen=True)
class ActionStep(Displayed):
    """A column that is set to a value (`direction` 0), raised to it if it is less (1), or lowered (-1).

    A value that is raised or lowered stays missing if it is. `order` has the values of a column of words.
    """

    column: str
    value: Any
    direction: int
    text: str
    order: tuple[Any, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.text

    def change(self, values: pd.Series[Any]) -> pd.Series[Any]:
        """Take the step with each value of the column."""
        if not self.direction:
            return pd.Series([self.value] * len(values), values.index, values.dtype, values.name)
        ranks = {value: rank for rank, value in enumerate(self.order)}
        numbers, goal = (values.map(ranks), ranks[self.value]) if ranks else (values, self.value)
        behind = (goal - numbers.astype(np.float64)) * self.direction > 0
        return values.mask(behind.to_numpy(), self.value)


@also_writes("text")
@dataclass(frozen=True)
class Action(Displayed):
    """Steps that are taken with every row alike.

    Parameters
    ----------
    steps
        The steps, each of another column.
    share
        The share of the held-out refused rows that it turns.
    distance
        How far it takes those, on average: see `distance` of the table; NaN if it turns none.

    """

    steps: tuple[ActionStep, ...]
    share: Share
    distance: float

    @property
    def text(self) -> str:
        """The action in words."""
        return " and ".join(step.text for step in self.steps)

    def change(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Take the action with each row."""
        return rows.assign(**{step.column: step.change(rows[step.column]) for step in self.steps})

    def __str__(self) -> str:
        far = f"; mean distance {self.distance:.2f}" if self.share.hits else ""
        return "\n   ".join([*textwrap.wrap(self.text, 76), f"turns {self.share}{far}"])


@also_writes(distance=lambda table: DISTANCE_WORDS)
@dataclass(frozen=True)
class ChangesTable(Displayed):
    """A few actions that turn most of the rows that a model refuses a class.

    Parameters
    ----------
    wished
        The class, in words.
    actions
        The actions, the one that does most first.
    together
        The share of the held-out refused rows that at least one of them turns.
    refused, rows
        How many rows of the table the model refuses the class, and how many there are.
    asked
        How many rows the search asked the model about.

    """

    wished: str
    actions: tuple[Action, ...]
    together: Share
    refused: int
    rows: int
    asked: int

    def __str__(self) -> str:
        refused = f"the model refuses {self.wished} to {self.refused:,} of {self.rows:,} rows"
        lines = [f"{refused}; figures are of {self.together.size:,} held-out ones"]
        lines += [f"{number}. {action}" for number, action in enumerate(self.actions, start=1)]
        if not self.actions:
            lines.append(f"no action was found among {self.asked:,} rows asked")
        elif len(self.actions) > 1:
            lines.append(f"one of them turns {self.together}")
        return "\n".join(lines)


def find_actions(
    subject: Subject,
    wished: Any = None,
    limits: ChangeLimits = NO_LIMITS,
    *,
    count: int = 3,
    max_columns: int = 3,
    max_rows: int = 200_000,
) -> ChangesTable:
    """Find the actions that turn most of the rows that a model refuses a class.

    Parameters
    ----------
    subject
        The model, bound to the rows; some of them are held out for measuring.
    wished, limits, count, max_columns, max_rows
        As for `hornbook.Explainer.changes_table`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 30, 60, 70] * 40, "income": [10.0, 80, 20, 90] * 40})
    >>> model = DecisionTreeClassifier().fit(rows, [0, 1, 0, 1] * 40)
    >>> subject = Subject.bind(model, rows, target="good", groups=range(160))
    >>> print(find_actions(subject, limits=ChangeLimits(fixed=("age",))))
    the model refuses good to 80 of 160 rows; figures are of 16 held-out ones
    1. income at least 80
       turns 100.00 % (95 % interval 79.41 % to 100.00 %); mean distance 0.46

    """
    if min(count, max_columns, max_rows) < 1:
        raise HornbookError(f"ask for an action, a column and a row; got {count}, {max_columns}, {max_rows}")
    if wished is None and len(subject.classes) > 2:
        raise HornbookError(f"say which class is wished for: {', '.join(subject.classes)}")
    goal = 1 if wished is None else read_class(subject, wished)
    teacher = subject.teacher
    refused = teacher.frame[teacher.labels(teacher.frame) != goal]
    search = ActionSearch(subject, goal, limits, refused, max_columns, max_rows)
    is_judged = teacher.labels(subject.held_out) != goal
    judged, units = subject.held_out[is_judged], subject.held_out_units[is_judged]
    some, actions = np.zeros(len(judged), np.bool_), []
    for chosen in search.find(count):
        action = Action(tuple(search.steps[number] for number in chosen), Share.of(0, 0), math.nan)
        turned = teacher.labels(action.change(judged)) == goal
        far = sum(search.measure(step, judged[turned]) for step in action.steps)
        distance = float(np.mean(far)) if turned.any() else math.nan
        actions.append(replace(action, share=Share.where(turned, units), distance=distance))
        some |= turned
    sizes = len(refused) + len(judged), len(teacher.frame) + len(subject.held_out)
    return ChangesTable(
        subject.classes[goal], tuple(actions), Share.where(some, units), *sizes, search.rows_asked
    )


class ActionSearch:
    """The search for actions that turn some of the refused rows to a class, by its number."""

    def __init__(
        self,
        subject: Subject,
        goal: int,
        limits: ChangeLimits,
        refused: pd.DataFrame,
        max_columns: int,
        max_rows: int,
    ) -> None:
        self.subject, self.goal, self.rows_asked = subject, goal, 0
        self.max_columns, self.max_rows = max_columns, max_rows
        self.rng = generator(subject.seed, Purpose.CHANGE_SEARCH)
        some = self.rng.permutation(len(refused))[: max(16, max_rows // 2000)]
        self.rows, frame = refused.iloc[np.sort(some)], subject.teacher.frame
        limits = limits.fit_to(frame, subject.words)
        movable = [name for name in subject.teacher.columns if name not in limits.fixed]
        own: dict[Any, list[ActionStep]] = {
            name: [*list_steps(frame[name], subject.words, limits.direction(name))] for name in movable
        }
        self.steps = [step for name in movable for step in own[name]]
        self.columns = np.repeat([frame.columns.get_loc(name) for name in movable], [*map(len, own.values())])
        self.places = np.concatenate([[], *(1 + np.arange(len(steps)) for steps in own.values())])
        self.pools: dict[
            Any, pd.Series[Any]
        ] = {  # the rows' values of a column, and those after each of its steps
            name: pd.concat([self.rows[name], *(step.change(self.rows[name]) for step in own.get(name, ()))])
            for name in frame
        }
        far = [self.measure(step, self.rows) for step in self.steps]
        self.lengths = np.array(far).reshape(-1, len(self.rows))  # (steps, rows)

    def measure(self, step: ActionStep, rows: pd.DataFrame) -> NDArray[np.float64]:
        """How far a step takes each row."""
        known, values = self.subject.teacher.frame[step.column].dropna(), rows[step.column]
        return measure_distance_pairs(values, step.change(values), known, self.subject.words)

    def find(self, count: int) -> list[Steps]:
        """Find `count` actions; in each round others are made for the rows that are left."""
        pool: list[Steps] = []
        chosen: list[Steps] = []
        for turn in range(count):
            left = np.flatnonzero(self._value(chosen).max(axis=0, initial=0.0) == 0)
            if not len(left) or not self.steps or self.rows_asked > self.max_rows:
                break
            pool += self._combine(left)[:COMPARED_ACTIONS]
            chosen = self._choose(pool, turn + 1)
        return self._choose(self._refine(self._choose(pool, count)), count)

    def _combine(self, rows: NDArray[np.intp]) -> list[Steps]:
        """Put the most promising steps for some rows together; the actions that turn any, the best first."""
        promise = self._rate_steps(rows)
        best = np.argsort(-promise, kind="stable")[:PROMISING_STEPS].tolist()
        level: list[Steps] = [()]
        gains: dict[Steps, float] = {}
        for _ in range(self.max_columns):
            several = product(level[:PROMISING_STEPS], best)
            level = list({
                tuple(sorted((*action, number))): None
                for action, number in several
                if self.columns[number] not in self.columns[list(action)]
            })  # fmt: skip
            gains |= dict(zip(level, self._value(level, rows).sum(axis=1).tolist(), strict=True))
            level.sort(key=lambda action: (-gains[action], -promise[list(action)].sum()))
        return sorted((action for action, gain in gains.items() if gain), key=lambda own: -gains[own])

    def _rate_steps(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """How much more often rows turn in random mixtures of steps if a step is among them, (steps,)."""
        size = max(512, self.max_rows // 16)
        owners, density = self.rng.choice(rows, size), self.rng.choice([0.15, 0.3, 0.6], size)
        taken = np.zeros((len(self.steps), size), np.bool_)
        for column in np.unique(self.columns):
            changed = np.flatnonzero(self.rng.random(size) < density)
            taken[self.rng.choice(np.flatnonzero(self.columns == column), len(changed)), changed] = True
        mixed = self._change(taken, owners)
        scores = self.subject.teacher.measure_support(mixed, self.goal)
        merit = self._ask(mixed) + scores.argsort(kind="stable").argsort(kind="stable") / size
        promise: NDArray[np.float64] = taken @ (merit - merit.mean()) / np.maximum(taken.sum(axis=1), 1)
        ranks = np.zeros(len(promise), np.intp)  # among the steps of the column
        for column in np.unique(self.columns):
            ranks[self.columns == column] = (-promise[self.columns == column]).argsort().argsort()
        return np.where(ranks < 4, promise, -np.inf)

    def _value(self, actions: Sequence[Steps], rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """How much each action does for each row: 0 if it does not turn it, less than 1 if it is far."""
        rows = np.arange(len(self.rows)) if rows is None else rows
        if not actions:
            return np.zeros((0, len(rows)))
        taken = np.zeros((len(self.steps), len(actions)), np.bool_)
        for number, action in enumerate(actions):
            taken[list(action), number] = True
        changed = self._change(np.repeat(taken, len(rows), axis=1), np.tile(rows, len(actions)))
        far = taken.T @ self.lengths[:, rows] / self.max_columns
        return np.where(self._ask(changed).reshape(far.shape), 1 - DISTANCE_WEIGHT * far, 0.0)

    def _change(self, taken: Bools, owners: NDArray[np.intp]) -> pd.DataFrame:
        """Build changed rows: the steps that each takes, (steps, rows), and the refused row it comes from."""
        columns: dict[Any, pd.Series[Any]] = {}
        for place, (name, pool) in enumerate(self.pools.items()):
            own = self.columns == place
            picked = (self.places[own] @ taken[own] * len(self.rows) + owners).astype(np.intp)
            columns[name] = pool.iloc[picked].reset_index(drop=True)
        return pd.DataFrame(columns)

    def _ask(self, rows: pd.DataFrame) -> Bools:
        """Whether the model decides rows as wished."""
        self.rows_asked += len(rows)
        turned: Bools = self.subject.teacher.labels(rows) == self.goal
        return turned

    def _choose(self, actions: list[Steps], count: int) -> list[Steps]:
        """Choose the actions that do most together: one by one, and then exchanged as long as that helps."""
        gains = self._value(actions)
        chosen: list[int] = []
        for _ in range(3 * count if actions else 0):
            rest = chosen if len(chosen) < count else chosen[1:]
            done = gains[rest].max(axis=0, initial=0.0)
            totals = np.maximum(gains, done).sum(axis=1)
            if totals.max() > done.sum():
                chosen = [*rest, int(totals.argmax())]
        return [actions[number] for number in sorted(chosen, key=lambda own: -gains[own].sum())]

    def _refine(self, chosen: list[Steps]) -> list[Steps]:
        """Exchange single steps for others of their column, or none, as long as all do more together."""
        for place in 2 * list(range(len(chosen))):
            others = self._value(chosen[:place] + chosen[place + 1 :]).max(axis=0, initial=0.0)
            for column in self.columns[list(chosen[place])]:
                rest = [number for number in chosen[place] if self.columns[number] != column]
                same = [[number] for number in np.flatnonzero(self.columns == column).tolist()]
                tried = [chosen[place], *(tuple(sorted(rest + own)) for own in [*same, []] if rest + own)]
                totals = np.maximum(self._value(tried), others).sum(axis=1)
                chosen[place] = tried[int(totals.argmax())]
        return chosen


def list_steps(values: pd.Series[Any], book: CodeBook, direction: int) -> Iterator[ActionStep]:
    """List the steps that a column may take, in one direction only if it is limited to that."""
    name, known = str(values.name), values.dropna()
    label, numbers = book.label(name), order_values(known, book)
    if numbers is None or (known.nunique() == 2 and not direction):
        for value in known.value_counts().index[: 2 * STEP_VALUES].map(plain_cell):
            yield ActionStep(name, value, 0, f"{label} = {book.name_value(name, value)}")
        return
    ranked = known.iloc[np.argsort(numbers.to_numpy(), kind="stable")]
    places = np.linspace(0, 1, STEP_VALUES + 2) if known.nunique() > 2 else np.array([0.0, 1.0])
    some = ranked.iloc[np.unique((places * (len(ranked) - 1)).astype(np.intp))]
    if is_float_dtype(some) and not book.words(name).whole:
        some = some.map(lambda value: float(f"{value:.4g}")).clip(known.min(), known.max())
    listed = some.unique().tolist()
    for sign, word, own in ((1, "at least", listed[1:]), (-1, "at most", listed[:-1])):
        for value in own if direction in (0, sign) else ():
            text = f"{label} {word} {book.name_value(name, value)}"
            yield ActionStep(name, value, sign, text, book.words(name).order)
