"""The page on the clinic says what is learned."""

import importlib.util
from pathlib import Path

import pytest
from written import marked

from labelrules import compare

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("clinic", DOCS / "clinic.py")
clinic = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(clinic)


SLOW = {"quality": pytest.mark.slow}  # fifteen models


@pytest.mark.parametrize(
    "mark", [pytest.param(mark, marks=SLOW.get(mark, ())) for mark in clinic.PARTS]
)
def test_the_page_says_what_is_learned(mark):
    """If this fails, run `python docs/clinic.py` and look at what has changed."""
    (found,) = marked(mark).findall((DOCS / "clinic.md").read_text(encoding="utf-8"))
    assert found == clinic.PARTS[mark]()


def test_the_prose_counts_what_the_table_says():
    verdicts = [match.verdict for match in clinic.matches(clinic.clinic_truth(), clinic.learned())]
    assert [verdicts.count(v) for v in ("found", "in part", "missed")] == [10, 3, 1]
    assert len(compare(clinic.clinic_truth(), clinic.learned()).kept) == 6


def test_a_list_is_found_in_itself():
    truth = clinic.clinic_truth()
    for match in clinic.matches(truth, truth):
        assert (match.other, match.overlap, match.verdict) == (match.rule, 1.0, "found")
