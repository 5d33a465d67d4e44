"""Explanations in raw columns: conditions, the grid, the three forms and the search over them."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.conditions import AGES, EVERY_ROW, SEXES, conditions, rows_of, value_of
from sklearn.metrics import cohen_kappa_score

from hornbook.conditions import Category, Threshold, shorten_cut
from hornbook.errors import HornbookError
from hornbook.explanations import CardLine, ConditionRule, DecisionTree, RuleSet, ScoreCard, Split
from hornbook.explanations.tree import count_splits, decide_rows
from hornbook.models import RowSampler
from hornbook.surrogates import (
    Candidate,
    Grid,
    SampleSource,
    SearchSettings,
    choose_candidate,
    search,
    search_explanations,
    tree,
)
from hornbook.surrogates import grid as grid_module
from hornbook.surrogates.naming import keep_condition
from hornbook.surrogates.rules import RuleSearch, list_paths
from hornbook.surrogates.search import ChoiceSamples, fit_explanations
from hornbook.surrogates.tree import grow_tree, improve_tree, purity_gains


@pytest.mark.parametrize(
    ("low", "high", "cut"), [(3, 4, 3), (120, 180, 150), (2.0871, 2.1342, 2.1), (0.0, 1e-3, 0.0005)]
)
def test_shorten_cut_has_few_digits(low, high, cut):
    assert shorten_cut(low, high) == cut


frames = st.integers(1, 60).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            "age": st.lists(st.sampled_from(AGES), min_size=size, max_size=size),
            "sex": st.lists(st.sampled_from(SEXES), min_size=size, max_size=size),
            "dose": st.lists(st.integers(0, 5), min_size=size, max_size=size),
            "city": st.lists(st.sampled_from([None, *"abcdefg"]), min_size=size, max_size=size),
        }
    ).map(lambda columns: pd.DataFrame(columns).astype({"age": float, "sex": object, "city": object}))
)


@given(frames, st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_grid_sums_are_those_of_its_conditions(frame, classes, seed):
    rng = np.random.default_rng(seed)
    rows = (
        Grid.of(frame).encode(frame).rank_categories(np.eye(classes)[rng.integers(classes, size=len(frame))])
    )
    grid = rows.grid
    weights = rng.normal(size=len(frame))
    sums = rows.sum_true(weights)
    order = rng.permutation(len(frame))
    part = rows.take(order).take(np.arange(0, len(frame), 2))
    for number, condition in enumerate(grid.literals):
        true, false = condition.evaluate(frame)
        assert part.where_true(number).tolist() == true[order[::2]].tolist()
        assert rows.where_true(number).tolist() == true.tolist()
        assert rows.where_unknown(number).tolist() == (~true & ~false).tolist()
        assert sums[number] == pytest.approx(weights[true].sum())
        assert grid.literals[number ^ 1] == condition.negate()


@given(frames, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_merged_rows_have_the_sums_of_all_rows(frame, classes, seed):
    repeated = frame.iloc[np.random.default_rng(seed).integers(0, len(frame), 40 * len(frame))]
    rows = Grid.of(frame).encode(repeated)
    weights = np.random.default_rng(seed).integers(0, 5, (len(repeated), classes)).astype(float)
    merged, totals = rows.merge_equal(weights)
    distinct = dict.fromkeys(map(tuple, rows.codes.T.tolist()))
    assert list(distinct) == list(map(tuple, merged.codes.T.tolist())) and len(distinct) <= len(frame)
    assert merged.fill_bins(totals).tolist() == rows.fill_bins(weights).tolist()
    assert merged.merge_equal(totals)[0] is merged


@pytest.mark.parametrize("classes", [2, 3])
def test_fit_explanations_finds_the_same_by_merged_rows(classes, monkeypatch):
    frame, labels = labelled(1, classes=classes)
    rows, weights = Grid.of(frame, max_cuts=6).encode(frame), np.eye(classes)[labels]
    assert len(rows.merge_equal(weights)[0]) < 0.9 * len(rows)
    names = tuple(map(str, range(classes)))
    merged = [decided.tolist() for decided, _ in fit_explanations(rows, weights, names, rows, 5, "auto")]
    monkeypatch.setattr(grid_module, "MOST_DIFFERENT", 0.0)
    assert merged == [
        decided.tolist() for decided, _ in fit_explanations(rows, weights, names, rows, 5, "auto")
    ]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=20, max_size=60))
def test_ranked_categories_part_two_classes_as_purely_as_any_set_does(pairs):
    frame, labels = pd.DataFrame(pairs, columns=["city", "label"])[["city"]], [int(one) for _, one in pairs]
    weights = np.eye(2)[labels]
    rows = Grid.of(frame).encode(frame).rank_categories(weights)
    best = purity_gains(rows.sum_true(weights), weights.sum(axis=0)).max()
    named = sorted(set(frame.city))
    totals = np.array([weights[frame.city == name].sum(axis=0) for name in named])
    sums = np.array(list(product([0, 1], repeat=len(named)))[:-1]) @ totals  # of every set but that of all
    assert best == pytest.approx(purity_gains(sums, weights.sum(axis=0)).max())


def test_ranked_categories_are_named_by_their_shorter_side():
    frame = pd.DataFrame({"city": list("abcdefg") * 10, "sex": list("fm") * 35})
    labels = frame.city.isin(list("ace")).to_numpy(int)
    grid = Grid.of(frame).encode(frame).rank_categories(np.eye(2)[labels]).grid
    sets = [condition for condition in grid.literals if len(condition.named_values) > 1]
    assert Category("city", tuple("ace")) in sets
    assert all(condition.column == "city" and 2 <= len(condition.values) <= 3 for condition in sets)


def test_grid_takes_values_that_it_has_not_seen():
    grid = Grid.of(pd.DataFrame({"sex": ["f", "m"], "age": [30.0, 40.0]}))
    strange = pd.DataFrame({"sex": ["x", None], "age": [99.0, np.nan]})
    rows = grid.encode(strange)
    for number, condition in enumerate(grid.literals):
        assert rows.where_true(number).tolist() == condition.evaluate(strange)[0].tolist()


def test_row_sampler_exchanges_whole_values():
    frame = pd.DataFrame({"a": range(50), "b": [f"v{i}" for i in range(50)], "c": [np.nan] * 25 + [1.0] * 25})
    drawn = RowSampler(frame, (0.5,)).draw(4000, np.random.default_rng(0))
    assert drawn.dtypes.equals(frame.dtypes)
    assert set(drawn.a) == set(frame.a) and set(drawn.b) == set(frame.b)
    assert 0.4 < drawn.c.isna().mean() < 0.6
    together = (drawn.b == "v" + drawn.a.astype(str)).mean()
    assert 0.45 < together < 0.58  # both columns come from the same row in half of the samples
    assert (RowSampler(frame, (0.0,)).draw(100, np.random.default_rng(0)).merge(frame).shape[0]) == 100


def trees(depth):
    if not depth:
        return st.integers(0, 2)
    return st.one_of(st.integers(0, 2), st.builds(Split, conditions, trees(depth - 1), trees(depth - 1)))


@given(trees(3))
def test_tree_decides_as_its_questions_say(root):
    def follow(node, row):
        while isinstance(node, Split):
            node = node.yes if value_of(node.question, row) is True else node.no
        return node

    tree = DecisionTree(("a", "b", "c"), root)
    assert tree.decide(EVERY_ROW).tolist() == [follow(root, row) for row in rows_of(EVERY_ROW)]
    assert tree.literals == str(tree).count("if ")
    assert len(tree.lines()) == 1 + tree.literals + sum(
        isinstance(node, Split) and isinstance(node.yes, Split) for node in _nodes(root)
    )


def _nodes(node):
    yield node
    if isinstance(node, Split):
        yield from _nodes(node.yes)
        yield from _nodes(node.no)


@given(
    st.lists(
        st.tuples(st.lists(conditions, min_size=1, max_size=2), st.integers(-3, 3), st.integers(-3, 3)),
        max_size=5,
    ),
    st.integers(-4, 4),
)
def test_card_decides_by_its_sums(lines, base):
    distinct = {(*body[:-1], frozenset({body[-1], body[-1].negate()})): (body, p, u) for body, p, u in lines}
    points = tuple(CardLine(tuple(body), (p,), (u,)) for body, p, u in distinct.values())
    card = ScoreCard(("no", "yes"), points, (base,))
    expected = []
    for row in rows_of(EVERY_ROW):
        score = base
        for line in card.lines_of_points:
            if all(value_of(condition, row) is True for condition in line.body[:-1]):
                value = value_of(line.body[-1], row)
                score += line.points[0] if value else line.unknown_points[0] if value is None else 0
        expected.append(int(score >= 0))
    assert card.decide(EVERY_ROW).tolist() == expected


@given(
    st.lists(st.tuples(st.lists(conditions, min_size=1, max_size=3), st.integers(0, 2)), max_size=4),
    st.integers(0, 2),
)
def test_rules_decide_in_order(rules, default):
    rule_set = RuleSet(
        ("a", "b", "c"), tuple(ConditionRule(tuple(body), out) for body, out in rules), default
    )
    expected = [
        next((out for body, out in rules if all(value_of(c, row) is True for c in body)), default)
        for row in rows_of(EVERY_ROW)
    ]
    assert rule_set.decide(EVERY_ROW).tolist() == expected
    assert rule_set.literals == sum(len(body) for body, _ in rules)
    assert len(rule_set.lines()) == len(rules) + 1


@pytest.mark.parametrize("form", ["tree", "card", "rules"])
def test_search_finds_a_set_of_categories(form):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"status": rng.choice([f"A{j}" for j in range(8)], 300), "x": rng.normal(size=300)})

    def decide(rows):
        return (rows.status.isin(["A1", "A4", "A6"]) & (rows.x > 0)).to_numpy(int)

    result = search_explanations(
        SampleSource.of(decide, RowSampler(frame), NAMES), SearchSettings(form, 4, 2000)
    )
    assert result.chosen.agreement > 0.99
    assert "A1, A4, A6" in str(result.chosen.explanation)


def labelled(seed, size=400, classes=2):
    """Rows with missing values, and the classes of a made-up model."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=size).round(2),
            "y": rng.normal(size=size).round(2),
            "kind": rng.choice(["u", "v", "w"], size),
        }
    )
    frame.loc[rng.random(size) < 0.1, "y"] = np.nan
    return frame, decide_made_up(frame, classes)


