"""The figures of *Which learner should I use?* are those of the benchmarks."""

import choosing
import pytest
from written import DOCS, marked


@pytest.mark.parametrize("mark", choosing.PARTS)
def test_the_page_says_what_was_measured(mark):
    """If this fails, run `python docs/choosing.py` and read what the page makes of its figures."""
    (found,) = marked(mark).findall((DOCS / "choosing.md").read_text(encoding="utf-8"))
    assert found == choosing.PARTS[mark]()


def test_the_table_of_other_programs_is_that_of_the_whole_report():
    """`make peers PEERS="--write"` writes both."""
    short = choosing.rows_of(choosing.SHORT, "together")
    whole = {cells["learner"]: cells for cells in choosing.rows_of(choosing.PEERS)}
    assert len(short) > 20
    for cells in short:
        assert cells.items() - {("together", cells["together"])} <= whole[cells["learner"]].items()
