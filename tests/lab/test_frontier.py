"""Quality against size: cross-validation, knees by hand-made numbers, table and picture."""

import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression

from labelrules import evaluate, frontier, load, planted
from labelrules.lab import FoldValues, Frontier, FrontierPoint, size_frontier
from labelrules.lab.size_frontier import LEARNERS, checked_learners
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    LearningInterrupted,
    Ripper,
    SeparateAndConquer,
    registered,
)
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.base.sampling import folds_of
from labelrules.measures import Measure

DATA, _ = planted(80, noise=0.1, random_state=2)
NAMES = ("micro-F1", "example-F1", "subset accuracy")
LISTS = {"list": SeparateAndConquer(), "short bodies": SeparateAndConquer(max_conditions=1)}
OPTIONS = {"sizes": (4, 9), "n_folds": 3}


@pytest.fixture(scope="module")
def found():
    return frontier(DATA, LISTS, **OPTIONS)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def point(learner, size, *values, literals=None, second=None):
    """A point with these values of F1 in its folds."""
    measures = [FoldValues("F1", values)]
    if second is not None:
        measures.append(FoldValues("other", second))
    used = (size,) * len(values) if literals is None else literals
    return FrontierPoint(learner, size, used, tuple(measures))


def made(*points, measures=("F1",), **more):
    return Frontier("readers", 14, 2, measures, points, **more)


# ---------------------------------------------------------------- cross-validation


def test_points_are_those_of_a_cross_validation_written_out(found):
    folds = folds_of(DATA, 3)
    assert [(one.learner, one.max_literals) for one in found.points] == [
        ("list", 4), ("list", 9), ("short bodies", 4), ("short bodies", 9)
    ]  # fmt: skip
    for one in found.points:
        for fold in range(3):
            bodies = 1 if one.learner == "short bodies" else None
            model = SeparateAndConquer(max_literals=one.max_literals, max_conditions=bodies)
            model.fit(DATA.take(folds != fold))
            held = DATA.take(folds == fold)
            values = evaluate(held.Y, model.predict(held))
            assert one.literals[fold] == model.theory_.n_literals <= one.max_literals
            assert one["micro-F1"].values[fold] == values["micro F1"]
            assert one["example-F1"].values[fold] == values["samples F1"]
            assert one["subset accuracy"].values[fold] == values["subset accuracy"]
    assert found.measures == NAMES
    assert (found.n_rows, found.n_folds, found.stopped) == (80, 3, None)


def test_the_result_does_not_depend_on_the_number_of_workers(found):
    assert frontier(DATA, LISTS, **OPTIONS, n_jobs=2) == found


def test_the_result_does_not_depend_on_the_order_of_rows_and_sizes(found):
    shuffled = DATA.take(np.random.default_rng(0).permutation(DATA.n_rows))
    assert frontier(shuffled, LISTS, sizes=(9, 4, 9), n_folds=3).points == found.points


def test_another_random_state_divides_the_rows_otherwise(found):
    other = frontier(DATA, LISTS, **OPTIONS, random_state=1)
    assert other.points != found.points
    assert frontier(DATA, LISTS, **OPTIONS, random_state=1) == other


def test_learners_that_are_given_stay_as_they_are():
    learner = SeparateAndConquer(progress=True)
    frontier(load("magazines"), [learner], sizes=[3], n_folds=2)
    assert (learner.max_literals, learner.progress) == (None, True)
    assert not hasattr(learner, "theory_")


def test_default_learners_are_taken_from_the_registry(monkeypatch):
    known = [name for name in LEARNERS if name in registered()]
    assert list(checked_learners()) == known
    assert {"separate-and-conquer", "classifier-chain", "binary-relevance"} <= {*known}
    more = {**registered(), "scorecard": SeparateAndConquer}
    monkeypatch.setattr(size_frontier, "registered", lambda: more)
    assert list(checked_learners())[-1] == "scorecard"
    fewer = {"separate-and-conquer": SeparateAndConquer}
    monkeypatch.setattr(size_frontier, "registered", lambda: fewer)
    assert list(checked_learners()) == ["separate-and-conquer"]


