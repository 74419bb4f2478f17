"""The JSON interface: the same calls as those of the pages, and their description (OpenAPI)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from labelrules.workbench.inputs import Fields, form_of, query_of
from labelrules.workbench.operations import IN_HISTORY, OPERATIONS, Field, Operation
from labelrules.workbench.project import State
from labelrules.workbench.site import Site
from labelrules.workbench.values import (
    explanation_value,
    findings_value,
    history_value,
    learning_value,
    names_value,
    openings_value,
    preview_value,
    rule_value,
    rules_value,
    state_value,
)
from labelrules.workbench.views.learning import LIMITS, learning_of

Call: TypeAlias = Callable[[Site, State, Fields], Any]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

REVISION = Field("revision", "integer", "the state that the change was made from")
_NUMBER = Field("number", "integer", "the rule, counted from 1")
_WHERE = Field("where", "string", "a slice, such as 'age > 60'", False)
_LIST = "array"


@dataclass(frozen=True)
class Resource:
    """An address of the interface with its fields; those of POST are in the body."""

    method: str
    path: str
    about: str
    call: Call
    fields: tuple[Field, ...] = ()

    @property
    def route(self) -> str:
        """The path for the router."""
        return self.path.replace("{number}", "{number:int}").replace("{row}", "{row:int}")


def _edit(operation: Operation) -> Call:
    def call(site: Site, state: State, fields: Fields) -> Any:
        revision = fields.number("revision")
        return state_value(site, site.project.apply(revision, operation.change(fields)))

    return call


def _preview(operation: Operation) -> Call:
    def call(site: Site, state: State, fields: Fields) -> Any:
        change = operation.change(fields)
        return preview_value(site, state, change, fields.optional("where"))

    return call


def _learn(site: Site, state: State, fields: Fields) -> Any:
    change, about = learning_of(fields, state.editor)
    site.project.learn(fields.number("revision"), about, change)
    return learning_value(site, state, fields)


def _accept(site: Site, state: State, fields: Fields) -> Any:
    return state_value(site, site.project.accept(fields.number("revision")))


def _drop(site: Site, state: State, fields: Fields) -> Any:
    site.project.drop()
    return state_value(site, site.state)


def _open_test(site: Site, state: State, fields: Fields) -> Any:
    site.project.open_test(fields.number("revision"), fields.text("reason"))
    return openings_value(site, state, fields)


_PART = Field("part", "string", "training (the default) or validation", False)

RESOURCES = (
    Resource("GET", "/api/state", "The present state and its measures.",
             lambda site, state, fields: state_value(site, state)),
    Resource("GET", "/api/names", "The names of labels, features and categories.", names_value),
    Resource("GET", "/api/rules", "All rules with their evidence.", rules_value),
    Resource("GET", "/api/rules/{number}", "One rule.", rule_value, (_NUMBER,)),
    Resource("GET", "/api/rows/{row}", "Why a row gets its labels, and what would change them.",
             explanation_value, (Field("row", "integer", "the row, counted from 0"), _PART)),
    Resource("GET", "/api/findings", "What is to be looked at, with fixes.", findings_value),
    Resource("GET", "/api/history", "Steps, versions and branches.", history_value),
    Resource("GET", "/api/learning", "The progress of learning.", learning_value),
    Resource("GET", "/api/test", "How often the test part was opened, and what was seen.",
             openings_value),
    *(
        Resource("POST", f"/api/preview/{one.name}", f"Preview: {one.about}", _preview(one),
                 (*one.fields, _WHERE))
        for one in OPERATIONS.values() if one.name not in IN_HISTORY
    ),
    *(
        Resource("POST", f"/api/edit/{one.name}", one.about, _edit(one), (REVISION, *one.fields))
        for one in OPERATIONS.values()
    ),
    Resource("POST", "/api/learn", "Learn rules again, in the background.", _learn, (
        REVISION,
        Field("scope", "string", "after (a rule) or labels", False),
        Field("after", "integer", "keep the rules up to this one; 0 for none", False),
        Field("labels", _LIST, "learn the rules for these labels only", False),
        Field("forbidden", _LIST, "features that no new rule tests", False),
        Field("preferred", _LIST, "features to try first", False),
        Field("constraints", _LIST, "constraints on labels", False),
        *(Field(name, "integer", "a limit", False) for name in LIMITS),
    )),
    Resource("POST", "/api/accept", "Accept the newly learned rules.", _accept, (REVISION,)),
    Resource("POST", "/api/drop", "Cancel learning, or drop its result.", _drop),
    Resource("POST", "/api/test", "Open the test part; openings are counted.", _open_test,
             (REVISION, Field("reason", "string", "why it is opened"))),
)  # fmt: skip


def routes(site: Site) -> list[Route]:
    """The routes of the interface, and that of its description."""

    async def describe(request: Request) -> Response:
        return JSONResponse(openapi())

    found = [Route("/api/openapi.json", describe, methods=["GET"])]
    found += [Route(one.route, _endpoint(site, one), methods=[one.method]) for one in RESOURCES]
    return found


def _endpoint(site: Site, resource: Resource) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        is_get = resource.method == "GET"
        fields = query_of(request) if is_get else await form_of(request, site.keys)
        fields.values.update(request.path_params)
        found = await run_in_threadpool(resource.call, site, site.state, fields)
        return JSONResponse(found)

    return endpoint


def openapi() -> dict[str, Any]:
    """The description of the interface, in OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for one in RESOURCES:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "labelrules workbench",
            "version": "1",
            "description": "Read rules, preview and apply changes, learn again. Changes carry the "
            "revision of the state that they were made from; on an older one they are refused "
            "with 409. Send the token as 'Authorization: Bearer TOKEN'.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "revision": {"type": "integer"}},
    "required": ["error"],
}


_ANSWER = {"application/json": {"schema": {"type": "object"}}}


def _described(resource: Resource) -> dict[str, Any]:
    refused = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    found: dict[str, Any] = {
        "summary": resource.about,
        "responses": {
            "200": {"description": "done", "content": _ANSWER},
            "400": {"description": "a field is missing or wrong; nothing has changed", **refused},
            "403": {"description": "the token is missing or wrong", **refused},
            "404": {"description": "what is named is not there", **refused},
            "409": {"description": "the state is older than the present one, or busy", **refused},
        },
    }  # fmt: skip
    in_path = [one for one in resource.fields if f"{{{one.name}}}" in resource.path]
    others = [one for one in resource.fields if one not in in_path]
    if resource.method == "POST":
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _body_schema(others)}},
        }
        others = []
    if in_path or others:
        found["parameters"] = [
            {
                "name": one.name,
                "in": "path" if one in in_path else "query",
                "required": one in in_path or one.is_required,
                "description": one.about,
                "schema": _schema(one),
            }
            for one in (*in_path, *others)
        ]
    return found


def _body_schema(fields: list[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {one.name: {**_schema(one), "description": one.about} for one in fields},
        "required": [one.name for one in fields if one.is_required],
    }


def _schema(field: Field) -> dict[str, Any]:
    if field.kind == _LIST:
        return {"type": "array", "items": {"type": "string"}}
    if field.kind == "integer":
        return {"type": "integer", "minimum": 0}
    return {"type": "string"}
