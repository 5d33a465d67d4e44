"""`hornbook verify` notices every change of what a run says to be proved, and forged proofs too."""

import json
import re
import shutil
from copy import deepcopy
from functools import lru_cache
from itertools import product
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from commands import is_one_line, runner
from sklearn.ensemble import RandomForestClassifier
from test_proof import accepted, module, vocabulary_of

from hornbook.cli import main
from hornbook.data import Binariser
from hornbook.errors import HornbookError
from hornbook.extraction import guarantee_object
from hornbook.extractor import query
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary, rule_object, violation
from hornbook.models import MLP, as_predictor, training
from hornbook.models.network import Training
from hornbook.proof import Certificate, Certificates, Prover, verify_certificates
from hornbook.proof.certificate import (
    PROOFS_FILE,
    digest,
    find_difference,
    read_certificates,
    subject_object,
    without_digest,
)
from hornbook.queries import Proved, interpretation
from hornbook.runs import Run, prove_and_repair, verify_run
from hornbook.runs.folder import run_checksums
from hornbook.runs.proving import restore_prover, verify_content

RULES = """cough & "not_age=low" -> ill
fever -> ill
cough -> ill
not_fever & not_cough -> not_ill
"age=low" & "age=high" -> ill
fever & cough -> ill
"""


