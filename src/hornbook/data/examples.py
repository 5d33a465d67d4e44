"""Labelled partial interpretations: what a network is trained and tested on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError


@dataclass(frozen=True, eq=False)
class Examples:
    """Interpretations, whether the theory accepts each, and of which kind each is."""

    batch: Batch
    accepted: Bools
    kinds: NDArray[np.str_]

    def __post_init__(self) -> None:
        if not len(self.batch) == len(self.accepted) == len(self.kinds):
            raise HornbookError(
                f"{len(self.batch)} interpretations need as many labels and kinds; "
                f"got {len(self.accepted)} and {len(self.kinds)}"
            )

    @classmethod
    def concatenate(cls, parts: Iterable[Examples]) -> Examples:
        """The parts one after another."""
        parts = list(parts)
        return cls(
            Batch.concatenate(part.batch for part in parts),
            np.concatenate([part.accepted for part in parts]),
            np.concatenate([part.kinds for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.batch)

    def __getitem__(self, key: slice | NDArray[Any] | Sequence[int]) -> Examples:
        return Examples(self.batch[key], self.accepted[key], self.kinds[key])

    def __repr__(self) -> str:
        return f"<{len(self)} examples, {int(self.accepted.sum())} accepted>"


@dataclass(frozen=True)
class Tally:
    """How many answers were right, out of how many."""

    right: int
    total: int

    @property
    def share(self) -> float:
        """The accuracy."""
        return self.right / self.total

    def __str__(self) -> str:
        return f"{self.share:.4f} ({self.right} of {self.total})"


def accuracy_by_kind(examples: Examples, answers: Bools) -> dict[str, Tally]:
    """For each kind of example, accepted or rejected, how many answers equal the label.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> batch = Batch.from_array([[1], [0], [0]], Vocabulary(["v"]))
    >>> kinds = np.array(["row", "random", "random"])
    >>> examples = Examples(batch, np.array([True, True, False]), kinds)
    >>> for kind, tally in accuracy_by_kind(examples, np.array([True, False, False])).items():
    ...     print(kind, tally)
    random, accepted 0.0000 (0 of 1)
    random, rejected 1.0000 (1 of 1)
    row, accepted 1.0000 (1 of 1)

    """
    answers = np.asarray(answers, np.bool_)
    if answers.shape != (len(examples),):
        raise HornbookError(f"{len(examples)} examples need as many answers; got shape {answers.shape}")
    tallies = {}
    for kind in np.unique(examples.kinds).tolist():
        for label, word in ((True, "accepted"), (False, "rejected")):
            members = (examples.kinds == kind) & (examples.accepted == label)
            if members.any():
                right = int((answers[members] == label).sum())
                tallies[f"{kind}, {word}"] = Tally(right, int(members.sum()))
    return tallies
