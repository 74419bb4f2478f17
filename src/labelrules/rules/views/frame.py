"""Theories as data frames: a row for each rule, or for each label of each rule."""

from collections.abc import Iterator
from typing import Any

from labelrules._checks import one_of
from labelrules._report import typed_frame
from labelrules.rules.language.text import body_text, head_text, label_text
from labelrules.rules.rule import Rule
from labelrules.rules.theory import RuleSet, Theory

WHERE = {"layer": "number", "is_fallback": "flag", "number": "number"}
_COUNTS = {"right": "count", "wrong": "count", "votes": "count"}
_RULE_TYPES = {
    **WHERE,
    "head": "text",
    "body": "text",
    "n_labels": "number",
    "n_conditions": "number",
    "n_literals": "number",
    **_COUNTS,
    "stops": "flag",
    "polarity": "text",
    "extent": "text",
    "dependence": "text",
    "constraint": "text",
    "note": "text",
}
_SET_TYPES = {"layer": "number", "labels": "text", "n_labels": "number", "bonus": "number"}
_LABEL_TYPES = {**WHERE, "label": "text", "present": "flag", **_COUNTS, "body": "text"}


def frame_of_theory(theory: Theory, library: str, per: str) -> Any:
    """The rules of a theory as a pandas data frame: what `Theory.to_frame` gives."""
    one_of(library, "library", ("pandas", "polars"))
    one_of(per, "per", ("rule", "label", "label set"))
    types, rows_of = {
        "rule": (_RULE_TYPES, _rules),
        "label": (_LABEL_TYPES, _labels),
        "label set": (_SET_TYPES, _label_sets),
    }[per]
    rows = list(rows_of(theory))
    return typed_frame({name: [row[name] for row in rows] for name in types}, types, library)


def placed_rules(theory: Theory) -> Iterator[tuple[dict[str, Any], Rule, Theory]]:
    """Every rule with its place (layer and number from 1) and the part of the theory it is in."""
    n_layers = len(theory.layers)
    for layer, part in enumerate(theory.parts, 1):
        for place, rule in enumerate(part):
            where = {"layer": layer, "is_fallback": layer > n_layers, "number": part.called(place)}
            yield where, rule, part


def _rules(theory: Theory) -> Iterator[dict[str, Any]]:
    for where, rule, part in placed_rules(theory):
        form = rule.form
        counts = [count for count in rule.evidence or () if count is not None]
        yield {
            **where,
            "head": head_text(rule, theory.schema),
            "body": body_text(rule.body, theory.schema),
            "n_labels": len(rule.head),
            "n_conditions": rule.n_conditions,
            "n_literals": rule.n_literals,
            "right": sum(count.right for count in counts) if rule.is_counted else None,
            "wrong": sum(count.wrong for count in counts) if rule.is_counted else None,
            "votes": None if part.ordered else sum(votes for _, _, votes in rule.ballot),
            "stops": rule.stops,
            "polarity": form.polarity,
            "extent": form.extent,
            "dependence": form.dependence,
            "constraint": form.constraint,
            "note": rule.note,
        }


def _labels(theory: Theory) -> Iterator[dict[str, Any]]:
    for where, rule, part in placed_rules(theory):
        body = body_text(rule.body, theory.schema)
        for label, value, votes in rule.ballot:
            count = rule.evidence_for(label)
            yield {
                **where,
                "label": theory.schema.labels[label],
                "present": bool(value),
                "right": None if count is None else count.right,
                "wrong": None if count is None else count.wrong,
                "votes": None if part.ordered else votes,
                "body": body,
            }


def _label_sets(theory: Theory) -> Iterator[dict[str, Any]]:
    for layer, part in enumerate(theory.layers, 1):
        for labels, bonus in part.label_sets if isinstance(part, RuleSet) else ():
            names = [label_text(theory.schema.labels[label]) for label in labels]
            shown = {"labels": ", ".join(names), "n_labels": len(labels), "bonus": bonus}
            yield {"layer": layer, **shown}
