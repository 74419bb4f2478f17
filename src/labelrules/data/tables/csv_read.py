"""Reading CSV."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Matrix
from labelrules.data.dataset import Dataset
from labelrules.data.errors import DataError, FileError, quoted
from labelrules.data.files import opened_utf8
from labelrules.data.names import Names, checked_names
from labelrules.data.schema import Feature, Schema, repeated
from labelrules.data.tables.cells import (
    Decoder,
    FoundCategories,
    KnownCategories,
    Labels,
    Numbers,
)
from labelrules.data.tables.csv_records import Block, Source
from labelrules.data.tables.kinds import numeric_columns
from labelrules.data.tables.schemafile import Described, from_json, schema_path, without_labels


def read_csv(
    path: str | Path,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    delimiter: str = ",",
    missing: str = "",
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    r"""Read a data set from a CSV file with a header line.

    Of the cells of a column that are not missing, either all are numbers, and it is
    numeric, or none is, and it is nominal, with its texts as categories, sorted. A mixture
    is refused: ``NA`` among numbers is a missing value (``missing="NA"``), and codes such
    as 1, 2, 3a are categories (``nominal=[...]``).
    A schema file beside the table (``PATH.schema.json``, as :func:`write_csv`
    leaves it) says all this itself, and the table must fit it.

    Parameters
    ----------
    path : path-like
        The file; one that ends in ``.gz`` is decompressed.
    labels : iterable of str, optional
        The label columns; their cells are 0 or 1 (also 0.0, 1.0, False, True). Needed if
        there is no schema file; if there is one, they must be its labels.
    nominal : iterable of str
        Columns to be nominal although they hold numbers. If all their cells are numbers,
        1 and 1.0 are both the category ``"1"``, as in :func:`labelrules.data.encode.dataset`,
        and the categories are in order of size; unless one begins with a needless zero,
        such as 007. Then, or if there is other text, the categories are the texts as they are.
    ignore : iterable of str
        Columns to be left out.
    delimiter : str
        What stands between cells.
    missing : str
        The cell that stands for a missing value.
    encoding : str
        Of the file.
    name : str, optional
        Of the data set; the default is that of the schema file or of the table.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        If the file is not as it should be; the message begins with file and line.

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
    source = Source(Path(path), delimiter, encoding)
    choice = _Choice(
        checked_names(labels, "labels"),
        checked_names(nominal, "nominal") or (),
        checked_names(ignore, "ignore") or (),
    )
    table = _schema_beside(source.path)
    if table is None:
        plan = _plan_from_names(source, choice, missing)
    else:
        _check_agreement(source, table, choice, missing)
        plan = _plan_from_schema(source, table, choice.ignore)
    data = plan.read(source, name if name is not None else plan.table.name)
    if table is None:
        return data
    return data.without([one for one in choice.ignore if one not in table.schema.label_index])


class _Choice:
    """What the caller says of the columns."""

    def __init__(self, labels: Names | None, nominal: Names, ignore: Names) -> None:
        self.labels, self.nominal, self.ignore = labels, nominal, ignore
        twice = repeated(labels or ())
        if twice:
            raise DataError(f"labels name {quoted(twice[0])} twice")
        for label in labels or ():
            if label in self.nominal or label in self.ignore:
                raise DataError(f"{quoted(label)} is named as a label and as something else")


class _Plan:
    """How the columns that are read, by position, are decoded."""

    def __init__(
        self, features: dict[int, Decoder], labels: dict[int, Decoder], table: Described
    ) -> None:
        self._features, self._labels, self.table = features, labels, table

    def read(self, source: Source, name: str) -> Dataset:
        """Read all rows."""
        parts: list[Any] = []
        boards: list[Board] = [np.empty((0, len(self._labels)), dtype=np.int8)]
        for block in source.blocks():
            columns = block.columns()
            part = _decoded(columns, block, self._features)
            parts.append(sparse.csr_array(part) if self.table.is_sparse else part)
            boards.append(_decoded(columns, block, self._labels).astype(np.int8))
        Y = np.concatenate(boards)
        X: Matrix
        features, X = self._sparse(parts) if self.table.is_sparse else self._dense(parts, len(Y))
        schema = Schema(features, self.table.schema.labels, self.table.schema.parents)
        return Dataset(schema, X, Y, name)

    def _sparse(self, parts: list[Any]) -> tuple[list[Feature], Matrix]:
        empty = sparse.csr_array((0, len(self._features)))
        whole = sparse.csc_array(sparse.vstack([empty, *parts]))
        return [decoder.feature for decoder in self._features.values()], whole

    def _dense(self, parts: list[Any], n_rows: int) -> tuple[list[Feature], Matrix]:
        X = np.empty((n_rows, len(self._features)), order="F")
        stop = n_rows
        while parts:
            part = parts.pop()  # so that each part is freed as soon as it is copied
            X[stop - part.shape[0] : stop] = part
            stop -= part.shape[0]
        decoders = enumerate(self._features.values())
        features = [decoder.finish(X[:, index]) for index, decoder in decoders]
        X.setflags(write=False)
        return features, X