NAMES = ("no", "yes")


def decide_made_up(frame, classes=2):
    y = frame.y.fillna(0.5)
    second = (frame.x + y > 0) & (frame.kind != "w")
    return second.astype(int).to_numpy() + (classes > 2) * (frame.x > 1).to_numpy()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_explanations_decide_frames_as_they_decide_codes(seed, classes):
    frame, labels = labelled(seed, classes=classes)
    fresh, _ = labelled(seed + 100)
    grid = Grid.of(frame)
    names, numbers = np.unique(labels, return_inverse=True)
    found = list(
        fit_explanations(
            grid.encode(frame),
            np.eye(len(names))[numbers],
            tuple(map(str, names)),
            grid.encode(fresh),
            6,
            "auto",
        )
    )
    explanations = [(decided, build(keep_condition)) for decided, build in found]
    assert {explanation.form for _, explanation in explanations} == {"tree", "card", "rules"}
    for decided, explanation in explanations:
        assert explanation.literals <= 6
        assert explanation.decide(fresh).tolist() == decided.tolist()


@pytest.mark.parametrize("form", ["tree", "card", "rules"])
def test_fit_explanations_exchanges_literals_by_some_samples(form, monkeypatch):
    frame, labels = labelled(0, size=3000)
    weights = np.eye(2)[labels]
    rows = Grid.of(frame).encode(frame)
    for module in (search, tree):
        monkeypatch.setattr(module, "EXCHANGE_SAMPLES", 1000)
    shares = [
        (decided == labels).mean() for decided, _ in fit_explanations(rows, weights, NAMES, rows, 8, form)
    ]
    assert max(shares) > 0.93
    assert len(rows.first(1000)) == 1000 and rows.first(5000) is rows


