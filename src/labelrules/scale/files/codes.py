"""The bins of columns that are read in partitions: exact quantiles in few passes, little memory.

A sample of each column gives splitters. A pass over the data counts the values that equal each
splitter and those in the gaps between them; so it is known in which gaps the wanted ranks are. A
second pass collects the values in these gaps, which are few. Where they are too many, the sample,
or one of these gaps alone, gives further splitters, and the gaps are counted anew. All counts are
whole numbers, so the bins do not depend on the sample, nor on the order and the partitions of the
rows.
"""

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset, Partitions
from labelrules.data.codes.bins import Bins, ColumnBins, cut_ranks
from labelrules.data.rows import known_rows
from labelrules.data.table import column_of

Ends: TypeAlias = list[tuple[float, float]]

Columns: TypeAlias = "dict[int, OrderedValues]"
"""Columns with an order, by their places."""

Question: TypeAlias = Callable[..., Any]
"""Counts the rows of some parts into columns, and returns what else it finds."""

SPLITTERS = 1 << 15
"""At most so many for each column: in the processor's cache, and gaps hold few of all values."""

SAMPLED = 4 * SPLITTERS
"""So many values splitters are chosen from."""

COLLECTED = 1 << 24
"""So many values of all columns together are collected at most: 128 MB."""


