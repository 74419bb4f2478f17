"""Read and write CSV; columns are decoded by blocks, a large file is never all in memory."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from labelrules._types import Floats
from labelrules.data.errors import DataError
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    replacing,
    written_text,
)
from labelrules.data.files.csv_tables import CsvOptions, opened_tables
from labelrules.data.files.inputs import StrPaths, input_files
from labelrules.data.schema import Feature
from labelrules.data.schema_json import (
    TableDescription,
    missing_text,
    schema_path,
    schema_to_json,
)
from labelrules.data.table import Dataset

_CELLS_AT_ONCE = 1 << 18
_NEEDS_NO_QUOTES = re.compile(r"[\w .:+-]*", re.ASCII)


def read_csv(
    path: StrPaths,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    delimiter: str = ",",
    missing: str = "",
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    r"""Read a data set from a CSV file with a header line, or from several.

    A column is numeric if all its cells that are not missing are numbers, and nominal if none
    is; its categories are then the texts, sorted. If all are dates or times in ISO 8601, such as
    ``2018-12-30`` or ``2018-12-30T14:00``, it holds dates or times. A mixture is an error:
    ``NA`` among numbers is a missing value (``missing="NA"``), and codes such as 1, 2, 3a are
    categories (``nominal=[...]``). If there is a schema file beside the table
    (``PATH.schema.json``, as :func:`write_csv` writes it), kinds, categories and labels come from
    there, and the table must agree with it.

    Parameters
    ----------
    path : path-like or sequence of paths
        The file, or ``"-"`` for the standard input. Files whose names end in ``.gz``, ``.bz2`` or
        ``.xz`` (from Python 3.14 on also ``.zst``) are unpacked. The rows of several files are
        joined in order; their columns must be the same, in any order, and one schema file holds
        for all.
    labels : iterable of str, optional
        The label columns; their cells are 0 or 1 (also 0.0, 1.0, False, True), and unknown if
        they are missing or -1. Required without a schema file; with one, they must be its labels.
    nominal : iterable of str
        Columns that are nominal although they hold numbers. If all their cells are numbers,
        1 and 1.0 are both the category ``"1"``, as in :func:`labelrules.data.dataset`, and the
        categories are in order of size. If there is other text, or a number with a leading
        zero such as 007, the categories are the texts as they are.
    ignore : iterable of str
        Columns to leave out.
    delimiter, missing : str
        The character between cells; the cell that stands for a missing value.
    encoding : str
    name : str, optional
        The name of the data set; by default that in the schema file, or else that of the (first)
        file.

    Raises
    ------
    FileError
        If the file cannot be read as a table; the message begins with file and line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "readers.csv")
    ...     _ = path.write_text("age,sex,quality\n36,Female,1\n,Male,0\n")
    ...     data = read_csv(path, labels=["quality"])
    >>> data.schema.features
    (Feature(name='age', categories=None), Feature(name='sex', categories=('Female', 'Male')))
    >>> data.X
    array([[36.,  0.],
           [nan,  1.]])
    """
    options = CsvOptions.checked(labels, nominal, ignore, delimiter, missing, encoding)
    with input_files(path, "path", ".csv") as paths:
        sources, columns = opened_tables(paths, options)
        data = columns.read(sources)
    return data if name is None else replace(data, name=name)


def write_csv(data: Dataset, path: str | Path) -> None:
    """Write a data set as CSV, with a schema file beside it.

    ``PATH.schema.json`` holds what the table does not show (kinds, categories and their order,
    labels and their hierarchy, whether X is sparse, the text for missing values), so that
    :func:`read_csv` returns the same data set. Features come first, then labels as 0 and 1, or
    missing if they are unknown.

    Parameters
    ----------
    data : Dataset
    path : path-like
        Compressed if the name ends in ``.gz``, ``.bz2`` or ``.xz``. An existing file is replaced
        when the new one is complete. A stream, such as a pipe, is written to, without a schema
        file.

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
    with ExitStack() as stack:
        if not is_stream(target):  # which has no place beside it
            schema_file = stack.enter_context(replacing(schema_path(target)))
            with written_text(schema_file, schema_path(target)) as file:
                file.write(schema_to_json(TableDescription.of(data)))
        table_file = stack.enter_context(replacing(target))
        with written_text(table_file, target) as file:
            file.writelines(csv_lines(data))


def csv_lines(data: Dataset) -> Iterator[str]:
    """The lines of a data set as CSV, the names first."""
    schema = data.schema
    n_columns = schema.n_features + schema.n_labels
    # a name is quoted, so that a byte order mark at its start is not one of the file
    yield ",".join(_cell(name, True) for name in (*schema.feature_names, *schema.labels)) + "\n"
    missing = _cell(missing_text(schema)) if n_columns > 1 else '""'
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1, _CELLS_AT_ONCE // n_columns)
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        values = part.toarray() if sparse.issparse(part) else part
        columns = [_texts(values[:, j], f, missing) for j, f in enumerate(schema.features)]
        labels = ["0", "1", missing]  # an unknown one has the number -1
        for column in data.Y[start : start + size].T.tolist():
            columns.append([labels[label] for label in column])
        yield from (",".join(row) + "\n" for row in zip(*columns, strict=True))


def csv_header(names: Sequence[str]) -> str:
    """The first line of a table."""
    return ",".join(map(_cell, names)) + "\n"


def _texts(values: Floats, feature: Feature, missing: str) -> list[str]:
    if feature.time is not None:
        return [missing if value != value else feature.text(value) for value in values.tolist()]
    if feature.categories is None:
        return [missing if value != value else repr(value) for value in values.tolist()]
    cells = [*map(_cell, feature.categories), missing]
    codes = np.where(np.isnan(values), len(cells) - 1, values).astype(np.intp)
    return [cells[code] for code in codes.tolist()]


def _cell(text: str, must_be_quoted: bool = False) -> str:
    is_plain = _NEEDS_NO_QUOTES.fullmatch(text) and not must_be_quoted
    return text if is_plain else '"' + text.replace('"', '""') + '"'
