"""Trees as judges and as rules, and the budgets they keep."""

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from hornbook import baselines
from hornbook.baselines import (
    HoeffdingSettings,
    TreeLeaf,
    TreeSplit,
    branch_rules,
    convert_tree,
    decide_by_tree,
    decision_tree,
    hoeffding_tree,
    one_variable_per_pair,
    rejecting_branches,
    tune_hoeffding_tree,
)
from hornbook.deadline import NO_DEADLINE
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Vocabulary
from hornbook.queries import Counted, Mixture, Random, Violations

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(4)])
THEORY = HornTheory.parse("x0 & x1 -> x2\nx2 & not_x3 -> not_x1\nx0 & x3 -> false", PAIRED)
MIXED = Mixture((Random(PAIRED), Violations(THEORY)), (2, 1))


def everything(width):
    """Every pair-consistent interpretation."""
    values = np.array(list(product([1.0, 0.0, np.nan], repeat=width)))
    return Batch.from_array(np.hstack([values, 1 - values]), PAIRED)


EVERYTHING = everything(4)


@st.composite
def trees(draw, depth=5):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return TreeLeaf(draw(st.booleans()))
    low, high = draw(trees(depth - 1)), draw(trees(depth - 1))
    return TreeSplit(draw(st.integers(0, 3)), low, high, draw(st.booleans()))


def follow(node, row):
    while isinstance(node, TreeSplit):
        value = row[node.variable]
        high = node.unknown_goes_high if np.isnan(value) else value == 1
        node = node.high if high else node.low
    return node.accepts


def forgettings(row):
    """The row itself, and the row with some of its values made unknown."""
    yield from product(*({value, np.nan} if value == value else {np.nan} for value in row))


# The tree and its rules


@given(trees())
def test_decide_by_tree_bit_sliced_answers_follow_the_branches(tree):
    rows = EVERYTHING.to_array()[:, :4]
    assert decide_by_tree(tree, EVERYTHING).tolist() == [follow(tree, row) for row in rows]
    assert decide_by_tree(tree, EVERYTHING[:5]).tolist() == [follow(tree, row) for row in rows[:5]]


@given(trees())
def test_branch_rules_reject_what_the_tree_rejects_with_some_values_forgotten(tree):
    theory = branch_rules(tree, PAIRED)
    accepted = theory.satisfied_by(EVERYTHING)
    for row, accepts in zip(EVERYTHING.to_array()[:, :4], accepted.tolist(), strict=True):
        assert accepts == all(follow(tree, lesser) for lesser in forgettings(row))


@given(trees())
def test_branch_rules_reject_no_more_than_a_tree_that_asks_for_known_values_only(tree):
    rejected, refused = (
        ~decide_by_tree(tree, EVERYTHING),
        ~branch_rules(tree, PAIRED).satisfied_by(EVERYTHING),
    )
    assert (rejected <= refused).all()
    if all(0.5 not in values for demands in rejecting_branches(tree) for values in demands.values()):
        assert (rejected == refused).all()


def test_branch_rules_tree_sees_one_variable_of_a_pair():
    variables = one_variable_per_pair(PAIRED)
    assert variables.tolist() == [0, 1, 2, 3]
    plain = Vocabulary(["horse", "wings"])
    for refused in (lambda: one_variable_per_pair(plain), lambda: branch_rules(TreeLeaf(True), plain)):
        with pytest.raises(HornbookError, match="'horse' has no dual"):
            refused()


# scikit-learn's tree


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_leaf_nodes", [None, 4, 12])
def test_convert_tree_predicts_what_the_fitted_tree_predicts(seed, max_leaf_nodes):
    rng = np.random.default_rng(seed)
    variables = one_variable_per_pair(PAIRED)
    batch = MIXED.draw(300, rng)
    labels = THEORY.satisfied_by(batch) ^ (rng.random(300) < 0.1)
    fitted = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=seed)
    fitted.fit(batch.to_array(0.5)[:, variables], labels)
    expected = fitted.predict(EVERYTHING.to_array(0.5)[:, variables])
    assert decide_by_tree(convert_tree(fitted, variables), EVERYTHING).tolist() == expected.tolist()


