"""Explanations as Excel sheets: their formulas, evaluated here as Python, decide every row alike.

`benchmarks/exports.py` opens them in LibreOffice.
"""

from __future__ import annotations

import io
import re
from itertools import product

import pandas as pd
import pytest
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, RuleSet, Split
from hornbook.exports import write_workbook

openpyxl = pytest.importorskip("openpyxl", reason='needs openpyxl: pip install "hornbook[excel]"')

ROWS = pd.DataFrame(
    list(
        product([None, 40.0, 45.0], [None, "", "f", "F", '=it\'s "b"'], [None, 0.0, 1.0], [None, True, False])
    ),
    columns=["=age", "sex", "x", "ill"],
).astype({"=age": float, "sex": object, "x": float, "ill": object})

conditions = st.one_of(
    st.builds(Threshold, st.just("=age"), st.sampled_from([40.0, -50.25, 1e-7]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "", '=it\'s "b"']), st.booleans()),
    st.builds(Category, st.just("sex"), st.just(("f", '=it\'s "b"')), st.booleans()),
    st.builds(Category, st.just("x"), st.just(1), st.booleans()),
    st.builds(Category, st.just("ill"), st.just(True), st.booleans()),
    st.builds(Missing, st.sampled_from(["=age", "sex", "x", "ill"]), st.booleans()),
)
explanations = random_explanations(conditions, ("", 'it\'s "b"', "=c", "d"))


class Text(str):
    """A text, which Excel takes for greater than every number."""

    def __gt__(self, number):
        return True

    def __le__(self, number):
        return False


class Blank(Text):
    """A cell without a value, which Excel takes for an empty text too."""


FUNCTIONS = {
    "IF": lambda condition, yes, no: yes if condition else no,
    "AND": lambda *parts: all(parts),
    "OR": lambda *parts: any(parts),
    "NOT": lambda part: not part,
    "EXACT": lambda cell, text: cell == text,
    "ISBLANK": lambda cell: isinstance(cell, Blank),
    "ISTEXT": lambda cell: isinstance(cell, str) and not isinstance(cell, Blank),
    "ISNUMBER": lambda cell: isinstance(cell, float | int) and not isinstance(cell, bool),
    "ISLOGICAL": lambda cell: isinstance(cell, bool),
    "SUM": sum,
    "MAX": max,
    "MATCH": lambda value, cells, _: cells.index(value) + 1,
    "INDEX": lambda cells, row, column: cells[column - 1] or 0,  # a blank cell is a 0
    "T": lambda value: value if isinstance(value, str) else "",
    "TRUE": True,
    "FALSE": False,
}


class Sheet:
    """The cells of a sheet; formulas are evaluated where they are read."""

    def __init__(self, sheet):
        self.cells = {cell.coordinate: (cell.data_type, cell.value) for row in sheet for cell in row}
        self.programs = {}
        self.names = {**FUNCTIONS, "CELL": self.read, "RANGE": self.read_range}
        self.inputs = {}
        for row in sheet.iter_rows(min_row=5, max_col=2):
            if row[0].value == "decision" and row[1].data_type == "f":
                self.decision = row[1].coordinate
                break
            self.inputs[row[0].value] = row[1].coordinate

    def read(self, name):
        if name in self.values:
            return self.values[name]
        kind, value = self.cells[name]
        if kind != "f":
            return "" if value is None else value
        if name not in self.programs:
            self.programs[name] = compile(translate(value[1:]), name, "eval")
        return eval(self.programs[name], self.names)

    def read_range(self, first, last):
        sheet = openpyxl.utils.rows_from_range(f"{first}:{last}")
        return [self.read(name) for row in sheet for name in row]

    def decide(self, row):
        values = {
            name: Blank() if pd.isna(value) else Text(value) if isinstance(value, str) else value
            for name, value in row.items()
        }
        self.values = {cell: values[name] for name, cell in self.inputs.items()}
        return self.read(self.decision)


def translate(formula):
    """A formula as Python: other signs, and cells by calls."""
    tokens = re.findall(r'"(?:[^"]|"")*"|\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?|<>|<=|>=|[A-Z]+|.', formula)
    return "".join(map(translate_token, tokens))


def translate_token(token):
    if token.startswith('"'):
        return repr(token[1:-1].replace('""', '"'))
    if re.fullmatch(r"\$?[A-Z]+\$?\d+(:\$?[A-Z]+\$?\d+)?", token):
        names = token.replace("$", "").split(":")
        return f"{'RANGE' if len(names) == 2 else 'CELL'}({', '.join(map(repr, names))})"
    return {"=": "==", "<>": "!="}.get(token, token)


@given(explanations)
@draw_examples(0.38)
def test_sheet_decides_as_the_explanation_does(explanation):
    workbook = openpyxl.load_workbook(io.BytesIO(write_workbook(explanation, "risk")))
    sheet = Sheet(workbook["decision"])
    assert list(sheet.inputs) == list(explanation.columns)
    decided = [explanation.classes[number] for number in explanation.decide(ROWS)]
    assert [sheet.decide(row) for row in ROWS.to_dict("records")] == decided


def test_what_excel_cannot_hold_is_refused():
    with pytest.raises(HornbookError, match="Excel cannot hold"):
        write_workbook(DecisionTree(("no", "yes"), Split(Threshold("a\x01", 1.0), 1, 0)))
    for cut in (5e-324, -1e-310, 1.7976931348623157e308):
        with pytest.raises(
            HornbookError, match=f"Excel cannot hold {cut!r}: its numbers are".replace("+", r"\+")
        ):
            write_workbook(DecisionTree(("no", "yes"), Split(Threshold("a", cut), 1, 0)))
    with pytest.raises(HornbookError, match="longer than the 255 letters"):
        write_workbook(RuleSet(("no" * 200, "yes"), (), 0))
