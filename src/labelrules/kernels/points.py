"""The points of scorecards: refitted one by one, and taken where they save too little.

See README.md, "Bins, points and moments". All sums are of whole numbers, so their order does not
matter.
"""

import numpy as np
from numba import types

from labelrules.kernels.jit import chosen_by_type, inner, kernel, tested, tiny
from labelrules.kernels.scorecard import CHUNK, unpacked

FARTHEST = 1e6
"""The longest step of points that is tried."""


@kernel
def refit(labels, fresh, card, margin, weights, most, n_sweeps, tables):
    """Change the points of rules, one after the other, while the loss falls; label by label.

    Those rules that have points for a label, the first rule, which holds for all rows, and the rule
    `fresh` (-1: none). `weights` are those of cells, labels by rows: multiples of a unit, in
    which targets and ridges are given, too; truth values, of no rows, if all are 1.
    """
    moments, softplus, one, unit, loss_unit = tables
    start, rows, points, targets, counts, ridges, ridge_losses = card
    for label in labels:
        own, weight = margin[label], weights[label]
        last = len(points)  # the last that was changed: passed without a change, nothing changes
        for _sweep in range(n_sweeps):
            before, last = last, -2
            for turn in range(-1 if fresh >= 0 else 0, len(points)):
                rule = fresh if turn < 0 else turn
                if turn < 0 or (turn != fresh and (turn == 0 or points[turn, label] != 0)):
                    first, end, given = start[rule], start[rule + 1], points[rule, label]
                    slope, curve = sum_moments(first, end, rows, own, moments, weight)
                    slope += targets[rule, label]
                    low, high = _allowed(rule, label, counts, targets, most)
                    change = _step(slope, curve, ridges[rule], unit, given, low, high)
                    while change != 0:
                        wanted = targets[rule, label] * change * loss_unit
                        wanted -= ridge_losses[rule] * change * (2 * given + change)
                        if wanted > one * _growth(
                            first, end, rows, own, change, softplus, loss_unit, weight
                        ):
                            break
                        # Newton's step may be too long; towards 0, so that halving ends.
                        change = np.int64(change / 2)
                    if change != 0:
                        points[rule, label] = given + change
                        for i in range(first, end):
                            own[rows[i]] += change
                        last = turn
                if last < -1 and turn == before:
                    break
            if last < -1:
                break


@tiny
def _allowed(rule, label, counts, targets, most):
    """The least and the most points of a rule: none against what its rows say of the label."""
    share = targets[rule, label] * counts[0, label]
    of_all = targets[0, label] * counts[rule, label]
    low = 0 if rule > 0 and share >= of_all else -most
    high = 0 if rule > 0 and share <= of_all else most
    return low, high


@tiny
def _step(slope, curve, ridge, unit, given, low, high):
    """A Newton step of the points of a rule, in whole points."""
    wanted = np.float64(slope) - ridge * unit * np.float64(given)
    wanted /= unit * (np.float64(curve) + ridge + 1.0)  # 1: never a division by 0
    change = np.int64(np.rint(max(min(wanted, FARTHEST), -FARTHEST)))
    return min(max(given + change, low), high) - given


def sum_moments(first, last, rows, margin, moments, weight):
    """The sums of slopes and of curvatures over some rows, each as often as its weight says."""
    if weight.dtype == np.bool_:
        return _sum_moments(first, last, rows, margin, moments)
    return _sum_weighted(first, last, rows, margin, moments, weight)


@chosen_by_type(sum_moments)
def _chosen_sum(first, last, rows, margin, moments, weight):
    if weight.dtype == types.boolean:
        return lambda first, last, rows, margin, moments, weight: _sum_moments(
            first, last, rows, margin, moments
        )
    return lambda first, last, rows, margin, moments, weight: _sum_weighted(
        first, last, rows, margin, moments, weight
    )


