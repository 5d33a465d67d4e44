"""NumPy's arrays and PyTorch's tensors: the same bits, the same closures, the same answers."""

from importlib import import_module

import numpy as np
import pytest
from test_distributions import ALL, GROUPED, MIXED, PAIRED, rng

from hornbook.distributions import ImposedViolations, Labelled, Random, draw_on
from hornbook.distributions.words import BLOCK_ITEMS, Stream, keys_from_generator
from hornbook.errors import HornbookError, ModelError
from hornbook.learners import Settings, extract
from hornbook.logic import Batch, HornTheory, Rule, Vocabulary, arrays, bits, dense, random_theory
from hornbook.models import MLP, as_predictor
from hornbook.oracles import (
    SAMPLING_CHUNK,
    Budgeted,
    Cached,
    Checked,
    Classifier,
    Completions,
    Counted,
    Judge,
    Sampling,
    UncountedTeacher,
)
from hornbook.oracles import sampling as module
from hornbook.queries import Budget, BudgetExhausted, Counterexample, Estimated
from hornbook.query_teacher import classifier_teacher, judge_teacher

torch = pytest.importorskip("torch")
DEVICE = "cpu"
pytestmark = pytest.mark.device
"""The tensors of a CPU run the same code as those of a GPU."""

NESTED = [
    ImposedViolations(HornTheory(PAIRED, [Rule({0, 3}, 4)]), Random(PAIRED, 0.2), ((0, 1, 2),), 0.7, 0.2),
    Labelled(Random(MIXED, 0.3), "ill"),
]


@pytest.mark.parametrize("distribution", [*(p.values[0] for p in ALL), *GROUPED, *NESTED], ids=str)
def test_draw_on_draws_what_the_cpu_draws(distribution):
    size = BLOCK_ITEMS + 1000
    keys = np.concatenate([keys_from_generator(rng(5), 1), keys_from_generator(rng(6), 1)])
    there = draw_on(DEVICE, distribution, keys, size).to_host()
    here = [distribution.draw(BLOCK_ITEMS, rng(5)), distribution.draw(1000, rng(6))]
    assert there == Batch.concatenate(here)


def test_stream_words_do_not_depend_on_the_blocks_beside_them():
    keys = keys_from_generator(rng(), 3 * BLOCK_ITEMS)
    together = Stream(keys, 3 * BLOCK_ITEMS)
    apart = [Stream(key[None], BLOCK_ITEMS) for key in keys]
    for _ in range(2):
        assert np.array_equal(together.words(4), np.hstack([stream.words(4) for stream in apart]))
    assert np.unique(together.words(100)).size == 100 * 3 * BLOCK_ITEMS // 64


@pytest.mark.parametrize("body", [(0, 2), (2, 5)])
def test_program_closes_on_a_device_as_on_the_cpu(body):
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
def test_mlp_infers_on_a_device_as_on_the_cpu(encoding):
    model = network(PAIRED, encoding)
    batch = draw_on(DEVICE, Random(PAIRED), keys_from_generator(rng(), 1), 5000)
    answers = model.to(DEVICE).log_odds(batch)
    assert isinstance(answers, torch.Tensor)
    np.testing.assert_allclose(answers.numpy(), model.log_odds(batch.to_host()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("missing", [0, 1, 7])
def test_sampling_query_has_the_same_answer_on_a_device(missing, monkeypatch):
    monkeypatch.setattr(module, "MAX_DEVICE_CHUNKS", 4)
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
                asked.replay(hypothesis, found)
    assert answers[0] == answers[1]
    assert all(isinstance(answer, Estimated if missing == 0 else Counterexample) for answer in answers[0])
    half = len(kept) // 2
    for (batch, labels), (batch2, labels2) in zip(kept[:half], kept[half:], strict=True):
        assert batch == batch2 and np.array_equal(labels, labels2)


def test_draw_on_distribution_of_ones_own_stays_on_the_cpu():
    class Own:
        vocabulary, kind, settings = PAIRED, "own", dict

        def draw(self, size, rng):
            return Random(PAIRED).draw(size, rng)

        def describe(self):
            return "my own"

    with pytest.raises(HornbookError, match="a Own is drawn by the CPU only"):
        draw_on(DEVICE, Own(), keys_from_generator(rng(), 1), 100)
    with pytest.raises(HornbookError, match="a Own is drawn by the CPU only"):
        draw_on(DEVICE, Labelled(Own(), "ill"), keys_from_generator(rng(), 1), 100)
    batch = Labelled(Own(), "ill").draw(1000, rng())
    assert bits.flat(batch.true[18] ^ batch.true[19], 1000).all() and batch.true[:18].any()


def drawn(distribution, size=5000):
    """The same items on the device and here."""
    there = draw_on(DEVICE, distribution, keys_from_generator(rng(), 1), size)
    return there, there.to_host()


def module_for(vocabulary, encoding="half", outputs=1, last=()):
    """A user's own network, neither ours nor asked to be."""
    torch.manual_seed(1)
    inputs = len(vocabulary) * (2 if encoding == "two-channel" else 1)
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, outputs), *last
    )


