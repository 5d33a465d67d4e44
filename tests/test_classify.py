"""Classifier mode: rules about a label, questions that respect groups, and honest ends."""

from dataclasses import replace

import numpy as np
import pytest

from hornbook import HornbookError, Rule, Vocabulary
from hornbook.classify import Reading, explain_classifier
from hornbook.data import Binariser, load_dataset
from hornbook.distributions import Labelled, Random, Rows
from hornbook.evaluate import predicted_labels
from hornbook.learners.pool import imposed
from hornbook.oracles.adapters import as_predictor
from hornbook.oracles.exclusive import Exclusions
from hornbook.teachers import classifier_teacher, judge_teacher

PLAIN = Vocabulary([f"x{i}" for i in range(9)])
PAIRED = Vocabulary.with_duals(PLAIN.names)
GROUPS = ((0, 1, 2), (4, 5))
SMALL = Reading(max_rules=6, max_literals=12, samples=2000, evaluation=500)
RULES = replace(SMALL, form="rules", default=False)


def rng(seed=0):
    return np.random.default_rng(seed)


def consistent(batch, groups):
    values = batch.to_array()
    for v, w in batch.vocabulary.pairs:
        np.testing.assert_array_equal(values[:, v], 1 - values[:, w])
    return all(((values[:, list(group)] == 1).sum(axis=1) <= 1).all() for group in groups)


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_a_label_stands_beside_the_features_and_is_a_fair_coin(vocabulary):
    features = Random(vocabulary, 0.3)
    distribution = Labelled(features, "ill")
    batch = distribution.draw(10_000, rng())
    assert batch.vocabulary.names == (*vocabulary.names, "ill", "not_ill")
    values = batch.to_array()
    np.testing.assert_array_equal(values[:, :-2], features.draw(10_000, rng()).to_array())
    assert not np.isnan(values[:, -2:]).any() and abs(values[:, -2].mean() - 0.5) < 0.02
    assert consistent(batch, ()) and distribution.settings()["features"] == features.settings()


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_exchanged_values_respect_groups(vocabulary):
    rows = Random(vocabulary, 0.0, GROUPS).draw(50, rng())
    batch = Rows(rows, missing=0.1, flips=0.4, groups=GROUPS).draw(5000, rng(1))
    assert consistent(batch, GROUPS)
    values = batch.to_array()
    known = ~np.isnan(values)
    assert abs(known.mean() - 0.9) < 0.01
    alone = Rows(rows[:1], flips=0.4, groups=GROUPS).draw(2000, rng()).to_array()
    changed = (alone != rows[:1].to_array()).mean(axis=0)
    assert (changed[[0, 1, 2, 4, 5]] == 0).all()  # a single row has no other to exchange with
    assert (abs(changed[[3, 6, 7, 8]] - 0.4) < 0.05).all()


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_items_made_to_meet_a_term_respect_groups(vocabulary):
    items = Random(vocabulary, 0.3, GROUPS).draw(500, rng())
    term = np.array([1, 6])
    met = imposed(items, term, GROUPS)
    assert consistent(met, GROUPS)
    before, after = items.to_array(), met.to_array()
    assert (after[:, term] == 1).all() and not (after[:, [0, 2]] == 1).any()
    untouched = [3, 4, 5, 7, 8]
    np.testing.assert_array_equal(before[:, untouched], after[:, untouched])
    unknown = np.isnan(before[:, 0])
    assert np.isnan(after[unknown, 0]).all()  # what is not known stays so


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_exclusions_say_what_groups_imply_and_no_more(vocabulary):
    items = Random(vocabulary, 0.4, GROUPS).draw(500, rng())
    told = Exclusions(vocabulary, GROUPS)(items)
    assert consistent(told, GROUPS) and Exclusions(vocabulary, ())(items) is items
    expected = items.to_array()
    for group in map(list, GROUPS):
        settled = (expected[:, group] == 1).any(axis=1)
        expected[np.ix_(settled, group)] = np.where(expected[np.ix_(settled, group)] == 1, 1, 0)
    np.testing.assert_array_equal(told.to_array()[:, :9], expected[:, :9])


def asking(questions, groups):
    """A model that is ill where x0, or x3 without x4; it notes whether it was asked nonsense."""

    def model(array):
        for group in groups:
            questions.append(int((array[:, list(group)] == 1).sum(axis=1).max(initial=0)))
        return ((array[:, 0] == 1) | ((array[:, 3] == 1) & (array[:, 4] == 0))).astype(float)

    return model


@pytest.mark.parametrize(("unknown", "encoding"), [("native", "half"), ("completions", None)])
@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_no_question_breaks_a_group(vocabulary, unknown, encoding):
    questions = []
    predictor = as_predictor(asking(questions, GROUPS), encoding=encoding, name="model")
    rows = Random(vocabulary, 0.0, GROUPS).draw(200, rng())
    explain_classifier(predictor, rows, "ill", SMALL, inputs=PLAIN.names, groups=GROUPS, unknown=unknown)
    assert max(questions) == 1 and len(questions) >= 6


