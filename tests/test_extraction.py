"""A whole extraction: exact where the truth is Horn, truthful about its end where it is not."""

import json
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hornbook import BOTTOM, Batch, HornbookError, HornTheory, Rule, Vocabulary
from hornbook.distributions import Random
from hornbook.extraction import PATIENCE, Settings, extract
from hornbook.logic.generate import random_theory
from hornbook.logic.theory import violation
from hornbook.oracles import sampling
from hornbook.oracles.completions import Completions
from hornbook.oracles.filters import Counted, Voted
from hornbook.oracles.guided import Guided
from hornbook.queries import Budget, Estimated, Pac, Unknown
from hornbook.testing.teachers import Coin, Constant, Failing, Mistaken, Network, Noisy, Slow
from hornbook.traces import read_trace


def rng(seed=0):
    return np.random.default_rng(seed)


THEORY = random_theory(12, 6, (2, 3), rng(1))
PARTIAL = Random(THEORY.vocabulary)
QUICK = Settings(pool=2000, size=3000, tries=8, evaluation=1000, coherence=100)
PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(8)])


def is_faithful(found, member, distribution, size=20_000, seed=99):
    """Whether the disagreement on a fresh sample fits the interval that was reported."""
    batch = distribution.draw(size, rng(seed))
    wrong = float((found.theory.satisfied_by(batch) != member(batch)).mean())
    return found.disagreement.low - 0.01 <= wrong <= found.disagreement.high + 0.01


def without_seconds(entries):
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in entries]


@pytest.mark.parametrize("seed", range(5))
def test_total_assignments_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))

    def total_only(batch):
        assert (batch.true | batch.false).all() and np.isfinite(batch.to_array()).all()
        return theory.satisfied_by(batch)

    some = Completions(total_only, theory.vocabulary, draws=64, rng=rng(seed))
    settings = Settings(pool=20_000, size=20_000, evaluation=2000, min_precision=1, seed=seed)
    found = extract(some, Random(theory.vocabulary, missing=0), settings)
    assert found.stop_reason == "equivalent" and found.theory.equivalent(theory)
    assert found.disagreement.hits == 0 and isinstance(found.guarantee, Estimated)


@pytest.mark.parametrize("seed", range(5))
def test_partial_interpretations_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))
    settings = Settings(pool=5000, size="paper", evaluation=2000, min_precision=1, seed=seed)
    found = extract(theory.satisfied_by, Random(theory.vocabulary), settings)
    assert found.theory.equivalent(theory) and isinstance(found.guarantee, Pac)
    assert len(found.rules) == len(theory.minimise()) and not found.refuted


@pytest.mark.parametrize("seed", range(3))
def test_paired_vocabularies(seed):
    theory = HornTheory(PAIRED, random_theory(16, 5, (1, 3), rng(seed)).rules) | HornTheory.background(PAIRED)
    distribution = Random(PAIRED)
    found = extract(theory.satisfied_by, distribution, replace(QUICK, min_precision=1, seed=seed))
    assert found.stop_reason == "equivalent" and found.disagreement.hits == 0
    fresh = distribution.draw(50_000, rng(9))
    assert (found.theory.satisfied_by(fresh) == theory.satisfied_by(fresh)).mean() > 0.999
    assert set(HornTheory.background(PAIRED)) <= set(found.theory)
    assert not set(found.rules) & set(found.background)


def test_background_is_part_of_every_hypothesis_and_never_removed():
    lie = Rule({0}, 1)
    assert not THEORY.entails(lie)
    background = HornTheory(THEORY.vocabulary, [lie, *THEORY.rules[:2]])
    seen = []
    found = extract(
        THEORY.satisfied_by,
        PARTIAL,
        QUICK,
        background=background,
        watch=lambda step, trace: seen.append(step.hypothesis),
    )
    assert all(set(background) <= set(hypothesis) for hypothesis in [*seen, found.theory])
    assert found.background == background and not set(background) & {*found.rules, *found.refuted}
    assert found.stop_reason != "equivalent"  # the teacher contradicts what must be believed


