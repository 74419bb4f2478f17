"""HTML is escaped and well formed."""

from xml.etree import ElementTree

import jinja2
import pytest

from labelrules._html import fragment, html_table, render

NASTY = "<script>alert('&')</script>"


def test_values_are_escaped_and_html_is_not_escaped_twice():
    cell = render("<b>{{ text }}</b>", text=NASTY)
    assert "<script>" not in cell
    assert str(cell) in html_table([[cell]])


def test_an_undefined_variable_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="'nme' is undefined"):
        render("{{ nme }}", name="x")


def test_a_fragment_is_well_formed():
    page = ElementTree.fromstring(
        fragment(html_table([[NASTY, 0.5], ["b", 2]], head=["<", "n"]), "&")
    )
    assert page.get("class") == "labelrules"
    assert [cell.text for cell in page.iter("th")] == ["<", "n"]
    assert [cell.text for cell in page.iter("td")] == [NASTY, "0.5", "b", "2"]
    assert [cell.get("class") for cell in page.iter("td")] == [None, "number", None, "number"]
