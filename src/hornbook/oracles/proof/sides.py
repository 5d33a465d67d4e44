"""A model as two functions of its inputs: positive where it accepts, and positive where it rejects.

Before anything is said about a model, what was read of it is held against the model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters import Predictor
from hornbook.oracles.proof.bounds import Bounds
from hornbook.oracles.proof.branch import branch
from hornbook.oracles.proof.forest import Forest
from hornbook.oracles.proof.found import Found
from hornbook.oracles.proof.layers import unproved
from hornbook.oracles.proof.leaves import leaves_of
from hornbook.oracles.proof.models import relu_net
from hornbook.oracles.proof.region import FALSE, TRUE, Space, States
from hornbook.oracles.proof.witness import Admits, random_states
from hornbook.randomness import Purpose, generator

BRANCHING = "branch and bound"

PROBES, PROBE_BLOCK = 4096, 512
"""Inputs on which a reading is compared with its model, and how many at a time."""

LARGEST_SUM = 1e30
"""Rounding is bounded for sums that stay far below the greatest number of single precision."""

Side: TypeAlias = Bounds | Forest
"""Trees have leaves to reach, networks have layers to bound."""


def sides(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    """The model where it accepts, and where it rejects; refused unless it computes what was read."""
    accepting, rejecting = _read(predictor, space)
    refuse_misreading(predictor, accepting)
    return accepting, rejecting


def search(
    side: Side,
    seconds: float,
    keep: Callable[[Bools], Bools] | None = None,
    admits: Admits | None = None,
) -> Found:
    """Bound the output by branch and bound until its sign is decided; see `branch`."""
    if isinstance(side, Forest):
        return side.search(seconds, keep, admits)
    return branch(side, side.root(), seconds, keep, admits)


def refuse_misreading(predictor: Predictor, accepting: Side) -> None:
    """Raise if some input shows that a model does not compute what was read of it.

    Half of the inputs have states at random; in each of the others some states are rare, so that
    nearly all values are true, or false, or unknown. Scores may differ by what rounding can amount
    to, and decisions only where the score is as close to its threshold.
    """
    space, rng = accepting.space, generator(0, Purpose.MODEL_READING)
    shares = np.concatenate([np.ones((PROBES // 2, 3)), rng.dirichlet(np.full(3, 0.3), PROBES // 2)])
    for start in range(0, PROBES, PROBE_BLOCK):
        part = shares[start : start + PROBE_BLOCK, None]
        states = random_states(space, space.whole(), len(part), rng, part)
        batch = space.batch(states)
        try:
            scores, decided = predictor(batch).astype(np.float64), predictor.decide(batch)
        except HornbookError as error:
            raise unproved(predictor, f"it cannot be asked: {error}") from error
        outputs, off = accepting.evaluate(states)
        read = accepting.link.scores(outputs)
        wrong = np.abs(scores - read) > accepting.link.allowance(read, off)
        wrong |= (decided != (outputs >= 0)) & (np.abs(outputs) > off + accepting.link.tolerance)
        if wrong.any():
            at = int(wrong.argmax())
            raise unproved(
                predictor,
                f"it does not compute what was read of it: it scores {scores[at]:.6g} where {read[at]:.6g} "
                f"was read, and it decides {bool(decided[at])}, for {_describe(space, states[at])}",
            )


def _read(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    leaves = leaves_of(predictor, space)
    if leaves is None:
        net = relu_net(predictor)
        accepting = Bounds(net, space)
        if max(sizes.max() for sizes in accepting.magnitudes) > LARGEST_SUM:
            raise unproved(predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow")
        return accepting, Bounds(net.negated(), space)
    accepts, rejects = (partial(_decides, predictor, space, sign) for sign in (True, False))
    return Forest(leaves, space, accepts), Forest(leaves.negated(), space, rejects)


def _decides(predictor: Predictor, space: Space, sign: bool, states: States) -> Bools:
    decided: Bools = predictor.decide(space.batch(states)) == sign
    return decided


def _describe(space: Space, states: States) -> str:
    values = {FALSE: "0", TRUE: "1"}
    names = [space.vocabulary.name(int(v)) for v in space.literals.drawn]
    return ", ".join(f"{name}={values.get(s, '?')}" for name, s in zip(names, states.tolist(), strict=True))
