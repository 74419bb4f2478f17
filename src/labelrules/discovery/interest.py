"""How interesting an association is, by four counts.

`both` rows have the body and the head, `body` and `head` have the one and the other, of `n_rows`.
All of these rise with the rows in which the rule is right and fall with those in which it is
wrong, so that no longer body can exceed a rule that is never wrong.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from labelrules._arithmetic import ratio
from labelrules._types import Floats, Integers

Interest: TypeAlias = Callable[[Any, Any, Any, int], Any]


def support(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of all rows that have body and head."""
    return np.asarray(ratio(both, n_rows))


def confidence(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of the covered rows in which every label of the head is right."""
    return np.asarray(ratio(both, body))


def lift(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """How many times more frequent the head is on covered rows than on all."""
    return np.asarray(ratio(both * float(n_rows), body * head))


def leverage(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of the rows with body and head beyond what chance would give."""
    return np.asarray(ratio(both * float(n_rows) - body * head, float(n_rows) ** 2))


def conviction(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """How many times more often the rule would be wrong by chance; infinite if it never is."""
    by_chance = body * (n_rows - head) / max(1, n_rows)
    wrong = body - both
    never = (wrong == 0) & (by_chance > 0)
    return np.where(never, np.inf, ratio(by_chance, wrong))


def chi_square(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Statistic of the two-by-two table; negative where the head is rarer on covered rows."""
    excess = both * float(n_rows) - body * head
    spread = (1.0 * body * (n_rows - body)) * (head * (n_rows - head))
    return np.asarray(np.sign(excess) * ratio(n_rows * excess**2, spread))


INTERESTS: dict[str, Interest] = {
    "support": support,
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": conviction,
    "chi-square": chi_square,
}
