"""``labelrules stats``: figures of data."""

from argparse import Namespace

from labelrules.cli.errors import OK
from labelrules.cli.parser import Parser
from labelrules.cli.reading import add_data, read_data
from labelrules.cli.writing import add_json, write_json

SUMMARY = "Count rows, features, labels and label sets of data."
EXAMPLES = """
labelrules stats magazines
labelrules stats yeast --part train --json
labelrules stats readers.csv --labels quality,tabloid
cat readers.csv | labelrules stats - --labels quality
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_json(parser, "the figures")
    add_data(parser)


def run(options: Namespace) -> int:
    """Count."""
    from labelrules.data import statistics

    figures = statistics(read_data(options.data, options))
    if options.json:
        write_json(figures.as_dict())
    else:
        print(figures)
    return OK
