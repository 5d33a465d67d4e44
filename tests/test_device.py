"""NumPy's arrays and PyTorch's tensors: the same bits, the same closures, the same answers."""

import numpy as np
import pytest
from test_distributions import ALL, GROUPED, MIXED, PAIRED, rng

from hornbook import Batch, HornbookError, HornTheory, Rule
from hornbook.distributions import Imposed, Labelled, Random
from hornbook.distributions.protocol import draw_on
from hornbook.distributions.stream import BLOCK, Stream, keys_from
from hornbook.experiments.network import MLP
from hornbook.logic import arrays, bits
from hornbook.logic.generate import random_theory
from hornbook.oracles import sampling as module
from hornbook.oracles.sampling import Sampling
from hornbook.queries import Counterexample, Estimated

torch = pytest.importorskip("torch")
DEVICE = "cpu"
"""The tensors of a CPU run the same code as those of a GPU."""

NESTED = [
    Imposed(HornTheory(PAIRED, [Rule({0, 3}, 4)]), Random(PAIRED, 0.2), ((0, 1, 2),), 0.7, 0.2),
    Labelled(Random(MIXED, 0.3), "ill"),
]


@pytest.mark.parametrize("distribution", [*(p.values[0] for p in ALL), *GROUPED, *NESTED], ids=str)
def test_a_device_draws_what_the_cpu_draws(distribution):
    size = BLOCK + 1000
    there = draw_on(DEVICE, distribution, [rng(5), rng(6)], size).to_host()
    here = [distribution.draw(BLOCK, rng(5)), distribution.draw(1000, rng(6))]
    assert there == Batch.concatenate(here)


def test_words_do_not_depend_on_the_blocks_beside_them():
    keys = keys_from(rng(), 3 * BLOCK)
    together = Stream(keys, 3 * BLOCK)
    apart = [Stream(key[None], BLOCK) for key in keys]
    for _ in range(2):
        assert np.array_equal(together.words(4), np.hstack([stream.words(4) for stream in apart]))
    assert np.unique(together.words(100)).size == 100 * 3 * BLOCK // 64


@pytest.mark.parametrize("body", [(0, 2), (2, 5)])
def test_a_device_closes_as_the_cpu_does(body):
    theory = random_theory(40, 30, body, np.random.default_rng(body[0]))
    batch = Random(theory.vocabulary, 0.6).draw(3000, rng())
    there = Batch(theory.vocabulary, *(arrays.on_device(w, DEVICE) for w in (batch.true, batch.false)), 3000)
    assert np.array_equal(theory.satisfied_by(there).numpy(), theory.satisfied_by(batch))
    assert theory.satisfied_by(there[100:170]).tolist() == theory.satisfied_by(batch[100:170]).tolist()
    assert there[2999] == batch[2999] and there[65:300].to_host() == batch[65:300]


def network(vocabulary, encoding="half"):
    inputs = len(vocabulary) * (2 if encoding == "two-channel" else 1)
    layers = [(rng(1).normal(size=(6, inputs)), np.zeros(6)), (rng(2).normal(size=(1, 6)), np.zeros(1))]
    return MLP.of(layers, vocabulary, encoding)


@pytest.mark.parametrize("encoding", ["half", "signed", "two-channel"])
def test_a_device_infers_as_the_cpu_does(encoding):
    model = network(PAIRED, encoding)
    batch = draw_on(DEVICE, Random(PAIRED), [rng()], 5000)
    answers = model.to(DEVICE).log_odds(batch)
    assert isinstance(answers, torch.Tensor)
    np.testing.assert_allclose(answers.numpy(), model.log_odds(batch.to_host()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("missing", [0, 1, 7])
def test_a_query_has_the_same_answer_on_a_device(missing, monkeypatch):
    monkeypatch.setattr(module, "TOGETHER", 4)
    theory = random_theory(30, 9, (4, 5), np.random.default_rng(3))
    hypothesis = HornTheory(theory.vocabulary, theory.rules[: 9 - missing])
    kept, answers = [], []
    for device in (None, DEVICE):
        asked = Sampling(
            theory.satisfied_by,
            Random(theory.vocabulary, 0.05),
            300_000,
            seed=1,
            device=device,
            remember=lambda *labelled: kept.append(labelled),
        )
        answers.append([asked(hypothesis) for _ in range(2)])
        for number, found in enumerate(answers[-1]):
            if isinstance(found, Counterexample):
                asked.queries = number
                asked.recall(hypothesis, found)
    assert answers[0] == answers[1]
    assert all(isinstance(answer, Estimated if missing == 0 else Counterexample) for answer in answers[0])
    half = len(kept) // 2
    for (batch, labels), (batch2, labels2) in zip(kept[:half], kept[half:], strict=True):
        assert batch == batch2 and np.array_equal(labels, labels2)


def test_a_distribution_of_ones_own_stays_on_the_cpu():
    class Own:
        vocabulary, kind, settings = PAIRED, "own", dict

        def draw(self, size, rng):
            return Random(PAIRED).draw(size, rng)

        def describe(self):
            return "my own"

    with pytest.raises(HornbookError, match="a Own is drawn by the CPU only"):
        draw_on(DEVICE, Own(), [rng()], 100)
    with pytest.raises(HornbookError, match="a Own is drawn by the CPU only"):
        draw_on(DEVICE, Labelled(Own(), "ill"), [rng()], 100)
    batch = Labelled(Own(), "ill").draw(1000, rng())
    assert bits.flat(batch.true[18] ^ batch.true[19], 1000).all() and batch.true[:18].any()
