"""The figures of *Which learner should I use?* are those of the benchmarks."""

import choosing
import pytest
from written import DOCS, marked


@pytest.mark.parametrize("mark", choosing.PARTS)
def test_the_page_says_what_was_measured(mark):
    """If this fails, run `python docs/choosing.py` and read what the page makes of its figures."""
    (found,) = marked(mark).findall((DOCS / "choosing.md").read_text(encoding="utf-8"))
    assert found == choosing.PARTS[mark]()