@pytest.mark.parametrize("heads", [[3], [0, 5], [BOTTOM], [2, BOTTOM]])
def test_heads_are_those_allowed(heads):
    found = extract(THEORY.satisfied_by, PARTIAL, QUICK, heads=heads)
    assert {rule.head for rule in found.rules} <= set(heads)
    assert is_faithful(found, THEORY.satisfied_by, PARTIAL)


@pytest.mark.parametrize("teacher", ["theory", "network"])
def test_the_same_seed_gives_the_same_run(teacher):
    runs = []
    for seed in (0, 0, 1):
        member = THEORY.satisfied_by if teacher == "theory" else Network(PARTIAL, rng())
        settings = replace(QUICK, budget=Budget(equivalence_queries=15), seed=seed)
        runs.append(extract(member, PARTIAL, settings))
    first, again, other = runs
    assert first.theory.rules == again.theory.rules and first.frontier == again.frontier
    assert without_seconds(first.trace.entries) == without_seconds(again.trace.entries)
    assert without_seconds(first.trace.entries) != without_seconds(other.trace.entries)


def test_the_number_of_processes_changes_nothing(monkeypatch):
    monkeypatch.setattr(sampling, "CHUNK", 256)
    for extras in ({}, {"margin": NETWORK.margin}):
        alone, shared = (extract(NETWORK, PARTIAL, QUICK, n_jobs=n_jobs, **extras) for n_jobs in (1, 2))
        assert shared.theory == alone.theory and shared.membership_queries == alone.membership_queries
        assert without_seconds(shared.trace.entries) == without_seconds(alone.trace.entries)


def guided(member, margin):
    return Guided(member, margin, PARTIAL, seed=5, size=4096, walkers=64)


RARE = HornTheory.parse(
    "v1 & v2 & v3 & v4 & v5 & v6 & v7 -> v8\nv9 & v8 & v7 & v6 & v5 & v4 -> false", THEORY.vocabulary
)


def rare_margin(batch):
    """How many literals the nearest violation of a rule lacks, less a half."""
    dense = batch.to_array()
    lacking = [
        (dense[:, sorted(rule.body)] != 1).sum(axis=1)
        + (0 if rule.head is BOTTOM else dense[:, rule.head] != 0)
        for rule in RARE
    ]
    return np.min(lacking, axis=0) - 0.5


def hasty(batch):
    """Is sure about questions with few known values, and wrong about them."""
    few = HornTheory.parse("v1 & v2 -> v4", THEORY.vocabulary)
    many = HornTheory.parse("v1 & v2 & v3 -> v4", THEORY.vocabulary)
    known = (~np.isnan(batch.to_array())).sum(axis=1)
    return np.where(known > 8, many.satisfied_by(batch), few.satisfied_by(batch))


