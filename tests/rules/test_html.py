"""HTML of theories: all that they say, and names that stay text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import golden
from labelrules import DecisionList, Feature, Schema, load, parse
from labelrules.rules import theory_html
from labelrules.rules.formats.html import SHOWN_IN_NOTEBOOKS
from strategies import schemas
from theories import theories

READERS = load("magazines").schema
TAGS = {"div", "style", "p", "h4", "ol", "ul", "li", "span", "b", "details", "summary"}


class Read(HTMLParser):
    """Tags, attributes, chips, and the text of each list item."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.items, self.text = [], set(), [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.open.append(tag)
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
        if "li" in self.open:
            self.items[-1] += data


def items(text, **options):
    return Read(theory_html(parse(text, READERS), **options)).items


def test_a_rule_reads_like_one():
    assert items("quality, not sports, * <- sex = Male, not fashion (6/1, 5/2)") == [
        "quality 6/1 not sports 5/2 stop ← sex = Male, not fashion"
    ]
    assert items("quality <- true (6/1)", evidence=False) == ["quality ← always"]
    assert items("in any order:\nquality x3, not sports <- tabloid") == [
        "quality ×3 not sports ← tabloid"
    ]
    assert items("quality <- sex != Male") == ["quality ← sex ≠ Male"]


def test_the_chapters_list():
    read = Read(golden("magazines-multi")._repr_html_())
    assert len(read.items) == 10
    assert "Decision list, 10 rules: the first rule to write a label decides it" in read.text
    assert "ol" in read.tags


def test_layers_votes_ways_and_the_fallback_are_shown():
    theory = parse(
        "layer 1:\nin any order:\nquality x2 <- true\n"
        "layer 2, sampled 10 times after 3 rounds, seed 1:\nsports <- quality (3/4)\n"
        "if no label was found:\ntabloid, * <- true",
        READERS,
    )
    read = Read(theory_html(theory, evidence=False))
    for words in ("layer 1, in any order", "layer 2, sampled 10 times", "rows without labels"):
        assert words in read.text
    assert read.items == ["quality ×2 ← always", "sports 3/4 ← quality", "tabloid stop ← always"]
    assert {"ol", "ul"} <= read.tags


def test_many_absent_labels_are_folded_but_there():
    schema = Schema([], [f"l{i}" for i in range(12)])
    read = Read(theory_html(parse("l3, not others <- true", schema)))
    (item,) = read.items
    assert item.startswith("l3 not the other 11not l0 not l1 not l2 not l4")
    assert "details" in read.tags


NASTY = ["<script>alert(1)</script>", '" onmouseover="x', "a&amp;b", "</style>", "a\u202eb\n"]


def test_names_stay_text():
    schema = Schema([Feature("<img src=x>"), Feature("c", ("<b>", "&"))], NASTY)
    test = f'c = "<b>", {quote("<img src=x>")} <= 1'
    theory = parse("\n".join(f"{quote(name)} <- {test}" for name in NASTY), schema)
    read = Read(theory_html(theory))
    assert read.tags <= TAGS
    assert read.items[0] == "<script>alert(1)</script> ← c = <b>, <img src=x> ≤ 1"
    assert read.items[4].startswith("a\\u202eb\\u000a ←")
    text = theory_html(theory, page=True, title="<script>")
    assert "<script" not in text
    assert "onmouseover=&#34;" in text


def quote(name):
    signs = {'"': '\\"', "\n": "\\n"}
    return '"' + "".join(signs.get(sign, sign) for sign in name) + '"'


@given(st.data())
def test_every_rule_and_label_of_any_theory_is_there(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema))
    read = Read(theory_html(theory))
    assert read.tags <= TAGS
    assert {name for name, _ in read.attributes} <= {"class", "title"}
    assert len(read.items) == len(theory)
    for rule, item in zip(theory, read.items, strict=True):
        for label, _ in rule.head:
            name = schema.labels[label]
            assert not name.isprintable() or name in item.partition("←")[0] or "←" in name
        assert ("stop ←" in item) >= rule.stops
        assert ("/" in item) >= (rule.evidence is not None)


def test_long_theories_are_cut_where_asked():
    schema = Schema([], ["a"])
    rules = parse("a <- true", schema).rules * 300
    read = Read(DecisionList(schema, rules)._repr_html_())
    assert len(read.items) == SHOWN_IN_NOTEBOOKS
    assert "… and 100 more" in read.text
    assert len(Read(theory_html(DecisionList(schema, rules))).items) == 300
    assert "no rules" in DecisionList(schema)._repr_html_()
    with pytest.raises(ValueError, match="max_rules must be a whole number of at least 1"):
        theory_html(DecisionList(schema), max_rules=0)


def test_a_page_fetches_nothing():
    text = theory_html(golden("magazines-multi"), page=True)
    assert text.startswith("<!DOCTYPE html>")
    assert not any(word in text for word in ("http:", "https:", "src=", "href=", "url(", "@import"))
    assert "default-src 'none'" in text
