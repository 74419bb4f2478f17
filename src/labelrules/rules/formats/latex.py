"""Rules in LaTeX, in the chapter's notation.

Labels are in italics, an overline means absence. A feature whose two categories say no and yes
is shown by its name alone, overlined for no; every other condition is a comparison.
"""

import re
from collections.abc import Iterator

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import number_text
from labelrules.rules.formats.text import NO_LABELS, head_parts, heading_text
from labelrules.rules.inference import Gibbs, Once
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

NO_YES = frozenset({("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1")})

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedblright{}", "`": r"\textasciigrave{}",
}  # fmt: skip
"""Signs that LaTeX would read, or that its default fonts print as other signs."""
_TRUE = r"\text{true}"
_OPERATORS = {"<=": r"\leq", ">": ">", "=": "=", "!=": r"\neq"}


def rule_latex(rule: Rule, schema: Schema, evidence: bool = False) -> str:
    r"""One rule as a LaTeX formula, between dollar signs.

    Parameters
    ----------
    rule : Rule
    schema : Schema
    evidence : bool, default=False
        Whether to show after each predicted label how often it was right / wrong.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_latex(parse_rule("quality, not tabloid <- children = No", schema), schema))
    $\textit{quality}, \overline{\textit{tabloid}} \leftarrow \overline{\text{children}}$
    """
    shown, others = head_parts(rule, evidence)
    parts = [
        _overlined(_label(part.label, schema), part.value == 0)
        + (rf" \times {part.votes}" if part.votes > 1 else "")
        + (rf"\ ({part.evidence.right}/{part.evidence.wrong})" if part.evidence else "")
        for part in shown
    ]
    parts += [r"\overline{\text{others}}"] if others else []
    head = ", ".join([*parts, "*"] if rule.stops else parts)
    body = ", ".join(_condition(condition, schema) for condition in rule.body)
    return rf"${head} \leftarrow {body or _TRUE}$"


def theory_latex(theory: Theory, evidence: bool = False) -> str:
    r"""A theory as a LaTeX tabular with one rule to a line; needs the package amsmath.

    Layers have their headings in bold, and so have rules in any order. Letters that are not in
    the fonts of pdfLaTeX need XeLaTeX or LuaLaTeX, and a font that has them.

    Parameters
    ----------
    theory : Theory
    evidence : bool, default=False
        Whether to show counts of right / wrong, as `theory_text` does.
    """
    rows = []
    for heading, part, counts in headed_parts(theory, evidence):
        rows += [rf"  \textbf{{{_escaped(heading)}}} \\"] if heading else []
        rows += [rf"  {rule_latex(rule, theory.schema, counts)} \\" for rule in part]
    return "\n".join([r"\begin{tabular}{l}", *rows, r"\end{tabular}"])


def headed_parts(theory: Theory, evidence: bool) -> Iterator[tuple[str, Theory, bool]]:
    """The parts with headings that tell rule sets too, and whether to show evidence."""
    for heading, part in theory_parts(theory):
        words = [*([heading] if heading else []), *([] if part.ordered else ["in any order"])]
        drawn = isinstance(theory, LayeredTheory) and is_sampled(theory, part)
        yield ", ".join(words), part, evidence or drawn


def is_sampled(theory: LayeredTheory, part: Theory) -> bool:
    """Whether it is the layer from which labels are drawn."""
    return isinstance(theory.inference, Gibbs) and part is theory.layers[-1]


def theory_parts(theory: Theory) -> Iterator[tuple[str, Theory]]:
    """The layers with their headings; a theory that has none, without."""
    if not isinstance(theory, LayeredTheory):
        yield "", theory
        return
    for number, layer in enumerate(theory.layers, 1):
        way = theory.inference if number == len(theory.layers) else Once()
        yield heading_text(number, way, theory.schema, "plain").removesuffix(":"), layer
    if theory.fallback is not None:
        yield NO_LABELS.removesuffix(":"), theory.fallback


def _overlined(text: str, overlined: bool) -> str:
    return rf"\overline{{{text}}}" if overlined else text


def _label(label: int, schema: Schema) -> str:
    return rf"\textit{{{_escaped(schema.labels[label])}}}"


def _condition(condition: Condition, schema: Schema) -> str:
    if condition.on_label:
        return _overlined(_label(condition.column, schema), condition.value == 0)
    feature = schema.features[condition.column]
    name = rf"\text{{{_escaped(feature.name)}}}"
    sign = _OPERATORS[condition.operator]
    if feature.categories is None:
        return f"{name} {sign} {_number(condition.value)}"
    category = int(condition.value)
    if tuple(text.lower() for text in feature.categories) in NO_YES:
        return _overlined(name, category == (condition.operator == "!="))
    return rf"{name} {sign} \text{{{_escaped(feature.categories[category])}}}"


def _number(value: float) -> str:
    mantissa, _, exponent = number_text(value).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _escaped(text: str) -> str:
    """Text for LaTeX on one line; what cannot be printed becomes a space."""
    found = "".join(_LATEX.get(sign, sign if sign.isprintable() else " ") for sign in text)
    # Two hyphens would become a dash, two quotes or commas another quote.
    return re.sub(r"([-',])(?=\1)", r"\1{}", found)
