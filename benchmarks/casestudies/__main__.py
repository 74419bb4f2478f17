"""``python -m casestudies``, ``make casestudies``: the case studies repeated, as an HTML report."""

import sys

import click

from labelrules.cli import main
from labelrules.cli.app import SUCCESS
from labelrules.cli.commands import Command, File, json_option, list_option
from labelrules.cli.io import STANDARD, check_files, plain, say, shown_progress, write

EXAMPLES = """
python -m casestudies data
python -m casestudies data --quick -o quick.html
python -m casestudies data --sets flags,emotions,medical --folder some-results
"""
REPORT = "casestudies.html"


def _sets(found: list[str]) -> list[str]:
    from casestudies.materials import chosen_sets

    try:
        chosen_sets(found, quick=False)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None
    return found


@click.command("casestudies", cls=Command, examples=EXAMPLES)
@click.argument(
    "folder_of_data", metavar="[DATA]", type=File(), required=False,
    help="the folder with the data sets, in Mulan's format ($LABELRULES_DATA)",
)  # fmt: skip
@click.option(
    "-o", "--output", type=File(), default=REPORT,
    help=f"write the report (HTML) to this file ({REPORT}; - is standard output)",
)  # fmt: skip
@click.option(
    "--folder", type=File(), default="casestudies-results",
    help="keep models, fits and times here, and go on with those that are (casestudies-results)",
)  # fmt: skip
@list_option(
    "--sets", of=_sets, metavar="SETS", help="only these data sets: flags,yeast; repeatable"
)
@click.option("--quick", is_flag=True, help="only the four smallest data sets")
@click.option("--restart", is_flag=True, help="remove what is in the folder first")
@json_option("the chapter's statements with what was found")
@click.option("-q", "--quiet", is_flag=True, help="print the result only")
def command(
    folder_of_data: str | None, output: str, folder: str, sets: list[str] | None, quick: bool,
    restart: bool, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Repeat them; what is finished is kept, also after Ctrl-C."""
    check_files(output, [])
    if as_json and output == STANDARD:
        raise click.UsageError("--json and --output - both write to the standard output")
    from casestudies import case_studies

    with shown_progress("case studies", 1.0, quiet) as bar:
        try:
            found = case_studies(
                folder_of_data, folder=folder, sets=sets, quick=quick, restart=restart, progress=bar
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"in the middle; what is finished is kept in {folder}"
            ) from None
    write(found.html(), output)
    if as_json:
        columns = found.as_dict()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        skipped = found.materials.skipped
        write(plain({"verdicts": found.verdicts, "skipped": skipped, "statements": rows}))
    elif output != STANDARD:
        write(f"{found}\n")
    if output != STANDARD and not quiet:
        say(f"report in {output}, models and fits in {folder}")
    return SUCCESS


if __name__ == "__main__":
    sys.exit(main(command=command))
