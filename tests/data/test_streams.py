"""A table in parts is the table: the same frames, cut points, variables and evaluation."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hornbook.data import streams
from hornbook.data.binarise import Binariser
from hornbook.data.profiles import RANK_PASSES, ExactSum, RankFinder, cut_points, exact_mean
from hornbook.data.streams import stream_table
from hornbook.data.table import read_table
from hornbook.errors import HornbookError
from hornbook.evaluate import class_fidelity, class_fidelity_on, fidelity_on
from hornbook.evaluate.rules import statistics_on
from hornbook.logic import Batch, HornTheory
from hornbook.testing.teachers import Constant

ROWS = 7


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ROWS_PER_FRAME", ROWS)
    monkeypatch.setattr(streams, "BYTES_PER_BLOCK", 256)


NUMBERS = st.floats(-1e6, 1e6) | st.integers(-5, 5) | st.sampled_from([0.1, 0.2, 0.3, 1e300, -0.0])
WORDS = st.sampled_from(["red", "green", "blue", "1", "2.5", "yes", "a, b", 'say "no"', "two\nlines"])
COLUMNS = {
    "numbers": NUMBERS,
    "few": st.integers(0, 3),
    "truth": st.booleans(),
    "words": WORDS,
    "late word": st.sampled_from(["1", "2", "3"]),
    "yes": st.sampled_from(["yes", "no"]),
}


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Some rows with holes; every column has a known value."""
    size = draw(st.integers(1, 40))
    frame = pd.DataFrame(
        {
            name: draw(st.lists(st.none() | values, min_size=size, max_size=size))
            for name, values in COLUMNS.items()
        },
        dtype=object,
    )
    frame.loc[size - 1] = [0.5, 1, True, "red", "word", "yes"]  # what a column is may show late
    return frame


def written(frame: pd.DataFrame, name: str, folder: Path) -> Path:
    """The table as a file, of texts or of typed columns, in one row group or several."""
    path = folder / name
    if name == "table.csv":
        frame.to_csv(path, index=False)
    else:
        table = pa.Table.from_pandas(frame.infer_objects())
        pq.write_table(table, path, row_group_size=5 if name == "groups.parquet" else None)
    return path


FILES = st.sampled_from(["table.csv", "table.parquet", "groups.parquet"])
QUICK = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(tables(), FILES)
@QUICK
def test_parts_are_the_table(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file: str
) -> None:
    path = written(frame, file, tmp_path_factory.mktemp("table"))
    whole, parts = read_table(path).frame, list(stream_table(path))
    assert max(map(len, parts)) <= ROWS
    together = pd.concat([part.astype(object) for part in parts])
    assert list(together.index) == list(whole.index) and list(together.columns) == list(whole.columns)
    for name in whole:
        assert (together[name].isna() == whole[name].isna()).all()
        known = whole[name].notna()
        assert together[name][known].tolist() == whole[name][known].tolist()


@given(
    tables(),
    FILES,
    st.sampled_from([("mean-of-halves", 3), ("mean-of-halves", 4), ("quantile", 5), ("width", 3)]),
)
@QUICK
def test_a_binariser_fitted_to_parts_is_one_fitted_to_the_table(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame, file: str, bins: tuple[Any, int]
) -> None:
    path = written(frame, file, tmp_path_factory.mktemp("table"))
    table, stream = read_table(path).frame, stream_table(path)
    parameters: dict[str, Any] = {"bins": bins[0], "n_bins": bins[1], "dual": True}
    whole, streamed = Binariser(**parameters).fit(table), Binariser(**parameters).fit(stream)
    assert streamed.conditions_ == whole.conditions_
    assert streamed.vocabulary_ == whole.vocabulary_ and streamed.groups_ == whole.groups_
    assert list(streamed.feature_names_in_) == list(whole.feature_names_in_)
    assert Batch.concatenate(streamed.batches(stream)) == whole.batch(table)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.integers(1, 9))
