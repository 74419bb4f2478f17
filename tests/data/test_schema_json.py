"""A schema as JSON: there and back, and errors with their place in the document."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given

import strategies
from labelrules.data import DataError, Dataset, Feature, FileError, Schema
from labelrules.data.schema_json import (
    SchemaJson,
    TableDescription,
    from_json,
    schema_from_builtins,
    schema_to_builtins,
    to_json,
)


@given(strategies.datasets())
def test_a_schema_comes_back(data: Dataset) -> None:
    plain = schema_to_builtins(data.schema)
    assert schema_from_builtins(json.loads(json.dumps(plain))) == data.schema
    table = TableDescription.of(data)
    assert from_json(to_json(table), Path("t.json")) == table


def test_what_is_usual_is_not_written() -> None:
    flat = Schema([Feature("a"), Feature("b", ("x",))], ["l", "m"])
    assert schema_to_builtins(flat) == {
        "features": [{"name": "a"}, {"name": "b", "categories": ["x"]}],
        "labels": ["l", "m"],
    }
    deep = Schema([], ["l", "m"], [None, "l"])
    assert schema_to_builtins(deep)["parents"] == [None, "l"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "$: expected an object, found a list"),
        ({"labels": []}, "$: the field 'features' is missing"),
        ({"features": [], "labels": [], "lables": []}, "$: unknown field 'lables'"),
        (
            {"features": [{"name": "a"}, {"name": True}], "labels": []},
            "$.features[1].name: expected text, found true or false",
        ),
        (
            {"features": [{"name": "a", "categories": "x"}], "labels": []},
            "$.features[0].categories: expected a list or null, found text",
        ),
        (
            {"features": [{"name": "a", "categories": ["x", "x"]}], "labels": []},
            "$.features[0]: feature 'a' declares the category 'x' twice",
        ),
        (
            {"features": [{"name": ""}], "labels": []},
            "$.features[0]: a feature has an empty name: give it one",
        ),
        (
            {"features": [], "labels": ["l", "l"]},
            "$: two labels are called 'l': rename one of them",
        ),
        (
            {"features": [], "labels": ["l"], "parents": [1.5]},
            "$.parents[0]: expected text or null, found a number",
        ),
    ],
)
def test_errors_begin_with_their_place(value: object, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        schema_from_builtins(value)
    inside = message.replace("$", "$.model.schema", 1)
    with pytest.raises(DataError, match=re.escape(inside)):
        schema_from_builtins(value, "$.model.schema")


def test_a_schema_is_a_field_of_other_documents() -> None:
    class Model(msgspec.Struct):
        schema: SchemaJson

    schema = Schema([Feature("a")], ["l"])
    text = msgspec.json.encode(Model(SchemaJson.of(schema)))
    assert msgspec.json.decode(text, type=Model).schema.schema("$.schema") == schema


@pytest.mark.parametrize(("text", "line"), [('{\n"format": x}', 2), ('{"format":\n\n', 1), ("", 1)])
def test_malformed_text_has_a_line_only_in_a_file_of_its_own(text: str, line: int) -> None:
    with pytest.raises(FileError, match="the schema is not valid JSON") as caught:
        from_json(text, Path("t.json"))
    assert caught.value.line == line
    with pytest.raises(FileError, match="the schema is not valid JSON") as caught:
        from_json(text, Path("t.parquet"), is_file=False)
    assert caught.value.line is None


def test_text_that_is_nested_too_deeply() -> None:
    with pytest.raises(FileError, match=r"the schema is not valid JSON \(nested too deeply\)"):
        from_json('{"other": ' + "[" * 100_000, Path("t.json"))
