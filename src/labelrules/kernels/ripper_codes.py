"""RIPPER on columns cut into bins: bodies grown by FOIL's gain from counts of codes."""

import numpy as np

from labelrules.kernels.covering.tables import add_rows
from labelrules.kernels.jit import inner, kernel, tiny
from labelrules.kernels.ripper import PRESENT, gain_of, information


@inner
def _scan_codes(cells, nominal, inside, unit, logs, best, most):
    """The best refinement by one column from the sums of its codes, if it exceeds the best so far.

    Returns the gain, the positive rows, the code and whether it is the second operator.
    """
    n_positive, n_rows = inside & PRESENT, inside >> 32
    is_plain = len(logs) > 1
    base = logs[n_positive + 1] - logs[n_rows + 1] if is_plain else information(inside, unit)
    total, below, found, side = np.int64(0), np.int64(0), -1, 0
    for cell in cells:
        total += cell
    for code in range(len(cells)):
        below = cells[code] if nominal else below + cells[code]
        for second in range(1 if nominal else 2):
            count = total - below if second else below
            p, t = count & PRESENT, count >> 32
            # A cut without a value on the other side only tests whether one is missing.
            if p == 0 or (not nominal and t == total >> 32):
                continue
            gain = (
                gain_of(p, t, logs, base)
                if is_plain
                else (unit * p * (information(count, unit) - base))
            )
            if gain > best or (gain == best > 0 and p > most):
                best, most, found, side = gain, p, code, second
    return best, most, found, side


@inner
def _best_cut(table, start, nominal, inside, unit, least, logs):
    """The best refinement from the sums of all codes: its column (-1 if none), operator and code.

    The code of the second operator is the one before the least that is left.
    """
    best, most, column, at, side = 0.0, np.int64(0), -1, -1, 0
    for one in range(len(nominal)):
        cells = table[start[one] : start[one + 1] - 1]  # the last is that of missing values
        best, most, found, second = _scan_codes(
            cells, nominal[one] > 0, inside, unit, logs, best, most
        )
        if found >= 0:
            column, at, side = one, found, second
    if most < least:
        column = -1
    if column >= 0 and side:  # up to before the next code that occurs
        at += 1
        while table[start[column] + at] == 0:
            at += 1
        at -= 1
    return column, side, at


@kernel
def best_cut(table, start, nominal, inside, unit, least, logs):
    """The cut that `grow_on_codes` adds to rows with these sums; column -1 if there is none."""
    return _best_cut(table, start, nominal, inside, unit, least, logs)


@kernel
def grow_on_codes(codes, start, nominal, positive, counted, unit, covered, least, logs):
    """Grow cuts as `grow` does, on columns of codes: column, operator and code, three numbers.

    `logs` has one number where rows have weights.
    """
    rows, cuts, n_cuts = np.flatnonzero(covered).astype(np.int32), np.empty((16, 3), np.int64), 0
    sums = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        row = rows[i]
        sums[i] = np.int64(counted[row]) * ((np.int64(1) << 32) + np.int64(positive[row]))
    while True:
        inside = sums.sum()
        if (inside & PRESENT) >= (inside >> 32):
            break
        table = np.zeros(start[-1], np.int64)
        add_rows(codes, start, np.int64(0), np.int64(len(nominal)), rows, sums, table)
        column, side, at = _best_cut(table, start, nominal, inside, unit, least, logs)
        if column < 0:
            break
        if n_cuts == len(cuts):
            cuts = np.concatenate((cuts, np.empty_like(cuts)))
        cuts[n_cuts, 0], cuts[n_cuts, 1], cuts[n_cuts, 2] = column, side, at
        n_cuts += 1
        n_kept, missing = 0, start[column + 1] - start[column] - 1
        for i in range(len(rows)):
            holds = _holds(np.int64(codes[column, rows[i]]), nominal[column], side, at, missing)
            # In place and without a branch: what does not hold is written over.
            rows[n_kept], sums[n_kept] = rows[i], sums[i]
            n_kept += holds
        rows, sums = rows[:n_kept], sums[:n_kept]
    return cuts[:n_cuts].copy()


@tiny
def _holds(code, nominal, second, at, missing):
    if nominal:
        return code == at
    return (code > at if second else code <= at) and code != missing


@kernel
def covered_by_codes(codes, start, nominal, cuts, held, positive, counts):
    """The rows covered by no cut on codes, the first, the first two and so on, as `covered_by`."""
    covered = np.ones((len(cuts) + 1, len(held)), np.bool_)
    counts[:] = 0
    for k in range(len(cuts) + 1):
        if k > 0:
            column, second, at = cuts[k - 1]
            own, missing = codes[column], start[column + 1] - start[column] - 1
            for row in range(len(held)):
                holds = _holds(np.int64(own[row]), nominal[column], second, at, missing)
                covered[k, row] = covered[k - 1, row] and holds
        for row in range(len(held)):
            counts[0, k] += covered[k, row] & held[row]
            counts[1, k] += covered[k, row] & held[row] & positive[row]
    return covered
