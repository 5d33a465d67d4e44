"""Rules in order: the first rule whose conditions are all true decides, the default if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.explanations.compile import CompiledExplanation, TheoryBuilder
from hornbook.explanations.explanation import Explanation, Ints, Line, Reason, Region, describe_answers
from hornbook.logic import Bools


@dataclass(frozen=True)
class ConditionRule(Displayed):
    """A class that follows where all conditions of a body are true. An unknown condition is not met."""

    body: tuple[Condition, ...]
    outcome: int

    def __str__(self) -> str:
        return f"if {' and '.join(map(str, self.body)) or 'anything'}: class {self.outcome}"


@dataclass(frozen=True)
class RuleSet(Explanation):
    """Rules in order, and a default: the first rule that a row meets decides.

    Examples
    --------
    >>> from hornbook.conditions import Category, Threshold
    >>> rule = ConditionRule((Threshold("age", 40), Category("sex", "f")), 1)
    >>> rules = RuleSet(("low", "high"), (rule,), 0)
    >>> print(rules)
    if age > 40 and sex = f: high
    otherwise: low
    >>> rules.decide(pd.DataFrame({"age": [50.0, 50.0, None], "sex": ["f", None, "f"]}))
    array([1, 0, 0])

    """

    classes: tuple[str, ...]
    rules: tuple[ConditionRule, ...]
    default: int
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)

    form = "rules"
    noun = "list of rules"
    guide = (
        "Read from above. The first line whose conditions are all true decides. A condition on a missing "
        "value is not true."
    )

    def __post_init__(self) -> None:
        self.refuse_outcomes([self.default, *(rule.outcome for rule in self.rules)])
        if not all(rule.body for rule in self.rules):
            raise HornbookError("a rule without conditions has to be the default")

    @property
    def literals(self) -> int:
        """The number of conditions in all bodies."""
        return sum(len(rule.body) for rule in self.rules)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it speaks of, each once."""
        return tuple(dict.fromkeys(condition for rule in self.rules for condition in rule.body))

    def decide(self, frame: pd.DataFrame) -> Ints:
        """The number of each row's class."""
        true = {condition: condition.evaluate(frame)[0] for condition in self.conditions}
        decided = np.full(len(frame), self.default, np.intp)
        for rule in reversed(self.rules):
            decided[np.logical_and.reduce([true[condition] for condition in rule.body])] = rule.outcome
        return decided

    def lines(self) -> tuple[Line, ...]:
        """One line a rule, and the default."""
        lines = [
            Line(
                f"{'otherwise ' if number else ''}if {' and '.join(self.code_book.describe_all(rule.body))}",
                outcome=self.classes[rule.outcome],
            )
            for number, rule in enumerate(self.rules)
        ]
        return (*lines, Line("otherwise" if lines else "always", outcome=self.classes[self.default]))

    def list_regions(self) -> Iterator[Region]:
        """For each rule the rows that meet it and none before it, and those that meet none."""
        bodies = tuple(rule.body for rule in self.rules)
        for number, rule in enumerate(self.rules):
            yield rule.body, bodies[:number], rule.outcome
        yield (), bodies, self.default

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each rule the rows that meet it, and none before it; for the default those that are left."""
        left = np.ones(len(frame), np.bool_)
        matches = []
        for rule in self.rules:
            met = np.logical_and.reduce([condition.evaluate(frame)[0] for condition in rule.body])
            matches.append(left & met)
            left = left & ~met
        return np.array([*matches, left])

    def explain(self, row: pd.DataFrame) -> Reason:
        """The rule that decides about one row, and why none before it does."""
        passed: list[Condition] = []
        for rule in self.rules:
            failing = [condition for condition in rule.body if not condition.evaluate(row)[0][0]]
            if not failing:
                return Reason(rule.outcome, describe_answers((*rule.body, *passed), row, self.code_book))
            passed.append(failing[0])
        return Reason(self.default, describe_answers(passed, row, self.code_book))

    def compile(self) -> CompiledExplanation:
        """The rules of a list: each counts where those before it were not met."""
        builder = TheoryBuilder(self.conditions, self.classes, self.code_book)
        default, here = builder.classes[self.default], None
        if not self.rules:
            builder.add([], default)
        for number, rule in enumerate(self.rules, 1):
            builder.add([here, *map(builder.literal, rule.body)], builder.classes[rule.outcome])
            after = default if number == len(self.rules) else builder.concept(f"not by rule {number}")
            for condition in rule.body:
                for failure in builder.failures(condition):
                    builder.add([here, failure], after)
            here = after
        return builder.build()
