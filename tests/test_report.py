"""Reports: what follows from a headline and parts."""

from dataclasses import dataclass

import pytest

from labelrules._report import (
    Excerpt,
    FigureTable,
    ItemList,
    Lines,
    Picture,
    Report,
    Table,
    Tabular,
    aligned,
    first_lines,
    titled,
)

SCORES = [["<lists>", 7], ["chain", 12]]


@dataclass(frozen=True, repr=False)
class Shown(Report, Tabular):
    parts: tuple = ()

    @property
    def headline(self):
        return "2 & more"

    def _parts(self):
        return self.parts

    def as_dict(self):
        return {"learner": ["<lists>", "chain"], "rules": [7, 12]}


class Spread(Shown):
    _gap, _heading, _value = "\n\n", "h4", "{}({})"


def test_a_value_is_one_line():
    assert repr(Shown()) == "<Shown: 2 & more>"
    assert repr(Spread()) == "Spread(2 & more)"


def test_text_is_the_headline_and_the_lines_of_the_parts():
    parts = Table(("learner", "rules"), SCORES), Lines(()), Picture("<svg/>"), Lines(("a", "b"))
    table = "learner  rules\n<lists>      7\nchain       12"
    assert str(Shown(parts)) == f"2 & more\n{table}\na\nb"
    assert str(Spread(parts)) == f"2 & more\n\n{table}\n\na\nb"
    assert str(Shown()) == "2 & more"


def test_pages_show_all_parts_and_escape_texts():
    parts = Table(("learner", "rules"), SCORES), Lines(("a < b",)), ItemList("items", [["x", "y"]])
    html = Shown(parts)._repr_html_()
    assert "<p>2 &amp; more</p>" in html
    assert "<td>&lt;lists&gt;</td>" in html
    assert "<p>a &lt; b</p>" in html
    assert "<summary>items: 1</summary>" in html
    assert "<h4>2 &amp; more</h4>" in Spread(parts)._repr_html_()


def test_tables_without_rows_are_left_out():
    empty = Table(("learner", "rules"), [])
    assert list(empty.lines()) == []
    assert empty.html() == ""


def test_figures_are_on_the_right_even_as_texts():
    assert list(FigureTable(("a", "b"), [["x", "1.50"], ["y", "12.25"]]).lines()) == [
        "a      b", "x   1.50", "y  12.25",
    ]  # fmt: skip
    assert list(FigureTable((), [["x", "1.50"]]).lines()) == ["x  1.50"]


def test_excerpts_count_what_is_not_there():
    html = Excerpt(("learner",), [["a"]], 1201, "it was interrupted").html()
    assert html.startswith('<p class="about">not all of them: it was interrupted</p>')
    assert html.endswith('<p class="about">… 1,200 more</p>')
    assert "more" not in Excerpt(("learner",), [["a"]], 1).html()


def test_long_lists_are_cut():
    assert first_lines("ab", 2) == ["  a", "  b"]
    assert first_lines("ab", 1002) == ["  a", "  b", "  ... and 1,000 more"]
    items = [[f"rule {n}", "why"] for n in range(12)]
    lines = list(titled("never reached: 12", items))
    assert lines[:3] == ["never reached: 12", "  rule 0", "    why"]
    assert lines[-1] == "  and 2 more"
    assert list(titled("never reached: 0", [])) == []


def test_columns_are_aligned():
    assert aligned([]) == []
    assert aligned([["a", 1, "x"], ["bcd", 10, "yy"]], left=(0, 2)) == ["a     1  x", "bcd  10  yy"]


def test_frames_are_those_of_the_columns():
    import pandas as pd

    found = Shown().to_frame()
    pd.testing.assert_frame_equal(found, pd.DataFrame(Shown().as_dict()))


@pytest.mark.parametrize("kind", [Shown, Spread])
def test_the_page_can_be_another_one(kind):
    class Other(kind):
        def _page(self):
            yield Lines(["on pages"])

    assert "on pages" in Other()._repr_html_()
    assert "on pages" not in str(Other())
