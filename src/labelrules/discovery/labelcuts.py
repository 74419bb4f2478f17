"""Where numeric columns are cut so that the ranges tell labels, each label by itself."""

from functools import partial
from math import log2

import numpy as np

from labelrules._types import Board, Floats, Integers
from labelrules.discovery.cutting import cut_again
from labelrules.search.columns import simplest_between


def label_cuts(values: Floats, Y: Board, n_bins: int) -> list[float]:
    """The thresholds that cut a numeric column where it tells some label, rising.

    A column is cut again and again, each time where this saves most bits in telling one label, and
    as long as it saves more than telling the cut takes. That is the criterion of U. M. Fayyad and
    K. B. Irani, "Multi-interval discretization of continuous-valued attributes for classification
    learning", IJCAI 1993, for each label by itself; naming the label takes bits too. Where there
    are many label sets, this finds cuts where taking each label set as a class finds none.

    Parameters
    ----------
    values : array of float
        NaN for missing values, which are in no range.
    Y : array, rows by labels
    n_bins : int
        How many ranges at most.

    Examples
    --------
    >>> values = np.array([1.0, 1.25, 1.5, 1.75, 7.0, 8.0, 9.0, 9.5])
    >>> Y = np.array([[0, 1], [0, 0], [0, 1], [0, 0], [1, 1], [1, 0], [1, 1], [1, 0]])
    >>> label_cuts(values, Y, 4)
    [4.0]
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    rising = values[known][order]
    below = np.vstack([np.zeros((1, Y.shape[1]), np.int64), np.cumsum(Y[known][order], axis=0)])
    places = np.flatnonzero(rising[1:] > rising[:-1]) + 1
    cuts = cut_again(rising.size, partial(_best_cut, places, below), n_bins)
    return [simplest_between(float(rising[cut - 1]), float(rising[cut])) for cut in cuts]


def _best_cut(places: Integers, below: Integers, start: int, stop: int) -> tuple[float, int]:
    """The bits that the best cut of a piece saves beyond its own cost, and where it is."""
    inside = places[(places > start) & (places < stop)]
    n_rows, n_labels = stop - start, below.shape[1]
    if not (inside.size and n_labels):
        return 0.0, 0
    ones = below[stop] - below[start]
    left = below[inside] - below[start]
    n_left = (inside - start)[:, np.newaxis]
    whole = _bits(ones, np.array(n_rows))
    sides = _bits(left, n_left), _bits(ones - left, n_rows - n_left)
    gain = whole - sides[0] - sides[1]
    mixed = whole / n_rows - sides[0] / n_left - sides[1] / (n_rows - n_left)
    cost = log2(n_rows - 1) + log2(7) - 2 * mixed + log2(n_labels)
    best = (gain - cost).max(axis=1)
    place = int(best.argmax())
    return float(best[place]), int(inside[place])


def _bits(ones: Integers, n_rows: Integers) -> Floats:
    """Rows times the entropy of a label that so many of them have."""
    return _x_log_x(n_rows) - _x_log_x(ones) - _x_log_x(n_rows - ones)


def _x_log_x(count: Integers) -> Floats:
    return np.asarray(count * np.log2(np.maximum(count, 1)))
