"""Theories in HTML: labels as chips, for notebooks and for pages of their own."""

from typing import Any, Literal, TypeAlias

from labelrules._checks import counted, one_of, whole_number
from labelrules._html import fragment, html_page, render
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.language.text import (
    RuleLayout,
    Section,
    ShownEvidence,
    counts_text,
    is_shortened,
    presence_of,
    sections,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import LabelSet, RuleSet, Theory, theory_of
from labelrules.rules.views.tables import GIVEN, NOTHING, PointsTable, by_label, shown_rules

SHOWN_IN_NOTEBOOKS = 200
"""Rules that a notebook shows; it would become slow with many more."""

HtmlOrder: TypeAlias = Literal["list", "label", "table"]

_SIGNS = {"<=": "≤", ">": ">", "=": "=", "!=": "≠", "in": "in"}


def theory_html(
    theory: Theory,
    *,
    evidence: ShownEvidence = True,
    max_rules: int | None = None,
    order: HtmlOrder | None = None,
    page: bool = False,
    title: str = "Rules",
) -> str:
    """A theory in HTML: its layers with their headings, and rules with labels as chips.

    Parameters
    ----------
    theory : Theory or fitted learner
    evidence : bool, default=True
        As for :func:`theory_text`.
    max_rules : int, optional
        How many rules of each layer, or rows of a table, to show at most; the others are counted.
    order : {"list", "label", "table"}, optional
        The rules in their order, or label by label, or as a table, conditions by labels, which only
        rule sets can be. By default rule sets that give points are tables, other theories lists.
    page : bool, default=False
        Whether to return a whole page, to be written into a file; else a fragment for one.
    title : str, default="Rules"
        The title of the page.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = theory_html(parse("not sports <- fashion", load("magazines").schema))
    >>> '<span class="chip absent"><span class="not">not</span> sports</span>' in text
    True
    """
    theory = theory_of(theory)
    if max_rules is not None:
        whole_number(max_rules, "max_rules", low=1, also="None")
    if order is not None:
        one_of(order, "order", ("list", "label", "table"))
    parts = [
        {
            "heading": "" if section.part is theory else section.title,
            **_part(section, max_rules, order),
        }
        for section in sections(theory, evidence=evidence)
    ]
    if order == "table" and not any(part["table"] for part in parts):
        raise ValueError(f"only rule sets can be shown as tables, not a {type(theory).__name__}")
    is_counted = evidence and any(rule.evidence for rule in theory)
    has_evidence = is_counted and not all(part["table"] for part in parts)
    content = render("theory.html", about=_about(theory), has_evidence=has_evidence, parts=parts)
    return html_page(fragment(content), title) if page else fragment(content)


def _part(section: Section, max_rules: int | None, order: HtmlOrder | None) -> dict[str, Any]:
    """What the template shows of a decision list or a rule set: a table, or labels, or rules."""
    part = section.part
    if isinstance(part, RuleSet) and (order == "table" or (order is None and part.gives_points)):
        shown = _table(PointsTable.of(part), max_rules)
    elif order == "label":
        shown = _by_label(section, max_rules)
    else:
        rules = [rule_parts(rule, part.schema, layout) for rule, layout in section.rules]
        shown = {"rules": rules[:max_rules], "n_left": len(rules) - len(rules[:max_rules])}
    nothing: dict[str, Any] = {"table": None, "groups": [], "rules": []}
    return {
        **nothing,
        "is_ordered": part.ordered,
        "numbers": part.numbers if part.ordered else None,
        "endings": [
            (ending, [_label_set(one, part.schema) for one in label_sets])
            for ending, label_sets in section.endings
        ],
        **shown,
    }


def _by_label(section: Section, max_rules: int | None) -> dict[str, Any]:
    """The rules for each label."""
    part = section.part
    found = list(by_label(shown_rules(section), part))
    groups: dict[int | None, list[dict[str, Any]]] = {}
    for label, rule, layout in found[:max_rules]:
        groups.setdefault(label, []).append(_rule_for(label, rule, part.schema, layout))
    names = part.schema.labels
    return {
        "groups": [(None if n is None else names[n], rules) for n, rules in groups.items()],
        "n_left": len(found) - len(found[:max_rules]),
    }


def _rule_for(label: int | None, rule: Rule, schema: Schema, layout: RuleLayout) -> dict[str, Any]:
    """What the template shows of a rule for one label."""
    whole = rule_parts(rule, schema, layout)
    if label is None:
        return {**whole, "labels": [], "counts": ""}
    named = [one for one in whole["labels"] if one["name"] == schema.labels[label]]
    return {**whole, "labels": named, "counts": counts_text([named[0]["evidence"]])}


def _table(table: PointsTable, max_rows: int | None) -> dict[str, Any]:
    """The cells of a table of points, each with its strength from 1 to 4."""
    names = table.schema.labels
    shown = [row.points.get(label, 0) for row in table.rows for label in table.labels]
    most = max(map(abs, shown), default=1)
    rows = [
        {
            "conditions": [condition_parts(condition, table.schema) for condition in row.body],
            "cells": [_cell(row.points.get(label), most) for label in table.labels],
            "note": _lines(row.note),
        }
        for row in table.rows[:max_rows]
    ]
    return {
        "table": {
            "labels": [names[label] for label in table.labels],
            "rows": rows,
            "without": [names[label] for label in table.without_points],
            "left_out": [names[label] for label in table.left_out],
            "given": GIVEN,
        },
        "n_left": len(table.rows) - len(rows),
    }


def _cell(points: int | None, most: int) -> dict[str, Any]:
    if points is None:
        return {"text": NOTHING, "kind": "none"}
    side = "for" if points > 0 else "against"
    return {"text": _points(points), "kind": f"{side} s{-(-4 * abs(points) // most)}"}


def _about(theory: Theory) -> str:
    """The kind of the theory, its size, and how its rules decide."""
    if len(theory.layers) > 1:
        size = f"{counted(len(theory.layers), 'layer')}, {theory.size_text}"
        return f"{size}: each layer reads the labels that the one before has written"
    if theory.ordered:
        return f"Decision list, {theory.size_text}: the first rule to write a label decides it"
    if isinstance(theory, RuleSet) and theory.gives_points:
        return f"Scorecard, {theory.size_text}: the points of all conditions that hold are added up"
    return f"Rule set, {theory.size_text}, in any order: those that hold vote on each label"


def rule_parts(rule: Rule, schema: Schema, layout: RuleLayout) -> dict[str, Any]:
    """What templates show of a rule; the absent labels of a complete head are folded away."""
    counts = rule.evidence if layout.evidence and rule.evidence else (None,) * len(rule.head)
    labels: list[dict[str, Any]] = [
        {
            "name": schema.labels[label],
            "value": 1 if layout.has_points else value,
            "points": _points(votes if value else -votes) if layout.has_points else "",
            "evidence": count,
            "is_absent": not value,
        }
        for (label, value, votes), count in zip(rule.ballot, counts, strict=True)
    ]
    folds = is_shortened(rule, layout)
    named = [label for label in labels if not (folds and label["is_absent"])]
    return {
        "labels": named,
        "folded": [label for label in labels if label["is_absent"]] if folds else [],
        "stops": rule.stops,
        "is_default": layout.is_default,
        "conditions": [condition_parts(condition, schema) for condition in rule.body],
        "counts": counts_text([label["evidence"] for label in named]),
        "note": _lines(rule.note),
    }


def _lines(note: str | None) -> list[str]:
    return [] if note is None else note.split("\n")


def _points(number: int) -> str:
    return f"{number:+}".replace("-", "−")


def _label_set(label_set: LabelSet, schema: Schema) -> dict[str, Any]:
    names = [schema.labels[label] for label in label_set.labels]
    return {"names": names, "points": _points(label_set.bonus)}


def condition_parts(condition: Condition, schema: Schema) -> dict[str, Any]:
    """What templates show of a condition: the name, the sign and the value."""
    if condition.on_label:
        name = schema.labels[condition.column]
        return {"on_label": True, "name": name, "value": int(condition.value)}
    feature = schema.features[condition.column]
    is_present = presence_of(condition, feature)
    if is_present is not None:
        return {"on_label": False, "name": feature.name, "sign": "", "value": is_present}
    sign, value = _SIGNS[condition.operator], feature.text(condition.value)
    if condition.operator == "in":
        value = ", ".join(feature.text(code) for code in condition.codes)
        value = f"{{{value}}}"
    return {"on_label": False, "name": feature.name, "sign": sign, "value": value}
