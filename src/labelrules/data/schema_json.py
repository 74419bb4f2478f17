"""A schema as JSON: what a table of text or numbers alone does not say."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from labelrules.data.errors import DataError
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset

FORMAT = "labelrules-schema"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Described:
    """What a schema file says of a table."""

    schema: Schema
    is_sparse: bool
    missing: str
    name: str


def without_labels(table: Described, names: Collection[str]) -> Described:
    """The same without some of the labels."""
    schema = table.schema
    kept = [label for label in schema.labels if label not in names]
    parents = [schema.parents[schema.label_index[label]] for label in kept]
    parents = [parent if parent in kept else None for parent in parents]
    return replace(table, schema=Schema(schema.features, kept, parents))


def described(data: Dataset) -> Described:
    """What there is to say of a data set."""
    return Described(data.schema, data.is_sparse, missing_text(data.schema), data.name)


def missing_text(schema: Schema) -> str:
    """A text for missing values that is no category; empty if it can be."""
    categories = {text for feature in schema.features for text in feature.categories or ()}
    text = ""
    while text in categories:
        text += "?"
    return text


def to_json(table: Described) -> str:
    """The JSON text that :func:`from_json` reads."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": table.name,
        "sparse": table.is_sparse,
        "missing": table.missing,
        "features": [_feature_to_json(feature) for feature in table.schema.features],
        "labels": list(table.schema.labels),
        "parents": list(table.schema.parents),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str | bytes, refuse: Callable[[str, int | None], NoReturn]) -> Described:
    """Read what :func:`to_json` wrote; `refuse` says what is wrong and in which line."""
    try:
        content = json.loads(text)
    except UnicodeDecodeError:
        refuse("the schema is not UTF-8 text", None)
    except json.JSONDecodeError as wrong:
        refuse(f"the schema is not valid JSON ({wrong.msg})", wrong.lineno)
    except ValueError:  # Python refuses to convert thousands of digits
        refuse("the schema is wrong: a number has too many digits", None)
    except RecursionError:
        refuse("the schema is not valid JSON (nested too deeply)", None)
    try:
        return _checked(content)
    except DataError as wrong:
        refuse(f"the schema is wrong: {wrong}", None)


def schema_path(path: Path) -> Path:
    """Where the schema of a table is kept: beside it."""
    return path.with_name(path.name + ".schema.json")


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    if feature.categories is None:
        return {"name": feature.name}
    return {"name": feature.name, "categories": list(feature.categories)}


def _checked(content: Any) -> Described:
    fields = _of_type(content, dict, "the whole")
    if fields.get("format") != FORMAT:
        raise DataError(f'"format" is not "{FORMAT}"')
    if fields.get("version") != VERSION:
        raise DataError(
            f'"version" is {fields.get("version")!r}, but this labelrules reads version {VERSION}'
        )
    parents = [
        parent if parent is None else _of_type(parent, str, "a parent")
        for parent in _field(fields, "parents", list)
    ]
    features = [_feature(item) for item in _field(fields, "features", list)]
    schema = Schema(features, _field(fields, "labels", list), parents)
    missing = _field(fields, "missing", str)
    if any(missing in (feature.categories or ()) for feature in features):
        raise DataError(f'"missing" is {missing!r}, which is also a category')
    return Described(schema, _field(fields, "sparse", bool), missing, _field(fields, "name", str))


def _feature(item: Any) -> Feature:
    fields = _of_type(item, dict, "a feature")
    if "categories" not in fields:
        return Feature(_field(fields, "name", str))
    return Feature(_field(fields, "name", str), tuple(_field(fields, "categories", list)))


def _field(fields: dict[str, Any], key: str, kind: type) -> Any:
    if key not in fields:
        raise DataError(f'"{key}" is not there')
    return _of_type(fields[key], kind, f'"{key}"')


def _of_type(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
        raise DataError(f"{what} must be {names[kind]}, not {value!r:.60}")
    return value
