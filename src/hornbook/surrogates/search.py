"""The search for an explanation of a classifier: trees, cards and rules of every size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.explanations import (
    DecisionTree,
    Explanation,
    Split,
)
from hornbook.explanations.tree import Node, decide_rows
from hornbook.surrogates.grid import EXCHANGE_SAMPLES, CodedRows, Floats, Grid, Ints
from hornbook.surrogates.naming import (
    Build,
    keep_condition,
    name_card,
    name_rules,
    name_tree,
    round_thresholds,
)
from hornbook.surrogates.rules import LiteralRules, fit_regions, fit_rules
from hornbook.surrogates.samples import ExchangeTest, SampleSource, WeighedSamples, find_rare
from hornbook.surrogates.score_card import MAX_NESTING, fit_cards
from hornbook.surrogates.tree import FULL_WORK, LEAST_GAIN, QUICK_WORK, Optimum, find_best_trees, fit_trees

Form: TypeAlias = Literal["auto", "tree", "card", "rules"]

FORMS = ("tree", "rules", "card")
"""The forms; of candidates that are equal otherwise, the first is chosen."""

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64)
"""Numbers of literals at which explanations are made."""

REGION_PRICES = (0.3, 0.5)
"""The least precisions of rules that name a rare class."""

CLOSED_GAP = 0.975
"""The share of what the best candidate is worth that a chosen one has."""

CLEAR_LEAD = 2.0
"""Standard errors by which a candidate is clearly better than another one."""


@dataclass(frozen=True, eq=False)
class ChoiceSamples:
    """The model's class of each of the samples that candidates are compared by, and what each counts."""

    truth: Ints
    weights: Floats

    def judge(self, decided: Ints) -> tuple[float, Floats]:
        """What decisions are worth: the mean of κ and of the share of the commonest class's errors not made.

        An explanation that names one class has 0, the model 1. With it comes how much each sample adds to it:
        the square root of the sum of squares of these is the standard error.
        """
        size = int(max(self.truth.max(), decided.max())) + 1
        weights = self.weights / self.weights.sum()
        counts = np.bincount(self.truth * size + decided, weights, size * size).reshape(size, size)
        given, predicted, agreement = counts.sum(axis=1), counts.sum(axis=0), float(np.trace(counts))
        right = (self.truth == decided) - agreement
        chance, common = float(given @ predicted), int(given.argmax())
        rest = 1 - float(given[common])
        if rest < 1e-12:  # the model gives one class alone
            return agreement - 1, weights * right
        kappa, closed = (agreement - chance) / (1 - chance), 1 - (1 - agreement) / rest
        by_kappa = (right - (1 - kappa) * (given[decided] + predicted[self.truth] - 2 * chance)) / (
            1 - chance
        )
        by_closed = (right - (1 - closed) * ((self.truth == common) - 1 + rest)) / rest
        return (kappa + closed) / 2, weights * (by_kappa + by_closed) / 2


@dataclass(frozen=True)
class Candidate:
    """An explanation, and what it decides of the fresh samples that candidates are compared by.

    `missed` is the share of the samples it was fitted to by which any tree with as many literals, or up to
    three literals in rules, may decide more of them rightly; None if that was not found out.
    """

    explanation: Explanation
    decided: Ints = field(compare=False, repr=False)  # (samples,)
    fresh: ChoiceSamples = field(compare=False, repr=False)
    missed: float | None = field(default=None, compare=False)

    @cached_property
    def worth(self) -> float:
        """What its decisions are worth: 0 if it names one class alone, 1 if they are the model's."""
        return self.fresh.judge(self.decided)[0]

    @property
    def agreement(self) -> float:
        """The share of the samples that are decided as the model decides them."""
        return float(np.average(self.decided == self.fresh.truth, weights=self.fresh.weights))

    @property
    def literals(self) -> int:
        """How many literals there are to read."""
        return self.explanation.literals

    @property
    def form(self) -> str:
        """Whether it is a tree, a card or rules."""
        return self.explanation.form

    @property
    def is_bounded(self) -> bool:
        """Whether no explanation of its form and size is better than the best tree of that size."""
        return self.literals <= (3 if self.form == "tree" or len(self.explanation.classes) == 2 else 2)

    def certify(self, optima: Sequence[Optimum], learning: WeighedSamples) -> Candidate:
        """The candidate with what it misses, on the samples that it was fitted to."""
        samples, labels, weights = learning.frame, learning.labels, learning.weights
        for optimum in optima:
            if optimum.questions == self.literals and self.is_bounded:
                right = float(weights[self.explanation.decide(samples) == labels].sum())
                missed = (optimum.bound - right) / float(weights.sum())
                return replace(self, missed=missed if missed > LEAST_GAIN else 0.0)
        return self


