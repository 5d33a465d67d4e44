"""A net trained in a stack with others is the net trained alone."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import Encoding
from hornbook.paper import search
from hornbook.paper.networks import (
    Examples,
    Net,
    Training,
    glorot,
    iterate_batches,
    order_rng,
    weights_rng,
)
from hornbook.paper.search import Fold, Setting, train
from hornbook.queries import MLP
from hornbook.queries.network import one_thread, torch

VARIABLES = 12


def labelled(size, seed=0):
    """Random interpretations, accepted iff the first of two variables is true or the other unknown."""
    rng = np.random.default_rng(seed)
    array = rng.choice([0, 1, np.nan], (size, VARIABLES))
    batch = Batch.from_array(array, Vocabulary(f"v{v}" for v in range(VARIABLES)))
    accepted = (array[:, 0] == 1) | np.isnan(array[:, 1])
    return Examples(batch, accepted, np.full(size, "random"))


def trained_stack(nets, inputs, labels, folds, training, seed=3):
    stack = search.Stack(nets, inputs.shape[1], len(folds), seed)
    order = search.make_schedule(folds, training, seed)
    targets = torch.from_numpy(labels.astype(np.float32))
    with one_thread():
        stack.descend(torch.from_numpy(inputs), targets, order)
    return stack


def train_alone(examples, net, training, seed):
    """The net by PyTorch's own optimiser."""
    weights = glorot((VARIABLES, *net.widths, 1), weights_rng(seed, net.widths))
    network = MLP.of([(weight, np.zeros(len(weight))) for weight in weights], examples.batch.vocabulary)
    inputs = torch.from_numpy(Encoding().encode(examples.batch))
    targets = torch.from_numpy(examples.accepted.astype(np.float32))
    optimiser = torch.optim.SGD(network.module.parameters(), net.rate)
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    steps = training.count_steps(len(examples))
    order = iterate_batches(np.arange(len(examples)), steps, training.epochs, order_rng(seed, 0))
    for items in map(torch.from_numpy, order):
        optimiser.zero_grad()
        loss(network.module(inputs[items])[:, 0], targets[items]).backward()
        optimiser.step()
    return network


def layers(stack, task, net):
    """The weights and biases of one net of a stack, without the padding."""
    position, copies = task * len(stack.nets) + net, stack.tasks * len(stack.nets)
    widths = (stack.widest[0], *stack.nets[net].widths, 1)
    return [
        (
            weight.view(copies, -1, weight.shape[2])[position, :above, :below].numpy(),
            bias.view(copies, -1)[position, :above].numpy(),
        )
        for weight, bias, (below, above) in zip(stack.weights, stack.biases, pairwise(widths), strict=True)
    ]


@pytest.mark.parametrize(
    "architectures",
    [
        [(4, 4), (32, 8), (8, 16), (16, 32)],
        [(4, 8, 16), (32, 4, 8)],
        [(8, 32, 4, 16), (4, 4, 4, 4), (16, 4, 32, 8)],
        [(32, 16, 8, 16, 32), (4, 8, 4, 8, 4), (16, 16, 4, 4, 32)],
        [(7,), (1,), (3,)],
    ],
    ids=lambda architectures: f"{len(architectures[0])} layers",
)
def test_a_net_trained_in_a_stack_equals_the_net_trained_alone(architectures):
    """The law: same weights, same answers, for every net and learning rate."""
    examples = labelled(70)
    inputs, labels = Encoding().encode(examples.batch), examples.accepted
    training = Training(epochs=4, batch_size=16)
    nets = [Net(widths, rate) for widths in architectures for rate in (0.003, 0.02, 0.1)]
    stack = trained_stack(nets, inputs, labels, [Fold(np.arange(70), np.arange(70))], training)
    outputs = stack.outputs_of_all(torch.from_numpy(inputs))[0].numpy()
    for position, net in enumerate(nets):
        alone = train_alone(examples, net, training, 3)
        together = layers(stack, 0, position)
        for (weight, bias), layer in zip(together, alone.module[::2], strict=True):
            np.testing.assert_allclose(weight, layer.weight.detach().numpy(), rtol=1e-3, atol=2e-5)
            np.testing.assert_allclose(bias, layer.bias.detach().numpy(), rtol=1e-3, atol=2e-5)
        np.testing.assert_allclose(outputs[position], alone.log_odds(examples.batch), rtol=1e-3, atol=1e-4)


