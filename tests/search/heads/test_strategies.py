"""The chapter's searches, step by step: its figure, and when they find the best head."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from labelrules.measures import Formula, Measure, traits
from labelrules.search import best_head, search_tree
from twins import heads as naive

# y1 to y6 of the chapter's figure; the last three are covered.
ROWS = ["0110", "1111", "0010", "0110", "1100", "1000"]
Y = np.array([[int(cell) for cell in row] for row in ROWS])
COVERED = np.array([False, False, False, True, True, True])
PRECISION = "precision/micro/partial"
STRATEGIES = ("exhaustive", "tree", "breadth-first", "decomposable")

VALUES = {
    "1": "2/3", "2": "2/3", "3": "1/3", "4": "0",
    "12": "2/3", "13": "1/2", "14": "1/3", "23": "1/2", "24": "1/3", "34": "1/6",
    "123": "5/9", "124": "4/9", "134": "1/3", "234": "1/3", "1234": "5/12",
}  # fmt: skip
EVALUATED = {
    "exhaustive": set(VALUES),
    "tree": {"1", "12", "123", "124", "13", "14", "2", "23", "24", "3", "34", "4"},
    "breadth-first": {head for head in VALUES if len(head) <= 2},
    "decomposable": {"1", "2", "3", "4"},
}

POLARITY = naive.POLARITY


def figure(strategy, **options):
    return search_tree(Y, COVERED, PRECISION, strategy, **options)


def name(node):
    return "".join(str(label + 1) for label, _ in node.literals)


class TestFigure:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_the_values(self, strategy):
        """The tree has all 15 heads, whatever a strategy looks at."""
        nodes = {name(node): node.value for node in figure(strategy).nodes()}
        assert nodes == {head: Fraction(value) for head, value in VALUES.items()}

    @pytest.mark.parametrize(
        ("strategy", "count"), list(zip(STRATEGIES, (15, 12, 10, 4), strict=True))
    )
    def test_what_is_evaluated(self, strategy, count):
        tree = figure(strategy)
        evaluated = {name(node) for node in tree.nodes() if node.fate != "skipped"}
        assert evaluated == EVALUATED[strategy]
        assert tree.n_evaluated == len(evaluated) == count

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_the_best_head(self, strategy):
        tree = figure(strategy)
        assert tree.vector.tolist() == [1, 1, -1, -1]
        assert tree.value == Fraction(2, 3)

    def test_children_extend_their_parent_by_a_later_label(self):
        tree = figure("exhaustive")
        assert [name(root) for root in tree.roots] == ["1", "2", "3", "4"]
        for node in tree.nodes():
            for child in node.children:
                assert child.literals[:-1] == node.literals
                assert child.literals[-1][0] > node.literals[-1][0]

    def test_what_is_pruned_is_worse_than_what_it_extends(self):
        pruned = {name(node) for node in figure("tree").nodes() if node.fate == "pruned"}
        assert pruned == {"13", "14", "123", "124", "23", "24", "34"}

    def test_drawing_the_tree_of_the_figure(self):
        """An x ends a branch: the dashed line of the chapter."""
        assert str(figure("tree")) == (
            "tree, precision/micro/partial: 12 heads evaluated\n"
            "{1}  2/3\n"
            "  {1, 2}  2/3\n"
            "    {1, 2, 3}  5/9  x\n"
            "      {1, 2, 3, 4}  -\n"
            "    {1, 2, 4}  4/9  x\n"
            "  {1, 3}  1/2  x\n"
            "    {1, 3, 4}  -\n"
            "  {1, 4}  1/3  x\n"
            "{2}  2/3\n"
            "  {2, 3}  1/2  x\n"
            "    {2, 3, 4}  -\n"
            "  {2, 4}  1/3  x\n"
            "{3}  1/3\n"
            "  {3, 4}  1/6  x\n"
            "{4}  0"
        )

    def test_drawing_merged_labels(self):
        lines = str(figure("decomposable")).splitlines()
        assert lines[0] == "decomposable, precision/micro/partial: 4 heads evaluated"
        assert [line for line in lines[1:] if not line.endswith("-")] == [
            "{1}  2/3", "{2}  2/3", "{3}  1/3", "{4}  0",
        ]  # fmt: skip

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_absence_of_the_fourth_label_is_better(self, strategy):
        tree = figure(strategy, polarity="both")
        assert tree.vector.tolist() == [-1, -1, -1, 0]
        assert tree.value == 1
        assert "{!4}  1" in str(tree)

    def test_all_heads_with_absence(self):
        tree = figure("exhaustive", polarity="both")
        assert tree.n_evaluated == 3**4 - 1
        assert figure("decomposable", polarity="both").n_evaluated == 8


NEEDED = {"tree": "finds", "breadth-first": "finds", "decomposable": "merges"}


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("convention", ["chapter", "head-relative"])
@pytest.mark.parametrize("cell", naive.CELLS, ids="/".join)
def test_a_strategy_that_is_valid_finds_the_best_value(cell, convention, absence, monkeypatch):
    """Wherever the traits say so; elsewhere it is refused."""
    monkeypatch.setattr(Formula, "exact", cache(Formula.exact))  # for speed
    formula, averaging, predictions = cell
    measure = Measure(Formula(formula), averaging, predictions)
    rng = np.random.default_rng(len("".join(cell)))
    for table, (truth, covered, board) in enumerate(naive.instances(naive.generated(rng, 6, 4, 3))):
        known = traits(measure, convention, written=board is not None)
        options = {"counting": convention, "polarity": POLARITY[absence]}
        best = best_head(truth, covered, measure, board, **options).value
        exhaustive = search_tree(truth, covered, measure, "exhaustive", board, **options)
        assert exhaustive.value == best, table
        for strategy, needed in NEEDED.items():
            if getattr(known, needed) == "no":
                with pytest.raises(ValueError, match=known.witnesses[needed]):
                    search_tree(truth, covered, measure, strategy, board, **options)
            else:
                tree = search_tree(truth, covered, measure, strategy, board, **options)
                assert tree.value == best, (table, strategy)


def test_every_strategy_is_valid_somewhere():
    """So that the test above is not about nothing: 31 measures for pruning, 14 for merging."""
    known = [traits(Measure(Formula(cell[0]), *cell[1:])) for cell in naive.CELLS]
    assert sum(one.finds == "yes" for one in known) == 31
    assert sum(one.merges == "yes" for one in known) == 14


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("predictions", ["partial", "full"])
def test_exhaustive_search_settles_ties_as_best_head_does(predictions, absence):
    measure = Measure(Formula("precision"), "micro", predictions)
    for truth, covered, board in naive.instances(
        naive.generated(np.random.default_rng(8), 20, 4, 3)
    ):
        tree = search_tree(truth, covered, measure, "exhaustive", board, polarity=POLARITY[absence])
        found = best_head(truth, covered, measure, board, polarity=POLARITY[absence])
        if predictions == "full":  # where a head that is silent of a label says it is absent
            same = (tree.vector == 1) == (found.vector == 1)
            assert same.all()
        else:
            assert tree.vector.tolist() == found.vector.tolist()
