"""What a baseline hands over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbook.baselines.branches import Node
from hornbook.evaluate.fresh import answers
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.theory import HornTheory
from hornbook.queries import Membership


@dataclass(frozen=True)
class Baseline:
    """A white box fitted to a model's answers, as a judge and as rules.

    Attributes
    ----------
    name
        What reports call it.
    member
        Its own answers. The rules reject all that it rejects, see `branch_rules` for what more.
    tree
        The tree, with the most frequent answer at every leaf.
    theory
        The branches to rejecting leaves.
    seconds
        How long it took, the model's answers included.
    labels_used
        How many interpretations the model was asked about.
    stopped
        Why it stopped, in words.
    settings
        The parameters, ready for JSON.
    leaves
        For every leaf, accepting ones too, how many variables are tested on the way to it.

    """

    name: str
    member: Callable[[Batch], Bools]
    tree: Node
    theory: HornTheory
    seconds: float
    labels_used: int
    stopped: str
    settings: dict[str, Any]
    leaves: tuple[int, ...]

    @property
    def mean_body_length(self) -> float:
        """The mean number of literals in a body; NaN without rules."""
        lengths = [len(rule.body) for rule in self.theory]
        return float(np.mean(lengths)) if lengths else float("nan")


def labels_of(member: Membership, batch: Batch) -> Bools:
    """What a model answers, a block at a time."""
    blocks = [answers(member, block, "the model") for block in batch.blocks()]
    return np.concatenate([np.zeros(0, np.bool_), *blocks])
