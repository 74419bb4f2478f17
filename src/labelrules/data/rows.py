"""Rows in blocks: a data set is one block, partitions are many that need not fit into memory."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from labelrules._checks import counted
from labelrules.data.errors import DataError
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset

MEMORY_LIMIT = 1024
"""Megabytes."""

MEGABYTE = 1 << 20


class Rows(Protocol):
    """Rows with labels in one or more blocks, each a data set; what they hold may only be added up.

    Implemented by `Dataset`, `Partitions` and what wings register.
    """

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories, the same in all blocks."""

    @property
    def name(self) -> str:
        """For headings."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all blocks."""

    @property
    def in_memory(self) -> bool:
        """Whether the rows are one block in memory, beside which results for each row fit, too."""

    @property
    def back_end(self) -> str:
        """Who cuts the columns of rows that are not in memory: see `labelrules._wings.back_end`."""

    def __iter__(self) -> Iterator[Dataset]:
        """The blocks, in the same order each time."""

    def total(
        self, count: Callable[..., Any], what: str, beside: Sequence[Any] | None = None
    ) -> Any:
        """The sum of what a function counts in each block, in their order.

        Answers are added up by `plus`, or by ``+`` if they have no such method. `what` the function
        does is for errors of clusters. `beside` has a second argument for each block.
        """

    def mapped(
        self,
        change: Callable[[Dataset, Any], Dataset],
        schema: Schema,
        beside: Sequence[Any] | None = None,
        n_rows: int | None = None,
        keeps_features: bool = False,
    ) -> "Rows":
        """Other rows, which a function makes of each block.

        Parameters
        ----------
        change : callable
            From a block, and what stands beside it, to a data set. Some rows of any blocks must do,
            too; beside them stands None.
        schema : Schema
            That of the new rows.
        beside : sequence, optional
            A second argument for each block; None for all without it.
        n_rows : int, optional
            How many rows there are then, if not as many as before.
        keeps_features : bool
            Whether these are the same rows, with the features as first columns, so that what is
            known of these need not be found anew.
        """


def known_rows(blocks: Iterable[Dataset]) -> Iterator[Dataset]:
    """The rows of which a label is known, in the same blocks."""
    return (known for one in blocks if len(known := one.with_known_labels()))


def added(answers: Iterable[Any]) -> Any:
    """A few answers added up, by `plus` or by ``+``."""
    return reduce(_sum, answers)


def _sum(total: Any, answer: Any) -> Any:
    return total.plus(answer) if hasattr(total, "plus") else total + answer


