"""Score cards as people know them: points grouped by column."""

import re
from itertools import product

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from hornbook.code_book import EMPTY_BOOK, read_code_book
from hornbook.conditions import Category, Missing, Threshold, merge_conditions
from hornbook.explanations import CardLine, ScoreCard

# a value in every range that the thresholds below make
ROWS = pd.DataFrame(
    list(product([None, 40.0, 41.0, 45.0, 50.0, 60.0, 70.0], [None, "f", "m", "x", "y"])),
    columns=["age", "sex"],
).astype({"age": float, "sex": object})

BOOK = read_code_book(
    {
        "columns": {
            "age": {"label": "Age at diagnosis", "unit": "years"},
            "sex": {"label": "Sex", "levels": {"f": "female", "m": "male"}},
        }
    },
    ROWS,
)

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([40.0, 41.5, 50.0, 60.0]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "m"]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from([("f", "m"), ("m", "x")]), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex"]), st.booleans()),
)


@st.composite
def cards(draw, longest=3):
    sums = draw(st.sampled_from([1, 3]))
    points = st.tuples(*[st.integers(-4, 4)] * sums)
    bodies = st.lists(conditions, min_size=1, max_size=longest).map(tuple)
    lines = st.lists(
        st.builds(CardLine, bodies, points, points),
        max_size=5,
        unique_by=lambda line: (line.body[:-1], frozenset({line.body[-1], line.body[-1].negate()})),
    )
    book = draw(st.sampled_from([EMPTY_BOOK, BOOK]))
    return ScoreCard(tuple("ab" if sums == 1 else "abc"), tuple(draw(lines)), draw(points), book)


@given(cards())
def test_score_card_grouped_by_column_adds_up_to_the_score(card):
    book = card.code_book
    bodies = [line.body for line in card.lines_of_points]
    bodies += [(*body[:-1], Missing(body[-1].column)) for body in bodies]
    merged = (each for body in bodies for each in merge_conditions(body))
    conditions = {book.describe(each): each for each in (*merged, *card.conditions, *map(Missing, ROWS))}
    sums = np.tile(card.base, (len(ROWS), 1))
    lines = [line for line in card.lines() if line.cells]
    left = {line.group: np.ones(len(ROWS), bool) for line in lines}
    for line, match in zip(lines, card.match_lines(ROWS), strict=False):
        mask = read_words(line, conditions, book) & (left[line.group] | (not line.group))
        left[line.group] &= ~mask  # of the rows of a column that hold the first counts
        assert (mask == match).all()
        sums[mask] += [int(cell.replace("−", "-")) for cell in line.cells]
    assert (sums == card.score(ROWS)).all()


@given(cards(longest=2))
def test_literals_of_a_card_are_the_conditions_that_it_prints(card):
    sums = len(card.base)
    text = re.sub(r"\{.*?\}", "set", str(card))
    printed = [line for line in text.splitlines() if "→" in line]
    conditions = [
        part
        for line in printed
        for case in line.partition(": ")[2 * (": " in line)].split(", ")
        if "→" in case
        for part in (case.split(" → ")[0].split(" and "))
        if "any other" not in part
    ]
    comparisons = sum(2 if part.count("<") == 1 and "≤" in part else 1 for part in conditions)
    assert comparisons <= card.literals <= sums * comparisons


def read_words(line, conditions, book):
    """The rows that a person who reads the words takes them to be about."""
    if not line.group:
        return np.all([conditions[part].evaluate(ROWS)[0] for part in line.text.split(" and ")], axis=0)
    words = line.words.removeprefix("else ")
    column = {"Age at diagnosis (years)": "age", "Sex": "sex"}.get(line.group, line.group)
    values = ROWS[column]
    if words == "missing":
        return values.isna().to_numpy()
    if words in ("any value", "any other"):
        return values.notna().to_numpy()
    if words[0] in ">≤≥":
        signs = {">": pd.Series.gt, "≤": pd.Series.le, "≥": pd.Series.ge}
        return signs[words[0]](values, float(words[1:])).to_numpy(bool)
    return values.isin(list(map(book.words(column).read_level, words.split(", ")))).to_numpy(bool)


@given(cards())
def test_characteristics_have_one_case_for_every_row_and_add_up_to_the_score(card):
    sums = np.tile(card.base, (len(ROWS), 1))
    for each in card.characteristics:
        matches = [case.match(ROWS) for case in each.cases]
        first = np.argmax(matches, axis=0)
        assert np.any(matches, axis=0).all(), "some case applies to every row"
        sums += np.array([case.points for case in each.cases])[first]
    assert (sums == card.score(ROWS)).all()


@given(cards(longest=1), st.sampled_from(range(len(ROWS))))
def test_reason_codes_of_a_card_are_what_each_column_gives_over_its_worst_value(card, number):
    row = ROWS.iloc[[number]].reset_index(drop=True)
    reason, sums = card.explain(row), card.score(row)[0]
    rival = max((k for k in range(len(sums)) if k != reason.outcome), key=lambda k: sums[k], default=0)

    def lead(frame):
        scores = card.score(frame)
        if len(sums) == 1:
            return scores[:, 0] * (1 if reason.outcome else -1)
        return scores[:, reason.outcome] - scores[:, rival]

    expected = []
    for column in ROWS:
        others = row.iloc[np.zeros(len(ROWS), int)].reset_index(drop=True)
        changed = others.assign(**{column: ROWS[column]})
        expected.append(int(lead(row)[0] - lead(changed).min()))
    assert [code.points for code in reason.codes] == sorted((n for n in expected if n), reverse=True)
    for code in reason.codes:
        labels = {card.code_book.label(name) for name in ROWS}
        named = [{label for label in labels if label in words} for words in (code.fact, code.against)]
        assert named[0] == named[1] and len(named[0]) == 1, "a value is held against one of its column"
