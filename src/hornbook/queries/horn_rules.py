"""Rules from query learning as an explanation: a Horn theory over the variables of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, IsTrue, merge_conditions
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
    Vocabulary,
    bits,
    read_rule,
    rule_object,
)
from hornbook.queries.reader import Reader
from hornbook.schema import read_object, write_object

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser

UNDETERMINED = -1
"""The number that stands for no class: neither follows, or both do."""

JUDGED_CLASSES = ("rejected", "accepted")
"""The classes of a model that judges whole interpretations."""


@dataclass(frozen=True, eq=False)
class HornRules(Explanation):
    """A Horn theory about a label, or about what a judge accepts, over the variables of a table.

    Parameters
    ----------
    theory, background
        All rules, and those among them that always hold. The features come first in their
        vocabulary, then the label and its dual.
    reader
        How rows of the table become partial interpretations of the features.
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
    >>> reader = Reader.of_variables(frame)
    >>> theory = HornTheory.parse("fever -> ill", reader.vocabulary.with_label("ill"))
    >>> rules = HornRules(theory, HornTheory.background(theory.vocabulary), reader, "ill")
    >>> print(rules)
    if fever: ill
    otherwise: not ill
    >>> rules.derive(reader.batch(frame)), rules.decide(frame)
    (array([ 1, -1], dtype=int8), array([1, 0]))

    """

    theory: HornTheory
    background: HornTheory
    reader: Reader
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
    def rules(self) -> tuple[Rule, ...]:
        """The rules that were learned, without the background."""
        return self.compile().rules

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
        return tuple(dict.fromkeys(self._condition(vocabulary.name(v)) for v in features))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.reader.columns

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

    def extend(self, items: Batch) -> Batch:
        """Interpretations of the features over the whole vocabulary: the label is unknown."""
        vocabulary = self.theory.vocabulary
        if items.vocabulary == vocabulary:
            return items
        if vocabulary.names[: len(items.vocabulary)] != items.vocabulary.names:
            raise HornbookError("the rules are about other variables than the interpretations")
        shape = len(vocabulary), items.true.shape[1]
        true, false = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        true[: len(items.vocabulary)], false[: len(items.vocabulary)] = items.true, items.false
        return Batch(vocabulary, true, false, len(items))

    def derive(self, items: Batch) -> NDArray[np.int8]:
        """The class that follows for each interpretation, -1 where none does or both do."""
        if self.label is None:
            return self.theory.satisfied_by(items).astype(np.int8)
        closed, _ = self.theory.program.close_batch(self.extend(items))
        no, yes = (bits.flat(closed[v], len(items)) for v in self.label_variables)
        return np.where(no == yes, UNDETERMINED, yes).astype(np.int8)

    def decide_items(self, items: Batch) -> NDArray[np.intp]:
        """The class of each interpretation: what follows, or else the default."""
        derived = self.derive(items)
        return np.where(derived == UNDETERMINED, self.default, derived).astype(np.intp)

    def decide(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """The number of each row's class."""
        return self.decide_items(self.read_rows(frame))

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
            if rule.head in self.label_variables:
                yield self._list_conditions(rule), self._head(rule)

    def list_distinct(self) -> tuple[Rule, ...]:
        """The rules; of those that say the same of the columns by other variables only the first."""
        said = {(frozenset(self._list_conditions(rule)), rule.head): rule for rule in self.rules[::-1]}
        return tuple(said.values())[::-1]

    def _list_conditions(self, rule: Rule) -> tuple[Condition, ...]:
        """The conditions of a rule's body, those on one column merged."""
        named = self.theory.vocabulary.named(rule.body)
        return merge_conditions(self._read_condition(name) or self._condition(name) for name in named)

    def match_lines(self, frame: pd.DataFrame) -> Bools:
        """For each rule the rows in which its body follows; for the default those that are undetermined."""
        items = self.read_rows(frame)
        closed, _ = self.theory.program.close_batch(self.extend(items))
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
        items = self.read_rows(frame)
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
        needed = {v for rule in proof.steps for v in rule.body}
        return self._describe_facts(self.theory.vocabulary.name(v) for v in sorted(needed & proof.facts))

    def compile(self) -> TheoryOfVariables:
        """The theory itself."""
        return TheoryOfVariables(self.theory, self.background, (), self.label_variables, self)

    def describe(self, name: str) -> str:
        """What a variable says: a class, a condition, or its name; a dual without one is `not` and that."""
        words, vocabulary = self._describe_variable(name), self.theory.vocabulary
        if vocabulary.index(name) in self.label_variables:
            return self.classes[self.label_variables.index(vocabulary.index(name))]
        dual = vocabulary.dual(vocabulary.index(name))
        if words != name or dual is None or dual > vocabulary.index(name):
            return words
        return f"not {self._describe_variable(vocabulary.name(dual))}"

    def _condition(self, name: str) -> Condition:
        """The condition that a variable stands for; of a column without one it is that it is true."""
        vocabulary = self.theory.vocabulary
        dual = vocabulary.dual(vocabulary.index(name))
        if (condition := self.reader.condition(name)) is not None:
            return condition
        if dual is None or dual > vocabulary.index(name):
            return IsTrue(name)
        return IsTrue(vocabulary.name(dual), true=False)

    def _describe_variable(self, name: str) -> str:
        """The condition behind the name of a variable, in the words of the code book, or the name."""
        condition = self._read_condition(name)
        return name if condition is None else self.code_book.describe(condition)

    def _read_condition(self, name: str) -> Condition | None:
        """The condition behind the name of a variable, its numbers rounded; None if there is none."""
        condition = self.reader.condition(name)
        if condition is None or self.code_book.words(condition.column).whole:
            return condition and condition.floor()
        # the ends of ranges are means of values, with more digits than anybody reads
        return condition.round()

    def to_parts(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        vocabulary = self.theory.vocabulary
        binariser, plain = self.reader.described, self.with_code_book(EMPTY_BOOK)
        return {
            "form": self.form,
            "classes": list(self.classes),
            "vocabulary": list(vocabulary.names),
            "duals": vocabulary.dual_names,
            "label": self.label,
            "default": self.default,
            "groups": [list(self.reader.vocabulary.named(group)) for group in self.reader.groups],
            "rules": [rule_object(vocabulary, rule) for rule in self.rules],
            "background": [rule_object(vocabulary, rule) for rule in self.background],
            "columns": list(self.reader.columns),
            "binarises": self.reader.binarises,
            "closed": self.reader.closed,
            "binariser": None if binariser is None else write_object(binariser.form()),
            "words": {name: words for name in vocabulary if (words := plain.describe(name)) != name},
        }

    @classmethod
    def from_parts(cls, content: Mapping[str, Any]) -> HornRules:
        """The rules that `to_parts` wrote."""
        from hornbook.queries.binarise import Binariser, BinariserForm

        vocabulary = Vocabulary(content["vocabulary"], content["duals"])
        background = HornTheory(vocabulary, (read_rule(vocabulary, rule) for rule in content["background"]))
        rules = HornTheory(vocabulary, (read_rule(vocabulary, rule) for rule in content["rules"]))
        label, default, classes = content["label"], content["default"], tuple(content["classes"])
        if label is not None:
            vocabulary.index(label)
        if {*map(type, classes)} != {str}:
            raise HornbookError("an explanation has the names of its classes")
        if default not in (0, 1) or not {content["binarises"], content["closed"]} <= {True, False}:
            raise HornbookError("the default is 0 or 1, and 'binarises' and 'closed' are true or false")
        written = content["binariser"]
        binariser = None if written is None else Binariser.from_form(read_object(BinariserForm, written))
        reader = _read_reader(content, vocabulary, binariser)
        read = cls(background | rules, background, reader, label, default, classes)
        for part, value in read.to_parts().items():
            if content[part] != value:
                raise HornbookError(f"{part!r} is {content[part]!r}, and should be {value!r}")
        return read

    def read_rows(self, frame: pd.DataFrame) -> Batch:
        """Rows as interpretations; they may have further columns."""
        absent = [name for name in self.columns if name not in frame]
        if absent:
            present = ", ".join(map(str, frame.columns))
            raise HornbookError(f"the rows have no column {absent[0]!r}; they have {present}")
        return self.reader.batch(frame[list(self.columns)])

    def _describe_body(self, rule: Rule) -> str:
        described = self._describe_literals(rule)
        return " and ".join(
            f"({words})" if " or " in words and len(described) > 1 else words for words in described
        )

    def count_literals(self, rule: Rule) -> int:
        """The number of conditions that a reader of a rule meets."""
        return len(self._describe_literals(rule))

    def match_rules(self, items: Batch) -> tuple[Bools, NDArray[np.intp]]:
        """Which interpretations each rule alone decides, shape (rules, items), and the class of each rule."""
        matches = np.ones((len(self.rules), len(items)), np.bool_)
        if self.label is None:
            for row, rule in zip(matches, self.rules, strict=True):
                row[:] = ~HornTheory(self.theory.vocabulary, (*self.background, rule)).satisfied_by(items)
            return matches, np.zeros(len(self.rules), np.intp)
        closed, _ = self.background.program.close_batch(self.extend(items))
        for row, rule in zip(matches, self.rules, strict=True):
            for v in rule.body:
                row &= bits.flat(closed[v], len(items))
        heads = [rule.head == self.label_variables[1] for rule in self.rules]
        return matches, np.array(heads, np.intp)

    def _describe_literals(self, rule: Rule) -> tuple[str, ...]:
        """What the body of a rule asks for, in words; conditions on one column are merged."""
        return self._describe_facts(self.theory.vocabulary.named(rule.body))

    def _describe_facts(self, names: Iterable[str]) -> tuple[str, ...]:
        """Variables that are true, in words by their names; conditions on one column are merged."""
        read = {name: self._read_condition(name) for name in names}
        conditions = self.code_book.describe_all(each for each in read.values() if each is not None)
        return (*conditions, *(self.describe(name) for name, each in read.items() if each is None))

    def _head(self, rule: Rule) -> str:
        if isinstance(rule.head, Bottom):
            return "impossible"
        return self.describe(self.theory.vocabulary.name(rule.head))


def _read_reader(content: Mapping[str, Any], vocabulary: Vocabulary, binariser: Binariser | None) -> Reader:
    """How rows are read: by the binariser, or as columns that are variables already."""
    if content["binarises"]:
        if binariser is None:
            raise HornbookError("rows are to be binarised, and there is no binariser")
        return Reader.by_binariser(binariser, content["closed"])
    count = len(vocabulary) if content["label"] is None else vocabulary.index(content["label"])
    names = vocabulary.names[:count]
    duals = {name: dual for name, dual in vocabulary.dual_names.items() if name in names}
    features = Vocabulary(names, duals)
    groups = tuple(tuple(map(features.index, group)) for group in content["groups"])
    return Reader(tuple(content["columns"]), features, groups, binariser)


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
        return self.source.extend(self.source.read_rows(frame))
