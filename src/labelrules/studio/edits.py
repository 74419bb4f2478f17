"""The edits of rules as small values: each makes other rules of the rules before it."""

from dataclasses import replace
from typing import Any, Literal, TypeAlias

from labelrules._checks import is_number, quoted, suggestion, whole_number
from labelrules.data.document import FrozenRecord
from labelrules.data.schema import Feature, Schema
from labelrules.data.times import example_of, read_time
from labelrules.rules import Body, Condition, Head, Rule, parse, parse_rule, rule_text
from labelrules.rules.language.rule_parser import RuleParser
from labelrules.rules.language.text import condition_text, label_text, tokens
from labelrules.storage.parameters import ValueRecord
from labelrules.studio.edited_rules import EditedRules, rules_kept
from labelrules.studio.knowledge import Knowledge
from labelrules.studio.relearning import expression

Mark: TypeAlias = Literal["lock", "unlock", "disable", "enable"]


class RuleReplaced(FrozenRecord, tag="replace", tag_field="do", frozen=True):
    """Another rule in the place of one."""

    number: int
    rule: str

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        return rules.replaced(self.number, parse_rule(self.rule, rules.frame.schema), step)

    def call(self) -> str:
        """The step in Python."""
        return f"replace({self.number}, {self.rule!r})"

    def __str__(self) -> str:
        return f"replace rule {self.number}: {self.rule}"


class RuleAdded(FrozenRecord, tag="add", tag_field="do", frozen=True):
    """One more rule; `layer` counts from 1."""

    number: int
    rule: str
    layer: int

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        rule = parse_rule(self.rule, rules.frame.schema)
        return rules.added(rule, self.number, self.layer - 1, step)

    def call(self) -> str:
        """The step in Python."""
        return f"add({self.rule!r}, at={self.number}, layer={self.layer})"

    def __str__(self) -> str:
        return f"add rule {self.number}: {self.rule}"


class RuleRemoved(FrozenRecord, tag="remove", tag_field="do", frozen=True):
    """One rule less."""

    number: int

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        return rules.removed(self.number)

    def call(self) -> str:
        """The step in Python."""
        return f"remove({self.number})"

    def __str__(self) -> str:
        return f"remove rule {self.number}"


class RuleMoved(FrozenRecord, tag="move", tag_field="do", frozen=True):
    """A rule with another number."""

    number: int
    to: int

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        return rules.moved(self.number, self.to, step)

    def call(self) -> str:
        """The step in Python."""
        return f"move({self.number}, to={self.to})"

    def __str__(self) -> str:
        return f"move rule {self.number} to {self.to}"


class RuleMarked(FrozenRecord, tag="mark", tag_field="do", frozen=True):
    """A rule is locked or disabled, or no longer so."""

    number: int
    mark: Mark

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        if self.mark in ("lock", "unlock"):
            index = rules.index(self.number)
            entry = replace(rules.entries[index], locked=self.mark == "lock")
        else:
            index = rules.open_index(self.number, self.mark)
            disabled = self.mark == "disable"
            entry = replace(rules.entries[index], disabled=disabled, changed=step)
        if entry == replace(rules.entries[index], changed=entry.changed):
            was = {"lock": "locked", "unlock": "not locked", "disable": "disabled"}
            state = was.get(self.mark, "not disabled")
            raise ValueError(f"rule {self.number} is {state} already")
        return rules.with_entry(index, entry)

    def call(self) -> str:
        """The step in Python."""
        return f"{self.mark}({self.number})"

    def __str__(self) -> str:
        return f"{self.mark} rule {self.number}"


class RuleNoted(FrozenRecord, tag="note", tag_field="do", frozen=True):
    """A rule with another note, or without one."""

    number: int
    note: str | None

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        index = rules.index(self.number)
        entry = rules.entries[index]
        return rules.with_entry(index, replace(entry, rule=entry.rule.with_note(self.note)))

    def call(self) -> str:
        """The step in Python."""
        return f"note({self.number}, {self.note!r})"

    def __str__(self) -> str:
        if self.note is None:
            return f"remove the note of rule {self.number}"
        return f"note on rule {self.number}: {self.note}"


