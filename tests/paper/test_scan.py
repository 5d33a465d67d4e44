"""The scan of open choices: what it varies, what it combines, and that it can be resumed."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tiny_reproduction import ONCE

from hornbook.paper import PAPER_PROTOCOL, SCALES, scan_choices
from hornbook.paper.claims import CLAIMS, describe_scan
from hornbook.paper.scan import LEVELS, PUBLISHED, SCAN, ScanPlan, measure_distance, name_level
from hornbook.paper.search import Fold, Setting
from hornbook.paper.task import Protocol
from hornbook.tables import read_table

PLAN = ScanPlan(
    levels=({"hard_share": 0.1}, {"line_7": "append"}, {"open_unknown": 0.5}),
    scale=replace(
        ONCE,
        selection=SCAN.selection,
        sweep=None,
        readers=("lrn_star", "tree"),
    ),
)
pytestmark = pytest.mark.slow


def patients():
    """Some made-up rows."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (12, 12)).astype(float), columns=list("abcdefghijkl"))
    frame = frame.mask(rng.random(frame.shape) < 0.4)
    frame["well"] = rng.permutation([0, 1] * 6)
    return read_table(frame, label="well", name="made-up")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scan")
    scan_choices(patients(), folder, SCALES["quick"], plan=PLAN, synthetic=True, processes=1)
    return folder


@pytest.fixture(scope="module")
def scan(folder):
    return json.loads((folder / "scan.json").read_text("utf-8"))


def test_scan_varies_each_choice_alone_and_says_which_comes_nearest(scan):
    combinations = scan["combinations"]
    assert list(combinations) == ["default", *map(name_level, PLAN.levels)]
    distances = {name: each["distance"] for name, each in combinations.items()}
    assert scan["nearest"] == min(distances, key=distances.get)
    for each in combinations.values():
        medians = {name: figure["median"] for name, figure in each["figures"].items()}
        assert each["distance"] == pytest.approx(measure_distance(medians))


def test_scan_interrupted_scan_does_no_work_twice(folder, scan):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("stage.json")}
    again = scan_choices(patients(), folder, SCALES["quick"], plan=PLAN, synthetic=True, processes=1)
    assert json.loads(json.dumps(again)) == scan
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("stage.json")} == before


def test_scan_page_names_every_combination(folder, scan):
    text = (folder / "scan.html").read_text("utf-8")
    assert all(name in text for name in scan["combinations"])
    assert f"“{scan['nearest']}” comes nearest" in text


def test_a_claim_that_is_worse_says_what_the_scan_found(scan):
    for claim in CLAIMS:
        found = describe_scan(scan, claim)
        assert f"{len(scan['combinations'])} combinations" in found or claim.topic in (
            "pace",
            "entailed rules",
        )
        assert describe_scan(None, claim) == "--scan varies every open choice"


def test_scan_levels_vary_every_choice_of_a_protocol():
    varied = {name for level in LEVELS for name in level}
    assert varied == set(PAPER_PROTOCOL.settings()) - {"name", "sizes"}
    fold = Fold(np.arange(1), np.arange(1, 2))
    for level in LEVELS:
        varied = Protocol("varied", **level)
        assert varied != Protocol("varied")
        assert Setting(np.zeros((2, 1)), np.ones(2, bool), (fold,), varied.training), "a search takes it"


def test_measure_distance_counts_a_half_like_a_double():
    for figure in PUBLISHED:
        for factor in (0.5, 2):
            changed = PUBLISHED | {figure: factor * PUBLISHED[figure]}
            assert measure_distance(changed) == pytest.approx(1 / len(PUBLISHED))
