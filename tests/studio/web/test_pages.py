"""Every page and every form: what they show, what they change, and what they refuse."""

import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from labelrules import Dataset, Feature, Schema, edit, load_edits, parse
from labelrules.inspection import findings
from labelrules.storage import from_json
from labelrules.studio.web.app import VIEWS
from labelrules.studio.web.opening import compile_for
from labelrules.studio.web.views.checks import findings_of
from workbench_site import client_of, clinic_editor, clinic_parts, post, site_of, texts, words_of


@pytest.fixture
def file(tmp_path):
    return tmp_path / "clinic.edits.json"


@pytest.fixture
def site(file):
    return site_of(clinic_editor(), file)


@pytest.fixture
def client(site):
    return client_of(site)


FIRST = {
    "{number:int}": "3",
    "{row:int}": "5",
    "{name}": "model.json",
}
QUERY = {
    "/label": "?name=flu",
    "/feature": "?name=smoker",
    "/preview": "?op=remove&number=2",
}


def address_of(path: str) -> str:
    for part, value in FIRST.items():
        path = path.replace(part, value)
    return path + QUERY.get(path, "")


@pytest.mark.parametrize("path", list(VIEWS))
def test_every_view_answers(client, path):
    answer = client.get(address_of(path))
    assert answer.status_code == 200
    if answer.headers["content-type"].startswith("text/html"):
        assert "<h1" in answer.text
        assert answer.text.count("<h1") == 1


PAGES = {
    "/": ["8 rules with 14 conditions decide 6 of 10 labels", "micro F1", "hypertension"],
    "/?view=label&label=flu": ["2 of 8 rules"],
    "/?view=matrix": ["temperature", "> 38.4"],
    "/?q=aches": ["1 of 8 rules"],
    "/?label=infection&tests=pneumonia": ["1 of 8 rules"],
    "/?sign=absent": ["1 of 8 rules"],
    "/?feature=crp": ["1 of 8 rules"],
    "/?label=hay_fever": ["No rule passes the filters"],
    "/rules/3": ["infection", "Evidence", "Training rows that it decides", "Threshold of"],
    "/labels": ["10 labels", "hay_fever"],
    "/label?name=hay_fever": ["No rule predicts hay_fever"],
    "/features?q=smo": ["smoker", "3 categories"],
    "/rows?truth=wrong&part=validation": ["of 250 validation rows"],
    "/rows/5?x.temperature=41&x.aches=1": ["with other values", "flu"],
    "/dependencies": ["1 pair of labels", "infection"],
    "/findings": ["follows from the other conditions", "Preview the fix"],
    "/slice?where=age > 60, flu": ["of 500 rows", "difference"],
    "/compare": ["in both"],
    "/alternatives/3": ["Other heads", "Similar bodies"],
    "/history": ["0 steps on the branch main"],
    "/test": ["opened 0 times"],
    "/api": ["POST /api/edit/replace"],
}


@pytest.mark.parametrize("path", PAGES)
def test_what_a_page_shows(client, path):
    words = words_of(client.get(path).text)
    for text in PAGES[path]:
        assert text in words.replace("&gt;", ">"), text


WRONG = {
    "/?label=flo": (404, "did you mean &#39;flu&#39;"),
    "/?sort=speed": (400, "cannot be"),
    "/?page=-1": (400, "whole number"),
    "/rules/9": (404, "the rules have the numbers 1 to 8"),
    "/rows/5000": (404, "there is no row 5000"),
    "/rows/5?x.tempersture=4": (400, "did you mean &#39;temperature&#39;"),
    "/rows/5?x.temperature=hot": (400, "cannot be &#39;hot&#39;"),
    "/rows/5?x.region=Nord": (400, "has no category"),
    "/rows/5?x.temperature=1e999": (400, ""),
    "/slice?where=age >": (400, "column"),
    "/preview": (400, "field &#39;op&#39; is missing"),
    "/preview?op=repalce": (400, "did you mean &#39;replace&#39;"),
    "/preview?op=undo": (400, "no preview"),
    "/preview?op=remove&number=x": (400, "whole number"),
    "/preview?op=remove&number=77": (400, "there is no rule 77"),
    "/preview?op=replace&number=1&rule=flu <- aged > 3": (400, "column"),
    "/preview?op=set_threshold&number=1&condition=1&value=nan": (400, "must be a number"),
    "/preview?op=set_threshold&number=1&condition=9&value=1": (400, ""),
    "/preview?op=drop_condition&number=4&condition=0": (400, ""),
    "/preview?op=toggle_label&number=1&label=nothing": (400, ""),
    "/compare?one=version 9": (400, "cannot be"),
    "/export/passwd": (404, "no such export"),
    "/alternatives/3?measure=beauty": (400, "cannot be"),
    "/flow?layer=4": (400, "no layer 4"),
    "/rows/5?part=training&x.temperature=hot": (400, "cannot be &#39;hot&#39;"),
    "/rows?part=training&rule=99": (404, "there is no rule 99"),
    "/rows?part=test": (400, "cannot be &#39;test&#39;"),
    "/?q=%ff": (400, "UTF-8"),
    "/nowhere": (404, "no such page"),
}


