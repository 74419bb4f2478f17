"""Pages and JSON answers of the workbench: of rules as given, of edits, of what is refused."""

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from records.ground import clinic, told
from records.keeping import Cases
from records.public import made
from records.texts import Sections
from workbench_site import bare_client, client_of, clinic_editor, post, site_of  # of tests

PAGES = (
    "/", "/?view=label", "/?view=label&label=flu", "/?view=matrix", "/?view=matrix&columns=3",
    "/?q=aches", "/?label=infection&tests=pneumonia", "/?sign=absent", "/?feature=crp",
    "/?label=hay_fever", "/?sort=precision", "/?sort=length", "/?state=locked", "/?page=2",
    "/rules/1", "/rules/3", "/rules/4", "/rules/6", "/rules/8", "/rules/8?label=hypertension",
    "/labels", "/labels?sort=f1", "/label?name=flu", "/label?name=hay_fever",
    "/features", "/features?q=smo", "/feature?name=smoker", "/feature?name=crp",
    "/feature?name=admission", "/rows", "/rows?truth=wrong&part=validation",
    "/rows?rule=3&truth=wrong&label=infection", "/rows/5", "/rows/5?label=flu",
    "/rows/5?x.temperature=41&x.aches=1", "/rows/7?part=validation", "/dependencies",
    "/dependencies?view=graph", "/flow", "/flow?label=infection", "/alternatives/3",
    "/alternatives/1?measure=precision/micro/partial", "/findings", "/findings?rule=6",
    "/slice", "/slice?where=age > 60, flu", "/compare",
    "/compare?one=the first rules&other=the present rules", "/add", "/learn", "/history", "/export",
    "/export/model.json", "/export/rules.txt", "/export/history.py", "/export/report.html", "/test",
    "/api", "/api/openapi.json", "/api/state", "/api/names", "/api/rules", "/api/rules/3",
    "/api/rows/5", "/api/rows/7?part=validation", "/api/findings", "/api/history", "/api/learning",
    "/api/test", "/static/style.css", "/static/workbench.js",
)  # fmt: skip
"""Addresses, asked before and after edits."""

WRONG = (
    "/?label=flo", "/?sort=speed", "/?page=-1", "/rules/9", "/rows/5000", "/rows/5?x.region=Nord",
    "/rows/5?x.temperature=hot", "/slice?where=age >", "/preview", "/preview?op=repalce",
    "/preview?op=undo", "/preview?op=remove&number=x", "/preview?op=remove&number=77",
    "/preview?op=replace&number=1&rule=flu <- aged > 3", "/compare?one=version 9",
    "/export/passwd", "/alternatives/3?measure=beauty", "/flow?layer=4", "/?q=%ff", "/nowhere",
    "/api/rules/99", "/api/rows/5?part=test", "/api/state?colour=red", "/api/nowhere",
)  # fmt: skip

OPERATIONS: dict[str, dict[str, Any]] = {
    "replace": {"number": 3, "rule": "infection <- temperature > 39"},
    "add": {"rule": "flu <- age > 90", "at": 1},
    "remove": {"number": 2},
    "move": {"number": 8, "to": 1},
    "lock": {"number": 3},
    "unlock": {"number": 1},
    "disable": {"number": 3},
    "enable": {"number": 2},
    "note": {"number": 3, "text": "first\nsecond"},
    "set_threshold": {"number": 3, "condition": 1, "value": 38.9},
    "add_condition": {"number": 3, "test": "age > 4"},
    "drop_condition": {"number": 2, "condition": 2},
    "toggle_label": {"number": 3, "label": "flu"},
    "undo": {},
    "redo": {},
    "commit": {"reason": "the rules were looked at"},
    "branch": {"name": "bold"},
    "switch": {"name": "main"},
}
"""Changes, by names of the interface, with fields."""

LEARNED = {
    "after": {"scope": "after", "after": 2},
    "labels": {"scope": "labels", "labels": ["flu"], "forbidden": ["region"], "max_rules": 12},
    "constraints": {"after": 3, "constraints": ["infection <- flu"], "max_conditions": 2},
}
EDITED = ("lock", "note", "move", "set_threshold", "disable", "commit", "toggle_label")
"""What is done before pages are asked again."""

SITES: dict[str, Callable[[], Any]] = {
    "rules": clinic_editor,
    "layers": lambda: _editor("stacked"),
    "card": lambda: _editor("card"),
}


