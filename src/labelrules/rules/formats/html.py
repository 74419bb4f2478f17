"""Theories in HTML: labels as chips, for notebooks and for pages of their own."""

from itertools import islice
from typing import Any

from labelrules._checks import counted, whole_number
from labelrules._html import fragment, html_page, render
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import number_text
from labelrules.rules.formats.latex import headed_parts
from labelrules.rules.formats.text import SPELLED_OUT
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory, theory_of

SHOWN_IN_NOTEBOOKS = 200
"""Rules that a notebook shows; it would become slow with many more."""

_SIGNS = {"<=": "≤", ">": ">", "=": "=", "!=": "≠"}


def theory_html(
    theory: Theory,
    *,
    evidence: bool = True,
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
            "rules": [_rule(rule, part.schema, counts) for rule in islice(part, max_rules)],
            "n_left": 0 if max_rules is None else max(len(part) - max_rules, 0),
        }
        for heading, part, counts in headed_parts(theory, evidence)
    ]
    has_evidence = evidence and any(rule.evidence for rule in theory)
    content = render("theory.html", about=_about(theory), has_evidence=has_evidence, parts=parts)
    return html_page(fragment(content), title) if page else fragment(content)


def _about(theory: Theory) -> str:
    """The kind of the theory, and how its rules decide."""
    n_rules = counted(len(theory), "rule")
    if isinstance(theory, LayeredTheory):
        layers = counted(len(theory.layers), "layer")
        return f"{layers}, {n_rules}: each layer reads the labels that the one before has written"
    if theory.ordered:
        return f"Decision list, {n_rules}: the first rule to write a label decides it"
    return f"Rule set, {n_rules} in any order: those that hold vote on each label"


def _rule(rule: Rule, schema: Schema, evidence: bool) -> dict[str, Any]:
    """What the template shows; many absent labels of a complete head are folded away."""
    counts = rule.evidence if evidence and rule.evidence else (None,) * len(rule.head)
    labels = [
        {"name": schema.labels[label], "value": value, "votes": votes, "evidence": count}
        for (label, value, votes), count in zip(rule.ballot, counts, strict=True)
    ]
    absent = [label for label in labels if not label["value"]]
    folds = rule.head.is_complete and len(absent) > SPELLED_OUT
    return {
        "labels": [label for label in labels if label["value"]] if folds else labels,
        "folded": absent if folds else [],
        "stops": rule.stops,
        "conditions": [_condition(condition, schema) for condition in rule.body],
    }


def _condition(condition: Condition, schema: Schema) -> dict[str, Any]:
    if condition.on_label:
        name = schema.labels[condition.column]
        return {"on_label": True, "name": name, "value": int(condition.value)}
    feature = schema.features[condition.column]
    value = number_text(condition.value)
    if feature.categories is not None:
        value = feature.categories[int(condition.value)]
    sign = _SIGNS[condition.operator]
    return {"on_label": False, "name": feature.name, "sign": sign, "value": value}
