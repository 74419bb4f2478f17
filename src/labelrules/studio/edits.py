"""Edits of rules: each is a value that makes other rules, prints itself, and is a call and a form.

An edit is asked for by its fields, in Python by a method of the editor, in the workbench by a form.
The history keeps it as a step, an edit that needs no more than its fields to be done again, and
files hold steps. A form has an input for each field with a description; it is headed by the first
line of the docstring.
"""

from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta
from msgspec.structs import replace as with_fields

from labelrules._checks import is_number, quoted, suggestion, whole_number
from labelrules.data.document import FrozenRecord
from labelrules.data.schema import Feature, Schema
from labelrules.data.times import example_of, read_time
from labelrules.rules import Body, Condition, Head, Rule, parse, parse_rule, rule_text
from labelrules.rules.language.rule_parser import RuleParser
from labelrules.rules.language.text import condition_text, label_text, tokens
from labelrules.storage.parameters import ValueRecord
from labelrules.studio.edited_rules import EditedRules, RuleEntry, rules_kept
from labelrules.studio.knowledge import Knowledge
from labelrules.studio.relearning import expression, imports_of

Number: TypeAlias = Annotated[int, Meta(description="the rule, counted from 1")]
TestNumber: TypeAlias = Annotated[
    int, Meta(description="the condition of its body, counted from 1")
]


class Edit(FrozenRecord, tag_field="do", frozen=True):
    """Change the rules."""

    name: ClassVar[str]
    """How the editor and the interface call it."""
    keywords: ClassVar[tuple[str, ...]] = ()
    """Fields that the editor takes by their names only."""

    def step(self, rules: EditedRules) -> "Step":
        """The step by which the history keeps this edit of rules."""
        return self  # type: ignore[return-value]

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after a step, which has this number in the history."""
        raise TypeError(f"a {type(self).__name__} is asked for, and kept as another edit")

    def call(self) -> str:
        """The step in Python, a call of the editor."""
        values = {name: repr(getattr(self, name)) for name in self.__struct_fields__}
        given = [f"{k}={v}" if k in self.keywords else v for k, v in values.items()]
        return f"{self.name}({', '.join(given)})"

    def imports(self) -> set[tuple[str, str]]:
        """The modules and names that the call needs."""
        return set()


class RuleReplaced(Edit, tag="replace", frozen=True):
    """Write a rule anew, in the rule language."""

    name = "replace"
    number: Number
    rule: Annotated[str, Meta(description="the new rule")]

    def step(self, rules: EditedRules) -> "Step":
        """Write the rule as the language prints it."""
        return with_fields(self, rule=printed_rule(self.rule, rules.frame.schema))

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Replace the rule; without a note of its own it keeps the old note."""
        rule = parse_rule(self.rule, rules.frame.schema)
        index = rules.open_index(self.number, "replace")
        old = rules.entries[index]
        noted = rule if rule.note is not None else rule.with_note(old.rule.note)
        fitting = rules.fitting(noted, old.layer, self.number)
        return rules.with_entry(index, replace(old, rule=fitting, changed=step))

    def __str__(self) -> str:
        return f"replace rule {self.number}: {self.rule}"


