"""Data for a model: its columns by name, its categories by name, and its labels if need be."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import Board, Floats
from labelrules.cli.errors import CommandError
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.files.access import read_blocks
from labelrules.data.files.arff.file import read_arff
from labelrules.data.files.arff.header import Header, read_header
from labelrules.data.files.csv_records import Source
from labelrules.data.schema_json import schema_path


def arff_header(path: Path, chosen: dict[str, Any]) -> Header:
    """What stands before the rows of an ARFF file."""
    with closing(read_blocks(path, chosen.get("encoding", "utf-8"))) as blocks:
        return read_header(blocks, path)[0]


def read_columns(
    path: Path, form: str, chosen: dict[str, Any], wanted: Schema, labels: tuple[str, ...]
) -> Dataset:
    """Read the columns of a file that a model knows; others may hold anything.

    So may its labels, except those asked for: in rows to predict they are often blank.
    """
    from labelrules.cli.reading import reader_of

    if form in ("arff", "mulan", "meka"):
        return _read_arff(path, chosen, wanted, labels)
    columns = _columns(path, form, chosen, wanted)
    if columns is None:  # the file says itself what its columns are
        if form == "csv":
            unasked = {*wanted.labels} - {*labels}
            left_out = [name for name in _csv(path, chosen).header if name in unasked]
            chosen = {**chosen, "ignore": [*chosen.get("ignore", ()), *left_out]}
        return reader_of(path, form, chosen)(path)
    asked = [*labels, *chosen.get("labels", ())]
    known = {*wanted.feature_names, *asked} - {*chosen.get("ignore", ())}
    chosen = {
        "labels": [name for name in columns if name in asked],
        "nominal": _nominal(path, form, chosen, wanted, columns),
        **chosen,
        "ignore": [name for name in columns if name not in known],
    }
    return reader_of(path, form, chosen)(path)


def _nominal(
    path: Path, form: str, chosen: dict[str, Any], wanted: Schema, columns: list[str]
) -> list[str]:
    """The columns that hold categories; every one in a table without rows, which holds nothing."""
    is_empty = form == "csv" and _csv(path, chosen).is_empty
    nominal = [one.name for one in wanted.features if one.is_nominal or is_empty]
    return [name for name in nominal if name in columns]


def fitted(data: Dataset, wanted: Schema, *, with_labels: bool) -> Dataset:
    """The data in the columns and categories of a model.

    Parameters
    ----------
    data : Dataset
    wanted : Schema
        Of the model. A category it does not know becomes a missing value, as in `encode`.
    with_labels : bool
        Whether every label must be there, and a row; else labels that are not are taken to be
        absent.
    """
    for name in wanted.feature_names:
        if name not in data.schema.feature_index:
            near = suggestion(name, data.schema.feature_names)
            raise CommandError(
                f"the data have no column {quoted(name)}, a feature of the model{near}"
            )
    if with_labels and not len(data):
        raise CommandError("the data have no rows, so there is nothing to compare with")
    Y = _labels(data, wanted, with_labels)
    if data.schema.features == wanted.features:
        return Dataset(wanted, data.X, Y, data.name)
    columns = [_column(data, feature) for feature in wanted.features]
    if data.is_sparse:
        parts = [sparse.csc_array(column[:, None]) for column in columns]
        X: Any = sparse.hstack(parts, format="csc") if parts else sparse.csc_array((len(data), 0))
    else:
        X = np.column_stack(columns) if columns else np.empty((len(data), 0))
    return Dataset(wanted, X, Y, data.name)


def _read_arff(
    path: Path, chosen: dict[str, Any], wanted: Schema, labels: tuple[str, ...]
) -> Dataset:
    known = {*wanted.feature_names, *labels} - {*chosen.get("ignore", ())}
    names = [attribute.name for attribute in arff_header(path, chosen).attributes]

    def hierarchy(header: Header) -> dict[str, str | None]:
        return {name: None for name in names if name in labels}

    ignored = [name for name in names if name not in known]
    return read_arff([path], hierarchy, ignored, path.stem, chosen.get("encoding", "utf-8"))


def _csv(path: Path, chosen: dict[str, Any]) -> Source:
    return Source(path, chosen.get("delimiter", ","), chosen.get("encoding", "utf-8"))


def _columns(path: Path, form: str, chosen: dict[str, Any], wanted: Schema) -> list[str] | None:
    """The names of a table's columns; None if a schema comes with it."""
    if form == "csv":
        if schema_path(path).is_file():
            return None
        source = _csv(path, chosen)
        if source.other_delimiter and wanted.features:
            source.column(wanted.feature_names[0])
        return source.header
    from labelrules.data.files.parquet import METADATA, pyarrow

    pyarrow()
    from pyarrow.parquet import read_schema

    try:
        found = read_schema(path)
    except Exception as wrong:  # pyarrow has many kinds
        raise CommandError(f"{path}: this is not a sound Parquet file ({wrong})") from None
    return None if METADATA in (found.metadata or {}) else list(found.names)


def _labels(data: Dataset, wanted: Schema, needed: bool) -> Board:
    have = data.schema.label_index
    for name in wanted.labels:
        if needed and name not in have:
            near = suggestion(name, data.schema.labels)
            raise CommandError(
                f"the data have no column {quoted(name)}, a label of the model{near}"
            )
    if data.schema.labels == wanted.labels:
        return data.Y
    Y = np.zeros((len(data), wanted.n_labels), dtype=np.int8)
    for place, name in enumerate(wanted.labels):
        if name in have:
            Y[:, place] = data.Y[:, have[name]]
    return Y


def _column(data: Dataset, feature: Feature) -> Floats:
    index = data.schema.feature_index[feature.name]
    found, values = data.schema.features[index], data.column(index)
    if found == feature or np.isnan(values).all():
        return values
    if found.categories is None or feature.categories is None:
        kinds = ("categories", "numbers") if found.is_nominal else ("numbers", "categories")
        raise CommandError(
            f"column {quoted(feature.name)} holds {kinds[0]}, but for the model it has {kinds[1]}"
        )
    code_of = {category: code for code, category in enumerate(feature.categories)}
    codes = np.array([code_of.get(category, np.nan) for category in found.categories] + [np.nan])
    places = np.where(np.isnan(values), len(codes) - 1, values).astype(np.intp)
    return np.asarray(codes[places], dtype=np.float64)
