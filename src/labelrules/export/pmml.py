"""Export a theory to PMML 4.4: rule sets for single labels, one after the other."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

from labelrules._checks import quoted
from labelrules.export.plan import FreeNames, Plan, is_list, steps
from labelrules.rules.conditions import Condition
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

NAMESPACE = "http://www.dmg.org/PMML-4_4"
OPEN = "open"  # the value of a label that no rule has written yet
Cells: TypeAlias = dict[int, str]  # from labels that some rule has written to their fields
Scored: TypeAlias = tuple[int | None, ET.Element, str]  # number of a rule, condition, value
Voted: TypeAlias = tuple[int, ET.Element, str, int]  # number, condition, value and votes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OPERATORS = {"<=": "lessOrEqual", ">": "greaterThan", "=": "equal", "!=": "notEqual"}


def to_pmml(theory: Any) -> str:
    r"""The theory as PMML 4.4, with an output field for each label, 1 or 0.

    PMML has no rules for several labels, so the theory becomes a chain of rule sets, each for one
    label and some rules; later ones read the results of earlier ones. Missing values and unknown
    categories satisfy no condition.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        With at least one feature; the last layer must be read once.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> text = to_pmml(theory)
    >>> print(text[text.index("<RuleSet "):text.index("</RuleSet>")])
    <RuleSet defaultScore="open" defaultConfidence="1">
      <RuleSelectionMethod criterion="firstHit" />
      <SimpleRule id="rule 1" score="0">
        <SimplePredicate field="sex" operator="equal" value="Male" />
      </SimpleRule>
      <SimpleRule id="rule 2" score="1">
        <True />
      </SimpleRule>
    """
    root = _Chain(Plan.of(theory).only_once("PMML")).document()
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


class _Chain:
    """Builds the chain of rule sets."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.schema = plan, plan.schema
        if not self.schema.features:
            raise ValueError("PMML has no models without features, and this theory has none")
        self.features = plan.used or (0,)
        names = [self.schema.features[column].name for column in self.features]
        _check_names([*names, *self.schema.labels])
        self.fields = FreeNames([*names, *self.schema.labels])
        self.is_numeric = {feature.name: feature.is_numeric for feature in self.schema.features}
        self.segments: list[ET.Element] = []
        self.n_before = 0

    def document(self) -> ET.Element:
        """The PMML document."""
        root = ET.Element("PMML", xmlns=NAMESPACE, version="4.4")
        header = ET.SubElement(root, "Header", description="labels by rules")
        ET.SubElement(header, "Application", name="labelrules")
        root.append(self._dictionary())
        model = ET.SubElement(root, "MiningModel", functionName="classification")
        names = [self.schema.features[column].name for column in self.features]
        model.append(self._mining_schema(names))
        segmentation = ET.SubElement(model, "Segmentation", multipleModelMethod="modelChain")
        self._write()
        segmentation.extend(self.segments)
        return root

    def _dictionary(self) -> ET.Element:
        dictionary = ET.Element("DataDictionary", numberOfFields=str(len(self.features)))
        for column in self.features:
            feature = self.schema.features[column]
            kind = ("continuous", "double") if feature.is_numeric else ("categorical", "string")
            attributes = {"name": feature.name, "optype": kind[0], "dataType": kind[1]}
            field = ET.SubElement(dictionary, "DataField", attributes)
            for category in feature.categories or ():
                _check_names([category])
                ET.SubElement(field, "Value", value=category)
        return dictionary

    def _mining_schema(self, names: Iterable[str]) -> ET.Element:
        schema = ET.Element("MiningSchema")
        for name in names:
            attributes = {"name": name}
            if not self.is_numeric.get(name, True):
                attributes["invalidValueTreatment"] = "asMissing"
            ET.SubElement(schema, "MiningField", attributes)
        return schema

    def _write(self) -> None:
        cells: Cells | None = None
        for number, layer in enumerate(self.plan.layers, 1):
            cells = self._layer(layer, cells, f"layer {number}")
            self.n_before += len(layer)
        cells, guessed, found = cells or {}, {}, ""
        if self.plan.fallback is not None:
            found = self._found(cells)
            guessed = self._layer(self.plan.fallback, None, "without labels")
        self._result(cells, guessed, found)

    def _result(self, cells: Cells, guessed: Cells, found: str) -> None:
        """The last model, whose outputs are the labels, since a chain has those of its end."""
        outputs = []
        for label, name in enumerate(self.schema.labels):
            when = [_is(cells[label], "1")] if label in cells else []
            if label in guessed:
                when.append(_apply("and", _is(found, "0"), _is(guessed[label], "1")))
            kind = {"optype": "categorical", "dataType": "integer", "feature": "transformedValue"}
            output = ET.Element("OutputField", {"name": name, **kind})
            output.append(_present(when))
            outputs.append(output)
        present = [(None, _equal(cell, "1"), "1") for cell in cells.values()]
        present += [
            (None, _all([_equal(found, "0"), _equal(cell, "1")]), "1") for cell in guessed.values()
        ]
        self._add("some label", _first_hit(present, "0"), outputs)

    def _found(self, cells: Cells) -> str:
        """Add whether some label was found."""
        scored = [(None, _equal(cell, "1"), "1") for cell in cells.values()]
        return self._add("found", _first_hit(scored, "0"))

    def _layer(self, part: Theory, seen: Cells | None, title: str) -> Cells:
        if not is_list(part):
            return self._votes(part, seen, title)
        cells: Cells = {}
        stopped = ""
        parts = steps(part, seen is None, len(part))
        number = self.n_before
        for place, rules in enumerate(parts, 1):
            numbered = list(enumerate(rules, number + 1))
            number += len(rules)
            step = f"{title}, step {place}" if len(parts) > 1 else title
            read, closed = (cells, False) if seen is None else (seen, True)
            conditions = {n: self._body(rule, read, closed) for n, rule in numbered}
            labels = sorted({label for rule in rules for label in rule.head.labels})
            written = {
                label: self._add(
                    f"{self.schema.labels[label]} after {step}",
                    _first_hit(self._cell(label, cells, stopped, numbered, conditions), OPEN),
                )
                for label in labels
            }
            stopped = self._stopped(stopped, numbered, conditions, step)
            cells = {**cells, **written}
        return cells

    def _cell(
        self,
        label: int,
        cells: Cells,
        stopped: str,
        rules: list[tuple[int, Rule]],
        conditions: Mapping[int, ET.Element],
    ) -> list[Scored]:
        """The values of a label: written cells stay, rows that have ended stay open."""
        scored: list[Scored] = []
        if label in cells:
            scored += [(None, _equal(cells[label], value), value) for value in ("1", "0")]
        if stopped:
            scored.append((None, _equal(stopped, "1"), OPEN))
        for number, rule in rules:
            head = dict(rule.head)
            if label in head or rule.stops:
                value = str(head[label]) if label in head else OPEN
                scored.append((number, conditions[number], value))
                if not len(rule.body):
                    break
        return scored

    def _stopped(
        self,
        stopped: str,
        rules: list[tuple[int, Rule]],
        conditions: Mapping[int, ET.Element],
        step: str,
    ) -> str:
        stops = [(number, conditions[number], "1") for number, rule in rules if rule.stops]
        if not stops:
            return stopped
        before = [(None, _equal(stopped, "1"), "1")] if stopped else []
        return self._add(f"stopped after {step}", _first_hit([*before, *stops], "0"))

    def _votes(self, part: Theory, seen: Cells | None, title: str) -> Cells:
        """Add the votes: a label with more votes for presence than for absence is present."""
        cells: Cells = {}
        for label in sorted({label for rule in part for label in rule.head.labels}):
            votes: list[Voted] = [
                (number, self._body(rule, seen or {}, seen is not None), str(value), n_votes)
                for number, rule in enumerate(part, self.n_before + 1)
                for voted, value, n_votes in rule.ballot
                if voted == label
            ]
            name = f"{self.schema.labels[label]} after {title}"
            cells[label] = self._add(name, _election(votes))
        return cells

    def _add(self, name: str, rules: ET.Element, outputs: Iterable[ET.Element] = ()) -> str:
        """Add a rule set; returns the field that holds its result."""
        result = self.fields.free(name)
        kind = {"optype": "categorical", "dataType": "string", "feature": "predictedValue"}
        output = ET.Element("Output")
        output.append(ET.Element("OutputField", {"name": result, **kind}))
        output.extend(outputs)
        used = [
            e.attrib["field"] for part in (rules, output) for e in part.iter() if e.get("field")
        ]
        segment = ET.Element("Segment", id=str(len(self.segments) + 1))
        ET.SubElement(segment, "True")
        kept = {"modelName": name, "functionName": "classification"}
        model = ET.SubElement(segment, "RuleSetModel", kept)
        first = self.schema.features[self.features[0]].name
        model.append(self._mining_schema(dict.fromkeys(used) or [first]))
        model.extend([output, rules])
        self.segments.append(segment)
        return result

    def _body(self, rule: Rule, read: Cells, closed: bool) -> ET.Element:
        return _all([self._condition(condition, read, closed) for condition in rule.body])

    def _condition(self, condition: Condition, read: Cells, closed: bool) -> ET.Element:
        if condition.on_label:
            return _label_condition(condition, read, closed)
        feature = self.schema.features[condition.column]
        value = repr(condition.value)
        if feature.categories is not None:
            value = feature.categories[int(condition.value)]
        operator = _OPERATORS[condition.operator]
        return _predicate(feature.name, operator, value)


