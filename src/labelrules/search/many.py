"""The best heads of many bodies at once, for measures that tallies determine."""

from typing import NamedTuple

import numpy as np

from labelrules._types import Board, Floats, Integers
from labelrules.measures import Formula, Measure, Tally, confusion
from labelrules.search.fractional import RATIOS, parts_of
from labelrules.search.problem import RuleConvention
from labelrules.search.separable import unit_values


class HeadsFound(NamedTuple):
    """For each body: the best head, its value, and how many cells it gets right."""

    vectors: Board
    values: Floats
    correct: Integers


def tallies_decide(measure: Measure, *, whole_rows: bool = True) -> bool:
    """Whether the best head follows from counts per label.

    `whole_rows` tells whether each row counts with all its labels or with none.
    """
    name = measure.formula.name
    if measure.averaging == "example":
        return whole_rows and name in ("precision", "hamming")
    return measure.averaging != "micro" or name in RATIOS


def best_heads(
    counted: Tally,
    n_rows: int,
    measure: Measure | str,
    *,
    convention: RuleConvention = "chapter",
    absence: bool = True,
    single: bool = False,
) -> HeadsFound:
    """The best head of every body.

    The same heads as :func:`labelrules.search.best_head` finds one by one, except that literals
    which add nothing to a ratio (0/0) are left out: a rule has nothing to say there.

    Parameters
    ----------
    counted : Tally
        Covered ones and zeros, bodies by labels; all ones and zeros, per label. Open cells only.
    n_rows : int
        All rows, covered or not, for means over rows.
    measure : Measure or str
        One that tallies decide; see :func:`tallies_decide`.
    convention, absence
        As for :func:`labelrules.search.best_head`.
    single : bool, default=False
        Whether heads have one label only (partial predictions).

    Examples
    --------
    >>> import numpy as np
    >>> from labelrules.measures import Tally
    >>> ones, zeros = [[3, 0], [1, 1]], [[1, 4], [0, 0]]
    >>> counted = Tally(*(np.array(part) for part in (ones, zeros, [4, 1], [2, 5])))
    >>> found = best_heads(counted, 6, "precision/micro/partial")
    >>> found.vectors
    array([[-1,  0],
           [ 1,  1]], dtype=int8)
    >>> found.values, found.correct
    (array([1., 1.]), array([4, 2]))
    """
    from labelrules.kernels import heads as kernel
    from labelrules.kernels.compiled import compiled

    measure = Measure.parse(measure) if isinstance(measure, str) else measure
    if not tallies_decide(measure):
        raise ValueError(f"{measure} needs whole rows, not counts per label: use best_head")
    if single and measure.predictions == "full":
        raise ValueError("a full prediction says something of every label: leave out single")
    inside_1, inside_0 = (np.atleast_2d(part) for part in counted[:2])
    relative = convention == "head-relative"
    vectors = np.empty(inside_1.shape, np.int8)
    linear, weights = _linear(measure, n_rows)
    score = compiled(measure.formula)
    counts = (inside_1, inside_0, counted.ones, counted.zeros, vectors)
    if measure.predictions == "partial":
        found = kernel.merge_singles(score, linear, weights, absence, single, relative, *counts)
    elif measure.averaging != "micro":
        found = kernel.vote(score, linear, weights, False, absence, relative, *counts)
    elif relative and measure.formula.name in ("recall", "f"):
        upper, lower = _parts(measure.formula, Tally(inside_1, inside_0, *counted[2:]))
        found = kernel.dinkelbach(upper, lower, absence, inside_1, inside_0, vectors)
    else:
        # The summed counts rise with the right cells, so each label votes by these.
        right = np.array([1.0, 0.0, float(measure.formula.name == "hamming"), 0.0, 0.0])
        found = kernel.vote(score, True, right, True, absence, relative, *counts)
    return HeadsFound(vectors, *found)


def _linear(measure: Measure, n_rows: int) -> tuple[bool, Floats]:
    """Weights of the four counts where the value is their sum, not a formula of them."""
    weights = np.zeros(5)
    if measure.averaging == "macro":
        *each, empty = unit_values(measure.formula)
        weights[:4] = (np.array(each) - empty) / n_rows
        weights[4] = empty
    elif measure.averaging == "example":
        weights[0] = 1 / n_rows
        weights[2] = (measure.formula.name == "hamming") / n_rows
    return measure.averaging in ("macro", "example"), weights


def _parts(formula: Formula, counted: Tally) -> tuple[Floats, Floats]:
    matrices = confusion(counted, 0, "head-relative"), confusion(counted, 1, "head-relative")
    upper, lower = parts_of(formula, matrices)
    return upper.astype(np.float64), lower.astype(np.float64)
