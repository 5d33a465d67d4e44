"""The paper's task: a table as rows, its target theory T, and training sets labelled by T.

A protocol is how that is done where the paper's text leaves a choice open. `PAPER_PROTOCOL` and
`HALF_PROTOCOL` follow the text, which says two things of ?: a vector has "1 if v ∈ I, and 0 otherwise", so
that an unknown pair is (0, 0); and inputs are in {0, 1, ?}, so that ? may be a number of its own, ½.
`HARD_PROTOCOL` is a second experiment of ours, on a harder task: some accepted examples are real rows and
near misses, and most of what a violated rule leaves open is known.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations.
Northern Lights Deep Learning Workshop 3, 2022.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Bottom, Head, HornTheory, Rule, Vocabulary, Words, bits
from hornbook.paper.claims import QUERIES
from hornbook.paper.networks import Examples, Net, Training
from hornbook.paper.search import train
from hornbook.queries import (
    DEFAULT_MISSING,
    MLP,
    Binariser,
    Counted,
    Counterexample,
    Distribution,
    Guarantee,
    Membership,
    Mixture,
    NegativeSampling,
    Random,
    Rows,
    Unknown,
    Violations,
    lrn_star,
    target_theory,
)
from hornbook.queries.distributions import draw_numbers
from hornbook.queries.network import EncodingName
from hornbook.queries.violations import OPEN_UNKNOWN
from hornbook.tables import Table

ENCODING_LABELS: dict[EncodingName, str] = {"zero": "(0, 0)", "half": "½"}
"""How tables name the encodings of an unknown pair."""

ASKED_VIOLATIONS = 0.5
"""The share of violations among the interpretations of queries and evaluations."""

MAX_FRUITLESS_DRAWS = 30
"""Number of draws without a new example after which the search for distinct examples fails."""


@dataclass(frozen=True)
class NearMisses(Violations):
    """A random rule violated, except for one literal of its body: it is false, and its dual true.

    So two rows of a table differ. No variable of a group becomes true in that way.
    """

    kind: ClassVar[str] = "near miss"

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that can be violated and have a body literal to change."""
        return tuple(rule for rule in super().rules if self._changeable(rule))

    @cached_property
    def changeable(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The changeable literals of each rule, padded to (rules, length), and their numbers, (rules,)."""
        lists = [self._changeable(rule) for rule in self.rules]
        lengths = np.array([len(literals) for literals in lists], np.intp)
        padded = np.zeros((len(lists), lengths.max()), np.intp)
        for row, literals in zip(padded, lists, strict=True):
            row[: len(literals)] = literals
        return padded, lengths

    @cached_property
    def changes(self) -> Words:
        """For each literal, the literals that its change toggles."""
        every = ({literal} for literal in range(2 * self.literals.count))
        return self.literals.table([one | self.literals.opposite(one) for one in every])

    def draw_literals(self, count: int, rng: np.random.Generator) -> Words:
        """The literals that each item must have, shape (literals, count)."""
        chosen = draw_numbers(len(self.rules), count, rng)
        changeable, lengths = self.changeable
        changed = changeable[chosen, rng.integers(lengths[chosen])]
        return bits.gather_rows((self.table, chosen), (self.changes, changed))

    def describe(self) -> str:
        """The distribution in words."""
        return (
            f"near misses of one of {len(self.rules)} rules, one of its body literals flipped, "
            f"{self.describe_rest()}"
        )

    def _changeable(self, rule: Rule) -> list[int]:
        grouped = self.literals.true(v for group in self.groups for v in group)
        head = () if isinstance(rule.head, Bottom) else (rule.head,)
        kept = self.literals.opposite(self.literals.true(head)) | self.literals.opposite(grouped)
        return sorted(self.literals.true(rule.body) - kept)


@dataclass(frozen=True)
class Recipe:
    """The distributions and numbers of accepted and rejected training examples."""

    accepted: Distribution
    rejected: Distribution
    sizes: tuple[int, int] = (200, 200)


@dataclass(frozen=True)
class Protocol:
    """One value for each choice that the paper leaves open about its task, networks and algorithm.

    Parameters
    ----------
    name
        Its name in results and run folders.
    open_unknown
        The probability that a value which a violated rule leaves open is unknown.
    hard_share
        The share of hard examples among the accepted: half of them real rows with their class, half
        near misses; without rows all are near misses.
    encoding
        How 1, 0 and ? enter a network and a tree.
    epochs
        How long networks are trained, by gradient descent.
    sizes
        The numbers of accepted and of rejected training examples; the paper names 200 of each.

    """

    name: str
    open_unknown: float = OPEN_UNKNOWN
    hard_share: float = 0.0
    encoding: EncodingName = "zero"
    epochs: int = 20
    sizes: tuple[int, int] = (200, 200)

    @property
    def is_published(self) -> bool:
        """Whether the task is the paper's, without hard examples, so that its claims can be judged."""
        return not self.hard_share

    @property
    def label(self) -> str:
        """How tables name it: by its encoding, and as hard where it is."""
        encoding = ENCODING_LABELS[self.encoding]
        return encoding if self.is_published else f"{self.name}, {encoding}"

    @property
    def training(self) -> Training:
        """How networks are trained."""
        return Training(self.epochs)

    @property
    def unknown_input(self) -> float:
        """The number for an unknown value in the input of a tree, which has one input a variable."""
        return 0.0 if self.encoding == "zero" else 0.5

    def recipe(self, theory: HornTheory, rows: Batch | None = None) -> Recipe:
        """The training sets: accepted examples random but for the hard ones, rejected ones violate a rule.

        `theory` has the rules to violate; `rows` are real rows with their class.
        """
        accepted: Distribution = Random(theory.vocabulary)
        if self.hard_share:
            near = NearMisses(theory, self.open_unknown)
            hard: tuple[Distribution, ...] = (near,) if rows is None else (Rows(rows), near)
            shares = (1 - self.hard_share, *(self.hard_share / len(hard) for _ in hard))
            accepted = Mixture((accepted, *hard), shares)
        return Recipe(accepted, Violations(theory, self.open_unknown), self.sizes)

    def mixed(self, theory: HornTheory, rows: Batch | None = None) -> Mixture:
        """The interpretations of queries and evaluations: violations, and examples like the accepted ones."""
        recipe = self.recipe(theory, rows)
        accepted = recipe.accepted
        parts, shares = (
            (accepted.components, accepted.shares) if isinstance(accepted, Mixture) else ((accepted,), (1.0,))
        )
        others = ((1 - ASKED_VIOLATIONS) * share for share in shares)
        return Mixture((recipe.rejected, *parts), (ASKED_VIOLATIONS, *others))


PAPER_PROTOCOL = Protocol("paper")
"""As the paper has it, read by the letter: of an unknown pair both inputs are 0."""

HALF_PROTOCOL = Protocol("paper-half", encoding="half")
"""As the paper has it, where ? is a number of its own, ½."""

HARD_PROTOCOL = Protocol("hard", open_unknown=DEFAULT_MISSING, hard_share=0.1, encoding="half")
"""A harder task: one accepted example in ten is hard, and what a rule leaves open is mostly known."""

PROTOCOLS = {protocol.name: protocol for protocol in (PAPER_PROTOCOL, HALF_PROTOCOL, HARD_PROTOCOL)}


def draw_training_set(theory: HornTheory, recipe: Recipe, rng: np.random.Generator) -> Examples:
    """Draw distinct labelled examples in random order.

    Every label is computed by the theory; a draw with the other label is discarded. The
    components of a mixture contribute exactly their shares.

    Parameters
    ----------
    theory
        The theory that labels.
    recipe
        The distributions and sizes, such as `PAPER_PROTOCOL.recipe(theory)`.
    rng
        The source of randomness.

    """
    seen: set[bytes] = set()
    sides = zip((True, False), (recipe.accepted, recipe.rejected), recipe.sizes, strict=True)
    parts = [
        _draw_distinct(component, size, theory, label, seen, rng)
        for label, distribution, total in sides
        for component, size in quotas(distribution, total)
    ]
    examples = Examples.concatenate(parts)
    return examples[rng.permutation(len(examples))]


def quotas(distribution: Distribution, size: int) -> list[tuple[Distribution, int]]:
    """Split `size` among the components of a mixture by their shares, rounded."""
    if not isinstance(distribution, Mixture):
        return [(distribution, size)]
    exact = size * np.array(distribution.shares)
    counts = np.floor(exact).astype(int)
    counts[np.argsort(counts - exact, kind="stable")[: size - counts.sum()]] += 1
    pairs = zip(distribution.components, counts.tolist(), strict=True)
    return [quota for component, count in pairs for quota in quotas(component, count)]


def _draw_distinct(
    source: Distribution,
    size: int,
    theory: HornTheory,
    label: bool,
    seen: set[bytes],
    rng: np.random.Generator,
) -> Examples:
    """Draw `size` items with this label that are not in `seen`, and add them to it."""
    kept = [source.draw(0, rng)]
    count = fruitless = 0
    while count < size:
        batch = source.draw(2 * (size - count) + 8, rng)
        fitting = np.flatnonzero(theory.satisfied_by(batch) == label)
        keys = bits.transpose(np.concatenate([batch.true, batch.false]), len(batch))
        fresh = []
        for position in fitting.tolist():
            key = keys[position].tobytes()
            if key not in seen and count < size:
                seen.add(key)
                fresh.append(position)
                count += 1
        kept.append(batch[np.array(fresh, np.intp)])
        fruitless = 0 if fresh else fruitless + 1
        if fruitless == MAX_FRUITLESS_DRAWS:
            word = "accepted" if label else "rejected"
            raise HornbookError(
                f"found {count} distinct {word} examples of {size} wanted in {source.describe()}; "
                "ask for fewer, or change the recipe"
            )
    return Examples(Batch.concatenate(kept), np.full(size, label), np.full(size, source.kind))


@dataclass(frozen=True, eq=False)
class Task:
    """A table, its binarised rows, its target theory T, and the protocol of its experiment."""

    table: Table
    binariser: Binariser
    rows: Batch
    theory: HornTheory
    protocol: Protocol

    @classmethod
    def of(cls, table: Table, protocol: Protocol = PAPER_PROTOCOL) -> Task:
        """The task of a table, binarised as in the paper."""
        binariser = Binariser.fit(table.frame, kinds=table.kinds, dual=True)
        rows = binariser.batch(table.frame)
        return cls(table, binariser, rows, target_theory(rows, str(table.label)), protocol)

    @cached_property
    def recipe(self) -> Recipe:
        """The distributions and sizes of training sets."""
        return self.protocol.recipe(self.theory, self.rows)

    @cached_property
    def mixed(self) -> Mixture:
        """The distribution of what is asked and evaluated: half accepted, half rejected by default."""
        return self.protocol.mixed(self.theory, self.rows)

    @property
    def heads(self) -> tuple[Head, ...]:
        """The class literals first, then ⊥."""
        vocabulary = self.rows.vocabulary
        label = vocabulary.index(str(self.table.label))
        dual = vocabulary.dual(label)
        return (label, BOTTOM) if dual is None else (label, dual, BOTTOM)

    def examples(self, rng: np.random.Generator) -> Examples:
        """Draw a training set."""
        return draw_training_set(self.theory, self.recipe, rng)

    def features(self, rule: Rule) -> set[str]:
        """The features that the body of a rule speaks of, without the class."""
        conditions = self.binariser.conditions
        return {conditions[v % len(conditions)].column for v in rule.body} - {str(self.table.label)}

    def network(self, net: Net, seed: int) -> MLP:
        """Train a network on a training set."""
        examples, protocol = self.examples(np.random.default_rng(seed)), self.protocol
        return train(examples, net, protocol.training, protocol.encoding, seed)


def violating_body(rule: Rule, vocabulary: Vocabulary) -> frozenset[int]:
    """The literals that violate a rule: its body, and the dual of its head.

    Rules with the same violation say the same of a class that has a dual: B → survives and
    B ∧ not_survives → ⊥ differ in the side of the class literal alone.
    """
    dual = None if isinstance(rule.head, Bottom) else vocabulary.dual(rule.head)
    return rule.body if dual is None else rule.body | {dual}


@dataclass(frozen=True)
class LrnStarResult:
    """The theory that LRN* extracted within a limit of equivalence queries, and its cost."""

    theory: HornTheory
    background: HornTheory
    equivalence_queries: int
    membership_queries: int
    stopped: str

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)


