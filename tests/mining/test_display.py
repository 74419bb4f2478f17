"""How results are shown: one line as a value, a short table in notebooks, a frame for pandas."""

import sys

import numpy as np
import pytest

from labelrules import association_rules, dataset, frequent_itemsets, load, subgroups
from labelrules.constraints import find_constraints, repair
from labelrules.mining import items_of

READERS = load("magazines")

RESULTS = {
    "items": (lambda: items_of(READERS), "<Items: 13 items in 14 rows>"),
    "itemsets": (
        lambda: frequent_itemsets(READERS, 5, kind="closed"),
        "<Itemsets: 9 closed sets of items in at least 5 rows>",
    ),
    "rules": (
        lambda: association_rules(READERS, 3, 0.75),
        "<AssociationRules: 2 rules that hold in at least 3 rows>",
    ),
    "subgroups": (
        lambda: subgroups(READERS, "wracc", target="quality", top=1),
        "<Subgroups: 1 subgroup of 14 rows by wracc, 110 bodies searched>",
    ),
    "constraints": (
        lambda: find_constraints(READERS),
        "<Constraints: 3 constraints between 4 labels in 14 rows>",
    ),
    "constraint": (
        lambda: find_constraints(READERS)[0],
        "<Constraint: quality <- sports  (2 rows, p = 1)>",
    ),
    "group": (
        lambda: find_constraints([[1, 1, 0], [0, 0, 1], [1, 1, 0]]).equivalences[0],
        "<LabelGroup: always together: y0, y1  (2 rows, p = 1)>",
    ),
    "graph": (
        lambda: find_constraints(READERS).graph(),
        "<ConstraintGraph: 4 nodes, 1 subset, 2 exclusions>",
    ),
    "repairs": (
        lambda: repair([[0, 1], [1, 1]], "y0 <- y1"),
        "<Repairs: 1 label changed in 1 of 2 rows>",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_one_line(name):
    make, expected = RESULTS[name]
    assert repr(make()) == expected


@pytest.mark.parametrize("name", ["itemsets", "rules", "subgroups", "constraints"])
def test_notebooks_show_a_table_with_the_title(name):
    result = RESULTS[name][0]()
    html = result._repr_html_()
    assert html.count("<tbody>") == html.count("</tbody>") == 1
    assert html.count("<tr>") == 1 + len(result)
    assert repr(result).split(": ", 1)[1].rstrip(">") in html
    assert "more</p>" not in html


@pytest.mark.parametrize(
    "make",
    [
        lambda data: frequent_itemsets(data, 1),
        lambda data: association_rules(data, 1, 0),
        lambda data: subgroups(data, top=50, min_coverage=1),
        lambda data: find_constraints(data),
    ],
)
def test_a_long_table_ends_after_twenty_rows(make):
    rng = np.random.default_rng(0)
    data = dataset(rng.integers(0, 2, (6, 9)).astype(str), rng.integers(0, 2, (6, 14)))
    result = make(data)
    html = result._repr_html_()
    n_rows = len(next(iter(result.as_dict().values())))
    assert n_rows > 20
    assert html.count("<tr>") == 21
    assert f"… {n_rows - 20:,} more" in html


def test_names_are_escaped():
    data = dataset([["<b>"], ["<b>"], ["c"]], [[1], [1], [0]], label_names=["<i>&"])
    for result in (
        frequent_itemsets(data, 1),
        association_rules(data, 1),
        subgroups(data, min_coverage=1),
    ):
        html = result._repr_html_()
        assert "&lt;i&gt;&amp;" in html
        assert "<i>" not in html
        assert "<b>" not in html


def test_why_a_search_stopped_is_shown():
    with pytest.warns(RuntimeWarning):
        itemsets = frequent_itemsets(READERS, 1, max_sets=30)
    assert "not all of them: there are more than 30 sets (max_sets)" in itemsets._repr_html_()


@pytest.mark.parametrize("name", ["itemsets", "rules", "subgroups", "constraints", "repairs"])
def test_frames_need_pandas_and_say_what_else_there_is(name, monkeypatch):
    result = RESULTS[name][0]()
    assert result.to_frame().columns.tolist() == list(result.as_dict())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"labelrules\[pandas\].*as_dict gives the columns"):
        result.to_frame()
