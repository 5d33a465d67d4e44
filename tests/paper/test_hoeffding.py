"""The Hoeffding tree: as learned one by one, as written, and the budgets it keeps."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Vocabulary
from hornbook.paper import hoeffding
from hornbook.paper.hoeffding import HoeffdingSettings, HoeffdingTree, hoeffding_tree, tune_hoeffding_tree
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
        return draw(st.booleans())
    variable, unknown = f"x{draw(st.integers(0, 3))}", draw(st.sampled_from(["low", "high"]))
    low, high = draw(trees(depth - 1)), draw(trees(depth - 1))
    return {"variable": variable, "unknown": unknown, "low": low, "high": high}


def follow(node, row):
    while not isinstance(node, bool):
        value = row[PAIRED.index(node["variable"])]
        node = node[node["unknown"] if np.isnan(value) else "high" if value == 1 else "low"]
    return node


@given(trees())
def test_hoeffding_tree_that_was_written_down_decides_by_its_branches(root):
    entry = {"tests": 2, "root": root}
    tree = HoeffdingTree.read(entry, PAIRED)
    rows = EVERYTHING.to_array()[:, :4]
    assert tree.member(EVERYTHING).tolist() == [follow(root, row) for row in rows]
    assert tree.member(EVERYTHING[:5]).tolist() == [follow(root, row) for row in rows[:5]]
    assert tree.to_object() == entry and tree.splits == str(root).count("variable")


@pytest.mark.parametrize("unknown", [0, 0.5])
def test_hoeffding_tree_read_again_decides_alike(unknown):
    settings, rng = HoeffdingSettings(50, 0.5), np.random.default_rng(0)
    grown = hoeffding_tree(
        THEORY.satisfied_by, MIXED, 400, rng, settings=settings, samples=3, unknown=unknown
    )
    again = HoeffdingTree.read(grown.tree.to_object(), PAIRED)
    assert np.array_equal(again.member(EVERYTHING), grown.tree.member(EVERYTHING))
    assert again.splits == grown.tree.splits > 0


@pytest.mark.parametrize("accepts", [True, False])
def test_hoeffding_tree_constant_models(accepts):
    def constant(batch):
        return np.full(len(batch), accepts)

    grown = hoeffding_tree(constant, MIXED, 50, np.random.default_rng(0), samples=3)
    assert (grown.tree.member(EVERYTHING) == accepts).all() and grown.tree.splits == 0


def test_hoeffding_tree_nothing_can_be_learned_from_no_sample():
    with pytest.raises(HornbookError, match="at least one interpretation; got size=0"):
        hoeffding_tree(THEORY.satisfied_by, MIXED, 0, np.random.default_rng(0), samples=3)


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
    monkeypatch.setattr(hoeffding, "LEARNED_BLOCK", 100)
    rng = np.random.default_rng(seed)
    settings = HoeffdingSettings(grace_period=(20, 7, 50, 30)[seed], delta=0.3)
    growing, plain = HoeffdingTree(PAIRED, settings, unknown), OneByOne(settings, make_tests(unknown))
    rows = EVERYTHING.to_array()
    for size in (7, 200, 700):
        batch = MIXED.draw(size, rng)
        labels = THEORY.satisfied_by(batch) ^ (rng.random(size) < 0.1)
        growing.learn(batch, labels)
        for row, label in zip(batch.to_array(), labels.tolist(), strict=True):
            plain.learn(row, label)
        assert growing.member(EVERYTHING).tolist() == [plain.accepts(row) for row in rows]
    assert plain.test is not None


def test_hoeffding_tree_training_ends_when_a_sample_has_no_error():
    target = HornTheory.parse("x0 & x1 -> false", PAIRED)
    counted = Counted(target.satisfied_by)
    found = hoeffding_tree(counted, MIXED, 1000, np.random.default_rng(0), samples=50)
    assert found.stopped == "misclassifies none of a sample of 1000"
    assert counted.questions == 1000 * found.samples < 50_000
    assert (found.tree.member(EVERYTHING) == target.satisfied_by(EVERYTHING)).all()


@pytest.mark.parametrize(
    ("budget", "stopped", "labels"),
    [
        ({"samples": 2}, "budget of 2 samples", 600),
        ({"samples": 0}, "budget of 0 samples", 0),
    ],
)
def test_a_budget_is_kept(budget, stopped, labels):
    rng = np.random.default_rng(0)
    counted = Counted(lambda batch: rng.random(len(batch)) < 0.5)
    found = hoeffding_tree(counted, MIXED, 300, np.random.default_rng(0), **budget)
    assert (found.stopped, 300 * found.samples, counted.questions) == (stopped, labels, labels)


def test_hoeffding_tree_seed_gives_the_same_tree():
    runs = [
        hoeffding_tree(THEORY.satisfied_by, MIXED, 400, np.random.default_rng(3), samples=3) for _ in range(2)
    ]
    assert runs[0].tree.to_object() == runs[1].tree.to_object()


def test_tune_hoeffding_tree_chooses_the_least_disagreement(monkeypatch):
    counted, rng = Counted(THEORY.satisfied_by), np.random.default_rng(0)
    candidates = [HoeffdingSettings(period, delta) for period in (20, 400) for delta in (1e-7, 0.3)]
    monkeypatch.setattr(hoeffding, "CANDIDATES", candidates)
    best = tune_hoeffding_tree(counted, MIXED, 600, rng)
    assert best == HoeffdingSettings(20, 0.3)
    assert counted.questions == 1200
    rng, wrong = np.random.default_rng(0), {}
    training, others = (MIXED.draw(600, rng) for _ in range(2))
    for settings in candidates:
        tree = HoeffdingTree(PAIRED, settings)
        tree.learn(training, THEORY.satisfied_by(training))
        wrong[settings] = (tree.member(others) != THEORY.satisfied_by(others)).sum()
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
