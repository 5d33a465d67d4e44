"""The scales of a reproduction, quick and paper: how much of everything a run spends."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornbook.errors import HornbookError
from hornbook.paper import published
from hornbook.paper.missing import Sweep
from hornbook.paper.protocol import OpenChoice, Protocol
from hornbook.paper.search import ModelSelection, grid
from hornbook.paper.task import Task
from hornbook.queries import Budget, Settings
from hornbook.statistics import sample_size

PAPER_BUDGET = Budget(equivalence_queries=published.QUERIES)


@dataclass(frozen=True)
class TreeBudget:
    """The budget of the Hoeffding tree.

    Parameters
    ----------
    labels
        Number of labels that it learns from, a limit that gives the same tree on every machine;
        None for the sample size of one equivalence query.
    tuning
        Number of labels for tuning, and of others on which the settings are compared.
    seconds
        Time limit; a tree that reaches it depends on the machine, and the report says so.

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
        Its name on the command line.
    repetitions
        The number of repetitions, with consecutive seeds.
    selection
        The architecture search; training and encoding are the protocol's.
    ours
        The settings of our extraction; its sample size applies to all equivalence queries.
    tree, hard_tree
        The Hoeffding tree's budget, and that under a protocol which is not the paper's.
    sweep
        The sweep over missing values, with one seed per repetition.
    fresh
        The number of accepted and of rejected test examples of the nets.
    evaluation
        The evaluation sample, in multiples of the sample size of a query.
    coherent
        The number of interpretations on which coherence is measured.
    longer
        The factor on the limit of equivalence queries for a second run of LRN*, which shows what
        the limit costs.

    """

    name: str
    repetitions: int
    selection: ModelSelection
    ours: Settings
    tree: TreeBudget
    hard_tree: TreeBudget
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
        """The sample size of an equivalence query over `width` variables."""
        ours = self.ours
        return sample_size(ours.size, width, ours.epsilon, ours.delta, 1)

    def tree_budget(self, protocol: Protocol) -> TreeBudget:
        """The budget of the tree under a protocol."""
        return self.tree if protocol.is_published else self.hard_tree

    def settings(self) -> dict[str, Any]:
        """All settings as a JSON object."""
        described = asdict(self)
        described["selection"]["nets"] = [str(net) for net in self.selection.nets]
        return described


QUICK = Scale(
    "quick",
    repetitions=5,
    selection=ModelSelection(grid(depths=(2,)), finalists=8, seeds=3),
    ours=Settings(PAPER_BUDGET, pool=1 << 15, tries=1, evaluation=1 << 14, coherence=0),
    tree=TreeBudget(labels=5_000, tuning=300, seconds=300),
    hard_tree=TreeBudget(labels=5_000, tuning=300, seconds=300),
    sweep=Sweep(shares=(0.0, 0.95), queries=30),
    evaluation=1,
    longer=2,
)
"""Only the two-layer nets are searched, and pools, trees and samples are smaller; the rest equals `PAPER`."""

PAPER = Scale(
    "paper",
    repetitions=5,
    selection=ModelSelection(),
    ours=Settings(PAPER_BUDGET, tries=2, coherence=0),
    tree=TreeBudget(labels=None, tuning=2_000, seconds=3600),
    hard_tree=TreeBudget(labels=50_000, tuning=2_000, seconds=3600),
    sweep=Sweep(queries=published.QUERIES),
)
"""The paper's search, queries and samples."""

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}


def open_choices(task: Task, scale: Scale) -> list[OpenChoice]:
    """The choices that the paper leaves open: those of the protocol, then those of the run's effort."""
    selection, ours, tree = scale.selection, scale.ours, scale.tree_budget(task.protocol)
    sample = scale.sample(len(task.theory.vocabulary))
    return [
        *task.protocol.choices(),
        OpenChoice(
            "epsilon, delta: the sample size",
            f"ε = {ours.epsilon:g}, δ = {ours.delta:g}: {sample:,} interpretations a query",
            "the formula is the paper's, its ε and δ are not in it",
        ),
        OpenChoice("what interpretations are drawn", task.mixed.describe(), "see asked_violations"),
        OpenChoice("what networks are trained on", task.recipe.describe(), "see open_unknown and hard_share"),
        OpenChoice(
            "finalists, seeds: how the best net is chosen",
            f"the {selection.finalists} best by {selection.folds}-fold cross-validation are scored again "
            f"with {selection.seeds} further seeds, and the best of these scores wins",
            "the best of thousands of noisy scores is partly best by luck",
        ),
        OpenChoice(
            "which counterexample LRN* gets",
            "the first sample that the network rejects and the hypothesis accepts",
            "LRN* has no use for the other kind",
        ),
        OpenChoice(
            "how the tree sees ? and pairs",
            "½, between false and true; one variable of each pair",
            "the other variable of a pair says the same",
        ),
        OpenChoice(
            "labels, tuning: the tree's parameters and budget",
            f"grace period and split confidence are the best of twelve on a validation sample of "
            f"{tree.tuning:,}; it then learns whole samples until it misclassifies none, at most "
            f"{tree.labels or sample:,} of the network's answers, and would be stopped "
            f"after {tree.seconds:g} s",
            "the paper gives no budget; one sample of a query is the least that its procedure takes"
            if tree.labels is None
            else "fewer than a whole sample, for the time that it takes",
        ),
        OpenChoice(
            "real rows in the tables",
            "each row once, with its true class",
            "drawn again and again they would seem to be more than they are",
        ),
    ]
