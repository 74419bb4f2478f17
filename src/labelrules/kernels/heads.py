"""The best heads of many bodies at once, from their tallies.

A tally has, per body and label, the covered ones and zeros among open cells, and per label all
of them. Each literal gets a score, of a compiled formula or of a weighted sum of its four
counts; what a body's head is made of these is all there is to do. Only scoring by a formula is
compiled anew for each formula.
"""

from functools import cache

import numpy as np
from numba import njit

from labelrules._types import UNSET

TINY = 1e-12
"""Scores that differ by less, relatively, are equal: rounding shall not part ties."""


@njit(nogil=True)
def _matrix(value, head_relative, inside_1, inside_0, ones, zeros):
    """True and false positives, true and false negatives of saying a value."""
    right, wrong = (inside_1, inside_0) if value else (inside_0, inside_1)
    missed, rejected = ones - inside_1, zeros - inside_0
    if head_relative and not value:
        missed, rejected = rejected, missed
    return right, wrong, rejected, missed


@cache
def scored_by(formula):
    """The kernel that scores by a compiled formula.

    Parameters
    ----------
    formula : compiled function of the four counts
        Built in, not an argument of each call: reading the type of such an argument runs Python
        code, and Ctrl-C would be lost in it.
    """

    @njit(nogil=True)
    def score_by_formula(head_relative, inside_1, inside_0, ones, zeros):
        """The scores of saying absent (0) and present (1): bodies by values by labels."""
        n_bodies, n_labels = inside_1.shape
        scores = np.empty((n_bodies, 2, n_labels))
        for body in range(n_bodies):
            for value in range(2):
                for label in range(n_labels):
                    tp, fp, tn, fn = _matrix(
                        value, head_relative, inside_1[body, label], inside_0[body, label],
                        ones[label], zeros[label],
                    )  # fmt: skip
                    scores[body, value, label] = formula(tp, fp, tn, fn)
        return scores

    return score_by_formula


@njit(cache=True, nogil=True)
def score_by_weights(weights, head_relative, inside_1, inside_0, ones, zeros):
    """The same, for a score that is a weighted sum of the four counts and a constant."""
    n_bodies, n_labels = inside_1.shape
    scores = np.empty((n_bodies, 2, n_labels))
    for body in range(n_bodies):
        for value in range(2):
            for label in range(n_labels):
                tp, fp, tn, fn = _matrix(
                    value, head_relative, inside_1[body, label], inside_0[body, label],
                    ones[label], zeros[label],
                )  # fmt: skip
                scores[body, value, label] = (
                    weights[0] * tp + weights[1] * fp + weights[2] * tn + weights[3] * fn
                ) + weights[4]
    return scores


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _forced(gains, least, absence):
    """The label that must be present because no label gains by it and some label has to be."""
    top = gains.max()
    if absence or top >= least:
        return -1
    for label in range(len(gains)):
        if gains[label] >= top + least:
            return label
    return -1


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def dinkelbach(upper, lower, absence, heads):
    """Full predictions, one sum over another: choose per label, to the greatest ratio.

    `upper` and `lower` are values (0, 1) by bodies by labels; returns the ratio.
    """
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


@njit(cache=True, nogil=True)
def total_counts(heads, full, head_relative, inside_1, inside_0, ones, zeros):
    """The four counts of each head, added up over its labels: counts by bodies."""
    n_bodies, n_labels = heads.shape
    totals = np.zeros((4, n_bodies), np.int64)
    for body in range(n_bodies):
        for label in range(n_labels):
            if full or heads[body, label] != UNSET:
                counts = _matrix(
                    heads[body, label] == 1, head_relative, inside_1[body, label],
                    inside_0[body, label], ones[label], zeros[label],
                )  # fmt: skip
                for i in range(4):
                    totals[i, body] += counts[i]
    return totals
