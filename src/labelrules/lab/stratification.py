"""Iterative stratification: rows in folds, a splitter for scikit-learn, and holdouts."""

from collections.abc import Iterator
from math import gcd, isqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import column_or_1d

from labelrules._checks import counted, is_whole, random_numbers, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Integers
from labelrules.data import Dataset
from labelrules.data.memory.arrays import as_array
from labelrules.kernels.stratification import add_up_rows, assign, exchange, list_items, list_pairs
from labelrules.learners.base.estimator import read_target
from labelrules.learners.base.sampling import shuffled_rows

WORK = 16_000_000
"""About how many items are read while folds are exchanged; a unit by itself is like four."""

FEWEST_ROUNDS = 4
"""Rounds of exchanges however many items there are."""


class _Units(NamedTuple):
    """Rows, or groups of rows, in order, and the items that each has.

    Unit `u` has `items[i]` `counts[i]` times, for i from `start[u]` to `start[u + 1]`.
    """

    start: Integers
    items: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    sizes: Integers
    n_items: int


@heard_interrupts()
def assigned_folds(
    board: Board,
    order: Integers,
    sizes: Integers,
    groups: Integers | None = None,
    second_order: bool = True,
    is_improved: bool = True,
) -> Integers:
    """For each row its fold, so that folds have labels, and pairs of them, in equal shares.

    Parameters
    ----------
    board : array of int8
        Rows by labels: 0, 1 or unknown.
    order : array of int
        The order in which rows are taken, which decides ties.
    sizes : array of int
        How many rows each fold gets; groups come as near to it as they can.
    groups : array of int, optional
        Rows with the same number get the same fold.
    second_order : bool, default=True
        Whether pairs of labels count, too.
    is_improved : bool, default=True
        Whether folds are exchanged afterwards while that brings shares closer.

    Examples
    --------
    >>> board = np.array([[1, 1], [1, 1], [1, 0], [1, 0], [0, 0], [0, 0]], np.int8)
    >>> assigned_folds(board, np.arange(6), np.array([3, 3])).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    units = _units_of_rows(board, order, second_order)
    unit_of = np.empty(len(order), dtype=np.int64)
    unit_of[order] = np.arange(len(order))
    shares = sizes // gcd(*sizes.tolist())
    if groups is not None:
        ranked = _ranked(groups[order])
        units, unit_of[order] = _united(units, ranked), ranked
    folds = np.full(len(units.sizes), -1, dtype=np.int64)
    room, whole = sizes * shares.sum(), int(shares.sum())
    excess = np.zeros((units.n_items, len(sizes)))
    lists = (units.start, units.items, units.counts)
    is_free = groups is not None
    assign(*lists, units.sizes, shares, room, is_free, folds, excess)
    if is_improved and len(units.items):
        n_rounds = max(WORK // (len(units.items) + 4 * len(folds)), FEWEST_ROUNDS)
        exchange(*lists, whole, is_free, n_rounds, folds, excess)
    return np.asarray(folds[unit_of])


def _units_of_rows(board: Board, order: Integers, second_order: bool) -> _Units:
    """Each row as a unit: its labels, its unknown labels, and its pairs of labels."""
    present = np.count_nonzero(board == 1, axis=1)[order]
    unknown = board == UNSET
    has_unknown = unknown.any(axis=0)
    n_listed = present + np.count_nonzero(unknown, axis=1)[order]
    n_labels = board.shape[1]
    start, n_items = _starts(n_listed), n_labels + int(np.count_nonzero(has_unknown))
    items = np.empty(start[-1], dtype=np.int32)
    list_items(board, order, n_labels - 1 + np.cumsum(has_unknown), start, items)
    if second_order:
        paired_start = _starts(n_listed + present * (present - 1) // 2)
        paired = np.empty(paired_start[-1], dtype=np.int32)
        n_items = list_pairs(start, items, n_labels, n_items, paired_start, paired)
        start, items = paired_start, paired
    ones = np.ones(len(order), dtype=np.int64)
    return _Units(start, items, np.ones(len(items), dtype=np.int32), ones, n_items)


def _united(rows: _Units, ranked: Integers) -> _Units:
    """Groups of rows as units. How many rows they have is one more item, of more weight."""
    order, sizes = np.argsort(ranked, kind="stable"), np.bincount(ranked)
    start = np.empty(len(sizes) + 1, dtype=np.int64)
    items, counts = np.empty_like(rows.items), np.empty_like(rows.counts)
    given = (rows.start, rows.items, _starts(sizes), order, rows.n_items)
    n_listed = add_up_rows(*given, start, items, counts)
    weight = 1 + isqrt(len(rows.items) // len(order))  # its square is that of a row's other items
    ends = start[1:]
    return _Units(
        start + np.arange(len(start)),
        np.insert(items[:n_listed], ends, rows.n_items),
        np.insert(counts[:n_listed], ends, weight * sizes),
        sizes,
        rows.n_items + 1,
    )


def _ranked(groups: Integers) -> Integers:
    """Groups numbered by their size, the largest first, then by their first row."""
    _, first, numbers, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[numbers])


def _starts(lengths: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths)])


class IterativeStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Repeated k-fold cross-validation with iterative stratification, for several labels.

    Each fold has about the same share of each label, and of each pair of labels that occur
    together, as all rows. It is a splitter of scikit-learn, for `cross_validate`, `GridSearchCV`
    and the parameter `split` of :func:`experiment`.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds.
    n_repeats : int, default=1
        How often the rows are divided, each time with another seed.
    order : {1, 2}, default=2
        Whether only labels are balanced (first order), or pairs of labels, too (second order).
    random_state : int, RandomState or None, default=None
        Decides the order in which rows are taken. Repetition r takes ``random_state + r``. None is
        the same as 0.

    Notes
    -----
    The rows with the rarest label, or pair, are given to folds first, each to the fold that lacks
    most of what the row has. Then rows of different folds are exchanged while that makes the sum of
    squared deviations from equal shares smaller. All labels and pairs that a row has count together
    in both steps, where the published algorithm considers the rarest one only.

    Folds have equally many rows, plus or minus one, unless there are groups. Rows of a group are
    never divided; folds then have about equally many rows.

    Unknown labels are neither present nor absent: those of a label are balanced like one more
    label. One-dimensional y holds classes, which are balanced like labels.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas: On the stratification of multi-label data. European
    Conference on Machine Learning, 2011.
    P. Szymański, T. Kajdanowicz: A network perspective on stratification of multi-label data.
    Proceedings of Machine Learning Research 74, 2017.

    Examples
    --------
    >>> from labelrules import planted
    >>> data, _ = planted(100, random_state=1)
    >>> folds = IterativeStratifiedKFold(n_splits=4)
    >>> data.Y.sum(axis=0).tolist()
    [21, 53, 0, 29, 42, 0]
    >>> for train, test in folds.split(data.X, data.Y):
    ...     print(data.Y[test].sum(axis=0).tolist())
    [6, 14, 0, 7, 11, 0]
    [5, 13, 0, 8, 10, 0]
    [5, 13, 0, 7, 11, 0]
    [5, 13, 0, 7, 10, 0]
    """

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 1, order: int = 2, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.order = order
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Integers, Integers]]:
        """Yield the rows to learn from and the rows to measure on, for each fold of each repeat.

        Parameters
        ----------
        X : array or frame
            Only its number of rows matters.
        y : array, frame, sparse matrix or list of label sets
            Labels, as the learners take them; unknown ones are -1 or NaN.
        groups : array of shape (n_rows,), optional
            Rows with the same value come into the same fold.
        """
        yield from super().split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of divisions: folds times repeats."""
        n_splits = whole_number(self.n_splits, "n_splits", low=2)
        return n_splits * whole_number(self.n_repeats, "n_repeats", low=1)

    def _iter_test_indices(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        self.get_n_splits()
        whole_number(self.order, "order", low=1, high=2)
        if y is None:
            raise ValueError("stratification needs the labels: pass y")
        board = read_target(y)[1].board
        codes = None if groups is None else _group_codes(groups, len(board))
        sizes = even_sizes(len(board), self.n_splits)
        if codes is not None and codes.max(initial=-1) + 1 < self.n_splits:
            raise ValueError(
                f"{counted(self.n_splits, 'fold')} need at least as many groups, not "
                f"{codes.max(initial=-1) + 1}"
            )
        for seed in self._seeds():
            order = np.random.default_rng(seed).permutation(len(board))
            folds = assigned_folds(board, order, sizes, codes, self.order == 2)
            for fold in range(self.n_splits):
                yield np.flatnonzero(folds == fold)

    def _seeds(self) -> Iterator[int]:
        random = random_numbers(self.random_state)
        first = 0 if self.random_state is None else self.random_state
        for repeat in range(self.n_repeats):
            yield first + repeat if is_whole(first) else int(random.randint(2**31 - 1))


def _group_codes(groups: Any, n_rows: int) -> Integers:
    """Groups as numbers from 0."""
    given = column_or_1d(as_array(groups, "groups"))
    if len(given) != n_rows:
        raise ValueError(f"groups has {len(given)} values, but there are {counted(n_rows, 'row')}")
    _, codes = np.unique(given, return_inverse=True)
    return np.asarray(codes)


def even_sizes(n_rows: int, n_folds: int) -> Integers:
    """Rows of each fold; the first ones have one more where they cannot all be equal."""
    if n_folds > n_rows:
        raise ValueError(f"{n_folds} folds need at least as many rows, not {n_rows}")
    sizes = np.full(n_folds, n_rows // n_folds, dtype=np.int64)
    sizes[: n_rows % n_folds] += 1
    return sizes


def stratified_folds(data: Dataset, sizes: Integers, seed: int) -> Integers:
    """For each row its fold, by iterative stratification of the second order.

    Which rows are in a fold does not depend on the order in which they are stored.
    """
    folds: Integers = assigned_folds(data.Y, shuffled_rows(data, seed), sizes)
    return folds


def holdout_sizes(n_rows: int, share: float) -> Integers:
    """Rows to learn from and rows to measure on; at least one each.

    >>> holdout_sizes(10, 0.25).tolist()
    [8, 2]
    """
    if n_rows < 2:
        raise ValueError(f"a holdout needs at least 2 rows, not {n_rows}")
    n_held = min(max(round(share * n_rows), 1), n_rows - 1)
    return np.array([n_rows - n_held, n_held], dtype=np.int64)
