"""Every formula: one definition, right everywhere it runs."""

import pickle
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from labelrules.measures import (
    Formula,
    Measure,
    forget,
    formula,
    formula_names,
    helpers,
    ratio,
    register_formula,
)
from twins import measures as naive

GRID = list(product((0, 1, 2, 3, 7), repeat=4))
COLUMNS = [np.array(column, dtype=np.int64) for column in zip(*GRID, strict=True)]
IRRATIONAL = ("klosgen", "correlation", "foil-gain")
BUILT_IN = [
    *(Formula(name) for name in formula_names()),
    *(Formula("f", beta) for beta in (0, 0.5, 2, 0.1)),
    Formula("m-estimate", 0),
    Formula("m-estimate", 2),
    Formula("klosgen", 0),
    Formula("klosgen", 1),
    Formula("klosgen", 2),
    Formula("linear-cost", 0.5),
]


def naive_value(one, counts):
    return naive.delta(one.name, counts, one.parameter)


def test_the_house_has_the_formulas_of_the_literature():
    assert formula_names() == (
        "precision",
        "recall",
        "hamming",
        "f",
        "subset",
        "jaccard",
        "laplace",
        "m-estimate",
        "weighted-relative-accuracy",
        "klosgen",
        "correlation",
        "rate-difference",
        "linear-cost",
        "foil-gain",
    )


def test_published_defaults():
    """Janssen and Fürnkranz 2010; F1 is F."""
    assert {
        name: Formula(name).parameter for name in formula_names() if Formula(name).parameter
    } == {
        "f": 1.0,
        "m-estimate": 22.466,
        "klosgen": 0.4323,
        "linear-cost": 0.437,
    }


