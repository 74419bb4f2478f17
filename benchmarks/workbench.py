"""What each address of the workbench takes on imdb (120,919 rows, 28 labels) with 200 rules.

    python benchmarks/workbench.py                   # every address
    python benchmarks/workbench.py /findings /flow   # these pages only

needs the folder of data sets, `LABELRULES_DATA`. A fresh process loads rows, model and project file
as the command does, and answers requests by its ASGI application. All rows are training rows, and
every fourth is a validation and a test row, too. Times are CPU times of that process, all threads
together, in milliseconds. Each address is asked for `ROUNDS` times, with other rules, labels and
rows, each time right after an edit and then again on the same state. Memory is resident.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
from parts.peaks import MEGABYTE, encoded_bytes, in_fresh_process, kilobytes
from parts.sets import folder, have_data
from parts.tables import header, row

from labelrules import Dataset, SeparateAndConquer, load
from labelrules.rules import rule_text
from labelrules.rules.language.text import condition_text
from labelrules.storage import load_model, save
from labelrules.studio import Editor
from labelrules.studio.web.api import RESOURCES
from labelrules.studio.web.app import VIEWS, create_app
from labelrules.studio.web.opening import Material, compile_for, opened
from labelrules.studio.web.project import Project
from labelrules.studio.web.security import Keys
from labelrules.studio.web.site import OPERATIONS, Site

N_RULES = 200
ROUNDS = 5
TOKEN = "benchmark"

PAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "/": {
        "in order": ("",),
        "filtered, sorted": (
            "?label={label}", "?feature={feature}", "?q={word}", "?sign=absent", "?state=locked",
            "?label={label}&tests={other}", "?sort=right", "?sort=wrong", "?sort=precision",
            "?sort=validation", "?sort=length",
        ),
        "by label": ("?view=label", "?view=label&label={label}"),
        "matrix": ("?view=matrix", "?view=matrix&columns=3", "?view=matrix&label={label}"),
    },
    "/rules/{number:int}": {"": ("", "?label={own}")},
    "/preview": {
        "live": ("?{change}&part=1",),
        "page": ("?{change}",),
        "with a slice": ("?{change}&where={where}",),
    },
    "/labels": {"": ("", "?sort=name", "?sort=rows", "?sort=rules", "?sort=f1")},
    "/label": {"": ("?name={label}",)},
    "/features": {"": ("", "?q={word}", "?page=2")},
    "/feature": {"": ("?name={feature}",)},
    "/rows": {
        "": (
            "", "?truth=wrong", "?truth=right", "?truth=unknown", "?label={label}&truth=wrong",
            "?rule={number}", "?rule={number}&truth=wrong&label={own}", "?part=validation&page=9",
        ),
    },
    "/rows/{row:int}": {"": ("", "?label={label}", "?part=validation", "?x.{feature}=1")},
    "/dependencies": {"": ("", "?view=graph")},
    "/flow": {"": ("", "?page=2", "?label={label}")},
    "/alternatives/{number:int}": {
        "": (
            "", "?measure=precision/micro/partial", "?measure=accuracy/micro/partial",
            "?measure=f0.5/micro/partial",
        ),
    },
    "/findings": {"": ("", "?rule={number}")},
    "/slice": {"": ("", "?where={where}", "?where={where}, {other}")},
    "/compare": {"": ("", "?one=the first rules&other=the present rules")},
    "/add": {"": ("",)},
    "/learn": {"": ("",)},
    "/history": {"": ("",)},
    "/export": {"": ("",)},
    "/export/{name}": {"": ("model.json", "rules.txt", "history.py", "report.html")},
    "/test": {"": ("",)},
    "/api": {"": ("",)},
}  # fmt: skip


class Answer(NamedTuple):
    """What the application answered, and its CPU time."""

    status: int
    text: str
    milliseconds: float


class Client:
    """Sends requests to an ASGI application in this process, with the token in a header."""

    def __init__(self, app: Any) -> None:
        self.app, self.loop = app, asyncio.new_event_loop()

    def send(self, method: str, address: str, fields: dict[str, Any] | None = None) -> Answer:
        """One request; fields are sent as JSON to the interface, and as forms to pages."""
        path, _, query = address.partition("?")
        is_json = path.startswith("/api/")
        body = b""
        if fields is not None:
            body = (json.dumps(fields) if is_json else urlencode(fields)).encode()
        kind = "application/json" if is_json else "application/x-www-form-urlencoded"
        headers = {"host": "127.0.0.1:8765", "authorization": f"Bearer {TOKEN}",
                   "content-type": kind, "content-length": str(len(body))}  # fmt: skip
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
            "method": method, "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": query.encode(), "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8765),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        return self.loop.run_until_complete(self._answered(scope, body))

    async def _answered(self, scope: dict[str, Any], body: bytes) -> Answer:
        parts: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            parts.append(message)

        start = time.process_time()
        await self.app(scope, receive, send)
        milliseconds = 1000 * (time.process_time() - start)
        text = b"".join(part.get("body", b"") for part in parts).decode()
        return Answer(parts[0]["status"], text, milliseconds)


class Bench:
    """Edits rules by requests, and measures requests about them."""

    def __init__(self, site: Site) -> None:
        self.site, self.client, self.turns = site, Client(create_app(site)), count()
        self.times: dict[str, dict[str, list[tuple[float, str]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.kinds = cycle(
            ("drop_condition", "move", "disable", "replace", "toggle_label", "set_threshold",
             "enable", "add_condition")
        )  # fmt: skip

    @property
    def editor(self) -> Editor:
        """The present editor."""
        return self.site.state.editor

    def sent(
        self, line: str, when: str, address: str, fields: dict[str, Any] | None = None
    ) -> Answer:
        """Send a request and note its time; the first that fails ends the benchmark."""
        if fields is not None and not address.startswith("/api/preview/"):
            fields = {**fields, "revision": self.site.state.revision}
        answer = self.client.send("GET" if fields is None else "POST", address, fields)
        if answer.status >= 400:
            raise SystemExit(f"{address} {fields}: {answer.status}\n{answer.text[-600:]}")
        asked = address if fields is None else f"{address} {fields.get('op', '')}".strip()
        self.times[line][when].append((answer.milliseconds, asked))
        return answer

    def number_for(self, operation: str) -> int:
        """A rule that an operation can change: another one at each call."""
        rules, turn = self.editor.rules, next(self.turns)
        for shift in range(len(rules)):
            number = 1 + (37 * turn + 11 + shift) % len(rules)
            one = rules[number - 1]
            if one.disabled != (operation == "enable"):
                continue
            if one.locked == (operation == "unlock") and len(one.rule.body.on_features) > 1:
                return number
        self.apply({"enable": "disable", "unlock": "lock"}[operation])
        return self.number_for(operation)

    def fields_for(self, operation: str) -> dict[str, Any]:
        """An operation on some rule, with fields that change something."""
        number, schema = self.number_for(operation), self.editor.theory.schema
        rules = [one.rule for one in self.editor.rules]
        rule, other = rules[number - 1], rules[number % len(rules)]
        body = list(rule.body)
        place = next(n for n, one in enumerate(body, 1) if not one.on_label)
        test = next(
            one for rule in rules[number:] + rules for one in rule.body.on_features
            if one not in body
        )  # fmt: skip
        text = rule_text(other.with_evidence(None).with_note(None), schema)
        own: dict[str, dict[str, Any]] = {
            "replace": {"rule": text},
            "add": {"rule": text, "at": number},
            "move": {"to": 1 + (number * 7) % len(rules)},
            "note": {"text": f"note {number}"},
            "set_threshold": {"condition": place, "value": str(body[place - 1].value + 1)},
            "add_condition": {"test": condition_text(test, schema)},
            "drop_condition": {"condition": 1},
            "toggle_label": {"label": schema.labels[(rule.head.labels[0] + 1) % schema.n_labels]},
            "commit": {"reason": "the rules were looked at"},
            "branch": {"name": f"branch {len(self.editor.branches)}"},
            "switch": {"name": "main"},
        }
        has_number = OPERATIONS[operation].has_preview and operation != "add"
        given = {"number": number} if has_number else {}
        return given | own.get(operation, {})

    def edit(self) -> None:
        """Change the rules, as a form does."""
        operation = next(self.kinds)
        self.apply(operation)

    def apply(self, operation: str, line: str = "POST /edit") -> None:
        """Apply an operation, as a form does."""
        self.sent(line, "first", "/edit", {"op": operation, **self.fields_for(operation)})

    def address(self, template: str) -> str:
        """An address with a rule, labels and rows in it: others at each call."""
        schema, turn = self.editor.theory.schema, next(self.turns)
        number = self.number_for("show")
        rule = self.editor.rules[number - 1].rule
        tested = next(iter(rule.body.on_features)).column
        found = {
            "number": str(number),
            "row": str(9973 * turn % self.editor.validation.n_rows),
            "label": schema.labels[turn % schema.n_labels],
            "other": schema.labels[(turn + 5) % schema.n_labels],
            "own": schema.labels[rule.head.labels[0]],
            "feature": schema.features[tested].name,
            "word": schema.features[tested].name[:3],
            "where": condition_text(next(iter(rule.body.on_features)), schema),
        }
        for name, value in found.items():
            template = template.replace(f"{{{name}:int}}", value)
            template = template.replace(f"{{{name}}}", quote(value))
        return template.replace(" ", "%20")

    def ask(self, line: str, template: str) -> None:
        """Ask for an address right after an edit, and again; previews of every operation."""
        for operation in OPERATIONS if "{change}" in template else ("",):
            if operation and not OPERATIONS[operation].has_preview:
                continue
            for _ in range(ROUNDS):
                self.edit()
                change = {"op": operation, **self.fields_for(operation)} if operation else {}
                address = self.address(template.replace("{change}", urlencode(change)))
                for when in ("first", "again"):
                    self.sent(line, when, address)


def pages() -> Iterator[tuple[str, str]]:
    """The lines of the table that are pages, and the addresses of each."""
    if PAGES.keys() != VIEWS.keys():
        raise SystemExit(f"pages that are not measured: {VIEWS.keys() - PAGES.keys()}")
    for path, variants in PAGES.items():
        for title, queries in variants.items():
            for query in queries:
                line = f"{path.replace(':int', '')} {title}".strip()
                yield line, path.replace("{name}", query) if "{name}" in path else path + query


def ask_interface(bench: Bench) -> None:
    """Every address of the interface, edits and previews with every operation."""
    for one in RESOURCES:
        kind = one.path.split("/")[2]
        if one.method == "GET":
            bench.ask(f"GET {one.path}", one.route)
        elif kind in ("edit", "preview"):
            operation = one.path.split("/")[3]
            for _ in range(ROUNDS):
                if kind == "preview":
                    bench.edit()
                if operation == "redo":
                    bench.apply("undo")
                fields = bench.fields_for(operation)
                bench.sent(f"POST /api/{kind}/…", "first", one.path, fields)


def ask_in_history(bench: Bench) -> None:
    """Undo, redo, versions, branches, marks, and the pages with several versions."""
    for _ in range(ROUNDS):
        bench.edit()
        for operation in ("undo", "redo", "commit", "branch", "switch"):
            bench.apply(operation, f"POST /edit {operation}")
        for operation in ("lock", "unlock", "note", "add", "remove"):
            bench.apply(operation)
        bench.sent("POST /test", "first", "/test", {"reason": "to see"})
        last = quote(bench.editor.versions[-1].name)
        for when in ("first", "again"):
            bench.sent("/compare with a version", when, f"/compare?one={last}")
            bench.sent("/history with versions", when, "/history")


def ask_about_learning(bench: Bench) -> None:
    """Learning itself is not measured; its page, and what comes of it, are."""
    label = bench.editor.theory.schema.labels[0]
    bench.sent("POST /learn", "first", "/learn", {"scope": "labels", "labels": label})
    while bench.site.job.is_running:
        time.sleep(0.05)
    if bench.site.job.proposal is None:
        raise SystemExit(f"nothing was learned: {bench.site.job.error}")
    for when in ("first", "again"):
        bench.sent("/learn with new rules", when, "/learn")
        bench.sent("/compare with new rules", when, "/compare?other=the%20newly%20learned%20rules")
    fields = {"action": "accept", "job": bench.site.job.number}
    bench.sent("POST /learned", "first", "/learned", fields)
    bench.sent("/ after learning", "first", "/")


def report(model: str, project: str, words: list[str]) -> dict[str, Any]:
    """Open the project as the command does, ask for everything, and say what it took."""
    start = time.process_time()
    kept = load_model(model)
    data = load("imdb", folder())
    validation = data.take(np.arange(data.n_rows) % 4 == 3)
    found = {"read": time.process_time() - start, "size": encoded_bytes(data)}
    found["before"] = kilobytes("VmRSS")
    start = time.process_time()
    editor, _ = opened(Material(data, validation, validation, path=Path(project)), lambda: kept)
    compile_for(editor)
    site = Site(Project(editor, Path(project)), "imdb", Keys(TOKEN))
    found["open"] = time.process_time() - start
    bench = Bench(site)
    for when in ("first", "again"):
        bench.sent("the first page", when, "/")
    found["first page"] = kilobytes("VmHWM")
    for line, template in pages():
        if not words or line.split()[0] in words:
            bench.ask(line, template)
    if not words:
        ask_interface(bench)
        ask_in_history(bench)
        ask_about_learning(bench)
    found["peak"], found["end"] = kilobytes("VmHWM"), kilobytes("VmRSS")
    return {**found, "times": bench.times, "steps": len(bench.editor.history.steps)}


def print_times(times: dict[str, dict[str, list[tuple[float, str]]]]) -> None:
    """A line for each view: right after an edit, and again on the same state."""
    print(header("address", "requests", "after an edit", "worst", "again", "worst"))
    for line, found in times.items():
        first = [one for one, _ in found["first"]] if "first" in found else []
        again = [one for one, _ in found["again"]] if "again" in found else []
        cells = [f"{number:.0f}" if of else "" for of in (first, again)
                 for number in ((median(of), max(of)) if of else (0, 0))]  # fmt: skip
        print(row(f"`{line}`", len(first) + len(again), *cells))
    every = [one for found in times.values() for of in found.values() for one in of]
    print("\nThe longest:")
    for milliseconds, asked in sorted(every)[::-1][:12]:
        print(f"  {milliseconds:6.0f}  {asked}")


def main() -> None:
    """Learn and save a list, measure in another process, and print what it has found."""
    if sys.argv[1:2] == ["--report"]:
        print(json.dumps(report(*sys.argv[2:4], sys.argv[4:])))
        return
    if not have_data():
        return
    with TemporaryDirectory() as place:
        model, project = str(Path(place, "model.json")), str(Path(place, "edits.json"))
        save(learned(load("imdb", folder())), model)
        found = in_fresh_process(__file__, "--report", model, project, *sys.argv[1:])
    print_times(found["times"])
    print(f"\nSeconds: read {found['read']:.1f}, open {found['open']:.1f}.")
    size, *kept = (found[name] for name in ("size", "before", "first page", "peak", "end"))
    before, first, peak, end = (number * 1024 / MEGABYTE for number in kept)
    print(
        f"MB: data {size / MEGABYTE:.0f}; process with them {before:.0f}, at most {first:.0f} "
        f"with the first page, {peak:.0f} after {found['steps']} steps, {end:.0f} at the end."
    )


def learned(data: Dataset) -> SeparateAndConquer:
    """A list of so many rules; the usual settings find far fewer on these rows."""
    learner = SeparateAndConquer(
        max_rules=N_RULES, pruning=None, max_conditions=4, last_resort=None, default_rule=False
    )
    return learner.fit(data)


if __name__ == "__main__":
    main()
