"""Networks trained on a known Horn theory: black boxes that are almost right, for the other benchmarks."""

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hornbook.logic import Batch, HornTheory
from hornbook.paper import NearMisses
from hornbook.queries import Membership, Mixture, Random, Violations
from hornbook.statistics import Share

FRESH = 100_000
"""Fresh interpretations on which agreement with the theory is measured."""

POOL, STEP = 1 << 15, 256
"""Examples drawn at a time, and used for one step of the optimiser."""

HIDDEN, RATE = (128, 128), 2e-3
"""Widths of the hidden layers, and Adam's rate."""

MOST_LABELS = 10_000_000
"""Where training gives up; theories of 30 variables and 15 rules need about a million."""


@dataclass(frozen=True)
class Network:
    """A network that has learned to judge as a theory does, almost."""

    member: Membership
    agreement: Share
    labels: int
    cpu_seconds: float


def network_inputs(theory: HornTheory) -> Mixture:
    """What a network is trained and tested on: random, violating and nearly violating, at two rates of ?.

    Questions about rules leave nearly all values unknown, so many examples do too.
    """
    kinds = (Random(theory.vocabulary, missing) for missing in (1 / 3, 0.8))
    return Mixture(
        tuple(
            kind
            for random in kinds
            for kind in (random, Violations(theory, random.missing), NearMisses(theory, random.missing))
        ),
        (2, 1, 1) * 2,
    )


def trained_network(
    theory: HornTheory,
    rng: np.random.Generator,
    goal: float = 0.995,
) -> Network:
    """A network trained on ever fresh partial interpretations until it agrees with the theory.

    Unknown is 0.5. Agreement is measured on examples not yet trained on.
    """
    import torch

    torch.manual_seed(int(rng.integers(2**31)))
    sizes = (len(theory.vocabulary), *HIDDEN, 1)
    layers = [layer for a, b in pairwise(sizes) for layer in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    network = torch.nn.Sequential(*layers[:-1])
    optimiser = torch.optim.Adam(network.parameters(), RATE)
    inputs = network_inputs(theory)

    def member(batch: Batch) -> np.ndarray:
        with torch.no_grad():
            scores = network(torch.from_numpy(batch.to_array(0.5, np.float32)))
        return scores[:, 0].numpy() > 0

    start = time.process_time()
    for labels in range(0, MOST_LABELS, POOL):
        batch = inputs.draw(POOL, rng)
        wanted = theory.satisfied_by(batch)
        if (member(batch) == wanted).mean() >= goal:
            drawn = inputs.draw(FRESH, rng)
            agreement = Share.where(member(drawn) == theory.satisfied_by(drawn))
            if agreement.estimate >= goal:
                return Network(member, agreement, labels, time.process_time() - start)
        examples = torch.from_numpy(batch.to_array(0.5, np.float32)).split(STEP)
        answers = torch.from_numpy(wanted.astype(np.float32)).split(STEP)
        for example, answer in zip(examples, answers, strict=True):
            optimiser.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(network(example)[:, 0], answer).backward()
            optimiser.step()
    raise SystemExit(f"no agreement of {goal:.1%} after {MOST_LABELS:,} labels")
