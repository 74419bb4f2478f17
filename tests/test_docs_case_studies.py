"""The page on the chapter's case studies says what is found."""

import importlib.util
from pathlib import Path

import pytest
from casestudies import case_studies
from written import marked

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("case_studies_page", DOCS / "case_studies.py")
page_script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page_script)


def page():
    return (DOCS / "case-studies.md").read_text(encoding="utf-8")


def rows_of(mark):
    """The cells of a table by its first cell, or by the first two."""
    (found,) = marked(mark).findall(page())
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()]


def test_every_part_has_its_place_and_every_picture_is_there():
    for mark in page_script.PARTS:
        (found,) = marked(mark).findall(page())
        assert found.startswith(("| ", "- *", "**", "The median"))
    for path in page_script.PICTURES.values():
        assert path.read_text(encoding="utf-8").startswith("<svg")


def test_the_verdicts_on_the_page_add_up():
    verdicts = [row[2] for row in rows_of("statements")[2:]]
    (headline,) = marked("headline").findall(page())
    assert f"{len(verdicts)} statements" in headline
    assert f"{verdicts.count('yes')} seen here, too, {verdicts.count('partly')} in part" in headline
    (reasons,) = marked("disagreements").findall(page())
    assert len(reasons.splitlines()) == len(verdicts) - verdicts.count("yes")


@pytest.mark.slow
def test_sizes_and_heads_are_what_is_learned(data_folder, tmp_path):
    """If this fails, run `make casestudies` and `python docs/case_studies.py`, and look."""
    done = case_studies(data_folder, folder=tmp_path / "kept", quick=True)
    sizes = {tuple(row[:2]): row[2] for row in rows_of("sizes")[2:]}
    for name, learner, size in done.single_heads.sizes(["medical"]):
        assert sizes[name, learner] == str(size.rules)
    head, _, *rows = rows_of("heads")
    heads = {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
    for one in done.multi_heads.heads:
        if one.objective in head:
            assert heads[one.data][one.objective].startswith(f"{one.share:.0%} of {one.n_rules} ")
