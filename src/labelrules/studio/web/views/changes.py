"""What forms change, its preview, the page when it came too late; and rules learned again."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.responses import Response

from labelrules._checks import quoted, split_names, suggestion
from labelrules.inspection import compare
from labelrules.studio import Editor, Knowledge
from labelrules.studio.web.project import LOWER_IS_BETTER, ConflictError, State
from labelrules.studio.web.site import (
    OPERATIONS,
    Fields,
    InputError,
    Page,
    Site,
    address,
    operation_of,
)

SCOPES = ("after", "labels")
MOST_FIRST = 12
"""Rules that differ and are shown before the measures; more come after them."""
LIMITS = ("max_conditions", "max_rules", "max_literals")


def learn_page(site: Site, state: State, fields: Fields) -> Page:
    """The form; or the progress of learning; or its result, to be accepted or dropped."""
    job, editor = site.job, state.editor
    values: dict[str, Any] = {"title": "Learn again", "job": job, "schema": editor.theory.schema}
    if job.proposal is not None:
        with site.project.reading:
            preview = job.proposal.preview(since=editor)
            values["parts"] = {
                name: (part, list(part.measures), part.rows) for name, part in preview.parts.items()
            }
            values["comparison"] = compare(editor.theory, job.proposal.theory)
            values["most_first"] = MOST_FIRST
        values["is_stale"] = job.base is None or job.base.revision != state.revision
    rules = site.figures(state).rules
    values |= {
        "n_rules": len(rules),
        "n_locked": sum(one.locked for one in rules),
        "label": fields.name("label"),
        "after": fields.number("after", 0),
    }
    return Page("learn.html", values)


def begin_learning(site: Site, fields: Fields) -> str:
    """Begin to learn in the background."""
    change, about = learning_of(fields, site.state.editor)
    site.project.learn(fields.number("revision"), about, change)
    return "/learn"


def learning_of(fields: Fields, editor: Editor) -> tuple[Callable[[Editor, Any], Editor], str]:
    """The learning that the fields ask for, and its description in words."""
    schema = editor.theory.schema
    labels, after = _scope(fields)
    for name in labels or ():
        if name not in schema.label_index:
            raise InputError(f"there is no label {quoted(name)}{suggestion(name, schema.labels)}")
    limits = {name: fields.number(name) if fields.has(name) else None for name in LIMITS}
    told = Knowledge(
        forbidden=tuple(_features(fields, "forbidden", schema.feature_index)),
        preferred=tuple(_features(fields, "preferred", schema.feature_index)),
        constraints=tuple(_lines(fields, "constraints")),
        **limits,
    )
    about = f"the rules for {', '.join(labels)}" if labels else (
        f"everything after rule {after}" if after else "all rules that are not locked"
    )  # fmt: skip

    def change(started: Editor, listener: Any) -> Editor:
        return started.relearn(after, labels=labels, knowledge=told, listener=listener)

    return change, about


def _scope(fields: Fields) -> tuple[list[str] | None, int | None]:
    """The labels whose rules are learned, or the rule after which all are."""
    labels, after = fields.names("labels"), fields.number("after", 0) or None
    scope = fields.choice("scope", SCOPES, "labels" if labels else "after")
    if scope == "labels" and not labels:
        raise InputError("choose at least one label whose rules shall be learned again")
    if labels and (scope == "after" or after is not None):
        raise InputError(
            "choose either labels whose rules are learned again, or a rule after which all are"
        )
    return (labels, None) if labels else (None, after)


def _features(fields: Fields, name: str, known: Collection[str]) -> list[str]:
    """Names, one a line or separated by commas, or a JSON list; a line may be a known name."""
    lines = _lines(fields, name)
    if fields.is_json:
        return lines
    named = [[line] if line in known else split_names(line) for line in lines]
    every = [one for names in named for one in names]
    return [one if one in known else one.strip() for one in every if one.strip()]


def _lines(fields: Fields, name: str) -> list[str]:
    """Lines that are not empty, or a JSON list."""
    if fields.is_json:
        return fields.names(name)
    lines = (fields.optional(name) or "").replace("\r", "").split("\n")
    return [line.strip() for line in lines if line.strip()]


def end_learning(site: Site, fields: Fields) -> str:
    """Accept what was learned, or drop it, or cancel."""
    action = fields.choice("action", ("accept", "drop"))
    if action == "accept":
        site.project.accept(fields.number("revision"), fields.number("job"))
        return address("/", done="accepted")
    site.project.drop(fields.number("job"))
    return address("/learn", done="dropped")


def open_test(site: Site, fields: Fields) -> str:
    """Open the test part."""
    if not site.state.editor.has_test:
        raise InputError("there is no test part: start the workbench with --test")
    site.project.open_test(fields.number("revision"), fields.text("reason"))
    return "/test"


@dataclass(frozen=True)
class Answer:
    """An answer that is no page: a file to keep, or a piece of a page."""

    content: str
    kind: str
    file_name: str | None = None

    def response(self) -> Response:
        """The answer to the browser."""
        headers = {}
        if self.file_name is not None:
            headers["content-disposition"] = f'attachment; filename="{self.file_name}"'
        return Response(self.content, media_type=self.kind, headers=headers)


Action: TypeAlias = Callable[[Site, Fields], str]

_DONE = {"undo": "undone", "redo": "redone", "commit": "committed"}


def edit(site: Site, fields: Fields) -> str:
    """Apply an operation to the state that the form was made from."""
    operation = operation_of(fields)
    change = operation.change(fields)
    state = site.project.apply(fields.number("revision"), change)
    return address(
        page_after(operation.name, fields, state), done=_DONE.get(operation.name, "applied")
    )


def page_after(name: str, fields: Fields, state: State) -> str:
    """The page that shows what an operation has changed."""
    n_rules = len(state.editor.rules)
    if name in ("commit", "branch", "switch"):
        return "/history"
    if name == "add":
        return f"/rules/{min(fields.number('at', n_rules) or n_rules, n_rules)}" if n_rules else "/"
    if name == "move":
        return f"/rules/{fields.number('to')}"
    if name in ("undo", "redo", "remove"):
        return "/"
    return f"/rules/{fields.number('number')}"


ROWS_SHOWN = 30


def preview_page(site: Site, state: State, fields: Fields) -> Page:
    """The page of a preview; with ``fragment=1`` its content alone, for the browser's module."""
    operation = operation_of(fields)
    if not operation.has_preview:
        raise InputError(f"there is no preview of {operation.name}")
    is_fragment = fields.optional("fragment") is not None
    where = fields.optional("where")
    with site.project.reading:
        edited = operation.change(fields)(state.editor)
        preview = edited.preview(since=state.editor, where=where)
        parts = {
            name: (part, list(part.measures), part.rows) for name, part in preview.parts.items()
        }
    arguments = operation.arguments(fields)
    values: dict[str, Any] = {
        "title": "Preview",
        "operation": operation,
        "arguments": {name: value for name, value in arguments.items() if value is not None},
        "is_stale": fields.number("revision", state.revision) != state.revision,
        "preview": preview,
        "parts": parts,
        "where": where,
        "losses": LOWER_IS_BETTER,
        "rows_shown": ROWS_SHOWN,
    }
    return Page("preview_brief.html" if is_fragment else "preview.html", values)


def conflict_page(site: Site, conflict: ConflictError, fields: Fields) -> Page:
    """What was asked for, what has changed since, and how to go on; nothing is lost."""
    before = conflict.made_from
    found = None
    if before is not None:
        found = compare(before.editor.theory, conflict.present.editor.theory)
    operation = OPERATIONS.get(fields.optional("op") or "")
    wanted = {} if operation is None else operation.arguments(fields)
    values = {
        "title": "The rules have changed meanwhile",
        "operation": operation,
        "wanted": {name: value for name, value in wanted.items() if value is not None},
        "comparison": found,
        "before": before,
    }
    return Page("conflict.html", values, 409)
