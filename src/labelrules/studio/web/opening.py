"""Begin or go on with a project, and serve it."""

import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from errno import EADDRINUSE
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np

from labelrules.data import Dataset
from labelrules.inspection import explain, findings
from labelrules.rules import Theory
from labelrules.studio import Editor, edit, load_edits
from labelrules.studio.web.app import create_app
from labelrules.studio.web.project import Project
from labelrules.studio.web.security import Keys
from labelrules.studio.web.site import Site

PORT = 8765
"""The port that is tried first, so that bookmarks stay."""

LAST_PORT = 65_535

ROWS_TO_COMPILE_ON = 64

EVERY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True)
class Material:
    """The material of a project: rows in parts, its author, and its file."""

    data: Dataset
    validation: Dataset | None = None
    test: Dataset | None = None
    author: str | None = None
    path: Path | None = None


def opened(material: Material, model: Callable[[], Any]) -> tuple[Editor, bool]:
    """The editor of a project, and whether it goes on from its file; `model` begins a new one."""
    path, parts = material.path, {"validation": material.validation, "test": material.test}
    if path is not None and path.exists():
        return load_edits(path, material.data, author=material.author, **parts), True
    editor = edit(model(), material.data, author=material.author, **parts)
    return editor, False


def compile_for(editor: Editor) -> None:
    """Compile what the pages call, so that no request waits for it; it is kept on disk."""
    rows = editor.data.take(np.arange(min(editor.data.n_rows, ROWS_TO_COMPILE_ON)))
    with suppress(ValueError):  # what is wrong is said by the page that shows it
        findings(editor.theory, rows, max_steps=0)
        explain(editor.theory, rows, 0, counterfactuals="given", limit=1)


def listening(host: str, port: int | None) -> socket.socket:
    """A socket on this port; if none is asked for the usual one, or any if it is taken."""
    if port is not None and not 1 <= port <= LAST_PORT:
        raise ValueError(f"a port is a number from 1 to {LAST_PORT}, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [PORT, 0] if port is None else [port]
    for number in wanted:
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name != "nt":  # there it would let two servers have one port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
        except (OSError, UnicodeError) as wrong:
            found.close()
            if number == wanted[-1]:
                raise OSError(_why_not_listening(wrong, host, port)) from None
        else:
            return found
    raise AssertionError("the loop returns or raises")


def _why_not_listening(wrong: Exception, host: str, port: int | None) -> str:
    where = f"{host}, port {port}" if port else host
    if not isinstance(wrong, OSError):
        return f"cannot listen on {where}: no machine can have this name"
    advice = ": choose another one, or leave out --port" if wrong.errno == EADDRINUSE else ""
    return f"cannot listen on {where}: {wrong.strerror or wrong}{advice}"


def is_open_to_others(listener: socket.socket) -> bool:
    """Whether other machines may reach the server, too."""
    return not ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def names_of_host(host: str) -> tuple[str, ...]:
    """The names under which the server answers besides those of the loopback address."""
    if host in EVERY_ADDRESS:
        return ("*", socket.gethostname().lower())
    return (host.lower(), f"[{host}]" if ":" in host else host)


def serve(
    editor: Editor,
    name: str,
    *,
    path: Path | None = None,
    others: Mapping[str, Theory] | None = None,
    listener: socket.socket,
    host: str = "127.0.0.1",
    browser: bool = False,
    announce: Callable[[str], object] = print,
    again: str = "",
) -> None:
    """Serve a project until Ctrl-C; its address is announced.

    Parameters
    ----------
    editor : Editor
    name : str
        What the pages are headed with.
    path : Path, optional
        The project file.
    others : mapping of str to theory, optional
        Other rules, which *Compare* puts beside these.
    listener : socket
        Where it listens.
    host : str
        The name under which it does.
    browser : bool, default=False
        Whether to open the page in the browser.
    announce : function
        Is called with the address.
    again : str
        The call, in the present folder, that goes on with the project.
    """
    import uvicorn

    compile_for(editor)
    keys = Keys()
    site = Site(Project(editor, path), name, keys, others or {}, again)
    app = create_app(site, names_of_host(host))
    shown = "127.0.0.1" if host in EVERY_ADDRESS else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/?token={keys.token}"
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, date_header=False,
        ws="none", lifespan="off", timeout_graceful_shutdown=2,
    )  # fmt: skip
    listener.listen()  # who follows the address at once waits, and is not refused
    announce(address)
    if browser:
        webbrowser.open(address)
    server: Any = uvicorn.Server(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        server.handle_exit = _except_interrupts(server.handle_exit)
    server.run(sockets=[listener])


def _except_interrupts(handle: Callable[[int, Any], None]) -> Callable[[int, Any], None]:
    """A handler of signals for a program that was started to ignore Ctrl-C."""
    return lambda number, frame: None if number == signal.SIGINT else handle(number, frame)