@dataclass(frozen=True)
class SearchResult:
    """All candidates, the shortest first, and the one chosen.

    `answers` counts the model's answers about samples; `searched_columns` are those that were looked at, and
    `exchanges` says which were not because the model seems not to read them.
    """

    candidates: tuple[Candidate, ...]
    chosen: Candidate
    answers: int
    searched_columns: tuple[str, ...]
    exchanges: ExchangeTest

    def frontier(self) -> tuple[Candidate, ...]:
        """The candidates that are better than every shorter one."""
        best, front = -np.inf, []
        for candidate in self.candidates:
            if candidate.worth > best:
                best = candidate.worth
                front.append(candidate)
        return tuple(front)


@dataclass(frozen=True)
class SearchSettings:
    """Which explanations are looked for, and on how many samples.

    Parameters
    ----------
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples explanations are fitted to; half as many fresh ones, of rows that are
        alike, choose. By default 16,000, and up to 24,000 for a large table, whose rows are samples too,
        and for rare classes; of thousands of columns fewer.
    balance
        How much classes weigh: 0 as often as the model decides for them, 1 all the same.
    certify
        Whether the best tree of three questions is sought for about two minutes.

    """

    form: Form = "auto"
    max_literals: int = 20
    n_samples: int | None = None
    balance: float = 0.0
    certify: bool = False

    def __post_init__(self) -> None:
        """Refuse an unknown form, and a size or weights that are impossible."""
        if self.form not in get_args(Form) or self.max_literals < 1:
            raise HornbookError(f"form is {', '.join(get_args(Form))}, and max_literals at least 1")
        if not 0 <= self.balance <= 1:
            raise HornbookError(f"balance is a number from 0 to 1; got {self.balance:g}")


def search_explanations(
    source: SampleSource,
    settings: SearchSettings = SearchSettings(),  # noqa: B008 (frozen)
    *,
    seed: int = 0,
    watch: Callable[[Candidate], None] | None = None,
) -> SearchResult:
    """Explain a model by a tree, a card or rules in the columns of its table.

    Parameters
    ----------
    source
        The model, and the rows that samples are made of.
    settings
        What is looked for.
    seed
        Decides the samples.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from hornbook.models import RowSampler
    >>> rows = pd.DataFrame({"age": np.arange(20.0, 90.0), "sex": ["f", "m"] * 35})
    >>> model = lambda rows: np.asarray((rows.age > 50) & (rows.sex == "f"), np.intp)
    >>> source = SampleSource.of(model, RowSampler(rows), ("no", "yes"))
    >>> result = search_explanations(source, SearchSettings(n_samples=2000))
    >>> print(result.chosen.explanation)
    if sex = f
      if age > 50: yes
      otherwise: no
    otherwise: no

    """
    form, max_literals, balance = settings.form, settings.max_literals, settings.balance
    classes, code_book = source.classes, source.code_book
    learning, choosing = source.draw_both(settings.n_samples, seed)
    names, exchanges = source.find_columns(learning, seed)
    observed, samples, fresh = (
        frame[names] for frame in (source.sampler.frame, learning.frame, choosing.frame)
    )
    by_class = weigh_classes(np.bincount(learning.labels, learning.weights, len(classes)), balance)
    weights = np.eye(len(classes))[learning.labels]
    weights *= (by_class[learning.labels] * learning.weights)[:, None]
    judge = ChoiceSamples(choosing.labels, by_class[choosing.labels] * choosing.weights)
    grid = Grid.of(observed, code_book=code_book, labelled=(samples, learning.labels))
    rows = grid.encode(samples).rank_categories(weights)
    judged = rows.grid.encode(fresh)
    builds: dict[Candidate, Build] = {}

    def add(decided: Ints, build: Build) -> None:
        explanation = build(keep_condition).with_code_book(code_book)
        candidate = Candidate(explanation, decided, judge)
        builds.setdefault(candidate, build)
        if watch is not None:
            watch(candidate)

    for decided, build in fit_explanations(rows, weights, classes, judged, max_literals, form):
        add(decided, build)
    optima = find_optima(builds, rows, weights, samples, FULL_WORK if settings.certify else QUICK_WORK)
    trees = [each.tree for each in optima if isinstance(each.tree, Split) and form in ("auto", "tree")]
    for root in trees:
        add(decide_rows(root, judged.where_true, len(judged)), partial(name_tree, root, rows.grid, classes))
    if not balance:
        learning = replace(learning, frame=samples)
        builds = {candidate.certify(optima, learning): build for candidate, build in builds.items()}
    ordered = sorted(builds, key=lambda one: (one.literals, -one.worth, FORMS.index(one.form)))
    chosen = choose_candidate(ordered, max_literals)
    everything = pd.concat([observed, samples, fresh], ignore_index=True)
    rounded = replace(chosen, explanation=round_thresholds(builds[chosen], everything, code_book))
    ordered[ordered.index(chosen)] = rounded
    answers = len(samples) + len(fresh) + exchanges.answers
    return SearchResult(tuple(ordered), rounded, answers, tuple(names), exchanges)


