"""Classifier mode: rules about a label, questions that respect groups, and honest ends."""

from dataclasses import replace

import numpy as np
import pytest

from hornbook.classify.reading import Reading
from hornbook.classify.run import explain_classifier
from hornbook.classify.search import best_by_size
from hornbook.data.binarise import Binariser
from hornbook.data.datasets import load_dataset
from hornbook.distributions import Labelled, Random, Rows
from hornbook.errors import HornbookError
from hornbook.evaluate import derive_labels
from hornbook.learners.pool import impose_term
from hornbook.logic import Batch, Rule, Vocabulary
from hornbook.models import as_predictor
from hornbook.oracles import GroupPropagation
from hornbook.queries import Budget
from hornbook.teachers import augmented_rows, classifier_labels, classifier_teacher, judge_teacher

PLAIN = Vocabulary([f"x{i}" for i in range(9)])
PAIRED = Vocabulary.with_duals(PLAIN.names)
GROUPS = ((0, 1, 2), (4, 5))
FORMS = ("rules", "card", "tree")

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
    met = impose_term(items, term, GROUPS)
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
    told = GroupPropagation(vocabulary, GROUPS)(items)
    assert consistent(told, GROUPS) and GroupPropagation(vocabulary, ())(items) is items
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
    derived = derive_labels(found.theory, found.label, found.observed(rows))
    np.testing.assert_array_equal(derived, found.derive(rows))


def voting(weights):
    """A model that adds up; ? counts half."""
    return as_predictor(lambda array: array @ np.array(weights), encoding="half", threshold=1.0, name="score")


@pytest.fixture(scope="module")
def scored():
    """An explanation of a score over nine features, by rules, cards and trees."""
    rows = Random(PAIRED, 0.1).draw(200, rng())
    predictor = voting([2, -1, 1, 1, 0, 0, 0, 0, -2])
    reading = replace(SMALL, max_literals=8, samples=8000)
    return predictor, rows, explain_classifier(predictor, rows, "ill", reading, inputs=PLAIN.names)


def test_a_score_is_found_where_the_model_is_one(scored):
    _, _, found = scored
    assert found.form == "card" and found.literals <= 8
    assert found.fidelity.plain.low > 0.97 and found.derived.undetermined.hits == 0


def test_the_frontier_says_what_reading_more_brings(scored):
    _, _, found = scored
    sizes = [point.literals for point in found.frontier]
    assert sizes == sorted(sizes) and sizes[0] == 0 and {p.form for p in found.frontier} == {*FORMS}
    best = list(best_by_size(found.weighed))
    assert [(p.form, p.literals) for p in found.frontier] == [(said.form, said.literals) for said in best]
    compared = [next(point for each, point in found.weighed if each is said) for said in best]
    for form in FORMS:
        shares = [p.fidelity.estimate for p in compared if p.form == form]
        assert shares == sorted(set(shares))  # more to read is more faithful, or not on the frontier
    # what is shown was not chosen by the samples that it is measured on
    assert {p.fidelity.hits for p in found.frontier} != {p.fidelity.hits for p in compared}
    assert found.fidelity.plain in [p.fidelity for p in found.frontier]
    for literals in (0, 1, 3, 8):
        said = found.within(literals)
        best = max(p.fidelity.estimate for p in compared if p.literals <= literals)
        own = next(point for candidate, point in found.weighed if candidate is said)
        assert said.literals <= literals and own.fidelity.estimate >= best - 0.003
    assert found.within(8) == found.said


@pytest.mark.parametrize("form", ["card", "tree"])
def test_what_decides_in_place_of_rules_does_so_as_a_theory_too(scored, form):
    predictor, rows, _ = scored
    reading = replace(SMALL, form=form)
    found = explain_classifier(predictor, rows, "ill", reading, inputs=PLAIN.names)
    assert found.form == form and not found.rules and 0 < found.literals <= SMALL.max_literals
    derived = derive_labels(found.theory, "ill", found.observed(rows))
    np.testing.assert_array_equal(derived, found.predict(rows))
    assert {candidate.form for candidate, _ in found.weighed} == {"rules", form}  # one that says nothing


def test_what_is_undetermined_agrees_with_nothing_and_the_default_is_counted_apart(scored):
    predictor, rows, _ = scored
    for default in (True, False):
        reading = replace(SMALL, form="rules", default=default)
        found = explain_classifier(predictor, rows, "ill", reading, inputs=PLAIN.names)
        derived, predicted = found.derive(rows), found.predict(rows)
        left_open = np.isnan(derived)
        np.testing.assert_array_equal(derived[~left_open], predicted[~left_open])
        assert left_open.any() and (found.default is None) is not default
        assert np.isnan(predicted[left_open]).all() if not default else not np.isnan(predicted).any()
        assert found.derived.undetermined.hits > 0
        assert sum(found.derived.agreed) <= sum(found.derived.sizes) - found.derived.undetermined.hits
        assert found.fidelity.undetermined.hits == (0 if default else found.derived.undetermined.hits)
        assert str(found).splitlines()[-1].startswith("otherwise ")


def test_labels_asked_for_are_counted_and_a_budget_is_kept(scored):
    predictor, rows, found = scored
    assert found.queries == 8000 + 2 * 500
    poor = replace(SMALL, budget=Budget(membership_queries=1200))
    ended = explain_classifier(predictor, rows, "ill", poor, inputs=PLAIN.names)
    assert ended.stop_reason == "budget of 1200 membership queries" and ended.queries == 1000
    assert not ended.rules and ended.within(5) == ended.said


def test_a_model_with_one_answer_is_explained_by_its_default():
    rows = Random(PAIRED, 0.1).draw(50, rng())
    found = explain_classifier(voting([0] * 9), rows, "ill", SMALL, inputs=PLAIN.names)
    assert not found.rules and found.decider is None and found.default is False
    assert str(found) == "otherwise not_ill" and found.fidelity.plain.estimate == 1


def test_a_majority_of_completions_decides_where_a_model_takes_no_unknowns():
    rows = Batch.from_array([[1, 0], [0, 0], [0, 0]], Vocabulary(["x", "y"]))
    asked = []

    def model(array):
        asked.append(len(array))
        return array.max(axis=1)

    labels = classifier_labels(as_predictor(model, name="any"), rows, "ill", draws=15)
    found = labels(Batch.from_array([[np.nan, 0], [np.nan, 1], [0, 0]], rows.vocabulary))
    assert found.tolist() == [False, True, False]  # a third of the rows has x
    assert sum(asked) <= 3 + 2 * 15 + 3  # complete rows are asked about once


def test_mixtures_of_two_rows_take_each_column_from_one_of_them():
    rows = Batch.from_array([[1] * 9 + [0] * 9, [0] * 9 + [1] * 9], PAIRED)
    batch = augmented_rows(rows).draw(4000, rng())
    assert consistent(batch, ())
    share = np.nanmean(batch.to_array()[:, :9], axis=1)
    assert (share < 0.2).mean() > 0.2 < (share > 0.8).mean() and (abs(share - 0.5) < 0.3).mean() > 0.2


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