NETWORK = Network(PARTIAL, rng(3))
SCARCE = {"pool": 60, "size": 100, "min_precision": 0.5}
SCENARIOS = {  # the teacher, settings, options, and what must happen on the way
    "exact": (THEORY.satisfied_by, {}, {}, {"stored", "added"}),
    "completions": (
        Completions(THEORY.satisfied_by, THEORY.vocabulary, 16, rng=rng()),
        {"min_precision": 1.0, "budget": Budget(equivalence_queries=9)},
        {},
        {"failed", "given_up"},
    ),
    "mistaken": (Mistaken(THEORY.satisfied_by, 0, 0.03), {"min_precision": 0.9}, {}, {"refined", "given_up"}),
    "network": (NETWORK, {}, {}, {"sampling", "given_up"}),
    "refuting": (
        NETWORK,
        SCARCE | {"shares": {}, "seed": 5},
        {"margin": NETWORK.margin},
        {"rules", "sampling", "removed", "witness"},
    ),
    "hasty": (hasty, SCARCE | {"pool": 20, "seed": 1}, {}, {"sampling", "removed"}),
    "guided": (
        lambda batch: rare_margin(batch) >= 0,
        {"pool": 50, "size": 50},
        {"margin": rare_margin, "guided": guided},
        {"guided", "added"},
    ),
    "background": (
        THEORY.satisfied_by,
        {},
        {"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])},
        {"sampling", "given_up"},
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_killed_run_resumes_to_the_same_result(name, tmp_path):
    member, settings, options, expected = SCENARIOS[name]
    settings = replace(QUICK, **{"budget": Budget(equivalence_queries=30), **settings})
    path = tmp_path / "trace.jsonl"
    whole = extract(member, PARTIAL, settings, trace=path, **options)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    assert read_trace(path)[1] == whole.trace.entries
    happened = [entry for entry in whole.trace.entries if "change" in entry]
    assert expected <= {
        word for entry in happened for word in (entry["counterexample"]["found_by"], *entry["change"])
    }
    half = len(lines) // 2
    middle = "".join(lines[:half])
    cuts = ["".join(lines[:2]), middle + lines[half][:40], middle.rstrip("\n"), "".join(lines[:-1]), text]
    for cut in cuts:
        path.write_text(cut, "utf-8")
        resumed = extract(member, PARTIAL, settings, trace=path, **options)
        assert resumed.theory.rules == whole.theory.rules
        assert without_seconds(resumed.trace.entries) == without_seconds(whole.trace.entries)
        assert without_seconds(read_trace(path)[1]) == without_seconds(whole.trace.entries)
        assert resumed.refuted == whole.refuted and resumed.frontier == whole.frontier
        assert (resumed.stop_reason, resumed.guarantee) == (whole.stop_reason, whole.guarantee)
        assert resumed.membership_queries == whole.membership_queries
        assert (resumed.statistics, resumed.coherence) == (whole.statistics, whole.coherence)


def test_a_resumed_run_asks_less_and_can_be_killed_itself(tmp_path):
    path = tmp_path / "trace.jsonl"
    settings = replace(QUICK, size=100_000)
    counted = Counted(THEORY.satisfied_by)
    whole = extract(counted, PARTIAL, settings, trace=path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    stopped = extract(Failing(THEORY.satisfied_by, 10), PARTIAL, settings, trace=path)
    assert stopped.stop_reason.startswith("the model failed")
    assert path.read_text() == "".join(lines[:-1])  # nothing of the earlier run is lost
    again = Counted(THEORY.satisfied_by)
    assert extract(again, PARTIAL, settings, trace=path).theory == whole.theory
    assert again.questions < counted.questions


def test_what_is_no_trace_is_refused_and_kept(tmp_path):
    path = tmp_path / "trace.jsonl"
    for text in ("some notes\n{}\n", '{"query": 1}\n'):
        path.write_text(text)
        with pytest.raises(HornbookError, match="line 1: not a trace; remove the file"):
            extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settings": replace(QUICK, seed=1)}, "seed=0, not 1"),
        ({"settings": replace(QUICK, min_precision=0.5)}, "min_precision=0.9, not 0.5"),
        ({"distribution": Random(THEORY.vocabulary, missing=0.1)}, "distribution="),
        ({"heads": [3]}, r"heads=None, not \['v4'\]"),
        ({"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])}, "background="),
        ({"guided": lambda member, margin: guided(member, margin)}, "guided=False, not True"),
    ],
)
def test_a_trace_is_tied_to_its_settings(changed, named, tmp_path):
    path = tmp_path / "trace.jsonl"
    short = replace(QUICK, budget=Budget(equivalence_queries=2))
    run = {"member": THEORY.satisfied_by, "distribution": PARTIAL, "settings": short, "trace": path}
    extract(**run)
    text = path.read_text("utf-8")
    with pytest.raises(HornbookError, match=f"is the trace of a run with {named}.*or another file"):
        extract(**run | changed)
    assert path.read_text("utf-8") == text
    longer = extract(**run | {"settings": QUICK})
    assert longer.theory.rules == extract(THEORY.satisfied_by, PARTIAL, QUICK).theory.rules


def test_time_spent_before_a_resumption_counts(tmp_path):
    path = tmp_path / "trace.jsonl"
    settings = replace(QUICK, budget=Budget(seconds=1000))
    extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    header, first, *_ = path.read_text("utf-8").splitlines()
    late = json.dumps(json.loads(first) | {"seconds": 999.9})
    path.write_text(f"{header}\n{late}\n")
    settings = replace(QUICK, budget=Budget(seconds=1000), size=10**9)
    path.write_text(path.read_text().replace('"size": 3000', '"size": 1000000000'))
    found = extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    assert found.stop_reason == "budget of 1000 seconds" and found.trace.seconds > 1000


def test_rules_are_measured_on_held_out_samples():
    found = extract(THEORY.satisfied_by, PARTIAL, QUICK)
    assert [row.rule for row in found.statistics] == list(found.rules)
    assert {row.found_by for row in found.statistics} <= {"stored", "rules", "sampling"}
    for row in found.statistics:
        assert row.support.size == QUICK.evaluation and row.precision.hits == row.precision.size
        others = HornTheory(THEORY.vocabulary, [rule for rule in found.rules if rule != row.rule])
        assert row.redundant == others.entails(row.rule)
    assert extract(Failing(THEORY.satisfied_by, 1), PARTIAL, QUICK).statistics == ()


def test_each_rule_is_asked_for_with_all_else_unknown():
    found = extract(THEORY.satisfied_by, PARTIAL, QUICK)
    assert found.statistics and all(row.said for row in found.statistics)
    network = Network(PARTIAL, rng(3))
    found = extract(network, PARTIAL, QUICK)
    breaches = [violation(rule) for rule in found.rules]
    rejected = ~network(Batch.from_interpretations(breaches, PARTIAL.vocabulary))
    assert [row.said for row in found.statistics] == rejected.tolist()
    spent = replace(QUICK.budget, membership_queries=found.membership_queries - 1)
    last = extract(network, PARTIAL, replace(QUICK, budget=spent))
    assert last.stop_reason == found.stop_reason and {row.said for row in last.statistics} == {None}


def test_coherence_is_measured_unless_it_is_not_wanted():
    network = Network(PARTIAL, rng(3))
    found = extract(network, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=1)))
    assert found.coherence.rate.hits and found.coherence.rate.size <= QUICK.coherence
    for witness in found.coherence.rejected_witnesses:
        items = Batch.from_interpretations([witness.partial, witness.completion], THEORY.vocabulary)
        assert network(items).tolist() == [False, True]
    assert not extract(THEORY.satisfied_by, PARTIAL, QUICK).coherence.rate.hits
    assert extract(THEORY.satisfied_by, PARTIAL, replace(QUICK, coherence=0)).coherence is None


def test_the_frontier_repeats_no_point():
    found = extract(Network(PARTIAL, rng(3)), PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=40)))
    assert any("given_up" in entry["change"] for entry in found.trace.entries)
    assert all(one != other for one, other in pairwise(found.frontier))


