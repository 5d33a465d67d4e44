"""Pictures of reasons: a row lies in what its reason allows, and pictures hold any name."""

from dataclasses import replace
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from sample_reports import COLUMNS, make_cases, make_extraction, make_tree

from hornbook.code_book import CodeBook, ColumnWords
from hornbook.conditions import Category, Missing, Threshold
from hornbook.extraction import ColumnSummary
from hornbook.reasons import ChangedValue, Coverage, RowChange, SufficientReason, Why
from hornbook.report import to_html
from hornbook.report.reasons import draw_why, list_bars
from hornbook.statistics import Share

STAGES = ("I", "II", "III", "IV")


@st.composite
def reasons(draw):
    """A row, and conditions that it meets."""
    row = {
        "albumin (g/dL)": draw(st.one_of(st.none(), st.floats(1.0, 7.0))),
        "age": draw(st.one_of(st.none(), st.integers(18, 89))),
        "stage": draw(st.one_of(st.none(), st.sampled_from(STAGES))),
    }
    conditions = []
    for name, value in row.items():
        if value is None:
            conditions += draw(st.sampled_from([[], [Missing(name)]]))
        elif isinstance(value, str):
            other = draw(st.sampled_from([stage for stage in STAGES if stage != value]))
            kinds = [[], [Category(name, value)], [Category(name, other, inside=False)]]
            conditions += draw(st.sampled_from([*kinds, [Category(name, (value, other))]]))
        else:
            cuts = [Threshold(name, value - 0.5), Threshold(name, value + 0.5, above=False)]
            conditions += draw(st.lists(st.sampled_from(cuts), unique=True, max_size=2))
    return row, tuple(conditions)


@given(reasons())
def test_bars_allow_the_values_of_the_row_and_only_those_that_meet_the_conditions(case):
    row, conditions = case
    reason = SufficientReason(conditions, "a", "proved", Share.of(1, 1), 0.9, Coverage(1, 1, 1))
    bars = list_bars(Why("a", (reason,), row), COLUMNS, CodeBook())
    assert len(bars) == len({condition.column for condition in conditions})
    for bar in bars:
        own = [condition for condition in conditions if condition.column == bar.title]
        if bar.value is None:
            assert bar.missing and bar.allows_missing and not bar.allowed
            continue
        assert any(low <= bar.value <= high for low, high in bar.allowed) and not bar.missing
        covered = sum(high - low for low, high in bar.allowed)
        assert 0 <= covered <= 1 and all(0 <= place <= 1 for place, _ in bar.marks)
        if any(isinstance(each, Category) for each in own):
            met = sum(all((stage in each.values) == each.inside for each in own) for stage in STAGES)
            assert covered * len(STAGES) == met


def test_the_median_of_the_table_is_in_the_middle_of_a_bar():
    first, age, _ = list_bars(make_cases()[0], COLUMNS, CodeBook())
    assert (0.5, "3.8") in first.marks and (0.5, "54") in age.marks
    assert not age.constrained and age.words == "71 → 50" and age.new < 0.5 < age.value


def test_a_picture_holds_any_name_and_stays_in_its_frame():
    hostile = '<b>&"'
    words = CodeBook({"age": ColumnWords(label=hostile), "stage": ColumnWords(levels=(("IV", hostile),))})
    extraction = make_extraction(make_tree().with_code_book(words))
    for why in make_cases():
        picture = ET.fromstring(str(draw_why(why, extraction)))
        width, height = map(float, picture.get("viewBox").split()[2:])
        for shape in picture.iter("rect"):
            x, y, wide, high = (float(shape.get(name)) for name in ("x", "y", "width", "height"))
            assert x >= 0 and x + wide <= width + 0.01 and y >= 0 and y + high <= height
    assert "&lt;b&gt;" in str(draw_why(make_cases()[0], extraction))


def test_a_picture_of_many_columns_keeps_those_that_change():
    names = [f"x{number}" for number in range(20)]
    reason = replace(make_cases()[0].reasons[0], conditions=tuple(Threshold(name, 0.2) for name in names))
    values = (ChangedValue("x19", 0.5, 0.1, 0.4, "x19 0.5 → 0.1"),)
    changes = replace(make_cases()[0].changes, changes=(RowChange(values, "survives", 0.4, "exhausted"),))
    why = Why("does not survive", (reason,), dict.fromkeys(names, 0.5), changes)
    columns = tuple(ColumnSummary(name, 0.0, (0.0, 0.4, 1.0)) for name in names)
    extraction = make_extraction(make_tree(), columns=columns)
    texts = [text.text for text in ET.fromstring(str(draw_why(why, extraction))).iter("text")]
    assert "x19" in texts and "x11" not in texts and "and 8 columns more" in texts
    page = to_html(extraction, [why])
    assert "and 12 conditions more" in page and "Proved with 20 conditions" in page


def test_a_reason_without_conditions_has_no_picture():
    why = replace(make_cases()[1], reasons=(replace(make_cases()[1].reasons[0], conditions=()),))
    assert draw_why(why, make_extraction(make_tree())) == ""
