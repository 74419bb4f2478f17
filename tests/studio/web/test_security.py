"""Nobody but the owner reads or changes a model: token, hosts, origins, forged forms, sizes."""

import pytest
from starlette.routing import Match

from labelrules.studio.web.security import LARGEST_BODY
from workbench_site import (
    BASE,
    TOKEN,
    bare_client,
    client_of,
    clinic_editor,
    post,
    site_of,
    texts,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def site():
    return site_of(clinic_editor())


@pytest.fixture
def client(site):
    return client_of(site)


@pytest.mark.parametrize("path", ["/", "/rules/1", "/history", "/export/model.json", "/api/rules"])
def test_without_the_token_nothing_is_shown(site, path):
    answer = bare_client(site).get(path)
    assert answer.status_code == 403
    assert "pressure" not in answer.text
    assert "token" in answer.text


def test_a_wrong_token_opens_nothing(site):
    stranger = bare_client(site)
    assert stranger.get("/?token=guess").status_code == 403
    assert stranger.get("/", headers={"authorization": "Bearer guess"}).status_code == 403
    assert stranger.get("/", headers={"cookie": "labelrules-8765=guess"}).status_code == 403


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(site):
    answer = bare_client(site).get(f"/labels?sort=name&token={TOKEN}")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("labelrules-8765=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert 'content="0;url=/labels?sort=name"' in answer.text


def test_the_way_on_never_leads_to_another_site(site):
    answer = bare_client(site).get(f"//evil.example/?token={TOKEN}")
    assert "url=//" not in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "10.0.0.1:8765", "["],
)
def test_a_foreign_name_of_this_machine_is_refused(client, host):
    """DNS rebinding: a page of evil.example asks its own name, which now leads here."""
    assert client.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "LOCALHOST:8765"])
def test_names_of_this_machine_are_known(site, host):
    headers = {"host": host, "authorization": f"Bearer {TOKEN}"}
    assert bare_client(site).get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
    ids=str,
)
def test_a_form_of_another_site_changes_nothing(site, client, headers):
    before = texts(site)
    form = {"op": "remove", "number": 1, "revision": 1, "csrf": site.csrf}
    assert client.post("/edit", data=form, headers=headers).status_code == 403
    assert texts(site) == before


@pytest.mark.parametrize("csrf", [None, "", "guess", TOKEN])
def test_a_form_without_its_token_changes_nothing(site, client, csrf):
    before = texts(site)
    answer = post(client, site, op="remove", number=1, csrf=csrf)
    assert answer.status_code == 403
    assert texts(site) == before
    assert site.state.revision == 1


def test_a_script_of_another_site_reads_nothing(client):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    assert client.get("/api/rules", headers=headers).status_code == 403
    assert "access-control-allow-origin" not in client.get("/api/rules").headers


def test_links_of_other_sites_may_be_followed(client):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200


def test_an_own_form_is_taken(site, client):
    headers = {"origin": BASE, "sec-fetch-site": "same-origin"}
    form = {"op": "remove", "number": 1, "revision": 1, "csrf": site.csrf}
    answer = client.post("/edit", data=form, headers=headers)
    assert answer.status_code == 303
    assert len(texts(site)) == 7


def test_get_changes_nothing(site, client):
    for path in ("/edit", "/learned", "/api/edit/remove"):
        answer = client.get(f"{path}?op=remove&number=1&revision=1&csrf={site.csrf}")
        assert answer.status_code in (404, 405)
    assert site.state.revision == 1


def test_headers_of_every_answer(client):
    for path in ("/", "/nowhere", "/static/style.css", "/api/rules"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
    assert client.get("/").headers["cache-control"] == "no-store"
    assert "max-age" in client.get("/static/style.css").headers["cache-control"]


def test_large_bodies_are_refused(site, client):
    body = b"op=replace&number=1&rule=" + b"a" * (LARGEST_BODY + 1)
    assert client.post("/edit", content=body, headers=FORM).status_code == 413

    def pieces():
        for _ in range(40):
            yield b"a" * (LARGEST_BODY // 20)

    assert client.post("/edit", content=pieces(), headers=FORM).status_code == 413
    assert site.state.revision == 1


@pytest.mark.parametrize("length", ["-1", "many", "1e3", "٣"])
def test_a_wrong_length_is_refused(client, length):
    headers = [(b"content-length", length.encode())]
    assert client.request("POST", "/edit", headers=headers).status_code == 400


TRICKS = [
    "/static/../project.json", "/static/..%2f..%2fetc%2fpasswd", "/static/%2e%2e/style.css",
    "/static/style.css%00", "/static//style.css", "/export/../../etc/passwd", "/export/%2e%2e",
    "/export/model.json/", "/rules/-1", "/rules/0", "/rules/9999", "/rules/1e3", "/rules/1/2",
    "/rows/999999", "/rows/99999999999999999999", "/label?name=../..", "/.git/config", "/%00",
    "/api/rules/0", "/api/nowhere", "/rules/" + "9" * 400,
]  # fmt: skip


@pytest.mark.parametrize("path", TRICKS)
def test_tricks_with_paths_lead_nowhere(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


def test_every_change_needs_the_token_of_forms(site, client):
    """No address that takes a POST forgets to check."""
    app = client.app.app
    for route in app.routes:
        if "POST" not in (route.methods or ()):
            continue
        path = route.path.replace("{number:int}", "1")
        scope = {"type": "http", "method": "POST", "path": path}
        assert route.matches(scope)[0] == Match.FULL
        answer = client.post(path, data={"revision": 1, "number": 1, "reason": "none"})
        assert answer.status_code == 403, path
    assert site.state.revision == 1
