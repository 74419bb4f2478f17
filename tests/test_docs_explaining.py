"""The page on explaining says what is learned."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("explaining", DOCS / "explaining.py")
explaining = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(explaining)


def page():
    return (DOCS / "explaining.md").read_text(encoding="utf-8")


def test_every_part_has_its_place():
    for mark in explaining.PARTS:
        (found,) = marked(mark).findall(page())
        assert found.startswith(("> ", "```text"))


@pytest.mark.slow
@pytest.mark.parametrize("mark", explaining.PARTS)
def test_the_page_says_what_is_learned(mark, data_folder, monkeypatch):
    """If this fails, run `python docs/explaining.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked(mark).findall(page())
    assert found == explaining.PARTS[mark]()
