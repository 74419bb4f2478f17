"""The steps of an edit as small values: each makes other rules of the rules before it."""

from dataclasses import replace
from typing import Literal, TypeAlias

from labelrules.data.document import FrozenRecord
from labelrules.rules import Rule, parse, parse_rule, rule_text
from labelrules.rules.language.text import label_text
from labelrules.storage.parameters import ValueRecord
from labelrules.studio.edited_rules import EditedRules
from labelrules.studio.kept_rules import rules_kept
from labelrules.studio.knowledge import Knowledge
from labelrules.studio.learner_text import expression

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
