"""``labelrules report``: a model and its evidence as one HTML file."""

import click

from labelrules.cli.commands import (
    Command,
    DataName,
    data_argument,
    model_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import Reading, check_files, write
from labelrules.cli.models import data_for, model_and_data
from labelrules.studio.commands.workbench import _editable, check_extra

EXAMPLES = """
labelrules report model.json medical --part train -o report.html
labelrules report model.json patients.csv --validation later.csv -o report.html
"""


@click.command("report", cls=Command, examples=EXAMPLES)
@model_argument("model")
@data_argument
@click.option("--validation", type=DataName(), help="further rows, on which rules are counted, too")
@output_option("the report (HTML)")
@reading_options
def command(
    model: str, data: str, validation: str | None, output: str | None, reading: Reading
) -> None:
    """Write the report."""
    check_extra()
    check_files(output, [model, data, validation, reading.xml])
    from labelrules.studio import edit
    from labelrules.studio.web.views.history import report_html

    found, rows = model_and_data(model, data, reading, with_labels=True)
    checked = None if validation is None else data_for(validation, Reading(), rows.schema)
    kept = found.kept if found.is_theory else _editable(found, rows)
    write(report_html(edit(kept, rows, validation=checked), rows.name or str(data)), output)
