"""Measures: equal to exact fractions everywhere and to scikit-learn where it has them."""

import pickle
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from labelrules.measures import AVERAGINGS, COUNTINGS, PREDICTIONS, Formula, Measure, Merit
from twins import measures as naive

RATIONAL = [
    Formula("precision"),
    Formula("recall"),
    Formula("hamming"),
    Formula("f", 1),
    Formula("f", 0.5),
    Formula("f", 2),
    Formula("jaccard"),
    Formula("laplace"),
    Formula("m-estimate"),
    Formula("weighted-relative-accuracy"),
    Formula("rate-difference"),
    Formula("linear-cost"),
]
IRRATIONAL = [Formula("klosgen"), Formula("correlation"), Formula("foil-gain")]
MEASURES = [
    *(Measure(f, a, p) for f in RATIONAL + IRRATIONAL for a in AVERAGINGS for p in PREDICTIONS),
    *(Measure(Formula("subset"), "samples", p) for p in PREDICTIONS),
]


SOME_ROWS, SOME_LABELS = st.integers(1, 6), st.integers(1, 4)


def tables(cells, rows=SOME_ROWS, labels=SOME_LABELS):
    def of_size(size):
        n_rows, n_labels = size
        row = st.lists(st.sampled_from(cells), min_size=n_labels, max_size=n_labels)
        return st.lists(row, min_size=n_rows, max_size=n_rows)

    return st.tuples(rows, labels).flatmap(of_size)


@st.composite
def candidates(draw):
    """Y, covered, head (not empty), board; an open or unconcerned cell is None."""
    Y = draw(tables([0, 1]))
    m, n = len(Y), len(Y[0])
    covered = draw(st.lists(st.booleans(), min_size=m, max_size=m))
    head = draw(st.lists(st.sampled_from([0, 1, None]), min_size=n, max_size=n))
    if all(value is None for value in head):
        head[draw(st.integers(0, n - 1))] = draw(st.sampled_from([0, 1]))
    cell = st.sampled_from([None, None, 0, 1])
    board = draw(st.lists(st.lists(cell, min_size=n, max_size=n), min_size=m, max_size=m))
    return Y, covered, head, board


def with_unset(cells):
    return [[-1 if cell is None else cell for cell in row] for row in cells]


def same(measure, found, exact, expected):
    """The float is the fraction, and the exact value is exactly it."""
    assert type(found) is float
    assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-14)
    if measure.formula not in IRRATIONAL:
        assert type(exact()) is Fraction
        assert exact() == expected
    else:
        with pytest.raises(ValueError, match="has no exact value"):
            exact()


@settings(max_examples=40, deadline=None)
@given(candidates(), st.sampled_from(COUNTINGS))
def test_of_rule_is_the_naive_value(candidate, counting):
    Y, covered, head, board = candidate
    vector, written = with_unset([head])[0], with_unset(board)
    for measure in MEASURES:
        formula = measure.formula
        expected = naive.of_rule(
            formula.name,
            formula.parameter,
            measure.averaging,
            measure.predictions,
            Y,
            covered,
            head,
            board,
            counting,
        )
        arguments = (Y, covered, vector, written, counting)
        found = measure.of_rule(*arguments)
        same(measure, found, lambda m=measure, a=arguments: m.of_rule(*a, exact=True), expected)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_of_predictions_is_the_naive_value(data):
    Y = data.draw(tables([0, 1]))
    size = (st.just(len(Y)), st.just(len(Y[0])))
    predicted = data.draw(tables([0, 1, None], *size))
    for measure in MEASURES:
        formula = measure.formula
        expected = naive.of_predictions(
            formula.name, formula.parameter, measure.averaging, measure.predictions, Y, predicted
        )
        arguments = (Y, with_unset(predicted))
        found = measure.of_predictions(*arguments)
        same(
            measure,
            found,
            lambda m=measure, a=arguments: m.of_predictions(*a, exact=True),
            expected,
        )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_finished_predictions_are_those_of_scikit_learn(data):
    """It has three of the four averagings, under the same names."""
    Y = data.draw(tables([0, 1], labels=st.integers(2, 5)))
    predicted = data.draw(tables([0, 1], st.just(len(Y)), st.just(len(Y[0]))))
    Y, predicted = np.array(Y), np.array(predicted)
    for predictions, average in product(PREDICTIONS, ("micro", "macro", "samples")):

        def value(text, average=average, predictions=predictions):
            return Measure.parse(f"{text}/{average}/{predictions}").of_predictions(Y, predicted)

        options = {"average": average, "zero_division": 0.0}
        close = {"rel": 1e-12, "abs": 1e-15}
        precision = metrics.precision_score(Y, predicted, **options)
        assert value("precision") == pytest.approx(precision, **close)
        assert value("recall") == pytest.approx(
            metrics.recall_score(Y, predicted, **options), **close
        )
        jaccard = metrics.jaccard_score(Y, predicted, **options)
        assert value("jaccard") == pytest.approx(jaccard, **close)
        for beta in (0.5, 1, 2):
            fbeta = metrics.fbeta_score(Y, predicted, beta=beta, **options)
            assert value(f"f{beta}") == pytest.approx(fbeta, **close)
        assert value("hamming") == pytest.approx(1 - metrics.hamming_loss(Y, predicted), **close)
    subset = Measure.parse("subset/full").of_predictions(Y, predicted)
    assert subset == pytest.approx(metrics.accuracy_score(Y, predicted), **close)


