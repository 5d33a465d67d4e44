"""Proofs about ensembles of trees against brute force over all inputs."""

from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from test_proof import accepted, prover_of, states_of, vocabulary_of

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Rule, Vocabulary
from hornbook.models import Predictor, as_predictor
from hornbook.queries import interpretation

MODELS = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "forest": lambda seed: RandomForestClassifier(6, random_state=seed),
    "shallow forest": lambda seed: RandomForestClassifier(9, max_depth=3, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(5, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=8, random_state=seed),
    "boosting from zero": lambda seed: GradientBoostingClassifier(
        n_estimators=5, init="zero", random_state=seed
    ),
}


def fitted(kind, seed, size, encoding="half"):
    """A model of random examples that follow two rules, more or less."""
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, 3, (120, size)) / 2 if encoding == "half" else rng.integers(0, 2, (120, size))
    inputs = np.concatenate([inputs, 1 - inputs], axis=1)
    labels = (inputs[:, 0] + inputs[:, 1] > inputs[:, 2] + 0.3) ^ (rng.random(120) < 0.15)
    return MODELS[kind](seed).fit(inputs, labels)


@pytest.mark.parametrize(
    ("kind", "encoding", "groups"),
    [
        *((kind, "half", ()) for kind in MODELS),
        *((kind, "complete", ((0, 1, 2),)) for kind in ("tree", "forest", "boosting")),
    ],
)
def test_every_verdict_about_trees_equals_brute_force(kind, groups, encoding):
    rng = np.random.default_rng(0)
    seen = {"proved": 0, "refuted": 0}
    for seed, positive, threshold in ((0, True, 0.5), (3, False, 0.35)):
        model = fitted(kind, seed, 5, encoding)
        predictor = as_predictor(model, encoding=encoding, positive=positive, threshold=threshold)
        prover = prover_of(predictor, vocabulary_of(5, dual=True), groups=groups)
        for _ in range(7):
            body = rng.choice(10, int(rng.integers(0, 4)), replace=False).tolist()
            head = int(rng.integers(10)) if rng.random() < 0.7 else BOTTOM
            verdict = prover.prove_rule(Rule(body, head))
            found = accepted(
                prover, interpretation(prover.vocabulary, body, () if head is BOTTOM else {head})
            )
            assert verdict.status == ("refuted" if found else "proved")
            assert verdict.witness in [*found, None]
            seen[verdict.status] += 1
    assert min(seen.values()) > 1, seen


@pytest.mark.parametrize("kind", MODELS)
def test_the_leaves_compute_what_the_model_computes(kind):
    model = fitted(kind, 1, 5)
    predictor = as_predictor(model, encoding="half")
    prover = prover_of(predictor, vocabulary_of(5, dual=True))
    rng = np.random.default_rng(0)
    for side, sign in zip((prover.accepting, prover.rejecting), (1, -1), strict=True):
        states = states_of(prover.space, prover.space.whole())
        outputs = side.outputs(states)
        scores = predictor(prover.space.batch(states)).astype(float)
        if "boosting" in kind:
            scores = np.log(scores / (1 - scores)) + 0.5
        assert np.abs(sign * outputs - (scores - 0.5)).max() < 1e-4
        assert ((outputs > 0) == (predictor.decide(prover.space.batch(states)) == (sign > 0))).all()
        for _ in range(10):
            region = prover.space.whole() & (rng.random((5, 3)) < 0.7)
            if region.any(axis=1).all():
                inside = region[np.arange(5), states].all(axis=1)
                upper = side.bound_regions(region[None])[0][0] + side.leaves.total.tolerance
                assert upper >= outputs[inside].max()
                narrowed = side.restrict_to(region)
                bound = narrowed.bound_regions(narrowed.region[None])[0][0]
                assert bound == pytest.approx(upper - side.leaves.total.tolerance)


def test_a_classifier_of_trees_is_proved_about_its_label():
    vocabulary = Vocabulary.with_duals(["a", "b", "c", "ill"])
    features = [name for name in vocabulary if "ill" not in name]
    predictor = as_predictor(fitted("boosting", 0, 3), encoding="half")
    prover = prover_of(predictor, vocabulary, label="ill", features=features)
    assert prover.prove_rule(Rule.of(vocabulary, ["a", "b", "not_c"], "ill")).status == "proved"
    assert prover.prove_rule(Rule.of(vocabulary, ["c"], "ill")).status == "refuted"


