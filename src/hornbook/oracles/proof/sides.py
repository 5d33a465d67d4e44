"""A model as two functions of its inputs: positive where it accepts, and positive where it rejects."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from hornbook.logic.bits import Bools
from hornbook.oracles.adapters import Predictor
from hornbook.oracles.proof.bounds import Bounds
from hornbook.oracles.proof.forest import Forest
from hornbook.oracles.proof.leaves import leaves_of
from hornbook.oracles.proof.models import relu_net
from hornbook.oracles.proof.region import Space, States

Side: TypeAlias = Bounds | Forest
"""Trees have leaves to reach, networks have layers to bound."""


def sides(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    """The model where it accepts, and where it rejects."""
    leaves = leaves_of(predictor, space)
    if leaves is None:
        net = relu_net(predictor)
        return Bounds(net, space), Bounds(net.negated(), space)
    accepts, rejects = (partial(_decides, predictor, space, sign) for sign in (True, False))
    return Forest(leaves, space, accepts), Forest(leaves.negated(), space, rejects)


def _decides(predictor: Predictor, space: Space, sign: bool, states: States) -> Bools:
    decided: Bools = predictor.decide(space.batch(states)) == sign
    return decided
