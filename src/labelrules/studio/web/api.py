"""The JSON interface: the same calls as those of the pages, and their description (OpenAPI)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec.json import schema_components
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from labelrules._checks import quoted
from labelrules.data.document import builtins_of
from labelrules.studio.edits import Number
from labelrules.studio.web.answers import (
    ErrorAnswer,
    ExplanationAnswer,
    FindingsAnswer,
    HistoryAnswer,
    LearningAnswer,
    NamesAnswer,
    OpeningsAnswer,
    PreviewAnswer,
    RuleAnswer,
    RulesAnswer,
    StateAnswer,
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
from labelrules.studio.web.project import State
from labelrules.studio.web.site import (
    CSRF,
    LARGEST_NUMBER,
    LONGEST_TEXT,
    OPERATIONS,
    Field,
    Fields,
    InputError,
    Operation,
    Site,
    form_of,
    query_of,
)
from labelrules.studio.web.views.changes import LIMITS, SCOPES, learning_of, open_test

Call: TypeAlias = Callable[[Site, State, Fields], Any]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

REVISION = Field("revision", "integer", "the state that the change was made from", low=1)
NUMBER = Field.of("number", Number)
_JOB = Field("job", "integer", "which learning, as in the answer to /api/learn")
_WHERE = Field("where", "text", "a slice, such as 'age > 60'", False)
_PARTS = ("training", "validation")


@dataclass(frozen=True)
class Resource:
    """An address of the interface with its fields; those of POST are in the body."""

    method: str
    path: str
    about: str
    call: Call
    answer: type
    fields: tuple[Field, ...] = ()

    @property
    def given(self) -> tuple[Field, ...]:
        """The fields that are no part of the path."""
        return tuple(one for one in self.fields if f"{{{one.name}}}" not in self.path)

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
    state = site.project.accept(fields.number("revision"), fields.number("job"))
    return state_value(site, state)


def _drop(site: Site, state: State, fields: Fields) -> Any:
    site.project.drop(fields.number("job"))
    return state_value(site, site.state)


def _open_test(site: Site, state: State, fields: Fields) -> Any:
    open_test(site, fields)
    return openings_value(site, state, fields)


_PART = Field("part", "text", "a part of the data, by default training", False, among=_PARTS)

RESOURCES = (
    Resource("GET", "/api/state", "The present state and its measures.",
             lambda site, state, fields: state_value(site, state), StateAnswer),
    Resource("GET", "/api/names", "The names of labels, features and categories.", names_value,
             NamesAnswer),
    Resource("GET", "/api/rules", "All rules with their evidence.", rules_value, RulesAnswer),
    Resource("GET", "/api/rules/{number}", "One rule.", rule_value, RuleAnswer, (NUMBER,)),
    Resource("GET", "/api/rows/{row}", "Why a row gets its labels, and what would change them.",
             explanation_value, ExplanationAnswer,
             (Field("row", "integer", "the row, counted from 0"), _PART)),
    Resource("GET", "/api/findings", "What is to be looked at, with fixes.", findings_value,
             FindingsAnswer),
    Resource("GET", "/api/history", "Steps, versions and branches.", history_value,
             HistoryAnswer),
    Resource("GET", "/api/learning", "The progress of learning.", learning_value,
             LearningAnswer),
    Resource("GET", "/api/test", "How often the test part was opened, and what was seen.",
             openings_value, OpeningsAnswer),
    *(
        Resource("POST", f"/api/preview/{one.name}", f"Preview: {one.about}", _preview(one),
                 PreviewAnswer, (*one.fields, _WHERE))
        for one in OPERATIONS.values() if one.has_preview
    ),
    *(
        Resource("POST", f"/api/edit/{one.name}", one.about, _edit(one), StateAnswer,
                 (REVISION, *one.fields))
        for one in OPERATIONS.values()
    ),
    Resource("POST", "/api/learn", "Learn rules again, in the background.", _learn,
             LearningAnswer, (
        REVISION,
        Field("scope", "text", "which rules; by default what is given of the two that follow",
              False, among=SCOPES),
        Field("after", "integer", "keep the rules up to this one; 0 for none", False),
        Field("labels", "names", "learn the rules for these labels only", False),
        Field("forbidden", "names", "features that no new rule tests", False),
        Field("preferred", "names", "features to try first", False),
        Field("constraints", "names", "constraints on labels", False),
        *(Field(name, "integer", "a limit", False) for name in LIMITS),
    )),
    Resource("POST", "/api/accept", "Accept the newly learned rules.", _accept, StateAnswer,
             (REVISION, _JOB)),
    Resource("POST", "/api/drop", "Cancel learning, or drop its result.", _drop, StateAnswer,
             (_JOB,)),
    Resource("POST", "/api/test", "Open the test part; openings are counted.", _open_test,
             OpeningsAnswer, (REVISION, Field("reason", "text", "why it is opened"))),
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
        _check(fields, resource, is_get)
        fields.values.update(request.path_params)
        found = await run_in_threadpool(resource.call, site, site.state, fields)
        return JSONResponse(builtins_of(found))

    return endpoint


def _check(fields: Fields, resource: Resource, is_get: bool) -> None:
    """Refuse fields that the address does not have, and empty ones in it."""
    known = [one.name for one in resource.given]
    fields.check_names(known if is_get else [*known, CSRF])
    for name, value in fields.values.items():
        if is_get and value == "":
            raise InputError(f"the field {quoted(name)} is empty")


def openapi() -> dict[str, Any]:
    """The description of the interface, in OpenAPI 3.1."""
    answers = [*{one.answer: None for one in RESOURCES}, ErrorAnswer]
    references, schemas = schema_components(answers, ref_template="#/components/schemas/{name}")
    of_answer = dict(zip(answers, references, strict=True))
    paths: dict[str, Any] = {}
    for one in RESOURCES:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, of_answer)
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
            "schemas": schemas,
        },
    }


_REFUSALS = {
    "400": "a field is missing, wrong or unknown, or nothing can be written; nothing has changed",
    "403": "the token is missing or wrong, or the request comes from a page of another site",
    "404": "what is named is not there",
    "409": "the state is older than the present one, or something else is going on",
    "413": "the request is too large",
}


def _described(resource: Resource, of_answer: dict[type, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": resource.about,
        "responses": {
            "200": {"description": "done", "content": _json(of_answer[resource.answer])},
            **{
                status: {"description": about, "content": _json(of_answer[ErrorAnswer])}
                for status, about in _REFUSALS.items()
            },
        },
    }
    is_post = resource.method == "POST"
    if is_post:
        content = _json(_body_schema(resource.given))
        found["requestBody"] = {"required": True, "content": content}
    parameters = [
        {
            "name": one.name,
            "in": "query" if one in resource.given else "path",
            "required": one.is_required,
            "description": one.about,
            "schema": _schema(one),
        }
        for one in resource.fields
        if not (is_post and one in resource.given)
    ]
    return found | ({"parameters": parameters} if parameters else {})


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _body_schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            one.name: {**_or_null(_schema(one), one), "description": one.about} for one in fields
        },
        "required": [one.name for one in fields if one.is_required],
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Any], field: Field) -> dict[str, Any]:
    """A field of a body that may be left out may also be null."""
    if field.is_required:
        return schema
    either = {**schema, "type": [schema["type"], "null"]}
    return {**either, "enum": [*field.among, None]} if field.among else either


def _schema(field: Field) -> dict[str, Any]:
    """The values of a field, as JSON Schema."""
    if field.kind == "integer":
        return {"type": "integer", "minimum": field.low, "maximum": LARGEST_NUMBER - 1}
    if field.among:
        return {"type": "string", "enum": list(field.among)}
    text: dict[str, Any] = {"type": "string", "maxLength": LONGEST_TEXT}
    name = {**text, "minLength": 1}
    if field.kind == "names":
        return {"type": "array", "items": name}
    if field.kind == "quantity":
        return {**name, "type": ["number", "string"]}
    if field.kind == "name" or not field.is_required:
        return name if field.kind == "name" else text
    return {**name, "pattern": r"\S"}
