"""``labelrules discover``: itemsets, association rules, constraints and subgroups."""

import csv
import io
from argparse import Namespace
from typing import Any

from labelrules.cli.errors import OK, UsageError
from labelrules.cli.parser import Counted, OneOf, Parser
from labelrules.cli.progress import shown_wait
from labelrules.cli.reading import add_data, read_data
from labelrules.cli.settings import add_settings, blamed, checked, parameters_of, value_of
from labelrules.cli.writing import add_json, add_output, check_place, plain, write_json, write_text

SUMMARY = "Find itemsets, association rules, constraints between labels, or subgroups in data."
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
"""What can be looked for, and the function that finds it."""

_NOT_SET = ("data", "Y", "items", "label_names", "against")
"""Parameters that are no values, or that the data tell."""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    parser.add_argument("what", metavar="WHAT", type=OneOf("search", SEARCHES),
                        help=", ".join(SEARCHES))  # fmt: skip
    add_settings(parser, "the search", all_parameters)
    parser.add_argument("--settings", dest="list_settings", action="store_true",
                        help="list what can be set of the search, and search nothing")  # fmt: skip
    parser.add_argument("--first", metavar="N", type=Counted(1),
                        help="with --json or -o: only the first N")  # fmt: skip
    add_output(parser, "all that was found (CSV)")
    add_json(parser, "all that was found")
    add_data(parser, nargs="?")


def search_parameters(what: str) -> dict[str, Any]:
    """What can be set of a search."""
    return parameters_of(_function(what), _NOT_SET)


def all_parameters() -> list[str]:
    """What can be set of one search or another."""
    return sorted({key for what in SEARCHES for key in search_parameters(what)})


def run(options: Namespace) -> int:
    """Search."""
    known = search_parameters(options.what)
    if options.list_settings:
        from labelrules.cli.settinghelp import settings_text

        print(settings_text(known, _function(options.what).__doc__ or ""))
        return OK
    if options.data is None:
        raise UsageError("DATA is missing: name a file or a data set")
    check_place(options.output, [options.data, options.xml])
    texts = checked(options.settings, known, options.what)
    values = {name: value_of(name, text, known[name]) for name, text in texts.items()}
    data = read_data(options.data, options)
    wait = f"looking for {options.what} (compiling comes first, once)"
    with blamed(options.settings), shown_wait(wait):
        found = _function(options.what)(data, **values)
    if options.json:
        columns = {name: list(column) for name, column in found.as_dict().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        write_json(
            {"data": data.name, "rows": len(data), "found": rows[: options.first]}, options.output
        )
    elif options.output is not None:
        write_text(_csv(found.as_dict(), options.first), options.output)
    else:
        print(found)
    return OK


def _function(what: str) -> Any:
    from labelrules import discovery

    return getattr(discovery, SEARCHES[what])


def _csv(columns: dict[str, Any], first: int | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    rows = list(zip(*(plain(list(column)) for column in columns.values()), strict=True))
    for row in rows[:first]:
        writer.writerow(
            [", ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in row]
        )
    return text.getvalue()
