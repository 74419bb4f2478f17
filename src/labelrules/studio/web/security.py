"""Who may look and who may change: the token, names of hosts, origins, sizes, and headers.

The server listens on this machine only, but other pages in the same browser can send requests to
it. So every request must name a known host (a foreign name that resolves to this machine is
refused, which ends DNS rebinding), carry the token, and, if it changes something, come from a page
of this server, with its CSRF token.
"""

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from labelrules._html import render

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1 << 20
"""Bytes of a request; the longest forms hold the text of a rule."""

SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: browsers would then send no Origin with forms, and it is checked.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Keys:
    """The secret of one server, and what is derived from it.

    Examples
    --------
    >>> keys = Keys("secret")
    >>> keys.admits("secret"), keys.admits("guess"), keys.is_csrf(keys.csrf)
    (True, False, True)
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def csrf(self) -> str:
        """The token that every form carries; it does not reveal the other."""
        return hmac.new(self.token.encode(), b"forms", sha256).hexdigest()

    def admits(self, given: str | None) -> bool:
        """Whether this is the token."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def is_csrf(self, given: str | None) -> bool:
        """Whether this is the token of forms."""
        return given is not None and hmac.compare_digest(given.encode(), self.csrf.encode())


@dataclass(frozen=True)
class Guard:
    """An application around another that refuses what should not reach it.

    Parameters
    ----------
    app : application
    keys : Keys
    hosts : iterable of str
        Names under which the server may be addressed, besides those of the loopback address.
    """

    app: App
    keys: Keys
    hosts: frozenset[str]

    def __init__(self, app: App, keys: Keys, hosts: Iterable[str] = ()) -> None:
        object.__setattr__(self, "app", app)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "hosts", frozenset({*LOOPBACK, *hosts}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        guarded = _with_headers(send, is_static=scope["path"].startswith("/static/"))
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _answer(guarded, scope, *refused)
            return
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), errors="replace"))
        if scope["method"] in SAFE and self.keys.admits(query.get("token")):
            await self._welcome(scope, headers, guarded)
            return
        by_header = self.keys.admits(_bearer(headers))
        if not by_header and not self.keys.admits(_cookie(headers, cookie_name(headers))):
            await _answer(guarded, scope, 403, _NO_TOKEN)
            return
        scope["state"] = {**scope.get("state", {}), "by_header": by_header}
        await self.app(scope, _limited(receive), guarded)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the reason if a request is refused whoever sends it."""
        host = headers.get("host", "")
        if not self._is_known(host):
            return 400, (
                f"this server does not answer to the name {host[:80]!r}: open the address that "
                "'labelrules workbench' has printed, or give it this name by --host"
            )
        site = headers.get("sec-fetch-site", "same-origin")
        is_visit = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in SAFE
        if site not in ("same-origin", "none") and not is_visit:
            return 403, "the request comes from a page of another site"
        if scope["method"] not in SAFE:
            origin = headers.get("origin")
            if origin is not None and origin != f"{scope['scheme']}://{host}":
                return 403, "the request comes from a page of another site"
        size = headers.get("content-length", "0")
        if not (size.isascii() and size.isdigit()):
            return 400, "the content length is not a number"
        if int(size[:20]) > LARGEST_BODY:
            return 413, f"the request has more than {LARGEST_BODY:,} bytes"
        return None

    def _is_known(self, host: str) -> bool:
        """Whether the server is addressed by one of its names, or by a bare address."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return name.lower() in self.hosts or ("*" in self.hosts and _is_address(name))

    async def _welcome(self, scope: Scope, headers: dict[str, str], send: Send) -> None:
        """Set the cookie, and go on to the same page without the token in its address.

        By a page and not by a redirect: after a link on another site, as from a chat, browsers
        would withhold a strict cookie from the redirect.
        """
        rest = [
            (name, value)
            for name, value in parse_qsl(scope["query_string"].decode("latin-1"), errors="replace")
            if name != "token"
        ]
        path = "/" + scope["path"].lstrip("/")  # "//host" would lead to another site
        address = path + ("?" + urlencode(rest) if rest else "")
        cookie = f"{cookie_name(headers)}={self.keys.token}; Path=/; HttpOnly; SameSite=Strict"
        page = str(render("workbench/welcome.html", address=address)).encode()
        await _send(send, 200, page, "text/html; charset=utf-8", [("set-cookie", cookie)])


_NO_TOKEN = (
    "open the address that 'labelrules workbench' has printed when it started: it holds a token "
    "without which nobody can read or change the model"
)


def cookie_name(headers: dict[str, str]) -> str:
    """The name of the cookie: servers on other ports of this host have others."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"labelrules-{port if port.isdigit() else '80'}"


def _cookie(headers: dict[str, str], name: str) -> str | None:
    """The value of a cookie; those of other servers on this machine may be written in any way."""
    for pair in headers.get("cookie", "").split(";"):
        given, _, value = pair.partition("=")
        if given.strip() == name:
            return value.strip().strip('"')
    return None


def _bearer(headers: dict[str, str]) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class TooLargeError(ValueError):
    """The body of a request is larger than the server reads."""


def _limited(receive: Receive) -> Receive:
    """Stop reading a body whose length was not announced once it is too long."""
    n_read = 0

    async def limited() -> Message:
        nonlocal n_read
        message = await receive()
        n_read += len(message.get("body", b""))
        if n_read > LARGEST_BODY:
            raise TooLargeError(f"the request has more than {LARGEST_BODY:,} bytes")
        return message

    return limited


def _with_headers(send: Send, is_static: bool) -> Send:
    """Add the headers of every answer."""
    kept = "private, max-age=3600" if is_static else "no-store"
    added = [
        (name.encode(), value.encode())
        for name, value in {**HEADERS, "cache-control": kept}.items()
    ]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in added}
            own = [pair for pair in message.get("headers", []) if pair[0].lower() not in given]
            message = {**message, "headers": [*own, *added]}
        await send(message)

    return sending


async def _answer(send: Send, scope: Scope, status: int, reason: str) -> None:
    """A refusal, as JSON for the interface and as a page for people."""
    if scope["path"].startswith("/api/"):
        body = json.dumps({"error": reason}).encode()
        await _send(send, status, body, "application/json", [])
        return
    page = str(render("workbench/refused.html", status=status, reason=reason)).encode()
    await _send(send, status, page, "text/html; charset=utf-8", [])


async def _send(
    send: Send, status: int, body: bytes, kind: str, more: list[tuple[str, str]]
) -> None:
    pairs = [("content-type", kind), ("content-length", str(len(body))), *more]
    headers = [(name.encode(), value.encode("latin-1")) for name, value in pairs]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
