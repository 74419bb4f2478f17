"""Export a theory to PMML 4.4: rule sets for single labels, one after the other."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from labelrules._checks import quoted
from labelrules.data.schema import Feature
from labelrules.export.plan import FreeNames, Plan, holding_categories, is_list, is_scorecard, steps
from labelrules.export.pmml_elements import (
    Cells,
    Scored,
    Voted,
    all_of,
    among,
    applied,
    check_xml_names,
    election,
    field_equals,
    first_hit,
    is_equal,
    label_condition,
    one_if_any,
    predicate,
)
from labelrules.export.pmml_points import PointModels
from labelrules.rules.conditions import Condition
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

NAMESPACE = "http://www.dmg.org/PMML-4_4"
OPEN = "open"  # the value of a label that no rule has written yet

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
        check_xml_names([*names, *self.schema.labels])
        self.fields = FreeNames([*names, *self.schema.labels])
        self.is_numeric = {
            feature.name: feature.categories is None for feature in self.schema.features
        }
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
            kind = _type_of(feature)
            attributes = {"name": feature.name, "optype": kind[0], "dataType": kind[1]}
            field = ET.SubElement(dictionary, "DataField", attributes)
            for category in feature.categories or ():
                check_xml_names([category])
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
            when = [is_equal(cells[label], "1")] if label in cells else []
            if label in guessed:
                when.append(applied("and", is_equal(found, "0"), is_equal(guessed[label], "1")))
            kind = {"optype": "categorical", "dataType": "integer", "feature": "transformedValue"}
            output = ET.Element("OutputField", {"name": name, **kind})
            output.append(one_if_any(when))
            outputs.append(output)
        present = [(None, field_equals(cell, "1"), "1") for cell in cells.values()]
        present += [
            (None, all_of([field_equals(found, "0"), field_equals(cell, "1")]), "1")
            for cell in guessed.values()
        ]
        self.add("some label", first_hit(present, "0"), outputs)

    def _found(self, cells: Cells) -> str:
        """Add whether some label was found."""
        scored = [(None, field_equals(cell, "1"), "1") for cell in cells.values()]
        return self.add("found", first_hit(scored, "0"))

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
            conditions = {n: self.body(rule, read, closed) for n, rule in numbered}
            labels = sorted({label for rule in rules for label in rule.head.labels})
            written = {
                label: self.add(
                    f"{self.schema.labels[label]} after {step}",
                    first_hit(self._cell(label, cells, stopped, numbered, conditions), OPEN),
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
            scored += [(None, field_equals(cells[label], value), value) for value in ("1", "0")]
        if stopped:
            scored.append((None, field_equals(stopped, "1"), OPEN))
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
        before = [(None, field_equals(stopped, "1"), "1")] if stopped else []
        return self.add(f"stopped after {step}", first_hit([*before, *stops], "0"))

    def _votes(self, part: Theory, seen: Cells | None, title: str) -> Cells:
        """Add the votes: a label with more votes for presence than for absence is present."""
        if is_scorecard(part):
            return PointModels(self, part, title).cells(seen)
        cells: Cells = {}
        for label in sorted({label for rule in part for label in rule.head.labels}):
            votes: list[Voted] = [
                (number, self.body(rule, seen or {}, seen is not None), str(value), n_votes)
                for number, rule in enumerate(part, self.n_before + 1)
                for voted, value, n_votes in rule.ballot
                if voted == label
            ]
            name = f"{self.schema.labels[label]} after {title}"
            cells[label] = self.add(name, election(votes))
        return cells

    def add(self, name: str, rules: ET.Element, outputs: Iterable[ET.Element] = ()) -> str:
        """Add a rule set; returns the field that holds its result."""
        model = ET.Element("RuleSetModel", modelName=name, functionName="classification")
        model.append(rules)
        return self._add_model(model, ("categorical", "string"), outputs)

    def add_scorecard(self, scorecard: ET.Element) -> str:
        """Add a scorecard; returns the field that holds its sum of points."""
        return self._add_model(scorecard, ("continuous", "double"), ())

    def _add_model(
        self, model: ET.Element, kind: tuple[str, str], outputs: Iterable[ET.Element]
    ) -> str:
        """Add a model with the fields that it reads, and those that it gives."""
        result = self.fields.free(model.attrib["modelName"])
        output = ET.Element("Output")
        predicted = {"optype": kind[0], "dataType": kind[1], "feature": "predictedValue"}
        output.append(ET.Element("OutputField", {"name": result, **predicted}))
        output.extend(outputs)
        own = {field.get("name") for field in output}
        used = [
            e.attrib["field"] for part in (model, output) for e in part.iter() if e.get("field")
        ]
        first = self.schema.features[self.features[0]].name
        read = [field for field in dict.fromkeys(used) if field not in own] or [first]
        model[:0] = [self._mining_schema(read), output]
        segment = ET.Element("Segment", id=str(len(self.segments) + 1))
        segment.extend([ET.Element("True"), model])
        self.segments.append(segment)
        return result

    def body(self, rule: Rule, read: Cells, closed: bool) -> ET.Element:
        """The conditions of a rule."""
        return all_of([self._condition(condition, read, closed) for condition in rule.body])

    def _condition(self, condition: Condition, read: Cells, closed: bool) -> ET.Element:
        if condition.on_label:
            return label_condition(condition, read, closed)
        feature = self.schema.features[condition.column]
        if feature.categories is not None and condition.operator not in ("=", "!="):
            return among(feature.name, holding_categories(condition, self.schema))
        value = repr(condition.value) if feature.is_numeric else str(feature.text(condition.value))
        if feature.time == "time":
            value += ":00" * (value.count(":") == 1)
        operator = _OPERATORS[condition.operator]
        return predicate(feature.name, operator, value)


def _type_of(feature: Feature) -> tuple[str, str]:
    """The operational type and the data type of a feature."""
    if feature.categories is not None:
        return "categorical", "string"
    if feature.time in ("UTC time", "duration"):
        raise ValueError(
            f"{quoted(feature.name)} holds {feature.time}s, for which PMML has no type: turn them "
            "into numbers of one unit before learning"
        )
    kinds = {"date": "date", "time": "dateTime"}
    return "continuous", kinds.get(feature.kind, "double")
