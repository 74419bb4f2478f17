"""``labelrules compare``: two models side by side."""

from argparse import Namespace

from labelrules.cli.documents import document_of
from labelrules.cli.errors import OK, CommandError, UsageError
from labelrules.cli.models import add_model, read_model
from labelrules.cli.parser import Parser
from labelrules.cli.reading import DATA_HELP, add_reading, read_data, schema_of
from labelrules.cli.writing import STANDARD, add_json, check_standard_input, write_json

SUMMARY = "Compare the rules of two models, and where their predictions differ."
EXAMPLES = """
labelrules compare old.json new.json
labelrules compare old.json new.json --data yeast --part test
labelrules compare model.json edited.txt --data magazines --json
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser, "first")
    add_model(parser, "second")
    parser.add_argument("--data", metavar="DATA", help="where to compare predictions")
    add_json(parser, "the differences")
    add_reading(parser)
    parser.epilog = f"{parser.epilog}\n\nDATA is {DATA_HELP}."


def run(options: Namespace) -> int:
    """Compare."""
    check_standard_input(options.first, options.second)
    if options.data == STANDARD:
        raise UsageError("--data: the data are read more than once, so name a file, not -")
    from labelrules.cli.fitting import fitted
    from labelrules.inspection import compare

    schema_of_data = schema_of(options)
    first, second = (read_model(name, schema_of_data) for name in (options.first, options.second))
    if first.schema != second.schema:
        raise CommandError("the two models are about other features or labels: nothing compares")
    data = None
    if options.data is not None:
        data = read_data(options.data, options, first.schema)
        data = fitted(data, first.schema, with_labels=True)
    found = compare(first.theory, second.theory, data)
    if options.json:
        write_json(document_of(found))
    else:
        print(found)
    return OK
