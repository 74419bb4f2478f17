"""``labelrules compare``: two models side by side."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from labelrules.cli.errors import OK, CommandError, UsageError
from labelrules.cli.models import Model, add_model, read_model
from labelrules.cli.parser import Parser
from labelrules.cli.reading import DATA_HELP, add_reading, read_data, schema_of
from labelrules.cli.writing import STANDARD, add_json, write_json

if TYPE_CHECKING:
    from labelrules._types import Board
    from labelrules.data import Dataset

SUMMARY = "Compare the rules of two models, and where their predictions differ."
EXAMPLES = """
labelrules compare old.json new.json
labelrules compare old.json new.json --data yeast --part test
labelrules compare model.json edited.txt --data magazines --json
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser, "first")
    add_model(parser, "second")
    parser.add_argument("--data", metavar="DATA", help="where to compare predictions")
    add_json(parser, "the differences")
    add_reading(parser)
    parser.epilog = f"{parser.epilog}\n\nDATA is {DATA_HELP}."


def run(options: Namespace) -> int:
    """Compare."""
    if options.first == STANDARD == options.second:
        raise UsageError("only one of the models can come from standard input")
    schema = schema_of(options)
    first, second = (read_model(name, schema) for name in (options.first, options.second))
    if first.schema.labels != second.schema.labels:
        raise CommandError("the models have other labels, so they cannot be compared")
    found = _rules(first, second)
    if options.data is not None:
        found["predictions"] = _predictions(first, second, options)
    if options.json:
        write_json(found)
    else:
        _print(found)
    return OK


def _rules(first: Model, second: Model) -> dict[str, Any]:
    from labelrules.rules import rule_text

    texts = [
        [rule_text(rule, model.schema) for theory in model.theories for rule in theory]
        for model in (first, second)
    ]
    only = [
        [text for text in own if text not in other]
        for own, other in ((texts[0], set(texts[1])), (texts[1], set(texts[0])))
    ]
    return {
        "rules": [len(own) for own in texts],
        "common": len(texts[0]) - len(only[0]),
        "removed": only[0],
        "added": only[1],
    }


def _predictions(first: Model, second: Model, options: Namespace) -> dict[str, Any]:
    boards = []
    for model in (first, second):
        data = _data_for(model, options)
        boards.append(model.board(data))
    return {"rows": len(data), "different": _differences(boards[0], boards[1], first.schema.labels)}


def _data_for(model: Model, options: Namespace) -> "Dataset":
    from labelrules.cli.fitting import fitted

    data = read_data(options.data, options, model.schema)
    return fitted(data, model.schema, with_labels=False)


def _differences(one: "Board", other: "Board", labels: tuple[str, ...]) -> dict[str, Any]:
    """For each label on which they differ, the rows in which it appears and disappears."""
    found = {}
    for place, label in enumerate(labels):
        appears = [row + 1 for row in (other[:, place] > one[:, place]).nonzero()[0].tolist()]
        vanishes = [row + 1 for row in (other[:, place] < one[:, place]).nonzero()[0].tolist()]
        if appears or vanishes:
            found[label] = {"appears": appears, "disappears": vanishes}
    return found


def _print(found: dict[str, Any]) -> None:
    before, after = found["rules"]
    print(f"{before} rules before, {after} after, {found['common']} in common")
    for sign, key in (("-", "removed"), ("+", "added")):
        for text in found[key]:
            print(f"{sign} {text}")
    if "predictions" not in found:
        return
    different = found["predictions"]["different"]
    cells = sum(len(rows) for one in different.values() for rows in one.values())
    print(f"predictions differ in {cells} cells of {found['predictions']['rows']} rows")
    for label, rows in different.items():
        print(
            f"  {label}: appears in {len(rows['appears'])}, disappears in {len(rows['disappears'])}"
        )
