"""The best heads of many bodies at once, from their tallies.

A tally has, per body and label, the covered ones and zeros among open cells, and per label all
of them. Each literal gets a score: of a compiled formula of its four counts or, with
`linear`, a weighted sum of them. What a body's head is made of these is all there is to do.
"""

import numpy as np
from numba import njit

from labelrules._types import UNSET


@njit(nogil=True)
def _matrix(value, head_relative, inside_1, inside_0, ones, zeros):
    """True and false positives, true and false negatives of saying a value."""
    right, wrong = (inside_1, inside_0) if value else (inside_0, inside_1)
    missed, rejected = ones - inside_1, zeros - inside_0
    if head_relative and not value:
        missed, rejected = rejected, missed
    return right, wrong, rejected, missed


@njit(nogil=True)
def _score(score, linear, weights, tp, fp, tn, fn):
    if linear:
        return weights[0] * tp + weights[1] * fp + weights[2] * tn + weights[3] * fn + weights[4]
    return score(tp, fp, tn, fn)


@njit(nogil=True)
def score_literals(score, linear, weights, head_relative, inside_1, inside_0, ones, zeros, scores):
    """The scores of saying absent (row 0) and present (row 1) of every label, for one body."""
    for label in range(len(ones)):
        for value in range(2):
            tp, fp, tn, fn = _matrix(
                value, head_relative, inside_1[label], inside_0[label], ones[label], zeros[label]
            )
            scores[value, label] = _score(score, linear, weights, tp, fp, tn, fn)


@njit(nogil=True)
def merge_singles(
    score, linear, weights, absence, single, head_relative, inside_1, inside_0, ones, zeros, heads
):
    """Partial predictions: all literals of the best score, or the first; values and right cells."""
    n_bodies, n_labels = inside_1.shape
    values, correct = np.empty(n_bodies), np.zeros(n_bodies, np.int64)
    scores = np.empty((2, n_labels))
    for body in range(n_bodies):
        score_literals(
            score,
            linear,
            weights,
            head_relative,
            inside_1[body],
            inside_0[body],
            ones,
            zeros,
            scores,
        )
        best = scores[1].max()
        if absence:
            best = max(best, scores[0].max())
        values[body] = best
        # A single head is present if any label may be, so look for presences first.
        wanted = 0 if single and not (scores[1] == best).any() else 1
        for label in range(n_labels):
            heads[body, label] = UNSET
        for label in range(n_labels):
            if scores[1, label] == best and wanted == 1:
                heads[body, label] = 1
                correct[body] += inside_1[body, label]
            elif absence and scores[0, label] == best and (wanted == 0 or not single):
                heads[body, label] = 0
                correct[body] += inside_0[body, label]
            else:
                continue
            if single:
                break
    return values, correct


@njit(nogil=True)
def vote(
    score, linear, weights, total, absence, head_relative, inside_1, inside_0, ones, zeros, heads
):
    """Full predictions: each label as it scores better.

    The value is the mean of the scores or, with `total`, the formula of the summed counts.
    """
    n_bodies, n_labels = inside_1.shape
    values, correct = np.zeros(n_bodies), np.zeros(n_bodies, np.int64)
    scores = np.empty((2, n_labels))
    for body in range(n_bodies):
        score_literals(
            score,
            linear,
            weights,
            head_relative,
            inside_1[body],
            inside_0[body],
            ones,
            zeros,
            scores,
        )
        gains = scores[1] - scores[0]
        forced = -1 if absence or gains.max() >= 0 else np.argmax(gains)
        tp = fp = tn = fn = 0
        for label in range(n_labels):
            present = gains[label] >= 0 or label == forced
            heads[body, label] = 1 if present else (0 if absence else UNSET)
            values[body] += scores[1 if present else 0, label]
            part = _matrix(
                present, head_relative, inside_1[body, label], inside_0[body, label],
                ones[label], zeros[label],
            )  # fmt: skip
            tp, fp, tn, fn = tp + part[0], fp + part[1], tn + part[2], fn + part[3]
        correct[body] = tp
        values[body] = score(tp, fp, tn, fn) if total else values[body] / n_labels
    return values, correct


@njit(nogil=True)
def dinkelbach(upper, lower, absence, inside_1, inside_0, heads):
    """Full predictions, one sum over another: choose per label, to the greatest ratio.

    `upper` and `lower` are values (0, 1) by bodies by labels.
    """
    n_bodies, n_labels = inside_1.shape
    values, correct = np.zeros(n_bodies), np.zeros(n_bodies, np.int64)
    gains = np.empty(n_labels)
    for body in range(n_bodies):
        theta, better = 0.0, True
        while better:
            for label in range(n_labels):
                rise = upper[1, body, label] - upper[0, body, label]
                cost = lower[1, body, label] - lower[0, body, label]
                gains[label] = rise - theta * cost
            forced = -1 if absence or gains.max() >= 0 else np.argmax(gains)
            top = whole = right = 0.0
            for label in range(n_labels):
                value = 1 if gains[label] >= 0 or label == forced else 0
                top += upper[value, body, label]
                whole += lower[value, body, label]
            better = top > theta * whole * (1 + 1e-12)
            if better or theta == 0.0:
                theta = top / whole if whole > 0 else 0.0
                for label in range(n_labels):
                    present = gains[label] >= 0 or label == forced
                    heads[body, label] = 1 if present else (0 if absence else UNSET)
                    right += inside_1[body, label] if present else inside_0[body, label]
                correct[body] = int(right)
        values[body] = theta
    return values, correct