def test_means_are_exact_in_any_parts_and_order(values: list[float], size: int) -> None:
    exact = sum(map(Fraction, values)) / len(values)
    total = ExactSum()
    for start in range(0, len(values), size):
        total.add(np.array(values[start : start + size]))
    assert total.count == len(values)
    assert total.mean() == exact_mean(np.array(values[::-1])) == exact.numerator / exact.denominator
    assert min(values) <= total.mean() <= max(values)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50), st.data())
def test_ranks_are_those_of_sorted_values(values: list[float], data: st.DataObject) -> None:
    ranks = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=4))
    ranked = RankFinder(ranks)
    for _ in range(RANK_PASSES):
        for start in range(0, len(values), 7):
            ranked.add(np.array(values[start : start + 7]))
        ranked.narrow()
    assert ranked.values() == [sorted(values)[rank] for rank in ranks]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50))
def test_the_order_of_rows_does_not_move_cut_points(values: list[float]) -> None:
    column = np.array(values)
    for strategy, bins in (("mean-of-halves", 4), ("quantile", 4), ("width", 4)):
        assert cut_points(column, bins, strategy) == cut_points(column[::-1], bins, strategy)  # type: ignore[arg-type]


def test_evaluation_of_parts_is_that_of_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 500), "fever": rng.integers(0, 2, 500)})
    frame["ill"] = (frame["age"] + 20 * frame["fever"] > 62).astype(int)
    frame.loc[::9, "fever"] = np.nan
    frame.to_parquet(tmp_path / "table.parquet")
    stream = stream_table(tmp_path / "table.parquet")
    binariser = Binariser(dual=True).fit(stream)
    batch = binariser.batch(frame)
    theory = HornTheory.parse("age=high -> ill\nage=low -> not_ill\nfever -> ill", binariser.vocabulary_)
    parts = ((binariser.batch(part), part["ill"]) for part in stream)
    assert class_fidelity_on(parts, theory, "ill") == class_fidelity(theory, "ill", batch, frame["ill"])
    judged = fidelity_on(binariser.batches(stream), theory.satisfied_by, Constant(True))
    assert judged == fidelity_on([batch], theory.satisfied_by, Constant(True)) and 0 < judged.plain.hits < 500
    labelled = ((part, theory.satisfied_by(part)) for part in binariser.batches(stream))
    assert statistics_on(labelled, theory) == statistics_on([(batch, theory.satisfied_by(batch))], theory)


def test_columns_with_too_many_values_are_refused_as_in_whole_tables(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": [f"p{i}" for i in range(50)], "age": np.arange(50.0)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    stream = stream_table(tmp_path / "table.csv")
    with pytest.raises(
        HornbookError, match=r"'name' has .* or more distinct values, more than max_levels=30"
    ):
        Binariser().fit(stream)
    with pytest.raises(HornbookError, match="'name' is to be quantitative, but: could not convert"):
        Binariser(kinds={"name": "quantitative"}).fit(stream)
    with pytest.raises(
        HornbookError, match="bins='tree' needs all rows at once; use mean-of-halves, quantile"
    ):
        Binariser(bins="tree", max_levels=50).fit(stream)
    with pytest.raises(HornbookError, match="cuts names 'agee', which is no column"):
        Binariser(cuts={"agee": [1]}).fit(stream)
    cut = Binariser(cuts={"age": [9.5]}, max_levels=50).fit(stream)
    assert cut.describe("age=low") == "age ≤ 9.5" and len(cut.vocabulary_) == 52


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "table.csv: CSV parse error: .*Expected 2 columns, got 1"),
        ("a,a\n1,2\n", "columns 1 and 2 are both called 'a'"),
        ("", "table.csv: Empty CSV file"),
        ("a,b\n1,inf\n", "row 0, column 'b' is infinity"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(HornbookError, match=message):
        list(stream_table(path))
    with pytest.raises(HornbookError, match="there is no file"):
        stream_table(tmp_path / "none.csv")


@pytest.mark.parametrize("options", [{}, {"missing": ["-9"]}, {"delimiter": ";"}])
def test_delimiters_and_markers_are_those_of_read_table(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age;stage of  disease\n40; I \n-9;?\n61,5;II\n")
    [part] = stream_table(path, **options)
    pd.testing.assert_frame_equal(part, read_table(path, **options).frame)