class RuleAdded(Edit, tag="add", frozen=True):
    """Add a rule at a place; `layer` counts from 1."""

    name = "add"
    number: int
    rule: str
    layer: int

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Insert the rule."""
        rule, layer = parse_rule(self.rule, rules.frame.schema), self.layer - 1
        first, last = rules.span(layer)
        if not first + 1 <= self.number <= last + 1:
            raise ValueError(
                f"a rule of {rules.layer_text(layer)} has a number from {first + 1} to {last + 1}, "
                f"not {self.number}"
            )
        fitting = rules.fitting(rule, layer, self.number)
        entry = RuleEntry(rules.next_id, fitting, layer, changed=step)
        before, after = rules.entries[: self.number - 1], rules.entries[self.number - 1 :]
        return rules.with_entries((*before, entry, *after), 1)

    def call(self) -> str:
        """Give the place by name, as the editor takes it."""
        return f"add({self.rule!r}, at={self.number}, layer={self.layer})"

    def __str__(self) -> str:
        return f"add rule {self.number}: {self.rule}"


class AddRule(Edit, frozen=True):
    """Add a rule."""

    name = "add"
    rule: Annotated[str, Meta(description="the rule, in the rule language")]
    at: Annotated[int | None, Meta(description="its number in the list; by default the last")] = (
        None
    )
    layer: int | None = None

    def step(self, rules: EditedRules) -> "Step":
        """Find the place, which is before rules that hold for every row."""
        at, layer = self.at, self._layer(rules)
        first, end = rules.span(layer)
        if at is None:
            at = end + 1
            while at - 1 > first and not rules.entries[at - 2].rule.body and rules.frame.ordered:
                at -= 1
        return RuleAdded(at, printed_rule(self.rule, rules.frame.schema), layer + 1)

    def _layer(self, rules: EditedRules) -> int:
        """The layer, from 0; by default of the rule with this number now, or the last."""
        n_layers, layer, at = rules.n_layers, self.layer, self.at
        if layer is None:
            is_within = at is not None and 1 <= at <= len(rules.entries)
            return rules.entry(at).layer if is_within and at is not None else n_layers - 1
        if layer not in range(1, n_layers + 2):
            raise ValueError(
                f"layer must be a number from 1 to {n_layers + 1}, the last for rows without a "
                f"label, not {layer!r}"
            )
        return layer - 1


class RuleRemoved(Edit, tag="remove", frozen=True):
    """Remove a rule."""

    name = "remove"
    number: Number

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Leave the rule out, unless it is locked."""
        index = rules.open_index(self.number, "remove")
        return rules.with_entries((*rules.entries[:index], *rules.entries[index + 1 :]))

    def __str__(self) -> str:
        return f"remove rule {self.number}"


class RuleMoved(Edit, tag="move", frozen=True):
    """Move a rule to another place in the list."""

    name = "move"
    keywords = ("to",)
    number: Number
    to: Annotated[int, Meta(description="its new number")]

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Take the rule to its new number, which must be in its layer."""
        index, target = rules.open_index(self.number, "move"), rules.index(self.to)
        entry = rules.entries[index]
        if rules.entries[target].layer != entry.layer:
            raise ValueError(
                f"rule {self.number} is in {rules.layer_text(entry.layer)}, rule {self.to} in "
                f"{rules.layer_text(rules.entries[target].layer)}: remove the rule, and add it "
                "there"
            )
        others = [*rules.entries[:index], *rules.entries[index + 1 :]]
        others.insert(target, replace(entry, changed=step))
        return rules.with_entries(others)

    def __str__(self) -> str:
        return f"move rule {self.number} to {self.to}"


Mark: TypeAlias = Literal["lock", "unlock", "disable", "enable"]
_STATES = {"lock": "locked", "unlock": "not locked", "disable": "disabled"}

MARKS: dict[Mark, str] = {
    "lock": "Keep a rule when others are learned again.",
    "unlock": "Let a rule be learned again.",
    "disable": "Leave a rule out of the model, but keep it in the project.",
    "enable": "Take a rule back into the model.",
}
"""What each mark does, as its form says."""


class RuleMarked(Edit, tag="mark", frozen=True):
    """Mark a rule as one of `MARKS` says."""

    number: Number
    mark: Mark

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Set the mark, which must not be set already."""
        if self.mark in ("lock", "unlock"):
            index = rules.index(self.number)
            entry = replace(rules.entries[index], locked=self.mark == "lock")
        else:
            index = rules.open_index(self.number, self.mark)
            disabled = self.mark == "disable"
            entry = replace(rules.entries[index], disabled=disabled, changed=step)
        if entry == replace(rules.entries[index], changed=entry.changed):
            state = _STATES.get(self.mark, "not disabled")
            raise ValueError(f"rule {self.number} is {state} already")
        return rules.with_entry(index, entry)

    def call(self) -> str:
        """Call the editor's method of this mark."""
        return f"{self.mark}({self.number})"

    def __str__(self) -> str:
        return f"{self.mark} rule {self.number}"


