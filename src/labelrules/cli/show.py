"""``labelrules show``: the rules of a model."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from labelrules.cli.documents import document_of
from labelrules.cli.errors import OK, UsageError
from labelrules.cli.models import Model, add_model, read_model
from labelrules.cli.parser import OneOf, Parser
from labelrules.cli.reading import DATA_HELP, add_reading, no_such_label, read_data, schema_of
from labelrules.cli.writing import (
    add_json,
    add_output,
    check_place,
    check_standard_input,
    plain,
    write_json,
    write_text,
)

if TYPE_CHECKING:
    from labelrules.data import Schema
    from labelrules.rules import Rule, Theory

SUMMARY = "Show the rules of a model."
EXAMPLES = """
labelrules show model.json
labelrules show model.json --style unicode --label quality
labelrules show model.json --style latex -o rules.tex
labelrules show model.json --style html -o rules.html
labelrules show my-rules.txt --data magazines --summary
"""

STYLES = ("plain", "unicode", "ascii", "markdown", "latex", "html")
_LINES = ("plain", "unicode", "ascii")
"""Styles with a line for each rule, which can be picked."""
_HEADINGS = {"latex": "% {}", "markdown": "## {}\n", "html": "<h2>{}</h2>"}


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    add_model(parser)
    parser.add_argument("--style", metavar="STYLE", type=OneOf("style", STYLES), default="plain",
                        help=f"{', '.join(STYLES)}")  # fmt: skip
    parser.add_argument("--label", metavar="NAME", help="only rules that speak of this label")
    parser.add_argument("--no-evidence", dest="evidence", action="store_false",
                        help="without the counts of right / wrong")  # fmt: skip
    parser.add_argument("--summary", action="store_true",
                        help="figures, with --data also what rules do there")  # fmt: skip
    parser.add_argument("--data", metavar="DATA",
                        help="for rules as text: what they are about")  # fmt: skip
    add_output(parser, "the rules")
    add_json(parser, "the rules with figures")
    add_reading(parser)
    parser.epilog = f"{parser.epilog}\n\nDATA is {DATA_HELP}."


def run(options: Namespace) -> int:
    """Show."""
    check_place(options.output, [options.model, options.data])
    check_standard_input(options.model, options.data)
    if options.label is not None and options.style not in _LINES:
        raise UsageError(f"--label goes with --style {', '.join(_LINES)}, not {options.style}")
    if options.style != "plain" and (options.json or options.summary):
        other = "--json" if options.json else "--summary"
        raise UsageError(f"{other} has no style: leave --style out")
    model = read_model(options.model, schema_of(options))
    if options.label is not None and options.label not in model.schema.label_index:
        raise no_such_label(options.label, model.schema.labels)
    if options.summary:
        _show_summary(model, options)
    elif options.json:
        write_json(document(model, options.label), options.output)
    else:
        text = text_of(model, options.style, options.evidence, options.label)
        write_text(text + "\n" if text else "", options.output)
    return OK


def _show_summary(model: Model, options: Namespace) -> None:
    from labelrules.inspection import summary

    data = None
    if options.data is not None:
        from labelrules.cli.fitting import fitted

        data = fitted(
            read_data(options.data, options, model.schema), model.schema, with_labels=True
        )
    found = summary(model.theory, data)
    if options.json:
        write_json(document_of(found), options.output)
    else:
        write_text(f"{found}\n", options.output)


def text_of(model: Model, style: str, evidence: bool, label: str | None = None) -> str:
    """The rules as text; several theories with a heading each."""
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
    """The rules as plain values, counted from 0."""
    from labelrules.inspection.summaries import places_of

    wanted = None if label is None else model.schema.label_index[label]
    told = {
        "kind": model.kind,
        "labels": list(model.schema.labels),
        "features": model.schema.n_features,
        "rules": [
            {"theory": number, "place": document_of(place), **_rule(rule, model.schema)}
            for number, theory in enumerate(model.theories)
            for place, rule in zip(places_of(theory), theory, strict=True)
            if wanted is None or _speaks_of(rule, wanted)
        ],
    }
    if model.constraints is not None:
        told["constraints"] = [
            _rule(rule, model.schema)
            for rule in model.constraints
            if wanted is None or _speaks_of(rule, wanted)
        ]
    return told


def _rule(rule: "Rule", schema: "Schema") -> dict[str, Any]:
    from labelrules.rules import rule_text
    from labelrules.rules.json import rule_document

    return plain({"text": rule_text(rule, schema), **rule_document(rule, schema)})  # type: ignore[no-any-return]


def _speaks_of(rule: "Rule", label: int) -> bool:
    in_head = any(number == label for number, _ in rule.head)
    return in_head or any(c.on_label and c.column == label for c in rule.body)


def _text(theory: "Theory", style: str, evidence: bool, label: str | None) -> str:
    from labelrules.inspection.summaries import places_of
    from labelrules.rules import (
        rule_text,
        theory_html,
        theory_latex,
        theory_markdown,
        theory_text,
    )

    if label is not None:
        number = theory.schema.label_index[label]
        return "\n".join(
            f"{place}: {rule_text(rule, theory.schema, _signs(style), evidence)}"
            for place, rule in zip(places_of(theory), theory, strict=True)
            if _speaks_of(rule, number)
        )
    if style == "latex":
        return theory_latex(theory, evidence)
    if style == "markdown":
        return theory_markdown(theory, evidence)
    if style == "html":
        return theory_html(theory, evidence=evidence)
    return theory_text(theory, _signs(style), evidence)


def _signs(style: str) -> Any:
    return style if style in ("unicode", "ascii") else "plain"
