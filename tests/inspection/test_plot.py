"""Search trees as pictures."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from matplotlib import pyplot

from labelrules.inspection import plot_search_tree
from labelrules.search import search_tree

ROWS = ["0110", "1111", "0010", "0110", "1100", "1000"]
Y = np.array([[int(cell) for cell in row] for row in ROWS])
COVERED = np.array([False, False, False, True, True, True])

FIGURE = {
    "{1}": "2/3", "{2}": "2/3", "{3}": "1/3", "{4}": "0",
    "{1, 2}": "2/3", "{1, 3}": "1/2", "{1, 4}": "1/3",
    "{2, 3}": "1/2", "{2, 4}": "1/3", "{3, 4}": "1/6",
    "{1, 2, 3}": "5/9", "{1, 2, 4}": "4/9", "{1, 3, 4}": "1/3", "{2, 3, 4}": "1/3",
    "{1, 2, 3, 4}": "5/12",
}  # fmt: skip


@pytest.fixture(autouse=True)
def drawn_without_a_screen():
    """Nothing is shown, and no test leaves a figure behind."""
    pyplot.switch_backend("agg")
    assert pyplot.get_fignums() == []
    yield
    pyplot.close("all")


def tree(strategy="tree", measure="precision/micro/partial", **options):
    return search_tree(Y, COVERED, measure, strategy, **options)


def missing_tree():
    """Seven rows 101, three rows 010: the search drops {1, 2} and misses {1, 2, 3}."""
    rows = np.array([[1, 0, 1]] * 7 + [[0, 1, 0]] * 3)
    return search_tree(
        rows, np.ones(10, bool), "f1/samples/partial", "breadth-first", even_if_invalid=True
    )


def boxes(ax):
    """From the text of each head to the text object, which has its box."""
    return {text.get_text().rpartition("\n")[0]: text for text in ax.texts}


def border(text):
    """The line and the width of the box of a head, which show its kind without colour."""
    box = text.get_bbox_patch()
    return box.get_linestyle(), box.get_linewidth()


class TestTheFigure:
    def test_every_head_is_there_with_its_value(self):
        ax = plot_search_tree(tree())
        shown = [text.get_text() for text in ax.texts]
        assert sorted(shown) == sorted([f"{head}\n{v}" for head, v in FIGURE.items()] + ["∅"])

    def test_the_title_counts(self):
        assert plot_search_tree(tree()).get_title() == (
            "precision/micro/partial, tree: 12 of 15 heads evaluated"
        )
        assert "10 of 15" in plot_search_tree(tree("breadth-first")).get_title()
        assert "4 of 15" in plot_search_tree(tree("decomposable")).get_title()
        assert "15 of 15" in plot_search_tree(tree("exhaustive")).get_title()

    def test_children_stand_below_their_parents(self):
        places = {
            head: text.get_position() for head, text in boxes(plot_search_tree(tree())).items()
        }
        assert {places[head][1] for head in ("{1}", "{2}", "{3}", "{4}")} == {-1}
        assert {y for head, (_, y) in places.items() if head.count(",") == 1} == {-2}
        assert places["{1, 2, 3, 4}"][1] == -4
        assert places["{1, 2, 3}"][0] < places["{1, 2}"][0] < places["{1, 2, 4}"][0]
        columns = [x for x, y in places.values() if y == -2]
        assert columns == sorted(columns)

    def test_what_becomes_of_a_head_shows_without_colour(self):
        found = boxes(plot_search_tree(tree()))
        evaluated = ["{3}", "{4}"]
        pruned = ["{1, 2, 3}", "{1, 2, 4}", "{1, 3}", "{1, 4}", "{2, 3}", "{2, 4}", "{3, 4}"]
        skipped = ["{1, 2, 3, 4}", "{1, 3, 4}", "{2, 3, 4}"]
        borders = [
            {border(found[head]) for head in heads} for heads in (evaluated, pruned, skipped)
        ]
        assert [len(one) for one in borders] == [1, 1, 1]
        assert len({line for one in borders for line, _ in one}) == 3
        assert all(found[head].get_color() != "black" for head in skipped)
        assert all(found[head].get_color() == "black" for head in evaluated + pruned)

    def test_the_best_heads_are_marked(self):
        found = boxes(plot_search_tree(tree()))
        assert {border(found[head]) for head in ("{1}", "{2}", "{1, 2}")} == {("-", 2.4)}
        assert border(found["{3}"])[1] < 1
        white = {
            head for head, t in found.items() if t.get_bbox_patch().get_facecolor()[:3] == (1, 1, 1)
        }
        assert set(FIGURE) - white == {"{1, 2}"}

    def test_a_merged_head_is_marked_though_never_evaluated(self):
        found = boxes(plot_search_tree(tree("decomposable")))
        assert border(found["{1, 2}"]) == border(found["{1}"])
        assert border(found["{1, 2}"]) != border(found["{1, 3}"])
        assert found["{1, 2}"].get_color() == "black"

    def test_every_line_differs_in_more_than_colour(self):
        others = [tree("decomposable"), tree("breadth-first")]
        ax = plot_search_tree(tree(), also=others)
        assert len({cut(ax, one.strategy).get_linestyle() for one in (tree(), *others)}) == 3


def cut(ax, strategy):
    (line,) = [line for line in ax.lines if str(line.get_label()).startswith(f"{strategy}: ")]
    return line


def levels(line):
    """Below which level the line runs in each of the columns."""
    return [int(-y) for y in line.get_ydata()[1:-1]]


class TestTheLines:
    def test_the_dashed_line_is_the_chapters(self):
        ax = plot_search_tree(tree())
        assert levels(cut(ax, "tree")) == [3, 3, 2, 2, 2, 2, 2, 2]
        assert cut(ax, "tree").get_drawstyle() == "steps-mid"

    def test_bookkeeping_and_merging(self):
        assert levels(cut(plot_search_tree(tree("breadth-first")), "breadth-first")) == [2] * 8
        assert levels(cut(plot_search_tree(tree("decomposable")), "decomposable")) == [1] * 8

    def test_lines_of_other_searches(self):
        ax = plot_search_tree(tree(), also=[tree("decomposable"), tree("breadth-first")])
        assert cut(ax, "decomposable").get_linestyle() == "-"
        assert cut(ax, "tree").get_linestyle() == "--"
        shown = [text.get_text() for text in ax.get_legend().get_texts()]
        assert shown[-3:] == [
            "tree: 12 of 15 heads", "decomposable: 4 of 15 heads", "breadth-first: 10 of 15 heads",
        ]  # fmt: skip

    def test_who_evaluates_everything_has_no_line(self):
        ax = plot_search_tree(tree("exhaustive"))
        shown = [text.get_text() for text in ax.get_legend().get_texts()]
        assert shown == ["evaluated", "the best head found", "as good"]

    def test_heads_are_above_the_line_if_and_only_if_they_were_evaluated(self):
        """Also where the search goes up and down between the columns."""
        rng = np.random.default_rng(4)
        for polarity, n_labels in (("presence", 5), ("both", 3)):
            rows = rng.integers(0, 2, (9, n_labels))
            searched = search_tree(
                rows, rng.random(9) < 0.6, "f1/micro/partial", "tree", polarity=polarity
            )
            ax = plot_search_tree(searched)
            line = dict(enumerate(levels(cut(ax, "tree"))))
            fates = [node.fate for node in searched.nodes()]
            assert "skipped" in fates
            n_above = sum(
                -t.get_position()[1] <= line[round(t.get_position()[0])] for t in ax.texts
            )
            assert n_above == searched.n_evaluated + 1  # and the empty head


class TestOtherTrees:
    def test_a_missed_optimum(self):
        ax = plot_search_tree(missing_tree())
        found = boxes(ax)
        missed = border(found.pop("{1, 2, 3}"))
        assert missed not in {border(text) for text in found.values()}
        assert "better, but missed" in [t.get_text() for t in ax.get_legend().get_texts()]

    def test_absence(self):
        rows = np.array([[1, 0, 1]] * 7 + [[0, 1, 0]] * 3)
        searched = search_tree(rows, np.ones(10, bool), "precision", "tree", polarity="both")
        ax = plot_search_tree(searched)
        assert len(ax.texts) == 27
        assert "¬1\n¬2\n¬3\n13/30" in [text.get_text() for text in ax.texts]

    def test_label_names_are_not_taken_for_formulas(self):
        names = ["$quality$", "tabloid", "fashion", "sports"]
        ax = plot_search_tree(tree(), label_names=names)
        text = boxes(ax)["$quality$\ntabloid"]
        assert not text.get_parse_math()

    def test_heads_do_not_overlap(self):
        searches = {
            "figure": (tree(), None),
            "names": (tree(), ["quality", "tabloid", "fashion", "sports"]),
            "absence": (search_tree(Y[:, :3], COVERED, "precision", "tree", polarity="both"), None),
            "missed": (missing_tree(), None),
        }
        for searched, names in searches.values():
            ax = plot_search_tree(searched, label_names=names)
            ax.figure.canvas.draw()
            areas = [text.get_bbox_patch().get_window_extent() for text in ax.texts]
            pairs = [(a, b) for i, a in enumerate(areas) for b in areas[:i]]
            assert not any(a.overlaps(b) for a, b in pairs)
            legend = ax.get_legend().get_window_extent()
            assert not any(legend.overlaps(area) for area in areas)


class TestManners:
    def test_it_draws_where_it_is_told(self):
        _, axes = pyplot.subplots(1, 2)
        assert plot_search_tree(tree(), axes[1]) is axes[1]
        assert len(axes[1].texts) == 16
        assert len(axes[0].texts) == 0
        assert len(pyplot.get_fignums()) == 1

    def test_a_new_figure_and_no_more(self):
        plot_search_tree(tree())
        assert len(pyplot.get_fignums()) == 1

    def test_the_tree_stays_as_it_was(self):
        searched = tree()
        before = str(searched)
        plot_search_tree(searched)
        assert str(searched) == before
        assert searched.value == Fraction(2, 3)

    def test_too_many_heads(self):
        rows = np.eye(8, dtype=int)
        searched = search_tree(rows, np.ones(8, bool), "precision", "decomposable")
        with pytest.raises(ValueError, match="255 heads, and a plot can show 127: print it"):
            plot_search_tree(searched)

    def test_names_that_do_not_fit(self):
        with pytest.raises(ValueError, match="there are 4 labels but 2 label names"):
            plot_search_tree(tree(), label_names=["a", "b"])

    def test_searches_through_other_heads(self):
        with pytest.raises(ValueError, match="the search 'tree' in also has other heads"):
            plot_search_tree(tree(), also=[tree(polarity="both")])

    def test_without_matplotlib(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(
            ImportError, match=r'matplotlib: pip install "labelrules\[plot\]"$'
        ) as e:
            plot_search_tree(tree())
        assert e.value.__suppress_context__
