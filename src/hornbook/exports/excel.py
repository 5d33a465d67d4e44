"""Explanations as a working sheet for Excel: values are typed into cells, and formulas decide."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbook.code_book import UNNAMED_TARGET
from hornbook.conditions import write_value
from hornbook.errors import HornbookError, library
from hornbook.explanations import Explanation, ScoreCard
from hornbook.exports.dialects import NO_LEVELS, Dialect, Levels, write_decision
from hornbook.times import read_days

if TYPE_CHECKING:
    from openpyxl.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

MAX_FORMULA_LENGTH = 8192
MAX_TEXT_LENGTH = 255
MAX_NESTED_CHOICES = 64
"""What Excel takes: characters of a formula and of a text in it, and choices within each other."""

MIN_NUMBER, MAX_NUMBER = 2.2251e-308, 9.99999999999999e307
"""The smallest and the greatest positive number that Excel takes."""

FIRST_INPUT = 5
"""The row of the sheet in which the first value is typed."""

FIRST_DAY = 25_569
"""The number that Excel gives 1970-01-01."""


class ExcelDialect(Dialect):
    """A formula of Excel over cells, one for each column.

    A blank cell is a missing value, and an empty text is not. Excel compares numbers by 15 digits.
    """

    def __init__(self, cells: Mapping[str, str]) -> None:
        self.cells = cells

    def write_threshold(self, column: str, cut: float, above: bool) -> str:
        """A comparison, of numbers alone."""
        cell = self.cells[column]
        return f"AND(ISNUMBER({cell}),{cell}{'>' if above else '<='}{self.write_value(cut)})"

    def write_time(self, column: str, sign: str, moment: str) -> str:
        """A comparison of numbers: Excel counts the days since 1899-12-30, and those of durations."""
        cell, scale = self.cells[column], self.scales[column]
        days = read_days(moment, scale) or 0.0
        return f"AND(ISNUMBER({cell}),{cell}{sign}{_write_number(days + (scale != 'duration') * FIRST_DAY)})"

    def write_membership(self, column: str, values: Sequence[Any], inside: bool) -> str:
        """Comparisons with each value; texts are compared letter by letter."""
        cell = self.cells[column]
        tests = [self._write_equality(cell, value) for value in values]
        equal = tests[0] if len(tests) == 1 else f"OR({','.join(tests)})"
        return equal if inside else f"AND(NOT(ISBLANK({cell})),NOT({equal}))"

    def write_missing(self, column: str, missing: bool) -> str:
        """Whether the cell is blank."""
        return f"ISBLANK({self.cells[column]})" if missing else f"NOT(ISBLANK({self.cells[column]}))"

    def _write_equality(self, cell: str, value: Any) -> str:
        if isinstance(value, bool | np.bool_):
            return f"AND(ISLOGICAL({cell}),{cell}={self.write_value(value)})"
        if isinstance(value, str):
            return f"AND(ISTEXT({cell}),EXACT({cell},{self.write_value(value)}))"
        return f"AND(ISNUMBER({cell}),{cell}={self.write_value(value)})"

    def join(self, parts: Sequence[str]) -> str:
        """All parts by AND."""
        return parts[0] if len(parts) == 1 else f"AND({','.join(parts)})"

    def choose(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """IF within IF."""
        written = otherwise
        for condition, value in reversed(cases):
            written = f"IF({condition},{value},{written})"
        return written

    def write_value(self, value: Any) -> str:
        """A constant of Excel."""
        if isinstance(value, bool | np.bool_):
            return "TRUE" if value else "FALSE"
        if not isinstance(value, str):
            return _write_number(float(value))
        if len(value) > MAX_TEXT_LENGTH:
            raise HornbookError(
                f"{value[:40]!r}… is longer than the {MAX_TEXT_LENGTH} letters of a text in Excel"
            )
        return '"' + value.replace('"', '""') + '"'

    def compare(self, left: str, right: str) -> str:
        """A comparison of two sums."""
        return f"{left}>={right}"

    def finish(self, expression: str, levels: Levels = NO_LEVELS) -> str:
        """The formula; refuse one that Excel would not read."""
        if len(expression) >= MAX_FORMULA_LENGTH or expression.count("IF(") > MAX_NESTED_CHOICES:
            raise HornbookError(
                "the formula is too long for Excel; choose an explanation with fewer literals"
            )
        return "=" + expression


def _write_number(number: float) -> str:
    if number and not MIN_NUMBER <= abs(number) <= MAX_NUMBER:
        raise HornbookError(
            f"Excel cannot hold {number!r}: its numbers are 0 and those from {MIN_NUMBER} to {MAX_NUMBER}; "
            "scale the column, or choose an explanation without this number"
        )
    return write_value(number)


def write_workbook(explanation: Explanation, target: str = UNNAMED_TARGET) -> bytes:
    """An explanation as an Excel file with one sheet: cells for values, the decision, and its lines.

    A card has a row for each range of values, with its points; changed points change the decision.
    """
    openpyxl = library("openpyxl", "excel")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "decision"
    cells = _lay_inputs(sheet, explanation, target)
    dialect = ExcelDialect(cells).with_scales(explanation)
    decision = FIRST_INPUT + len(cells)
    first = decision + 2
    if isinstance(explanation, ScoreCard):
        formula = _lay_points(sheet, explanation, dialect, first)
    else:
        formula = dialect.finish(write_decision(explanation, dialect))
        _lay_lines(sheet, explanation, first)
    _write_text(sheet.cell(decision, 1), "decision", bold=True)
    sheet.cell(decision, 2).value = formula
    _embolden(sheet.cell(decision, 2))
    sheet.column_dimensions["A"].width = 44
    sheet.column_dimensions["B"].width = 24
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def _lay_inputs(sheet: Worksheet, explanation: Explanation, target: str) -> dict[str, str]:
    """Write a row with an empty cell for each column; the cells by column."""
    from openpyxl.styles import PatternFill
    from openpyxl.worksheet.datavalidation import DataValidation

    _write_text(sheet.cell(1, 1), f"{target}: {explanation.noun}", bold=True)
    _write_text(
        sheet.cell(2, 1), "Type the values of a case into the yellow cells; leave missing ones empty."
    )
    _write_text(sheet.cell(FIRST_INPUT - 1, 1), "column", bold=True)
    _write_text(sheet.cell(FIRST_INPUT - 1, 2), "value", bold=True)
    numbers = DataValidation(type="decimal", operator="between", formula1="-1E+300", formula2="1E+300")
    numbers.error = "a number, or nothing where the value is missing"
    sheet.add_data_validation(numbers)
    numeric = {each.column for each in explanation.conditions if each.cuts}
    cells = {}
    for number, column in enumerate(explanation.columns, FIRST_INPUT):
        _write_text(sheet.cell(number, 1), column)
        sheet.cell(number, 2).fill = PatternFill("solid", fgColor="FFF2CC")
        cells[column] = f"$B${number}"
        if column in numeric:
            numbers.add(f"B{number}")
    return cells


def _lay_points(sheet: Worksheet, card: ScoreCard, dialect: ExcelDialect, first: int) -> str:
    """Write a row for each case that gives points, with its share in the sum; the formula of the decision."""
    from openpyxl.utils import get_column_letter

    outputs = range(len(card.base))
    names = ["points"] if len(card.base) == 1 else list(card.classes)
    for number, name in enumerate(["condition", *names, *(f"{name}, this case" for name in names)], 1):
        _write_text(sheet.cell(first, number), name, bold=True)
    row = first + 1
    _write_text(sheet.cell(row, 1), "to start with")
    tests = [""]
    points = [card.base]
    for each in card.characteristics:
        for case in each.cases:
            if case.conditions and any(case.points):
                row += 1
                _write_text(sheet.cell(row, 1), each.describe_case(case))
                tests.append(dialect.join([dialect.write_condition(part) for part in case.conditions]))
                points.append(case.points)
    sums = []
    for output in outputs:
        share = 2 + len(outputs) + output
        for number, (test, given) in enumerate(zip(tests, points, strict=True), first + 1):
            sheet.cell(number, 2 + output).value = given[output]
            own = f"{get_column_letter(2 + output)}{number}"
            sheet.cell(number, share).value = dialect.finish(f"IF({test},{own},0)" if test else own)
        letter = get_column_letter(share)
        sheet.column_dimensions[letter].width = 18
        sheet.cell(row + 1, share).value = f"=SUM({letter}{first + 1}:{letter}{row})"
        sums.append(f"{letter}{row + 1}")
    _write_text(sheet.cell(row + 1, 1), "sum", bold=True)
    if len(sums) == 1:
        low, high = map(dialect.write_value, card.classes)
        return f"=IF({sums[0]}>=0,{high},{low})"
    classes = f"$B${first}:${get_column_letter(1 + len(outputs))}${first}"
    place = f"MATCH(MAX({sums[0]}:{sums[-1]}),{sums[0]}:{sums[-1]},0)"
    return f"=T(INDEX({classes},1,{place}))"  # an empty name is a blank cell, which is no text by itself


def _lay_lines(sheet: Worksheet, explanation: Explanation, first: int) -> None:
    """Write the lines to read, with the class that each decides for."""
    from openpyxl.styles import Alignment

    _write_text(sheet.cell(first, 1), "line", bold=True)
    _write_text(sheet.cell(first, 2), "then", bold=True)
    for number, line in enumerate(explanation.lines(), first + 1):
        _write_text(sheet.cell(number, 1), line.text)
        sheet.cell(number, 1).alignment = Alignment(indent=2 * line.depth)
        _write_text(sheet.cell(number, 2), line.outcome)


def _write_text(cell: Cell, text: str, bold: bool = False) -> None:
    """Write a text that Excel takes for a text, whatever it begins with."""
    from openpyxl.utils.exceptions import IllegalCharacterError

    try:
        cell.value = text
    except IllegalCharacterError:
        raise HornbookError(f"{text!r} has a character that Excel cannot hold; rename it first") from None
    cell.data_type = "s"
    if bold:
        _embolden(cell)


def _embolden(cell: Cell) -> None:
    from openpyxl.styles import Font

    cell.font = Font(bold=True)
