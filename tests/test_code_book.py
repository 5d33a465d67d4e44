"""Code books: words for columns, values and classes, which never change a decision."""

import json
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest
from explanation_strategies import explanations
from hypothesis import given
from hypothesis import strategies as st

from hornbook.checks import parse_claims, write_condition
from hornbook.code_book import EMPTY_BOOK, CodeBook, read_code_book
from hornbook.conditions import Between, Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import CardLine, DecisionTree, Explanation, ScoreCard, Split
from hornbook.schema import read_object, write_object

ROWS = pd.DataFrame(
    list(product([None, 40, 43, 44, 60], [None, 1.5, 2.5], [None, "I", "II", "III", "IV"], [None, 1, 2, 3])),
    columns=["age", "bili", "stage", "sex"],
).astype({"age": float, "bili": float, "stage": object, "sex": float})

BOOK = {
    "columns": {
        "age": {"label": "Age at diagnosis", "unit": "full years"},
        "stage": {"label": "Stage", "order": ["I", "II", "III", "IV"], "levels": {"IV": "far advanced"}},
        "sex": {"levels": {1: "male", 2: "female", 3: "7"}},
    },
    "classes": {0: "benign", 1: "malignant"},
}

TOML = """
[columns.age]
label = "Age at diagnosis"
unit = "full years"

[columns.stage]
label = "Stage"
order = ["I", "II", "III", "far advanced"]
levels = { IV = "far advanced" }

[columns.sex.levels]
1 = "male"
2 = "female"
3 = "7"

[classes]
0 = "benign"
1 = "malignant"
"""

WORDS = read_code_book(BOOK, ROWS)

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([40.0, 43.0, 43.19]), st.booleans()),
    st.builds(Threshold, st.just("bili"), st.sampled_from([1.1, 2.0]), st.booleans()),
    st.builds(Category, st.just("stage"), st.sampled_from(["I", "III", "IV"]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from([1, 2, 3]), st.booleans()),
    st.builds(
        Category,
        st.just("stage"),
        st.lists(st.sampled_from(["I", "II", "III", "IV"]), min_size=1).map(tuple),
        st.booleans(),
    ),
    st.builds(Missing, st.sampled_from(["age", "bili", "stage", "sex"]), st.booleans()),
)


@given(conditions, st.sampled_from([EMPTY_BOOK, WORDS]))
def test_condition_is_read_back_as_it_is_written(condition, book):
    (claim,) = parse_claims(f"{write_condition(condition, book)} -> ill", book)
    assert claim.body == (condition,)


@given(conditions)
def test_condition_in_words_is_read_back_as_one_that_says_the_same(condition):
    phrase = WORDS.phrase(condition)
    values = phrase.values if phrase.sign == "is" else tuple(map(quote_text, phrase.values))
    plain = replace(phrase, name=json.dumps(phrase.name), values=values)
    (claim,) = parse_claims(f"{plain} -> ill", WORDS)
    for now, before in zip(claim.body[0].evaluate(ROWS), condition.evaluate(ROWS), strict=True):
        assert (now == before).all()


def quote_text(value):
    """A value as a claim has it: numbers as they are, the name `7` of a level in quotes."""
    return value if value.replace(".", "").isdigit() and value != "7" else json.dumps(value)


@given(conditions)
def test_negation_in_words_says_the_opposite(condition):
    assert WORDS.describe(condition) != WORDS.describe(condition.negate())


@given(explanations(conditions, ["a", "b", "c"]))
def test_explanation_decides_alike_with_any_code_book(explanation):
    worded = explanation.with_code_book(WORDS)
    assert worded == explanation and hash(worded) == hash(explanation)
    assert (worded.decide(ROWS) == explanation.decide(ROWS)).all()
    assert worded.to_object() == explanation.to_object()
    assert read_object(Explanation, worded.to_object()) == explanation
    assert len(worded.lines()) == len(explanation.lines())


def test_thresholds_on_whole_numbers_are_whole_without_any_code_book():
    book = read_code_book(None, ROWS)
    assert book.describe(Threshold("age", 43.1896)) == "age ≥ 44"
    assert book.describe(Threshold("age", 43, above=False)) == "age ≤ 43"
    assert book.describe(Between("age", 43, 60)) == "age 44–60"
    assert book.describe(Threshold("bili", 2.1)) == "bili > 2.1"
    assert not read_code_book({"columns": {"age": {"codes": True}}}, ROWS).words("age").whole


def test_negation_on_a_column_of_two_values_names_the_other_one():
    rows = pd.DataFrame({"fever": [0, 1, None], "sex": ["f", "m", "m"]})
    book = read_code_book({"columns": {"fever": {"levels": {0: "no", 1: "yes"}}}}, rows)
    assert book.describe(Category("fever", 0, inside=False)) == "fever = yes"
    assert book.describe(Category("sex", "f").negate()) == "sex = m"
    other = pd.DataFrame({"sex": ["x"]})
    tree = DecisionTree(("a", "b"), Split(Category("sex", "f"), 0, 1), book)
    assert tree.explain(other).facts == ("sex = x",), "a value that was never seen is told itself"


