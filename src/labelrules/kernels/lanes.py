"""The next rules of one label, learned one after another without coming back in between.

Like `labelrules.kernels.refine`, compiled once per formula.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Integers
from labelrules.kernels.description import UNTOLD
from labelrules.kernels.growth import Steps, _apply, _rows_of, grow_body
from labelrules.kernels.refine import _encode, best_of_target
from labelrules.kernels.scoring import (
    NO,
    NOTHING,
    SECOND_PLACE,
    cells_of,
    ones_of,
    score_rank,
)


class Ahead(NamedTuple):
    """Rules of one label, in the order in which they are found.

    For each the rank and the right cells of the empty body at its time, those of the first
    condition with its column and place, and those of the whole rule; its conditions, and how many
    of the covered ``rows`` are its own. A rank of `NOTHING` says that there is no rule.
    """

    alone_ranks: Integers
    alone_corrects: Integers
    first_ranks: Integers
    first_corrects: Integers
    columns: Integers
    places: Integers
    ranks: Integers
    corrects: Integers
    n_steps: Integers
    n_covered: Integers
    steps: Steps
    rows: npt.NDArray[np.int32]


@njit
def _write(cells, covered, rows, end):
    """Let covered cells no longer count, and tell the rows."""
    for row in range(len(covered)):
        if covered[row]:
            rows[end] = row
            cells[row] = False
            end += 1
    return end


@njit
def _first_step(listing, nominal, column, place, everyone, covered, steps):
    """Apply the first condition, and note it."""
    is_rest = len(everyone) > listing.stop[column] - listing.start[column]
    is_nominal = nominal[column] > 0
    below, above = _apply(listing, column, is_rest, is_nominal, place, everyone, covered)
    second = place >= SECOND_PLACE if is_nominal else place % 2 == 1
    steps.columns[0], steps.seconds[0], steps.below[0], steps.above[0] = (
        column, second, below, above,
    )  # fmt: skip


def next_rules(table, operators, cells, label, value, gain, room, limited, way, ahead, n_rules):
    """Find so many rules, each on the cells that the last one left.

    `operators` are those of first conditions; bodies have `room` conditions at most, which is a
    limit or a guess. Returns how many rules were found, and whether there was not enough room for
    the conditions of the next one; its cells are left as they are.
    """
    space, counted = table.space, cells.counted[0, label]
    n_rows, n_columns = cells.truth.shape[1], space.nominal.size
    codes, covered = np.empty(n_rows, np.uint8), np.empty(n_rows, np.bool_)
    everyone, nowhere = np.arange(n_rows), np.empty(0, np.int32)
    end = 0
    for i in range(n_rules):
        everywhere = _encode(cells.truth[label], counted, codes)
        ones = ones_of(everywhere)
        ahead.alone_ranks[i] = score_rank(value, everywhere, everywhere, way)
        ahead.alone_corrects[i] = ones if value else cells_of(everywhere) - ones
        top, most, column, place = best_of_target(
            space, NO, n_columns, codes, everywhere, everywhere, n_rows, (1 << value, operators),
            (NOTHING, -1.0), way, nowhere,
        )  # fmt: skip
        ahead.first_ranks[i], ahead.first_corrects[i] = top, most
        ahead.columns[i], ahead.places[i] = column, place
        ahead.n_steps[i], ahead.n_covered[i] = 0, 0
        if column < 0:
            ahead.ranks[i] = NOTHING
            return i + 1, False
        all_steps = ahead.steps
        steps = Steps(
            all_steps.columns[i], all_steps.seconds[i], all_steps.below[i], all_steps.above[i]
        )
        _first_step(space.listing, space.nominal, column, place, everyone, covered, steps)
        rows = _rows_of(everyone, covered)
        more = Steps(steps.columns[1:], steps.seconds[1:], steps.below[1:], steps.above[1:])
        n_more, rank, right = grow_body(
            table, cells, label, value, rows, covered, 1, (top, np.int64(most)), gain, UNTOLD,
            room - 1, way, more,
        )  # fmt: skip
        if n_more == room - 1 and not limited:
            return i, True
        n_covered = np.count_nonzero(covered)
        if end + n_covered > len(ahead.rows):
            return i, False
        ahead.ranks[i], ahead.corrects[i], ahead.n_steps[i] = rank, right, n_more + 1
        ahead.n_covered[i] = n_covered
        end = _write(counted, covered, ahead.rows, end)
    return n_rules, False
