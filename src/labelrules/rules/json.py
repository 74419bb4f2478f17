"""Theories as parts of JSON documents: features, categories and labels by their names."""

from collections.abc import Callable, Sequence
from typing import Any

from labelrules.data.document import Node
from labelrules.data.schema import Schema
from labelrules.rules.conditions import OPERATORS, Body, Condition, Operator
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import MOST_VOTES, Evidence, Head, Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory

MOST_ROUNDS = 1_000_000
"""How often a kept layer may be asked."""

LARGEST_SEED = 2**63 - 1

_KINDS: dict[str, type[DecisionList | RuleSet]] = {
    "decision list": DecisionList,
    "rule set": RuleSet,
}
_WAYS = ("once", "until stable", "label by label", "gibbs")


# ---------------------------------------------------------------- writing


def theory_document(theory: Theory) -> dict[str, Any]:
    """The theory as plain values, without its schema.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory_document(parse("not fashion <- sex = Male", readers.schema))["rules"][0]["body"]
    [{'feature': 'sex', 'operator': '=', 'value': 'Male'}]
    """
    if isinstance(theory, LayeredTheory):
        return {
            "kind": "layers",
            "layers": [theory_document(layer) for layer in theory.layers],
            "inference": inference_document(theory.inference, theory.schema.labels),
            "fallback": None if theory.fallback is None else theory_document(theory.fallback),
        }
    kind = "decision list" if isinstance(theory, DecisionList) else "rule set"
    return {"kind": kind, "rules": [rule_document(rule, theory.schema) for rule in theory]}


def rule_document(rule: Rule, schema: Schema) -> dict[str, Any]:
    """A rule as plain values, by the names of the schema."""
    names = [schema.labels[label] for label in rule.head.labels]
    evidence = None
    if rule.evidence is not None:
        pairs = [[int(right), int(wrong)] for right, wrong in rule.evidence]
        evidence = dict(zip(names, pairs, strict=True))
    document = {
        "head": dict(zip(names, rule.head.values, strict=True)),
        "body": [_condition_document(condition, schema) for condition in rule.body],
        "stops": bool(rule.stops),
        "evidence": evidence,
    }
    # As in the text of rules, one vote for each label goes without saying.
    if rule.votes is not None:
        document["votes"] = dict(zip(names, rule.votes, strict=True))
    return document


def _condition_document(condition: Condition, schema: Schema) -> dict[str, Any]:
    if condition.on_label:
        return {"label": schema.labels[condition.column], "value": int(condition.value)}
    feature = schema.features[condition.column]
    value: float | str = condition.value
    if feature.categories is not None:
        value = feature.categories[int(condition.value)]
    return {"feature": feature.name, "operator": condition.operator, "value": value}


def inference_document(way: Inference, names: Sequence[str | int]) -> dict[str, Any]:
    """A way to read the last layer as plain values; labels as they are called here."""
    if isinstance(way, UntilStable):
        return {"way": "until stable", "max_rounds": way.max_rounds}
    if isinstance(way, LabelByLabel):
        order = None if way.order is None else [names[label] for label in way.order]
        return {"way": "label by label", "max_rounds": way.max_rounds, "order": order}
    if isinstance(way, Gibbs):
        numbers = {"n_samples": way.n_samples, "burn_in": way.burn_in, "seed": way.random_state}
        return {"way": "gibbs", **numbers}
    return {"way": "once"}


# ---------------------------------------------------------------- reading


def read_theory(node: Node, schema: Schema) -> Theory:
    """The theory over this schema that a part of a document describes."""
    kind = node.field("kind").word((*_KINDS, "layers"), "kind of theory")
    if kind != "layers":
        return _read_rules(node, schema, _Names(schema))
    fields = node.fields("kind", "layers", "inference", "fallback")
    names = _Names(schema)
    layers = [_read_rules(item, schema, names) for item in fields["layers"].items()]
    way = read_inference(fields["inference"], lambda order: read_label_list(order, schema))
    fallback: Any = fields["fallback"]
    fallback = None if fallback.is_null else _read_rules(fallback, schema, names)
    with node.blamed():
        return LayeredTheory(schema, layers, way, fallback)


