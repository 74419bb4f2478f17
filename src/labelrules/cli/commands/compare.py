"""``labelrules compare``: two models side by side."""

from typing import TYPE_CHECKING

import click

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
    names = [name for name in values[0] if name in values[1]]
    titles = ["one", "other", "difference"]
    rows = [[values[0][n], values[1][n], values[1][n] - values[0][n]] for n in names]
    texts = [[f"{a:.4f}", f"{b:.4f}", f"{c:+.4f}"] for a, b, c in rows]
    width = max(len(name) for name in ("measure", *names))
    lines = [f"{'measure':<{width}}  " + "  ".join(f"{title:>10}" for title in titles)]
    for name, cells in zip(names, texts, strict=True):
        lines.append(f"{name:<{width}}  " + "  ".join(f"{cell:>10}" for cell in cells))
    literals = [str(model.theory.n_literals) for model in models]
    more = f"{models[1].theory.n_literals - models[0].theory.n_literals:+d}"
    last = "  ".join(f"{cell:>10}" for cell in (*literals, more))
    return [*lines, f"{'literals':<{width}}  {last}"]
