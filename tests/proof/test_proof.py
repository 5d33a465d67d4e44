"""Proofs against brute force: every verdict on a small network equals what all its inputs say."""

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Rule, Vocabulary
from hornbook.models import as_predictor
from hornbook.proof import Interpretations, make
from hornbook.proof.bounds import Bounds, LinearMaximiser, Rounding
from hornbook.proof.network import relu_net
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, Space, climb, random_states
from hornbook.proof.search import branch_and_bound
from hornbook.queries import interpretation

torch = pytest.importorskip("torch")


ENCODINGS = ["half", "signed", "two-channel", "zero", "complete"]


def module(widths, seed, scale=2.0):
    """A random network that accepts about a tenth of its inputs."""
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for below, above in zip(widths, [*widths[1:], 1], strict=True):
        layer = torch.nn.Linear(below, above)
        with torch.no_grad():
            layer.weight.copy_(torch.randn(above, below, generator=generator) * scale / below**0.5)
            layer.bias.copy_(torch.randn(above, generator=generator) * 0.5)
        parts += [layer, torch.nn.ReLU()]
    net = torch.nn.Sequential(*parts[:-1])
    with torch.no_grad():
        inputs = torch.randint(0, 3, (400, widths[0]), generator=generator) / 2
        net[-1].bias -= net(inputs).quantile(0.9) + 0.01
    return net


def states_of(space, region):
    """Every input of a region, by the definition."""
    every = np.array(list(product(*[np.flatnonzero(row) for row in space.whole()])))
    inside = region[np.arange(every.shape[1]), every].all(axis=1)
    for members in space.groups:
        true = (every[:, members] == TRUE).sum(axis=1)
        unknown = (every[:, members] == UNKNOWN).any(axis=1)
        inside &= (true == 0) | ((true == 1) & ~unknown)
    return every[inside]


@lru_cache(maxsize=4)
def taken(prover):
    """All inputs that the model itself accepts."""
    batch = prover.space.batch(states_of(prover.space, prover.space.whole()))
    return list(batch[np.flatnonzero(prover.member(batch))])


def accepted(prover, item):
    """The inputs in question that the model itself accepts, found one by one."""
    return [each for each in taken(prover) if item.true <= each.true and item.false <= each.false]


def prover_of(predictor, vocabulary, seconds=60.0, **domain):
    """The prover of a model that reads variables."""
    return make(predictor, Interpretations(vocabulary, **domain), seconds)


def vocabulary_of(size, dual):
    names = [f"x{number}" for number in range(size)]
    return Vocabulary.with_duals(names) if dual else Vocabulary(names)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("dual", "groups"), [(False, ()), (True, ((0, 1, 2),))])
def test_every_verdict_equals_brute_force(encoding, dual, groups):
    rng = np.random.default_rng(0)
    seen = {"proved": 0, "refuted": 0, "undecided": 0}
    for seed in range(3):
        size = int(rng.integers(4, 7))
        vocabulary = vocabulary_of(size, dual)
        channels = 2 if encoding == "two-channel" else 1
        net = module([channels * len(vocabulary), 6, 4][: 3 - seed % 2], seed)
        prover = prover_of(as_predictor(net, encoding=encoding), vocabulary, groups=groups)
        for _ in range(7):
            body = rng.choice(len(vocabulary), int(rng.integers(0, 4)), replace=False).tolist()
            head = int(rng.integers(len(vocabulary))) if rng.random() < 0.7 else BOTTOM
            rule = Rule(body, head)
            verdict = prover.prove_rule(rule)
            item = interpretation(vocabulary, rule.body, () if head is BOTTOM else {head})
            found = accepted(prover, item)
            seen[verdict.status] += 1
            if verdict.status == "proved":
                assert not found
                assert verdict.guarantee.margin > 0
            elif verdict.status == "refuted":
                assert verdict.witness in found
            else:
                assert "rounding" in verdict.reason
    assert seen["proved"] > 3 and seen["refuted"] > 3 and seen["undecided"] <= 1, seen