def run_lrn_star(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    queries: int = QUERIES,
) -> LrnStarResult:
    """Extract rules by LRN* as the paper prints it, with the disjointness of duals as background.

    The model is not a Horn teacher, so the algorithm's guarantees for Horn teachers do not apply.
    Counterexamples are not closed under the hypothesis, which some Horn targets need.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Each equivalence query is simulated on `size` fresh interpretations of the distribution.
    queries
        The limit on equivalence queries.

    Examples
    --------
    >>> from hornbook.queries import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus")
    >>> random = Random(theory.vocabulary)
    >>> result = run_lrn_star(theory.satisfied_by, random, 1000, np.random.default_rng(0))
    >>> print(result.theory, "|", result.stopped)
    horse ∧ wings → pegasus | no counterexample among 1000 samples

    """
    vocabulary = distribution.vocabulary
    background = HornTheory.background(vocabulary)
    counted = Counted(member)
    queries_asked = 0
    search = NegativeSampling(counted, distribution, lambda _: size, rng)

    def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
        nonlocal queries_asked
        if queries_asked == queries:
            return Unknown(f"budget of {queries} equivalence queries")
        queries_asked += 1
        return search(hypothesis)

    *_, last = lrn_star(vocabulary, counted, equivalent, background=background, close=False, strict=False)
    assert isinstance(last.answer, Unknown)
    return LrnStarResult(last.hypothesis, background, queries_asked, counted.questions, last.answer.reason)
