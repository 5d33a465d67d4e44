"""How much of everything a reproduction spends: the paper's amounts, or a few minutes' worth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornbook.errors import HornbookError
from hornbook.learners import Settings
from hornbook.models.network import Training
from hornbook.paper import published as paper
from hornbook.paper.missing import Sweep
from hornbook.paper.search import grid
from hornbook.paper.selection import Contest
from hornbook.paper.task import Task
from hornbook.queries import Budget
from hornbook.statistics import sample_size

LIMIT = Budget(equivalence_queries=paper.QUERIES)

TRAINING = Training(epochs=20)
"""Few epochs: at rate 0.1, which the paper's four best nets have, more of them only overfit."""


@dataclass(frozen=True)
class TreeBudget:
    """What the Hoeffding tree may spend.

    Parameters
    ----------
    labels
        How many of the network's answers it learns from, a limit that gives the same tree on
        every machine; None: as many as one equivalence query draws.
    tuning
        How many it is tuned on, and on how many others the settings are compared.
    seconds
        The time limit, as generous as the labels need; a tree that reaches it depends on the
        machine, and the report says so.

    """

    labels: int | None
    tuning: int
    seconds: float


@dataclass(frozen=True)
class Scale:
    """The size of every part of a reproduction.

    Parameters
    ----------
    name
        What the command line calls it.
    repetitions
        How often everything is repeated, with the seeds that follow the first.
    contest
        The architecture search.
    ours
        How rules are read in our way; its sample size is that of all equivalence queries.
    tree
        The Hoeffding tree's budget.
    sweep
        The sweep over missing values, with one seed a repetition.
    fresh
        How many accepted and rejected examples the nets are tested on.
    evaluation
        On how many times the sample size everything is compared.
    coherent
        On how many interpretations coherence is measured.
    longer
        With how many times the limit of equivalence queries LRN* is run once more, to see what the
        limit costs it.

    """

    name: str
    repetitions: int
    contest: Contest
    ours: Settings
    tree: TreeBudget
    sweep: Sweep
    fresh: int = 1000
    evaluation: int = 2
    coherent: int = 10_000
    longer: int = 3

    def __post_init__(self) -> None:
        if self.repetitions % 2 == 0:
            raise HornbookError(
                f"an odd number of repetitions has a median among them; got {self.repetitions}"
            )

    def sample(self, width: int) -> int:
        """How many interpretations an equivalence query draws, with so many variables."""
        ours = self.ours
        return sample_size(ours.size, width, ours.epsilon, ours.delta, 1)

    def settings(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        described = asdict(self)
        described["contest"]["nets"] = [str(net) for net in self.contest.nets]
        return described


QUICK = Scale(
    "quick",
    repetitions=5,
    contest=Contest(grid(depths=(2,)), TRAINING, finalists=8, seeds=3),
    ours=Settings(LIMIT, pool=1 << 15, tries=3, evaluation=1 << 15, coherence=0),
    tree=TreeBudget(labels=40_000, tuning=2_000, seconds=300),
    sweep=Sweep(
        shares=(0.0, 0.4, 0.8),
        reading=Settings(
            Budget(equivalence_queries=20), pool=1 << 13, tries=2, evaluation=1 << 12, coherence=0
        ),
    ),
    longer=2,
)
"""A slice of the search, the two-layer nets, and smaller pools and trees; all else is as at `paper`."""

PAPER = Scale(
    "paper",
    repetitions=3,
    contest=Contest(training=TRAINING),
    ours=Settings(LIMIT, coherence=0),
    tree=TreeBudget(labels=None, tuning=10_000, seconds=600),
    sweep=Sweep(
        reading=Settings(
            Budget(equivalence_queries=40), pool=1 << 15, tries=3, evaluation=1 << 14, coherence=0
        )
    ),
)
"""The paper's search, queries and samples."""

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}


def choices(task: Task, scale: Scale) -> list[tuple[str, str]]:
    """Each open choice of the paper, with the value used."""
    contest, ours, tree = scale.contest, scale.ours, scale.tree
    training = contest.training
    labels = tree.labels or scale.sample(len(task.theory.vocabulary))
    return [
        (
            "ε and δ of the sample size",
            f"ε = {ours.epsilon:g}, δ = {ours.delta:g}: "
            f"{scale.sample(len(task.theory.vocabulary)):,} interpretations a query",
        ),
        ("what interpretations are drawn, for queries and for evaluation alike", task.mixed.describe()),
        ("what networks are trained on", task.recipe.describe()),
        ("how ? enters a network", f"the encoding “{contest.encoding}”: 1 for true, 0 for false, ½ for ?"),
        (
            "optimiser, epochs, batches",
            f"{training.optimiser}, {training.epochs} epochs, at most {training.batch_size} examples a step; "
            "the loss is the binary cross-entropy",
        ),
        (
            "how the best net is chosen",
            f"the {contest.finalists} best by {contest.folds}-fold cross-validation are scored again with "
            f"{contest.seeds} further seeds, and the best of these scores wins",
        ),
        (
            "which counterexample LRN* gets",
            "the first sample that the network rejects and the hypothesis accepts; the other kind is "
            "passed over, since LRN* has no use for it",
        ),
        (
            "what LRN* does with it",
            "closes it under the hypothesis first, without which some targets are never learned",
        ),
        (
            "how the tree sees ?, and pairs",
            "½, between false and true; of each pair it sees one variable, since the other says the same",
        ),
        (
            "the tree's parameters and budget",
            f"grace period and split confidence are the best of twelve on a validation sample of "
            f"{tree.tuning:,}; it then learns from {labels:,} of the network's answers, "
            f"and would be stopped after {tree.seconds:g} s",
        ),
        (
            "real rows in Table 2",
            "each row once, with its true class; drawn again and again they would seem to be more",
        ),
    ]
