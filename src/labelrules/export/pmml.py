"""Export a theory to PMML 4.4: rule sets for single labels, one after the other."""

import re
from collections.abc import Iterable, Mapping, Sized
from typing import Any, NamedTuple, Protocol, TypeAlias
from xml.etree import ElementTree as ET

from labelrules._checks import quoted
from labelrules.data.schema import Feature
from labelrules.export.plan import (
    FreeNames,
    Plan,
    PointRule,
    holding_categories,
    is_list,
    is_scorecard,
    label_points,
    steps,
)
from labelrules.rules.conditions import Condition
from labelrules.rules.rule import Rule
from labelrules.rules.theory import RuleSet, Theory

# -------------------------------------------------------------------- elements

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


# -------------------------------------------------------------------- points


class ModelChain(Protocol):
    """A chain to which models are added, each reading the results of those before."""

    fields: FreeNames
    n_before: int

    def add(self, name: str, rules: ET.Element, outputs: Iterable[ET.Element] = ()) -> str:
        """Add a rule set; returns the field that holds its result."""

    def add_scorecard(self, scorecard: ET.Element) -> str:
        """Add a scorecard; returns the field that holds its sum of points."""

    def body(self, rule: Rule, read: Cells, closed: bool) -> ET.Element:
        """The conditions of a rule."""


class Choice(NamedTuple):
    """Fields that say which labels a row gets."""

    found: str  # "1" if some label has more than 0 points
    label_set: str  # the number of the label set that it gets, from 1, or "0"; none without sets
    first: str  # the number of the first label with the most points, from 1, if that is asked for


class PointModels:
    """Models of one rule set: a scorecard for each label, totals, label sets, labels."""

    def __init__(self, chain: ModelChain, part: RuleSet, title: str) -> None:
        self.chain, self.part, self.title = chain, part, title
        self.points: dict[int, str | int] = dict.fromkeys(range(part.schema.n_labels), 0)

    def cells(self, seen: Cells | None) -> Cells:
        """Add the models; returns the fields of the labels."""
        for label, rules in label_points(self.part, self.chain.n_before + 1):
            name = f"points of {self.part.schema.labels[label]}, {self.title}"
            self.points[label] = self.chain.add_scorecard(self._scorecard(name, rules, seen))
        choice = self._choice()
        return {
            label: self.chain.add(f"{name} after {self.title}", self._cell(label, choice))
            for label, name in enumerate(self.part.schema.labels)
        }

    def _scorecard(self, name: str, rules: list[PointRule], seen: Cells | None) -> ET.Element:
        read, closed = seen or {}, seen is not None
        start = sum(points for _, rule, points in rules if not len(rule.body))
        parts = [
            (number, self.chain.body(rule, read, closed), points)
            for number, rule, points in rules
            if len(rule.body)
        ]
        return scorecard(name, start, parts)

    def _choice(self) -> Choice:
        """Add the totals, and which label set and which label have the most points."""
        most = self._free("most points") if self.part.at_least_one else ""
        outputs, of_sets, of_labels = [], [], []
        if most:
            outputs.append(number_field(most, combined("max", self._numbers())))
            of_labels = self._named("lead of label", self.points)
            outputs += _leads(of_labels, self.points.values(), most)
        if self.part.label_sets:
            of_sets = self._named("lead of label set", self.part.label_sets)
            outputs += self._label_sets(most, of_sets)
        above = [(None, _is_above_0(name), "1") for name in self.points.values()]
        found = self.chain.add(f"found by {self.title}", first_hit(above, "0"), outputs)
        return Choice(found, self._leader("label set", of_sets), self._leader("label", of_labels))

    def _label_sets(self, most: str, leads: list[str]) -> list[ET.Element]:
        """The totals of label sets, the best total, and the distances from it."""
        totals, best = self._named("total of label set", leads), self._free("best total")
        outputs = [
            number_field(name, combined("sum", [*self._numbers(labels), number_of(bonus)]))
            for name, (labels, bonus) in zip(totals, self.part.label_sets, strict=True)
        ]
        with_none = [self._alone(most), *map(number_of, totals)]
        outputs.append(number_field(best, combined("max", with_none)))
        return [*outputs, *_leads(leads, totals, best)]

    def _alone(self, most: str) -> ET.Element:
        """The points of the labels that a row gets without a label set."""
        above = [combined("max", [one, number_of(0)]) for one in self._numbers()]
        total = combined("sum", above)
        if not most:
            return total
        is_above = applied("greaterThan", number_of(most), number_of(0))
        return applied("if", is_above, total, number_of(most))

    def _leader(self, what: str, leads: list[str]) -> str:
        """Add the number of the first that is not behind; the empty text if there are none."""
        if not leads:
            return ""
        scored: list[Scored] = [
            (None, predicate(lead, "greaterOrEqual", "0"), str(number))
            for number, lead in enumerate(leads, 1)
        ]
        return self.chain.add(f"first {what} of {self.title}", first_hit(scored, "0"))

    def _cell(self, label: int, choice: Choice) -> ET.Element:
        """Whether a row gets a label: by the label set it has, or by points."""
        scored: list[Scored] = [
            (None, field_equals(choice.label_set, str(number)), "1")
            for number, (labels, _) in enumerate(self.part.label_sets, 1)
            if label in labels
        ]
        if choice.label_set:
            scored.append((None, predicate(choice.label_set, "notEqual", "0"), "0"))
        scored.append((None, _is_above_0(self.points[label]), "1"))
        if choice.first:
            is_first = field_equals(choice.first, str(label + 1))
            scored.append((None, all_of([field_equals(choice.found, "0"), is_first]), "1"))
        return first_hit(scored, "0")

    def _numbers(self, labels: Iterable[int] | None = None) -> list[ET.Element]:
        """The points of some labels, or of all."""
        return [
            number_of(self.points[label]) for label in (self.points if labels is None else labels)
        ]

    def _named(self, what: str, things: Sized) -> list[str]:
        """A free name for each of some things."""
        return [self._free(f"{what} {number}") for number in range(1, len(things) + 1)]

    def _free(self, name: str) -> str:
        return self.chain.fields.free(f"{name}, {self.title}")


def _is_above_0(field: str | int) -> ET.Element:
    """Whether a field is above 0; a label that no rule mentions never is."""
    return ET.Element("False") if isinstance(field, int) else predicate(field, "greaterThan", "0")


def _leads(names: list[str], fields: Iterable[str | int], top: str) -> list[ET.Element]:
    """How far each of some numbers is from the greatest of them: 0, or below."""
    return [
        number_field(name, applied("-", number_of(field), number_of(top)))
        for name, field in zip(names, fields, strict=True)
    ]


# -------------------------------------------------------------------- models

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
