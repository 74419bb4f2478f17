"""The JSON interface: its answers, its addresses, and their description (OpenAPI)."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.json import schema_components
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from labelrules._checks import quoted
from labelrules.data.document import Record, builtins_of
from labelrules.inspection import explain
from labelrules.studio import Editor, LabelChange, MeasureChange, PartPreview
from labelrules.studio.edits import Number
from labelrules.studio.web.project import RuleCounts, State
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
from labelrules.studio.web.views.checks import findings_of
from labelrules.studio.web.views.rows import ROWS_TRIED, chosen_row
from labelrules.studio.web.views.rule import found_line
from labelrules.studio.web.views.rules import RuleLine, rule_lines


class StateAnswer(Record):
    """The present state: a change must name its revision. Measures are given for each part."""

    revision: int
    data: str
    branch: str
    n_rules: int
    can_undo: bool
    can_redo: bool
    is_learning: bool
    measures: dict[str, dict[str, float]]


class FeatureAnswer(Record):
    """A feature; only some kinds have categories."""

    name: str
    kind: str
    categories: list[str] | None


class NamesAnswer(Record):
    """Labels and features, in the order of the data."""

    labels: list[str]
    features: list[FeatureAnswer]


class ListedRuleAnswer(Record):
    """A rule; a disabled one has no counts, and only one in layers has a layer."""

    number: int
    id: int
    text: str
    note: str | None
    locked: bool
    disabled: bool
    layer: int | None
    for_no_label: bool
    training: RuleCounts | None
    validation: RuleCounts | None


class RuleAnswer(ListedRuleAnswer):
    """A rule, and the state that it is of."""

    revision: int


class RulesAnswer(Record):
    """All rules in their order, and the state that they are of."""

    revision: int
    rules: list[ListedRuleAnswer]


class RulePairAnswer(Record):
    """A rule that changes, as text."""

    before: str
    after: str


class PartAnswer(Record):
    """What changes in a part of the data; of many rows only the first are listed."""

    n_rows: int
    n_changed_cells: int
    n_changed_rows: int
    rows: list[int]
    labels: list[LabelChange]
    measures: list[MeasureChange]


class PreviewAnswer(Record):
    """What a change would do to the state with this revision; rules are given as text."""

    revision: int
    removed: list[str]
    added: list[str]
    changed: list[RulePairAnswer]
    reordered: bool
    parts: dict[str, PartAnswer]


class ExplainedLabelAnswer(Record):
    """A label of a row: 1 if it is present, 0 if it is absent, null if that is unknown."""

    predicted: int
    truth: int | None
    sentence: str


class ExplanationAnswer(Record):
    """Why a row gets its labels."""

    row: int
    part: str
    labels: dict[str, ExplainedLabelAnswer]


class FindingAnswer(Record):
    """Something to look at, perhaps with a way to settle it, and what that would do."""

    kind: str
    sentence: str
    fix: str | None
    effect: str | None


class FindingsAnswer(Record):
    """What is to be looked at."""

    findings: list[FindingAnswer]


class StepAnswer(Record):
    """A step of the history."""

    number: int
    text: str
    author: str | None
    time: datetime


class VersionAnswer(Record):
    """A named version, with the measures of each part."""

    name: str
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, dict[str, float]]


class HistoryAnswer(Record):
    """The steps that lead to the present rules, the versions, and the step of each branch."""

    steps: list[StepAnswer]
    versions: list[VersionAnswer]
    branches: dict[str, int]
    branch: str


class LearningAnswer(Record):
    """The progress of learning; `job` is 0 if nothing is learned, and no proposal waits."""

    job: int
    is_running: bool
    share: float
    text: str
    error: str
    has_proposal: bool


class OpeningAnswer(Record):
    """A look at the test part."""

    number: int
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, float]


class OpeningsAnswer(Record):
    """The looks at the test part, if there is one."""

    has_test: bool
    openings: list[OpeningAnswer]


class ErrorAnswer(Record):
    """Why a request was refused; with the present revision if another one was named."""

    error: str
    revision: int | UnsetType = UNSET


ROWS_LISTED = 200
"""Rows that a preview lists; their number is always given."""

Kind = TypeVar("Kind")


def answer_of(kind: type[Kind], value: Any, **more: Any) -> Kind:
    """An answer with the attributes of a value that have the names of its fields, and more."""
    names = kind.__struct_fields__  # type: ignore[attr-defined]
    return kind(**{name: getattr(value, name) for name in names if name not in more}, **more)


def state_answer(site: Site, state: State, fields: Fields) -> StateAnswer:
    """The present state."""
    editor = state.editor
    with site.project.reading:
        measures = {name: dict(values) for name, values in editor.measures.items()}
    return answer_of(
        StateAnswer, editor, revision=state.revision, data=site.name, branch=editor.branch_name,
        n_rules=len(site.figures(state).rules), is_learning=site.job.is_running, measures=measures,
    )  # fmt: skip


def names_answer(site: Site, state: State, fields: Fields) -> NamesAnswer:
    """Labels and features."""
    schema = state.editor.theory.schema
    return NamesAnswer([*schema.labels], [answer_of(FeatureAnswer, one) for one in schema.features])


def _line(line: RuleLine, kind: type[Kind], **more: Any) -> Kind:
    counts = {"training": line.training, "validation": line.validation}
    return answer_of(kind, line.edited, **counts, **more)


def rules_answer(site: Site, state: State, fields: Fields) -> RulesAnswer:
    """All rules."""
    lines = rule_lines(state, site.figures(state))
    return RulesAnswer(state.revision, [_line(line, ListedRuleAnswer) for line in lines])


def rule_answer(site: Site, state: State, fields: Fields) -> RuleAnswer:
    """One rule."""
    line = found_line(fields.number("number"), state, site.figures(state))
    return _line(line, RuleAnswer, revision=state.revision)


def preview_answer(
    site: Site, state: State, change: Callable[[Editor], Editor], where: str | None
) -> PreviewAnswer:
    """Preview a change."""
    with site.project.reading:
        preview = change(state.editor).preview(since=state.editor, where=where)
        parts = {name: _part(part) for name, part in preview.parts.items()}
        rules = preview.rules
    return PreviewAnswer(
        revision=state.revision,
        removed=[one.text for one in rules.removed],
        added=[one.text for one in rules.added],
        changed=[RulePairAnswer(one.one.text, one.other.text) for one in rules.changed],
        reordered=rules.reordered,
        parts=parts,
    )


def _part(part: PartPreview) -> PartAnswer:
    return PartAnswer(
        n_rows=part.n_rows,
        n_changed_cells=part.n_cells,
        n_changed_rows=len(part.rows),
        rows=part.rows[:ROWS_LISTED].tolist(),
        labels=[one for one in part.labels if one.n_rows],
        measures=[*part.measures],
    )


def explanation_answer(site: Site, state: State, fields: Fields) -> ExplanationAnswer:
    """Why a row gets its labels."""
    name, part, row = chosen_row(site, state, fields)
    explanation = explain(
        state.editor.theory, part.data.take([row]), 0, counterfactuals="given", limit=ROWS_TRIED
    )
    truth = dict(zip(part.data.schema.labels, part.data.Y[row].tolist(), strict=True))
    labels = {
        one.label: ExplainedLabelAnswer(
            one.predicted, None if truth[one.label] < 0 else truth[one.label], one.sentence()
        )
        for one in explanation
    }
    return ExplanationAnswer(row, name, labels)


def findings_answer(site: Site, state: State, fields: Fields) -> FindingsAnswer:
    """What is to be looked at."""

    def text(value: object) -> str | None:
        return None if value is None else str(value)

    found = findings_of(state.editor)
    return FindingsAnswer(
        [answer_of(FindingAnswer, one, fix=text(one.fix), effect=text(one.effect)) for one in found]
    )


def history_answer(site: Site, state: State, fields: Fields) -> HistoryAnswer:
    """Steps, versions and branches."""
    editor = state.editor
    return HistoryAnswer(
        steps=[answer_of(StepAnswer, one, text=str(one)) for one in editor.steps],
        versions=[answer_of(VersionAnswer, one) for one in editor.versions],
        branches=dict(editor.branches),
        branch=editor.branch_name,
    )


def learning_answer(site: Site, state: State, fields: Fields) -> LearningAnswer:
    """The progress of learning."""
    job = site.job
    text, has_proposal = job.text if job.base is not None else "", job.proposal is not None
    return answer_of(LearningAnswer, job, job=job.number, text=text, has_proposal=has_proposal)


def openings_answer(site: Site, state: State, fields: Fields) -> OpeningsAnswer:
    """The openings of the test part."""
    openings = [answer_of(OpeningAnswer, one) for one in state.editor.openings]
    return OpeningsAnswer(state.editor.has_test, openings)


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
        return state_answer(site, site.project.apply(revision, operation.change(fields)), fields)

    return call


def _preview(operation: Operation) -> Call:
    def call(site: Site, state: State, fields: Fields) -> Any:
        change = operation.change(fields)
        return preview_answer(site, state, change, fields.optional("where"))

    return call


def _learn(site: Site, state: State, fields: Fields) -> Any:
    change, about = learning_of(fields, state.editor)
    site.project.learn(fields.number("revision"), about, change)
    return learning_answer(site, state, fields)


def _accept(site: Site, state: State, fields: Fields) -> Any:
    state = site.project.accept(fields.number("revision"), fields.number("job"))
    return state_answer(site, state, fields)


def _drop(site: Site, state: State, fields: Fields) -> Any:
    site.project.drop(fields.number("job"))
    return state_answer(site, site.state, fields)


def _open_test(site: Site, state: State, fields: Fields) -> Any:
    open_test(site, fields)
    return openings_answer(site, state, fields)


_PART = Field("part", "text", "a part of the data, by default training", False, among=_PARTS)

RESOURCES = (
    Resource("GET", "/api/state", "The present state and its measures.",
             state_answer, StateAnswer),
    Resource("GET", "/api/names", "The names of labels, features and categories.", names_answer,
             NamesAnswer),
    Resource("GET", "/api/rules", "All rules with their evidence.", rules_answer, RulesAnswer),
    Resource("GET", "/api/rules/{number}", "One rule.", rule_answer, RuleAnswer, (NUMBER,)),
    Resource("GET", "/api/rows/{row}", "Why a row gets its labels, and what would change them.",
             explanation_answer, ExplanationAnswer,
             (Field("row", "integer", "the row, counted from 0"), _PART)),
    Resource("GET", "/api/findings", "What is to be looked at, with fixes.", findings_answer,
             FindingsAnswer),
    Resource("GET", "/api/history", "Steps, versions and branches.", history_answer,
             HistoryAnswer),
    Resource("GET", "/api/learning", "The progress of learning.", learning_answer,
             LearningAnswer),
    Resource("GET", "/api/test", "How often the test part was opened, and what was seen.",
             openings_answer, OpeningsAnswer),
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
    """The routes of the interface and of its description."""

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
    references, schemas = _named(
        *schema_components(answers, ref_template="#/components/schemas/{name}")
    )
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


def _named(*schemas: Any) -> Any:
    """Let the names of all components end in one word, also of values of other modules."""
    text = json.dumps(schemas)
    for one in (RuleCounts, LabelChange, MeasureChange):
        name = one.__name__.removeprefix("Rule")
        text = re.sub(rf'(?<=["/]){one.__name__}"', f'{name}Answer"', text)
    return json.loads(text)


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
