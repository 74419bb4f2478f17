"""Data sets larger than memory: files and data sets in pieces, with one schema."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from labelrules._checks import listed, whole_number
from labelrules._wings import reader_of
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.compression import without_compression
from labelrules.data.files.csv_tables import CsvOptions, opened_tables
from labelrules.data.files.inputs import STANDARD
from labelrules.data.files.parquet_pieces import opened_parquet
from labelrules.data.rows import MEMORY_LIMIT, Partitions, of_datasets
from labelrules.data.table import Dataset

CELLS_OF_A_PIECE = 1 << 22
"""As float64 a piece of so many cells takes 32 MB; some copies are made while it is read."""

_DIGITS = re.compile(r"(\d+)")
_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}


def scan(
    source: Any,
    labels: Any = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    delimiter: str = ",",
    missing: str = "",
    encoding: str = "utf-8",
    name: str | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Partitions:
    r"""Rows in partitions, which are read one after the other, as often as needed.

    Learning from them takes little memory, however many rows there are. The rows, kinds and
    categories are those that :func:`read_csv`, :func:`read_parquet` or :func:`dataset` would give:
    where a file does not say them, it is read once to find them.

    Parameters
    ----------
    source : path-like, sequence of paths, Dataset or sequence of Dataset, or Dask frame or array
        Parquet or CSV files (also compressed), all of one format and with the same columns; or a
        folder, whose files are taken in the order of their names (numbers by size); or data sets in
        memory; or a collection of Dask.
    labels, nominal, ignore, delimiter, missing, encoding, name
        As for :func:`read_csv` and :func:`read_parquet`; not for data sets. The labels of a
        collection of Dask are another one with the same partitions, or names of its columns; no
        more than `ignore` and `name` is for such collections.
    memory_limit : int, default=1024
        Megabytes for learning. Learners keep a byte or two for each cell of a row: in memory, if
        that is at most half of the limit, else in temporary files.

    Returns
    -------
    Partitions

    Raises
    ------
    FileError
        If a file cannot be read as a table; the message names the file, the line or the row group,
        and the column.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for number, sex in enumerate(["Female", "Male"]):
    ...         path = Path(folder, f"part-{number}.csv")
    ...         _ = path.write_text(f"age,sex,quality\n36,{sex},1\n")
    ...     parts = scan(folder, labels=["quality"])
    ...     parts.schema.features, parts.n_rows, [part.X.tolist() for part in parts]
    ((Feature(name='age', categories=None), Feature(name='sex', categories=('Female', 'Male'))),
     2, [[[36.0, 0.0], [36.0, 1.0]]])
    """
    if isinstance(source, Partitions):
        return source
    limit = whole_number(memory_limit, "memory_limit", low=1)
    reader = reader_of(source)
    if reader is not None:
        if tuple(nominal):
            raise DataError("of Dask: leave nominal out, and use .astype('category') or text")
        return reader.collected(  # type: ignore[no-any-return]
            source, labels, ignore=ignore, name=name or "", memory_limit=limit
        )
    datasets = [source] if isinstance(source, Dataset) else source
    if not isinstance(datasets, str | os.PathLike) and _are_datasets(datasets):
        given = (labels, tuple(nominal), tuple(ignore))
        if given != (None, (), ()):
            raise DataError("data sets bring their columns: leave labels, nominal and ignore out")
        return of_datasets(datasets, CELLS_OF_A_PIECE, name, limit)
    paths = part_files(source)
    options = CsvOptions.checked(labels, nominal, ignore, delimiter, missing, encoding)
    if format_of(paths) == "csv":
        return _csv_partitions(paths, options, name, limit)
    found = opened_parquet(
        paths, options.labels, options.nominal, options.ignored, CELLS_OF_A_PIECE
    )
    return Partitions(
        found.schema, found.n_rows, found.name if name is None else name,
        lambda: found.pieces(CELLS_OF_A_PIECE), found.some, limit,
    )  # fmt: skip


def _csv_partitions(
    paths: list[Path], options: CsvOptions, name: str | None, limit: int
) -> Partitions:
    sources, columns = opened_tables(paths, options)
    found, n_rows = columns.found(sources)
    table = found.table
    return Partitions(
        table.schema, n_rows, table.name if name is None else name,
        lambda: found.pieces(sources, CELLS_OF_A_PIECE), memory_limit=limit,
    )  # fmt: skip


def _are_datasets(source: Any) -> bool:
    if not isinstance(source, Sequence) or isinstance(source, bytes):
        raise DataError(f"source must be files, a folder or data sets, not {source!r:.60}")
    if not source:
        raise DataError("source is an empty list: give the path of a file, or a data set")
    return isinstance(source[0], Dataset)


def part_files(source: Any) -> list[Path]:
    """The files of a source: those that are named, and those of a folder in order."""
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    files: list[Path] = []
    for one in given:
        if not isinstance(one, str | os.PathLike):
            raise DataError(f"source must be files, a folder or data sets, not {one!r:.60}")
        if one == STANDARD:
            raise DataError("the standard input can be read only once: name a file")
        path = Path(one)
        files += _files_in(path) if path.is_dir() else [path]
    return files


def _files_in(folder: Path) -> list[Path]:
    """The tables in a folder; files that begin with a point or _ are notes of other programs."""
    entries = [one for one in folder.iterdir() if not one.name.startswith((".", "_"))]
    folders = [one for one in entries if one.is_dir()]
    if folders:
        raise FileError(f"the folder has the folder {folders[0].name} in it: name one of them",
                        folder)  # fmt: skip
    files = [one for one in entries if _format(one) is not None]
    if not files:
        raise FileError("the folder has no Parquet or CSV files", folder)
    return sorted(files, key=_natural)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Names in order, the numbers in them by size: part-2 before part-10."""
    parts = _DIGITS.split(path.name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _format(path: Path) -> str | None:
    return _FORMATS.get(Path(without_compression(path.name)).suffix.lower())


def format_of(paths: Sequence[Path]) -> str:
    """The format of all files."""
    formats = {path: _format(path) for path in paths}
    for path, form in formats.items():
        if form is None:
            raise FileError("only Parquet and CSV files are read in partitions", path)
    if len(set(formats.values())) > 1:
        raise DataError(f"the files are of several formats: {listed([p.name for p in paths])}")
    return next(iter(formats.values())) or ""
