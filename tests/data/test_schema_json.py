"""A schema as JSON: there and back, and errors with their place in the document."""

import re
from pathlib import Path

import pytest
from hypothesis import given

import strategies
from labelrules.data import DataError, Dataset, Feature, FileError, Schema
from labelrules.data.document import (
    Record,
    SchemaRecord,
    at,
    builtins_of,
    converted,
    indented_json,
    read_document,
    read_schema,
    schema_record,
)
from labelrules.data.schema_json import TableDescription, schema_from_json, schema_to_json


@given(strategies.datasets())
def test_a_schema_comes_back(data: Dataset) -> None:
    text = indented_json(builtins_of(schema_record(data.schema)))
    assert read_schema(converted(read_document(text), SchemaRecord)) == data.schema
    table = TableDescription.of(data)
    assert schema_from_json(schema_to_json(table), Path("t.json")) == table


def test_schema_files_may_leave_out_categories_and_parents_but_models_may_not() -> None:
    table = TableDescription(
        Schema([Feature("a"), Feature("b", ("x",))], ["l", "m"]), False, "", ""
    )
    plain = read_document(schema_to_json(table))
    del plain["features"][0]["categories"], plain["parents"]
    assert schema_from_json(indented_json(plain), Path("t.json")) == table
    parts = {"features": plain["features"], "labels": plain["labels"]}
    with pytest.raises(DataError, match='"categories" is missing'):
        converted(parts, SchemaRecord)
    parts["features"][0]["categories"] = None
    with pytest.raises(DataError, match='"parents" is missing'):
        converted(parts, SchemaRecord)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "$: must be an object, not a list of 0"),
        ({"labels": []}, '$: "features" is missing'),
        (
            {"features": [], "labels": [], "lables": []},
            "$: there is no field 'lables'; did you mean 'labels'?",
        ),
        (
            {"features": [{"name": "a", "categories": None}, {"name": True}], "labels": []},
            "$.features[1].name: must be text, not true",
        ),
        (
            {"features": [{"name": "a", "categories": "x"}], "labels": []},
            "$.features[0].categories: must be a list or null, not 'x'",
        ),
        (
            {
                "features": [{"name": "a", "categories": ["x", "x"]}],
                "labels": [],
                "parents": [],
            },
            "$.features[0]: feature 'a' declares the category 'x' twice",
        ),
        (
            {"features": [{"name": "", "categories": None}], "labels": [], "parents": []},
            "$.features[0]: a feature has an empty name: give it one",
        ),
        (
            {"features": [], "labels": ["l", "l"], "parents": []},
            "$: two labels are called 'l': rename one of them",
        ),
        (
            {"features": [], "labels": ["l"], "parents": [1.5]},
            "$.parents[0]: must be text or null, not 1.5",
        ),
    ],
)
def test_errors_begin_with_their_place(value: object, message: str) -> None:
    for place in ("$", "$.model.schema"):
        expected = re.escape(message.replace("$", place, 1))
        with pytest.raises(DataError, match=rf"\A{expected}\Z"), at(place):
            read_schema(converted(value, SchemaRecord))


def test_a_schema_is_a_field_of_other_documents() -> None:
    class Model(Record):
        schema: SchemaRecord

    schema = Schema([Feature("a")], ["l"])
    plain = builtins_of(Model(schema_record(schema)))
    assert read_schema(converted(plain, Model).schema) == schema


@pytest.mark.parametrize(("text", "line"), [('{\n"format": x}', 2), ('{"format":\n\n', 3), ("", 1)])
def test_malformed_text_has_a_line(text: str, line: int) -> None:
    message = rf"t\.json: the schema is wrong: line {line}, column \d+: not valid JSON"
    with pytest.raises(FileError, match=message):
        schema_from_json(text, Path("t.json"))


def test_text_that_is_nested_too_deeply() -> None:
    with pytest.raises(FileError, match=r"the schema is wrong: .* nested too deeply"):
        schema_from_json('{"other": ' + "[" * 100_000, Path("t.json"))
