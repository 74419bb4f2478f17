"""``labelrules show`` and ``labelrules stats``: the rules of a model, the statistics of data."""

from typing import Any

import click

from labelrules.cli.commands import (
    Command,
    DataName,
    OneOf,
    Text,
    data_argument,
    json_option,
    model_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import STANDARD, Reading, check_files, extension_of, read_data, say, write
from labelrules.cli.models import (
    Model,
    check_label,
    data_for,
    document,
    is_terminal,
    names_option,
    option_schema,
    read_model,
    reading_text,
    shown_rules_text,
    with_names_of,
)

EXAMPLES = """
labelrules show model.json
labelrules show model.json --style unicode --label quality
labelrules show model.json --style latex -o rules.tex
labelrules show model.json --by label
labelrules show model.json --about
labelrules show model.json --style html -o rules.html
labelrules show my-rules.txt --data magazines --summary
labelrules show model.json --count new.csv -o recounted.json
labelrules show model.json --names names.csv
"""

STATISTICS_EXAMPLES = """
labelrules stats magazines
labelrules stats yeast --part train --json
labelrules stats readers.csv --labels quality,tabloid
cat readers.csv | labelrules stats - --labels quality
"""

ORDERS = ("order", "label", "table")
"""How rules are laid out for reading."""
STYLES = ("plain", "unicode", "ascii", "markdown", "latex", "html")
_LINES = ("plain", "unicode", "ascii")
"""Styles with a line for each rule, from which rules can be selected."""


@click.command("show", cls=Command, examples=EXAMPLES)
@model_argument("model")
@click.option("--by", type=OneOf("order", ORDERS), help="for reading: in order, by label, as table")
@click.option("--style", type=OneOf("style", STYLES), help=f"{', '.join(STYLES)}; plain in a pipe")
@click.option("--label", type=Text(), help="only rules that mention this label")
@click.option("--evidence/--no-evidence", default=True, help="counts of right and wrong cells")
@click.option("--summary", is_flag=True, help="statistics of the rules, and of their use on --data")
@click.option("--about", is_flag=True, help="when, from which data and by whom it was learned")
@click.option(
    "--data", type=DataName(), multiple=True,
    help="data to summarise, or that rules as text are about",
)  # fmt: skip
@click.option("--count", type=DataName(), help="count right and wrong cells anew, on these data")
@names_option()
@output_option("the rules")
@json_option("the rules and their counts")
@reading_options
def command(
    model: str, by: str | None, style: str | None, label: str | None, evidence: bool, summary: bool,
    about: bool, data: str | None, count: str | None, names: str | None, output: str | None,
    as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Show the rules of a model."""
    check_files(output, [model, data, count, names])
    if about:
        given = {"--summary": summary, "--data": data, "--count": count, "--names": names}
        _check_about(by, style, label, next((one for one in given if given[one]), None))
        write(about_document(model) if as_json else about_text(model), output)
        return
    _check_options(by, style, label, "--json" if as_json else "--summary" if summary else None)
    if count == STANDARD:
        raise click.UsageError("--count: the data are read more than once, so name a file, not -")
    before = read_model(model, option_schema(data or count, reading))
    if count is not None:
        before = before.counted(data_for(count, reading, before.schema))
    found: Model = with_names_of(before, names)
    if label is not None:
        check_label(label, found.schema)
    if summary:
        from labelrules.inspection import summary as summarised

        rows = (
            None if data is None else with_names_of(data_for(data, reading, before.schema), names)
        )
        figures = summarised(found.theory, rows)
        write(figures if as_json else f"{figures}\n", output)
    elif as_json:
        write(document(found, label), output)
    elif _is_model_file(output) and style is None and by is None and label is None:
        from labelrules.storage import to_json

        write(to_json(found.kept), output)
    else:
        is_read = style is None and label is None and output is None and is_terminal()
        if style is None and (by is not None or is_read):
            text = reading_text(found, by, evidence)
        else:
            text = shown_rules_text(found, style or "plain", evidence, label, by)
        write(text + "\n" if text else "", output)
    if evidence and label is None and not as_json and not summary:
        for line in found.shortcomings():
            say(line)


def _is_model_file(output: str | None) -> bool:
    """Whether a name is that of a model, and not of a text."""
    return output is not None and extension_of(output).removesuffix(".gz") == ".json"


def _check_options(by: str | None, style: str | None, label: str | None, other: str | None) -> None:
    """Refuse options that do not go together."""
    if label is not None and style not in (None, *_LINES):
        raise click.UsageError(f"--label needs --style {', '.join(_LINES)}, not {style}")
    if other is not None and (by is not None or style is not None):
        raise click.UsageError(f"{other} takes no {'--style' if by is None else '--by'}")
    if by is not None and style not in (None, "html"):
        raise click.UsageError(f"--by is for reading, and for --style html, not for {style}")
    if by is not None and label is not None:
        raise click.UsageError("--label lists the rules that mention a label, and takes no --by")


def _check_about(by: str | None, style: str | None, label: str | None, other: str | None) -> None:
    given = {"--by": by, "--style": style, "--label": label, other: other}
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(f"--about takes no {name}")


def about_document(source: str) -> dict[str, Any]:
    """How a model came about, for programs."""
    from dataclasses import asdict

    model = read_model(source)
    values = {name: value for name, value in asdict(model.about).items() if value is not None}
    if "learned" in values:
        values["learned"] = values["learned"].isoformat()
    return {"learner": model.kind, "settings": _settings(model), **values}


def about_text(source: str) -> str:
    """How a model came about, and its settings."""
    model = read_model(source)
    settings = [f"{name}={value}" for name, value in _settings(model).items()]
    lines = [f"{'learner':<12}{model.kind}"] if not model.is_theory else []
    lines += [f"{'settings' if not n else '':<12}{one}" for n, one in enumerate(settings)]
    return "\n".join([*lines, str(model.about)]) + "\n"


def _settings(model: Model) -> dict[str, str]:
    """The parameters that differ from those of a new learner."""
    if model.is_theory:
        return {}
    usual = type(model.kept)().get_params(deep=False)
    given = model.kept.get_params(deep=False)
    return {name: str(value) for name, value in given.items() if str(value) != str(usual[name])}


@click.command("stats", cls=Command, examples=STATISTICS_EXAMPLES)
@data_argument
@json_option("the statistics")
@reading_options
def stats_command(data: str, as_json: bool, reading: Reading) -> None:
    """Count rows, features, labels and label sets."""
    from labelrules.data import statistics

    figures = statistics(read_data(data, reading))
    write(figures.as_dict() if as_json else f"{figures}\n")
