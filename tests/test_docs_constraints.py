"""The page on constraints says what is found."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("constraints", DOCS / "constraints.py")
constraints = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(constraints)

SLOW = {"qualities"}


def page():
    return (DOCS / "constraints.md").read_text(encoding="utf-8")


def test_every_part_has_its_place():
    for mark in constraints.PARTS:
        (found,) = marked(mark).findall(page())
        assert found.startswith(("| set |", "```text"))
    assert constraints.PICTURE.is_file()


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(mark, marks=[pytest.mark.slow] if mark in SLOW else [])
        for mark in constraints.PARTS
    ],
)
def test_the_page_says_what_is_found(mark, data_folder, monkeypatch):
    """If this fails, run `python docs/constraints.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked(mark).findall(page())
    assert found == constraints.PARTS[mark]()
