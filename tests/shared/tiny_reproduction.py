"""The paper's reproduction at a scale of seconds, on a dozen made-up rows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from hornbook.paper import PROTOCOLS
from hornbook.paper.networks import Net
from hornbook.paper.search import ModelSelection, grid
from hornbook.paper.settings import Scale, Sweep, TreeBudget
from hornbook.queries import Budget, Settings
from hornbook.tables import read_table

READ = Settings(Budget(equivalence_queries=3), size=1000, pool=512)
SHORT = tuple(replace(protocol, epochs=8) for protocol in PROTOCOLS.values())
PUBLISHED = SHORT[:1]

TINY = Scale(
    "tiny",
    repetitions=3,
    selection=ModelSelection(grid((1, 2), (8,), (0.1,)), finalists=2, seeds=1),
    ours=READ,
    tree=TreeBudget(size=100, samples=2, tuning=30),
    sweep=Sweep((0.0, 0.8), net=Net((8,), 0.1), sizes=(30, 30), tested=20, queries=3),
    fresh=20,
)
ONCE = replace(TINY, repetitions=1)


def patients(seed=0):
    """A dozen made-up rows with many holes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (12, 12)).astype(float), columns=list("abcdefghijkl"))
    frame["age"] = rng.permutation(np.arange(12) * 7.5)
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    frame["well"] = rng.permutation([0, 1] * 6)
    return read_table(frame, label="well", name="made-up")
