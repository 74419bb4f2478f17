"""``labelrules compare``: two models side by side."""

import click

from labelrules.cli.commands import Command, DataName, json_option, model_argument, reading_options
from labelrules.cli.io import STANDARD, Reading, check_files, write
from labelrules.cli.models import data_for, read_model, schema_of

EXAMPLES = """
labelrules compare old.json new.json
labelrules compare old.json new.json --data yeast --part test
labelrules compare model.json edited.txt --data magazines --json
"""


@click.command("compare", cls=Command, examples=EXAMPLES)
@model_argument("first")
@model_argument("second")
@click.option("--data", type=DataName(), multiple=True, help="data on which to compare predictions")
@json_option("the differences")
@reading_options
def command(first: str, second: str, data: str | None, as_json: bool, reading: Reading) -> None:
    """Compare two models, and their predictions if there are data."""
    check_files(None, [first, second])
    if STANDARD in (data, *reading.more):
        raise click.UsageError("--data: the data are read more than once, so name a file, not -")
    from labelrules.inspection import compare

    schema = schema_of(data, reading)
    one, other = (read_model(name, schema) for name in (first, second))
    if one.schema != other.schema:
        raise click.ClickException(
            "the two models have different features or labels, so they cannot be compared"
        )
    rows = None if data is None else data_for(data, reading, one.schema)
    differences = compare(one.theory, other.theory, rows)
    write(differences if as_json else f"{differences}\n")
