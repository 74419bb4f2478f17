"""``labelrules show``: the rules of a model."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from labelrules.cli.commands import (
    Command,
    DataName,
    OneOf,
    Text,
    json_option,
    model_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import Reading, check_files, write
from labelrules.cli.models import Model, check_label, data_for, read_model, schema_of

if TYPE_CHECKING:
    from labelrules.data import Schema
    from labelrules.inspection.explanation.values import Place
    from labelrules.rules import Rule, Theory

EXAMPLES = """
labelrules show model.json
labelrules show model.json --style unicode --label quality
labelrules show model.json --style latex -o rules.tex
labelrules show model.json --style html -o rules.html
labelrules show my-rules.txt --data magazines --summary
"""

STYLES = ("plain", "unicode", "ascii", "markdown", "latex", "html")
_LINES = ("plain", "unicode", "ascii")
"""Styles with a line for each rule, from which rules can be selected."""
_HEADINGS = {"latex": "% {}", "markdown": "## {}\n", "html": "<h2>{}</h2>"}


@click.command("show", cls=Command, examples=EXAMPLES)
@model_argument("model")
@click.option("--style", type=OneOf("style", STYLES), default="plain", help=", ".join(STYLES))
@click.option("--label", type=Text(), help="only rules that mention this label")
@click.option("--evidence/--no-evidence", default=True, help="counts of right and wrong cells")
@click.option("--summary", is_flag=True, help="statistics of the rules, and of their use on --data")
@click.option("--data", type=DataName(), help="data to summarise, or that rules as text are about")
@output_option("the rules")
@json_option("the rules and their counts")
@reading_options
def command(
    model: str, style: str, label: str | None, evidence: bool, summary: bool, data: str | None,
    output: str | None, as_json: bool, reading: Reading,
) -> None:  # fmt: skip
    """Show the rules of a model."""
    check_files(output, [model, data])
    if label is not None and style not in _LINES:
        raise click.UsageError(f"--label needs --style {', '.join(_LINES)}, not {style}")
    if style != "plain" and (as_json or summary):
        raise click.UsageError(f"{'--json' if as_json else '--summary'} takes no --style")
    found = read_model(model, schema_of(data, reading))
    if label is not None:
        check_label(label, found.schema)
    if summary:
        from labelrules.inspection import summary as summarised

        rows = None if data is None else data_for(data, reading, found.schema)
        figures = summarised(found.theory, rows)
        write(figures if as_json else f"{figures}\n", output)
    elif as_json:
        write(document(found, label), output)
    else:
        text = text_of(found, style, evidence, label)
        write(text + "\n" if text else "", output)


def text_of(model: Model, style: str, evidence: bool = True, label: str | None = None) -> str:
    """The rules as text; several theories, and the constraints, with a heading each."""
    theories = model.theories
    titles = [f"theory {n} of {len(theories)}" for n in range(1, len(theories) + 1)]
    if model.constraints is not None:
        theories = [*theories, model.constraints]
        titles = ["rules", "constraints, which every prediction satisfies"]
    texts = [_text(theory, style, evidence, label) for theory in theories]
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
    if model.constraints is not None:
        found["constraints"] = [rule for _, rule in _rules(model.constraints, label)]
    return found


def _rules(theory: "Theory", label: str | None) -> Iterator[tuple["Place", dict[str, Any]]]:
    """The places of the rules that mention a label, and the rules as values."""
    from labelrules.inspection.summaries import places_of
    from labelrules.rules.formats.text import rule_texts
    from labelrules.rules.json import rule_document

    texts = rule_texts(theory)
    for place, rule, text in zip(places_of(theory), theory, texts, strict=True):
        if _mentions(rule, label, theory.schema):
            yield place, {"text": text, **rule_document(rule, theory.schema)}


def _mentions(rule: "Rule", label: str | None, schema: "Schema") -> bool:
    if label is None:
        return True
    number = schema.label_index[label]
    in_head = any(place == number for place, _ in rule.head)
    return in_head or any(c.on_label and c.column == number for c in rule.body)


def _text(theory: "Theory", style: str, evidence: bool, label: str | None) -> str:
    from labelrules.inspection.summaries import places_of
    from labelrules.rules import theory_html, theory_latex, theory_markdown, theory_text
    from labelrules.rules.formats.text import rule_texts

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
        return theory_html(theory, evidence=evidence)
    return theory_text(theory, signs, evidence)