@settings(max_examples=40, deadline=None)
@given(candidates(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_labels_does_not_matter(candidate, random):
    """Not even in the last bit."""
    Y, covered, head, board = candidate
    Y, covered, board = np.array(Y), np.array(covered), np.array(with_unset(board))
    head = np.array(with_unset([head])[0])
    rows, labels = list(range(len(Y))), list(range(len(head)))
    random.shuffle(rows)
    random.shuffle(labels)
    for measure in MEASURES:
        value = measure.of_rule(Y, covered, head, board)
        cells = np.ix_(rows, labels)
        assert measure.of_rule(Y[cells], covered[rows], head[labels], board[cells]) == value


@settings(max_examples=40, deadline=None)
@given(candidates())
def test_inputs_are_not_changed(candidate):
    Y, covered, head, board = candidate
    arrays = [
        np.array(one, dtype=dtype)
        for one, dtype in (
            (Y, np.int8),
            (covered, bool),
            (with_unset([head])[0], np.int8),
            (with_unset(board), np.int8),
        )
    ]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    for measure, counting in product(MEASURES[:8], COUNTINGS):
        measure.of_rule(*arrays, counting)
        measure.of_predictions(arrays[0], arrays[3])
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))


class TestOpenCells:
    """Only cells that nobody has written count; a written one has an empty matrix."""

    Y = np.array([[0, 1], [1, 0]])
    board = np.array([[0, -1], [-1, 0]])
    covered = np.array([True, True])

    @pytest.mark.parametrize("head", [[1, -1], [-1, 1], [1, 1]])
    def test_written_cells_do_not_break_a_merge(self, head):
        """Counting whole rows as soon as one cell is open gives {1, 2} the value 2/4."""
        measure = Measure.parse("precision/micro/partial")
        assert measure.of_rule(self.Y, self.covered, head, self.board) == 1

    def test_a_row_with_nothing_open_stays_in_the_mean(self):
        measure = Measure.parse("precision/samples/partial")
        assert measure.of_rule(self.Y, self.covered, [1, -1], self.board, exact=True) == Fraction(
            1, 2
        )

    def test_every_cell_stays_in_the_mean_over_cells(self):
        measure = Measure.parse("precision/cell/partial")
        assert measure.of_rule(self.Y, self.covered, [1, 1], self.board, exact=True) == Fraction(
            2, 4
        )

    def test_a_label_with_nothing_open_stays_in_the_mean(self):
        board = np.array([[0, -1], [1, -1]])
        measure = Measure.parse("precision/macro/partial")
        assert measure.of_rule(self.Y, self.covered, [1, 1], board, exact=True) == Fraction(1, 4)

    def test_an_open_board_is_no_board(self):
        for measure in MEASURES:
            values = {
                measure.of_rule(self.Y, self.covered, [1, 0], board)
                for board in (None, np.full((2, 2), -1))
            }
            assert len(values) == 1

    def test_a_board_written_everywhere_is_worth_nothing(self):
        for averaging in AVERAGINGS:
            for name in ("precision", "recall", "hamming", "f1"):
                measure = Measure.parse(f"{name}/{averaging}/full")
                assert measure.of_rule(self.Y, self.covered, [1, 0], np.zeros((2, 2))) == 0


