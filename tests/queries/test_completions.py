"""Completions: sound, the same whoever asks, and asked about no more than needed."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from difficult_teachers import Constant, Network
from hypothesis import given
from hypothesis import strategies as st
from logic_strategies import batches, theories
from sklearn.ensemble import RandomForestClassifier

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary
from hornbook.models import as_predictor
from hornbook.queries import Cached, Counted, Judge, Random, Rows
from hornbook.queries import completions as module
from hornbook.queries.completions import Completions, rounds

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(9)])
PLAIN = Vocabulary([f"x{i}" for i in range(9)])
GROUPS = ((0, 1, 2), (4, 5))


def rng(seed=0):
    return np.random.default_rng(seed)


def total_only(theory):
    """The theory as a teacher who takes complete inputs only."""

    def member(batch):
        assert not np.isnan(batch.to_array()).any()
        return theory.satisfied_by(batch)

    return member


def brute_force(member, batch):
    answers = []
    for row in batch.to_array():
        cells = np.flatnonzero(np.isnan(row))
        table = np.tile(row, (2 ** len(cells), 1))
        table[:, cells] = list(product([0, 1], repeat=len(cells)))
        answers.append(bool(member(Batch.from_array(table, batch.vocabulary)).any()))
    return answers


@given(st.data())
def test_with_draws_enough_completions_equal_brute_force(data):
    theory = data.draw(theories(max_variables=4))
    batch = data.draw(batches(theory.vocabulary, 40))
    some = Completions(theory.vocabulary, draws=400, rows=Random(theory.vocabulary), rng=rng())
    assert some.accept_some(total_only(theory), batch).tolist() == brute_force(theory.satisfied_by, batch)


@given(st.data(), st.integers(1, 20))
def test_completions_accepted_is_certain(data, draws):
    theory = data.draw(theories())
    batch = data.draw(batches(theory.vocabulary, 100))
    some = Completions(theory.vocabulary, draws, rows=Random(theory.vocabulary), rng=rng())
    assert (theory.satisfied_by(batch) | ~some.accept_some(total_only(theory), batch)).all()


def test_completions_least_model_is_tried_first():
    theory = HornTheory(PLAIN, [Rule({v}, BOTTOM) for v in range(9)])
    unknown = Batch.from_array(np.full((1, 9), np.nan), PLAIN)
    assert Completions(PLAIN, draws=1, rows=Random(PLAIN), rng=rng()).accept_some(
        total_only(theory), unknown
    )[0]


def random_teacher(vocabulary):
    return Network(Random(vocabulary, 0.0), rng(5), accepted=0.1)


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_completions_answer_depends_on_the_interpretation_alone(vocabulary, monkeypatch):
    batch = Random(vocabulary, 0.4).draw(350, rng(1))
    teacher = random_teacher(vocabulary)

    def some(draws=6):
        return partial(
            Completions(vocabulary, draws, rows=Random(vocabulary), rng=rng(2)).accept_some, teacher
        )

    expected = some()(batch)
    assert 0.1 < expected.mean() < 0.9
    order = rng(3).permutation(len(batch))
    assert (some()(batch[order]) == expected[order]).all()
    assert (Cached(some())(batch) == expected).all()
    asked_before = some()
    asked_before(batch[::7])
    assert [bool(asked_before(batch[[at]])[0]) for at in range(30)] == expected[:30].tolist()
    monkeypatch.setattr(module, "COMPLETIONS_BLOCK", 50)
    assert (some()(batch) == expected).all()


def test_other_seeds_try_other_completions():
    batch = Random(PLAIN, 0.6).draw(500, rng(1))
    teacher = random_teacher(PLAIN)
    answers = [
        Completions(PLAIN, 3, rows=Random(PLAIN), rng=rng(seed)).accept_some(teacher, batch)
        for seed in range(2)
    ]
    assert (answers[0] != answers[1]).any()


def test_no_more_is_asked_once_a_completion_is_accepted():
    batch = Random(PLAIN, 0.5).draw(3000, rng())
    partial = np.isnan(batch.to_array()).any(axis=1)
    for answer, questions in ((True, 3000), (False, 3000 + 19 * int(partial.sum()))):
        counted = Counted(Constant(answer))
        Completions(PLAIN, 20, rows=Random(PLAIN), rng=rng()).accept_some(counted, batch)
        assert counted.questions == questions
        assert counted.batches <= 2 * len(list(rounds(20)))


@given(st.integers(1, 200))
def test_rounds_count_every_draw_once(draws):
    found = list(rounds(draws))
    assert np.concatenate(found).tolist() == list(range(draws))
    assert max(map(len, found)) <= module.MAX_ROUND


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
@pytest.mark.parametrize("groups", [(), GROUPS])
def test_completions_keep_what_is_known_and_respect_pairs_and_groups(vocabulary, groups):
    batch = Random(vocabulary, 0.5, groups).draw(300, rng())
    cells = Completions(vocabulary, rows=Random(vocabulary), rng=rng(1), groups=groups).prepare(batch)
    known = batch.to_array()
    for number in range(30):
        filled = cells.complete(np.arange(300), np.array([number])).to_array()
        assert not np.isnan(filled).any()
        assert ((filled == known) | np.isnan(known)).all()
        for v, w in vocabulary.pairs:
            assert (filled[:, v] == 1 - filled[:, w]).all()
        for group in groups:
            assert (filled[:, list(group)].sum(axis=1) <= 1).all()


@pytest.mark.parametrize("groups", [(), GROUPS])
def test_unknown_values_can_come_from_rows(groups):
    rows = Random(PAIRED, 0.0, groups).draw(5, rng())
    batch = Random(PAIRED, 1.0).draw(4, rng(1))
    table = Completions(PAIRED, rows=Rows(rows), rng=rng(), groups=groups)
    filled = table.prepare(batch).complete(np.arange(4), np.arange(1, 11))
    assert set(filled) <= set(rows)
    assert len(set(filled)) > 1


def test_completion_table_some_variables_can_be_left_as_they_are():
    batch = Random(PAIRED, 0.5).draw(200, rng())
    filled = (
        Completions(PAIRED, rows=Random(PAIRED), rng=rng(), keep={3})
        .prepare(batch)
        .complete(np.arange(200), np.array([4]))
        .to_array()
    )
    left = [3, 12]
    np.testing.assert_array_equal(filled[:, left], batch.to_array()[:, left])
    assert not np.isnan(np.delete(filled, left, axis=1)).any()


def test_a_classifier_of_complete_inputs_answers_about_partial_ones():
    """A forest takes no ?, and an unknown label is accepted without completing it."""
    inputs = rng().integers(0, 2, (200, 4))
    forest = RandomForestClassifier(5, random_state=0).fit(inputs, inputs[:, 0] & inputs[:, 1])
    vocabulary = Vocabulary(["a", "b", "c", "d", "both"])
    classifier = Judge(as_predictor(forest), vocabulary, "both")
    some = Completions(vocabulary, 200, rows=Random(vocabulary), rng=rng(), keep=classifier.heads)
    nan = np.nan
    rows = [[1, nan, 0, nan, 1], [0, nan, nan, nan, 1], [1, 1, nan, 0, 0], [0, nan, nan, nan, nan]]
    asked = Batch.from_array(rows, vocabulary)
    assert some.accept_some(classifier, asked).tolist() == [True, False, False, True]


def test_completions_vote_for_what_most_of_them_get():
    vocabulary = Vocabulary(["fever", "cough"])
    rows = Rows(Batch.from_array([[1, 1], *[[0, 0]] * 4], vocabulary))
    some = Completions(vocabulary, rows=rows, rng=rng())
    asked = Batch.from_array([[1, np.nan], [np.nan, 0], [0, 0]], vocabulary)
    assert some.vote(lambda batch: batch.to_array().max(axis=1) == 1, asked).tolist() == [True, False, False]


def test_empty_batches_have_no_answers():
    some = Completions(PLAIN, 3, rows=Random(PLAIN), rng=rng())
    empty = Batch.from_interpretations([], PLAIN)
    assert some.accept_some(Constant(True), empty).tolist() == []
    assert some.vote(Constant(True), empty).tolist() == []


def test_completions_bad_settings_are_refused():
    with pytest.raises(HornbookError, match="different vocabularies"):
        Completions(PLAIN, rows=Random(PLAIN), rng=rng()).accept_some(
            Constant(True), Random(PAIRED).draw(1, rng())
        )
    with pytest.raises(HornbookError, match="in a group already"):
        Completions(PLAIN, rows=Random(PLAIN), rng=rng(), groups=((0, 1), (1, 2)))
