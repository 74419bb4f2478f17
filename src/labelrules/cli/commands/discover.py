"""``labelrules discover``: patterns in data, without a learner."""

from typing import Any

import click

from labelrules.cli.commands import (
    Command,
    Count,
    OneOf,
    data_argument,
    json_option,
    option,
    output_option,
    reading_options,
)
from labelrules.cli.io import (
    Reading,
    check_target,
    csv_text,
    plain,
    read_data,
    shown_wait,
    write_json,
    write_text,
)
from labelrules.cli.settings import (
    Pair,
    Parameters,
    Setting,
    blaming,
    checked,
    parameters_of,
    required_data,
    setting_options,
    settings_text,
    value_of,
)

EXAMPLES = """
labelrules discover constraints yeast
labelrules discover rules magazines --set min_support=0.2 --set bodies=both
labelrules discover itemsets emotions --set bins=frequency --set max_length=2 -o sets.csv
labelrules discover subgroups emotions --set measure=kl --set k=5 --json
labelrules discover subgroups --settings
"""

SEARCHES = {
    "itemsets": "frequent_itemsets",
    "rules": "association_rules",
    "constraints": "find_constraints",
    "subgroups": "subgroups",
}
"""The searches, and their functions in `labelrules.discovery`."""

_NOT_SET = ("data", "Y", "items", "label_names", "against")
"""Parameters that are no values, or that follow from the data."""


def search_parameters(what: str) -> Parameters:
    """The parameters of a search."""
    return parameters_of(_function(what), _NOT_SET)


@click.command("discover", cls=Command, examples=EXAMPLES)
@click.argument("what", type=OneOf("search", SEARCHES), help=", ".join(SEARCHES))
@data_argument(required=False)
@setting_options("the search", Setting(search_parameters, "what", lambda: SEARCHES))
@option("--first", kind=Count(1), about="with --json or -o: only the first N")
@output_option("all results (CSV)")
@json_option("all results")
@reading_options
def command(
    what: str, data: str | None, settings: tuple[Pair, ...], list_settings: bool,
    first: int | None, output: str | None, as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Search."""
    known = search_parameters(what)
    if list_settings:
        print(settings_text(known, _function(what).__doc__ or ""))
        return
    source = required_data(data)
    check_target(output, [source, reading.xml])
    texts = checked(settings, known, what)
    values = {name: value_of(name, text, known[name]) for name, text in texts.items()}
    table = read_data(source, reading)
    with blaming(settings), shown_wait(f"searching for {what} (the first run compiles)"):
        found = _function(what)(table, **values)
    columns = plain(found.as_dict())
    rows = list(zip(*columns.values(), strict=True))[:first]
    if as_json:
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        write_json({"data": table.name, "rows": len(table), "found": listed}, output)
    elif output is not None:
        write_text(csv_text(columns, [map(_cell, row) for row in rows]), output)
    else:
        print(found)


def _function(what: str) -> Any:
    from labelrules import discovery

    return getattr(discovery, SEARCHES[what])


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
