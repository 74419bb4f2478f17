"""What is taken along says how it came about: knowledge, edits, programs and calls that work."""

import json
import shlex
import subprocess
import sys

import pytest

from labelrules import SeparateAndConquer, about, edit, load, parse
from labelrules.data import Dataset
from labelrules.studio import Knowledge
from labelrules.studio.editor import held_out
from labelrules.studio.web import opening
from shell import called
from workbench_site import RULES, client_of, post, site_of, words_of

LONG = "pressure (mmHg, first)"


@pytest.fixture(scope="module")
def parts():
    return held_out(load("clinic"))


@pytest.fixture
def site(parts):
    training, validation = parts
    theory = parse(RULES, training.schema)
    return site_of(edit(theory, training, validation=validation, author="A. Physician"))


KNOWN = Knowledge(
    forbidden=("pressure", ("flu", "pneumonia")),
    preferred=("temperature",),
    constraints=("infection <- flu",),
    max_conditions=2,
    max_rules=12,
    max_literals=40,
)
SAID = (
    "learn the rules again after rule 7; no new rule tests pressure; no new rule for flu tests "
    "pneumonia; tried first: temperature; constraint: infection <- flu; at most 2 conditions in a "
    "new rule; at most 12 rules; at most 40 literals in new rules"
)


def test_history_and_report_have_what_was_known_when_rules_were_learned(site):
    client = client_of(site)
    site.project.apply(1, lambda editor: editor.relearn(after=7, knowledge=KNOWN))
    assert str(site.state.editor.steps[-1]) == SAID
    for path in ("/history", "/export/report.html"):
        assert SAID in words_of(client.get(path).text).replace("&lt;", "<"), path
    assert client.get("/api/history").json()["steps"][-1]["text"] == SAID


def test_the_report_tells_disabled_rules_from_removed_ones(site):
    client = client_of(site)
    post(client, site, op="disable", number=5)
    post(client, site, op="remove", number=1)
    words = words_of(client.get("/export/report.html").text).replace("&lt;", "<")
    assert "disabled: rule 4: flu <- " in words
    assert "removed: hypertension <- pressure &gt; 150 , at first rule 1" in words


@pytest.mark.parametrize("is_learned", [False, True])
def test_the_model_says_that_it_was_edited_by_whom_and_in_which_version(
    parts, tmp_path, is_learned
):
    training, _ = parts
    start = parse(RULES, training.schema)
    if is_learned:
        start = SeparateAndConquer(max_rules=4).fit(training)
    site = site_of(edit(start, training, author="A. Physician"))
    client, path = client_of(site), tmp_path / "model.json"

    def edited():
        text = client.get("/export/model.json").text
        path.write_text(text, encoding="utf-8")
        return json.loads(text).get("about", {}).get("edited")

    assert edited() is None
    post(client, site, op="disable", number=1)
    assert edited() == "in 1 step by A. Physician; no version was named"
    post(client, site, op="commit", reason="too general")
    assert edited() == "in 1 step by A. Physician; version 'version 1' (too general)"
    site.project.apply(site.state.revision, lambda editor: editor.by("B").lock(2))
    said = "in 2 steps by A. Physician, B; version 'version 1' (too general), and 1 step after it"
    assert edited() == said == about(path).edited
    assert f"edited      {said}" in str(about(path))
    assert said in client.get("/export/report.html").text.replace("&#39;", "'")
    assert about(path).learned == (start.about_.learned if is_learned else None)


def test_the_history_is_a_program(site, tmp_path):
    client = client_of(site)
    post(client, site, op="disable", number=2)
    post(client, site, op="commit", reason="checked")
    site.project.apply(site.state.revision, lambda editor: editor.by("B").remove(3))
    program, model = tmp_path / "history.py", tmp_path / "again.json"
    program.write_text(client.get("/export/history.py").text, encoding="utf-8")

    def run(*words):
        return subprocess.run(
            [sys.executable, program, *words], capture_output=True, text=True, check=False
        )

    done = run("clinic", "-o", model)
    assert done.returncode == 0, done.stderr
    assert "2 steps on 750 rows" in done.stderr
    assert model.read_text(encoding="utf-8") == client.get("/export/model.json").text
    bare = run()
    assert bare.returncode == 2
    assert "missing argument DATA" in bare.stderr
    other = run("magazines")
    assert other.returncode == 1
    assert "Traceback" not in other.stderr


def test_the_call_on_the_export_page_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules of mine.txt").write_text("flu <- temperature > 38.4\n", encoding="utf-8")
    calls = []

    def served(editor, name, *, path, again="", **more):
        site = site_of(editor, path, name)
        object.__setattr__(site, "again", again)
        post(client_of(site), site, op="note", number=1, text="mine")
        calls.append((client_of(site).get("/export").text, editor, site.state.editor))

    monkeypatch.setattr(opening, "serve", served)
    done = called("workbench", "clinic", "rules of mine.txt", "--author", "A. B", "--no-browser")
    assert done.code == 0, done.err
    page = words_of(calls[0][0]).replace("&#39;", "'").replace("&#34;", '"')
    call = page[page.index("labelrules workbench") :].partition(".edits.json'")
    words = shlex.split("".join(call[:2]))
    again = called(*words[1:])
    assert again.code == 0, again.err
    assert str(tmp_path) in page
    assert [one.note for one in calls[1][1].rules] == ["mine"]
    assert len(calls[1][2].steps) == 2


def test_features_with_commas_in_their_names_can_be_forbidden_and_preferred(parts):
    training = parts[0].rename({"pressure": LONG, "crp": 'c, "r" p'})
    assert isinstance(training, Dataset)
    theory = parse("flu <- temperature > 38.4", training.schema)
    for text, found in {
        LONG: (LONG,),
        f'age, "{LONG}"': ("age", LONG),
        f"{LONG}\nage , glucose": (LONG, "age", "glucose"),
        'c, "r" p\nage': ('c, "r" p', "age"),
    }.items():
        site = site_of(edit(theory, training))
        client = client_of(site)
        answer = post(
            client, site, "/learn", forbidden=text, preferred=text, after="1", max_rules=2
        )
        assert answer.status_code == 303, answer.text
        while site.job.is_running:
            pass
        assert not site.job.error, site.job.error
        told = site.job.proposal.steps[-1].step.knowledge
        assert told.forbidden == told.preferred == found
