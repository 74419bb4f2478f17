"""Larger heads favoured, and heads of limited size, against all heads."""

import math
import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from labelrules.measures import Formula, Measure
from labelrules.search import best_head, kln, no_bonus, peak, root
from twins import heads as naive

CONVENTIONS = ("chapter", "head-relative")
BONUSES = {
    "kln": lambda n: kln(0.3),
    "root": lambda n: root(3),
    "peak": lambda n: peak((n + 1) // 2, 1.5, n),
    "own": lambda n: lambda size: [1.0, 0.25, 2.0, 0.5, 1.25][size - 1],
}
SHAPES = [(2, 4), (3, 5), (4, 6)]
N_TABLES = 3

POLARITY = naive.POLARITY


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """Fractions are slow and the same few counts come again and again."""
    monkeypatch.setattr(Formula, "exact", cache(Formula.exact))


def check(shape, predictions, convention, **limits):
    """Every measure on some tables, the options given by label count: {name: function}."""
    n_labels, n_rows = shape
    options = {name: make(n_labels) for name, make in limits.items()}
    bonus, max_labels = options.get("size_bonus", no_bonus), options.get("max_labels")
    factors = [bonus(max(size, 1)) for size in range(n_labels + 1)]
    tables = naive.generated(np.random.default_rng(n_labels), N_TABLES, n_rows, n_labels)
    every = naive.AllHeads(tables, convention, predictions)
    for (name, averaging, kind), absence in product(naive.CELLS, (True, False)):
        if kind == predictions:
            formula = Formula(name, 0.5 if name == "f" else None)
            measure = Measure(formula, averaging, predictions)
            best = every.best(name, formula.parameter, averaging, absence, max_labels, factors)
            by_row = convention == "plain" and averaging == "samples"
            for (Y, covered, board), expected in zip(naive.instances(tables), best, strict=True):
                if by_row and naive.written_in_part(board):
                    continue  # which is refused
                found = best_head(
                    Y,
                    covered,
                    measure,
                    board,
                    counting=convention,
                    polarity=POLARITY[absence],
                    **options,
                )
                got = (tuple(found.vector.tolist()), found.value, found.gap)
                assert got == (expected.vector, expected.value, 0), (measure, Y, covered, board)
                assert found.value_with_bonus == pytest.approx(float(expected.lifted), rel=1e-12)


@pytest.mark.parametrize("predictions", ["partial", "full"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("bonus", BONUSES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_size_bonuses(shape, bonus, convention, predictions):
    check(shape, predictions, convention, size_bonus=BONUSES[bonus])


@pytest.mark.parametrize("predictions", ["partial", "full"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("shape", "limit"), [(s, k) for s in SHAPES for k in range(1, s[0] + 1)])
def test_at_most_so_many_labels(shape, limit, convention, predictions):
    check(shape, predictions, convention, max_labels=lambda n: limit)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_full_predictions_counted_plainly(shape):
    for bonus in BONUSES.values():
        check(shape, "full", "plain", size_bonus=bonus)
    for limit in range(1, shape[0] + 1):
        check(shape, "full", "plain", max_labels=lambda n: limit)  # noqa: B023


@pytest.mark.parametrize("predictions", ["partial", "full"])
def test_both(predictions):
    check((4, 6), predictions, "chapter", max_labels=lambda n: 2, size_bonus=BONUSES["kln"])


@pytest.mark.parametrize("scale", [1e12, 1e-12])
def test_the_scale_of_a_size_bonus_does_not_matter(scale):
    """A tolerance that is not relative searches for ever, or takes everything for a tie."""

    def scaled(n_labels):
        return lambda size: scale * kln(0.3)(size)

    for predictions in ("partial", "full"):
        check((3, 5), predictions, "chapter", size_bonus=scaled)


def test_a_limit_beyond_the_labels_is_none():
    Y, covered = np.array([[0, 1], [1, 1]]), np.array([True, True])
    for cell in naive.CELLS:
        limited = best_head(Y, covered, "/".join(cell), max_labels=7)
        assert limited.vector.tolist() == best_head(Y, covered, "/".join(cell)).vector.tolist()


def test_single_labels_of_any_formula():
    """With one label, micro-averaging is the formula itself, whatever it is."""
    for Y, covered, board in naive.instances(naive.generated(np.random.default_rng(3), 30, 8, 4)):
        for text in ("laplace", "m-estimate(2)", "correlation", "foil-gain", "klosgen(0.5)"):
            measure = Measure.parse(text)
            singles = [
                [value if i == label else -1 for i in range(4)]
                for label in range(4)
                for value in (0, 1)
            ]
            values = [measure.of_rule(Y, covered, head, board) for head in singles]
            found = best_head(Y, covered, measure, board, max_labels=1)
            assert measure.of_rule(Y, covered, found.vector, board) == max(values)
            assert found.method == "closed form"


class TestShapes:
    def test_kln(self):
        assert [kln(0.5)(size) for size in (1, 2, 9)] == [
            1.0,
            1 + 0.5 * math.log(2),
            1 + math.log(3),
        ]

    def test_root(self):
        assert [root(2)(size) for size in (1, 4, 9)] == [1.0, 2.0, 3.0]

    def test_no_bonus(self):
        assert [no_bonus(size) for size in (1, 2, 99)] == [1.0] * 3

    @pytest.mark.parametrize("n_labels", range(1, 9))
    @pytest.mark.parametrize("curvature", [0.5, 1.0, 2.0])
    def test_peak(self, n_labels, curvature):
        """1 for one label and for all; it rises to the peak and then falls."""
        for top in range(1, n_labels + 1):
            factor = peak(top, 1.5, n_labels, curvature)
            values = [factor(size) for size in range(1, n_labels + 1)]
            assert values[top - 1] == 1.5 == max(values)
            assert values[:top] == sorted(values[:top])
            assert values[top - 1 :] == sorted(values[top - 1 :], reverse=True)
            if 1 < top < n_labels:
                assert (values[0], values[-1]) == (1.0, 1.0)

    def test_peak_by_hand(self):
        """Straight lines for curvature 1; above them for more."""
        assert [peak(3, 2.0, 6)(size) for size in range(1, 7)] == pytest.approx(
            [1, 1.5, 2, 1 + 2 / 3, 1 + 1 / 3, 1]
        )
        assert peak(3, 2.0, 6, curvature=2)(2) == pytest.approx(1 + math.sqrt(0.5))

    @pytest.mark.parametrize("curvature", [1.0, 2.0])
    def test_heads_larger_than_the_peak_was_made_for(self, curvature):
        """Right of its end a peak stays at 1; its root is not taken of a negative number."""
        assert [peak(2, 1.5, 3, curvature)(size) for size in (3, 4, 9)] == [1.0] * 3
        assert peak(3, 1.5, 3)(4) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kln(0), "a must be a number above 0, not 0"),
        (lambda: kln(-0.2), "a must be a number above 0, not -0.2"),
        (lambda: root(math.inf), "a must be a finite number above 0, not inf"),
        (lambda: root("2"), "a must be a number above 0, not '2'"),
        (lambda: peak(0, 1.5, 4), "size must be a whole number from 1 to 4, not 0"),
        (lambda: peak(5, 1.5, 4), "size must be a whole number from 1 to 4, not 5"),
        (lambda: peak(2, 0, 4), "factor must be a number above 0, not 0"),
        (
            lambda: peak(2, 1.5, 4, curvature=math.nan),
            "curvature must be a number above 0, not nan",
        ),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(
    ("bonus", "message"),
    [
        (lambda size: 0.0, "size_bonus(1) must be a number above 0, not 0.0"),
        (lambda size: 2.0 - size, "size_bonus(2) must be a number above 0, not 0.0"),
        (lambda size: math.nan, "size_bonus(1) must be a number above 0, not nan"),
        (lambda size: "1", "size_bonus(1) must be a number above 0, not '1'"),
        (lambda size: None, "size_bonus(1) must be a number above 0, not None"),
        (1.2, "size_bonus must be a function of the head size like kln(0.2), not 1.2"),
    ],
)
@pytest.mark.parametrize("text", ["/".join(cell) for cell in naive.CELLS])
def test_bad_functions_of_ones_own(bonus, message, text):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        best_head([[0, 1], [1, 1]], [True, False], text, size_bonus=bonus)
