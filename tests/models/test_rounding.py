"""A decision depends on the row alone, whatever kernels a machine multiplies matrices with.

Every model here has rows exactly at its boundary, where the last digit of a score decides, and that
digit depends on the rows beside. Other machines are imitated in processes of their own.
"""

import os
import platform
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hornbook.logic import Vocabulary
from hornbook.models import as_predictor
from hornbook.queries import MLP, Random

WIDTH = 24
VOCABULARY = Vocabulary(f"x{i}" for i in range(WIDTH))
WIDTHS = (WIDTH, 13, 8, 1)
PLACES = (0, 3, 50)
"""Rows that the boundary goes through, one model each."""

LAWS = """
import pytest, test_completions, test_rounding

for build in test_rounding.BUILDERS:
    test_rounding.test_predictor_decision_depends_on_the_row_alone(build)
for vocabulary in (test_completions.PLAIN, test_completions.PAIRED):
    with pytest.MonkeyPatch.context() as patch:
        test_completions.test_completions_answer_depends_on_the_interpretation_alone(vocabulary, patch)
test_completions.test_completions_margin_is_the_largest_and_agrees_with_the_answer()
"""
"""Tests that are run again as on another machine."""

MACHINES = {
    "sse": ("sse4_2", {"OPENBLAS_CORETYPE": "Nehalem", "ATEN_CPU_CAPABILITY": "default"}),
}
"""What a processor must be able to do, and how it is told to behave as one that can do no more; one with
the newest instructions is tested by the tests as they are."""


def rng(seed=0):
    return np.random.default_rng(seed)


def rows():
    """Patterns that come back, some of which will be at the boundary."""
    return Random(VOCABULARY, 0.3).draw(130, rng(1))


def complete(batch):
    return batch.to_array(0.5)


def module(*last):
    torch.manual_seed(0)
    parts = [part for sizes in pairwise(WIDTHS) for part in (torch.nn.Linear(*sizes), torch.nn.ReLU())]
    return torch.nn.Sequential(*parts[:-1], *last)


def at_a_score(predictor, place):
    """The model with its threshold at the score of a row."""
    return replace(predictor, threshold=float(predictor(rows())[place]))


def function(place):
    inner, outer = (rng(2).standard_normal(shape).astype(np.float32) for shape in ((WIDTH, 16), (16, 1)))
    scores = as_predictor(lambda array: np.maximum(array @ inner, 0) @ outer, encoding="half")
    return at_a_score(scores, place)


def torch_probabilities(place):
    return at_a_score(as_predictor(module(torch.nn.Sigmoid()), encoding="half"), place)


def torch_logits_in_rows(place):
    model = module()
    with torch.no_grad():
        model[-1].bias -= model(torch.from_numpy(complete(rows())).float())[place]
    return replace(as_predictor(model, encoding="half"), order="C")


def through_a_row(model, place):
    """A fitted linear model whose boundary goes through a row."""
    final = model[-1] if hasattr(model, "steps") else model
    final.intercept_ = final.intercept_ - model.decision_function(complete(rows()))[place]
    return as_predictor(model, encoding="half")


def labelled():
    inputs = rng(3).choice([0, 0.5, 1], (200, WIDTH))
    return inputs, inputs @ rng(4).standard_normal(WIDTH) > 0


def logistic(place):
    return through_a_row(LogisticRegression().fit(*labelled()), place)


def pipeline(place):
    return through_a_row(make_pipeline(StandardScaler(), LinearSVC()).fit(*labelled()), place)


def perceptron(place):
    model = MLPClassifier((9,), solver="lbfgs", max_iter=2000, tol=0.1, random_state=0).fit(*labelled())
    share = model.predict_proba(complete(rows()))[place, 1]
    model.intercepts_[-1] -= np.log(share / (1 - share))
    return as_predictor(model, encoding="half")


class Judge:
    """The network of the experiments, its boundary through a row, with the face of a predictor."""

    def __init__(self, place):
        network = MLP(VOCABULARY, "half", module())
        network.module[-1].bias.data -= float(network.log_odds(rows())[place])
        self.decide, self.margin = network, network.log_odds


BUILDERS = (function, torch_probabilities, torch_logits_in_rows, logistic, pipeline, perceptron, Judge)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_predictor_decision_depends_on_the_row_alone(build):
    batch = rows()
    for place in PLACES:
        model = build(place)
        decided = model.decide(batch)
        alone = [bool(model.decide(batch[at : at + 1])[0]) for at in (*PLACES, 77)]
        assert decided[[*PLACES, 77]].tolist() == alone
        for seed in range(3):
            places = rng(seed).permutation(len(batch))[: 130 - 29 * seed]
            assert (model.decide(batch[places]) == decided[places]).all()
            assert ((model.margin(batch[places]) > 0) <= decided[places]).all()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernels are those of other processors")
@pytest.mark.parametrize("machine", MACHINES)
def test_predictor_decisions_depend_on_the_row_alone_on_other_machines(machine):
    feature, environment = MACHINES[machine]
    information = Path("/proc/cpuinfo")
    if not information.exists() or feature not in information.read_text().split():
        pytest.skip(f"this processor has no {feature}")
    folders = [str(Path(__file__).parents[1] / name) for name in ("models", "queries", "shared")]
    paths = filter(None, [*folders, os.environ.get("PYTHONPATH")])
    environment = os.environ | environment | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", LAWS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
