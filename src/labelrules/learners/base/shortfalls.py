"""What learners could not do: why labels have no rule."""

from collections.abc import Mapping
from typing import Any

from labelrules._checks import counted
from labelrules.learners.base.progress import is_nested_fit
from labelrules.rules import labels_without_rules

NOT_GOOD_ENOUGH = "no rule for it was good enough"
"""The reason where nothing more is known."""


def reasons_without_rules(
    model: Any,
    cells: Any,
    reasons: Mapping[int, str] | None = None,
    stopped: str | None = None,
) -> dict[str, str]:
    """Why no rule of a model predicts some labels as present, by their names.

    Parameters
    ----------
    model : fitted learner
    cells : LabelCells, or pair of arrays
        For each label the training rows in which it is known, and those that have it.
    reasons : mapping of int to str, optional
        What the learner itself knows, by the number of the label.
    stopped : str, optional
        Why learning has ended early, if it has.
    """
    if is_nested_fit() or "theory_" not in vars(model):
        return {}
    names = labels_without_rules(model.theory_)
    known, last = reasons or {}, stopped or str(getattr(model, "_no_rule_reason", NOT_GOOD_ENOUGH))
    least = int(getattr(model, "min_coverage", 1))
    places = model.theory_.schema.label_index
    n_known, n_present = (one.tolist() for one in cells[:2])
    return {
        name: too_few(n_known[at], n_present[at], least) or known.get(at, last)
        for name in names
        for at in [places[name]]
    }


def too_few(n_known: int, n_present: int, least: int) -> str:
    """The reason if a label has too few rows to learn from; else empty.

    >>> too_few(1, 0, 2), too_few(2, 1, 2)
    ('no row has it', '1 row has it, fewer than min_coverage=2')
    """
    if not n_known:
        return "it is unknown in all rows"
    if not n_present:
        return "no row has it"
    if n_present < least:
        verb = "has" if n_present == 1 else "have"
        return f"{counted(n_present, 'row')} {verb} it, fewer than min_coverage={least}"
    return ""
