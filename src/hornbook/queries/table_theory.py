"""The target theory T of a table, as in the paper, and the interpretations that are asked about it.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations.
Northern Lights Deep Learning Workshop 3, 2022.

"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Rule
from hornbook.queries.distributions import Random
from hornbook.queries.mixture import Mixture
from hornbook.queries.violations import Violations

OPEN_UNKNOWN = 0.95
"""The probability that a value which a violated rule of T leaves open is unknown."""


def target_theory(rows: Batch, label: str, conflicts: Literal["refuse", "drop"] = "refuse") -> HornTheory:
    """Build the paper's T: one rule per row, and the disjointness of every pair of duals.

    A row's rule says that its known values together imply its class.

    Parameters
    ----------
    rows
        The rows over a vocabulary with duals, class included.
    label
        The class variable.
    conflicts
        Whether to refuse the rows or drop a rule when a row contradicts the rule of another one
        (at least its known values, and the other class).

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> vocabulary = Vocabulary.with_duals(["fever", "cough", "ill"])
    >>> nan = float("nan")
    >>> rows = Batch.from_array([[1, nan, 1, 0, nan, 0], [0, 1, 0, 1, 0, 1]], vocabulary)
    >>> print(target_theory(rows, "ill"))
    fever → ill
    cough ∧ not_fever → not_ill
    fever ∧ not_fever → ⊥
    cough ∧ not_cough → ⊥
    ill ∧ not_ill → ⊥

    """
    rules = row_rules(rows, label)
    background = HornTheory.background(rows.vocabulary)
    theory = HornTheory(rows.vocabulary, rules) | background
    rejected = np.flatnonzero(~theory.satisfied_by(rows)).tolist()
    if rejected and conflicts == "refuse":
        shown = ", ".join(str(row + 1) for row in rejected[:5]) + (" …" if len(rejected) > 5 else "")
        raise HornbookError(
            f"{len(rejected)} rows ({shown}) contradict the rule of a row of the other class; "
            "use more bins or columns, or conflicts='drop'"
        )
    dropped = set(rejected)
    kept = [rule for position, rule in enumerate(rules) if position not in dropped]
    return HornTheory(rows.vocabulary, kept) | background


def row_rules(rows: Batch, label: str) -> list[Rule]:
    """Return a rule for each row: its known values together imply its class."""
    vocabulary = rows.vocabulary
    classes = (vocabulary.index(label), vocabulary.dual(vocabulary.index(label)))
    if None in vocabulary.duals:
        raise HornbookError("the rule of a row needs the dual of every variable; use Binariser(dual=True)")
    rules = []
    for number, row in enumerate(rows, 1):
        head = next((v for v in classes if v in row.true), None)
        if head is None:
            raise HornbookError(f"row {number} has no value for the label {label!r}; drop such rows")
        rules.append(Rule(row.true - set(classes), head))
    return rules


def target_questions(theory: HornTheory) -> Mixture:
    """What the paper asks a network about: half violations of T, half random interpretations."""
    return Mixture((Violations(theory, OPEN_UNKNOWN), Random(theory.vocabulary)), (1.0, 1.0))
