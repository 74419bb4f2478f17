"""The history of the rules, and what is exported of it: programs, models, and reports in HTML."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labelrules._html import render
from labelrules.inspection import compare
from labelrules.learners.base.progress import library_version
from labelrules.rules import Theory, theory_text
from labelrules.storage import to_json
from labelrules.studio import Editor, Version
from labelrules.studio.web.project import State, figures_of
from labelrules.studio.web.site import Fields, NotThereError, Page, Site
from labelrules.studio.web.views.changes import MOST_FIRST, Answer
from labelrules.studio.web.views.checks import findings_of
from labelrules.studio.web.views.names import label_score
from labelrules.studio.web.views.rules import lead, rule_lines

MEASURES = ("micro F1", "macro F1", "subset accuracy", "Hamming loss")


def history_page(site: Site, state: State, fields: Fields) -> Page:
    """Steps, versions and branches."""
    editor = state.editor
    with site.project.reading:
        steps = list(editor.steps)
        values = {
            "title": "History",
            "steps": steps[::-1],
            "undone": [editor.history.steps[n] for n in editor.history.position.undone],
            "versions": editor.versions[::-1],
            "branches": editor.branches,
            "measures": editor.measures,
            "names": MEASURES,
            "path": site.project.path,
        }
    return Page("history.html", values)


def compare_page(site: Site, state: State, fields: Fields) -> Page:
    """Two versions side by side, or a version and the present rules."""
    editor = state.editor
    names = names_to_compare(site, state)
    one = fields.choice("one", names)
    other = fields.choice("other", names, _NEW if _NEW in names else _PRESENT)
    with site.project.reading:
        first, second = theory_named(site, state, one), theory_named(site, state, other)
        found = {"training": compare(first, second, editor.data)}
        if editor.validation is not None:
            found["validation"] = compare(first, second, editor.validation)
        measures = {name: _measures(first, second, part) for name, part in _parts(state).items()}
    values = {"title": "Compare", "names": names, "one": one, "other": other, "found": found,
              "first": first, "second": second, "measures": measures,
              "most_first": MOST_FIRST}  # fmt: skip
    return Page("compare.html", values)


_FIRST, _PRESENT, _NEW = "the first rules", "the present rules", "the newly learned rules"
_BRANCH, _MODEL = "branch ", "model "


def names_to_compare(site: Site, state: State) -> tuple[str, ...]:
    """Names of rules to compare: the first, versions, branches, and other models."""
    editor = state.editor
    branches = [_BRANCH + name for name in editor.branches if name != editor.branch_name]
    new = [] if site.job.proposal is None else [_NEW]
    models = [_MODEL + name for name in site.others]
    return (_FIRST, *(one.name for one in editor.versions), _PRESENT, *new, *branches, *models)


def _parts(state: State) -> dict[str, Any]:
    parts = {"training": state.editor.data, "validation": state.editor.validation}
    return {name: data for name, data in parts.items() if data is not None}


def _measures(one: Theory, other: Theory, data: Any) -> list[tuple[str, float, float]]:
    from labelrules.studio.web.project import part_figures

    before, after = part_figures(one, data).measures, part_figures(other, data).measures
    return [(name, before[name], after[name]) for name in before]


def theory_named(site: Site, state: State, name: str) -> Theory:
    """The rules that one of the names to compare stands for."""
    editor = state.editor
    if name == _PRESENT:
        return editor.theory
    if name == _NEW and site.job.proposal is not None:
        return site.job.proposal.theory
    if name.startswith(_MODEL) and name.removeprefix(_MODEL) in site.others:
        return site.others[name.removeprefix(_MODEL)]
    step = 0 if name == _FIRST else _step_of(state, name)
    return editor.history.rules[step].theory


def _step_of(state: State, name: str) -> int:
    """The step of a version or of a branch."""
    branch = name.removeprefix(_BRANCH)
    if name.startswith(_BRANCH) and branch in state.editor.branches:
        return state.editor.branches[branch]
    return _version(state, name).step


def _version(state: State, name: str) -> Version:
    for one in state.editor.versions:
        if one.name == name:
            return one
    raise NotThereError(f"there is no version {name!r}")


EXPORTS = {
    "model.json": ("the model, for labelrules and Python", "application/json"),
    "rules.txt": ("the rules as text, which reads back", "text/plain; charset=utf-8"),
    "history.py": (
        "a Python program that makes the same model again: python history.py DATA -o model.json",
        "text/x-python; charset=utf-8",
    ),
    "report.html": (
        "a report for audits: rules, history, reasons, measures",
        "text/html; charset=utf-8",
    ),
}


def export_page(site: Site, state: State, fields: Fields) -> Page:
    """The files that can be taken along."""
    values = {"title": "Export", "exports": EXPORTS, "path": site.project.path,
              "folder": Path.cwd()}  # fmt: skip
    return Page("export.html", values)


def exported(site: Site, state: State, fields: Fields) -> Answer:
    """A file to keep."""
    from labelrules.studio.web.views.history import report_html

    name = fields.text("name")
    if name not in EXPORTS:
        raise NotThereError("there is no such export")
    editor = state.editor
    with site.project.reading:
        makers: dict[str, Callable[[], str]] = {
            "model.json": lambda: to_json(editor.model, about=editor.about or True),
            "rules.txt": lambda: theory_text(editor.theory) + "\n",
            "history.py": editor.script,
            "report.html": lambda: report_html(editor, site.name),
        }
        text = makers[name]()
    return Answer(text, EXPORTS[name][1], name)


def test_page(site: Site, state: State, fields: Fields) -> Page:
    """The test part, which is locked: how often it was opened, and what was seen."""
    values = {
        "title": "Test part",
        "has_test": state.editor.has_test,
        "openings": state.editor.openings[::-1],
    }
    return Page("test.html", values)


def interface_page(site: Site, state: State, fields: Fields) -> Page:
    """Every address with its fields."""
    from labelrules.studio.web.api import RESOURCES  # which imports the views

    return Page("interface.html", {"title": "Interface", "resources": RESOURCES})


def report_html(editor: Editor, name: str) -> str:
    """The report of the rules of an editor: what they say, how good, and how they came about.

    >>> from labelrules import edit, load, parse
    >>> readers = load("magazines")
    >>> made = report_html(edit(parse("quality <- sex = Male", readers.schema), readers), "readers")
    >>> "<script" in made, "1 rule with 1 condition" in made
    (False, True)
    """
    state = State(1, editor)
    figures, theory = figures_of(editor), editor.theory
    first = editor.history.rules[0].theory
    values: dict[str, Any] = {
        "name": name,
        "lead": lead(state, figures),
        "lines": rule_lines(state, figures),
        "figures": figures,
        "editor": editor,
        "about": editor.about,
        "labels": [
            (label, {key: label_score(part, n) for key, part in figures.parts.items()})
            for n, label in enumerate(theory.schema.labels)
        ],
        "findings": list(findings_of(editor).by_kind()),
        "steps": list(editor.steps),
        "comparison": compare(first, theory) if editor.steps else None,
        "disabled": {one.id: one.number for one in editor.rules if one.disabled},
        "before": _measures_before(editor) if editor.steps else {},
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": library_version(),
        "styles": [render("style.css"), render("workbench.css")],
    }
    return f"{render('workbench/report.html', **values)}\n"


def _measures_before(editor: Editor) -> dict[str, dict[str, float]]:
    """The measures of the rules as they were at first."""
    found = editor.session.measures(editor.history.rules[0])
    return {part: dict(values) for part, values in found.items()}
