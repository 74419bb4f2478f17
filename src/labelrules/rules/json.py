"""Theories as records of JSON documents: features, categories and labels by their names."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias, cast

from msgspec import UNSET, Meta, UnsetType

from labelrules._checks import quoted
from labelrules.data.document import Count, DocumentError, Record, at, builtins_of, known, step
from labelrules.data.schema import Schema
from labelrules.data.times import example_of, read_time
from labelrules.rules.conditions import Body, Condition, Operator
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import MOST_VOTES, Evidence, Head, Rule
from labelrules.rules.theory import DecisionList, LabelSet, RuleSet, Theory

MOST_ROUNDS = 1_000_000
"""How often a layer that is read from a file may be applied."""


class ConditionRecord(Record):
    """A feature compared with a number, a category or a time, or a label that is = 1 or = 0.

    With "in", the feature has one of the categories listed, which are in the order of the schema.

    Missing values and labels that no rule has written satisfy no condition.
    """

    column: str
    operator: Operator
    value: int | float | str | list[str]


class RuleRecord(Record):
    """If every condition of the body holds, the head is written: 1 for present, 0 for absent.

    Evidence: for each label of the head, how often it was right and wrong, or null if that was not
    counted. Where a rule stops, a decision list ends for the rows it covers. A note is what a
    person has to say about the rule.
    """

    head: Annotated[dict[str, Literal[0, 1]], Meta(min_length=1)]
    body: list[ConditionRecord]
    stops: bool
    evidence: dict[str, tuple[Count, Count] | None] | None
    note: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET


class VotesRecord(RuleRecord):
    """A rule of a rule set; without votes it has one vote for each label of its head."""

    votes: dict[str, Annotated[int, Meta(ge=1, le=MOST_VOTES)]] | UnsetType = UNSET


class ListRecord(Record, tag="decision list", tag_field="kind"):
    """Rules in order, of which the first to write a label decides."""

    rules: list[RuleRecord]


class LabelSetRecord(Record):
    """Labels that are usual together, in the order of the schema, and the points they gain."""

    labels: list[str]
    bonus: Annotated[int, Meta(ge=-MOST_VOTES, le=MOST_VOTES)]


class SetRecord(Record, tag="rule set", tag_field="kind"):
    """Rules that vote: a label is present if more votes are for its presence than against it.

    Label sets: a row gets the first of those with the most points, which are the votes of its
    labels for presence less those against it, and its bonus, if these are no fewer than the points
    of the labels that are present by themselves. At least one: in rows where no label is present by
    itself, the first of those with the most points is.
    """

    rules: list[VotesRecord]
    label_sets: Annotated[list[LabelSetRecord], Meta(min_length=1)] | UnsetType = UNSET
    at_least_one: bool | UnsetType = UNSET


class InferenceRecord(Record):
    """How the last layer is applied: labels in an order have their numbers, from 0."""

    kind: Literal["once", "until stable", "label by label", "gibbs"]
    parameters: dict[str, Count | list[Count] | None]


INFERENCES: dict[str, Any] = {
    "once": Once,
    "until stable": UntilStable,
    "label by label": LabelByLabel,
    "gibbs": Gibbs,
}
"""How the last layer is applied, by kind."""


class LayersRecord(Record, tag="layers", tag_field="kind"):
    """Each layer reads the labels of the one before, where unwritten labels are absent.

    Rows without a label get the labels of the fallback.
    """

    layers: Annotated[list[ListRecord | SetRecord], Meta(min_length=1)]
    inference: InferenceRecord
    fallback: ListRecord | None


TheoryRecord: TypeAlias = ListRecord | SetRecord | LayersRecord


def theory_record(theory: Theory) -> Any:
    """The record of a theory, without its schema."""
    if isinstance(theory, LayeredTheory):
        layers = [theory_record(layer) for layer in theory.layers]
        fallback = None if theory.fallback is None else theory_record(theory.fallback)
        return LayersRecord(layers, inference_record(theory.inference), fallback)
    rules: Any = [rule_record(rule, theory.schema) for rule in theory]
    if not isinstance(theory, RuleSet):
        return ListRecord(rules)
    sets = [_label_set_record(one, theory.schema) for one in theory.label_sets]
    return SetRecord(rules, sets or UNSET, theory.at_least_one or UNSET)


def _label_set_record(label_set: LabelSet, schema: Schema) -> LabelSetRecord:
    return LabelSetRecord([schema.labels[label] for label in label_set.labels], label_set.bonus)


def rule_record(rule: Rule, schema: Schema) -> RuleRecord:
    """The record of a rule, by the names of the schema."""
    names = [schema.labels[label] for label in rule.head.labels]
    evidence = None
    if rule.evidence is not None:
        pairs = (pair and (int(pair.right), int(pair.wrong)) for pair in rule.evidence)
        evidence = dict(zip(names, pairs, strict=True))
    head: Any = dict(zip(names, rule.head.values, strict=True))
    body = [_condition_record(condition, schema) for condition in rule.body]
    votes = UNSET if rule.votes is None else dict(zip(names, rule.votes, strict=True))
    note = UNSET if rule.note is None else rule.note
    return VotesRecord(head, body, bool(rule.stops), evidence, note, votes)


def rule_document(rule: Rule, schema: Schema) -> dict[str, Any]:
    """A rule as plain values, as files have it."""
    found: dict[str, Any] = builtins_of(rule_record(rule, schema))
    return found


def _condition_record(condition: Condition, schema: Schema) -> ConditionRecord:
    if condition.on_label:
        return ConditionRecord(schema.labels[condition.column], "=", int(condition.value))
    feature = schema.features[condition.column]
    value: Any = condition.value if feature.is_numeric else str(feature.text(condition.value))
    if condition.operator == "in":
        value = [feature.text(code) for code in condition.codes]
    return ConditionRecord(feature.name, condition.operator, value)


def inference_record(inference: Inference) -> InferenceRecord:
    """The record of how the last layer is applied."""
    kind: Any = next(kind for kind, one in INFERENCES.items() if isinstance(inference, one))
    return InferenceRecord(kind, asdict(inference))


def read_theory(record: TheoryRecord, schema: Schema, place: str = "") -> Any:
    """The theory of a record over a schema; `place` is where it is in the document."""
    with at(place):
        return _read_theory(record, _Names(schema))


def _read_theory(record: TheoryRecord, names: "_Names") -> Theory:
    if isinstance(record, LayersRecord):
        layers = []
        for number, layer in enumerate(record.layers):
            with at(f".layers[{number}]"):
                layers.append(_read_theory(layer, names))
        with at(".inference"):
            inference = read_inference(record.inference)
        with at(".fallback"):
            fallback: Any = record.fallback and _read_theory(record.fallback, names)
        return LayeredTheory(names.schema, layers, inference, fallback)
    rules = []
    for number, rule in enumerate(record.rules):
        with at(f".rules[{number}]"):
            rules.append(_read_rule(rule, names))
    if isinstance(record, ListRecord):
        return DecisionList(names.schema, rules)
    if record.at_least_one is False:
        raise DocumentError(".at_least_one", "leave the field out unless it is true")
    label_sets = _read_label_sets(record, names)
    return RuleSet(names.schema, rules, label_sets, record.at_least_one is True)


def _read_label_sets(record: SetRecord, names: "_Names") -> list[LabelSet]:
    found: list[LabelSet] = []
    for number, one in enumerate(() if record.label_sets is UNSET else record.label_sets):
        place = f".label_sets[{number}]"
        labels = label_numbers(one.labels, names.schema, f"{place}.labels")
        if any(label >= after for label, after in pairwise(labels)):
            message = "each label must be there once, and in the order of the schema"
            raise DocumentError(f"{place}.labels", message)
        if any(labels == other.labels for other in found):
            raise DocumentError(f"{place}.labels", "this label set is there twice")
        found.append(LabelSet(labels, one.bonus))
    return found


class _Names:
    """What the names of a schema stand for."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.labels = schema, schema.label_index
        self._codes: dict[int, dict[str, int]] = {}

    @cached_property
    def columns(self) -> dict[str, tuple[bool, int]]:
        """From the names of features and labels to whether it is a label, and its number."""
        features = {name: (False, number) for name, number in self.schema.feature_index.items()}
        return features | {name: (True, number) for name, number in self.labels.items()}

    def codes(self, column: int) -> dict[str, int]:
        """From the categories of a feature to their numbers."""
        if column not in self._codes:
            categories: Sequence[str] = self.schema.features[column].categories or ()
            self._codes[column] = {text: code for code, text in enumerate(categories)}
        return self._codes[column]


