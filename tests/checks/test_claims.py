"""Claims as text: what is written reads back, and what is wrong is named with its line."""

import json
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest
from conditions import EVERY_ROW, RANGES
from conditions import conditions as spoken_conditions
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Explainer
from hornbook.checks import MonotoneClaim, RuleClaim, name_outcome, parse_claims
from hornbook.checks.unfolding import unfold_rules
from hornbook.code_book import CodeBook, ColumnWords
from hornbook.conditions import Between, Category, Condition, IsTrue, Missing, Threshold, meet_conditions
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, RuleSet
from hornbook.logic import HornTheory
from hornbook.runs.folder import write_rules
from hornbook.schema import read_object, write_object

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "true",
        "more",
        "not",
        "in",
        "is",
        "a -> b",
        "petal width (cm)",
        '"',
        "#",
        "5",
        "x=1",
        "-",
        "->",
        "\\",
        "\n",
    ]
)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
values = names | numbers | st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans()
conditions = st.one_of(
    st.builds(Threshold, names, numbers, st.booleans()),
    st.builds(Category, names, values, st.booleans()),
    st.builds(Category, names, st.lists(names | numbers, min_size=1, max_size=4).map(tuple), st.booleans()),
    st.builds(Missing, names, st.booleans()),
    st.builds(IsTrue, names, st.booleans()),
    st.builds(
        lambda name, ends: Between(name, *sorted(ends), inside=False),
        names,
        st.tuples(numbers, numbers).filter(lambda ends: ends[0] != ends[1]),
    ),
)
ranges = st.sampled_from([Between("age", low, high) for low, high in RANGES])
claims = st.one_of(
    st.builds(RuleClaim, st.lists(conditions, max_size=3).map(tuple), names),
    st.builds(MonotoneClaim, names, st.sampled_from(["lowers", "raises"]), names),
)


@given(st.lists(claims, max_size=4))
def test_written_claims_read_back_as_the_same_claims(several):
    assert list(parse_claims("\n".join(map(str, several)))) == several


PATIENTS = EVERY_ROW.replace({"sex": {"x": "not known"}, "smokes": {"yes": "yes, daily"}})
PLAIN, WHOLE = (
    CodeBook({"age": ColumnWords(label="age at entry", whole=whole, unit=unit)})
    for whole, unit in ((False, "in years"), (True, ""))
)


@given(st.lists(spoken_conditions | ranges, min_size=1, max_size=3), st.sampled_from([PLAIN, WHOLE]))
def test_lines_of_explanations_read_as_they_are_printed(body, book):
    """Columns and values with spaces, units, ranges and numbers that are whole."""
    body = [
        replace(each, values=tuple("not known" if value == "x" else value for value in each.values))
        if isinstance(each, Category)
        else each
        for each in body
    ]
    printed = RuleSet(("not ill", "ill"), (ConditionRule(tuple(body), 1),), 0, book).lines()[0]
    (claim,) = parse_claims(f"{printed.text}: {printed.outcome}   # 12 rows", book, PATIENTS.columns)
    assert claim.outcome == "ill"
    rows = PATIENTS if not book.words("age").whole else PATIENTS[PATIENTS.age != 55.5]
    assert (meet_conditions(claim.body, rows) == meet_conditions(body, rows)).all()


@given(conditions)
def test_conditions_survive_their_object_form(condition):
    again = read_object(Condition, json.loads(json.dumps(write_object(condition))))
    assert again == condition


table = pd.DataFrame({"v": ["a", "b", "c", "d", None]})
sets = st.builds(
    Category, st.just("v"), st.sets(st.sampled_from("abcd"), min_size=1).map(tuple), st.booleans()
) | st.builds(Category, st.just("v"), st.sampled_from("abcd"), st.booleans())


@given(sets, sets)
def test_sets_of_values_imply_and_exclude_only_what_their_rows_say(first, second):
    (met, _), (other, failed) = first.evaluate(table), second.evaluate(table)
    assert (first.negate().evaluate(table)[0] == first.evaluate(table)[1]).all()
    if first.implies(second):
        assert (met <= other).all()
    if first.excludes(second):
        assert (met <= failed).all()
    assert first.implies(first) and first.excludes(first.negate())