def test_the_rules_of_a_simple_classifier_are_found():
    predictor = as_predictor(asking([], ()), name="model")
    rows = Random(PAIRED, 0.0).draw(300, rng())
    found = explain_classifier(predictor, rows, "ill", RULES, inputs=PLAIN.names, distribution=Rows(rows))
    names = found.theory.vocabulary
    expected = [
        Rule.of(names, ["x0"], "ill"),
        Rule.of(names, ["x3", "not_x4"], "ill"),
        Rule.of(names, ["not_x0", "not_x3"], "not_ill"),
        Rule.of(names, ["not_x0", "x4"], "not_ill"),
    ]
    assert set(found.rules) == set(expected) and found.default is None
    whole = Random(PAIRED, 0.0).draw(500, rng(1))
    np.testing.assert_array_equal(found.predict(whole), asking([], ())(whole.to_array()))
    assert found.fidelity.plain.estimate == 1 and {s.precision.estimate for s in found.statistics} == {1.0}


def test_heads_are_label_literals_and_a_seed_repeats_the_run():
    predictor = as_predictor(asking([], ()), encoding="half", name="model")
    rows = Random(PAIRED, 0.1, GROUPS).draw(100, rng())
    runs = [
        explain_classifier(predictor, rows, "ill", RULES, inputs=PLAIN.names, groups=GROUPS) for _ in "ab"
    ]
    assert runs[0] == runs[1]
    assert {rule.head for rule in runs[0].rules} <= {18, 19}
    assert runs[0].background.entails("x0 & x1 -> false")


def forest(values, classes):
    from sklearn.ensemble import RandomForestClassifier

    return as_predictor(RandomForestClassifier(10, max_depth=4, random_state=0).fit(values, classes))


def boosting(values, classes):
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0)
    return as_predictor(model.fit(values, classes))


def network(values, classes):
    import torch

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(values.shape[1], 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    inputs = torch.tensor(np.nan_to_num(values, nan=0.5), dtype=torch.float32)
    optimiser = torch.optim.Adam(module.parameters(), 0.05)
    for _ in range(40):
        optimiser.zero_grad()
        logits = module(inputs)[:, 0]
        targets = torch.tensor(classes, dtype=torch.float32)
        torch.nn.functional.binary_cross_entropy_with_logits(logits, targets).backward()
        optimiser.step()
    return as_predictor(module)


@pytest.mark.parametrize(
    ("dataset", "train"), [("breast-cancer", forest), ("hcc-synthetic", boosting), ("hcc-synthetic", network)]
)
def test_real_classifiers_from_end_to_end(dataset, train):
    table = load_dataset(dataset)
    binariser = Binariser(dual=True).fit(table.features)
    rows = binariser.batch(table.features)
    inputs = rows.vocabulary.names[: len(rows.vocabulary) // 2]
    predictor = train(rows.to_array()[:, : len(inputs)], table.frame[table.label].to_numpy())
    found = explain_classifier(
        predictor, rows, table.label, SMALL, inputs=inputs, groups=binariser.groups_, draws=4
    )
    labels = found.derived
    assert found.fidelity.plain.low > max(labels.sizes) / sum(labels.sizes)  # better than one label for all
    derived = predicted_labels(found.theory, found.label, found.observed(rows))
    np.testing.assert_array_equal(derived, found.derive(rows))


def native():
    return as_predictor(lambda array: array.max(axis=1), encoding="half", name="any")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rows: explain_classifier(native(), rows, "x3"), "'x3' is among the features already"),
        (lambda rows: explain_classifier(native(), rows, "ill", unknown="guess"), "not 'guess'"),
        (
            lambda rows: classifier_teacher(as_predictor(len), rows, "ill", unknown="native"),
            "takes complete inputs only; ask it with unknown='completions'",
        ),
        (lambda rows: classifier_teacher(native(), rows, "ill", inputs=["x33"]), "reads 'x33'"),
        (lambda rows: explain_classifier(native(), rows[:0], "ill"), "there are no rows to draw from"),
        (lambda rows: judge_teacher(native(), rows, groups=((0, 1), (1, 2))), "is in a group already"),
        (
            lambda rows: classifier_teacher(as_predictor(len), rows, "ill", draws=0),
            "completions are tried 1 to",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call(Random(PLAIN, 0.0).draw(20, rng()))


def test_a_classifier_that_fails_ends_the_run_and_says_so():
    def failing(array):
        raise RuntimeError("out of order")

    rows = Random(PLAIN, 0.0).draw(20, rng())
    found = explain_classifier(as_predictor(failing, encoding="half", name="broken"), rows, "ill", SMALL)
    assert found.stop_reason.startswith("the model failed: broken failed") and not found.rules
    assert found.guarantee.kind == "none" and np.isnan(found.predict(rows)).all()
