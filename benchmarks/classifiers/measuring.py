"""Our curve and the peers' points for one model, on the same samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from hornbook.classify import Explanation, Reading, explain_classifier
from hornbook.teachers import classifier_labels

from classifiers.models import Build
from classifiers.peers import LABELS, PEERS, READING
from classifiers.tasks import Task
from hornbook.evaluate import Agreement
from hornbook.models import Predictor

FRESH = 20_000
"""Samples of held-out rows that fidelity is measured on."""

BUDGETS = (2, 4, 8, 16, 32, 64, 100)
"""Numbers of literals at which our curve is printed."""


@dataclass(frozen=True)
class Measured:
    """One explanation of one model: what there is to read, how faithful it is and what it cost.

    `fidelity` is on samples of rows held out, `learned` on fresh ones like those learned from.
    """

    table: str
    model: str
    seed: int
    who: str
    form: str
    size: int
    literals: int
    fidelity: float
    learned: float
    balanced: float
    undetermined: float
    cpu_seconds: float
    labels: int


def measured(task: Task, model: str, build: Build, seed: int, peers: list[str]) -> list[Measured]:
    """Our curve and the peers' points for one model."""
    rng = np.random.default_rng(seed)
    predictor = build(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    fresh, sample = task.judged.draw(FRESH, rng), task.learned.draw(LABELS, rng)
    expected, known = ask(fresh), ask(sample)
    again = task.learned.draw(FRESH, rng)
    asked = ask(again)
    found, seconds = timed(lambda: explained(task, predictor, replace(READING, seed=seed)))

    def ours(who: str, size: int, budget: int) -> Measured:
        said = found.within(budget)
        answered, derived = said.measured(fresh, expected)
        return Measured(
            *(task.name, model, seed, who, said.form, size, said.literals),
            *(answered.plain.estimate, said.measured(again, asked)[0].plain.estimate),
            *(answered.balanced, derived.undetermined.estimate, seconds, found.queries),
        )

    results = [ours("hornbook", budget, budget) for budget in BUDGETS]
    width = len(task.inputs)
    values, judged, like = (batch.to_array(unknown=0.5)[:, :width] for batch in (sample, fresh, again))
    for name, size in [(peer, size) for peer in peers for size in PEERS[peer].sizes]:
        fit, _, labels = PEERS[name]
        (predict, literals), cost = timed(partial(fit, values[:labels], known[:labels].astype(int), size))
        answered = Agreement.of(np.asarray(predict(judged), np.float64), expected)
        results += [
            Measured(
                *(task.name, model, seed, name, "peer", size, literals),
                *(answered.plain.estimate, float((np.asarray(predict(like)) == asked).mean())),
                *(answered.balanced, 0.0, cost, labels),
            ),
            ours(f"against {name}", size, literals),
        ]
    return results


def explained(task: Task, predictor: Predictor, reading: Reading) -> Explanation:
    """What hornbook says of a model."""
    return explain_classifier(
        predictor,
        task.rows,
        task.label,
        reading,
        inputs=task.inputs,
        groups=task.groups,
        distribution=task.learned,
    )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What came of some work, and the CPU-seconds that it took."""
    started = time.process_time()
    return work(), time.process_time() - started