def test_decision_tree_with_enough_samples_is_the_theory():
    found = decision_tree(THEORY.satisfied_by, MIXED, 5000, np.random.default_rng(0))
    assert found.labels_used == 5000
    assert (found.member(EVERYTHING) == THEORY.satisfied_by(EVERYTHING)).all()
    assert (found.theory.satisfied_by(EVERYTHING) == THEORY.satisfied_by(EVERYTHING)).all()
    assert all(rule.head is BOTTOM for rule in found.theory)


@pytest.mark.parametrize("leaves", [2, 3, 5])
def test_decision_tree_leaves_bound_the_rules(leaves):
    found = decision_tree(THEORY.satisfied_by, MIXED, 2000, np.random.default_rng(0), max_leaf_nodes=leaves)
    assert len(found.theory) < leaves and found.splits == leaves - 1


@pytest.mark.parametrize("accepts", [True, False])
def test_decision_tree_constant_models(accepts):
    def constant(batch):
        return np.full(len(batch), accepts)

    for found in (
        decision_tree(constant, MIXED, 50, np.random.default_rng(0)),
        hoeffding_tree(constant, MIXED, 50, np.random.default_rng(0), samples=3),
    ):
        assert (found.member(EVERYTHING) == accepts).all()
        assert (found.theory.satisfied_by(EVERYTHING) == accepts).all()
        assert [len(rule.body) for rule in found.theory] == ([] if accepts else [0])


def test_decision_tree_nothing_can_be_learned_from_no_sample():
    with pytest.raises(HornbookError, match="at least one interpretation; got size=0"):
        decision_tree(THEORY.satisfied_by, MIXED, 0, np.random.default_rng(0))
    with pytest.raises(HornbookError, match="at least one interpretation; got size=0"):
        hoeffding_tree(THEORY.satisfied_by, MIXED, 0, np.random.default_rng(0), samples=3)


# The Hoeffding tree


class OneByOne:
    """A leaf that keeps the interpretations that it learns, one at a time, and may become a split."""

    def __init__(self, settings, tests, before=(0, 0)):
        self.settings, self.tests, self.test = settings, tests, None
        self.before, self.kept, self.waiting = before, [], 0

    def learn(self, row, accepted):
        if self.test is not None:
            (self.high if self.tests[self.test](row) else self.low).learn(row, accepted)
            return
        self.kept.append((row, accepted))
        self.waiting += 1
        if self.waiting == self.settings.grace_period:
            self.waiting = 0
            if len({accepted for _, accepted in self.kept}) == 2:
                self.think()

    def think(self):
        whole, gains = self.count(self.kept), {}
        for name, test in self.tests.items():
            parts = [[each for each in self.kept if test(each[0]) == side] for side in (False, True)]
            if min(map(len, parts)) >= 0.01 * len(self.kept):
                left = sum(len(part) / len(self.kept) * entropy(self.count(part)) for part in parts)
                gains[name] = entropy(whole) - left
        best = max(gains, key=gains.get, default=None)
        if best is None or gains[best] <= 0:
            return
        second = max((gain for name, gain in gains.items() if name[1] != best[1]), default=0)
        reached = sum(self.before) + len(self.kept)
        bound = math.sqrt(math.log(1 / self.settings.delta) / (2 * reached))
        if gains[best] - max(second, 0) > bound or bound < 0.05:
            self.test = best
            for side, name in ((False, "low"), (True, "high")):
                part = self.count([each for each in self.kept if self.tests[best](each[0]) == side])
                setattr(self, name, OneByOne(self.settings, self.tests, part))

    @staticmethod
    def count(kept):
        return [sum(not accepted for _, accepted in kept), sum(accepted for _, accepted in kept)]

    def accepts(self, row):
        if self.test is not None:
            return (self.high if self.tests[self.test](row) else self.low).accepts(row)
        no, yes = (old + new for old, new in zip(self.before, self.count(self.kept), strict=True))
        return yes >= no


def entropy(counts):
    shares = [count / sum(counts) for count in counts if count]
    return -sum(share * math.log2(share) for share in shares)


def make_tests(unknown):
    """The tests that a tree has, by kind and variable: known to be true, and by ½ not known to be false."""
    tests = {("true", v): lambda row, v=v: row[v] == 1 for v in range(4 if unknown else 8)}
    if unknown:
        tests |= {("not false", v): lambda row, v=v: row[v] != 0 for v in range(4)}
    return tests