def _read_rule(record: RuleRecord, names: _Names) -> Rule:
    literals = {
        known(name, names.labels, "label", f".head{step(name)}"): value
        for name, value in record.head.items()
    }
    head = Head(literals, names.schema.n_labels)
    body = Body(_read_condition(one, names, n) for n, one in enumerate(record.body))
    if len(body) != len(record.body):
        raise DocumentError(".body", "a condition is there twice")
    evidence = votes = None
    if record.evidence is not None:
        pairs = _for_head(record.evidence, head, names, "evidence")
        evidence = tuple(pair and Evidence(*pair) for pair in pairs)
        if not any(evidence):
            raise DocumentError(".evidence", "no label was counted: write null")
    if isinstance(record, VotesRecord) and record.votes is not UNSET:
        votes = tuple(_for_head(record.votes, head, names, "votes"))
        if set(votes) == {1}:
            raise DocumentError(".votes", "leave the field out if each label has one vote")
    return Rule(head, body, record.stops, evidence, votes, _read_note(record))


def _read_note(record: RuleRecord) -> str | None:
    if record.note is UNSET:
        return None
    if record.note != record.note.strip():
        raise DocumentError(".note", "a note neither begins nor ends with a space")
    return record.note


def _read_condition(record: ConditionRecord, names: _Names, number: int) -> Condition:
    place, value = f".body[{number}]", record.value
    on_label, column = known(record.column, names.columns, "feature or label", f"{place}.column")
    if on_label:
        if record.operator != "=" or isinstance(value, str | list) or value not in (0, 1):
            raise DocumentError(place, "a label is present (= 1) or absent (= 0)")
        return Condition.label(column, present=value == 1)
    feature = names.schema.features[column]
    if (record.operator in ("=", "!=", "in")) != feature.is_nominal:
        raise DocumentError(place, "numbers are compared by <= and >, categories by =, != and in")
    if record.operator == "in" or isinstance(value, list):
        return _read_set(record, column, names, place)
    if feature.is_numeric == isinstance(value, str):
        text = "a category" if feature.time is None else example_of(feature.time)
        wanted = "a number" if feature.is_numeric else f"text, {text}"
        raise DocumentError(f"{place}.value", f"must be {wanted}, not {value!r:.60}")
    if isinstance(value, str):
        return Condition(column, record.operator, _coded(value, column, names, place))
    if float(value) != value:
        raise DocumentError(f"{place}.value", f"no floating-point number is {value}")
    return Condition(column, record.operator, float(value))