class TestCounting:
    """Two covered rows and three others, one label; the rule predicts absence."""

    Y, covered = [[0], [1], [0], [0], [1]], [True, True, False, False, False]

    @pytest.mark.parametrize(
        ("counting", "counts"),
        [("chapter", (1, 1, 2, 1)), ("head-relative", (1, 1, 1, 2)), ("plain", (0, 0, 3, 2))],
    )
    def test_absence(self, counting, counts):
        outcomes = Measure.parse("precision").outcomes(self.Y, self.covered, [0], None, counting)
        assert tuple(int(n) for n in outcomes.sum()) == counts

    @pytest.mark.parametrize("counting", ["chapter", "head-relative", "plain"])
    def test_presence_is_the_same_for_all(self, counting):
        outcomes = Measure.parse("precision").outcomes(self.Y, self.covered, [1], None, counting)
        assert tuple(int(n) for n in outcomes.sum()) == (1, 1, 2, 1)

    def test_full_predicts_absence_where_the_head_is_silent(self):
        measure = Measure.parse("hamming/micro/full")
        Y, covered = [[1, 0, 0], [1, 1, 0]], [True, True]
        assert measure.of_rule(Y, covered, [1, -1, -1]) == measure.of_rule(Y, covered, [1, 0, 0])

    def test_a_full_rule_is_plainly_a_finished_prediction(self):
        Y = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
        covered, head = np.array([True, True, False]), np.array([1, -1, 1])
        predicted = np.where(covered[:, None], head, -1)
        for measure in (one for one in MEASURES if one.predictions == "full"):
            of_rule = measure.of_rule(Y, covered, head, counting="plain")
            assert of_rule == measure.of_predictions(Y, predicted)

    def test_the_empty_head_is_a_full_prediction(self):
        assert Measure.parse("hamming/micro/full").of_rule([[1, 0]], [True], [-1, -1]) == 0.5

    def test_a_rule_that_covers_nothing_has_a_value(self):
        assert Measure.parse("hamming").of_rule([[1], [0], [0]], [False] * 3, [1]) == 2 / 3


