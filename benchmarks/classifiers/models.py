"""The models that are explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from classifiers.tasks import Task
from hornbook.models import Predictor, as_predictor

Build: TypeAlias = Callable[[Task, int], Predictor]


def network(task: Task, seed: int) -> Predictor:
    """A network with layers of 32 and 16 that reads ½ for what is unknown (torch)."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    width, rng = len(task.inputs), np.random.default_rng(seed)
    layers = [torch.nn.Linear(width, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
    optimiser = torch.optim.Adam(module.parameters(), 0.01, weight_decay=1e-3)
    for _ in range(200):
        values, classes = task.masked(1, rng)
        optimiser.zero_grad()
        logits = module(torch.tensor(np.nan_to_num(values, nan=0.5), dtype=torch.float32))[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, torch.tensor(classes, dtype=torch.float32)
        )
        loss.backward()
        optimiser.step()
    return as_predictor(module, encoding="half")


def forest(task: Task, seed: int) -> Predictor:
    """A random forest that takes missing values (scikit-learn)."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(50, max_depth=8, random_state=seed)
    return as_predictor(model.fit(*task.masked(5, np.random.default_rng(seed))))


def boosting(task: Task, seed: int) -> Predictor:
    """Gradient boosting that takes missing values (scikit-learn)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    return as_predictor(model.fit(*task.masked(5, np.random.default_rng(seed))))


def job_network(task: Task, seed: int) -> Predictor:
    """A network with layers of 32 and 16 that reads ½ for what is unknown (scikit-learn)."""
    from sklearn.neural_network import MLPClassifier

    values, classes = task.masked(10, np.random.default_rng(seed))
    model = MLPClassifier((32, 16), random_state=seed, max_iter=100)
    model.fit(np.nan_to_num(values, nan=0.5), classes)
    return as_predictor(model, encoding="half")


MODELS: dict[str, Build] = {"network": network, "forest": forest, "boosting": boosting}
