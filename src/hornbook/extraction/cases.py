"""Cases of a model that are asked about: levels of columns as rows, and answers within limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import BudgetExhausted, HornbookError
from hornbook.logic import Batch, Bools
from hornbook.models import Subject
from hornbook.models.calls import RemoteModel
from hornbook.queries import Budget, World
from hornbook.queries.envelope import MAX_CASES
from hornbook.queries.reader import Reader
from hornbook.randomness import Purpose, generator

if TYPE_CHECKING:
    from hornbook.queries import Binariser

MAX_LEVELS = 100
"""The most values of a column whose values are levels."""

FIRST_BLOCK = 4
"""Questions of the first block; the time of later ones, which double, says how long all of them take."""

Tell: TypeAlias = Callable[[str], None]
"""Is called with what the run is about to do, in words."""

Propose: TypeAlias = Callable[[list[str]], Batch]
"""Gives cases that may break rules in words."""


@dataclass(frozen=True, eq=False)
class LevelWorld:
    """The columns of a classifier whose every value is a level, and its classes, as a world of cases.

    A case says a level of each column, or none for an unknown one, and a class, or none. The classifier
    accepts a case without a class, and one with the class that it decides for.

    Parameters
    ----------
    binariser
        Makes a variable of each level and of each class; the classes come last.
    target
        What the classifier predicts.

    Examples
    --------
    >>> rows = pd.DataFrame({"job": ["nurse", "boxer"]})
    >>> levels = LevelWorld.of(rows, "pronoun", ("she", "he"))
    >>> levels.world.vocabulary.names
    ('job=boxer', 'job=nurse', 'pronoun=he', 'pronoun=she')
    >>> levels.make_rows(np.array([[0], [1], [2]]))["job"].tolist()
    [None, 'boxer', 'nurse']

    """

    binariser: Binariser
    target: str

    @classmethod
    def of(cls, frame: pd.DataFrame, target: str, classes: Sequence[str]) -> LevelWorld:
        """The values that occur in each column of a frame, and the classes in words."""
        if target in frame:
            raise HornbookError(
                f"{target!r} is predicted, and is a column of the rows too; name it otherwise"
            )
        columns = {str(name): pd.Series(values.dropna().unique()) for name, values in frame.items()}
        for name, distinct in columns.items():
            if len(distinct) > MAX_LEVELS:
                raise HornbookError(
                    f"column {name!r} has {len(distinct):,} values, and levels are at most "
                    f"{MAX_LEVELS}: leave it out or merge some"
                )
        columns[target] = pd.Series(list(classes))
        values = pd.DataFrame(columns)  # shorter columns are filled with missing values
        kinds = dict.fromkeys(columns, "categorical")
        widest = max(map(len, columns.values()))
        from hornbook.queries import Binariser  # needs scikit-learn, which takes a second to import

        return cls(Binariser(kinds=kinds, max_levels=max(widest, 1)).fit(values), target)  # type: ignore[arg-type]

    @cached_property
    def world(self) -> World:
        """All cases; those of a row stand side by side."""
        return World(self.binariser.vocabulary_, self.binariser.groups_)

    @cached_property
    def _levels(self) -> dict[str, tuple[Any, ...]]:
        """The levels of each column, in the order of the variables."""
        levels: dict[str, tuple[Any, ...]] = {}
        for condition in self.binariser.conditions_:
            levels[condition.column] = (*levels.get(condition.column, ()), *condition.named_values)
        return levels

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the order of their variables."""
        return self._levels[self.target]

    def find_proposals(self, model: Any, reader: Reader) -> Propose | None:
        """How a model that speaks proposes cases; None of others."""
        if not isinstance(model, RemoteModel):
            return None
        columns = list(self._levels)
        return lambda rules: reader.batch(pd.DataFrame(model.propose(rules), columns=columns, dtype=object))

    def make_rows(self, digits: NDArray[np.intp]) -> pd.DataFrame:
        """Rows with the levels of cases, None for an unknown one; `digits` have one for each column."""
        columns = {}
        for (name, levels), values in zip(self._levels.items(), digits.T, strict=False):
            by_digit = np.empty(len(levels) + 1, object)
            by_digit[1:] = levels
            columns[name] = by_digit[values]
        return pd.DataFrame(columns, index=range(len(digits)), dtype=object)


