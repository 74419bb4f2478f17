"""A workbench in a real browser: a server in this process, and the Chromium of the system."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from labelrules.studio.web.app import create_app
from labelrules.studio.web.site import Site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def served(site: Site) -> Iterator[str]:
    """A server in a thread; yields its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(create_app(site), log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        raise RuntimeError("there is no Chromium on this system")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def opened(browser: Any, base: str, token: str, **options: Any) -> Any:
    """A page that has opened the address with the token; what goes wrong in it is collected."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(60_000)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "console",
        lambda message: page.problems.append(message.text) if message.type == "error" else None,
    )
    page.goto(f"{base}/?token={token}")
    page.wait_for_url(f"{base}/")
    return page
