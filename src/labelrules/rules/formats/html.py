"""Theories in HTML: labels as chips, for notebooks and for pages of their own."""

from itertools import islice
from typing import Any

from labelrules._checks import counted, whole_number
from labelrules._html import fragment, html_page, render
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import number_text
from labelrules.rules.formats.latex import headed_parts
from labelrules.rules.formats.text import (
    RuleLayout,
    ShownEvidence,
    counts_text,
    endings,
    is_shortened,
    laid_out,
)
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import LabelSet, Theory, theory_of

SHOWN_IN_NOTEBOOKS = 200
"""Rules that a notebook shows; it would become slow with many more."""

_SIGNS = {"<=": "≤", ">": ">", "=": "=", "!=": "≠"}


def theory_html(
    theory: Theory,
    *,
    evidence: ShownEvidence = True,
    max_rules: int | None = None,
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
        How many rules of each layer to show at most; the others are counted.
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
    parts = [
        {
            "heading": "" if part is theory else heading,
            "is_ordered": part.ordered,
            "rules": [
                _rule(rule, part.schema, layout)
                for rule, layout in islice(laid_out(part, shown), max_rules)
            ],
            "n_left": 0 if max_rules is None else max(len(part) - max_rules, 0),
            "endings": [
                (ending.removesuffix(":"), [_label_set(one, part.schema) for one in label_sets])
                for ending, label_sets in endings(part)
            ],
        }
        for heading, part, shown in headed_parts(theory, evidence)
    ]
    has_evidence = evidence and any(rule.evidence for rule in theory)
    content = render("theory.html", about=_about(theory), has_evidence=has_evidence, parts=parts)
    return html_page(fragment(content), title) if page else fragment(content)


def _about(theory: Theory) -> str:
    """The kind of the theory, its size, and how its rules decide."""
    if isinstance(theory, LayeredTheory) and len(theory.layers) > 1:
        size = f"{counted(len(theory.layers), 'layer')}, {theory.size_text}"
        return f"{size}: each layer reads the labels that the one before has written"
    if theory.ordered:
        return f"Decision list, {theory.size_text}: the first rule to write a label decides it"
    return f"Rule set, {theory.size_text}, in any order: those that hold vote on each label"


def _rule(rule: Rule, schema: Schema, layout: RuleLayout) -> dict[str, Any]:
    """What the template shows; the absent labels of a complete head are folded away."""
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
        "conditions": [_condition(condition, schema) for condition in rule.body],
        "counts": counts_text([label["evidence"] for label in named]),
    }


def _points(number: int) -> str:
    return f"{number:+}".replace("-", "−")


def _label_set(label_set: LabelSet, schema: Schema) -> dict[str, Any]:
    names = [schema.labels[label] for label in label_set.labels]
    return {"names": names, "points": _points(label_set.bonus)}


def _condition(condition: Condition, schema: Schema) -> dict[str, Any]:
    if condition.on_label:
        name = schema.labels[condition.column]
        return {"on_label": True, "name": name, "value": int(condition.value)}
    feature = schema.features[condition.column]
    if feature.present_code is not None and condition.operator == "=":
        is_present = condition.value == feature.present_code
        return {"on_label": False, "name": feature.name, "sign": "", "value": is_present}
    value = number_text(condition.value)
    if feature.categories is not None:
        value = feature.categories[int(condition.value)]
    sign = _SIGNS[condition.operator]
    return {"on_label": False, "name": feature.name, "sign": sign, "value": value}
