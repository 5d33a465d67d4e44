"""Labelled partial interpretations for training and testing, and how they are split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools
from hornbook.statistics import Share


@dataclass(frozen=True, eq=False)
class Examples:
    """Interpretations, each with its label (accepted or not) and its kind."""

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
        """Concatenate several sets of examples."""
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


def accuracy_by_kind(examples: Examples, answers: Bools) -> dict[str, Share]:
    """The share of right answers for each kind of example, accepted and rejected separately.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> batch = Batch.from_array([[1], [0], [0]], Vocabulary(["v"]))
    >>> kinds = np.array(["row", "random", "random"])
    >>> examples = Examples(batch, np.array([True, True, False]), kinds)
    >>> for kind, share in accuracy_by_kind(examples, np.array([True, False, False])).items():
    ...     print(kind, share.estimate)
    random, accepted 0.0
    random, rejected 1.0
    row, accepted 1.0

    """
    answers = np.asarray(answers, np.bool_)
    if answers.shape != (len(examples),):
        raise HornbookError(f"{len(examples)} examples need as many answers; got shape {answers.shape}")
    shares = {}
    for kind in np.unique(examples.kinds).tolist():
        for label, word in ((True, "accepted"), (False, "rejected")):
            members = (examples.kinds == kind) & (examples.accepted == label)
            if members.any():
                shares[f"{kind}, {word}"] = Share.where(answers[members] == label)
    return shares


def assign_parts(examples: Examples, shares: Sequence[float], rng: np.random.Generator) -> NDArray[np.intp]:
    """Assign each example to a part, stratified by kind and label; returns the part numbers, (examples,)."""
    _, strata = np.unique(np.char.add(examples.kinds, examples.accepted.astype("U5")), return_inverse=True)
    wanted = np.outer(np.bincount(strata), np.asarray(shares) / np.sum(shares))  # (strata, parts)
    part = np.empty(len(examples), np.intp)
    for example in rng.permutation(len(examples)):
        stratum = strata[example]
        part[example] = emptiest = int(wanted[stratum].argmax())
        wanted[stratum, emptiest] -= 1
    return part


def split_examples(
    examples: Examples, rng: np.random.Generator, test: float = 0.2
) -> tuple[Examples, Examples]:
    """Split examples into training and test examples, stratified by kind and label."""
    if not 0 < test < 1:
        raise HornbookError(f"the test share is strictly between 0 and 1; got {test}")
    part = assign_parts(examples, (1 - test, test), rng)
    return examples[part == 0], examples[part == 1]
