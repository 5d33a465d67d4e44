"""What the paper leaves open, and what is done here: stated in every report."""

from __future__ import annotations

from hornbook.experiments.scales import Scale
from hornbook.experiments.task import Task


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
