"""Theories in HTML: labels as chips, for notebooks and for pages of their own.

Nothing is fetched and nothing runs: there is no script, no font and no link. Every name is text,
whatever signs it has. What colour says is said by words and lines too: an absent label has a
dashed border and the word "not".
"""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice

from labelrules._checks import counted
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import number_text
from labelrules.rules.formats.text import SPELLED_OUT, is_sampled, theory_parts
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.theory import Theory

SHOWN_IN_NOTEBOOKS = 200
"""Rules that a notebook shows; it would become slow with many more."""

STYLE = """
.labelrules { font: 14px/1.5 system-ui, sans-serif; overflow-x: auto; }
.labelrules h4 { margin: 0.9em 0 0.2em; font-size: 1em; }
.labelrules ol, .labelrules ul { margin: 0; padding-left: 3em; }
.labelrules li { margin: 0.2em 0; }
.labelrules .about { margin: 0 0 0.4em; opacity: 0.75; }
.labelrules .chip { display: inline-block; white-space: pre-wrap; overflow-wrap: anywhere;
  padding: 0 0.5em; border-radius: 0.8em; border: 1px solid #0072b2;
  background: rgba(0, 114, 178, 0.14); }
.labelrules .absent { border: 1px dashed #d55e00; background: transparent; }
.labelrules .not { font-style: italic; }
.labelrules .count { font-size: 0.8em; opacity: 0.8; font-variant-numeric: tabular-nums; }
.labelrules .stop { font-size: 0.8em; font-weight: bold; border: 2px solid currentColor;
  padding: 0 0.3em; }
.labelrules .arrow { padding: 0 0.3em; font-weight: bold; }
.labelrules .test { display: inline-block; white-space: pre-wrap; overflow-wrap: anywhere; }
.labelrules .test b { font-weight: 600; }
.labelrules details { display: inline-block; vertical-align: top; }
"""

_SIGNS = {"<=": "≤", ">": ">", "=": "=", "!=": "≠"}


def theory_html(
    theory: Theory,
    *,
    evidence: bool = True,
    max_rules: int | None = None,
    page: bool = False,
    title: str = "Rules",
) -> str:
    """A theory in HTML: its layers with their headings, and rules with labels as chips.

    Parameters
    ----------
    theory : Theory
    evidence : bool, default=True
        Whether to show behind each predicted label how often it was right / wrong, if that was
        counted. A layer that is sampled from shows it in any case.
    max_rules : int, optional
        How many rules of each layer to show at most; of the rest their number is told.
    page : bool, default=False
        Whether to give a whole page, to be written into a file; else what goes into one.
    title : str, default="Rules"
        The title of the page.

    Returns
    -------
    str

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = theory_html(parse("not sports <- fashion", load("magazines").schema))
    >>> '<span class="chip absent"><span class="not">not</span> sports</span>' in text
    True
    """
    if max_rules is not None and max_rules < 1:
        raise ValueError(f"max_rules must be at least 1, not {max_rules}")
    parts = [f'<p class="about">{_about(theory)}</p>']
    if evidence and any(rule.evidence for rule in theory):
        parts.append('<p class="about">Behind a label: how often it was right/wrong</p>')
    for heading, part in theory_parts(theory):
        sampled = is_sampled(theory, part)
        order = "" if part.ordered else ", in any order"
        parts += [f"<h4>{_text(heading.removesuffix(':'))}{order}</h4>"] if heading else []
        parts += _rule_list(part, evidence or sampled, max_rules)
    inner = "\n".join([f"<style>{STYLE}</style>", *parts])
    fragment = f'<div class="labelrules">\n{inner}\n</div>'
    return html_page(fragment, title) if page else fragment