HEADS = {
    "logit": (1, (), None),
    "probability of 0": (1, (torch.nn.Sigmoid(),), 0),
    "two logits": (2, (), None),
    "three probabilities": (3, (torch.nn.Softmax(1),), 2),
}
"""How many outputs a network has, what comes last, and which class counts as true."""


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        *(("half", head) for head in HEADS),
        *((name, "logit") for name in ("signed", "two-channel", "complete")),
    ],
)
def test_predictor_torch_model_scores_on_a_device_as_here(encoding, head, monkeypatch):
    monkeypatch.setattr(dense, "DEVICE_BLOCK_BYTES", 1 << 16)  # so that it takes several blocks
    outputs, last, positive = HEADS[head]
    model = module_for(PAIRED, encoding, outputs, last)
    predictor = as_predictor(model, encoding=encoding, positive=positive)
    there, here = drawn(Random(PAIRED, 0 if encoding == "complete" else 0.3))
    scores = predictor(there)
    assert isinstance(scores, torch.Tensor) and scores.dtype == torch.float32
    np.testing.assert_allclose(scores.numpy(), predictor(here), rtol=1e-4, atol=1e-5)
    judge = Judge(predictor)
    near = np.abs(judge.margin(here)) < 1e-5
    assert ((judge(there).numpy() == judge(here)) | near).all() and not near.all()


def test_predictor_model_in_double_precision_stays_in_it():
    predictor = as_predictor(module_for(PAIRED).double(), encoding="half")
    there, here = drawn(Random(PAIRED))
    np.testing.assert_allclose(predictor(there).numpy(), predictor(here), rtol=1e-6)


def test_a_classifier_of_a_torch_model_answers_on_a_device_as_here():
    symptoms = Vocabulary([f"s{i}" for i in range(9)])
    groups = ((0, 1, 2), (3, 4))
    rows = Random(symptoms, 0.1, groups).draw(50, rng())
    predictor = as_predictor(module_for(symptoms), encoding="half")
    teacher = classifier_teacher(predictor, rows, "ill", groups=groups)
    there, here = drawn(teacher.distribution)
    np.testing.assert_allclose(teacher.margin(there).numpy(), teacher.margin(here), rtol=1e-4, atol=1e-5)
    assert teacher(there).tolist() == teacher(here).tolist()
    # labels may also be unknown, or without a dual
    whole = Vocabulary([*symptoms.names, "ill"])
    classifier = Classifier(predictor, whole, "ill")
    there, here = drawn(Random(whole))
    assert classifier(there).tolist() == classifier(here).tolist()
    assert np.isinf(classifier.margin(here)).any() and not np.isinf(classifier.margin(here)).all()
    np.testing.assert_allclose(classifier.margin(there).numpy(), classifier.margin(here), atol=1e-5)


def judged(device, questions):
    """An extraction from a network of one's own."""
    vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(10))
    model = module_for(vocabulary)
    with torch.no_grad():
        model[2].bias -= 0.1  # so that it rejects some
    judge = Judge(as_predictor(model, encoding="half"))
    settings = Settings(Budget(6, questions), size=70_000, pool=50, evaluation=500, seed=3)
    return extract(judge, Random(vocabulary), settings, margin=judge.margin, device=device)


@pytest.mark.parametrize("questions", [None, 40_000])
def test_an_extraction_is_the_same_on_a_device(questions, monkeypatch):
    monkeypatch.setattr(import_module("hornbook.learners.extract"), "MIN_DEVICE_POOL", 0)
    here, there = (judged(device, questions) for device in (None, DEVICE))
    assert there.theory == here.theory and there.stop_reason == here.stop_reason
    assert there.membership_queries == here.membership_queries
    found = [entry.get("counterexample") for entry in here.trace.entries]
    assert [entry.get("counterexample") for entry in there.trace.entries] == found
    assert questions or "sampling" in {one["found_by"] for one in found}
    assert (
        there.stop_reason
        == f"budget of {questions or 6} {'membership' if questions else 'equivalence'} queries"
    )


