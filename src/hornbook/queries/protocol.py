"""The protocol between learners and teachers: queries, counterexamples, guarantees, budgets.

A question is a pair (P, N): the partial interpretation with P true, N false and all else
unknown. A teacher rejects it exactly when its hidden formula entails ⋀P → ⋁N. So (A, {u})
asks for the rule A → u, (A, ∅) asks for A → ⊥, and (A, V∖A) asks whether A is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, Interpretation, Vocabulary, quote
from hornbook.schema import also_writes
from hornbook.statistics import Share


class Membership(Protocol):
    """Answers, for each interpretation of a batch, whether the teacher accepts it."""

    def __call__(self, batch: Batch, /) -> Bools: ...


class Equivalence(Protocol):
    """Answers with a counterexample, or with the guarantee under which it found none.

    None found is not none exists: only `Exact` and `Proved` say so.
    """

    def __call__(self, hypothesis: HornTheory, /) -> Counterexample | Guarantee: ...


@dataclass(frozen=True)
class Counterexample:
    """An interpretation on which explanation and model differ.

    Negative: the hypothesis accepts it and the teacher rejects it, so a rule is missing.
    Positive: the teacher accepts it and the hypothesis rejects it, so a rule is wrong.
    """

    interpretation: Interpretation
    positive: bool = False
    found_by: str = "teacher"


UnknownKind: TypeAlias = Literal["none", "refuted", "undecided"]
"""Nothing was sought to be proved, or it was proved wrong, or neither."""


@also_writes(says=str)
@dataclass(frozen=True)
class Exact(Displayed):
    """A claim that holds of every interpretation, by default that rules and teacher agree."""

    claim: str = "rules and teacher agree on every interpretation"

    kind = "exact"

    def __str__(self) -> str:
        return f"exact: {self.claim}"


@also_writes(says=str)
@dataclass(frozen=True)
class Unknown(Displayed):
    """No guarantee: a search found no counterexample; `reason` says which."""

    reason: str
    kind: UnknownKind = "none"

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


@also_writes(says=str)
@dataclass(frozen=True)
class Pac(Displayed):
    """With probability 1 - δ explanation and model differ on at most a share ε of a distribution."""

    epsilon: float
    delta: float
    distribution: str

    kind = "pac"

    def __str__(self) -> str:
        return (
            f"PAC: with probability {1 - self.delta:g}, explanation and model differ on at most "
            f"{100 * self.epsilon:g} % of: {self.distribution}"
        )


@also_writes(says=str)
@dataclass(frozen=True)
class Estimated(Displayed):
    """The disagreement observed on fresh samples of a distribution, with its interval."""

    disagreement: Share
    distribution: str

    kind = "estimated"

    def __str__(self) -> str:
        return f"estimated: explanation and model differ on {self.disagreement} of: {self.distribution}"


@also_writes(says=str)
@dataclass(frozen=True)
class Proved(Displayed):
    """It holds for every input, by a proof: `margin` is how far the output stays from a breach."""

    by: str
    margin: float

    kind = "proved"

    def __str__(self) -> str:
        if self.margin == float("inf"):
            return f"proved: nothing can violate it ({self.by})"
        return f"proved for every input by {self.by}, with a margin of {self.margin:.2g}"


Guarantee: TypeAlias = Exact | Proved | Pac | Estimated | Unknown

Question: TypeAlias = tuple[Iterable[int], Iterable[int]]


class IncoherentTeacher(HornbookError):
    """The answers fit no Horn theory, and the learner at hand needs one."""


class NotHorn(IncoherentTeacher):
    """A teacher accepts two interpretations and rejects their meet, or both accepts and rejects one.

    Attributes
    ----------
    accepted
        The true variables of each of the one or two that it accepts; all others are false.
    rejected
        The true variables of the one that it rejects: those that `accepted` share.

    """

    def __init__(
        self, vocabulary: Vocabulary, accepted: tuple[frozenset[int], ...], rejected: frozenset[int]
    ) -> None:
        self.accepted, self.rejected = accepted, rejected
        each = " and ".join(describe_true(vocabulary, true) for true in accepted)
        meet = f", their meet {describe_true(vocabulary, rejected)}" if len(accepted) > 1 else " too"
        super().__init__(f"the teacher is not Horn: it accepts {each} and rejects{meet}")


def describe_true(vocabulary: Vocabulary, true: Iterable[int]) -> str:
    """A total interpretation by its true variables, in braces.

    Examples
    --------
    >>> describe_true(Vocabulary(["sunny", "happy"]), {1})
    '{happy}'

    """
    return "{" + ", ".join(map(quote, vocabulary.named(true))) + "}"


def interpretation(vocabulary: Vocabulary, true: Iterable[int], false: Iterable[int] = ()) -> Interpretation:
    """The question (P, N), made pair-consistent: a variable is true exactly when its dual is false.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> interpretation(vocabulary, {0}, {1})
    true [0, 3], false [1, 2], all else unknown

    """
    true, false = frozenset(true), frozenset(false)
    if not vocabulary.has_duals:
        return Interpretation(true, false)
    return Interpretation(true | _duals(vocabulary, false), false | _duals(vocabulary, true))


def rejected(member: Membership, vocabulary: Vocabulary, questions: Sequence[Question]) -> Bools:
    """For each question (P, N), whether the teacher rejects it, so that ⋀P → ⋁N is its rule."""
    items = [interpretation(vocabulary, true, false) for true, false in questions]
    return ~member(Batch.from_interpretations(items, vocabulary))


def _duals(vocabulary: Vocabulary, variables: Iterable[int]) -> frozenset[int]:
    return frozenset(dual for v in variables if (dual := vocabulary.dual(v)) is not None)


@dataclass(frozen=True)
class Step:
    """One equivalence query: the hypothesis and the answer."""

    hypothesis: HornTheory
    answer: Counterexample | Guarantee


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None is no limit. `reserve` are seconds that are kept for what comes after it."""

    equivalence_queries: int | None = None
    membership_queries: int | None = None
    seconds: float | None = None
    reserve: float = 0.0

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit is not None and not limit >= 0:
                raise HornbookError(f"{name.replace('_', ' ')} have a limit from 0 on, not {limit}")

    def exhausted_by(
        self, equivalence_queries: int, membership_queries: int = 0, seconds: float = 0.0
    ) -> str | None:
        """The limit that has been reached, in words, or None."""
        limits = (
            ("equivalence queries", self.equivalence_queries, equivalence_queries),
            ("membership queries", self.membership_queries, membership_queries),
            ("seconds", self.seconds, seconds + self.reserve),
        )
        for name, limit, spent in limits:
            if limit is not None and spent >= limit:
                return f"budget of {limit} {name}"
        return None