def html_page(fragment: str, title: str) -> str:
    """A whole page around what `theory_html` gives."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        "<style>body { margin: 1.5em; font-family: system-ui, sans-serif; }</style>\n"
        f"<title>{_text(title)}</title>\n</head>\n<body>\n<h1>{_text(title)}</h1>\n"
        f"{fragment}\n</body>\n</html>\n"
    )


def _about(theory: Theory) -> str:
    """What kind of theory it is, and how it is read."""
    n_rules = counted(len(theory), "rule")
    if isinstance(theory, LayeredTheory):
        n_layers = len(theory.layers)
        layers = counted(n_layers, "layer")
        return f"{layers}, {n_rules}: each layer reads the labels that the one before has written"
    if theory.ordered:
        return f"Decision list, {n_rules}: the first rule to write a label decides it"
    return f"Rule set, {n_rules} in any order: those that hold vote on each label"


def _rule_list(part: Theory, evidence: bool, max_rules: int | None) -> Iterator[str]:
    tag = "ol" if part.ordered else "ul"
    yield f"<{tag}>"
    for rule in islice(part, max_rules):
        yield f"<li>{_rule(rule, part.schema, evidence)}</li>"
    yield f"</{tag}>"
    left = len(part) - (len(part) if max_rules is None else max_rules)
    if not len(part):
        yield '<p class="about">no rules</p>'
    elif left > 0:
        yield f'<p class="about">… and {left} more</p>'


def _rule(rule: Rule, schema: Schema, evidence: bool) -> str:
    body = ", ".join(_condition(condition, schema) for condition in rule.body)
    return " ".join(
        [
            _head(rule, schema, evidence),
            *(['<span class="stop" title="ends the list for the row">stop</span>'] * rule.stops),
            '<span class="arrow">←</span>',
            body or '<span class="test">always</span>',
        ]
    )


def _head(rule: Rule, schema: Schema, evidence: bool) -> str:
    """The labels; many absent ones of a complete head are folded away."""
    counts: Iterable[Evidence | None] = rule.evidence or (None,) * len(rule.head)
    chips = [
        (value, _chip(schema.labels[label], value) + _counts(votes, count if evidence else None))
        for (label, value, votes), count in zip(rule.ballot, counts, strict=True)
    ]
    absent = [chip for value, chip in chips if not value]
    if not rule.head.is_complete or len(absent) <= SPELLED_OUT:
        return " ".join(chip for _, chip in chips)
    folded = f"<details><summary>not the other {len(absent)}</summary>{' '.join(absent)}</details>"
    return " ".join([*(chip for value, chip in chips if value), folded])


def _chip(name: str, value: int) -> str:
    if value:
        return f'<span class="chip">{_text(name)}</span>'
    return f'<span class="chip absent"><span class="not">not</span> {_text(name)}</span>'


def _counts(votes: int, count: Evidence | None) -> str:
    """Votes, and how often the label was right and wrong."""
    parts = []
    if votes > 1:
        parts.append(f'<span class="count" title="{counted(votes, "vote")}">×{votes}</span>')
    if count is not None:
        words = f"right {count.right} times, wrong {count.wrong} times"
        parts.append(f'<span class="count" title="{words}">{count.right}/{count.wrong}</span>')
    return "".join(f" {part}" for part in parts)


def _condition(condition: Condition, schema: Schema) -> str:
    if condition.on_label:
        return _chip(schema.labels[condition.column], int(condition.value))
    feature = schema.features[condition.column]
    if feature.categories is None:
        value = number_text(condition.value)
    else:
        value = feature.categories[int(condition.value)]
    sign = escape(_SIGNS[condition.operator])
    return f'<span class="test"><b>{_text(feature.name)}</b> {sign} {_text(value)}</span>'


def _text(name: str) -> str:
    """Text as it is; signs that nobody would see are written out."""
    return escape(visible(name))


def visible(text: str) -> str:
    r"""The text with signs that nobody would see written out.

    Examples
    --------
    >>> print(visible("a\tb"))
    a\u0009b
    """
    return "".join(sign if sign.isprintable() else _written(sign) for sign in text)


def _written(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
