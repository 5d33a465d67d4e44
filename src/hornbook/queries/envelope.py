"""The Horn envelope of any teacher: exactly where all cases can be asked about, by samples elsewhere.

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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import and_
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.errors import HornbookError
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
)
from hornbook.queries.literals import Groups, exclusivity_rules
from hornbook.queries.lrn_star import quickxplain
from hornbook.queries.protocol import Counterexample, Equivalence, Exact, Membership, Step, Unknown


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
    kind: ClassVar[str] = "cases"

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

    def list_digits(self) -> NDArray[np.intp]:
        """The digits of all cases, shape (cases, digits)."""
        return np.indices(self.shape).reshape(len(self.shape), -1).T

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """Draw cases at random, each as likely as any other."""
        digits = [rng.integers(values, size=size) for values in self.shape]
        return self.make_batch(np.stack(digits, axis=1))

    def make_batch(self, digits: NDArray[np.intp]) -> Batch:
        """Cases as total interpretations, by their digits, shape (cases, digits)."""
        return Batch.from_array(self._read_cases(digits).T, self.vocabulary)

    def describe(self) -> str:
        """The cases in words."""
        return f"all {len(self):,} cases, each as likely as any other"

    def read_digits(self, batch: Batch) -> NDArray[np.intp]:
        """The digits of total interpretations, shape (cases, digits)."""
        true = batch.to_array() == 1
        digits = [true[:, axis] @ np.arange(1, len(axis) + 1) for axis in self.axes]
        return np.stack(digits, axis=1)

    def _read_cases(self, digits: NDArray[np.intp]) -> Bools:
        """Whether each variable is true in each case, shape (variables, cases)."""
        table = np.zeros((len(self.vocabulary), len(digits)), np.bool_)
        for axis, values in zip(self.axes, digits.T, strict=True):
            for place, variable in enumerate(axis, 1):
                table[variable] = values == place
        return table

    @cached_property
    def table(self) -> Bools:
        """Whether each variable is true in each case, shape (variables, cases)."""
        return self._read_cases(self.list_digits())

    @cached_property
    def batch(self) -> Batch:
        """All cases as total interpretations."""
        true = bits.pack_rows(self.table)
        return Batch(self.vocabulary, true, bits.pack_rows(~self.table), len(self))

    @cached_property
    def weights(self) -> NDArray[np.intp]:
        """What each variable adds to the number of a case in which it is true."""
        weights = np.zeros(len(self.vocabulary), np.intp)
        weight = 1
        for axis in reversed(self.axes):
            weights[list(axis)] = weight * np.arange(1, len(axis) + 1)
            weight *= len(axis) + 1
        return weights

    def find_breaches(self, body: Iterable[int], heads: Sequence[Head]) -> Bools:
        """The cases in which a body is true and not all of its heads are."""
        true = self.batch.true
        everything = np.full(true.shape[1], ~np.uint64(0))
        breaches = reduce(and_, (true[v] for v in body), everything)
        if not isinstance(heads[0], Bottom):
            breaches = breaches & ~reduce(and_, (true[head] for head in heads if isinstance(head, int)))
        return bits.flat(breaches, len(self))

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
    models
        For each case the number of the smallest model of the envelope above it; -1 if there is none.
    rules
        The rules without the background, canonical: the bodies of a size after all smaller ones.
    is_complete
        Whether there was time for all rules.

    """

    world: World
    accepted: Bools
    models: NDArray[np.intp]
    rules: tuple[Rule, ...]
    is_complete: bool = True

    @property
    def background(self) -> HornTheory:
        """The rules that no two variables of a group are true together."""
        return self.world.background

    @cached_property
    def theory(self) -> HornTheory:
        """The rules and the background."""
        return self.background | HornTheory(self.world.vocabulary, self.rules)

    @property
    def guarantee(self) -> Exact | Unknown:
        """The rules agree with the teacher, or are as near to it from above as Horn rules can be."""
        size = f"{len(self.world):,} cases"
        if not self.is_complete:
            left = int((self.theory.satisfied_by(self.world.batch) & ~self._closed).sum())
            return Unknown(
                f"the time was up; the rules hold of whatever the model accepts, and {left:,} of the {size} "
                "remain that further rules exclude",
                "undecided",
            )
        if not len(self.beyond_horn):
            return Exact()
        return Exact(f"no Horn theory that accepts what the model accepts is stronger ({size})")

    @property
    def _closed(self) -> Bools:
        """Whether each case is a model of the envelope."""
        closed: Bools = self.models == np.arange(len(self.world))
        return closed

    @cached_property
    def beyond_horn(self) -> NDArray[np.intp]:
        """The numbers of the rejected cases that every Horn theory above the teacher accepts."""
        return np.flatnonzero(self._closed & ~self.accepted)

    def shorten(self) -> HornTheory:
        """The background and rules that say the same, none of which, and no condition, can be left out."""
        short = list(dict.fromkeys(map(self._drop_conditions, self.rules)))
        times = np.zeros(len(self.world), np.int32)  # how many rules exclude each case
        for rule in short:
            times += self.world.find_breaches(rule.body, [rule.head])
        kept = []
        for rule in sorted(short, key=lambda rule: -len(rule.body)):  # of two ways the shorter stays
            breaches = self.world.find_breaches(rule.body, [rule.head])
            if (times[breaches] > 1).all():
                times -= breaches
            else:
                kept.append(rule)
        order = {rule: place for place, rule in enumerate(short)}
        return self.background | HornTheory(self.world.vocabulary, sorted(kept, key=order.__getitem__))

    def _drop_conditions(self, rule: Rule) -> Rule:
        """The rule with no more conditions than it needs."""
        weights, table = self.world.weights, self.world.table
        number, body = int(weights[sorted(rule.body)].sum()), set(rule.body)
        for v in sorted(rule.body):
            model = self.models[number - weights[v]]
            if model < 0 or (not isinstance(rule.head, Bottom) and table[rule.head, model]):
                body, number = body - {v}, number - int(weights[v])
        return Rule(body, rule.head)

    def list_clauses(self) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Explain the cases beyond Horn rules by few clauses (P, N): whenever P is true, one of N is.

        Each clause holds of every accepted case, no literal of it can be left out, and together they exclude
        all of the cases. Every N has two variables or more.
        """
        rows = bits.pack_rows(self.world.table[:, self.accepted])
        everything = bits.pack_rows(np.ones((1, int(self.accepted.sum())), np.bool_))[0]

        def none_accepted(true: frozenset[int], false: frozenset[int]) -> bool:
            literals = (*(rows[v] for v in true), *(~rows[v] for v in false))
            return not reduce(and_, literals, everything).any()

        left = self.beyond_horn
        while len(left):
            case = next(self.world.list_cases(left[:1]))
            false = quickxplain(partial(none_accepted, case.true), case.false)
            true = quickxplain(partial(none_accepted, false=false), case.true)
            yield true, false
            table = self.world.table[:, left]
            left = left[~(table[sorted(true)].all(axis=0) & ~table[sorted(false)].any(axis=0))]


def find_envelope(world: World, accepted: Bools, deadline: Deadline = NO_DEADLINE) -> Envelope:
    """The Horn envelope of the accepted cases of a world: its canonical basis, the smallest bodies first.

    The body of a rule is a case that satisfies all rules with smaller bodies, and is not a model of the
    envelope (Duquenne and Guigues); its heads are what all models above it share.

    Examples
    --------
    >>> from hornbook.logic import UNICODE, rule_text
    >>> world = World(Vocabulary(["she", "he", "nurse", "boxer"]), ((0, 1), (2, 3)))
    >>> she, he, _, boxer = world.batch.to_array().T == 1  # one of two is known, and no boxer is a she
    >>> envelope = find_envelope(world, (she | he) & ~(she & boxer))
    >>> for rule in envelope.rules:
    ...     print(rule_text(world.vocabulary, rule, UNICODE))
    boxer → he
    >>> [world.vocabulary.named(false) for true, false in envelope.list_clauses()]
    [('she', 'he')]

    """
    models = _find_models(accepted.reshape(world.shape))
    open_cases, sizes = models != np.arange(len(world)), world.table.sum(axis=0)
    satisfying, rules = np.ones(len(world), np.bool_), list[Rule]()
    for size in range(len(world.axes) + 1):
        excluded = np.zeros_like(satisfying)
        for number in np.flatnonzero(satisfying & open_cases & (sizes == size)):
            if deadline.passed:
                return Envelope(world, accepted, models, tuple(rules), is_complete=False)
            body, model = world.table[:, number], models[number]
            variables = np.flatnonzero(body).tolist()
            added = np.flatnonzero(world.table[:, model] & ~body).tolist()
            heads: Sequence[Head] = [BOTTOM] if model < 0 else added
            rules += [Rule(variables, head) for head in heads]
            excluded |= world.find_breaches(variables, heads)
        satisfying &= ~excluded
    return Envelope(world, accepted, models, tuple(rules))


def _find_models(accepted: Bools) -> NDArray[np.intp]:
    """For each case the number of the smallest intersection of accepted cases above it; -1 without any.

    `accepted` has an axis for each digit.
    """
    above = accepted.astype(np.int64)  # the number of accepted cases above each case
    for axis in range(above.ndim):
        by_value = np.moveaxis(above, axis, 0)
        by_value[0] += by_value[1:].sum(axis=0)
    models, weight = np.arange(above.size).reshape(above.shape), 1
    for axis in reversed(range(above.ndim)):
        counts, numbers = np.moveaxis(above, axis, 0), np.moveaxis(models, axis, 0)
        for value in range(1, len(counts)):  # where all cases above have the same level
            numbers[0] += np.where(counts[value] == counts[0], value * weight, 0)
        weight *= len(counts)
    return np.where(above == 0, -1, models).reshape(-1)


class KnownCases:
    """A teacher that is asked about no case twice, and above which there is a Horn theory at any time.

    What it rejects is accepted once it is the intersection of cases that the teacher accepted before: no Horn
    theory above the teacher can exclude it.

    Parameters
    ----------
    member
        The teacher: a function of total interpretations.
    world
        All cases.

    Attributes
    ----------
    beyond_horn
        The cases that were found to be such intersections, as sets of true variables.

    """

    def __init__(self, member: Membership, world: World) -> None:
        self.member, self.world = member, world
        self.beyond_horn: set[frozenset[int]] = set()
        self._answers: dict[tuple[int, int], bool] = {}
        self._accepted = np.zeros((0, len(world.vocabulary)), np.bool_)

    def __call__(self, batch: Batch) -> Bools:
        """Whether each case is accepted, or an intersection of what was accepted before."""
        keys = batch.masks
        new = {key: place for place, key in enumerate(keys) if key not in self._answers}
        new_cases = batch[list(new.values())]
        answers = self.member(new_cases) if len(new_cases) else np.zeros(0, np.bool_)
        self._answers.update(zip(new, answers.tolist(), strict=True))
        accepted = np.array([self._answers[key] for key in keys], np.bool_)
        for place in np.flatnonzero(~accepted):
            case = batch[int(place)].true
            if self.find_model(case) == case:
                self.beyond_horn.add(case)
                accepted[place] = True
        self._accepted = np.concatenate([self._accepted, new_cases.to_array()[answers] == 1])
        return accepted

    def find_model(self, true: frozenset[int]) -> frozenset[int] | None:
        """What all accepted cases above share; None if there is none."""
        above = self._accepted[self._accepted[:, sorted(true)].all(axis=1)]
        return frozenset(np.flatnonzero(above.all(axis=0)).tolist()) if len(above) else None

    def list_rules(self, body: frozenset[int]) -> list[Rule]:
        """The strongest rules with a body that hold of all accepted cases."""
        model = self.find_model(body)
        heads: Iterable[Head] = [BOTTOM] if model is None else sorted(model - body)
        return [Rule(body, head) for head in heads]


def learn_by_samples(known: KnownCases, equivalent: Equivalence) -> Iterator[Step]:
    """Learn towards the envelope, yielding each hypothesis with the answer to it; it always ends.

    This is HORN1 (`horn1`), but for what it does with a teacher that is not Horn: rejected cases that no rule
    can exclude are set aside, as by S. Blum and others. Every rule holds of all cases that are known to be
    accepted.

    Parameters
    ----------
    known
        The teacher.
    equivalent
        Finds cases on which it and a hypothesis differ.

    """
    world, S = known.world, list[frozenset[int]]()
    everything = frozenset(range(len(world.vocabulary)))
    H = world.background
    while isinstance(answer := equivalent(H), Counterexample):
        yield Step(H, answer)
        x = answer.interpretation.true
        if not answer.positive and known.list_rules(x):
            for i, s in enumerate(S):
                meet = [Interpretation(s & x, everything - (s & x))]
                if s & x < s and not known(Batch.from_interpretations(meet, world.vocabulary))[0]:
                    S[i] = s & x
                    break
            else:
                S.append(x)
        rules = {s: known.list_rules(s) for s in S}
        S = [s for s in S if rules[s]]  # what became an intersection of accepted cases is set aside
        H = world.background | HornTheory(world.vocabulary, (rule for s in S for rule in rules[s]))
    yield Step(H, answer)
