"""The pages on losses and heads say what the library knows."""

import importlib.util
import re
from pathlib import Path

import pytest

from labelrules.measures import COUNTEREXAMPLES
from labelrules.measures.measure_traits import HEAD_RELATIVE, TABLE, WRITTEN

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def sections(name):
    """From each heading of the third level to what stands below it."""
    parts = re.split(r"^##+ (.*)\n", page(name), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("name", "mark"), tables.TABLES)
def test_every_table_is_as_the_library_has_it(name, mark):
    """If this fails, run `python docs/tables.py` and look at what has changed."""
    (found,) = tables.marked(mark).findall(page(name))
    assert found == tables.TABLES[name, mark]()


def test_the_table_has_every_cell_and_differs_from_the_chapter_in_five_places():
    rows = [line.strip("| ").split(" | ") for line in tables.properties().splitlines()[2:]]
    n_cells = sum(
        len(row[0].split(", ")) * (4 if row[2] == "all four" else len(row[2].split(", ")))
        for row in rows
    )
    assert n_cells == len(TABLE) == 34
    differing = [row[:3] for row in rows if any(cell.startswith("**") for cell in row)]
    assert differing == [
        ["recall", "partial", "micro"],
        ["recall", "partial", "samples"],
        ["recall", "full", "micro"],
        ["F", "partial", "samples"],
        ["F", "full", "samples"],
    ]


def witnesses():
    """The counterexamples that a verdict names."""
    named = {name for found in TABLE.values() for name in found.witnesses.values()}
    for further in (HEAD_RELATIVE, WRITTEN):
        named |= {name for failures in further.values() for _, name in failures.values()}
    return sorted(named)


@pytest.mark.parametrize("name", witnesses())
def test_every_verdict_leads_to_its_counterexample_which_runs(name):
    assert f">>> show({name!r})".replace("'", '"') in sections("losses.md")[name]
    assert f"](#{tables.anchor(name)})" in page("losses.md")


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_every_counterexample_is_told(name):
    (told,) = [found[name] for found in map(sections, ("losses.md", "heads.md")) if name in found]
    assert f'>>> show("{name}")' in told or f'COUNTEREXAMPLES["{name}"]' in told


def test_every_link_to_a_counterexample_leads_to_a_heading():
    anchors = {tables.anchor(name) for name in sections("losses.md")}
    assert set(re.findall(r"\]\(#([\w-]+)\)", page("losses.md"))) <= anchors
