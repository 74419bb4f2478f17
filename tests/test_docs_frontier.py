"""The page on quality against size says what cross-validation gives."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("frontier_page", DOCS / "frontier.py")
page_script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page_script)


def page():
    return (DOCS / "frontier.md").read_text(encoding="utf-8")


def test_the_table_has_its_place_and_the_picture_is_there():
    (found,) = marked("emotions").findall(page())
    assert found.startswith("```text\nemotions-train: quality against size, means of 5 folds")
    assert page_script.PICTURE.is_file()


@pytest.mark.slow
def test_the_page_says_what_is_measured(data_folder, monkeypatch):
    """If this fails, run `python docs/frontier.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked("emotions").findall(page())
    assert found == page_script.emotions()
