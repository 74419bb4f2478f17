"""Rows: a list to choose from, and one row explained, with other values to try."""

from typing import Any

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._kept import kept
from labelrules._types import UNSET, Integers
from labelrules.data import DataError, Dataset
from labelrules.data.memory.encoding import cell_readers
from labelrules.data.schema import Feature
from labelrules.inspection import Explanation, explain
from labelrules.inspection.explanation.html import means
from labelrules.inspection.explanation.writer import Writer
from labelrules.inspection.pictures.svg import flow_svg
from labelrules.inspection.review.coverage import RowFlow, row_flow
from labelrules.inspection.tracing import row_values
from labelrules.rules import LayeredTheory, RuleSet, Theory
from labelrules.studio import Editor
from labelrules.studio.web.project import PartFigures, State, figures_of
from labelrules.studio.web.site import Fields, InputError, NotThereError, Page, Site, paged
from labelrules.studio.web.views.rules import check_name

ROWS_PER_PAGE = 50
MOST_INPUTS = 60
"""Features that are all shown with a row; of more features only those that rules test."""
MOST_MORE = 400
TRUTHS = ("", "right", "wrong", "unknown")
ROWS_TRIED = 2_000
"""Rows that a search for a counterfactual tries, so that a page does not take long."""


def chosen_part(site: Site, state: State, fields: Fields) -> tuple[str, PartFigures]:
    """The part of the data that the address names."""
    parts = site.figures(state).parts
    name = fields.choice("part", tuple(parts), next(iter(parts)))
    return name, parts[name]


def chosen_row(site: Site, state: State, fields: Fields) -> tuple[str, PartFigures, int]:
    """The row that the address names, with its part of the data."""
    name, part = chosen_part(site, state, fields)
    row, n_rows = fields.number("row"), part.data.n_rows
    if row >= n_rows:
        raise NotThereError(f"there is no row {row}: the {name} part has {n_rows}, from 0")
    return name, part, row


def rows_page(site: Site, state: State, fields: Fields) -> Page:
    """Rows by what is true of them."""
    schema = state.editor.theory.schema
    name, part = chosen_part(site, state, fields)
    label, truth = fields.name("label"), fields.choice("truth", TRUTHS)
    check_name(label, schema.labels, "label")
    rule = fields.number("rule", 0)
    numbers = _rows(state, part, label, truth, rule)
    place, paging = paged(
        len(numbers), fields.number("page", 1), ROWS_PER_PAGE, "/rows", part=name, label=label,
        truth=truth, rule=rule or None,
    )  # fmt: skip
    shown = [row_line(part, row) for row in numbers[place].tolist()]
    values = {
        "title": "Rows", "part": name, "parts": list(site.figures(state).parts), "label": label,
        "truth": truth, "truths": TRUTHS, "rule": rule, "schema": schema, "rows": shown,
        "paging": paging, "n_rows": part.data.n_rows,
    }  # fmt: skip
    return Page("rows.html", values)


def _rows(state: State, part: PartFigures, label: str | None, truth: str, rule: int) -> Integers:
    """The rows that pass the filters."""
    Y, predicted = part.data.Y, part.predicted
    columns = slice(None) if label is None else [state.editor.theory.schema.label_index[label]]
    known, same = Y[:, columns] != UNSET, Y[:, columns] == predicted[:, columns]
    tests: dict[str, Any] = {
        "": np.ones(len(Y), dtype=np.bool_),
        "wrong": (known & ~same).any(axis=1),
        "right": (known & same).any(axis=1) & ~(known & ~same).any(axis=1),
        "unknown": (~known).any(axis=1),
    }
    keep = tests[truth]
    if rule:
        place = figures_of(state.editor).places.get(rule)
        if place is None:
            raise NotThereError(f"there is no rule {rule}, or it is disabled")
        keep = keep & _decided(part, place, label, state)
    return np.flatnonzero(keep)


def _decided(part: PartFigures, place: int, label: str | None, state: State) -> Any:
    """Rows in which a rule decides a label, or any of its head."""
    index = state.editor.theory.schema.label_index
    numbers = range(len(index)) if label is None else [index[label]]
    found = np.zeros(part.data.n_rows, dtype=np.bool_)
    for number in numbers:
        for rows in part.rows_of(place, number):
            found[rows] = True
    return found


def row_line(part: PartFigures, row: int) -> dict[str, Any]:
    """A row with the labels that it gets, and those that it has."""
    names = part.theory.schema.labels
    cells = []
    for label, name in enumerate(names):
        given, truth = int(part.predicted[row, label]), int(part.data.Y[row, label])
        if given or truth == 1:
            kind = "right" if given == truth else "unknown" if truth == UNSET else "wrong"
            cells.append({"name": name, "value": given, "kind": kind})
    return {"row": row, "cells": cells}


def row_page(site: Site, state: State, fields: Fields) -> Page:
    """One row: its labels and why, with other values if some are given."""
    name, part, row = chosen_row(site, state, fields)
    theory = state.editor.theory
    one = part.data.take([row])
    changed, given = changed_row(one, fields)
    tried = one if changed is None else changed
    label = fields.name("label")
    check_name(label, theory.schema.labels, "label")
    explanation = explain(
        theory, tried, 0, training=state.editor.data, counterfactuals="given", limit=ROWS_TRIED,
        labels=None if label is None else [label],
    )  # fmt: skip
    truth = _truth(one)
    shown = [one for one in explanation if one.predicted or label or truth[one.label] == 1]
    near = {theory.schema.label_index[one.label] for one in shown}
    values = {
        "title": f"Row {row}", "row": row, "part": name, "n_rows": part.data.n_rows,
        "truth": truth, "explanation": explanation, "shown": shown,
        "absent": [one for one in explanation if not (one.predicted or label)],
        "deciding": _deciding(explanation),
        "inputs": _inputs(state, one, given, near), "is_changed": changed is not None,
        "before": _given_labels(part, row), "label": label,
        **means(Writer()),
    }  # fmt: skip
    return Page("row.html", values)


