"""Pictures of label dependencies: every rule has its mark or arrow, and names stay readable."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import FancyArrowPatch

from labelrules import DecisionList, Schema, load, parse
from labelrules.constraints import find_constraints
from labelrules.inspection import label_graph, plot_dependency_matrix, plot_label_graph
from labelrules.inspection.pictures.layouts import MatrixLayout, ordered_labels

SCHEMA = load("magazines").schema
THEORY = parse(
    """
quality <- sports, not tabloid (9/1)
not sports <- quality, sex = Male (2/2)
fashion <- fashion, sex = Female
""",
    SCHEMA,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def pairwise_theory(n_labels, seed=0):
    """A rule or two for every label, with random evidence."""
    random = np.random.default_rng(seed)
    schema = Schema([], [f"a label with number {i}" for i in range(n_labels)])
    lines = []
    for i in range(n_labels):
        for j in random.choice(n_labels, 2, replace=False).tolist():
            right, wrong = random.integers(0, 50, 2)
            lines.append(f"'{schema.labels[i]}' <- not '{schema.labels[j]}' ({right}/{wrong})")
    return parse("\n".join(lines), schema)


def marks(theory):
    found = {}
    for mark in MatrixLayout.of(theory, "data", False).marks:
        found.setdefault(mark.place, []).append(mark)
    assert all(len(one) == 1 for one in found.values())
    return {place: one for place, (one,) in found.items()}


def test_each_direction_and_kind_has_its_corner():
    """Labels: quality, tabloid, fashion, sports. Upper corners: the row is predicted."""
    found = marks(THEORY)
    assert set(found) == {
        (3 - 0.25, 0 - 0.25), (0 - 0.25, 3 + 0.25),  # quality by sports, labels only
        (1 - 0.25, 0 - 0.25), (0 - 0.25, 1 + 0.25),  # quality by tabloid
        (0 + 0.25, 3 - 0.25), (3 + 0.25, 0 + 0.25),  # sports by quality, and a feature
        (2 + 0.25, 2 - 0.25),  # fashion by itself, once
    }  # fmt: skip
    assert found[3 - 0.25, 0 - 0.25].signs == "+"
    assert found[1 - 0.25, 0 - 0.25].signs == "-"
    assert found[0 + 0.25, 3 - 0.25].signs == "-"
    assert found[3 - 0.25, 0 - 0.25].is_full
    assert not found[0 + 0.25, 3 - 0.25].is_full


def test_size_is_support_and_shade_is_strength():
    found = marks(THEORY)
    often, seldom, never = found[2.75, -0.25], found[0.25, 2.75], found[2.25, 1.75]
    assert often.half > seldom.half > never.half
    assert (often.strength, seldom.strength) == (0.9, 0.5)
    assert np.isnan(never.strength)


def test_without_evidence_all_marks_are_large():
    assert len({mark.half for mark in marks(parse("quality <- sports", SCHEMA)).values()}) == 1


def test_both_signs_are_shown_together():
    theory = parse("quality <- sports\nnot quality <- sports", SCHEMA)
    assert {mark.signs for mark in marks(theory).values()} == {"+-"}
    assert plot_dependency_matrix(theory).get_title() == "1 dependency between 4 labels"


def test_every_mark_is_drawn():
    ax = plot_dependency_matrix(THEORY)
    shapes = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert [len(c.get_paths()) for c in shapes] == [4, 3]
    strokes = [c for c in ax.collections if isinstance(c, LineCollection)][1:]
    # four pluses of two strokes: sports and its mirror twice, and fashion; three minuses of one
    assert sum(len(c.get_paths()) for c in strokes) == 2 * 3 + 4
    assert [t.get_text() for t in ax.get_yticklabels()] == list(SCHEMA.labels)


def test_parents_and_children_have_a_frame():
    schema = Schema([], ["a", "b", "c"], [None, "a", None])
    ax = plot_dependency_matrix(parse("a <- c", schema))
    framed = [p.get_xy() for p in ax.patches if not p.get_fill()]
    assert sorted(framed) == [(-0.5, 0.5), (0.5, -0.5)]


@pytest.mark.parametrize("draw", [plot_dependency_matrix, plot_label_graph])
@pytest.mark.parametrize("n_labels", [1, 2, 6, 53, 174])
def test_names_do_not_lie_upon_each_other(draw, n_labels):
    theory = pairwise_theory(n_labels) if n_labels > 1 else parse("a <- a", Schema([], ["a"]))
    ax = draw(theory, only_dependent=False)
    ax.figure.canvas.draw()
    is_matrix = draw is plot_dependency_matrix
    names = ax.get_yticklabels()[:n_labels] if is_matrix else ax.texts
    names = [t for t in names if t.get_text() in theory.schema.labels]
    assert len(names) == n_labels
    assert min(t.get_fontsize() for t in names) >= 7
    inside = ax.figure.bbox
    for text in [*names, *(ax.get_xticklabels() if is_matrix else [])]:
        box = text.get_window_extent()
        assert inside.contains(*box.min), text.get_text()
        assert inside.contains(*box.max), text.get_text()
    if is_matrix:
        boxes = [t.get_window_extent() for t in names]
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))


def test_arrows_lead_from_the_tested_label_to_the_predicted():
    ax = plot_label_graph(parse("quality <- sports\nsports <- not tabloid", SCHEMA))
    assert ax.get_title() == "2 dependencies between 3 labels, no cycle"
    lines = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    assert len(lines) == 2 * 2  # each has a line and a head
    assert not legend(ax) & {"in a cycle", "labels and features", "both signs"}
    assert {t.get_text() for t in ax.texts} == {"quality", "tabloid", "sports"}


def legend(ax):
    return {text.get_text() for text in ax.get_legend().get_texts()}


def arrows(ax):
    """Lines, and the colours of the heads that belong to them, outer and inner."""
    found = []
    for patch in ax.patches:
        if patch.get_linewidth():
            found.append((patch, []))
        else:
            found[-1][1].append(matplotlib.colors.to_hex(patch.get_facecolor()))
    return found


def test_width_is_support_and_heads_tell_the_kind():
    """Without them a dependency of 700 rows by labels alone looked like any other."""
    ax = plot_label_graph(
        parse("quality <- sports (90/10)\ntabloid <- not sports, sex = Male (1/3)", SCHEMA)
    )
    (often, filled), (seldom, opened) = arrows(ax)
    assert often.get_linewidth() > 2 * seldom.get_linewidth()
    assert (len(filled), len(opened)) == (1, 2)
    assert opened[1] == "#ffffff"
    assert (often.get_linestyle(), seldom.get_linestyle()[1]) == ("-", (4, 2))
    assert legend(ax) == {
        "same sign", "opposite sign", "labels only", "labels and features", "in no cycle",
        "written 10 times", "written 100 times",
    }  # fmt: skip


def test_a_label_that_predicts_itself_has_a_head_too():
    ax = plot_label_graph(parse("fashion <- fashion, sex = Female", SCHEMA))
    heads = [line for line in ax.lines if line.get_markersize() == 5]
    assert [line.get_markerfacecolor() for line in heads] == ["white"]


def test_cyclic_components_are_numbered_and_their_arrows_have_another_colour():
    text = "quality <- sports\nsports <- quality\ntabloid <- fashion\nfashion <- tabloid, quality"
    ax = plot_label_graph(parse(text, SCHEMA))
    assert ax.get_title() == "5 dependencies between 4 labels, 2 cyclic components"
    assert sorted(t.get_text() for t in ax.texts)[:4] == ["1", "1", "2", "2"]
    colors = [heads[0] for _, heads in arrows(ax)]
    assert sorted(map(colors.count, {*colors})) == [1, 4]
    assert {line.get_linewidth() for line, _ in arrows(ax)} == {0.7}
    assert "written" not in " ".join(legend(ax))


def test_constraints_can_be_drawn():
    found = find_constraints([{"a", "b"}, {"a", "b"}, {"a"}, {"c"}, {"c"}], groups=False)
    assert plot_dependency_matrix(found).get_title().startswith("5 dependencies between 3")
    assert (
        plot_label_graph(found).get_title() == "5 dependencies between 3 labels, 1 cyclic component"
    )


def test_one_label_is_no_plural():
    alone = parse("a <- a", Schema([], ["a"]))
    assert plot_dependency_matrix(alone).get_title() == "1 dependency of 1 label"
    assert plot_label_graph(alone).get_title() == "1 dependency of 1 label, 1 cyclic component"


def test_signs_of_many_labels_are_large_enough_to_be_told_apart():
    """At 80 dots to the inch a plus has five dots or more each way."""
    ax = plot_dependency_matrix(pairwise_theory(174))
    ax.figure.canvas.draw()
    strokes = [c for c in ax.collections if isinstance(c, LineCollection)][1:]
    ends = [path.vertices for c in strokes for path in c.get_paths()]
    across = min(abs(a[0] - b[0]) for a, b in ends if a[0] != b[0])
    cell = ax.get_window_extent().width / ax.figure.dpi / 174
    assert across * cell * 80 >= 4.5
    assert min(c.get_linewidths()[0] for c in strokes if len(c.get_paths())) * 80 / 72 >= 1


def test_orders():
    schema = Schema([], ["Class10", "Class2", "b", "a"])
    graph = label_graph(parse("a <- Class10\nb <- Class2", schema))
    assert ordered_labels(graph) == [0, 1, 2, 3]
    assert ordered_labels(graph, "name") == [1, 0, 3, 2]
    assert ordered_labels(graph, ["a", "b"]) == [3, 2]
    related = ordered_labels(graph, "related")
    assert {frozenset(related[:2]), frozenset(related[2:])} == {
        frozenset({0, 3}),
        frozenset({1, 2}),
    }
    alone = label_graph(parse("a <- Class10", schema))
    assert ordered_labels(alone, only_dependent=True) == [0, 3]
    assert ordered_labels(alone, "related") == [0, 3, 1, 2]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(
        ValueError,
        match="order must be 'data', 'name', 'related' or a list of labels, not 'alphabet'",
    ):
        plot_dependency_matrix(THEORY, order="alphabet")
    with pytest.raises(ValueError, match="no label 'sport'; did you mean 'sports'"):
        plot_dependency_matrix(THEORY, order=["sport"])
    with pytest.raises(ValueError, match="names a label twice"):
        plot_label_graph(THEORY, order=["sports", "sports"])
    with pytest.raises(ValueError, match="no rule predicts a label by testing another"):
        plot_label_graph(DecisionList(SCHEMA))
    with pytest.raises(ValueError, match="no rule predicts a label by testing another"):
        plot_dependency_matrix(DecisionList(SCHEMA), only_dependent=True)
    with pytest.raises(TypeError, match="or a fitted learner, not int"):
        plot_label_graph(42)


def test_what_could_not_be_read_is_refused():
    with pytest.raises(ValueError, match=r"301 labels, and a plot can show 300.*only_dependent"):
        plot_dependency_matrix(pairwise_theory(301))
    schema = Schema([], [f"l{i}" for i in range(40)])
    text = "\n".join(f"{a} <- {', '.join(schema.labels)}" for a in schema.labels)
    with pytest.raises(ValueError, match="1600 dependencies, and a plot can show 1500 arrows"):
        plot_label_graph(parse(text, schema))


@pytest.mark.parametrize("draw", [plot_dependency_matrix, plot_label_graph])
def test_names_are_no_formulas_and_given_axes_are_used(draw):
    schema = Schema([], ["$a_1$ \\frac", "<b>", "ü\n2"])
    _, ax = pyplot.subplots()
    assert draw(parse('"$a_1$ \\\\frac" <- "<b>"', schema), ax) is ax
    ax.figure.canvas.draw()
