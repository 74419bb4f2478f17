"""A workbench for tests: the clinic with known rules, a client that holds the token, and forms."""

import re
from functools import cache
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

from labelrules import edit, load, parse
from labelrules.studio import Editor
from labelrules.studio.web.app import create_app
from labelrules.studio.web.project import Project
from labelrules.studio.web.security import Keys
from labelrules.studio.web.site import Site

TOKEN = "secret-of-the-tests"
BASE = "http://127.0.0.1:8765"

RULES = """
hypertension <- pressure > 150
pneumonia <- crp > 80, "cough"
infection <- temperature > 38.4
infection <- pneumonia
flu <- "aches", temperature > 38.4
neuropathy <- glucose > 138, "numbness", glucose > 140
not flu <- temperature <= 36
heart_failure, hypertension <- pressure > 167, "breathless", age > 64
"""


@cache
def clinic_parts():
    """Training, validation and test rows of the clinic."""
    clinic = load("clinic")
    number = np.arange(clinic.n_rows) % 4
    return clinic.take(number < 2), clinic.take(number == 2), clinic.take(number == 3)


def clinic_editor() -> Editor:
    training, validation, test = clinic_parts()
    theory = parse(RULES, training.schema)
    return edit(theory, training, validation=validation, test=test, author="A. Physician")


def site_of(editor: Editor, path: Path | None = None, name: str = "clinic") -> Site:
    return Site(Project(editor, path), name, Keys(TOKEN))


def client_of(site: Site, **options) -> TestClient:
    """A client that has opened the address with the token, and follows no redirect."""
    app = create_app(site)
    client = TestClient(app, base_url=BASE, follow_redirects=False, **options)
    client.get(f"/?token={TOKEN}")
    return client


def bare_client(site: Site, **options) -> TestClient:
    """A client without the token."""
    return TestClient(create_app(site), base_url=BASE, follow_redirects=False, **options)


def post(client: TestClient, site: Site, path: str = "/edit", **fields):
    """Send a form as the pages do, made from the present state unless a revision is given."""
    form = {"csrf": site.csrf, "revision": site.state.revision, **fields}
    if path == "/learned":
        form.setdefault("job", site.job.number)
    return client.post(path, data={k: v for k, v in form.items() if v is not None})


def texts(site: Site) -> list[str]:
    """The rules as they are now."""
    return [one.text for one in site.state.editor.rules]


def words_of(html: str) -> str:
    """What a page says, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
