"""Score cards: small whole points for conditions, and the class with enough of them.

A line gives points where its condition is true, others where it is unknown, and none where it is
false. A line below another one counts only where that one is true (`and`) or false (`else`), so a
card is also a sum of few small trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.explanations.compile import CompiledExplanation, TheoryBuilder
from hornbook.explanations.conditions import (
    Category,
    CategorySet,
    Condition,
    Missing,
    Threshold,
    condition_object,
    read_condition,
    write_value,
)
from hornbook.explanations.dialects import Dialect
from hornbook.explanations.explanation import (
    Explanation,
    Ints,
    Line,
    PointsGroup,
    Reason,
    describe_answer,
)
from hornbook.logic import Bools

Points: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class CardLine:
    """Points for a body of conditions, the last one its own, the others those of the lines above it.

    `points` has one number for each class, or one alone if there are two classes; so has
    `unknown_points`, for rows in which the line's own condition is unknown.
    """

    body: tuple[Condition, ...]
    points: tuple[int, ...]
    unknown_points: tuple[int, ...]


@dataclass(frozen=True)
class ScoreCard(Explanation):
    """Lines of points, and the class that they add up to.

    Of two classes it is the second one if the sum reaches the threshold; of several it is the one
    with the greatest sum, the first of equals.

    Parameters
    ----------
    classes
        The classes' names.
    lines_of_points
        The lines.
    base
        The points that each class starts with; of two classes, the threshold with a minus.

    Examples
    --------
    >>> from hornbook.explanations.conditions import Threshold
    >>> bili, age = Threshold("bili", 2.1), Threshold("age", 50)
    >>> lines = CardLine((bili,), (2,), (1,)), CardLine((bili, age), (1,), (0,)), CardLine((age,), (1,), (0,))
    >>> card = ScoreCard(("lives", "dies"), lines, (-3,))
    >>> print(card)
    points  if missing
        +2          +1  bili > 2.1
        +1           0    and age > 50
        +1           0  age > 50
    3 or more: dies
    less: lives
    >>> card.decide(pd.DataFrame({"bili": [3.0, 3.0, None], "age": [60, 40, 60]}))
    array([1, 0, 0])

    """

    classes: tuple[str, ...]
    lines_of_points: tuple[CardLine, ...]
    base: tuple[int, ...]

    form = "card"
    noun = "score card"
    guide = (
        "Add up the points of every line that is true of the case; the sum decides. A missing value gives "
        "no points unless the card says so."
    )

    def __post_init__(self) -> None:
        places = [
            (line.body[:-1], frozenset({line.body[-1], line.body[-1].negate()}))
            for line in self.lines_of_points
        ]
        for place in places:
            if places.count(place) > 1:
                raise HornbookError(
                    f"two lines speak of {min(map(str, place[1]))} in the same place; join their points"
                )

    @property
    def literals(self) -> int:
        """Conditions to read, for several classes those of the card of each class.

        A condition that stands above others is read once.
        """
        return len(self._questions()) * len(self.base)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it speaks of, each once."""
        return tuple(dict.fromkeys(condition for line in self.lines_of_points for condition in line.body))

    def score(self, frame: pd.DataFrame) -> Points:
        """The sum of each row's points, shape (rows, classes), or (rows, 1) if there are two classes."""
        scores = np.tile(np.array(self.base, np.int64), (len(frame), 1))
        values = {condition: condition.evaluate(frame) for condition in self.conditions}
        for line in self.lines_of_points:
            reached = np.ones(len(frame), np.bool_)
            for condition in line.body[:-1]:
                reached &= values[condition][0]
            true, false = values[line.body[-1]]
            scores[reached & true] += np.array(line.points)
            scores[reached & ~true & ~false] += np.array(line.unknown_points)
        return scores

    def decide(self, frame: pd.DataFrame) -> Ints:
        """The number of each row's class."""
        return choose_classes(self.score(frame))

    @property
    def headings(self) -> tuple[str, ...]:
        """What the columns of points are called."""
        names = ("points",) if len(self.base) == 1 else self.classes
        missing = tuple("if missing" if len(names) == 1 else f"{name} if missing" for name in names)
        return (*names, *missing) if self._has_unknown_points else names

    @property
    def _has_unknown_points(self) -> bool:
        return any(any(line.unknown_points) for line in self.lines_of_points)

    def lines(self) -> tuple[Line, ...]:
        """One line a condition, with its points, and how the sum decides."""
        by_body = {line.body: line for line in self.lines_of_points}
        lines = []
        for body, opening in self._questions():
            line = by_body.get(body)
            points = (*line.points, *line.unknown_points) if line else (0,) * 2 * len(self.base)
            cells = tuple(_sign(number) for number in points[: len(self.headings)])
            lines.append(Line(f"{opening}{body[-1]}", len(body) - 1, cells))
        return (*lines, *self._verdict())

    def _verdict(self) -> Iterator[Line]:
        if len(self.base) == 1:
            yield Line(f"{_sign(-self.base[0]).removeprefix('+')} or more", outcome=self.classes[1])
            yield Line("less", outcome=self.classes[0])
        else:
            starts = zip(self.classes, self.base, strict=True)
            start = ", ".join(f"{name} {_sign(points)}" for name, points in starts)
            yield Line(f"start with {start}; the class with the most points, the first of equals")

    def group_points(self) -> tuple[PointsGroup, ...]:
        """The points for each range of each column, and those that several columns give together.

        Examples
        --------
        >>> from hornbook.explanations.conditions import Threshold
        >>> low, high = (CardLine((Threshold("bili", cut),), (2,), (1,)) for cut in (1.1, 3.4))
        >>> for group in ScoreCard(("lives", "dies"), (low, high), (-3,)).group_points():
        ...     for words, points in group.rows:
        ...         print(group.title, words, *points)
        bili ≤ 1.1 0
        bili > 1.1 and ≤ 3.4 +2
        bili > 3.4 +4
        bili missing +2

        """
        by_column: dict[str, list[CardLine]] = {}
        together: list[tuple[str, tuple[str, ...]]] = []
        for line in self.lines_of_points:
            names = {condition.column for condition in line.body}
            kinds = {type(condition) for condition in line.body}
            if len(names) == 1 and (kinds <= {Threshold} or kinds <= {Category, CategorySet}):
                by_column.setdefault(names.pop(), []).append(line)
            else:
                together += _describe_cases(line)
        groups = [
            PointsGroup(column, rows)
            for column, lines in by_column.items()
            if (rows := self._column_rows(column, lines))
        ]
        if together:
            groups.append(PointsGroup("", tuple(together)))
        return tuple(groups)

    def _column_rows(self, column: str, lines: list[CardLine]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The ranges of a column that get different points, in order, and the points of each."""
        conditions = [condition for line in lines for condition in line.body]
        cuts = sorted({condition.cut for condition in conditions if isinstance(condition, Threshold)})
        named = dict.fromkeys(value for condition in conditions for value in _list_values(condition))
        if cuts and named:
            return tuple(case for line in lines for case in _describe_cases(line))
        values = [*cuts, np.inf] if cuts else [*named, _OTHER]
        alone = ScoreCard(self.classes, tuple(lines), (0,) * len(self.base))
        scores = alone.score(pd.DataFrame({column: pd.Series([*values, None], dtype=object)})).tolist()
        points = [tuple(map(_sign, score)) for score in scores]
        rows: list[tuple[str, tuple[str, ...]]] = []
        if cuts:
            ends = [k for k in range(len(values)) if k + 1 == len(values) or scores[k] != scores[k + 1]]
            for start, end in zip([-1, *ends], ends, strict=False):
                low = -np.inf if start < 0 else values[start]
                rows.append((_describe_range(low, values[end]), points[end]))
        else:
            alike: dict[tuple[str, ...], list[str]] = {}
            for value, own in zip(named, points, strict=False):
                alike.setdefault(own, []).append(write_value(value))
            rows = [(", ".join(words), own) for own, words in alike.items()]
            rows.append(("any other", points[len(named)]))
        if any(scores[-1]):
            rows.append(("missing", points[-1]))
        return tuple(rows)

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each condition the rows that meet it and those above it; then those of each verdict."""
        matches = [
            np.logical_and.reduce([condition.evaluate(frame)[0] for condition in body])
            for body, _ in self._questions()
        ]
        decided = self.decide(frame)
        verdicts = [decided == 1, decided == 0] if len(self.base) == 1 else [np.ones(len(frame), np.bool_)]
        return np.array([*matches, *verdicts])

    def explain(self, row: pd.DataFrame) -> Reason:
        """The lines that give points to one row."""
        facts = []
        for line in self.lines_of_points:
            *above, own = line.body
            if all(condition.evaluate(row)[0][0] for condition in above):
                true, false = own.evaluate(row)
                points = line.points if true[0] else None if false[0] else line.unknown_points
                if points is not None and any(points):
                    body = " and ".join([*map(str, above), describe_answer(own, row)])
                    facts.append(f"{body}: {', '.join(map(_sign, points))}")
        if self.lines_of_points and not facts:
            facts.append("no line gives points")
        return Reason(int(self.decide(row)[0]), tuple(facts))

    def compile(self) -> CompiledExplanation:
        """Rules that sum up its points line after line; of several classes, those of each pair."""
        builder = TheoryBuilder(self.conditions, self.classes)
        lines = [_line_cases(builder, number, line) for number, line in enumerate(self.lines_of_points, 1)]
        if len(self.base) == 1:
            sums = [[(fact, points[0]) for fact, points in line] for line in lines]
            builder.add_sums(sums, self.base[0], "sum", builder.classes[1], builder.classes[0])
            return builder.build()

        def before(first: int, second: int) -> int:
            return builder.concept(f"{self.classes[first]} before {self.classes[second]}")

        for first, second in combinations(range(len(self.base)), 2):
            sums = [[(fact, points[first] - points[second]) for fact, points in line] for line in lines]
            start, name = (
                self.base[first] - self.base[second],
                f"{self.classes[first]} less {self.classes[second]}",
            )
            builder.add_sums(sums, start, name, before(first, second), before(second, first))
        for number, outcome in enumerate(builder.classes):
            others = (other for other in range(len(self.classes)) if other != number)
            builder.add([before(number, other) for other in others], outcome)
        return builder.build()

    def write_decision(self, dialect: Dialect) -> str:
        """A choice by the sums of points: of two classes by the sign, else by the greatest sum."""
        scores = [self._write_score(dialect, output) for output in range(len(self.base))]
        names = [dialect.write_value(name) for name in self.classes]
        if len(scores) == 1:
            return dialect.choose([(dialect.compare(scores[0], dialect.write_value(0)), names[1])], names[0])
        cases = []
        for number, score in enumerate(scores[:-1]):
            beats_later = [dialect.compare(score, other) for other in scores[number + 1 :]]
            cases.append((dialect.join(beats_later), names[number]))
        return dialect.choose(cases, names[-1])

    def _write_score(self, dialect: Dialect, output: int) -> str:
        """The sum of points for one output."""
        terms = [dialect.write_value(self.base[output])]
        for line in self.lines_of_points:
            *above, own = (dialect.write_condition(condition) for condition in line.body)
            missing = dialect.write_condition(Missing(line.body[-1].column))
            points = [((own,), line.points[output])]
            if not isinstance(line.body[-1], Missing):
                points.append(((missing,), line.unknown_points[output]))
            cases = [
                (dialect.join([*above, *met]), dialect.write_value(number))
                for met, number in points
                if number
            ]
            if cases:
                terms.append(dialect.choose(cases, dialect.write_value(0)))
        return dialect.add(terms)

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        lines = [
            {
                "if": list(map(condition_object, line.body)),
                "points": list(line.points),
                "if_missing": list(line.unknown_points),
            }
            for line in self.lines_of_points
        ]
        return {"form": self.form, "classes": list(self.classes), "lines": lines, "start": list(self.base)}

    @classmethod
    def from_object(cls, content: Any) -> ScoreCard:
        """The card that `to_object` wrote."""
        classes = tuple(content["classes"])
        outputs = 1 if len(classes) == 2 else len(classes)

        def read_points(points: Any) -> tuple[int, ...]:
            if len(points) != outputs or not all(type(each) is int for each in points):
                raise HornbookError(f"{points!r} are not {outputs} whole points")
            return tuple(points)

        lines = tuple(
            CardLine(
                tuple(map(read_condition, line["if"])),
                read_points(line["points"]),
                read_points(line["if_missing"]),
            )
            for line in content["lines"]
        )
        if not all(line.body for line in lines):
            raise HornbookError("a line of a card has a condition")
        return cls(classes, lines, read_points(content["start"]))

    def _questions(self) -> list[tuple[tuple[Condition, ...], str]]:
        """Every condition with those above it, in the order of reading, and how its line begins."""
        bodies = {line.body for line in self.lines_of_points}
        listed: list[tuple[tuple[Condition, ...], str]] = []

        def list_below(above: tuple[Condition, ...], opening: str) -> None:
            own = [line.body for line in self.lines_of_points if line.body[: len(above)] == above]
            for body in dict.fromkeys(line[: len(above) + 1] for line in own if len(line) > len(above)):
                opposite = (*above, body[-1].negate())
                if opposite in [questions for questions, _ in listed]:
                    continue  # read together with its opposite
                if body not in bodies and opposite in bodies:
                    continue
                listed.append((body, opening))
                list_below(body, "and ")
                list_below(opposite, "else ")

        list_below((), "")
        return listed


def choose_classes(scores: NDArray[Any]) -> Ints:
    """The class of each row of scores: of one column whether it is at least 0, else the greatest."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1), np.intp)


def _line_cases(builder: TheoryBuilder, number: int, line: CardLine) -> list[tuple[int, tuple[int, ...]]]:
    """The cases of a line, exactly one of which holds: a variable that says so, and its points."""
    *above, own = line.body
    met, unmet, missing = builder.literal(own), builder.literal(own.negate()), builder.unknown(own)
    if above:
        met, unmet = (builder.concept(f"line {number} {what}") for what in ("counts", "does not count"))
        builder.add(map(builder.literal, line.body), met)
        for failure in (v for condition in above for v in builder.failures(condition)):
            builder.add([failure], unmet)
        builder.add([builder.literal(own.negate())], unmet)
        for fact in missing:
            builder.add([*map(builder.literal, above), fact], builder.concept(f"line {number} is unknown"))
        missing = [builder.concept(f"line {number} is unknown") for _ in missing]
    none = (0,) * len(line.points)
    return [(met, line.points), (unmet, none), *((fact, line.unknown_points) for fact in missing)]


_OTHER = object()
"""A value that no condition names."""


def _describe_range(low: float, high: float) -> str:
    """The numbers above `low` and at most `high`, in words."""
    if low == -np.inf:
        return f"≤ {write_value(high)}"
    return f"> {write_value(low)}" if high == np.inf else f"> {write_value(low)} and ≤ {write_value(high)}"


def _list_values(condition: Condition) -> tuple[Any, ...]:
    """The categories that a condition names."""
    match condition:
        case Category():
            return (condition.value,)
        case CategorySet():
            return condition.values
        case _:
            return ()


def _describe_cases(line: CardLine) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The cases in which a line gives points, in words, with its points."""
    *above, own = line.body
    cases = [(str(own), line.points)]
    if not isinstance(own, Missing):  # whether a value is missing is never unknown
        cases.append((str(Missing(own.column)), line.unknown_points))
    for words, points in cases:
        if any(points):
            yield " and ".join([*map(str, above), words]), tuple(map(_sign, points))


def _sign(points: int) -> str:
    return f"{points:+d}".replace("-", "−") if points else "0"
