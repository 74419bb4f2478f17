"""The bins of the columns of Dask collections: each partition counts, and the counts are added up.

Counts of a column are those between its splitters, of which there are fewer than on one machine,
since they are moved: 24 bytes for each splitter, column and partition.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins
from labelrules.data.partitions.collections import CollectedRows
from labelrules.data.partitions.tasks import total_of
from labelrules.scale.files import codes
from labelrules.scale.files.codes import (
    OrderedValues,
    Passes,
    collect,
    count,
    first_count,
    sample_gaps,
)

MOST_SPLITTERS = 1 << 13
"""For each column; more would leave fewer values to collect, but counts take longer to move."""


class _Counts(NamedTuple):
    """What is counted or collected in some rows."""

    columns: dict[int, OrderedValues]
    n_rows: int
    n_known: Any
    occur: dict[int, Mask]

    def plus(self, other: "_Counts") -> "_Counts":
        """That of both."""
        columns = {}
        for at, column in self.columns.items():
            columns[at] = column.anew()
            columns[at].add(column)
            columns[at].add(other.columns[at])
        occur = {at: found | other.occur[at] for at, found in self.occur.items()}
        return _Counts(columns, self.n_rows + other.n_rows, self.n_known + other.n_known, occur)


class _Sampled(NamedTuple):
    """Some values of columns."""

    values: dict[int, list[Floats]]

    def plus(self, other: "_Sampled") -> "_Sampled":
        """Those of both."""
        return _Sampled({at: some + other.values[at] for at, some in self.values.items()})


def _first_counted(
    data: Dataset, ordered: dict[int, OrderedValues], occur: dict[int, Mask]
) -> _Counts:
    ordered, occur = _anew(ordered), {at: np.zeros_like(one) for at, one in occur.items()}
    return _Counts(ordered, *first_count([data], ordered, occur), occur)


def _counted(data: Dataset, columns: dict[int, OrderedValues]) -> _Counts:
    columns = _anew(columns)
    count([data], columns)
    return _Counts(columns, len(data), 0, {})


def _collected(data: Dataset, columns: dict[int, OrderedValues]) -> _Counts:
    columns = _anew(columns)
    collect([data], columns, dict.fromkeys(columns, len(data)))
    for column in columns.values():  # the rest of the room is not to be moved
        column.collected = column.collected[: column.n_collected].copy()
    return _Counts(columns, len(data), 0, {})


def _some_of_gaps(data: Dataset, columns: dict[int, OrderedValues]) -> _Sampled:
    return _Sampled(sample_gaps([data], _anew(columns)))


def _anew(columns: dict[int, OrderedValues]) -> dict[int, OrderedValues]:
    """Columns of this task alone: arguments may be shared between tasks."""
    return {at: column.anew() for at, column in columns.items()}


class ClusterPasses(Passes):
    """Reads the partitions where they are."""

    parts: CollectedRows

    @property
    def most_splitters(self) -> int:
        """See `Passes.most_splitters`."""
        return min(MOST_SPLITTERS, super().most_splitters)

    def first_count(
        self, ordered: dict[int, OrderedValues], occur: dict[int, Mask]
    ) -> tuple[int, Integers]:
        """See `Passes.first_count`."""
        found = self._asked(_first_counted, ordered, occur)
        _take(ordered, found.columns)
        for at, some in found.occur.items():
            occur[at] |= some
        return found.n_rows, found.n_known

    def count(self, columns: dict[int, OrderedValues]) -> None:
        """See `Passes.count`."""
        _take(columns, self._asked(_counted, columns).columns)

    def collect(self, columns: dict[int, OrderedValues]) -> None:
        """See `Passes.collect`."""
        found = self._asked(_collected, columns).columns
        for at, column in columns.items():
            column.collected, column.n_collected = found[at].collected, found[at].n_collected

    def sample_gaps(self, columns: dict[int, OrderedValues]) -> dict[int, list[Floats]]:
        """See `Passes.sample_gaps`."""
        values: dict[int, list[Floats]] = self._asked(_some_of_gaps, columns).values
        return values

    def _asked(self, question: Callable[..., Any], *columns: Any) -> Any:
        import dask

        sent = [{at: _bare(one) for at, one in given.items()} for given in columns]
        given = [dask.delayed(one, traverse=False) for one in sent]
        ask = dask.delayed(question, pure=False)
        return total_of([ask(part, *given) for part in self.parts.parts], "counting its values")


def _bare(column: Any) -> Any:
    """What workers need to know: splitters, not counts; of categories how many there are."""
    return column.bare() if isinstance(column, OrderedValues) else column


def _take(columns: dict[int, OrderedValues], counted: dict[int, OrderedValues]) -> None:
    for at, column in columns.items():
        column.add(counted[at])


def bins_of(data: CollectedRows, n_bins: int) -> Bins:
    """The bins of all rows of which a label is known, equal to those of the rows in memory."""
    return codes.bins_of(data, n_bins, ClusterPasses)
