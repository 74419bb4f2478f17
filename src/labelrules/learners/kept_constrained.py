"""What a constrained classifier knows, as plain values of a JSON document, and back."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from labelrules.data import Schema
from labelrules.data.document import Node
from labelrules.discovery import Constraint, Constraints
from labelrules.discovery.constraints.clauses import Clauses, consistent, rules_of
from labelrules.discovery.constraints.constraint import Descent, Kind, LabelGroup
from labelrules.rules import RuleSet
from labelrules.rules.json import read_label_list, read_theory, theory_document

_COUNTS = ("support", "exceptions", "p", "corrected")
_CONSTRAINT = ("kind", "body", "label", "present", *_COUNTS, "known")
_DESCENT = ("child", "parent", "support", "exceptions", "found")


# ---------------------------------------------------------------- writing


def write_constrained(model: Any, nested: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The base, the constraints that predictions satisfy, and how those learned were found."""
    return {
        "base": nested(model.base_),
        "constraints": theory_document(model.constraints_),
        "features_known": model.constraints_.schema == model.schema_,
        "found": None if model.found_ is None else _found_document(model.found_),
        "left_out": list(model.left_out_),
    }


def _found_document(found: Constraints) -> dict[str, Any]:
    names = found.schema.labels
    return {
        "n_rows": found.n_rows,
        "tolerance": found.tolerance,
        "n_tests": int(found.n_tests),
        "constraints": [_constraint_document(one, names) for one in found],
        "equivalences": [
            {"labels": list(group.labels), **_counts_document(group)}
            for group in found.equivalences
        ],
        "hierarchy": [dict(zip(_DESCENT, descent, strict=True)) for descent in found.hierarchy],
    }


def _constraint_document(one: Constraint, names: Sequence[str]) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "body": [names[label] for label in one.body],
        "label": names[one.label],
        "present": bool(one.present),
        **_counts_document(one),
        "known": bool(one.known),
        **({"turned": list(one.turned)} if one.turned else {}),
    }


def _counts_document(one: Constraint | LabelGroup) -> dict[str, Any]:
    counts = {"support": int(one.support), "exceptions": int(one.exceptions)}
    return {**counts, "p": float(one.p), "corrected": float(one.corrected)}


# ---------------------------------------------------------------- reading


def read_constrained(model: Any, node: Node, nested: Callable[[Node], Any]) -> None:
    """Give a model its base and its constraints."""
    fields = node.fields("base", "constraints", "features_known", "found", "left_out")
    model.base_ = nested(fields["base"])
    if model.base_.schema_ != model.schema_ or model.base_._target.kind != model._target.kind:
        fields["base"].refuse("its features and labels must be those of the whole")
    whole: Schema = model.schema_
    schema = whole if fields["features_known"].flag() else Schema([], whole.labels)
    if schema == whole and not fields["features_known"].value:
        fields["features_known"].refuse("must be true where there are no features")
    model._clauses = _read_clauses(fields["constraints"], schema)
    model.constraints_ = RuleSet(schema, [clause.rule for clause in model._clauses.clauses])
    if theory_document(model.constraints_) != fields["constraints"].value:
        fields["constraints"].refuse(
            "each constraint must be a rule for one label, once, without evidence and votes"
        )
    found = fields["found"]
    model.found_ = None if found.is_null else _read_found(found, whole)
    model.left_out_ = tuple(item.text() for item in fields["left_out"].items())


def _read_clauses(node: Node, schema: Schema) -> Clauses:
    theory = read_theory(node, schema)
    if not isinstance(theory, RuleSet):
        node.refuse("must be a rule set")
    with node.blamed():
        return consistent(Clauses(schema, rules_of(theory, schema)))


def _read_found(node: Node, whole: Schema) -> Constraints:
    lists = ("constraints", "equivalences", "hierarchy")
    fields = node.fields("n_rows", "tolerance", "n_tests", *lists)
    schema = Schema([], whole.labels, whole.parents)
    return Constraints(
        schema,
        fields["n_rows"].whole(),
        fields["tolerance"].number(),
        fields["n_tests"].whole(),
        tuple(_read_constraint(item, schema) for item in fields["constraints"].items()),
        tuple(_read_group(item, schema) for item in fields["equivalences"].items()),
        (),
        tuple(_read_descent(item, schema) for item in fields["hierarchy"].items()),
    )


def _read_constraint(node: Node, schema: Schema) -> Constraint:
    # Files of the first kind did not say it.
    fields = node.fields(*_CONSTRAINT, *(("turned",) if node.has("turned") else ()))
    kind: Any = fields["kind"].word(get_args(Kind), "kind of constraint")
    found = Constraint(
        schema,
        kind,
        read_label_list(fields["body"], schema),
        fields["label"].one_of(schema.label_index, "label"),
        fields["present"].flag(),
        *_read_counts(fields),
        fields["known"].flag(),
        tuple(item.whole() for item in fields["turned"].items()) if "turned" in fields else (),
    )
    if "turned" in fields and (found.kind != "exclusion" or len(found.turned) != len(found.body)):
        fields["turned"].refuse("only an exclusion has it, a number for each label of the body")
    if found.turned and min(found.turned) < found.exceptions:
        fields["turned"].refuse("must be as many rows as there are exceptions, or more")
    return found


def _read_group(node: Node, schema: Schema) -> LabelGroup:
    fields = node.fields("labels", *_COUNTS)
    members = read_label_list(fields["labels"], schema)
    return LabelGroup(schema, "equivalence", members, *_read_counts(fields))


def _read_counts(fields: dict[str, Node]) -> tuple[int, int, float, float]:
    p, corrected = (fields[name].number() for name in ("p", "corrected"))
    return fields["support"].whole(), fields["exceptions"].whole(), p, corrected


def _read_descent(node: Node, schema: Schema) -> Descent:
    fields = node.fields(*_DESCENT)
    child, parent = (fields[name].word(schema.labels, "label") for name in ("child", "parent"))
    counts = fields["support"].whole(), fields["exceptions"].whole()
    return Descent(child, parent, *counts, fields["found"].flag())
