"""The pictures of *Correct a model in ten minutes*, and of every view of the workbench.

``python docs/workbench.py`` takes the tour in a real browser, in light and dark, and writes its
pictures to ``_static/workbench``; ``--views`` writes small pictures of every view on five data
sets, too, and the page that shows them. Needs the benchmark data and Chromium.
"""

import argparse
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from browser import chromium, opened, served
from PIL import Image
from screenshots import SCHEMES, SETS, TOKEN, VIEWS, View, shots, site_of

HERE = Path(__file__).parent
PICTURES = HERE / "_static" / "workbench"
SCREEN = {"width": 1180, "height": 800}
PHYSICIAN = "A. Physician"

RULE = 14
CORRECTED = 'Class-41-591 <- "hydronephrosis", not "bladder", not "tract", not "reflux"'
NO_FINDINGS = "moderately, 2, 6-month"
REASON = "hydronephrosis of known reflux is coded as reflux"


class Stop(NamedTuple):
    """A stop of the tour: its picture, what is done there, and what is on top of the picture."""

    name: str
    act: Callable[[Any, str], None]
    top: str | None = None


def _doubt(page: Any, base: str) -> None:
    page.get_by_label("Sort").select_option("validation")
    page.get_by_role("button", name="Show").click()


def _look(page: Any, base: str) -> None:
    page.get_by_role("link", name=f"Rule {RULE}", exact=True).click()


def _row(page: Any, base: str) -> None:
    page.get_by_role("link", name="60", exact=True).click()
    page.wait_for_url("**/rows/60?part=validation")


def _write(page: Any, base: str) -> None:
    page.goto(f"{base}/rules/{RULE}")
    page.get_by_label("Write it anew").fill(CORRECTED)
    page.locator(".live:not(:empty)").get_by_text("becomes", exact=True).wait_for()


def _preview(page: Any, base: str) -> None:
    form = page.locator("form", has=page.get_by_label("Write it anew"))
    form.get_by_role("button", name="Preview").click()
    page.get_by_role("heading", name="What would change").wait_for()


def _apply(page: Any, base: str) -> None:
    page.get_by_role("button", name="Apply").click()
    page.get_by_label("Note").fill(REASON)
    page.get_by_role("button", name="Keep the note").click()
    page.get_by_role("button", name="Lock").click()


def _learn(page: Any, forbidden: str) -> None:
    page.get_by_role("link", name="Learn again").click()
    page.get_by_label("Keep the rules up to this number").fill(str(RULE))
    page.get_by_label("Features that no new rule may test").fill(forbidden)
    page.get_by_role("button", name="Learn").click()
    page.get_by_role("button", name="Accept the new rules").wait_for(timeout=120_000)


def _learn_first(page: Any, base: str) -> None:
    _apply(page, base)
    _learn(page, "")


def _learn_again(page: Any, base: str) -> None:
    page.get_by_role("button", name="Drop them").click()
    _learn(page, NO_FINDINGS)


def _compare(page: Any, base: str) -> None:
    page.get_by_role("button", name="Accept the new rules").click()
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("heading", name="Compare").wait_for()


def _sign(page: Any, base: str) -> None:
    page.get_by_role("link", name="History").click()
    page.get_by_label("Reason").fill(REASON)
    page.get_by_role("button", name="Keep the version").click()
    page.get_by_role("cell", name=REASON).wait_for()


def _test(page: Any, base: str) -> None:
    page.get_by_role("link", name="Test part").click()
    page.get_by_label("Why open it now?").fill("before the rules go to the ward")
    page.get_by_role("button", name="Open and measure").click()
    page.get_by_role("heading", name="Opening 1").wait_for()


STOPS = (
    Stop("1-doubt", _doubt),
    Stop("2-look", _look),
    Stop("3-row", _row),
    Stop("4-write", _write, "form:has(#text)"),
    Stop("5-preview", _preview),
    Stop("6-chance", _learn_first),
    Stop("7-learned", _learn_again),
    Stop("8-compare", _compare),
    Stop("9-signed", _sign),
    Stop("10-test", _test),
)


def tour(scheme: str) -> Iterable[tuple[str, bytes]]:
    """Take the tour; yields the name and the picture (PNG) of each stop."""
    with TemporaryDirectory() as folder, chromium() as browser:
        site = site_of("medical", PHYSICIAN, Path(folder, "medical.edits.json"))
        with served(site) as base:
            page = opened(browser, base, TOKEN, color_scheme=scheme, viewport=SCREEN)
            for stop in STOPS:
                stop.act(page, base)
                page.wait_for_load_state("networkidle")
                page.evaluate(
                    "place => place && document.querySelector(place).scrollIntoView()", stop.top
                )
                yield stop.name, page.screenshot()
            if page.problems:
                raise RuntimeError(f"errors in the pages: {page.problems}")


def shrink(picture: bytes | Path, to: Path, width: int, quality: int) -> None:
    """Write a picture as WebP of this width."""
    found = Image.open(BytesIO(picture) if isinstance(picture, bytes) else picture).convert("RGB")
    size = (width, round(found.height * width / found.width))
    to.parent.mkdir(parents=True, exist_ok=True)
    found.resize(size, Image.Resampling.LANCZOS).save(to, quality=quality, method=6)


SMALL = (640, 430)
"""Width and height of the small pictures."""


def write_views() -> None:
    """Small pictures of every view, and the page with them."""
    with TemporaryDirectory() as folder:
        for one in shots(Path(folder), SETS, VIEWS, SCHEMES, whole=False):
            shrink(one.path, PICTURES / "views" / f"{one.path.stem}.webp", SMALL[0], 45)
    Path(HERE, "workbench-views.md").write_text(views_page(), encoding="utf-8")


HEAD = """\
# Every view of the workbench

The views of the [workbench](workbench.md) on five data sets, light or dark like this page. The \
pictures are taken by `docs/workbench.py`.
"""


def views_page() -> str:
    """The page with the pictures of every view."""
    return "\n".join([HEAD, *map(_section, VIEWS)])


def _section(view: View) -> str:
    pictures = [_picture(view, name, scheme) for name in SETS for scheme in SCHEMES]
    return "\n".join([f"## {view.title}\n", '<div class="views">', *pictures, "</div>\n"])


def _picture(view: View, name: str, scheme: str) -> str:
    path = f"_static/workbench/views/{view.name}-{name}-{scheme}.webp"
    size = f'width="{SMALL[0]}" height="{SMALL[1]}"'
    return (
        f'<a class="only-{scheme}" href="{path}"><img loading="lazy" {size} src="{path}" '
        f'alt="{view.title}: {name}, {scheme}">{name}</a>'
    )


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description="Pictures for the page on the workbench.")
    parser.add_argument("--views", action="store_true", help="also every view on every data set")
    given = parser.parse_args()
    for scheme in SCHEMES:
        for name, picture in tour(scheme):
            shrink(picture, PICTURES / f"tour-{name}-{scheme}.webp", 1180, 60)
    if given.views:
        write_views()


if __name__ == "__main__":
    main()
