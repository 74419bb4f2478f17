"""Edits as values: fields, form, step, text and call of each stand in its class."""

import pytest
from msgspec import UNSET

from edit_cases import clinic_editor, numbered_texts
from labelrules.data.document import builtins_of, converted
from labelrules.studio import HistoryStep
from labelrules.studio.edits import ASKED, MARKS, AddRule, RuleMarked, ToggleLabel
from labelrules.studio.web.site import OPERATIONS, Fields

GIVEN = {
    "number": 3, "rule": 'flu <- "aches"', "at": 2, "to": 1, "text": "seen", "condition": 1,
    "value": "39.5", "test": "age > 4", "label": "flu",
}  # fmt: skip


def test_every_edit_with_a_form_is_an_operation_of_its_name():
    names = {edit.name for edit in ASKED if edit is not RuleMarked} | {*MARKS}
    assert names == {name for name, one in OPERATIONS.items() if one.has_preview}


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.has_preview])
def test_the_call_of_a_step_makes_the_same_rules(name):
    first = clinic_editor().lock(7).disable(8)
    given = {**GIVEN, "number": {"unlock": 7, "enable": 8}.get(name, 3)}
    edited = OPERATIONS[name].change(Fields(given))(first)
    step = edited.steps[-1]
    again = eval(f"editor.{step.step.call()}", {"editor": first})
    assert numbered_texts(again) == numbered_texts(edited)
    assert again.steps[-1].step == step.step
    assert str(step) == str(step.step)


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.has_preview])
def test_a_step_comes_back_from_its_record(name):
    first = clinic_editor().lock(7).disable(8)
    given = {**GIVEN, "number": {"unlock": 7, "enable": 8}.get(name, 3)}
    step = OPERATIONS[name].change(Fields(given))(first).steps[-1]
    record = builtins_of(step)
    number = record.pop("number")
    assert list(record) == ["parent", "author", "time", "step"]
    again = converted(record, HistoryStep)
    assert again.number is UNSET
    assert converted({**record, "number": number}, HistoryStep) == step


def test_what_is_asked_for_is_not_applied_before_it_is_a_step():
    rules = clinic_editor().history.present
    with pytest.raises(TypeError, match="a ToggleLabel is asked for, and kept as another edit"):
        ToggleLabel(1, "flu").apply(rules, 1)
    step = AddRule("flu  <-  age > 90").step(rules)
    assert (step.rule, step.layer) == ("flu <- age > 90", 1)
