"""The schema file beside a table, with what the cells do not show."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import field

from labelrules._checks import quoted, suggestion
from labelrules.data.document import (
    DocumentError,
    FeatureRecord,
    SchemaRecord,
    at,
    builtins_of,
    converted,
    indented_json,
    read_document,
    read_schema,
    schema_record,
    shown,
)
from labelrules.data.errors import DataError, FileError
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset

Names = tuple[str, ...]

FORMAT = "labelrules-schema"
VERSION = 1


class _Feature(FeatureRecord, kw_only=True):
    categories: list[str] | None = None  # people write schema files, and may leave it out


class _SchemaFile(SchemaRecord, kw_only=True):
    features: list[_Feature]  # type: ignore[assignment]
    parents: list[str | None] = field(default_factory=list)
    format: str
    version: int
    name: str
    sparse: bool
    missing: str


@dataclass(frozen=True, slots=True)
class TableDescription:
    """The content of a schema file."""

    schema: Schema
    is_sparse: bool
    missing: str
    name: str

    @classmethod
    def of(cls, data: Dataset) -> "TableDescription":
        """The description of a data set."""
        return cls(data.schema, data.is_sparse, missing_text(data.schema), data.name)

    def check_agreement(
        self, place: str, labels: Names | None, nominal: Names, missing: str = ""
    ) -> None:
        """Refuse choices of a caller that contradict the description, which is at `place`."""
        if labels is not None and labels != self.schema.labels:
            raise DataError(f"labels= are not the labels in {place}: leave labels out")
        for name in nominal:
            column = self.schema.feature_index.get(name)
            if column is None:
                near = suggestion(name, self.schema.feature_names)
                raise DataError(f"there is no feature {quoted(name)} in {place}{near}")
            if not self.schema.features[column].is_nominal:
                raise DataError(f"{quoted(name)} is not nominal in {place}: leave nominal out")
        if missing not in ("", self.missing):
            raise DataError(f"missing={missing!r}, but it is {self.missing!r} in {place}")


def schema_path(path: Path) -> Path:
    """Where the schema file of a table is: beside it."""
    return path.with_name(path.name + ".schema.json")


def missing_text(schema: Schema) -> str:
    """A text for missing values that is no category; empty if possible."""
    categories = {text for feature in schema.features for text in feature.categories or ()}
    text = ""
    while text in categories:
        text += "?"
    return text


def schema_to_json(table: TableDescription) -> str:
    """The content of a schema file, which :func:`schema_from_json` reads."""
    about = {"name": table.name, "sparse": table.is_sparse, "missing": table.missing}
    schema = builtins_of(schema_record(table.schema))
    return indented_json({"format": FORMAT, "version": VERSION, **about, **schema}) + "\n"


def schema_from_json(text: str | bytes, path: Path) -> TableDescription:
    """Read the content of a schema file; messages name the path."""
    try:
        content = read_document(text)
        with at("$"):
            return _description(content)
    except DataError as wrong:
        raise FileError(f"the schema is wrong: {wrong}", path) from None


def _description(content: Any) -> TableDescription:
    # first of all, because another version may differ in anything else
    for key, ours in (("format", FORMAT), ("version", VERSION)):
        if isinstance(content, dict) and content.get(key) != ours:
            found = shown(content.get(key))
            raise DocumentError(f".{key}", f"this labelrules reads {shown(ours)}, not {found}")
    file = converted(content, _SchemaFile)
    schema = read_schema(file)
    if any(file.missing in (feature.categories or ()) for feature in schema.features):
        raise DocumentError(".missing", f"{quoted(file.missing)} is also a category")
    return TableDescription(schema, file.sparse, file.missing, file.name)
