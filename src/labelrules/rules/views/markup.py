"""Theories in LaTeX, in the chapter's notation, and in Markdown.

In LaTeX, labels are in italics, and an overline means absence. A binary feature, with the
categories 0 and 1, is shown by its name in quotes. One whose two categories mean no and yes is
shown by its name alone, overlined for no; every other condition is a comparison.

In Markdown, the rule language has labels in bold. There are no formulas and no HTML, so that the
source reads well too. Names that are not plain words are in quotes and in code spans, and so are
notes. `parse` reads the text that a page shows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from labelrules.data.schema import Feature, Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.language.text import (
    Notation,
    RuleLayout,
    ShownEvidence,
    layout_of,
    name_text,
    note_text,
    number_text,
    sections,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import LabelSet, theory_of

# -------------------------------------------------------------------- LaTeX

NO_YES = frozenset({("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t")})
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedblright{}", "`": r"\textasciigrave{}",
}  # fmt: skip
"""Characters with a meaning in LaTeX, or that its default fonts print as other characters."""


def rule_latex(rule: Rule, schema: Schema, evidence: ShownEvidence = False) -> str:
    r"""One rule as a LaTeX formula, between dollar signs.

    Parameters
    ----------
    rule, schema
    evidence : bool, default=False
        As for :func:`theory_text`.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_latex(parse_rule("quality, not tabloid <- children = No", schema), schema))
    $\textit{quality}, \overline{\textit{tabloid}} \leftarrow \overline{\text{children}}$
    """
    return _LATEX.noted(rule, schema, layout_of(rule, evidence))


def theory_latex(theory: Any, evidence: ShownEvidence = False) -> str:
    """A theory as a LaTeX tabular with one rule to a line; needs the package amsmath.

    The headings of layers and of rule sets are in bold. Letters that are not in the fonts of
    pdfLaTeX need XeLaTeX or LuaLaTeX, and a font that has them.

    Parameters
    ----------
    theory, evidence
        As for :func:`theory_text`.
    """
    rows: list[str] = []
    for section in sections(theory_of(theory), evidence=evidence):
        rows += [_bold(section.title)] if section.title else []
        rows += section.noted(_LATEX)
        for ending, label_sets in section.endings:
            rows.append(_bold(ending))
            rows += [_LATEX.label_set(one, section.part.schema) for one in label_sets]
    lines = [rf"  {row} \\" for row in rows]
    return "\n".join([r"\begin{tabular}{l}", *lines, r"\end{tabular}"])


def _bold(heading: str) -> str:
    return rf"\textbf{{{_escaped(heading)}}}"


class _Latex(Notation):
    arrow, true, otherwise = r"\leftarrow", r"\text{true}", r"\text{otherwise: }"
    operators: Mapping[str, str] = {"<=": r"\leq", "!=": r"\neq", "in": r"\in"}

    def rule(self, rule: Rule, schema: Schema, layout: RuleLayout) -> str:
        return f"${super().rule(rule, schema, layout)}$"

    def note(self, rule: Rule) -> str:
        return "" if rule.note is None else rf"\quad \textit{{{_escaped(rule.note)}}}"

    def words(self, text: str) -> str:
        return rf"\text{{{text}}}"

    def points(self, number: int) -> str:
        return rf"\ {{{number:+}}}"

    def bracket(self, counts: str) -> str:
        return rf"\ ({counts})"

    def label_set(self, label_set: LabelSet, schema: Schema) -> str:
        names = ", ".join(self.label(schema.labels[label]) for label in label_set.labels)
        return rf"$\{{{names}\}}{self.points(label_set.bonus)}$"

    def condition(self, condition: Condition, schema: Schema) -> str:
        feature = None if condition.on_label else schema.features[condition.column]
        if feature is None or condition.operator == "in" or not _is_yes_or_no(feature):
            return super().condition(condition, schema)
        yes = 1 if feature.present_code is None else feature.present_code
        name = self.feature if feature.present_code is None else self.binary
        is_no = (condition.value == yes) == (condition.operator == "!=")
        return self.absent(name(feature.name)) if is_no else name(feature.name)

    def label(self, name: str) -> str:
        return rf"\textit{{{_escaped(name)}}}"

    def absent(self, name: str) -> str:
        return rf"\overline{{{name}}}"

    def binary(self, name: str) -> str:
        return rf"\text{{``{_escaped(name)}''}}"

    def feature(self, name: str) -> str:
        return rf"\text{{{_escaped(name)}}}"

    def category(self, name: str) -> str:
        return rf"\text{{{_escaped(name)}}}"

    def category_set(self, names: Sequence[str]) -> str:
        return rf"\{{{', '.join(map(self.category, names))}\}}"

    def number(self, value: float) -> str:
        mantissa, _, exponent = number_text(value).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def time(self, text: str) -> str:
        return rf"\text{{{_escaped(text)}}}"


_LATEX = _Latex("plain")


def _is_yes_or_no(feature: Feature) -> bool:
    categories = tuple(map(str.lower, feature.categories or ()))
    return feature.present_code is not None or (feature.is_nominal and categories in NO_YES)


def _escaped(text: str) -> str:
    """Text for LaTeX on one line; what cannot be printed becomes a space."""
    escaped = "".join(_ESCAPES.get(sign, sign if sign.isprintable() else " ") for sign in text)
    # Two hyphens would become a dash, two quotes or commas another quote.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


# -------------------------------------------------------------------- Markdown

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")


def theory_markdown(theory: Any, evidence: ShownEvidence = False) -> str:
    r"""A theory as a Markdown list, numbered if its order matters.

    Each layer is a list of its own, below its heading in bold; so are rules in any order.

    Parameters
    ----------
    theory, evidence
        As for :func:`theory_text`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "not sports <- fashion (5/0)\nquality <- education != Primary"
    >>> print(theory_markdown(parse(text, load("magazines").schema), evidence=True))
    1. not **sports** ← **fashion** (5/0)
    2. **quality** ← education ≠ Primary
    """
    blocks = []
    for section in sections(theory_of(theory), evidence=evidence):
        part = section.part
        numbers = [part.called(place) for place in range(len(part))] if part.ordered else None
        blocks += [_heading(section.title), _list(section.noted(_MARKDOWN), numbers)]
        for ending, label_sets in section.endings:
            sets = (_MARKDOWN.label_set(one, part.schema) for one in label_sets)
            blocks += [_heading(ending), _list(sets)]
    return "\n\n".join(block for block in blocks if block)


def _list(items: Iterable[str], numbers: Iterable[int] | None = None) -> str:
    marks = repeat("-") if numbers is None else (f"{number}." for number in numbers)
    return "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=False))


def rule_markdown(rule: Rule, schema: Schema, evidence: ShownEvidence = False) -> str:
    r"""One rule in Markdown; see `theory_markdown`.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_markdown(parse_rule("quality, * <- not tabloid", schema), schema))
    **quality**, \* ← not **tabloid**
    """
    return _MARKDOWN.noted(rule, schema, layout_of(rule, evidence))


class _Markdown(Notation):
    stop = r"\*"

    def note(self, rule: Rule) -> str:
        return "" if rule.note is None else f" {_code(note_text(rule.note))}"

    def label(self, name: str) -> str:
        return f"**{_plain_or_code(name, super().label(name))}**"

    def absent(self, name: str) -> str:
        return f"not {name}"

    def binary(self, name: str) -> str:
        text = super().binary(name)
        return _word(text) if name_text(name) == name else _code(text)

    def feature(self, name: str) -> str:
        return _plain_or_code(name, super().feature(name))

    def category(self, name: str) -> str:
        return _plain_or_code(name, super().category(name))


_MARKDOWN = _Markdown("unicode")


def _plain_or_code(name: str, text: str) -> str:
    return _word(text) if text == name else _code(text)


def _word(text: str) -> str:
    """Plain words, in which only the underscore has a meaning in Markdown."""
    return text.replace("_", r"\_")


def _code(text: str) -> str:
    """Text as a code span; its fence is longer than any run of backticks in it."""
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    space = " " if text.endswith("`") else ""  # which is not shown
    return f"{fence}{space}{text}{space}{fence}"


def _heading(text: str) -> str:
    """A heading in bold, if there is one; that of a layer may name labels."""
    if not text:
        return ""
    words, quoted = _QUOTED.split(text), _QUOTED.findall(text)
    parts = [_word(words[0])]
    for name, after in zip(quoted, words[1:], strict=True):
        parts += [_code(name), _word(after)]
    return f"**{''.join(parts)}**"
