"""Theories as data frames: a row for each rule, or for each label of each rule."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from labelrules._checks import suggestion
from labelrules.rules.formats.text import body_text, head_text
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

if TYPE_CHECKING:
    import pandas

LIBRARIES = ("pandas", "polars")

Library = Literal["pandas", "polars"]
Per = Literal["rule", "label"]


def theory_frame(theory: Theory, library: Library = "pandas", *, per: Per = "rule") -> Any:
    """A theory as a data frame, in the order of its rules.

    Columns with rules in rows: `layer`, `is_fallback`, `number` (of the rule in its layer, from
    1), `head` and `body` as text, `n_labels`, `n_conditions`, `right` and `wrong` (of all labels of
    the head together; missing without evidence), `votes` (of all labels together; missing where
    rules have an order), `stops`, and the form of the rule: `polarity`, `extent`, `dependence`,
    `constraint` (missing for most).

    With labels in rows: `layer`, `is_fallback`, `number`, `label`, `present`, `right`, `wrong`,
    `votes`, `body`.

    A theory without layers is its own layer 1. Rules for rows without labels count as a layer
    after the last one.

    Parameters
    ----------
    theory : Theory
    library : {"pandas", "polars"}, default="pandas"
        Whose frame to make; it has to be installed.
    per : {"rule", "label"}, default="rule"
        Whether a row is a rule, or a label in the head of a rule.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("quality (6/1), not sports (5/2) <- sex = Male", load("magazines").schema)
    >>> theory_frame(theory)[["head", "body", "right", "wrong"]]
                      head        body  right  wrong
    0  quality, not sports  sex = Male     11      3
    >>> theory_frame(theory, per="label")[["label", "present", "right", "wrong"]]
         label  present  right  wrong
    0  quality     True      6      1
    1   sports    False      5      2
    """
    if library not in LIBRARIES:
        raise ValueError(
            f"there is no library {library!r}{suggestion(str(library), LIBRARIES)}: use 'pandas' "
            "or 'polars'"
        )
    if per not in ("rule", "label"):
        near = suggestion(str(per), ("rule", "label"))
        raise ValueError(f"per must be 'rule' or 'label', not {per!r}{near}")
    types = _RULE_TYPES if per == "rule" else _LABEL_TYPES
    rows = list(_rules(theory) if per == "rule" else _labels(theory))
    columns = {name: [row[name] for row in rows] for name in types}
    try:
        return _pandas(columns, types) if library == "pandas" else _polars(columns, types)
    except ImportError:
        raise ImportError(f'a frame needs {library}: pip install "labelrules[{library}]"') from None


WHERE = {"layer": "number", "is_fallback": "flag", "number": "number"}
_COUNTS = {"right": "count", "wrong": "count", "votes": "count"}
_RULE_TYPES = {
    **WHERE,
    "head": "text",
    "body": "text",
    "n_labels": "number",
    "n_conditions": "number",
    **_COUNTS,
    "stops": "flag",
    "polarity": "text",
    "extent": "text",
    "dependence": "text",
    "constraint": "text",
}
_LABEL_TYPES = {**WHERE, "label": "text", "present": "flag", **_COUNTS, "body": "text"}


def _pandas(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import pandas as pd

    # Counts may be missing, and are whole numbers all the same: a type that numpy does not have.
    known = {"number": "int64", "count": "Int64", "flag": "bool", "text": "object"}
    return pd.DataFrame(
        {name: pd.Series(values, dtype=known[types[name]]) for name, values in columns.items()}
    )


def _polars(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import polars as pl

    known = {"number": pl.Int64, "count": pl.Int64, "flag": pl.Boolean, "text": pl.String}
    return pl.DataFrame(columns, schema={name: known[kind] for name, kind in types.items()})


def placed_rules(theory: Theory) -> Iterator[tuple[dict[str, Any], Rule, Theory]]:
    """Every rule with where it stands: layer and number from 1; and the part it stands in."""
    parts = list(theory.layers) if isinstance(theory, LayeredTheory) else [theory]
    fallback = theory.fallback if isinstance(theory, LayeredTheory) else None
    n_layers = len(parts)
    for layer, part in enumerate([*parts, *([] if fallback is None else [fallback])], 1):
        for number, rule in enumerate(part, 1):
            where = {"layer": layer, "is_fallback": layer > n_layers, "number": number}
            yield where, rule, part


def _rules(theory: Theory) -> Iterator[dict[str, Any]]:
    for where, rule, part in placed_rules(theory):
        form = rule.form
        counts = rule.evidence
        yield {
            **where,
            "head": head_text(rule, theory.schema),
            "body": body_text(rule.body, theory.schema),
            "n_labels": len(rule.head),
            "n_conditions": len(rule.body),
            "right": None if counts is None else sum(count.right for count in counts),
            "wrong": None if counts is None else sum(count.wrong for count in counts),
            "votes": None if part.ordered else sum(votes for _, _, votes in rule.ballot),
            "stops": rule.stops,
            "polarity": form.polarity,
            "extent": form.extent,
            "dependence": form.dependence,
            "constraint": form.constraint,
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


def pandas_frame(columns: dict[str, Any]) -> "pandas.DataFrame":
    """Columns as a pandas data frame, for the `to_frame` of a result."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            'to_frame needs pandas: pip install "labelrules[pandas]"; '
            "as_dict gives the columns for any other library"
        ) from None
    return pandas.DataFrame(columns)