def _decoded(
    columns: Sequence[Sequence[str]], block: Block, decoders: dict[int, Decoder]
) -> Floats:
    matrix = np.empty((len(block.rows), len(decoders)), order="F")
    for index, (column, decoder) in enumerate(decoders.items()):
        matrix[:, index] = decoder.decode(columns[column], block)
    return matrix


def _plan_from_names(source: Source, choice: _Choice, missing: str) -> _Plan:
    if choice.labels is None:
        source.refuse(
            "which columns are labels? Pass labels=[...], or put the schema file "
            f"{schema_path(source.path).name} beside it, as write_csv does{source.other_delimiter}"
        )
    labels: dict[int, Decoder] = {source.column(name): Labels(name) for name in choice.labels}
    ignored = {source.column(name) for name in choice.ignore}
    nominal = {source.column(name) for name in choice.nominal}
    chosen = [c for c in range(len(source.header)) if c not in labels and c not in ignored]
    numeric = numeric_columns(source, [c for c in chosen if c not in nominal], missing)
    features: dict[int, Decoder] = {}
    for column in chosen:
        name = source.header[column]
        is_numeric = column in numeric
        features[column] = (
            Numbers(Feature(name), missing) if is_numeric else FoundCategories(name, missing)
        )
    schema = Schema([Feature(source.header[column]) for column in chosen], choice.labels)
    return _Plan(features, labels, Described(schema, False, missing, _stem(source.path)))


def _plan_from_schema(source: Source, table: Described, ignored: Names) -> _Plan:
    known = table.schema.feature_index.keys() | table.schema.label_index.keys()
    extra = [name for name in source.header if name not in known]
    if extra:
        source.refuse(f"column {quoted(extra[0])} is not in the schema file", 1)
    table = without_labels(table, ignored)
    schema = table.schema
    features: dict[int, Decoder] = {}
    for feature in schema.features:
        decoder = Numbers if feature.is_numeric else KnownCategories
        features[source.column(feature.name)] = decoder(feature, table.missing)
    labels: dict[int, Decoder] = {source.column(name): Labels(name) for name in schema.labels}
    return _Plan(features, labels, table)


def _schema_beside(path: Path) -> Described | None:
    beside = schema_path(path)
    if not beside.exists():
        return None

    def refuse(message: str, line: int | None) -> NoReturn:
        raise FileError(message, beside, line) from None

    with opened_utf8(beside) as file:
        return from_json(file.read(), refuse)


def _check_agreement(source: Source, table: Described, choice: _Choice, missing: str) -> None:
    """What the caller says must be what the schema file says."""
    beside = schema_path(source.path).name
    schema = table.schema
    if choice.labels is not None and choice.labels != schema.labels:
        source.refuse(f"labels= are not the labels in {beside}: leave labels out, or remove it")
    nominal = {feature.name for feature in schema.features if feature.is_nominal}
    for name in choice.nominal:
        source.column(name)
        if name not in nominal:
            source.refuse(f"column {quoted(name)} is not nominal in {beside}: remove one of them")
    if missing not in ("", table.missing):
        source.refuse(f"missing={missing!r}, but {beside} says {table.missing!r}")


def _stem(path: Path) -> str:
    name = path.name
    for ending in (".gz", ".csv", ".tsv", ".txt"):
        name = name.removesuffix(ending)
    return name
