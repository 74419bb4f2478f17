"""A model and data that belong to each other."""

from argparse import Namespace
from typing import TYPE_CHECKING

from labelrules.cli.errors import UsageError
from labelrules.cli.models import Model, read_model
from labelrules.cli.reading import is_data, read_data
from labelrules.cli.writing import check_standard_input

if TYPE_CHECKING:
    from labelrules.data import Dataset, Schema


def model_and_data(options: Namespace, *, with_labels: bool) -> "tuple[Model, Dataset]":
    """Read both; the data in the columns of the model."""
    check_standard_input(options.model, options.data)
    if is_data(options.model):
        raise UsageError(f"{options.model} is a file of data: the model comes first, then the data")
    from labelrules.cli.fitting import fitted

    rows: list[Dataset] = []

    def schema_of_data() -> "Schema":
        rows.append(read_data(options.data, options))
        return rows[0].schema

    model = read_model(options.model, schema_of_data)
    if rows:
        return model, rows[0]
    labels = model.schema.labels if with_labels else ()
    data = read_data(options.data, options, model.schema, labels)
    return model, fitted(data, model.schema, with_labels=with_labels)