def test_a_network_learns_and_is_the_same_again():
    training, examples = Training(epochs=40), labelled(600)
    network, again = (train(examples, Net((16, 8), 0.2), training, seed=1) for _ in range(2))
    fresh = labelled(300, seed=9)
    assert np.mean(network(fresh.batch) == fresh.accepted) > 0.95
    np.testing.assert_array_equal(network.log_odds(fresh.batch), again.log_odds(fresh.batch))
    other = train(examples, Net((16, 8), 0.2), training, seed=2)
    assert (network.log_odds(fresh.batch) != other.log_odds(fresh.batch)).any()
    assert network.provenance["epochs"] == 40 and network.widths == (16, 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(labelled(0), Net((4,), 0.1), Training()), "no examples"),
        (lambda: train(labelled(60), Net((8, 8), 1e30), Training(3)), r"diverged: 8-8 at rate 1e\+30"),
        (lambda: Net((), 0.1), "at least one unit"),
        (lambda: Net((4, 0), 0.1), "at least one unit"),
        (lambda: Net((4,), -1), "positive"),
        (lambda: Net((4,), float("nan")), "positive"),
        (lambda: Training(epochs=0), "at least one epoch"),
        (lambda: Training(batch_size=0), "at least one epoch"),
    ],
)
def test_what_cannot_be_trained_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


def test_stack_tasks_do_not_see_each_other():
    """Folds of unequal size, one with fewer full steps: each equals the fold trained by itself."""
    examples = labelled(50)
    inputs, labels = Encoding().encode(examples.batch), examples.accepted
    parts = np.split(np.random.default_rng(1).permutation(50), [18, 33])
    folds = [Fold(np.setdiff1d(np.arange(50), part), part) for part in parts]
    training = Training(epochs=3, batch_size=8)
    nets = [Net((8, 4), 0.05), Net((4, 16), 0.1)]
    together = trained_stack(nets, inputs, labels, folds, training)
    order = search.make_schedule(folds, training, 3)
    for task in range(len(folds)):
        stack = search.Stack(nets, VARIABLES, 1, 3)
        own = search.Schedule(*(part[task : task + 1] for part in order))
        targets = torch.from_numpy(labels.astype(np.float32))
        with one_thread():
            stack.descend(torch.from_numpy(inputs), targets, own)
        for net in range(len(nets)):
            for (weight, bias), (weight_alone, bias_alone) in zip(
                layers(together, task, net), layers(stack, 0, net), strict=True
            ):
                np.testing.assert_allclose(weight, weight_alone, rtol=1e-4, atol=1e-6)
                np.testing.assert_allclose(bias, bias_alone, rtol=1e-4, atol=1e-6)


def test_stack_padded_units_stay_exactly_zero():
    examples = labelled(40)
    inputs, labels = Encoding().encode(examples.batch), examples.accepted
    nets = [Net((4, 8, 4), 0.1), Net((16, 4, 8), 0.1)]
    folds = [Fold(np.arange(40), np.arange(40))]
    stack = trained_stack(nets, inputs, labels, folds, Training(epochs=5))
    weights = [weight.view(2, -1, weight.shape[2]) for weight in stack.weights]
    biases = [bias.view(2, -1) for bias in stack.biases]
    for position, net in enumerate(nets):
        layers = (VARIABLES, *net.widths, 1)
        for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            below, above = layers[layer], layers[layer + 1]
            assert torch.count_nonzero(weight[position, :above, :below]) > 0
            assert torch.count_nonzero(weight[position, above:]) == 0
            assert torch.count_nonzero(weight[position, :, below:]) == 0
            assert torch.count_nonzero(bias[position, above:]) == 0


