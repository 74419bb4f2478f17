"""Discretization: where numeric features are cut into ranges."""

from collections.abc import Callable, Iterable
from functools import partial
from math import log2
from typing import Literal, TypeAlias, get_args

import numpy as np

from labelrules._checks import one_of, whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.schema import Feature
from labelrules.data.table import label_keys

Binning: TypeAlias = Literal["width", "frequency", "entropy", "labels"]

_NUMBER = Feature("number")


def checked_binning(bins: str | None, n_bins: int) -> None:
    """Raise unless these are a kind of binning and a number of bins."""
    if bins is not None:
        one_of(bins, "bins", get_args(Binning), also="None")
    whole_number(n_bins, "n_bins", low=2)


def thresholds(
    values: Floats,
    classes: Integers | None,
    bins: Binning,
    n_bins: int,
    feature: Feature = _NUMBER,
) -> list[float]:
    """The thresholds that cut a numeric column, rising; each the simplest that cuts there.

    NaN is in no range. "width" and "frequency" make ranges of equal width or frequency, as far as
    equal values allow. "entropy" makes at most `n_bins`, by the minimum description length
    criterion of U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued
    attributes for classification learning", IJCAI 1993; its `classes` are the numbers of the label
    sets.
    """
    known = ~np.isnan(values)
    rising = np.sort(values[known])
    places = _places(rising)
    if bins == "width":
        cuts = _by_width(rising, n_bins)
    elif bins == "frequency":
        cuts = cut_by_frequency(places, rising.size, n_bins)
    else:
        codes = np.zeros(rising.size, np.int64) if classes is None else classes[known]
        codes = codes[np.lexsort((codes, values[known]))]
        cuts = _repeated_cuts(codes.size, partial(_best_class_cut, places, codes), n_bins)
    return _readable(rising, cuts, feature)


def label_cuts(values: Floats, Y: Board, n_bins: int, feature: Feature = _NUMBER) -> list[float]:
    """The thresholds that cut a numeric column where it informs about some label, rising.

    The criterion of Fayyad and Irani, see `thresholds`, for each label by itself: a cut is made
    where it saves most bits in the description of one label, if these are more than it costs to
    describe the cut and to name the label. With many label sets this finds cuts where "entropy"
    finds none.
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    rising = values[known][order]
    cells = Y[known][order]
    ones, labelled = (_rows_before(part) for part in (cells == 1, cells != UNSET))
    best_cut = partial(_best_label_cut, _places(rising), ones, labelled)
    return _readable(rising, _repeated_cuts(rising.size, best_cut, n_bins), feature)


def label_set_numbers(Y: Board) -> Integers:
    """A number for each row's label set; equal sets have equal numbers, whatever the row order."""
    if Y.shape[1] == 0:
        return np.zeros(Y.shape[0], dtype=np.int64)
    keys = label_keys(Y)
    return np.asarray(np.unique(keys, axis=0, return_inverse=True)[1], dtype=np.int64).ravel()


def _rows_before(cells: Mask) -> Integers:
    """How many of the cells before each row, and before the end, are true; by labels."""
    return np.vstack([np.zeros((1, cells.shape[1]), np.int64), np.cumsum(cells, axis=0)])


def _places(rising: Floats) -> Integers:
    """The rows before which a sorted column can be cut."""
    return np.flatnonzero(rising[1:] > rising[:-1]) + 1


def _readable(rising: Floats, cuts: Iterable[int], feature: Feature) -> list[float]:
    ends = [(float(rising[cut - 1]), float(rising[cut])) for cut in cuts]
    return [threshold_between(low, high, feature) for low, high in ends]


def _by_width(rising: Floats, n_bins: int) -> list[int]:
    """The rows before which the column is cut; cuts that part the same rows are one."""
    if rising.size == 0:
        return []
    edges = width_edges(float(rising[0]), float(rising[-1]), n_bins)
    cuts = {int(np.searchsorted(rising, edge, "right")) for edge in edges}
    return sorted(cuts - {0, rising.size})


def width_edges(low: float, high: float, n_bins: int) -> list[float]:
    """The values between ranges of equal width."""
    return [low * (1 - k / n_bins) + high * (k / n_bins) for k in range(1, n_bins)]


