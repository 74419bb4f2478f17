"""Where numeric columns are cut into ranges."""

from collections.abc import Callable
from functools import partial
from math import log2
from typing import Literal, TypeAlias, get_args

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import Board, Floats, Integers
from labelrules.discovery.limits import whole
from labelrules.search.bodies.sorted_columns import simplest_between

# -------------------- Cut a stretch of rows into pieces, one cut after the other


def cut_again(
    n_rows: int, best_cut: Callable[[int, int], tuple[float, int]], n_pieces: int
) -> list[int]:
    """Cut the piece whose best cut saves most, as long as it saves anything.

    Of pieces that are as good the first one made is cut.

    Parameters
    ----------
    n_rows : int
    best_cut : function
        From the first row of a piece, and the row after its last, to what its best cut saves
        and the row before which it is.
    n_pieces : int
        How many pieces there may be.

    Examples
    --------
    >>> cut_again(8, lambda start, stop: (stop - start - 2, (start + stop) // 2), 3)
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


# ---------------------------------------------------------------- the main part

Binning: TypeAlias = Literal["width", "frequency", "entropy", "labels"]
BINNINGS: tuple[str, ...] = get_args(Binning)


def checked_binning(bins: str | None, n_bins: int) -> None:
    """Refuse what is no way of binning."""
    if bins is not None and bins not in BINNINGS:
        near = suggestion(str(bins), BINNINGS)
        raise ValueError(f"bins must be one of {', '.join(BINNINGS)}, or None; not {bins!r}{near}")
    whole("n_bins", n_bins, 2)


def thresholds(values: Floats, classes: Integers, bins: Binning, n_bins: int) -> list[float]:
    """The thresholds that cut a numeric column, rising; each the simplest that cuts there.

    Parameters
    ----------
    values : array of float
        NaN for missing values, which are in no range.
    classes : array of int
        The number of each row's label set, for "entropy".
    bins : {"width", "frequency", "entropy"}
        Ranges of equal width; of equally many rows, as far as equal values allow; or as many as
        the label sets warrant, by the criterion of minimum description length of U. M. Fayyad
        and K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
        classification learning", IJCAI 1993, with each label set as a class.
    n_bins : int
        How many ranges, or how many at most.

    Examples
    --------
    >>> values = np.array([1.0, 1.25, 1.5, 7.0, 8.0, 9.0])
    >>> classes = np.array([0, 0, 0, 1, 1, 0])
    >>> thresholds(values, classes, "width", 2), thresholds(values, classes, "frequency", 3)
    ([4.0], [1.4, 7.0])
    """
    known = ~np.isnan(values)
    order = np.lexsort((classes[known], values[known]))
    rising, codes = values[known][order], classes[known][order]
    places = np.flatnonzero(rising[1:] > rising[:-1]) + 1
    if bins == "width":
        chosen = _by_width(rising, n_bins)
    elif bins == "frequency":
        chosen = _by_frequency(places, rising.size, n_bins)
    else:
        chosen = _by_entropy(places, codes, n_bins)
    return [simplest_between(float(rising[p - 1]), float(rising[p])) for p in chosen]


def label_set_numbers(Y: Board) -> Integers:
    """The number of each row's label set; equal sets have equal numbers, whatever the order."""
    if Y.shape[1] == 0:
        return np.zeros(Y.shape[0], dtype=np.int64)
    packed = np.packbits(Y, axis=1)
    return np.asarray(np.unique(packed, axis=0, return_inverse=True)[1], dtype=np.int64).ravel()


def _by_width(rising: Floats, n_bins: int) -> list[int]:
    """Before which rows the column is cut; cuts that part the same rows are one."""
    if rising.size == 0:
        return []
    low, high = float(rising[0]), float(rising[-1])
    edges = [low * (1 - k / n_bins) + high * (k / n_bins) for k in range(1, n_bins)]
    cuts = {int(np.searchsorted(rising, edge, "right")) for edge in edges}
    return sorted(cuts - {0, rising.size})


def _by_frequency(places: Integers, n_rows: int, n_bins: int) -> list[int]:
    """The possible place nearest to each quantile, the lower one of two."""
    cuts = set()
    for k in range(1, n_bins):
        if places.size:
            cuts.add(int(places[np.argmin(np.abs(places * n_bins - k * n_rows))]))
    return sorted(cuts)


def _by_entropy(places: Integers, codes: Integers, n_bins: int) -> list[int]:
    """Cut again and again where it saves most bits, as long as it saves more than telling it."""

    def best_cut(start: int, stop: int) -> tuple[float, int]:
        inside = places[(places > start) & (places < stop)] - start
        saved, cut = _best_cut(inside, codes[start:stop])
        return saved, start + cut

    return cut_again(codes.size, best_cut, n_bins)


def _best_cut(places: Integers, codes: Integers) -> tuple[float, int]:
    """The bits that the best cut saves beyond its own cost, and where it is."""
    if places.size == 0:
        return 0.0, 0
    numbers, codes = np.unique(codes, return_inverse=True)
    left, right = _scattered(codes), _scattered(codes[::-1])[::-1]
    inside = left[places] + right[places]  # bits to tell the classes on both sides
    cut = int(np.argmin(inside))
    place, n_rows, n_classes = int(places[cut]), codes.size, numbers.size
    n_left = np.unique(codes[:place]).size
    n_right = np.unique(codes[place:]).size
    undivided = left[n_rows] / n_rows
    sides = n_left * left[place] / place + n_right * right[place] / (n_rows - place)
    cost = log2(n_rows - 1) + _log2_of_3_to_the(n_classes) - (n_classes * undivided - sides)
    return float(left[n_rows] - inside[cut] - cost), place


def _log2_of_3_to_the(power: int) -> float:
    """The logarithm of 3^power - 2, for any power."""
    return log2(3**power - 2) if power < 100 else power * log2(3)


def _scattered(codes: Integers) -> Floats:
    """For each length, rows times entropy of the classes in so many of the first rows."""
    by_class = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    nth = np.empty(codes.size, dtype=np.int64)
    nth[by_class] = np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    n = np.arange(codes.size + 1, dtype=np.float64)
    weight = n * np.log2(np.maximum(n, 1.0))
    of_classes = np.concatenate([[0.0], np.cumsum(weight[nth] - weight[nth - 1])])
    return np.asarray(weight - of_classes)


# -------------------- Where numeric columns are cut so that the ranges tell labels, each label by
# itself


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
    cuts = cut_again(rising.size, partial(_best_label_cut, places, below), n_bins)
    return [simplest_between(float(rising[cut - 1]), float(rising[cut])) for cut in cuts]


def _best_label_cut(places: Integers, below: Integers, start: int, stop: int) -> tuple[float, int]:
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
