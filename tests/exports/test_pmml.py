"""Explanations as PMML: read and evaluated here by the words of the standard, they decide every row alike."""

from __future__ import annotations

import operator
from itertools import product
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import CardLine, DecisionTree, ScoreCard, Split
from hornbook.exports import write_explanation

P = "{http://www.dmg.org/PMML-4_4}"
ROWS = pd.DataFrame(
    list(product([None, 40.0, 45.0], [None, "f", "m", 'it\'s "<&>"'], [None, 0.0, 1.0], [None, True, False])),
    columns=["age (years)", "sex", "x", "ill"],
).astype({"age (years)": float, "sex": object, "x": float, "ill": object})

conditions = st.one_of(
    st.builds(Threshold, st.just("age (years)"), st.sampled_from([40.0, 50.25, 1e-7]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", 'it\'s "<&>"']), st.booleans()),
    st.builds(Category, st.just("sex"), st.just(("f", 'it\'s "<&>"')), st.booleans()),
    st.builds(Category, st.just("x"), st.just(1), st.booleans()),
    st.builds(Category, st.just("ill"), st.just(True), st.booleans()),
    st.builds(Missing, st.sampled_from(["age (years)", "sex", "x", "ill"]), st.booleans()),
)
explanations = random_explanations(conditions, ("", "it's <b> & ]]>", "c", "d"))

COMPARE = {
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
    "lessOrEqual": operator.le,
    "equal": operator.eq,
    "notEqual": operator.ne,
}


class Document:
    """A PMML document, as far as it is written here."""

    def __init__(self, text):
        root = ET.fromstring(text)
        assert root.tag == f"{P}PMML" and root.get("version") == "4.4"
        header, dictionary, self.model = root
        assert (header.tag, dictionary.tag) == (f"{P}Header", f"{P}DataDictionary")
        self.types = {field.get("name"): field.get("dataType") for field in dictionary}
        for field in dictionary:  # a number of a categorical field would have to be listed
            assert field.get("optype") == (
                "continuous" if field.get("dataType") == "double" else "categorical"
            )
        for constant in root.iter(f"{P}Constant"):  # words stand in attributes alone
            assert constant.get("dataType") in ("double", "boolean")
        schema = {
            f.get("name") for f in self.model.find(f"{P}MiningSchema") if f.get("usageType") != "target"
        }
        assert schema <= set(self.types)

    def decide(self, row):
        kind = self.model.tag.removeprefix(P)
        return getattr(self, kind)({name: None if pd.isna(value) else value for name, value in row.items()})

    def read(self, text, kind):
        return {"double": float, "string": str, "boolean": "true".__eq__}[kind](text)

    def predicate(self, element, row):
        """True, False, or None where it is unknown."""
        kind = element.tag.removeprefix(P)
        if kind == "True":
            return True
        if kind == "CompoundPredicate":
            parts = [self.predicate(part, row) for part in element]
            wins = element.get("booleanOperator") == "or"  # `or` is true by one part, `and` false by one
            return wins if wins in parts else None if None in parts else not wins
        value = row[element.get("field")]
        if element.get("operator") in ("isMissing", "isNotMissing"):
            return (value is None) == (element.get("operator") == "isMissing")
        if value is None:
            return None
        constant = self.read(element.get("value"), self.types[element.get("field")])
        return COMPARE[element.get("operator")](value, constant)

    def expression(self, element, row):
        match element.tag.removeprefix(P):
            case "Constant":
                return self.read(element.text, element.get("dataType"))
            case "FieldRef":
                return row[element.get("field")]
            case "NormDiscrete":
                value = row[element.get("field")]
                return float(element.get("mapMissingTo") if value is None else value == element.get("value"))
            case "Discretize":
                low, high = element
                assert dict(low[0].attrib) == {"closure": "openOpen", "rightMargin": "0"}
                assert dict(high[0].attrib) == {"closure": "closedOpen", "leftMargin": "0"}
                return (high if row[element.get("field")] >= 0 else low).get("binValue")
        name, arguments = element.get("function"), [self.expression(part, row) for part in element]
        if name == "isMissing":
            return arguments[0] is None
        if name == "isNotMissing":
            return arguments[0] is not None
        if name == "if":
            assert arguments[0] in (True, False)
            return arguments[1] if arguments[0] else arguments[2]
        if None in arguments:
            return self.read(element.get("mapMissingTo"), "boolean")
        if name in ("and", "or"):
            return all(arguments) if name == "and" else any(arguments)
        return COMPARE[name](*arguments)

    def TreeModel(self, row):
        assert self.model.get("missingValueStrategy") == "none"
        node = self.model.find(f"{P}Node")
        while node.get("score") is None:
            node = next(child for child in node.findall(f"{P}Node") if self.predicate(child[0], row))
        return node.get("score")

    def RuleSetModel(self, row):
        rules = self.model.find(f"{P}RuleSet")
        assert rules[0].get("criterion") == "firstHit"
        hits = [rule for rule in rules.findall(f"{P}SimpleRule") if self.predicate(rule[0], row)]
        return hits[0].get("score") if hits else rules.get("defaultScore")

    def Scorecard(self, row):
        points = float(self.model.get("initialScore"))
        gains = {}
        for each in self.model.find(f"{P}Characteristics"):
            partial = next(float(a.get("partialScore")) for a in each if self.predicate(a[0], row))
            assert float(each.get("baselineScore")) == min(float(a.get("partialScore")) for a in each)
            gains[each.get("reasonCode")] = partial - float(each.get("baselineScore"))
            points += partial
        self.gains = gains
        decision = next(f for f in self.model.find(f"{P}Output") if f.get("name") == "decision")
        return self.expression(decision[0], row | {"points": points})

    def RegressionModel(self, row):
        derived = {field.get("name"): field[0] for field in self.model.find(f"{P}LocalTransformations")}
        sums = {
            table.get("targetCategory"): float(table.get("intercept"))
            + sum(
                float(term.get("coefficient")) * self.expression(derived[term.get("name")], row)
                for term in table
            )
            for table in self.model.findall(f"{P}RegressionTable")
        }
        best = max(sums.values())
        (name,) = [name for name, points in sums.items() if points == best]  # no two are equal
        return name


@given(explanations)
def test_pmml_decides_as_the_explanation_does(explanation):
    document = Document(write_explanation(explanation, "pmml", "risk"))
    decided = [explanation.classes[number] for number in explanation.decide(ROWS)]
    assert [document.decide(row) for row in ROWS.to_dict("records")] == decided


def test_pmml_of_a_card_gives_the_same_reason_codes():
    age, ill = Threshold("age (years)", 40.0), Category("ill", True)
    lines = CardLine((age,), (3,), (1,)), CardLine((ill,), (2,), (0,)), CardLine((age, ill), (-1,), (0,))
    card = ScoreCard(("wait", "treat"), lines, (-2,))
    document = Document(write_explanation(card, "pmml"))
    row = {"age (years)": 50.0, "ill": True}
    assert document.decide(row) == "treat"
    codes = card.explain(pd.DataFrame([row])).codes
    assert {code.fact.rsplit(" > ")[0].rsplit(" = ")[0]: code.points for code in codes} == {
        name: gain for name, gain in document.gains.items() if gain
    }


@pytest.mark.parametrize(
    ("conditions", "target", "message"),
    [
        ([Threshold("a\x01", 1.0)], "class", "XML cannot hold"),
        ([Threshold("a", 1.0), Category("a", "b")], "class", "numbers and words"),
        ([Threshold("decision", 1.0)], "class", "two fields 'decision'; rename the column"),
        ([Threshold("risk", 1.0)], "risk", "two fields 'risk'"),
    ],
)
def test_what_pmml_cannot_hold_is_refused(conditions, target, message):
    root = 0
    for condition in conditions:
        root = Split(condition, 1, root)
    with pytest.raises(HornbookError, match=message):
        write_explanation(DecisionTree(("no", "yes"), root), "pmml", target)
