"""The settings of a run by queries and its result; how precise rules are, and how coherent a teacher is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import (
    Batch,
    Bools,
    Bottom,
    Head,
    HornTheory,
    Interpretation,
    Rule,
    Words,
    bits,
)
from hornbook.logic.formats import to_json
from hornbook.queries.completions import COMPLETIONS_BLOCK, Completions
from hornbook.queries.distributions import Distribution, Mixture, flatten_mixture
from hornbook.queries.literals import Groups
from hornbook.queries.protocol import Budget, Guarantee, Membership
from hornbook.queries.trace import Trace
from hornbook.statistics import Share

EVALUATION_CHUNK = 1 << 15
"""Number of interpretations judged at a time, which bounds the memory for any sample size."""


def ask_judge(member: Membership, batch: Batch, name: str) -> Bools:
    """A judge's answers, shape (items,); refuse any other shape."""
    answered = np.asarray(member(batch))
    if answered.shape != (len(batch),):
        raise HornbookError(f"{name} gave answers of shape {answered.shape} to {len(batch)} interpretations")
    return answered.astype(np.bool_, copy=False)


@dataclass(frozen=True)
class Disagreement:
    """For each pair of judges, the share of interpretations that they judge differently.

    `shares` holds the pairs by name, `by_kind` the same for each kind of interpretation in
    the distribution. Intervals are for one share at a time.
    """

    shares: dict[str, Share]
    by_kind: dict[str, dict[str, Share]]

    def __getitem__(self, pair: str) -> Share:
        return self.shares[pair]


def measure_disagreement(
    judges: Mapping[str, Membership],
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
) -> Disagreement:
    """The pairwise disagreement of judges on `size` fresh interpretations.

    The pair of the judges `t` and `h`, given in that order, is called `t_h`. A mixture is
    also broken down by the kind of its components, those of mixtures within it included.

    Parameters
    ----------
    judges
        The judges to compare, each with a short name. The order decides what a pair is
        called: `t, h, tree, nn` gives t_h, t_tree, t_nn, h_tree, h_nn and tree_nn.
    distribution
        Where the interpretations come from.
    size
        Number of interpretations. Memory does not depend on it.
    rng
        The source of randomness.

    Examples
    --------
    >>> from hornbook.queries import Random, Violations
    >>> from hornbook.logic import HornTheory
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> mixed = Mixture((Random(t.vocabulary), Violations(t)), (1, 1))
    >>> judges = {"t": t.satisfied_by, "h": h.satisfied_by}
    >>> found = measure_disagreement(judges, mixed, 10_000, np.random.default_rng(0))
    >>> 0.03 < found.shares["t_h"].estimate < 0.04
    True
    >>> found.by_kind["violation"]["t_h"].hits
    0

    """
    if len(judges) < 2:
        raise HornbookError(f"a disagreement needs two judges at least; got {list(judges)}")
    if size < 1:
        raise HornbookError(f"a share is estimated from at least one sample; got size={size}")
    components, weights = zip(*flatten_mixture(distribution), strict=True)
    mixture, pairs = Mixture(components, weights), list(combinations(judges, 2))
    differences = np.zeros((len(components), len(pairs)), np.int64)
    sizes = np.zeros(len(components), np.int64)
    for start in range(0, size, EVALUATION_CHUNK):
        batch, component = mixture.draw_labelled(min(EVALUATION_CHUNK, size - start), rng)
        sizes += np.bincount(component, minlength=len(components))
        answered = {name: ask_judge(member, batch, name) for name, member in judges.items()}
        for column, (left, right) in enumerate(pairs):
            differing = component[answered[left] != answered[right]]
            differences[:, column] += np.bincount(differing, minlength=len(components))

    kinds = np.array([component.kind for component in components])
    names = [f"{left}_{right}" for left, right in pairs]

    def shares(members: Bools) -> dict[str, Share]:
        total = int(sizes[members].sum())
        hits = differences[members].sum(axis=0).tolist()
        return {name: Share.of(hit, total) for name, hit in zip(names, hits, strict=True)}

    return Disagreement(
        shares(np.ones(len(components), np.bool_)),
        {kind: shares(kinds == kind) for kind in dict.fromkeys(kinds.tolist())},
    )