class OrderedValues:
    """What is known of the values of a column with an order, and which gaps matter."""

    def __init__(self, n_bins: int) -> None:
        self._n_bins = n_bins
        self._are_many = False  # whether there are more different values than bins
        self.set_splitters(np.empty(0))

    def set_splitters(self, splitters: Floats) -> None:
        """Count anew, between other splitters."""
        self.splitters = splitters
        self.equal: Integers = np.zeros(len(splitters), dtype=np.int64)
        self.between: Integers = np.zeros(len(splitters) + 1, dtype=np.int64)
        self.least = np.full(len(splitters) + 1, np.inf)
        self.collected = np.empty(0)
        self.n_collected = 0

    def __getstate__(self) -> dict[str, Any]:
        # what is moved between machines: most counts of a partition fit into a byte
        counts = {name: _narrow(getattr(self, name)) for name in ("equal", "between")}
        return {**self.__dict__, **counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.equal, self.between = self.equal.astype(np.int64), self.between.astype(np.int64)

    def count(self, values: Floats) -> int:
        """Count some values; returns how many are known."""
        from labelrules.kernels.covering.tables import count_between

        values = np.sort(values)
        return int(count_between(values, self.splitters, self.equal, self.between, self.least))

    def collect(self, values: Floats) -> None:
        """Keep those of some values that are in wanted gaps."""
        self.n_collected = self._collected(values, self.collected, self.n_collected)

    def within(self, values: Floats) -> Floats:
        """Take those of some values that are in wanted gaps."""
        room = np.empty(len(values))
        return room[: self._collected(values, room, 0)]

    def _collected(self, values: Floats, room: Floats, n: int) -> int:
        """Put values in wanted gaps behind the first `n` in a room; returns how many there are."""
        from labelrules.kernels.covering.tables import collect_between

        return int(collect_between(np.sort(values), self.splitters, self.wanted, room, n))

    def anew(self) -> "OrderedValues":
        """Begin anew with the column: nothing is counted or collected."""
        other = copy(self)
        other.set_splitters(self.splitters)
        return other

    def bare(self) -> "OrderedValues":
        """Leave out the room for counts, so that the column can be sent; `anew` makes room."""
        other = copy(self)
        other.equal = other.between = np.zeros(0, dtype=np.int64)
        other.least = other.collected = np.empty(0)
        return other

    def add(self, other: "OrderedValues") -> None:
        """Add what was counted and collected in other rows."""
        self.equal = self.equal + other.equal
        self.between = self.between + other.between
        self.least = np.minimum(self.least, other.least)
        kept = [one.collected[: one.n_collected] for one in (self, other)]
        self.collected = np.concatenate(kept)
        self.n_collected = len(self.collected)

    def settle(self) -> None:
        """Once all values are counted: which gaps hold a wanted rank, or all if values are few."""
        self.wanted: Mask = self.between > 0
        self._is_needed: Mask = self.equal > 0
        self._are_many |= int(np.count_nonzero(self.equal)) > self._n_bins
        if self._are_many:
            n_up_to_gap = np.cumsum(self.between) + np.cumsum([0, *self.equal.tolist()])
            ranks = np.array(cut_ranks(int(n_up_to_gap[-1]), self._n_bins), dtype=np.int64)
            gaps = np.searchsorted(n_up_to_gap, ranks)  # or the splitter before the gap
            is_inside = ranks > n_up_to_gap[gaps] - self.between[gaps]
            self.wanted = np.zeros(len(self.between), dtype=np.bool_)
            self.wanted[gaps[is_inside]] = True
            self._is_needed = self.wanted[1:] | self.wanted[:-1]
            self._is_needed[gaps[~is_inside] - 1] = True
        self.n_wanted = int(self.between[self.wanted].sum())

    def needed_splitters(self) -> Floats:
        """Splitters of wanted ranks or beside their gaps; all while few values are known."""
        return self.splitters[self._is_needed]

    @property
    def is_settled(self) -> bool:
        """Whether no value need be collected."""
        return not self.n_wanted

    def ends(self) -> Ends:
        """The values around each cut; see `labelrules.data.codes.bins.ends_of_sorted`."""
        collected, counts = np.unique(self.collected[: self.n_collected], return_counts=True)
        # A gap without a wanted rank is as good as its least value, so many times.
        whole = ~self.wanted & (self.between > 0)
        occur = self.equal > 0
        values = np.concatenate([self.splitters[occur], collected, self.least[whole]])
        numbers = np.concatenate([self.equal[occur], counts, self.between[whole]])
        order = np.argsort(values)
        values, numbers = values[order], numbers[order]
        last = np.arange(len(values) - 1)
        if self._are_many or len(values) > self._n_bins:
            ranks = cut_ranks(int(numbers.sum()), self._n_bins)
            last = np.unique(np.searchsorted(np.cumsum(numbers), ranks))
            last = last[last < len(values) - 1]
        return list(zip(values[last].tolist(), values[last + 1].tolist(), strict=True))


def _narrow(counts: Integers) -> npt.NDArray[Any]:
    """Counts as the smallest unsigned integers that hold them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


class Passes:
    """Reads the rows of all partitions once for each question about the columns."""

    def __init__(self, parts: Partitions) -> None:
        self.parts = parts

    @property
    def most_splitters(self) -> int:
        """At most so many splitters for each column."""
        return SPLITTERS

    def ask(self, question: Question, columns: Columns, *more: Any) -> Any:
        """Let a function count the rows of all parts into columns; returns what else it finds."""
        return question(self.parts, columns, *more)


def bins_of(data: Partitions, n_bins: int, passes: type[Passes] = Passes) -> Bins:
    """The bins of all rows of which a label is known, found once."""
    if n_bins not in data.made:
        known = () if data.features_of is None else Bins.of(data.features_of, n_bins).columns
        known = known[: data.schema.n_features]
        data.made[n_bins] = bins_of_partitions(data, n_bins, known, passes(data))
    bins: Bins = data.made[n_bins]
    return bins


def bins_of_partitions(
    parts: Partitions,
    n_bins: int,
    known: tuple[ColumnBins, ...] = (),
    passes: Passes | None = None,
) -> Bins:
    """The bins of all rows of which a label is known, equal to those of the rows in memory.

    Those of the first columns may be known.

    Examples
    --------
    >>> from labelrules import load, scan
    >>> data = load("clinic")
    >>> bins_of_partitions(scan(data), 16) == Bins.of(data.with_known_labels(), 16)
    True
    """
    features = parts.schema.features
    wanted = range(len(known), len(features))
    if not wanted:
        return Bins(parts.schema, known)
    nominal = [at for at in wanted if features[at].is_nominal]
    ordered = {at: OrderedValues(n_bins) for at in wanted if not features[at].is_nominal}
    n_categories = {at: len(features[at].categories or ()) for at in nominal}
    passes = passes or Passes(parts)
    sample, most = _sample(parts, ordered), passes.most_splitters
    for at, values in sample.items():
        ordered[at].set_splitters(_splitters(values, most))
    facts: FirstCount = passes.ask(first_count, ordered, n_categories)
    _settle(ordered)
    open_columns = {at: column for at, column in ordered.items() if not column.is_settled}
    while open_columns:
        if sum(column.n_wanted for column in open_columns.values()) <= COLLECTED:
            passes.ask(collect, open_columns)
            break
        found = {at: column.within(sample[at]) for at, column in open_columns.items()}
        if not _are_enough(open_columns, found, most):
            found = passes.ask(sample_gaps, open_columns).joined
        _divide_gaps(open_columns, found, most)
        passes.ask(count, open_columns)
        _settle(open_columns)
        open_columns = {at: one for at, one in open_columns.items() if not one.is_settled}
    columns = list(known)
    for at, feature in list(enumerate(features))[len(known) :]:
        has_missing = facts.n_known[at] < facts.n_rows
        if at in ordered:
            ends = ordered[at].ends()
            columns.append(ColumnBins.of_ends(ends, facts.n_known[at], has_missing, feature))
        else:
            n_values = int(facts.occur[at].sum())
            columns.append(ColumnBins.of_categories(n_categories[at], n_values, has_missing))
    return Bins(parts.schema, tuple(columns))


class Sampled(NamedTuple):
    """Some values of columns."""

    values: dict[int, list[Floats]]

    def plus(self, other: "Sampled") -> "Sampled":
        """Add the values of both."""
        return Sampled({at: some + other.values[at] for at, some in self.values.items()})

    @property
    def joined(self) -> dict[int, Floats]:
        """The values of each column in one array."""
        return {at: np.concatenate([np.empty(0), *some]) for at, some in self.values.items()}


def _sample(parts: Partitions, columns: Columns) -> dict[int, Floats]:
    """The values of columns in a sample of the rows."""
    if not columns:
        return {}
    found = Sampled({at: [] for at in columns})
    for part in parts.sample(SAMPLED):
        for at, kept in found.values.items():
            kept.append(column_of(part.X, at).copy())
    return found.joined


def sample_gaps(parts: Iterable[Dataset], columns: Columns) -> Sampled:
    """Some of the values of columns in wanted gaps; which matters for the time only."""
    found: dict[int, list[Floats]] = {at: [] for at in columns}
    generator = np.random.default_rng(0)
    for part in known_rows(parts):
        draws = generator.random(len(part))
        for at, column in columns.items():
            draw = draws < SAMPLED / max(1, column.n_wanted)
            found[at].append(column.within(column_of(part.X, at)[draw]))
    return Sampled(found)


def _are_enough(columns: Columns, found: dict[int, Floats], most: int) -> bool:
    """Whether splitters from these values in wanted gaps leave few enough values to collect."""
    expected = 0.0
    for at, column in columns.items():
        n_gaps = np.count_nonzero(column.wanted)
        # a rank is rather in a wide gap than in a narrow one, in one twice as wide on average
        expected += 2 * column.n_wanted * n_gaps / (n_gaps + min(len(found[at]), most))
    return expected <= COLLECTED


def _divide_gaps(columns: Columns, found: dict[int, Floats], most: int) -> None:
    """Further splitters: the first value of each wanted gap, and a sample of all in them."""
    for at, column in columns.items():
        kept = np.union1d(column.needed_splitters(), column.least[column.wanted])
        column.set_splitters(np.union1d(kept, _splitters(found[at], most)))


def _splitters(values: Floats, most: int) -> Floats:
    """Different values of a sample, in order; of too many those at equal distances in it."""
    values = np.sort(values[~np.isnan(values)]) + 0.0
    different: Floats = np.unique(values)
    if len(different) <= most:
        return different
    return np.unique(values[np.linspace(0, len(values) - 1, most).astype(np.int64)])


class FirstCount(NamedTuple):
    """All rows, the known values of each column, and the categories that occur."""

    n_rows: int
    n_known: Integers
    occur: dict[int, Mask]

    def plus(self, other: "FirstCount") -> "FirstCount":
        """Add the counts of both."""
        occur = {at: found | other.occur[at] for at, found in self.occur.items()}
        return FirstCount(self.n_rows + other.n_rows, self.n_known + other.n_known, occur)


def first_count(
    parts: Iterable[Dataset], columns: Columns, n_categories: dict[int, int]
) -> FirstCount:
    """Count all rows and known values, those of columns with an order between splitters."""
    n_rows = 0
    n_known: Integers = np.zeros(1 + max([*columns, *n_categories], default=-1), dtype=np.int64)
    occur = {at: np.zeros(n, dtype=np.bool_) for at, n in n_categories.items()}
    for part in known_rows(parts):
        n_rows += len(part)
        for at, column in columns.items():
            n_known[at] += column.count(column_of(part.X, at))
        for at, found in occur.items():
            values = column_of(part.X, at)
            known = values[~np.isnan(values)].astype(np.int64)
            found[known] = True
            n_known[at] += len(known)
    return FirstCount(n_rows, n_known, occur)


def count(parts: Iterable[Dataset], columns: Columns) -> None:
    """Count the values of columns between their splitters."""
    for part in known_rows(parts):
        for at, column in columns.items():
            column.count(column_of(part.X, at))


def _settle(columns: Columns) -> None:
    for column in columns.values():
        column.settle()


def collect(parts: Iterable[Dataset], columns: Columns) -> None:
    """Collect the values of columns in wanted gaps."""
    for column in columns.values():
        column.collected, column.n_collected = np.empty(column.n_wanted), 0
    for part in known_rows(parts):
        for at, column in columns.items():
            column.collect(column_of(part.X, at))
