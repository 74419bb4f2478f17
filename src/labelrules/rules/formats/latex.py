"""Rules in LaTeX, in the chapter's notation.

Labels are in italics, an overline means absence. A feature whose two categories mean no and yes
is shown by its name alone, overlined for no; every other condition is a comparison.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import number_text
from labelrules.rules.formats.text import Notation, is_sampled, theory_parts
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory, theory_of

NO_YES = frozenset({("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1")})

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedblright{}", "`": r"\textasciigrave{}",
}  # fmt: skip
"""Characters with a meaning in LaTeX, or that its default fonts print as other characters."""


def rule_latex(rule: Rule, schema: Schema, evidence: bool = False) -> str:
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
    return _LATEX.rule(rule, schema, evidence)


def theory_latex(theory: Any, evidence: bool = False) -> str:
    """A theory as a LaTeX tabular with one rule to a line; needs the package amsmath.

    The headings of layers and of rule sets are in bold. Letters that are not in the fonts of
    pdfLaTeX need XeLaTeX or LuaLaTeX, and a font that has them.

    Parameters
    ----------
    theory, evidence
        As for :func:`theory_text`.
    """
    theory, rows = theory_of(theory), []
    for heading, part, counts in headed_parts(theory, evidence):
        rows += [rf"  \textbf{{{_escaped(heading)}}} \\"] if heading else []
        rows += [rf"  {rule_latex(rule, theory.schema, counts)} \\" for rule in part]
    return "\n".join([r"\begin{tabular}{l}", *rows, r"\end{tabular}"])


def headed_parts(theory: Theory, evidence: bool) -> Iterator[tuple[str, Theory, bool]]:
    """The parts with their headings, also of rule sets, and whether to show evidence."""
    for heading, part in theory_parts(theory):
        words = [heading.removesuffix(":"), "" if part.ordered else "in any order"]
        yield ", ".join(filter(None, words)), part, evidence or is_sampled(theory, part)


class _Latex(Notation):
    arrow, true, others = r"\leftarrow", r"\text{true}", r"\text{others}"
    votes, evidence = r" \times {}", r"\ ({}/{})"
    operators: Mapping[str, str] = {"<=": r"\leq", "!=": r"\neq"}

    def rule(self, rule: Rule, schema: Schema, evidence: bool) -> str:
        return f"${super().rule(rule, schema, evidence)}$"

    def condition(self, condition: Condition, schema: Schema) -> str:
        feature = None if condition.on_label else schema.features[condition.column]
        categories = tuple(map(str.lower, (feature and feature.categories) or ()))
        if feature is None or categories not in NO_YES:
            return super().condition(condition, schema)
        is_no = int(condition.value) == (condition.operator == "!=")
        name = self.feature(feature.name)
        return self.absent(name) if is_no else name

    def label(self, name: str) -> str:
        return rf"\textit{{{_escaped(name)}}}"

    def absent(self, label: str) -> str:
        return rf"\overline{{{label}}}"

    def feature(self, name: str) -> str:
        return rf"\text{{{_escaped(name)}}}"

    def category(self, name: str) -> str:
        return rf"\text{{{_escaped(name)}}}"

    def number(self, value: float) -> str:
        mantissa, _, exponent = number_text(value).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


_LATEX = _Latex("plain")


def _escaped(text: str) -> str:
    """Text for LaTeX on one line; what cannot be printed becomes a space."""
    escaped = "".join(_ESCAPES.get(sign, sign if sign.isprintable() else " ") for sign in text)
    # Two hyphens would become a dash, two quotes or commas another quote.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)
