"""``labelrules explain``: why a row gets its labels."""

from argparse import Namespace
from typing import Any

from labelrules.cli.errors import OK, CommandError
from labelrules.cli.models import add_model
from labelrules.cli.parser import Counted, Parser
from labelrules.cli.reading import add_data
from labelrules.cli.together import model_and_data

SUMMARY = "Explain why a row gets its labels."
EXAMPLES = """
labelrules explain model.json magazines --row 4
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser)
    parser.add_argument("--row", metavar="N", type=Counted(1), default=1,
                        help="which row of the data, counted from 1")  # fmt: skip
    add_data(parser)


def run(options: Namespace) -> int:
    """Explain."""
    from labelrules.inspection import trace

    model, data = model_and_data(options, with_labels=False)
    if options.row > len(data):
        raise CommandError(f"there is no row {options.row}: the data have {len(data)} rows")
    theory: Any = model.theory
    print(trace(theory, data, options.row - 1))
    return OK