def test_trees_that_cannot_be_read_are_refused():
    several = RandomForestClassifier(3).fit(np.eye(6), [0, 0, 1, 1, 2, 2])
    with pytest.raises(HornbookError, match="two classes"):
        prover_of(as_predictor(several, encoding="half", positive=1), vocabulary_of(3, dual=True))
    own = GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier()).fit(
        np.eye(6), [0, 0, 0, 1, 1, 1]
    )
    with pytest.raises(HornbookError, match="of its own"):
        prover_of(as_predictor(own, encoding="half"), vocabulary_of(3, dual=True))


class OwnDecision(Predictor):
    """A predictor whose decisions are what the model's own `predict` says."""

    def decide(self, batch):
        inputs = self.encoding.encode(batch, np.float64)
        return self.source.predict(inputs) == self.positive


def own_decision(model, **options):
    return OwnDecision(**vars(as_predictor(model, encoding="half", **options)) | {"threshold": None})


@pytest.mark.parametrize(("trees", "positive"), [(2, True), (10, False), (20, True), (20, False)])
def test_verdicts_about_forests_that_tie_are_about_predict(trees, positive):
    rng = np.random.default_rng(trees)
    seen = {"proved": 0, "refuted": 0}
    inputs = rng.integers(0, 3, (60, 5)) / 2
    labels = (inputs[:, 0] > inputs[:, 1]) ^ (rng.random(60) < 0.3)
    model = RandomForestClassifier(trees, random_state=0).fit(inputs, labels)
    prover = prover_of(own_decision(model, positive=positive), vocabulary_of(5, dual=False))
    every = np.array(list(product([0.0, 0.5, 1.0], repeat=5)))
    accepts = model.predict(every) == positive
    ties = every[np.ptp(model.predict_proba(every), axis=1) < 1e-9]
    others = every[(every == 0.5).sum(axis=1) <= 1]
    for row in (*rng.permutation(ties)[:8], *rng.permutation(others)[:12]):
        known = np.flatnonzero(row != 0.5)  # asked about are all inputs that have what is known of this one
        inside = (every[:, known] == row[known]).all(axis=1)
        verdict = prover.prove_rejection(known[row[known] == 1].tolist(), known[row[known] == 0].tolist())
        assert verdict.status == ("refuted" if accepts[inside].any() else "proved")
        seen[verdict.status] += 1
    assert len(ties) > 5 and min(seen.values()) > 1, (ties, seen)


def test_a_region_of_ties_is_decided_by_one_question():
    """Two trees that always contradict each other: what is split are leaves, not all 3^14 inputs."""
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 3, (200, 14)) / 2
    labels = inputs[:, 0] > inputs[:, 1]
    model = RandomForestClassifier(2, bootstrap=False, max_features=None, random_state=0).fit(inputs, labels)
    model.estimators_[1].tree_.value[...] = model.estimators_[0].tree_.value[..., ::-1]
    tree, opposite = (each.tree_ for each in model.estimators_)
    assert np.array_equal(tree.feature, opposite.feature)
    prover = prover_of(own_decision(model, positive=True), vocabulary_of(14, dual=False))
    asked = []
    decide = prover.accepting.decide
    prover.accepting.decide = lambda states: asked.append(len(states)) or decide(states)
    assert prover.prove_rejection((), ()).status == "proved"  # predict says the first class at a tie
    assert sum(asked) < 100
    other = prover_of(own_decision(model, positive=False), prover.vocabulary)
    assert other.prove_rejection((), ()).status == "refuted"


@pytest.mark.parametrize("kind", MODELS)
def test_constant_regions_hold_inputs_of_one_score(kind):
    predictor = as_predictor(fitted(kind, 2, 5), encoding="half")
    prover = prover_of(predictor, vocabulary_of(5, dual=True))
    states = states_of(prover.space, prover.space.whole())
    scores = predictor(prover.space.batch(states))
    rng, found = np.random.default_rng(0), 0
    for _ in range(200):
        region = prover.space.whole() & (rng.random((5, 3)) < 0.6)
        if region.any(axis=1).all() and prover.accepting.constant(region[None])[0]:
            assert len(set(scores[region[np.arange(5), states].all(axis=1)].tolist())) == 1
            found += region.sum() > 5
    assert found > 0
