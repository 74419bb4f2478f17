"""What learners could not do: why labels have no rule."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from labelrules._checks import counted
from labelrules._types import UNSET, Board, Integers
from labelrules.data import Dataset
from labelrules.learners.base.progress import is_nested_fit
from labelrules.rules import labels_without_rules

NOT_GOOD_ENOUGH = "no rule for it was good enough"
"""The reason where nothing more is known."""


def reasons_without_rules(
    model: Any,
    data: Dataset,
    reasons: Mapping[int, str] | None = None,
    stopped: str | None = None,
) -> dict[str, str]:
    """Why no rule of a model predicts some labels as present, by their names.

    Parameters
    ----------
    model : fitted learner
    data : Dataset
        The training rows.
    reasons : mapping of int to str, optional
        What the learner itself knows, by the number of the label.
    stopped : str, optional
        Why learning has ended early, if it has.
    """
    return _reasons(model, lambda label, least: too_few(data.Y[:, label], least), reasons, stopped)


def reasons_by_counts(
    model: Any,
    cells: Integers,
    reasons: Mapping[int, str] | None = None,
    stopped: str | None = None,
) -> dict[str, str]:
    """The same from the rows in which each label is known, and those that have it."""

    def too_few_of(label: int, least: int) -> str:
        n_known, n_present = cells[:, label].tolist()
        return _too_few_of(n_present, n_known, least)

    return _reasons(model, too_few_of, reasons, stopped)


def _reasons(
    model: Any,
    too_few_of: Callable[[int, int], str],
    reasons: Mapping[int, str] | None,
    stopped: str | None,
) -> dict[str, str]:
    if is_nested_fit() or "theory_" not in vars(model):
        return {}
    names = labels_without_rules(model.theory_)
    known = reasons or {}
    last = stopped or str(getattr(model, "_no_rule_reason", NOT_GOOD_ENOUGH))
    least = int(getattr(model, "min_coverage", 1))
    places = model.theory_.schema.label_index
    return {
        name: too_few_of(places[name], least) or known.get(places[name], last) for name in names
    }


def too_few(truth: Board, least: int) -> str:
    """The reason if a label has too few rows to learn from; else empty.

    >>> too_few(np.array([0, 0, -1], dtype=np.int8), 2), too_few(np.array([1, 0], dtype=np.int8), 2)
    ('no row has it', '1 row has it, fewer than min_coverage=2')
    """
    n_present, n_known = int(np.count_nonzero(truth == 1)), int(np.count_nonzero(truth != UNSET))
    return _too_few_of(n_present, n_known, least)


def _too_few_of(n_present: int, n_known: int, least: int) -> str:
    if not n_known:
        return "it is unknown in all rows"
    if not n_present:
        return "no row has it"
    if n_present < least:
        verb = "has" if n_present == 1 else "have"
        return f"{counted(n_present, 'row')} {verb} it, fewer than min_coverage={least}"
    return ""