@pytest.mark.parametrize("seed", range(5))
def test_tree_pruning_is_the_best_of_each_size(seed):
    frame, labels = labelled(seed, size=150)
    rows = Grid.of(frame, 4).encode(frame)
    weights = np.eye(2)[labels]
    growth = grow_tree(rows, weights, 6)

    def prunings(node):
        """Every pruning of the whole growth, as (splits, right)."""
        yield 0, node.right[0]
        if node.yes is not None:
            for (a, right_a), (b, right_b) in product(list(prunings(node.yes)), list(prunings(node.no))):
                if a + b < 4:
                    yield a + b + 1, right_a + right_b

    every = list(prunings(growth))
    for size in range(4):
        root = growth.prune(size)
        right = (decide_rows(root, rows.where_true, len(rows)) == labels).sum()
        assert count_splits(root) <= size
        assert right == max(value for splits, value in every if splits <= size)


@pytest.mark.parametrize("classes", [2, 3])
def test_grown_tree_asks_the_purest_question_everywhere(classes):
    rng = np.random.default_rng(classes)
    frame = pd.DataFrame(rng.integers(0, 6, (400, 3)).astype(float), columns=list("abc"))
    rows = Grid.of(frame).encode(frame)
    weights = np.eye(classes)[rng.integers(0, classes, 400)] * rng.integers(1, 4, (400, 1))
    pending, splits = [(grow_tree(rows, weights, 12), rows, weights)], 0
    while pending:
        node, part, own = pending.pop()
        if node.yes is not None:
            splits += 1
            gains = purity_gains(part.sum_true(own), own.sum(axis=0))
            assert gains[node.literal] == pytest.approx(gains.max())
            true = part.where_true(node.literal)
            for child, side in ((node.yes, np.flatnonzero(true)), (node.no, np.flatnonzero(~true))):
                pending.append((child, part.take(side), own[side]))
    assert splits > 12


