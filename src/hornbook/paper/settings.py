"""The scales of a reproduction, quick and paper, and the choices that the paper leaves open."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from hornbook.errors import HornbookError
from hornbook.paper import published
from hornbook.paper.missing import Sweep
from hornbook.paper.published import LINE_7
from hornbook.paper.search import ModelSelection
from hornbook.paper.task import Task
from hornbook.queries import Budget, Settings
from hornbook.statistics import sample_size

READERS = ("lrn_star", "ours", "longer", "tree")
"""What extracts rules from a network: LRN*, our learner, LRN* with more queries, and the Hoeffding tree."""

PAPER_BUDGET = Budget(equivalence_queries=published.QUERIES)


@dataclass(frozen=True)
class TreeBudget:
    """The budget of the Hoeffding tree, which is trained on samples until it misclassifies none of one.

    Parameters
    ----------
    size
        Number of interpretations in a sample; None for that of an equivalence query, as in the paper.
    samples
        Number of samples at most, a limit that gives the same tree on every machine.
    tuning
        Number of labels for tuning, and of others on which the settings are compared.
    seconds
        Time limit; a tree that reaches it depends on the machine, and the report says so.

    """

    size: int | None
    samples: int
    tuning: int
    seconds: float = 7200


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
        The sweep over missing values, with one seed per repetition; None for no sweep.
    readers
        What extracts rules.
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
    sweep: Sweep | None
    readers: tuple[str, ...] = READERS
    fresh: int = 1000
    evaluation: int = 2
    coherent: int = 10_000
    longer: int = 3

    def __post_init__(self) -> None:
        if self.repetitions % 2 == 0:
            raise HornbookError(
                f"an odd number of repetitions has a median among them; got {self.repetitions}"
            )

    @property
    def queries(self) -> int:
        """The limit on equivalence queries."""
        return self.ours.budget.equivalence_queries or published.QUERIES

    def sample(self, width: int) -> int:
        """The sample size of an equivalence query over `width` variables."""
        ours = self.ours
        return sample_size(ours.size, width, ours.epsilon, ours.delta, 1)

    def tree_budget(self, task: Task) -> TreeBudget:
        """The budget of the tree under the protocol of a task."""
        return self.tree if task.protocol.is_published else self.hard_tree

    def settings(self) -> dict[str, Any]:
        """All settings as a JSON object."""
        described = asdict(self)
        described["selection"]["nets"] = [str(net) for net in self.selection.nets]
        return described


QUICK = Scale(
    "quick",
    repetitions=5,
    selection=ModelSelection((published.NETS[0][0],), finalists=1, seeds=1),
    ours=Settings(PAPER_BUDGET, pool=1 << 15, tries=1, evaluation=1 << 14, coherence=0),
    tree=TreeBudget(size=2_000, samples=2, tuning=200),
    hard_tree=TreeBudget(size=2_000, samples=2, tuning=200),
    sweep=Sweep(queries=10, size=1 << 14),
    readers=("lrn_star", "ours", "tree"),
)
"""The paper's own network without a search, few labels for the tree, a sweep with few queries."""

PAPER = Scale(
    "paper",
    repetitions=5,
    selection=ModelSelection(),
    ours=Settings(PAPER_BUDGET, tries=2, coherence=0),
    tree=TreeBudget(size=None, samples=3, tuning=2_000),
    hard_tree=TreeBudget(size=50_000, samples=1, tuning=2_000),
    sweep=Sweep(queries=published.QUERIES),
)
"""The paper's search, queries and samples."""

SCALES = {scale.name: scale for scale in (QUICK, PAPER)}


ENCODINGS_IN_WORDS = {
    "zero": "1 if a variable is in the interpretation, and 0 otherwise: an unknown pair is (0, 0). A "
    "variable known to be false makes its dual true first, or it would be taken for an unknown one",
    "half": "1 true, 0 false, ½ unknown",
    "signed": "1 true, −1 false, 0 unknown",
    "two-channel": "two inputs a variable: is it true, is it false",
}


Choice: TypeAlias = tuple[str, str, str]
"""A question that the paper leaves open, the answer used here, and the reason for it."""


def open_choices(task: Task, scale: Scale) -> list[Choice]:
    """The choices that the paper leaves open, with what is done under the protocol of a task."""
    return [
        choice for part in (_of_task, _of_networks, _of_queries, _of_trees) for choice in part(task, scale)
    ]


