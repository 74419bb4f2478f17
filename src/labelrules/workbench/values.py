"""What the interface answers: the values behind the pages, as plain JSON."""

from collections.abc import Callable
from typing import Any

from labelrules.editing import Editor
from labelrules.inspection import explain
from labelrules.workbench.figures import Counted
from labelrules.workbench.inputs import Fields
from labelrules.workbench.project import State
from labelrules.workbench.site import NotThereError, Site
from labelrules.workbench.views.checks import findings_of
from labelrules.workbench.views.rows import ROWS_TRIED, chosen_part
from labelrules.workbench.views.rule import found_line
from labelrules.workbench.views.rules import RuleLine, rule_lines

ROWS_LISTED = 200
"""Rows that a preview lists; their number is always given."""


def state_value(site: Site, state: State) -> dict[str, Any]:
    """The present state."""
    editor = state.editor
    with site.project.reading:
        measures = {name: dict(values) for name, values in editor.measures.items()}
    return {
        "revision": state.revision,
        "data": site.name,
        "branch": editor.branch_name,
        "n_rules": len(site.figures(state).rules),
        "can_undo": editor.can_undo,
        "can_redo": editor.can_redo,
        "is_learning": site.job.is_running,
        "measures": measures,
    }


def names_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """Labels and features."""
    schema = state.editor.theory.schema
    return {
        "labels": list(schema.labels),
        "features": [
            {"name": one.name, "kind": one.kind, "categories": one.categories}
            for one in schema.features
        ],
    }


def _counts(counted: Counted | None) -> dict[str, Any] | None:
    return None if counted is None else counted._asdict()


def _line(line: RuleLine) -> dict[str, Any]:
    one = line.edited
    return {
        "number": one.number,
        "id": one.id,
        "text": one.text,
        "note": one.note,
        "locked": one.locked,
        "disabled": one.disabled,
        "layer": one.layer,
        "for_no_label": one.for_no_label,
        "training": _counts(line.training),
        "validation": _counts(line.validation),
    }


def rules_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """All rules."""
    lines = rule_lines(state, site.figures(state))
    return {"revision": state.revision, "rules": [_line(line) for line in lines]}


def rule_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """One rule."""
    line = found_line(fields.number("number"), state, site.figures(state))
    return {"revision": state.revision, **_line(line)}


def preview_value(
    site: Site, state: State, change: Callable[[Editor], Editor], where: str | None
) -> dict[str, Any]:
    """What a change would do."""
    with site.project.reading:
        preview = change(state.editor).preview(since=state.editor, where=where)
        parts = {
            name: {
                "n_rows": part.n_rows,
                "n_changed_cells": part.n_cells,
                "n_changed_rows": len(part.rows),
                "rows": part.rows[:ROWS_LISTED].tolist(),
                "labels": [one._asdict() for one in part.labels if one.n_rows],
                "measures": [one._asdict() for one in part.measures],
            }
            for name, part in preview.parts.items()
        }
        rules = preview.rules
    return {
        "revision": state.revision,
        "removed": [one.text for one in rules.removed],
        "added": [one.text for one in rules.added],
        "changed": [{"before": one.one.text, "after": one.other.text} for one in rules.changed],
        "reordered": rules.reordered,
        "parts": parts,
    }


def explanation_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """Why a row gets its labels."""
    name, part = chosen_part(site, state, fields)
    row = fields.number("row")
    if row >= part.data.n_rows:
        raise NotThereError(
            f"there is no row {row}: the {name} part has {part.data.n_rows}, from 0"
        )
    explanation = explain(
        state.editor.theory, part.data.take([row]), 0, counterfactuals="given", limit=ROWS_TRIED
    )
    names = state.editor.theory.schema.labels
    truth = dict(zip(names, part.data.Y[row].tolist(), strict=True))
    labels = {
        one.label: {
            "predicted": one.predicted,
            "truth": None if truth[one.label] < 0 else truth[one.label],
            "sentence": one.sentence(),
        }
        for one in explanation
    }
    return {"row": row, "part": name, "labels": labels}


def findings_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """What is to be looked at."""
    found = findings_of(state.editor)
    return {
        "findings": [
            {
                "kind": one.kind,
                "sentence": one.sentence,
                "fix": None if one.fix is None else str(one.fix),
                "effect": None if one.effect is None else str(one.effect),
            }
            for one in found
        ]
    }


def history_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """Steps, versions and branches."""
    editor = state.editor
    return {
        "steps": [
            {"number": one.number, "text": str(one), "author": one.author,
             "time": one.time.isoformat()}
            for one in editor.steps
        ],
        "versions": [
            {"name": one.name, "reason": one.reason, "author": one.author, "step": one.step,
             "time": one.time.isoformat(),
             "measures": {part: dict(found) for part, found in one.measures.items()}}
            for one in editor.versions
        ],
        "branches": dict(editor.branches),
        "branch": editor.branch_name,
    }  # fmt: skip


def learning_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """The progress of learning."""
    job = site.job
    return {
        "is_running": job.is_running,
        "share": job.share,
        "text": job.text if job.base is not None else "",
        "error": job.error,
        "has_proposal": job.proposal is not None,
    }


def openings_value(site: Site, state: State, fields: Fields) -> dict[str, Any]:
    """The openings of the test part."""
    return {
        "has_test": state.editor.has_test,
        "openings": [
            {"number": one.number, "reason": one.reason, "author": one.author, "step": one.step,
             "time": one.time.isoformat(), "measures": dict(one.measures)}
            for one in state.editor.openings
        ],
    }  # fmt: skip
