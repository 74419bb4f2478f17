"""``labelrules predict``: the labels of new rows."""

import csv
import io
from argparse import Namespace
from typing import Any

from labelrules.cli.errors import OK, CommandError
from labelrules.cli.models import Model, add_model
from labelrules.cli.parser import OneOf, Parser
from labelrules.cli.reading import add_data
from labelrules.cli.together import model_and_data
from labelrules.cli.writing import add_json, add_output, check_place, plain, write_text

SUMMARY = "Predict the labels of rows."
EXAMPLES = """
labelrules predict model.json new.csv
labelrules predict model.json yeast --part test --as sets
labelrules predict model.json new.csv --as probabilities -o probabilities.csv
cat new.csv | labelrules predict model.json - --json
"""

FORMS = ("table", "sets", "probabilities")


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser)
    parser.add_argument("--as", dest="form", metavar="FORM", default="table",
                        type=OneOf("form", FORMS),
                        help="table (0 and 1, CSV), sets (names, a line to a row), "
                             "probabilities (CSV)")  # fmt: skip
    add_output(parser, "the predictions")
    add_json(parser, "the predictions")
    add_data(parser)


def run(options: Namespace) -> int:
    """Predict."""
    check_place(options.output, [options.model, options.data, options.xml])
    model, data = model_and_data(options, with_labels=False)
    if options.form == "probabilities":
        values = model.probabilities(data)
        if values is None:
            raise CommandError(
                f"{model.source} holds rules alone: probabilities need the model of a learner"
            )
    else:
        values = model.predict(data)
    write_text(_text(model, values, options), options.output)
    return OK


def _text(model: Model, values: Any, options: Namespace) -> str:
    labels = model.schema.labels
    if values.ndim == 1:  # of classes
        found = values.tolist()
        if options.json:
            return _laid_out([{"row": i, "class": value} for i, value in enumerate(found)])
        return _table(["class"], [[value] for value in found])
    if values.shape[1] != len(labels):  # probabilities of two classes, which are one label
        labels = tuple(str(one) for one in model.kept.classes_)
    if options.json:
        return _json(values, labels, options.form == "probabilities")
    if options.form == "sets":
        return _table(None, [_present(row, labels) for row in values])
    return _table(labels, values.tolist())


def _json(values: Any, labels: tuple[str, ...], are_probabilities: bool) -> str:
    rows = [
        {"row": number, "probabilities": dict(zip(labels, row, strict=True))}
        if are_probabilities
        else {"row": number, "labels": _present(row, labels)}
        for number, row in enumerate(values)
    ]
    return _laid_out(rows)


def _laid_out(rows: list[dict[str, Any]]) -> str:
    from labelrules.data.document import laid_out

    return laid_out(plain(rows)) + "\n"


def _present(row: Any, labels: tuple[str, ...]) -> list[str]:
    return [label for label, value in zip(labels, row, strict=True) if value == 1]


def _table(header: Any, rows: list[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    for row in rows:
        # A row without labels is an empty line, not a pair of quotes.
        writer.writerow(row) if row else text.write("\n")
    return text.getvalue()
