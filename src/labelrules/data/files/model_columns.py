"""Which columns of a file a model knows: others may be missing, or wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from labelrules.data.files.csv_records import Source
from labelrules.data.files.parquet import column_names
from labelrules.data.schema import Schema
from labelrules.data.schema_json import schema_path

Given: TypeAlias = tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None]
"""Labels, nominal columns and those to ignore, as a caller chose them."""


def known_columns(
    paths: Sequence[Path],
    is_csv: bool,
    wanted: Schema,
    labels: Sequence[str],
    given: Given,
    layout: tuple[str, str],
) -> dict[str, Any]:
    """The arguments by which readers of CSV and Parquet read only columns of a model.

    `labels` are those labels of the model that are read, `layout` are the delimiter and the
    encoding of CSV files.
    """
    chosen, nominal, ignore = given
    is_empty = False
    if is_csv:
        sources = [Source(path, *layout) for path in paths]
        columns, has_schema = sources[0].header, any(schema_path(one).is_file() for one in paths)
        if not has_schema and sources[0].other_delimiter and wanted.features:
            sources[0].column(wanted.feature_names[0])  # an error that names the delimiter
        is_empty = all(source.is_empty for source in sources)
    else:
        columns, has_schema = column_names(paths[0])
    ignored = {*(ignore or ())}
    if has_schema:
        unused = {*wanted.labels} - {*labels} if is_csv else set()
        return {"ignore": [*ignored, *(name for name in columns if name in unused)]}
    read = {*labels, *(chosen or ())}
    known = {*wanted.feature_names, *read} - ignored
    # a table without rows shows no types, so all its columns are read as categories
    usual = [one.name for one in wanted.features if one.categories is not None or is_empty]
    return {
        "labels": chosen or [name for name in columns if name in read],
        "nominal": nominal or [name for name in usual if name in columns],
        "ignore": [name for name in columns if name not in known],
    }
