"""The Horn envelope of any teacher, exactly, where all cases can be asked about.

The envelope of a set of accepted cases is the Horn theory whose models are the intersections of accepted
cases: the strongest Horn theory that accepts all of them. Of a teacher that is not Horn it accepts rejected
cases too, which lie beyond Horn rules: every Horn theory that accepts what the teacher accepts has to.

References
----------
B. Selman, H. Kautz. Knowledge compilation and theory approximation. Journal of the ACM 43, 1996.
S. Blum, R. Koudijs, A. Ozaki, S. Touileb. Learning Horn envelopes via queries from language models.
International Journal of Approximate Reasoning 171, 2024.

"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, Interpretation, Rule, Vocabulary, bits
from hornbook.queries.literals import Groups, exclusivity_rules
from hornbook.queries.lrn_star import lrn_star, quickxplain
from hornbook.queries.protocol import Counterexample, Exact, Membership

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import

MAX_CASES = 200_000
"""The most cases that are all asked about, unless the caller allows more."""


@dataclass(frozen=True)
class World:
    """Every case over some variables of which at most one of each group is true.

    A case has a digit for each group: 0 where none of its variables is true, which stands for an unknown
    level, or the place of the true variable, from 1 on.

    Parameters
    ----------
    vocabulary
        The variables, without duals.
    groups
        The groups, disjoint; a variable outside of them is true or false by itself.

    Examples
    --------
    >>> world = World(Vocabulary(["summer", "winter", "happy"]), ((0, 1),))
    >>> world.shape, len(world)
    ((3, 2), 6)
    >>> [sorted(case.true) for case in world.list_cases([0, 3, 5])]
    [[], [0, 2], [1, 2]]

    """

    vocabulary: Vocabulary
    groups: Groups = ()

    def __post_init__(self) -> None:
        if self.vocabulary.has_duals:
            raise HornbookError("the cases of a world are total, so its variables have no duals")

    @cached_property
    def axes(self) -> Groups:
        """The groups, and each other variable as a group of its own, by their first variable."""
        grouped = {v for group in self.groups for v in group}
        alone = ((v,) for v in range(len(self.vocabulary)) if v not in grouped)
        return tuple(sorted((*self.groups, *alone)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each digit."""
        return tuple(len(axis) + 1 for axis in self.axes)

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def background(self) -> HornTheory:
        """The rules that no two variables of a group are true together."""
        return exclusivity_rules(self.vocabulary, self.groups)

    @cached_property
    def table(self) -> Bools:
        """Whether each variable is true in each case, shape (variables, cases)."""
        digits = np.indices(self.shape).reshape(len(self.shape), -1)
        table = np.zeros((len(self.vocabulary), len(self)), np.bool_)
        for axis, values in zip(self.axes, digits, strict=True):
            for place, variable in enumerate(axis, 1):
                table[variable] = values == place
        return table

    @cached_property
    def batch(self) -> Batch:
        """All cases as total interpretations."""
        true = bits.pack_rows(self.table)
        return Batch(self.vocabulary, true, bits.pack_rows(~self.table), len(self))

    def list_cases(self, numbers: NDArray[np.intp] | list[int]) -> Iterator[Interpretation]:
        """The cases with the given numbers, as total interpretations."""
        everything = frozenset(range(len(self.vocabulary)))
        for number in numbers:
            true = frozenset(np.flatnonzero(self.table[:, number]).tolist())
            yield Interpretation(true, everything - true)


