"""The elements of PMML documents that exports are made of."""

import re
from collections.abc import Iterable
from typing import TypeAlias
from xml.etree import ElementTree as ET

from labelrules._checks import quoted
from labelrules.rules.conditions import Condition

Cells: TypeAlias = dict[int, str]  # from labels that some rule has written to their fields
Scored: TypeAlias = tuple[int | None, ET.Element, str]  # number of a rule, condition, value
Voted: TypeAlias = tuple[int, ET.Element, str, int]  # number, condition, value and votes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def first_hit(scored: Iterable[Scored], default: str) -> ET.Element:
    """Rules of which the first that holds decides."""
    rules = _rule_set("firstHit", default)
    for number, condition, score in scored:
        known = {} if number is None else {"id": f"rule {number}"}
        ET.SubElement(rules, "SimpleRule", {**known, "score": score}).append(condition)
    return rules


def election(votes: Iterable[Voted]) -> ET.Element:
    """The value with the greatest sum of weights; half a vote for absence settles ties."""
    rules = _rule_set("weightedSum", "0")
    for number, condition, score, n_votes in votes:
        attributes = {"id": f"rule {number}", "score": score, "weight": str(n_votes)}
        ET.SubElement(rules, "SimpleRule", attributes).append(condition)
    tie = ET.SubElement(rules, "SimpleRule", score="0", weight="0.5")
    ET.SubElement(tie, "True")
    return rules


def _rule_set(criterion: str, default: str) -> ET.Element:
    rules = ET.Element("RuleSet", defaultScore=default, defaultConfidence="1")
    ET.SubElement(rules, "RuleSelectionMethod", criterion=criterion)
    return rules


def scorecard(name: str, start: int, points: Iterable[tuple[int, ET.Element, int]]) -> ET.Element:
    """Numbers of rules, conditions and points, which are added up; `start` is for all rows."""
    element = ET.Element("Scorecard", modelName=name, functionName="regression")
    element.attrib.update(initialScore=str(start), useReasonCodes="false")
    characteristics = ET.SubElement(element, "Characteristics")
    for number, condition, n_points in points:
        one = ET.SubElement(characteristics, "Characteristic", name=f"rule {number}")
        ET.SubElement(one, "Attribute", partialScore=str(n_points)).append(condition)
        ET.SubElement(ET.SubElement(one, "Attribute", partialScore="0"), "True")
    if not len(characteristics):  # there must be one
        one = ET.SubElement(characteristics, "Characteristic", name="start")
        ET.SubElement(ET.SubElement(one, "Attribute", partialScore="0"), "True")
    return element


def number_of(field: str | int) -> ET.Element:
    """A number: the value of a field, or a constant."""
    if isinstance(field, int):
        return constant(str(field), "double")
    return ET.Element("FieldRef", field=field)


def combined(function: str, numbers: list[ET.Element]) -> ET.Element:
    """The sum or the greatest of some numbers."""
    if len(numbers) < 2:
        return numbers[0] if numbers else number_of(0)
    return applied(function, *numbers)


def number_field(name: str, value: ET.Element) -> ET.Element:
    """An output field with a number that is computed from other fields."""
    kind = {"optype": "continuous", "dataType": "double", "feature": "transformedValue"}
    output = ET.Element("OutputField", {"name": name, **kind})
    output.append(value)
    return output


def one_if_any(when: list[ET.Element]) -> ET.Element:
    """1 if one of these holds, else 0."""
    if not when:
        return constant("0", "integer")
    condition = when[0] if len(when) == 1 else applied("or", *when)
    return applied("if", condition, constant("1", "integer"), constant("0", "integer"))


def is_equal(field: str, value: str) -> ET.Element:
    """Whether a field has a value, as an expression."""
    return applied("equal", ET.Element("FieldRef", field=field), constant(value, "string"))


def applied(function: str, *arguments: ET.Element) -> ET.Element:
    """A function of some arguments."""
    element = ET.Element("Apply", function=function)
    element.extend(arguments)
    return element


def constant(value: str, kind: str) -> ET.Element:
    """A constant of a type."""
    element = ET.Element("Constant", dataType=kind)
    element.text = value
    return element


def label_condition(condition: Condition, read: Cells, closed: bool) -> ET.Element:
    """A condition on a label; in a later layer, open labels are absent."""
    present = condition.value == 1
    if condition.column not in read:
        return ET.Element("True" if closed and not present else "False")
    if closed and not present:
        return predicate(read[condition.column], "notEqual", "1")
    return field_equals(read[condition.column], "1" if present else "0")


def field_equals(field: str, value: str) -> ET.Element:
    """Whether a field has a value, as a predicate."""
    return predicate(field, "equal", value)


def predicate(field: str, operator: str, value: str) -> ET.Element:
    """A field compared with a value."""
    return ET.Element("SimplePredicate", field=field, operator=operator, value=value)


def among(field: str, values: Iterable[str]) -> ET.Element:
    """Whether a field has one of some values.

    Comparisons, not an ``Array``: evaluators differ in how they read quotes and backslashes there.
    """
    return _compound("or", [field_equals(field, value) for value in values], "False")


def all_of(parts: list[ET.Element]) -> ET.Element:
    """Whether all predicates hold."""
    return _compound("and", parts, "True")


def _compound(operator: str, parts: list[ET.Element], of_none: str) -> ET.Element:
    if not parts:
        return ET.Element(of_none)
    if len(parts) == 1:
        return parts[0]
    element = ET.Element("CompoundPredicate", booleanOperator=operator)
    element.extend(parts)
    return element


def check_xml_names(texts: Iterable[str]) -> None:
    """Refuse names with characters that XML does not have."""
    for text in texts:
        if refused := _NOT_XML.search(text):
            raise ValueError(f"XML cannot hold the character {refused[0]!r} of {quoted(text)}")
