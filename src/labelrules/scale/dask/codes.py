"""The bins of the columns of Dask collections: each partition counts, and the counts are added up.

Counts of a column are those between its splitters, of which there are fewer than on one machine,
since they are moved: 24 bytes for each splitter, column and partition.
"""

from functools import partial
from typing import Any, NamedTuple

from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins
from labelrules.data.rows import added
from labelrules.scale.dask.rows import CollectedRows
from labelrules.scale.files import codes
from labelrules.scale.files.codes import Columns, Passes, Question

MOST_SPLITTERS = 1 << 13
"""For each column; more would leave fewer values to collect, but counts take longer to move."""


class _Counts(NamedTuple):
    """What is counted into columns in some rows, and what else is found."""

    columns: Columns
    value: Any

    def plus(self, other: "_Counts") -> "_Counts":
        """Add the counts of both, without changing them."""
        columns = {}
        for at, column in self.columns.items():
            columns[at] = column.anew()
            columns[at].add(column)
            columns[at].add(other.columns[at])
        value = None if self.value is None else added([self.value, other.value])
        return _Counts(columns, value)


class ClusterPasses(Passes):
    """Lets the partitions be counted where they are."""

    @property
    def most_splitters(self) -> int:
        """At most so many splitters for each column, whose counts are moved."""
        return min(MOST_SPLITTERS, super().most_splitters)

    def ask(self, question: Question, columns: Columns, *more: Any) -> Any:
        """Send the splitters of columns, and add the counts of all partitions."""
        sent = {at: column.bare() for at, column in columns.items()}
        count = partial(_counted, question, sent, more)
        found: _Counts = self.parts.total(count, "counting its values")
        for at, column in columns.items():
            column.add(found.columns[at])
        return found.value


def _counted(question: Question, columns: Columns, more: tuple[Any, ...], part: Dataset) -> _Counts:
    # arguments may be shared between tasks: these columns are of this task alone
    own = {at: column.anew() for at, column in columns.items()}
    value = question([part], own, *more)
    for column in own.values():  # the rest of the room is not to be moved
        column.collected = column.collected[: column.n_collected].copy()
    return _Counts(own, value)


def bins_of(data: CollectedRows, n_bins: int) -> Bins:
    """The bins of all rows of which a label is known, equal to those of the rows in memory."""
    return codes.bins_of(data, n_bins, ClusterPasses)
