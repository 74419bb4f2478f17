"""The workbench in Chromium: by mouse, by keyboard, without JavaScript, for screen readers."""

import time

import numpy as np
import pytest

from extras import needs
from labelrules import (
    Dataset,
    Feature,
    Schema,
    SeparateAndConquer,
    edit,
    load_edits,
    parse,
)
from labelrules.studio import Editor, LearningCancelledError
from workbench_browser import chromium, opened, served
from workbench_site import clinic_editor, clinic_parts, site_of, texts


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "clinic.edits.json"


@pytest.fixture
def site(file):
    return site_of(clinic_editor(), file)


@pytest.fixture
def base(site):
    with served(site) as address:
        yield address


def reopened(file):
    """The site of another server, which goes on from the file."""
    training, validation, test = clinic_parts()
    return site_of(load_edits(file, training, validation=validation, test=test), file)


class Progress:
    """A report of a learner that never ends."""

    share = 0.25

    def __str__(self):
        return "rule 2 of many"


def learning_without_end(editor, after, *, listener, **told):
    while listener(Progress()):
        time.sleep(0.02)
    raise LearningCancelledError


@pytest.fixture
def endless(monkeypatch):
    """Learning goes on until it is cancelled, or this is undone."""
    monkeypatch.setattr(Editor, "relearn", learning_without_end)
    return monkeypatch


def test_a_session_by_mouse(browser, site, base, file, endless):
    page = opened(browser, base)
    page.get_by_label("Text").fill("temperature")
    page.get_by_role("button", name="Show").click()
    assert page.get_by_role("status").inner_text() == "3 of 8 rules"
    page.get_by_role("link", name="Rule 3", exact=True).click()

    # a threshold on its histogram: dragged, previewed while it moves, applied
    picture = page.locator("svg.histogram").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 30)
    page.mouse.up()
    live = page.locator(".live:not(:empty)").first
    live.get_by_text("becomes", exact=True).wait_for()
    assert "infection <- temperature >" in live.inner_text()
    value = page.get_by_label("Threshold of temperature").last.input_value()
    assert 38.5 < float(value) < 40
    page.get_by_label("Threshold of temperature").last.fill("38.9")
    page.locator(".threshold-form").get_by_role("button", name="Preview").click()
    assert page.get_by_role("heading", name="What would change").is_visible()
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied, and written to the project file.").wait_for()
    assert texts(site)[2] == "infection <- temperature > 38.9"

    # learn again: progress, cancel, once more, accept
    page.get_by_role("link", name="Learn again").click()
    page.get_by_label("Keep the rules up to this number").fill("3")
    page.get_by_role("button", name="Learn").click()
    page.get_by_text("rule 2 of many").wait_for()  # the progress, which the module updates
    assert page.get_by_role("progressbar").get_attribute("value") == "0.25"
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("nothing has changed").wait_for()
    endless.undo()
    assert len(texts(site)) == 8
    page.goto(f"{base}/learn")
    page.get_by_label("Keep the rules up to this number").fill("3")
    page.get_by_label("Most rules").fill("6")
    page.get_by_role("button", name="Learn").click()
    page.get_by_role("button", name="Accept the new rules").click(timeout=120_000)
    page.get_by_text("The newly learned rules are in place.").wait_for()
    assert texts(site)[2] == "infection <- temperature > 38.9"
    learned = texts(site)

    page.get_by_role("button", name="Undo").click()
    page.get_by_text("The last step is undone.").wait_for()
    assert len(texts(site)) == 8
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("The step is done again.").wait_for()
    assert texts(site) == learned

    # closed and opened again, nothing is lost
    again = reopened(file)
    assert texts(again) == learned
    with served(again) as address:
        other = opened(browser, address)
        assert other.get_by_role("button", name="Undo").is_enabled()
        with other.expect_download() as kept:
            other.goto(f"{address}/export")
            other.get_by_role("link", name="rules.txt").click()
        text = kept.value.path().read_text(encoding="utf-8")
        assert parse(text, clinic_parts()[0].schema) == again.state.editor.theory
        assert other.problems == []
    assert page.problems == []


def test_a_session_by_keyboard(browser, site, base):
    page = opened(browser, base)
    keys = page.keyboard
    keys.press("/")
    keys.type("temperature")
    keys.press("Enter")
    page.wait_for_url("**/?*q=temperature*")
    keys.press("?")
    page.get_by_role("dialog").wait_for()
    keys.press("Escape")
    page.goto(f"{base}/rules/3")
    keys.press("e")
    assert page.evaluate("document.activeElement.id") == "text"
    keys.press("End")
    keys.type(", smok")
    page.locator(".completions [role=option]").first.wait_for()
    keys.press("ArrowDown")
    keys.press("Enter")
    keys.type(" > former")
    page.locator(".live", has_text="smoker > former").wait_for()
    keys.press("Enter")  # previews
    page.get_by_role("heading", name="What would change").wait_for()
    keys.press("Enter")  # applies
    page.get_by_text("Applied, and written").wait_for()
    assert texts(site)[2] == "infection <- temperature > 38.4, smoker > former"
    keys.press("u")
    page.get_by_text("The last step is undone.").wait_for()
    assert texts(site)[2] == "infection <- temperature > 38.4"
    keys.press("Shift+U")
    page.get_by_text("The step is done again.").wait_for()
    keys.press("g")
    keys.press("a")
    page.wait_for_url(f"{base}/learn")
    page.get_by_label("Most rules").focus()
    keys.type("5")
    page.get_by_label("Keep the rules up to this number").focus()
    keys.press("Control+A")
    keys.type("3")
    keys.press("Enter")
    accept = page.get_by_role("button", name="Accept the new rules")
    accept.wait_for(timeout=120_000)
    accept.focus()
    keys.press("Enter")
    page.get_by_text("The newly learned rules are in place.").wait_for()
    assert texts(site)[2] == "infection <- temperature > 38.4, smoker > former"
    keys.press("g")
    keys.press("h")
    page.wait_for_url(f"{base}/history")
    page.get_by_label("Reason").focus()
    keys.type("fever of smokers")
    keys.press("Enter")
    page.get_by_role("cell", name="fever of smokers").wait_for()
    unfinished = "status of 400"  # of a rule that is previewed while it is typed
    assert [one for one in page.problems if unfinished not in one] == []


