"""A schema as part of a JSON document."""

from typing import Any

from labelrules.data.document import Node
from labelrules.data.schema import Feature, Schema


def schema_document(schema: Schema) -> dict[str, Any]:
    """The schema as plain values, which `read_schema` reads."""
    return {
        "features": [
            {"name": feature.name, "categories": _listed(feature.categories)}
            for feature in schema.features
        ],
        "labels": list(schema.labels),
        "parents": list(schema.parents),
    }


def read_schema(node: Node) -> Schema:
    """The schema that a part of a document describes.

    Examples
    --------
    >>> schema = Schema([Feature("age"), Feature("sex", ("Female", "Male"))], ["quality"])
    >>> read_schema(Node(schema_document(schema))) == schema
    True
    """
    fields = node.fields("features", "labels", "parents")
    features = [_feature(item) for item in fields["features"].items()]
    labels = [item.text() for item in fields["labels"].items()]
    parents = [None if item.is_null else item.text() for item in fields["parents"].items()]
    with node.blamed():
        return Schema(features, labels, parents)


def _feature(node: Node) -> Feature:
    fields = node.fields("name", "categories")
    name, categories = fields["name"].text(), fields["categories"]
    with node.blamed():
        if categories.is_null:
            return Feature(name)
        return Feature(name, tuple(item.text() for item in categories.items()))


def _listed(categories: tuple[str, ...] | None) -> list[str] | None:
    return None if categories is None else list(categories)