@pytest.mark.parametrize("path", WRONG)
def test_wrong_addresses_get_a_message(site, client, path):
    status, text = WRONG[path]
    answer = client.get(path)
    assert answer.status_code == status
    assert text in answer.text
    assert "Traceback" not in answer.text
    assert "<h1>" in answer.text
    assert '<nav class="rooms"' in answer.text
    assert site.state.revision == 1


def test_a_preview_without_its_page_is_refused_without_one(client):
    answer = client.get("/preview?op=remove&number=77&fragment=1")
    assert answer.status_code == 400
    assert "there is no rule 77" in answer.text
    assert "<nav" not in answer.text
    assert "<nav" not in client.get("/preview?op=remove&number=2&fragment=1").text


def test_the_overview_counts_rules_and_labels_as_the_other_pages_do(site, client):
    post(client, site, op="disable", number=5)
    words = words_of(client.get("/").text)
    assert "7 rules with 12 conditions decide 6 of 10 labels; 1 more is disabled." in words
    assert "Rules 7 20 literals; 1 more disabled" in words
    assert "10 labels; 4 without a rule" in words_of(client.get("/labels").text)
    flow = client.get("/flow").text
    assert "left open" not in flow
    assert "500 with labels that no rule decides" in words_of(flow)
    assert "500 rows through 2 rules for infection;" in words_of(
        client.get("/flow?label=infection").text
    )


def test_texts_of_several_lines_keep_their_lines(site, client):
    post(client, site, op="note", number=3, text="first\r\nsecond")
    assert site.state.editor.rules[2].note == "first\nsecond"
    page = client.get("/rules/3").text
    assert 'rows="2">first\nsecond</textarea>' in page
    assert '<p class="note">first\nsecond</p>' in page
    wrong = client.get("/preview?op=replace&number=3&rule=flu <- aged > 3").text
    assert "did you mean &#39;age&#39;?\n  flu &lt;- aged &gt; 3\n         ^" in wrong
    for path in ("/", "/rules/3", "/history", "/export/report.html"):
        assert "u000" not in client.get(path).text, path


def test_names_are_escaped():
    hostile = '<script>alert("x")</script>'
    training, _, _ = clinic_parts()
    names = {"flu": hostile, "age": "'; DROP TABLE rules; --", "region": "<img src=x onerror=1>"}
    data = training.rename(names)
    theory = parse("infection <- temperature > 38.4", training.schema).rename(names)
    site = site_of(edit(theory, data), name=hostile)
    client = client_of(site)
    for path in VIEWS:
        needs_other_names = ("/label", "/feature", "/export/{name}")
        if path not in needs_other_names and "{number" not in path:
            text = client.get(address_of(path).replace("number=2", "number=1")).text
            assert "<script>alert" not in text, path
            assert "<img src=x" not in text, path
    answer = client.get("/label", params={"name": hostile})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    rule = "'" + hostile.replace("'", "\\'") + "' <- temperature > 39"
    assert post(client, site, op="add", rule=rule).status_code == 303
    assert "<script>alert" not in client.get("/").text


# ---------------------------------------------------------------- changes