def test_card_with_a_code_book_reads_as_the_user_speaks():
    lines = (
        CardLine((Category("stage", ("III", "IV")),), (3,), (1,)),
        CardLine((Threshold("age", 43),), (2,), (0,)),
        CardLine((Threshold("age", 43), Category("sex", 2)), (-1,), (0,)),
        CardLine((Threshold("bili", 2.1, above=False),), (-2,), (0,)),
    )
    card = ScoreCard(WORDS.name_classes("tumour", (0, 1)), lines, (-2,), WORDS)
    assert (
        str(card)
        == """\
Stage: ≥ III → +3, missing → +1
Age at diagnosis (full years): ≥ 44 → +2
bili: ≤ 2.1 → −2
Age at diagnosis ≥ 44 full years and sex = female → −1
2 or more: malignant
less: benign"""
    )
    row = pd.DataFrame({"age": [50.0], "bili": [None], "stage": ["II"], "sex": [2]})
    assert card.explain(row).facts == (
        "Age at diagnosis ≥ 44 full years: +2",
        "Age at diagnosis ≥ 44 full years and sex = female: −1",
    )


def test_code_book_is_the_same_in_toml_and_as_a_mapping_and_in_json(tmp_path):
    (tmp_path / "book.toml").write_text(TOML)
    assert read_code_book(tmp_path / "book.toml", ROWS) == WORDS == read_code_book(WORDS, ROWS)
    again = read_object(CodeBook, json.loads(json.dumps(write_object(WORDS))))
    assert again == WORDS


def test_classes_have_the_names_of_the_code_book_or_of_the_model():
    assert WORDS.name_classes("tumour", (False, True)) == ("benign", "malignant")
    assert WORDS.name_classes("tumour", (0.0, 1.0)) == ("benign", "malignant")
    assert EMPTY_BOOK.name_classes("tumour", ("benign", "malignant")) == ("benign", "malignant")
    with pytest.raises(HornbookError, match=r"the model has no class '1'; its classes are a, b"):
        CodeBook(classes={"1": "malignant"}).name_classes("tumour", ("a", "b"))
    with pytest.raises(HornbookError, match="two classes are called alike"):
        CodeBook(classes={"0": "b"}).name_classes("tumour", (0, "b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns.ag]\nunit = 'y'", "book.toml: the table has no column 'ag'; did you mean 'age'?"),
        ("[columns.zzz]", "the table has no column 'zzz'; it has age, bili, stage, sex"),
        (
            "columns.sex.levels = { 1 = 'male', 4 = 'x' }",
            "column 'sex', levels: '4' never occurs; its values",
        ),
        (
            "columns.sex.levels = { 1 = 'x', 2 = 'x' }",
            "column 'sex', levels: 'x' is empty, or",
        ),
        ("columns.sex.levels = { 1 = 2 }", "expected str @ $.columns['sex'].levels['1']"),
        ("columns.sex.levels = 3", "@ $.columns['sex'].levels"),
        ("columns.stage.order = ['I', 'II']", "column 'stage', order: it lacks 'III'; name every value"),
        ("columns.stage.order = ['I', 'I']", "column 'stage', order: 'I' is empty, or stands there twice"),
        ("columns.stage.order = ['I', 'V']", "column 'stage', order: 'V' never occurs"),
        ("columns.age.unit = 3", "expected str @ $.columns['age'].unit"),
        ("columns.age.codes = 'yes'", "expected bool @ $.columns['age'].codes"),
        ("columns.age.lable = 'x'", "extra fields found (lable) @ $.columns['age']"),
        ("columns.age.label = 'sex'", "column 'age': its label 'sex' is another column's name"),
        ("columns.age = { codes = true, unit = 'y' }", "column 'age': levels have no unit"),
        ("columns.age.label = 'x'\ncolumns.bili.label = 'x'", "'x' is empty, or"),
        ("names = 3", "book.toml: extra fields found (names)"),
        ("[columns.age\nunit = 3", "book.toml is not TOML: "),
    ],
)
def test_read_code_book_says_in_one_line_what_is_wrong_and_where(tmp_path, text, message):
    (tmp_path / "book.toml").write_text(text)
    with pytest.raises(HornbookError) as raised:
        read_code_book(tmp_path / "book.toml", ROWS)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_read_code_book_refuses_files_that_cannot_be_read(tmp_path):
    with pytest.raises(HornbookError, match=r"cannot read .*none\.toml"):
        read_code_book(tmp_path / "none.toml", ROWS)
    (tmp_path / "book.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(HornbookError, match="is not UTF-8"):
        read_code_book(tmp_path / "book.toml", ROWS)