@dataclass(frozen=True)
class Envelope:
    """The Horn envelope of a teacher over a world, and what no Horn theory above the teacher can exclude.

    Parameters
    ----------
    world
        All cases.
    accepted
        Whether the teacher accepts each case.
    theory
        The envelope: the background and a canonical set of further rules.
    queries
        The number of equivalence queries that the learner asked.

    """

    world: World
    accepted: Bools
    theory: HornTheory
    queries: int

    @property
    def background(self) -> HornTheory:
        """The rules that no two variables of a group are true together."""
        return self.world.background

    @property
    def guarantee(self) -> Exact:
        """The rules agree with the teacher, or are as near to it from above as Horn rules can be."""
        if not len(self.beyond_horn):
            return Exact()
        return Exact(
            f"no Horn theory that accepts what the model accepts is stronger ({len(self.world):,} cases)"
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)

    @cached_property
    def beyond_horn(self) -> NDArray[np.intp]:
        """The numbers of the rejected cases that every Horn theory above the teacher accepts."""
        return np.flatnonzero(self.theory.satisfied_by(self.world.batch) & ~self.accepted)

    def list_clauses(self) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Explain the cases beyond Horn rules by few clauses (P, N): whenever P is true, one of N is.

        Each clause holds of every accepted case, no literal of it can be left out, and together they exclude
        all of the cases. Every N has two variables or more.
        """
        member = AcceptedCases(self.world, self.accepted)
        left = self.beyond_horn
        while len(left):
            case = next(self.world.list_cases(left[:1]))
            true, false = _shrink_clause(member, case)
            yield true, false
            table = self.world.table[:, left]
            left = left[~(table[sorted(true)].all(axis=0) & ~table[sorted(false)].any(axis=0))]


def learn_envelope(member: Membership, world: World, max_cases: int = MAX_CASES) -> Envelope:
    """Ask a teacher about every case of a world, and learn the Horn envelope of its answers.

    Parameters
    ----------
    member
        The teacher: any function of total interpretations.
    world
        All cases; the teacher is asked about each once.
    max_cases
        The most cases that it may be asked about.

    Examples
    --------
    >>> from hornbook.logic import UNICODE, rule_text
    >>> world = World(Vocabulary(["she", "he", "nurse", "boxer"]), ((0, 1), (2, 3)))
    >>> def accepts(batch):  # somebody is known to be one of two, and no boxer is a she
    ...     she, he, _, boxer = batch.to_array().T == 1
    ...     return (she | he) & ~(she & boxer)
    >>> envelope = learn_envelope(accepts, world)
    >>> for rule in envelope.rules:
    ...     print(rule_text(world.vocabulary, rule, UNICODE))
    boxer → he
    >>> [world.vocabulary.named(false) for true, false in envelope.list_clauses()]
    [('she', 'he')]

    """
    if len(world) > max_cases:
        raise HornbookError(
            f"there are {len(world):,} cases, and at most {max_cases:,} are all asked about; "
            "leave out columns or levels, or learn by samples"
        )
    accepted = member(world.batch)
    return find_envelope(world, accepted)


def find_envelope(world: World, accepted: Bools) -> Envelope:
    """The Horn envelope of the accepted cases of a world, by LRN* with exact answers from their table."""
    cases = AcceptedCases(world, accepted)
    steps = lrn_star(
        world.vocabulary, cases, cases.find_counterexample, background=world.background, closed=None
    )
    hypotheses = [step.hypothesis for step in steps]
    return Envelope(world, accepted, hypotheses[-1], len(hypotheses))


class AcceptedCases:
    """A teacher that is the table of its accepted cases.

    It accepts a partial interpretation if some accepted case completes it.

    Parameters
    ----------
    world
        All cases.
    accepted
        Whether each is accepted.

    """

    def __init__(self, world: World, accepted: Bools) -> None:
        self.world = world
        self.true = bits.pack_rows(world.table[:, accepted])
        self.any_case = bits.pack_rows(np.ones((1, int(accepted.sum())), np.bool_))[0]
        self.in_envelope = _close_under_intersection(accepted.reshape(world.shape)).reshape(-1)
        sizes = world.table.sum(axis=0)
        self._order = np.argsort(sizes, kind="stable")  # the smallest cases first, so that bodies are short

    def __call__(self, batch: Batch) -> Bools:
        """Whether some accepted case completes each partial interpretation."""
        return np.array([self.completes(each.true, each.false) for each in batch], np.bool_)

    def completes(self, true: frozenset[int], false: frozenset[int]) -> bool:
        """Whether some accepted case has these variables true and those false."""
        left = self.any_case
        for variable in true:
            left = left & self.true[variable]
        for variable in false:
            left = left & ~self.true[variable]
        return bool(left.any())

    def find_counterexample(self, hypothesis: HornTheory) -> Counterexample | Exact:
        """The smallest case that the hypothesis accepts outside of the envelope, with at most one zero."""
        wrong = hypothesis.satisfied_by(self.world.batch) & ~self.in_envelope
        numbers = self._order[wrong[self._order]]
        if not len(numbers):
            return Exact()
        case = next(self.world.list_cases(numbers[:1]))
        zeros = [frozenset[int](), *(frozenset([v]) for v in sorted(case.false))]
        zero = next(zero for zero in zeros if not self.completes(case.true, zero))
        return Counterexample(Interpretation(case.true, zero), found_by="every case")


def _close_under_intersection(accepted: Bools) -> Bools:
    """Which cases are intersections of accepted ones; both arrays have an axis for each digit."""
    supersets = accepted.astype(np.int64)  # the number of accepted cases above each case
    for axis in range(supersets.ndim):
        by_value = np.moveaxis(supersets, axis, 0)
        by_value[0] += by_value[1:].sum(axis=0)
    closed: Bools = supersets > 0
    for axis in range(supersets.ndim):
        by_value = np.moveaxis(supersets, axis, 0)
        shared = (by_value[1:] == by_value[0]).any(axis=0)  # all cases above have the same level
        np.moveaxis(closed, axis, 0)[0] &= ~shared
    return closed


def _shrink_clause(cases: AcceptedCases, case: Interpretation) -> tuple[frozenset[int], frozenset[int]]:
    """A clause (P, N) that excludes a rejected case, and from which no literal can be left out."""
    true = quickxplain(lambda part: not cases.completes(part, case.false), case.true)
    return true, quickxplain(lambda part: not cases.completes(true, part), case.false)


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
    >>> levels.list_rows()["job"].tolist()
    [None, 'boxer', 'nurse']

    """

    binariser: Binariser
    target: str

    @classmethod
    def of(cls, frame: pd.DataFrame, target: str, classes: Sequence[str]) -> LevelWorld:
        """The values that occur in each column of a frame, and the classes in words."""
        from hornbook.queries.binarise import Binariser

        if target in frame:
            raise HornbookError(
                f"{target!r} is predicted, and is a column of the rows too; name it otherwise"
            )
        columns = {str(name): pd.Series(values.dropna().unique()) for name, values in frame.items()}
        columns[target] = pd.Series(list(classes))
        values = pd.DataFrame(columns)  # shorter columns are filled with missing values
        kinds = dict.fromkeys(columns, "categorical")
        widest = max(map(len, columns.values()))
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

    def list_rows(self) -> pd.DataFrame:
        """Every combination of levels, None for an unknown one, as rows."""
        columns = {name: levels for name, levels in self._levels.items() if name != self.target}
        combinations = list(product(*((None, *levels) for levels in columns.values())))
        return pd.DataFrame(combinations, columns=list(columns), dtype=object)

    def accept(self, possible: Bools) -> Bools:
        """Which cases are accepted, given which of `classes` are possible for each row, (rows, classes)."""
        return np.column_stack([np.ones(len(possible), np.bool_), possible]).reshape(-1)
