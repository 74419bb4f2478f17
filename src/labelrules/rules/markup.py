r"""Rules in Markdown and LaTeX, in the chapter's notation.

Labels are in italics, an overline means absence. A feature whose two categories say no and yes
is shown by its name alone, overlined for no; every other condition is a comparison.
"""

from collections.abc import Iterator

from labelrules.data.schema import Schema
from labelrules.rules.condition import Condition
from labelrules.rules.headings import NO_LABELS, heading_text
from labelrules.rules.inference import Once
from labelrules.rules.layered import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory
from labelrules.rules.tokens import number_text

NO_YES = frozenset({("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1")})

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_TRUE = r"\text{true}"
_OPERATORS = {"<=": r"\leq", ">": ">", "=": "=", "!=": r"\neq"}


def rule_latex(rule: Rule, schema: Schema) -> str:
    r"""One rule as a LaTeX formula, between dollar signs.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_latex(parse_rule("quality, not tabloid <- children = No", schema), schema))
    $\textit{quality}, \overline{\textit{tabloid}} \leftarrow \overline{\text{children}}$
    """
    parts = [
        _overlined(_label(label, schema), value == 0) + (rf" \times {votes}" if votes > 1 else "")
        for label, value, votes in rule.ballot
    ]
    head = ", ".join([*parts, "*"] if rule.stops else parts)
    body = ", ".join(_condition(condition, schema) for condition in rule.body)
    return rf"${head} \leftarrow {body or _TRUE}$"


def theory_latex(theory: Theory) -> str:
    r"""A theory as a LaTeX tabular with one rule to a line; needs the package amsmath.

    Layers have their headings in bold.
    """
    rows = []
    for heading, part in theory_parts(theory):
        rows += [rf"  \textbf{{{_escaped(heading)}}} \\"] if heading else []
        rows += [rf"  {rule_latex(rule, theory.schema)} \\" for rule in part]
    return "\n".join([r"\begin{tabular}{l}", *rows, r"\end{tabular}"])


def theory_markdown(theory: Theory) -> str:
    r"""A theory as a Markdown list with formulas, numbered if its order matters.

    Each layer is a list of its own, below its heading in bold.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> print(theory_markdown(parse("not sports <- fashion", load("magazines").schema)))
    1. $\overline{\textit{sports}} \leftarrow \textit{fashion}$
    """
    lists = []
    for heading, part in theory_parts(theory):
        rules = "\n".join(
            f"{f'{number}.' if part.ordered else '-'} {rule_latex(rule, theory.schema)}"
            for number, rule in enumerate(part, 1)
        )
        lists += [f"**{heading}**", rules] if heading else [rules]
    return "\n\n".join(text for text in lists if text)


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
    return "".join(_LATEX.get(sign, sign if sign.isprintable() else " ") for sign in text)
