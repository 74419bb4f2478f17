"""Apply rules to many rows, 64 at a time; see README.md, "Packed bits".

Rows are taken in slabs of `SLAB` words, so that all data of a slab stays in the processor's cache.
An *atom* (a condition on a feature, shared by all rules that test it) becomes a few words when it
is first tested. A rule is then a handful of ANDs.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers
from labelrules.kernels.jit import inner, kernel, looped, tiny

SLAB = 64
"""Words in a slab: 4,096 rows."""

AT_MOST, ABOVE, EQUALS, DIFFERS, AMONG = 0, 1, 2, 3, 4
"""The operators of atoms, as `RuleTable` numbers them."""


class EncodedFeatures(NamedTuple):
    """Encoded features, dense or sparse; the arrays of the other kind are empty."""

    is_sparse: bool
    dense: npt.NDArray[np.float64]
    indptr: Integers
    indices: npt.NDArray[np.int32]
    data: npt.NDArray[np.float64]


class FlatRules(NamedTuple):
    """Rules as flat arrays: rule r owns the entries from start[r] to start[r + 1].

    Likewise label set s of a rule set, from `set_start[s]` to `set_start[s + 1]`. An atom a that
    tests for a set of categories says for each category, up to the last in the set, whether it is a
    member, from `member_start[a]` to `member_start[a + 1]`.
    """

    column: Integers
    operator: npt.NDArray[np.int8]
    value: npt.NDArray[np.float64]
    member_start: Integers
    member: npt.NDArray[np.bool_]
    atom_start: Integers
    atom: Integers
    look_start: Integers
    look_label: Integers
    look_value: npt.NDArray[np.int8]
    head_start: Integers
    head_label: Integers
    head_value: npt.NDArray[np.int8]
    head_votes: npt.NDArray[np.int32]
    stops: npt.NDArray[np.bool_]
    set_start: Integers
    set_label: Integers
    bonus: Integers
    at_least_one: bool


_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@tiny
def _satisfies(operator, x, value):
    if operator == AT_MOST:
        return x <= value
    if operator == ABOVE:
        return x > value
    if operator == EQUALS:
        return x == value
    # NaN differs from everything, itself included, but a missing value satisfies nothing.
    return x != value and x == x


@inner
def _first_at(rows, first):
    """Where the entries of a column reach a row; NumPy's search takes longer to compile."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < first:
            low = middle + 1
        else:
            high = middle
    return low


@looped
def _fill_dense(words, column, operator, value, first, n_rows):
    words[:] = _NONE
    for row in range(n_rows):
        if _satisfies(operator, column[first + row], value):
            words[row >> 6] |= _ONE << np.uint64(row & 63)


@looped
def _fill_sparse(words, rows, values, operator, value, first, n_rows):
    """Entries that are not stored are zero: start from what zero answers, then correct."""
    # So the loop runs over stored entries, not over rows.
    zero = _satisfies(operator, 0.0, value)
    words[:] = _ALL if zero else _NONE
    for entry in range(_first_at(rows, first), len(rows)):
        row = rows[entry] - first
        if row >= n_rows:
            break
        if _satisfies(operator, values[entry], value) != zero:
            words[row >> 6] ^= _ONE << np.uint64(row & 63)


@inner
def _pack(board, first, n_rows, written, present):
    written[:] = _NONE
    present[:] = _NONE
    for row in range(n_rows):
        bit = _ONE << np.uint64(row & 63)
        for label in range(board.shape[1]):
            cell = board[first + row, label]
            if cell >= 0:
                written[label, row >> 6] |= bit
            if cell == 1:
                present[label, row >> 6] |= bit


@inner
def _unpack(board, first, n_rows, written, present):
    for row in range(n_rows):
        shift = np.uint64(row & 63)
        for label in range(board.shape[1]):
            if (written[label, row >> 6] >> shift) & _ONE:
                board[first + row, label] = (present[label, row >> 6] >> shift) & _ONE


@inner
def _mark(target, word, first, number):
    """Note the rule's number for each row whose bit is set."""
    for bit in range(64):
        if (word >> np.uint64(bit)) & _ONE:
            target[first + bit] = number


@tiny
def _is_member(x, member):
    # NaN is not below any number, so a missing value is in no set.
    return x < len(member) and member[int(x)]


@looped
def _fill_dense_set(words, column, member, first, n_rows):
    words[:] = _NONE
    for row in range(n_rows):
        if _is_member(column[first + row], member):
            words[row >> 6] |= _ONE << np.uint64(row & 63)


@looped
def _fill_sparse_set(words, rows, values, member, first, n_rows):
    zero = member[0]
    words[:] = _ALL if zero else _NONE
    for entry in range(_first_at(rows, first), len(rows)):
        row = rows[entry] - first
        if row >= n_rows:
            break
        if _is_member(values[entry], member) != zero:
            words[row >> 6] ^= _ONE << np.uint64(row & 63)


