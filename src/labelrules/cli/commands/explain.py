"""``labelrules explain``: why a row gets its labels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from labelrules._checks import quoted, suggestion
from labelrules.cli.commands import (
    Command,
    Count,
    DataName,
    OneOf,
    data_argument,
    json_option,
    list_option,
    model_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import STANDARD, Reading, check_files, plain, write
from labelrules.cli.models import check_label, model_and_data, other_part

if TYPE_CHECKING:
    from labelrules.constraints import Repairs
    from labelrules.data import Schema

EXAMPLES = """
labelrules explain model.json magazines --row 3
labelrules explain model.json magazines --row 3 --details --training magazines
labelrules explain model.json medical --part test --row 17 --label Class-24-596_54
labelrules explain model.json patients.csv --row 0 --fixed age,sex --style sentences
labelrules explain model.json patients.csv --row 0 --style html -o patient.html
"""

_SHELL_WORDS = {
    "raise limit to search further": "raise --limit to search further",
    "explanation.text(details=True):": "--details:",
}
STYLES = ("text", "sentences", "html", "trace")
STYLES_HELP = "text, sentences, html, or trace (the rules that fire)"


@dataclass(frozen=True)
class Options:
    """How rows are explained."""

    rows: tuple[int, ...]
    only: list[str] | None
    style: str
    details: bool
    fixed: list[str] | None
    changes: bool
    limit: int | None
    as_json: bool

    def check(self, training: str | None) -> None:
        """Refuse options that exclude each other."""
        if training == STANDARD:
            raise click.UsageError("--training: name a file or a data set, not -")
        if self.as_json and self.style != "text":
            raise click.UsageError("--json takes no --style")
        if self.details and (self.as_json or self.style in ("html", "trace")):
            given = "--json" if self.as_json else f"--style {self.style}"
            raise click.UsageError(f"{given} shows all details anyway: leave --details out")
        if self.limit is not None and not self.changes:
            raise click.UsageError("--limit is for counterfactuals, which --no-changes leaves out")
        if self.style == "html" and len(self.rows) > 1:
            raise click.UsageError("--style html shows one row: give one --row")

    @property
    def searched(self) -> "bool | Literal['given']":
        """The labels whose smallest change is searched for: those for which it is printed."""
        is_short = self.style in ("text", "sentences") and not (self.details or self.as_json)
        return "given" if self.changes and is_short and self.only is None else self.changes

    def check_names(self, schema: "Schema") -> None:
        """Refuse labels and features that the model does not have."""
        for name in self.only or ():
            check_label(name, schema)
        for name in self.fixed or ():
            if name not in schema.feature_index:
                near = suggestion(name, schema.feature_names)
                raise click.UsageError(f"--fixed: there is no feature {quoted(name)}{near}")

    def check_constrained(self) -> None:
        """Refuse pages, traces and counterfactuals, which leave out the constraints."""
        if self.fixed or self.limit:
            raise click.UsageError(
                f"--{'fixed' if self.fixed else 'limit'} is for counterfactuals, which a model "
                "with constraints does not have"
            )
        if self.style in ("html", "trace"):
            raise click.UsageError(
                f"--style {self.style} leaves out the constraints of this model: use text or "
                "sentences"
            )


@click.command("explain", cls=Command, examples=EXAMPLES)
@model_argument("model")
@data_argument
@click.option("--row", "rows", type=Count(0), multiple=True, help="counted from 0; repeatable (0)")
@list_option("--label", "only", help="only these labels: a,b; repeatable")
@click.option("--style", type=OneOf("style", STYLES), default="text", help=STYLES_HELP)
@click.option("--details", is_flag=True, help="every label, training rows, later rules")
@click.option("--training", type=DataName(), help="to name training rows (if --part test: train)")
@list_option("--fixed", help="features that a counterfactual must not change: a,b; repeatable")
@click.option("--changes/--no-changes", default=True, help="search for counterfactuals")
@click.option("--limit", type=Count(1), help="the most rows to try for a counterfactual (10000)")
@output_option("the explanation")
@json_option("the explanation")
@reading_options
def command(
    model: str, data: str, training: str | None, output: str | None, reading: Reading, **chosen: Any
) -> None:
    """Explain the predictions for rows."""
    check_files(output, [model, data, training, reading.xml])
    options = Options(**chosen)
    options.check(training)
    found, table = model_and_data(model, data, reading, with_labels=False)
    theory: Any = found.rules
    options.check_names(found.schema)
    rows = list(options.rows or [0])
    if not len(table):
        raise click.ClickException("the data have no rows, so there is nothing to explain")
    if max(rows) >= len(table):
        raise click.ClickException(
            f"--row: there is no row {max(rows)}: the data have {len(table)}, counted from 0"
        )
    repairs = found.repairs(table.take(rows))
    if repairs is not None:
        options.check_constrained()
    if options.style == "trace":
        from labelrules.inspection import trace

        write("\n\n".join(str(trace(theory, table, row)) for row in rows) + "\n", output)
        return
    from labelrules.inspection import explain
    from labelrules.inspection.counterfactuals import LIMIT

    explanations = explain(
        theory, table, rows, labels=options.only,
        training=other_part(training, reading, found.schema, "train"), fixed=options.fixed or (),
        counterfactuals=options.searched if repairs is None else False,
        limit=options.limit or LIMIT,
    )  # fmt: skip
    if options.as_json:
        documents = [plain(one) | _repaired(repairs, n) for n, one in enumerate(explanations)]
        write(documents, output)
    else:
        texts = [_text(one, options, repairs, n) for n, one in enumerate(explanations)]
        write("\n\n".join(texts) + "\n", output)


def _text(explanation: Any, options: Options, repairs: "Repairs | None", row: int) -> str:
    if options.style == "html":
        return str(explanation.html())
    is_prose = options.style == "sentences"
    text = (explanation.sentences if is_prose else explanation.text)(details=options.details)
    for words, ours in _SHELL_WORDS.items():
        text = text.replace(words, ours)
    if repairs is None:
        return str(text)
    start = text[0].lower() + text[1:] if is_prose else text
    return f"By the rules alone: {start}\n{_repairs_text(repairs, row)}"


def _repairs_text(repairs: "Repairs", row: int) -> str:
    """The changes that constraints make to the predictions of the rules for a row."""
    from labelrules.rules.language.text import name_text

    changes = [
        f"{name_text(one.label)} becomes {'present' if one.now else 'absent'} by the constraints: "
        f"{'; '.join(one.because)}"
        for one in repairs.changes()
        if one.row == row
    ]
    if not changes:
        return "The constraints leave all labels as they are."
    labels = repairs.schema.labels
    present = [name_text(labels[label]) for label in repairs.after[row].nonzero()[0]]
    return "\n".join([*changes, f"So the row gets {', '.join(present) or 'no label'}."])


def _repaired(repairs: "Repairs | None", row: int) -> dict[str, Any]:
    if repairs is None:
        return {}
    changes = [one._asdict() for one in repairs.changes() if one.row == row]
    return {
        "board": repairs.after[row].tolist(),
        "board_by_rules": repairs.before[row].tolist(),
        "constraints": [{k: v for k, v in one.items() if k != "row"} for one in changes],
    }
