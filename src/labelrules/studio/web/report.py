"""Reports: rules, evidence and history as one HTML file with nothing to load."""

from datetime import UTC, datetime
from typing import Any

from labelrules._html import render
from labelrules.inspection import compare
from labelrules.learners.base.progress import library_version
from labelrules.studio import Editor
from labelrules.studio.web.figures import figures_of
from labelrules.studio.web.project import State
from labelrules.studio.web.views.checks import findings_of
from labelrules.studio.web.views.names import label_score
from labelrules.studio.web.views.rules import lead, rule_lines


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
    first = editor.history.steps[0].rules.theory
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
    found = editor.session.measures(editor.history.steps[0].rules)
    return {part: dict(values) for part, values in found.items()}
