"""Pictures of every view of the workbench, on five data sets, in light and dark.

``python docs/screenshots.py FOLDER`` writes them as PNG, the whole pages; ``--sheets`` puts several
onto one picture, to be looked at quickly. The data sets are looked for in ``$LABELRULES_DATA``, or
in ``shared/data`` beside the project folder. `studio/web.py` uses the same views for the docs.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from browser import chromium, opened, served
from written import folder

from labelrules import Dataset, edit, load
from labelrules.learners import SeparateAndConquer
from labelrules.rules import Condition
from labelrules.studio import Editor
from labelrules.studio.editor import held_out
from labelrules.studio.web.project import Job, Project
from labelrules.studio.web.security import Keys
from labelrules.studio.web.site import Site
from labelrules.studio.web.views.rules import RuleLine, rule_lines

SETS = ("magazines", "flags", "yeast", "medical", "enron")
SCHEMES = ("light", "dark")
TOKEN = "token-of-the-pictures"
SCREEN = {"width": 1280, "height": 860}
LONGEST = 2600
"""Pixels of a long page that a picture shows."""


def parts(name: str) -> tuple[Dataset, Dataset, Dataset | None]:
    """Rows to learn from, validation rows, and the test part of the sets that have one."""
    if name == "magazines":
        return *held_out(load(name)), None
    return *held_out(load(name, folder(), part="train")), load(name, folder(), part="test")


def site_of(name: str, author: str = "A. Physician", path: Path | None = None) -> Site:
    """The workbench that ``labelrules workbench NAME --part train --test NAME`` opens."""
    training, validation, test = parts(name)
    model = SeparateAndConquer().fit(training)
    editor = edit(model, training, validation=validation, test=test, author=author)
    return Site(Project(editor, path), training.name, Keys(TOKEN))


@dataclass(frozen=True)
class Places:
    """What is shown of a data set: a rule that is often wrong, and what belongs to it."""

    number: int
    label: str
    feature: str
    row: int
    condition: str
    tried: dict[str, str]
    n_rules: int

    @property
    def before(self) -> int:
        """The number of a rule in the middle of the list."""
        return max(self.n_rules // 2, 1)


def places_of(site: Site) -> Places:
    """Choose by what the rules do on the validation rows."""
    state = site.state
    figures, schema = site.figures(state), state.editor.theory.schema
    lines = [one for one in rule_lines(state, figures) if one.features]
    line = max(lines, key=_wrong)
    column = line.features[0]
    held = figures.validation
    assert held is not None
    wrong = held.wrong_rows
    tested = next(one for one in line.edited.rule.body if not one.on_label)
    body = state.editor.rules[line.number - 1].text.split(" <- ")[1]
    return Places(
        line.number, schema.labels[line.labels[0]], schema.features[column].name,
        int(wrong[0]) if len(wrong) else 0, body,
        {f"x.{schema.features[column].name}": _other_value(tested, held.data, int(wrong[0]))},
        len(figures.rules),
    )  # fmt: skip


def _wrong(line: RuleLine) -> tuple[float, int]:
    assert line.validation is not None
    return line.validation.wrong, len(line.features)


def _other_value(tested: Condition, data: Dataset, row: int) -> str:
    """A value that lets a condition hold where it does not, and the other way."""
    feature, column = data.schema.features[tested.column], data.column(tested.column)
    holds = tested.holds(column)
    others = column[holds != holds[row]]
    others = others[~np.isnan(others)]
    return feature.text(others[0] if len(others) else column[row])


# ---------------------------------------------------------------- the views


@dataclass(frozen=True)
class View:
    """A view: the name of its picture, its title, and its address; what is done before and in it.

    Views of one stage need no other state than the stage.
    """

    name: str
    title: str
    address: Callable[[Places], str]
    stage: str = "read"
    act: Callable[[Any, Site], None] | None = None
    top: str | None = None


def _plain(path: str, **fields: Any) -> Callable[[Places], str]:
    return lambda at: path + ("?" + urlencode(fields) if fields else "")


def _conflict(page: Any, site: Site) -> None:
    """Another page changes the rules while this one is open."""
    number = places_of(site).number
    site.project.apply(site.state.revision, lambda editor: editor.note(number, "seen on Monday"))
    form = page.locator("form", has=page.locator("input[name=op][value=replace]"))
    form.get_by_role("button", name="Apply").click()


VIEWS = (
    View("rules", "Rules in order", _plain("/")),
    View("rules-by-label", "Rules by label", _plain("/", view="label")),
    View("rules-matrix", "Rules as a matrix", _plain("/", view="matrix")),
    View("rule", "One rule", lambda at: f"/rules/{at.number}"),
    View("rule-change", "Changing a rule", lambda at: f"/rules/{at.number}", top="#change"),
    View("preview", "What a change would do",
         lambda at: "/preview?" + urlencode({"op": "drop_condition", "number": at.number,
                                             "condition": 1})),
    View("alternatives", "Alternatives to a rule", lambda at: f"/alternatives/{at.number}"),
    View("labels", "Labels", _plain("/labels")),
    View("label", "One label", lambda at: "/label?" + urlencode({"name": at.label})),
    View("features", "Features", _plain("/features")),
    View("feature", "One feature", lambda at: "/feature?" + urlencode({"name": at.feature})),
    View("rows", "Rows", _plain("/rows", part="validation", truth="wrong")),
    View("row", "One row explained", lambda at: f"/rows/{at.row}?part=validation"),
    View("row-what-if", "What if the row had other values",
         lambda at: f"/rows/{at.row}?" + urlencode({"part": "validation", **at.tried})),
    View("dependencies", "Dependencies of labels, as a matrix", _plain("/dependencies")),
    View("dependencies-graph", "Dependencies of labels, as a graph",
         _plain("/dependencies", view="graph")),
    View("flow", "Flow of rows", _plain("/flow")),
    View("findings", "Findings", _plain("/findings")),
    View("slice", "A slice of the rows",
         lambda at: "/slice?" + urlencode({"where": at.condition})),
    View("add", "A new rule", _plain("/add")),
    View("learn", "Learn again", _plain("/learn")),
    View("export", "Export", _plain("/export")),
    View("test", "Test part, locked", _plain("/test")),
    View("interface", "JSON interface", _plain("/api")),
    View("not-found", "An address that is not there", _plain("/rules/999")),
    View("learn-progress", "Learning", _plain("/learn"), "learning"),
    View("learn-proposal", "New rules beside the present ones", _plain("/learn"), "proposed"),
    View("history", "History with versions", _plain("/history"), "signed"),
    View("compare", "Compare", _plain("/compare"), "signed"),
    View("test-opened", "Test part, opened", _plain("/test"), "signed"),
    View("conflict", "Two people changed the rules", lambda at: f"/rules/{at.number}", "signed",
         act=_conflict),
)  # fmt: skip


def _learning(site: Site, at: Places) -> None:
    site.project.job = Job("all rules that are not locked", site.state, 0.4)
    site.project.job.text = f"rule {at.before}, 40 % of the labels decided"
    site.project.job.is_running = True


def _proposed(site: Site, at: Places) -> None:
    site.project.job = Job(f"everything after rule {at.before}", site.state, 1.0)
    site.project.job.proposal = changed(site.state.editor, at).relearn(at.before)


def changed(editor: Editor, at: Places) -> Editor:
    """A rule without its last condition, if it has several; else without the rule."""
    body = editor.rules[at.number - 1].rule.body
    if len(body) > 1:
        return editor.drop_condition(at.number, condition=len(body))
    return editor.disable(at.number)


def _signed(site: Site, at: Places) -> None:
    project = site.project
    project.job = Job()
    project.apply(site.state.revision, lambda editor: changed(editor, at))
    project.apply(site.state.revision, lambda editor: editor.commit("too narrow a rule"))
    project.apply(
        site.state.revision, lambda editor: editor.note(at.number, "discussed with the ward")
    )
    other = 1 if at.number > 1 else at.n_rules
    project.apply(site.state.revision, lambda editor: editor.lock(other))
    if site.state.editor.has_test:
        project.open_test(site.state.revision, "before the rules go to the ward")


STAGES: dict[str, Callable[[Site, Places], None]] = {
    "read": lambda site, at: None,
    "learning": _learning,
    "proposed": _proposed,
    "signed": _signed,
}


# ---------------------------------------------------------------- pictures


@dataclass(frozen=True)
class Shot:
    """A picture that was taken."""

    view: View
    data: str
    scheme: str
    path: Path


def shots(
    to: Path, names: Sequence[str], views: Sequence[View], schemes: Sequence[str], *, whole: bool
) -> Iterator[Shot]:
    """Take pictures of views, as PNG; `whole` pages or what the first screen shows."""
    to.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name in names:
            site = site_of(name)
            at = places_of(site)
            with served(site) as base:
                pages = {
                    scheme: opened(browser, base, TOKEN, color_scheme=scheme, viewport=SCREEN)
                    for scheme in schemes
                }
                for stage, begin in STAGES.items():
                    begin(site, at)
                    for view in (one for one in views if one.stage == stage):
                        for scheme, page in pages.items():
                            path = to / f"{view.name}-{name}-{scheme}.png"
                            _take(page, base, view, site, at, path, whole)
                            yield Shot(view, name, scheme, path)


def _take(
    page: Any, base: str, view: View, site: Site, at: Places, path: Path, whole: bool
) -> None:
    page.goto(base + view.address(at))
    if view.act is not None:
        view.act(page, site)
    page.wait_for_load_state("networkidle")
    if view.top is not None:
        page.locator(view.top).scroll_into_view_if_needed()
        page.evaluate("place => document.querySelector(place).scrollIntoView()", view.top)
    if whole and view.top is None:
        height = page.evaluate("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": SCREEN["width"], "height": min(height, LONGEST)}
        page.screenshot(path=path, full_page=True, clip=clip)
    else:
        page.screenshot(path=path)
    page.goto("about:blank")  # what the page asks for again and again is over


def sheet(paths: Iterable[Path], to: Path, columns: int = 2, width: int = 760) -> None:
    """Several pictures on one, side by side."""
    from PIL import Image

    tiles = []
    for path in paths:
        picture = Image.open(path).convert("RGB")
        tiles.append(picture.resize((width, round(picture.height * width / picture.width))))
    lines = [tiles[i : i + columns] for i in range(0, len(tiles), columns)]
    heights = [max(one.height for one in line) + 8 for line in lines]
    made = Image.new("RGB", (columns * (width + 8), sum(heights)), (200, 60, 160))
    for number, line in enumerate(lines):
        for place, tile in enumerate(line):
            made.paste(tile, (place * (width + 8), sum(heights[:number])))
    made.save(to)


def main() -> None:
    """Take the pictures that the arguments ask for."""
    parser = argparse.ArgumentParser(description="Pictures of every view of the workbench.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--views", nargs="+", default=[one.name for one in VIEWS])
    parser.add_argument("--schemes", nargs="+", default=SCHEMES, choices=SCHEMES)
    parser.add_argument("--first-screen", action="store_true", help="not the whole pages")
    parser.add_argument("--sheets", action="store_true", help="also one picture for each view")
    given = parser.parse_args()
    views = [one for one in VIEWS if one.name in given.views]
    taken: dict[str, list[Path]] = {}
    for one in shots(given.folder, given.data, views, given.schemes, whole=not given.first_screen):
        taken.setdefault(one.view.name, []).append(one.path)
    for name, paths in taken.items() if given.sheets else ():
        sheet(paths, given.folder / f"sheet-{name}.png", columns=len(given.schemes))


if __name__ == "__main__":
    main()
