"""Compare the rules of a run with decision trees fitted to the same model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from hornbook.baselines.hoeffding import hoeffding_tree
from hornbook.baselines.tree import Baseline, decision_tree
from hornbook.evaluate import Agreement
from hornbook.explain.answers import Answers
from hornbook.extractor.subject import Judged, Subject
from hornbook.logic import Batch, Bools
from hornbook.queries import Budget, Membership
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

TREE_SIZES = (2, 4, 8, 16, 32)
"""Numbers of leaves of the trees that are compared, besides a full tree."""


@dataclass(frozen=True)
class ComparisonRow:
    """The fidelity and size of one explanation.

    Attributes
    ----------
    method
        Its name.
    fidelity
        The share of fresh samples on which it agrees with the model.
    rules, literals
        Its size: rules, lines of a card or leaves; and literals, or tests on the paths to leaves.
    seconds
        The time to fit it, labels included; None for the run itself.

    """

    method: str
    fidelity: Share
    rules: int
    literals: int
    seconds: float | None


def compare_with_trees(
    answers: Answers, subject: Subject | Judged, size: int, seed: int, seconds: float
) -> Iterator[ComparisonRow]:
    """Measure the rules and several trees on the same fresh samples, the rules first.

    Parameters
    ----------
    answers
        The rules.
    subject
        The model that they explain.
    size
        The number of training samples of a tree, and of evaluation samples.
    seed
        The seed; results are repeatable unless the time limit is reached.
    seconds
        Time limit of the Hoeffding tree, which learns sample by sample.

    """
    distribution = subject.drawn_from if isinstance(subject, Subject) else subject.asked_from
    member = _member(subject)
    fresh = distribution.draw(size, generator(seed, Purpose.PEER_EVALUATION))
    model = member(fresh)
    agreed = Agreement.of(answers.filled(fresh), model).plain
    yield ComparisonRow("hornbook", agreed, answers.lines, answers.to_read, None)
    for leaves in (*TREE_SIZES, None):
        rng = generator(seed, Purpose.PEER_TRAINING)
        tree = decision_tree(member, distribution, size, rng, max_leaf_nodes=leaves)
        name = f"tree of {leaves} leaves" if leaves else "full tree"
        yield _row(name, tree, fresh, model)
    if find_spec("river") is not None:
        rng = generator(seed, Purpose.PEER_TRAINING)
        tree = hoeffding_tree(member, distribution, size, rng, budget=Budget(5, None, seconds))
        yield _row("Hoeffding tree", tree, fresh, model)


def _row(name: str, tree: Baseline, fresh: Batch, model: Bools) -> ComparisonRow:
    agreed = Agreement.of(tree.member(fresh), model).plain
    return ComparisonRow(name, agreed, len(tree.leaves), sum(tree.leaves), tree.seconds)


def _member(subject: Subject | Judged) -> Membership:
    """The function that a tree learns: the label, or the judge's acceptance."""
    return subject.teacher if isinstance(subject, Judged) else subject.labels