def test_no_sample_is_drawn_twice_even_where_seeds_are_the_same():
    asked = []

    def member(batch):
        asked.append(batch)
        return rare_margin(batch) >= 0

    def search(member, margin):
        return Guided(member, margin, PARTIAL, seed=0, size=4096, walkers=64)

    extract(member, PARTIAL, Settings(pool=200, size=300, evaluation=250), guided=search)
    large = [set(batch[:200]) for batch in asked if len(batch) >= 200]
    assert len(large) > 4
    for at, one in enumerate(large[:3]):  # what is held out, the pool, the first sample
        assert all(len(one & other) < 100 for other in large[at + 1 :])


class Interrupting(Failing):
    """Is interrupted at a certain question."""

    def __call__(self, batch):
        try:
            return super().__call__(batch)
        except RuntimeError:
            raise KeyboardInterrupt from None


def test_an_interrupt_keeps_what_was_learned(tmp_path):
    one_by_one = replace(QUICK, tries=1)
    whole = extract(THEORY.satisfied_by, PARTIAL, one_by_one)
    counts = [entry["membership_queries"] for entry in whole.trace.entries]
    assert len(counts) > 4
    path = tmp_path / "trace.jsonl"
    found = extract(Interrupting(THEORY.satisfied_by, counts[2] + 1), PARTIAL, one_by_one, trace=path)
    assert found.stop_reason == "interrupted"
    assert without_seconds(found.trace.entries) == without_seconds(whole.trace.entries[:3])
    assert found.theory.rules == whole.theory.rules[:3] and found.frontier == whole.frontier[:3]
    assert isinstance(found.guarantee, Estimated) and is_faithful(found, THEORY.satisfied_by, PARTIAL)
    assert extract(THEORY.satisfied_by, PARTIAL, one_by_one, trace=path).theory == whole.theory


