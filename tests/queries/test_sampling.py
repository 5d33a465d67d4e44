"""Equivalence oracles: what they find, what they may claim, and what they remember."""

import math
from itertools import pairwise

import numpy as np
import pytest
from difficult_teachers import Constant

from hornbook.deadline import Deadline
from hornbook.errors import BudgetExhausted, HornbookError, ModelError
from hornbook.logic import Batch, HornTheory, Rule, Vocabulary, random_theory
from hornbook.queries import Counted, Estimated, Pac, Random
from hornbook.queries import oracles as module
from hornbook.queries.membership import Budgeted, Checked
from hornbook.queries.oracles import SAMPLING_CHUNK, Sampling
from hornbook.statistics import Share, sample_size

THEORY = random_theory(12, 5, (2, 3), np.random.default_rng(4))
NOTHING = HornTheory(THEORY.vocabulary)
PARTIAL = Random(THEORY.vocabulary)


class Watched:
    """A distribution that remembers what was drawn."""

    kind = "random"

    def __init__(self, distribution):
        self.distribution = distribution
        self.vocabulary = distribution.vocabulary
        self.sizes, self.drawn, self.keep = [], [], True

    def draw(self, size, rng):
        batch = self.distribution.draw(size, rng)
        self.sizes.append(size)
        if self.keep:
            self.drawn.append(batch)
        return batch

    def describe(self):
        return self.distribution.describe()


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "SAMPLING_CHUNK", 128)


@pytest.mark.usefixtures("small_chunks")
def test_sampling_chunks_are_fresh_and_the_same_by_seed():
    runs = []
    for seed in (0, 0, 1):
        watched = Watched(PARTIAL)
        asked = Sampling(THEORY.satisfied_by, watched, 1000, seed=seed)
        for _ in range(2):
            asked(THEORY)
        assert watched.sizes == 2 * [*7 * [128], 104]
        runs.append(watched.drawn)
    first, again, other = runs
    assert all(one == two for one, two in zip(first, again, strict=True))
    assert all(one != two for one, two in zip(first, other, strict=True))
    assert all(one != two for one, two in pairwise(first))
    assert all(first[at] != first[at + 8] for at in range(8))  # the second query draws anew


def test_a_counterexample_is_one_and_the_same_by_seed():
    for hypothesis in (NOTHING, THEORY | HornTheory(THEORY.vocabulary, [Rule({0}, 1)])):
        found, again = (Sampling(THEORY.satisfied_by, PARTIAL, 5000, seed=7)(hypothesis) for _ in range(2))
        assert found == again and found.found_by == "sampling"
        batch = Batch.from_interpretations([found.interpretation], THEORY.vocabulary)
        assert THEORY.satisfied_by(batch)[0] == found.positive
        assert hypothesis.satisfied_by(batch)[0] != found.positive


@pytest.mark.usefixtures("small_chunks")
def test_a_missing_rule_comes_before_a_wrong_one_of_the_same_chunk():
    wrong = HornTheory(THEORY.vocabulary, [Rule({0}, 1)])
    for seed in range(10):
        watched = Watched(PARTIAL)
        found = Sampling(THEORY.satisfied_by, watched, 5000, seed=seed)(wrong)
        missed = wrong.satisfied_by(watched.drawn[-1]) & ~THEORY.satisfied_by(watched.drawn[-1])
        assert found.positive == (not missed.any())


def test_sampling_memory_is_bounded_by_the_chunk():
    watched = Watched(Random(Vocabulary(["a", "b"])))
    watched.keep = False
    counted = Counted(Constant(True))
    answer = Sampling(counted, watched, 3_000_000, seed=0)(HornTheory(watched.vocabulary))
    assert counted.questions == sum(watched.sizes) == 3_000_000
    assert max(watched.sizes) == SAMPLING_CHUNK and len(watched.sizes) == math.ceil(
        3_000_000 / SAMPLING_CHUNK
    )
    assert answer == Estimated(Share.of(0, 3_000_000), watched.describe())


@pytest.mark.parametrize(
    ("rule", "width", "expected"),
    [
        ("paper", 12, math.ceil((12**2.1 + math.log2(10)) / 0.1)),
        ("angluin", 12, math.ceil((math.log(10) + math.log(2)) / 0.1)),
        (77, 12, 77),
    ],
)
def test_sampling_sizes(rule, width, expected):
    watched = Watched(Random(Vocabulary([f"v{i}" for i in range(width)])))
    answer = Sampling(Constant(True), watched, rule, epsilon=0.1, delta=0.1, seed=0)(
        HornTheory(watched.vocabulary)
    )
    assert sum(watched.sizes) == expected
    if rule == 77:
        assert answer == Estimated(Share.of(0, 77), watched.describe())
    else:
        assert answer == Pac(0.1, 0.1, watched.describe())


