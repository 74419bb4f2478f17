"""Rules in LaTeX, in the chapter's notation.

Labels are in italics, an overline means absence. A binary feature, with the categories 0 and 1, is
shown by its name in quotes. One whose two categories mean no and yes is shown by its name alone,
overlined for no; every other condition is a comparison.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labelrules.data.schema import Feature, Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.language.text import (
    Notation,
    RuleLayout,
    ShownEvidence,
    endings,
    layout_of,
    noted_rules,
    number_text,
    theory_parts,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import LabelSet, Theory, theory_of

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
    theory = theory_of(theory)
    rows: list[str] = []
    for heading, part, shown in headed_parts(theory, evidence):
        rows += [_bold(heading)] if heading else []
        rows += noted_rules(part, _LATEX, shown)
        for ending, label_sets in endings(part):
            rows.append(_bold(ending.removesuffix(":")))
            rows += [_LATEX.label_set(one, theory.schema) for one in label_sets]
    lines = [rf"  {row} \\" for row in rows]
    return "\n".join([r"\begin{tabular}{l}", *lines, r"\end{tabular}"])


def _bold(heading: str) -> str:
    return rf"\textbf{{{_escaped(heading)}}}"


def headed_parts(
    theory: Theory, evidence: ShownEvidence
) -> Iterator[tuple[str, Theory, ShownEvidence]]:
    """The parts with their headings, also of rule sets, and what evidence they show."""
    for heading, part, shown in theory_parts(theory, evidence=evidence):
        words = [heading.removesuffix(":"), "" if part.ordered else "in any order"]
        yield ", ".join(filter(None, words)), part, shown


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