class RulesRelearned(FrozenRecord, tag="relearn", tag_field="do", frozen=True):
    """Rules were learned again; `learned` has them, so that a file is opened without learning.

    It is not `repeatable` if a time limit might have ended the learning.
    """

    after: int | None
    labels: tuple[str, ...] | None
    learner: ValueRecord
    knowledge: Knowledge
    learned: str
    repeatable: bool

    def apply(self, rules: EditedRules, step: int) -> EditedRules:
        """The rules after this step."""
        learned = parse(self.learned, rules.frame.schema)
        return rules_kept(rules, self.after, self.labels, step).joined(learned, step)

    def call(self) -> str:
        """The step in Python: it learns again, unless that might give other rules."""
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

    def __str__(self) -> str:
        what = "learn the rules again" + (f" after rule {self.after}" if self.after else "")
        if self.labels is not None:
            what = f"learn the rules for {', '.join(map(label_text, self.labels))} again"
        return "; ".join([what, *self.knowledge.words()])


Step: TypeAlias = (
    RuleReplaced | RuleAdded | RuleRemoved | RuleMoved | RuleMarked | RuleNoted | RulesRelearned
)


def text_of(rule: Rule, rules: EditedRules) -> str:
    """The text of a rule with its note, which reads back as the same rule."""
    return rule_text(rule.with_evidence(None), rules.frame.schema)


def with_threshold(rule: Rule, number: int, value: Any, schema: Schema) -> Rule:
    """The rule with another threshold in a condition."""
    index = _index(rule, number)
    old = rule.body.conditions[index]
    if old.on_label or old.operator not in ("<=", ">"):
        text = condition_text(old, schema)
        raise ValueError(f"condition {number}, {text}, has no threshold: replace the whole rule")
    found = _threshold(value, schema.features[old.column])
    conditions = list(rule.body.conditions)
    conditions[index] = Condition(old.column, old.operator, found)
    return replace(rule, body=_distinct(conditions, schema), evidence=None)


def _threshold(value: Any, feature: Feature) -> float:
    """A threshold as the feature encodes it."""
    if feature.time is not None:
        found = read_time(value, feature.time) if isinstance(value, str) else None
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
    if not is_number(value) or value != value or value in (float("inf"), float("-inf")):
        raise ValueError(
            f"the threshold of {quoted(feature.name)} must be a number, not {value!r:.60}"
        )
    return float(value)


def with_condition(rule: Rule, condition: Condition | str, schema: Schema) -> Rule:
    """The rule with one more condition, or several in one text."""
    more = body_of(condition, schema).conditions if isinstance(condition, str) else (condition,)
    body = _distinct([*rule.body.conditions, *more], schema)
    return replace(rule, body=body, evidence=None)


def without_condition(rule: Rule, number: int) -> Rule:
    """The rule without a condition."""
    index = _index(rule, number)
    conditions = rule.body.conditions
    rest = Body((*conditions[:index], *conditions[index + 1 :]))
    return replace(rule, body=rest, evidence=None)


def with_label(rule: Rule, label: str, present: bool | None, schema: Schema) -> Rule:
    """The rule with a label present or absent in its head, or not in it."""
    if label not in schema.label_index:
        near = suggestion(str(label), schema.labels)
        raise ValueError(f"there is no label {quoted(label)}{near}")
    number = schema.label_index[label]
    votes = {one: n for one, _, n in rule.ballot}
    literals = dict(rule.head)
    literals.pop(number, None)
    if present is not None:
        literals[number] = int(present)
    if not literals:
        raise ValueError(
            f"{quoted(label)} is the only label of the head: remove the rule, or name another first"
        )
    head = Head(literals, rule.head.n_labels)
    ballot = tuple(votes.get(one, 1) for one in head.labels)
    return replace(rule, head=head, votes=ballot, evidence=None)


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