@inner
def _fill(words, atom, rules, columns, first, n_rows):
    j, operator, value = rules.column[atom], rules.operator[atom], rules.value[atom]
    member = rules.member[rules.member_start[atom] : rules.member_start[atom + 1]]
    if columns.is_sparse:
        start, stop = columns.indptr[j], columns.indptr[j + 1]
        rows, values = columns.indices[start:stop], columns.data[start:stop]
        if operator == AMONG:
            _fill_sparse_set(words, rows, values, member, first, n_rows)
        else:
            _fill_sparse(words, rows, values, operator, value, first, n_rows)
    elif operator == AMONG:
        _fill_dense_set(words, columns.dense[:, j], member, first, n_rows)
    else:
        _fill_dense(words, columns.dense[:, j], operator, value, first, n_rows)


@inner
def _cover(covered, r, rules, columns, words, filled, written, present, first, n_rows):
    """Narrow the rows down to those that satisfy the body of rule r."""
    for i in range(rules.look_start[r], rules.look_start[r + 1]):
        label, wanted = rules.look_label[i], rules.look_value[i]
        for word in range(len(covered)):
            shown = present[label, word]
            # An unset label satisfies neither: absent is written and not present.
            covered[word] &= shown if wanted else written[label, word] & ~shown
    _cover_by_features(covered, r, rules, columns, words, filled, first, n_rows)


@inner
def _cover_by_features(covered, r, rules, columns, words, filled, first, n_rows):
    """Narrow the rows down to those that satisfy the conditions on features of rule r."""
    for i in range(rules.atom_start[r], rules.atom_start[r + 1]):
        # An atom that no rule needs in this slab is never filled.
        if not _any(covered):
            return
        atom = rules.atom[i]
        if not filled[atom]:
            filled[atom] = True
            _fill(words[atom], atom, rules, columns, first, n_rows)
        for word in range(len(covered)):
            covered[word] &= words[atom, word]


@inner
def _any(words):
    for word in words:
        if word != _NONE:
            return True
    return False


@inner
def _can_write(covered, r, rules, written):
    """Leave out rows in which every label of the head is written already."""
    for word in range(len(covered)):
        still_open = _NONE
        for i in range(rules.head_start[r], rules.head_start[r + 1]):
            still_open |= ~written[rules.head_label[i], word]
        covered[word] &= still_open


@inner
def _write(covered, r, rules, written, present, first, writer):
    for i in range(rules.head_start[r], rules.head_start[r + 1]):
        label = rules.head_label[i]
        for word in range(len(covered)):
            new = covered[word] & ~written[label, word]
            if new:
                written[label, word] |= new
                if rules.head_value[i]:
                    present[label, word] |= new
                if len(writer):
                    _mark(writer[:, label], new, first + 64 * word, r)


@inner
def _rows_of(active, n_rows):
    """One bit for each row of the slab that exists."""
    active[:] = _NONE
    for row in range(n_rows):
        active[row >> 6] |= _ONE << np.uint64(row & 63)


@kernel
def run_list(rules, columns, board, fresh, reads, writer, stopped):
    """Apply rules in order to a board, in place; `fresh`: nothing is written on it yet.

    `reads` is a second board for label conditions, or has no rows. `writer` (cells) and `stopped`
    (rows) receive the numbers of rules, unless they have no rows.
    """
    n_total, n_labels = board.shape
    words = np.empty((len(rules.column), SLAB), np.uint64)
    filled = np.empty(len(rules.column), np.bool_)
    planes = np.empty((4, n_labels, SLAB), np.uint64)
    written, present = planes[0], planes[1]
    layered = len(reads) > 0
    seen_written, seen_present = (planes[2], planes[3]) if layered else (written, present)
    active = np.empty(SLAB, np.uint64)
    covered = np.empty(SLAB, np.uint64)
    for first in range(0, n_total, 64 * SLAB):
        n_rows = min(64 * SLAB, n_total - first)
        filled[:] = False
        _rows_of(active, n_rows)
        written[:] = _NONE
        present[:] = _NONE
        if not fresh:
            _pack(board, first, n_rows, written, present)
        if layered:
            _pack(reads, first, n_rows, seen_written, seen_present)
        for r in range(len(rules.stops)):
            for word in range(SLAB):  # a slice would bring the making of its messages along
                covered[word] = active[word]
            # A rule that stops must see every row it covers, written or not.
            if not rules.stops[r]:
                _can_write(covered, r, rules, written)
            _cover(
                covered, r, rules, columns, words, filled, seen_written, seen_present, first, n_rows
            )
            _write(covered, r, rules, written, present, first, writer)
            if rules.stops[r]:
                for word in range(SLAB):
                    active[word] &= ~covered[word]
                    if len(stopped):
                        _mark(stopped, covered[word], first + 64 * word, r)
                if not _any(active):
                    break
        _unpack(board, first, n_rows, written, present)


