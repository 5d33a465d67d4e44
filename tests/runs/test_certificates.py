"""Certificates of proofs: whatever is changed in them is noticed, because each verdict is derived again."""

import json
import re
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary, violation
from hornbook.models import as_predictor
from hornbook.queries import MLP, Proved, Unknown, interpretation
from hornbook.runs.proving import (
    PROOFS_FILE,
    ProofLimits,
    TheoryProofs,
    read_proofs,
    verify_certificates,
    write_proofs,
)
from tests.proof.test_proof import accepted, module, prover_of, vocabulary_of

RULES = """cough & not_old -> ill
fever -> ill
cough -> ill
not_fever & not_cough -> not_ill
old & not_old -> ill
fever & cough -> ill
"""
FEATURES = Vocabulary.with_duals(["fever", "cough", "old"])


def fit_network():
    """Its output comes down to 0 exactly without the cough."""
    weights = np.zeros((1, 6))
    for name, weight in {"fever": 2, "cough": 3, "old": -1}.items():
        weights[0, FEATURES.index(name)] = weight
    return MLP.of([(weights, np.array([-2.0]))], FEATURES)


def fit_forest():
    values = np.random.default_rng(0).integers(0, 2, (60, 3))
    ill = (values[:, 1] > 0) | (values[:, 0] > 0) & (values[:, 2] > 0)
    return RandomForestClassifier(3, random_state=0).fit(np.hstack([values, 1 - values]), ill)


def prove(prover, rules, total=None):
    proofs = TheoryProofs(prover, total)
    proofs(rules)
    return proofs.certificates


@pytest.fixture(scope="module", params=[fit_network, fit_forest])
def certified(request):
    """A prover that asks no question twice, and certificates of rules: proved, refuted or not asked about."""
    predictor = as_predictor(request.param(), encoding="half")
    prover = prover_of(predictor, FEATURES.with_label("ill"), label="ill", features=FEATURES.names)
    *rules, late = HornTheory.parse(RULES, prover.vocabulary)
    certificates = [*prove(prover, rules), *prove(prover, [late], total=-1)]
    prover.prove_rule = lru_cache(None)(prover.prove_rule)
    ask = prover.member
    answer = lru_cache(None)(lambda item: ask(Batch.from_interpretations([item], prover.vocabulary))[0])
    prover.member = lambda batch: [answer(item) for item in batch]
    return prover, [*rules, late], write_proofs(prover.vocabulary, certificates)


def mutations(value, place=()):
    """Every small change of a JSON value: its place, and a function that makes it in a copy."""
    if isinstance(value, dict):
        yield (*place, "+"), {**value, "stranger": 1}
        for key, part in value.items():
            yield (*place, key, "dropped"), {name: other for name, other in value.items() if name != key}
            for where, changed in mutations(part, (*place, key)):
                yield where, {**value, key: changed}
    elif isinstance(value, list):
        if len(value) > 1:
            yield (*place, "reversed"), value[::-1]
        for number, part in enumerate(value):
            yield (*place, number, "dropped"), value[:number] + value[number + 1 :]
            yield (*place, number, "doubled"), value[: number + 1] + value[number:]
            for where, changed in mutations(part, (*place, number)):
                yield where, [*value[:number], changed, *value[number + 1 :]]
    elif isinstance(value, str):
        yield from ((place, value + "x"), (place, ""), (place, 7))
    elif isinstance(value, bool):
        yield from ((place, not value), (place, int(value)))
    elif isinstance(value, int | float):
        yield from ((place, value + 1), (place, -value - 0.5), (place, str(value)))
    yield from ((place, changed) for changed in (None, [value], {}, 10**400) if changed != value)


def problems(prover, rules, content, folder):
    """The lines that tell what does not hold, as a run under a limit of all proofs is verified."""
    path = folder / PROOFS_FILE
    path.write_text(json.dumps(content))
    try:
        certificates = read_proofs(prover.vocabulary, path)
    except HornbookError as error:
        return [str(error)]
    found = list(verify_certificates(prover, certificates, rules, ProofLimits(total=1.0)))
    other = [] if json.loads(write_proofs(prover.vocabulary, certificates)) == content else ["not written so"]
    return [f"{each.about}   # {each.says}" for each in found if not each.holds] + other