def test_measures_have_names_or_are_written_out():
    data = load("magazines")
    measures = ["macro-F1", "f1/macro/full", Measure.parse("precision/micro/full")]
    found = frontier(data, [SeparateAndConquer()], [5], 2, measures)
    assert found.measures == ("macro-F1", "f1/macro/full", "precision/micro/full")
    (one,) = found.points
    assert one["macro-F1"].values == one["f1/macro/full"].values
    alone = frontier(data, [SeparateAndConquer()], [5], 2, "precision/micro/full")
    assert alone.points[0].measures == one.measures[2:]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"data": [[1]]}, "data must be a Dataset, not list: use dataset"),
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": 50}, "sizes must be a list of whole numbers, not 50"),
        ({"sizes": [10, 0]}, "sizes: each must be a whole number of at least 1, not 0"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2, not 1"),
        ({"n_folds": 15}, "15 folds .n_folds. need as many rows, but the data have 14"),
        ({"measure": []}, "measure is empty"),
        ({"measure": 3}, "measure must be a name or a Measure, or several, not 3"),
        ({"measure": "mikro-F1"}, "there are also 'micro-F1', .*did you mean 'micro-F1'"),
        ({"learners": []}, "learners is empty"),
        ({"learners": "ripper"}, "learners must be a dict from names to learners, or a list"),
        ({"learners": ["separate"]}, "there is no learner 'separate'; "),
        ({"learners": [SeparateAndConquer]}, r"not .*: write SeparateAndConquer\(\)"),
        ({"learners": [Ripper()]}, "Ripper has no parameter max_literals, .*separate-and-conquer"),
        ({"learners": [LogisticRegression()]}, "LogisticRegression has no parameter max_literals"),
        ({"learners": [SeparateAndConquer()] * 2}, "two learners are called 'separate-and-"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"progress": 3}, "progress must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_wrong_parameters(wrong, message):
    given = {"data": load("magazines"), "learners": [SeparateAndConquer()], **wrong}
    with pytest.raises(ValueError, match=message):
        frontier(**given)


def test_learners_without_a_theory_are_refused():
    several = ClassifierChain(n_chains=2)
    refused = [(BinaryRelevance(LogisticRegression()), "only rules"), (several, "for one theory")]
    for learner, message in refused:
        with pytest.raises((TypeError, ValueError), match=message):
            frontier(load("magazines"), [learner], [5], 2)


# ---------------------------------------------------------------- Ctrl-C, progress


def test_an_interrupt_keeps_the_finished_points(found):
    reports = []

    def interrupt(report):
        reports.append(report)
        if report.n_done == 8:  # of the smaller limit all, of the greater two folds of three
            raise KeyboardInterrupt

    with pytest.warns(LearningInterrupted, match="the 2 of 4 points finished so far") as caught:
        part = frontier(DATA, LISTS, **OPTIONS, progress=interrupt)
    assert caught[0].filename == __file__
    assert part.points == tuple(one for one in found.points if one.max_literals == 4)
    assert part.stopped == "it was interrupted"
    assert str(part).endswith("Not all points: it was interrupted.")
    assert "Not all points" in part._repr_html_()
    assert [report.share for report in reports] == [n / 12 for n in range(1, 9)]
    assert str(reports[0]) == "1 of 12 models, last one list, at most 4 literals"


def test_an_interrupt_before_the_first_point():
    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="before a point was finished"):
        frontier(DATA, LISTS, **OPTIONS, progress=interrupt)


@pytest.mark.parametrize("learner", [BinaryRelevance, ClassifierChain])
def test_an_unfinished_model_of_labels_is_no_point(learner):
    def interrupt(report):
        raise KeyboardInterrupt

    with nested_fit(), pytest.raises(KeyboardInterrupt):
        learner(progress=interrupt).fit(load("magazines"))


# ---------------------------------------------------------------- knees


def test_mean_and_standard_error_of_folds():
    values = FoldValues("F1", (0.5, 0.75, 1.0))
    assert (values.mean, values.standard_error) == (0.75, pytest.approx(0.25 / 3**0.5))


def test_the_knee_is_the_smallest_point_within_one_standard_error():
    """The best has 0.70 with the error 0.02: 0.69 and 0.685 are near enough, 0.67 is not."""
    points = [
        point("a", 10, 0.62, 0.72),  # 0.67, whose own error does not matter
        point("a", 20, 0.68, 0.69),  # 0.685
        point("a", 40, 0.69, 0.69),
        point("a", 80, 0.68, 0.72),  # 0.70
        point("a", 160, 0.69, 0.70),
    ]
    assert made(*points).knee() is points[1]
    assert made(points[0], *points[2:]).knee() is points[2]
    assert made(*points[:1]).knee() is points[0]


def test_a_point_just_at_the_limit_is_near_enough():
    points = [point("a", 10, 0.25, 0.25), point("a", 20, 0.25, 0.75)]
    assert points[1]["F1"].standard_error == 0.25
    assert made(*points).knee() is points[0]


def test_without_an_error_the_knee_is_the_smallest_of_the_best():
    points = [point("a", 10, 0.5, 0.5), point("a", 20, 0.6, 0.6), point("a", 40, 0.6, 0.6)]
    assert made(*points).knee() is points[1]


def test_the_size_is_that_which_is_used():
    """A limit of 40 was used with 12 literals, that of 20 with 15."""
    points = [
        point("a", 20, 0.6, 0.6, literals=(14, 16)),
        point("b", 40, 0.6, 0.6, literals=(12, 12)),
    ]
    assert made(*points).knee() is points[1]


def test_of_equal_sizes_the_better_and_of_equal_points_the_first():
    near = [point("a", 10, 0.5, 0.7), point("b", 10, 0.55, 0.75), point("c", 10, 0.75, 0.55)]
    assert made(*near).knee() is near[1]