def test_an_edit_is_previewed_applied_undone_and_redone(site, client):
    fields = {"op": "set_threshold", "number": 3, "condition": 1, "value": "38.9"}
    page = client.get("/preview", params=fields)
    assert "infection &lt;- temperature &gt; 38.9" in page.text
    assert site.state.revision == 1
    answer = post(client, site, **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules/3?done=applied")
    assert texts(site)[2] == "infection <- temperature > 38.9"
    post(client, site, op="undo")
    assert texts(site)[2] == "infection <- temperature > 38.4"
    post(client, site, op="redo")
    assert texts(site)[2] == "infection <- temperature > 38.9"


CHANGES = [
    ({"op": "replace", "number": 3, "rule": "infection <- temperature > 39"}, 3,
     "infection <- temperature > 39"),
    ({"op": "add", "rule": "flu <- age > 90", "at": 1}, 1, "flu <- age > 90"),
    ({"op": "move", "number": 8, "to": 1}, 1, None),
    ({"op": "add_condition", "number": 3, "test": "age > 4"}, 3,
     "infection <- temperature > 38.4, age > 4"),
    ({"op": "drop_condition", "number": 2, "condition": 2}, 2, "pneumonia <- crp > 80"),
    ({"op": "toggle_label", "number": 3, "label": "flu"}, 3,
     "flu, infection <- temperature > 38.4"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "number", "text"), CHANGES, ids=lambda one: str(one)[:30])
def test_each_operation(site, client, fields, number, text):
    assert client.get("/preview", params=fields).status_code == 200
    last = texts(site)[7]
    assert post(client, site, **fields).status_code == 303
    assert texts(site)[number - 1] == (last if text is None else text)


def test_marks_and_notes(site, client):
    post(client, site, op="lock", number=1)
    post(client, site, op="disable", number=2)
    post(client, site, op="note", number=3, text="asked by Dr. X")
    rules = site.state.editor.rules
    assert rules[0].locked
    assert rules[1].disabled
    assert rules[2].note == "asked by Dr. X"
    page = words_of(client.get("/").text)
    assert "7 rules" in page
    assert "1 more is disabled" in page
    answer = post(client, site, op="remove", number=1)
    assert answer.status_code == 400
    assert "locked" in answer.text


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "replace", "number": 3, "rule": "infection <- "},
        {"op": "replace", "number": 3},
        {"op": "remove", "number": "three"},
        {"op": "remove", "number": 0},
        {"op": "commit", "reason": "  "},
        {"op": "switch", "name": "elsewhere"},
        {"op": "undo"},
        {"op": "nothing"},
        {"op": "remove", "number": 1, "revision": "x"},
    ],
    ids=str,
)
def test_wrong_forms_change_nothing(site, client, file, fields):
    before = file.read_bytes()
    answer = post(client, site, **fields)
    assert answer.status_code == 400
    assert "Nothing has been changed" in answer.text
    assert site.state.revision == 1
    assert file.read_bytes() == before


def test_other_kinds_of_bodies_are_refused(site, client):
    for kind, body in (
        ("multipart/form-data; boundary=x", b"--x--"),
        ("text/plain", b"op=undo"),
        ("application/json", b"[" * 100_000),
        ("application/json", b"[1]"),
        ("application/x-www-form-urlencoded", b"op=%ff"),
        ("application/x-www-form-urlencoded", b"a&" * 5_000),
    ):
        answer = client.post("/edit", content=body, headers={"content-type": kind})
        assert answer.status_code in (400, 403), kind
    assert site.state.revision == 1


def test_two_tabs_do_not_lose_each_others_edits(site, client):
    rule = "infection <- temperature > 39"
    assert post(client, site, op="remove", number=1, revision=1).status_code == 303
    answer = post(client, site, op="replace", number=3, rule=rule, revision=1)
    assert answer.status_code == 409
    words = words_of(answer.text)
    assert "The rules have changed meanwhile" in words
    assert "temperature &gt; 39" in words  # what was asked for
    assert "removed rule 1: hypertension" in words  # what has changed since
    assert len(texts(site)) == 7
    again = client.get("/preview", params={"op": "replace", "number": 2, "rule": rule})
    assert again.status_code == 200


def test_fifty_clients_at_once_lose_nothing(site):
    """Each adds a rule, and tries again when another was faster."""
    done = []

    def add(number: int) -> None:
        client = client_of(site)
        for _ in range(200):
            answer = post(client, site, op="add", rule=f"flu <- age > {number}")
            if answer.status_code == 303:
                done.append(number)
                return
            assert answer.status_code == 409
        raise AssertionError("never came through")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(50)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(done) == 50
    assert {f"flu <- age > {number}" for number in range(50)} <= set(texts(site))
    assert len(texts(site)) == 58


