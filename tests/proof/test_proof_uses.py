"""What proofs are used for: prime rules, repairs, certificates, exact completions, equivalence, commands."""

import json
import sys

import numpy as np
import pytest
from test_proof import accepted, module, prover_of, states_of, vocabulary_of

from hornbook.cli import main
from hornbook.deadline import Deadline
from hornbook.logic import BOTTOM, Rule
from hornbook.models import as_predictor
from hornbook.proof import repair_rule, shrink_rule
from hornbook.queries import interpretation
from hornbook.runs import TheoryProofs


def judge(seed, size=5, encoding="half", **options):
    vocabulary = vocabulary_of(size, dual=True)
    return prover_of(as_predictor(module([2 * size, 6, 4], seed), encoding=encoding), vocabulary, **options)


def holds(prover, rule):
    head = () if rule.head is BOTTOM else {rule.head}
    return not accepted(prover, interpretation(prover.vocabulary, rule.body, head))


@pytest.mark.parametrize("groups", [(), ((0, 1, 2),)])
def test_ranks_bound_all_outputs_without_a_literal(groups):
    rng = np.random.default_rng(0)
    for seed in range(5):
        prover = judge(seed, groups=groups)
        for _ in range(4):
            signs = rng.random(5) < (0.2 if groups else 0.5)
            body = {int(v) for v in np.where(signs, np.arange(5), np.arange(5, 10)) if rng.random() < 0.9}
            rule = Rule(body, BOTTOM)
            if prover.region(interpretation(prover.vocabulary, body, ())) is None:
                continue
            ranks = prover.rank_literals(rule, sorted(body))
            for literal, rank in zip(sorted(body), ranks, strict=True):
                region = prover.region(interpretation(prover.vocabulary, body - {literal}, ()))
                outputs = prover.accepting.outputs(states_of(prover.space, region))
                assert rank >= outputs.max() - 1e-9


def draw_rejected_inputs(prover, rng, count):
    batch = prover.space.batch(2 * rng.integers(0, 2, (40, 5)))
    return list(batch[np.flatnonzero(~prover.member(batch))[:count]])


def test_shrunk_rules_are_prime_by_brute_force():
    found = 0
    for seed in range(4):
        prover = judge(seed)
        rng = np.random.default_rng(seed)
        for item in draw_rejected_inputs(prover, rng, 2):
            last = set(rng.permutation(sorted(item.true))[:2].tolist())
            prime = shrink_rule(prover, Rule(item.true, BOTTOM), last)
            assert prime.is_prime and holds(prover, prime.rule) and set(prime.needed) == prime.rule.body
            for literal, witness in prime.needed.items():
                assert not holds(prover, Rule(prime.rule.body - {literal}, BOTTOM))
                assert prime.rule.body - {literal} <= witness.true
            found += 1
    assert found > 5


class LookedAt(Deadline):
    """A deadline that comes nearer by a second whenever it is looked at."""

    @property
    def left(self):
        object.__setattr__(self, "limit", self.limit - 1)
        return max(0.0, self.limit + 1)


def test_rules_shrunk_in_any_time_call_needed_what_an_input_shows():
    seen = set()
    prover = judge(2)
    (item,) = draw_rejected_inputs(prover, np.random.default_rng(2), 1)
    for looks in (0, 5, 6, 99):
        prime = shrink_rule(prover, Rule(item.true, BOTTOM), item.true, LookedAt(looks))
        assert holds(prover, prime.rule) and {*prime.needed, *prime.open} == prime.rule.body
        for literal, witness in prime.needed.items():
            smaller = interpretation(prover.vocabulary, prime.rule.body - {literal}, ())
            assert literal not in prime.open and witness in accepted(prover, smaller)
        seen.add((len(prime.needed), len(prime.open)))
    assert (0, 5) in seen and any(needed and not left for needed, left in seen)


def test_refuted_rules_are_repaired_if_they_can_be():
    mended = 0
    for seed in range(8):
        prover = judge(seed)
        rng = np.random.default_rng(seed)
        rule = Rule(rng.choice(10, 2, replace=False).tolist(), BOTTOM)
        if prover.prove_rule(rule).status != "refuted":
            continue
        prime = repair_rule(prover, rule)
        if prime.verdict.status == "proved":
            assert holds(prover, prime.rule) and prime.rule.head == rule.head
            assert prime.is_prime and set(prime.needed) == prime.rule.body
            assert not any(holds(prover, Rule(prime.rule.body - {v}, BOTTOM)) for v in prime.rule.body)
            mended += 1
    assert mended > 2


def test_time_for_all_rules_ends_truthfully():
    prover = judge(3)
    late_proofs = TheoryProofs(prover, total=-1)
    late_proofs([Rule({0}, BOTTOM)])
    (late,) = late_proofs.certificates
    assert late.verdict.status == "undecided" and "time for all" in late.verdict.reason
    item = prover.space.batch(np.zeros((1, 5), np.intp))
    rule = Rule(next(iter(item)).true, BOTTOM)
    if prover.prove_rule(rule).status == "proved":
        assert shrink_rule(prover, rule, deadline=Deadline.after(0)).open == tuple(sorted(rule.body))


@pytest.fixture
def hornbook(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hornbook", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A network that accepts if there is no fever, or the patient is ill; and rules about it."""
    import pandas as pd

    from hornbook.queries import MLP, Binariser

    path = tmp_path_factory.mktemp("proof")
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (40, 3)), columns=["fever", "cough", "ill"])
    frame.to_csv(path / "patients.csv", index=False)
    vocabulary = Binariser(dual=True).fit(frame).vocabulary_
    weights = np.zeros((1, len(vocabulary)))
    weights[0, [vocabulary.index("not_fever"), vocabulary.index("ill")]] = 1
    MLP.of([(weights, np.array([-0.75]))], vocabulary).save(path / "judge.safetensors")
    (path / "rules.horn").write_text("fever -> ill\ncough -> ill\n")
    return path


def test_check_proves_and_refutes(hornbook, folder):
    arguments = ["check", folder / "rules.horn", "--model", folder / "judge.safetensors", "--data",
                 folder / "patients.csv", "--proof"]  # fmt: skip
    code, out, err = hornbook(*arguments)
    assert (code, err) == (1, "")
    assert out.splitlines()[0].startswith(
        "holds   fever → ill   # proved for every input by branch and bound"
    )
    assert out.splitlines()[1].startswith("broken  cough → ill") and "refuted by local search" in out
    code, out, _ = hornbook(*arguments, "--json")
    first, second = json.loads(out)["rules"]
    proof = first["guarantee"]
    assert proof["kind"] == "proved" and proof["margin"] > 0 and first["witness"] is None
    assert second["broken"] is True and "cough" in second["witness"]["true"]


def test_what_cannot_be_proved_is_one_line(hornbook, folder):
    arguments = ["extract", folder / "patients.csv", "--target", "ill", "--train", "--samples", 100]
    code, _, err = hornbook(*arguments, "--proof", "--form", "card")
    assert code == 2 and "the lines of a card hold only together" in err and err.count("\n") == 1