@pytest.fixture
def hornbook(capsys, monkeypatch):
    return runner(capsys, monkeypatch)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run on a network and one on trees, with certificates of the same rules."""
    folder = tmp_path_factory.mktemp("certificates")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 2)), columns=["fever", "cough"])
    frame["age"] = rng.normal(50, 15, 60).round()
    binariser = Binariser(dual=True).fit(frame)
    vocabulary, features = binariser.vocabulary_, binariser.transform(frame)
    weights = np.zeros((1, len(vocabulary)))
    # without the cough, and with the cough at a low age, the output comes down to 0 exactly
    for name, weight in {"fever": 2, "cough": 3, "age=low": -1}.items():
        weights[0, vocabulary.index(name)] = weight
    MLP.of([(weights, np.array([-2.0]))], vocabulary).save(folder / "network.safetensors")
    frame["ill"] = ((frame.cough > 0) | (frame.fever > 0) & (frame.age > 40)).astype(int)
    joblib.dump(RandomForestClassifier(3, random_state=0).fit(features, frame.ill), folder / "trees.joblib")
    frame.to_csv(folder / "patients.csv", index=False)
    return folder


def remember_answers(prover):
    """Ask no question twice, so that thousands of verifications take seconds."""
    prover.prove_rule = lru_cache(None)(prover.prove_rule)
    ask = prover.member
    answer = lru_cache(None)(lambda item: ask(Batch.from_interpretations([item], prover.vocabulary))[0])
    prover.member = lambda batch: [answer(item) for item in batch]


def ask_few_samples(patch):
    """Let a run by queries draw few samples."""
    patch.setattr(query, "POOL_SAMPLES", 100)
    patch.setattr(query, "FRESH_SAMPLES", 100)


@pytest.fixture(scope="module", params=["network.safetensors", "trees.joblib"])
def run(request, runs):
    """A finished run whose rules were proved, refuted and left undecided, and who proved them."""
    model = runs / request.param
    folder = runs / model.stem
    with pytest.MonkeyPatch.context() as patch:
        ask_few_samples(patch)
        asked = f"--target ill --model {model} --encoding half --max-rules 2 --max-queries 3"
        patch.setattr("sys.argv", ["hornbook", "query", str(runs / "patients.csv"), *asked.split(),
                                   "--trust-pickle", "-o", str(folder)])  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    kept = Run.load(folder)
    prover, source = restore_prover(kept, model, trust_pickle=True), model
    certificates = Certificates(prover, folder / PROOFS_FILE, source)
    *rules, late = HornTheory.parse(RULES, prover.vocabulary)
    list(prove_and_repair(certificates, rules))
    list(prove_and_repair(certificates, [late], total=-1))
    document = json.loads((folder / "extraction.json").read_text())
    default, guarantees = document["lines"][-1], certificates.guarantees
    document["explanation"]["rules"] = [rule_object(prover.vocabulary, rule) for rule in guarantees]
    document["lines"] = [
        {**default, "guarantee": guarantee_object(guarantee)} for guarantee in guarantees.values()
    ]
    document["lines"].append(default)
    (folder / "extraction.json").write_text(json.dumps(document))
    certificates.bind(run_checksums(kept.config, document))
    remember_answers(prover)
    return SimpleNamespace(folder=folder, source=source, prover=prover, extraction=document)


ONE_RUN = pytest.mark.parametrize("run", ["trees.joblib"], indirect=True)
"""For what is said of files and printed, whatever the model is."""


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


def problems(run, content, kept=None):
    """The lines that verifying prints about what does not hold, and its exit code."""
    kept = kept or Run.load(run.folder)
    try:
        found = [each for each in verify_content(kept, content, run.prover, run.source) if not each.holds]
    except HornbookError as error:
        return 2, [str(error)]
    return int(bool(found)), [f"{each.about}   # {each.says}" for each in found]


def test_verify_accepts_the_run_as_it_was_made(run, hornbook):
    content = read_certificates(run.folder / PROOFS_FILE)
    verdicts = {entry["verdict"] for entry in content["proofs"]}
    assert verdicts == {"proved", "refuted", "undecided"} and any(e.get("repair") for e in content["proofs"])
    assert problems(run, content) == (0, [])
    done = hornbook("verify", run.folder, "--trust-pickle")
    repairs = sum(entry.get("repair") is not None for entry in content["proofs"])
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["holds"] * (6 + repairs)


def test_verify_notices_changes_of_every_certificate(run):
    """Of all small changes every third one, which changes each value; the next law makes them all."""
    content, kept = read_certificates(run.folder / PROOFS_FILE), Run.load(run.folder)
    count = 0
    for place, changed in list(mutations(content))[::3]:
        if isinstance(changed, dict):
            code, lines = problems(run, changed, kept)
            assert code == 1 and len(lines) == 1 and "\n" not in lines[0], (place, lines)
            count += 1
    print(f"{count} changes of {run.folder.name}")
    assert count > 350


def test_verify_notices_changes_that_were_digested_again(run):
    content, kept = read_certificates(run.folder / PROOFS_FILE), Run.load(run.folder)
    noticed, unnoticed = 0, []
    for place, changed in mutations(without_digest(content)):
        if isinstance(changed, dict):
            code, lines = problems(run, {**changed, "digest": digest(changed)}, kept)
            assert len(lines) == (code > 0), (place, lines)
            noticed += code > 0
            unnoticed += [] if code else [place]
    print(f"{noticed} changes of {run.folder.name} noticed, {len(unnoticed)} that say less")
    # to say less is not to say something wrong: no repair, or a literal of it not shown to be needed
    less = re.compile(r"proofs \d+ repair( needed| needed \S+ dropped)?")
    assert all(less.fullmatch(" ".join(map(str, place))) for place in unnoticed), unnoticed
    assert noticed > 1000 and len(unnoticed) < 20


def claim(content, extraction, number, entry):
    """Let a run say something else of a rule, in all its files, with all checksums right."""
    content, extraction = deepcopy(content), deepcopy(extraction)
    rule = {part: content["proofs"][number][part] for part in ("body", "head")}
    content["proofs"][number] = {**rule, **entry}
    rules = extraction["explanation"]
    vocabulary = Vocabulary(rules["vocabulary"], rules["duals"])
    guarantee = Certificate.from_object(vocabulary, content["proofs"][number], "").guarantee
    extraction["lines"][number]["guarantee"] = guarantee_object(guarantee)
    return content, extraction


def forge(folder, content, extraction):
    """Write the files of a run with all checksums right."""
    config = json.loads((folder / "config.json").read_text())
    content = {**without_digest(content), "run": run_checksums(config, extraction)}
    (folder / PROOFS_FILE).write_text(json.dumps({**content, "digest": digest(content)}))
    (folder / "extraction.json").write_text(json.dumps(extraction))


def test_verify_notices_forged_verdicts_by_deriving_them(run, tmp_path):
    folder = tmp_path / "forged"
    shutil.copytree(run.folder, folder)
    content, forged = read_certificates(run.folder / PROOFS_FILE), 0
    witness = next(entry["witness"] for entry in content["proofs"] if entry["verdict"] == "refuted")
    proved = {"verdict": "proved", "by": "branch and bound", "bound": -1.0}
    vacuous = {"verdict": "proved", "by": "no input breaks it", "bound": None}
    refuted = {"verdict": "refuted", "by": "local search", "witness": witness, "repair": None}
    undecided = {"verdict": "undecided", "by": "branch and bound", "reason": "not decided in 60 s"}
    for number, entry in enumerate(content["proofs"]):
        for other in (proved, vacuous, refuted, undecided):
            wrong = other["verdict"] != entry["verdict"] and (
                other is not undecided or entry["verdict"] == "refuted"
            )
            if not wrong or (entry["verdict"] == "undecided" and entry["by"] == "nobody"):
                continue
            forge(folder, *claim(content, run.extraction, number, other))
            changed = read_certificates(folder / PROOFS_FILE)
            code, lines = problems(run, changed, Run.load(folder))
            assert code == 1 and len(lines) == 1, (number, other, lines)
            forged += 1
    assert forged > 6
    forge(folder, content, run.extraction)
    assert problems(run, read_certificates(folder / PROOFS_FILE), Run.load(folder)) == (0, [])


def test_verify_notices_a_changed_run(run, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(run.folder, folder)
    content, count = read_certificates(run.folder / PROOFS_FILE), 0
    for name, step in (("extraction.json", 43), ("config.json", 7)):
        document = json.loads((run.folder / name).read_text())
        parts = {part: value for part, value in document.items() if part not in ("command", "versions")}
        for part, value in parts.items():
            changes = [(part, {**document, part: other}) for other in (None, 7, "", [], {}) if other != value]
            changes += [(place, {**document, part: other}) for place, other in mutations(value, (part,))]
            changes.append((part, {other: each for other, each in document.items() if other != part}))
            for place, changed in changes[::step]:
                (folder / name).write_text(json.dumps(changed))
                try:
                    code, lines = problems(run, content, Run.load(folder))
                except HornbookError as error:
                    code, lines = 2, [str(error)]
                assert code > 0 and lines and "\n" not in "".join(lines), (name, place, lines)
                count += 1
        shutil.copy(run.folder / name, folder / name)
    print(f"{count} changes of {run.folder.name}")
    assert count > 80 and problems(run, content, Run.load(folder)) == (0, [])


@ONE_RUN
def test_verify_ends_cleanly_with_configurations_that_no_run_writes(run, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(run.folder, folder)
    content, config = (
        read_certificates(folder / PROOFS_FILE),
        json.loads((folder / "config.json").read_text()),
    )
    values = (None, 7, "x", [1], {}, {"x": 1})
    changes = [{**config, part: value} for part in ("data", "target", "model") for value in values]
    changes += [{**config, "settings": {**config["settings"], part: 7.5}} for part in ("encoding", "seed")]
    changes += [{**config, "settings": {**config["settings"], "stranger": 1}}]
    refused = []
    for changed in changes:
        (folder / "config.json").write_text(json.dumps(changed))
        try:
            Run.load(folder)
        except HornbookError as error:
            refused.append(str(error))
            continue
        (finding,) = verify_run(Run.load(folder), trust_pickle=True)
        assert (finding.about, finding.holds) == ("config.json", False)
        forge(folder, content, run.extraction)
        try:
            noticed = [each.says for each in verify_run(Run.load(folder), trust_pickle=True)]
        except HornbookError as error:
            noticed = [str(error)]
        assert noticed and "\n" not in "".join(noticed)
        shutil.copy(run.folder / PROOFS_FILE, folder / PROOFS_FILE)
    assert all("config.json is damaged" in message for message in refused) and len(refused) < len(changes)


CHANGES = {
    "all deleted": lambda content: content["proofs"].clear(),
    "one deleted": lambda content: content["proofs"].pop(0),
    "values": lambda content: content["asked"].update(values="complete"),
    "groups": lambda content: content["asked"].update(groups=[]),
    "unknown": lambda content: content["asked"]["encoding"].update(unknown=0.25),
    "order of names": lambda content: content["asked"]["vocabulary"].reverse(),
    "threshold": lambda content: content["asked"].update(threshold=0.75),
    "bound": lambda content: content["proofs"][-3].update(bound=-0.001),
    "needed": lambda content: content["proofs"][1]["repair"]["needed"].popitem(),
    "verdict": lambda content: content["proofs"][1].update(verdict="undecided"),
    "type": lambda content: content["proofs"][1].update(witness=7),
}


@ONE_RUN
@pytest.mark.parametrize("change", CHANGES)
def test_verify_prints_one_line_about_a_change(run, hornbook, tmp_path, change):
    folder = tmp_path / "changed"
    shutil.copytree(run.folder, folder)
    content = read_certificates(folder / PROOFS_FILE)
    before = len(content["proofs"])
    CHANGES[change](content)
    (folder / PROOFS_FILE).write_text(json.dumps(content))
    done = hornbook("verify", folder, "--trust-pickle")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILS  ")]
    assert (done.returncode, done.stderr) == (1, "")
    assert len(failed) == (before if change == "all deleted" else 1)
    if change == "bound":
        told = json.loads(hornbook("verify", folder, "--trust-pickle", "--json").stdout)
        assert told["holds"] is False and [each["holds"] for each in told["findings"]].count(False) == 1


def test_verify_notices_another_model(run, hornbook, runs, tmp_path):
    other = tmp_path / run.source.name
    for name in {run.source.name, run.source.with_suffix(".json").name}:
        if (runs / name).exists():
            shutil.copy(runs / name, tmp_path)
    assert hornbook("verify", run.folder, "--trust-pickle", "--model", other).returncode == 0
    other.write_bytes(other.read_bytes() + b"\0")
    done = hornbook("verify", run.folder, "--trust-pickle", "--model", other)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"FAILS  {other.name}") and done.stdout.count("\n") == 1
    other.unlink()
    assert is_one_line(hornbook("verify", run.folder, "--trust-pickle", "--model", other))


@ONE_RUN
def test_verify_needs_a_certificate_for_every_rule_called_proved(run, hornbook, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(run.folder, folder)
    (folder / PROOFS_FILE).unlink()
    done = hornbook("verify", folder, "--trust-pickle")
    count = len(run.extraction["explanation"]["rules"])
    assert (done.returncode, done.stdout.count("FAILS"), done.stderr) == (1, count, "")
    assert "it is called proved, but has no certificate in proofs.json" in done.stdout
    shutil.copy(run.folder / PROOFS_FILE, folder)
    content = read_certificates(run.folder / PROOFS_FILE)
    forge(folder, content, {**run.extraction, "guarantee": guarantee_object(Proved("us", 1.0))})
    done = hornbook("verify", folder, "--trust-pickle")
    assert (done.returncode, done.stdout.count("FAILS")) == (1, 1) and "extraction.json" in done.stdout


@ONE_RUN
def test_verify_refuses_files_that_it_cannot_read(run, hornbook, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(run.folder, folder)
    assert is_one_line(hornbook("verify", tmp_path / "none"))
    for name in (PROOFS_FILE, "extraction.json", "config.json", "metrics.json"):
        for text in ("", "[]", "{", "7", "\x00"):
            (folder / name).write_text(text)
            assert is_one_line(done := hornbook("verify", folder, "--trust-pickle")), (name, text, done)
        shutil.copy(run.folder / name, folder / name)
    for part, value in (("rules", [{}]), ("groups", 3), ("vocabulary", "ill")):
        rules = {**run.extraction["explanation"], part: value}
        (folder / "extraction.json").write_text(json.dumps({**run.extraction, "explanation": rules}))
        assert is_one_line(done := hornbook("verify", folder, "--trust-pickle")), (part, done)
    shutil.copy(run.folder / "extraction.json", folder / "extraction.json")
    content = {**without_digest(read_certificates(folder / PROOFS_FILE)), "proofs": [7]}
    (folder / PROOFS_FILE).write_text(json.dumps({**content, "digest": digest(content)}))
    assert is_one_line(done := hornbook("verify", folder, "--trust-pickle")) and "proofs[0]" in done.stderr
    (folder / PROOFS_FILE).unlink()
    document = json.loads((folder / "extraction.json").read_text())
    for line in document["lines"]:
        line["guarantee"] = None
    (folder / "extraction.json").write_text(json.dumps(document))
    assert is_one_line(done := hornbook("verify", folder)) and "there is no" in done.stderr


def test_certificates_hold_no_times_and_are_read_back(tmp_path):
    vocabulary = vocabulary_of(5, dual=True)
    predictor = as_predictor(module([10, 6, 4], 2), encoding="half")
    prover = Prover(predictor, vocabulary)
    rules = [Rule({a, b}, BOTTOM) for a in (0, 5) for b in (1, 6)]
    for name in ("one.json", "two.json"):
        list(prove_and_repair(Certificates(prover, tmp_path / name), rules))
    one, two = ((tmp_path / name).read_bytes() for name in ("one.json", "two.json"))
    assert one == two
    for number, entry in enumerate(json.loads(one)["proofs"]):
        certificate = Certificate.from_object(vocabulary, entry, f"proofs[{number}]")
        assert find_difference(certificate.to_object(vocabulary), entry, "") is None
        assert certificate.rule == rules[number]
    content = read_certificates(tmp_path / "one.json")
    assert all(each.holds for each in verify_certificates(prover, content))
    other = Prover(as_predictor(module([10, 6, 4], 3), encoding="half"), vocabulary)
    (finding,) = verify_certificates(other, content)
    assert not finding.holds and "another model" in finding.says


@pytest.mark.parametrize("values", ["ternary", "complete"])
@pytest.mark.parametrize("groups", [(), ((0, 1),)])
def test_witness_holds_exactly_if_it_is_an_accepted_input_that_breaks_the_rule(values, groups):
    vocabulary = vocabulary_of(2, dual=True)
    predictor = as_predictor(module([4, 6, 4], 3), encoding="half", threshold=0.1)
    prover = Prover(predictor, vocabulary, values=values, groups=groups)
    every = [
        Interpretation(*(frozenset(np.flatnonzero(np.array(row) == value).tolist()) for value in (1, 0)))
        for row in product([1, 0, None], repeat=4)
    ]
    subject, told = subject_object(prover), set()
    for rule in (Rule((), BOTTOM), Rule({0}, BOTTOM), Rule({2}, 1), Rule({0, 2}, BOTTOM)):
        breaking = accepted(prover, violation(rule))
        entry = {**rule_object(vocabulary, rule), "verdict": "refuted", "by": "local search", "repair": None}
        contradiction = interpretation(vocabulary, {0, 2})
        for witness in [*every, contradiction]:
            entry["witness"] = {
                side: list(vocabulary.named(getattr(witness, side))) for side in ("true", "false")
            }
            content = {**subject, "run": None, "proofs": [entry]}
            (finding,) = verify_certificates(prover, {**content, "digest": digest(content)})
            assert finding.holds == (witness in breaking), witness
            told.add(finding.holds)
    assert told == {True, False}


def test_certificates_that_were_changed_are_not_taken_over(tmp_path):
    prover = Prover(as_predictor(module([10, 6, 4], 2), encoding="half"), vocabulary_of(5, dual=True))
    path = tmp_path / PROOFS_FILE
    list(prove_and_repair(Certificates(prover, path), [Rule({0, 1}, BOTTOM)]))
    assert Certificates(prover, path).find_decided(Rule({0, 1}, BOTTOM)) is not None
    content = read_certificates(path)
    path.write_text(json.dumps({**content, "proofs": []}))
    with pytest.raises(HornbookError, match="changed after it was written"):
        Certificates(prover, path)


def test_a_run_that_goes_on_leaves_the_same_rules_and_proofs(hornbook, runs, tmp_path, monkeypatch):
    ask_few_samples(monkeypatch)
    monkeypatch.setattr(training, "CLASSIFIER_TRAINING", Training("adam", epochs=3, batch_size=32))
    run, names = tmp_path / "run", ("extraction.json", "rules.horn", PROOFS_FILE)
    asked = f"query {runs / 'patients.csv'} --target ill --train --max-rules 3 --max-queries 6"
    assert hornbook(*asked.split(), "--proof", "-o", run).returncode == 0
    whole = [(run / name).read_bytes() for name in names]
    (run / "metrics.json").unlink()
    done = hornbook(*asked.split(), "--proof", "-o", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(run / name).read_bytes() for name in names] == whole
    lines = [line["guarantee"] for line in json.loads(whole[0])["lines"]]
    kinds = [guarantee["kind"] for guarantee in lines if guarantee is not None]
    assert "proved" in kinds
    assert sum(f": {kind} " in line for line in done.stdout.splitlines() for kind in set(kinds)) == len(kinds)
    verified = hornbook("verify", run)
    told = [line.split()[:2] for line in verified.stdout.splitlines() if " repaired " not in line]
    assert verified.returncode == 0 and told == [["holds", kind] for kind in kinds]
    (run / "metrics.json").unlink()
    assert hornbook(*asked.split(), "-o", run).returncode == 0
    # what was not proved in the end has no certificate
    assert not (run / PROOFS_FILE).exists() and is_one_line(hornbook("verify", run))
