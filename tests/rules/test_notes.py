"""Notes on rules, in every form in which rules are kept or shown."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import (
    DecisionList,
    LayeredTheory,
    Rule,
    SeparateAndConquer,
    from_json,
    load,
    parse,
    parse_rule,
    rule_text,
    theory_text,
    to_json,
)
from labelrules.rules import (
    RuleSyntaxError,
    theory_html,
    theory_latex,
    theory_markdown,
    theory_table,
    theory_view,
)
from strategies import schemas
from theories import scorecards, theories

READERS = load("magazines")
HOSTILE = (
    "two\nlines, \"quotes\" 'and' # signs <b>&amp;</b> `code`` $x_1$ 50% \\n \x1b[2J \u2028 é`"
)
notes = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def noted(theory, note=HOSTILE):
    """The same theory, each rule with a note."""
    if not isinstance(theory, LayeredTheory):
        return theory.with_rules(rule.with_note(note) for rule in theory)
    fallback = theory.fallback and noted(theory.fallback, note)
    layers = [noted(layer, note) for layer in theory.layers]
    return LayeredTheory(theory.schema, layers, theory.inference, fallback)


def notes_of(theory):
    return [rule.note for rule in theory]


LAYERS = noted(
    parse(
        "layer 1:\nin any order:\nquality +2 <- sex = Male\nlayer 2:\nsports, not others <- "
        "quality (1/0)\nnot tabloid <- true\nif no label was found:\nfashion <- sex = Female\n"
        "otherwise: sports",
        READERS.schema,
    )
)


@given(st.data())
def test_text_and_json_keep_notes(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema) | scorecards(schema))
    theory = theory.with_rules(rule.with_note(data.draw(notes)) for rule in theory)
    for style in ("plain", "unicode", "ascii"):
        text = theory_text(theory, style, evidence="all")
        assert style != "ascii" or text.isascii()
        again = parse(text, schema)
        assert again == theory
        assert notes_of(again) == notes_of(theory)
    assert notes_of(from_json(to_json(theory))) == notes_of(theory)


def test_layers_keep_notes():
    for again in (parse(str(LAYERS), READERS.schema), from_json(to_json(LAYERS))):
        assert again == LAYERS
        assert notes_of(again) == [HOSTILE] * 5
    names = {"sports": "Sport", "sex": "gender"}
    assert notes_of(LAYERS.rename(names)) == [HOSTILE] * 5
    assert notes_of(LAYERS.with_evidence(READERS, READERS.Y)) == [HOSTILE] * 5
    assert notes_of(LAYERS.as_full_predictions()) == [HOSTILE] * 5


def test_a_long_rule_has_its_note_in_its_last_line():
    schema = replace_labels(30)
    theory = parse(", ".join(schema.labels) + " <- true", schema)
    text = theory_text(noted(theory, "see the minutes"))
    assert text.endswith("  # note: see the minutes")
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert len(text.splitlines()) == len(theory_text(theory).splitlines())
    assert notes_of(parse(text, schema)) == ["see the minutes"]


def replace_labels(number):
    return replace(READERS.schema, labels=tuple(f"label{n}" for n in range(number)), parents=None)


def test_a_note_may_stand_before_its_rule():
    text = (
        "# a comment\n#note: one\n  # note:  two \nquality <- true,\n  # note: three\n sex = Male"
    )
    with pytest.raises(RuleSyntaxError):
        parse(text, READERS.schema)  # true stands alone
    rule, other = parse(text.replace("true", "children = No") + "\nsports <- true", READERS.schema)
    assert (rule.note, other.note) == ("one\ntwo\nthree", None)


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("quality <- true\n# note: late", (2, 1), "a note stands at the end of a rule"),
        ("# note: a\n\nquality <- true", (1, 1), "a note stands at the end of a rule"),
        ("in any order: # note: a\nquality <- true", (1, 15), "a note stands at the end"),
        ("# note: a\nlayer 1:\nquality <- true", (1, 1), "a note stands at the end"),
        ("quality <- true  # note: \\q", (1, 26), "unknown escape"),
    ],
)
def test_notes_at_wrong_places(text, place, problem):
    with pytest.raises(RuleSyntaxError, match=problem) as caught:
        parse(text, READERS.schema)
    assert (caught.value.line, caught.value.column) == place


def test_notes_do_not_count_for_equality():
    rule = parse_rule("quality <- true", READERS.schema)
    assert rule.with_note("a") == rule
    assert hash(rule.with_note("a")) == hash(rule)
    assert rule.with_note(" \n ").note is None
    assert parse_rule(rule_text(rule.with_note(HOSTILE), READERS.schema), READERS.schema).note
    with pytest.raises(ValueError, match="a note must be text, not 3"):
        rule.with_note(3)
    with pytest.raises(ValueError, match="half a character"):
        rule.with_note("\ud800")


def test_frames_have_notes():
    frame = LAYERS.to_frame("polars")
    assert frame["note"].to_list() == [HOSTILE] * 5
    assert parse("quality <- true", READERS.schema).to_frame()["note"].to_list() == [None]


class Shown(HTMLParser):
    text = ""

    def handle_starttag(self, tag, attrs):
        assert tag in ("div", "style", "p", "h4", "ol", "ul", "li", "span", "b", "details",
                       "summary", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd",
            "br",
                       )  # fmt: skip
        self.text += "".join(f"[{value}]" for name, value in attrs if value == "note")

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("order", ["list", "label"])
def test_html_shows_notes_as_text(order):
    page = Shown()
    page.feed(theory_html(LAYERS, order=order))
    shown = HOSTILE.replace("\n", "", 1).replace("\x1b", r"\u001b").replace("\u2028", r"\u2028")
    assert page.text.count(f"[note]{shown}") >= 5


def test_tables_show_notes():
    card = parse("in any order:\nquality +2 <- sex = Male\nquality -1 <- true", READERS.schema)
    card = card.with_rules([card[0].with_note("first <i>"), card[1].with_note("second")])
    page = Shown()
    page.feed(theory_html(card, order="table"))
    assert "[note]first <i>" in page.text
    assert theory_table(card).splitlines()[1:5] == [
        "  start            -1",
        "    second",
        "  sex = Male        2",
        "    first <i>",
    ]


def test_markdown_shows_what_parse_reads():
    markdown_it = pytest.importorskip("markdown_it", reason="import-linter brings it")
    theory = DecisionList(
        READERS.schema,
        [
            parse_rule("quality <- sex = Male", READERS.schema).with_note(note)
            for note in (HOSTILE, "`")
        ],
    )
    lines = []
    for token in markdown_it.MarkdownIt("commonmark").parse(theory_markdown(theory)):
        if token.type == "inline":
            lines.append("".join(child.content for child in token.children))
    assert notes_of(parse("\n".join(lines), READERS.schema)) == [HOSTILE, "`"]


def test_latex_escapes_notes():
    text = theory_latex(noted(parse("quality <- true", READERS.schema), "50% of_it\n$x$"))
    assert r"\quad \textit{50\% of\_it \$x\$} \\" in text


def test_terminals_get_no_signs_that_steer_them():
    view = theory_view(noted(parse("quality <- sex = Male", READERS.schema)), width=60)
    assert "\x1b" not in view
    assert r"\x1b[2J" in view
    assert max(map(len, view.splitlines())) <= 60
    absent = parse("not quality <- true", READERS.schema)
    assert "left out" in theory_view(absent)
    assert "why" in theory_view(noted(absent, "why"))


def test_learning_goes_on_with_notes():
    kept = noted(parse("quality <- education = University", READERS.schema), "agreed")
    model = SeparateAndConquer().fit(READERS, theory=kept)
    assert notes_of(model.theory_)[0] == "agreed"
    assert model.theory_[0].evidence is not None
    again = from_json(to_json(model)).set_params(warm_start=True).fit(READERS)
    assert notes_of(again.theory_)[0] == "agreed"
    small = SeparateAndConquer(max_literals=4).fit(READERS, theory=kept)
    assert "agreed" in notes_of(small.theory_)
    assert isinstance(model.theory_[0], Rule)