def test_an_interrupt_before_anything_was_learned():
    found = extract(Interrupting(THEORY.satisfied_by, 1), PARTIAL, QUICK)
    assert found.stop_reason == "interrupted" and not found.rules
    assert found.guarantee == Unknown("nothing was measured (interrupted)")


def test_constant_yes():
    found = extract(Constant(True), PARTIAL, replace(QUICK, size="angluin"))
    assert not found.theory.rules and found.stop_reason == "equivalent" and isinstance(found.guarantee, Pac)
    assert found.disagreement.hits == 0 and len(found.trace.entries) == 1


def test_constant_no():
    found = extract(Constant(False), PARTIAL, QUICK)
    assert found.rules == (Rule((), BOTTOM),) and found.stop_reason == "equivalent"
    assert found.disagreement.hits == 0


@pytest.mark.parametrize("accepted", [0.05, 0.5, 0.95])
def test_a_coin(accepted):
    coin = Coin(rng(), accepted)
    found = extract(coin, PARTIAL, QUICK)
    assert found.stop_reason.startswith(("stalled", "budget of 100 equivalence queries"))
    assert isinstance(found.guarantee, Estimated) and is_faithful(found, coin, PARTIAL)


def test_a_stall_is_reported_as_such():
    found = extract(Coin(rng()), PARTIAL, QUICK)
    assert found.stop_reason == (
        f"stalled: the last {PATIENCE} counterexamples gave no rule that is precise enough"
    )
    assert [entry["change"].keys() - {"failed"} for entry in found.trace.entries[-PATIENCE:]] == (
        PATIENCE * [{"given_up"}]
    )


@pytest.mark.parametrize("kind", [Noisy, Mistaken])
@pytest.mark.parametrize("votes", [1, 5])
def test_one_percent_of_the_answers_flipped(kind, votes):
    teacher = kind(THEORY.satisfied_by, rng()) if kind is Noisy else kind(THEORY.satisfied_by, 0)
    member = Voted(teacher, votes)
    found = extract(member, PARTIAL, QUICK)
    fresh = PARTIAL.draw(20_000, rng(5))
    assert (found.theory.satisfied_by(fresh) != THEORY.satisfied_by(fresh)).mean() < 0.01
    assert is_faithful(found, member, PARTIAL)
    if kind is Noisy and votes > 1:
        assert found.stop_reason.startswith("equivalent") and found.theory.equivalent(THEORY)
    else:
        assert found.stop_reason.startswith(("stalled", "budget"))


@pytest.mark.parametrize("seed", range(1, 4))
def test_an_incoherent_network(seed):
    network = Network(PARTIAL, rng(seed))
    settings = replace(QUICK, budget=Budget(equivalence_queries=40))
    found = extract(network, PARTIAL, settings, margin=network.margin)
    assert found.stop_reason.startswith(("stalled", "budget of 40 equivalence queries"))
    assert is_faithful(found, network, PARTIAL)
    assert found.disagreement.estimate <= found.frontier[0].disagreement.estimate
    done = {"added", "removed", "refined"}
    changed = [entry for entry in found.trace.entries if done & entry["change"].keys()]
    assert len(found.frontier) <= len(changed) + 1
    assert found.frontier[-1].rules == len(found.rules)


def test_refuted_rules_stay_away_and_their_witnesses_are_accepted():
    found = extract(hasty, PARTIAL, replace(QUICK, **SCARCE | {"pool": 20, "seed": 1}))
    assert found.refuted and not set(found.refuted) & set(found.rules)
    for rule, witness in found.refuted.items():
        batch = Batch.from_interpretations([witness], THEORY.vocabulary)
        assert hasty(batch)[0]
        assert not HornTheory(THEORY.vocabulary, [rule]).satisfied_by(batch)[0]


