"""Writing CSV."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from scipy import sparse

from labelrules._types import Floats
from labelrules.data.dataset import Dataset
from labelrules.data.errors import DataError
from labelrules.data.schema import Feature
from labelrules.data.tables.schemafile import Described, described, schema_path, to_json
from labelrules.data.writing import checked_target, is_stream, replacing, written_text

_CELLS_AT_ONCE = 1 << 18
_PLAIN = re.compile(r"[\w .:+-]+", re.ASCII)


def write_csv(data: Dataset, path: str | Path) -> None:
    """Write a data set as CSV, with a schema file beside it.

    ``PATH.schema.json`` holds what the table does not say (kinds, categories and their
    order, labels and their hierarchy, whether X is sparse, what stands for a missing
    value), so that :func:`read_csv` gives back the same data set. Features come first, then
    labels as 0 and 1; numbers are written so that they read back as the same numbers.

    Parameters
    ----------
    data : Dataset
    path : path-like
        The table; one that ends in ``.gz`` is compressed. A file that is there already is
        replaced, once the new one is complete. What is there and is no file, such as a pipe, is
        written into, without a schema file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules.data import load, read_csv
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(load("magazines"), Path(folder, "readers.csv"))
    ...     read_csv(Path(folder, "readers.csv")) == load("magazines")
    True
    """
    if data.schema.n_features + data.schema.n_labels == 0:
        raise DataError("the data set has neither features nor labels: there is nothing to write")
    target = checked_target(path)
    table = described(data)
    with ExitStack() as stack:
        if not is_stream(target):  # beside which there is no place for a file
            schema_file = stack.enter_context(replacing(schema_path(target)))
            with written_text(schema_file, schema_path(target)) as file:
                file.write(to_json(table))
        table_file = stack.enter_context(replacing(target))
        with written_text(table_file, target) as file:
            file.writelines(csv_lines(data, table))


def csv_lines(data: Dataset, table: Described) -> Iterator[str]:
    """The lines of the table, the names first."""
    schema = data.schema
    # a name is quoted, so that a byte order mark at its start is not one of the file
    yield ",".join(_quoted(name) for name in (*schema.feature_names, *schema.labels)) + "\n"
    missing = _cell(table.missing) if schema.n_features + schema.n_labels > 1 else '""'
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1, _CELLS_AT_ONCE // (schema.n_features + schema.n_labels))
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        values = part.toarray() if sparse.issparse(part) else part
        columns = [
            _texts(values[:, index], feature, missing)
            for index, feature in enumerate(schema.features)
        ]
        columns += [list(map(str, column)) for column in data.Y[start : start + size].T.tolist()]
        yield from (",".join(row) + "\n" for row in zip(*columns, strict=True))


def _texts(values: Floats, feature: Feature, missing: str) -> Sequence[str]:
    if feature.categories is None:
        return [missing if value != value else repr(value) for value in values.tolist()]
    cells = [*map(_cell, feature.categories), missing]
    codes = np.where(np.isnan(values), len(cells) - 1, values).astype(np.intp)
    return [cells[code] for code in codes.tolist()]


def _cell(text: str) -> str:
    return text if not text or _PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