def test_a_slider_by_arrow_keys(browser, base):
    page = opened(browser, base)
    page.goto(f"{base}/rules/3")
    slider = page.get_by_role("slider", name="Threshold of temperature")
    slider.focus()
    before = page.get_by_role("textbox", name="Threshold of temperature").input_value()
    page.keyboard.press("ArrowRight")
    after = page.get_by_role("textbox", name="Threshold of temperature").input_value()
    assert float(after) > float(before)


def test_errors_are_shown_at_their_place_while_a_rule_is_written(browser, site, base):
    page = opened(browser, base)
    page.goto(f"{base}/add")
    page.get_by_label("The rule", exact=True).fill("flu <- aged > 3")
    page.get_by_role("alert").wait_for()
    shown = page.get_by_role("alert").inner_text()
    assert "line 1, column 8" in shown
    assert "did you mean" in shown
    assert site.state.revision == 1


VIEWS = [
    "/", "/?view=label", "/?view=matrix", "/rules/3", "/rules/8", "/labels", "/label?name=flu",
    "/features", "/feature?name=smoker", "/rows", "/rows/15", "/dependencies",
    "/dependencies?view=graph", "/flow", "/findings", "/slice?where=age > 60", "/compare", "/add",
    "/learn", "/history", "/export", "/test", "/api", "/alternatives/3",
    "/preview?op=set_threshold&number=3&condition=1&value=39", "/nowhere",
]  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast"]})],  # only colours differ
    ids=["light", "dark"],
)
def test_axe_finds_nothing_serious(browser, base, scheme, options):
    axe_package = needs("axe_playwright_python.sync_playwright")
    page = opened(browser, base, color_scheme=scheme, bypass_csp=True)
    axe, found = axe_package.Axe(), []
    options = {**options, "resultTypes": ["violations"]}
    for path in VIEWS:
        page.goto(base + path)
        for one in axe.run(page, options=options).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                places = [node["html"][:150] for node in one["nodes"][:3]]
                found.append((path, one["id"], places))
    assert found == []


def test_without_javascript_every_view_reads(browser, site, base):
    page = opened(browser, base, java_script_enabled=False)
    for path in VIEWS:
        page.goto(base + path)
        assert page.locator("h1").inner_text()
        assert len(page.locator("main").inner_text()) > 40
    page.goto(f"{base}/rules/3")
    page.get_by_role("textbox", name="Threshold of temperature").fill("39")
    page.locator(".threshold-form").get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").click()
    assert texts(site)[2] == "infection <- temperature > 39"
    page.get_by_role("button", name="Undo").click()
    assert texts(site)[2] == "infection <- temperature > 38.4"


def test_a_small_screen_needs_no_scrolling_sideways(browser, base):
    page = opened(browser, base, viewport={"width": 390, "height": 800})
    for path in VIEWS:
        page.goto(base + path)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path


EVIL = "<img src=x onerror=window.taken=1>"


def test_long_names_and_names_of_html_stay_in_their_place(browser):
    """A name of many letters without a space made the pages as wide as itself."""
    names = [EVIL, "l" * 400, "</title>"]
    schema = Schema(
        [Feature("f" * 400), Feature(f"x{EVIL}"), Feature('"', ("n" * 400, "b"))], names
    )
    X = np.array([[n % 7, n % 5, n % 2] for n in range(60)], float)
    data = Dataset(schema, X, np.column_stack([X[:, 0] > 3, X[:, 1] > 2, X[:, 2] > 0]).astype(int))
    editor = edit(SeparateAndConquer().fit(data), data)
    views = ("/", "/?view=matrix", "/rules/1", "/labels", "/features", "/dependencies", "/flow",
             "/findings", "/rows/0", "/add", "/learn", "/alternatives/1")  # fmt: skip
    with served(site_of(editor)) as base:
        page = opened(browser, base, viewport={"width": 1000, "height": 800})
        for path in views:
            page.goto(base + path)
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, path
        page.goto(base + "/add")
        page.get_by_role("combobox").first.fill(f"{EVIL} <- true")
        page.locator(".live", has_text="line 1").wait_for()
        assert page.evaluate("window.taken") is None
        page.context.close()


def test_a_page_of_another_site_can_do_nothing(browser, site, base):
    """A form and a script elsewhere, in the browser that holds the cookie."""
    page = opened(browser, base)
    page.route(
        "http://evil.example/*",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<form method="post" action="{base}/edit"><input name="op" value="remove">'
            f'<input name="number" value="1"><input name="revision" value="1">'
            f'<input name="csrf" value="{site.csrf}"><button>Win</button></form>',
        ),
    )
    page.goto("http://evil.example/")
    read = f"fetch('{base}/api/rules', {{credentials: 'include'}}).then(() => 'read', () => 'no')"
    assert page.evaluate(read) == "no"
    page.get_by_role("button", name="Win").click()
    page.wait_for_url(f"{base}/edit")
    assert "another site" in page.content()
    assert site.state.revision == 1