def test_a_known_difference_is_no_equivalence():
    hurried = extract(hasty, PARTIAL, Settings(pool=20, size=100, evaluation=500, min_precision=0.8))
    assert hurried.stop_reason == "equivalent but for 1 counterexamples given up"


@pytest.mark.parametrize("at", [1, 700, 1000])
def test_a_failing_model(at):
    settings = Settings(pool=300, evaluation=300, size=300, coherence=0)
    found = extract(Failing(THEORY.satisfied_by, at), PARTIAL, settings)
    assert found.stop_reason == f"the model failed: RuntimeError: the model broke at question {at}"
    learned = [rule for entry in found.trace.entries for rule in entry["change"]["added"]]
    assert len(found.rules) == len(learned)
    if at == 1000:
        assert found.rules and is_faithful(found, THEORY.satisfied_by, PARTIAL)


def test_a_model_that_answers_nonsense():
    found = extract(lambda batch: np.ones(3, np.bool_), PARTIAL, QUICK)
    assert found.stop_reason.startswith(
        "the model failed: 1000 questions were answered by bool of shape (3,)"
    )


def test_errors_that_are_not_the_models_are_raised(tmp_path):
    def watch(step, trace):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        extract(THEORY.satisfied_by, PARTIAL, QUICK, watch=watch)
    with pytest.raises(FileNotFoundError):
        extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=tmp_path / "nowhere" / "trace.jsonl")


def test_a_slow_model_ends_in_time():
    settings = replace(QUICK, budget=Budget(seconds=1.5), size=10_000_000, pool=1000)
    start = time.perf_counter()
    found = extract(Slow(THEORY.satisfied_by, 0.002), PARTIAL, settings)
    assert time.perf_counter() - start < 2.5
    assert found.stop_reason == "budget of 1.5 seconds" and found.rules


@pytest.mark.parametrize("budget", [500, 2999, 3500, 6000, 8000])
def test_a_budget_of_membership_queries_is_kept_exactly(budget):
    counted = Counted(THEORY.satisfied_by)
    found = extract(counted, PARTIAL, replace(QUICK, budget=Budget(membership_queries=budget)))
    assert counted.questions == found.membership_queries <= budget
    assert found.stop_reason == f"budget of {budget} membership queries"


def test_guided_search_is_under_the_budget_too():
    network = Network(PARTIAL, rng(3))
    margin = Counted(network.margin)
    settings = replace(QUICK, budget=Budget(membership_queries=30_000), size=100, min_precision=0.5)
    found = extract(network, PARTIAL, settings, margin=margin, guided=guided)
    assert margin.questions == found.membership_queries <= 30_000


def test_a_budget_of_equivalence_queries():
    seen = []
    settings = replace(QUICK, budget=Budget(equivalence_queries=3), tries=1)
    found = extract(
        THEORY.satisfied_by, PARTIAL, settings, watch=lambda step, trace: seen.append(len(trace.entries))
    )
    assert found.stop_reason == "budget of 3 equivalence queries" and seen == [1, 2, 3]
    assert len(found.rules) == len(found.frontier) == 3 and isinstance(found.guarantee, Estimated)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_precision": 0}, "min_precision is above 0 and at most 1; got 0"),
        ({"min_precision": 1.5}, "min_precision is above 0"),
        ({"pool": 0}, "pool is at least 1; got 0"),
        ({"tries": 0}, "tries is at least 1; got 0"),
        ({"evaluation": -1}, "evaluation is at least 1; got -1"),
        ({"seed": -1}, "seed is at least 0; got -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(HornbookError, match=message):
        Settings(**arguments)


def test_a_size_that_makes_no_sense_is_refused_before_anything_is_asked():
    with pytest.raises(HornbookError, match="a sample size is"):
        extract(Constant(True), PARTIAL, replace(QUICK, size="plenty"))