class RuleNoted(Edit, tag="note", frozen=True):
    """Write a note at a rule, or remove it."""

    name = "note"
    number: Number
    note: Annotated[
        str | None,
        Meta(description="the note; empty to remove it", extra={"field": "text"}),
    ]

    def step(self, rules: EditedRules) -> "Step":
        """Keep the note as rules keep it; an empty one is none."""
        noted = rules.entry(self.number).rule.with_note(self.note or None)
        return with_fields(self, note=noted.note)

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Set the note, of a locked rule, too."""
        index = rules.index(self.number)
        entry = rules.entries[index]
        return rules.with_entry(index, replace(entry, rule=entry.rule.with_note(self.note)))

    def __str__(self) -> str:
        if self.note is None:
            return f"remove the note of rule {self.number}"
        return f"note on rule {self.number}: {self.note}"


class ChangeRule(Edit, frozen=True):
    """Change a part of a rule; the history keeps the whole rule that comes of it."""

    number: Number

    def step(self, rules: EditedRules) -> "Step":
        """Write the whole rule anew."""
        schema = rules.frame.schema
        changed = self.changed(rules.entry(self.number).rule, schema)
        return RuleReplaced(self.number, printed_rule(changed, schema))

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """The rule with its part changed."""
        raise NotImplementedError


class SetThreshold(ChangeRule, frozen=True):
    """Move the threshold of a condition."""

    name = "set_threshold"
    condition: TestNumber
    value: Annotated[float | str, Meta(description="the new threshold")]

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """Compare with the new threshold."""
        index = _index(rule, self.condition)
        old = rule.body.conditions[index]
        if old.on_label or old.operator not in ("<=", ">"):
            text = condition_text(old, schema)
            raise ValueError(
                f"condition {self.condition}, {text}, has no threshold: replace the whole rule"
            )
        conditions = list(rule.body.conditions)
        found = _threshold(self.value, schema.features[old.column])
        conditions[index] = Condition(old.column, old.operator, found)
        return replace(rule, body=_distinct(conditions, schema), evidence=None)


class AddCondition(ChangeRule, frozen=True):
    """Add a condition to the body of a rule."""

    name = "add_condition"
    test: Annotated[str, Meta(description="the condition, in the rule language")]

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """Test for the condition, or several in one text, too."""
        more = body_of(self.test, schema).conditions
        body = _distinct([*rule.body.conditions, *more], schema)
        return replace(rule, body=body, evidence=None)


class DropCondition(ChangeRule, frozen=True):
    """Drop a condition from the body of a rule."""

    name = "drop_condition"
    condition: TestNumber

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """Leave the condition out."""
        index, conditions = _index(rule, self.condition), rule.body.conditions
        rest = Body((*conditions[:index], *conditions[index + 1 :]))
        return replace(rule, body=rest, evidence=None)


class SetLabel(ChangeRule, frozen=True):
    """Predict a label present or absent, or leave it open."""

    label: Annotated[str, Meta(description="the name of the label", extra={"kind": "name"})]
    present: bool | None

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """Set the label in the head; rules that vote keep the points of the other labels."""
        number = _label_number(self.label, schema)
        votes = {one: n for one, _, n in rule.ballot}
        literals = dict(rule.head)
        literals.pop(number, None)
        if self.present is not None:
            literals[number] = int(self.present)
        if not literals:
            raise ValueError(
                f"{quoted(self.label)} is the only label of the head: remove the rule, or name "
                "another first"
            )
        head = Head(literals, rule.head.n_labels)
        ballot = tuple(votes.get(one, 1) for one in head.labels)
        return replace(rule, head=head, votes=ballot, evidence=None)


class ToggleLabel(ChangeRule, frozen=True):
    """Take a label into the head of a rule, turn it over, or out of it."""

    name = "toggle_label"
    label: Annotated[str, Meta(description="the name of the label", extra={"kind": "name"})]

    def changed(self, rule: Rule, schema: Schema) -> Rule:
        """Predict the label present, then absent, then not at all."""
        value = dict(rule.head).get(_label_number(self.label, schema))
        following = {None: True, 1: False, 0: None}[value]
        return SetLabel(self.number, self.label, following).changed(rule, schema)


class RulesRelearned(Edit, tag="relearn", frozen=True):
    """Learn rules again; `learned` has them, so that a file is opened without learning.

    It is not `repeatable` if a time limit might have ended the learning.
    """

    name = "relearn"
    after: int | None
    labels: tuple[str, ...] | None
    learner: ValueRecord
    knowledge: Knowledge
    learned: str
    repeatable: bool

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """Join the rules that are kept and those that were learned."""
        learned = parse(self.learned, rules.frame.schema)
        return rules_kept(rules, self.after, self.labels, step).joined(learned, step)

    def call(self) -> str:
        """Learn again, unless that might give other rules."""
        given: dict[str, str] = {}
        if self.after is not None:
            given["after"] = repr(self.after)
        if self.labels is not None:
            given["labels"] = repr(list(self.labels))
        given["learner"] = expression(self.learner)
        if self.knowledge != Knowledge():
            given["knowledge"] = self.knowledge.expression()
        if not self.repeatable:
            given["learned"] = repr(self.learned)
        return f"relearn({', '.join(f'{name}={text}' for name, text in given.items())})"

    def imports(self) -> set[tuple[str, str]]:
        """Import the learner, and what it is made of."""
        found = imports_of(self.learner)
        is_told = self.knowledge != Knowledge()
        return {*found, ("labelrules.studio", "Knowledge")} if is_told else found

    def __str__(self) -> str:
        what = "learn the rules again" + (f" after rule {self.after}" if self.after else "")
        if self.labels is not None:
            what = f"learn the rules for {', '.join(map(label_text, self.labels))} again"
        return "; ".join([what, *self.knowledge.words()])


Step: TypeAlias = (
    RuleReplaced | RuleAdded | RuleRemoved | RuleMoved | RuleMarked | RuleNoted | RulesRelearned
)
"""The edits that the history keeps."""

ASKED: tuple[type[Edit], ...] = (
    RuleReplaced, AddRule, RuleRemoved, RuleMoved, RuleMarked, RuleNoted, SetThreshold,
    AddCondition, DropCondition, ToggleLabel,
)  # fmt: skip
"""The edits that have a form, in the order of the interface."""


def printed_rule(rule: Rule | str, schema: Schema) -> str:
    """The text of a rule with its note, as the language prints it and reads it back."""
    parsed = parse_rule(rule, schema) if isinstance(rule, str) else rule
    if not isinstance(parsed, Rule):
        raise TypeError(f"a rule is a Rule or its text, not {rule!r:.60}")
    return rule_text(parsed.with_evidence(None), schema)


def _threshold(value: Any, feature: Feature) -> float:
    """A threshold as the feature encodes it."""
    given = value.strip() if isinstance(value, str) and feature.categories is None else value
    if feature.time is not None:
        found = read_time(given, feature.time) if isinstance(given, str) else None
        if found is None:
            example = example_of(feature.time)
            raise ValueError(
                f"the threshold of {quoted(feature.name)} must be {example}, not {value!r:.60}"
            )
        return float(found)
    if feature.categories is not None:
        if value not in feature.categories:
            near = suggestion(str(value), feature.categories)
            raise ValueError(f"{quoted(feature.name)} has no category {quoted(value)}{near}")
        return float(feature.categories.index(value))
    if isinstance(given, str) and "_" not in given:  # which Python reads in numbers
        with suppress(ValueError):
            given = float(given)
    if not is_number(given) or not isfinite(given):
        raise ValueError(
            f"the threshold of {quoted(feature.name)} must be a number, not {given!r:.60}"
        )
    return float(given)


def _label_number(name: str, schema: Schema) -> int:
    if name not in schema.label_index:
        near = suggestion(str(name), schema.labels)
        raise ValueError(f"there is no label {quoted(name)}{near}")
    return schema.label_index[name]


def _index(rule: Rule, number: int) -> int:
    """The place of a condition, from 0, by its number."""
    n_conditions = len(rule.body)
    if not n_conditions:
        raise ValueError("the rule has no condition: it holds for every row")
    return whole_number(number, "condition", low=1, high=n_conditions) - 1


def _distinct(conditions: list[Condition], schema: Schema) -> Body:
    """The body of these conditions, each once."""
    for place, one in enumerate(conditions):
        if one in conditions[:place]:
            raise ValueError(f"the condition {condition_text(one, schema)} is there already")
    return Body(conditions)


def body_of(text: str, schema: Schema) -> Body:
    """The conditions of a text such as ``"age > 60, not flu"``; errors name the place."""
    parser = RuleParser(list(tokens(text, 1)), schema, [text], 1)
    if parser.took_words("true"):
        parser.expect("end", "the end of the line")
        return Body()
    conditions = [parser.condition()]
    while parser.took("comma"):
        conditions.append(parser.condition())
    parser.expect("end", "a comma or the end of the line")
    return Body(conditions)
