"""The heads of many bodies from their tallies are those found one by one."""

import re
from itertools import product

import numpy as np
import pytest

from labelrules.measures import Measure, Tally, forget, formula, ratio, tally
from labelrules.search import best_head, best_heads, tallies_decide
from twins import heads as naive

CONVENTIONS = ("chapter", "head-relative")
BETAS = (0.5, 0.7)
CHAPTERS = [
    "/".join(cell).replace("f/", f"f{beta}/")
    for cell in naive.CELLS
    for beta in (BETAS if cell[0] == "f" else (None,))
    if tallies_decide(Measure.parse("/".join(cell)))
]
HEURISTICS = (
    "jaccard",
    "laplace",
    "m-estimate(2)",
    "weighted-relative-accuracy",
    "klosgen(0.5)",
    "correlation",
    "rate-difference",
    "linear-cost(0.4)",
    "foil-gain",
)
OTHERS = [
    f"{name}/{averaging}/{predictions}"
    for name in HEURISTICS
    for averaging, predictions in product(("macro", "cell"), ("partial", "full"))
]

POLARITY = naive.POLARITY


def bodies(rng, Y, board, n_bodies=4):
    """Some bodies and what they cover: counts of bodies by labels, counts of labels."""
    covered = rng.random((n_bodies, len(Y))) < rng.choice([0.3, 0.6, 1.0], (n_bodies, 1))
    counted = [tally(Y, mask, board) for mask in covered]
    inside = (np.array([one[part] for one in counted]) for part in (0, 1))
    return covered, Tally(*inside, counted[0].ones, counted[0].zeros)


def tables(seed, n_tables, whole_rows):
    rng = np.random.default_rng(seed)
    for n_labels, n_rows in ((1, 3), (3, 5), (5, 8)):
        for i, (Y, _, board) in enumerate(
            naive.instances(naive.generated(rng, n_tables, n_rows, n_labels))
        ):
            if i % 3 != 1 or not whole_rows:  # the others have single cells written
                yield Y, board, *bodies(rng, Y, board)


def check(text):
    """Values, right cells and, but for what adds 0/0, heads are those of `best_head`."""
    measure = Measure.parse(text)
    same_heads = measure.averaging != "micro" or ("full" in text and "recall" not in text)
    for Y, board, covered, counted in tables(1, 3, measure.averaging == "samples"):
        for convention, absence in product(CONVENTIONS, (True, False)):
            found = best_heads(
                counted, len(Y), measure, counting=convention, polarity=POLARITY[absence]
            )
            for mask, vector, value, correct in zip(covered, *found, strict=True):
                one = best_head(
                    Y, mask, measure, board, counting=convention, polarity=POLARITY[absence]
                )
                again = measure.merit_of_rule(Y, mask, vector, board, convention)
                assert value == pytest.approx(float(one.value), rel=1e-12, abs=1e-12)
                assert value == pytest.approx(again.value, rel=1e-12, abs=1e-12)
                assert correct == again.correct
                if same_heads:
                    assert vector.tolist() == one.vector.tolist()


@pytest.mark.parametrize("text", CHAPTERS)
def test_the_measures_of_the_chapter(text):
    check(text)


@pytest.mark.parametrize("text", OTHERS)
def test_heuristics_on_counts(text):
    check(text)


def test_a_formula_of_ones_own():
    @formula("balanced")
    def balanced(tp, fp, tn, fn, weight=0.25):
        return weight * ratio(tp, tp + fn) + (1 - weight) * ratio(tn, tn + fp)

    try:
        for text in ("balanced/macro/partial", "balanced(0.9)/macro/full", "balanced/cell/full"):
            check(text)
    finally:
        forget("balanced")


def test_a_formula_registered_anew_is_compiled_anew():
    counted = Tally(*(np.array(part) for part in ([[2, 1]], [[1, 3]], [2, 1], [2, 3])))
    values = []
    for sign in (1, -1):

        @formula("anew", replace=True)
        def anew(tp, fp, tn, fn, sign=float(sign > 0)):
            return (2 * sign - 1) * tp

        values.append(best_heads(counted, 4, "anew/macro/partial").values.tolist())
    forget("anew")
    assert values == [[3.0], [-1.0]]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("absence", [True, False])
@pytest.mark.parametrize(
    "text", ["precision", "recall", "f0.7", "hamming/macro", "laplace", "correlation", "foil-gain"]
)
def test_single_labels(text, absence, convention):
    """Any formula, micro or macro: with one label they are the same."""
    measure = Measure.parse(text)
    for Y, board, covered, counted in tables(2, 4, whole_rows=False):
        options = {"counting": convention, "polarity": POLARITY[absence]}
        found = best_heads(counted, len(Y), measure, single=True, **options)
        for mask, vector, value, _ in zip(covered, *found, strict=True):
            one = best_head(Y, mask, measure, board, max_labels=1, **options)
            assert (vector != -1).sum() == 1
            assert vector.tolist() == one.vector.tolist()
            assert value == pytest.approx(float(one.value), rel=1e-12, abs=1e-12)


