"""The changes that forms and the interface can ask for, each one call of the editor."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from labelrules._checks import quoted, suggestion
from labelrules.data.schema import Feature
from labelrules.studio import Editor
from labelrules.studio.web.site import Fields, InputError

Kind: TypeAlias = Literal["integer", "text", "name", "quantity", "names"]
"""What a field holds: text has no spaces around it, a name is taken as it is."""


class Field(NamedTuple):
    """A field of an operation: its name, its kind, what it says, and its values.

    These are a least number, or some words.
    """

    name: str
    kind: Kind
    about: str
    is_required: bool = True
    low: int = 0
    among: tuple[str, ...] = ()


def counted_field(name: str, about: str, is_required: bool = True) -> Field:
    """A field whose number counts from 1."""
    return Field(name, "integer", about, is_required, 1)


NUMBER = counted_field("number", "the rule, counted from 1")
CONDITION = counted_field("condition", "the condition of its body, counted from 1")


@dataclass(frozen=True)
class Operation:
    """A change of the rules: its name, its fields, and the call of the editor."""

    name: str
    about: str
    fields: tuple[Field, ...]
    call: Callable[..., Editor]

    def arguments(self, fields: Fields) -> dict[str, Any]:
        """The values of its fields."""
        return {one.name: _value(one, fields) for one in self.fields}

    def change(self, fields: Fields) -> Callable[[Editor], Editor]:
        """The change that the fields ask for."""
        arguments = self.arguments(fields)
        return lambda editor: self.call(editor, **arguments)


def _value(field: Field, fields: Fields) -> Any:
    """The value of a field; None if it is left out, and may be."""
    if not field.is_required and not fields.has(field.name):
        return None
    if field.kind == "text" and not field.is_required:
        return fields.optional(field.name)
    read = {"integer": fields.number, "quantity": fields.quantity, "name": fields.exact}
    return read.get(field.kind, fields.text)(field.name)


def _move(editor: Editor, number: int, to: int) -> Editor:
    return editor.move(number, to=to)


def _add(editor: Editor, rule: str, at: int | None = None) -> Editor:
    return editor.add(rule, at=at)


def _threshold(editor: Editor, number: int, condition: int, value: str | float) -> Editor:
    given = value
    body = editor.rules[number - 1].rule.body if 1 <= number <= len(editor.rules) else ()
    for tested in list(body)[condition - 1 : condition] if condition else []:
        if not tested.on_label:
            given = _read(value, editor.data.schema.features[tested.column])
    return editor.set_threshold(number, condition=condition, value=given)


def _read(value: str | float, feature: Feature) -> str | float:
    """A number, if the text is one; the editor refuses other texts in its own words."""
    if feature.categories is not None or not isinstance(value, str):
        return value
    text = value.strip()
    if not feature.is_numeric or "_" in text:  # which Python reads in numbers
        return text
    try:
        return float(text)
    except ValueError:
        return text


OPERATIONS = {
    one.name: one
    for one in (
        Operation(
            "replace", "Write a rule anew, in the rule language.",
            (NUMBER, Field("rule", "text", "the new rule")),
            lambda editor, number, rule: editor.replace(number, rule),
        ),
        Operation(
            "add", "Add a rule.",
            (
                Field("rule", "text", "the rule, in the rule language"),
                counted_field("at", "its number in the list; by default the last", False),
            ),
            _add,
        ),
        Operation("remove", "Remove a rule.", (NUMBER,),
                  lambda editor, number: editor.remove(number)),
        Operation(
            "move", "Move a rule to another place in the list.",
            (NUMBER, counted_field("to", "its new number")), _move,
        ),
        Operation("lock", "Keep a rule when others are learned again.", (NUMBER,),
                  lambda editor, number: editor.lock(number)),
        Operation("unlock", "Let a rule be learned again.", (NUMBER,),
                  lambda editor, number: editor.unlock(number)),
        Operation("disable", "Leave a rule out of the model, but keep it in the project.",
                  (NUMBER,), lambda editor, number: editor.disable(number)),
        Operation("enable", "Take a rule back into the model.", (NUMBER,),
                  lambda editor, number: editor.enable(number)),
        Operation(
            "note", "Write a note at a rule, or remove it.",
            (NUMBER, Field("text", "text", "the note; empty to remove it", False)),
            lambda editor, number, text: editor.note(number, text),
        ),
        Operation(
            "set_threshold", "Move the threshold of a condition.",
            (NUMBER, CONDITION, Field("value", "quantity", "the new threshold")), _threshold,
        ),
        Operation(
            "add_condition", "Add a condition to the body of a rule.",
            (NUMBER, Field("test", "text", "the condition, in the rule language")),
            lambda editor, number, test: editor.add_condition(number, test),
        ),
        Operation(
            "drop_condition", "Drop a condition from the body of a rule.", (NUMBER, CONDITION),
            lambda editor, number, condition: editor.drop_condition(number, condition=condition),
        ),
        Operation(
            "toggle_label", "Take a label into the head of a rule, turn it over, or out of it.",
            (NUMBER, Field("label", "name", "the name of the label")),
            lambda editor, number, label: editor.toggle_label(number, label),
        ),
        Operation("undo", "Undo the last step.", (), lambda editor: editor.undo()),
        Operation("redo", "Redo the step that was undone.", (), lambda editor: editor.redo()),
        Operation(
            "commit", "Name the present rules as a version, with the reason.",
            (Field("reason", "text", "why the rules were changed"),),
            lambda editor, reason: editor.commit(reason),
        ),
        Operation("branch", "Begin a branch at the present rules.",
                  (Field("name", "text", "the name of the branch"),),
                  lambda editor, name: editor.branch(name)),
        Operation("switch", "Go to another branch.",
                  (Field("name", "text", "the name of the branch"),),
                  lambda editor, name: editor.switch(name)),
    )
}  # fmt: skip

IN_HISTORY = ("undo", "redo", "commit", "branch", "switch")
"""Operations of which there is no preview."""


def operation_of(fields: Fields) -> Operation:
    """The operation that the field `op` names."""
    name = fields.text("op")
    if name not in OPERATIONS:
        near = suggestion(name, OPERATIONS) or f"; there are {', '.join(OPERATIONS)}"
        raise InputError(f"there is no operation {quoted(name)}{near}")
    return OPERATIONS[name]
