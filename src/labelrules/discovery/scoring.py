"""The values of rules that were found, and how far those of longer rules can reach."""

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.discovery.interest import INTERESTS
from labelrules.measures import Measure, Tally, confusion, registered
from labelrules.search.monotone import is_monotone

if TYPE_CHECKING:
    from labelrules.discovery.associations import AssociationRules

TINY = 1e-12
"""A bound counts as reached when it is missed by no more than this, for it is rounded."""


def measured(measure: str | Measure) -> str | Measure:
    """The measure that is meant: one of our interests by name, or a measure of predictions."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(f"measure must be a Measure or a text, not {measure!r}")
    name = measure.strip().casefold().replace("_", "-")
    if name in INTERESTS:
        return name
    try:
        return Measure.parse(measure)
    except ValueError as error:
        near = suggestion(name, [*INTERESTS, *registered()])
        raise ValueError(f"{error} (for rules also: {', '.join(INTERESTS)}){near}") from None


def score(measure: str | Measure, rules: "AssociationRules") -> Floats:
    """The value of each rule."""
    if isinstance(measure, str):
        counts = rules.n_both, rules.n_body, rules.n_head, rules.data.n_rows
        return np.asarray(INTERESTS[measure](*counts), dtype=np.float64)
    if measure.predictions == "partial" and measure.averaging in ("micro", "label"):
        return _by_labels(measure, rules)
    return _one_by_one(measure, rules)


def _by_labels(measure: Measure, rules: "AssociationRules") -> Floats:
    """All rules at once, from the counts of each label of their heads."""
    n_rows, label, present = rules.data.n_rows, rules.head.values >> 1, rules.head.values & 1
    ones = rules.data.Y.sum(axis=0, dtype=np.int64)[label]
    n_covered = np.repeat(rules.n_body, rules.head.lengths)
    inside = np.where(present == 1, rules.right, n_covered - rules.right)
    counted = Tally(inside, n_covered - inside, ones, n_rows - ones)
    outcomes = confusion(counted, present)
    first = rules.head.start[:-1]
    if not first.size:
        return np.empty(0)
    if measure.averaging == "micro":
        summed = [np.add.reduceat(part, first) for part in outcomes]
        return np.asarray(measure.formula(*summed), dtype=np.float64)
    values = np.asarray(measure.formula(*outcomes), dtype=np.float64)
    return np.asarray(np.add.reduceat(values, first) / rules.head.lengths)


def _one_by_one(measure: Measure, rules: "AssociationRules") -> Floats:
    """Each rule on the table itself; what is counted per row cannot be had from sums."""
    data = rules.data
    values = []
    for number in range(rules.n_body.size):
        covered = rules.items.body(rules.body[number]).covers(data.X, data.Y)
        head = np.full(data.schema.n_labels, UNSET)
        for code in rules.head[number]:
            head[code >> 1] = code & 1
        values.append(measure.of_rule(data.Y, covered, head))
    return np.array(values, dtype=np.float64)


def reach(measure: str | Measure, Y: Board, both: Integers, literal: Integers) -> Floats | None:
    """The most that a rule for each literal can be worth that is right in so many rows.

    That is its value if it is never wrong; None where this is not known to be the most.
    """
    n_rows = Y.shape[0]
    label, present = literal >> 1, literal & 1
    ones = Y.sum(axis=0, dtype=np.int64)[label]
    if isinstance(measure, str):
        n_head = np.where(present == 1, ones, n_rows - ones)
        return np.asarray(INTERESTS[measure](both, both, n_head, n_rows), dtype=np.float64)
    if measure.predictions == "full" or measure.averaging not in ("micro", "label"):
        return None
    if not is_monotone(measure.formula):
        return None
    values = np.asarray(measure.formula(both, 0 * both, n_rows - ones, ones - both))
    # Uncovered cells count as presence and absence, whatever the head says (the chapter's
    # counting), so that covering fewer rows can help a rule for absence; it has no bound.
    return np.where(present == 1, values, np.inf)


def needed(
    measure: str | Measure, Y: Board, minimum: int, literals: Integers, least: float
) -> Integers | None:
    """The least number of right rows with which a rule for each literal can be worth so much."""
    n_rows = Y.shape[0]
    ones = Y.sum(axis=0, dtype=np.int64)[literals >> 1]
    most = np.where(literals & 1, ones, n_rows - ones)
    low = np.full(literals.size, minimum - 1, dtype=np.int64)  # too few, as far as is known
    high = most + 1  # enough, or more than there are
    least = _just_below(least)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        value = reach(measure, Y, np.minimum(middle, np.maximum(most, 0)), literals)
        if value is None:
            return None
        enough = (middle > most) | (value >= least)
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return np.asarray(np.where(high > most, n_rows + 1, np.maximum(high, minimum)))


def _just_below(value: float) -> float:
    return value - TINY * max(1.0, abs(value)) if isfinite(value) else value


def needed_by_any(measure: str | Measure, n_rows: int, minimum: int, least: float) -> int:
    """The least number of right rows with which a rule with any head can be worth so much."""
    if not isinstance(measure, str) or minimum > n_rows:
        return minimum
    both = np.arange(minimum, n_rows + 1)
    # The rarer a head, the more is a rule worth that is never wrong; it is in those rows at least.
    most = np.maximum.accumulate(INTERESTS[measure](both, both, both, n_rows))
    return minimum + int(np.searchsorted(most, _just_below(least)))
