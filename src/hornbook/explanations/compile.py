"""Explanations as Horn theories: rules that derive the class that an explanation decides for.

The variables are the conditions that the explanation speaks of, whether each of their columns is
missing, one for each class, and concepts of our own: how far down a tree or a list of rules a row
has come, or what the points of a card have summed up to. Of every row the theory derives exactly
one class, the one that the explanation decides for, since a row says of every condition whether it
is true, false, or unknown because its column is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, Missing, background_rules
from hornbook.display import Displayed
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, bits, fresh_name


@dataclass(frozen=True)
class CompiledExplanation(Displayed):
    """A Horn theory, with the rows that it is about.

    Parameters
    ----------
    theory
        Everything: the background, and what decides.
    background
        What always holds: a condition excludes its negation, thresholds are ordered, categories
        exclude each other, and so do the classes.
    conditions
        The conditions that the first variables stand for; after them come their negations.
    classes
        The variable of each class.

    """

    theory: HornTheory
    background: HornTheory
    conditions: tuple[Condition, ...]
    classes: tuple[int, ...]

    def __str__(self) -> str:
        return str(HornTheory(self.theory.vocabulary, self.rules))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the explanation itself, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)

    def describe(self, name: str) -> str:
        """What a variable says, by its name; a condition is its own name."""
        return name

    def read_rows(self, frame: pd.DataFrame) -> Batch:
        """Rows as partial interpretations: what is known of each condition."""
        vocabulary = self.theory.vocabulary
        true = np.zeros((len(vocabulary), bits.words_for(len(frame))), np.uint64)
        false = np.zeros_like(true)
        for v, condition in enumerate(self.conditions):
            holds, fails = (bits.pack(each[:, None])[0] for each in condition.evaluate(frame))
            w = v + len(self.conditions)
            true[v], false[v], true[w], false[w] = holds, fails, fails, holds
        return Batch(vocabulary, true, false, len(frame))

    def decide(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the class that follows for each row."""
        return self.decide_items(self.read_rows(frame))

    def decide_items(self, items: Batch) -> NDArray[np.intp]:
        """The number of the class that follows for each interpretation."""
        closed, _ = self.theory.program.close_batch(items)
        follows = np.stack([bits.flat(closed[v], len(items)) for v in self.classes], axis=1)
        return np.asarray(follows.argmax(axis=1), np.intp)


class TheoryBuilder:
    """Collects the rules of an explanation over conditions, classes and concepts."""

    def __init__(
        self, conditions: Iterable[Condition], classes: Sequence[str], code_book: CodeBook = EMPTY_BOOK
    ) -> None:
        named = [condition if condition.is_plain else condition.negate() for condition in conditions]
        columns = dict.fromkeys(condition.column for condition in named)
        self.conditions = tuple(dict.fromkeys([*named, *map(Missing, columns)]))
        self.names: list[str] = []
        self.taken: set[str] = set()
        for condition in (*self.conditions, *(condition.negate() for condition in self.conditions)):
            is_time = code_book.words(condition.column).scale
            # two conditions may read alike: column `a = b`, value `c`
            self._add(code_book.describe(condition) if is_time else str(condition))
        self.classes = tuple(self._add(name) for name in classes)
        self.concepts: dict[str, int] = {}
        self.rules: list[Rule] = []

    def _add(self, wanted: str) -> int:
        name = fresh_name(wanted, self.taken)
        self.taken.add(name)
        self.names.append(name)
        return len(self.names) - 1

    @cached_property
    def _position(self) -> dict[Condition, int]:
        both = (*self.conditions, *(condition.negate() for condition in self.conditions))
        return {condition: v for v, condition in enumerate(both)}

    def literal(self, condition: Condition) -> int:
        """The variable that is true where the condition is."""
        return self._position[condition]

    def failures(self, condition: Condition) -> list[int]:
        """Variables one of which is true where the condition is not: its negation, and a missing value."""
        return [self.literal(condition.negate()), *self.unknown(condition)]

    def unknown(self, condition: Condition) -> list[int]:
        """The variable that says that the condition's column is missing; none if that is what it is about."""
        return [] if isinstance(condition, Missing) else [self.literal(Missing(condition.column))]

    def concept(self, name: str) -> int:
        """The variable of a concept of our own."""
        if name not in self.concepts:
            self.concepts[name] = self._add(name)
        return self.concepts[name]

    def add(self, body: Iterable[int | None], head: int) -> None:
        """Add a rule; None stands for nothing that has to hold."""
        self.rules.append(Rule(frozenset(v for v in body if v is not None), head))

    def add_sums(
        self, lines: list[list[tuple[int, int]]], start: int, name: str, reached: int, missed: int
    ) -> None:
        """Add up points line by line, until it is certain whether the sum is at least 0.

        A line is its cases, exactly one of which holds: a variable that says so, and its points.
        `reached` is to follow where the sum is at least 0, `missed` where it is less.
        """
        least, most = (
            [sum(bound(points for _, points in line) for line in lines[k:]) for k in range(len(lines) + 1)]
            for bound in (min, max)
        )

        def state(k: int, total: int) -> int:
            if total + least[k] >= 0:
                return reached
            if total + most[k] < 0:
                return missed
            return self.concept(f"{name} {total} after line {k}")

        totals = {start}
        if state(0, start) in (reached, missed):
            self.add([], state(0, start))
            totals = set()
        for k, line in enumerate(lines):
            onward = set()
            for total in sorted(totals):
                here = state(k, total) if k else None
                for fact, points in line:
                    after = state(k + 1, total + points)
                    self.add([here, fact], after)
                    if after not in (reached, missed):
                        onward.add(total + points)
            totals = onward

    def build(self) -> CompiledExplanation:
        """The theory of all rules added."""
        half = len(self.conditions)
        duals = dict(zip(self.names[:half], self.names[half : 2 * half], strict=True))
        if len(self.classes) == 2:
            duals[self.names[self.classes[0]]] = self.names[self.classes[1]]
        vocabulary = Vocabulary(self.names, duals)
        known = [Rule(pair, BOTTOM) for pair in combinations(self.classes, 2) if len(self.classes) > 2]
        for body, head in background_rules(self._position):
            known.append(
                Rule(frozenset(map(self.literal, body)), BOTTOM if head is None else self.literal(head))
            )
        background = HornTheory.background(vocabulary) | HornTheory(vocabulary, known)
        theory = background | HornTheory(vocabulary, self.rules)
        return CompiledExplanation(theory, background, self.conditions, self.classes)