@pytest.mark.parametrize("seed", range(5))
def test_improvements_never_lose(seed):
    frame, labels = labelled(seed)
    rows = Grid.of(frame).encode(frame)
    weights = np.eye(2)[labels]
    for size in (1, 3, 6):
        root = grow_tree(rows, weights, 8).prune(size)
        better = improve_tree(root, rows, weights)
        before, after = (
            (decide_rows(one, rows.where_true, len(rows)) == labels).sum() for one in (root, better)
        )
        assert after >= before and count_splits(better) <= count_splits(root)
        listed = list_paths(root, rows)
        assert listed.decide(rows).tolist() == decide_rows(root, rows.where_true, len(rows)).tolist()
        rules = RuleSearch(rows, weights, listed)
        rules.improve()
        assert (rules.result().decide(rows) == labels).sum() == rules.right() >= before
        rules.shrink(max(1, rules.result().size // 2))
        assert rules.result().size <= max(1, listed.size // 2) + 1


def test_card_counts_a_condition_above_others_as_often_as_it_is_printed():
    a, b, c = Threshold("a", 1), Threshold("b", 2), Threshold("c", 3)
    lines = CardLine((a,), (2,), (0,)), CardLine((a, b), (1,), (0,)), CardLine((a.negate(), c), (-2,), (0,))
    card = ScoreCard(("no", "yes"), lines, (-1,))
    assert card.literals == 5
    assert str(card).splitlines()[:3] == ["a: > 1 → +2", "a > 1 and b > 2 → +1", "a ≤ 1 and c > 3 → −2"]
    assert [line.text for line in card.lines()][3:] == ["1 or more", "less"]


def test_rules_say_conditions_on_one_column_together():
    rule = ConditionRule((Threshold("a", 3), Threshold("b", 1), Threshold("a", 5, above=False)), 1)
    assert str(RuleSet(("no", "yes"), (rule,), 0)).splitlines()[0] == "if 3 < a ≤ 5 and b > 1: yes"


def test_card_refuses_two_lines_for_one_condition():
    a = Threshold("a", 1)
    with pytest.raises(HornbookError, match="two lines speak of a <= 1"):
        ScoreCard(("no", "yes"), (CardLine((a,), (1,), (0,)), CardLine((a.negate(),), (2,), (0,))), (0,))


def test_search_finds_what_a_model_does():
    frame, _ = labelled(0, size=600)
    result = search_explanations(
        SampleSource.of(decide_made_up, RowSampler(frame), NAMES),
        SearchSettings(max_literals=8, n_samples=2000),
    )
    fresh, labels = labelled(7, size=2000)
    agreement = np.mean(result.chosen.explanation.decide(fresh) == labels)
    assert result.chosen.literals <= 8
    assert agreement > 0.94
    assert result.chosen.agreement == pytest.approx(agreement, abs=0.04)
    front = result.frontier()
    assert all(a.literals < b.literals and a.worth < b.worth for a, b in pairwise(front))


def test_search_repeats_itself_with_the_same_randomness():
    frame, _ = labelled(1, size=200)
    one, two = (
        search_explanations(
            SampleSource.of(decide_made_up, RowSampler(frame), NAMES),
            SearchSettings(max_literals=6, n_samples=500),
            seed=3,
        )
        for _ in range(2)
    )
    assert one == two


def test_search_explains_a_model_that_always_says_the_same():
    frame, _ = labelled(0, size=50)
    result = search_explanations(
        SampleSource.of(lambda rows: np.ones(len(rows), np.intp), RowSampler(frame), NAMES),
        SearchSettings(n_samples=500),
    )
    assert result.chosen.literals == 0 and result.chosen.agreement == 1
    assert str(result.chosen.explanation) == "always: yes"


def test_search_refuses_an_unknown_form():
    with pytest.raises(HornbookError, match="form is auto, tree"):
        SearchSettings("poem")


OTHERS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 60), st.integers(0, 60)), max_size=10)


