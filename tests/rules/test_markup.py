"""Markdown, and LaTeX in the chapter's notation."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import golden
from labelrules import (
    Body,
    Condition,
    DecisionList,
    Feature,
    Head,
    LayeredTheory,
    Rule,
    Schema,
    load,
    parse,
    parse_rule,
)
from labelrules.rules import (
    LabelByLabel,
    rule_latex,
    rule_markdown,
    theory_latex,
    theory_markdown,
)
from strategies import schemas
from theories import scorecards, theories

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
    assert marked[2] == "3. not **fashion** ← sex = Male"
    text = "in any order:\nnot quality, sports +3 <- sex != Male (3/4, 1/0)"
    unordered = parse(f"{text}\nusual label sets:\n{{sports}} +2\n{MOST}", schema)
    assert theory_markdown(unordered, evidence=True) == (
        "**in any order**\n\n- **quality** -1, **sports** +3 ← sex ≠ Male (3/4, 1/0)\n\n"
        f"**usual label sets**\n\n- {{**sports**}} +2\n\n**{MOST}**"
    )
    assert theory_latex(unordered).splitlines()[1:-1] == [
        r"  \textbf{in any order} \\",
        r"  $\textit{quality}\ {-1}, \textit{sports}\ {+3} \leftarrow "
        r"\text{sex} \neq \text{Male}$ \\",
        r"  \textbf{usual label sets} \\",
        r"  $\{\textit{sports}\}\ {+2}$ \\",
        rf"  \textbf{{{MOST}}} \\",
    ]


def test_binary_features_are_words_in_quotes():
    schema = Schema([Feature("cough", ("0", "1")), Feature("a_b c", ("True", "False"))], ["l", "m"])
    rule = parse_rule('l <- "cough", not "a_b c", cough != 1, m (3/1)', schema)
    assert rule_latex(rule, schema, evidence=True) == (
        r"$\textit{l} \leftarrow \text{``cough''}, \overline{\text{``a\_b c''}}, "
        r"\overline{\text{``cough''}}, \textit{m}\ (3/1)$"
    )
    assert rule_markdown(rule, schema) == ('**l** ← "cough", not `"a_b c"`, cough ≠ 1, **m**')


def test_defaults_and_rows_without_labels():
    text = (
        "no label, * <- sex = Male\nquality, not others <- true\n"
        "if no label was found:\nsports <- true"
    )
    theory = parse(text, load("magazines").schema)
    assert theory_latex(theory).splitlines()[1:-1] == [
        r"  $\text{no label}, * \leftarrow \text{sex} = \text{Male}$ \\",
        r"  $\text{otherwise: } \textit{quality}, \text{no other label}$ \\",
        r"  \textbf{if no label was found} \\",
        r"  $\text{otherwise: } \textit{sports}$ \\",
    ]
    assert theory_markdown(theory) == (
        "1. no label, \\* ← sex = Male\n2. otherwise: **quality**, no other label\n\n"
        "**if no label was found**\n\n1. otherwise: **sports**"
    )


MOST = "if no label was found: the label with the most points"

LAYERS = """
layer 1:
in any order:
quality <- sex = Male
layer 2, until stable in at most 3 rounds:
not quality <- tabloid
if no label was found:
"""


def test_layers_have_headings():
    theory = parse(LAYERS, load("magazines").schema)
    assert theory_markdown(theory).splitlines() == [
        "**layer 1, in any order**",
        "",
        "- **quality** ← sex = Male",
        "",
        "**layer 2, until stable in at most 3 rounds**",
        "",
        "1. not **quality** ← **tabloid**",
        "",
        "**if no label was found**",
    ]
    assert theory_latex(theory).splitlines() == [
        r"\begin{tabular}{l}",
        r"  \textbf{layer 1, in any order} \\",
        r"  $\textit{quality} \leftarrow \text{sex} = \text{Male}$ \\",
        r"  \textbf{layer 2, until stable in at most 3 rounds} \\",
        r"  $\overline{\textit{quality}} \leftarrow \textit{tabloid}$ \\",
        r"  \textbf{if no label was found} \\",
        r"\end{tabular}",
    ]


def test_evidence_and_long_heads():
    schema = Schema([], [f"l{i}" for i in range(12)])
    rule = parse_rule("l3, not others <- true", schema)
    assert rule_latex(rule, schema) == (
        r"$\textit{l3}, \overline{\text{others}} \leftarrow \text{true}$"
    )
    assert rule_markdown(rule, schema) == "**l3**, not others ← true"
    readers = load("magazines").schema
    rule = parse_rule("quality, not sports <- tabloid (6/1, 5/2)", readers)
    assert rule_latex(rule, readers, evidence=True) == (
        r"$\textit{quality}, \overline{\textit{sports}} \leftarrow \textit{tabloid}\ (6/1, 5/2)$"
    )
    sampled = parse(
        "layer 1, sampled 9 times after 1 round, seed 0:\nsports <- true (3/4)", readers
    )
    assert theory_markdown(sampled).endswith("1. otherwise: **sports** (3/4)")
    assert r"\textit{sports}\ (3/4)" in theory_latex(sampled)


def shown(text):
    """What a page shows of Markdown: headings, and items of lists; nothing but bold and code."""
    markdown_it = pytest.importorskip("markdown_it", reason="import-linter brings it")
    found = []
    for token in markdown_it.MarkdownIt("commonmark").parse(text):
        if token.type == "inline":
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special", "strong_open", "strong_close", "code_inline"}
            found.append("".join(child.content for child in token.children))
    return found


@given(st.data())
def test_what_a_page_shows_is_the_rule_language(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema) | scorecards(schema))
    lines = shown(theory_markdown(theory, evidence="all"))
    if not theory.ordered:
        assert lines[:1] == ["in any order"]
        lines = [
            f"{line}:" if line in ("in any order", "usual label sets") else line for line in lines
        ]
    again = parse("\n".join(lines), schema)
    assert again == theory
    assert [rule.evidence for rule in again] == [rule.evidence for rule in theory]


HOSTILE = [
    "<script>x</script>", "a`b", "``", "*a*", "_a_", "a|b", "$x$", "[a](b)", "&amp;", "a\\", "#1",
    'q"q', "~~a~~", "--a---", "','", "^{}%", "1. a", "a\nb", "<!--", "ends_", "é",
]  # fmt: skip
HOSTILE_SCHEMA = Schema([Feature("$f_"), Feature("c", HOSTILE)], HOSTILE)
HOSTILE_RULES = [
    Rule(Head({label: label % 2}, len(HOSTILE)), Body([Condition.equals(1, label), other]))
    for label, other in enumerate([Condition.at_most(0, -1.5)] * 10 + [Condition.label(0)] * 11)
]


def test_names_stay_text_in_markdown():
    layer = DecisionList(HOSTILE_SCHEMA, HOSTILE_RULES)
    order = LabelByLabel(2, range(len(HOSTILE)))
    theory = LayeredTheory(HOSTILE_SCHEMA, [layer], order)
    heading, *lines = shown(theory_markdown(theory))
    assert parse("\n".join([f"{heading}:", *lines]), HOSTILE_SCHEMA) == theory


def test_latex_prints_hostile_names(tmp_path):
    """By pdfLaTeX with its default fonts; what it prints is read back."""
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        pytest.skip("needs pdflatex and pdftotext")
    table = theory_latex(DecisionList(HOSTILE_SCHEMA, HOSTILE_RULES[:10]), evidence=True)
    document = (
        "\\documentclass[landscape]{article}\\usepackage{amsmath}\\pagestyle{empty}"
        f"\\begin{{document}}\n{table}\n\\end{{document}}\n"
    )
    (tmp_path / "rules.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "rules.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = subprocess.run(
        ["pdftotext", "-layout", "rules.pdf", "-"], cwd=tmp_path, check=True, capture_output=True
    ).stdout.decode()
    for name in ("<script>x</script>", "*a*", "a|b", "$x$", "[a](b)", "&amp;"):
        assert name in text
