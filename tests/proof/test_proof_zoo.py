"""No verdict on a model of the zoo is wrong: honest models are decided, traps are refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from proof_zoo import COMPARISON, FEATURES, HONEST, READING, TRAPS, ask, examine, sequence, unlike
from test_proof import prover_of
from torch import nn

from hornbook.errors import HornbookError
from hornbook.logic import Vocabulary


@pytest.mark.parametrize("name", HONEST)
def test_prover_decides_honest_models_as_all_their_inputs_say(name):
    """Asked is a third of what can be proved, and a tenth of the rest; a benchmark asks everything."""
    found = examine(name, steps=(3, 10))
    assert not found.reason
    assert (found.wrong, found.undecided) == (0, 0)
    assert found.both and found.proved > 4 and found.refuted > 4


@pytest.mark.parametrize("name", TRAPS)
def test_prover_refuses_traps(name):
    found = examine(name)
    assert found.wrong == 0
    assert found.refused_by, found


def test_prover_refuses_for_either_reason():
    assert examine("torch, forward hook").refused_by == READING
    assert examine("MLP, source exchanged").refused_by == COMPARISON
    assert len(TRAPS) >= len(HONEST) >= 20


def test_prover_refuses_where_the_whole_process_computes_otherwise(monkeypatch):
    handle = nn.modules.module.register_module_forward_hook(lambda part, inputs, output: -output)
    try:
        with pytest.raises(HornbookError, match="hook for all modules"):
            prover_of(ask(sequence()), FEATURES)
    finally:
        handle.remove()
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(HornbookError, match="less than single precision"):
            prover_of(ask(sequence()), FEATURES)
    finally:
        torch.set_float32_matmul_precision("highest")
    monkeypatch.setattr(nn.ReLU, "forward", lambda self, inputs: inputs.abs())
    with pytest.raises(HornbookError, match="does not compute what was read of it: it scores"):
        prover_of(ask(sequence()), FEATURES)


def test_comparison_names_an_input_on_which_model_and_reading_differ():
    with pytest.raises(HornbookError, match=r"for a=[01?], b=[01?], c=[01?], d=[01?]$"):
        prover_of(unlike(ask(sequence()), np.negative), FEATURES)


@pytest.mark.parametrize("size", [20, 60])
def test_comparison_finds_a_variable_among_many_that_is_read_wrongly(size):
    vocabulary = Vocabulary([f"x{number}" for number in range(size)])
    torch.manual_seed(size)
    predictor = ask(nn.Sequential(nn.Linear(size, 16), nn.ReLU(), nn.Linear(16, 1)))
    prover_of(predictor, vocabulary)
    for column in np.random.default_rng(size).choice(size, 3, replace=False).tolist():

        def answers(array, column=column):
            array = array.copy()
            array[:, column] = array[:, column] == 1  # unknown becomes false
            return predictor.outputs(array)

        with pytest.raises(HornbookError, match="does not compute what was read"):
            prover_of(replace(predictor, outputs=answers), vocabulary)
