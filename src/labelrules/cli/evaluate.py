"""``labelrules evaluate``: how good predictions are."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from labelrules.cli.errors import OK, UsageError
from labelrules.cli.models import Model, add_model
from labelrules.cli.parser import Parser
from labelrules.cli.reading import add_data
from labelrules.cli.together import model_and_data
from labelrules.cli.writing import add_json, write_json

if TYPE_CHECKING:
    from labelrules.data import Dataset

SUMMARY = "Measure how good the predictions of a model are."
EXAMPLES = """
labelrules evaluate model.json yeast --part test
labelrules evaluate model.json readers.csv --measure f1/micro/full --measure subset/samples/full
labelrules evaluate my-rules.txt magazines --json
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser)
    parser.add_argument("-m", "--measure", dest="measures", metavar="MEASURE", action="append",
                        help="formula/averaging/predictions; else the usual ones")  # fmt: skip
    add_json(parser, "the values")
    add_data(parser)


def run(options: Namespace) -> int:
    """Measure."""
    wanted = [_measure(text) for text in options.measures or ()]
    model, data = model_and_data(options, with_labels=True)
    if wanted:
        board = model.board(data)
        values = {str(one): float(one.of_predictions(data.Y, board)) for one in wanted}
    else:
        values = usual_values(model, data)
    if options.json:
        write_json({"model": model.source, "data": data.name, "rows": len(data), "values": values})
    else:
        print(values_text(values))
    return OK


def usual_values(model: Model, data: "Dataset") -> dict[str, float]:
    """The usual measures."""
    from labelrules.measures import evaluate

    return evaluate(data.Y, model.board(data), model.probabilities(data))


def values_text(values: dict[str, float]) -> str:
    """A line for each measure."""
    width = max(map(len, values), default=0)
    return "\n".join(f"{name:<{width}}  {value:.4f}" for name, value in values.items())


def _measure(text: str) -> Any:
    from labelrules.measures import Measure

    try:
        return Measure.parse(text)
    except ValueError as wrong:
        raise UsageError(f"--measure: {wrong}") from None
