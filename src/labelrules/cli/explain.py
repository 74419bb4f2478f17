"""``labelrules explain``: why a row gets its labels."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from labelrules.cli.documents import document_of
from labelrules.cli.errors import OK, CommandError, UsageError
from labelrules.cli.models import add_model
from labelrules.cli.parser import Counted, OneOf, Parser
from labelrules.cli.reading import add_data, names, no_such_label, read_data
from labelrules.cli.together import model_and_data
from labelrules.cli.writing import (
    STANDARD,
    add_json,
    add_output,
    check_place,
    write_json,
    write_text,
)

if TYPE_CHECKING:
    from labelrules.data import Dataset, Schema
    from labelrules.discovery import Repairs

SUMMARY = "Explain why rows get their labels, and what would change them."
EXAMPLES = """
labelrules explain model.json magazines --row 3 --training magazines
labelrules explain model.json medical --part test --row 17 --label Class-24-596_54
labelrules explain model.json patients.csv --row 0 --fixed age,sex --style sentences
labelrules explain model.json patients.csv --row 0 --style html -o patient.html
"""

STYLES = ("text", "sentences", "html", "trace")


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser)
    parser.add_argument("--row", metavar="N", dest="rows", type=Counted(0), action="append",
                        help="which row, counted from 0; repeat it for several")  # fmt: skip
    parser.add_argument("--label", metavar="NAMES", type=names, help="only these labels")
    parser.add_argument("--style", metavar="STYLE", type=OneOf("style", STYLES), default="text",
                        help="text, sentences, html, or trace (rules only)")  # fmt: skip
    parser.add_argument("--training", metavar="DATA",
                        help="to name training rows; with --part test, the train part")  # fmt: skip
    parser.add_argument("--fixed", metavar="NAMES", type=names, default=[],
                        help="features that cannot be changed")  # fmt: skip
    parser.add_argument("--no-changes", dest="changes", action="store_false",
                        help="do not look for the smallest change")  # fmt: skip
    parser.add_argument("--limit", metavar="N", type=Counted(1),
                        help="how many rows to try for a smallest change (10000)")  # fmt: skip
    add_output(parser, "the explanation")
    add_json(parser, "the explanation")
    add_data(parser)


def run(options: Namespace) -> int:
    """Explain."""
    check_place(options.output, [options.model, options.data, options.training, options.xml])
    if options.training == STANDARD:
        raise UsageError("--training: name a file or a data set, not -")
    if options.json and options.style != "text":
        raise UsageError("--json has no style: leave --style out")
    if options.limit is not None and not options.changes:
        raise UsageError("--limit goes with smallest changes, which --no-changes leaves out")
    if options.style == "html" and len(options.rows or ()) > 1:
        raise UsageError("--style html is for one row")
    model, data = model_and_data(options, with_labels=False)
    theory: Any = model.rules
    _check_names(options, model.schema)
    rows = options.rows or [0]
    if not len(data):
        raise CommandError("the data have no rows, so there is nothing to explain")
    for row in rows:
        if row >= len(data):
            raise CommandError(f"there is no row {row}: the data have {len(data)}, counted from 0")
    repairs = model.repairs(data.take(rows))
    if repairs is not None:
        _check_constrained(options)
    if options.style == "trace":
        from labelrules.inspection import trace

        stories = [str(trace(theory, data, row)) for row in rows]
        write_text("\n\n".join(stories) + "\n", options.output)
        return OK
    from labelrules.inspection import explain
    from labelrules.inspection.counterfactuals import LIMIT

    found = explain(
        theory,
        data,
        rows,
        labels=options.label,
        training=_training(options, model.schema),
        fixed=options.fixed,
        counterfactuals=options.changes and repairs is None,
        limit=options.limit or LIMIT,
    )
    if options.json:
        told = [{**document_of(one), **_repaired(repairs, n)} for n, one in enumerate(found)]
        write_json(told, options.output)
    else:
        texts = [_text(one, options.style, repairs, n) for n, one in enumerate(found)]
        write_text("\n\n".join(texts) + "\n", options.output)
    return OK


def _check_constrained(options: Namespace) -> None:
    """Constraints have the last word, which pages, traces and changes of features leave out."""
    for name, value in (("fixed", options.fixed), ("limit", options.limit)):
        if value:
            raise UsageError(
                f"--{name} goes with smallest changes, which are not known under constraints"
            )
    if options.style in ("html", "trace"):
        raise UsageError(
            f"--style {options.style} leaves out the constraints of this model: use text or "
            "sentences"
        )


def _after(repairs: "Repairs", row: int) -> str:
    """What constraints make of what the rules have said of a row."""
    from labelrules.rules.formats.language import name_text

    found = [
        f"{name_text(one.label)} becomes {'present' if one.now else 'absent'} by the constraints: "
        f"{'; '.join(one.because)}"
        for one in repairs.changes()
        if one.row == row
    ]
    labels = repairs.schema.labels
    present = [name_text(labels[label]) for label in repairs.after[row].nonzero()[0]]
    end = f"So the row gets {', '.join(present) or 'no label'}."
    return "\n".join([*found, end] if found else ["The constraints leave all labels as they are."])


def _repaired(repairs: "Repairs | None", row: int) -> dict[str, Any]:
    if repairs is None:
        return {}
    changes = [one._asdict() for one in repairs.changes() if one.row == row]
    for one in changes:
        del one["row"]
    return {
        "board": repairs.after[row].tolist(),
        "board_by_rules": repairs.before[row].tolist(),
        "constraints": changes,
    }


def _check_names(options: Namespace, schema: "Schema") -> None:
    from labelrules._checks import quoted, suggestion

    for name in options.label or ():
        if name not in schema.label_index:
            raise no_such_label(name, schema.labels)
    for name in options.fixed:
        if name not in schema.feature_index:
            near = suggestion(name, schema.feature_names)
            raise UsageError(f"--fixed: there is no feature {quoted(name)}{near}")


def _training(options: Namespace, schema: "Schema") -> "Dataset | None":
    if options.training is None:
        return None
    from labelrules.cli.fitting import fitted

    part = "train" if options.part == "test" else options.part
    chosen = Namespace(**{**vars(options), "part": part})
    return fitted(read_data(options.training, chosen, schema), schema, with_labels=True)


def _text(found: Any, style: str, repairs: "Repairs | None", row: int) -> str:
    if style == "html":
        return str(found.html())
    told = found.sentences() if style == "sentences" else str(found)
    told = told.replace("raise limit to look further", "raise --limit to look further")
    if repairs is None:
        return str(told)
    start = told[0].lower() + told[1:] if style == "sentences" else told
    return f"By the rules alone: {start}\n{_after(repairs, row)}"
