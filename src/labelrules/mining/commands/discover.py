"""``labelrules discover``: patterns in data, without a learner."""

from typing import Any

import click

from labelrules.cli.commands import (
    Command,
    Count,
    OneOf,
    data_argument,
    json_option,
    output_option,
    reading_options,
)
from labelrules.cli.io import (
    Reading,
    check_files,
    csv_text,
    plain,
    read_data,
    shown_progress,
    write,
)
from labelrules.cli.settings import Pair, Setting, blaming, setting_options

EXAMPLES = """
labelrules discover constraints yeast
labelrules discover rules magazines --set min_support=0.2 --set bodies=both
labelrules discover itemsets emotions --set bins=frequency --set max_conditions=2 -o sets.csv
labelrules discover subgroups emotions --set measure=kl --set top=5 --json
labelrules discover subgroups --settings
"""

SEARCHES = {
    "itemsets": "frequent_itemsets",
    "rules": "association_rules",
    "constraints": "find_constraints",
    "subgroups": "subgroups",
}
"""The searches, and their functions in `labelrules.mining`."""

_NOT_SET = ("data", "Y", "items", "label_names", "against")
"""Parameters that are no values, or that follow from the data."""


def search_functions() -> dict[str, Any]:
    """The functions of the searches."""
    from labelrules import constraints, mining

    rooms = (mining, constraints)
    return {
        what: next(getattr(room, name) for room in rooms if name in room.__all__)
        for what, name in SEARCHES.items()
    }


_SETTING = Setting(search_functions, "what", _NOT_SET)


@click.command("discover", cls=Command, examples=EXAMPLES)
@click.argument("what", type=OneOf("search", SEARCHES), is_eager=True, help=", ".join(SEARCHES))
@data_argument
@setting_options("the search", _SETTING)
@click.option("--first", type=Count(1), help="with --json or -o: only the first N")
@output_option("all results (CSV)")
@json_option("all results")
@reading_options
def command(
    what: str, data: str, settings: tuple[Pair, ...], first: int | None, output: str | None,
    as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Search."""
    check_files(output, [data, reading.xml])
    values = _SETTING.values(what, settings)
    table = read_data(data, reading)
    with blaming(settings), shown_progress(f"searching for {what}"):
        found = search_functions()[what](table, **values)
    columns = plain(found.as_dict())
    rows = list(zip(*columns.values(), strict=True))[:first]
    if as_json:
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        write({"data": table.name, "rows": len(table), "found": listed}, output)
    elif output is not None:
        write(csv_text(columns, [map(_cell, row) for row in rows]), output)
    else:
        write(f"{found}\n")


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
