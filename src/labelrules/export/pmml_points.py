"""PMML for rule sets that decide the labels of a row together: scorecards and label sets."""

from collections.abc import Iterable, Sized
from typing import NamedTuple, Protocol
from xml.etree import ElementTree as ET

from labelrules.export.plan import FreeNames, PointRule, label_points
from labelrules.export.pmml_elements import (
    Cells,
    Scored,
    all_of,
    applied,
    combined,
    field_equals,
    first_hit,
    number_field,
    number_of,
    predicate,
    scorecard,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import RuleSet


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
