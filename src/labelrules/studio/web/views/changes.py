"""What forms change: the change itself, its preview, and the page when it came too late."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.responses import Response

from labelrules.inspection import compare
from labelrules.studio.web.figures import LOWER_IS_BETTER
from labelrules.studio.web.inputs import Fields, InputError
from labelrules.studio.web.operations import IN_HISTORY, OPERATIONS, operation_of
from labelrules.studio.web.project import ConflictError, State
from labelrules.studio.web.site import Page, Site, address


@dataclass(frozen=True)
class Answer:
    """What a view answers with when it is no page: a file to keep, or a piece of a page."""

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
    if operation.name in IN_HISTORY:
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