@dataclass(frozen=True)
class RuleStatistics:
    """Statistics of one rule on fresh interpretations.

    Attributes
    ----------
    rule
        The rule A → c.
    support
        The share of interpretations in which every variable of A is known to be true.
    precision
        Of the interpretations that break the rule, those with A true and c known to be false
        (any with A true where the head is ⊥), the share that the model rejects. A rule that
        the model obeys has 1. One that no interpretation broke has the interval [0, 1].
    found_by
        The equivalence oracle whose counterexample led to the rule; None where that is not known.
    entailed_by_model
        Whether the model rejects the body with the head false and all else unknown. A precise
        rule need not be entailed; None where the model was not asked.

    """

    rule: Rule
    support: Share
    precision: Share
    found_by: str | None = None
    entailed_by_model: bool | None = None


def measure_rules(theory: HornTheory, batch: Batch, accepted: Bools) -> list[RuleStatistics]:
    """The statistics of every rule, in order.

    Long bodies are hardly ever true in random interpretations. To measure their precision,
    draw from `Violations(theory)`, which breaks one rule after another; the support is then
    that among violations.

    Parameters
    ----------
    theory
        The rules to measure.
    batch, accepted
        Fresh interpretations, and whether the model accepts each.

    Examples
    --------
    >>> from hornbook.queries.distributions import Random
    >>> t = HornTheory.parse("horse & wings -> pegasus")
    >>> h = HornTheory.parse("horse -> pegasus", t.vocabulary)
    >>> batch = Random(t.vocabulary).draw(9000, np.random.default_rng(0))
    >>> [found] = measure_rules(h, batch, t.satisfied_by(batch))
    >>> found.support.low < 1 / 3 < found.support.high  # horse is 1, 0 or ? with equal probability
    True
    >>> found.precision.low < 1 / 3 < found.precision.high  # the model also needs wings
    True

    """
    counts = _count_outcomes(theory, batch, ~accepted).tolist()
    return [
        RuleStatistics(rule, Share.of(fired, len(batch)), Share.of(rejected, broken))
        for rule, (fired, broken, rejected) in zip(theory, counts, strict=True)
    ]


def _count_outcomes(theory: HornTheory, batch: Batch, rejected: Bools) -> NDArray[np.int64]:
    """Numbers of interpretations that fire each rule, break it, and break it and are rejected: (rules, 3)."""
    refused = bits.pack_rows(rejected[None, :])[0]
    fires: dict[frozenset[int], Words] = {}
    counts = np.zeros((len(theory), 3), np.int64)
    for row, rule in zip(counts, theory, strict=True):
        if rule.body not in fires:
            fires[rule.body] = np.bitwise_and.reduce(batch.true[sorted(rule.body)], axis=0)
            bits.clear_spare(fires[rule.body], len(batch))
        fired = fires[rule.body]
        broken = fired if isinstance(rule.head, Bottom) else fired & batch.false[rule.head]
        row[:] = [np.bitwise_count(words).sum() for words in (fired, broken, broken & refused)]
    return counts


