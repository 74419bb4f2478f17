"""Edits in files: nothing is lost, and what is wrong is refused with its place."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_cases import clinic, clinic_editor, done, steps
from labelrules import edit, load_edits, to_json
from labelrules.data import FileError
from labelrules.studio import Knowledge
from layered_theories import layered_theories
from tables import tables
from theories import decision_lists, scorecards


def loaded(path, **options):
    train, validation, test = clinic()
    return load_edits(path, train, **{"validation": validation, "test": test, **options})


def everything(editor):
    """All that a file holds of an editor."""
    history = editor.history
    return (
        [(one.number, one.parent, one.step, one.author, one.time) for one in history.steps],
        [rules.entries for rules in history.rules],
        dict(history.positions),
        history.branch,
        history.versions,
        editor.openings,
        to_json(editor.model),
    )


def rich_editor(path):
    editor = clinic_editor().save(path)
    editor = editor.replace(1, 'flu <- "aches"').note(2, 'it\'s \\ "so" ← 日本').lock(3)
    editor = editor.relearn(after=4, knowledge=Knowledge(forbidden=("age", ("flu", "infection"))))
    editor = editor.commit("better", author="Dr. No").branch("bold").move(4, to=2)
    editor.open_test("a look")
    return editor.remove(1).undo().switch("main").disable(5)


def test_edits_come_back_as_they_were(tmp_path):
    path = tmp_path / "edits.json"
    editor = rich_editor(path)
    again = loaded(path)
    assert everything(again) == everything(editor)
    assert (again.author, again.path) == ("Dr. Who", path)
    assert again.switch("bold").can_redo
    assert loaded(path, author="Dr. No").lock(1).steps[-1].author == "Dr. No"


def test_every_step_is_written(tmp_path):
    path = tmp_path / "edits.json"
    editor = clinic_editor().save(path)
    for act in (
        lambda e: e.remove(1),
        lambda e: e.undo(),
        lambda e: e.redo(),
        lambda e: e.commit("why"),
        lambda e: e.branch("b"),
        lambda e: e.switch("main"),
        lambda e: e.relearn(after=3),
        lambda e: e.go_to(1),
    ):
        editor = act(editor)
        assert everything(loaded(path)) == everything(editor)
    editor.open_test("why")
    assert everything(loaded(path)) == everything(editor)
    before = path.read_bytes()
    editor.draft().remove(2)
    assert path.read_bytes() == before


@settings(max_examples=25)
@given(st.data())
def test_any_edits_come_back(tmp_path_factory, data):
    table = data.draw(tables(max_rows=4))
    small = st.floats(-3, 3)
    kinds = decision_lists(table.schema, small, 4) | scorecards(table.schema, small, 4)
    theory = data.draw(kinds | layered_theories(table.schema, small))
    path = tmp_path_factory.mktemp("edits") / "edits.json.gz"
    editor = done(edit(theory, table).save(path), data.draw(st.lists(steps(theory), max_size=6)))
    assert everything(load_edits(path, table)) == everything(editor)


def test_the_validation_and_test_parts_may_be_left_out(tmp_path):
    path = tmp_path / "edits.json"
    editor = rich_editor(path)
    train, validation, _ = clinic()
    alone = load_edits(path, train)
    assert alone.rules == editor.rules
    assert alone.openings == editor.openings
    with pytest.raises(FileError, match="these are other training rows than those of the edits"):
        load_edits(path, validation)
    with pytest.raises(FileError, match="these are other test rows"):
        load_edits(path, train, test=validation)


def test_rows_of_an_earlier_form_of_fingerprints_cannot_be_compared(tmp_path):
    path = tmp_path / "edits.json"
    editor = rich_editor(path)
    written = json.loads(path.read_text(encoding="utf-8"))
    written["training"] = written["training"].removeprefix("2-")
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.warns(UserWarning, match="whether these are the training rows of the edits is not"):
        assert load_edits(path, clinic()[0]).rules == editor.rules


def test_steps_without_the_other_parts_keep_their_fingerprints(tmp_path):
    path = tmp_path / "edits.json"
    rich_editor(path)
    load_edits(path, clinic()[0]).lock(1)
    assert json.loads(path.read_text(encoding="utf-8"))["test"] is not None
    with pytest.raises(FileError, match="these are other test rows"):
        load_edits(path, clinic()[0], test=clinic()[1])


KILLED = """
import os, signal, sys
from pathlib import Path
from edit_cases import clinic_editor
from labelrules.studio import edit_files

path = Path(sys.argv[1])
editor = clinic_editor().save(path).remove(1)
written = edit_files.written_text
class Halfway:
    def __init__(self, new, target):
        self.file = new.open("w")
    def __enter__(self):
        return self
    def __exit__(self, *error):
        pass
    def write(self, text):
        self.file.write(text[: len(text) // 2])
        self.file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
edit_files.written_text = Halfway
editor.remove(1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_killed_while_it_writes_leaves_the_last_step(tmp_path):
    path = tmp_path / "edits.json"
    found = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, env=env())
    assert found.returncode < 0
    assert loaded(path).rules == clinic_editor().remove(1).rules


def env():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


CHANGES = [
    (lambda d: d.update(format="x"), r"\$.format: 'x' is not possible here"),
    (lambda d: d.update(version=2), r"\$.version: 2 is not possible here"),
    (lambda d: d.update(extra=1), 'there is no field'),
    (lambda d: d["original"].update(version=9), r"\$.original.*the file is of version 9"),
    (lambda d: d["steps"][0].update(parent=1), r"\$.steps\[0\].parent: there is no step 1 before"),
    (lambda d: d["steps"][0]["step"].update(number=99), r"\$.steps\[0\].step: there is no rule 99"),
    (lambda d: d["steps"][0]["step"].update(rule="flu <-"), r"\$.steps\[0\].step: line 1, column"),
    (lambda d: d["steps"][0]["step"].update(do="x"), "is not possible|Invalid"),
    (lambda d: d["steps"][0].update(time="2026-13-01T00:00:00Z"), "there is no time 2026-13"),
    (lambda d: d["steps"][3]["step"]["learner"].update(kind="__import__('os')"),
     r"\$.steps\[3\].step.learner"),
    (lambda d: d["branches"]["main"].update(step=99), r"\$.branches\['main'\]: there is no step"),
    (lambda d: d["branches"]["bold"].update(undone=[1]), "step 1 does not follow step"),
    (lambda d: d.update(branch="none"), r'\$.branches: there must be "main" and the present'),
    (lambda d: d["versions"][0].update(step=99), r"\$.versions\[0\].step: there is no step 99"),
    (lambda d: d["openings"][0].update(step=99), r"\$.openings\[0\].step: there is no step 99"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_wrong_files_are_refused_with_the_place(tmp_path, change, message):
    path = tmp_path / "edits.json"
    rich_editor(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileError, match=message) as wrong:
        loaded(path)
    assert str(path) in str(wrong.value)


def test_what_is_no_file_of_edits(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        loaded(tmp_path / "none.json")
    with pytest.raises(FileError, match="there is no folder"):
        clinic_editor().save(tmp_path / "none" / "edits.json")
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(FileError, match="not valid JSON"):
        loaded(tmp_path / "x.json")