class _Names:
    """What the names of a schema stand for."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.labels, self.features = schema, schema.label_index, schema.feature_index
        self._codes: dict[int, dict[str, int]] = {}

    def codes(self, column: int) -> dict[str, int]:
        """From the categories of a feature to their numbers."""
        if column not in self._codes:
            categories: Sequence[str] = self.schema.features[column].categories or ()
            self._codes[column] = {text: code for code, text in enumerate(categories)}
        return self._codes[column]

    def label(self, name: str, node: Node) -> int:
        """The number of a label that is the key of a node."""
        if name not in self.labels:
            Node(name, node.parent, node.key).word(self.labels.keys(), "label")
        return self.labels[name]


def _read_rules(node: Node, schema: Schema, names: _Names) -> DecisionList | RuleSet:
    fields = node.fields("kind", "rules")
    kind = fields["kind"].one_of(_KINDS, "kind of theory")
    rules = [_read_rule(item, names) for item in fields["rules"].items()]
    with node.blamed():
        return kind(schema, rules)


def _read_rule(node: Node, names: _Names) -> Rule:
    votes = ("votes",) if node.has("votes") else ()
    fields = node.fields("head", "body", "stops", "evidence", *votes)
    head, body = _read_head(fields["head"], names), _read_body(fields["body"], names)
    evidence = fields["evidence"]
    counts = None if evidence.is_null else _read_evidence(evidence, head, names)
    numbers = _read_votes(fields["votes"], head, names) if votes else None
    return Rule(head, body, fields["stops"].flag(), counts, numbers)


def _read_head(node: Node, names: _Names) -> Head:
    literals = {names.label(name, item): item.whole(0, 1) for name, item in node.entries()}
    with node.blamed():
        return Head(literals, names.schema.n_labels)


def _read_body(node: Node, names: _Names) -> Body:
    conditions = [_read_condition(item, names) for item in node.items()]
    body = Body(conditions)
    if len(body) != len(conditions):
        node.refuse("a condition is there twice")
    return body


def _read_condition(node: Node, names: _Names) -> Condition:
    if node.has("label"):
        fields = node.fields("label", "value")
        label = fields["label"].one_of(names.labels, "label")
        return Condition.label(label, present=fields["value"].whole(0, 1) == 1)
    fields = node.fields("feature", "operator", "value")
    column = fields["feature"].one_of(names.features, "feature")
    operators: dict[str, Operator] = {operator: operator for operator in OPERATORS}
    operator = fields["operator"].one_of(operators, "operator")
    value = fields["value"]
    if names.schema.features[column].is_nominal:
        number: float = value.one_of(names.codes(column), "category")
    else:
        number = value.number()
    with node.blamed():
        condition = Condition(column, operator, number)
    if condition.is_equality != names.schema.features[column].is_nominal:
        node.refuse("numbers are compared by <= and >, categories by = and !=")
    return condition


def _read_evidence(node: Node, head: Head, names: _Names) -> tuple[Evidence, ...]:
    return tuple(_read_counts(item) for item in _for_head(node, head, names, "evidence"))


def _read_votes(node: Node, head: Head, names: _Names) -> tuple[int, ...]:
    votes = tuple(item.whole(1, MOST_VOTES) for item in _for_head(node, head, names, "votes"))
    if set(votes) == {1}:
        node.refuse("one vote for each label goes without saying: leave the field out")
    return votes


def _for_head(node: Node, head: Head, names: _Names, what: str) -> list[Node]:
    """What is said of each label of a head, in its order."""
    said = {names.label(name, item): item for name, item in node.entries()}
    if said.keys() != set(head.labels):
        node.refuse(f"{what} must be given for each label of the head, and for no other")
    return [said[label] for label in head.labels]


def _read_counts(node: Node) -> Evidence:
    items = node.items()
    if len(items) != 2:
        node.refuse(f"must be how often right and how often wrong, not {len(items)} numbers")
    return Evidence(items[0].whole(), items[1].whole())


def read_inference(node: Node, read_order: Callable[[Node], Sequence[int]]) -> Inference:
    """A way to read the last layer; `read_order` knows how labels are called."""
    way = node.field("way").word(_WAYS, "way to read the last layer")
    if way == "once":
        node.fields("way")
        return Once()
    if way == "until stable":
        return UntilStable(node.fields("way", "max_rounds")["max_rounds"].whole(1, MOST_ROUNDS))
    if way == "gibbs":
        fields = node.fields("way", "n_samples", "burn_in", "seed")
        return Gibbs(
            fields["n_samples"].whole(1, MOST_ROUNDS),
            fields["burn_in"].whole(0, MOST_ROUNDS),
            fields["seed"].whole(0, LARGEST_SEED),
        )
    fields = node.fields("way", "max_rounds", "order")
    order = fields["order"]
    labels = None if order.is_null else read_order(order)
    return LabelByLabel(fields["max_rounds"].whole(1, MOST_ROUNDS), labels)


def read_label_list(node: Node, schema: Schema) -> tuple[int, ...]:
    """The numbers of labels that are listed by their names."""
    return tuple(item.one_of(schema.label_index, "label") for item in node.items())
