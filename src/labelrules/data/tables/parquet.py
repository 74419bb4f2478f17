"""Reading and writing Parquet."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from labelrules.data.dataset import Dataset
from labelrules.data.encode import dataset
from labelrules.data.errors import DataError, FileError, quoted, suggestion
from labelrules.data.files import why_unreadable
from labelrules.data.names import Names, checked_names
from labelrules.data.schema import repeated
from labelrules.data.tables.arrow import METADATA, arrow_schema, batches, from_arrow, pyarrow
from labelrules.data.tables.schemafile import Described, from_json
from labelrules.data.writing import checked_target, replacing

_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls the columns for an index without a name."""


def read_parquet(
    path: str | Path,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    name: str | None = None,
) -> Dataset:
    """Read a data set from a Parquet file.

    A file that :func:`write_parquet` wrote says itself what its columns are. Of any other,
    `labels` must name the label columns; the other columns are features, whose kinds
    follow from their types as in :func:`labelrules.data.encode.dataset`. An index without
    a name that pandas wrote (``__index_level_0__``) is ignored, as that of a frame is.

    Parameters
    ----------
    path : path-like
    labels : iterable of str, optional
        The label columns, which hold 0 and 1 or truth values. If the file says itself
        which they are, they must be the same.
    nominal, ignore : iterable of str
        Columns to be nominal although they hold numbers; columns to be left out.
    name : str, optional
        Of the data set; the default is that in the file, or else the file's.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        If the file is not as it should be.
    ImportError
        If pyarrow is not installed.
    """
    source = Path(path)
    wanted = checked_names(labels, "labels")
    chosen = checked_names(nominal, "nominal") or ()
    ignored = checked_names(ignore, "ignore") or ()
    with _plain_errors(source):
        content = _read_table(source)
        table = _described(content, source)
        if table is None:
            data = _foreign(content, wanted, chosen, ignored, source.stem)
        else:
            _check_agreement(table, wanted, chosen)
            data = from_arrow(content, table).without(ignored)
    return data if name is None else Dataset(data.schema, data.X, data.Y, name)


def write_parquet(data: Dataset, path: str | Path) -> None:
    """Write a data set as Parquet, so that :func:`read_parquet` gives it back.

    Parameters
    ----------
    data : Dataset
    path : path-like
        A file that is there already is replaced, once the new one is complete; what is there and
        is no file, such as a pipe, is written into.

    Raises
    ------
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules.data import load
    >>> with TemporaryDirectory() as folder:
    ...     write_parquet(load("magazines"), Path(folder, "readers.parquet"))
    ...     read_parquet(Path(folder, "readers.parquet")) == load("magazines")
    True
    """
    pyarrow()
    from pyarrow.parquet import ParquetWriter

    if data.schema.n_features + data.schema.n_labels == 0:
        raise DataError("the data set has neither features nor labels: there is nothing to write")
    target = checked_target(path)
    try:
        head = arrow_schema(data)
        with replacing(target) as new, new.open("wb") as file, ParquetWriter(file, head) as writer:
            for batch in batches(data, head):
                writer.write_batch(batch)
    except UnicodeEncodeError as wrong:
        raise DataError(
            f"{target}: a name or category has the character {wrong.object[wrong.start]!r}, "
            "which is half a character and cannot be written"
        ) from None


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Every error names the file, and none is pyarrow's."""
    try:
        yield
    except FileError:
        raise
    except pyarrow().ArrowException as wrong:
        raise FileError(f"this is not a sound Parquet file ({wrong})", path) from None
    except OSError as wrong:
        raise FileError(why_unreadable(wrong), path) from None
    except DataError as wrong:
        raise FileError(str(wrong), path) from None


def _read_table(path: Path) -> Any:
    pyarrow()
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file) as content:
        table = content.read()
    twice = repeated(table.column_names)
    if twice:
        raise DataError(f"two columns are called {quoted(twice[0])}: rename one of them")
    return table


def _described(content: Any, path: Path) -> Described | None:
    def refuse(message: str, line: int | None) -> NoReturn:
        raise FileError(message, path) from None

    text = (content.schema.metadata or {}).get(METADATA)
    return None if text is None else from_json(text, refuse)


def _foreign(
    content: Any, labels: Names | None, nominal: Names, ignored: Names, name: str
) -> Dataset:
    if labels is None:
        raise DataError("which columns are labels? Pass labels=[...]")
    columns = content.column_names
    for column in (*labels, *nominal, *ignored):
        if column not in columns:
            raise DataError(f"there is no column {quoted(column)}{suggestion(column, columns)}")
    dropped = {*ignored, *labels, *(c for c in columns if _INDEX.fullmatch(c))} - {*nominal}
    left = [column for column in columns if column not in dropped]
    return dataset(content.select(left), content.select(list(labels)), nominal=nominal, name=name)


def _check_agreement(table: Described, labels: Names | None, nominal: Names) -> None:
    """What the caller says must be what the file says."""
    if labels is not None and labels != table.schema.labels:
        raise DataError("labels= are not the labels that the file names: leave labels out")
    known = {feature.name for feature in table.schema.features if feature.is_nominal}
    for name in nominal:
        if name not in known:
            raise DataError(f"{quoted(name)} is not a nominal column of the file")
