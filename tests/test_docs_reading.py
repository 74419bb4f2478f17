"""The page on reading says what is learned."""

import importlib.util
import re
from pathlib import Path

import pytest
from written import marked

from labelrules import load, parse, theory_text

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("reading", DOCS / "reading.py")
reading = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reading)


def page():
    return (DOCS / "reading.md").read_text(encoding="utf-8")


def box(mark):
    (found,) = marked(mark).findall(page())
    return found.removeprefix("```text\n").removesuffix("\n```")


def test_every_part_has_its_place():
    for mark in reading.PARTS:
        assert box(mark)


def test_pictures_are_there_and_small():
    pictures = re.findall(r"\]\(_static/(.*?)\)", page())
    assert len(pictures) == 2
    for name in pictures:
        assert 0 < (DOCS / "_static" / name).stat().st_size < 60_000


def test_the_prose_quotes_the_list():
    """Rules of which the prose gives the meaning are rules of the list."""
    cells = re.findall(r"^\| `([^`…]*(?:<-|otherwise)[^`…]*)` \|", page(), re.MULTILINE)
    assert len(cells) >= 3
    for rule in cells:
        assert any(line.startswith(rule) for line in box("list").splitlines()), rule


@pytest.mark.parametrize("mark", reading.PARTS)
def test_the_page_says_what_is_learned(mark, data_folder, monkeypatch):
    """If this fails, run `python docs/reading.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked(mark).findall(page())
    assert found == reading.PARTS[mark]()


@pytest.mark.parametrize("mark", ["list", "card"])
def test_the_texts_are_read_back(mark, data_folder):
    schema = load("flags", data_folder, part="train").schema
    shown = theory_text(parse(box(mark), schema), evidence=mark == "list")
    assert shown == box(mark)
