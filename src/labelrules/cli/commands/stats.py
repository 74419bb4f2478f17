"""``labelrules stats``: statistics of data."""

import click

from labelrules.cli.commands import Command, data_argument, json_option, reading_options
from labelrules.cli.io import Reading, read_data, write

EXAMPLES = """
labelrules stats magazines
labelrules stats yeast --part train --json
labelrules stats readers.csv --labels quality,tabloid
cat readers.csv | labelrules stats - --labels quality
"""


@click.command("stats", cls=Command, examples=EXAMPLES)
@data_argument
@json_option("the statistics")
@reading_options
def command(data: str, as_json: bool, reading: Reading) -> None:
    """Count rows, features, labels and label sets."""
    from labelrules.data import statistics

    figures = statistics(read_data(data, reading))
    write(figures.as_dict() if as_json else f"{figures}\n")
