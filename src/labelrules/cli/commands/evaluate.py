"""``labelrules evaluate``: measures of the predictions of a model."""

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from labelrules.cli.commands import (
    Command,
    data_argument,
    json_option,
    model_argument,
    reading_options,
)
from labelrules.cli.io import Reading, say, write
from labelrules.cli.models import Model, model_and_parts

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
    found, parts = model_and_parts(model, data, reading, with_labels=True)
    rows = next(parts)
    more = next(parts, None)
    if more is not None:
        about = _evaluated(found, chain([rows, more], parts), measures)
        write(about if as_json else values_text(about["values"]) + "\n")
        return
    if measures:
        board = found.board(rows)
        values = {str(one): float(one.of_predictions(rows.Y, board)) for one in measures}
    else:
        values = usual_values(found, rows)
    about = {"model": found.source, "data": rows.name, "rows": len(rows), "values": values}
    write(about if as_json else values_text(values) + "\n")


def _evaluated(
    model: Model, parts: "Iterable[Dataset]", measures: "tuple[Measure, ...]"
) -> dict[str, Any]:
    """Measures of predictions from counts over all parts."""
    from labelrules.learners.base.tallies import OutcomeTally
    from labelrules.measures.evaluation import evaluation_of_counts, value_of_counts

    tally, n_rows, name = OutcomeTally(model.schema.n_labels), 0, ""
    for part in parts:
        tally.add(part.Y, model.board(part))
        n_rows, name = n_rows + len(part), part.name
    counts = tally.counts()
    if not measures:
        say("the rows are read in partitions: measures of a ranking are left out")
    values = {str(one): value_of_counts(one, counts) for one in measures}
    values = values or dict(evaluation_of_counts(counts))
    return {"model": model.source, "data": name, "rows": n_rows, "values": values}


def usual_values(model: Model, data: "Dataset") -> dict[str, float]:
    """The values of the usual measures."""
    from labelrules.measures import evaluate

    return evaluate(data.Y, model.board(data), model.probabilities(data))


def values_text(values: dict[str, float]) -> str:
    """A line for each measure, with the values below each other."""
    width = max(map(len, values), default=0)
    digits = max((len(f"{value:.4f}") for value in values.values()), default=0)
    return "\n".join(f"{name:<{width}}  {value:{digits}.4f}" for name, value in values.items())