def _first_hit(scored: Iterable[Scored], default: str) -> ET.Element:
    rules = _rule_set("firstHit", default)
    for number, condition, score in scored:
        known = {} if number is None else {"id": f"rule {number}"}
        ET.SubElement(rules, "SimpleRule", {**known, "score": score}).append(condition)
    return rules


def _election(votes: Iterable[Voted]) -> ET.Element:
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


def _present(when: list[ET.Element]) -> ET.Element:
    """1 if one of these holds, else 0."""
    if not when:
        return _constant("0", "integer")
    condition = when[0] if len(when) == 1 else _apply("or", *when)
    return _apply("if", condition, _constant("1", "integer"), _constant("0", "integer"))


def _is(field: str, value: str) -> ET.Element:
    return _apply("equal", ET.Element("FieldRef", field=field), _constant(value, "string"))


def _apply(function: str, *arguments: ET.Element) -> ET.Element:
    element = ET.Element("Apply", function=function)
    element.extend(arguments)
    return element


def _constant(value: str, kind: str) -> ET.Element:
    element = ET.Element("Constant", dataType=kind)
    element.text = value
    return element


def _label_condition(condition: Condition, read: Cells, closed: bool) -> ET.Element:
    """A condition on a label; in a later layer, open labels are absent."""
    present = condition.value == 1
    if condition.column not in read:
        return ET.Element("True" if closed and not present else "False")
    if closed and not present:
        return _predicate(read[condition.column], "notEqual", "1")
    return _equal(read[condition.column], "1" if present else "0")


def _equal(field: str, value: str) -> ET.Element:
    return _predicate(field, "equal", value)


def _predicate(field: str, operator: str, value: str) -> ET.Element:
    return ET.Element("SimplePredicate", field=field, operator=operator, value=value)


def _all(parts: list[ET.Element]) -> ET.Element:
    if not parts:
        return ET.Element("True")
    if len(parts) == 1:
        return parts[0]
    element = ET.Element("CompoundPredicate", booleanOperator="and")
    element.extend(parts)
    return element


def _check_names(texts: Iterable[str]) -> None:
    for text in texts:
        if refused := _NOT_XML.search(text):
            raise ValueError(f"XML cannot hold the character {refused[0]!r} of {quoted(text)}")