# ---------------------------------------------------------------- keeping


def test_what_is_applied_is_on_the_disk(site, client, file):
    post(client, site, op="remove", number=1)
    post(client, site, op="commit", reason="no pressure")
    training, validation, test = clinic_parts()
    again = load_edits(file, training, validation=validation, test=test)
    assert [one.text for one in again.rules] == texts(site)
    assert again.versions[0].reason == "no pressure"
    assert client_of(site_of(again)).get("/history").status_code == 200


def test_exports_read_back(site, client):
    post(client, site, op="remove", number=1)
    model = client.get("/export/model.json")
    assert "attachment" in model.headers["content-disposition"]
    assert from_json(model.text) == site.state.editor.theory
    rules = client.get("/export/rules.txt").text
    assert parse(rules, site.state.editor.data.schema) == site.state.editor.theory
    program = client.get("/export/history.py").text
    assert "remove(1)" in program
    compile(program, "history.py", "exec")
    report = client.get("/export/report.html").text
    assert "<script" not in report
    assert "removed" in report


def test_the_test_part_is_opened_on_request_and_counted(site, client, file):
    assert "micro F1" not in words_of(client.get("/test").text)
    answer = post(client, site, "/test", reason="before signing off")
    assert answer.headers["location"] == "/test"
    words = words_of(client.get("/test").text)
    assert "opened 1 time" in words
    assert "before signing off" in words
    assert "before signing off" in file.read_text()
    assert "before signing off" in client.get("/export/report.html").text


def test_branches_and_versions(site, client):
    post(client, site, op="commit", reason="as learned")
    post(client, site, op="branch", name="trial")
    post(client, site, op="remove", number=1)
    words = words_of(client.get("/compare?one=version 1").text)
    assert "Only in one: 1" in words
    post(client, site, op="switch", name="main")
    assert len(texts(site)) == 8
    words = words_of(client.get("/compare?one=branch trial").text)
    assert "7 rules" in words
    assert "Only in the other: 1" in words


def test_two_models_side_by_side(site):
    theory = parse("flu <- true", site.state.editor.data.schema)
    client = client_of(replace(site, others={"older.json": theory}))
    words = words_of(client.get("/compare?one=model older.json").text)
    assert "1 rule (1 literal) and 8 rules" in words
    assert "Predictions that differ" in words
    assert client.get("/compare?one=model newer.json").status_code == 400


# ---------------------------------------------------------------- learning


def wait_for(site, seconds=120):
    end = time.monotonic() + seconds
    while site.job.is_running and time.monotonic() < end:
        time.sleep(0.05)
    assert not site.job.is_running


def test_rules_are_learned_again_and_accepted(site, client):
    post(client, site, op="lock", number=1)
    answer = post(client, site, "/learn", scope="after", after=2, max_rules=6, forbidden="region")
    assert answer.headers["location"] == "/learn"
    wait_for(site)
    assert site.job.error == ""
    page = words_of(client.get("/learn").text)
    assert "Accept the new rules" in page
    assert texts(site)[2] == "infection <- temperature > 38.4"  # nothing has changed yet
    answer = post(client, site, "/learned", action="accept")
    assert answer.headers["location"] == "/?done=accepted"
    assert texts(site)[:2] == ["hypertension <- pressure > 150", 'pneumonia <- crp > 80, "cough"']
    assert not any("region" in text for text in texts(site))


def test_what_was_learned_is_dropped(site, client):
    before = texts(site)
    post(client, site, "/learn", scope="labels", labels="hay_fever", max_conditions=2)
    wait_for(site)
    assert site.job.proposal is not None
    post(client, site, "/learned", action="drop")
    assert texts(site) == before
    assert site.job.proposal is None


def test_a_result_for_older_rules_is_not_taken(site, client):
    post(client, site, "/learn", scope="labels", labels="hay_fever", max_conditions=1)
    post(client, site, op="remove", number=1)
    wait_for(site)
    answer = post(client, site, "/learned", action="accept")
    assert answer.status_code == 409
    assert len(texts(site)) == 7


