"""Score cards: small whole points for conditions, and the class with enough of them.

A line gives points where its condition is true, others where it is unknown, and none where it is
false. A line below another one counts only where that one is true (`and`) or false (`else`), so a
card is also a sum of few small trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition
from hornbook.errors import HornbookError
from hornbook.explanations.card_points import (
    CardLine,
    Characteristic,
    Points,
    PointsCase,
    PointsRow,
    add_points,
    list_characteristics,
)
from hornbook.explanations.compile import CompiledExplanation, TheoryBuilder
from hornbook.explanations.explanation import (
    Explanation,
    Ints,
    Line,
    Reason,
    ReasonCode,
    describe_answers,
)
from hornbook.logic import Bools


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
    >>> from hornbook.conditions import Threshold
    >>> bili, age = Threshold("bili", 2.1), Threshold("age", 50)
    >>> lines = CardLine((bili,), (2,), (1,)), CardLine((bili, age), (1,), (0,)), CardLine((age,), (1,), (0,))
    >>> card = ScoreCard(("lives", "dies"), lines, (-3,))
    >>> print(card)
    bili: > 2.1 → +2, missing → +1
    age: > 50 → +1
    bili > 2.1 and age > 50 → +1
    3 or more: dies
    less: lives
    >>> card.decide(pd.DataFrame({"bili": [3.0, 3.0, None], "age": [60, 40, 60]}))
    array([1, 0, 0])

    """

    classes: tuple[str, ...]
    lines_of_points: tuple[CardLine, ...]
    base: tuple[int, ...]
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)

    form = "card"
    noun = "score card"
    guide = (
        "Add up the points of every line that is true of the case; the sum decides. A missing value gives "
        "no points unless the card says so."
    )

    def __post_init__(self) -> None:
        outputs = 1 if len(self.classes) == 2 else len(self.classes)
        for line in self.lines_of_points:
            if not line.body or {len(line.points), len(line.unknown_points), outputs} != {len(self.base)}:
                raise HornbookError(f"a line of a card has a condition and {outputs} whole points")
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
        """Conditions to read, as often as they are printed; of several classes once for each with points."""
        return sum(row.conditions * max(sum(map(bool, row.case.points)), 1) for _, row in self.rows)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it speaks of, each once."""
        return tuple(dict.fromkeys(condition for line in self.lines_of_points for condition in line.body))

    def score(self, frame: pd.DataFrame) -> Points:
        """The sum of each row's points, shape (rows, classes), or (rows, 1) if there are two classes."""
        return add_points(self.lines_of_points, self.base, frame)

    def sum_points(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """The points that each row adds up to; of several classes, the lead of the first over the next."""
        scores = self.score(frame)
        if len(self.base) == 1:
            return scores[:, 0] - self.base[0]
        ordered = np.sort(scores, axis=1)
        lead: NDArray[np.int64] = ordered[:, -1] - ordered[:, -2]
        return lead

    @property
    def threshold(self) -> int:
        """The total from which on it decides for the second of two classes."""
        return -self.base[0] if len(self.base) == 1 else 0

    def decide(self, frame: pd.DataFrame) -> Ints:
        """The number of each row's class."""
        return choose_classes(self.score(frame))

    @property
    def headings(self) -> tuple[str, ...]:
        """What the columns of points are called."""
        return ("points",) if len(self.base) == 1 else self.classes

    @cached_property
    def rows(self) -> tuple[tuple[str, PointsRow], ...]:
        """What is printed: the title of a column, empty for several together, and values with their case.

        Of the rows of a column that hold the first counts; all other values give nothing.
        """
        return tuple(
            ("" if not each.cases[-1].conditions else self.code_book.title(each.columns[0]), row)
            for each in self.characteristics
            for row in each.list_rows(self.code_book)
        )

    def lines(self) -> tuple[Line, ...]:
        """The values of each column with their points, conditions on several, and how the sum decides."""
        lines = (
            Line(
                f"{title}: {row.words}" if title else row.words,
                cells=tuple(map(_sign, row.case.points)),
                group=title,
            )
            for title, row in self.rows
        )
        return (*lines, *self._verdict())

    def _verdict(self) -> Iterator[Line]:
        if len(self.base) == 1:
            yield Line(f"{_sign(-self.base[0]).removeprefix('+')} or more", outcome=self.classes[1])
            yield Line("less", outcome=self.classes[0])
        else:
            starts = zip(self.classes, self.base, strict=True)
            start = ", ".join(f"{name} {_sign(points)}" for name, points in starts)
            yield Line(f"start with {start}; the class with the most points, the first of equals")

    def __str__(self) -> str:
        """One line a column, with the points of its ranges, and how the sum decides."""
        written = [f"points for {', '.join(self.classes)}"] if len(self.base) > 1 else []
        for title, lines in groupby(self.lines(), lambda line: line.group):
            cases = [f"{line.words} → {' '.join(line.cells)}" if line.cells else str(line) for line in lines]
            written += [f"{title}: {', '.join(cases)}"] if title else cases
        return "\n".join(written)

    @cached_property
    def characteristics(self) -> tuple[Characteristic, ...]:
        """The points by column, and those that several columns give together; they add up to the score."""
        return tuple(list_characteristics(self.lines_of_points))

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each line of points the rows that get them; then those of each verdict."""
        decided = self.decide(frame)
        verdicts = [decided == 1, decided == 0] if len(self.base) == 1 else [np.ones(len(frame), np.bool_)]
        return np.array([*(row.case.match(frame) for _, row in self.rows), *verdicts])

    def explain(self, row: pd.DataFrame) -> Reason:
        """The lines that give points to one row."""
        facts = []
        for line in self.lines_of_points:
            *above, own = line.body
            if all(condition.evaluate(row)[0][0] for condition in above):
                true, false = own.evaluate(row)
                points = line.points if true[0] else None if false[0] else line.unknown_points
                if points is not None and any(points):
                    body = " and ".join(describe_answers(line.body, row, self.code_book))
                    facts.append(f"{body}: {', '.join(map(_sign, points))}")
        if self.lines_of_points and not facts:
            facts.append("no line gives points")
        sums = self.score(row)
        outcome = int(choose_classes(sums)[0])
        return Reason(outcome, tuple(facts), tuple(self._list_codes(row, outcome, sums[0])))

    def _list_codes(self, row: pd.DataFrame, outcome: int, sums: Points) -> list[ReasonCode]:
        """What favours the class that is decided for over the next best one, the most points first."""
        others = [number for number in range(len(sums)) if number != outcome]
        runner_up = max(others, key=lambda number: int(sums[number]), default=0)

        def favour(case: PointsCase) -> int:
            if len(sums) == 1:
                return case.points[0] if outcome == 1 else -case.points[0]
            return case.points[outcome] - case.points[runner_up]

        codes = []
        for each in self.characteristics:
            own, least = each.find_case(row), min(each.cases, key=favour)
            if (gain := favour(own) - favour(least)) > 0:
                fact = each.describe_case(own, self.code_book)
                if not own.conditions:
                    failing = (c for c in each.cases[0].conditions if not c.evaluate(row)[0][0])
                    (fact,) = describe_answers([next(failing)], row, self.code_book)
                codes.append(ReasonCode(fact, gain, each.describe_case(least, self.code_book)))
        return sorted(codes, key=lambda code: -code.points)

    def compile(self) -> CompiledExplanation:
        """Rules that sum up its points line after line; of several classes, those of each pair."""
        builder = TheoryBuilder(self.conditions, self.classes, self.code_book)
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


def _sign(points: int) -> str:
    return f"{points:+d}".replace("-", "−") if points else "0"