@dataclass(eq=False)
class AskedCases:
    """A model that is asked about cases, within limits on answers and time, and about none twice.

    Parameters
    ----------
    world
        All cases.
    width
        How many digits of a case make a question; cases that differ in the others share an answer.
    ask
        The model's answers to questions.
    accept
        Which cases are accepted, given their digits and the answers to their questions.
    budget
        The limits; its seconds count from now.
    max_cases
        The most cases that are all asked about.

    Attributes
    ----------
    asked
        How many answers the model gave.

    """

    world: World
    width: int
    ask: Callable[[NDArray[np.intp]], Bools]
    accept: Callable[[NDArray[np.intp], Bools], Bools]
    budget: Budget
    max_cases: int = MAX_CASES
    asked: int = 0

    def __post_init__(self) -> None:
        self.deadline = Deadline.after(self.budget.seconds)
        self.share = 1.0  # of the limits, that may be used
        self._answers: dict[bytes, Bools] = {}
        self._seconds = 0.0  # that an answer took, at the last block

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` at a limit."""
        digits = self.world.read_digits(batch)
        return self.accept(digits, self._answer(digits[:, : self.width]))

    @property
    def size(self) -> int:
        """The number of questions that there are."""
        return math.prod(self.world.shape[: self.width])

    def ask_all(self, seed: int, tell: Tell | None) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` if asking takes too long."""
        if len(self.world) > self.max_cases:
            raise BudgetExhausted(f"{len(self.world):,} cases are more than {self.max_cases:,}")
        self._refuse_beyond(self.size)
        digits = self.world.list_digits()
        questions = digits[:: len(digits) // self.size, : self.width]
        order = generator(seed, Purpose.EVALUATION_ORDER).permutation(self.size)
        start, block = 0, FIRST_BLOCK
        while start < self.size:
            self._answer(questions[order[start : start + block]])
            start, block = start + block, 2 * block
            needed = self._seconds * max(0, self.size - start)
            if block > 2 * FIRST_BLOCK and needed > self.deadline.left:  # the first answers take longer
                raise BudgetExhausted(f"{self.size:,} answers take about {needed:,.0f} s more")
            if tell is not None:
                tell(f"{min(start, self.size):,} of {self.size:,} answers, about {needed:,.0f} s more")
        answers = np.repeat(self._answer(questions), len(digits) // self.size, axis=0)
        return self.accept(digits, answers)

    def _answer(self, questions: NDArray[np.intp]) -> Bools:
        """The answers to questions; those that are known are not asked again."""
        keys = [question.tobytes() for question in questions]
        new = {key: place for place, key in enumerate(keys) if key not in self._answers}
        left = list(new.items())
        while left:
            size = len(left)
            if self.budget.seconds is not None:  # so that the limit is noticed
                size = int(0.1 * self.deadline.left / self._seconds) if self._seconds else FIRST_BLOCK
            part, left = left[: max(1, size)], left[max(1, size) :]
            self._refuse_beyond(len(part))
            clock = Stopwatch()
            answers = self.ask(questions[[place for _, place in part]])
            self._seconds = clock.elapsed / len(part)
            self.asked += len(part)
            self._answers.update(zip((key for key, _ in part), answers, strict=True))
        return np.stack([self._answers[key] for key in keys])

    def _refuse_beyond(self, answers: int) -> None:
        """Refuse more answers than are left, and any once the time is up."""
        most, seconds = self.budget.membership_queries, self.budget.seconds
        if most is not None and self.asked + answers > self.share * most:
            raise BudgetExhausted(f"budget of {most:,} answers of the model")
        if seconds is not None and self.deadline.left <= (1 - self.share) * seconds:
            raise BudgetExhausted(f"budget of {seconds:g} seconds")


def complete_columns(rows: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with all columns of the table in its types; columns that the model does not read have no value."""
    complete = rows.reindex(columns=frame.columns)
    return pd.DataFrame({name: _cast(complete[name], frame[name]) for name in frame.columns})


def _cast(levels: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Levels in the type of a column; of whole numbers, which have no missing ones, as floats."""
    if pd.api.types.is_integer_dtype(column.dtype) and not pd.api.types.is_extension_array_dtype(
        column.dtype
    ):
        return levels.astype(np.float64)
    return levels.astype(column.dtype)


def find_possible(subject: Subject, rows: pd.DataFrame, margin: float) -> Bools:
    """Which classes are possible for each row: the one that the model decides for, and those close to it."""
    teacher = subject.teacher
    possible = np.eye(len(subject.classes), dtype=np.bool_)[teacher.labels(rows)]
    if margin > 0:
        scores = np.stack(
            [teacher.measure_support(rows, number) for number in range(len(subject.classes))], 1
        )
        if len(subject.classes) == 2:  # the score of the second class, and of the first its negation
            scores = np.stack([1 - scores[:, 1], scores[:, 1]], 1)
        possible |= scores >= scores.max(axis=1, keepdims=True) - margin
    return possible