@dataclass(frozen=True)
class CoherenceReport(Displayed):
    """The measured rates at which a teacher contradicts itself.

    A formula rejects a partial interpretation exactly when it rejects every completion of it. The
    answers of a network about ? need not come from any formula.

    `rejected` is the share of rejected partial interpretations with an accepted completion:
    each is a contradiction. `accepted` is the share of accepted ones without an accepted
    completion among those tried: each is one only if there is no other.
    """

    rejected: Share
    accepted: Share
    completions: int
    distribution: str

    @property
    def rate(self) -> Share:
        """The share of all partial interpretations, of either kind."""
        return Share.of(
            self.rejected.hits + self.accepted.hits,
            self.rejected.size + self.accepted.size,
            self.rejected.confidence,
        )

    def __str__(self) -> str:
        return (
            f"rejected although a completion is accepted: {self.rejected} of the rejected\n"
            f"accepted although none of {self.completions} completions is: {self.accepted} of the accepted\n"
            f"measured on: {self.distribution}"
        )


def measure_coherence(
    member: Membership,
    distribution: Distribution,
    size: int = 10_000,
    completions: int = 32,
    *,
    rng: np.random.Generator,
    groups: Groups = (),
) -> CoherenceReport:
    r"""Measure how often answers about partial interpretations contradict those about completions.

    Parameters
    ----------
    member
        The teacher, who answers about unknown values itself.
    distribution
        Where the interpretations come from; those without unknown values are not counted.
    size
        How many are drawn.
    completions
        How many completions of each are tried.
    rng
        The source of randomness.
    groups
        Sets of variables that exclude each other.

    Examples
    --------
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.queries.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus \n pegasus -> myth")
    >>> drawn, rng = Random(theory.vocabulary), np.random.default_rng(0)
    >>> print(measure_coherence(theory.satisfied_by, drawn, 1000, rng=rng))  # doctest: +ELLIPSIS
    rejected although a completion is accepted: 0.00 % (95 % interval 0.00 % to ... %) of the rejected
    accepted although none of 32 completions is: 0.00 % (95 % interval 0.00 % to ... %) of the accepted
    measured on: random interpretations of 4 variables, each value unknown with probability 33.3 %

    """
    if completions < 1:
        raise HornbookError(f"coherence is about completions: at least one is tried; got {completions}")
    table = Completions(distribution.vocabulary, completions, rng=rng, groups=groups)
    counts = np.zeros((2, 2), np.intp)  # by the answer to the partial one, and whether it is contradicted
    for start in range(0, size, COMPLETIONS_BLOCK):
        batch = distribution.draw(min(COMPLETIONS_BLOCK, size - start), rng)
        batch = batch[table.prepare(batch).any]
        answers = member(batch)
        contradicted = table.accept_some(member, batch) != answers
        np.add.at(counts, (answers.astype(np.intp), contradicted.astype(np.intp)), 1)
    rejected, accepted = (Share.of(row[1], row.sum()) for row in counts)
    return CoherenceReport(rejected, accepted, completions, distribution.describe())


ORACLE_SHARES = {"stored": 0.5, "rules": 0.0, "sampling": 0.25}
"""Half of the queries are answered from the pool; fresh samples prevent overfitting to it.

The rule oracle is asked only when the pool has nothing: its questions are decisive late in a run.
"""


