"""``labelrules compare``: two models side by side."""

from typing import TYPE_CHECKING

import click

from labelrules._report import aligned
from labelrules.cli.commands import (
    Command,
    Count,
    DataName,
    json_option,
    model_argument,
    reading_options,
)
from labelrules.cli.commands.predict import usual_values
from labelrules.cli.io import STANDARD, Reading, check_files, plain, write
from labelrules.cli.models import Model, data_for, option_schema, read_model

if TYPE_CHECKING:
    from labelrules.inspection import Comparison, RowDifference

EXAMPLES = """
labelrules compare old.json new.json
labelrules compare old.json new.json yeast --part test
labelrules compare model.json edited.txt magazines --rows 10 --json
"""


_DATA = "data on which to compare them"


@click.command("compare", cls=Command, examples=EXAMPLES)
@model_argument("first")
@model_argument("second")
@click.argument("rows_from", type=DataName(), required=False, metavar="DATA", help=_DATA)
@click.option("--data", type=DataName(), multiple=True, help="the same as DATA; repeatable")
@click.option("--rows", type=Count(0), default=3, help="how many rows that differ to explain (3)")
@json_option("the differences")
@reading_options
def command(
    first: str, second: str, rows_from: str | None, data: str | None, rows: int, as_json: bool,
    reading: Reading,
) -> None:  # fmt: skip
    """Compare two models, and their predictions if there are data."""
    if data is not None and rows_from is not None:
        raise click.UsageError("DATA and --data are the same: give one of them")
    data = data or rows_from
    check_files(None, [first, second])
    if STANDARD in (data, *reading.more):
        raise click.UsageError("DATA: the data are read more than once, so name a file, not -")
    from labelrules.inspection import compare, differing_rows

    schema = option_schema(data, reading)
    models = [read_model(name, schema) for name in (first, second)]
    if models[0].schema != models[1].schema:
        raise click.ClickException(
            "the two models have different features or labels, so they cannot be compared"
        )
    one, other = (model.theory for model in models)
    if data is None:
        differences = compare(one, other)
        write(differences if as_json else f"{differences}\n")
        return
    table = data_for(data, reading, models[0].schema)
    differences = compare(one, other, table)
    shown = differing_rows(one, other, table, rows) if rows else []
    values = [usual_values(Model(model.theory, model.source), table) for model in models]
    if as_json:
        write({**plain(differences), "measures": values, "rows": shown})
    else:
        write(_text(differences, models, values, shown))


def _text(
    differences: "Comparison",
    models: list[Model],
    values: list[dict[str, float]],
    shown: "list[RowDifference]",
) -> str:
    lines = [str(differences), "", *_measures(models, values)]
    before = None
    for one in shown:
        lines += ["", f"row {one.row}"] if one.row != before else []
        lines += [f"  {line}" for line in str(one).split("\n")]
        before = one.row
    return "\n".join(lines) + "\n"


def _measures(models: list[Model], values: list[dict[str, float]]) -> list[str]:
    """A line for each measure: both values, and by how much the second is greater."""
    rows = [["measure", *(f"{title:>10}" for title in ("one", "other", "difference"))]]
    for name, one in values[0].items():
        if (other := values[1].get(name)) is not None:
            rows.append([name, f"{one:.4f}", f"{other:.4f}", f"{other - one:+.4f}"])
    sizes = [model.theory.n_literals for model in models]
    return aligned([*rows, ["literals", *map(str, sizes), f"{sizes[1] - sizes[0]:+d}"]])
