"""The datasets: figures as published, holes on request."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hornbook.tables
from hornbook.errors import HornbookError
from hornbook.logic import Batch
from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.paper.hcc import FEATURES, load_hcc, make_synthetic_hcc
from hornbook.paper.task import draw_training_set
from hornbook.queries import Binariser, target_theory
from hornbook.tables import DATASETS, Table, load_dataset

REAL = Path(
    os.environ.get("HORNBOOK_HCC") or Path(__file__).parents[3] / "shared" / "data" / "hcc-survival.csv"
)
needs_hcc = pytest.mark.skipif(
    not REAL.is_file(), reason="the HCC file is not here; set HORNBOOK_HCC to the path of a copy"
)


@pytest.fixture(params=[pytest.param("hcc", marks=needs_hcc), "hcc-synthetic"], scope="module")
def patients(request: pytest.FixtureRequest) -> Table:
    return load_dataset(request.param, path=REAL if request.param == "hcc" else None)


@pytest.fixture(scope="module")
def binarised(patients: Table) -> tuple[Binariser, Batch]:
    binariser = Binariser.fit(patients.frame, kinds=patients.kinds, dual=True)
    return binariser, binariser.batch(patients.frame)


def test_hcc_patients_have_the_published_figures(patients: Table) -> None:
    assert len(patients) == 165
    assert patients.features.shape == (165, 49)
    assert round(100 * patients.missing, 2) == 10.22
    assert patients.complete == 8
    assert patients.frame["survives"].value_counts().to_dict() == {1: 102, 0: 63}
    kinds = [patients.kinds[column] for column in patients.features]
    assert (kinds.count("quantitative"), kinds.count("binary")) == (26, 23)
    assert [int(n) for n in patients.features.isna().sum()] == [feature.missing for feature in FEATURES]
    for feature in FEATURES:
        values = patients.frame[feature.name].dropna()
        if feature.kind == "quantitative":
            assert feature.figures[0] <= values.min()
            assert values.max() <= feature.figures[-1]


def test_target_theory_of_the_hcc_patients(patients: Table, binarised: tuple[Binariser, Batch]) -> None:
    plain = Binariser.fit(patients.frame, kinds=patients.kinds)
    assert len(plain.vocabulary) == 102
    binariser, rows = binarised
    assert len(binariser.vocabulary) == 204
    assert len(binariser.groups) == 26
    theory = target_theory(rows, "survives")
    assert theory == Task.of(patients).theory
    assert len(theory) == 165 + 102
    assert theory.satisfied_by(rows).all()
    dense = rows.to_array()
    label, dual = (binariser.vocabulary.index(name) for name in ("survives", "not_survives"))
    dense[:, [label, dual]] = dense[:, [dual, label]]
    assert not theory.satisfied_by(Batch.from_array(dense, rows.vocabulary)).any()


def test_draw_training_set_of_the_hcc_patients(binarised: tuple[Binariser, Batch]) -> None:
    _, rows = binarised
    theory = target_theory(rows, "survives")
    examples = draw_training_set(theory, HARD_PROTOCOL.recipe(theory, rows), np.random.default_rng(0))
    assert examples.accepted.sum() == (~examples.accepted).sum() == 200
    assert np.array_equal(theory.satisfied_by(examples.batch), examples.accepted)


def test_make_synthetic_hcc_says_so_and_is_the_same_every_time() -> None:
    table = load_dataset()
    assert "synthetic" in table.name
    assert "synthetic" in table.describe()
    assert "synthetic" in DATASETS["hcc-synthetic"]
    assert table.checksum() == make_synthetic_hcc().checksum()
    other = make_synthetic_hcc(seed=1)
    assert other.checksum() != table.checksum()
    assert (other.complete, round(other.missing, 4)) == (8, 0.1022)


def test_make_synthetic_hcc_has_something_to_learn() -> None:
    frame = make_synthetic_hcc().frame
    related = frame.corr()["survives"]
    assert related["albumin"] > 0.2
    assert related["performance_status"] < -0.2
    assert abs(related["gender"]) < 0.2


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "hcc"])
def test_every_dataset_loads_as_its_line_says(name: str) -> None:
    table = load_dataset(name)
    assert f"{len(table):,} rows" in DATASETS[name]
    assert f"{table.features.shape[1]} features" in DATASETS[name]
    assert table.label is not None
    assert set(table.frame[table.label]) == {0, 1}
    assert Binariser.fit(table.frame, kinds=table.kinds).batch(table.frame).size == len(table)


def test_requests_that_cannot_be_met_are_refused() -> None:
    for call, message in (
        (lambda: load_dataset("hcc-synthetc"), "no dataset 'hcc-synthetc'; did you mean 'hcc-synthetic'"),
        (lambda: load_dataset("mushrooms"), "no dataset 'mushrooms'; there are hcc-synthetic, hcc"),
        (lambda: load_dataset("iris", path="x.csv"), "takes no path; to read a file use read_table"),
        (lambda: load_dataset("hcc"), "download the patients from http"),
        (lambda: load_hcc("nowhere.csv"), "nowhere.csv is not the HCC dataset: cannot read nowhere.csv"),
    ):
        with pytest.raises(HornbookError, match=message):
            call()


made_up = cache(make_synthetic_hcc)
"""Patients that nobody changes."""


def test_copies_with_and_without_a_header_are_one_dataset(tmp_path: Path) -> None:
    table = made_up(0)
    headed, plain = (tmp_path / name for name in ("h.csv", "hcc-data.txt"))
    headings = [*(feature.heading.replace(" (", "\t(") for feature in FEATURES), "1_survives_0_dies"]
    table.frame.to_csv(headed, index=False, header=headings, na_rep="?")
    table.frame.to_csv(plain, index=False, header=False, na_rep="?")
    assert load_hcc(headed).checksum() == load_hcc(plain).checksum() == table.checksum()


def test_what_is_not_the_dataset_is_refused(tmp_path: Path) -> None:
    table = made_up(0)
    path = tmp_path / "other.csv"
    for text, message in (
        ("age,sex\n1,2\n", "other.csv is not the HCC dataset: row 1 has 2 values, not 50"),
        ("1,2\n3,4\n", "row 1 has 2 values, not 50"),
        (table.frame.rename(columns={"gender": "sex"}).to_csv(index=False), "column 1 is called 'sex', not"),
    ):
        path.write_text(text)
        with pytest.raises(HornbookError, match=message):
            load_hcc(path)


def test_data_public_names_are_there() -> None:
    for name in hornbook.tables.__all__:
        assert getattr(hornbook.tables, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hornbook.tables.nothing  # type: ignore[attr-defined]