def _deciding(explanation: Explanation) -> list[tuple[str, int]]:
    """The labels that rules have written as present, each with the number of its rule."""
    return [
        (one.label, one.rule.place.called)
        for one in explanation
        if one.predicted and one.rule is not None
    ]


def _truth(one: Dataset) -> dict[str, int]:
    return {name: int(value) for name, value in zip(one.schema.labels, one.Y[0], strict=True)}


def _given_labels(part: PartFigures, row: int) -> list[str]:
    names = part.theory.schema.labels
    return [names[label] for label in np.flatnonzero(part.predicted[row]).tolist()]


def changed_row(one: Dataset, fields: Fields) -> tuple[Dataset | None, dict[str, str]]:
    """A row with the values of fields named ``x.FEATURE``; None if they change nothing."""
    given = {key[2:]: value for key, value in fields.values.items() if key.startswith("x.")}
    values = row_values(one).copy()
    readers, schema = cell_readers(one.schema), one.schema
    for name, value in given.items():
        index = schema.feature_index.get(name)
        if index is None:
            near = suggestion(name, schema.feature_names)
            raise InputError(f"there is no feature {quoted(name)}{near}")
        if value != schema.features[index].text(values[index]):
            values[index] = _read(value, schema.features[index], readers[index])
    if np.array_equal(values, row_values(one), equal_nan=True):
        return None, given
    return Dataset(schema, np.asfortranarray(values[None, :]), one.Y, one.name), given


def _read(text: Any, feature: Feature, read: Any) -> float:
    """A value as people write it; ``?`` or nothing is missing, unless a category is called so."""
    text, categories = str(text), feature.categories or ()
    for written in (text, text.strip()):
        if written in categories:
            return float(categories.index(written))
    text = text.strip()
    if text in ("", "?"):
        return float("nan")
    if feature.categories is not None:
        near = suggestion(text, categories)
        raise InputError(f"{quoted(feature.name)} has no category {quoted(text)}{near}")
    try:
        return float(read(float(text) if feature.is_numeric else text))
    except (ValueError, DataError, TypeError):
        raise InputError(
            f"{quoted(feature.name)} cannot be {quoted(text)}: it is {feature.kind}"
        ) from None


def _inputs(
    state: State, one: Dataset, given: dict[str, str], labels: set[int]
) -> dict[str, list[dict[str, Any]]]:
    """The features of a row whose values may be changed.

    All of them if they are few; else those that rules test. The first are those that are not 0,
    that are changed, and that rules for the labels of the row test.
    """
    schema, values = state.editor.theory.schema, row_values(one)
    near: set[int] = {schema.feature_index[name] for name in given}
    tested: set[int] = set()
    for edited in state.editor.rules:
        columns = {condition.column for condition in edited.rule.body.on_features}
        tested |= columns
        if labels.intersection(edited.rule.head.labels):
            near |= columns
    is_short = schema.n_features <= MOST_INPUTS
    numbers = range(schema.n_features) if is_short else sorted(tested | near)
    first = [j for j in numbers if is_short or values[j] or j in near]
    rest = sorted(set(numbers).difference(first))
    return {
        name: [_input(schema.features[j], values[j], given) for j in members]
        for name, members in (("first", first), ("more", rest[:MOST_MORE]))
    }


def _input(feature: Feature, value: float, given: dict[str, str]) -> dict[str, Any]:
    old = feature.text(value)
    changed = given.get(feature.name, old)
    return {"feature": feature, "value": changed, "old": old}


STEPS_PER_PAGE = 100


@kept
def _flows(editor: Editor) -> dict[tuple[str | None, int | None], RowFlow]:
    """The flows that were asked for, by label and layer."""
    return {}


def flow_page(site: Site, state: State, fields: Fields) -> Page:
    """How many rows reach each rule, and what it decides."""
    theory, schema = state.editor.theory, state.editor.theory.schema
    label = fields.name("label")
    check_name(label, schema.labels, "label")
    layers = theory.layers if isinstance(theory, LayeredTheory) else (theory,)
    layer = fields.number("layer", len(layers))
    if not 1 <= layer <= len(layers):
        raise InputError(f"there is no layer {layer}: there are {len(layers)}")
    flow = None
    if not isinstance(layers[layer - 1], RuleSet):
        of_layer = layer if len(layers) > 1 else None
        known = _flows(state.editor)
        if (label, of_layer) not in known:
            known[label, of_layer] = row_flow(theory, state.editor.data, label, of_layer)
        flow = known[label, of_layer]
    values: dict[str, Any] = {"title": "Flow of rows", "label": label, "schema": schema,
                              "layer": layer, "n_layers": len(layers), "flow": flow,
                              "has_fallback": has_fallback(theory)}  # fmt: skip
    if flow is not None:
        place, paging = paged(
            len(flow.steps), fields.number("page", 1), STEPS_PER_PAGE, "/flow", label=label,
            layer=layer if len(layers) > 1 else None,
        )  # fmt: skip
        steps = flow.steps[place]
        shown = type(flow)(theory, steps, flow.n_rows, flow.n_left, label)
        values |= {"picture": flow_svg(shown, "/rules/{rule}") if steps else None,
                   "paging": paging,
                   "steps": [(one.place.called, one) for one in steps]}  # fmt: skip
    return Page("flow.html", values)


def has_fallback(theory: Theory) -> bool:
    """Whether there are rules for rows that are left without a label."""
    return isinstance(theory, LayeredTheory) and theory.fallback is not None