@pytest.mark.parametrize("groups", [(), ((0, 1, 2),)])
@pytest.mark.parametrize("encoding", ["half", "two-channel", "zero", "complete"])
def test_bounds_local_search_and_branching_agree_with_brute_force(encoding, groups):
    rng = np.random.default_rng(1)
    signs = []
    for seed in range(5):
        vocabulary = vocabulary_of(6, dual=True)
        predictor = as_predictor(
            module([12 * (1 + (encoding == "two-channel")), 8, 6], seed), encoding=encoding
        )
        values = "complete" if encoding == "complete" else "ternary"
        space = Space.of(vocabulary, predictor.encoding, groups, values)
        region = space.region(rng.choice(12, 2, replace=False).tolist(), ())
        if not region.any(axis=1).all():
            continue
        bounds = Bounds(relu_net(predictor), space, region)
        states = states_of(space, region)
        top = bounds.outputs(states).max()
        root = bounds.root()
        cell, _ = bounds.bound_cells(root, rounds=6)
        assert cell.upper[0] >= top
        climbed, outputs = climb(bounds, region, random_states(space, region, 4, rng))
        assert {tuple(row) for row in climbed} <= {tuple(row) for row in states}
        assert outputs.max() <= top + 1e-9
        found = branch_and_bound(bounds, root, Deadline.after(20))
        assert found.upper >= top - 1e-9 or found.best > 0
        assert (found.best > 0) == (top > 0)
        assert (found.upper < 0) == (top < 0)
        signs.append(top > 0)
    assert any(signs) and not all(signs)


@pytest.mark.parametrize("values", ["ternary", "complete"])
@pytest.mark.parametrize("encoding", ["half", "signed", "two-channel", "zero"])
@pytest.mark.parametrize("groups", [(), ((0, 1, 2),), ((0, 2, 4), (1, 3), (5,))])
def test_greatest_values_are_those_of_all_inputs(values, encoding, groups):
    rng = np.random.default_rng(len(groups))
    size = 1 + (encoding == "two-channel")
    predictor = as_predictor(module([12 * size, 3], 0), encoding=encoding)
    space = Space.of(vocabulary_of(6, dual=True), predictor.encoding, groups, values)
    for _ in range(10):
        region = space.propagate_groups((space.whole() & (rng.random((6, 3)) < 0.8))[None])[0]
        states = states_of(space, region)
        if not len(states) or not region.any(axis=1).all():
            continue
        weights, functions = rng.normal(size=(12 * size, 4)), rng.integers(-2, 3, (5, 4)).astype(float)
        sums = functions @ (space.encode_states(states) @ weights).T
        np.testing.assert_allclose(
            LinearMaximiser(space, weights, region)(functions), sums.max(axis=1), atol=1e-9
        )
        effects = np.einsum("ku,msu->kms", functions, space.inputs @ weights)
        most, found = space.maximise_effects(effects, np.repeat(region[None], 5, axis=0))
        np.testing.assert_allclose(most, sums.max(axis=1), atol=1e-9)
        reached = (functions * (space.encode_states(found) @ weights)).sum(axis=1)
        np.testing.assert_allclose(reached, most, atol=1e-9)
        assert {tuple(row) for row in found} <= {tuple(row) for row in states}


