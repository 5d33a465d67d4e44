"""Labelled partial interpretations for training and testing, and how they and table rows are split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, bits
from hornbook.logic.chaining import ALWAYS
from hornbook.randomness import Purpose, generator


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


@dataclass(frozen=True)
class Tally:
    """The number of right answers, and of all answers."""

    right: int
    total: int

    @property
    def share(self) -> float:
        """The accuracy."""
        return self.right / self.total

    def __str__(self) -> str:
        return f"{self.share:.4f} ({self.right} of {self.total})"


def accuracy_by_kind(examples: Examples, answers: Bools) -> dict[str, Tally]:
    """Count the right answers for each kind of example, accepted and rejected separately.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
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


LEAST_ROWS_TO_SPLIT = 100
"""Tables with fewer rows hold none out: a figure measured on so few would say little."""

HELD_OUT_SHARE = 0.2
"""Share of rows that are held out."""

SEEN, UNSEEN = "violation of a seen rule", "violation of an unseen rule"


def split_rows(
    frame: pd.DataFrame, seed: int, hold_out: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split the rows of a table into those for fitting an explanation and those held out, by row number.

    A random fifth of at least 100 rows is held out. The only row with a known value in some column
    is never held out: nothing could be learned about that column.

    Parameters
    ----------
    frame
        The table.
    seed
        The seed; together with the table's size and missing values, it determines the split.
    hold_out
        Whether to hold out any rows.

    Examples
    --------
    >>> used, held_out = split_rows(pd.DataFrame({"age": range(120)}), seed=0)
    >>> len(used), len(held_out), np.intersect1d(used, held_out).size
    (96, 24, 0)
    >>> [len(rows) for rows in split_rows(pd.DataFrame({"age": range(99)}), seed=0)]
    [99, 0]

    """
    everything = np.arange(len(frame))
    if not hold_out or len(frame) < LEAST_ROWS_TO_SPLIT:
        return everything, everything[:0]
    shuffled = generator(seed, Purpose.HELD_OUT_ROWS).permutation(len(frame))
    held_out = np.sort(shuffled[: round(HELD_OUT_SHARE * len(frame))])
    known = frame.notna().to_numpy()[held_out]  # (rows, columns)
    lost = known.sum(axis=0) == frame.notna().to_numpy().sum(axis=0)
    needed = [known[:, column].argmax() for column in np.flatnonzero(lost & known.any(axis=0))]
    held_out = np.delete(held_out, needed)
    return np.setdiff1d(everything, held_out), held_out


def violated_rules(theory: HornTheory, batch: Batch) -> Bools:
    """Whether each rule is violated by each item, shape (rules, items).

    A rule is violated if its body is in the closure of the true variables and its head is ⊥ or
    false. Every rejected item violates a rule. The disjointness of duals is not counted: it fails
    along with the rule that derives one of the two.
    """
    closed, _ = theory.program.close_batch(batch)
    pairs = {frozenset(pair) for pair in theory.vocabulary.pairs}
    found = np.zeros((len(theory), closed.shape[1]), np.uint64)
    for row, rule in zip(found, theory, strict=True):
        if rule.body not in pairs:
            fires = np.bitwise_and.reduce(closed[sorted(rule.body)], axis=0)
            row[:] = fires & (ALWAYS if isinstance(rule.head, Bottom) else batch.false[rule.head])
    return bits.unpack_rows(found, len(batch))


def mark_unseen_violations(training: Examples, examples: Examples, theory: HornTheory) -> Examples:
    """Mark the violations among examples by whether training examples violate one of the same rules."""
    seen = violated_rules(theory, training.batch).any(axis=1)
    of_seen = violated_rules(theory, examples.batch)[seen].any(axis=0)
    marked = np.where(of_seen, SEEN, UNSEEN)
    return replace(examples, kinds=np.where(examples.kinds == "violation", marked, examples.kinds))


def assign_parts(
    examples: Examples,
    shares: Sequence[float],
    rng: np.random.Generator,
    disjoint: HornTheory | None = None,
) -> NDArray[np.intp]:
    """Assign each example to a part, stratified by kind and label; returns the part numbers, (examples,).

    Given a theory in `disjoint`, none of its rules is violated in two parts.
    """
    groups = (
        np.arange(len(examples))
        if disjoint is None
        else _link_items(violated_rules(disjoint, examples.batch))
    )
    _, strata = np.unique(np.char.add(examples.kinds, examples.accepted.astype("U5")), return_inverse=True)
    wanted = np.outer(np.bincount(strata), np.asarray(shares) / np.sum(shares))
    _, starts = np.unique(np.sort(groups), return_index=True)
    together = np.split(np.argsort(groups, kind="stable"), starts[1:])
    shuffled = [together[position] for position in rng.permutation(len(together))]
    part = np.empty(len(examples), np.intp)
    # the largest groups first, so that small ones can even out the shares
    for members in sorted(shuffled, key=len, reverse=True):
        missing = wanted[strata[members]].sum(axis=0)
        part[members] = emptiest = int(missing.argmax())
        wanted[:, emptiest] -= np.bincount(strata[members], minlength=len(wanted))
    return part


def split_examples(
    examples: Examples,
    rng: np.random.Generator,
    test: float = 0.2,
    disjoint: HornTheory | None = None,
) -> tuple[Examples, Examples]:
    """Split examples into training and test examples; see `assign_parts` for `disjoint`."""
    if not 0 < test < 1:
        raise HornbookError(f"the test share is strictly between 0 and 1; got {test}")
    part = assign_parts(examples, (1 - test, test), rng, disjoint)
    return examples[part == 0], examples[part == 1]


def iterate_folds(
    examples: Examples, count: int, rng: np.random.Generator, disjoint: HornTheory | None = None
) -> Iterator[tuple[Examples, Examples]]:
    """Yield, for each of `count` folds, the examples outside and inside it; see `assign_parts`."""
    if not 2 <= count <= len(examples):
        raise HornbookError(f"{len(examples)} examples can make 2 to {len(examples)} folds; got {count}")
    part = assign_parts(examples, [1] * count, rng, disjoint)
    for fold in range(count):
        yield examples[part != fold], examples[part == fold]


def _link_items(violated: Bools) -> NDArray[np.intp]:
    """Group items that violate a common rule; returns the group numbers, (items,)."""
    groups = np.arange(violated.shape[1])
    for rule in violated:
        if rule.any():
            groups[np.isin(groups, groups[rule])] = groups[rule].min()
    return groups