@pytest.mark.parametrize("one", BUILT_IN, ids=str)
def test_arrays_numbers_and_the_naive_twin_agree(one):
    expected = [float(naive_value(one, counts)) for counts in GRID]
    np.testing.assert_allclose(one(*COLUMNS), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose([one(*counts) for counts in GRID], expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("one", [one for one in BUILT_IN if one.name not in IRRATIONAL], ids=str)
def test_rational_formulas_are_exact(one):
    for counts in GRID:
        value = one.exact(*counts)
        assert type(value) is Fraction
        assert value == naive_value(one, counts)


def test_irrational_formulas_say_so():
    for name in IRRATIONAL:
        with pytest.raises(ValueError, match="has no exact value as a fraction"):
            Formula(name).exact(3, 1, 2, 1)


def test_an_integer_exponent_is_exact():
    wra, klosgen = Formula("weighted-relative-accuracy"), Formula("klosgen", 1)
    assert all(klosgen.exact(*counts) == wra.exact(*counts) for counts in GRID)


@pytest.mark.parametrize("one", BUILT_IN, ids=str)
def test_fractions_are_taken_as_counts(one):
    """A formula without an exact value still runs on fractions, and gives the float."""
    for counts in product((0, 1, 5), repeat=4):
        value = one(*map(Fraction, counts))
        assert float(value) == pytest.approx(float(naive_value(one, counts)), rel=1e-13)


@pytest.mark.parametrize("one", BUILT_IN, ids=str)
def test_compiled_is_numpy(one):
    """Bit for bit, except that the power of an array and that of a number may round differently."""
    numba = pytest.importorskip("numba")
    for helper in helpers(one.function):
        numba.extending.register_jitable(helper)
    compiled = numba.njit(one.function)
    values = np.array([float(compiled(*counts)) for counts in GRID])
    if one.name == "klosgen":
        np.testing.assert_array_max_ulp(values, one(*COLUMNS).astype(np.float64), maxulp=2)
    else:
        np.testing.assert_array_equal(values, one(*COLUMNS))


def test_large_counts_do_not_overflow():
    """Three thousand million cells: the products of four counts would not fit 64 bits."""
    counts = tuple(np.int64(n) for n in (10**9, 2 * 10**8, 1.7 * 10**9, 10**8))
    for one in BUILT_IN:
        expected = float(naive_value(one, tuple(int(n) for n in counts)))
        assert float(one(*counts)) == pytest.approx(expected, rel=1e-12)


def test_zero_by_zero_is_zero_in_one_place():
    assert ratio(0, 0) == 0
    assert ratio(Fraction(0), Fraction(0)) == 0
    np.testing.assert_array_equal(ratio(np.array([0, 1]), np.array([0, 2])), [0, 0.5])


def test_foil_gain_is_that_of_the_refinement():
    """The predecessor covers 6 right and 6 wrong, its refinement 4 right and 0 wrong."""
    assert Formula("foil-gain")(tp=4, fp=0, tn=6, fn=2) == 4 * (np.log2(1) - np.log2(1 / 2))


class TestValues:
    def test_equal_by_meaning(self):
        assert Formula("f") == Formula("f", 1) == Formula.parse("F1") == Formula.parse("f-measure")
        assert len({Formula("accuracy"), Formula("hamming"), Formula.parse("hamming")}) == 1
        assert Formula("f", 1) != Formula("f", 2)

    def test_text_and_back(self):
        for one in [*BUILT_IN, Formula("f", 1e-5), Formula("m-estimate", 1e22)]:
            assert Formula.parse(str(one)) == one
        assert [str(Formula("f", b)) for b in (1, 0.5, 2)] == ["f1", "f0.5", "f2"]

    def test_pickled(self):
        for one in BUILT_IN:
            twin = pickle.loads(pickle.dumps(one))
            assert twin == one
            assert hash(twin) == hash(one)
            assert twin(3, 1, 2, 1) == one(3, 1, 2, 1)

    def test_frozen(self):
        with pytest.raises(AttributeError):
            Formula("f").parameter = 2.0

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("precison", "there is no formula 'precison'; did you mean 'precision'?"),
            ("precision(2)", "the formula 'precision' has no parameter, but 2.0 was given"),
            ("f(x)", "'x' in the formula 'f(x)' is no number"),
            ("f()", "'' in the formula 'f()' is no number"),
            ("f(-1)", "the parameter of 'f' must be a number of at least 0, not -1.0"),
            ("f(inf)", "number of at least 0, not inf"),
            ("f(nan)", "number of at least 0, not nan"),
            ("f1.2.3", "'1.2.3' in the formula 'f1.2.3' is no number"),
            ("", "'' is no formula; write e.g. 'precision'"),
            ("m estimate", "'m estimate' is no formula"),
            ("f(1", "'f(1' is no formula"),
        ],
    )
    def test_bad_text(self, text, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            Formula.parse(text)

    @pytest.mark.parametrize("parameter", ["1", True, None.__class__, 1j])
    def test_bad_parameter(self, parameter):
        with pytest.raises(ValueError, match="must be a number"):
            Formula("f", parameter)


class TestRegister:
    @pytest.fixture(autouse=True)
    def _clean(self):
        before = set(formula_names())
        yield
        for name in set(formula_names()) - before:
            forget(name)

    def test_in_five_lines(self):
        @formula("gain")
        def gain(tp, fp, tn, fn, weight=2):
            return ratio(tp, tp + fp) - weight * ratio(fp, fp + tn)

        assert "gain" in formula_names()
        assert Formula("gain").parameter == 2.0
        measure = Measure.parse("gain(0.5)/micro/full")
        assert str(measure) == "gain(0.5)/micro/full"
        Y, predicted = [[1, 0], [0, 0]], [[1, 1], [0, 0]]
        assert measure.of_predictions(Y, predicted) == 1 / 2 - 0.5 * 1 / 3
        assert measure.of_predictions(Y, predicted, exact=True) == Fraction(1, 3)

    def test_compiled_with_helpers_of_helpers(self):
        numba = pytest.importorskip("numba")

        @formula("mine")
        def mine(tp, fp, tn, fn):
            return outer_helper(tp, fp) - fn

        found = helpers(Formula("mine").function)
        assert found == (outer_helper, inner_helper, ratio)
        for helper in found:
            numba.extending.register_jitable(helper)
        assert numba.njit(mine)(1, 3, 0, 2) == mine(1, 3, 0, 2) == 1 / 4 + 1 - 2

    def test_a_name_is_taken_once(self):
        with pytest.raises(ValueError, match="already; replace=True overwrites it"):
            register_formula("precision", lambda tp, fp, tn, fn: tp * 1.0)

    def test_replaced_on_demand(self):
        register_formula("mine", lambda tp, fp, tn, fn: tp * 1.0)
        register_formula("mine", lambda tp, fp, tn, fn: fp * 1.0, replace=True)
        assert Formula("mine")(1, 2, 3, 4) == 2

    def test_another_word_is_not_a_name(self):
        with pytest.raises(ValueError, match="'accuracy' is a synonym of the formula 'hamming'"):
            register_formula("accuracy", lambda tp, fp, tn, fn: tp * 1.0, replace=True)

    @pytest.mark.parametrize("name", ["F", "f1", "", "a b", "-a", "a--b", 3, "a/b", "a(b)"])
    def test_bad_names(self, name):
        with pytest.raises(ValueError, match="lowercase words joined by hyphens"):
            register_formula(name, lambda tp, fp, tn, fn: tp)

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda tp, fp: tp, "must take (tp, fp, tn, fn) and at most one parameter"),
            (lambda tp, fp, tn, fn, a=1, b=2: tp, "at most one parameter"),
            (lambda *counts: counts[0], "at most one parameter"),
            (lambda tp, fp, tn, fn, *, a=1: tp, "at most one parameter"),
            (
                lambda tp, fp, tn, fn, a: tp,
                "the default of 'a' of formula 'mine' must be",
            ),
            (lambda tp, fp, tn, fn, a="x": tp, "must be a number of at least 0"),
            (lambda tp, fp, tn, fn, a=-1: tp, "must be a number of at least 0"),
            (lambda tp, fp, tn, fn: tp / (tp + fp), "fails on small counts (FloatingPointError"),
            (lambda tp, fp, tn, fn: 1 if tp > fp else 0, "fails on small counts (ValueError"),
            (lambda tp, fp, tn, fn: undefined_name, "NameError"),  # noqa: F821
            (lambda tp, fp, tn, fn: 0.5, "must return one value for each element"),
            (lambda tp, fp, tn, fn: "good", "fails on small counts (ValueError"),
            (lambda tp, fp, tn, fn: tp + float("nan"), "is nan for tp=0, fp=0, tn=0, fn=0"),
            (lambda tp, fp, tn, fn: tp * 1e999, "fails on small counts"),
            (lambda tp, fp, tn, fn: tp + fp.sum(), "fails on small counts (AttributeError"),
            (lambda tp, fp, tn, fn: tp + np.sum(fp), "other values for arrays than for numbers"),
            (len, "must be a plain Python function"),
            ("precision", "must be a plain Python function"),
        ],
    )
    def test_what_is_no_formula_is_refused(self, function, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            register_formula("mine", function)
        assert "mine" not in formula_names()

    def test_forgotten_formulas_are_missed_with_advice(self):
        register_formula("mine", lambda tp, fp, tn, fn: tp * 1.0)
        orphan = Formula("mine")
        forget("mine")
        with pytest.raises(
            ValueError, match=r"registered with labelrules\.measures\.formula, in every"
        ):
            orphan(1, 2, 3, 4)


def inner_helper(a, b):
    return ratio(a, a + b)


def outer_helper(a, b):
    return inner_helper(a, b) + 1
