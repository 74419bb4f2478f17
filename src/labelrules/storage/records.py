"""The records that files are made of, and their JSON schema."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from labelrules.data.document import Count, DocumentError, Record, SchemaRecord
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import About, library_version
from labelrules.learners.registry import can_be_stored, registered
from labelrules.rules.json import TheoryRecord
from labelrules.storage.parameters import parameters_type

FORMAT = "labelrules"
VERSION = 1

_WHEN = "%Y-%m-%dT%H:%M:%SZ"

Seconds = Annotated[float, Meta(ge=0)]

Fingerprint = Annotated[str, Meta(pattern="^(2-)?[0-9a-f]{32}$")]
"""Of a data set, with what it begins with if it is of the present form."""


class AboutRecord(Record):
    """How a model came about; fields that are not known are left out."""

    version: str
    learned: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")] | UnsetType = UNSET
    data: Fingerprint | UnsetType = UNSET
    data_name: str | UnsetType = UNSET
    n_rows: Count | UnsetType = UNSET
    n_features: Count | UnsetType = UNSET
    n_labels: Count | UnsetType = UNSET
    seconds: Seconds | UnsetType = UNSET
    cpu_seconds: Seconds | UnsetType = UNSET
    peak_memory: Count | UnsetType = UNSET
    edited: str | UnsetType = UNSET
    author: str | UnsetType = UNSET
    notes: str | UnsetType = UNSET


class TargetRecord(Record):
    """The form of Y, labels or classes, and the type and values of its cells."""

    kind: Literal["labels", "two classes", "classes"]
    type: Annotated[
        str, Meta(pattern="^(bool|u?int(8|16|32|64)|float(16|32|64)|text[1-9][0-9]{0,5})$")
    ]
    values: Annotated[list[bool | int | float | str], Meta(min_length=1)]


class ModelRecord(Record):
    """A fitted learner: its parameters, the form of its data, and what it has learned."""

    learner: str
    parameters: dict[str, Any]
    schema: SchemaRecord
    target: TargetRecord
    columns: Literal["named", "numbered", "unseen"]
    state: dict[str, Any]
    why_without_rules: dict[str, str] | UnsetType = UNSET


class TheoryDocument(Record):
    """A file with a theory."""

    format: Literal["labelrules"]
    version: Literal[1]
    schema: SchemaRecord
    theory: TheoryRecord
    about: AboutRecord | UnsetType = UNSET


class ModelDocument(Record):
    """A file with a fitted model."""

    format: Literal["labelrules"]
    version: Literal[1]
    model: TableClassifier
    about: AboutRecord | UnsetType = UNSET


def about_record(about: About) -> AboutRecord:
    """The record for a file."""
    values: dict[str, Any] = asdict(about)
    if about.learned is not None:
        values["learned"] = about.learned.astimezone(UTC).strftime(_WHEN)
    return AboutRecord(**{name: value for name, value in values.items() if value is not None})


def read_about(record: AboutRecord) -> About:
    """Read a record."""
    values = {name: getattr(record, name) for name in record.__struct_fields__}
    values = {name: value for name, value in values.items() if value is not UNSET}
    if isinstance(record.learned, str):
        try:
            values["learned"] = datetime.strptime(record.learned, _WHEN).replace(tzinfo=UTC)
        except ValueError:
            raise DocumentError(".learned", f"there is no time {record.learned}") from None
    return About(**values)


def signed(known: About | None, author: str | None, notes: str | None) -> About | None:
    """Sign a record with author and notes; None if there is nothing to say."""
    for name, text in (("author", author), ("notes", notes)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be text, not {type(text).__name__}")
    if known is None and not author and not notes:
        return None
    return (known or About(version=library_version())).signed(author, notes)


def json_schema() -> dict[str, Any]:
    """The JSON schema of the files, for programs that do not use labelrules.

    It is made from the records in this library and covers the learners that are registered.

    Examples
    --------
    >>> json_schema()["$id"]
    'labelrules-1.schema.json'
    """
    models = [_model_type(one) for one in registered().values() if can_be_stored(one)]
    refs, parts = msgspec.json.schema_components(
        [TheoryDocument, ModelDocument, *models],
        schema_hook=lambda other: {"$ref": "#/$defs/Model"},
        ref_template="#/$defs/{name}",
    )
    for learner in registered().values():
        if can_be_stored(learner):  # one definition of what all parameters may be
            fields = parts[parameters_type(learner).__name__]["properties"]
            parts["Parameter"] = next(iter(fields.values()), {})
            fields.update({key: {"$ref": "#/$defs/Parameter"} for key in fields})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"labelrules-{VERSION}.schema.json",
        "title": "A theory or a fitted model of labelrules",
        "anyOf": list(refs[:2]),
        "$defs": {**parts, "Model": {"anyOf": list(refs[2:])}},
    }


def _model_type(learner: type[TableClassifier]) -> type[Record]:
    fields = [
        ("learner", Literal[learner.__name__]),
        ("parameters", parameters_type(learner)),
        ("state", learner._State),
    ]
    name = f"{learner.__name__}Model"
    return msgspec.defstruct(  # type: ignore[return-value]
        name, fields, bases=(ModelRecord,), forbid_unknown_fields=True
    )
