"""Markdown and LaTeX in the chapter's notation."""

from goldens import golden
from labelrules import Feature, Schema, load, parse, parse_rule
from labelrules.rules import rule_latex, theory_latex, theory_markdown

SCHEMA = Schema(
    [Feature("a_b"), Feature("c", ("50%", "$x"))], ["l_1", "back\\slash", "tilde~{}", "l&m\n"]
)


def test_the_chapters_rules():
    schema = load("magazines").schema
    assert rule_latex(golden("rule-forms")[3], schema) == (
        r"$\overline{\textit{quality}} \leftarrow "
        r"\overline{\textit{tabloid}}, \text{education} = \text{Primary}$"
    )
    assert rule_latex(parse_rule("sports, * <- true", schema), schema) == (
        r"$\textit{sports}, * \leftarrow \text{true}$"
    )
    for text in ("children = Yes", "children != No"):
        rule = parse_rule(f"sports <- {text}", schema)
        assert rule_latex(rule, schema) == r"$\textit{sports} \leftarrow \text{children}$"


def test_signs_that_latex_would_read_are_escaped():
    rule = parse_rule(r'"l_1", not "back\\slash" <- a_b <= 0.5, c != "50%", "tilde~{}"', SCHEMA)
    assert rule_latex(rule, SCHEMA) == (
        r"$\textit{l\_1}, \overline{\textit{back\textbackslash{}slash}} \leftarrow "
        r"\text{a\_b} \leq 0.5, \text{c} \neq \text{50\%}, \textit{tilde\textasciitilde{}\{\}}$"
    )
    assert "\n" not in rule_latex(parse_rule('"l&m\\n" <- c = "$x"', SCHEMA), SCHEMA)


def test_theories():
    schema = load("magazines").schema
    text = theory_latex(golden("magazines-multi"))
    assert text.startswith("\\begin{tabular}{l}\n  $")
    assert text.count("\\\\\n") == 10
    marked = theory_markdown(golden("magazines-multi")).splitlines()
    assert marked[2] == (r"3. $\overline{\textit{fashion}} \leftarrow \text{sex} = \text{Male}$")
    unordered = theory_markdown(parse("in any order:\nsports <- true", schema))
    assert unordered == r"- $\textit{sports} \leftarrow \text{true}$"


LAYERS = """
layer 1:
in any order:
quality <- sex = Male
layer 2, until stable in at most 3 rounds:
not quality <- tabloid
rows without labels:
"""


def test_layers_have_headings():
    theory = parse(LAYERS, load("magazines").schema)
    assert theory_markdown(theory).splitlines() == [
        "**layer 1**",
        "",
        r"- $\textit{quality} \leftarrow \text{sex} = \text{Male}$",
        "",
        "**layer 2, until stable in at most 3 rounds**",
        "",
        r"1. $\overline{\textit{quality}} \leftarrow \textit{tabloid}$",
        "",
        "**rows without labels**",
    ]
    assert theory_latex(theory).splitlines() == [
        r"\begin{tabular}{l}",
        r"  \textbf{layer 1} \\",
        r"  $\textit{quality} \leftarrow \text{sex} = \text{Male}$ \\",
        r"  \textbf{layer 2, until stable in at most 3 rounds} \\",
        r"  $\overline{\textit{quality}} \leftarrow \textit{tabloid}$ \\",
        r"  \textbf{rows without labels} \\",
        r"\end{tabular}",
    ]