def test_knees_of_learners_and_measures():
    points = [
        point("a", 10, 0.5, 0.5, second=(0.9, 0.9)),
        point("a", 20, 0.6, 0.6, second=(0.8, 0.8)),
        point("b", 10, 0.4, 0.4, second=(0.1, 0.1)),
        point("b", 20, 0.55, 0.55, second=(0.2, 0.2)),
    ]
    found = made(*points, measures=("F1", "other"))
    assert found.learners == ("a", "b")
    assert found.knee() is found.knee("a") is points[1]
    assert found.knee("b") is points[3]
    assert found.knee(measure="other") is found.knee("a", "other") is points[0]
    assert found.as_dict()["knee"] == [False, True, False, True]
    with pytest.raises(ValueError, match="learner must be 'a' or 'b', not 'c'"):
        found.knee("c")
    with pytest.raises(ValueError, match="measure must be 'F1' or 'other', not 'micro'"):
        found.knee(measure="micro")
    with pytest.raises(ValueError, match="measure must be 'F1' or 'other', not 'micro'"):
        points[0]["micro"]


# ---------------------------------------------------------------- table, frame, picture

HAND_MADE = made(
    point("a", 10, 0.5, 0.5, second=(0.4, 0.5)),
    point("a", 1000, 0.6, 0.7, literals=(80, 81), second=(0.5, 0.5)),
    point("a", 2000, 0.6, 0.7, literals=(80, 81), second=(0.5, 0.5)),
    point("b", 10, 0.5, 0.75, second=(0.1, 0.2)),
    measures=("F1", "other"),
)


def test_the_table():
    assert str(HAND_MADE).splitlines() == [
        "readers: quality against size, means of 2 folds of 14 rows",
        "",
        "learner         at most  literals   F1 (± error)  other",
        "a                    10        10  0.500 ± 0.000  0.450",
        "         1,000 to 2,000        80  0.650 ± 0.050  0.500  knee",
        "b                    10        10  0.625 ± 0.125  0.150  knee",
        "",
        "knee by F1: 10 literals by b (at most 10), 0.625",
        "best: 80 literals by a (at most 1,000), 0.650",
        "The knee is the smallest model within one standard error (0.050) of the best.",
    ]
    assert (
        repr(HAND_MADE) == "<Frontier: 4 points of 2 learners on readers, knee at 10 literals by b>"
    )


def test_the_best_may_be_the_knee():
    found = made(point("a", 10, 0.5, 0.5), point("a", 20, 0.6, 0.7))
    assert str(found).endswith(
        "knee by F1: 20 literals by a (at most 20), 0.650; it is the best, by over one standard "
        "error of all smaller ones"
    )


def test_frame_and_html():
    frame = HAND_MADE.to_frame()
    assert list(frame.columns) == [
        "learner", "max_literals", "literals", "F1", "F1 (standard error)", "other",
        "other (standard error)", "knee",
    ]  # fmt: skip
    assert frame["literals"].tolist() == [10.0, 80.5, 80.5, 10.0]
    assert frame["F1"].tolist() == [one["F1"].mean for one in HAND_MADE.points]
    html = HAND_MADE._repr_html_()
    assert html.count("<tr>") == 4
    assert "knee by F1: 10 literals by b" in html


def test_names_are_escaped_and_no_formulas():
    found = made(point("<b>", 10, 0.5, 0.6), point("$x$", 10, 0.5, 0.6))
    assert "<b>" not in found._repr_html_()
    ax = found.plot()
    ax.figure.canvas.draw()
    assert any("$x$" in text.get_text() for text in ax.get_legend().get_texts())


def test_the_picture_has_a_line_for_each_learner_and_rings_at_the_knees():
    ax = HAND_MADE.plot()
    lines = {line.get_label(): line for line in ax.containers}
    assert list(lines) == ["a, knee: 80", "b, knee: 10"]
    drawn = lines["a, knee: 80"].lines[0]
    assert drawn.get_xdata().tolist() == [10.0, 80.5, 80.5]
    assert drawn.get_ydata().tolist() == pytest.approx([0.5, 0.65, 0.65])
    rings = [line.get_xdata()[0] for line in ax.lines if line.get_markersize() == 11]
    assert rings == [80.5, 10.0]
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "F1, mean of 2 folds"


def test_another_measure_and_given_axes():
    _, ax = pyplot.subplots()
    assert HAND_MADE.plot(ax, measure="other") is ax
    assert ax.get_ylabel() == "other, mean of 2 folds"
    rings = [line.get_ydata()[0] for line in ax.lines if line.get_markersize() == 11]
    assert rings == pytest.approx([0.5, 0.15])


def test_a_theory_without_literals_needs_a_linear_scale():
    ax = made(point("a", 5, 0.0, 0.0, literals=(0, 0)), point("a", 9, 0.5, 0.6)).plot()
    assert ax.get_xscale() == "linear"


def test_many_learners_differ_in_colour_or_marker():
    points = [point(f"learner {i}", 10 + i, 0.5, 0.6) for i in range(12)]
    drawn = [one.lines[0] for one in made(*points).plot().containers]
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 12


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install \"labelrules\[plot\]\""):
        HAND_MADE.plot()
