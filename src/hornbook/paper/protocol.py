"""Protocols: how the paper's experiment is done where its text leaves a choice open.

`PAPER_PROTOCOL` and `HALF_PROTOCOL` follow the text of the paper, which says two things of ?: a vector has
"1 if v ∈ I, and 0 otherwise", so that an unknown pair is (0, 0); and inputs are in {0, 1, ?}, so that ?
may be a number of its own, ½. `HARD_PROTOCOL` is a second experiment of ours, on a harder task: some
accepted examples are real rows and near misses, and most of what a violated rule leaves open is known.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory
from hornbook.paper.mixture import Mixture, NearMisses
from hornbook.paper.published import LINE_7, Line7
from hornbook.queries import DEFAULT_MISSING, Distribution, Random, Rows, Training, Violations
from hornbook.queries.network import EncodingName, Optimiser

ENCODING_LABELS = {"zero": "(0, 0)", "half": "½", "signed": "−1, 0, 1", "two-channel": "two inputs"}
"""How tables name the encodings of an unknown pair."""


@dataclass(frozen=True)
class Recipe:
    """The distributions and numbers of accepted and rejected training examples."""

    accepted: Distribution
    rejected: Distribution
    sizes: tuple[int, int] = (200, 200)

    def describe(self) -> str:
        """The recipe in words, as reports state it."""
        accepted, rejected = self.sizes
        return (
            f"{accepted} accepted examples, drawn from:\n{self.accepted.describe()}\n"
            f"{rejected} rejected examples, drawn from:\n{self.rejected.describe()}"
        )

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {
            "sizes": list(self.sizes),
            "accepted": self.accepted.settings(),
            "rejected": self.rejected.settings(),
        }

    def __str__(self) -> str:
        return self.describe()


@dataclass(frozen=True)
class Protocol:
    """One value for each choice that the paper leaves open about its task, networks and algorithm.

    Parameters
    ----------
    name
        Its name in results and run folders.
    open_unknown
        The probability that a value which a violated rule leaves open is unknown.
    random_unknown
        The probability that a value of a random example is unknown.
    hard_share
        The share of hard examples among the accepted: half of them real rows with their class, half
        near misses; without rows all are near misses.
    asked_violations
        The share of violations among the interpretations of queries and evaluations.
    encoding
        How 1, 0 and ? enter a network and a tree.
    optimiser, epochs
        How networks are trained.
    line_7
        How line 7 of Algorithm 1 tests a meet, see `run_lrn_star`.
    close
        Whether a counterexample is closed under the hypothesis before it meets others.
    sizes
        The numbers of accepted and of rejected training examples; the paper names 200 of each.

    """

    name: str
    open_unknown: float = 0.95
    random_unknown: float = DEFAULT_MISSING
    hard_share: float = 0.0
    asked_violations: float = 0.5
    encoding: EncodingName = "zero"
    optimiser: Optimiser = "sgd"
    epochs: int = 20
    line_7: Line7 = "printed"
    close: bool = False
    sizes: tuple[int, int] = (200, 200)

    def __post_init__(self) -> None:
        for name in ("open_unknown", "random_unknown", "hard_share", "asked_violations"):
            if not 0 <= getattr(self, name) <= 1:
                raise HornbookError(f"{name} is a share between 0 and 1; got {getattr(self, name)}")
        if self.line_7 not in LINE_7:
            raise HornbookError(f"line_7 is one of {', '.join(LINE_7)}; got {self.line_7!r}")

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
        return Training(self.optimiser, self.epochs)

    @property
    def unknown_input(self) -> float:
        """The number for an unknown value in the input of a tree, which has one input a variable."""
        return 0.0 if self.encoding == "zero" else 0.5

    def recipe(self, theory: HornTheory, rows: Batch | None = None) -> Recipe:
        """The training sets: accepted examples random but for the hard ones, rejected ones violate a rule.

        `theory` has the rules to violate; `rows` are real rows with their class.
        """
        accepted: Distribution = Random(theory.vocabulary, self.random_unknown)
        if self.hard_share:
            near = NearMisses(theory, self.open_unknown)
            hard: tuple[Distribution, ...] = (near,) if rows is None else (Rows(rows), near)
            shares = (1 - self.hard_share, *(self.hard_share / len(hard) for _ in hard))
            accepted = Mixture((accepted, *hard), shares)
        return Recipe(accepted, Violations(theory, self.open_unknown), self.sizes)

    def mixed(self, theory: HornTheory, rows: Batch | None = None) -> Mixture:
        """The interpretations of queries and evaluations: violations, and examples like the accepted ones."""
        recipe, share = self.recipe(theory, rows), self.asked_violations
        accepted = recipe.accepted
        parts, shares = (
            (accepted.components, accepted.shares) if isinstance(accepted, Mixture) else ((accepted,), (1.0,))
        )
        if not share:
            return Mixture(parts, shares)
        return Mixture((recipe.rejected, *parts), (share, *((1 - share) * part for part in shares)))

    def settings(self) -> dict[str, Any]:
        """All choices, ready for JSON."""
        return asdict(self)


PAPER_PROTOCOL = Protocol("paper")
"""As the paper has it, read by the letter: of an unknown pair both inputs are 0."""

HALF_PROTOCOL = Protocol("paper-half", encoding="half")
"""As the paper has it, where ? is a number of its own, ½."""

HARD_PROTOCOL = Protocol("hard", open_unknown=DEFAULT_MISSING, hard_share=0.1, encoding="half")
"""A harder task: one accepted example in ten is hard, and what a rule leaves open is mostly known."""

PROTOCOLS = {protocol.name: protocol for protocol in (PAPER_PROTOCOL, HALF_PROTOCOL, HARD_PROTOCOL)}