def _read_set(record: ConditionRecord, column: int, names: _Names, place: str) -> Condition:
    if record.operator != "in" or not isinstance(record.value, list) or not record.value:
        raise DocumentError(f"{place}.value", "a list of categories is for the operator in")
    codes = [_coded(text, column, names, place) for text in record.value]
    if any(code >= after for code, after in pairwise(codes)):
        message = "each category must be there once, and in the order of the schema"
        raise DocumentError(f"{place}.value", message)
    return Condition.among(column, codes)


def _coded(value: str, column: int, names: _Names, place: str) -> int:
    """The number of a category, a date, a time or a duration."""
    kind = names.schema.features[column].time
    if kind is None:
        return known(value, names.codes(column), "category", f"{place}.value")
    number = read_time(value, kind)
    if number is None:
        message = f"must be {example_of(kind)}, not {quoted(value)}"
        raise DocumentError(f"{place}.value", message)
    return number


def _for_head(given: dict[str, Any], head: Head, names: _Names, what: str) -> list[Any]:
    """The values of the labels of a head, in its order."""
    values = {
        known(name, names.labels, "label", f".{what}{step(name)}"): value
        for name, value in given.items()
    }
    if values.keys() != set(head.labels):
        raise DocumentError(
            f".{what}", f"{what} must be given for each label of the head, and for no other"
        )
    return [values[label] for label in head.labels]


def read_inference(record: InferenceRecord) -> Inference:
    """How the last layer is applied."""
    kind, given = INFERENCES[record.kind], record.parameters
    names = [field.name for field in fields(kind)]
    if sorted(given) != sorted(names):
        raise DocumentError(".parameters", f"must be {', '.join(names) or 'empty'}")
    for name in ("max_rounds", "n_samples", "burn_in"):
        if name in given and not isinstance(given[name], int):
            raise DocumentError(f".parameters.{name}", "must be a whole number")
        if cast(int, given.get(name, 0)) > MOST_ROUNDS:
            raise DocumentError(f".parameters.{name}", f"must be at most {MOST_ROUNDS}")
    with at(".parameters"):
        found: Inference = kind(**given)
    return found


def label_numbers(labels: Sequence[str], schema: Schema, place: str = "") -> tuple[int, ...]:
    """The numbers of labels that are listed by their names."""
    return tuple(
        known(name, schema.label_index, "label", f"{place}[{number}]")
        for number, name in enumerate(labels)
    )