def candidates_of(commonest, others):
    """Candidates over 600 samples: the commonest class, and others that find and invent some answers."""
    rule = ConditionRule((Threshold("a", 1),), 1)
    truth = np.arange(600) >= commonest
    fresh = ChoiceSamples(truth.astype(np.intp), np.ones(600))
    made = [(0, np.zeros(600, np.intp))]
    for literals, found, invented in others:
        decided = np.zeros(600, np.intp)
        decided[commonest : commonest + found] = decided[: min(invented, commonest)] = 1
        made.append((literals, decided))
    return [Candidate(RuleSet(("no", "yes"), (rule,) * size, 0), decided, fresh) for size, decided in made]


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_worth_is_the_mean_of_kappa_and_of_the_gap_closed_with_the_slopes_of_its_samples(seed, classes):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.zeros(9, np.intp), rng.integers(classes, size=40), np.arange(classes)])
    decided = np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(classes, size=len(truth)))
    weights = rng.uniform(0.5, 2, len(truth))
    fresh = ChoiceSamples(truth, weights)
    worth, slopes = fresh.judge(decided)
    share = np.average(truth == decided, weights=weights)
    base = (np.bincount(truth, weights) / weights.sum()).max()
    kappa = cohen_kappa_score(truth, decided, sample_weight=weights)
    assert worth == pytest.approx((kappa + (share - base) / (1 - base)) / 2)
    assert fresh.judge(np.full_like(truth, rng.integers(classes)))[0] <= 1e-12
    assert fresh.judge(truth)[0] == pytest.approx(1)
    at, step = rng.integers(len(truth)), 1e-6
    moved = ChoiceSamples(truth, weights * np.where(np.arange(len(truth)) == at, 1 + step, 1)).judge(decided)[
        0
    ]
    assert (moved - worth) / step == pytest.approx(slopes[at], abs=1e-5)


def clearly_better(one, other):
    """Whether a lead is beyond two standard errors, straight from the samples."""
    slopes = [each.fresh.judge(each.decided)[1] for each in (one, other)]
    return one.worth - other.worth > 2 * math.sqrt(((slopes[0] - slopes[1]) ** 2).sum()) + 1e-12


@given(st.integers(200, 590), OTHERS)
def test_choose_candidate_is_the_shortest_that_closes_the_gap(commonest, others):
    candidates = candidates_of(commonest, others)
    chosen = choose_candidate(candidates, 20, 0.95)
    short = [one for one in candidates if one.literals <= 20]
    best = max(one.worth for one in short)

    def beaten(one):
        missed = 0.05 * best if one.literals else 0
        return any(clearly_better(other, one) and other.worth - one.worth > missed for other in short)

    assert chosen in short and not beaten(chosen)
    assert all(beaten(one) for one in short if one.literals < chosen.literals)
    if any(clearly_better(one, candidates[0]) for one in short):
        assert chosen.literals


@given(st.integers(200, 590), OTHERS, st.floats(0, 1), st.floats(0, 1))
def test_choose_candidate_that_closes_more_is_never_shorter(commonest, others, one, other):
    candidates = candidates_of(commonest, others)
    less, more = (choose_candidate(candidates, 20, share) for share in sorted((one, other)))
    assert less.literals <= more.literals


def test_samples_begin_at_rare_rows_and_count_as_natural_ones():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)).round(2), columns=list("abc"))
    label = lambda rows: np.asarray((rows.a > 1.5) & (rows.b > 1), np.intp)  # noqa: E731
    natural = label(RowSampler(frame).draw(40_000, rng)).mean()
    samples, fresh = SampleSource.of(label, RowSampler(frame), NAMES).draw_both(12_000, seed=0)
    for drawn in (samples, fresh):
        assert drawn.labels.mean() > 0.05 > 4 * label(frame).mean()
        assert np.average(drawn.weights) == pytest.approx(1, abs=0.03)
    assert np.average(samples.labels, weights=samples.weights) == pytest.approx(natural, abs=0.003)


def test_search_finds_a_rare_class():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4000, 4)).round(3), columns=list("abcd"))

    def decide(rows):
        return np.asarray((rows.a > 1.2) & (rows.b > 1.5), np.intp)

    result = search_explanations(
        SampleSource.of(decide, RowSampler(frame), NAMES), SearchSettings("rules", n_samples=6000)
    )
    labels = decide(frame)
    assert labels.mean() < 0.01
    chosen = result.chosen.explanation.decide(frame)
    assert result.chosen.literals == 2 and (chosen & labels).sum() > 0.85 * (chosen | labels).sum()
