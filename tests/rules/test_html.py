"""HTML of theories: all that they say, and names that stay text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import golden
from labelrules import DecisionList, Feature, Schema, load, parse
from labelrules.rules import theory_html
from labelrules.rules.views.html import SHOWN_IN_NOTEBOOKS
from labelrules.rules.views.tables import PointsTable
from pages import fetched
from strategies import schemas
from theories import scorecards, theories

READERS = load("magazines").schema
TAGS = {"div", "style", "p", "h4", "ol", "ul", "li", "span", "b", "details", "summary"}

TABLE_TAGS = {*TAGS, "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"}


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
    return Read(theory_html(parse(text, READERS), order="list", **options)).items


def test_a_rule_reads_like_one():
    assert items("quality, not sports, * <- sex = Male, not fashion (6/1, 5/2)") == [
        "quality not sports stop ← sex = Male, not fashion (6/1, 5/2)"
    ]
    assert items("otherwise: quality (6/1)", evidence=False) == ["otherwise: quality"]
    assert items("quality, not others <- true (6/1)") == [
        "otherwise: quality no other labelnot tabloid not fashion not sports (6/1)"
    ]
    assert items("no label <- tabloid")[0].startswith(" no labelnot quality")
    assert items("quality <- true\nsports <- sex = Male")[0] == "quality ← always"
    assert items("in any order:\nquality +3, not sports <- tabloid") == [
        "quality +3 sports −1 ← tabloid"
    ]
    assert items("in any order:\nquality +3, others -2 <- tabloid")[0].startswith(
        "quality +3 the other 3 −2tabloid −2 "
    )
    assert items("in any order:\nusual label sets:\n{quality, sports} +2\n{} -1") == [
        "quality sports +2", "no label −1"
    ]  # fmt: skip
    assert items("quality <- sex != Male") == ["quality ← sex ≠ Male"]


def test_binary_features_are_shown_by_their_names():
    schema = Schema([Feature("cough", ("0", "1"))], ["l", "m"])
    read = Read(theory_html(parse('l <- "cough", m\nm <- not "cough", cough != 1', schema)))
    assert read.items == ["l ← “cough”, m", "m ← not “cough”, cough ≠ 1"]


def test_the_chapters_list():
    read = Read(golden("magazines-multi")._repr_html_())
    assert len(read.items) == 10
    assert (
        "Decision list, 10 rules, 34 literals: the first rule to write a label decides it"
        in read.text
    )
    assert "ol" in read.tags


def test_layers_votes_ways_and_the_fallback_are_shown():
    theory = parse(
        "layer 1:\nin any order:\nquality +2 <- true\n"
        "layer 2, sampled 10 times after 3 rounds, seed 1:\nsports <- quality (3/4)\n"
        "if no label was found:\ntabloid <- true",
        READERS,
    )
    read = Read(theory_html(theory, evidence=False, order="list"))
    for words in ("layer 1, in any order", "layer 2, sampled 10 times", "if no label was found"):
        assert words in read.text
    assert read.items == ["quality +2 ← always", "sports ← quality (3/4)", "otherwise: tabloid"]
    assert {"ol", "ul"} <= read.tags


def test_many_absent_labels_are_folded_but_there():
    schema = Schema([], [f"l{i}" for i in range(12)])
    read = Read(theory_html(parse("l3, not others <- true", schema)))
    (item,) = read.items
    assert item.startswith("otherwise: l3 no other labelnot l0 not l1 not l2 not l4")
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
    theory = data.draw(theories(schema) | scorecards(schema))
    read = Read(theory_html(theory, order="list"))
    assert read.tags <= TAGS
    assert {name for name, _ in read.attributes} <= {"class", "title"}
    n_sets = len(getattr(theory, "label_sets", ()))
    assert len(read.items) == len(theory) + n_sets
    for rule, item in zip(theory, read.items[: len(theory)], strict=True):
        for label, _ in rule.head:
            name = schema.labels[label]
            assert not name.isprintable() or name in item.partition("←")[0] or "←" in name
        assert (" stop" in item) >= rule.stops
        assert ("/" in item) >= (rule.evidence is not None)


CARD = """in any order:
quality -1, fashion -3, sports -1 <- true
fashion +4, quality -1 <- sex = Female
quality +3 <- education = University
usual label sets:
{quality, fashion} +1
if no label was found: the label with the most points"""


def test_rule_sets_with_points_are_tables():
    text = theory_html(parse(CARD, READERS))
    read = Read(text)
    assert read.tags <= TABLE_TAGS
    assert "<th>start</th>" in text
    first, second, third = text.split("<tbody>")[1].split("</tr>")[:3]
    assert [cell.partition("<")[0] for cell in first.split('">')[1:]] == ["−1", "−3", "−1"]
    assert "University" in second
    assert 'class="number for s3">+3<' in second
    assert third.count('class="number none">·<') == 1
    for words in ("a label is given above 0 points", "no points: tabloid", "usual label sets"):
        assert words in read.text
    assert "the label with the most points" in read.text
    assert "more" not in read.text
    assert "… and 2 more" in Read(theory_html(parse(CARD, READERS), max_rules=1)).text
    assert "table" not in Read(theory_html(parse(CARD, READERS), order="list")).tags


def test_rules_by_label():
    text = """quality, not sports <- sex = Male (6/1, 5/2)
        tabloid, not others <- tabloid, sex != Male
        otherwise: no label"""
    read = Read(theory_html(parse(text, READERS), order="label"))
    said = " ".join(read.text.split())
    assert said.index("quality sex = Male (6/1)") < said.index("tabloid tabloid, sex ≠ Male, then")
    assert "sports not sports ← sex = Male (5/2)" in said
    assert said.endswith("no label otherwise")
    card = Read(theory_html(parse(CARD, READERS), order="label"))
    assert "fashion −3 start +4 sex = Female" in " ".join(card.text.split())


def test_a_list_is_no_table():
    with pytest.raises(ValueError, match="only rule sets can be shown as tables, not a DecisionL"):
        theory_html(parse("quality <- true", READERS), order="table")
    with pytest.raises(ValueError, match="order must be 'list', 'label' or 'table'"):
        theory_html(parse("quality <- true", READERS), order="labels")


@given(st.data())
def test_tables_and_lists_by_label_of_any_theory(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema) | scorecards(schema))
    by_label = Read(theory_html(theory, order="label"))
    assert by_label.tags <= TABLE_TAGS
    if not theory.ordered:
        text = theory_html(theory, order="table")
        assert Read(text).tags <= TABLE_TAGS
        table = PointsTable.of(theory)
        assert text.count('class="number for') + text.count('class="number against') == sum(
            label in row.points for row in table.rows for label in table.labels
        )


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
    assert fetched(text) == []
    assert fetched('<a href="x"> url(#own) url(other)') == ["href=", "url("]
    assert "default-src 'none'" in text