@dataclass(frozen=True, eq=False)
class Partitions:
    """Rows in pieces that fit into memory; made by :func:`labelrules.scan`.

    Iterating gives data sets with the same schema, in the same order each time.

    Parameters
    ----------
    schema : Schema
        With the categories of all rows.
    n_rows : int
    name : str
        For headings.
    read : callable
        Begins to read: returns an iterator of data sets.
    read_some : callable, optional
        The same for about so many rows, from all over the data, if that is faster than reading all.

    memory_limit : int, default=1024
        Megabytes: what learners keep of the rows beyond half of it, they keep in temporary files.
    has_names : bool, default=True
        Whether the columns have names of their own, and not only by their place.

    Examples
    --------
    >>> from labelrules import load, scan
    >>> parts = scan(load("magazines"))
    >>> parts
    Partitions('magazines': 14 rows, 4 features, 4 labels)
    >>> sum(len(part) for part in parts)
    14
    """

    schema: Schema
    n_rows: int
    name: str
    read: Callable[[], Iterator[Dataset]] = field(repr=False)
    read_some: Callable[[int], Iterator[Dataset]] | None = field(repr=False, default=None)
    memory_limit: int = MEMORY_LIMIT
    has_names: bool = True
    features_of: "Partitions | None" = field(repr=False, default=None)
    """Other partitions with the same rows, whose features are the first columns of these."""
    in_memory: ClassVar[bool] = False
    back_end: ClassVar[str] = "files"
    made: dict[Any, Any] = field(repr=False, default_factory=dict, init=False)
    """What was made from the rows once, such as the bins of their columns."""

    def __iter__(self) -> Iterator[Dataset]:
        n_rows = 0
        for part in self.read():
            n_rows += len(part)
            yield part
        if n_rows != self.n_rows:
            raise DataError(
                f"{self.name or 'the data'}: {n_rows:,} rows were read, but {self.n_rows:,} before:"
                " have the files changed?"
            )

    def sample(self, n_rows: int) -> Iterator[Dataset]:
        """About so many rows, from all over the data; the same each time."""
        if self.read_some is not None and n_rows < self.n_rows:
            yield from self.read_some(n_rows)
            return
        generator = np.random.default_rng(0)
        for part in self:
            chosen = generator.random(len(part)) * self.n_rows < n_rows
            yield part if chosen.all() else part.take(np.flatnonzero(chosen))

    def total(
        self, count: Callable[..., Any], what: str, beside: Sequence[Any] | None = None
    ) -> Any:
        """Count part by part as they are read; see `Rows.total`."""
        answer, n_parts = None, 0
        for part in self:
            here = count(part) if beside is None else count(part, beside[n_parts])
            answer = added([answer, here]) if n_parts else here
            n_parts += 1
        return answer if n_parts or beside is not None else count(self._no_rows())

    def keeping(self, make: Callable[[Dataset], Any], n_bytes: int) -> "KeptBlocks":
        """Keep what a function makes of each part, so many bytes: in memory or in files."""
        in_files = 2 * n_bytes > self.memory_limit * MEGABYTE
        return KeptBlocks(map(make, self), in_files=in_files)

    def _no_rows(self) -> Dataset:
        X, Y = (np.empty((0, n)) for n in (self.schema.n_features, self.schema.n_labels))
        return Dataset(self.schema, X, Y.astype(np.int8))

    def mapped(
        self,
        change: Callable[[Dataset, Any], Dataset],
        schema: Schema,
        beside: Sequence[Any] | None = None,
        n_rows: int | None = None,
        keeps_features: bool = False,
    ) -> "Partitions":
        """Change each part whenever it is read; see `Rows.mapped`."""

        def read() -> Iterator[Dataset]:
            for number, part in enumerate(self):
                yield change(part, None if beside is None else beside[number])

        def read_some(n_wanted: int) -> Iterator[Dataset]:
            return (change(part, None) for part in self.sample(n_wanted))

        n_rows = self.n_rows if n_rows is None else n_rows
        return Partitions(
            schema, n_rows, self.name, read, read_some, self.memory_limit, self.has_names,
            self if keeps_features else None,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        sizes = {"row": self.n_rows, "feature": self.schema.n_features}
        sizes["label"] = self.schema.n_labels
        text = ", ".join(counted(number, noun) for noun, number in sizes.items())
        return f"Partitions({f'{self.name!r}: ' if self.name else ''}{text})"


class KeptBlocks:
    """Arrays made of parts that were read once, in memory or in files.

    Parameters
    ----------
    arrays : iterable of array
    in_files : bool
    """

    def __init__(self, arrays: Iterable[Any], *, in_files: bool) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="labelrules-") if in_files else None
        self._blocks: list[Any] = []
        try:
            for number, one in enumerate(arrays):
                self._blocks.append(self._stored(number, one))
        except BaseException:
            self.close()
            raise

    def _stored(self, number: int, array: Any) -> Any:
        """The array, or the path of its file."""
        if self._folder is None:
            return array
        path = Path(self._folder.name, f"{number}.npy")
        np.save(path, array)
        return path

    def total(self, count: Callable[[Any], Any], what: str) -> Any:
        """The sum of what a function counts in each array."""
        return added(count(np.load(one) if self._folder else one) for one in self._blocks)

    def close(self) -> None:
        """Remove the files."""
        self._blocks = []
        if self._folder is not None:
            self._folder.cleanup()


def of_datasets(
    datasets: Sequence[Dataset], n_cells: int, name: str | None, memory_limit: int
) -> Partitions:
    """Data sets in memory, in pieces of at most so many cells."""
    first = datasets[0]
    for number, data in enumerate(datasets):
        if not isinstance(data, Dataset):
            raise DataError(f"source has a {type(data).__name__} among data sets, at {number}")
        if data.weights is not None:
            raise DataError("weighted rows cannot be read in partitions: learn from the data set")
        if data.schema != first.schema:
            raise DataError(
                f"data set {number} has another schema than the first: make them of one table, or "
                "with the same columns and categories"
            )
    size = max(1, n_cells // max(1, first.schema.n_features + first.schema.n_labels))

    def read() -> Iterator[Dataset]:
        for data in datasets:
            yield from _slices(data, size)

    n_rows = sum(map(len, datasets))
    title = first.name if name is None else name
    return Partitions(first.schema, n_rows, title, read, memory_limit=memory_limit)


def _slices(data: Dataset, size: int) -> Iterator[Dataset]:
    if len(data) <= size:
        yield data
        return
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    for start in range(0, len(data), size):
        rows = slice(start, start + size)
        part = X[rows].tocsc() if sparse.issparse(X) else np.asfortranarray(X[rows])
        yield Dataset(data.schema, part, data.Y[rows], data.name)