@inner
def _sum_moments(first, last, rows, margin, moments):
    reach = len(moments) // 2
    slope, curve = np.int64(0), np.int64(0)
    for begin in range(first, last, CHUNK):
        total = np.int64(0)
        for i in range(begin, min(begin + CHUNK, last)):
            total += moments[min(max(margin[rows[i]], -reach), reach) + reach]
        more_slope, more_curve = unpacked(total)
        slope += more_slope
        curve += more_curve
    return slope, curve


@inner
def _sum_weighted(first, last, rows, margin, moments, weight):
    reach = len(moments) // 2
    slope, curve = np.int64(0), np.int64(0)
    for i in range(first, last):
        row = rows[i]
        own_slope, own_curve = unpacked(moments[min(max(margin[row], -reach), reach) + reach])
        slope += weight[row] * own_slope
        curve += weight[row] * own_curve
    return slope, curve


def weighed(value, row, weight):
    """A number of a row, times its weight."""
    return value if weight.dtype == np.bool_ else weight[row] * value


@chosen_by_type(weighed)
def _weighed(value, row, weight):
    if weight.dtype == types.boolean:
        return lambda value, row, weight: value
    return lambda value, row, weight: weight[row] * value


@tested
def _growth(first, last, rows, margin, change, softplus, loss_unit, weight):
    """By how much softplus grows, over some rows, if their margins change.

    Beyond the ends of its table softplus is almost linear.
    """
    reach = len(softplus) // 2
    total = np.int64(0)
    for i in range(first, last):
        row = rows[i]
        old = margin[row]
        new = old + change
        grown = softplus[min(max(new, -reach), reach) + reach]
        grown -= softplus[min(max(old, -reach), reach) + reach]
        grown += (max(new, reach) - max(old, reach)) * loss_unit
        total += weighed(grown, row, weight)
    return total


@inner
def _loss_without(rule, label, card, margin, weight, tables):
    """By how much the loss of a label grows if a rule loses its points for it."""
    _, softplus, one, _, loss_unit = tables
    given = card.points[rule, label]
    first, last = card.start[rule], card.start[rule + 1]
    grown = one * _growth(first, last, card.rows, margin, -given, softplus, loss_unit, weight)
    ridge_loss = card.ridge_losses[rule] * given * given
    return grown + card.targets[rule, label] * given * loss_unit - ridge_loss


@inner
def take_points(rule, label, card, margin):
    """Take the points that a rule gives to a label."""
    given = card.points[rule, label]
    for i in range(card.start[rule], card.start[rule + 1]):
        margin[label, card.rows[i]] -= given
    card.points[rule, label] = 0


@kernel
def prune_points(labels, price, card, margin, weights, most, n_sweeps, tables, lost):
    """Take points that save less than the price, the least first, and refit the others.

    Afterwards `lost`, rules by labels, is by how much the loss would grow without each.
    """
    for k in range(len(labels)):
        label, worst = labels[k], 0
        while worst >= 0:
            worst = -1
            for rule in range(1, len(card.points)):
                lost[rule, label] = 0
                if card.points[rule, label] != 0:
                    lost[rule, label] = _loss_without(
                        rule, label, card, margin[label], weights[label], tables
                    )
                    least = price if worst < 0 else lost[worst, label]
                    worst = rule if lost[rule, label] < least else worst
            if worst >= 0:
                take_points(worst, label, card, margin)
                refit(labels[k : k + 1], -1, card, margin, weights, most, n_sweeps, tables)


@kernel
def prune_rules(price, card, margin, weights, most, n_sweeps, tables, lost):
    """Take all points of rules that save less than their points and their condition cost."""
    n_labels = card.points.shape[1]
    for rule in range(1, len(card.points)):
        worth, n_points = np.int64(0), 0
        for label in range(n_labels):
            if card.points[rule, label] != 0:
                worth += lost[rule, label] - price
                n_points += 1
        if n_points > 0 and worth < price:
            for label in range(n_labels):
                if card.points[rule, label] != 0:
                    take_points(rule, label, card, margin)
                    refit(np.array([label]), -1, card, margin, weights, most, n_sweeps, tables)