def _editor(model: str) -> Any:
    train, validation, test = clinic()
    learned = told(model)
    return made("edit")(learned, train, validation=validation, test=test, author="A. Physician")


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Pages of three models, of edited rules, previews, edits, learning, and refusals."""
    for name, editor in SITES.items():
        for address in PAGES if name == "rules" else PAGES[:50:3]:
            yield f"{name}/{_file(address)}", partial(_page, editor, address)
    for address in PAGES[:60]:
        yield f"edited/{_file(address)}", partial(_page, clinic_editor, address, EDITED)
    for address in WRONG:
        yield f"wrong/{_file(address)}", partial(_page, clinic_editor, address)
    for name in OPERATIONS:
        yield f"changes/{name}", partial(_changes, name)
    for name, fields in LEARNED.items():
        yield f"learning/{name}", partial(_learning, fields)
    yield "protection", _protection
    yield "addresses that are not asked", _not_asked


def _file(address: str) -> str:
    return re.sub(r"[^\w.,=&>-]+", "_", address).strip("_") or "start"


def answer_text(answer: Any) -> Any:
    """Status, headers that matter and content of an answer."""
    kept = ("content-type", "location", "content-disposition", "allow", "content-security-policy")
    headers = [f"{name}: {answer.headers[name]}" for name in kept if name in answer.headers]
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return [str(answer.status_code), *headers, "", answer.json() if is_json else answer.text]


def _page(editor: Callable[[], Any], address: str, edits: tuple[str, ...] = ()) -> Any:
    """A page of a fresh site, after some edits."""
    site = site_of(editor(), Path("clinic.edits.json"))
    client = client_of(site)
    for name in edits:
        post(client, site, op=name, **OPERATIONS[name])
    return answer_text(client.get(address))


def _changes(name: str) -> Sections:
    """A change by the interface and by a form: previews, answers, the state and file afterwards."""
    found = Sections()
    for way in ("form", "interface"):
        site = site_of(clinic_editor(), Path(f"{way}.edits.json"))
        client = client_of(site)
        for first in EDITED[:2] if name in ("undo", "unlock") else ("remove", "undo"):
            post(client, site, op=first, **OPERATIONS[first])
        if name in ("enable", "unlock"):
            post(client, site, op={"enable": "disable", "unlock": "lock"}[name],
                 number=OPERATIONS[name]["number"])  # fmt: skip
        fields = OPERATIONS[name]
        if way == "form":
            for part in ("1", ""):
                asked = {"op": name, **fields, **({"part": part} if part else {})}
                found[f"preview, part {part}"] = answer_text(client.get("/preview", params=asked))
            found["form"] = answer_text(post(client, site, op=name, **fields))
            found["conflict"] = answer_text(post(client, site, op=name, revision=1, **fields))
        else:
            where = {**fields, "where": "age > 60"}
            found["preview"] = answer_text(_sent(client, site, f"/api/preview/{name}", where))
            given = {"revision": site.state.revision, **fields}
            found["interface"] = answer_text(_sent(client, site, f"/api/edit/{name}", given))
            found["again"] = answer_text(_sent(client, site, f"/api/edit/{name}", given))
            found["rules"] = client.get("/api/rules").json()
            found["file"] = Path(f"{way}.edits.json").read_text(encoding="utf-8")
    return found


def _sent(client: Any, site: Any, path: str, fields: dict[str, Any]) -> Any:
    return client.post(path, json={"csrf": site.csrf, **fields})


def _learning(fields: dict[str, Any]) -> Sections:
    """Learning again: the proposal, its page, accepted, and dropped."""
    found = Sections()
    for end in ("accept", "drop"):
        site = site_of(clinic_editor())
        client = client_of(site)
        post(client, site, op="lock", number=3)
        given = {"revision": site.state.revision, **fields}
        found[f"{end}: begun"] = str(_sent(client, site, "/api/learn", given).status_code)
        while client.get("/api/learning").json()["is_running"]:
            time.sleep(0.02)
        found[f"{end}: done"] = client.get("/api/learning").json()
        found[f"{end}: page"] = answer_text(client.get("/learn"))
        given = {"job": site.job.number}
        if end == "accept":
            given["revision"] = site.state.revision
        found[end] = answer_text(_sent(client, site, f"/api/{end}", given))
        found[f"{end}: rules"] = client.get("/api/rules").json()
    given = {"revision": site.state.revision, "reason": "final check"}
    found["test"] = answer_text(_sent(client, site, "/api/test", given))
    found["test page"] = answer_text(client.get("/test"))
    return found


def _protection() -> Sections:
    """Requests without the token, from elsewhere, and by another host."""
    site = site_of(clinic_editor())
    client, known = bare_client(site), client_of(site)
    found = Sections({path: answer_text(client.get(path)) for path in ("/", "/api/state")})
    found["no token in a form"] = answer_text(known.post("/edit", data={"op": "undo"}))
    found["other host"] = answer_text(known.get("/", headers={"host": "elsewhere.example"}))
    elsewhere = {"origin": "http://elsewhere.example"}
    found["other origin"] = answer_text(
        known.post("/edit", data={"csrf": site.csrf}, headers=elsewhere)
    )
    found["too large"] = answer_text(known.post("/edit", content=b"x" * 9_000_000))
    return found


def _not_asked() -> list[str]:
    """Addresses of the interface that no case asks for: a new one needs a line above."""
    client = client_of(site_of(clinic_editor()))
    return sorted(_unasked(client.get("/api/openapi.json").json()["paths"]))


def _unasked(paths: dict[str, Any]) -> Iterator[str]:
    asked = {*(page.partition("?")[0] for page in PAGES), "/api/learn", "/api/accept", "/api/drop"}
    asked |= {f"/api/{kind}/{name}" for kind in ("edit", "preview") for name in OPERATIONS}
    for path in paths:
        pattern = re.sub(r"\\\{\w+\\\}", r"\\w+", re.escape(path))
        if not any(re.fullmatch(pattern, one) for one in asked):
            yield path
