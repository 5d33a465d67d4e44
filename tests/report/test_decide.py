"""Trees, cards and rules in the page decide as those in Python."""

import json

import numpy as np
import pandas as pd
import pytest

from hornbook.code_book import EMPTY_BOOK, CodeBook, ColumnWords
from hornbook.conditions import Category, Missing, Threshold
from hornbook.explanations import CardLine, ConditionRule, DecisionTree, RuleSet, ScoreCard, Split
from hornbook.explanations.decision import list_cells
from hornbook.report.page import read_script
from hornbook.schema import write_object

EXPLANATIONS, ROWS = 120, 25

DECIDE = """
for (const [name, words] of JSON.parse(arguments[1])) Decider.words.set(name, words);
return JSON.stringify(JSON.parse(arguments[0]).map(({ explanation, rows }) => rows.map((row) =>
  Decider.decide(explanation, new Map(Object.entries(row))))));
"""

CHANGE = """
for (const [name, words] of JSON.parse(arguments[1])) Decider.words.set(name, words);
return JSON.stringify(JSON.parse(arguments[0]).map(({ explanation, rows }) => rows.map((row) =>
  Decider.changes(explanation, new Map(Object.entries(row))))));
"""

VALUES = {
    "age": [None, 18.0, 40.0, 40.5, 61.0, 90.0],
    "dose (mg)": [None, -1e-5, 0.0, 2.5e-7, 0.1, 3e15, 4e16],
    "stage": [None, "I", "II", "", "<b>"],
    "treated": [None, True, False],
    "code": [None, 1, 2, 7],
    "__proto__": [None, "a", "b"],
}
"""The values of each column: numbers, texts, booleans, codes, and a name that scripts may trip over."""

BOOK = CodeBook(
    {
        "age": ColumnWords("Age", "years", whole=True),
        "dose (mg)": ColumnWords("Dose", "mg"),
        "stage": ColumnWords(
            "Tumour stage",
            levels=(("I", "first"), ("II", "second"), ("<b>", "<i>fourth</i>")),
            order=("I", "II", "", "<b>"),
        ),
        "treated": ColumnWords(pair=(False, True)),
        "__proto__": ColumnWords(pair=("b", "c")),
        "code": ColumnWords(codes=True, levels=((1, "one"), (7, "seven"))),
    }
)
"""Words for some of the columns."""

CUTS = {"age": [20.0, 40.0, 60.25], "dose (mg)": [-2e-5, 0.0, 1.25e-7, 0.1 + 0.2, 2e15, 3e16]}


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    drawn = [(random_explanation(rng), random_rows(rng)) for _ in range(EXPLANATIONS)]
    table = as_frame([row for _, rows in drawn for row in rows])
    return [(each, table[at * ROWS : (at + 1) * ROWS]) for at, (each, _) in enumerate(drawn)]


@pytest.fixture(scope="module")
def decisions(browser, cases):
    return ask_page(browser, DECIDE, cases)


def test_page_gives_reasons_in_the_words_of_a_code_book(browser, cases):
    named = [(explanation.with_code_book(BOOK), rows.iloc[:2]) for explanation, rows in cases[::3]]
    seen = set()
    for (explanation, rows), decided in zip(named, ask_page(browser, DECIDE, named, BOOK), strict=True):
        for number in range(2):
            facts = explanation.explain(rows.iloc[[number]]).facts
            assert [write_fact(fact) for fact in decided[number]["facts"]] == list(facts)
            seen.update(facts)
    words = " | ".join(seen)
    for part in ("Age ≥ 41 years", "Age ≤ 60 years", "Tumour stage ≥ second", "Tumour stage = <i>fourth</i>"):
        assert part in words


def test_page_names_ranges_as_python_does(browser):
    tree = DecisionTree(("a", "b"), Split(Threshold("age", 20), Split(Threshold("age", 60.25), 1, 0), 1))
    for book in (EMPTY_BOOK, BOOK):
        rows = pd.DataFrame({"age": [90.0, 30.0]})
        changes = ask_page(browser, CHANGE, [(tree, rows)], book)[0]
        words = {book.describe(part) for _, part in list_cells(tree.conditions, "age", book)}
        assert {each["text"] for each in changes[0]} <= words | {book.describe(Missing("age"))}
        assert len({each["text"] for change in changes for each in change} & words) == 3


