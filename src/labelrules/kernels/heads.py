"""Heads: of many bodies at once from their tallies, and of one body by branch and bound.

A tally has, per body and label, the covered ones and zeros among open cells, and per label all of
them. Each literal is scored, and the scores decide the head.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Floats, Integers
from labelrules.kernels.jit import inner, kernel, tested
from labelrules.kernels.scoring import confusion_of, formula_value

TINY = 1e-12
"""Scores that differ by less are equal, so that rounding does not decide between heads."""


def score_tallies(scoring, inside_1, inside_0, ones, zeros):
    """The scores of predicting absence (0) and presence (1): bodies by values by labels."""
    n_bodies, n_labels = inside_1.shape
    scores = np.empty((n_bodies, 2, n_labels))
    for body in range(n_bodies):
        for value in range(2):
            for label in range(n_labels):
                tp, fp, tn, fn = confusion_of(
                    value, scoring.head_relative, inside_1[body, label], inside_0[body, label],
                    ones[label], zeros[label],
                )  # fmt: skip
                prior = (tp + fn) / max(ones[label] + zeros[label], 1)
                scores[body, value, label] = formula_value(tp, fp, tn, fn, prior, scoring)
    return scores


@kernel
def merge_singles(scores, absence, single, heads):
    """Partial predictions: all literals of the best score, or the first; returns the score."""
    n_bodies, _, n_labels = scores.shape
    values = np.empty(n_bodies)
    for body in range(n_bodies):
        absent, present = scores[body, 0], scores[body, 1]
        best = max(present.max(), absent.max()) if absence else present.max()
        near = best - TINY * abs(best)
        values[body] = best
        heads[body, :] = UNSET
        # A single label is present if any may be, so look for presences first.
        presence = not single or (present >= near).any()
        for label in range(n_labels):
            if presence and present[label] >= near:
                heads[body, label] = 1
            elif absence and absent[label] >= near and not (single and presence):
                heads[body, label] = 0
            else:
                continue
            if single:
                break
    return values


@inner
def _forced(gains, least, absence):
    """The label that must be present because no label gains by it and some label has to be."""
    top = gains.max()
    if absence or top >= least:
        return -1
    for label in range(len(gains)):
        if gains[label] >= top + least:
            return label
    return -1


@kernel
def vote(scores, absence, heads):
    """Full predictions: each label as it scores better; returns the mean of the scores."""
    n_bodies, _, n_labels = scores.shape
    values = np.zeros(n_bodies)
    for body in range(n_bodies):
        absent, present = scores[body, 0], scores[body, 1]
        gains = present - absent
        least = -TINY * max(np.abs(present).max(), np.abs(absent).max())
        forced = _forced(gains, least, absence)
        for label in range(n_labels):
            if gains[label] >= least or label == forced:
                heads[body, label] = 1
                values[body] += present[label]
            else:
                heads[body, label] = 0 if absence else UNSET
                values[body] += absent[label]
        values[body] /= n_labels
    return values


@kernel
def dinkelbach(upper, lower, absence, heads):
    """Choose full predictions to the greatest ratio of two sums, values by bodies by labels."""
    _, n_bodies, n_labels = upper.shape
    values = np.zeros(n_bodies)
    gains = np.empty(n_labels)
    for body in range(n_bodies):
        theta, rising = 0.0, True
        least = -TINY * upper[:, body].max()
        while rising:
            for label in range(n_labels):
                rise = upper[1, body, label] - upper[0, body, label]
                gains[label] = rise - theta * (lower[1, body, label] - lower[0, body, label])
            forced = _forced(gains, least, absence)
            top = whole = 0.0
            for label in range(n_labels):
                value = 1 if gains[label] >= least or label == forced else 0
                top += upper[value, body, label]
                whole += lower[value, body, label]
            rising = top > theta * whole * (1 + TINY)
            if rising:
                theta = top / whole
            # The last choice is as good as the one before and settles ties, unless it is 0/0.
            if rising or theta == 0.0 or whole > 0.0:
                for label in range(n_labels):
                    present = gains[label] >= least or label == forced
                    heads[body, label] = 1 if present else (0 if absence else UNSET)
        values[body] = theta
    return values


# The general search for example-based measures: any formula, board, limit and size bonus. It
# decides label after label. The value of a row is a table of its right and wrong cells, and its
# value if all undecided labels turned out right is a bound.

ABSENT, PRESENT, SILENT = 0, 1, 2


class DistinctRows(NamedTuple):
    """Different rows, how often each occurs, and what each choice does to their cells."""

    effect: npt.NDArray[np.int8]
    """Choices by labels by rows: 1 makes a cell right, -1 wrong, 0 leaves it uncounted."""
    weight: Floats
    """How much each row counts in the mean."""
    table: Integers
    """Which of the two tables values a row: 0 if the body covers it, 1 if not."""


class HeadSpace(NamedTuple):
    """The heads there are and what their rows are worth."""

    choices: npt.NDArray[np.int8]
    """The choices for a label."""
    full: bool
    """Whether the size of a head is its presences rather than all its labels."""
    smallest: int
    largest: int
    factors: Floats
    """The size bonus."""
    worth: Floats
    """Table by right by wrong cells."""
    reach: Floats
    """The greatest worth with at least as many right and wrong cells, or `worth` itself."""
    rises: bool
    """Whether right cells never harm and wrong ones never help; then `reach` is `worth`."""


@inner
def _counts_in_size(choice, full):
    return int(choice == PRESENT) if full else int(choice != SILENT)


@inner
def _size(head, full):
    size = 0
    for choice in head:
        size += _counts_in_size(choice, full)
    return size


@tested
def _preferred(head, other):
    """The tie rule of heads, see `search.heads.problem.preference`."""
    size = present = first = 0
    for label in range(len(head)):
        a, b = head[label], other[label]
        size += int(a != SILENT) - int(b != SILENT)
        present += int(a == PRESENT) - int(b == PRESENT)
        if first == 0 and a != b:
            # Present before absent before silent.
            first = 1 if a == PRESENT or (a == ABSENT and b == SILENT) else -1
    if size != 0:
        return size > 0
    if present != 0:
        return present > 0
    return first > 0


@kernel
def head_value(head, rows, space):
    """The value of a head with its size bonus."""
    n_labels, n_rows = rows.effect.shape[1], rows.effect.shape[2]
    total = 0.0
    for row in range(n_rows):
        right = wrong = 0
        for label in range(n_labels):
            effect = rows.effect[head[label], label, row]
            right += effect == 1
            wrong += effect == -1
        total += rows.weight[row] * space.worth[rows.table[row], right, wrong]
    return total * space.factors[_size(head, space.full)]


@kernel
def climb(head, rows, space):
    """Change one label at a time as long as the head gets better; returns its value."""
    best = head_value(head, rows, space)
    size, improved = _size(head, space.full), True
    while improved:
        improved = False
        for label in range(len(head)):
            for choice in space.choices:
                old = head[label]
                new_size = size + _counts_in_size(choice, space.full)
                new_size -= _counts_in_size(old, space.full)
                if choice == old or new_size < space.smallest or new_size > space.largest:
                    continue
                head[label] = choice
                value = head_value(head, rows, space)
                if value > best + TINY:
                    best, size, improved = value, new_size, True
                else:
                    head[label] = old
    return best


@inner
def _bound(depth, size, right, wrong, left, rows, space):
    """No head that begins as decided so far is worth more than this."""
    n_labels = rows.effect.shape[1]
    room = n_labels - depth if space.full else min(n_labels - depth, space.largest - size)
    total = 0.0
    for row in range(rows.effect.shape[2]):
        r, w, table = right[depth, row], wrong[depth, row], rows.table[row]
        if space.rises:
            total += rows.weight[row] * space.worth[table, r + min(left[depth, row], room), w]
        else:
            total += rows.weight[row] * space.reach[table, r, w]
    factor = 0.0
    for k in range(max(size, space.smallest), min(size + n_labels - depth, space.largest) + 1):
        factor = max(factor, space.factors[k])
    # Negative values (some heuristics) shrink by the smallest factor; be generous.
    return total * factor if total > 0 else 0.0


@kernel
def search_heads(rows, space, best_head, max_nodes):
    """Improve `best_head` to the best head; returns its value, the bound left open, and nodes.

    The bound is that of the best head not visited within `max_nodes`, minus infinity if none.
    """
    _, n_labels, n_rows = rows.effect.shape
    right = np.zeros((n_labels + 1, n_rows), np.int32)
    wrong = np.zeros((n_labels + 1, n_rows), np.int32)
    left = np.zeros((n_labels + 1, n_rows), np.int32)
    for label in range(n_labels - 1, -1, -1):
        for row in range(n_rows):
            can = False
            for choice in space.choices:
                can |= rows.effect[choice, label, row] == 1
            left[label, row] = left[label + 1, row] + can
    head = np.empty(n_labels, np.int8)
    tried = np.zeros(n_labels + 1, np.int64)
    sizes = np.zeros(n_labels + 1, np.int64)
    best = head_value(best_head, rows, space)
    nodes, depth, missed = 0, 0, -np.inf
    while depth >= 0:
        if depth == n_labels:
            value = head_value(head, rows, space)
            if value > best + TINY or (value > best - TINY and _preferred(head, best_head)):
                best = max(best, value)
                for label in range(n_labels):
                    best_head[label] = head[label]
            depth -= 1
            continue
        if tried[depth] == len(space.choices):
            tried[depth] = 0
            depth -= 1
            continue
        choice = space.choices[tried[depth]]
        tried[depth] += 1
        size = sizes[depth] + _counts_in_size(choice, space.full)
        if size > space.largest or size + n_labels - depth - 1 < space.smallest:
            continue
        head[depth] = choice
        for row in range(n_rows):
            effect = rows.effect[choice, depth, row]
            right[depth + 1, row] = right[depth, row] + (effect == 1)
            wrong[depth + 1, row] = wrong[depth, row] + (effect == -1)
        sizes[depth + 1] = size
        bound = _bound(depth + 1, size, right, wrong, left, rows, space)
        if bound < best - TINY:
            continue
        if bound <= best + TINY:
            # At most a tie: go on only if all labels left, present, would make it preferred.
            head[depth + 1 :] = PRESENT
            if not _preferred(head, best_head):
                continue
        nodes += 1
        if nodes > max_nodes:
            missed = max(missed, bound)
            continue
        depth += 1
        tried[min(depth, n_labels)] = 0
    return best, missed, nodes