@pytest.mark.parametrize("unknown", [0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_hoeffding_tree_learns_in_blocks_what_it_learns_one_by_one(seed, unknown, monkeypatch):
    monkeypatch.setattr(baselines, "LEARNED_BLOCK", 100)
    rng = np.random.default_rng(seed)
    settings = HoeffdingSettings(grace_period=(20, 7, 50, 30)[seed], delta=0.3)
    growing, plain = baselines._Growing(PAIRED, settings, unknown), OneByOne(settings, make_tests(unknown))
    rows = EVERYTHING.to_array()
    for size in (7, 200, 700):
        batch = MIXED.draw(size, rng)
        labels = THEORY.satisfied_by(batch) ^ (rng.random(size) < 0.1)
        growing.learn(batch, labels, NO_DEADLINE)
        for row, label in zip(batch.to_array(), labels.tolist(), strict=True):
            plain.learn(row, label)
        assert growing.member(EVERYTHING).tolist() == [plain.accepts(row) for row in rows]
    assert plain.test is not None


def test_hoeffding_tree_training_ends_when_a_sample_has_no_error():
    target = HornTheory.parse("x0 & x1 -> false", PAIRED)
    counted = Counted(target.satisfied_by)
    found = hoeffding_tree(counted, MIXED, 1000, np.random.default_rng(0), samples=50)
    assert found.stopped == "misclassifies none of a sample of 1000"
    assert found.labels_used == counted.questions == 1000 * found.samples < 50_000
    assert (found.member(EVERYTHING) == target.satisfied_by(EVERYTHING)).all()
    assert found.theory.rules == target.rules


@pytest.mark.parametrize(
    ("budget", "stopped", "labels"),
    [
        ({"samples": 2}, "budget of 2 samples", 600),
        ({"samples": 0}, "budget of 0 samples", 0),
        ({"seconds": 0}, "budget of 0 seconds", 0),
    ],
)
def test_a_budget_is_kept(budget, stopped, labels):
    rng = np.random.default_rng(0)
    counted = Counted(lambda batch: rng.random(len(batch)) < 0.5)
    found = hoeffding_tree(counted, MIXED, 300, np.random.default_rng(0), **budget)
    assert (found.stopped, found.labels_used, counted.questions) == (stopped, labels, labels)


def test_hoeffding_tree_limit_in_seconds_ends_within_a_sample():
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    found = hoeffding_tree(
        lambda batch: rng.random(len(batch)) < 0.5,
        MIXED,
        500_000,
        np.random.default_rng(0),
        seconds=0.2,
    )
    assert found.stopped == "budget of 0.2 seconds"
    assert time.perf_counter() - start < 5


def test_hoeffding_tree_seed_gives_the_same_tree():
    runs = [
        hoeffding_tree(THEORY.satisfied_by, MIXED, 400, np.random.default_rng(3), samples=3) for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_tune_hoeffding_tree_chooses_the_least_disagreement():
    counted, rng = Counted(THEORY.satisfied_by), np.random.default_rng(0)
    candidates = [HoeffdingSettings(period, delta) for period in (20, 400) for delta in (1e-7, 0.3)]
    best = tune_hoeffding_tree(counted, MIXED, 600, rng, candidates=candidates)
    assert best == HoeffdingSettings(20, 0.3)
    assert counted.questions == 1200
    rng, wrong = np.random.default_rng(0), {}
    training, others = (MIXED.draw(600, rng) for _ in range(2))
    for settings in candidates:
        growing = baselines._Growing(PAIRED, settings, 0.5)
        growing.learn(training, THEORY.satisfied_by(training), NO_DEADLINE)
        wrong[settings] = (growing.member(others) != THEORY.satisfied_by(others)).sum()
    assert wrong[best] == min(wrong.values())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"grace_period": 0}, "a grace period is a positive number; got 0"),
        ({"delta": 1.0}, "delta is between 0 and 1"),
    ],
)
def test_hoeffding_settings_bad_settings_are_refused(wrong, message):
    with pytest.raises(HornbookError, match=message):
        HoeffdingSettings(**wrong)
