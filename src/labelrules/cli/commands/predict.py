"""``labelrules predict``: the labels of new rows."""

from typing import Any

import click

from labelrules.cli.commands import (
    Command,
    OneOf,
    data_argument,
    json_option,
    model_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import Reading, check_files, csv_text, write
from labelrules.cli.models import Model, model_and_data

EXAMPLES = """
labelrules predict model.json new.csv
labelrules predict model.json yeast --part test --as sets
labelrules predict model.json new.csv --as probabilities -o probabilities.csv
cat new.csv | labelrules predict model.json - --json
"""

FORMS = ("table", "sets", "probabilities")
FORMS_HELP = "table (0 and 1, CSV), sets (names, a line to a row), probabilities (CSV)"


@click.command("predict", cls=Command, examples=EXAMPLES)
@model_argument("model")
@data_argument
@click.option("--as", "form", type=OneOf("form", FORMS), default="table", help=FORMS_HELP)
@output_option("the predictions")
@json_option("the predictions")
@reading_options
def command(
    model: str, data: str, form: str, output: str | None, as_json: bool, reading: Reading
) -> None:
    """Predict labels or probabilities."""
    check_files(output, [model, data, reading.xml])
    found, rows = model_and_data(model, data, reading, with_labels=False)
    values = found.probabilities(rows) if form == "probabilities" else found.predict(rows)
    if values is None:
        raise click.ClickException(
            f"{found.source} holds rules alone: probabilities need the model of a learner"
        )
    labels = _columns(found, values)
    write((_document if as_json else _text)(labels, values, form), output)


def _columns(model: Model, values: Any) -> tuple[str, ...]:
    """The names of the predicted columns."""
    if values.ndim == 1:
        return ("class",)
    labels = model.schema.labels
    # The probabilities of two classes have two columns, though they are one label.
    is_by_label = values.shape[1] == len(labels)
    return labels if is_by_label else tuple(str(one) for one in model.kept.classes_)


def _document(labels: tuple[str, ...], values: Any, form: str) -> list[dict[str, Any]]:
    if values.ndim == 1:
        return [{"row": number, "class": value} for number, value in enumerate(values.tolist())]
    if form == "probabilities":
        return [
            {"row": number, "probabilities": dict(zip(labels, row, strict=True))}
            for number, row in enumerate(values)
        ]
    return [{"row": number, "labels": _present(row, labels)} for number, row in enumerate(values)]


def _text(labels: tuple[str, ...], values: Any, form: str) -> str:
    if values.ndim == 1:
        return csv_text(labels, [[value] for value in values.tolist()])
    if form == "sets":
        return csv_text(None, [_present(row, labels) for row in values])
    return csv_text(labels, values.tolist())


def _present(row: Any, labels: tuple[str, ...]) -> list[str]:
    return [label for label, value in zip(labels, row, strict=True) if value == 1]