def find_optima(
    known: Collection[Candidate], rows: CodedRows, weights: Floats, samples: pd.DataFrame, work: float
) -> list[Optimum]:
    """Find the best small trees on the samples, given the candidates that are known."""
    if not len(rows.codes):  # there is nothing to make conditions of
        return []
    everyone, known_right = np.arange(len(samples)), 0.0
    for one in known:
        if one.form != "card" and one.is_bounded:
            known_right = max(known_right, float(weights[everyone, one.explanation.decide(samples)].sum()))
    limit = max((one.literals for one in known), default=0)
    return list(islice(find_best_trees(*rows.merge_equal(weights), known_right, work), limit))


def weigh_classes(sizes: NDArray[Any], balance: float) -> Floats:
    """What a sample of each class weighs, 1 in the mean of all samples; shape (classes,).

    Examples
    --------
    >>> sizes = np.array([90, 10])
    >>> weigh_classes(sizes, 0.0).tolist(), weigh_classes(sizes, 1.0).round(3).tolist()
    ([1.0, 1.0], [0.556, 5.0])

    """
    weights = np.where(sizes > 0, sizes, 1.0) ** -balance
    scaled: Floats = weights * (sizes.sum() / (weights @ sizes))
    return scaled


def choose_candidate(
    candidates: Sequence[Candidate], max_literals: int, closed_gap: float = CLOSED_GAP
) -> Candidate:
    """The shortest candidate that is worth nearly as much as the best one.

    A lead that may be chance does not count. The commonest class alone, a candidate without literals, is
    chosen only where no candidate is clearly better.

    Parameters
    ----------
    candidates
        The candidates, one without literals among them, with the same fresh samples.
    max_literals
        The most literals of a candidate that may be chosen.
    closed_gap
        The share of what the best one is worth, beyond one class alone, that it has to have.

    """
    short = [candidate for candidate in candidates if candidate.literals <= max_literals]
    literals = np.array([candidate.literals for candidate in short])
    judged = [candidate.fresh.judge(candidate.decided) for candidate in short]
    worth, parts = np.array([one for one, _ in judged]), np.stack([each for _, each in judged])
    leads = worth[:, None] - worth
    squares = (parts**2).sum(axis=1)
    spreads = np.sqrt(np.maximum(squares[:, None] + squares - 2 * parts @ parts.T, 0.0))
    gap = worth.max() - worth[literals == 0].max(initial=0.0)
    allowed = np.where(literals > 0, (1 - closed_gap) * gap, 0.0)
    beaten = ((leads > CLEAR_LEAD * spreads) & (leads > allowed)).any(axis=0)
    close = [candidate for candidate, worse in zip(short, beaten.tolist(), strict=True) if not worse]
    return min(close, key=lambda candidate: (candidate.literals, -candidate.worth))


def fit_rare_rules(rows: CodedRows, weights: Floats, max_literals: int) -> Iterator[LiteralRules]:
    """Rules that name the rarer classes alone, where there are any."""
    totals = weights.sum(axis=0)
    order = np.argsort(-totals, kind="stable")  # the commonest class is number 0 of a region
    numbers = np.argsort(order)[weights.argmax(axis=1)]
    for price in REGION_PRICES if find_rare(totals).any() else ():
        for region_rules in fit_regions(rows, numbers, weights.sum(axis=1), max_literals, price):
            named = tuple((body, int(order[outcome])) for body, outcome in region_rules.rules)
            yield LiteralRules(named, int(order[0]))


def fit_explanations(
    rows: CodedRows,
    weights: Floats,
    classes: tuple[str, ...],
    judged: CodedRows,
    max_literals: int,
    form: Form,
) -> Iterator[tuple[Ints, Build]]:
    """Decisions about other rows by explanations of each form and size, and what makes the explanations."""
    sizes = (*(size for size in SIZES if size < max_literals), max_literals)
    common = int(weights.sum(axis=0).argmax())
    yield np.full(len(judged), common), lambda change: DecisionTree(classes, common)
    if weights.any(axis=0).sum() < 2:
        return
    rows, weights = rows.merge_equal(weights)
    grid = rows.grid
    some, own = rows.first(EXCHANGE_SAMPLES), weights[:EXCHANGE_SAMPLES]
    trees: list[Node[int]] = [] if form == "card" else list(fit_trees(rows, weights, sizes))
    if form in ("auto", "tree"):
        for root in trees:
            decided = decide_rows(root, judged.where_true, len(judged))
            yield decided, partial(name_tree, root, grid, classes)
    if form in ("auto", "card"):
        outputs = 1 if len(classes) == 2 else len(classes)  # several classes have a card each
        card_sizes = tuple(dict.fromkeys(size // outputs for size in sizes if size >= outputs))
        for nesting in (1, MAX_NESTING) if len(classes) == 2 else (MAX_NESTING,):  # costs grow with classes
            for card in fit_cards(some, own, card_sizes, nesting):
                build = partial(name_card, card, grid, classes)
                if build(keep_condition).literals <= max_literals:  # as it is printed
                    yield card.decide(judged), build
    if form in ("auto", "rules"):
        rule_lists = chain(fit_rare_rules(some, own, max_literals), fit_rules(some, own, sizes, trees))
        for rules in dict.fromkeys(rule_lists):
            yield rules.decide(judged), partial(name_rules, rules, grid, classes)
