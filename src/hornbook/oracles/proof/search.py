"""Branch and bound, and then HiGHS with what time is left: both answer alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from hornbook.logic.bits import Bools
from hornbook.logic.rule import Rule
from hornbook.oracles.proof import milp
from hornbook.oracles.proof.branch import branch
from hornbook.oracles.proof.forest import Forest
from hornbook.oracles.proof.found import Found
from hornbook.oracles.proof.region import States
from hornbook.oracles.proof.rounding import Rounding
from hornbook.oracles.proof.sides import Side
from hornbook.oracles.proof.witness import Admits

BRANCHING, SOLVER = "branch and bound", "HiGHS"

SHARE = 0.9
"""The part of the time that branch and bound gets before HiGHS has its turn."""


def search(
    bounds: Side,
    seconds: float,
    solver: bool,
    *,
    start: States | None = None,
    keep: Callable[[Bools], Bools] | None = None,
    admits: Admits | None = None,
    rules: Iterable[Rule] | None = None,
) -> tuple[Found, str]:
    """Bound the output until its sign is decided, and say by whom.

    Parameters
    ----------
    bounds
        The model and its inputs.
    seconds
        The time limit.
    solver
        Whether HiGHS is asked where branch and bound does not decide.
    start
        An input for HiGHS to begin with.
    keep, admits
        Which regions hold inputs that count, and which inputs do; all, if not given.
    rules
        The same for HiGHS: rules that some completion of an input that counts satisfies.

    """
    if isinstance(bounds, Forest):
        return bounds.search(seconds, keep, admits), BRANCHING
    deadline = time.perf_counter() + seconds
    root = bounds.root()
    found = branch(bounds, root, seconds * (SHARE if solver else 1), keep, admits)
    if found.settled or found.ended or not solver:
        return found, BRANCHING
    tolerance = float(Rounding(bounds, root)(root)[0])
    solved = milp.solve(bounds, root, tolerance, deadline - time.perf_counter(), start, rules)
    # both bounds hold
    better = solved.upper < found.upper or solved.best > 0
    return (solved if better else found), f"{BRANCHING}, then {SOLVER}"
