"""Rows of Dask collections: kinds and categories from all partitions, and data sets of each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from labelrules._checks import counted, listed, quoted, suggestion
from labelrules.data.errors import DataError
from labelrules.data.files.parquet_pieces import FoundColumn, Order
from labelrules.data.memory.arrays import as_table
from labelrules.data.memory.columns import EncodedColumn, is_number_text
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.memory.frames import FrameTable, is_frame
from labelrules.data.memory.labels import (
    Names,
    checked_names,
    default_names,
    feature_names_of,
)
from labelrules.data.rows import MEMORY_LIMIT, Partitions
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.scale.dask.tasks import (
    computed,
    current_client,
    in_partition,
    is_collection,
    naming_files,
    tasks_of,
    total_of,
)

SAMPLED, SAMPLED_CELLS = 1 << 17, 1 << 23
"""So many rows of all partitions, of so many cells, are looked at to guess where quantiles are."""

UNKNOWN = "__UNKNOWN_CATEGORIES__"
"""The category by which Dask says that a column has others, which are not known yet."""


@dataclass(frozen=True, eq=False)
class CollectedRows(Partitions):
    """The rows of Dask collections, each partition a data set that Dask makes when asked.

    Parameters
    ----------
    parts : tuple of Delayed
        For each partition the task that makes its data set.
    sizes : tuple of int
        For each partition its number of rows.
    """

    parts: tuple[Any, ...] = field(repr=False, default=())
    sizes: tuple[int, ...] = field(repr=False, default=())

    @property
    def back_end(self) -> str:  # type: ignore[override]
        """Workers count, where there are some; else the parts are read one after the other."""
        return "files" if current_client() is None else "dask"

    def sample(self, n_rows: int) -> Iterator[Dataset]:
        """Some rows of all partitions, which were taken with the first look."""
        assert self.read_some is not None, "they were"
        yield from self.read_some(n_rows)

    def total(
        self, count: Callable[..., Any], what: str, beside: Sequence[Any] | None = None
    ) -> Any:
        """Count where the partitions are, and add up in a tree; see `Rows.total`."""
        if not self.parts:
            return count(self._no_rows())
        return total_of(_asked(count, self._beside(beside)), what)

    def keeping(self, make: Callable[[Dataset], Any], n_bytes: int) -> Any:
        """Keep what a function makes of each part where the parts are."""
        import dask

        return CollectedBlocks([(one,) for one in dask.persist(*_asked(make, self._beside(None)))])

    def mapped(
        self,
        change: Callable[[Dataset, Any], Dataset],
        schema: Schema,
        beside: Sequence[Any] | None = None,
        n_rows: int | None = None,
        keeps_features: bool = False,
    ) -> "CollectedRows":
        """Change each part where it is; see `Rows.mapped`."""
        plain = super().mapped(change, schema, beside, n_rows, keeps_features)
        given = [None] * len(self.parts) if beside is None else beside
        parts = tuple(_asked(change, self._beside(given)))
        return CollectedRows(
            schema, plain.n_rows, self.name, partial(_read, parts), plain.read_some,
            self.memory_limit, self.has_names, plain.features_of, parts, self.sizes,
        )  # fmt: skip

    def _beside(self, values: Sequence[Any] | None) -> list[tuple[Any, ...]]:
        """The parts, each with what stands beside it."""
        import dask

        if values is None:
            return [(part,) for part in self.parts]
        given = [dask.delayed(one, traverse=False) for one in values]
        return list(zip(self.parts, given, strict=True))


class CollectedBlocks(NamedTuple):
    """Tables of Dask side by side: for each partition the tasks that make its tables."""

    tasks: list[tuple[Any, ...]]
    in_memory: bool = False

    def total(self, count: Callable[..., Any], what: str) -> Any:
        """Count where the partitions are, and add up in a tree."""
        return total_of(_asked(count, self.tasks), what)

    def close(self) -> None:
        """Let Dask forget tables that were kept."""
        self.tasks.clear()


def blocks(**tables: Any) -> CollectedBlocks:
    """The partitions of collections, side by side; names are for messages."""
    names = list(tables)
    if not all(map(is_collection, tables.values())):
        raise DataError(
            f"{' and '.join(names)} must both be collections of Dask, or both in memory"
        )
    tasks = [tasks_of(table) for table in tables.values()]
    for name, own in zip(names, tasks, strict=True):
        if len(own) != len(tasks[0]):
            raise DataError(
                f"{names[0]} has {len(tasks[0])} partitions but {name} has {len(own)}: divide both "
                "alike"
            )
    return CollectedBlocks(list(zip(*tasks, strict=True)))


def applied_to_blocks(model: Any, name: str, X: Any) -> Any:
    """What a method of a model predicts, as an array of Dask with the partitions of X."""
    import dask.array as da

    is_array = hasattr(X, "chunks")
    example = np.zeros((1, X.shape[1]), X.dtype) if is_array else X._meta_nonempty
    form = getattr(model, name)(example)  # its type, and how many columns
    tasks = tasks_of(X)
    sizes = X.chunks[0] if is_array else (np.nan,) * len(tasks)
    predict = partial(_predicted, model, name)
    blocks = [
        da.from_delayed(block, (size, *form.shape[1:]), form.dtype)
        for block, size in zip(_asked(predict, [(one,) for one in tasks]), sizes, strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _predicted(model: Any, name: str, X: Any) -> Any:
    return getattr(model, name)(X)


def _asked(function: Callable[..., Any], tables: Iterable[Sequence[Any]]) -> list[Any]:
    """For the tables of each partition the task that calls a function with them."""
    import dask

    call, shared = dask.delayed(_called, pure=False), dask.delayed(function, traverse=False)
    return [call(number, shared, *some) for number, some in enumerate(tables)]


def _called(number: int, function: Callable[..., Any], *tables: Any) -> Any:
    """What a function makes of a partition; run as a task."""
    with in_partition(number):
        return function(*tables)


def _read(parts: Sequence[Any]) -> Iterator[Dataset]:
    for part in parts:
        yield computed([part], "reading it", parts)[0]


def collected(
    X: Any,
    labels: Any,
    *,
    ignore: Iterable[str] = (),
    feature_names: Sequence[str] | None = None,
    name: str = "",
    memory_limit: int = MEMORY_LIMIT,
) -> CollectedRows:
    """The rows of Dask collections, once their kinds and categories are found.

    Parameters
    ----------
    X : Dask frame or array
        As for :func:`labelrules.dataset`. Categories that Dask does not know yet are those of all
        partitions, sorted as those of columns of text.
    labels : Dask frame or array, or list of str
        As many partitions as X, with the same rows; or the names of columns of X.
    ignore : iterable of str
        Columns of X that are left out.
    feature_names : sequence of str, optional
        Names of the columns of an array.
    """
    blocks = _CollectedBlocks.of(X, labels, checked_names(ignore, "ignore") or (), feature_names)
    wanted = min(SAMPLED, SAMPLED_CELLS // max(1, len(blocks.columns.features)))
    n_sampled = -(-wanted // max(1, len(blocks.tasks)))
    look = partial(_looked_at, blocks.columns, n_sampled)
    looks: list[_Look] = computed(_asked(look, blocks.tasks), "reading it")
    schema = _schema(blocks, looks)
    parts = _asked(partial(_data_of, schema, blocks.columns), blocks.tasks)
    sizes = [look.n_rows for look in looks]

    def sample(n_rows: int) -> Iterator[Dataset]:
        for number, one in enumerate(looks):
            if len(one.sample):
                with naming_files(parts), in_partition(number):
                    matrix = encode(one.sample, schema)
                yield Dataset(schema, matrix, np.zeros((len(matrix), schema.n_labels), np.int8))

    return CollectedRows(
        schema, sum(sizes), name, partial(_read, parts), sample, memory_limit, blocks.has_names,
        None, tuple(parts), tuple(sizes),
    )  # fmt: skip


class _CollectedColumns(NamedTuple):
    """What the columns of each partition are: of X, those that are features, and of Y."""

    given: Names | None
    """The columns that X has; None for an array."""
    features: Names
    own: Names
    """Those that are features, by the names they have in X."""
    labels: Names
    labels_in_x: bool
    are_numbers: tuple[bool, ...]
    """For each feature whether its type says that it holds numbers."""


class _CollectedBlocks(NamedTuple):
    """The partitions of X and Y side by side, and what their types say."""

    tasks: list[tuple[Any, Any]]
    columns: _CollectedColumns
    declared: dict[str, bool]
    """For columns of categories whether all of them are known, in their order."""
    has_names: bool

    @classmethod
    def of(
        cls, X: Any, labels: Any, ignore: Names, feature_names: Sequence[str] | None
    ) -> "_CollectedBlocks":
        """Check the collections, and put them side by side."""
        _refuse_other_dimensions(X, labels)
        is_array = _is_array(X)
        given = None if is_array else FrameTable(X._meta, "X").names
        if is_array and ignore:
            raise DataError("ignore names columns, but X is an array")
        in_x = not is_collection(labels)
        chosen = _chosen_labels(labels, given) if in_x else names_of_labels(labels)
        out = {*ignore, *((chosen or ()) if in_x else ())}
        _refuse_unknown(ignore, given or ())
        own = None if given is None else tuple(name for name in given if name not in out)
        n_features = X.shape[1] if own is None else len(own)
        names = feature_names_of(own, checked_names(feature_names, "feature_names"), n_features,
                                 taken=chosen or ())  # fmt: skip
        if chosen is None:
            chosen = default_names("y", labels.shape[1], taken=names)
        bare = None if own is None else _only(X._meta, own, given)
        kinds = [X.dtype] * n_features if bare is None else bare.dtypes.tolist()
        are_numbers = tuple(getattr(kind, "kind", "O") in "iuf" for kind in kinds)
        declared = {
            one: UNKNOWN not in kind.categories
            for one, kind in zip(names, kinds, strict=True)
            if hasattr(kind, "categories")
        }
        columns = _CollectedColumns(given, names, own or (), chosen, in_x, are_numbers)
        # as for scikit-learn, names are texts
        has_names = bare is not None and all(isinstance(name, str) for name in bare.columns)
        return cls(_side_by_side(X, labels), columns, declared, has_names)


def _is_array(data: Any) -> bool:
    return hasattr(data, "chunks")


def _refuse_other_dimensions(X: Any, labels: Any) -> None:
    if X.ndim != 2:
        raise DataError(f"X must have rows and columns, but it has {counted(X.ndim, 'dimension')}")
    if labels is None:
        raise DataError(
            "labels are missing: give a Dask frame or array, or the names of columns of X"
        )
    if is_collection(labels) and labels.ndim != 2:
        raise DataError(
            "labels of Dask must have rows and columns: make them a frame of one column by "
            "y.to_frame(), or an array by y[:, None]"
        )


def _chosen_labels(labels: Any, given: Names | None) -> Names:
    """The names of labels among the columns of X."""
    texts = isinstance(labels, list | tuple) and all(isinstance(one, str) for one in labels)
    if not texts:
        raise DataError(
            "X is a collection of Dask: give its labels as one, too, or the names of columns of X "
            f"as a list, not {labels!r:.60}"
        )
    if given is None:
        raise DataError("labels are named, but X is an array: give them as an array of Dask")
    _refuse_unknown(labels, given)
    return tuple(labels)


def _refuse_unknown(names: Iterable[str], given: Names) -> None:
    for name in names:
        if name not in given:
            raise DataError(f"X has no column {quoted(name)}{suggestion(name, given)}")


def names_of_labels(labels: Any) -> Names | None:
    """The names that a collection of labels has; None for an array."""
    return None if _is_array(labels) else FrameTable(labels._meta, "Y").names


def _side_by_side(X: Any, labels: Any) -> list[tuple[Any, Any]]:
    """The partitions of X, each with that of Y if Y is a collection."""
    if not is_collection(labels):
        return [(block, None) for block in tasks_of(X)]
    if _is_array(X) and _is_array(labels) and not np.isnan(X.shape[0] + labels.shape[0]):
        if X.shape[0] != labels.shape[0]:
            raise DataError(f"X has {X.shape[0]} rows but Y has {labels.shape[0]}")
        labels = labels.rechunk({0: X.chunks[0]})
    left, right = tasks_of(X), tasks_of(labels)
    if len(left) != len(right):
        raise DataError(
            f"X has {counted(len(left), 'partition')} but Y has {len(right)}: divide both alike, "
            "as by repartition, or take both from one frame"
        )
    return list(zip(left, right, strict=True))


def _divided(X: Any, Y: Any, columns: _CollectedColumns) -> tuple[Any, Any]:
    """The features and the labels of a partition, whose columns are those of all."""
    if columns.given is not None:
        _check_columns(X, columns.given, "X")
        if columns.labels_in_x:
            Y = _only(X, columns.labels, columns.given)
        X = _only(X, columns.own, columns.given) if columns.own != columns.given else X
    if is_frame(Y):
        _check_columns(Y, columns.labels, "Y")
    if len(X) != len(Y):
        raise DataError(f"X has {len(X)} rows but Y has {len(Y)}")
    return X, Y


def _only(block: Any, names: Names, given: Names | None) -> Any:
    """Some columns of a frame by our names: those that it has may be numbers."""
    places = {name: place for place, name in enumerate(given or ())}
    return block.iloc[:, [places[name] for name in names]]


def _check_columns(block: Any, names: Names, what: str) -> None:
    if not is_frame(block):
        raise DataError(f"{what} is a {type(block).__name__}, but a frame in other partitions")
    found = FrameTable(block, what).names
    for name in names:
        if name not in found:
            raise DataError(f"{what} has no column {quoted(name)}{suggestion(name, found)}")
    if found != names:
        raise DataError(f"{what} has the columns {listed(found)}, but others {listed(names)}")


class _Look(NamedTuple):
    """What a first look at a partition finds."""

    n_rows: int
    columns: dict[int, EncodedColumn]
    """The kinds and categories of columns whose types do not say them; one value or none."""
    sample: Any
    """Some of its rows, as they are."""


def _looked_at(columns: _CollectedColumns, n_sampled: int, X: Any, Y: Any) -> _Look:
    """Look at a partition; run as a task."""
    X, _ = _divided(X, Y, columns)
    found = {}
    table = FrameTable(X, "X") if is_frame(X) else as_table(X)
    for at, name in enumerate(columns.features):
        if not columns.are_numbers[at]:
            column = table.read(at, name, False)
            known = column.values[~np.isnan(column.values)][:1]
            found[at] = EncodedColumn(
                known, column.categories, column.are_truth_values, column.kind
            )
    step = max(1, -(-len(X) // n_sampled))
    sample = X.iloc[::step] if is_frame(X) else X[::step]
    return _Look(len(X), found, sample)


def _data_of(schema: Schema, columns: _CollectedColumns, X: Any, Y: Any) -> Dataset:
    """The data set of a partition; run as a task."""
    X, Y = _divided(X, Y, columns)
    return Dataset(schema, encode(X, schema), encode_labels(Y, schema))


def _schema(blocks: _CollectedBlocks, looks: list[_Look]) -> Schema:
    """The features that all partitions make together."""
    features = []
    for at, name in enumerate(blocks.columns.features):
        if blocks.columns.are_numbers[at]:
            features.append(EncodedColumn(np.empty(0)).feature(name))
            continue
        parts = [look.columns[at] for look in looks]
        _check_alike(parts, name)
        texts = {text for part in parts for text in part.categories or ()}
        # texts are sorted as texts, but categories may have been numbers
        are_numbers = name in blocks.declared and texts and all(map(is_number_text, texts))
        order: Order = "number" if are_numbers else "text"
        is_declared = blocks.declared.get(name, False)
        keeps_order = is_declared or any(part.kind == "ordered" for part in parts)
        found = FoundColumn(name, "found" if keeps_order else order)
        for part in parts:
            found.add(part)
        features.append(found.feature())
    return Schema(features, blocks.columns.labels)


def _check_alike(parts: Sequence[EncodedColumn], name: str) -> None:
    """Refuse a column of which partitions with values hold different things."""
    first: tuple[int, EncodedColumn] | None = None
    for number, part in enumerate(parts):
        if not len(part.values):
            continue
        if first is None:
            first = number, part
        if _what(part) != _what(first[1]):
            raise DataError(
                f"partition {number}: column {quoted(name)} holds {_what(part)}, but "
                f"{_what(first[1])} in partition {first[0]}"
            )
        if part.kind == "ordered" and part.categories != first[1].categories:
            raise DataError(
                f"partition {number}: column {quoted(name)} has other ordered categories than "
                f"partition {first[0]}: give all the same, as by .cat.set_categories"
            )


def _what(column: EncodedColumn) -> str:
    """What a column holds, for messages."""
    if column.are_truth_values:
        return "truth values"
    if column.categories is not None:
        return "ordered categories" if column.kind == "ordered" else "categories"
    kind = column.kind or "numeric"
    return "numbers" if kind == "numeric" else "times" if kind in ("date", "time") else f"{kind}s"