@pytest.mark.parametrize("groups", [(), ((0, 1, 2), (4, 5))])
def test_signs_and_ranges_hold_for_every_input_of_a_cell(groups):
    predictor = as_predictor(module([7, 6, 5, 4], 3), encoding="half")
    space = Space.of(vocabulary_of(7, dual=False), predictor.encoding, groups)
    bounds = Bounds(relu_net(predictor), space)
    root = bounds.root()
    states = states_of(space, space.whole())
    layers = [bounds.sums(states)]
    for weights, biases in zip(bounds.net.weights[1:-1], bounds.net.biases[1:-1], strict=True):
        layers.append(np.maximum(layers[-1], 0) @ weights.T + biases)
    sums = np.concatenate(layers, axis=1)
    assert (sums >= root.low).all() and (sums <= root.high).all()
    # a sign that is asked for leaves ranges and bound around all inputs that have it
    for unit in np.flatnonzero(root.open[0]):
        for sign in (1.0, -1.0):
            low, high, signs = root.low.copy(), root.high.copy(), np.zeros_like(root.signs)
            (low if sign > 0 else high)[0, unit] = 0
            signs[0, unit] = sign
            part = bounds.tighten_ranges(
                root._replace(low=low, high=high, signs=signs, multipliers=np.abs(signs))
            )
            having = sign * sums[:, unit] >= 0
            if not having.any():
                continue
            assert (sums[having] >= part.low).all() and (sums[having] <= part.high).all()
            cell, _ = bounds.bound_cells(part, 5)
            assert cell.upper[0] >= bounds.outputs(states[having]).max()


def test_the_rounding_bound_covers_single_precision():
    rng = np.random.default_rng(0)
    for seed in range(8):
        predictor = as_predictor(module([40, 16, 8, 16], seed), encoding="half")
        vocabulary = vocabulary_of(20, dual=True)
        space = Space.of(vocabulary, predictor.encoding)
        region = space.region(range(8), ())
        bounds = Bounds(relu_net(predictor), space, region)
        root = bounds.root()
        tolerance = float(Rounding(bounds, root)(root)[0])
        states = random_states(space, region, 500, rng)
        own = predictor.outputs(predictor.encoding.encode(space.batch(states)))[:, 0]
        off = np.abs(own.astype(np.float64) - bounds.outputs(states)).max()
        assert 0 < off < tolerance < 0.1


def test_a_classifier_is_proved_about_its_label():
    vocabulary = Vocabulary.with_duals(["a", "b", "c", "d", "ill"])
    rng = np.random.default_rng(2)
    statuses = set()
    for seed in range(10):
        predictor = as_predictor(module([4, 5], seed), encoding="half")
        prover = prover_of(predictor, vocabulary, label="ill", features=["a", "b", "c", "d"])
        every = np.array(list(product([0, 0.5, 1], repeat=4)))
        scores = predictor.outputs(every.astype(np.float32))[:, 0]
        for head, sign in (("ill", 1), ("not_ill", -1)):
            names = rng.choice(["a", "not_b", "c", "not_d"], 2, replace=False)
            verdict = prover.prove_rule(Rule.of(vocabulary, names, head))
            column = {"a": (0, 1), "not_b": (1, 0), "c": (2, 1), "not_d": (3, 0)}
            fits = np.all([every[:, column[n][0]] == column[n][1] for n in names], axis=0)
            always = (sign * scores[fits] > 0).all()
            assert verdict.status == ("proved" if always else "refuted")
            statuses.add(verdict.status)
        assert prover.prove_rule(Rule.of(vocabulary, ["a"], "b")).status == "refuted"
        assert prover.prove_rule(Rule.of(vocabulary, ["a", "not_a"], "b")).status == "proved"
    assert statuses == {"proved", "refuted"}


def libraries():
    """Networks of every library that proofs read, with the same predictors as everywhere."""
    import adapter_models as models

    inputs, labels = models.examples(0)
    from sklearn.neural_network import MLPClassifier

    mlp = MLPClassifier((5, 3), max_iter=30, random_state=0)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlp.fit(inputs, labels)
    yield "sklearn", as_predictor(mlp, encoding="half", threshold=0.3)
    yield "sklearn, other class", as_predictor(mlp, encoding="half", positive=0)
    for name in ("torch_sequential", "torch_double", "torch_two_channels",
                 "onnx_sigmoid", "onnx_logits"):  # fmt: skip
        yield name, models.BUILDERS[name]()
    score = torch.nn.Sequential(*models.layers())
    yield "score", as_predictor(score, encoding="half", output="score", threshold=0.2)
    yield (
        "score, other class",
        as_predictor(score, encoding="half", output="score", threshold=0.9, positive=0),
    )