def _of_task(task: Task, scale: Scale) -> list[Choice]:
    """The choices about T and what is asked about it."""
    protocol = task.protocol
    hard = protocol.hard_share > 0
    return [
        (
            "cut points: where quantitative features are divided",
            "with a the mean of the known values, at the mean of those up to a and the mean of those above "
            "it; the bins are closed on the right",
            "the text says low, middle and high; the rule is in a passage of its source, commented out",
        ),
        (
            "open_unknown: how much is unknown in a rejected example, beside the violated rule",
            f"{protocol.open_unknown:.3g} of the values that the rule leaves open",
            "as much as in a random example: a harder task"
            if hard
            else "the paper violates rules that match a row of the data, whose missing values are ?; "
            "with all of them unknown there would be one violation a row, fewer than the 200 needed",
        ),
        (
            "random_unknown: how much is unknown in a random example",
            f"{protocol.random_unknown:.3g} of the values",
            "1, 0 and ? are equally likely",
        ),
        (
            "hard_share: hard examples among the accepted",
            f"{protocol.hard_share:.3g}",
            "real rows and near misses show whether a network has learned the rules or only what a row "
            "looks like; our addition"
            if hard
            else "the paper draws the accepted examples at random",
        ),
        (
            "asked_violations: violations among what is asked and evaluated",
            f"{protocol.asked_violations:.3g}; the rest is drawn like the accepted examples",
            "as in the balanced training set; among random interpretations alone T rejects none, so "
            "that every hypothesis without rules would be right",
        ),
    ]


def _of_networks(task: Task, scale: Scale) -> list[Choice]:
    """The choices about networks."""
    protocol, selection = task.protocol, scale.selection
    return [
        (
            "encoding: how ? enters a network and a tree",
            ENCODINGS_IN_WORDS[protocol.encoding],
            "the paper defines the vector so"
            if protocol.encoding == "zero"
            else "the paper also says that inputs are in {0, 1, ?}",
        ),
        (
            "optimiser",
            f"{protocol.optimiser}, at most {protocol.training.batch_size} examples a step, binary "
            "cross-entropy, Glorot's initial weights",
            "the paper's four best nets have rate 0.1, at which plain gradient descent works and Adam now "
            "and then fails",
        ),
        (
            "epochs, and how they were chosen",
            f"{protocol.epochs}",
            "after a look at 10 to 100 epochs on the HCC data, with ½ and three seeds: with a hundred, nets "
            "of the published rate 0.1 overfit and the search prefers 0.01, with 20 it prefers 0.1; t_nn "
            "and h_nn were seen as well, so that the choice is not blind to them",
        ),
        (
            "finalists, seeds: how the best net is chosen",
            f"the {selection.finalists} best by {selection.folds}-fold cross-validation are scored again "
            f"with {selection.seeds} further seeds, and the best of these scores wins"
            if len(selection.nets) > 1
            else f"there is no choice: it is the paper's own net, {selection.nets[0]}",
            "the best of thousands of noisy scores is partly best by luck",
        ),
        (
            "what networks are trained on",
            task.recipe.describe(),
            "see open_unknown and hard_share",
        ),
    ]


def _of_queries(task: Task, scale: Scale) -> list[Choice]:
    """The choices about queries and LRN*."""
    protocol, ours, sample = task.protocol, scale.ours, scale.sample(len(task.theory.vocabulary))
    return [
        (
            "epsilon, delta: the sample size",
            f"ε = {ours.epsilon:g}, δ = {ours.delta:g}: {sample:,} interpretations a query",
            "the formula is the paper's, its ε and δ are not in it",
        ),
        ("what interpretations are drawn", task.mixed.describe(), "see asked_violations"),
        (
            "which counterexample LRN* gets",
            "the first sample that the network rejects and the hypothesis accepts",
            "LRN* has no use for the other kind",
        ),
        ("line_7: how Algorithm 1 tests a meet", LINE_7[protocol.line_7], "so it is printed in the paper"),
        (
            "the heads of a body that is itself refused",
            "⊥ alone",
            "Algorithm 2 would return every variable, all of which follow from ⊥",
        ),
        (
            "close: whether a counterexample is closed under the hypothesis first",
            "yes" if protocol.close else "no",
            "without it some targets are never learned"
            if protocol.close
            else "so it is printed in the paper; rules that end in ⊥, as nearly all do here, add nothing",
        ),
    ]


def _of_trees(task: Task, scale: Scale) -> list[Choice]:
    """The choices about the tree, times and tables."""
    protocol, tree = task.protocol, scale.tree_budget(task)
    size = tree.size or scale.sample(len(task.theory.vocabulary))
    return [
        (
            "what the tree sees of a pair",
            "both variables" if protocol.unknown_input == 0 else "one variable",
            "they differ where the value is unknown"
            if protocol.unknown_input == 0
            else "the other says the same, and of two equally good tests a Hoeffding tree never chooses one",
        ),
        (
            "the tree's parameters",
            f"grace period and split confidence are the best of twelve on a validation sample of "
            f"{tree.tuning:,}",
            "the paper names none",
        ),
        (
            "when the tree stops",
            f"it learns whole samples of {size:,} until it misclassifies none of one, or has "
            f"seen {tree.samples}; it would also be stopped after {tree.seconds:g} s",
            "the paper repeats until all of a sample are classified correctly, which may never be; no "
            "limit is named",
        ),
        (
            "what the times include",
            "the tree's: tuning, drawing, the network's answers and learning; LRN*'s: drawing, the network's "
            "answers and reasoning; neither the training of the network",
            "the paper does not say",
        ),
        (
            "real rows in the tables",
            "each row once, with its true class",
            "drawn again and again they would seem to be more than they are",
        ),
    ]