def test_learning_is_cancelled(site, client):
    before = texts(site)
    post(client, site, "/learn", scope="after", after=0)
    post(client, site, "/learned", action="drop")
    assert not site.job.is_running
    assert site.job.proposal is None
    assert texts(site) == before


def test_a_death_while_learning_leaves_the_file_as_it_was(site, client, file):
    post(client, site, op="remove", number=1)
    before = file.read_bytes()
    post(client, site, "/learn", scope="after", after=0)
    assert file.read_bytes() == before  # what a new server would begin with
    post(client, site, "/learned", action="drop")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"scope": "labels"}, "at least one label"),
        ({"scope": "labels", "labels": "flo"}, "did you mean"),
        ({"scope": "after", "after": "two"}, "whole number"),
        ({"scope": "everything"}, "cannot be"),
    ],
    ids=str,
)
def test_wrong_wishes_for_learning(site, client, fields, text):
    answer = post(client, site, "/learn", **fields)
    assert answer.status_code == 400
    assert text in answer.text
    assert not site.job.is_running


def test_errors_of_learning_are_shown(site, client):
    post(client, site, "/learn", scope="after", after=0, forbidden="nonsense")
    wait_for(site)
    assert "nonsense" in client.get("/learn").text
    assert site.state.revision == 1


# ---------------------------------------------------------------- the interface


def test_the_interface_does_what_the_pages_do(site, client):
    headers = {"authorization": f"Bearer {site.keys.token}"}
    client.cookies.clear()

    def call(path, **body):
        answer = client.post(f"/api/{path}", json=body, headers=headers)
        return answer.status_code, answer.json()

    status, found = call("preview/remove", number=1)
    assert status == 200
    assert found["removed"] == ["hypertension <- pressure > 150"]
    assert found["parts"]["training"]["n_changed_rows"] > 0
    status, found = call("edit/remove", number=1, revision=1)
    assert (status, found["revision"], found["n_rules"]) == (200, 2, 7)
    status, found = call("edit/remove", number=1, revision=1)
    assert (status, found["revision"]) == (409, 2)
    status, found = call("edit/replace", number=1, revision=2, rule="flu <- x")
    assert status == 400
    assert "column" in found["error"]
    rules = client.get("/api/rules", headers=headers).json()["rules"]
    assert [one["text"] for one in rules] == texts(site)
    assert client.get("/api/rules/99", headers=headers).status_code == 404
    assert client.get("/api/rows/3", headers=headers).json()["labels"]["flu"]["predicted"] in (0, 1)
    assert client.get("/api/nowhere", headers=headers).json()["error"]


def test_the_description_names_every_address(client):
    document = client.get("/api/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    served = {
        (route.path.replace(":int", ""), method)
        for route in client.app.app.routes
        for method in route.methods or ()
        if route.path.startswith("/api/") and method != "HEAD"
    }
    described = {
        (path, method.upper()) for path, one in document["paths"].items() for method in one
    }
    assert served - described == {("/api/openapi.json", "GET")}
    json.dumps(document)


def imitations(n_rules):
    """A default rule, and before it rules that are often wrong, by another threshold each."""
    lines = [f"Flu <- Fever > {n / 10}" for n in range(n_rules)]
    schema = Schema([Feature("Fever")], ["Flu", "cold"])
    Y = np.random.default_rng(2).integers(0, 2, (400, 2))
    data = Dataset(schema, np.linspace(0, n_rules / 10, 400)[:, None], Y)
    return edit(parse("\n".join([*lines[::-1], "not Flu <- true"]), schema), data)


def test_findings_begin_with_the_first_of_each_kind():
    editor = imitations(40)
    client = client_of(site_of(editor))
    found = findings_of(editor)
    doubtful = found.of_kind("more often wrong than right")
    assert len(doubtful) > 5
    page = client.get("/findings").text
    assert page.count("is more often wrong than right") == 5
    assert f"all {len(doubtful)} of this kind" in page
    gains = [one.effect.n_righted - one.effect.n_wronged for one in doubtful]
    most = doubtful[gains.index(max(gains))]
    first = page[: page.index("is more often wrong than right")]
    assert first.endswith(f"Rule {most.rules[0]} ")
    every = client.get("/findings", params={"kind": "more often wrong than right"}).text
    assert every.count("is more often wrong than right") == len(doubtful)
    assert client.get("/findings?kind=worst").status_code == 400
    assert client.get("/findings?rule=99").status_code == 404
    assert most.sentence in client.get(f"/findings?rule={most.rules[0]}").text