Learner: TypeAlias = Literal["prime", "lrn_star", "horn1", "envelope"]
"""Our own learner for any model; LRN* as the paper prints it; HORN1, from complete interpretations; and the
Horn envelope, exactly, where every case can be asked about."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run of a query learner.

    Parameters
    ----------
    budget
        Limits on queries and time.
    learner
        `prime`, `lrn_star`, `horn1` or `envelope`. Only the first has a pool, tries, shares of oracles, and
        limits on the number and precision of rules.
    size, epsilon, delta
        How many samples an equivalence query draws, see `hornbook.statistics.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too. It trades the
        number and the length of rules for fidelity.
    shares
        By name, the share of the equivalence queries that an oracle may answer before the others
        are asked; see `hornbook.queries.oracles`.
    pool
        Number of labelled samples in the initial pool, on which rules are evaluated.
    tries
        Number of candidate rules for each counterexample.
    max_rules
        Maximum number of rules besides the background; the least useful ones are dropped.
    max_literals
        Maximum number of literals of the chosen rules; the most useful rules come first. None
        stands for 20 of what `prime` learned about a classifier, and for no limit elsewhere.
    evaluation
        Number of labelled samples held out to measure every hypothesis and rule; no rule is
        chosen by them.
    coherence
        Number of samples on which the teacher's answers are compared with its answers about
        completions; 0 to skip.
    seed
        Makes the run repeatable.

    """

    budget: Budget = Budget(equivalence_queries=100)  # noqa: RUF009 (frozen)
    learner: Learner = "prime"
    size: str | int = "paper"
    epsilon: float = 0.1
    delta: float = 0.1
    min_precision: float = 0.9
    shares: Mapping[str, float] = field(default_factory=lambda: dict(ORACLE_SHARES))
    pool: int = 1 << 17
    tries: int = 4
    max_rules: int = 100
    max_literals: int | None = None
    evaluation: int = 1 << 16
    coherence: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        if self.learner not in get_args(Learner):
            raise HornbookError(f"a learner is one of {', '.join(get_args(Learner))}; got {self.learner!r}")
        if not 0 < self.min_precision <= 1:
            raise HornbookError(f"min_precision is above 0 and at most 1; got {self.min_precision}")
        for name, least in (
            ("pool", 1),
            ("tries", 1),
            ("max_rules", 1),
            ("evaluation", 1),
            ("coherence", 0),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise HornbookError(f"{name} is at least {least}; got {getattr(self, name)}")


def run_identity(
    settings: Settings,
    distribution: Distribution,
    background: HornTheory | None,
    heads: Sequence[Head] | None,
) -> dict[str, Any]:
    """The settings that determine the steps of a run, given the teacher; a trace is tied to them.

    The budget is not among them, so a run can be resumed with a larger one; nor is how much is to be read.
    """
    vocabulary = distribution.vocabulary
    given = asdict(settings)
    decisive = {name: given[name] for name in given if name not in ("budget", "max_literals")}
    return decisive | {
        "distribution": distribution.describe(),
        "vocabulary": _digest(to_json(vocabulary, ())),
        "background": _digest(to_json(vocabulary, background or ())),
        "heads": None
        if heads is None
        else [None if isinstance(head, Bottom) else vocabulary.name(head) for head in heads],
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class DisagreementPoint:
    """The size of a hypothesis, in rules and literals of bodies, and its disagreement on held-out samples."""

    rules: int
    literals: int
    disagreement: Share


@dataclass(frozen=True)
class QueryResult:
    """The result of a query learner on a model.

    Attributes
    ----------
    theory, background
        The rules found with the background, and the background alone.
    guarantee
        Under what the theory is held to be equivalent to the model.
    disagreement
        The share of held-out samples on which the theory and the model differ.
    stop_reason
        What ended the run.
    statistics
        What each of the `rules` is worth on held-out samples, in their order, and which oracle's
        counterexample led to it; empty if the run ended before any were labelled.
    samples
        The held-out samples, and whether the model accepts each; None if none were labelled.
    coherence
        How often the model's answers about unknown values contradict its other answers, with
        witnesses; None if it was not measured.
    changed_answers
        The share of questions to which the model gave another answer at the end of the run.
    frontier
        Each hypothesis on the way: how much there was to read, and how faithful it was.
    refuted
        Rules that were found and then removed, each with an item that the model accepts against it.
    membership_queries
        How many questions the model was asked.
    trace
        What happened, an entry for each equivalence query.

    """

    theory: HornTheory
    background: HornTheory
    guarantee: Guarantee
    disagreement: Share
    stop_reason: str
    statistics: tuple[RuleStatistics, ...]
    samples: tuple[Batch, Bools] | None
    coherence: CoherenceReport | None
    changed_answers: Share
    frontier: tuple[DisagreementPoint, ...]
    refuted: dict[Rule, Interpretation]
    membership_queries: int
    trace: Trace

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)
