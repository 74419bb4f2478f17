"""``labelrules show`` and ``labelrules stats``: the rules of a model, the statistics of data."""

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
    names_option,
    option_schema,
    read_model,
    with_names_of,
)

if TYPE_CHECKING:
    from labelrules.data import Schema
    from labelrules.inspection.explanation.values import Place
    from labelrules.rules import Rule, Theory

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
_ORDER_NAMES = {"order": "list", "label": "label", "table": "table"}
_HEADINGS = {"latex": "% {}", "markdown": "## {}\n", "html": "<h2>{}</h2>"}


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


def is_terminal() -> bool:
    """Whether results are shown to a person, and not to a program."""
    return sys.stdout.isatty()


def reading_text(model: Model, by: str | None = None, evidence: bool = True) -> str:
    """The rules laid out for reading; by default tables of points, or rules in their order."""
    titles, theories = _titled(model)
    texts = [_reading_text(theory, by, evidence) for theory in theories]
    if len(texts) > 1:
        texts = [f"{title}\n{text}" for title, text in zip(titles, texts, strict=True)]
    return "\n\n".join(texts)


def _width() -> int:
    """The width of the terminal, or of `COLUMNS`; 100 in a pipe."""
    if is_terminal() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size((100, 24)).columns
    return 100


def _reading_text(theory: "Theory", by: str | None, evidence: bool) -> str:
    from labelrules.rules import RuleSet, theory_table, theory_view
    from labelrules.rules.views.tables import NARROWEST

    width = max(_width(), NARROWEST)
    colour = is_terminal() and not os.environ.get("NO_COLOR")
    if by is None:
        by = "table" if isinstance(theory, RuleSet) and theory.gives_points else "order"
    if by == "table":
        _check_table(theory)
        return theory_table(theory, width=width, colour=colour)
    order: Any = _ORDER_NAMES[by]
    return theory_view(theory, width=width, order=order, evidence=evidence, colour=colour)


def _check_table(theory: "Theory") -> None:
    if theory.ordered:
        raise click.UsageError("--by table is for rule sets that give points: use --by label")


def _titled(model: Model) -> tuple[list[str], "list[Theory]"]:
    """The theories of a model, and the constraints, with their titles."""
    theories = list(model.theories)
    if model.constraints is None:
        return [f"theory {n} of {len(theories)}" for n in range(1, len(theories) + 1)], theories
    titles = ["rules", "constraints, which every prediction satisfies"]
    return titles, [*theories, model.constraints]


def shown_rules_text(
    model: Model,
    style: str,
    evidence: bool = True,
    label: str | None = None,
    by: str | None = None,
) -> str:
    """The rules as text; several theories, and the constraints, with a heading each."""
    titles, theories = _titled(model)
    texts = [_text(theory, style, evidence, label, by) for theory in theories]
    if len(texts) > 1:
        heading = _HEADINGS.get(style, "# {}")
        texts = [f"{heading.format(t)}\n{text}" for t, text in zip(titles, texts, strict=True)]
    if style == "html":
        from labelrules._html import html_page

        return html_page("\n".join(texts), f"Rules of {model.source}").rstrip("\n")
    return "\n\n".join(texts)


def document(model: Model, label: str | None = None) -> dict[str, Any]:
    """The rules as values for JSON, counted from 0."""
    schema = model.schema
    found = {
        "kind": model.kind,
        "labels": list(schema.labels),
        "features": schema.n_features,
        "rules": [
            {"theory": number, "place": place, **rule}
            for number, theory in enumerate(model.theories)
            for place, rule in _rules(theory, label)
        ],
    }
    sets = [one for number, theory in enumerate(model.theories) for one in _sets(theory, number)]
    if sets:
        found["label_sets"] = sets
    if model.constraints is not None:
        found["constraints"] = [rule for _, rule in _rules(model.constraints, label)]
    return found


def _rules(theory: "Theory", label: str | None) -> Iterator[tuple["Place", dict[str, Any]]]:
    """The places of the rules that mention a label, and the rules as values."""
    from labelrules.inspection.summaries import places_of
    from labelrules.rules.json import rule_document
    from labelrules.rules.language.text import rule_texts

    texts = rule_texts(theory)
    for place, rule, text in zip(places_of(theory), theory, texts, strict=True):
        if _mentions(rule, label, theory.schema):
            yield place, {"text": text, **rule_document(rule, theory.schema)}


def _sets(theory: "Theory", number: int) -> Iterator[dict[str, Any]]:
    """The usual label sets of rule sets, counted from 0, and whether each row gets a label."""
    from labelrules.rules import RuleSet

    for layer, part in enumerate(theory.layers):
        if isinstance(part, RuleSet) and part.decides_rows:
            names = part.schema.labels
            sets = [
                {"labels": [names[label] for label in labels], "bonus": bonus}
                for labels, bonus in part.label_sets
            ]
            where = {"theory": number, "layer": layer}
            yield {**where, "sets": sets, "at_least_one": part.at_least_one}


def _mentions(rule: "Rule", label: str | None, schema: "Schema") -> bool:
    if label is None:
        return True
    number = schema.label_index[label]
    in_head = any(place == number for place, _ in rule.head)
    return in_head or any(c.on_label and c.column == number for c in rule.body)


def _text(theory: "Theory", style: str, evidence: bool, label: str | None, by: str | None) -> str:
    from labelrules.inspection.summaries import places_of
    from labelrules.rules import theory_html, theory_latex, theory_markdown, theory_text
    from labelrules.rules.language.text import rule_texts

    signs: Any = style if style in ("unicode", "ascii") else "plain"
    if label is not None:
        texts = rule_texts(theory, signs, evidence)
        return "\n".join(
            f"{place}: {text}"
            for place, rule, text in zip(places_of(theory), theory, texts, strict=True)
            if _mentions(rule, label, theory.schema)
        )
    if style == "latex":
        return theory_latex(theory, evidence)
    if style == "markdown":
        return theory_markdown(theory, evidence)
    if style == "html":
        if by == "table":
            _check_table(theory)
        order: Any = by and _ORDER_NAMES[by]
        return theory_html(theory, evidence=evidence, order=order)
    return theory_text(theory, signs, evidence)


@click.command("stats", cls=Command, examples=STATISTICS_EXAMPLES)
@data_argument
@json_option("the statistics")
@reading_options
def stats_command(data: str, as_json: bool, reading: Reading) -> None:
    """Count rows, features, labels and label sets."""
    from labelrules.data import statistics

    figures = statistics(read_data(data, reading))
    write(figures.as_dict() if as_json else f"{figures}\n")