def test_names_in_fixes_keep_their_capitals():
    """Jinja's `capitalize` makes all other letters small, so that fixes named other columns."""
    schema = Schema([Feature("Fever")], ["Flu", "cold"])
    data = Dataset(schema, [[1.0], [3.0]], [[0, 1], [1, 0]])
    editor = edit(parse("Flu <- Fever > 1, Fever > 2", schema), data)
    client = client_of(site_of(editor))
    for page in ("/findings", "/export/report.html"):
        assert "Replace rule 1 by: Flu &lt;- Fever &gt; 2" in client.get(page).text
    assert "for Flu" in client.get("/flow?label=Flu").text


def test_rows_of_which_no_label_is_known():
    """Their measures were refused, and with them the first page; so was a slice of such rows."""
    schema = Schema([Feature("x")], ["a", "b"])
    unknown = Dataset(schema, np.arange(6.0)[:, None], np.full((6, 2), -1))
    theory = parse("a <- x > 1\nnot b <- a", schema)
    client = client_of(site_of(edit(theory, unknown, validation=unknown)))
    for page in ("/", "/compare", "/rules/1", "/export/report.html", "/labels"):
        assert client.get(page).status_code == 200, page
    partly = Dataset(schema, unknown.X, [[1, 0], [0, 1], [1, 1], [-1, -1], [-1, -1], [-1, -1]])
    client = client_of(site_of(edit(theory, partly)))
    assert "No label of these rows is known" in client.get("/slice?where=x > 2.5").text
    assert "micro F1" in client.get("/slice?where=x > 1.5").text


def test_rules_that_vote_have_no_link_to_alternatives():
    schema = Schema([Feature("x")], ["a", "b"])
    data = Dataset(schema, np.arange(6.0)[:, None], np.eye(6, 2, dtype=int))
    client = client_of(site_of(edit(parse("in any order:\na <- x > 1\nb <- x > 2", schema), data)))
    assert "/alternatives/" not in client.get("/rules/1").text
    client = client_of(site_of(edit(parse("a <- x > 1\nb <- x > 2", schema), data)))
    assert "/alternatives/1" in client.get("/rules/1").text


def test_findings_that_many_ask_for_at_once_are_found_once(monkeypatch):
    """Each of fifty clients had them found anew, which takes fifty times as long."""
    n_calls = []

    def slow(theory, rows, *, max_steps):
        n_calls.append(max_steps)
        time.sleep(0.2)
        return findings(theory, rows, max_steps=max_steps)

    monkeypatch.setattr("labelrules.studio.web.views.checks.findings", slow)
    editor, found = clinic_editor(), []
    threads = [
        threading.Thread(target=lambda: found.append(findings_of(editor))) for _ in range(20)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(n_calls) == 1
    assert len({id(one) for one in found}) == 1


def test_findings_of_many_rows_are_counted_on_some(monkeypatch):
    schema = Schema([Feature("x")], ["a", "b"])
    data = Dataset(schema, np.arange(60.0)[:, None], np.eye(60, 2, dtype=int))
    monkeypatch.setattr("labelrules.studio.web.views.checks.ROWS_COUNTED", 30)
    monkeypatch.setattr("labelrules.studio.web.views.checks.ROWS_COUNTED_IN_FULL", 20)
    text = "a <- x > 1\nb <- x > 2"
    for rules, n_rows in ((text, 30), (f"in any order:\n{text}", 20)):
        editor = edit(parse(rules, schema), data)
        assert findings_of(editor).n_rows == n_rows
        assert f"{n_rows} of the 60" in client_of(site_of(editor)).get("/findings").text


@pytest.mark.parametrize("text", ["a <- x > 1", "in any order:\na <- x > 1", "in any order:"])
def test_what_pages_call_is_compiled_for_any_rules(text):
    schema = Schema([Feature("x")], ["a", "b"])
    data = Dataset(schema, np.arange(3.0)[:, None], [[1, 0], [0, 1], [-1, -1]])
    compile_for(edit(parse(text, schema), data))