def test_parse_claims_reads_every_kind_of_line():
    text = """
    # what the bank promises
    income <= 90 & age > 40 -> good
    status in {A11, A12} ∧ x is missing → not good
    sex = f, x is present -> good
    "petal width (cm)" > 1.75 -> virginica  # quoted
    age >= 40 -> grade 1
    true -> good
    more income never lowers good
    more "the age" never raises not good
    "age > 40" & "sex = f" -> good
    """
    read = parse_claims(text)
    assert read[:3] == (
        RuleClaim((Threshold("income", 90, above=False), Threshold("age", 40)), "good"),
        RuleClaim((Category("status", ("A11", "A12")), Missing("x")), "not good"),
        RuleClaim((Category("sex", "f"), Missing("x", missing=False)), "good"),
    )
    assert read[3] == RuleClaim((Threshold("petal width (cm)", 1.75),), "virginica")
    assert str(read[4]) == "age >= 40 -> grade 1"
    assert read[4].body[0].evaluate(pd.DataFrame({"age": [39.9, 40.0]}))[0].tolist() == [False, True]
    assert read[5:] == (
        RuleClaim((), "good"),
        MonotoneClaim("income", "lowers", "good"),
        MonotoneClaim("the age", "raises", "not good"),
        RuleClaim((Threshold("age", 40), Category("sex", "f")), "good"),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "petal width > 1 -> a",
            "'petal width > 1' is no condition; write age > 40, 40 < age <= 60, sex = f",
        ),
        ("age > old -> a", "with a number, not with 'old'"),
        ("age > 40", "is no claim; write: age > 40 & sex = f -> good"),
        ("age > 40 ->", "ends with a class"),
        ("-> a", "true -> class"),
        ("s in A11 -> a", "is no condition; write age > 40"),
        ("s in {a = b} -> a", "a text with signs stands in double quotes"),
        ("otherwise if age > 40: a", "depends on those above it"),
        ("40 > age > 20 -> a", "a range is written as 40 < age <= 60"),
        ("more income never moves good", "never lowers good"),
        ('"age > 40 -> a', "is no condition"),
        ("age > 40 b -> a", "with a number, not with '40 b'"),
    ],
)
def test_parse_claims_names_the_line_and_what_to_write(line, says):
    with pytest.raises(HornbookError, match=r"^line 2: ") as error:
        parse_claims(f"true -> a\n{line}")
    assert says in str(error.value)


def test_name_outcome_prefers_the_models_own_words():
    assert name_outcome("not dead", ("not dead", "dead")) == (0, True)
    assert name_outcome("not a", ("a", "b", "c")) == (0, False)
    with pytest.raises(HornbookError, match="its classes are a, b"):
        name_outcome("c", ("a", "b"))


@given(st.data())
def test_unfolded_rules_claim_what_follows_from_the_theory(data):
    """Theories without circles: variables of their own follow from earlier ones, and classes from all."""
    rules = []
    for place, head in enumerate(["x", "y", "z", "good", "good", "bad"]):
        earlier = ["a", "b", "c", "x", "y", "z"][: 3 + min(place, 3)]
        for _ in range(data.draw(st.integers(1, 2))):
            body = data.draw(st.lists(st.sampled_from(earlier), min_size=1, max_size=3, unique=True))
            rules.append(f"{' & '.join(body)} -> {head}")
    theory = HornTheory.parse("\n".join(rules))
    unfolded = unfold_rules("\n".join(rules), lambda name: [IsTrue(name)])
    if unfolded is None:
        assert not {*"xyz"} & {name for rule in rules for name in rule.split(" -> ")[0].split(" & ")}
        return
    assert unfolded.remark == ""
    for values in product([False, True], repeat=3):
        facts = {name for name, value in zip("abc", values, strict=True) if value}
        closed = theory.closure(facts & {*theory.vocabulary.names})
        for outcome in ("good", "bad"):
            claimed = any(
                {each.column for each in body} <= facts for body, head in unfolded.rules if head == outcome
            )
            assert claimed == (theory.vocabulary.index(outcome) in closed)


def test_rules_that_follow_from_themselves_or_from_no_condition_are_left_out_and_counted():
    remarks = []
    text = '"age > 4" -> old\nold & "sum 3" -> good\n"old" -> bad\nodd -> "sum 3"\n"sum 3" -> odd'
    assert [*map(str, parse_claims(text, remark=remarks.append))] == ["age > 4 -> bad"]
    assert remarks == [
        "1 of 2 rules can be met in too many ways, or speak of what is no column, and are left out"
    ]


@pytest.mark.parametrize("form", ["rules", "tree", "card"])
def test_the_rules_of_every_explanation_read_back_as_claims_that_decide_alike(form):
    frame = pd.DataFrame([*product([1.0, 2.0, 3.0, None], ["red hat", "blue", "tan"], [0.5, 4.5])] * 5)
    frame.columns = ["petal width (cm)", "kind", "age"]

    def decide(rows):
        wide = rows["petal width (cm)"].fillna(0) > 1.5
        return (wide & (rows.kind != "blue") | (rows.age > 4)).to_numpy()

    extraction = Explainer(decide, frame).extract(form=form, n_samples=300)
    remarks, names = [], list(map(str, frame))
    claims = parse_claims(write_rules(extraction), columns=names, remark=remarks.append)
    decided = [extraction.explanation.classes[each] for each in extraction.explanation.decide(frame)]
    covered = pd.Series(False, frame.index)
    for claim in claims:
        met = meet_conditions(claim.body, frame)
        covered |= met
        assert {each for each, hit in zip(decided, met, strict=True) if hit} <= {claim.outcome}
    assert covered.all() and not remarks
    whole = [Missing(name, missing=False) for name in ("kind", "age")]
    fewer = parse_claims(write_rules(extraction), columns=names, always=whole)
    assert "age is missing" not in str(fewer) and len(fewer) <= len(claims)
