"""Undo, redo, branches, versions, and the test part that is opened on request."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_cases import clinic_editor, done, steps
from labelrules import edit, evaluate, parse
from tables import tables
from theories import decision_lists


def test_undo_and_redo():
    first = clinic_editor()
    second = first.remove(1)
    third = second.lock(1)
    assert not first.can_undo
    assert third.undo().theory == second.theory
    assert third.undo().undo().theory == first.theory
    back = third.undo().undo()
    assert back.can_redo
    assert back.redo().redo().rules == third.rules
    assert not back.remove(2).can_redo
    assert len(back.remove(2).history.steps) == 4  # nothing is forgotten


@settings(max_examples=30)
@given(st.data())
def test_undoing_everything_and_doing_it_again_changes_nothing(data):
    table = data.draw(tables(max_rows=5))
    theory = data.draw(decision_lists(table.schema, st.floats(-3, 3), 4))
    start = edit(theory, table)
    end = done(start, data.draw(st.lists(steps(theory), max_size=6)))
    back, n = end, 0
    while back.can_undo:
        before = back
        back = back.undo()
        assert back.redo().rules == before.rules
        n += 1
    assert back.theory == theory
    assert n == len(end.steps)
    for _ in range(n):
        back = back.redo()
    assert back.rules == end.rules
    assert back.history.now.number == end.history.now.number


def test_branches_are_left_where_they_were():
    main = clinic_editor().remove(1)
    other = main.branch("bold").remove(1).remove(1)
    assert other.branches == {"main": 1, "bold": 3}
    assert (other.branch_name, main.branch_name) == ("bold", "main")
    assert other.switch("main").rules == main.rules
    grown = other.switch("main").lock(3)
    assert grown.branches == {"main": 4, "bold": 3}
    assert grown.switch("bold").rules == other.rules
    undone = other.undo().switch("main").switch("bold")
    assert undone.can_redo
    assert undone.redo().rules == other.rules


def test_versions_have_reason_author_time_and_measures():
    editor = clinic_editor().remove(1).commit("the rule was wrong")
    (version,) = editor.versions
    assert (version.name, version.reason, version.author) == (
        "version 1", "the rule was wrong", "Dr. Who",
    )  # fmt: skip
    expected = evaluate(editor.data.Y, editor.theory.predict(editor.data))
    assert version.measures["training"] == expected
    assert version.time.tzinfo is not None
    later = editor.remove(1).commit("too", name="second", author="Dr. No")
    assert later.versions[1].author == "Dr. No"
    assert later.versions[1].branch == "main"
    assert later.go_to("version 1").rules == editor.rules
    assert later.go_to(version).rules == editor.rules
    assert later.go_to(0).rules == clinic_editor().rules
    assert later.undo().versions == later.versions


def test_differences_from_versions_editors_theories():
    editor = clinic_editor()
    later = editor.commit("begin").remove(1).replace(1, 'flu <- "aches"')
    for other in ("commit", "version 1", later.versions[0], editor, editor.theory, editor.model):
        found = later.diff(other)
        assert len(found.kept) == len(editor.rules) - 2
        assert len(found.removed) + len(found.changed) == 2
        assert found.other == later.theory


def test_steps_say_what_was_done():
    editor = clinic_editor().remove(1).move(3, to=1).lock(2).note(2, "x").note(2, None)
    assert [str(one) for one in editor.steps] == [
        "remove rule 1", "move rule 3 to 1", "lock rule 2", "note on rule 2: x",
        "remove the note of rule 2",
    ]  # fmt: skip
    assert {one.author for one in editor.steps} == {"Dr. Who"}
    assert editor.by("Dr. No").remove(1).steps[-1].author == "Dr. No"


def test_looks_at_the_test_part_are_counted_whichever_editor_asks():
    editor = clinic_editor()
    opening = editor.open_test("before we begin")
    changed = editor.remove(1)
    second = changed.open_test("is it better?", author="Dr. No")
    assert (opening.number, second.number) == (1, 2)
    assert editor.openings == changed.undo().openings == (opening, second)
    assert (second.step, second.author, second.reason) == (1, "Dr. No", "is it better?")
    test = editor.session.test
    assert second.measures == evaluate(test.Y, changed.theory.predict(test))
    with pytest.raises(ValueError, match="give a reason"):
        editor.open_test(" ")
    assert len(editor.openings) == 2


def test_nothing_but_open_test_shows_the_test_part():
    editor = clinic_editor()
    assert editor.has_test
    assert set(editor.measures) == {"training", "validation"}
    assert set(editor.remove(1).preview(where="age > 60").parts) == {
        "training", "validation", "slice", "validation slice",
    }  # fmt: skip


def test_a_stop_mark_is_part_of_a_rule():
    editor = clinic_editor()
    stopping = editor.replace(1, "flu, * <- temperature > 39")
    assert stopping.theory[0].stops
    assert stopping.theory == parse(str(stopping.theory), editor.data.schema)
