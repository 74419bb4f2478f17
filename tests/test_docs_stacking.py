"""The page on case studies of stacking says what is learned."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("stacking", DOCS / "stacking.py")
stacking = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(stacking)


def page():
    return (DOCS / "stacking.md").read_text(encoding="utf-8")


def test_every_part_has_its_place():
    for mark in stacking.PARTS:
        (found,) = marked(mark).findall(page())
        assert found.startswith(("| set |", "```text"))


@pytest.mark.slow
@pytest.mark.parametrize("mark", stacking.PARTS)
def test_the_page_says_what_is_learned(mark, data_folder, monkeypatch):
    """If this fails, run `python docs/stacking.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked(mark).findall(page())
    assert found == stacking.PARTS[mark]()
