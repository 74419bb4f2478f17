"""``labelrules predict`` and ``labelrules evaluate``: predictions, and their measures."""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

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
from labelrules.cli.io import Reading, check_files, csv_text, say, write, write_pieces
from labelrules.cli.models import Model, model_and_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from labelrules.data import Dataset
    from labelrules.kernels.device import Engine
    from labelrules.measures import Measure

EXAMPLES = """
labelrules predict model.json new.csv
labelrules predict model.json yeast --part test --as sets
labelrules predict model.json new.csv --as probabilities -o probabilities.csv
cat new.csv | labelrules predict model.json - --json
"""

EVALUATION_EXAMPLES = """
labelrules evaluate model.json yeast --part test
labelrules evaluate model.json readers.csv --measure f1/micro/full --measure subset/samples/full
labelrules evaluate my-rules.txt magazines --json
"""

FORMS = ("table", "sets", "probabilities")
ENGINES = ("auto", "cpu", "gpu")
ENGINES_HELP = "where rules are applied; auto takes a GPU, if there is one, for large tables"
MEASURES_HELP = "formula/averaging/predictions; repeatable; default: the usual measures"
FORMS_HELP = "table (0 and 1, CSV), sets (names, a line to a row), probabilities (CSV)"


@click.command("predict", cls=Command, examples=EXAMPLES)
@model_argument("model")
@data_argument
@click.option("--as", "form", type=OneOf("form", FORMS), default="table", help=FORMS_HELP)
@click.option("--engine", type=OneOf("engine", ENGINES), default="auto", help=ENGINES_HELP)
@output_option("the predictions")
@json_option("the predictions")
@reading_options
def command(
    model: str,
    data: str,
    form: str,
    engine: "Engine",
    output: str | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Predict labels or probabilities."""
    check_files(output, [model, data, reading.xml])
    found, parts = model_and_parts(model, data, reading, with_labels=False)
    found = replace(found, engine=engine)
    predicted = (_values(found, rows, form) for rows in parts)
    if as_json:
        write(list(_documents(found, predicted, form)), output)
        return
    write_pieces(_texts(found, predicted, form), output)


def _values(model: Model, rows: "Dataset", form: str) -> Any:
    """What is predicted for some rows."""
    values = model.probabilities(rows) if form == "probabilities" else model.predict(rows)
    if values is None:
        raise click.ClickException(
            f"{model.source} holds rules alone: probabilities need the model of a learner"
        )
    return values


def _texts(model: Model, parts: "Iterable[Any]", form: str) -> "Iterator[str]":
    """The lines of all parts, below one header."""
    has_header = form != "sets"
    for number, values in enumerate(parts):
        text = _text(_columns(model, values), values, form)
        is_class = values.ndim == 1
        yield text.split("\n", 1)[1] if number and (has_header or is_class) else text


def _documents(model: Model, parts: "Iterable[Any]", form: str) -> "Iterator[dict[str, Any]]":
    """The rows of all parts as JSON, counted through."""
    n_rows = 0
    for values in parts:
        for row in _document(_columns(model, values), values, form):
            yield {**row, "row": row["row"] + n_rows}
        n_rows += len(values)


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


def _measure(text: str) -> "Measure":
    from labelrules.measures import Measure

    try:
        return Measure.parse(text)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None


@click.command("evaluate", cls=Command, examples=EVALUATION_EXAMPLES)
@model_argument("model")
@data_argument
@click.option("-m", "--measure", "measures", type=_measure, multiple=True, help=MEASURES_HELP)
@json_option("the values")
@reading_options
def evaluate_command(
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
    from labelrules.measures.evaluation import Evaluation

    return str(Evaluation(values))