def test_partial_ratios_merge_the_best_literals():
    """What is 0/0 alone is left out, though it would not lower a ratio."""
    for text, convention in product(("precision", "recall", "hamming", "f0.5"), CONVENTIONS):
        measure = Measure.parse(text)
        for Y, board, covered, counted in tables(3, 6, whole_rows=False):
            found = best_heads(counted, len(Y), measure, counting=convention)
            for mask, vector in zip(covered, found.vectors, strict=True):
                singles = literal_values(measure, Y, mask, board, convention)
                top = max(max(pair) for pair in singles)
                merged = [1 if p == top else 0 if a == top else -1 for a, p in singles]
                assert vector.tolist() == merged


def literal_values(measure, Y, mask, board, convention):
    """The exact values of saying each label absent and present."""
    n_labels = Y.shape[1]
    return [
        [
            measure.of_rule(
                Y,
                mask,
                [value if i == label else -1 for i in range(n_labels)],
                board,
                convention,
                exact=True,
            )
            for value in (0, 1)
        ]
        for label in range(n_labels)
    ]


def test_one_body_is_a_row():
    Y = np.array([[1, 0], [1, 1], [0, 0]])
    counted = tally(Y, np.array([True, True, False]))
    found = best_heads(counted, 3, "precision/micro/partial")
    assert found.vectors.tolist() == [[1, -1]]
    assert (found.values.tolist(), found.correct.tolist()) == ([1.0], [2])


def test_no_body():
    found = best_heads(Tally(*np.zeros((2, 0, 3), int), *np.zeros((2, 3), int)), 3, "f1/macro")
    assert [part.shape for part in found] == [(0, 3), (0,), (0,)]


def test_what_tallies_decide():
    decided = {cell for cell in naive.CELLS if tallies_decide(Measure.parse("/".join(cell)))}
    assert {cell for cell in naive.CELLS if cell not in decided} == {
        (name, "samples", predictions)
        for name in ("recall", "f", "subset")
        for predictions in ("partial", "full")
    }
    assert not tallies_decide(Measure.parse("precision/samples"), whole_rows=False)
    assert tallies_decide(Measure.parse("laplace/macro"))
    assert not tallies_decide(Measure.parse("laplace/micro"))


GOOD = ([[1, 2]], [[0, 1]], [1, 2], [3, 4])


@pytest.mark.parametrize(
    ("text", "options", "parts", "message"),
    [
        (
            "f1/samples",
            {},
            GOOD,
            "counts per label do not determine the best head for f1/samples/partial: use best_head",
        ),
        (
            "laplace/micro",
            {},
            GOOD,
            "counts per label do not determine the best head for laplace/micro/partial: "
            "use single=True",
        ),
        (
            "f1/full",
            {"single": True},
            GOOD,
            "single=True is for partial predictions: a full one predicts every label",
        ),
        (
            "f1",
            {"counting": "plain"},
            GOOD,
            "counting must be 'chapter' or 'head-relative', not 'plain'",
        ),
        (
            "f1",
            {},
            ([[1, 2]], [[0, 1]], [1, 2, 3], [3, 4, 5]),
            "a tally has covered ones and zeros of one shape, bodies by labels, and all ones and "
            "zeros, one per label; these have the shapes (1, 2), (1, 2), (3,), (3,)",
        ),
        (
            "f1",
            {},
            ([[1, 2]], [[0, 1], [1, 1]], [1, 2], [3, 4]),
            "a tally has covered ones and zeros of one shape, bodies by labels, and all ones and "
            "zeros, one per label; these have the shapes (1, 2), (2, 2), (2,), (2,)",
        ),
        (
            "f1",
            {},
            (np.zeros((3, 0), int), np.zeros((3, 0), int), [], []),
            "the tally has no labels: its counts have the shape (3, 0)",
        ),
        (
            "f1",
            {},
            ([[1.5, 2]], [[0, 1]], [1, 2], [3, 4]),
            "a tally holds whole numbers, not float64",
        ),
        (7, {}, GOOD, "a measure is written as text like 'f1/micro/partial', not 7"),
    ],
)  # fmt: skip
def test_bad_input(text, options, parts, message):
    counted = Tally(*(np.asarray(part) for part in parts))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        best_heads(counted, 8, text, **options)


def test_no_rows():
    counted = Tally(*(np.asarray(part) for part in GOOD))
    with pytest.raises(ValueError, match="n_rows must be a whole number of at least 1, not 0"):
        best_heads(counted, 0, "f1/cell")
