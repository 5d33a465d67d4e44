"""One network on 101 inputs, far from any table: the goals for rules and for cards, and what limits them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from hornbook.classify import Reading
from hornbook.teachers import classifier_labels

from classifiers.measuring import FRESH, explained, timed
from classifiers.models import job_network
from classifiers.tasks import Task

JUDGED = 1 << 17
"""Fresh samples that the goals are measured on: the interval is a quarter of a point to either side."""


def goals(task: Task, seed: int) -> list[str]:
    """Rules alone, 60 of them, and a card of at most 80 literals, for the network of the job."""
    predictor = job_network(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    fresh = task.judged.draw(JUDGED, np.random.default_rng((seed, 1)))
    sample = task.judged.draw(FRESH, np.random.default_rng((seed, 2)))
    expected, known = ask(fresh), ask(sample)
    values, judged = (batch.to_array(unknown=0.5)[:, : len(task.inputs)] for batch in (sample, fresh))
    row = [str(seed), f"{max(expected.mean(), 1 - expected.mean()):.1%}"]
    row += [f"{(model.fit(values, known).predict(judged) == expected).mean():.1%}" for model in references()]
    rules = Reading(form="rules", max_rules=60, max_literals=600, samples=1 << 21, seed=seed)
    for reading in (rules, Reading(form="card", max_literals=80, samples=1 << 18, seed=seed)):
        found, seconds = timed(partial(explained, task, predictor, reading))
        answered, _ = found.said.measured(fresh, expected)
        said = found.said
        row += [f"{answered.plain.estimate:.1%}", f"{said.lines}/{said.literals}", f"{seconds:.0f}"]
    return row


def references() -> list[Any]:
    """Models that are no explanation: how far weights, and boosted trees, could come."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    return [LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(random_state=0)]


def unknowns(task: Task, seed: int) -> dict[str, float]:
    """How faithful a score can be, weights unrounded, by what it makes of unknown values."""
    predictor = job_network(task, seed)
    ask = classifier_labels(predictor, task.rows, task.label, inputs=task.inputs, groups=task.groups)
    sample, fresh = (task.learned.draw(FRESH, np.random.default_rng((seed, part))) for part in (1, 2))
    known, expected = ask(sample), ask(fresh)
    width = len(task.inputs)
    (true, false), (judged_true, judged_false) = (
        ((values == 1).astype(float), (values == 0).astype(float))
        for values in (batch.to_array()[:, :width] for batch in (sample, fresh))
    )
    evidence, judged = np.hstack([true, false]), np.hstack([judged_true, judged_false])
    regression = references()[0]
    half = regression.fit(true - false, known).predict(judged_true - judged_false)
    free = regression.fit(evidence, known).predict(judged)
    yes = judged @ (weights := _never_negative(evidence, known))[:-1] + weights[-1] > 0
    no = judged @ (weights := _never_negative(evidence, ~known))[:-1] + weights[-1] > 0
    return {
        "unknown has half the points": float((half == expected).mean()),
        "unknown has points of its own": float((free == expected).mean()),
        "unknown has none, none are negative: a card for the label, its negation by default": float(
            (yes == expected).mean()
        ),
        "the same, a card for each label": float((np.where(yes == no, ~expected, yes) == expected).mean()),
    }


def _never_negative(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Logistic regression whose weights are not negative, the intercept last and free."""
    from scipy.optimize import minimize

    whole = np.hstack([columns, np.ones((len(columns), 1))])
    sign = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = sign * (whole @ weights)
        slope = whole.T @ (-sign / (1 + np.exp(margins)))
        return float(np.logaddexp(0, -margins).sum()), slope

    bounds = [(0, None)] * columns.shape[1] + [(None, None)]
    return minimize(loss, np.zeros(whole.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x
