"""The best head of every measure, against all heads in exact fractions."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from labelrules.measures import Formula, Measure, register_formula
from labelrules.measures.formulas import precision
from labelrules.rules import Head
from labelrules.search import best_head
from labelrules.search.heads.problem import preference
from twins import heads as naive

CONVENTIONS = ("chapter", "head-relative")
PREDICTIONS = ("partial", "full")

SHAPES = {
    # labels, rows: tables; for each beta
    (1, 2): 20,
    (2, 3): 60,
    (2, 6): 50,
    (3, 1): 30,
    (3, 3): 70,
    (3, 5): 70,
    (3, 8): 60,
    (4, 4): 60,
    (4, 6): 48,
    (5, 5): 24,
    (5, 8): 12,
}

POLARITY = naive.POLARITY


def test_there_are_enough_tables():
    """Every measure is tried on all of them, in both conventions, with and without absence."""
    assert sum(SHAPES.values()) * len(naive.BETAS) >= 2000
    assert len(naive.CELLS) == 34


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """Fractions are slow and the same few counts come again and again."""
    monkeypatch.setattr(Formula, "exact", cache(Formula.exact))


@pytest.mark.parametrize("predictions", PREDICTIONS)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("beta", naive.BETAS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_measure(shape, beta, convention, predictions):
    check(shape, SHAPES[shape], beta, convention, predictions)


def check(shape, n_tables, beta, convention, predictions):
    rng = np.random.default_rng([*shape, int(10 * beta)])
    tables = naive.generated(rng, n_tables, n_rows=shape[1], n_labels=shape[0])
    every = naive.AllHeads(tables, convention, predictions)
    instances = list(naive.instances(tables))
    for (name, averaging, full_or_partial), absence in product(naive.CELLS, (True, False)):
        if full_or_partial == predictions:
            formula = Formula(name, beta if name == "f" else None)
            measure = Measure(formula, averaging, predictions)
            best = every.best(name, formula.parameter, averaging, absence)
            for given, expected in zip(instances, best, strict=True):
                check_one(given, measure, expected, counting=convention, polarity=POLARITY[absence])


def check_one(given, measure, expected, **options):
    Y, covered, board = given
    by_row = options["counting"] == "plain" and measure.averaging == "samples"
    if by_row and naive.written_in_part(board):
        with pytest.raises(ValueError, match="counting='plain' with example-based averaging needs"):
            best_head(Y, covered, measure, board, **options)
        return
    found = best_head(Y, covered, measure, board, **options)
    got = (tuple(found.vector.tolist()), found.value, found.gap)
    assert got == (expected.vector, expected.value, 0), (measure, Y, covered, board)


@pytest.mark.parametrize("beta", naive.BETAS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_full_predictions_counted_plainly(shape, beta):
    check(shape, SHAPES[shape] // 6, beta, "plain", "full")


@pytest.mark.slow
@pytest.mark.parametrize("predictions", PREDICTIONS)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("beta", [*naive.BETAS, 0.1, 3.0])
@pytest.mark.parametrize("shape", [(2, 8), (3, 6), (4, 8), (5, 6), (5, 8), (6, 5), (6, 8)], ids=str)
def test_every_measure_on_more_tables(shape, beta, convention, predictions):
    check(shape, 300 if shape[0] < 6 else 60, beta, convention, predictions)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_brute_force_scores_as_the_package_does(convention):
    """What is equal above is equal to the measures of the package."""
    tables = naive.generated(np.random.default_rng(1), 6, 4, 3)
    for predictions in PREDICTIONS:
        every = naive.AllHeads(tables, convention, predictions)
        for name, averaging, _ in (one for one in naive.CELLS if one[2] == predictions):
            formula = Formula(name, 0.7 if name == "f" else None)
            measure = Measure(formula, averaging, predictions)
            ranks, values = every.ranked(name, formula.parameter, averaging)
            for ranked, (Y, covered, board) in zip(ranks, naive.instances(tables), strict=True):
                assert [values[rank] for rank in ranked] == [
                    measure.of_rule(Y, covered, head, board, convention, exact=True)
                    for head in every.heads
                ]


def test_the_tie_rule():
    """The largest head, then most presences, then earliest labels, present before absent."""
    heads = [(1, 1), (1, 0), (0, 1), (0, 0), (1, -1), (-1, 1), (0, -1), (-1, 0)]
    assert sorted(heads, key=naive.preference, reverse=True) == heads
    assert sorted(heads, key=lambda head: preference(np.array(head)), reverse=True) == heads


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("text", [f"{'/'.join(cell)}" for cell in naive.CELLS])
def test_where_nothing_counts_every_label_is_present(text, convention):
    """No open cell, or no covered one, tells heads apart: they are equal and the largest wins."""
    Y, nobody = np.array([[0, 1, 0], [1, 1, 0]]), np.zeros(2, dtype=bool)
    found = best_head(Y, ~nobody, text, np.zeros((2, 3)), counting=convention)
    assert (found.vector.tolist(), found.value, found.gap) == ([1, 1, 1], 0, 0)
    if text.split("/")[0] not in ("hamming", "subset"):
        found = best_head(Y, nobody, text, counting=convention)
        assert (found.vector.tolist(), found.value, found.gap) == ([1, 1, 1], 0, 0)


def test_which_method_is_used():
    Y, covered = np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0]]), np.array([True, True, False])
    board = np.array([[-1, -1, 0], [-1, -1, -1], [-1, -1, -1]])
    expected = {
        "precision/micro/partial": "closed form",
        "f1/macro/full": "closed form",
        "hamming/cell/full": "closed form",
        "precision/samples/partial": "closed form",
        "f1/micro/full": "Dinkelbach",
        "recall/samples/full": "mode of vectors",
        "subset/samples/partial": "mode of vectors",
        "f1/samples/partial": "branch and bound",
    }
    assert {text: best_head(Y, covered, text).method for text in expected} == expected
    for text in expected:
        if "/samples/" in text:  # a label weighs more in a row with fewer open cells
            assert best_head(Y, covered, text, board).method == "branch and bound"


@pytest.mark.parametrize("beta", [0.123456789, 0.1234567891234, 1e-9, 12345678.9, 1e100])
def test_the_integers_of_a_ratio_do_not_overflow(beta):
    """Beta squared as a fraction has twice the digits: its products with counts need room."""
    rng = np.random.default_rng(5)
    tables = naive.generated(rng, 10, 5, 3)
    for predictions, convention in product(PREDICTIONS, CONVENTIONS):
        measure = Measure(Formula("f", beta), "micro", predictions)
        every = naive.AllHeads(tables, convention, predictions)
        best = every.best("f", beta, "micro", absence=True)
        for (Y, covered, board), expected in zip(naive.instances(tables), best, strict=True):
            found = best_head(Y, covered, measure, board, counting=convention)
            assert (tuple(found.vector.tolist()), found.value) == (expected.vector, expected.value)


def test_beta_zero_is_precision():
    rng = np.random.default_rng(6)
    for Y, covered, board in naive.instances(naive.generated(rng, 30, 5, 4)):
        for averaging, predictions in product(("micro", "macro", "samples"), PREDICTIONS):
            one, other = (
                best_head(Y, covered, f"{name}/{averaging}/{predictions}", board)
                for name in ("f0", "precision")
            )
            assert (one.vector.tolist(), one.value) == (other.vector.tolist(), other.value)


def test_few_covered_rows_among_many():
    """Small values are told apart as large ones are: a mean over a million rows is no excuse."""
    Y = np.zeros((1_000_000, 3), dtype=np.int8)
    Y[:10] = [[1, 0, 1]] * 7 + [[0, 1, 0]] * 3  # the chapter's search misses {1, 2, 3} here
    found = best_head(Y, np.arange(len(Y)) < 10, "f1/samples/partial", polarity="presence")
    assert found.vector.tolist() == [1, 1, 1]
    assert found.value == Fraction(71, 100) * Fraction(10, len(Y))


def test_a_formula_of_the_chapter_that_was_replaced():
    """What is known of precision does not hold for whatever else bears its name."""
    Y, covered = np.array([[0, 1], [1, 1], [1, 0]]), np.array([True, True, False])
    register_formula("precision", lambda tp, fp, tn, fn: fp * 1.0, replace=True)
    try:
        for averaging in ("macro", "samples", "cell"):
            measure = Measure(Formula("precision"), averaging)
            found = best_head(Y, covered, measure)
            others = [h for h in product((-1, 0, 1), repeat=2) if set(h) != {-1}]
            assert float(measure.of_rule(Y, covered, found.vector)) == max(
                measure.of_rule(Y, covered, head) for head in others
            )
        with pytest.raises(ValueError, match="no exact search is known"):
            best_head(Y, covered, "precision/micro/partial")
    finally:
        register_formula("precision", precision, replace=True)


class TestHeadFound:
    Y = np.array([[0, 1, 1], [1, 1, 0], [1, 0, 0]])
    covered = np.array([True, True, False])

    def test_as_a_part_of_a_rule(self):
        found = best_head(self.Y, self.covered, "precision/micro/partial")
        assert found.head == Head({1: 1}, n_labels=3)

    def test_a_full_prediction_says_everything_or_its_presences(self):
        complete = best_head(self.Y, self.covered, "subset/samples/full")
        assert complete.vector.tolist() == [1, 1, 0]
        short = best_head(self.Y, self.covered, "subset/samples/full", polarity="presence")
        assert short.vector.tolist() == [1, 1, -1]

    def test_the_value_with_bonus(self):
        found = best_head(
            self.Y, self.covered, "f1/micro/partial", size_bonus=lambda size: 2.0 * size
        )
        assert found.value_with_bonus == float(found.value) * 2 * len(found.head)

    def test_input_is_not_changed(self):
        Y, covered, board = self.Y.copy(), self.covered.copy(), np.full((3, 3), -1)
        for cell in naive.CELLS:
            best_head(Y, covered, "/".join(cell), board)
        assert (Y == self.Y).all()
        assert (covered == self.covered).all()
        assert (board == -1).all()
