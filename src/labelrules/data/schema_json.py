"""A schema as JSON: the one codec, and the schema file that is kept beside a table."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError, FileError
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset

Names = tuple[str, ...]

FORMAT = "labelrules-schema"
VERSION = 1

_BYTE = re.compile(r"\(byte (\d+)\)")
_PLACE = re.compile(r"(.*?)(?: - at `(.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`")
_TYPE = re.compile(r"`([\w| ]+)`")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


class FeatureJson(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A feature; a numeric one has no categories."""

    name: str
    categories: tuple[str, ...] | None = None


class SchemaJson(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A schema, to be used as a field of other documents; no parents mean no hierarchy."""

    features: tuple[FeatureJson, ...]
    labels: tuple[str, ...]
    parents: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, schema: Schema) -> "SchemaJson":
        """The form of a schema that msgspec writes."""
        features = tuple(FeatureJson(f.name, f.categories) for f in schema.features)
        return cls(features, schema.labels, schema.parents if any(schema.parents) else ())

    def schema(self, place: str = "$") -> Schema:
        """The schema, checked; an error begins with its place in the document.

        Parameters
        ----------
        place : str
            Where this schema is in the document.
        """
        features = []
        for number, item in enumerate(self.features):
            try:
                features.append(Feature(item.name, item.categories))
            except DataError as wrong:
                raise DataError(f"{place}.features[{number}]: {wrong}") from None
        try:
            return Schema(features, self.labels, self.parents or None)
        except DataError as wrong:
            raise DataError(f"{place}: {wrong}") from None


def schema_to_builtins(schema: Schema) -> dict[str, Any]:
    """A schema as plain values, which :func:`schema_from_builtins` reads.

    Examples
    --------
    >>> schema_to_builtins(Schema([Feature("age")], ["quality"]))
    {'features': [{'name': 'age'}], 'labels': ['quality']}
    """
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(SchemaJson.of(schema)))
    return plain


def schema_from_builtins(value: Any, place: str = "$") -> Schema:
    """Read a schema from plain values.

    Parameters
    ----------
    value : object
        As :func:`schema_to_builtins` makes it.
    place : str
        Where the value is in its document, for messages.

    Raises
    ------
    DataError
        The message begins with the place.

    Examples
    --------
    >>> schema_from_builtins({"features": [{"name": 3}], "labels": []})
    Traceback (most recent call last):
    labelrules.data.errors.DataError: $.features[0].name: expected text, found a whole number
    """
    try:
        return msgspec.convert(value, SchemaJson).schema(place)
    except msgspec.ValidationError as wrong:
        raise DataError(validation_message(wrong, place)) from None


def validation_message(wrong: msgspec.ValidationError, place: str = "$") -> str:
    """An error of msgspec in plain words, the place in the document first."""
    match = _PLACE.fullmatch(str(wrong))
    message, where = (match[1], match[2] or "$") if match else (str(wrong), "$")
    field = _FIELD.fullmatch(message)
    if field and field[1] == "contains unknown":
        message = f"unknown field {quoted(field[2])}"
    elif field:
        message = f"the field {quoted(field[2])} is missing"
    else:
        message = _TYPE.sub(_in_words, message).replace(", got ", ", found ")
        message = message[:1].lower() + message[1:]
    return f"{place}{where.removeprefix('$')}: {message}"


def _in_words(types: re.Match[str]) -> str:
    return " or ".join(_WORDS.get(name, name) for name in types[1].split(" | "))


@dataclass(frozen=True, slots=True)
class TableDescription:
    """The content of a schema file: what the cells of a table do not show."""

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
            if self.schema.features[column].is_numeric:
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


class _SchemaFile(SchemaJson, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: str
    version: int
    name: str
    sparse: bool
    missing: str


def to_json(table: TableDescription) -> str:
    """The content of a schema file, which :func:`from_json` reads."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": table.name,
        "sparse": table.is_sparse,
        "missing": table.missing,
        **schema_to_builtins(table.schema),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def from_json(text: str | bytes, path: Path, *, is_file: bool = True) -> TableDescription:
    """Read the content of a schema file.

    Parameters
    ----------
    text : str or bytes
    path : path-like
        The file that messages name.
    is_file : bool
        Whether the text is all of the file, so that its lines are those of the file.
    """
    line = None
    try:
        content = text.decode() if isinstance(text, bytes) else text
        return _description(msgspec.json.decode(content))
    except UnicodeError:
        problem = "not UTF-8 text"
    except msgspec.ValidationError as wrong:
        problem = f"wrong: {validation_message(wrong)}"
    except msgspec.DecodeError as wrong:
        byte = _BYTE.search(str(wrong))
        before = content.encode()[: int(byte[1])] if byte else content.rstrip().encode()
        line = before.count(b"\n") + 1
        problem = f"not valid JSON ({str(wrong).removeprefix('JSON is malformed: ')})"
    except RecursionError:
        problem = "not valid JSON (nested too deeply)"
    except DataError as wrong:
        problem = f"wrong: {wrong}"
    raise FileError(f"the schema is {problem}", path, line if is_file else None)


def _description(content: Any) -> TableDescription:
    # first of all, because another version may differ in anything else
    heading = content if isinstance(content, dict) else {"format": FORMAT, "version": VERSION}
    if heading.get("format") != FORMAT:
        raise DataError(f'$.format: expected "{FORMAT}", found {heading.get("format")!r:.60}')
    if heading.get("version") != VERSION:
        found = f"{heading.get('version')!r:.60}"
        raise DataError(f"$.version: this labelrules reads version {VERSION}, found {found}")
    file = msgspec.convert(content, _SchemaFile)
    schema = file.schema()
    if any(file.missing in (feature.categories or ()) for feature in schema.features):
        raise DataError(f"$.missing: {quoted(file.missing)} is also a category")
    return TableDescription(schema, file.sparse, file.missing, file.name)