def cut_by_frequency(places: Integers, n_rows: int, n_bins: int) -> list[int]:
    """The possible place nearest to each quantile, the lower one of two."""
    if not places.size:
        return []
    nearest = [np.abs(places * n_bins - k * n_rows).argmin() for k in range(1, n_bins)]
    return sorted({int(places[place]) for place in nearest})


def _repeated_cuts(
    n_rows: int, best_cut: Callable[[int, int], tuple[float, int]], n_pieces: int
) -> list[int]:
    """Cut the piece whose best cut saves most bits, the first of equals, as long as it saves any.

    `best_cut` maps the first row of a piece and the row after its last to bits saved and cut.

    >>> _repeated_cuts(8, lambda start, stop: (stop - start - 2, (start + stop) // 2), 3)
    [2, 4]
    """
    pieces = [(0, n_rows, *best_cut(0, n_rows))]
    cuts: list[int] = []
    while len(cuts) + 1 < n_pieces:
        saved, number = max((piece[2], -k) for k, piece in enumerate(pieces))
        if saved <= 0:
            break
        first, last, _, cut = pieces.pop(-number)
        cuts.append(cut)
        pieces += [(a, b, *best_cut(a, b)) for a, b in ((first, cut), (cut, last))]
    return sorted(cuts)


def _best_class_cut(places: Integers, codes: Integers, start: int, stop: int) -> tuple[float, int]:
    """The bits that the best cut of a piece saves beyond its own cost, and where it is."""
    inside = places[(places > start) & (places < stop)] - start
    if inside.size == 0:
        return 0.0, start
    numbers, codes = np.unique(codes[start:stop], return_inverse=True)
    left, right = _class_bits(codes), _class_bits(codes[::-1])[::-1]
    divided = left[inside] + right[inside]
    cut = int(np.argmin(divided))
    place, n_rows, n_classes = int(inside[cut]), codes.size, numbers.size
    n_left = np.unique(codes[:place]).size
    n_right = np.unique(codes[place:]).size
    undivided = left[n_rows] / n_rows
    sides = n_left * left[place] / place + n_right * right[place] / (n_rows - place)
    cost = log2(n_rows - 1) + _log2_of_3_to_the(n_classes) - (n_classes * undivided - sides)
    return float(left[n_rows] - divided[cut] - cost), start + place


def _log2_of_3_to_the(power: int) -> float:
    """The logarithm of 3^power - 2, for any power."""
    return log2(3**power - 2) if power < 100 else power * log2(3)


def _class_bits(codes: Integers) -> Floats:
    """For each number of first rows, that number times the entropy of their classes."""
    by_class = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    nth = np.empty(codes.size, dtype=np.int64)
    nth[by_class] = np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    weight = _x_log_x(np.arange(codes.size + 1))
    of_classes = np.concatenate([[0.0], np.cumsum(weight[nth] - weight[nth - 1])])
    return np.asarray(weight - of_classes)


def _best_label_cut(
    places: Integers, ones_before: Integers, known_before: Integers, start: int, stop: int
) -> tuple[float, int]:
    """As `_best_class_cut`, for labels one by one, by the rows in which each is known."""
    inside = places[(places > start) & (places < stop)]
    n_labels = ones_before.shape[1]
    if not (inside.size and n_labels):
        return 0.0, 0
    ones, left = (ones_before[rows] - ones_before[start] for rows in (stop, inside))
    n_rows, n_left = (known_before[rows] - known_before[start] for rows in (stop, inside))
    whole = _label_bits(ones, n_rows)
    sides = _label_bits(left, n_left), _label_bits(ones - left, n_rows - n_left)
    gain = whole - sides[0] - sides[1]
    mixed = whole / np.maximum(n_rows, 1) - sides[0] / np.maximum(n_left, 1)
    mixed = mixed - sides[1] / np.maximum(n_rows - n_left, 1)
    cost = log2(stop - start - 1) + log2(7) - 2 * mixed + log2(n_labels)
    best = (gain - cost).max(axis=1)
    place = int(best.argmax())
    return float(best[place]), int(inside[place])


def _label_bits(ones: Integers, n_rows: Integers) -> Floats:
    """Rows times the entropy of a label that so many of them have."""
    return _x_log_x(n_rows) - _x_log_x(ones) - _x_log_x(n_rows - ones)


def _x_log_x(count: Integers) -> Floats:
    return np.asarray(count * np.log2(np.maximum(count, 1)))