class TestText:
    @pytest.mark.parametrize("measure", MEASURES, ids=str)
    def test_there_and_back(self, measure):
        assert Measure.parse(str(measure)) == measure
        assert hash(Measure.parse(str(measure))) == hash(measure)
        assert pickle.loads(pickle.dumps(measure)) == measure

    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("f1", "f1/micro/partial"),
            ("f", "f1/micro/partial"),
            ("f1/full", "f1/micro/full"),
            ("f1/full/macro", "f1/macro/full"),
            ("subset", "subset/samples/partial"),
            ("accuracy/full", "hamming/micro/full"),
            (" F0.5 / Macro / Full ", "f0.5/macro/full"),
            ("m-estimate(10)/micro/partial", "m-estimate(10)/micro/partial"),
            ("m-estimate", "m-estimate(22.466)/micro/partial"),
            ("wra", "weighted-relative-accuracy/micro/partial"),
        ],
    )
    def test_what_is_left_out(self, text, canonical):
        assert str(Measure.parse(text)) == canonical

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("precission/micro", "no formula 'precission'; did you mean 'precision'?"),
            ("f1/mirco", "'mirco' in the measure 'f1/mirco' is neither an averaging"),
            ("f1/mirco", "did you mean 'micro'?"),
            ("f1/micro/parial", "did you mean 'partial'?"),
            ("f1/micro/macro", "has more than one averaging: micro, macro"),
            ("f1/full/full", "has more than one predictions: full, full"),
            ("f1/micro/full/x", "'x' in the measure"),
            ("f1//full", "'' in the measure"),
            ("", "'' is no formula"),
            ("/micro", "'' is no formula"),
            ("subset/micro", "subset accuracy has the averaging 'samples' only, not 'micro'"),
            (None, "written as text like 'f1/micro/partial', not None"),
        ],
    )
    def test_typos(self, text, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            Measure.parse(text)

    def test_made_of_words(self):
        known = "'micro', 'macro', 'samples' or 'cell'"
        with pytest.raises(ValueError, match=f"averaging must be {known}, not 'mean'"):
            Measure(Formula("f"), "mean")
        with pytest.raises(ValueError, match=r"'full', not 'ful'; did you mean 'full'\?"):
            Measure(Formula("f"), "micro", "ful")
        with pytest.raises(ValueError, match=r"formula must be a Formula, not 'f'"):
            Measure("f")


class TestDoor:
    measure = Measure.parse("f1")
    Y = np.array([[1, 0], [0, 1]])

    @pytest.mark.parametrize(
        ("Y", "predicted", "message"),
        [
            ([1, 0], [[1, 0]], "Y must be a table, rows by labels, not of 1 dimensions"),
            ([[1, 0], [1]], [[1, 0]], "Y must be a table, rows by labels"),
            (np.zeros((0, 2)), np.zeros((0, 2)), "Y is empty: it has the shape (0, 2)"),
            (np.zeros((2, 0)), np.zeros((2, 0)), "Y is empty"),
            ([[2, 0]], [[1, 0]], "Y may hold 0 and 1 and -1 (unknown) only, not 2"),
            ([[0.5, 0]], [[1, 0]], "Y may hold 0 and 1 and -1 (unknown) only, not 0.5"),
            ([[-1, np.nan]], [[1, 0]], "all cells of Y are unknown"),
            ([["a", "b"]], [[1, 0]], "Y must hold numbers"),
            ([[None, 1]], [[1, 0]], "Y must hold numbers"),
            ([[1, 0]], [[1, 2]], "predicted may hold 0 and 1 and -1 (open) only, not 2"),
            ([[1, 0]], [[1, 0, 1]], "Y has the shape (1, 2) but predicted has the shape (1, 3)"),
            ([[1, 0]], [1, 0], "predicted must be a table"),
        ],
    )
    def test_predictions(self, Y, predicted, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            self.measure.of_predictions(Y, predicted)

    @pytest.mark.parametrize(
        ("covered", "head", "options", "message"),
        [
            ([1, 0], [1, 1], {}, "covered must be a mask of booleans, one per row, not of int64"),
            ([True], [1, 1], {}, "Y has 2 rows but covered has the shape (1,)"),
            ([True, False], [1], {}, "Y has 2 labels but the head has the shape (1,)"),
            ([True, False], [1, 2], {}, "the head may hold 0 and 1 and -1 (open) only, not 2"),
            ([True, False], ["1", "0"], {}, "the head must hold numbers"),
            ([True, False], [-1, -1], {}, "the head is empty: a partial prediction needs"),
            ([True, False], [1, 1], {"board": [[0, 0]]}, "board has the shape (1, 2)"),
            ([True, False], [1, 1], {"board": [[0, 3], [0, 0]]}, "board may hold 0 and 1 and -1"),
            ([True, False], [1, 1], {"counting": "java"}, "'plain', not 'java'"),
            ([True, False], [1, 1], {"counting": "chaptr"}, "did you mean 'chapter'?"),
        ],
    )
    def test_rules(self, covered, head, options, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            self.measure.of_rule(self.Y, covered, head, **options)

    def test_sparse(self):
        from scipy import sparse

        with pytest.raises(ValueError, match=re.escape("Y is a sparse matrix; give Y.toarray()")):
            self.measure.of_predictions(sparse.csr_array(self.Y), self.Y)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32, np.float64])
    def test_any_numbers_do(self, dtype):
        assert self.measure.of_predictions(self.Y.astype(dtype), self.Y.astype(dtype)) == 1


class TestMerit:
    def test_of_a_rule(self):
        measure = Measure.parse("precision")
        Y, covered = [[0, 1], [1, 1], [1, 0]], [True, True, True]
        assert measure.merit_of_rule(Y, covered, [1, 1]) == Merit(2 / 3, 4)
        assert measure.merit_of_rule(Y, covered, [1, 1], exact=True) == Merit(Fraction(2, 3), 4)
        assert measure.merit_of_rule(Y, covered, [1, -1]) == Merit(2 / 3, 2)

    def test_value_before_correct_cells(self):
        assert Merit(0.6, 1) > Merit(0.5, 100)
        assert Merit(0.5, 3) > Merit(0.5, 2)
        assert not Merit(0.5, 2) > Merit(0.5, 2)

    def test_the_first_of_equals_wins(self):
        candidates = [("a", Merit(0.5, 2)), ("b", Merit(0.5, 2)), ("c", Merit(0.25, 9))]
        assert max(candidates, key=lambda pair: pair[1])[0] == "a"

    def test_fractions_and_floats_compare_exactly(self):
        assert Merit(Fraction(1, 2), 1) == Merit(0.5, 1)
        assert Merit(Fraction(1, 3), 1) != Merit(1 / 3, 1)
        assert Merit(Fraction(1, 3), 1) > Merit(1 / 3, 1)

    def test_floats_of_one_division_are_as_good_as_fractions(self):
        """What the docstring promises, on neighbours with large denominators."""
        n = 9_999_991
        assert len({a / b for a, b in ((n - 1, n), (n, n + 1), (n - 2, n - 1))}) == 3
        assert (n - 1) / n == (7 * (n - 1)) / (7 * n)


def test_a_large_table():
    """Counts beyond 8, 16 and 32 bits: rows are int8 and must not overflow when added up."""
    Y = np.ones((70_000, 3), dtype=np.int8)
    covered = np.ones(70_000, dtype=bool)
    for averaging in AVERAGINGS:
        assert Measure.parse(f"precision/{averaging}").of_rule(Y, covered, [1, 1, 1]) == 1
    outcomes = Measure.parse("precision").outcomes(np.ones((2, 200)), [True, True], np.ones(200))
    assert outcomes.sum(axis=1).tp.tolist() == [200, 200]