def test_any_change_is_noticed(certified, tmp_path):
    prover, rules, text = certified
    content = json.loads(text)
    assert {entry["verdict"]["status"] for entry in content} == {"proved", "refuted", "undecided"}
    assert any(entry["repair"] for entry in content) and problems(prover, rules, content, tmp_path) == []
    noticed, unnoticed = 0, []
    for place, changed in mutations(content):
        lines = problems(prover, rules, changed, tmp_path)
        assert all("\n" not in line for line in lines)
        noticed += bool(lines)
        unnoticed += [] if lines else [" ".join(map(str, place))]
    # to say less is not to say something wrong: no repair, a literal of it not shown to be needed, or why
    # something is undecided in other words
    less = re.compile(r"\d+ (repair( needed| needed \S+ dropped)?|verdict reason)")
    assert all(less.fullmatch(place) for place in unnoticed), unnoticed
    assert noticed > 600 and len(unnoticed) < 20


def test_verdicts_that_are_other_ones_are_noticed(certified, tmp_path):
    prover, rules, text = certified
    content = json.loads(text)
    witness = next(
        entry["verdict"]["witness"] for entry in content if entry["verdict"]["status"] == "refuted"
    )
    others = (
        {"status": "proved", "by": "branch and bound", "bound": -1.0},
        {"status": "proved", "by": "no input breaks it", "bound": "-Infinity"},
        {"status": "refuted", "by": "local search", "witness": witness},
        {"status": "undecided", "by": "branch and bound", "reason": "not decided in 60 s"},
    )
    for number, entry in enumerate(content[:-1]):  # time was up for the last one
        for other in others:
            if other["status"] != entry["verdict"]["status"]:
                entries = [*content]
                entries[number] = {"rule": entry["rule"], "verdict": other, "repair": None}
                assert problems(prover, rules, entries, tmp_path), (entry, other)


def test_verdicts_agree_up_to_the_last_digits_of_a_margin_and_the_time_that_is_taken():
    limits, undecided = ProofLimits(seconds=60.0), Unknown("not decided in 60 s", "undecided")
    assert limits.agree(Proved("a", 0.5), Proved("a", 0.5 + 1e-8), 1.0)
    assert not limits.agree(Proved("a", 0.5), Proved("a", 0.51), 1.0)
    assert not limits.agree(Proved("a", 0.5), Proved("b", 0.5), 1.0)
    assert limits.agree(undecided, undecided, 60.0) and limits.agree(undecided, Proved("a", 0.5), 59.0)
    assert not limits.agree(undecided, Proved("a", 0.5), 1.0)
    assert not limits.agree(Proved("a", 0.5), undecided, 60.0)
    late = Unknown("the time for all proofs was spent", "undecided")
    assert ProofLimits(60.0, total=9.0).agree(late, Unknown("so", "refuted"), 0.1)
    assert not limits.agree(late, Unknown("so", "refuted"), 0.1)


def test_certificates_hold_no_times_and_are_read_back(tmp_path):
    vocabulary = vocabulary_of(5, dual=True)
    prover = prover_of(as_predictor(module([10, 6, 4], 2), encoding="half"), vocabulary)
    rules = [Rule({a, b}, BOTTOM) for a in (0, 5) for b in (1, 6)]
    one, two = (write_proofs(vocabulary, prove(prover, rules)) for _ in range(2))
    assert one == two
    (tmp_path / PROOFS_FILE).write_text(one)
    certificates = read_proofs(vocabulary, tmp_path / PROOFS_FILE)
    assert [each.rule for each in certificates] == rules
    assert all(each.holds for each in verify_certificates(prover, certificates, rules, ProofLimits()))
    other = prover_of(as_predictor(module([10, 6, 4], 3), encoding="half"), vocabulary)
    assert not all(each.holds for each in verify_certificates(other, certificates, rules, ProofLimits()))


@pytest.mark.parametrize("values", ["ternary", "complete"])
@pytest.mark.parametrize("groups", [(), ((0, 1),)])
def test_witness_holds_exactly_if_it_is_an_accepted_input_that_breaks_the_rule(values, groups):
    vocabulary = vocabulary_of(2, dual=True)
    predictor = as_predictor(module([4, 6, 4], 3), encoding="half", threshold=0.1)
    prover = prover_of(predictor, vocabulary, values=values, groups=groups)
    every = [
        Interpretation(*(frozenset(np.flatnonzero(np.array(row) == value).tolist()) for value in (1, 0)))
        for row in product([1, 0, None], repeat=4)
    ]
    told = set()
    for rule in (Rule((), BOTTOM), Rule({0}, BOTTOM), Rule({2}, 1), Rule({0, 2}, BOTTOM)):
        breaking = accepted(prover, violation(rule))
        contradiction = interpretation(vocabulary, {0, 2})
        for witness in [*every, contradiction]:
            assert prover.is_witness(rule, witness) == (witness in breaking), witness
            told.add(witness in breaking)
    assert told == {True, False}