@pytest.mark.parametrize("left", [0, SAMPLING_CHUNK - 1, SAMPLING_CHUNK, 3 * SAMPLING_CHUNK + 5])
def test_a_budget_ends_a_query_on_a_device_where_it_ends_here(left):
    theory = random_theory(12, 5, (2, 3), rng(4))
    asked = []
    for device in (None, DEVICE):
        budgeted = Budgeted(Checked(theory.satisfied_by), left, None)
        remote = UncountedTeacher(theory.satisfied_by, budgeted)
        query = Sampling(
            budgeted, Random(theory.vocabulary), 5 * SAMPLING_CHUNK, seed=0, device=device, remote=remote
        )
        with pytest.raises(BudgetExhausted, match=f"budget of {left} membership queries"):
            query(theory)
        asked.append(budgeted.asked)
    assert asked[0] == asked[1] == left // SAMPLING_CHUNK * SAMPLING_CHUNK


def test_filters_count_and_check_on_a_device():
    theory = random_theory(12, 5, (2, 3), rng(4))
    there, here = drawn(Random(theory.vocabulary))
    counted = Counted(theory.satisfied_by)
    asked = Budgeted(Checked(counted), 12_000, 60.0)
    assert asked(there).tolist() == asked(here).tolist()
    assert counted.questions == asked.asked == 10_000
    with pytest.raises(BudgetExhausted):
        asked(there)
    for wrong, message in (
        (lambda batch: batch.true[0], "expected as many booleans"),
        (Cached, "caches are"),
    ):
        with pytest.raises(ModelError, match=message):
            Checked(wrong if wrong is not Cached else Cached(theory.satisfied_by))(there)
    nothing = Checked(lambda batch: torch.full((len(batch),), torch.nan), np.floating)
    with pytest.raises(ModelError, match="5000 of 5000 answers are NaN"):
        nothing(there)


def test_what_only_a_device_sees_is_no_counterexample():
    theory = random_theory(12, 5, (2, 3), rng(4))

    def rounded(batch):
        answers = theory.satisfied_by(batch)
        return answers if arrays.on_host(answers) else ~answers

    assert isinstance(
        Sampling(rounded, Random(theory.vocabulary), 1000, seed=0, device=DEVICE)(theory), Estimated
    )


def test_sampling_how_many_chunks_are_drawn_together_follows_from_variables_and_memory(monkeypatch):
    for pairs, gigabytes in ((102, 139), (102, 4), (102, 1), (10_000, 139), (10_000, 4), (10_000, 0)):
        monkeypatch.setattr(arrays, "free_memory", lambda device, free=gigabytes << 30: free)
        vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(pairs))
        count = Sampling(len, Random(vocabulary), 1, seed=0, device=DEVICE)._chunks_per_device_batch(DEVICE)
        needed = module.DEVICE_COPIES * (2 * 2 * pairs * SAMPLING_CHUNK // 8)
        assert count == 1 or count * needed <= gigabytes << 30
        assert count == module.MAX_DEVICE_CHUNKS or (count + 1) * needed > gigabytes << 30


def test_sampling_what_cannot_be_on_a_device_says_so():
    query = {"distribution": Random(PAIRED), "size": 100, "seed": 0}
    for device, message in (("cuda:99", "cannot use device='cuda:99' here .* it sees cpu"), ("gpu", "'gpu'")):
        with pytest.raises(HornbookError, match=message):
            Sampling(network(PAIRED), **query, device=device)
    nothing = HornTheory(PAIRED)
    function = Judge(as_predictor(lambda array: array.mean(axis=1), encoding="half", name="mean"))
    with pytest.raises(HornbookError, match=r"mean is asked on the CPU only.* torch modules"):
        Sampling(function, **query, device=DEVICE)(nothing)
    complete = judge_teacher(as_predictor(module_for(PAIRED)), Random(PAIRED, 0).draw(9, rng()))
    assert isinstance(complete.model, Completions)
    with pytest.raises(HornbookError, match="completions of unknown values are for the CPU"):
        Sampling(complete, **query, device=DEVICE)(nothing)
    with pytest.raises(HornbookError, match="asked on a device and answered on the CPU"):
        Sampling(lambda batch: np.ones(len(batch), bool), **query, device=DEVICE)(nothing)
    partly = Judge(as_predictor(module_for(PAIRED), encoding="complete"))
    with pytest.raises(HornbookError, match=r"row .* the value is unknown"):
        Sampling(partly, **query, device=DEVICE)(nothing)
    broken = module_for(PAIRED)
    with torch.no_grad():
        broken[2].bias[:] = torch.nan
    with pytest.raises(HornbookError, match="gave row 0 the score nan"):
        Sampling(Judge(as_predictor(broken, encoding="half")), **query, device=DEVICE)(nothing)
