"""Dates, times and durations are days inside, and what the user has outside."""

import datetime as dt
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Explainer, load
from hornbook.checks.claims import parse_claims, write_condition
from hornbook.code_book import read_code_book
from hornbook.conditions import Threshold
from hornbook.errors import HornbookError
from hornbook.exports import write_explanation
from hornbook.models import load_model, train_pipeline
from hornbook.tables import find_scales, number_times, read_frame, restore_times
from hornbook.times import count_days, find_time_type, read_days, restore_column, write_days

RNG = np.random.default_rng(3)
SIZE = 240
DAYS = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 365, SIZE), unit="D")
TABLE = pd.DataFrame(
    {
        "when": DAYS,
        "at": DAYS + pd.to_timedelta(RNG.integers(0, 1440, SIZE), unit="min"),
        "wait": pd.to_timedelta(RNG.integers(0, 240, SIZE), unit="h"),
        "b": RNG.normal(size=SIZE),
    }
)
SPRING = pd.Timestamp("2021-06-07")

COLUMNS = {
    "dates": pd.Series(pd.to_datetime(["2021-06-07", None, "1969-12-31"])),
    "times": pd.Series(pd.to_datetime(["2021-06-07 10:00:01.123456", None])),
    "in a zone": pd.Series(pd.to_datetime(["2021-06-07 10:00", None])).dt.tz_localize("Europe/Berlin"),
    "nanoseconds": pd.Series(pd.to_datetime(["2021-06-07 10:00:01", None])).astype("datetime64[ns]"),
    "date objects": pd.Series([dt.date(2021, 6, 7), None], dtype=object),
    "time objects": pd.Series([dt.datetime(2021, 6, 7, 3), None], dtype=object),
    "durations": pd.Series(pd.to_timedelta(["1h", None, "-3 days"])),
    "duration objects": pd.Series([dt.timedelta(hours=3), None], dtype=object),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_times_become_days_and_come_back_as_they_were(name):
    column = COLUMNS[name]
    kind = find_time_type(column)
    days = count_days(column, kind)
    restored = restore_column(pd.Series(days), kind)
    pd.testing.assert_series_equal(restored, column)
    assert np.isnan(days).tolist() == column.isna().tolist()


def test_other_columns_are_no_times():
    others = pd.DataFrame({"a": [1.0], "b": ["2021-06-07"], "c": [True], "d": pd.Categorical(["x"])})
    assert find_scales(others) == {} and number_times(others).equals(others)


@given(st.integers(-(10**10), 10**10), st.sampled_from(["date", "time", "duration"]))
def test_what_is_written_reads_back(seconds, scale):
    days = seconds // 86_400 if scale == "date" else seconds / 86_400
    assert read_days(write_days(days, scale), scale) == pytest.approx(days, abs=1e-11)


@given(st.integers(0, 40_000), st.booleans(), st.booleans())
def test_claims_about_dates_read_back(day, above, just_below):
    book = read_code_book(None, TABLE)
    condition = Threshold("when", np.nextafter(day, -np.inf) if just_below else float(day), above)
    (claim,) = parse_claims(f"{write_condition(condition, book)} -> late", book)
    assert claim.body == (condition,)


def is_late(rows):
    """What a user's own function asks: of times in the types of the table."""
    assert rows.dtypes.equals(TABLE.dtypes)
    return (rows["when"] >= SPRING) & (rows["wait"] > pd.Timedelta(days=1))


def test_dates_are_ordered_columns_everywhere(tmp_path):
    explainer = Explainer(is_late, TABLE, target="late")
    extraction = explainer.extract(form="rules", n_samples=3000)
    text = str(extraction.explanation)
    assert re.search(r"when [≤≥] 2021-06-0.*wait [>≤] 1 d", text, re.DOTALL)
    assert extraction.fidelity.share.estimate > 0.9
    reason = explainer.why({"when": dt.date(2021, 3, 1), "wait": "2 d", "b": 0}, proof=False)
    assert "when ≤ 2021-0" in str(reason)
    assert "when 2021-03-01 → 2021-06-" in str(reason)
    held, broken = explainer.check("when < 2021-06-07 -> not late\nwhen >= 2021-06-07 -> late", samples=500)
    assert "no violation" in str(held) and "broken" in str(broken)
    extraction.save(tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.explanation == extraction.explanation
    assert again.predict(TABLE).tolist() == extraction.predict(TABLE).tolist()
    columns = json.loads((tmp_path / "run/extraction.json").read_text())["code_book"]["columns"]
    assert [columns.get(name, {}).get("scale") for name in ("when", "at", "wait", "b")] == [
        "date", "time", "duration", None,
    ]  # fmt: skip
    with pytest.raises(HornbookError, match=r"'when' is never 'soon'; it has dates, from 2021-01-0"):
        extraction.explain({"when": "soon"})


def test_exports_decide_times_as_the_explanation_does():
    import duckdb

    frame = TABLE[["when", "at", "b"]]
    late = (frame["when"] >= SPRING) & (frame["at"] < "2021-10-30 14:00")
    extraction = Explainer(
        lambda rows: (rows["when"] >= SPRING) & (rows["at"] < "2021-10-30 14:00"), frame
    ).extract(form="tree", n_samples=2000)
    explanation = extraction.explanation
    assert {"when", "at"} <= set(explanation.columns) and late.any()
    expected = [explanation.classes[number] for number in explanation.decide(frame)]
    scope = {}
    exec(write_explanation(explanation, "python"), scope)
    for rows in (frame.to_dict("records"), frame.astype({"when": str, "at": str}).to_dict("records")):
        assert [scope["decide"](row) for row in rows] == expected
    query = write_explanation(explanation, "sql")
    with duckdb.connect() as connection:
        connection.register("rows", frame)
        assert [answer for (answer,) in connection.sql(f"SELECT {query} FROM rows").fetchall()] == expected
    assert "(@>=)" in write_explanation(explanation, "prolog")
    with pytest.raises(HornbookError, match="holds times, and PMML counts whole days"):
        write_explanation(explanation, "pmml")


def test_polars_and_arrays_of_times_are_given_back_as_they_were():
    given = pl.DataFrame({"day": [dt.date(2021, 6, day) for day in range(1, 21)], "b": range(20)})

    def by_polars(rows):
        assert rows.schema == given.schema
        return rows["day"].to_numpy() >= np.datetime64("2021-06-07")

    frame = read_frame(given)
    assert frame["day"].dtype == np.float64
    labels = Explainer(by_polars, given).subject.teacher.labels(frame)
    assert labels.tolist() == (np.arange(20) >= 6).astype(int).tolist()
    times = {"day": find_time_type(COLUMNS["dates"])}
    assert restore_times(frame, times)["day"].dtype == "datetime64[us]"


def test_a_trained_classifier_reads_times_as_days(tmp_path):
    labels = np.where(is_late(TABLE), "late", "in time")
    trained = train_pipeline(TABLE, labels)
    assert trained.accuracy.estimate > 0.9
    (tmp_path / "model.skops").write_bytes(trained.to_bytes())
    again = load_model(tmp_path / "model.skops")
    assert again.predict(TABLE).tolist() == trained.pipeline.predict(TABLE).tolist()