@kernel
def run_set(rules, columns, board, reads, margins):
    """Let rules vote on the open cells of a board, in place; see `run_list`.

    `margins`, votes for presence less those for absence, is filled unless it has no rows.
    """
    n_total, n_labels = board.shape
    words = np.empty((len(rules.column), SLAB), np.uint64)
    filled = np.empty(len(rules.column), np.bool_)
    planes = np.empty((2, n_labels, SLAB), np.uint64)
    votes = np.empty((2, n_labels, 64 * SLAB), np.int32)
    active = np.empty(SLAB, np.uint64)
    covered = np.empty(SLAB, np.uint64)
    by_row = len(rules.bonus) > 0 or rules.at_least_one
    for first in range(0, n_total, 64 * SLAB):
        n_rows = min(64 * SLAB, n_total - first)
        filled[:] = False
        votes[:] = 0
        _rows_of(active, n_rows)
        _pack(reads if len(reads) else board, first, n_rows, planes[0], planes[1])
        for r in range(len(rules.stops)):
            for word in range(SLAB):
                covered[word] = active[word]
            _cover(covered, r, rules, columns, words, filled, planes[0], planes[1], first, n_rows)
            for i in range(rules.head_start[r], rules.head_start[r + 1]):
                _count(
                    covered, rules.head_votes[i], votes[rules.head_value[i], rules.head_label[i]]
                )
        if by_row:
            _decide_rows(board, first, n_rows, votes, rules)
        else:
            _decide(board, first, n_rows, votes)
        if len(margins):
            _subtract(margins, first, n_rows, votes)


@inner
def _count(covered, number, votes):
    for word in range(len(covered)):
        if covered[word]:
            for bit in range(64):
                if (covered[word] >> np.uint64(bit)) & _ONE:
                    votes[64 * word + bit] += number


@inner
def _subtract(margins, first, n_rows, votes):
    for row in range(n_rows):
        for label in range(margins.shape[1]):
            margins[first + row, label] = votes[1, label, row] - votes[0, label, row]


@inner
def _decide(board, first, n_rows, votes):
    for row in range(n_rows):
        for label in range(board.shape[1]):
            absent, present = votes[0, label, row], votes[1, label, row]
            if board[first + row, label] < 0 and absent + present > 0:
                board[first + row, label] = present > absent


@inner
def _decide_rows(board, first, n_rows, votes, rules):
    """Decide the labels of a row together: by their points, or a usual label set."""
    n_labels = board.shape[1]
    points = np.empty(n_labels, np.int64)
    chosen = np.empty(n_labels, np.int8)
    for row in range(n_rows):
        for label in range(n_labels):
            points[label] = votes[1, label, row] - votes[0, label, row]
        best = _alone(points, rules.at_least_one, chosen)
        winner = _best_set(points, best, rules)
        if winner >= 0:
            chosen[:] = 0
            for i in range(rules.set_start[winner], rules.set_start[winner + 1]):
                chosen[rules.set_label[i]] = 1
        for label in range(n_labels):
            if board[first + row, label] < 0:
                board[first + row, label] = chosen[label]


@inner
def _alone(points, at_least_one, chosen):
    """Choose labels by their own points; return the sum of these."""
    best, top = 0, 0
    for label in range(len(points)):
        chosen[label] = points[label] > 0
        best += max(points[label], 0)
        if points[label] > points[top]:
            top = label
    if best == 0 and at_least_one and len(points):
        chosen[top] = 1
        best = points[top]
    return best


@inner
def _best_set(points, best, rules):
    """The first label set with the most points, if these are no fewer than `best`; else -1."""
    winner = -1
    for s in range(len(rules.bonus)):
        total = rules.bonus[s]
        for i in range(rules.set_start[s], rules.set_start[s + 1]):
            total += points[rules.set_label[i]]
        # Equal points: a label set before the labels without it, and the first of label sets.
        if total > best or (total == best and winner < 0):
            winner, best = s, total
    return winner


@kernel
def count_outcomes(truth, predicted, by_label, by_row):
    """Count true and false positives and negatives, where the truth is known.

    `by_label` (labels by four) has the counts added to it, `by_row` (rows by four) is filled.
    """
    for row in range(truth.shape[0]):
        tp = fp = tn = fn = 0
        for label in range(truth.shape[1]):
            true = truth[row, label]
            if true < 0:
                continue
            if predicted[row, label] == 1:
                if true == 1:
                    tp += 1
                    by_label[label, 0] += 1
                else:
                    fp += 1
                    by_label[label, 1] += 1
            elif true == 0:
                tn += 1
                by_label[label, 2] += 1
            else:
                fn += 1
                by_label[label, 3] += 1
        by_row[row, 0], by_row[row, 1], by_row[row, 2], by_row[row, 3] = tp, fp, tn, fn
