"""The page on label dependencies says what is learned, and has its pictures."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("dependencies", DOCS / "dependencies.py")
dependencies = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(dependencies)


def page():
    return (DOCS / "dependencies.md").read_text(encoding="utf-8")


def test_every_part_and_picture_has_its_place():
    for mark in dependencies.PARTS:
        (found,) = marked(mark).findall(page())
        assert found.startswith(("| ", "```text"))
    for path in dependencies.pictures():
        assert f"(_static/{path.name})" in page()
        # That of CAL500 has 148 labels by as many, which have to be read.
        assert 5_000 < path.stat().st_size < 400_000


@pytest.mark.slow
@pytest.mark.parametrize("mark", dependencies.PARTS)
def test_the_page_says_what_is_learned(mark, data_folder, monkeypatch):
    """If this fails, run `python docs/dependencies.py` and look at what has changed."""
    monkeypatch.setenv("LABELRULES_DATA", str(data_folder))
    (found,) = marked(mark).findall(page())
    assert found == dependencies.PARTS[mark]()
