"""Explanations as PMML 4.4, the exchange format of scoring engines.

A tree becomes a `TreeModel`, rules a `RuleSetModel` of which the first hit decides, a card of two
classes a `Scorecard` with reason codes, and one of several classes a `RegressionModel` whose tables
add up points. The class is the output field `decision`. Each decides every row as `decide` does: a
predicate on a missing value is unknown, and what is unknown is not taken. Words stand in attributes
alone, since pmml4s reads only the last piece of a text that has `<` or `&`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import hornbook
from hornbook.code_book import UNNAMED_TARGET
from hornbook.conditions import Condition, Missing, Threshold, write_value
from hornbook.errors import HornbookError
from hornbook.explanations import Characteristic, DecisionTree, Explanation, RuleSet, ScoreCard, Split
from hornbook.explanations.tree import Node
from hornbook.exports.dialects import NO_LEVELS, Levels

NAMESPACE = "http://www.dmg.org/PMML-4_4"

DECISION = "decision"
"""The output field that has the class."""

MAX_REASON_CODES = 4
"""Reason codes that a score card puts out."""


def write_pmml(
    explanation: Explanation,
    target: str = UNNAMED_TARGET,
    values: Sequence[Any] = (),
    levels: Levels = NO_LEVELS,
) -> str:
    """An explanation as a PMML document, over the user's own columns.

    Parameters
    ----------
    explanation
        A tree, a card or rules.
    target
        What is predicted.
    values
        What stands for the classes; by default their names.
    levels
        The values that columns of words have: others are invalid.

    Examples
    --------
    >>> tree = DecisionTree(("low", "high"), Split(Threshold("age", 40), 1, 0))
    >>> print(write_pmml(tree, "risk"))  # doctest: +ELLIPSIS
    <?xml version='1.0' encoding='utf-8'?>
    <PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
    ...
      <TreeModel modelName="risk" functionName="classification" missingValueStrategy="none"...>
    ...
        <Node>
          <True />
          <Node score="high">
            <SimplePredicate field="age" operator="greaterThan" value="40" />
          </Node>
          <Node score="low">
            <True />
          </Node>
        </Node>
    ...

    """
    if values:
        explanation = replace(explanation, classes=tuple(map(write_value, values)))  # type: ignore[type-var]
    root = ET.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = _add(root, "Header", description=explanation.noun)
    _add(header, "Application", name="hornbook", version=hornbook.__version__)
    dictionary = _add(root, "DataDictionary")
    for column in explanation.columns:
        field = _add(dictionary, "DataField", name=column, **_describe_field(explanation, column))
        for level in levels.get(column, ()) if field.get("dataType") == "string" else ():
            _add(field, "Value", value=write_value(level))
    root.append(_build_model(explanation, target))
    if not isinstance(explanation, ScoreCard) or root.find("Scorecard") is None:
        field = _add(dictionary, "DataField", name=target, optype="categorical", dataType="string")
        for name in explanation.classes:
            _add(field, "Value", value=name)
    listed = {field.get("name") for field in dictionary if len(field)}
    for mining in root.iter("MiningField"):
        if mining.get("usageType") == "active":
            mining.set("invalidValueTreatment", "returnInvalid" if mining.get("name") in listed else "asIs")
    _refuse_shared_names(root)
    _refuse_control_characters(root)
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written.decode() + "\n"


def _build_model(explanation: Explanation, target: str) -> ET.Element:
    match explanation:
        case DecisionTree():
            return _build_tree(explanation, target)
        case RuleSet():
            return _build_rules(explanation, target)
        case ScoreCard() if not explanation.lines_of_points:  # a score card of PMML has lines
            constant = max(range(len(explanation.base)), key=explanation.base.__getitem__)
            outcome = int(explanation.base[0] >= 0) if len(explanation.base) == 1 else constant
            return _build_tree(DecisionTree(explanation.classes, outcome), target)
        case ScoreCard() if len(explanation.base) == 1:
            return _build_card(explanation, target)
        case ScoreCard():
            return _build_regression(explanation, target)
    raise HornbookError(f"PMML has no form for a {explanation.form}; write its theory instead")


def _build_tree(tree: DecisionTree, target: str) -> ET.Element:
    """Nodes whose first child with a true predicate is taken; an unknown predicate counts as false."""
    model = _start_classification("TreeModel", tree, target)
    model.set("missingValueStrategy", "none")
    model.set("noTrueChildStrategy", "returnNullPrediction")
    model.set("splitCharacteristic", "multiSplit")

    def fill(element: ET.Element, predicate: ET.Element, node: Node[Condition]) -> None:
        element.append(predicate)
        if not isinstance(node, Split):
            element.set("score", tree.classes[node])
            return
        while isinstance(node, Split):
            fill(_add(element, "Node"), _write_predicate([node.question]), node.yes)
            node = node.no
        fill(_add(element, "Node"), ET.Element("True"), node)

    fill(_add(model, "Node"), ET.Element("True"), tree.root)
    return model


def _build_rules(rules: RuleSet, target: str) -> ET.Element:
    model = _start_classification("RuleSetModel", rules, target)
    body = _add(model, "RuleSet", defaultScore=rules.classes[rules.default], defaultConfidence="1")
    _add(body, "RuleSelectionMethod", criterion="firstHit")
    for number, rule in enumerate(rules.rules, 1):
        element = _add(body, "SimpleRule", id=str(number), score=rules.classes[rule.outcome])
        element.append(_write_predicate(rule.body))
    return model


def _build_card(card: ScoreCard, target: str) -> ET.Element:
    """A card of two classes. Its reason codes say which columns give most points to the second one."""
    model = ET.Element(
        "Scorecard",
        modelName=target,
        functionName="regression",
        initialScore=str(card.base[0]),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsAbove",
        baselineMethod="min",
    )
    _add_schema(model, card)
    output = _add(model, "Output")
    number = {"optype": "continuous", "dataType": "double"}
    _add(output, "OutputField", name="points", feature="predictedValue", **number)
    word = {"optype": "categorical", "dataType": "string"}
    decision = _add(output, "OutputField", name=DECISION, feature="transformedValue", **word)
    bins = _add(decision, "Discretize", field="points")
    sides = ("openOpen", "rightMargin"), ("closedOpen", "leftMargin")  # below 0, and from 0 on
    for name, (closure, margin) in zip(card.classes, sides, strict=True):
        _add(_add(bins, "DiscretizeBin", binValue=name), "Interval", **{"closure": closure, margin: "0"})
    for rank in range(1, min(MAX_REASON_CODES, len(card.characteristics)) + 1):
        name = f"reason {rank}"
        _add(output, "OutputField", name=name, feature="reasonCode", rank=str(rank), **word)
    characteristics = _add(model, "Characteristics")
    for each in card.characteristics:
        name = _name_characteristic(each)
        least = str(min(case.points[0] for case in each.cases))
        element = _add(characteristics, "Characteristic", name=name, reasonCode=name, baselineScore=least)
        for case in each.cases:
            attribute = _add(element, "Attribute", partialScore=str(case.points[0]))
            attribute.append(_write_predicate(case.conditions))
    return model


def _build_regression(card: ScoreCard, target: str) -> ET.Element:
    """A card of several classes: a table of points for each, of which the greatest sum decides.

    Of equal sums the first class decides: each table starts lower than the one before it by less than
    a point in all.
    """
    model = _start_classification("RegressionModel", card, target)
    model.set("normalizationMethod", "softmax")  # keeps the order; without one, PMML takes sums for shares
    derived = _add(model, "LocalTransformations")
    step = 0.5 ** len(card.classes).bit_length()
    for output, name in enumerate(card.classes):
        start = card.base[output] - output * step
        table = _add(model, "RegressionTable", intercept=repr(float(start)), targetCategory=name)
        for number, each in enumerate(card.characteristics, 1):
            field = f"points {number} of {name}"
            definition = _add(derived, "DerivedField", name=field, optype="continuous", dataType="double")
            definition.append(_write_points(each, output))
            _add(table, "NumericPredictor", name=field, coefficient="1")
    return model


def _write_points(characteristic: Characteristic, output: int) -> ET.Element:
    """The points of the first case that applies, as an expression."""
    *cases, last = characteristic.cases
    expression = _constant(last.points[output])
    for case in reversed(cases):
        every = _join(_apply("and"), [_write_test(condition) for condition in case.conditions])
        expression = _apply("if", every, _constant(case.points[output]), expression)
    return expression


def _start_classification(kind: str, explanation: Explanation, target: str) -> ET.Element:
    """A model that puts a class out, with its columns."""
    model = ET.Element(kind, modelName=target, functionName="classification")
    schema = _add_schema(model, explanation)
    _add(schema, "MiningField", name=target, usageType="target")
    output = _add(model, "Output")
    word = {"optype": "categorical", "dataType": "string"}
    _add(output, "OutputField", name=DECISION, feature="predictedValue", **word)
    return model


def _add_schema(model: ET.Element, explanation: Explanation) -> ET.Element:
    schema = _add(model, "MiningSchema")
    for column in explanation.columns:
        _add(schema, "MiningField", name=column, usageType="active")
    return schema


def _describe_field(explanation: Explanation, column: str) -> dict[str, str]:
    """The type of a column, by what is asked of it.

    Numbers are continuous even where only equality is asked: a categorical field would have to list
    all its values, which an explanation does not know.
    """
    own = [condition for condition in explanation.conditions if condition.column == column]
    values = [value for condition in own for value in condition.named_values]
    words = any(isinstance(value, str) for value in values)
    truths = bool(values) and all(isinstance(value, bool | np.bool_) for value in values)
    if any(condition.cuts for condition in own) or (values and not words and not truths):
        if words:
            raise HornbookError(f"column {column!r} has numbers and words, which PMML cannot take together")
        scale = explanation.code_book.words(column).scale
        if scale in ("time", "duration"):
            raise HornbookError(f"column {column!r} holds {scale}s, and PMML counts whole days only")
        return {"optype": "continuous", "dataType": "dateDaysSince[1970]" if scale else "double"}
    return {"optype": "categorical", "dataType": "boolean" if truths else "string"}


def _list_tests(condition: Condition) -> tuple[str, list[tuple[str, Any]]]:
    """A condition as comparisons joined by `and` or `or`: the operator, and its value if it has one."""
    match condition:
        case Threshold():
            return "and", [("greaterThan" if condition.above else "lessOrEqual", float(condition.cut))]
        case Missing():
            return "and", [("isMissing" if condition.missing else "isNotMissing", None)]
    operator, joint = ("equal", "or") if condition.is_plain else ("notEqual", "and")
    return joint, [(operator, value) for value in condition.named_values]


def _write_predicate(conditions: Sequence[Condition]) -> ET.Element:
    """A predicate that is true where all conditions are, and always without any."""
    predicates = []
    for condition in conditions:
        joint, tests = _list_tests(condition)
        simple = []
        for operator, value in tests:
            test = ET.Element("SimplePredicate", field=condition.column, operator=operator)
            if value is not None:
                test.set("value", _write_constant(value))
            simple.append(test)
        predicates.append(_join(ET.Element("CompoundPredicate", booleanOperator=joint), simple))
    every = ET.Element("CompoundPredicate", booleanOperator="and")
    return _join(every, predicates) if predicates else ET.Element("True")


def _join(joint: ET.Element, parts: list[ET.Element]) -> ET.Element:
    """The only part, or all of them joined."""
    if len(parts) > 1:
        joint.extend(parts)
    return parts[0] if len(parts) == 1 else joint


def _write_test(condition: Condition) -> ET.Element:
    """A condition as an expression that is false where the value is missing."""
    joint, tests = _list_tests(condition)
    expressions = [_write_comparison(condition.column, operator, value) for operator, value in tests]
    return _join(_apply(joint), expressions)


def _write_comparison(column: str, operator: str, value: Any) -> ET.Element:
    if value is None:
        return _apply(operator, ET.Element("FieldRef", field=column))
    if isinstance(value, str):
        wanted = int(operator == "equal")
        indicator = ET.Element("NormDiscrete", field=column, value=value, mapMissingTo=str(1 - wanted))
        return _apply("equal", indicator, _constant(wanted))
    comparison = _apply(operator, ET.Element("FieldRef", field=column), _constant(value))
    comparison.set("mapMissingTo", "false")
    return comparison


def _name_characteristic(characteristic: Characteristic) -> str:
    """Its column; of several columns together the conditions of which the points depend."""
    if characteristic.cases[-1].conditions:
        return characteristic.columns[0]
    return characteristic.describe_case(characteristic.cases[0])


def _apply(function: str, *arguments: ET.Element) -> ET.Element:
    element = ET.Element("Apply", function=function)
    element.extend(arguments)
    return element


def _constant(value: Any) -> ET.Element:
    kind = "boolean" if isinstance(value, bool | np.bool_) else "double"
    element = ET.Element("Constant", dataType=kind)
    element.text = _write_constant(value)
    return element


def _write_constant(value: Any) -> str:
    return str(bool(value)).lower() if isinstance(value, bool | np.bool_) else write_value(value)


def _add(parent: ET.Element, kind: str, /, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, kind, attributes)


def _refuse_shared_names(root: ET.Element) -> None:
    """Refuse a column that is called like the target or like an output."""
    kinds = ("DataField", "DerivedField", "OutputField")
    names = [element.get("name") for kind in kinds for element in root.iter(kind)]
    for name in names:
        if names.count(name) > 1:
            raise HornbookError(f"PMML would have two fields {name!r}; rename the column first")


def _refuse_control_characters(root: ET.Element) -> None:
    """Refuse what no XML document can hold."""
    texts: Iterable[str] = (
        text for element in root.iter() for text in (element.text or "", *element.attrib.values())
    )
    for text in texts:
        if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text):
            raise HornbookError(f"{text!r} has a character that XML cannot hold; rename it first")
