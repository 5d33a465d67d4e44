"""What proofs are used for: verdicts on the lines of runs, and commands."""

import json
import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from test_proof import accepted, module, vocabulary_of

from hornbook.cli import main
from hornbook.extraction import learn_theory
from hornbook.logic import BOTTOM, HornTheory
from hornbook.models import as_predictor
from hornbook.queries import (
    Binariser,
    Budget,
    HornRules,
    Proved,
    QuerySubject,
    Settings,
    Unknown,
    interpretation,
)
from hornbook.runs import ProofLimits, make_prover, prove_lines
from hornbook.runs.proving import is_confirmed, prove_explanation


@pytest.mark.parametrize("total", [None, -1])
def test_every_rule_that_is_shown_has_a_verdict_which_brute_force_gives_too(total):
    vocabulary = vocabulary_of(3, dual=True)
    frame = pd.DataFrame(list(product([0, 1], repeat=3)), columns=vocabulary.names[:3])
    seen = set()
    for seed in range(4):
        judge = as_predictor(module([6, 6, 4], seed), encoding="half")
        subject = QuerySubject.bind(judge, frame, binariser=Binariser.fit(frame, dual=True))
        learned = learn_theory(subject, Settings(Budget(equivalence_queries=3), size=200))
        prover = make_prover(subject)
        proved = prove_lines(learned, prover, ProofLimits(total=total))
        for rule, line in zip(proved.explanation.rules, proved.lines, strict=True):
            head = () if rule.head is BOTTOM else {rule.head}
            broken = accepted(prover, interpretation(prover.vocabulary, rule.body, head))
            expected = "undecided" if total else "refuted" if broken else "proved"
            assert line.guarantee.kind == expected
            assert total is None or "time for all" in line.guarantee.reason
            seen.add(expected)
        refuted = sum(bool(line.mark) for line in proved.lines)
        assert (f"Of the rules {refuted} are refuted" in str(proved.notes)) == bool(refuted)
    assert seen == ({"undecided"} if total else {"proved", "refuted"})


def test_a_verdict_is_about_its_own_line_though_one_of_them_always_holds():
    frame = pd.DataFrame(list(product([0, 1], repeat=3)), columns=list("abc"))
    binariser = Binariser.fit(frame, dual=True)
    text = "a & b -> false\na & not_a -> false\nb & not_c -> false\nnot_a & c -> false"
    rules = HornRules(binariser, HornTheory.parse(text, binariser.vocabulary).rules)
    seen = set()
    for seed in range(4):
        judge = as_predictor(module([6, 6, 4], seed), encoding="half")
        prover = make_prover(QuerySubject.bind(judge, frame, binariser=binariser))
        for rule, verdict in zip(rules.rules, prove_explanation(rules, prover), strict=True):
            assert verdict.status == prover.prove_rule(rule).status
            seen.add(verdict.status)
    assert seen == {"proved", "refuted"}


def test_verdicts_are_confirmed_up_to_the_last_digits_of_a_margin():
    assert is_confirmed(Proved("a", 0.5), Proved("a", 0.5 + 1e-8))
    assert not is_confirmed(Proved("a", 0.5), Proved("a", 0.51))
    assert not is_confirmed(Proved("a", 0.5), Proved("b", 0.5))
    assert not is_confirmed(Proved("a", 0.5), Unknown("not decided in 60 s", "undecided"))
    assert not is_confirmed(None, Proved("a", 0.5)) and is_confirmed(None, None)


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
    from hornbook.queries import MLP

    path = tmp_path_factory.mktemp("proof")
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (40, 3)), columns=["fever", "cough", "ill"])
    frame.to_csv(path / "patients.csv", index=False)
    vocabulary = Binariser.fit(frame, dual=True).vocabulary
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
