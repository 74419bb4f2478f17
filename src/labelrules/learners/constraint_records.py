"""Learned constraints as records of JSON documents, labels by their names."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from labelrules.data import Schema
from labelrules.data.document import Count, Record, Share, at, known
from labelrules.discovery import Constraint, Constraints
from labelrules.discovery.constraint import Descent, Kind, LabelGroup
from labelrules.rules.json import label_numbers


class ConstraintRecord(Record):
    """If all labels of the body are present, the label is present, or absent.

    Turned, of an exclusion: for each label of the body, the rows with all the others.
    """

    kind: Kind
    body: list[str]
    label: str
    present: bool
    support: Count
    exceptions: Count
    p: Share
    corrected: Share
    known: bool
    turned: Annotated[list[Count], Meta(min_length=1)] | UnsetType = UNSET


class EquivalenceRecord(Record):
    """Labels that imply each other."""

    labels: list[str]
    support: Count
    exceptions: Count
    p: Share
    corrected: Share


class DescentRecord(Record):
    """A label and its parent in the hierarchy, and what the rows have of it."""

    child: str
    parent: str
    support: Count
    exceptions: Count
    found: bool


class FoundRecord(Record):
    """Constraints found among the labels of some rows."""

    n_rows: Count
    tolerance: Share
    n_tests: Count
    constraints: list[ConstraintRecord]
    equivalences: list[EquivalenceRecord]
    hierarchy: list[DescentRecord]


def found_record(found: Constraints) -> FoundRecord:
    """The record of constraints that were learned."""
    return FoundRecord(
        found.n_rows,
        found.tolerance,
        int(found.n_tests),
        [_constraint_record(one, found.schema.labels) for one in found],
        [EquivalenceRecord(list(group.labels), *_counts(group)) for group in found.equivalences],
        [DescentRecord(*descent) for descent in found.hierarchy],
    )


def _constraint_record(one: Constraint, names: Sequence[str]) -> ConstraintRecord:
    body, label, turned = [names[label] for label in one.body], names[one.label], list(one.turned)
    support, exceptions, p, corrected = _counts(one)
    return ConstraintRecord(
        one.kind, body, label, bool(one.present), support, exceptions, p, corrected,
        bool(one.known), turned or UNSET,
    )  # fmt: skip


def _counts(one: Any) -> tuple[int, int, float, float]:
    return int(one.support), int(one.exceptions), float(one.p), float(one.corrected)


def read_found(record: FoundRecord, whole: Schema) -> Constraints:
    """The constraints of a record, about the labels of a schema."""
    schema = Schema([], whole.labels, whole.parents)
    constraints, groups, hierarchy = [], [], []
    for number, one in enumerate(record.constraints):
        with at(f".found.constraints[{number}]"):
            constraints.append(_read_constraint(one, schema))
    for number, group in enumerate(record.equivalences):
        members = label_numbers(group.labels, schema, f".found.equivalences[{number}].labels")
        groups.append(LabelGroup(schema, "equivalence", members, *_counts(group)))
    for number, child in enumerate(record.hierarchy):
        for name in (child.child, child.parent):
            known(name, schema.label_index, "label", f".found.hierarchy[{number}]")
        hierarchy.append(
            Descent(child.child, child.parent, child.support, child.exceptions, child.found)
        )
    numbers = record.n_rows, record.tolerance, record.n_tests
    return Constraints(schema, *numbers, tuple(constraints), tuple(groups), (), tuple(hierarchy))


def _read_constraint(record: ConstraintRecord, schema: Schema) -> Constraint:
    body = label_numbers(record.body, schema, ".body")
    label = known(record.label, schema.label_index, "label", ".label")
    turned = () if record.turned is UNSET else tuple(record.turned)
    if turned and (record.kind != "exclusion" or len(turned) != len(body)):
        raise ValueError("only an exclusion has turned, a number for each label of the body")
    if turned and min(turned) < record.exceptions:
        raise ValueError("turned must be as many rows as there are exceptions, or more")
    counts = _counts(record)
    return Constraint(
        schema, record.kind, body, label, record.present, *counts, record.known, turned
    )
