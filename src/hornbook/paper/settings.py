"""The scales of a reproduction, quick and paper, and the choices that the paper leaves open."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornbook.errors import HornbookError
from hornbook.learners import Settings
from hornbook.models import Training
from hornbook.paper import published
from hornbook.paper.missing import Sweep
from hornbook.paper.search import ModelSelection, grid
from hornbook.paper.task import Task
from hornbook.queries import Budget
from hornbook.statistics import sample_size

PAPER_BUDGET = Budget(equivalence_queries=published.QUERIES)

SEARCH_TRAINING = Training(epochs=20)
"""Few epochs: at rate 0.1, which the paper's four best nets have, more of them only overfit."""


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
        The architecture search.
    ours
        The settings of our extraction; its sample size applies to all equivalence queries.
    tree
        The Hoeffding tree's budget.
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

    def settings(self) -> dict[str, Any]:
        """All settings as a JSON object."""
        described = asdict(self)
        described["selection"]["nets"] = [str(net) for net in self.selection.nets]
        return described


QUICK = Scale(
    "quick",
    repetitions=5,
    selection=ModelSelection(grid(depths=(2,)), SEARCH_TRAINING, finalists=8, seeds=3),
    ours=Settings(PAPER_BUDGET, pool=1 << 15, tries=3, evaluation=1 << 15, coherence=0),
    tree=TreeBudget(labels=40_000, tuning=2_000, seconds=300),
    sweep=Sweep(
        shares=(0.0, 0.4, 0.8),
        reading=Settings(
            Budget(equivalence_queries=20), pool=1 << 13, tries=2, evaluation=1 << 12, coherence=0
        ),
    ),
    longer=2,
)
"""Only the two-layer nets are searched, and pools and trees are smaller; the rest equals `PAPER`."""

PAPER = Scale(
    "paper",
    repetitions=3,
    selection=ModelSelection(training=SEARCH_TRAINING),
    ours=Settings(PAPER_BUDGET, coherence=0),
    tree=TreeBudget(labels=None, tuning=10_000, seconds=600),
    sweep=Sweep(
        reading=Settings(
            Budget(equivalence_queries=40), pool=1 << 15, tries=3, evaluation=1 << 14, coherence=0
        )
    ),
)
"""The paper's search, queries and samples."""

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}


def open_choices(task: Task, scale: Scale) -> list[tuple[str, str]]:
    """The choices that the paper leaves open, each with the value used here."""
    selection, ours, tree = scale.selection, scale.ours, scale.tree
    training = selection.training
    labels = tree.labels or scale.sample(len(task.theory.vocabulary))
    return [
        (
            "ε and δ of the sample size",
            f"ε = {ours.epsilon:g}, δ = {ours.delta:g}: "
            f"{scale.sample(len(task.theory.vocabulary)):,} interpretations a query",
        ),
        ("what interpretations are drawn, for queries and for evaluation alike", task.mixed.describe()),
        ("what networks are trained on", task.recipe.describe()),
        ("how ? enters a network", f"the encoding “{selection.encoding}”: 1 for true, 0 for false, ½ for ?"),
        (
            "optimiser, epochs, batches",
            f"{training.optimiser}, {training.epochs} epochs, at most {training.batch_size} examples a step; "
            "the loss is the binary cross-entropy",
        ),
        (
            "how the best net is chosen",
            f"the {selection.finalists} best by {selection.folds}-fold cross-validation are scored again "
            f"with {selection.seeds} further seeds, and the best of these scores wins",
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
