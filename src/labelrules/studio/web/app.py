"""The application: routes, and what becomes of errors."""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Match, Route

from labelrules._html import render
from labelrules.studio.web import api
from labelrules.studio.web.project import BusyError, ConflictError, State
from labelrules.studio.web.security import Guard, TooLargeError
from labelrules.studio.web.site import (
    Fields,
    ForgedError,
    InputError,
    NotThereError,
    Page,
    Site,
    form_of,
    page_html,
    query_of,
)
from labelrules.studio.web.views.changes import (
    Action,
    Answer,
    begin_learning,
    conflict_page,
    edit,
    end_learning,
    learn_page,
    open_test,
    preview_page,
)
from labelrules.studio.web.views.checks import add_page, findings_page, slice_page
from labelrules.studio.web.views.history import (
    compare_page,
    export_page,
    exported,
    history_page,
    interface_page,
    test_page,
)
from labelrules.studio.web.views.names import (
    dependencies_page,
    feature_page,
    features_page,
    label_page,
    labels_page,
)
from labelrules.studio.web.views.rows import flow_page, row_page, rows_page
from labelrules.studio.web.views.rule import alternatives_page, rule_page
from labelrules.studio.web.views.rules import rules_page

View: TypeAlias = Callable[[Site, State, Fields], Page | Answer]

VIEWS: dict[str, View] = {
    "/": rules_page,
    "/rules/{number:int}": rule_page,
    "/preview": preview_page,
    "/labels": labels_page,
    "/label": label_page,
    "/features": features_page,
    "/feature": feature_page,
    "/rows": rows_page,
    "/rows/{row:int}": row_page,
    "/dependencies": dependencies_page,
    "/flow": flow_page,
    "/alternatives/{number:int}": alternatives_page,
    "/findings": findings_page,
    "/slice": slice_page,
    "/compare": compare_page,
    "/add": add_page,
    "/learn": learn_page,
    "/history": history_page,
    "/export": export_page,
    "/export/{name}": exported,
    "/test": test_page,
    "/api": interface_page,
}

ACTIONS: dict[str, Action] = {
    "/edit": edit,
    "/learn": begin_learning,
    "/learned": end_learning,
    "/test": open_test,
}

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def create_app(site: Site, hosts: tuple[str, ...] = ()) -> Guard:
    """The workbench of a project as an ASGI application.

    Parameters
    ----------
    site : Site
        The project, its name and its keys.
    hosts : tuple of str
        Further names under which it may be addressed; "*" is any address of numbers.
    """
    routes = [Route("/static/{name}", _static)]
    routes += [Route(path, _view(site, view), methods=["GET"]) for path, view in VIEWS.items()]
    routes += [Route(path, _action(site, act), methods=["POST"]) for path, act in ACTIONS.items()]
    routes += api.routes(site)
    handlers: dict[Any, Any] = {
        kind: _failed(site, status)
        for kind, status in (
            (InputError, 400),
            (NotThereError, 404),
            (ForgedError, 403),
            (BusyError, 409),
            (TooLargeError, 413),
            (ValueError, 400),
            (HTTPException, 0),
            (Exception, 500),
        )
    }
    handlers[ConflictError] = _conflict(site)
    handlers[ClientDisconnect] = _gone
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, site.keys, hosts)


def _view(site: Site, view: Callable[[Site, State, Fields], Page | Answer]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        fields = query_of(request)
        fields.values.update(request.path_params)
        state = site.state
        return await run_in_threadpool(_made, site, state, view, fields, request.url.path)

    return endpoint


def _made(
    site: Site,
    state: State,
    view: Callable[[Site, State, Fields], Page | Answer],
    fields: Fields,
    path: str,
) -> Response:
    found = view(site, state, fields)
    if isinstance(found, Page):
        notice = _NOTICES.get(fields.optional("done") or "", "")
        return HTMLResponse(page_html(site, state, found, path, notice), found.status)
    return found.response()


_NOTICES = {
    "applied": "Applied, and written to the project file.",
    "undone": "The last step is undone.",
    "redone": "The step is done again.",
    "accepted": "The newly learned rules are in place.",
    "dropped": "The newly learned rules are dropped; nothing has changed.",
    "committed": "The version is kept.",
}


def _action(site: Site, act: Callable[[Site, Fields], str]) -> Endpoint:
    """A change that a form asks for; then the browser is sent to a page that shows it."""

    async def endpoint(request: Request) -> Response:
        fields = await form_of(request, site.keys)
        target = await run_in_threadpool(act, site, fields)
        return RedirectResponse(target, 303)

    return endpoint


def _failed(site: Site, status: int) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, wrong: Exception) -> Response:
        code, reason = status, str(wrong)
        if isinstance(wrong, HTTPException):
            code = wrong.status_code
            reason = _REASONS.get(code, wrong.detail)
        if code == 500:
            reason = f"a defect of the workbench ({type(wrong).__name__}); nothing has changed"
        found = _refusal(site, request, code, reason)
        if code == 405:
            found.headers["allow"] = ", ".join(_methods(request))
        return found

    return answer


_REASONS = {
    404: "there is no such page",
    405: "this address does not take such a request",
}


def _methods(request: Request) -> list[str]:
    """The methods that the address takes."""
    matching = [one for one in request.app.routes if one.matches(request.scope)[0] != Match.NONE]
    return sorted({method for one in matching for method in one.methods or ()})


def _gone(request: Request, wrong: Exception) -> Response:
    """An answer that nobody reads: the client has hung up before all was sent."""
    return Response(status_code=400)


def _refusal(site: Site, request: Request, status: int, reason: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": reason}, status)
    if request.query_params.get("fragment") is not None:
        return HTMLResponse(str(render("workbench/wrong_part.html", reason=reason)), status)
    page = Page("wrong.html", {"title": _TITLES.get(status, "Not possible"), "reason": reason})
    return HTMLResponse(page_html(site, site.state, page, request.url.path), status)


_TITLES = {404: "Not found", 400: "This cannot be done", 403: "Not allowed", 500: "An error"}


def _conflict(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, wrong: Exception) -> Response:
        assert isinstance(wrong, ConflictError)
        if request.url.path.startswith("/api/"):
            found = {"error": str(wrong), "revision": wrong.present.revision}
            return JSONResponse(found, 409)
        fields = await form_of(request, site.keys)
        page = conflict_page(site, wrong, fields)
        return HTMLResponse(page_html(site, wrong.present, page, request.url.path), 409)

    return answer


_STATIC = {"workbench.js": "text/javascript", "style.css": "text/css"}


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    return Response(static_text(name), media_type=_STATIC[name])


def static_text(name: str) -> str:
    """The text of the stylesheet, or of the module."""
    if name == "style.css":
        return f"{render('style.css')}\n{render('workbench.css')}\n"
    return files("labelrules.studio.web").joinpath(name).read_text(encoding="utf-8")
