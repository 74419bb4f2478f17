"""Rules that a learner is to keep."""

from typing import Any

from labelrules._checks import listed
from labelrules.data import Schema
from labelrules.rules import DecisionList, parse


def as_prefix(theory: Any, schema: Schema) -> DecisionList | None:
    """The rules to keep, over the schema of the training data and without evidence.

    Evidence that they bring may come from other rows, so it is left behind.
    """
    if theory is None:
        return None
    if isinstance(theory, str):
        theory = parse(theory, schema)
    if not isinstance(theory, DecisionList):
        raise ValueError(
            f"theory must be a DecisionList, or the text of one, not a {type(theory).__name__}"
        )
    if theory.schema != schema:
        raise ValueError(
            f"theory does not fit the training data: {_difference(theory.schema, schema)}. To "
            "have its rules read by the names of features and labels, give their text: "
            "theory=str(theory)"
        )
    return DecisionList(schema, [rule.with_evidence(None) for rule in theory])


def _difference(found: Schema, expected: Schema) -> str:
    if found.labels != expected.labels:
        return f"its labels are {listed(found.labels)}, those of Y {listed(expected.labels)}"
    if found.feature_names != expected.feature_names:
        names = listed(found.feature_names), listed(expected.feature_names)
        return f"its features are {names[0] or 'none'}, those of X {names[1] or 'none'}"
    for a, b in zip(found.features, expected.features, strict=True):
        if a != b:
            return (
                f"its feature {a.name!r} is {_kind(a.categories)}, that of X {_kind(b.categories)}"
            )
    return "its hierarchy of labels is another"


def _kind(categories: tuple[str, ...] | None) -> str:
    return (
        "numeric" if categories is None else f"nominal with {listed(categories) or 'no category'}"
    )
