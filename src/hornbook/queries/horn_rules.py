"""Rules from query learning as an explanation: a Horn theory over the variables of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, merge_conditions
from hornbook.errors import HornbookError
from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.explanation import Explanation, Line, Reason
from hornbook.logic import (
    BOTTOM,
    Batch,
    Bools,
    Bottom,
    Head,
    HornTheory,
    Interpretation,
    Rule,
    bits,
    read_rule,
    rule_object,
)
from hornbook.queries.literals import extend_batch
from hornbook.queries.variables import Binariser
from hornbook.schema import read_object, write_object

UNDETERMINED = -1
"""The number that stands for no class: neither follows, or both do."""

JUDGED_CLASSES = ("rejected", "accepted")
"""The classes of a model that judges whole interpretations."""


@dataclass(frozen=True, eq=False)
class HornRules(Explanation):
    """A Horn theory about a label, or about what a judge accepts, over the variables of a table.

    Parameters
    ----------
    binariser
        How rows of the table become partial interpretations of the features.
    rules
        The rules, over the features and then the label and its dual.
    label
        The variable that is decided; None for rules about what is accepted.
    default
        The number of the class that is assumed where the rules decide nothing.
    classes
        The names of the two classes; by default those of the label, or of what a judge says.
    code_book
        The user's words for columns and their values.

    Examples
    --------
    >>> frame = pd.DataFrame({"fever": [1, 0]})
    >>> binariser = Binariser.fit(frame, dual=True)
    >>> theory = HornTheory.parse("fever -> ill", binariser.vocabulary.with_label("ill"))
    >>> rules = HornRules(binariser, theory.rules, "ill")
    >>> print(rules)
    if fever is true: ill
    otherwise: not ill
    >>> rules.derive(binariser.batch(frame)), rules.decide(frame)
    (array([ 1, -1], dtype=int8), array([1, 0]))

    """

    binariser: Binariser
    rules: tuple[Rule, ...]
    label: str | None = None
    default: int = 0
    classes: tuple[str, ...] = ()
    code_book: CodeBook = field(default=EMPTY_BOOK, repr=False)

    form = "theory"
    noun = "set of rules"
    is_ordered = False
    guide = (
        "Each rule holds by itself, in any order: where all its conditions are true, so is what stands "
        "beside it. What follows from one rule may be a condition of another."
    )

    def __post_init__(self) -> None:
        named = JUDGED_CLASSES if self.label is None else (f"not {self.label}", self.label)
        object.__setattr__(self, "classes", self.classes or named)

    @cached_property
    def background(self) -> HornTheory:
        """The rules that always hold: of duals, and of the variables of a column."""
        return self.binariser.background(self.label)

    @cached_property
    def theory(self) -> HornTheory:
        """The background and the rules."""
        return HornTheory(self.background.vocabulary, (*self.background, *self.rules))

    @property
    def literals(self) -> int:
        """The number of conditions in all lines, those on one column merged."""
        return sum(map(self.count_literals, self.rules))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that the variables of its rules stand for, each once."""
        vocabulary = self.theory.vocabulary
        used = dict.fromkeys(v for rule in self.rules for v in (*sorted(rule.body), rule.head))
        features = (v for v in used if not isinstance(v, Bottom) and v not in self.label_variables)
        return tuple(dict.fromkeys(self.binariser.condition(vocabulary.name(v)) for v in features))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.binariser.columns

    @property
    def label_variables(self) -> tuple[int, ...]:
        """The variables of the classes: the label's dual and the label; none for a judge."""
        if self.label is None:
            return ()
        positive = self.theory.vocabulary.index(self.label)
        negative = self.theory.vocabulary.dual(positive)
        if negative is None:
            raise HornbookError(f"the label {self.label!r} has no dual, which stands for its other class")
        return negative, positive

    def derive(self, items: Batch) -> NDArray[np.int8]:
        """The class that follows for each interpretation, -1 where none does or both do."""
        if self.label is None:
            return self.theory.satisfied_by(items).astype(np.int8)
        closed, _ = self.theory.program.close_batch(extend_batch(items, self.theory.vocabulary))
        no, yes = (bits.flat(closed[v], len(items)) for v in self.label_variables)
        return np.where(no == yes, UNDETERMINED, yes).astype(np.int8)

    def decide_items(self, items: Batch) -> NDArray[np.intp]:
        """The class of each interpretation: what follows, or else the default."""
        derived = self.derive(items)
        return np.where(derived == UNDETERMINED, self.default, derived).astype(np.intp)

    def decide(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """The number of each row's class."""
        return self.decide_items(self.binariser.batch(frame))

    def lines(self) -> tuple[Line, ...]:
        """One line a rule, and the default."""
        lines = [
            Line(f"if {self._describe_body(rule)}" if rule.body else "always", outcome=self._head(rule))
            for rule in self.rules
        ]
        if self.label is None:
            return tuple(lines)
        return (*lines, Line("otherwise" if lines else "always", outcome=self.classes[self.default]))

    def list_claims(self) -> Iterator[tuple[tuple[Condition, ...], str]]:
        """For each rule about the label its conditions, those on one column merged, and its class."""
        for rule in self.rules if self.label is not None else ():
            if rule.head in self.label_variables and rule.body.isdisjoint(self.label_variables):
                yield self._list_conditions(rule.body), self._head(rule)

    def list_distinct(self) -> tuple[Rule, ...]:
        """The rules; of those that say the same of the columns by other variables only the first."""
        said = {}
        for rule in self.rules[::-1]:
            labels = rule.body.intersection(self.label_variables)
            said[frozenset(self._list_conditions(rule.body)), labels, rule.head] = rule
        return tuple(said.values())[::-1]

    def _list_conditions(self, variables: Iterable[int]) -> tuple[Condition, ...]:
        """The conditions that features stand for, those on one column merged."""
        features = sorted(v for v in variables if v not in self.label_variables)
        return merge_conditions(map(self._read_condition, features))

    def _describe_all(self, variables: Iterable[int]) -> tuple[str, ...]:
        """Variables that are true, in words; conditions on one column are merged."""
        labels = sorted(set(variables).intersection(self.label_variables))
        conditions = map(self.code_book.describe, self._list_conditions(variables))
        return (*conditions, *(self.describe(self.theory.vocabulary.name(v)) for v in labels))

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each rule the rows in which its body follows; for the default those that are undetermined."""
        items = self.binariser.batch(frame)
        closed, _ = self.theory.program.close_batch(extend_batch(items, self.theory.vocabulary))
        matches = np.ones((len(self.rules), len(items)), np.bool_)
        for row, rule in zip(matches, self.rules, strict=True):
            for v in rule.body:
                row &= bits.flat(closed[v], len(items))
        if self.label is None:
            return matches
        return np.vstack([matches, self.derive(items) == UNDETERMINED])

    def explain(self, row: pd.DataFrame) -> Reason:
        """The facts of one row from which its class follows."""
        return self.explain_rows(row)[0]

    def explain_rows(self, frame: pd.DataFrame) -> list[Reason]:
        """The facts of each row from which its class follows; rows with the same facts are explained once."""
        items = self.binariser.batch(frame)
        reasons: dict[Interpretation, Reason] = {}
        for facts, decided in zip(given := list(items), self.decide_items(items).tolist(), strict=True):
            if facts not in reasons:
                reasons[facts] = Reason(decided, self._list_reasons(facts))
        return [reasons[facts] for facts in given]

    def _list_reasons(self, facts: Interpretation) -> tuple[str, ...]:
        """The facts from which a contradiction, or else a class, follows, in words."""
        given = facts.true.difference(self.label_variables)
        closed = self.theory.closure(given)
        goals: tuple[Head, ...] = (BOTTOM, *sorted(facts.false), *self.label_variables[::-1])
        goal = next((goal for goal in goals if goal in closed), None)
        proof = None if goal is None else self.theory.explain(Rule(given, goal))
        if proof is None:
            return ("no rule is broken" if self.label is None else "no rule decides",)
        needed = self._describe_all({v for rule in proof.steps for v in rule.body} & proof.facts)
        if self.label is not None and isinstance(goal, Bottom):  # then the default decides
            return ("the rules contradict each other", *needed)
        return needed

    def compile(self) -> TheoryOfVariables:
        """The theory itself."""
        return TheoryOfVariables(self.theory, self.background, (), self.label_variables, self)

    def describe(self, name: str) -> str:
        """What a variable says: a class, or a condition in the words of the code book."""
        variable = self.theory.vocabulary.index(name)
        if variable in self.label_variables:
            return self.classes[self.label_variables.index(variable)]
        return self.code_book.describe(self._read_condition(variable))

    def _read_condition(self, variable: int) -> Condition:
        """The condition that a feature stands for, its numbers rounded."""
        condition = self.binariser.condition(self.theory.vocabulary.name(variable))
        # the ends of ranges are means of values, with more digits than anybody reads
        return condition.floor() if self.code_book.words(condition.column).whole else condition.round()

    def to_parts(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        vocabulary = self.theory.vocabulary
        rules = tuple(rule_object(vocabulary, rule) for rule in self.rules)
        content: dict[str, Any] = write_object(
            _WrittenRules(self.classes, self.label, self.default, self.binariser, rules)
        )
        return content

    @classmethod
    def from_parts(cls, content: Mapping[str, Any]) -> HornRules:
        """The rules that `to_parts` wrote."""
        read = read_object(_WrittenRules, content)
        vocabulary = read.binariser.background(read.label).vocabulary
        if read.default not in (0, 1) or len(read.classes) != 2:
            raise HornbookError("there are two classes, and the default is 0 or 1")
        rules = tuple(read_rule(vocabulary, rule) for rule in read.rules)
        return cls(read.binariser, rules, read.label, read.default, read.classes)

    def _describe_body(self, rule: Rule) -> str:
        described = self._describe_all(rule.body)
        return " and ".join(
            f"({words})" if " or " in words and len(described) > 1 else words for words in described
        )

    def count_literals(self, rule: Rule) -> int:
        """The number of conditions that a reader of a rule meets."""
        return len(self._describe_all(rule.body))

    def match_rules(self, items: Batch) -> tuple[Bools, NDArray[np.intp]]:
        """Which interpretations each rule alone decides, shape (rules, items), and the class of each rule."""
        matches = np.ones((len(self.rules), len(items)), np.bool_)
        if self.label is None:
            for row, rule in zip(matches, self.rules, strict=True):
                row[:] = ~HornTheory(self.theory.vocabulary, (*self.background, rule)).satisfied_by(items)
            return matches, np.zeros(len(self.rules), np.intp)
        closed, _ = self.background.program.close_batch(extend_batch(items, self.theory.vocabulary))
        for row, rule in zip(matches, self.rules, strict=True):
            for v in rule.body:
                row &= bits.flat(closed[v], len(items))
        heads = [rule.head == self.label_variables[1] for rule in self.rules]
        return matches, np.array(heads, np.intp)

    def _head(self, rule: Rule) -> str:
        if isinstance(rule.head, Bottom):
            return "impossible"
        return self.describe(self.theory.vocabulary.name(rule.head))


@dataclass(frozen=True)
class _WrittenRules:
    """The form of `HornRules` in files."""

    classes: tuple[str, ...]
    label: str | None
    default: int
    binariser: Binariser
    rules: tuple[Mapping[str, Any], ...]

    form = "theory"


@dataclass(frozen=True)
class TheoryOfVariables(CompiledExplanation):
    """The theory of `HornRules`: rows become interpretations as their reader says."""

    source: HornRules

    def describe(self, name: str) -> str:
        """What a variable says, in the words of the rules."""
        return self.source.describe(name)

    def decide_items(self, items: Batch) -> NDArray[np.intp]:
        """The number of the class of each interpretation: what follows, or else the default."""
        return self.source.decide_items(items)

    def read_rows(self, frame: pd.DataFrame) -> Batch:
        """Rows as partial interpretations."""
        return extend_batch(self.source.binariser.batch(frame), self.theory.vocabulary)