@given(
    size=st.integers(1, 60), batch_size=st.integers(1, 40), epochs=st.integers(1, 3), seed=st.integers(0, 9)
)
@draw_examples(1.25)
def test_an_epoch_shows_every_example_once_in_steps_of_nearly_equal_size(size, batch_size, epochs, seed):
    training = Training(epochs=epochs, batch_size=batch_size)
    order = search.make_schedule([Fold(np.arange(size), np.arange(1))], training, seed)
    seen = [items[shares > 0] for items, shares in zip(order.items[0], order.shares[0], strict=True)]
    assert sorted(torch.cat(seen).tolist()) == sorted([*range(size)] * epochs)
    assert max(map(len, seen)) - min(map(len, seen)) <= 1
    assert max(map(len, seen)) <= batch_size
    assert torch.allclose(order.shares.sum(2), torch.ones(()))


def test_a_fold_may_have_fewer_examples_than_an_epoch_has_steps():
    folds = [Fold(np.arange(5), np.arange(1)), Fold(np.arange(4), np.arange(1))]
    order = search.make_schedule(folds, Training(epochs=1, batch_size=1), 0)
    assert order.shares.sum(2).tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]


def test_a_net_that_diverges_does_not_disturb_its_neighbours():
    examples = labelled(60)
    inputs, labels = Encoding().encode(examples.batch), examples.accepted
    folds = [Fold(np.arange(40), np.arange(40, 60))]
    calm, wild = Net((8, 8, 4), 0.1), Net((16, 8, 8), 1e6)
    training = Training(epochs=30)
    setting = Setting(inputs, labels, folds, training)
    alone = search.cross_validate([calm], setting)
    both = search.cross_validate([wild, calm], setting)
    assert not both.loss[0, 0] <= alone.loss[0, 0]
    np.testing.assert_allclose(both.loss[1], alone.loss[0], rtol=1e-3)
    assert both.accuracy[1] == alone.accuracy[0]


def test_outcomes_are_means_over_the_right_examples():
    examples = labelled(64)
    inputs, labels = Encoding().encode(examples.batch), examples.accepted
    folds = [Fold(np.arange(40), np.arange(40, 64)), Fold(np.arange(24, 64), np.arange(24))]
    nets, training = [Net((8, 8), 0.1), Net((4, 16), 0.05)], Training(epochs=20)
    outcome = search.cross_validate(nets, Setting(inputs, labels, folds, training, seed=3))
    outputs = trained_stack(nets, inputs, labels, folds, training)
    outputs = outputs.outputs_of_all(torch.from_numpy(inputs)).numpy()
    for net in range(2):
        for task, (trained, valid) in enumerate(folds):
            output = outputs[task, net]
            assert outcome.accuracy[net, task] == pytest.approx(np.mean((output > 0)[valid] == labels[valid]))
            signed = np.where(labels, output, -output)[trained]
            assert outcome.loss[net, task] == pytest.approx(np.log1p(np.exp(-signed)).mean(), rel=1e-4)


def test_glorot_weights_are_uniform_within_their_bound():
    first, second = glorot((200, 50, 30), np.random.default_rng(0))
    for weight, bound in ((first, (6 / 250) ** 0.5), (second, (6 / 80) ** 0.5)):
        assert np.abs(weight).max() <= bound
        assert weight.std() == pytest.approx(bound / 3**0.5, rel=0.05)


def test_weights_rng_first_weights_depend_on_the_architecture_and_the_seed_alone():
    one = glorot((5, 8, 4, 1), weights_rng(7, (8, 4)))
    same = glorot((5, 8, 4, 1), weights_rng(7, (8, 4)))
    other = glorot((5, 8, 4, 1), weights_rng(8, (8, 4)))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_iterate_batches_every_epoch_has_its_own_order():
    order = list(iterate_batches(np.arange(10), 1, 2, np.random.default_rng(0)))
    assert not np.array_equal(order[0], order[1])
