"""Summaries and comparisons in notebooks: all that the text says, and names that stay text."""

from html.parser import HTMLParser

import pytest

from goldens import golden
from labelrules import Feature, Schema, load, parse
from labelrules._html import SHOWN
from labelrules.inspection import compare, summary

TAGS = {
    "div", "style", "p", "details", "summary", "ul", "li", "code", "table", "thead", "tbody", "tr",
    "th", "td", "br",
}  # fmt: skip


class Read(HTMLParser):
    """Tags, cells by rows, and the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.rows, self.text = [], set(), [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert {name for name, _ in attrs} <= {"class"}
        self.tags.add(tag)
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


def test_a_summary_has_the_figures_of_its_text():
    readers = load("magazines")
    found = summary(golden("magazines-multi"), readers)
    read = Read(found._repr_html_())
    assert read.tags <= TAGS
    for line in str(found).splitlines()[:6]:
        assert line in read.text
    assert read.rows[0][:4] == ["label", "positive", "negative", "conditions"]
    assert [row[0] for row in read.rows[1:5]] == list(readers.schema.labels)
    assert [row[7] for row in read.rows[1:5]] == [str(line.n_wrong) for line in found.labels]
    assert [row[0] for row in read.rows[6:]] == [line.feature for line in found.features]
    assert Read(summary(golden("magazines-multi"))._repr_html_()).rows[0][-1] == "tested by"


def test_a_comparison_has_what_its_text_says():
    readers = load("magazines")
    one = parse("quality <- sex = Female\nsports <- true", readers.schema)
    text = "in any order:\nquality <- children = No\nsports <- true\nfashion <- true"
    read = Read(compare(one, parse(text, readers.schema), readers)._repr_html_())
    assert read.tags <= TAGS
    assert "2 rules (3 literals) and 3 rules (4 literals), 1 of them in both" in read.text
    assert read.rows[1][0] == "order"
    changed, added = read.rows[3:5]
    assert changed == [
        "body changed", "rule 1: quality <- sex = Female", "rule 1: quality <- children = No",
    ]  # fmt: skip
    assert added == ["added", "", "rule 3: fashion <- true"]
    assert read.rows[-1] == ["fashion", "14", "11", "3"]


HOSTILE = "<script>alert(1)</script>"


@pytest.mark.parametrize("name", [HOSTILE, '" onmouseover="x', "a&amp;b\n", "</style>"])
def test_names_stay_text(name):
    schema = Schema([Feature("f" + name)], [name, "l"])
    test = '"f' + name.replace('"', '\\"').replace("\n", "\\n") + '" >'
    quoted = "'" + name.replace("\n", "\\n") + "'"
    theory = parse(f"{quoted} <- {test} 1\n{quoted} <- {test} 2", schema)
    other = parse(f"not {quoted} <- {test} 3", schema)
    for shown in (summary(theory, [[1.5]]), compare(theory, other, [[3.5]])):
        read = Read(shown._repr_html_())
        assert read.tags <= TAGS
        assert quoted in read.text


def test_long_lists_are_cut():
    schema = Schema([Feature("f")], [f"l{i}" for i in range(SHOWN + 5)])
    theory = parse("\n".join(f"l{i} <- f > 1" for i in range(SHOWN + 5)), schema)
    read = Read(summary(theory)._repr_html_())
    assert "and 5 more" in read.text
    read = Read(compare(theory, theory[:0])._repr_html_())
    assert "and 5 more" in read.text