def test_the_network_read_from_a_model_decides_as_the_model():
    from adapter_models import VOCABULARY

    rng = np.random.default_rng(0)
    for name, predictor in libraries():
        space = Space.of(VOCABULARY, predictor.encoding)
        states = rng.integers(0, 3, (400, space.count))
        outputs = relu_net(predictor)(space.encode_states(states))
        clear = np.abs(outputs) > 1e-5
        assert clear.mean() > 0.9, name
        assert (predictor.decide(space.batch(states)) == (outputs >= 0))[clear].all(), name


def test_models_whose_inside_is_closed_are_refused():
    import adapter_models as models

    for name, why in (("torch_own_forward", "OwnForward, is not"), ("keras_functional", "Keras from ONNX"),
                      ("histogram_boosting", "HistGradient"), ("torch_bfloat16", "bfloat16"),
                      ("function", "support function")):  # fmt: skip
        with pytest.raises(HornbookError, match=why):
            relu_net(models.BUILDERS[name]())
    with pytest.raises(HornbookError, match="complete inputs only"):
        Space.of(models.VOCABULARY, as_predictor(module([6, 3], 0)).encoding)
    with pytest.raises(HornbookError, match="NaN"):
        Space.of(models.VOCABULARY, as_predictor(module([6, 3], 0), encoding="nan").encoding)


def test_time_runs_out_truthfully():
    vocabulary = vocabulary_of(60, dual=False)
    predictor = as_predictor(module([60, 32, 32, 32], 0, scale=2.0), encoding="half", threshold=0.999999)
    prover = prover_of(predictor, vocabulary, seconds=0.3)
    verdict = prover.prove_rejection((), ())
    assert verdict.status in ("undecided", "refuted")
    if verdict.status == "undecided":
        assert verdict.bound > 0 and "none above" in verdict.reason


def test_states_and_interpretations_are_the_same_inputs():
    space = Space.of(vocabulary_of(5, dual=True), as_predictor(module([10, 3], 0), encoding="half").encoding)
    states = np.array(list(product([FALSE, UNKNOWN, TRUE], repeat=5)))
    batch = space.batch(states)
    assert isinstance(batch, Batch) and len(batch) == 243
    encoded = as_predictor(module([10, 3], 0), encoding="half").encoding.encode(batch)
    assert np.array_equal(encoded, space.encode_states(states))


def test_only_rounding_leaves_a_search_that_ended_undecided():
    rng = np.random.default_rng(5)
    signs = set()
    for seed in range(15):
        vocabulary = vocabulary_of(5, dual=True)
        predictor = as_predictor(module([10, 16, 8], seed), encoding="half")
        space = Space.of(vocabulary, predictor.encoding)
        region = space.region(rng.choice(5, 2, replace=False).tolist(), ())
        bounds = Bounds(relu_net(predictor), space, region)
        top = bounds.outputs(states_of(bounds.space, region)).max()
        found = branch_and_bound(bounds, bounds.root(), Deadline.after(20))
        assert (found.best > 0) == (top > 0)
        assert found.best > 0 or (found.ended and found.upper < 0.01), (top, found)
        signs.add(bool(top > 0))
    assert signs == {True, False}


