"""Findings about the rules with fixes, a slice of the rows, and a new rule."""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from labelrules._kept import kept
from labelrules.inspection import Finding, Findings, Fix, findings
from labelrules.inspection.review.fixes import FindingKind
from labelrules.rules import DecisionList
from labelrules.studio import Editor
from labelrules.studio.edit_history import Outcome
from labelrules.studio.previews import rows_where
from labelrules.studio.web.project import State
from labelrules.studio.web.site import Fields, NotThereError, Page, Site, address, paged
from labelrules.studio.web.views.names import label_score
from labelrules.studio.web.views.rules import example_condition

ROWS_SHOWN = 60


ROWS_COUNTED = 200_000
"""Training rows on which findings are counted at most; of more, evenly spaced ones."""

ROWS_COUNTED_IN_FULL = 10_000
"""The same for rules that vote or stand in layers, which are applied anew for each fix."""

STEPS = 60_000
"""Steps of all proofs together: about a quarter of a second."""


_finding = Lock()


def findings_of(editor: Editor) -> Findings:
    """Find what is to be looked at in the rules of an editor; who asks meanwhile waits."""
    with _finding:
        return _found_once(editor)


@kept
def _found_once(editor: Editor) -> Findings:
    data = editor.data
    is_list = isinstance(editor.theory, DecisionList)
    step = -(-data.n_rows // (ROWS_COUNTED if is_list else ROWS_COUNTED_IN_FULL))
    rows = data if step == 1 else data.take(np.arange(0, data.n_rows, step))
    return findings(editor.theory, rows, max_steps=STEPS)


class ShownFinding(NamedTuple):
    """A finding with the numbers of its rules, and the edit that settles it."""

    finding: Finding
    numbers: tuple[int, ...]
    edit: dict[str, Any] | None
    preview: str | None

    @property
    def gain(self) -> int:
        """By how many the right predictions grow with the fix."""
        effect = self.finding.effect
        return 0 if effect is None else (effect.n_righted or 0) - (effect.n_wronged or 0)


class ShownKind(NamedTuple):
    """Findings of one kind: the first of them, and how many there are."""

    kind: str
    meaning: str
    n_found: int
    first: list[ShownFinding]
    every: str  #: The address that shows all of them.


FIRST_OF_KIND = 5
ON_A_PAGE = 50

MEANINGS: dict[FindingKind, str] = {
    "contradictory body": "no value satisfies all conditions",
    "duplicate": "an earlier rule is the same",
    "subsumed": "an earlier, more general rule says the same",
    "unreachable": "earlier rules leave nothing to write, whatever the row",
    "superfluous": "without it every row gets the same labels",
    "unreachable label": "one label of the head is always written before",
    "redundant condition": "it follows from the other conditions",
    "more often wrong than right": "counted on the cells that the rule decides",
    "conflict": "two rules disagree, and the earlier one decides",
    "circular labels": "labels depend on each other",
    "constant label": "all rows get the same prediction",
    "unused": "the rule decides nothing in these rows",
    "condition without effect": "it excludes no row that the rule could decide",
}
"""What each kind of finding means, in the order in which they are listed."""


def findings_page(site: Site, state: State, fields: Fields) -> Page:
    """What is to be looked at: the first of each kind, or all of one kind, or all about a rule."""
    figures, found = site.figures(state), findings_of(state.editor)
    rule = fields.number("rule", 0)
    kind = fields.choice("kind", ("", *MEANINGS), "")
    if rule > len(figures.rules):
        raise NotThereError(f"there is no rule {rule}: there are {len(figures.rules)}")
    shown = [_shown(one) for one in found]
    shown = [one for one in shown if rule in (0, *one.numbers)]
    chosen = [one for one in shown if kind in ("", one.finding.kind)]
    kinds, paging = _by_kind(chosen, FIRST_OF_KIND if not rule else len(chosen)), None
    if kind:
        page, most = fields.number("page", 1), max(len(chosen), 1)
        which, paging = paged(most, page, ON_A_PAGE, "/findings", kind=kind, rule=rule or None)
        kinds = [one._replace(first=one.first[which]) for one in _by_kind(chosen, most)]
    values = {"title": "Findings", "kinds": kinds, "n_found": len(chosen), "rule": rule,
              "kind": kind, "paging": paging,
              "n_rows": found.n_rows, "n_training": state.editor.data.n_rows}  # fmt: skip
    return Page("findings.html", values)


def _by_kind(shown: list[ShownFinding], most: int) -> list[ShownKind]:
    """The findings by kinds, at most so many of each: those first whose fix gains most."""
    kinds: dict[FindingKind, list[ShownFinding]] = {}
    for one in shown:
        kinds.setdefault(one.finding.kind, []).append(one)
    return [
        ShownKind(
            kind,
            MEANINGS[kind],
            len(found),
            sorted(found, key=lambda one: -one.gain)[:most],
            address("/findings", kind=kind),
        )
        for kind, found in kinds.items()
    ]


def _shown(finding: Finding) -> ShownFinding:
    numbers = tuple(place.called for place in finding.places)
    edit = None if finding.fix is None else _edit(finding.fix)
    preview = None if edit is None else address("/preview", **edit)
    return ShownFinding(finding, numbers, edit, preview)


def _edit(fix: Fix) -> dict[str, Any]:
    """The fix as an operation on the rules by their numbers."""
    if fix.action == "replace":
        return {"op": "replace", "number": fix.called, "rule": fix.text}
    if fix.action == "move":
        return {"op": "move", "number": fix.called, "to": fix.called_goal}
    return {"op": "remove", "number": fix.called}


def slice_page(site: Site, state: State, fields: Fields) -> Page:
    """Rows that satisfy some conditions: how well their labels are predicted."""
    figures, where = site.figures(state), fields.optional("where")
    parts = {}
    if where is not None:
        for name, part in figures.parts.items():
            rows = np.flatnonzero(rows_where(where, part.data))
            truth, predicted = part.data.Y[rows], part.predicted[rows]
            labels = [
                (label, label_score(part, n, rows))
                for n, label in enumerate(state.editor.theory.schema.labels)
            ]
            parts[name] = {
                "rows": rows,
                "n_rows": part.data.n_rows,
                "measures": Outcome(truth, predicted).measures or {},
                "all": part.measures,
                "labels": [
                    (label, one) for label, one in labels if one.right + one.missed + one.false
                ],
                "first": rows[:ROWS_SHOWN].tolist(),
            }
    example = example_condition(state)
    values = {"title": "A slice", "example": example, "where": where, "parts": parts}
    return Page("slice.html", values)


def add_page(site: Site, state: State, fields: Fields) -> Page:
    """A new rule, in the rule language."""
    values = {
        "title": "New rule",
        "schema": state.editor.theory.schema,
        "example": example_condition(state),
        "rule": fields.optional("rule"),
        "n_rules": len(site.figures(state).rules),
    }
    return Page("add.html", values)