def test_sample_size_later_queries_of_angluin_draw_more():
    sizes = [sample_size("angluin", 5, 0.05, 0.05, query) for query in range(1, 30)]
    assert all(before < after for before, after in pairwise(sizes))
    # the chance that some query passes a hypothesis that is wrong on more than ε adds up to δ at most
    assert sum((1 - 0.05) ** size for size in sizes) <= 0.05


def test_a_size_of_the_paper_that_is_too_small_for_so_many_queries_claims_no_pac():
    vocabulary = Vocabulary(["a", "b"])
    asked = Sampling(Constant(True), Random(vocabulary), "paper", epsilon=0.1, delta=0.1, seed=0)
    answers = [asked(HornTheory(vocabulary)) for _ in range(20)]
    kinds = [answer.kind for answer in answers]
    assert kinds[0] == "pac" and kinds[-1] == "estimated" and kinds == sorted(kinds, reverse=True)
    size = sample_size("paper", 2, 0.1, 0.1, 1)
    assert kinds.count("pac") * (1 - 0.1) ** size <= 0.1


@pytest.mark.parametrize("size", ["vapnik", "enough", 0, -5])
def test_unknown_sizes_are_refused_at_once(size):
    vocabulary = Vocabulary([f"v{i}" for i in range(204)])
    with pytest.raises(HornbookError, match="a sample size is"):
        Sampling(Constant(True), Random(vocabulary), size, seed=0)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("value", [0, 1, -0.1])
def test_shares_outside_their_range_are_refused(name, value):
    with pytest.raises(HornbookError, match=f"{name} is between 0 and 1"):
        Sampling(Constant(True), PARTIAL, "paper", seed=0, **{name: value})


@pytest.mark.parametrize("share", [0.001, 0.02, 0.3])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_share_intervals_cover_as_often_as_they_say(share, confidence):
    size, runs = 400, 4000
    hits = np.random.default_rng(0).binomial(size, share, runs)
    interval = {h: Share.of(h, size, confidence) for h in set(hits.tolist())}
    covered = sum(interval[h].low <= share <= interval[h].high for h in hits.tolist())
    assert covered / runs >= confidence - 3 * math.sqrt(confidence * (1 - confidence) / runs)


def test_share_intervals_equal_those_of_scipy():
    from scipy.stats import binomtest

    for hits, size in [(0, 1), (1, 1), (0, 50), (50, 50), (3, 1000), (499, 1000), (2, 10**6)]:
        for confidence in (0.9, 0.95, 0.999):
            expected = binomtest(hits, size).proportion_ci(confidence, "exact")
            share = Share.of(hits, size, confidence)
            assert (share.low, share.high) == pytest.approx(
                (expected.low, expected.high), rel=1e-9, abs=1e-12
            )


BATCH = PARTIAL.draw(3000, np.random.default_rng(0))


def test_budgeted_questions_are_never_exceeded():
    counted = Counted(THEORY.satisfied_by)
    budgeted = Budgeted(counted, 2500, None)
    budgeted(BATCH[:2000])
    with pytest.raises(BudgetExhausted, match="budget of 2500 membership queries"):
        budgeted(BATCH[:501])
    budgeted(BATCH[:500])
    assert budgeted.questions_asked == counted.questions == 2500


def test_budgeted_seconds_ask_in_parts():
    counted = Counted(THEORY.satisfied_by)
    budgeted = Budgeted(counted, None, 100)
    assert (budgeted(BATCH) == THEORY.satisfied_by(BATCH)).all() and counted.batches == 3
    assert len(budgeted(BATCH[:0])) == 0
    budgeted.deadline = Deadline.after(0)
    with pytest.raises(BudgetExhausted, match="budget of 100 seconds"):
        budgeted(BATCH)
    assert budgeted.questions_asked == counted.questions == 3000


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (lambda batch: 1 / 0, "^ZeroDivisionError: division by zero$"),
        (lambda batch: HornTheory.parse("->"), "^line 1"),
        (lambda batch: np.ones(3, np.bool_), r"answered by bool of shape \(3,\); expected as many"),
        (lambda batch: np.ones(len(batch)), "answered by float64 .* expected as many booleans"),
    ],
)
def test_checked_answers_that_are_none_are_told(answers, message):
    with pytest.raises(ModelError, match=message):
        Checked(answers)(BATCH)


def test_checked_nothing_is_not_asked_about():
    counted = Counted(Constant(True))
    assert len(Checked(counted)(BATCH[:0])) == 0 and counted.batches == 0
    assert (Checked(counted)(BATCH) == counted(BATCH)).all()
