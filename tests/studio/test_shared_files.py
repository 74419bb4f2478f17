"""Several editors of one file: every step is kept, or the editor that would drop it is refused."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import edit, load, load_edits, parse
from labelrules.data import FileError
from labelrules.studio.web.project import BusyError, Project

READERS = load("magazines")
THEORY = parse("quality <- sex = Male\nfashion <- sex = Female", READERS.schema)


def begun(author="Dr. Adams"):
    return edit(THEORY, READERS, author=author, test=READERS)


def opened(path, author="Dr. Baker"):
    return load_edits(path, READERS, author=author, test=READERS)


def test_the_later_of_two_editors_is_refused_and_both_are_named(tmp_path):
    path = tmp_path / "edits.json"
    mine = begun().save(path)
    theirs = opened(path)
    theirs.note(1, "seen").lock(2)
    before = path.read_bytes()
    with pytest.raises(FileError) as wrong:
        mine.remove(2)
    assert path.read_bytes() == before
    message = str(wrong.value)
    assert message.startswith(f"{path}: others have written to this file: it holds 2 steps, the ")
    for part in (
        "the last by Dr. Baker at 20",
        "('lock rule 2'), which these edits do not; these edits hold 1 step by Dr. Adams at 20",
        "('remove rule 2'), which the file does not. Nothing was written: go on from the file by",
        "load_edits, or save these edits under another name",
    ):
        assert part in message
    elsewhere = mine.save(tmp_path / "mine.json").remove(2)
    assert [str(one) for one in opened(elsewhere.path).steps] == ["remove rule 2"]
    assert [str(one) for one in opened(path).remove(1).undo().steps] == [
        "note on rule 1: seen",
        "lock rule 2",
    ]


def test_who_goes_on_with_an_older_editor_is_refused(tmp_path):
    editor = begun().save(tmp_path / "edits.json")
    editor.lock(1)
    with pytest.raises(FileError, match=r"it holds 1 step by Dr\. Adams at 20"):
        editor.remove(1)
    editor.draft().remove(1)


@pytest.mark.parametrize(
    ("act", "held"),
    [
        (lambda e: e.commit("agreed"), r"1 version by Dr. Baker at \S+ \('agreed'\)"),
        (lambda e: e.branch("bold"), "the branch 'bold'"),
        (lambda e: e.undo(), "the branch 'main' at step 0"),
        (lambda e: e.switch("other"), "the branch 'other' as the present one"),
        (lambda e: e.open_test("a look"), r"1 look at the test by Dr. Baker at \S+ \('a look'\)"),
    ],
)
def test_what_is_no_step_is_not_dropped_either(tmp_path, act, held):
    path = tmp_path / "edits.json"
    mine = begun().save(path).lock(1).branch("other").switch("main")
    act(opened(path))
    before = path.read_bytes()
    for late in (lambda e: e.lock(2), lambda e: e.save(path), lambda e: e.open_test("why")):
        with pytest.raises(FileError, match=f"it holds {held}, which these edits do not"):
            late(mine)
    assert path.read_bytes() == before
    assert not mine.openings


def test_edits_begun_anew_do_not_replace_those_of_a_file(tmp_path):
    path = tmp_path / "edits.json"
    begun().save(path)
    begun("Dr. Chan").save(path).lock(1)  # there was nothing to lose
    with pytest.raises(FileError, match=r"it holds 1 step by Dr\. Chan"):
        begun().save(path)
    path.unlink()
    begun().save(path)


@pytest.mark.parametrize("text", ["{}", "not JSON", '{"format": "labelrules model"}'])
def test_no_edits_are_written_over_another_file(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match="nothing is written over this file, which holds no edits"):
        begun().save(path)
    assert path.read_text(encoding="utf-8") == text
    path.write_text("", encoding="utf-8")
    begun().save(path)


def test_a_script_and_a_workbench(tmp_path):
    path = tmp_path / "edits.json"
    project = Project(begun(), path)
    project.apply(1, lambda editor: editor.lock(1))
    script = opened(path, "script").note(2, "by a script")
    with pytest.raises(BusyError, match=r"1 step by script at .*start the workbench again"):
        project.apply(2, lambda editor: editor.lock(2))
    with pytest.raises(BusyError, match="which these edits do not"):
        project.open_test(2, "a look")
    assert project.state.revision == 2
    project = Project(opened(path), path)
    project.apply(1, lambda editor: editor.lock(2))
    with pytest.raises(FileError, match=r"1 step by Dr\. Baker"):
        script.note(1, "too late")


# ---------------------------------------------------------------- at random

SEATS = 3
ACTS = {
    "note": lambda e, text: e.note(1, text),
    "commit": lambda e, text: e.commit(text, name=text),
    "branch": lambda e, text: e.branch(text),
    "look": lambda e, text: e.open_test(text) and e,
    "undo": lambda e, text: e.undo() if e.can_undo else e,
    "first": lambda e, text: e.go_to(0),
}


class Seat:
    """Somebody who works on the file: by editors, the older ones of which stay, or a workbench."""

    def __init__(self, name, path):
        self.name, self.path, self.editors, self.project = name, path, [], None

    def open(self, in_workbench):
        """Begin to work, with what is in the file if there is one."""
        is_there = self.path.exists()
        editor = opened(self.path, self.name) if is_there else begun(self.name)
        self.project = Project(editor, self.path) if in_workbench else None
        self.editors = [] if in_workbench else [editor.save(self.path)]

    def act(self, what, text, at):
        """Do one thing with one of the editors, by default the last."""
        change = ACTS[what]
        if self.project is None:
            self.editors.append(change(self.editors[-1 - at % len(self.editors)], text))
        elif what == "look":
            self.project.open_test(self.project.state.revision, text)
        else:
            self.project.apply(self.project.state.revision, lambda e: change(e, text))


def refusal_of(seat, *doing):
    try:
        seat.act(*doing)
    except (FileError, BusyError) as wrong:
        return str(wrong)
    return ""


def things_in(path):
    """The notes, versions, branches and looks of a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    things = {("note", one["step"]["note"]) for one in document["steps"]}
    things |= {("commit", one["name"]) for one in document["versions"]}
    things |= {("branch", name) for name in document["branches"]}
    things |= {("look", one["reason"]) for one in document["openings"]}
    return things


