"""A run held against trees that were fitted to the same model."""

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

LEAVES = (2, 4, 8, 16, 32)
"""Trees of so many leaves are held against the rules, and one as large as it grows."""


@dataclass(frozen=True)
class Row:
    """What one way of reading a model offers.

    Attributes
    ----------
    method
        What it is called.
    fidelity
        The share of fresh samples on which it says what the model says.
    rules, literals
        How much there is to read: rules, or lines of a card, or leaves; and literals, or tests on
        the way to leaves.
    seconds
        How long it took to fit, labels included; None for the run itself.

    """

    method: str
    fidelity: Share
    rules: int
    literals: int
    seconds: float | None


def comparison(
    answers: Answers, subject: Subject | Judged, size: int, seed: int, seconds: float
) -> Iterator[Row]:
    """Rules and trees on the same fresh samples, the rules first.

    Parameters
    ----------
    answers
        The rules.
    subject
        The model that they were read out of.
    size
        How many samples a tree is fitted to, and how many others all are measured on.
    seed
        Makes it repeatable, but for the time limit.
    seconds
        What the Hoeffding tree, which learns sample by sample, may take.

    """
    distribution = subject.drawn_from if isinstance(subject, Subject) else subject.asked_from
    member = _member(subject)
    fresh = distribution.draw(size, generator(seed, Purpose.PEER_EVALUATION))
    model = member(fresh)
    agreed = Agreement.of(answers.filled(fresh), model).plain
    yield Row("hornbook", agreed, answers.lines, answers.to_read, None)
    for leaves in (*LEAVES, None):
        rng = generator(seed, Purpose.PEER_TRAINING)
        tree = decision_tree(member, distribution, size, rng, max_leaf_nodes=leaves)
        name = f"tree of {leaves} leaves" if leaves else "full tree"
        yield _row(name, tree, fresh, model)
    if find_spec("river") is not None:
        rng = generator(seed, Purpose.PEER_TRAINING)
        tree = hoeffding_tree(member, distribution, size, rng, budget=Budget(5, None, seconds))
        yield _row("Hoeffding tree", tree, fresh, model)


def _row(name: str, tree: Baseline, fresh: Batch, model: Bools) -> Row:
    agreed = Agreement.of(tree.member(fresh), model).plain
    return Row(name, agreed, len(tree.leaves), sum(tree.leaves), tree.seconds)


def _member(subject: Subject | Judged) -> Membership:
    """What a tree is to say yes to: the label, or what the judge accepts."""
    return subject.teacher if isinstance(subject, Judged) else subject.labels