def test_page_decides_as_python_does(cases, decisions):
    seen = {"tree": 0, "card": 0, "rules": 0}
    for (explanation, rows), decided in zip(cases, decisions, strict=True):
        assert [each["outcome"] for each in decided] == explanation.decide(rows).tolist()
        if isinstance(explanation, ScoreCard):
            assert [each["sums"] for each in decided] == explanation.score(rows).tolist()
        seen[explanation.form] += len(set(explanation.decide(rows).tolist()))
    assert min(seen.values()) > EXPLANATIONS / 3, "some of every form decide for several classes"


def test_page_gives_the_reasons_that_python_gives(cases, decisions):
    for (explanation, rows), decided in list(zip(cases, decisions, strict=True))[::2]:
        for number in range(2):
            facts = explanation.explain(rows.iloc[[number]]).facts
            assert [write_fact(fact) for fact in decided[number]["facts"]] == list(facts)


def test_page_lists_single_changes_that_change_the_class(browser, cases):
    few = [(explanation, rows[:2]) for explanation, rows in cases[::4]]
    listed = ask_page(browser, CHANGE, few)
    tried = 0
    for (explanation, rows), answers in zip(few, listed, strict=True):
        cells = [
            (name, value)
            for name in explanation.columns
            for value, _ in list_cells(explanation.conditions, name)
        ]
        for row, now, changes in zip(plain_rows(rows), explanation.decide(rows), answers, strict=True):
            outcomes = decide_changed(explanation, row, [(each["column"], each["value"]) for each in changes])
            assert outcomes == [change["outcome"] for change in changes] and now not in outcomes
            tried += len(changes)
            otherwise = decide_changed(explanation, row, cells)
            turning = {name for (name, _), outcome in zip(cells, otherwise, strict=True) if outcome != now}
            assert {change["column"] for change in changes} >= turning
    assert tried > 100


def decide_changed(explanation, row, changes):
    """The classes of a row after each change alone; a change is a column and its new value."""
    changed = [row | {column: value} for column, value in changes]
    return explanation.decide(as_frame(changed)).tolist()


def write_fact(fact):
    points = ", ".join(f"{p:+d}".replace("-", "−") if p else "0" for p in fact["points"])
    return f"{fact['text']}: {points}" if points else fact["text"]


def ask_page(browser, script, cases, book=EMPTY_BOOK):
    """The answers of the page's deciders, all in one call."""
    batch = [{"explanation": each.to_object(), "rows": plain_rows(rows)} for each, rows in cases]
    words = json.dumps([(name, write_object(words)) for name, words in book.columns.items()])
    browser.get("data:text/html,<title>decide</title>")
    return json.loads(browser.execute_script(read_script("decide.js") + script, json.dumps(batch), words))


def plain_rows(rows):
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]


def as_frame(rows):
    """A table of rows, each a dictionary."""
    return pd.DataFrame(
        {
            name: pd.Series([row.get(name) for row in rows], dtype=float if name in CUTS else object)
            for name in VALUES
        }
    )


def random_rows(rng):
    drawn = {name: rng.integers(len(values), size=ROWS) for name, values in VALUES.items()}
    return [{name: VALUES[name][drawn[name][at]] for name in VALUES} for at in range(ROWS)]


def random_condition(rng):
    column = str(rng.choice(list(VALUES)))
    sign = bool(rng.integers(2))
    if rng.random() < 0.15:
        return Missing(column, sign)
    if column in CUTS:
        return Threshold(column, float(rng.choice(CUTS[column])), sign)
    first, *others = rng.permutation(len(VALUES[column]) - 1) + 1
    if rng.random() < 0.3:
        return Category(column, tuple(VALUES[column][k] for k in (first, *others[:1])), sign)
    return Category(column, VALUES[column][first], sign)


def random_explanation(rng):
    classes = tuple("abcd"[: rng.integers(2, 5)])
    form = rng.integers(3)
    if form == 0:
        return DecisionTree(classes, random_node(rng, len(classes), 4))
    bodies = [tuple(random_condition(rng) for _ in range(rng.integers(1, 4))) for _ in range(5)]
    if form == 1:
        rules = (ConditionRule(body, int(rng.integers(len(classes)))) for body in bodies)
        return RuleSet(classes, tuple(rules), int(rng.integers(len(classes))))
    sums = 1 if len(classes) == 2 else len(classes)

    def points():
        return tuple(map(int, rng.integers(-4, 5, sums)))

    places = {(body[:-1], frozenset({body[-1], body[-1].negate()})): body for body in bodies}
    return ScoreCard(classes, tuple(CardLine(body, points(), points()) for body in places.values()), points())


def random_node(rng, classes, depth):
    if not depth or rng.random() < 0.2:
        return int(rng.integers(classes))
    return Split(random_condition(rng), *(random_node(rng, classes, depth - 1) for _ in range(2)))
