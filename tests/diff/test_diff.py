"""What changed between two models: laws on small models whose disagreement is known."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from difficult_teachers import FaultyClassifier
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from questions import diff
from sklearn.tree import DecisionTreeClassifier

from hornbook.code_book import CodeBook
from hornbook.conditions import Category, Threshold
from hornbook.diff.diff import SampleFigures
from hornbook.diff.samples import GuidedSampler, pair_models
from hornbook.diff.switches import ClassSwitches
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, RuleSet
from hornbook.models import RowSampler, Subject, match_classes
from hornbook.statistics import Share, StratifiedShare, exceeds


class Function:
    """A classifier that is a function of rows."""

    def __init__(self, decide, columns, classes=(0, 1)):
        self.decide, self.classes_ = decide, np.array(classes)
        self.feature_names_in_ = np.array(columns)

    def predict(self, rows):
        return np.asarray(self.classes_)[np.asarray(self.decide(rows), np.intp)]


def draw_table(size, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, size),
            "dose": rng.normal(size=size).round(4),
            "site": rng.choice(["north", "south", "east", "west"], size),
        }
    )


COLUMNS = ["age", "dose", "site"]
OLD = Function(lambda rows: rows.dose > 0.3, ["dose"])
PLANTED = Function(lambda rows: (rows.dose > 0.3) | ((rows.site == "north") & (rows.age > 70)), COLUMNS)


def bind(model, table):
    """A model bound to all rows of a table."""
    return Subject.bind(model, table, target="ill", hold_out=False)


@pytest.fixture(scope="module")
def planted():
    return diff(OLD, PLANTED, draw_table(600), "ill", n_samples=4000)


def test_diff_says_which_model_changes_its_answers():
    rows = draw_table(120)[["age", "dose"]]
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, rows.dose > 0.3)
    lying = FaultyClassifier(model, "lie", after=700)
    notes = diff(model, lying, rows, n_samples=500).notes
    assert [note[:51] for note in notes] == ["asked 96 questions again, the new model gave anothe"]
    assert diff(model, model, rows, n_samples=500).notes == ()


def test_diff_finds_a_planted_slice_as_one_rule(planted):
    """The models read different columns."""
    [rule] = planted.explanation.rules
    assert set(rule.body) == {
        Threshold("age", 70.0),
        Category("site", "north"),
        Category("old says", "ill", inside=False),
    } or set(rule.body) == {
        Threshold("age", 70.0),
        Category("site", "north"),
        Category("old says", "not ill"),
    }
    assert planted.explanation.classes == ("the same", "old not ill, new ill")
    changed, same = planted.lines
    assert changed.precision.estimate == 1 and changed.unseen.hits == changed.unseen.size
    assert same.precision.hits == same.precision.size
    assert planted.recall.hits == planted.recall.size
    assert [model.columns for model in planted.models] == [("dose",), tuple(COLUMNS)]


def test_diff_counts_what_the_models_say_of_all_rows(planted):
    from hornbook.tables import split_rows

    table = draw_table(600)
    differs = OLD.predict(table) != PLANTED.predict(table)
    assert planted.share == Share.where(differs)
    held_out = split_rows(table, 0)[1]
    assert {row.row for row in planted.rows} <= {*table.index[held_out][differs[held_out]]}
    assert planted.switches["old not ill, new ill"] == planted.share
    assert planted.recall.size == differs[held_out].sum()


def test_diff_of_identical_models_finds_nothing_and_says_how_sure_that_is():
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    table = draw_table(300)[["age", "dose"]]
    model.fit(table, (table.dose > 0.1) & (table.age > 40))
    found = diff(model, model, table, n_samples=2000)
    assert str(found.explanation) == "always: the same"
    assert found.share == Share.of(0, 300) and found.switches == {} and found.rows == ()
    assert found.samples.estimate == found.samples.low == 0 and 0 < found.samples.high < 0.01
    assert "0.00 % (95 % interval 0.00 %" in str(found)


def test_diff_of_several_classes_tells_from_which_class_to_which():
    old = Function(lambda rows: np.digitize(rows.dose, [-0.5, 0.5]), ["dose"], ("low", "middle", "high"))
    new = Function(lambda rows: np.digitize(rows.dose, [-0.5, 0.9]), ["dose"], ("low", "middle", "high"))
    found = diff(old, new, draw_table(400), n_samples=2000)
    assert found.explanation.classes == ("the same", "old high, new middle")
    assert found.recall.hits == found.recall.size > 0


def test_diff_takes_models_that_do_not_name_their_columns():
    """As networks in files: they are given all columns of the table, as numbers, and no others."""
    table = draw_table(200)[["age", "dose"]]
    models = [
        DecisionTreeClassifier(max_depth=2).fit(table.to_numpy(), (table.dose > 0.3) | (table.age > limit))
        for limit in (99, 70)
    ]
    found = diff(*models, table, n_samples=500)
    assert "age ≥ 71" in str(found.explanation)


def test_lines_that_are_wrong_more_often_than_not_say_how_often_there_is_disagreement():
    """Errors at random, more often in the north: no line tells rows with one from rows without."""
    table, rng = draw_table(1500), np.random.default_rng(3)
    truth = pd.Series(OLD.predict(table))
    wrong = rng.random(1500) < np.where(table.site == "north", 0.3, 0.02)
    truth[wrong] = 1 - truth[wrong]
    found = diff(OLD, truth, table, "ill")
    assert found.explanation.rules
    for line, own in zip(found.explanation.lines(), found.lines, strict=True):
        said = found.say(line, own)
        assert own.is_right == (own.unseen.estimate >= 0.5) == (said == line.outcome)
        if not own.is_right:
            inside, elsewhere = map(int, re.findall(r"(\d+) %", said))
            assert 15 <= inside <= 45 and elsewhere < inside / 2
            assert f": the model errs on {inside} % of these, {elsewhere} % elsewhere" in str(found)
    assert not found.lines[0].is_right


@draw_examples(0.5)
@given(st.integers(0, 400), st.integers(1, 400), st.floats(0.001, 0.9))
def test_tolerance_is_decided_by_the_interval(hits, size, tolerance):
    share = Share.of(min(hits, size), size)
    if share.low > tolerance:
        assert exceeds(share, tolerance) and exceeds(share, tolerance, strict=True)
    elif Share.of(0, size).high > tolerance:  # no answers at all could pass
        with pytest.raises(HornbookError, match="too few") as refused:
            exceeds(share, tolerance)
        needed = int(str(refused.value).rpartition(" ")[2].replace(",", ""))
        assert Share.of(0, needed).high <= tolerance * (1 + 1e-9) < Share.of(0, needed - 1).high * (1 + 1e-6)
    else:
        assert not exceeds(share, tolerance)
        assert exceeds(share, tolerance, strict=True) == (share.high > tolerance)


def test_diff_refuses_classes_that_have_nothing_in_common_and_takes_them_by_a_code_book():
    with pytest.raises(HornbookError, match="no class in common"):
        match_classes(("no", "yes"), (0, 1))
    book = CodeBook(classes={"0": "no", "1": "yes"})
    assert [list(numbers) for numbers in match_classes(("yes", "no"), (0, 1), book)[1]] == [[0, 1], [1, 0]]


# guidance


def test_guided_samples_estimate_shares_of_all_samples_without_bias():
    """Brute force: every pair of rows, every exchange of columns."""
    table = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5], "b": [0, 0, 1, 1, 2, 2], "c": list("xyxyxz")})
    rare = lambda rows: ((rows.a >= 4) & (rows.c == "x") & (rows.b == 1)).to_numpy()  # noqa: E731
    never = Function(lambda rows: rows.a > 99, ["a"])
    pair = pair_models(bind(never, table), Function(rare, ["a", "b", "c"]))
    expected = 0.0
    share = pair.teachers[0].sampler.shares
    for kept in itertools.product([0, 1], repeat=3):
        pairs = itertools.product(table.to_numpy(), repeat=2)
        exchanged = [np.where(kept, first, second) for first, second in pairs]
        chance = np.mean([np.prod([1 - s if own else s for own in kept]) for s in share])
        expected += chance * rare(pd.DataFrame(exchanged, columns=["a", "b", "c"])).mean()
    sampler, rng, shares = GuidedSampler.start(pair), np.random.default_rng(0), []
    for _ in range(15):
        samples, _ = sampler.draw_rounds(2000, rng)
        shares.append(samples.share)
    whole = 3 / 500  # of the samples of a round, which are rows as they are; none of these disagrees
    error = np.std(shares) / np.sqrt(len(shares))
    assert abs(np.mean(shares) - expected * (1 - whole)) < 4 * error


def test_guided_sampler_looks_where_disagreement_is():
    table = draw_table(600)
    pair = pair_models(bind(OLD, table), PLANTED)
    rng = np.random.default_rng(0)
    samples, _ = GuidedSampler.start(pair).draw_rounds(4000, rng)
    natural = pair.answer(pair.teachers[0].sample(20_000, rng)).differs.mean()
    assert samples.differs.mean() > 4 * natural and abs(samples.share - natural) < 0.2 * natural


def test_guided_sampler_weighs_rows_by_how_often_they_would_be_drawn():
    table = pd.DataFrame({"a": np.arange(10)})
    chances = np.arange(1, 11) / 55
    rng = np.random.default_rng(0)
    frame, first = RowSampler(table).draw_guided(20_000, chances, rng)
    weights = 1 / (10 * chances[first])
    assert abs(weights.mean() - 1) < 0.03
    for value in range(10):  # each value is as common among weighted samples as in the table
        assert abs(weights[frame.a == value].sum() / 20_000 - 0.1) < 0.02


@draw_examples(0.75)
@given(st.lists(st.tuples(st.floats(0.02, 1), st.floats(0, 1)), min_size=1, max_size=5), st.integers(0, 99))
def test_stratified_share_is_the_sum_of_strata_by_their_size(strata, seed):
    sizes = np.array([size for size, _ in strata])
    sizes, shares = sizes / sizes.sum(), np.array([share for _, share in strata])
    members = np.maximum(1, np.round(sizes * 10_000)).astype(int)
    asked = np.full(len(strata), 50)
    hits = np.random.default_rng(seed).binomial(asked, shares)
    found = StratifiedShare.of(members.tolist(), hits.tolist(), asked.tolist())
    assert np.isclose(found.estimate, (members / members.sum() * hits / 50).sum())
    assert 0 <= found.low <= found.estimate + 1e-9 and found.estimate <= found.high + 1e-9 <= 1 + 1e-9


def test_stratified_share_covers_the_truth_and_has_no_bias():
    rng = np.random.default_rng(0)
    sizes, shares = np.array([0.9, 0.08, 0.02]), np.array([0.001, 0.3, 0.9])
    truth, found = float(sizes @ shares), []
    for _ in range(300):
        members, asked = rng.multinomial(4000, sizes), [400, 60, 40]
        found.append(StratifiedShare.of(members.tolist(), rng.binomial(asked, shares).tolist(), asked))
    assert abs(np.mean([share.estimate for share in found]) - truth) < 0.001
    assert np.mean([share.low <= truth <= share.high for share in found]) >= 0.95


def test_samples_are_measured_without_bias_though_lines_are_asked_about_more_often():
    """The estimate is the natural share, whatever the rules say."""
    table = draw_table(300)
    pair = pair_models(bind(OLD, table), PLANTED)
    natural = pair.answer(pair.teachers[0].sample(200_000, np.random.default_rng(1))).differs.mean()
    switches = ClassSwitches.of(pair.answer(table), pair)
    rules = RuleSet(switches.outcomes, (ConditionRule((Threshold("age", 60.0),), 1),), 0)
    found = [SampleFigures.measure(pair, rules, switches, 500, seed).share for seed in range(40)]
    error = np.std([share.estimate for share in found]) / np.sqrt(40)
    assert abs(np.mean([share.estimate for share in found]) - natural) < 4 * error
    assert np.mean([share.low <= natural <= share.high for share in found]) >= 0.95


# the truth


def test_diff_with_the_truth_finds_the_group_in_which_a_model_errs():
    table = draw_table(800)
    truth = pd.Series(OLD.predict(table))
    wrong = (table.site == "north") & (table.age > 60)
    truth[wrong] = 1 - truth[wrong]
    found = diff(OLD, truth, table, "ill")
    assert found.samples is None and found.sides == ("model", "truth")
    for rule, line in zip(found.explanation.rules, found.lines[:-1], strict=True):
        assert Category("site", "north") in rule.body
        assert any(each.column == "age" and 60 <= each.cut < 70 for each in rule.body)
        assert line.is_right and line.differs == 1
    assert found.recall.estimate > 0.7
    assert found.share.size == 800


def test_rows_that_repeat_make_no_share_more_certain():
    table = draw_table(400)
    truth = pd.Series(OLD.predict(table))
    wrong = np.random.default_rng(0).random(400) < 0.2
    truth[wrong] = 1 - truth[wrong]
    tenfold = np.repeat(np.arange(400), 10)
    found = diff(OLD, truth[tenfold].to_numpy(), table.iloc[tenfold], "ill")
    assert found.share.size == 4000 and found.share.independent == 400
    assert found.share.high - found.share.low > 0.07
    assert "3,600 of 4,000 rows repeat another one; equal rows were held out together" in found.notes
    patients = diff(OLD, truth, table, "ill", groups=np.arange(400) // 4)
    assert patients.share.independent == 100 and patients.share.size == 400


def test_diff_refuses_labels_of_other_rows():
    with pytest.raises(HornbookError, match="200 rows and 10 labels"):
        diff(OLD, [0] * 10, draw_table(200))
    with pytest.raises(HornbookError, match="at least 60"):
        diff(OLD, [0] * 20, draw_table(20))
