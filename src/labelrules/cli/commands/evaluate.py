"""``labelrules evaluate``: measures of the predictions of a model."""

from typing import TYPE_CHECKING

import click

from labelrules.cli.commands import (
    Command,
    data_argument,
    json_option,
    model_argument,
    reading_options,
)
from labelrules.cli.io import Reading, write
from labelrules.cli.models import Model, model_and_data

if TYPE_CHECKING:
    from labelrules.data import Dataset
    from labelrules.measures import Measure

EXAMPLES = """
labelrules evaluate model.json yeast --part test
labelrules evaluate model.json readers.csv --measure f1/micro/full --measure subset/samples/full
labelrules evaluate my-rules.txt magazines --json
"""
MEASURES_HELP = "formula/averaging/predictions; repeatable; default: the usual measures"


def _measure(text: str) -> "Measure":
    from labelrules.measures import Measure

    try:
        return Measure.parse(text)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None


@click.command("evaluate", cls=Command, examples=EXAMPLES)
@model_argument("model")
@data_argument
@click.option("-m", "--measure", "measures", type=_measure, multiple=True, help=MEASURES_HELP)
@json_option("the values")
@reading_options
def command(
    model: str, data: str, measures: "tuple[Measure, ...]", as_json: bool, reading: Reading
) -> None:
    """Evaluate the predictions of a model."""
    found, rows = model_and_data(model, data, reading, with_labels=True)
    if measures:
        board = found.board(rows)
        values = {str(one): float(one.of_predictions(rows.Y, board)) for one in measures}
    else:
        values = usual_values(found, rows)
    about = {"model": found.source, "data": rows.name, "rows": len(rows), "values": values}
    write(about if as_json else values_text(values) + "\n")


def usual_values(model: Model, data: "Dataset") -> dict[str, float]:
    """The values of the usual measures."""
    from labelrules.measures import evaluate

    return evaluate(data.Y, model.board(data), model.probabilities(data))


def values_text(values: dict[str, float]) -> str:
    """A line for each measure, with the values below each other."""
    width = max(map(len, values), default=0)
    digits = max((len(f"{value:.4f}") for value in values.values()), default=0)
    return "\n".join(f"{name:<{width}}  {value:{digits}.4f}" for name, value in values.items())