turns = st.tuples(
    st.integers(0, SEATS - 1),
    st.sampled_from(["open", "open in the workbench", *ACTS, "note", "note"]),
    st.integers(0, 1),
)


@settings(max_examples=80)
@given(st.lists(turns, min_size=4, max_size=16))
def test_nothing_is_lost_however_editors_take_turns(tmp_path_factory, doings):
    path = tmp_path_factory.mktemp("edits") / "edits.json"
    seats = [Seat(f"seat {number}", path) for number in range(SEATS)]
    kept = set()
    for turn, (number, what, at) in enumerate(doings):
        seat, text = seats[number], f"turn {turn}"
        before = path.read_bytes() if path.exists() else b""
        if what.startswith("open") or not (seat.editors or seat.project):
            seat.open(what.endswith("workbench"))
            continue
        refusal = refusal_of(seat, what, text, at)
        if refusal:
            assert "others have written to this file" in refusal
            assert path.read_bytes() == before
        elif what in ("note", "commit", "branch", "look"):
            kept.add((what, text))
        assert things_in(path) >= kept


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from studio.test_shared_files import FileError, begun, opened

path, name, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.read()
for n in range(number):
    while True:
        try:
            (opened(path, name) if path.exists() else begun(name).save(path)).note(1, f"{name} {n}")
        except FileError:
            continue
        break
"""


def test_nothing_is_lost_when_programs_write_at_once(tmp_path):
    path, number = tmp_path / "edits.json", 4
    program = [sys.executable, "-c", WRITER, str(path)]
    names = ["one", "two", "three"]
    here = os.path.dirname(os.path.dirname(__file__))
    writers = [
        subprocess.Popen([*program, name, str(number), here, *sys.path], stdin=subprocess.PIPE)
        for name in names
    ]
    for one in writers:
        one.stdin.close()
    assert [one.wait(600) for one in writers] == [0, 0, 0]
    notes = {("note", f"{name} {n}") for name in names for n in range(number)}
    assert things_in(path) == {*notes, ("branch", "main")}
    assert os.listdir(tmp_path) == ["edits.json"]