def test_single_inputs_within_rounding_are_decided_by_the_model():
    for seed in range(2):
        vocabulary, net = vocabulary_of(5, dual=True), module([10, 8, 4], seed)
        space = Space.of(vocabulary, as_predictor(net, encoding="half").encoding)
        states = states_of(space, space.whole())

        def read(net=net, space=space):
            bounds = Bounds(relu_net(as_predictor(net, encoding="half")), space)
            return bounds, float(Rounding(bounds, bounds.root())(bounds.root())[0])

        bounds, rounding = read()
        with torch.no_grad():
            net[-1].bias -= bounds.outputs(states).max() + 0.4 * rounding
        bounds, rounding = read()
        outputs = bounds.outputs(states)
        assert -rounding < outputs.max() < 0
        assert branch_and_bound(bounds, bounds.root(), Deadline.after(20)).upper >= 0
        asked = []

        def reject(some, asked=asked):
            asked.extend(map(tuple, some.tolist()))
            return np.zeros(len(some), np.bool_)

        found = branch_and_bound(bounds, bounds.root(), Deadline.after(20), accepts=reject)
        assert outputs.max() <= found.upper < 0 and tuple(states[outputs.argmax()].tolist()) in asked
        assert (bounds.outputs(np.array(asked)) > -2 * rounding).all()
        found = branch_and_bound(
            bounds, bounds.root(), Deadline.after(20), accepts=lambda some: np.ones(len(some), np.bool_)
        )
        assert found.best > 0 and tuple(found.states.tolist()) in asked
        prover = prover_of(as_predictor(net, encoding="half"), vocabulary)
        assert prover.prove_rejection((), ()).status == "proved"


def close_question(size, widths, free, seed):
    """A network of many inputs of which a few are free, its highest output close to 0 on either side."""
    vocabulary, net = vocabulary_of(size, dual=True), module([2 * size, *widths], seed)
    rng = np.random.default_rng(seed)
    known = rng.permutation(size)[free:]
    true = rng.random(len(known)) < 0.5

    def question():
        predictor = as_predictor(net, encoding="half")
        whole = Bounds(relu_net(predictor), Space.of(vocabulary, predictor.encoding))
        region = whole.space.region(known[true].tolist(), known[~true].tolist())
        return whole.restrict_to(region)

    bounds = question()
    starts = random_states(bounds.space, bounds.region, 32, rng)
    highest = climb(bounds, bounds.region, starts, np.inf)[1].max()
    with torch.no_grad():
        net[-1].bias += (0.1 if seed % 2 else -0.1) - highest
    return question()


def test_ten_free_inputs_are_decided_as_by_brute_force():
    every = np.array(list(product([FALSE, UNKNOWN, TRUE], repeat=5)))
    signs = []
    for seed in range(6):
        bounds = close_question(24, [10, 6], 10, seed)
        # all 3^10 inputs: the first layer's sums add up from those of two halves
        first, second = (
            (np.take_along_axis(bounds.effects[half], every.T[:, :, None], axis=1)).sum(axis=0)
            for half in (slice(0, 5), slice(5, 10))
        )
        sums = first[:, None] + second[None] + bounds.net.biases[0]
        top = bounds.net.from_first(sums.reshape(-1, sums.shape[2])).max()
        found = branch_and_bound(bounds, bounds.root(), Deadline.after(20))
        assert (found.best > 0) == (top > 0)
        assert (found.upper < 0) == (top < 0)
        signs.append(top > 0)
    assert any(signs) and not all(signs)


@pytest.mark.parametrize("turns", range(6))
def test_a_search_without_time_claims_no_more_than_rounding_allows(turns, monkeypatch):
    """The highest output is below 0 by less than the rounding of the score, so nothing is proved."""
    net = module([5, 2], 0)
    predictor = as_predictor(net, encoding="half", threshold=0.999)
    space = Space.of(vocabulary_of(5, dual=False), predictor.encoding)
    top = Bounds(relu_net(predictor), space).outputs(states_of(space, space.whole())).max()
    tolerance = relu_net(predictor).link.tolerance
    with torch.no_grad():
        net[-1].bias -= top + 0.8 * tolerance
    bounds = Bounds(relu_net(predictor), space)
    ticks = iter([0.0] * (turns + 1) + [100.0] * 1000)  # the deadline looks at it once, then each turn
    monkeypatch.setattr("time.monotonic", lambda: next(ticks))
    found = branch_and_bound(bounds, bounds.root(), Deadline.after(50))
    assert found.best < 0 <= found.upper
