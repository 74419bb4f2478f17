"""A label for rows in which a classifier finds none."""

from numbers import Real
from typing import Any

import numpy as np

from labelrules._types import Board, Floats
from labelrules.data import Dataset
from labelrules.learners.covering import SeparateAndConquer
from labelrules.learners.ground import Ground
from labelrules.learners.lastresort import LastResort, is_mostly_present
from labelrules.learners.settings import checked_settings
from labelrules.rules import DecisionList, Rule
from labelrules.search.columns import Columns


def checked_last_resort(least: Any) -> float | None:
    """How probable a label must be, from 0 to 1; None if none shall be guessed."""
    if least is None:
        return None
    is_number = isinstance(least, Real) and not isinstance(least, bool)
    if not (is_number and 0 <= float(least) <= 1):
        raise ValueError(f"last_resort must be a number from 0 to 1, or None, not {least!r}")
    return float(least)


def fallback_rules(data: Dataset, predicted: Board, least: float) -> DecisionList | None:
    """Rules that guess a label for rows in which none was predicted; None if no guess is good.

    As the covering learner makes them, see `SeparateAndConquer`; not where some label is present
    in most rows.
    """
    if is_mostly_present(data.Y.T):
        return None
    ground = Ground(data, "append")
    ground.board[predicted.T == 1] = 1
    settings = checked_settings(SeparateAndConquer(), data.schema)
    resort = LastResort(data, ground, Columns.of(data), settings, least, is_late=lambda: False)
    rules = [Rule(head, grown.body) for head, grown in resort.guesses()]
    return DecisionList(data.schema, rules) if rules else None


def likeliest(labels: Board, presence: Floats, least: float) -> Board:
    """The labels, with the likeliest one in rows that have none if it is probable enough."""
    bare = ~(labels == 1).any(axis=1)
    best = presence.argmax(axis=1)
    sure = bare & (presence.max(axis=1, initial=0.0) > least)
    found = labels.copy()
    found[sure, best[sure]] = 1
    return np.asarray(found)
